//! The shared libraries of a program, which go with it into an image.

use std::path::{Path, PathBuf};

use crate::error::LabError;
use crate::layer::Layer;
use crate::program;

/// Adds a program and its libraries to a layer; a root other than `/` is where both are taken from.
pub(crate) fn add(layer: Layer, root: &Path, at: &str, program: &Path) -> Result<Layer, LabError> {
    let mut layer = layer.file(at, &outside(root, program), 0o755);
    for library in of(root, program)? {
        let from = outside(root, &library);
        // An image has no links between its folders of libraries; the file itself goes there.
        let from = from.canonicalize().map_err(LabError::file("find", &from))?;
        layer = layer.file(&library.to_string_lossy(), &from, 0o755);
    }
    Ok(layer)
}

/// Lists the libraries that the loader would load, the loader too.
pub(crate) fn of(root: &Path, program: &Path) -> Result<Vec<PathBuf>, LabError> {
    let mut command = if root == Path::new("/") {
        program::command("ldd")
    } else {
        let mut command = program::command("chroot");
        command.arg(root).arg("ldd");
        command
    };
    command.arg(program).env("LC_ALL", "C");
    let listing = match program::run("listing libraries", &mut command, |_| {}) {
        // A program without libraries is the best one to put into an image.
        Err(LabError::Program { output, .. }) if output.contains("not a dynamic executable") => {
            return Ok(Vec::new());
        }
        listing => listing?,
    };
    parse(&listing).map_err(|missing| LabError::Missing {
        what: format!("{missing}, which {} needs,", program.display()),
        hint: "install the package that brings it".into(),
    })
}

/// Reads what `ldd` prints; an error names a library that is not there.
fn parse(listing: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for line in listing.lines().map(str::trim) {
        let (name, place) = line.split_once(" => ").unwrap_or((line, line));
        if place.starts_with("not found") {
            return Err(name.to_owned());
        }
        let path = place.split(" (").next().unwrap_or_default();
        if path.starts_with('/') {
            found.push(PathBuf::from(path));
        }
    }
    Ok(found)
}

/// Returns where a path of a root is on this computer.
fn outside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_and_all_libraries_are_listed() {
        let listing = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        let expected = [
            "/lib/x86_64-linux-gnu/libc.so.6",
            "/lib64/ld-linux-x86-64.so.2",
        ];
        assert_eq!(parse(listing).unwrap(), expected.map(PathBuf::from));
        assert_eq!(parse("\tlibx.so => not found\n").unwrap_err(), "libx.so");
        assert_eq!(parse("\tstatically linked\n").unwrap().len(), 0);
    }
}
