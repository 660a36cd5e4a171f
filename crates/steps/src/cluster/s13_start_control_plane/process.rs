//! The control plane as plain processes: the same pods' commands, below the root, without a kubelet.

use std::collections::BTreeMap;
use std::time::Duration;

use bootlace_model::check::{Check, Test};
use bootlace_model::config::Settings;
use bootlace_model::effect::{AlreadyRan, CommandUndo, Effect, Product, RunCommand};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::Facts;
use bootlace_model::step::{Decision, PlanError};
use bootlace_model::supervised;

use super::super::live::{by, processes_fail};
use super::files::{self, Turn, files};
use super::{NAME, READY, apply, await_api, certificates_expire, ground};
use crate::assets::machine;

/// How much room etcd and logs need at least; there are no images.
const ROOM: u64 = 512 << 20;

/// The programs of the control plane, and whether their version is that of Kubernetes.
const PROGRAMS: [(&str, bool); 4] = [
    ("etcd", false),
    ("kube-apiserver", true),
    ("kube-controller-manager", true),
    ("kube-scheduler", true),
];

/// Lists what must be so; neither root nor a container runtime is needed, and as no image runs, none
/// has to be pinned.
pub(super) fn checks(settings: &Settings, folders: &[String]) -> Vec<Check> {
    let mut checks = vec![ground::check(
        "Folder-Root",
        Test::FolderRoot,
        "Plain processes leave their files below the root, and this machine has a kubelet for that.",
        "give a folder of their own with --root",
    )];
    checks.extend(ground::component_ports(settings));
    checks.extend(PROGRAMS.map(|(name, is_kubernetes)| Check {
        name: format!("Program-{name}"),
        test: Test::Program {
            argv: vec![name.into(), "--version".into()],
            folders: folders.to_vec(),
            fits: is_kubernetes.then(|| settings.cluster.kubernetes_version.clone()),
        },
        why: "It is one of the processes of the control plane.",
        hint: format!("give the folder of {name} with --programs, or set spec.kubernetesVersion"),
    }));
    checks.extend(ground::own_ground(settings, ROOM));
    checks
}

/// Plans the files, the supervisor, and what comes once the API is ready.
pub(super) fn plan(
    settings: &Settings,
    folders: &[String],
    facts: &Facts,
) -> Result<Decision, PlanError> {
    let apply = apply(settings, facts)?;
    let mut effects: Vec<Effect> = files::folders(settings).collect();
    effects.extend(files(settings, Turn::Config));
    effects.extend(files(settings, Turn::FirstPod));
    effects.push(supervise(folders));
    let symptoms = [processes_fail()].into_iter().chain(certificates_expire());
    effects.push(await_api(READY, symptoms.collect()));
    // The supervisor finds them by itself, as a kubelet would.
    effects.extend(files(settings, Turn::LaterPod));
    effects.push(Effect::ApplyObjects(apply));
    Ok(Decision::Do(effects))
}

/// Expects that the processes are looked after.
pub(super) fn supervised() -> Expectation {
    let because = "A process that ends is started again only by its supervisor.";
    Expectation::now(runs(), because)
}

fn supervise(folders: &[String]) -> Effect {
    let programs = folders.iter().flat_map(|folder| ["--programs", folder]);
    let products = [
        "var/lib/etcd",
        "var/log/kubernetes/audit",
        supervised::LOGS,
        supervised::FOLDER,
    ];
    Effect::RunCommand(RunCommand {
        name: "the supervisor of the control plane's processes".into(),
        argv: words(programs),
        env: BTreeMap::new(),
        directory: None,
        within: Duration::from_mins(1),
        already: AlreadyRan::While(Box::new(runs())),
        undo: CommandUndo::Run(words(["--stop"])),
        products: products.map(|path| Product::Path(machine(path))).into(),
        empties: vec![],
        edits: vec![],
        hidden: vec![],
        input: None,
        origin: by(NAME),
    })
}

fn runs() -> Claim {
    Claim::Succeeds {
        argv: words(["--check"]),
        within: Duration::from_secs(10),
    }
}

/// Calls the supervisor of the folder that a program is run in, which is the root.
fn words<'a>(more: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let words = ["bootlace", "supervise", "--root", "."];
    words
        .into_iter()
        .chain(more)
        .map(ToOwned::to_owned)
        .collect()
}
