//! What a config made of a root, compared.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Result;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use bootlace_model::path::TargetPath;

use crate::tree::Snapshot;

/// What is not compared, and why.
const LEFT_OUT: [&str; 9] = [
    // Ignition's note of when it ran; ours is the journal.
    "/etc/.ignition-result.json",
    "/var/lib/bootlace",
    // What the useradd family keeps of the time before its last change, and its lock.
    "/etc/.pwd.lock",
    "/etc/group-",
    "/etc/gshadow-",
    "/etc/passwd-",
    "/etc/shadow-",
    "/etc/subgid-",
    "/etc/subuid-",
];

/// A root as it is after something was applied to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    tree: Snapshot,
    /// Paths that are one and the same file.
    twins: BTreeSet<Vec<String>>,
}

impl Outcome {
    /// Looks at a root.
    pub fn of(root: &Path) -> Result<Self> {
        let left_out: Vec<TargetPath> = LEFT_OUT
            .iter()
            .filter_map(|path| TargetPath::new(path).ok())
            .collect();
        let tree = Snapshot::of_folder(root, &left_out)?;
        let mut by_inode: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for path in tree.files.keys() {
            let path = path.to_string();
            let place = root.join(path.trim_start_matches('/'));
            let metadata = std::fs::symlink_metadata(&place)?;
            if metadata.nlink() > 1 && !metadata.is_dir() {
                by_inode.entry(metadata.ino()).or_default().push(path);
            }
        }
        let twins = by_inode.into_values().collect();
        Ok(Self { tree, twins })
    }

    /// Compares this root, which is what was expected, with another; the error says what differs.
    pub fn compare(&self, found: &Self) -> std::result::Result<(), String> {
        self.tree
            .compare(&found.tree)
            .map_err(|difference| difference.to_string())?;
        if self.twins == found.twins {
            return Ok(());
        }
        Err(format!(
            "hard links differ: {:?} was expected, and {:?} found",
            self.twins, found.twins
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use crate::ignition::root;

    #[test]
    fn equal_dice_make_equal_roots_and_hard_links_are_seen() {
        if !rustix::process::geteuid().is_root() {
            bootlace_test_notes::skip!("only root sets owners");
        }
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for folder in [&one, &other] {
            root::make(folder.path(), &mut Dice::new(4)).unwrap();
        }
        let look = |folder: &tempfile::TempDir| Outcome::of(folder.path()).unwrap();
        look(&one).compare(&look(&other)).unwrap();
        let hosts = one.path().join("etc/hosts");
        std::fs::hard_link(&hosts, one.path().join("etc/hosts-2")).unwrap();
        std::fs::copy(&hosts, other.path().join("etc/hosts-2")).unwrap();
        let difference = look(&one).compare(&look(&other)).unwrap_err();
        assert!(difference.starts_with("hard links differ"), "{difference}");
    }
}
