//! Before-images: what files held before an effect, by digest, readable by the owner alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::node::Attributes;

use crate::folders::LARGEST_FILE;
use crate::port::{Dir, Host, HostResult};

/// The folder of blobs in a run's folder.
pub(crate) const BLOBS_FOLDER: &str = "blobs";

/// A store of contents by digest.
#[derive(Debug, Clone)]
pub(crate) struct Blobs {
    dir: Arc<dyn Dir>,
}

impl Blobs {
    pub(crate) fn new(dir: Arc<dyn Dir>) -> Self {
        Self { dir }
    }

    /// Keeps contents; returns when they are durable.
    pub(crate) fn keep(&self, host: &dyn Host, contents: &[Vec<u8>]) -> HostResult<()> {
        let mut names = BTreeSet::new();
        for content in contents {
            let name = Digest::of(content).hex();
            if names.contains(&name) || self.holds(&name)? {
                continue;
            }
            // A crash may have left half of one behind; what is not renamed does not count.
            let staged = format!(".{name}");
            if self.dir.stat(&staged)?.is_some() {
                self.dir.remove(&staged)?;
            }
            self.dir
                .create(&staged, content, &Attributes::mode(0o600))?;
            names.insert(name);
        }
        if names.is_empty() {
            return Ok(());
        }
        let staged: Vec<String> = names.iter().map(|name| format!(".{name}")).collect();
        let files: Vec<(&dyn Dir, &str)> = staged
            .iter()
            .map(|name| (self.dir.as_ref(), name.as_str()))
            .collect();
        host.sync_files(&files)?;
        for (name, staged) in names.iter().zip(&staged) {
            self.dir.rename(staged, name)?;
        }
        host.sync_dirs(&[self.dir.as_ref()])
    }

    /// Returns a content, or says that it is gone.
    pub(crate) fn get(&self, digest: Digest) -> Result<Vec<u8>, Fault> {
        let name = digest.hex();
        let lost = |what: &str| {
            Fault::refused(format!("the before-image {digest} is {what}"))
                .because("Without it the file cannot be put back as it was.")
        };
        if self.dir.stat(&name)?.is_none() {
            return Err(lost("missing"));
        }
        let content = self.dir.read(&name, LARGEST_FILE)?;
        if Digest::of(&content) == digest {
            Ok(content)
        } else {
            Err(lost("damaged"))
        }
    }

    /// Erases all contents, because the run no longer needs them.
    pub(crate) fn erase(&self, host: &dyn Host) -> HostResult<()> {
        for name in self.dir.list()? {
            self.dir.remove(&name)?;
        }
        host.sync_dirs(&[self.dir.as_ref()])
    }

    fn holds(&self, name: &str) -> HostResult<bool> {
        if self.dir.stat(name)?.is_none() {
            return Ok(false);
        }
        Ok(Digest::of(&self.dir.read(name, LARGEST_FILE)?).hex() == name)
    }
}
