//! Files that are written from what the program says, committed, and compared by `make check`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::failure::Failure;
use crate::root::root;

/// One file: its name and its text.
pub(crate) type File = (&'static str, String);

/// A folder of generated files.
#[derive(Debug)]
pub(crate) struct Generated {
    /// The chore that writes them.
    pub(crate) chore: &'static str,
    /// Where they lie in the repository.
    pub(crate) folder: &'static str,
    /// Their mode.
    pub(crate) mode: u32,
    /// What to do if they differ.
    pub(crate) hint: &'static str,
}

impl Generated {
    /// Writes the files, or with `--check` compares them with those in the repository.
    pub(crate) fn run(
        &self,
        arguments: &[String],
        generate: impl FnOnce(&Path) -> Result<Vec<File>, Failure>,
    ) -> Result<(), Failure> {
        let root = root()?;
        let folder = root.join(self.folder);
        match arguments {
            [] => self.write(&folder, &generate(&root)?),
            [check] if check == "--check" => self.compare(&folder, &generate(&root)?),
            [first, ..] => Err(Failure::Usage(first.clone())),
        }
    }

    fn write(&self, folder: &Path, files: &[File]) -> Result<(), Failure> {
        fs::create_dir_all(folder).map_err(Failure::file(folder))?;
        for (name, text) in files {
            let path = folder.join(name);
            fs::write(&path, text).map_err(Failure::file(&path))?;
            let mode = fs::Permissions::from_mode(self.mode);
            fs::set_permissions(&path, mode).map_err(Failure::file(&path))?;
        }
        println!("{}: {} files in {}", self.chore, files.len(), self.folder);
        Ok(())
    }

    fn compare(&self, folder: &Path, files: &[File]) -> Result<(), Failure> {
        let mut findings = vec![];
        for (name, text) in files {
            let path = folder.join(name);
            let shown = format!("{}/{name}", self.folder);
            if !path.exists() {
                findings.push(format!("{shown} is missing"));
                continue;
            }
            if fs::read_to_string(&path).map_err(Failure::file(&path))? != *text {
                findings.push(format!("{shown} is not what the program says"));
            }
            // git keeps whether a file can be run, and nothing else of its mode.
            let mode = path.metadata().map_err(Failure::file(&path))?;
            if (mode.permissions().mode() ^ self.mode) & 0o100 != 0 {
                findings.push(format!("{shown} must have mode {:o}", self.mode));
            }
        }
        if !findings.is_empty() {
            return Err(Failure::Found {
                summary: "generated files are out of date:".into(),
                findings,
                hint: self.hint,
            });
        }
        println!("{}: {} files are up to date", self.chore, files.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Generated = Generated {
        chore: "some",
        folder: "docs/some",
        mode: 0o755,
        hint: "write them",
    };

    #[test]
    fn what_is_written_is_up_to_date_until_someone_changes_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("some");
        let files = [("a.md", "one\n".to_owned()), ("b.md", "two\n".to_owned())];
        let findings = || match SOME.compare(&folder, &files) {
            Ok(()) => vec![],
            Err(Failure::Found { findings, .. }) => findings,
            Err(other) => panic!("{other}"),
        };
        assert_eq!(findings().len(), 2);
        SOME.write(&folder, &files).unwrap();
        assert_eq!(findings(), [""; 0]);
        fs::write(folder.join("a.md"), "three\n").unwrap();
        fs::remove_file(folder.join("b.md")).unwrap();
        assert_eq!(
            findings(),
            [
                "docs/some/a.md is not what the program says",
                "docs/some/b.md is missing"
            ]
        );
    }

    #[test]
    fn a_program_must_be_one_that_can_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("a.sh", "true\n".to_owned())];
        SOME.write(folder.path(), &files).unwrap();
        let mode = fs::Permissions::from_mode(0o644);
        fs::set_permissions(folder.path().join("a.sh"), mode).unwrap();
        let found = SOME.compare(folder.path(), &files).unwrap_err();
        assert!(found.to_string().contains("must have mode 755"), "{found}");
    }
}
