//! All keys and certificates of `prepare-assets`, durable on disk, beside openssl making the same.

use std::process::Command;
use std::time::{Duration, Instant};

use bootlace_engine::{Engine, Options};
use bootlace_host::RealHost;

use crate::put_files::{Nobody, settings};
use crate::row::{Bound, Peer, Row, millis};
use crate::{Outcome, rounds};

const ROUNDS: usize = 7;

/// What is made, and the line a person would type for it.
type Made = Vec<(String, String)>;

/// Runs the step on an empty root; returns how long it took and what it made.
fn prepare() -> Result<(Duration, Made), Box<dyn std::error::Error>> {
    let root = tempfile::tempdir()?;
    let host = RealHost::builder().root(root.path()).build();
    let mut settings = settings(0)?;
    settings.cluster.name = "bench".into();
    let mut options = Options::new("bench");
    options.choice.only = Some("prepare-assets".into());
    let sequence = bootlace_steps::sequence("cluster").ok_or("no sequence cluster")?;
    let engine = Engine {
        host: &host,
        sequence,
        settings: &settings,
        observer: &Nobody,
        options: &options,
    };
    let planned = engine
        .plan()?
        .steps
        .into_iter()
        .flat_map(|step| step.effects);
    let made = planned
        .map(|effect| (effect.target, effect.command))
        .collect();
    let begin = Instant::now();
    engine.run()?;
    Ok((begin.elapsed(), made))
}

/// Makes the same keys and certificates with the commands that the plan shows.
fn with_openssl(
    commands: &[(String, String)],
) -> Result<(usize, Duration), Box<dyn std::error::Error>> {
    let root = tempfile::tempdir()?;
    let place = root.path().to_str().ok_or("a strange temporary folder")?;
    std::fs::create_dir_all(root.path().join("opt/bootlace/tls/etcd"))?;
    let begin = Instant::now();
    let mut made = 0;
    for (_, command) in commands.iter().filter(|(_, command)| {
        command.contains("openssl genpkey") || command.starts_with("openssl req")
    }) {
        let command = command.replace("/opt/bootlace", &format!("{place}/opt/bootlace"));
        let output = Command::new("sh").args(["-c", &command]).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        made += 1;
    }
    Ok((made, begin.elapsed()))
}

/// Measures both, in turns.
pub(crate) fn run() -> Outcome {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut effects, mut commands) = (0, 0);
    for _ in 0..rounds::count(ROUNDS)? {
        // openssl needs what the plan shows, so ours is first.
        let (took, made) = prepare()?;
        let (run, openssl) = with_openssl(&made)?;
        ours.push(millis(took));
        theirs.push(millis(openssl));
        (effects, commands) = (made.len(), run);
    }
    let what = format!("`prepare-assets`: {effects} effects, verified and durable");
    let openssl =
        format!("the same keys and certificates by {commands} openssl commands, not synced");
    let peer = Peer::new("openssl", &openssl, &ours, &theirs).within(Bound::AtMost(0.13));
    Ok(vec![Row::new("keys.time", what, "ms", &ours).beside(peer)])
}
