//! busybox, built from its source: Debian's builds leave out what pods need.
//!
//! They are built without `FEATURE_WGET_TIMEOUT`, and `wget -T` then writes its argument to address 0 and
//! crashes. Their shell also drops environment variables with a dash in the name, which pods may have.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use crate::cache::{Cache, Lock, Product};
use crate::error::LabError;
use crate::files;
use crate::key::{Key, digest_of_file};
use crate::program;
use crate::progress::Progress;

/// Changes when it is built in another way.
const RECIPE: u32 = 1;

/// The version.
pub(crate) const VERSION: &str = "1.37.0";

/// Where the source is on a mirror of Debian.
const SOURCE: &str = "pool/main/b/busybox/busybox_1.37.0.orig.tar.bz2";

/// The digest of the source.
const DIGEST: &str = "sha256:3311dff32e746499f4df0d5df04d7eb396382d7e108bb9250e7b519b837043a4";

/// Lines of the default config that are changed: one program without libraries, and no `tc`, which does
/// not compile with the headers of a newer kernel.
const CHANGED: [(&str, &str); 2] = [
    ("# CONFIG_STATIC is not set", "CONFIG_STATIC=y"),
    ("CONFIG_TC=y", "# CONFIG_TC is not set"),
];

/// The program, which may have to be built.
#[derive(Debug, Clone)]
pub(crate) struct Busybox {
    /// What it is made from.
    pub(crate) key: String,
    product: Product,
}

impl Busybox {
    /// Finds out where it is or will be.
    pub(crate) fn find(cache: &Cache) -> Self {
        let mut key = Key::new("busybox", RECIPE)
            .text("source", DIGEST)
            .text("architecture", std::env::consts::ARCH);
        for (from, to) in CHANGED {
            key = key.text(from, to);
        }
        let key = key.finish();
        Self {
            product: cache.product("busybox", &key),
            key,
        }
    }

    /// Returns the program.
    pub(crate) fn program(&self) -> PathBuf {
        self.product.path().join("busybox")
    }

    /// Says what will be built; none if it is there.
    pub(crate) fn todo(&self) -> Option<String> {
        let what = format!("build busybox {VERSION} (about a minute)");
        (!self.product.is_ready()).then_some(what)
    }

    /// Builds it, unless it is there; the source comes from the mirror that a root of Debian names.
    pub(crate) fn build(
        &self,
        lock: &Lock,
        progress: &Progress,
        debian: &Path,
    ) -> Result<(), LabError> {
        self.product.make(lock, |folder| {
            let task = progress.task(&format!("builds busybox {VERSION}"));
            let source = folder.join("source");
            files::folder(&source)?;
            fetch(&mirror(debian)?, &source)?;
            configure(&source)?;
            let jobs = thread::available_parallelism().map_or(1, usize::from);
            make(&source, &[&format!("--jobs={jobs}"), "busybox"], |line| {
                task.detail(line.trim());
            })?;
            let (built, kept) = (source.join("busybox"), folder.join("busybox"));
            fs::rename(&built, &kept).map_err(LabError::file("keep", &built))?;
            files::remove_folder(&source)
        })
    }
}

/// Reads which mirror a root of Debian was made from.
fn mirror(debian: &Path) -> Result<String, LabError> {
    let path = debian.join("etc/apt/sources.list");
    let text = fs::read_to_string(&path).map_err(LabError::file("read", &path))?;
    let named = text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("deb")).then(|| words.find(|word| word.contains("://")))?
    });
    let named = named.map(|mirror| mirror.trim_end_matches('/').to_owned());
    named.ok_or_else(|| LabError::source(&path, "it names no mirror"))
}

/// Downloads the source and unpacks it into a folder.
fn fetch(mirror: &str, folder: &Path) -> Result<(), LabError> {
    let archive = folder.join("source.tar.bz2");
    let mut command = program::command("wget");
    command
        .args(["--no-verbose", "--output-document"])
        .arg(&archive)
        .arg(format!("{mirror}/{SOURCE}"));
    program::run("downloading busybox", &mut command, |_| {})?;
    let found = digest_of_file(&archive)?;
    if found != DIGEST {
        let reason = format!("its digest is {found}, and {DIGEST} is pinned");
        return Err(LabError::source(&archive, reason));
    }
    let mut command = program::command("tar");
    command
        .args(["--extract", "--bzip2", "--strip-components=1", "--file"])
        .arg(&archive)
        .arg("--directory")
        .arg(folder);
    program::run("unpacking busybox", &mut command, |_| {})?;
    Ok(())
}

/// Writes the config: the default one with a few lines changed.
fn configure(source: &Path) -> Result<(), LabError> {
    make(source, &["defconfig"], |_| {})?;
    let path = source.join(".config");
    let text = fs::read_to_string(&path).map_err(LabError::file("read", &path))?;
    let text = changed(&text).map_err(|line| {
        LabError::source(&path, format!("the default config has no line {line:?}"))
    })?;
    files::write(&path, text.as_bytes())
}

/// Changes the lines of a config; an error is the line that it does not have.
fn changed(config: &str) -> Result<String, &'static str> {
    let mut lines: Vec<&str> = config.lines().collect();
    for (from, to) in CHANGED {
        let line = lines.iter_mut().find(|line| **line == from).ok_or(from)?;
        *line = to;
    }
    Ok(lines.join("\n") + "\n")
}

fn make(source: &Path, words: &[&str], on_line: impl Fn(&str) + Sync) -> Result<(), LabError> {
    let mut command = program::command("make");
    command
        .arg("--directory")
        .arg(source)
        .args(words)
        // The program prints when it was built, and equal sources must give equal images.
        .env("SOURCE_DATE_EPOCH", "946684800")
        .env("KCONFIG_NOTIMESTAMP", "1");
    program::run("building busybox", &mut command, on_line)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_the_one_that_the_root_came_from() {
        let root = tempfile::tempdir().unwrap();
        let list = root.path().join("etc/apt/sources.list");
        files::write(&list, b"# a comment\n").unwrap();
        assert!(mirror(root.path()).is_err());
        let line = b"# a comment\ndeb [trusted=yes] http://127.0.0.1/debian/ suite main\n";
        files::write(&list, line).unwrap();
        assert_eq!(mirror(root.path()).unwrap(), "http://127.0.0.1/debian");
    }

    #[test]
    fn a_config_without_a_line_that_matters_is_refused() {
        let config = "CONFIG_A=y\nCONFIG_TC=y\n# CONFIG_STATIC is not set\n";
        assert_eq!(
            changed(config).unwrap(),
            "CONFIG_A=y\n# CONFIG_TC is not set\nCONFIG_STATIC=y\n"
        );
        assert_eq!(changed("CONFIG_TC=y\n"), Err("# CONFIG_STATIC is not set"));
    }
}
