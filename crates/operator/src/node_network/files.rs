//! The folder of CNI configs.

use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::conflist::{self, NAME};

/// What came of putting the config there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// It was written.
    Written,
    /// It was there already.
    Same,
    /// Somebody else's is there, under this name; nothing was done.
    Foreign(String),
}

/// Puts the config into the folder unless somebody else's is there.
///
/// The runtime watches the folder, so the file appears complete or not at all.
#[expect(
    clippy::disallowed_methods,
    reason = "this runs in a container of its own, without the engine and its port"
)]
pub(super) fn put(folder: &Path, text: &str) -> std::io::Result<Put> {
    std::fs::create_dir_all(folder)?;
    let mut foreign = vec![];
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if conflist::is_foreign(&name) {
            foreign.push(name);
        }
    }
    if let Some(first) = foreign.into_iter().min() {
        return Ok(Put::Foreign(first));
    }
    let path = folder.join(NAME);
    let private = std::fs::Permissions::from_mode(0o600);
    match std::fs::read_to_string(&path) {
        Ok(found) if found == text => {
            std::fs::set_permissions(&path, private)?;
            return Ok(Put::Same);
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let new = folder.join(format!(".{NAME}.new"));
    let mut file = std::fs::File::create(&new)?;
    file.set_permissions(private)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, &path)?;
    Ok(Put::Written)
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests make the files that are found"
)]
mod tests {
    use super::*;

    #[test]
    fn the_config_is_written_once_and_again_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("net.d");
        assert_eq!(put(&folder, "a").unwrap(), Put::Written);
        assert_eq!(put(&folder, "a").unwrap(), Put::Same);
        assert_eq!(put(&folder, "b").unwrap(), Put::Written);
        assert_eq!(std::fs::read_to_string(folder.join(NAME)).unwrap(), "b");
        let made = std::fs::metadata(folder.join(NAME)).unwrap();
        assert_eq!(made.permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn somebody_else_s_config_is_left_alone_and_ours_not_added() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("05-other.conflist"), "x").unwrap();
        let put = put(folder.path(), "a").unwrap();
        assert_eq!(put, Put::Foreign("05-other.conflist".into()));
        assert!(!folder.path().join(NAME).exists());
    }
}
