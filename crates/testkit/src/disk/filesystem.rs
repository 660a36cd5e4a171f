//! The filesystems that are tried, and how each is made and mounted.

/// A real filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filesystem {
    /// The default of Debian and Ubuntu.
    Ext4,
    /// The default of Fedora and SUSE.
    Btrfs,
    /// The default of RHEL and Fedora CoreOS.
    Xfs,
}

impl Filesystem {
    /// Returns the size in MiB of the smallest one that is useful.
    pub fn smallest(self) -> usize {
        match self {
            Self::Ext4 => 64,
            Self::Btrfs => 128,
            Self::Xfs => 300,
        }
    }

    /// Returns the bytes that its disk writes whole or not at all.
    ///
    /// A superblock of btrfs takes 4096 bytes, so it needs a disk that does not tear them.
    pub fn sector(self) -> usize {
        match self {
            Self::Ext4 | Self::Xfs => 512,
            Self::Btrfs => 4096,
        }
    }

    /// Returns options for mounting, with a comma in front.
    ///
    /// Without them the filesystem would sync by itself every few seconds, and hide a sync that
    /// the product leaves out.
    pub fn lazily(self) -> &'static str {
        match self {
            Self::Ext4 | Self::Btrfs => ",commit=300",
            Self::Xfs => "",
        }
    }

    pub(super) fn maker(self) -> &'static str {
        match self {
            Self::Ext4 => "mkfs.ext4",
            Self::Btrfs => "mkfs.btrfs",
            Self::Xfs => "mkfs.xfs",
        }
    }

    pub(super) fn flags(self) -> &'static [&'static str] {
        match self {
            // Nothing is left to be made in the background, where it would mix with the test.
            Self::Ext4 => &[
                "-q",
                "-b",
                "4096",
                "-E",
                "lazy_itable_init=0,lazy_journal_init=0",
            ],
            Self::Btrfs | Self::Xfs => &["-q"],
        }
    }
}
