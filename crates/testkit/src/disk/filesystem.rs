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
    /// A superblock of btrfs takes 4096 bytes, so it needs a disk that does not tear them. So does XFS:
    /// its recovery leaves a block alone that begins like a newer one, and does not see that the rest
    /// of it is old.
    pub fn sector(self) -> usize {
        match self {
            Self::Ext4 => 512,
            Self::Btrfs | Self::Xfs => 4096,
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

    /// Tells whether this kernel has it, or can load it.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests ask the kernel beside the port"
    )]
    pub fn is_known(self) -> bool {
        let name = match self {
            Self::Ext4 => "ext4",
            Self::Btrfs => "btrfs",
            Self::Xfs => "xfs",
        };
        let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
        let loads = || {
            let mut load = std::process::Command::new("modprobe");
            load.args(["--dry-run", "--quiet", name]).status()
        };
        known.split_whitespace().any(|word| word == name)
            || loads().is_ok_and(|status| status.success())
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
