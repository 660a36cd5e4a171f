//! What a power cut leaves of the fake disk.
//!
//! The rules are those on which a careful program may rely on Linux with a journaling filesystem,
//! and no more:
//!
//! | what | is durable after |
//! |---|---|
//! | the content of a file, its mode, owner and labels | syncing that file |
//! | a name: created, renamed, removed | syncing the folder that holds it |
//! | mode, owner and labels of a folder | syncing that folder; for a new folder also with its name |
//! | a link's target and owner | syncing the folder that holds the link |
//! | what lies below a folder | only while the folder's own name is durable, too |
//!
//! - `fsync(2)` says that syncing a file does not sync its name. In practice ext4 and XFS do, but
//!   that is not promised, so it is not done here. For the same reason a new folder whose name was
//!   lost is gone with everything in it, even if that was synced: repair tools would put it into
//!   `lost+found`, where nobody looks.
//! - An inode is written together with its first name, so new folders and links need no sync of
//!   their own. New files do, because their content is written back at another time.
//! - A rename happens whole or not at all. One that survives may name a file whose content did not.
//! - What is not synced may survive all the same, each change for itself, in any order. Contents
//!   survive up to any byte. What is in a tree stays a tree, and no inode ever has two names.

use std::collections::BTreeSet;

use super::disk::{Disk, ROOT};
use super::errno::Errno;
use super::inode::{Ino, Kind, Moment};
use crate::dice::Dice;

/// What happens to changes that were not synced when the power is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weather {
    /// All of them are lost.
    NothingSurvives,
    /// None of them is lost.
    EverythingSurvives,
    /// Names and attributes survive, contents do not: the file of zero bytes after a rename.
    NamesSurvive,
    /// Contents survive, names and attributes do not.
    ContentsSurvive,
    /// Names and attributes survive up to a moment, as a journal keeps them; contents are torn.
    InOrder(Dice),
    /// Each change survives or is lost for itself, this many of a hundred survive.
    Mixed {
        /// Chooses.
        dice: Dice,
        /// How many of a hundred survive.
        percent: u64,
    },
}

impl Weather {
    /// Chooses by seed; each kind comes up within eight seeds in a row.
    pub fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        match seed % 8 {
            0 => Self::NothingSurvives,
            1 => Self::EverythingSurvives,
            2 => Self::NamesSurvive,
            3 => Self::ContentsSurvive,
            4 | 5 => Self::InOrder(dice),
            _ => {
                let percent = 10 + dice.below(81);
                Self::Mixed { dice, percent }
            }
        }
    }

    /// Tells whether a change of a name or an attribute survives; `until` ends an ordered journal.
    fn keeps(&mut self, at: Moment, until: Moment) -> bool {
        match self {
            Self::NothingSurvives | Self::ContentsSurvive => false,
            Self::EverythingSurvives | Self::NamesSurvive => true,
            Self::InOrder(_) => at <= until,
            Self::Mixed { dice, percent } => dice.percent(*percent),
        }
    }

    /// Tells how many of the new bytes survive; none if not even the file's beginning was renewed.
    fn tears(&mut self, new: usize) -> Option<usize> {
        match self {
            Self::NothingSurvives | Self::NamesSurvive => None,
            Self::EverythingSurvives | Self::ContentsSurvive => Some(new),
            Self::InOrder(dice) | Self::Mixed { dice, .. } => match dice.below(4) {
                0 => None,
                1 => Some(0),
                2 => Some(dice.index(new + 1)),
                _ => Some(new),
            },
        }
    }
}

impl Disk {
    /// Makes content and attributes of a file durable; for a folder also its names.
    pub(crate) fn sync(&mut self, ino: Ino) -> Result<(), Errno> {
        let inode = self.inode_mut(ino)?;
        inode.meta.sync();
        match &mut inode.kind {
            Kind::File(data) => data.sync(),
            Kind::Link(_) | Kind::Special(_) => {}
            Kind::Directory(names) => {
                names.sync();
                let below: Vec<Ino> = names.now.iter().map(|(_, ino)| ino).collect();
                for ino in below {
                    let inode = self.inode_mut(ino)?;
                    let link = matches!(inode.kind, Kind::Link(_) | Kind::Special(_));
                    let folder = matches!(inode.kind, Kind::Directory(_));
                    if link || folder && inode.fresh {
                        inode.meta.sync();
                    }
                    inode.fresh = false;
                }
            }
        }
        Ok(())
    }

    /// Makes a part of what was appended durable, as a sync does that is cut off.
    pub(crate) fn sync_up_to(&mut self, ino: Ino, part: &mut Dice) -> Result<(), Errno> {
        if let Kind::File(data) = &mut self.inode_mut(ino)?.kind
            && data.now.starts_with(&data.durable)
        {
            let new = data.now.len() - data.durable.len();
            let kept = data.durable.len() + part.index(new + 1);
            data.durable = std::sync::Arc::new(data.now[..kept].to_vec());
        }
        Ok(())
    }

    /// Makes everything durable.
    pub(crate) fn sync_all(&mut self) {
        for inode in self.inodes.values_mut() {
            inode.meta.sync();
            inode.fresh = false;
            match &mut inode.kind {
                Kind::File(data) => data.sync(),
                Kind::Directory(names) => names.sync(),
                Kind::Link(_) | Kind::Special(_) => {}
            }
        }
    }

    /// Cuts the power: what was not synced survives or not, as the weather will have it.
    pub(crate) fn power_cut(&mut self, mut weather: Weather) {
        let until = match &mut weather {
            Weather::InOrder(dice) => {
                let first = self.pending().min().unwrap_or(0);
                // One below the first change means that the journal holds none of them.
                first.saturating_sub(1) + dice.below(self.next_moment + 2 - first)
            }
            _ => 0,
        };
        for inode in self.inodes.values_mut() {
            inode.meta.cut(|at| weather.keeps(at, until));
            match &mut inode.kind {
                Kind::File(data) => data.cut(|_, new| weather.tears(new)),
                Kind::Directory(names) => names.cut(|at| weather.keeps(at, until)),
                Kind::Link(_) | Kind::Special(_) => {}
            }
        }
        self.drop_unreachable();
    }

    /// Tells when the changes of names and attributes were made that are not durable.
    pub(crate) fn pending(&self) -> impl Iterator<Item = Moment> {
        self.inodes.values().flat_map(|inode| {
            let names = match &inode.kind {
                Kind::Directory(names) => names.pending.as_slice(),
                _ => &[],
            };
            let names = names.iter().map(|(at, _)| *at);
            names.chain(inode.meta.pending.iter().map(|(at, _)| *at))
        })
    }

    fn drop_unreachable(&mut self) {
        let mut reached = BTreeSet::from([ROOT]);
        let mut next = vec![ROOT];
        while let Some(ino) = next.pop() {
            if let Ok(names) = self.names(ino) {
                let below: Vec<Ino> = names.iter().map(|(_, ino)| ino).collect();
                reached.extend(&below);
                next.extend(below);
            }
        }
        self.inodes.retain(|ino, _| reached.contains(ino));
        for inode in self.inodes.values_mut() {
            inode.linked = true;
            inode.fresh = false;
        }
    }
}
