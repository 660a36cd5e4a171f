//! Programs of the host.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::{MachineError, Result};

/// Programs that machines need, each with the Debian package that brings it.
pub(crate) const NEEDED: &[(&str, &str)] = &[
    ("systemd-nspawn", "systemd-container"),
    ("ip", "iproute2"),
    ("nsenter", "util-linux"),
    ("unshare", "util-linux"),
    ("setsid", "util-linux"),
    ("sh", "dash"),
];

/// Where programs are looked for, whatever the caller's path is: these are an administrator's.
pub(crate) const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Finds a program of the host.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let candidates = SEARCH_PATH
        .split(':')
        .map(|folder| PathBuf::from(folder).join(program));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

/// Begins a command of the host, in a known environment.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", SEARCH_PATH)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null());
    command
}

/// Runs a program of the host to its end; it must succeed.
pub(crate) fn run<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> Result<()> {
    read(program, arguments).map(|_| ())
}

/// Runs a program of the host to its end and returns what it printed; it must succeed.
pub(crate) fn read<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> Result<String> {
    let failed = |output: String| {
        let words = arguments
            .iter()
            .map(|word| word.as_ref().to_string_lossy().into_owned());
        let words: Vec<String> = [program.to_owned()].into_iter().chain(words).collect();
        MachineError::Tool {
            command: words.join(" "),
            output,
        }
    };
    let output = command(program)
        .args(arguments)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(failed(if said.is_empty() {
        output.status.to_string()
    } else {
        said
    }))
}
