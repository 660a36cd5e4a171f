//! Programs that the lab runs: watched line by line, and ended with the lab.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::LabError;

/// How many lines of a failed program are shown.
const SHOWN_LINES: usize = 25;

/// Where an administrator's programs are, which may not be on a person's path.
const ADMINISTRATOR: &str = "/usr/local/sbin:/usr/sbin:/sbin";

/// Finds a program.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = path.split(':').chain(ADMINISTRATOR.split(':'));
    let mut candidates = folders.map(|folder| PathBuf::from(folder).join(program));
    candidates.find(|candidate| candidate.is_file())
}

/// Begins a command that is killed when the lab is: an interrupted build must not go on unseen.
pub(crate) fn command(program: &str) -> Command {
    let resolved = find(program).unwrap_or_else(|| PathBuf::from(program));
    let mut command = match find("setpriv") {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL", "--"]).arg(resolved);
            command
        }
        None => Command::new(resolved),
    };
    command.stdin(Stdio::null());
    command
}

/// Runs a command to its end, hands on what it prints, and returns that as text; it must succeed.
pub(crate) fn run(
    what: &str,
    command: &mut Command,
    on_line: impl Fn(&str) + Sync,
) -> Result<String, LabError> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let words: Vec<_> = [command.get_program()]
        .into_iter()
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect();
    let words = words.join(" ");
    let failed = |how: String, output: &str| {
        let lines: Vec<&str> = output.lines().collect();
        let tail = lines.len().saturating_sub(SHOWN_LINES);
        LabError::Program {
            what: what.to_owned(),
            command: words.clone(),
            how,
            output: lines.get(tail..).unwrap_or_default().join("\n"),
        }
    };
    let mut child = command
        .spawn()
        .map_err(|error| failed(format!("could not be started: {error}"), ""))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let all = Mutex::new(String::new());
    let data = thread::scope(|scope| {
        let data = scope.spawn(|| read(stdout, &all, &on_line));
        read(stderr, &all, &on_line);
        data.join().unwrap_or_default()
    });
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    let status = child
        .wait()
        .map_err(|error| failed(error.to_string(), &all))?;
    if status.success() {
        return Ok(data);
    }
    Err(failed(format!("ended with {status}"), &all))
}

fn read(stream: Option<impl Read>, all: &Mutex<String>, on_line: &impl Fn(&str)) -> String {
    let mut own = String::new();
    let Some(stream) = stream else { return own };
    for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        on_line(&line);
        own.push_str(&line);
        own.push('\n');
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_str(&line);
        all.push('\n');
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_watched_and_its_data_returned() {
        let seen = Mutex::new(Vec::new());
        let script = "echo data; echo status >&2";
        let data = run("a test", command("sh").args(["-c", script]), |line| {
            seen.lock().unwrap().push(line.to_owned());
        });
        assert_eq!(data.unwrap(), "data\n");
        let mut seen = seen.into_inner().unwrap();
        seen.sort();
        assert_eq!(seen, ["data", "status"]);
    }

    #[test]
    fn a_failed_program_is_named_with_what_it_said() {
        let failed = run(
            "a test",
            command("sh").args(["-c", "echo why >&2; exit 3"]),
            |_| {},
        );
        let text = failed.unwrap_err().to_string();
        assert!(
            text.contains("a test failed") && text.contains("exit status: 3"),
            "{text}"
        );
        assert!(text.ends_with("why"), "{text}");
        assert!(run("a test", &mut command("no-such-program"), |_| {}).is_err());
    }
}
