//! The content of a disk; stretches of zeros take no room, and copies share what is the same.

use std::collections::BTreeMap;
use std::sync::Arc;

const BLOCK: usize = 4096;

/// What a disk holds.
#[derive(Debug, Clone, Default)]
pub struct Image {
    length: usize,
    blocks: BTreeMap<usize, Arc<[u8; BLOCK]>>,
}

impl Image {
    /// Begins with nothing but zeros.
    pub fn empty(length: usize) -> Self {
        let blocks = BTreeMap::new();
        Self { length, blocks }
    }

    /// Returns its length in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns a part of it; less where it ends.
    pub fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        let end = (offset + length).min(self.length);
        let mut content = vec![0; end.saturating_sub(offset)];
        let (mut at, mut rest) = (offset, content.as_mut_slice());
        while !rest.is_empty() {
            let within = at % BLOCK;
            let (part, later) = rest.split_at_mut(rest.len().min(BLOCK - within));
            if let Some(block) = self.blocks.get(&(at / BLOCK)) {
                part.copy_from_slice(&block[within..within + part.len()]);
            }
            at += part.len();
            rest = later;
        }
        content
    }

    /// Replaces a part of it; false if that lies beyond its end.
    pub fn write(&mut self, offset: usize, data: &[u8]) -> bool {
        if !matches!(offset.checked_add(data.len()), Some(end) if end <= self.length) {
            return false;
        }
        let (mut at, mut rest) = (offset, data);
        while !rest.is_empty() {
            let within = at % BLOCK;
            let (part, later) = rest.split_at(rest.len().min(BLOCK - within));
            let block = self.blocks.entry(at / BLOCK);
            let block = block.or_insert_with(|| Arc::new([0; BLOCK]));
            Arc::make_mut(block)[within..within + part.len()].copy_from_slice(part);
            at += part.len();
            rest = later;
        }
        true
    }

    /// Lists the parts that are not all zeros, with their offsets.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let parts = self.blocks.iter();
        parts.map(|(number, block)| (number * BLOCK, block.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_copies_stay_as_they_were() {
        let mut image = Image::empty(3 * BLOCK);
        let old = image.clone();
        assert!(image.write(BLOCK - 1, &[1, 2, 3]));
        assert_eq!(image.read(BLOCK - 2, 5), [0, 1, 2, 3, 0]);
        assert_eq!(old.read(BLOCK - 2, 5), [0; 5]);
        assert_eq!(image.read(3 * BLOCK - 1, 5), [0]);
        assert_eq!(image.parts().count(), 2);
        assert!(!image.write(3 * BLOCK - 1, &[1, 2]));
    }
}
