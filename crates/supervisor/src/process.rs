//! One process: started, watched, started again when it ends, and stopped.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use bootlace_model::supervised::{LOGS, ProcessEnd, SupervisedProcess};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use crate::leftovers::MARK;
use crate::pod::ProcessSpec;
use crate::words::last_words;
use crate::{Place, Result, SupervisorError};

/// How long the first pause before a new start is; it doubles with every end.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause before a new start. A life of more than that makes the next one the first again.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How long a process may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(10);

/// What a process is doing.
#[derive(Debug)]
enum Phase {
    /// It is started at that time.
    Pausing(Instant),
    Running {
        child: Child,
        since: Instant,
        /// Where this life's words begin in the log.
        log_from: u64,
    },
    /// It was asked to end at that time.
    Ending {
        child: Child,
        since: Instant,
    },
    Gone,
}

/// A process that is kept running.
#[derive(Debug)]
pub(crate) struct Process {
    spec: ProcessSpec,
    phase: Phase,
    pause: Duration,
    ends: u32,
    ended: Option<ProcessEnd>,
}

impl Process {
    /// Takes a process that is to be started at once.
    pub(crate) fn new(spec: ProcessSpec) -> Self {
        Self {
            spec,
            phase: Phase::Pausing(Instant::now()),
            pause: FIRST_PAUSE,
            ends: 0,
            ended: None,
        }
    }

    /// Goes on: starts what is due, notices ends, kills what does not end by itself.
    pub(crate) fn tick(&mut self, place: &Place) -> Result<()> {
        match &mut self.phase {
            Phase::Pausing(until) if Instant::now() >= *until => self.begin(place),
            Phase::Running {
                child,
                since,
                log_from,
            } => {
                let Some(status) = wait_for(child)? else {
                    return Ok(());
                };
                if since.elapsed() > LONGEST_PAUSE {
                    self.pause = FIRST_PAUSE;
                }
                let log_from = *log_from;
                let log = place.below(&self.log());
                let words = last_words(&log, log_from)
                    .unwrap_or_else(|error| vec![format!("its log cannot be read: {error}")]);
                self.end(status.code(), status.signal(), words);
            }
            Phase::Ending { child, since } => {
                if wait_for(child)?.is_some() {
                    self.phase = Phase::Gone;
                } else if since.elapsed() > GRACE {
                    signal(child, Signal::KILL)?;
                }
            }
            Phase::Pausing(_) | Phase::Gone => {}
        }
        Ok(())
    }

    /// Asks it to end, for good.
    pub(crate) fn stop(&mut self) -> Result<()> {
        self.phase = match std::mem::replace(&mut self.phase, Phase::Gone) {
            Phase::Running { child, .. } => {
                signal(&child, Signal::TERM)?;
                let since = Instant::now();
                Phase::Ending { child, since }
            }
            Phase::Pausing(_) | Phase::Gone => Phase::Gone,
            ending @ Phase::Ending { .. } => ending,
        };
        Ok(())
    }

    /// Tells whether it has ended for good.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self.phase, Phase::Gone)
    }

    /// Tells how it is, for others.
    pub(crate) fn note(&self) -> SupervisedProcess {
        let pid = match &self.phase {
            Phase::Running { child, .. } | Phase::Ending { child, .. } => Some(child.id()),
            Phase::Pausing(_) | Phase::Gone => None,
        };
        SupervisedProcess {
            name: self.spec.name.clone(),
            pid,
            ends: self.ends,
            ended: self.ended.clone(),
            log: format!("/{}", self.log()),
        }
    }

    fn log(&self) -> String {
        format!("{LOGS}/{}.log", self.spec.name)
    }

    fn begin(&mut self, place: &Place) {
        match self.spawn(place) {
            Ok((child, log_from)) => {
                let since = Instant::now();
                self.phase = Phase::Running {
                    child,
                    since,
                    log_from,
                };
            }
            Err(why) => self.end(None, None, vec![why]),
        }
    }

    fn end(&mut self, code: Option<i32>, signal: Option<i32>, last_words: Vec<String>) {
        self.ends = self.ends.saturating_add(1);
        self.ended = Some(ProcessEnd {
            code,
            signal,
            at: jiff::Timestamp::now(),
            last_words,
        });
        self.phase = Phase::Pausing(Instant::now() + self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }

    /// Starts the program; the error says in words what is missing.
    fn spawn(&self, place: &Place) -> std::result::Result<(Child, u64), String> {
        let spec = &self.spec;
        for folder in &spec.make {
            make_private(folder)
                .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        }
        if let Some(missing) = spec.need.iter().find(|path| !path.exists()) {
            return Err(format!("{} is missing", missing.display()));
        }
        let program = find(&spec.program, &place.programs)?;
        let path = place.below(&self.log());
        let open = || {
            let mut options = OpenOptions::new();
            let log = options.create(true).append(true).mode(0o600).open(&path)?;
            let from = log.metadata()?.len();
            Ok((log.try_clone()?, log, from))
        };
        let (stdout, stderr, from) = open()
            .map_err(|error: io::Error| format!("cannot write {}: {error}", path.display()))?;
        let child = Command::new(&program)
            .arg0(&spec.program)
            .args(&spec.arguments)
            .envs(spec.variables.iter().map(|(name, value)| (name, value)))
            .env(MARK, &place.root)
            .current_dir(&place.root)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            // A group of its own, so that it is ended with its children and by nobody else's signal.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("cannot run {}: {error}", program.display()))?;
        Ok((child, from))
    }
}

/// Makes a folder that only its owner may look into, and those above it.
fn make_private(folder: &Path) -> io::Result<()> {
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Finds a program in folders, then where the system keeps its own.
fn find(program: &str, folders: &[PathBuf]) -> std::result::Result<PathBuf, String> {
    let system = std::env::var_os("PATH").unwrap_or_default();
    let system: Vec<PathBuf> = std::env::split_paths(&system).collect();
    let all = folders.iter().chain(&system);
    let found = all.map(|folder| folder.join(program)).find(|path| {
        let runs = rustix::fs::access(path, rustix::fs::Access::EXEC_OK);
        path.is_file() && runs.is_ok()
    });
    found.ok_or_else(|| {
        let folders: Vec<String> = folders.iter().map(|it| it.display().to_string()).collect();
        match folders.as_slice() {
            [] => format!("{program} is not installed"),
            some => format!("{program} is neither in {} nor installed", some.join(", ")),
        }
    })
}

fn wait_for(child: &mut Child) -> Result<Option<ExitStatus>> {
    let pid = child.id();
    child.try_wait().map_err(|error| SupervisorError::Process {
        act: "wait for",
        pid,
        error,
    })
}

/// Sends a signal to a process that was not waited for yet, and to its children.
fn signal(child: &Child, signal: Signal) -> Result<()> {
    let pid = child.id();
    let group = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let sent = group.map_or(Err(Errno::SRCH), |group| {
        rustix::process::kill_process_group(group, signal)
    });
    match sent {
        // It ended by itself; the next look notices.
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(errno) => Err(SupervisorError::Process {
            act: "end",
            pid,
            error: errno.into(),
        }),
    }
}

#[cfg(test)]
mod tests;
