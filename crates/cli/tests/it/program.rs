//! Runs the real program in a folder of its own, without anything of the caller's environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::normal;

/// A folder in which the program is run, and which is its root.
#[derive(Debug)]
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// Makes an empty one.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    /// Makes one with a config that names the node, so that outputs do not depend on the machine.
    pub(crate) fn with_config() -> Self {
        let place = Self::new();
        place.write("etc/bootlace/cluster.yaml", CONFIG);
        place
    }

    /// Returns a path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Writes a file, and the folders above it.
    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads a file.
    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Lists every file and folder below a folder, with modes, relative to the root.
    pub(crate) fn tree(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.path(name), &self.root(), &mut found);
        found.sort();
        found
    }

    /// Prepares a call with the folder as root.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = self.bare(words);
        // A name that is as long on every machine, because lines are wrapped by their length.
        command.args(["--root", "."]);
        command
    }

    /// Prepares a call without any flag that was not asked for.
    #[expect(clippy::disallowed_methods, reason = "the program under test")]
    pub(crate) fn bare(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bootlace"));
        command
            .args(words.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .env("LANG", "C.UTF-8")
            .env("COLUMNS", "80")
            .stdin(Stdio::null());
        command
    }

    /// Calls the program with the folder as root, and returns all that it said.
    pub(crate) fn call(&self, words: &str) -> String {
        self.said(&self.command(words).output().unwrap())
    }

    /// Calls the program without any flag that was not asked for.
    pub(crate) fn call_bare(&self, words: &str) -> String {
        self.said(&self.bare(words).output().unwrap())
    }

    /// Puts code, stdout and stderr into one text that is the same on every machine and day.
    pub(crate) fn said(&self, output: &Output) -> String {
        let root = self.root().display().to_string();
        let code = output
            .status
            .code()
            .map_or("none".into(), |c| c.to_string());
        let stream = |bytes: &[u8]| {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            normal::text(&text.replace(&root, "[ROOT]"))
        };
        let (stdout, stderr) = (stream(&output.stdout), stream(&output.stderr));
        format!("code: {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }
}

/// Calls the program and returns its exit code.
pub(crate) fn code(command: &mut Command) -> Option<i32> {
    command.output().unwrap().status.code()
}

fn list(folder: &Path, root: &Path, found: &mut Vec<String>) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(entries) = folder.read_dir() else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        let name = path.strip_prefix(root).unwrap().display();
        found.push(format!("{mode:04o} {name}"));
        if metadata.is_dir() {
            list(&path, root, found);
        }
    }
}

const CONFIG: &str = "\
apiVersion: bootlace.dev/v1alpha1
kind: Cluster
metadata: {name: demo}
spec:
  controlPlane: {nodeName: node-1}
";
