//! The program itself, asked as a person would ask it.

use std::path::{Path, PathBuf};
use std::process::Command;

use bootlace_model::view::ExplainView;

use crate::failure::Failure;

/// The width of the pages' console blocks.
const COLUMNS: &str = "90";

/// The program, built from this repository when it is first asked.
#[derive(Debug)]
pub(crate) struct Program {
    top: PathBuf,
}

impl Program {
    /// The program of the repository at `top`.
    pub(crate) fn new(top: &Path) -> Self {
        Self {
            top: top.to_owned(),
        }
    }

    /// Returns what `explain` says of a sequence when there is no config.
    pub(crate) fn explain(&self, sequence: &str) -> Result<ExplainView, Failure> {
        // A root that is not there has no config, whatever this computer has in /etc/bootlace.
        let nowhere = self.top.join("target/no-such-root").display().to_string();
        let json = self.ask(&["explain", sequence, "-o", "json", "--root", &nowhere])?;
        Ok(serde_json::from_str(&json)?)
    }

    /// Returns the short help of a command.
    pub(crate) fn help(&self, words: &[&str]) -> Result<String, Failure> {
        let words: Vec<&str> = words.iter().copied().chain(["-h"]).collect();
        self.ask(&words)
    }

    /// Runs it and returns its stdout; nothing of this computer may show in there.
    fn ask(&self, words: &[&str]) -> Result<String, Failure> {
        let failed = |reason: String| Failure::Program {
            command: format!("bootlace {}", words.join(" ")),
            reason,
        };
        let mut command = Command::new("cargo");
        command.current_dir(&self.top);
        command.args(["run", "--quiet", "--locked", "-p", "bootlace", "--"]);
        command.args(words);
        let ours = |(name, _): &(std::ffi::OsString, std::ffi::OsString)| {
            name.to_string_lossy().starts_with("BOOTLACE_")
        };
        for (name, _) in std::env::vars_os().filter(ours) {
            command.env_remove(name);
        }
        command.env("COLUMNS", COLUMNS).env("NO_COLOR", "1");
        let output = command
            .output()
            .map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(failed(stderr.trim().to_owned()));
        }
        String::from_utf8(output.stdout).map_err(|error| failed(error.to_string()))
    }
}
