//! The real program, killed in every step that runs in a folder, and in undo: it goes on, and ends where an
//! undisturbed run ends.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "the test stands outside of the product and kills it"
)]

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use bootlace_model::path::TargetPath;
use bootlace_testkit::crash::Sample;
use bootlace_testkit::dice::Dice;
use bootlace_testkit::follow::{Journal, Seen};
use bootlace_testkit::meaning::meaning_of;
use bootlace_testkit::tree::Snapshot;

/// The last step that needs no machine.
const LAST: &str = "render-machine-config";
/// How often the program is killed in one run of the test, at least.
const KILLS: u64 = 200;
const KILLS_WHEN_SOAKING: u64 = 2_000;
const KILLS_IN_A_ROUND: u32 = 10;
/// How many rounds there are at most: a step that is over in a millisecond is not met every time.
const MOST_ROUNDS: u64 = 1_000;
const MANIFESTS: usize = 400;
/// How often the journal is looked at.
const LOOKS: Duration = Duration::from_micros(50);

struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    /// Prepares a config with many manifests and a release folder.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let manifests = folder.path().join("manifests");
        std::fs::create_dir(&manifests).unwrap();
        for n in 0..MANIFESTS {
            let text = format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: cm-{n}, namespace: default}}\n\
                 data: {{key: value-{n}}}\n"
            );
            std::fs::write(manifests.join(format!("cm-{n:04}.yaml")), text).unwrap();
        }
        let release = folder.path().join("release/release-manifests");
        std::fs::create_dir_all(&release).unwrap();
        std::fs::write(release.join("image-references"), image_references()).unwrap();
        let metadata = r#"{"kind":"cincinnati-metadata-v0","version":"1.36.3"}"#;
        std::fs::write(release.join("release-metadata"), metadata).unwrap();
        let config = "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nmetadata: {name: demo}\n\
                      spec:\n  manifests: [manifests]\n  release: {dir: release}\n";
        std::fs::write(folder.path().join("cluster.yaml"), config).unwrap();
        Self { folder }
    }

    fn root(&self, name: &str) -> PathBuf {
        let root = self.folder.path().join(name);
        std::fs::create_dir_all(&root).unwrap();
        root
    }

    fn start(&self, verb: &str, root: &Path) -> Child {
        let mut command = Command::new(binary());
        command.args([verb, "cluster"]);
        if verb == "run" {
            command.args(["--to", LAST]);
        }
        command
            .arg("--root")
            .arg(root)
            .arg("--config")
            .arg(self.folder.path().join("cluster.yaml"));
        command.args(["--progress", "plain", "-q"]).env_clear();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn to_its_end(&self, verb: &str, root: &Path) {
        let output = self.start(verb, root).wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{verb}: {}\n{said}", output.status);
    }
}

fn image_references() -> String {
    let digest = "0".repeat(64);
    let names = [
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "etcd",
        "pause",
        "bootlace",
    ];
    let tags: Vec<String> = names
        .iter()
        .map(|name| {
            let image = format!("registry.example/{name}@sha256:{digest}");
            format!(r#"{{"name":"{name}","from":{{"kind":"DockerImage","name":"{image}"}}}}"#)
        })
        .collect();
    format!(
        r#"{{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{{"name":"1.36.3"}},"spec":{{"tags":[{}]}}}}"#,
        tags.join(",")
    )
}

fn binary() -> PathBuf {
    std::env::var_os("BOOTLACE_BIN").map_or(env!("CARGO_BIN_EXE_bootlace").into(), Into::into)
}

fn tree(root: &Path) -> Snapshot {
    let state = TargetPath::new("/var/lib/bootlace").unwrap();
    meaning_of(&Snapshot::of_folder(root, &[state]).unwrap())
}

/// When a process is killed.
enum Moment<'a> {
    /// After a part of the time that it takes undisturbed.
    Random(Duration),
    /// As soon as its journal holds a kind of record of a step.
    In(&'a str, &'a str),
}

/// Kills a process at a moment unless it ended before; returns how it ended, and what its journal says about
/// the step.
fn kill_at(mut child: Child, moment: &Moment<'_>, mut journal: Journal) -> (ExitStatus, Seen) {
    let mut seen = Seen::default();
    match moment {
        Moment::Random(after) => std::thread::sleep(*after),
        Moment::In(step, kind) => {
            while !seen.has(kind) && !seen.is_over() && child.try_wait().unwrap().is_none() {
                std::thread::sleep(LOOKS);
                journal.read_on(step, &mut seen).unwrap();
            }
        }
    }
    if child.try_wait().unwrap().is_none() {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    if let Moment::In(step, _) = moment {
        journal.read_on(step, &mut seen).unwrap();
    }
    (status, seen)
}

/// What a test has come to so far.
struct Kills {
    lab: Lab,
    sample: Sample,
    /// How long an undisturbed run takes.
    longest: Duration,
    killed: u64,
    killed_in_undo: u64,
    inside_undo: u64,
    /// How often each step was killed inside.
    inside: BTreeMap<String, u64>,
}

impl Kills {
    fn random(&mut self) -> Moment<'static> {
        let micros = u64::try_from(self.longest.as_micros()).unwrap();
        // Most of the time before its end: a process that has ended cannot be killed.
        let after = Dice::new(self.sample.roll()).below(micros * 4 / 5);
        Moment::Random(Duration::from_micros(after))
    }

    /// Starts a verb and kills it; tells whether it was killed before it ended.
    fn kill(&mut self, verb: &str, root: &Path, moment: &Moment<'_>) -> (bool, Seen) {
        let journal = Journal::behind_now(&root.join("var/lib/bootlace")).unwrap();
        let child = self.lab.start(verb, root);
        let (status, seen) = kill_at(child, moment, journal);
        match status.signal() {
            Some(9) => self.killed += 1,
            _ if status.success() => {}
            _ => panic!("seed {}, {verb}: {status}", self.sample.seed),
        }
        (status.signal() == Some(9), seen)
    }

    /// Kills a run inside a step, and then at random moments until it has had enough.
    fn run(&mut self, step: &str, root: &Path) {
        let kind = ["step-started", "step-planned", "intent", "done"];
        let kind = kind[usize::try_from(self.sample.roll() % 4).unwrap()];
        let id = format!("cluster/{step}");
        let (_, seen) = self.kill("run", root, &Moment::In(&id, kind));
        *self.inside.entry(step.to_owned()).or_default() += u64::from(seen.is_inside());
        // A program that is always killed early never ends, so after some kills it may.
        for _ in 1..KILLS_IN_A_ROUND {
            let moment = self.random();
            // Before the first record there is no run to resume, so `run` is what goes on.
            if !self.kill("run", root, &moment).0 {
                break;
            }
        }
    }

    /// Takes a run back while being killed; the root must end as empty as it began.
    fn undo(&mut self, root: &Path) {
        for number in 0..5 {
            // The records of undo name no step, but the effects of the run.
            let moment = if number % 2 == 0 {
                Moment::In("", "undo-intent")
            } else {
                self.random()
            };
            let (was_killed, seen) = self.kill("undo", root, &moment);
            self.killed_in_undo += u64::from(was_killed);
            self.inside_undo += u64::from(seen.has("undo-intent") && !seen.closed);
            if !was_killed {
                break;
            }
        }
        self.lab.to_its_end("undo", root);
        let state = TargetPath::new("/var").unwrap();
        let left = Snapshot::of_folder(root, &[state]).unwrap();
        let left: Vec<_> = left.files.keys().collect();
        assert!(left.len() == 1, "left behind: {left:?}");
    }

    /// Returns the steps that were never killed inside.
    fn missed<'a>(&self, steps: &'a [String]) -> Vec<&'a String> {
        let met = |step: &&String| self.inside.get(*step).is_some_and(|met| *met > 0);
        steps.iter().filter(|step| !met(step)).collect()
    }

    /// Says how much was tried.
    fn tell(&self) {
        let seed = self.sample.seed;
        eprintln!(
            "seed {seed} (BOOTLACE_SEED repeats the choice): {} kills",
            self.killed
        );
        eprintln!(
            "{} kills during undo, {} of them inside it",
            self.killed_in_undo, self.inside_undo
        );
        eprintln!("kills inside each step: {:#?}", self.inside);
        let inside = self.inside.values().sum();
        bootlace_test_notes::tried("kills of the real program", self.killed, seed);
        bootlace_test_notes::tried("of them aimed at a step and inside it", inside, seed);
        bootlace_test_notes::tried("kills inside undo", self.inside_undo, seed);
    }
}

/// Returns the steps that run in a folder, in order.
fn steps(lab: &Lab) -> Vec<String> {
    let mut command = Command::new(binary());
    let root = lab.root("explains");
    command.args(["explain", "cluster", "--to", LAST, "-o", "json", "--root"]);
    let explained = command.arg(root).env_clear().output().unwrap();
    let explained: serde_json::Value = serde_json::from_slice(&explained.stdout).unwrap();
    let steps = explained["steps"].as_array().unwrap().iter();
    let steps: Vec<String> = steps
        .map(|step| step["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(steps.len(), 13, "{steps:?}");
    assert_eq!(steps.last().unwrap(), LAST);
    steps
}

#[test]
#[ignore = "slow: kills the program at least two hundred times"]
fn killed_in_any_step_it_ends_where_an_undisturbed_run_ends() {
    let sample = Sample::begin();
    let wanted = if sample.soak {
        KILLS_WHEN_SOAKING
    } else {
        KILLS
    };
    let lab = Lab::new();
    let steps = steps(&lab);
    let undisturbed = lab.root("undisturbed");
    let begin = Instant::now();
    lab.to_its_end("run", &undisturbed);
    let longest = begin.elapsed();
    let expected = tree(&undisturbed);
    let mut kills = Kills {
        lab,
        sample,
        longest,
        killed: 0,
        killed_in_undo: 0,
        inside_undo: 0,
        inside: BTreeMap::new(),
    };
    let mut round = 0;
    // Every step in its turn, until the program was killed often enough and every step was met.
    for step in steps.iter().cycle() {
        let is_enough = kills.killed >= wanted;
        if is_enough && kills.missed(&steps).is_empty() || round == MOST_ROUNDS {
            break;
        }
        if is_enough && !kills.missed(&steps).contains(&step) {
            continue;
        }
        round += 1;
        let root = kills.lab.root(&format!("root-{round}"));
        kills.run(step, &root);
        let seed = kills.sample.seed;
        for verb in ["run", "resume"] {
            kills.lab.to_its_end(verb, &root);
        }
        if let Err(difference) = expected.compare(&tree(&root)) {
            panic!("seed {seed}, round {round} in {step}:\n{difference}");
        }
        for verb in ["verify", "log"] {
            kills.lab.to_its_end(verb, &root);
        }
        if round % 3 == 0 {
            kills.undo(&root);
        }
        std::fs::remove_dir_all(root).unwrap();
    }
    kills.tell();
    assert_eq!(
        kills.missed(&steps),
        Vec::<&String>::new(),
        "never killed inside"
    );
    assert!(kills.inside_undo > 0, "undo was never killed inside");
}
