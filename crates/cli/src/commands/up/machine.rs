//! A cluster on one machine with real systemd.

use std::fs::{File, TryLockError};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bootlace_host::StopHandle;
use bootlace_machines::{
    API_PORT, BOOTLACE, ClusterMachine, HostLink, Machine, MachineError, MachineName, Machines,
};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::view::{RunStateView, StatusView};
use bootlace_report::next;

use super::lab::Lab;
use super::{fault, folder, line, show, stopped};
use crate::args::{In, Progress, Up};
use crate::commands::run::INSIDE;
use crate::error::Ending;
use crate::session::Session;
use crate::wire;

/// The machine's name, which is also the node's.
const NAME: &str = "m1";
/// The machine's address.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 90, 0, 11);
/// How long a machine may take to boot.
const BOOTS: Duration = Duration::from_mins(1);
/// How long the API of a cluster that was made earlier may take to answer after a boot.
const ANSWERS: Duration = Duration::from_mins(2);
/// How long a look at the machine takes before the wish to stop is looked at again.
const LOOK: Duration = Duration::from_secs(1);
/// How often is looked whether the run inside has ended.
const BEAT: Duration = Duration::from_millis(20);
/// Held by `up` as long as it works, so that `down` asks first.
const LOCK: &str = "up.lock";
/// The sample add-on.
const SAMPLE: &str = include_str!("../../../../../dist/add-ons/sample/10-web.yaml");

/// Brings the cluster up on its machine.
pub(super) fn up(session: &Session, args: &Up) -> Result<Ending, Fault> {
    let began = Instant::now();
    let stop = wire::stop_handle()?;
    let folder = folder(session);
    let machines = Machines::open(&folder).map_err(fault)?;
    let _lock = hold(&folder)?;
    let name = MachineName::new(NAME).map_err(fault)?;
    let there = machines.list().map_err(fault)?;
    let machine = match there.into_iter().find(|machine| *machine.name() == name) {
        Some(machine) => machine,
        None => create(&machines)?,
    };
    if !machine.is_running().map_err(fault)? {
        session.console.say("Booting the machine m1 …\n");
        machine.boot().map_err(fault)?;
    }
    wait_booted(session, &machine, &stop)?;
    let booted = began.elapsed();
    let code = run_inside(session, &machine, args, &stop)?;
    if code == FaultKind::Stopped.exit_code() {
        return Err(stopped(session, In::Machine));
    }
    let console = &session.console;
    if code != 0 {
        console.say(&format!(
            "\nThat was inside the machine {NAME}. From here `{}` goes on, and `{}` removes it.\n",
            line(session, "up", None),
            line(session, "down", None)
        ));
        return Ok(Ending::Code(code));
    }
    wait_answers(session, &machine, &stop)?;
    let kubeconfig = reach(&machines, &machine, &folder)?;
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
    console.say(&format!(
        "\nUp in {}; of that the machine took {} to boot.\n",
        seconds(began.elapsed()),
        seconds(booted)
    ));
    console.say(&connect(&machines));
    let down = [(line(session, "down", None), "removes all of it")];
    console.say(&next::text(&down, console.stderr()));
    show(session, In::Machine, &kubeconfig)?;
    Ok(Ending::Done)
}

/// Gives this computer a route to the machine, and says whether node addresses can be used.
///
/// A cluster is complete without that route, so a failure to set it is told and ends nothing.
fn connect(machines: &Machines) -> String {
    let not = "Node addresses and NodePorts are not reachable from this computer";
    match machines.connect_host() {
        Ok(HostLink::Connected) => {
            format!("NodePorts are reachable from this computer at {ADDRESS}.\n")
        }
        Ok(HostLink::Taken { route }) => {
            format!("{not}: another route leads to their network: `{route}`.\n")
        }
        Err(error) => format!("{not}: {error}.\n"),
    }
}

/// Tells whether a cluster is being brought up: `up` is running, or was killed and its run goes on.
pub(super) fn is_busy(folder: &Path) -> Result<bool, Fault> {
    if !folder.exists() {
        return Ok(false);
    }
    if is_held(folder)? {
        return Ok(true);
    }
    let machines = Machines::open(folder).map_err(fault)?;
    for machine in machines.list().map_err(fault)? {
        if machine.is_running().map_err(fault)? && runs_inside(&machine) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Tells whether the machine of `up` runs.
pub(super) fn is_running(folder: &Path) -> Result<bool, Fault> {
    if !folder.exists() {
        return Ok(false);
    }
    let machines = Machines::open(folder).map_err(fault)?;
    let mut there = machines.list().map_err(fault)?.into_iter();
    let machine = there.find(|machine| machine.name().as_str() == NAME);
    machine.map_or(Ok(false), |machine| machine.is_running().map_err(fault))
}

/// Tells whether a run is under way inside a machine; one that cannot say has none.
fn runs_inside(machine: &Machine) -> bool {
    let words = [BOOTLACE, "status", "cluster", "-o", "json"];
    let Ok(finished) = machine.run(&words, ANSWERS) else {
        return false;
    };
    let view: Result<StatusView, _> = serde_json::from_str(&finished.stdout);
    view.is_ok_and(|view| view.state == RunStateView::Running)
}

/// Takes the lock of `up`, unless another `up` has it: that one runs, and this one attaches.
fn hold(folder: &Path) -> Result<Option<File>, Fault> {
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(|error| cannot_lock(&path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(cannot_lock(&path, &error)),
    }
}

fn is_held(folder: &Path) -> Result<bool, Fault> {
    let path = folder.join(LOCK);
    let file = match File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(|error| cannot_lock(&path, &error))?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(cannot_lock(&path, &error)),
    }
}

fn cannot_lock(path: &Path, error: &std::io::Error) -> Fault {
    let message = format!("cannot lock {}: {error}", path.display());
    Fault::new(FaultKind::StepFailed, message)
}

/// Waits until the machine has booted.
fn wait_booted(session: &Session, machine: &Machine, stop: &StopHandle) -> Result<(), Fault> {
    let began = Instant::now();
    loop {
        match machine.wait_booted(LOOK) {
            Err(MachineError::Deadline { .. }) if stop.is_requested() => {
                return Err(stopped(session, In::Machine));
            }
            Err(MachineError::Deadline { .. }) if began.elapsed() < BOOTS => {}
            Err(MachineError::Deadline { what, evidence, .. }) => {
                let within = BOOTS;
                let late = MachineError::Deadline {
                    what,
                    within,
                    evidence,
                };
                return Err(fault(late));
            }
            booted => return booted.map_err(fault),
        }
    }
}

/// Waits until the API answers: after a boot the run is complete, and its cluster still begins.
fn wait_answers(session: &Session, machine: &Machine, stop: &StopHandle) -> Result<(), Fault> {
    let words = [BOOTLACE, "verify", "cluster", "--only", "verify-api", "-q"];
    let began = Instant::now();
    loop {
        let finished = machine.run(&words, ANSWERS).map_err(fault)?;
        if finished.code == 0 {
            return Ok(());
        }
        if stop.is_requested() {
            return Err(stopped(session, In::Machine));
        }
        if began.elapsed() > ANSWERS {
            let what = format!("the API did not answer within {} s", ANSWERS.as_secs());
            let mut late = Fault::new(FaultKind::Deadline, what);
            late.details = finished.stderr.lines().map(ToOwned::to_owned).collect();
            return Err(late.hint("`bootlace up` looks again; `bootlace down` removes the cluster"));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn create(machines: &Machines) -> Result<Machine, Fault> {
    let lab = Lab::find()?;
    let add_ons = [("10-web.yaml", lab.with_images(SAMPLE)?)];
    let cluster = ClusterMachine {
        name: NAME,
        address: ADDRESS,
        layers: &lab.layers,
        images: lab.image_store.as_deref(),
        release: &lab.release,
        bootlace: &own_program()?,
        add_ons: &add_ons,
    };
    machines
        .create(cluster.spec().map_err(fault)?)
        .map_err(fault)
}

fn own_program() -> Result<PathBuf, Fault> {
    std::env::current_exe().map_err(|error| {
        let message = format!("cannot find the program that is running: {error}");
        Fault::new(FaultKind::Internal, message)
    })
}

/// Runs bootlace inside the machine, and passes the wish to stop on; its progress is what is shown.
fn run_inside(
    session: &Session,
    machine: &Machine,
    args: &Up,
    stop: &StopHandle,
) -> Result<u8, Fault> {
    let mut words = vec![BOOTLACE, "run", "cluster"];
    let progress = match session.globals.progress {
        Progress::Auto => "auto",
        Progress::Plain => "plain",
        Progress::Json => "json",
    };
    words.extend(["--progress", progress]);
    words.extend(session.globals.quiet.then_some("--quiet"));
    words.extend(session.globals.verbose.then_some("--verbose"));
    words.extend(args.pause.then_some("--pause"));
    let mut running = machine.start(&words, (INSIDE, "1")).map_err(fault)?;
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(code) = running.try_wait().map_err(fault)? {
            return Ok(u8::try_from(code).unwrap_or(1));
        }
        // It is asked again: while it starts, it ignores signals.
        if stop.is_requested() && asked.is_none_or(|asked| asked.elapsed() > LOOK) {
            running.interrupt();
            asked = Some(Instant::now());
        }
        std::thread::sleep(BEAT);
    }
}

/// Makes the cluster's API reachable from this computer, and writes a kubeconfig for it.
fn reach(machines: &Machines, machine: &Machine, folder: &Path) -> Result<PathBuf, Fault> {
    let target = SocketAddr::from((ADDRESS, API_PORT));
    let own = own_program()?;
    let listen = "127.0.0.1:0".to_owned();
    let words = [
        "forward".to_owned(),
        folder.display().to_string(),
        listen,
        target.to_string(),
    ];
    let forwarder = machines.spawn_forwarder(&own, &words, target, Duration::from_secs(10));
    let address = forwarder.map_err(fault)?.address();
    let read = ["cat", "/etc/kubernetes/admin.conf"];
    let finished = machine.run(&read, Duration::from_secs(10)).map_err(fault)?;
    let config = redirected(&finished.stdout, address)?;
    let path = folder.join("kubeconfig");
    write_secret(&path, &config)?;
    Ok(path)
}

/// Returns the kubeconfig with another server; JSON is YAML, too.
fn redirected(text: &str, address: SocketAddr) -> Result<String, Fault> {
    let bad = |what: String| Fault::internal(format!("the machine's admin.conf is odd: {what}"));
    let mut config: serde_json::Value =
        serde_saphyr::from_str(text).map_err(|error| bad(error.to_string()))?;
    let server = config
        .pointer_mut("/clusters/0/cluster/server")
        .ok_or_else(|| bad("it names no server".into()))?;
    *server = format!("https://{address}").into();
    serde_json::to_string_pretty(&config).map_err(|error| bad(error.to_string()))
}

/// Writes a file that nobody else may read, at no time.
pub(super) fn write_secret(path: &Path, content: &str) -> Result<(), Fault> {
    let fresh = path.with_extension("new");
    let write = || {
        use std::io::Write as _;
        let mut options = std::fs::OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&fresh)?.write_all(content.as_bytes())?;
        std::fs::rename(&fresh, path)
    };
    write().map_err(|error| {
        let message = format!("cannot write {}: {error}", path.display());
        Fault::new(FaultKind::StepFailed, message)
    })
}
