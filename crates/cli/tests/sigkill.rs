//! The real program, killed at random moments: it goes on, and ends where an undisturbed run ends.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the test stands outside of the product and kills it"
)]

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

use bootlace_model::path::TargetPath;
use bootlace_testkit::dice::Dice;
use bootlace_testkit::meaning::meaning_of;
use bootlace_testkit::tree::Snapshot;

/// How often the program is killed in one run of the test, at least.
const KILLS: u32 = 200;
const KILLS_WHEN_SOAKING: u32 = 2_000;
const KILLS_IN_A_ROUND: u32 = 10;
const MANIFESTS: usize = 400;

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
            command.args(["--to", "release-info"]);
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

fn seed() -> u64 {
    let given = std::env::var("BOOTLACE_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    given.unwrap_or(u64::from(now.subsec_nanos()))
}

fn tree(root: &Path) -> Snapshot {
    let state = TargetPath::new("/var/lib/bootlace").unwrap();
    meaning_of(&Snapshot::of_folder(root, &[state]).unwrap())
}

/// Kills a process after a while unless it ended before; returns how it ended.
fn kill_within(mut child: Child, longest: Duration, dice: &mut Dice) -> ExitStatus {
    let micros = u64::try_from(longest.as_micros()).unwrap();
    // Most of the time before its end: a process that has ended cannot be killed.
    std::thread::sleep(Duration::from_micros(dice.below(micros * 4 / 5)));
    if child.try_wait().unwrap().is_none() {
        child.kill().unwrap();
    }
    child.wait().unwrap()
}

#[test]
#[ignore = "slow: kills the program at least two hundred times"]
fn killed_at_random_moments_it_ends_where_an_undisturbed_run_ends() {
    let soaking = std::env::var_os("BOOTLACE_SOAK").is_some();
    let wanted = if soaking { KILLS_WHEN_SOAKING } else { KILLS };
    let seed = seed();
    println!("seed {seed} (set BOOTLACE_SEED to repeat the moments)");
    let mut dice = Dice::new(seed);
    let lab = Lab::new();
    let undisturbed = lab.root("undisturbed");
    let begin = Instant::now();
    lab.to_its_end("run", &undisturbed);
    let longest = begin.elapsed();
    let expected = tree(&undisturbed);
    let (mut kills, mut rounds, mut undo_kills) = (0, 0, 0);
    while kills < wanted {
        rounds += 1;
        let root = lab.root(&format!("root-{rounds}"));
        // A program that is always killed early never ends, so after some kills it may.
        for _ in 0..KILLS_IN_A_ROUND {
            // Before the first record there is no run to resume, so `run` is what goes on.
            let status = kill_within(lab.start("run", &root), longest, &mut dice);
            match status.signal() {
                Some(9) => kills += 1,
                _ if status.success() => break,
                _ => panic!("seed {seed}, round {rounds}: {status}"),
            }
        }
        lab.to_its_end("run", &root);
        lab.to_its_end("resume", &root);
        if let Err(difference) = expected.compare(&tree(&root)) {
            panic!("seed {seed}, round {rounds}:\n{difference}");
        }
        lab.to_its_end("verify", &root);
        lab.to_its_end("log", &root);
        if rounds % 4 == 0 {
            let more = undo_killed(&lab, &root, longest, &mut dice);
            undo_kills += more;
            kills += more;
        }
        std::fs::remove_dir_all(root).unwrap();
    }
    println!("{kills} kills in {rounds} rounds, {undo_kills} of them during undo");
}

/// Takes a run back while being killed; the root must end as empty as it began.
fn undo_killed(lab: &Lab, root: &Path, longest: Duration, dice: &mut Dice) -> u32 {
    let mut kills = 0;
    while kills < 20 {
        let status = kill_within(lab.start("undo", root), longest, dice);
        match status.signal() {
            Some(9) => kills += 1,
            _ if status.success() => break,
            _ => panic!("undo: {status}"),
        }
    }
    lab.to_its_end("undo", root);
    let state = TargetPath::new("/var").unwrap();
    let left = Snapshot::of_folder(root, &[state]).unwrap();
    assert!(
        left.files.len() == 1,
        "left behind: {:?}",
        left.files.keys().collect::<Vec<_>>()
    );
    kills
}
