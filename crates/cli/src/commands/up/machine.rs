//! A cluster on one machine with real systemd.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bootlace_machines::{API_PORT, BOOTLACE, ClusterMachine, Machine, MachineName, Machines};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_report::next;

use super::lab::Lab;
use super::{fault, folder};
use crate::args::{Progress, Up};
use crate::commands::run::INSIDE;
use crate::error::Ending;
use crate::session::Session;

/// The machine's name, which is also the node's.
const NAME: &str = "m1";
/// The machine's address.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 90, 0, 11);
/// How long a machine may take to boot.
const BOOTS: Duration = Duration::from_mins(1);
/// How long the API of a cluster that was made earlier may take to answer after a boot.
const ANSWERS: Duration = Duration::from_mins(2);
/// What the hints of a run inside of the machine mean for whoever is outside.
const FROM_HERE: &str = "\nThat was inside of the machine m1. From here `bootlace up` goes on, and \
                         `bootlace down` removes it.\n";
/// The sample add-on.
const SAMPLE: &str = include_str!("../../../../../dist/add-ons/sample/10-web.yaml");

/// Brings the cluster up on its machine.
pub(super) fn up(session: &Session, args: &Up) -> Result<Ending, Fault> {
    let began = Instant::now();
    let folder = folder(session);
    let machines = Machines::open(&folder).map_err(fault)?;
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
    machine.wait_booted(BOOTS).map_err(fault)?;
    let booted = began.elapsed();
    let code = run_inside(session, &machine, args)?;
    let console = &session.console;
    if code != 0 {
        console.say(FROM_HERE);
        return Ok(Ending::Code(code));
    }
    wait_answers(&machine)?;
    let kubeconfig = reach(&machines, &machine, &folder)?;
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
    console.say(&format!(
        "\nUp in {}; of that the machine took {} to boot.\n",
        seconds(began.elapsed()),
        seconds(booted)
    ));
    let down = [("bootlace down".to_owned(), "removes all of it")];
    console.say(&next::text(&down, console.stderr()));
    console.write(&format!("export KUBECONFIG={}\n", kubeconfig.display()))?;
    Ok(Ending::Done)
}

/// Waits until the API answers: after a boot the run is complete, and its cluster still begins.
fn wait_answers(machine: &Machine) -> Result<(), Fault> {
    let words = [BOOTLACE, "verify", "cluster", "--only", "verify-api", "-q"];
    let began = Instant::now();
    loop {
        let finished = machine.run(&words, ANSWERS).map_err(fault)?;
        if finished.code == 0 {
            return Ok(());
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

/// Runs bootlace inside the machine; its progress is what is shown.
fn run_inside(session: &Session, machine: &Machine, args: &Up) -> Result<u8, Fault> {
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
    let mut command = machine.command(&words).map_err(fault)?;
    command.env(INSIDE, "1");
    let status = command.status().map_err(|error| {
        let message = format!("cannot enter the machine: {error}");
        Fault::new(FaultKind::StepFailed, message)
    })?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1))
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
