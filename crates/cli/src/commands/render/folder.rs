//! A folder of this computer that a person names on the command line.

use std::path::{Path, PathBuf};

use bootlace_engine::port::{Dir, Host, Stat};
use bootlace_host::RealHost;
use bootlace_model::fault::Fault;
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::{Answer, FileTree, Probe};

/// No file that is rendered from is as large as this.
const LARGEST: u64 = 64 << 20;

/// A folder, and everything below it.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    host: RealHost,
}

impl Folder {
    /// Takes an absolute path. Links below it stay below it.
    pub(super) fn at(path: PathBuf) -> Self {
        let host = RealHost::builder().root(&path).build();
        Self { path, host }
    }

    /// Returns the folder that holds it.
    pub(super) fn above(&self) -> Self {
        Self::at(self.path.parent().unwrap_or(Path::new("/")).to_owned())
    }

    /// Returns its path, as paths on a target are written.
    pub(super) fn target(&self) -> Result<TargetPath, Fault> {
        let text = self.path.to_string_lossy();
        TargetPath::new(&text).map_err(|bad| Fault::bad_input(bad.to_string()))
    }

    /// Refuses a folder that does not exist.
    pub(super) fn must_be_there(&self, flag: &str) -> Result<(), Fault> {
        if self.host.open_dir(&TargetPath::root())?.is_some() {
            return Ok(());
        }
        let path = self.path.display();
        Err(Fault::bad_input(format!("{flag} {path} does not exist"))
            .because("a component that is rendered from nothing would start with nothing")
            .hint(
                "`bootlace run cluster --to copy-manifests` makes ASSETS/tls and ASSETS/manifests",
            ))
    }

    /// Refuses a folder that lacks some of these files, and names all that are missing.
    pub(super) fn must_have(&self, names: &[&str]) -> Result<(), Fault> {
        let mut missing = Vec::new();
        for name in names {
            if self.read(name)?.is_none() {
                missing.push((*name).to_owned());
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let path = self.path.display();
        let message = format!(
            "{path} lacks {} of the files that are needed",
            missing.len()
        );
        let mut fault = Fault::bad_input(message)
            .because("what is rendered points at them, and does not start without them")
            .hint("`bootlace run cluster --only prepare-assets` makes them");
        fault.details = missing;
        Err(fault)
    }

    /// Reads a file; none if it is absent.
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Fault> {
        let path = below(name)?;
        let parent = path.parent().unwrap_or_else(TargetPath::root);
        let Some(dir) = self.host.open_dir(&parent)? else {
            return Ok(None);
        };
        match dir.stat(path.name())? {
            Some(Stat::File { .. }) => Ok(Some(dir.read(path.name(), LARGEST)?)),
            _ => Ok(None),
        }
    }

    /// Reads every file.
    pub(super) fn tree(&self) -> Result<FileTree, Fault> {
        read_tree(&self.host, &TargetPath::root())
    }

    /// Writes a file, replacing what is there at once or not at all.
    pub(super) fn put(&self, name: &str, content: &[u8], mode: u32) -> Result<(), Fault> {
        let path = below(name)?;
        let parent = path.parent().unwrap_or_else(TargetPath::root);
        let dir = self.make(&parent)?;
        let staged = format!(".bootlace-{}", path.name());
        if dir.stat(&staged)?.is_some() {
            // A render that was killed left it.
            dir.remove(&staged)?;
        }
        dir.create(&staged, content, &Attributes::mode(mode))?;
        dir.rename(&staged, path.name())?;
        Ok(())
    }

    /// Opens a folder, making it and those above it if needed.
    fn make(&self, path: &TargetPath) -> Result<Box<dyn Dir>, Fault> {
        if let Some(dir) = self.host.open_dir(path)? {
            return Ok(dir);
        }
        match path.parent() {
            None => self.host.ensure()?,
            Some(parent) => {
                let above = self.make(&parent)?;
                above.create_dir(path.name(), &Attributes::mode(0o755))?;
            }
        }
        let missing = || Fault::internal(format!("{path} vanished while it was made"));
        self.host.open_dir(path)?.ok_or_else(missing)
    }
}

/// Reads all files below a folder.
pub(super) fn read_tree(host: &RealHost, path: &TargetPath) -> Result<FileTree, Fault> {
    let probe = Probe::ReadTree {
        path: path.clone(),
        limit: LARGEST,
    };
    match bootlace_engine::answer(host, &probe)? {
        Answer::Tree(tree) => Ok(tree),
        other => Err(Fault::internal(format!("{other:?} is no tree of files"))),
    }
}

fn below(name: &str) -> Result<TargetPath, Fault> {
    let path = TargetPath::root().join(name);
    path.map_err(|bad| Fault::internal(bad.to_string()))
}
