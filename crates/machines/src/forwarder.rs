//! A port of 127.0.0.1 that leads to a machine, so that programs of the host can speak to it.
//!
//! A machine's network cannot be reached from the host. A forwarder listens on the host and connects
//! inside of the machines' network: a thread that enters a network namespace makes its connections there,
//! and a connection stays where it was made.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::LinkNameSpaceType;

use crate::machines::Machines;
use crate::network;
use crate::processes::Identity;
use crate::state::{self, ForwarderRecord};
use crate::tools;
use crate::wait::until;
use crate::{MachineError, Result};

/// How long a machine may take to accept a connection.
const CONNECTS_WITHIN: Duration = Duration::from_secs(10);

/// How often a forwarder looks whether it is still wanted.
const LOOKS_EVERY: Duration = Duration::from_millis(500);

/// How long is slept when nobody connects.
const IDLE: Duration = Duration::from_millis(5);

/// How long a forwarder may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// A forwarder that runs in a process of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forwarder {
    record: ForwarderRecord,
    file: PathBuf,
}

impl Forwarder {
    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.record.listen
    }

    /// Returns where it connects to, inside of the machines' network.
    pub fn target(&self) -> SocketAddr {
        self.record.target
    }

    /// Tells whether it runs.
    pub fn is_running(&self) -> bool {
        self.record.process.is_alive()
    }

    /// Ends it and the connections that it holds.
    pub fn stop(&self) -> Result<()> {
        let process = self.record.process;
        process.kill();
        let ended = until(ENDS_WITHIN, || Ok((!process.is_alive()).then_some(())))?;
        if ended.is_none() {
            return Err(MachineError::LeftOver {
                what: vec![format!("the forwarder, process {}", process.pid)],
            });
        }
        state::remove_file(&self.file)
    }
}

impl Machines {
    /// Forwards until the folder is cleaned or the forwarder's record is removed.
    ///
    /// The process that calls it becomes the forwarder; `listening` is called once it can be used.
    /// With port 0 the kernel chooses one.
    pub fn run_forwarder(
        &self,
        listen: SocketAddr,
        target: SocketAddr,
        listening: impl FnOnce(SocketAddr),
    ) -> Result<()> {
        let cannot = |error: io::Error| MachineError::Tool {
            command: format!("listen on {listen}"),
            output: error.to_string(),
        };
        let listener = TcpListener::bind(listen).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let file = network::namespace(self.folder());
        let namespace = File::open(&file).map_err(MachineError::file("open", &file))?;
        let record = ForwarderRecord {
            process: Identity::own().ok_or_else(|| cannot(io::Error::other("no /proc")))?,
            listen: address,
            target,
        };
        state::folder(&forwarders(self.folder()))?;
        let file = record_file(self.folder(), target);
        state::write(&file, &record)?;
        listening(address);
        accept(
            &listener,
            &Arc::new(namespace),
            target,
            || matches!(state::read::<ForwarderRecord>(&file), Ok(Some(found)) if found == record),
        )
        .map_err(cannot)
    }

    /// Starts a program that calls [`Machines::run_forwarder`], detached from the caller, and waits until
    /// it listens. One that already leads to the same target is used again.
    pub fn spawn_forwarder<S: AsRef<OsStr>>(
        &self,
        program: &Path,
        arguments: &[S],
        target: SocketAddr,
        within: Duration,
    ) -> Result<Forwarder> {
        if let Some(running) = self.forwarder(target)? {
            return Ok(running);
        }
        let mut words: Vec<OsString> = vec!["--fork".into(), program.into()];
        words.extend(arguments.iter().map(|word| word.as_ref().to_owned()));
        let log = self.folder().join("forwarder.log");
        let output = File::create(&log).map_err(MachineError::file("make", &log))?;
        let failed = |output: String| MachineError::Tool {
            command: format!("setsid --fork {}", program.display()),
            output,
        };
        let status = tools::command("setsid")
            .args(words)
            .stdout(Stdio::null())
            .stderr(output)
            .status()
            .map_err(|error| failed(error.to_string()))?;
        if !status.success() {
            return Err(failed(status.to_string()));
        }
        let running = until(within, || self.forwarder(target))?;
        running.ok_or_else(|| {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            MachineError::Deadline {
                what: format!("the forwarder to {target} did not listen"),
                within,
                evidence: format!("; it printed: {}", said.trim()),
            }
        })
    }

    /// Returns the forwarder that leads to a target, if one runs.
    pub fn forwarder(&self, target: SocketAddr) -> Result<Option<Forwarder>> {
        let file = record_file(self.folder(), target);
        let record = state::read(&file)?;
        let forwarder = record.map(|record| Forwarder { record, file });
        Ok(forwarder.filter(Forwarder::is_running))
    }
}

/// Ends all forwarders of a folder.
pub(crate) fn stop_all(folder: &Path) -> Result<()> {
    let forwarders = forwarders(folder);
    for name in state::names(&forwarders)? {
        let file = forwarders.join(name);
        if let Some(record) = state::read(&file)? {
            Forwarder { record, file }.stop()?;
        }
    }
    Ok(())
}

/// Removes what forwarders of a folder wrote.
pub(crate) fn forget_all(folder: &Path) -> Result<()> {
    state::remove_folder(&forwarders(folder))?;
    state::remove_file(&folder.join("forwarder.log"))
}

fn forwarders(folder: &Path) -> PathBuf {
    folder.join("forwarders")
}

fn record_file(folder: &Path, target: SocketAddr) -> PathBuf {
    let name = format!("{}-{}.json", target.ip(), target.port());
    forwarders(folder).join(name)
}

/// Takes connections as long as they are wanted.
fn accept(
    listener: &TcpListener,
    namespace: &Arc<File>,
    target: SocketAddr,
    is_wanted: impl Fn() -> bool,
) -> io::Result<()> {
    let mut looked = Instant::now();
    loop {
        match listener.accept() {
            Ok((client, _)) => {
                let namespace = Arc::clone(namespace);
                // A connection that fails ends; its client sees that, and nobody else need know.
                thread::spawn(move || serve(client, &namespace, target));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(IDLE),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => return Err(error),
        }
        if looked.elapsed() >= LOOKS_EVERY {
            if !is_wanted() {
                return Ok(());
            }
            looked = Instant::now();
        }
    }
}

/// Carries one connection, in both directions, to its end.
fn serve(client: TcpStream, namespace: &File, target: SocketAddr) -> io::Result<()> {
    client.set_nonblocking(false)?;
    let kind = Some(LinkNameSpaceType::Network);
    rustix::thread::move_into_link_name_space(namespace.as_fd(), kind)?;
    let machine = TcpStream::connect_timeout(&target, CONNECTS_WITHIN)?;
    for stream in [&client, &machine] {
        stream.set_nodelay(true)?;
    }
    let (from_client, to_machine) = (client.try_clone()?, machine.try_clone()?);
    let there = thread::spawn(move || carry(from_client, to_machine));
    let back = carry(machine, client);
    let there = there
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("its thread ended early")));
    back.and(there)
}

/// Carries one direction; its end is handed on, so that the other side sees it.
fn carry(mut from: TcpStream, mut to: TcpStream) -> io::Result<()> {
    let carried = io::copy(&mut from, &mut to);
    // The other side may have closed both directions already.
    drop(to.shutdown(Shutdown::Write));
    if carried.is_err() {
        drop(from.shutdown(Shutdown::Both));
        drop(to.shutdown(Shutdown::Both));
    }
    carried.map(|_| ())
}
