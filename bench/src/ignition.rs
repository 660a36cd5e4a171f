//! A large Ignition config, judged and applied, beside real Ignition.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bootlace_lab::IgnitionPrograms;
use bootlace_testkit::ignition::config::large;
use tempfile::TempDir;

use crate::row::{Bound, Peer, Row, millis};
use crate::{Outcome, memory, rounds};

const FILES: usize = 5_000;
const UNITS: usize = 100;
const ROUNDS: usize = 7;
const BOOTLACE: &str = "target/release/bootlace";

/// How long a program took, and how much memory it had at most, in MiB.
struct Took {
    time: Duration,
    memory: f64,
}

/// What several runs of one program took.
#[derive(Default)]
struct Runs {
    apply: Vec<f64>,
    judge: Vec<f64>,
    memory: Vec<f64>,
}

impl Runs {
    fn note(&mut self, applied: &Took, judged: &Took) {
        self.apply.push(millis(applied.time));
        self.judge.push(millis(judged.time));
        self.memory.push(applied.memory);
    }
}

/// Measures both, in turns.
pub(crate) fn run() -> Outcome {
    let real = IgnitionPrograms::load()?;
    let folder = TempDir::with_prefix_in("bootlace-bench-", "/var/tmp")?;
    let config = folder.path().join("config.ign");
    let text = large(FILES, UNITS);
    std::fs::write(&config, &text)?;
    let (mut ours, mut theirs) = (Runs::default(), Runs::default());
    for round in 0..rounds::count(ROUNDS)? {
        for who in rounds::order(round, 2) {
            let root = root(folder.path(), &format!("{who}-{round}"))?;
            // Neither pays for what was left to be written before.
            rustix::fs::sync();
            if who == 0 {
                let mut apply = Command::new(BOOTLACE);
                apply.args(["ignition", "apply", "--progress", "plain", "--root"]);
                let mut judge = Command::new(BOOTLACE);
                judge.args(["ignition", "validate"]);
                let applied = took(apply.arg(&root).arg(&config))?;
                ours.note(&applied, &took(judge.arg(&config))?);
            } else {
                let applied = real_stages(&real, &config, &root)?;
                let judged = took(Command::new(real.validate()).arg(&config))?;
                theirs.note(&applied, &judged);
            }
        }
        // The roots stay until the end: ext4 takes its time to find names for new files while it
        // remembers thousands that were just removed, and neither program is to blame for that.
    }
    let size = f64::from(u32::try_from(text.len())?) / f64::from(1 << 20);
    Ok(rows(&ours, &theirs, &real.version, size))
}

fn rows(ours: &Runs, theirs: &Runs, version: &str, size: f64) -> Vec<Row> {
    let peer = |name: &str, ours: &[f64], theirs: &[f64]| {
        let name = format!("Ignition {version}, {name}");
        Peer::new("ignition", &name, ours, theirs)
    };
    let apply = format!("{FILES} files and {UNITS} units of an Ignition config, durably");
    let stages = "stages fetch and files, no journal, no syncs";
    let judge = format!("the same config of {size:.1} MiB judged");
    vec![
        Row::new("ignition.apply", apply, "ms", &ours.apply)
            .beside(peer(stages, &ours.apply, &theirs.apply).within(Bound::AtMost(0.6))),
        Row::new("ignition.judge", judge, "ms", &ours.judge).beside(
            peer("ignition-validate", &ours.judge, &theirs.judge).within(Bound::AtMost(0.09)),
        ),
        Row::new(
            "ignition.memory",
            "peak memory for applying it",
            "MiB",
            &ours.memory,
        )
        .beside(peer(stages, &ours.memory, &theirs.memory))
        .within(Bound::AtMost(3.0 * size)),
    ]
}

/// Makes a root with as much as both need.
fn root(folder: &Path, name: &str) -> std::io::Result<PathBuf> {
    let root = folder.join(name);
    std::fs::create_dir_all(root.join("etc"))?;
    std::fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n")?;
    std::fs::write(root.join("etc/group"), "root:x:0:\n")?;
    Ok(root)
}

/// Runs both stages of real Ignition that write what ours writes.
fn real_stages(
    real: &IgnitionPrograms,
    config: &Path,
    root: &Path,
) -> Result<Took, Box<dyn std::error::Error>> {
    let here = root.with_extension("run");
    std::fs::create_dir_all(&here)?;
    let mut whole = Took {
        time: Duration::ZERO,
        memory: 0.0,
    };
    for stage in ["fetch", "files"] {
        let mut command = Command::new(real.ignition());
        command
            .args([
                "-platform",
                "file",
                "-stage",
                stage,
                "-log-to-stdout",
                "-root",
            ])
            .arg(root)
            .arg("-config-cache")
            .arg(here.join("config"))
            .arg("-state-file")
            .arg(here.join("state"))
            .arg("-neednet")
            .arg(here.join("neednet"))
            .env("IGNITION_CONFIG_FILE", config)
            .env("IGNITION_SYSTEM_CONFIG_DIR", "/nowhere");
        let took = took(&mut command)?;
        whole.time += took.time;
        whole.memory = whole.memory.max(took.memory);
    }
    std::fs::remove_dir_all(here)?;
    Ok(whole)
}

/// Runs a program to its end.
fn took(command: &mut Command) -> Result<Took, Box<dyn std::error::Error>> {
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let id = child.id().to_string();
    let mut most = 0.0_f64;
    loop {
        if let Some(peak) = memory::peak(&id) {
            most = most.max(peak);
        }
        if let Some(status) = child.try_wait()? {
            let time = began.elapsed();
            if status.success() {
                return Ok(Took { time, memory: most });
            }
            return Err(format!("{command:?} failed").into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
