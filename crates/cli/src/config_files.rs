//! Reading config files: those that a person names, else those in `/etc/bootlace` of the root.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use bootlace_engine::port::Host;
use bootlace_model::config::FragmentText;
use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;

use crate::paths::CONFIG;

/// No config is as large as this; more is a mistake in the file's name.
const LARGEST: u64 = 4 << 20;

/// A config file that was read.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    name: String,
    base: String,
    text: String,
}

impl ConfigFile {
    /// Borrows it in the shape in which configs are loaded.
    pub(crate) fn fragment(&self) -> FragmentText<'_> {
        FragmentText {
            name: &self.name,
            base: &self.base,
            text: &self.text,
        }
    }
}

/// Reads the files that a person names, in that order.
pub(crate) fn read_named(files: &[PathBuf]) -> Result<Vec<ConfigFile>, Fault> {
    files.iter().map(|file| read(file)).collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a person's own file on this computer, read before there is a host"
)]
fn read(file: &Path) -> Result<ConfigFile, Fault> {
    let name = file.display().to_string();
    let unreadable = |error: std::io::Error| {
        Fault::bad_input(format!("cannot read the config: {error}"))
            .in_file(&name)
            .because("without it the defaults would hold, which is not what was asked for")
            .hint("check the name after --config")
            .hint("`bootlace config print-defaults` prints a config to begin with")
    };
    let mut bytes = Vec::new();
    // A device may never end; one byte more than is accepted is enough to be refused.
    std::fs::File::open(file)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    // Relative folders in the file begin where the file really lies.
    let real = file.canonicalize().map_err(unreadable)?;
    let base = real.parent().unwrap_or(Path::new("/"));
    config_file(name.clone(), base, bytes)
}

/// Reads all `*.yaml` of the root's config folder, by name; no folder is no config.
///
/// They are read through the host, because links in there are links of that root.
pub(crate) fn read_default(host: &dyn Host, root: &Path) -> Result<Vec<ConfigFile>, Fault> {
    let folder = TargetPath::new(CONFIG).map_err(|bad| Fault::internal(bad.to_string()))?;
    let Some(dir) = host.open_dir(&folder)? else {
        return Ok(vec![]);
    };
    let base = root.join(CONFIG.trim_start_matches('/'));
    let mut files = Vec::new();
    for name in dir.list()? {
        if Path::new(&name)
            .extension()
            .is_none_or(|ending| ending != "yaml")
        {
            continue;
        }
        let shown = base.join(&name).display().to_string();
        let bytes = dir.read(&name, LARGEST);
        let bytes = bytes.map_err(|error| {
            Fault::bad_input(format!("cannot read the config: {error}")).in_file(&shown)
        })?;
        files.push(config_file(shown, &base, bytes)?);
    }
    Ok(files)
}

fn config_file(name: String, base: &Path, bytes: Vec<u8>) -> Result<ConfigFile, Fault> {
    let not_text = |what: &str| {
        Fault::bad_input(format!("{what} is not UTF-8"))
            .in_file(&name)
            .hint("save it as UTF-8; `file` tells what it is now")
    };
    let text = String::from_utf8(bytes).map_err(|_| not_text("the config"))?;
    let base = base
        .to_str()
        .ok_or_else(|| not_text("the config's folder"))?;
    Ok(ConfigFile {
        base: base.to_owned(),
        name,
        text,
    })
}
