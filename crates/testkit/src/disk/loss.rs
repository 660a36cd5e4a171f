//! What happens to writes that no flush has made durable.

use super::image::Image;
use crate::dice::Dice;

/// The block with a filesystem's superblock: disks write that much at once.
const SUPERBLOCK: usize = 4096;

/// What a power cut does to writes that were not flushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// All of them are lost.
    All,
    /// None of them is lost.
    None,
    /// Each one survives, is lost or is torn between two sectors.
    Some {
        /// Chooses.
        dice: Dice,
        /// How many of a hundred survive.
        percent: u64,
        /// The bytes of a sector, which is written whole or not at all.
        sector: usize,
    },
}

impl Loss {
    /// Lets each write survive, or not, or in part.
    pub fn some(mut dice: Dice, sector: usize) -> Self {
        let percent = 10 + dice.below(81);
        Self::Some {
            dice,
            percent,
            sector,
        }
    }

    /// Chooses by seed: a third of the seeds loses all, and a sixth loses nothing.
    pub fn of(seed: u64, sector: usize) -> Self {
        match seed % 6 {
            0 | 1 => Self::All,
            2 => Self::None,
            _ => Self::some(Dice::new(seed), sector),
        }
    }

    /// Writes what survives of `data` to its place.
    pub(super) fn keep(&mut self, image: &mut Image, offset: usize, data: &[u8]) {
        match self {
            Self::All => {}
            Self::None => {
                image.write(offset, data);
            }
            Self::Some {
                dice,
                percent,
                sector,
            } => {
                if !dice.percent(*percent) {
                    return;
                }
                if offset < SUPERBLOCK || dice.percent(75) {
                    image.write(offset, data);
                    return;
                }
                for (number, part) in data.chunks(*sector).enumerate() {
                    if dice.percent(50) {
                        image.write(offset + number * *sector, part);
                    }
                }
            }
        }
    }
}
