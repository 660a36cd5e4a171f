//! Syncs and writes that fail once: the run stops, claims nothing, and goes on later.

use bootlace_model::event::Event;
use bootlace_test_notes::skip;
use bootlace_testkit::crash::{Sample, Wrong};
use bootlace_testkit::disk::{Disk, Filesystem, Loss};

use crate::promises::Left;
use crate::recording::{Cut, Recording};
use crate::world::{GOAL, Layout, World, lacks};

const APART: Layout = Layout {
    filesystem: Filesystem::Ext4,
    state_apart: true,
};

#[test]
#[ignore = "slow: runs on real filesystems whose syncs fail"]
fn a_sync_that_fails_once_stops_the_run_which_goes_on_later() {
    if let Some(lack) = lacks() {
        skip!(lack);
    }
    try_calls().unwrap();
}

fn try_calls() -> Result<(), Wrong> {
    let world = World::new(APART);
    let mut sample = Sample::begin();
    let calls = ["fsync", "fdatasync", "syncfs"];
    // The first call of a kind is always made; how many a thread makes later depends on its steps.
    let first = calls.map(|call| (call, 1));
    let later: Vec<(&str, u64)> = calls
        .iter()
        .flat_map(|call| (2..=6).map(move |nth| (*call, nth)))
        .collect();
    let chosen = sample.choose_below(later.len() as u64, 3).into_iter();
    let chosen = chosen.map(|number| later[usize::try_from(number).unwrap()]);
    for (call, nth) in first.into_iter().chain(chosen) {
        let back = sample.roll().is_multiple_of(2);
        let circumstances = || format!("{call} number {nth} of each thread fails, undone {back}");
        sample.try_out(circumstances, || {
            world.insert(&world.before)?;
            let survived = fails_once(&world, call, nth, back);
            world.eject();
            survived
        });
    }
    sample.end("failed syncs")
}

fn fails_once(world: &World, call: &str, nth: u64, back: bool) -> Result<(), Wrong> {
    let trace = world.space.path("trace");
    let mut strace = world.space.command("strace");
    strace
        .args(["-f", "-qq", "--seccomp-bpf", "-o"])
        .arg(&trace);
    strace.args(["-e", &format!("inject={call}:error=EIO:when={nth}"), "--"]);
    strace
        .args(world.words("run", &GOAL))
        .args(["--progress", "json"]);
    let output = strace.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let traced = std::fs::read_to_string(world.space.seen("trace")).unwrap();
    if !traced.contains("(INJECTED)") {
        if nth == 1 {
            return Err(Wrong(format!("no {call} was made: {said}")));
        }
        // No thread made that many of these calls.
        return is_claimed(&said, true);
    }
    if output.status.success() || !said.contains("Input/output error") {
        return Err(Wrong(format!("it ended with {}: {said}", output.status)));
    }
    is_claimed(&said, false)?;
    match (Left::of(world).is_begun(), back) {
        (true, true) => world.must_undo(),
        (true, false) => world.must_resume("resume", &[]),
        (false, _) => world.must_resume("run", &GOAL),
    }
}

/// Compares whether success is claimed with whether there was any.
fn is_claimed(said: &str, succeeded: bool) -> Result<(), Wrong> {
    let events = said
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let claims = events.into_iter().any(|event| is_success(&event));
    if claims == succeeded {
        return Ok(());
    }
    Err(Wrong(format!("success is claimed: {claims}; said: {said}")))
}

fn is_success(event: &Event) -> bool {
    matches!(event, Event::RunFinished { outcome, .. } if outcome == "succeeded")
}

#[test]
#[ignore = "slow: runs on disks that fail"]
fn a_disk_that_fails_a_flush_stops_the_run_which_goes_on_after_a_power_cycle() {
    if let Some(lack) = lacks() {
        skip!(lack);
    }
    try_flushes().unwrap();
}

fn try_flushes() -> Result<(), Wrong> {
    let world = World::new(APART);
    let mut sample = Sample::begin();
    let mut stopped = 0;
    // The first flush of each disk comes in every run.
    let later = sample.choose_below(58, 2).into_iter();
    for number in [0, 1].into_iter().chain(later.map(|number| number + 2)) {
        let (disk, nth) = (usize::from(number % 2 == 0), number / 2 + 1);
        let recording = Recording::of(
            &world,
            &world.before,
            &world.words("run", &GOAL),
            |disks: &[Disk]| disks[disk].fail_flush(nth),
        );
        let name = world.layout.disks()[disk];
        stopped += u64::from(recording.code != Some(0));
        sample.try_out(
            || format!("flush {nth} of the disk {name} fails"),
            || {
                let success = recording.events.iter().any(|(_, event)| is_success(event));
                if success != (recording.code == Some(0)) {
                    let (code, said) = (recording.code, &recording.said);
                    return Err(Wrong(format!("success {success}, code {code:?}: {said}")));
                }
                is_kept(&world, &recording)
            },
        );
    }
    assert!(stopped > 0, "no flush that failed stopped a run");
    sample.end("failed flushes of a disk")
}

/// Cuts the power at the end, and goes on.
fn is_kept(world: &World, recording: &Recording) -> Result<(), Wrong> {
    let (position, loss) = (recording.end, Loss::All);
    let cut = Cut { position, loss };
    world.insert(&recording.after(&cut))?;
    let left = Left::of(world);
    let kept = left.keeps(world, recording.announced(&cut));
    let verb = if left.is_begun() { "resume" } else { "run" };
    let goal: &[&str] = if left.is_begun() { &[] } else { &GOAL };
    let kept = kept.and_then(|()| world.must_resume(verb, goal));
    world.eject();
    kept
}

/// One of the many intents that `prepare-assets` writes at once: more than a page of the file.
const INTENT: &[u8] = br#"{"kind":"intent","n":25,"#;

#[test]
#[ignore = "slow: runs on a disk that fails"]
fn what_a_failing_disk_dropped_from_the_journal_is_written_again() {
    if let Some(lack) = lacks() {
        skip!(lack);
    }
    drop_intents().unwrap();
}

fn drop_intents() -> Result<(), Wrong> {
    let world = World::new(APART);
    // The kernel tells once that it could not write, and takes its pages for written from then on.
    let run = world.words("run", &GOAL).join(" ");
    let resume = world.words("resume", &[]).join(" ");
    let script = format!("{run} --progress json && exit 99; {resume} \"$@\"");
    let words = ["sh", "-c", &script, "resume"].map(str::to_owned);
    let recording = Recording::of(&world, &world.before, &words, |disks| {
        disks[1].fail_write_of(INTENT);
    });
    assert_eq!(recording.code, Some(0), "{}", recording.said);
    assert!(
        recording.said.contains("Input/output error"),
        "{}",
        recording.said
    );
    is_kept(&world, &recording)
}
