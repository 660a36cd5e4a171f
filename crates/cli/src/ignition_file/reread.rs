//! A config's file, read again part by part, so that it need not stay in memory.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bootlace_model::fault::Fault;
use bootlace_steps::ignition::resolve::Reread;

/// From how many bytes on a config is not held in memory.
const LARGE: usize = 1 << 20;

#[derive(Debug)]
struct ConfigFile {
    path: PathBuf,
    file: File,
}

/// Opens a config's file for reading again; none if it is small, or comes through a pipe.
#[expect(
    clippy::disallowed_methods,
    reason = "a person's own file on this computer, outside of any root"
)]
pub(super) fn of(path: &Path, length: usize) -> Result<Option<Arc<dyn Reread>>, Fault> {
    if length < LARGE || path == Path::new("-") {
        return Ok(None);
    }
    let config = ConfigFile {
        path: path.to_owned(),
        file: File::open(path).map_err(|error| unreadable(path, &error))?,
    };
    let metadata = config.file.metadata();
    if !metadata
        .map_err(|error| config.unreadable(&error))?
        .is_file()
    {
        return Ok(None);
    }
    Ok(Some(Arc::new(config)))
}

impl ConfigFile {
    fn unreadable(&self, error: &std::io::Error) -> Fault {
        unreadable(&self.path, error)
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Fault {
    Fault::bad_input(format!("cannot read the Ignition config again: {error}"))
        .in_file(path.display().to_string())
        .because("Contents of a large config are taken from its file when they are written.")
        .hint("leave the file alone while it is applied")
}

impl Reread for ConfigFile {
    fn part(&self, from: u64, length: usize) -> Result<Vec<u8>, Fault> {
        let mut part = vec![0; length];
        let read = self.file.read_exact_at(&mut part, from);
        read.map_err(|error| self.unreadable(&error))?;
        Ok(part)
    }
}
