//! The lab's own files, in the checkout from which it was built.

use std::path::{Path, PathBuf};

use crate::error::LabError;
use crate::key::Key;

/// The folders whose content decides what is made.
const FOLDERS: [&str; 5] = ["go", "kubeadm", "pause", "payload", "root"];

/// The folder `lab/` of a checkout.
#[derive(Debug, Clone)]
pub(crate) struct Sources {
    folder: PathBuf,
}

impl Sources {
    /// Returns the files beside which this program was built.
    pub(crate) fn own() -> Self {
        Self {
            folder: Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(),
        }
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a file or folder in it.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.join(relative)
    }

    /// Returns a key of all that decides what is made.
    pub(crate) fn key(&self) -> Result<String, LabError> {
        let mut key = Key::new("sources", 1);
        for folder in FOLDERS {
            key = key.text("folder", folder).folder(&self.path(folder))?;
        }
        Ok(key.finish())
    }
}
