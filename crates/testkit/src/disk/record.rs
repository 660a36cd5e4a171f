//! What disks were told, in order, and what a power cut leaves of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::image::Image;
use super::loss::Loss;

/// Everything that a group of disks was told, in the order in which it arrived.
///
/// The disks share one record, because a power cut hits all of them at the same moment.
#[derive(Debug, Clone, Default)]
pub struct Record(Arc<Mutex<Vec<Entry>>>);

#[derive(Debug, Clone)]
struct Entry {
    disk: usize,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Write {
        offset: usize,
        data: Arc<[u8]>,
    },
    /// All that was written before is durable.
    Flush,
}

impl Record {
    /// Returns how many writes and flushes there are so far.
    pub fn position(&self) -> usize {
        self.entries().len()
    }

    /// Lists the positions right behind a flush of any disk, before `end`.
    pub fn flushes(&self, end: usize) -> Vec<usize> {
        let entries = self.entries();
        let flushed = |at: &usize| matches!(entries[*at].what, What::Flush);
        let behind = (0..end.min(entries.len())).filter(flushed);
        behind.map(|at| at + 1).collect()
    }

    /// Returns what a disk that held `base` holds when the power is cut at a position.
    pub fn cut(&self, disk: usize, base: &Image, position: usize, loss: &mut Loss) -> Image {
        let entries = self.entries();
        let told = entries[..position.min(entries.len())].iter();
        let told: Vec<&Entry> = told.filter(|entry| entry.disk == disk).collect();
        let is_flush = |entry: &&Entry| matches!(entry.what, What::Flush);
        let flushed = told.iter().rposition(is_flush).unwrap_or(0);
        let mut image = base.clone();
        for (at, entry) in told.into_iter().enumerate() {
            match &entry.what {
                What::Write { offset, data } if at < flushed => {
                    image.write(*offset, data);
                }
                What::Write { offset, data } => loss.keep(&mut image, *offset, data),
                What::Flush => {}
            }
        }
        image
    }

    /// Counts the writes to a disk that a cut at a position may lose.
    pub fn at_risk(&self, disk: usize, position: usize) -> usize {
        let entries = self.entries();
        let told = entries[..position.min(entries.len())].iter().rev();
        told.filter(|entry| entry.disk == disk)
            .take_while(|entry| matches!(entry.what, What::Write { .. }))
            .count()
    }

    pub(super) fn wrote(&self, disk: usize, offset: usize, data: &[u8]) {
        let data = data.into();
        let what = What::Write { offset, data };
        self.entries().push(Entry { disk, what });
    }

    pub(super) fn flushed(&self, disk: usize) {
        let what = What::Flush;
        self.entries().push(Entry { disk, what });
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    fn record() -> Record {
        let record = Record::default();
        record.wrote(0, 0, &[1; 4096]);
        record.wrote(1, 0, &[2; 4096]);
        record.flushed(0);
        record.wrote(0, 0, &[3; 4096]);
        record.wrote(1, 0, &[4; 4096]);
        record
    }

    #[test]
    fn what_was_flushed_stays_and_each_disk_flushes_for_itself() {
        let record = record();
        let empty = Image::empty(4096);
        let left = |disk, at| record.cut(disk, &empty, at, &mut Loss::All).read(0, 1)[0];
        assert_eq!([0, 1, 2, 3, 5].map(|at| left(0, at)), [0, 0, 0, 1, 1]);
        assert_eq!([0, 2, 5].map(|at| left(1, at)), [0, 0, 0]);
        assert_eq!(record.flushes(record.position()), [3]);
        assert_eq!([record.at_risk(0, 5), record.at_risk(1, 5)], [1, 2]);
    }

    #[test]
    fn a_disk_that_had_time_keeps_everything() {
        let left = record().cut(1, &Image::empty(4096), 5, &mut Loss::None);
        assert_eq!(left.read(0, 4096), [4; 4096]);
    }

    #[test]
    fn a_torn_write_leaves_whole_sectors() {
        let record = Record::default();
        record.wrote(0, 8192, &[1; 16384]);
        let mut torn = 0;
        for seed in 0..100 {
            let mut loss = Loss::some(Dice::new(seed), 512);
            let left = record.cut(0, &Image::empty(65536), 1, &mut loss);
            let left = left.read(0, 65536);
            let is_whole = |sector: &[u8]| sector.iter().all(|byte| *byte == sector[0]);
            assert!(left.chunks(512).all(is_whole));
            let kept: u32 = left.chunks(512).map(|sector| u32::from(sector[0])).sum();
            torn += u32::from(!matches!(kept, 0 | 32));
        }
        assert!(torn > 10, "{torn}");
    }
}
