//! A control plane of plain processes: no root, no machine, no containers, and so no node.

mod ports;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bootlace_engine::port::{Command, Host as _};
use bootlace_host::StopHandle;
use bootlace_model::config::Placement;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_supervisor::Place;

use super::{line, machine, remove, show, stopped};
use crate::args::{Given, Globals, In, OnRun, Placed, PlacementName, Run, Steps, Up};
use crate::commands::{placement, run, supervise};
use crate::error::Ending;
use crate::observer::Unobserved;
use crate::paths::{self, Places};
use crate::session::{Session, Work};
use crate::wire;

/// How long a control plane that was started before may take to be itself again.
const AGAIN: Duration = Duration::from_mins(1);
/// How long is waited between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// How long a program may take to tell its version.
const TELL_VERSION: Duration = Duration::from_secs(10);

/// Where everything of this cluster lies.
#[derive(Debug)]
struct Here {
    folder: PathBuf,
}

impl Here {
    /// Finds the folder: below `--state` if that is given, else among the user's own data.
    fn of(session: &Session) -> Result<Self, Fault> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let data = || set("XDG_DATA_HOME").map(PathBuf::from);
        let home = || set("HOME").map(|home| Path::new(&home).join(".local/share"));
        let own = || data().or_else(home).map(|data| data.join("bootlace"));
        let given = session.globals.state.clone();
        let folder = given.or_else(own).ok_or_else(|| {
            let message = "no folder for data is known: HOME is not set";
            Fault::new(FaultKind::Usage, message).hint("give one with --state")
        })?;
        let folder = paths::resolve(&folder, "--state")?.join("up-process");
        Ok(Self { folder })
    }

    fn config(&self) -> PathBuf {
        self.folder.join("cluster.yaml")
    }

    fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    fn kubeconfig(&self) -> PathBuf {
        self.root().join("etc/kubernetes/admin.conf")
    }

    /// Begins to work on this cluster and on no other.
    fn session(&self, outer: &Session) -> Session {
        Session::new(Globals {
            config: vec![self.config()],
            root: self.root(),
            state: None,
            assets: None,
            ..outer.globals.clone()
        })
    }
}

/// Brings the control plane up, or finds it up.
pub(super) fn up(outer: &Session, args: &Up) -> Result<Ending, Fault> {
    let here = Here::of(outer)?;
    let began = Instant::now();
    let stop = wire::stop_handle()?;
    if !here.config().exists() {
        prepare(&here, &args.programs)?;
    }
    let mut session = here.session(outer);
    let came = bring_up(&mut session, args, &stop);
    let ending = came.map_err(|fault| match fault.kind {
        FaultKind::Stopped => stopped(outer, In::Process),
        // Hints are completed with the places of this cluster, which the outer session does not know.
        _ => session.retype.complete_hints(fault),
    })?;
    let console = &session.console;
    if ending != Ending::Done {
        return Ok(ending);
    }
    console.say(&format!(
        "\nUp in {:.1} s, as plain processes: without a kubelet there is no node, so it ends at \
         verify-api.\n`{}` tells why each later step was skipped; `{}` removes it all.\n",
        began.elapsed().as_secs_f64(),
        session.retype.line("status"),
        line(outer, "down", Some(In::Process))
    ));
    show(&session, In::Process, &here.kubeconfig())?;
    Ok(Ending::Done)
}

/// Stops all processes and removes their folder; false if there is none.
pub(super) fn down(session: &Session) -> Result<bool, Fault> {
    // Where no folder can be named, `up` cannot have made one.
    let Ok(here) = Here::of(session) else {
        return Ok(false);
    };
    if !here.config().exists() && !here.root().exists() {
        return Ok(false);
    }
    if here.root().exists() {
        stop_run(session, &here)?;
    }
    supervise::stop(&here.root())?;
    remove(&here.folder)?;
    Ok(true)
}

/// Stops the process that works on the run, if one does, and waits for its end.
fn stop_run(session: &Session, here: &Here) -> Result<(), Fault> {
    let work = here.session(session).by_journal(&on_cluster())?;
    // A follower that is asked to stop passes that on.
    work.host.stop_handle().request();
    if let Err(fault) = work.engine(&Unobserved).follow() {
        session.console.say(&format!("The run failed: {fault}\n"));
    }
    Ok(())
}

/// Tells whether another process brings this cluster up.
pub(super) fn is_busy(session: &Session) -> Result<bool, Fault> {
    let Ok(here) = Here::of(session) else {
        return Ok(false);
    };
    if !here.root().exists() {
        return Ok(false);
    }
    let work = here.session(session).by_journal(&on_cluster())?;
    Ok(work.engine(&Unobserved).holder()?.is_some())
}

/// Runs the sequence, and starts what ran before and does not run now.
fn bring_up(session: &mut Session, args: &Up, stop: &StopHandle) -> Result<Ending, Fault> {
    let mut work = session.by_config(&on_cluster())?;
    placement::settle(&mut work, &Placed::default())?;
    let started_again = start_again(session, &work.settings.placement)?;
    if stop.is_requested() {
        return Err(Fault::new(FaultKind::Stopped, "stopped before the run"));
    }
    let args = Run {
        given: Given::default(),
        on: on_cluster(),
        placed: Placed {
            placement: Some(PlacementName::Process),
            programs: args.programs.clone(),
        },
        pause: args.pause,
        attach: true,
        jobs: None,
        replan: false,
        ignore_preflight_errors: vec![],
        insecure_unpinned_release: false,
        clean: false,
    };
    let ending = run::perform(session, &args, run::Verb::Run, run::tell_people)?;
    if started_again {
        wait_until_it_holds(session, stop)?;
    }
    Ok(ending)
}

fn on_cluster() -> OnRun {
    OnRun {
        steps: Steps {
            sequence: "cluster".into(),
            from: None,
            to: None,
            only: None,
        },
        run: None,
    }
}

/// Starts the supervisor of a run that has one, as after a reboot; false if there was no need.
fn start_again(session: &Session, placement: &Placement) -> Result<bool, Fault> {
    let root = Places::new(&session.globals)?.root;
    let pods = root.join("etc/kubernetes/manifests/kube-scheduler-pod.yaml");
    let Some(programs) = placement.programs().filter(|_| pods.exists()) else {
        return Ok(false);
    };
    if bootlace_supervisor::is_running(&root).is_ok_and(|runs| runs) {
        return Ok(false);
    }
    let programs = programs.iter().map(PathBuf::from).collect();
    supervise::start(&Place { root, programs })?;
    Ok(true)
}

/// Waits until everything that the run made holds again.
fn wait_until_it_holds(session: &mut Session, stop: &StopHandle) -> Result<(), Fault> {
    let mut work: Work = session.by_config(&on_cluster())?;
    wire::stop_on_signals(&work.host)?;
    placement::settle(&mut work, &Placed::default())?;
    let begun = Instant::now();
    loop {
        let view = work.engine(&Unobserved).verify()?;
        let Some(unmet) = view.checks.iter().find(|check| !check.ok) else {
            return Ok(());
        };
        if stop.is_requested() {
            return Err(Fault::new(FaultKind::Stopped, "stopped while waiting"));
        }
        if begun.elapsed() > AGAIN {
            let message = format!("did not recover: {}; found: {}", unmet.what, unmet.found);
            return Err(Fault::new(FaultKind::VerifyFailed, message)
                .because("The control plane was started again and is not as it was.")
                .hint("`bootlace verify` shows all that does not hold"));
        }
        work.host.sleep(LOOK_AGAIN)?;
    }
}

/// Writes a config of its own: free ports, and the version of the programs that are there.
fn prepare(here: &Here, folders: &[PathBuf]) -> Result<(), Fault> {
    let placement = placement::process(folders)?;
    let version = version(placement.programs().unwrap_or_default())?;
    let [api, clients, peers, metrics, manager, scheduler] = ports::free()?;
    let config = format!(
        "# Written by `bootlace up --in process`, and removed by `bootlace down`.\n\
         apiVersion: bootlace.dev/v1alpha1\n\
         kind: Cluster\n\
         metadata: {{name: up}}\n\
         spec:\n\
         \x20 kubernetesVersion: {version}\n\
         \x20 controlPlane:\n\
         \x20   endpoint: \"127.0.0.1:{api}\"\n\
         \x20   advertiseAddress: 127.0.0.1\n\
         \x20   nodeName: up\n\
         \x20   ports:\n\
         \x20     etcdClients: {clients}\n\
         \x20     etcdPeers: {peers}\n\
         \x20     etcdMetrics: {metrics}\n\
         \x20     controllerManager: {manager}\n\
         \x20     scheduler: {scheduler}\n"
    );
    make_private(&here.folder)?;
    machine::write_secret(&here.config(), &config)
}

/// Asks the API server's program for its version.
fn version(folders: &[String]) -> Result<String, Fault> {
    let host = wire::plain_host();
    let inside = folders
        .iter()
        .map(|folder| format!("{folder}/kube-apiserver"));
    let mut refused = String::new();
    for program in inside.chain(["kube-apiserver".to_owned()]) {
        let argv = [program, "--version".to_owned()];
        let command = Command {
            argv: &argv,
            env: vec![],
            directory: None,
            within: TELL_VERSION,
            keep: 4096,
            input: None,
        };
        match host.run(&command) {
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stdout);
                let version = said.split_whitespace().find(|word| word.starts_with("v1."));
                if let Some(version) = version {
                    return Ok(version.to_owned());
                }
                refused = format!("it says {:?}", said.trim());
            }
            Err(error) if refused.is_empty() => refused = error.to_string(),
            Err(_) => {}
        }
    }
    let message = format!("kube-apiserver does not tell its version: {refused}");
    Err(Fault::new(FaultKind::Preflight, message)
        .because("What is rendered has to fit the version that runs it.")
        .hint("give the folders of kube-apiserver and etcd, each with --programs"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the folder that the root will lie in; the port begins at the root"
)]
fn make_private(folder: &Path) -> Result<(), Fault> {
    use std::os::unix::fs::DirBuilderExt as _;
    let made = match folder.parent() {
        Some(above) => std::fs::create_dir_all(above),
        None => Ok(()),
    };
    let made = made.and_then(|()| {
        let mut builder = std::fs::DirBuilder::new();
        match builder.mode(0o700).create(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    });
    made.map_err(|error| {
        let message = format!("cannot make {}: {error}", folder.display());
        Fault::new(FaultKind::Preflight, message).hint("give another folder with --state")
    })
}
