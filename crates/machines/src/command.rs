//! Programs inside a machine.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::machine::Machine;
use crate::processes;
use crate::tools;
use crate::wait::until;
use crate::{MachineError, Result};

/// How long is waited for the end of a stream whose program ended.
const STREAMS_END_WITHIN: Duration = Duration::from_secs(1);

/// Joins the groups that are named before `--`, then becomes the program behind it.
const JOIN: &str = r#"while [ "$1" != -- ]; do
    echo $$ > "$1/cgroup.procs" || exit 70
    shift
done
shift
exec "$@"
"#;

/// Goes first where signals of the terminal are for the program inside alone: what leads to it would
/// end by them, and take its exit code along.
const SHIELD: &str = "trap '' INT TERM\n";

/// A program that ended, and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Its exit code; 128 and the signal's number if a signal ended it.
    pub code: i32,
    /// What it printed as data.
    pub stdout: String,
    /// What it printed as status.
    pub stderr: String,
}

impl Machine {
    /// Prepares a program inside the machine: in its namespaces and counted in its control groups.
    ///
    /// The caller chooses what it reads and where it prints. Its exit code is the program's.
    pub fn command<S: AsRef<OsStr>>(&self, argv: &[S]) -> Result<Command> {
        self.enter(JOIN, argv)
    }

    /// Starts a program inside the machine, which reads and prints where the caller does.
    ///
    /// It must handle `SIGINT` and `SIGTERM` itself: it starts with both ignored.
    pub fn start<S: AsRef<OsStr>>(&self, argv: &[S], variable: (&str, &str)) -> Result<Running> {
        let mut command = self.enter(&format!("{SHIELD}{JOIN}"), argv)?;
        let (name, value) = variable;
        let child = command
            .env(name, value)
            .spawn()
            .map_err(|error| MachineError::Tool {
                command: "nsenter".into(),
                output: error.to_string(),
            })?;
        Ok(Running { child })
    }

    fn enter<S: AsRef<OsStr>>(&self, script: &str, argv: &[S]) -> Result<Command> {
        let leader = self.leader()?.ok_or_else(|| MachineError::NotRunning {
            name: self.name().to_string(),
        })?;
        let groups = crate::cgroups::of(leader)?;
        let mut words: Vec<OsString> = ["-c", script, "sh"].map(OsString::from).into();
        words.extend(groups.into_iter().map(PathBuf::into_os_string));
        words.push("--".into());
        let target = format!("--target={leader}");
        let enter = [
            "nsenter", &target, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup",
            "--root", "--wd", "--",
        ];
        words.extend(enter.map(OsString::from));
        words.extend(argv.iter().map(|word| word.as_ref().to_owned()));
        let mut command = tools::command("sh");
        command.args(words).env("HOME", "/root");
        Ok(command)
    }

    /// Runs a program inside the machine to its end and takes what it prints.
    ///
    /// When the deadline passes, it is killed.
    pub fn run<S: AsRef<OsStr>>(&self, argv: &[S], within: Duration) -> Result<Finished> {
        let mut command = self.command(argv)?;
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that whatever it starts can be killed with it.
        command.process_group(0);
        let words: Vec<_> = argv
            .iter()
            .map(|word| word.as_ref().to_string_lossy())
            .collect();
        let words = words.join(" ");
        let failed = |error: io::Error| MachineError::Tool {
            command: words.clone(),
            output: error.to_string(),
        };
        let mut child = command.spawn().map_err(failed)?;
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        let status = until(within, || child.try_wait().map_err(failed))?;
        if status.is_none() {
            kill_group(&mut child);
        }
        let Some(status) = status else {
            return Err(MachineError::Deadline {
                what: format!("`{words}` in machine {} did not end", self.name()),
                within,
                evidence: evidence(&stderr.take()?),
            });
        };
        Ok(Finished {
            code: code(status),
            stdout: stdout.take()?,
            stderr: stderr.take()?,
        })
    }
}

/// A program inside a machine that was started and not waited for.
#[derive(Debug)]
pub struct Running {
    child: Child,
}

impl Running {
    /// Returns the program's exit code once it has ended.
    pub fn try_wait(&mut self) -> Result<Option<i32>> {
        let ended = self.child.try_wait().map_err(|error| MachineError::Tool {
            command: "nsenter".into(),
            output: error.to_string(),
        })?;
        Ok(ended.map(code))
    }

    /// Interrupts the program; one that has not begun yet, or has ended, notices nothing.
    pub fn interrupt(&self) {
        // Our own child waits for the program, which is in the machine's namespace of processes.
        if let Some(program) = processes::child_of(self.child.id())
            && let Some((_, handle)) = processes::handle(program)
        {
            processes::signal(&handle, Signal::INT);
        }
    }
}

/// What a program prints, while a thread reads it, so that the program never waits for a reader.
struct Printed {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: thread::JoinHandle<()>,
}

impl Printed {
    /// Returns what was printed. The program ended, but what it left behind may hold the stream open.
    fn take(self) -> Result<String> {
        until(STREAMS_END_WITHIN, || {
            Ok(self.reader.is_finished().then_some(()))
        })?;
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn drain(stream: Option<impl Read + Send + 'static>) -> Printed {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&bytes);
    let reader = thread::spawn(move || {
        let Some(mut stream) = stream else { return };
        let mut chunk = [0; 8192];
        loop {
            let (more, goes_on) = match stream.read(&mut chunk) {
                Ok(count) => (chunk.get(..count).unwrap_or_default(), count > 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => (&b"\n(the rest could not be read)"[..], false),
            };
            shared
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend_from_slice(more);
            if !goes_on {
                return;
            }
        }
    });
    Printed { bytes, reader }
}

fn kill_group(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // The only failure that root can see is that all of it just ended, which is what is wanted.
        let killed = rustix::process::kill_process_group(group, Signal::KILL);
        debug_assert!(matches!(killed, Ok(()) | Err(rustix::io::Errno::SRCH)));
    }
    drop(child.wait());
}

fn code(status: ExitStatus) -> i32 {
    let signal = || status.signal().map(|signal| 128 + signal);
    status.code().or_else(signal).unwrap_or(-1)
}

fn evidence(stderr: &str) -> String {
    match stderr.trim().lines().next_back() {
        Some(line) => format!("; it printed last: {line}"),
        None => String::new(),
    }
}
