//! Starting, finding and stopping a supervisor from outside.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bootlace_model::supervised::{LOGS, STATE, Supervised};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::words::last_words;
use crate::{Place, Result, SupervisorError, instance, leftovers, serve};

/// How long a new supervisor may take to begin.
const BEGINS: Duration = Duration::from_secs(30);
/// How long the kernel may take to end what was killed.
const KILLING: Duration = Duration::from_secs(5);
/// How long is waited between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What came of starting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// A new supervisor works.
    Now,
    /// One was there already.
    Earlier,
}

/// Starts a supervisor that outlives its caller, unless one is there; returns when it works.
///
/// The command becomes the supervisor: it detaches itself from its terminal and calls [`serve()`].
pub fn start(place: &Place, command: &mut Command) -> Result<Started> {
    if instance::is_taken(&place.root)? {
        return Ok(Started::Earlier);
    }
    serve::make_folders(place)?;
    let log = place.below(LOGS).join("supervisor.log");
    let refused = SupervisorError::file("write", &log);
    let mut options = OpenOptions::new();
    let options = options.create(true).append(true).mode(0o600);
    let output = options.open(&log).map_err(&refused)?;
    let from = output.metadata().map_err(&refused)?.len();
    let complaints = output.try_clone().map_err(refused)?;
    let mut child = command
        .current_dir(&place.root)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(complaints)
        .spawn()
        .map_err(SupervisorError::file(
            "start the supervisor of",
            &place.root,
        ))?;
    wait_until_it_works(place, &mut child, &log, from)
}

fn wait_until_it_works(place: &Place, child: &mut Child, log: &Path, from: u64) -> Result<Started> {
    let begun = Instant::now();
    loop {
        if works(place, child.id())? {
            return Ok(Started::Now);
        }
        let pid = child.id();
        let ended = child.try_wait().map_err(|error| SupervisorError::Process {
            act: "wait for",
            pid,
            error,
        })?;
        if ended.is_some() {
            if instance::is_taken(&place.root)? {
                // Somebody else was faster.
                return Ok(Started::Earlier);
            }
            let words = last_words(log, from).map_err(SupervisorError::file("read", log))?;
            let last_words = words.join("; ");
            return Err(SupervisorError::NoStart { last_words });
        }
        if begun.elapsed() > BEGINS {
            return Err(SupervisorError::Late {
                what: "the supervisor did not begin to work",
                within: BEGINS,
            });
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Tells whether a supervisor holds the lock and has written down what it does.
fn works(place: &Place, pid: u32) -> Result<bool> {
    if instance::holder(&place.root)? != Some(pid) || !instance::is_taken(&place.root)? {
        return Ok(false);
    }
    let notes = std::fs::read(place.below(STATE)).unwrap_or_default();
    let notes = serde_json::from_slice::<Supervised>(&notes);
    Ok(notes.is_ok_and(|notes| notes.pid == pid))
}

/// Tells whether a supervisor works below a root.
pub fn is_running(root: &Path) -> Result<bool> {
    instance::is_taken(root)
}

/// Ends the supervisor of a root with all its processes, and returns when nothing of it is left.
/// Where none is there, only what a killed one left behind is ended.
pub fn stop(root: &Path, within: Duration) -> Result<()> {
    let begun = Instant::now();
    let mut asked = false;
    while instance::is_taken(root)? {
        let late = begun.elapsed() > within;
        if begun.elapsed() > within + KILLING {
            return Err(SupervisorError::Late {
                what: "the supervisor was killed and did not end",
                within,
            });
        }
        match instance::holder(root)? {
            Some(pid) if !asked || late => {
                let how = if late { Signal::KILL } else { Signal::TERM };
                asked = signal(root, pid, how)?;
            }
            _ => {}
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    leftovers::end_all(root)?;
    Ok(())
}

/// Sends a signal to the supervisor; false if it is not there any more.
fn signal(root: &Path, pid: u32, signal: Signal) -> Result<bool> {
    let refused = |errno: Errno| SupervisorError::Process {
        act: "end",
        pid,
        error: errno.into(),
    };
    let Some(known) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Ok(false);
    };
    let handle = match rustix::process::pidfd_open(known, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Ok(false),
        opened => opened.map_err(refused)?,
    };
    // The handle first, then the look: what holds the lock now is what the handle stands for.
    if !instance::is_taken(root)? || instance::holder(root)? != Some(pid) {
        return Ok(false);
    }
    match rustix::process::pidfd_send_signal(&handle, signal) {
        Err(Errno::SRCH) => Ok(false),
        sent => sent.map(|()| true).map_err(refused),
    }
}
