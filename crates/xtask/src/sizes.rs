//! Checks that source files stay short enough to be read in one sitting.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, no_arguments};
use crate::root::root;

/// From here on a file is listed, as a reminder.
const LONG: usize = 300;

/// From here on the check fails.
const TOO_LONG: usize = 600;

/// Folders with sources of ours.
const FOLDERS: [&str; 5] = ["crates", "bench", "conformance", "fuzz", "lab"];

/// Checks the repository.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments(arguments)?;
    let root = root()?;
    let mut files = vec![];
    for folder in FOLDERS {
        measure(&root.join(folder), &mut files)?;
    }
    files.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.path.cmp(&b.path)));
    for file in files.iter().filter(|file| file.lines > LONG) {
        println!("sizes: {}", file.describe(&root));
    }
    let too_long = files.iter().filter(|file| file.lines > TOO_LONG);
    let findings: Vec<String> = too_long.map(|file| file.describe(&root)).collect();
    if !findings.is_empty() {
        return Err(Failure::Found {
            summary: format!("files of more than {TOO_LONG} lines:"),
            findings,
            hint: "split them by concern; a file of 150 to 300 lines is a good size",
        });
    }
    println!(
        "sizes: none of {} files is longer than {TOO_LONG} lines",
        files.len()
    );
    Ok(())
}

/// A source file and how many lines it has.
#[derive(Debug, PartialEq, Eq)]
struct Measured {
    path: PathBuf,
    lines: usize,
}

impl Measured {
    fn describe(&self, root: &Path) -> String {
        let path = self.path.strip_prefix(root).unwrap_or(&self.path);
        format!("{:4} lines  {}", self.lines, path.display())
    }
}

/// Counts the lines of every `.rs` file below a folder; skips what builds leave behind.
fn measure(folder: &Path, files: &mut Vec<Measured>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder).map_err(Failure::file(folder))? {
        let path = entry.map_err(Failure::file(folder))?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                measure(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
            let lines = text.lines().count();
            files.push(Measured { path, lines });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_measured_and_builds_are_not() {
        let folder = tempfile::tempdir().unwrap();
        for (name, lines) in [("a/b.rs", 3), ("target/c.rs", 5), ("d.txt", 7)] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x\n".repeat(lines)).unwrap();
        }
        let mut files = vec![];
        measure(folder.path(), &mut files).unwrap();
        let path = folder.path().join("a/b.rs");
        assert_eq!(files, [Measured { path, lines: 3 }]);
        assert_eq!(files[0].describe(folder.path()), "   3 lines  a/b.rs");
        assert!(measure(&folder.path().join("absent"), &mut files).is_err());
    }
}
