//! A large Ignition config, judged and applied, beside real Ignition.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bootlace_lab::IgnitionPrograms;
use bootlace_testkit::ignition::config::large;
use tempfile::TempDir;

use crate::Outcome;
use crate::memory;
use crate::table::{Bound, Row, median, middle, millis};

const FILES: usize = 5_000;
const UNITS: usize = 100;
const ROUNDS: usize = 7;
const BOOTLACE: &str = "target/release/bootlace";

/// How long a program took, and how much memory it had at most, in MiB.
struct Took {
    time: Duration,
    memory: f64,
}

/// Measures both, in turns.
pub(crate) fn run() -> Outcome {
    let real = IgnitionPrograms::load()?;
    let folder = TempDir::with_prefix_in("bootlace-bench-", "/var/tmp")?;
    let config = folder.path().join("config.ign");
    let text = large(FILES, UNITS);
    std::fs::write(&config, &text)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut judged, mut theirs_judged) = (Vec::new(), Vec::new());
    let (mut memory, mut their_memory) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let ours_root = root(folder.path(), &format!("ours-{round}"))?;
        let took = took(
            Command::new(BOOTLACE)
                .args(["ignition", "apply", "--progress", "plain", "--root"])
                .arg(&ours_root)
                .arg(&config),
        )?;
        ours.push(took.time);
        memory.push(took.memory);
        let their_root = root(folder.path(), &format!("theirs-{round}"))?;
        let both = real_stages(&real, &config, &their_root)?;
        theirs.push(both.time);
        their_memory.push(both.memory);
        judged.push(
            self::took(
                Command::new(BOOTLACE)
                    .args(["ignition", "validate"])
                    .arg(&config),
            )?
            .time,
        );
        theirs_judged.push(self::took(Command::new(real.validate()).arg(&config))?.time);
        // The roots stay until the end: ext4 takes its time to find names for new files while it
        // remembers thousands that were just removed, and that is nobody's work here.
    }
    let size = f64::from(u32::try_from(text.len())?) / f64::from(1 << 20);
    let (ours, theirs) = (median(ours), median(theirs));
    let what = format!("{FILES} files and {UNITS} units of an Ignition config, durably");
    Ok(vec![
        Row {
            what,
            value: millis(ours),
            bound: Bound::AtMost(millis(theirs) * 0.5),
            unit: "ms",
            peer: format!(
                "Ignition {}, fetch and files, without a journal and without syncs: {:.0} ms (medians of {ROUNDS})",
                real.version,
                millis(theirs)
            ),
        },
        Row {
            what: format!("the same config judged, {size:.1} MiB"),
            value: millis(median(judged)),
            bound: Bound::AtMost(50.0),
            unit: "ms",
            peer: format!("ignition-validate: {:.0} ms", millis(median(theirs_judged))),
        },
        Row {
            what: "memory for applying it, by its size".into(),
            value: middle(memory.clone()) / size,
            bound: Bound::AtMost(3.0),
            unit: "×",
            peer: format!(
                "{:.0} MiB; Ignition: {:.0} MiB",
                middle(memory),
                middle(their_memory)
            ),
        },
    ])
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
