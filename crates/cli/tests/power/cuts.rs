//! The power is cut while the program runs, goes on, or takes back.

use bootlace_test_notes::skip;
use bootlace_testkit::crash::{Sample, Wrong};
use bootlace_testkit::disk::{Filesystem, Loss};
use bootlace_testkit::meaning::meaning_of;

use crate::promises::Left;
use crate::recording::{Cut, Recording};
use crate::world::{GOAL, Layout, World, lacks};

/// How many cuts of each kind are tried without a soak.
const CUTS: u64 = 5;

#[test]
#[ignore = "slow: power cuts on a real filesystem"]
fn power_cuts_on_ext4_with_the_state_on_a_disk_of_its_own() {
    if let Some(lack) = lacks() {
        skip!(lack);
    }
    survives(Filesystem::Ext4, true).unwrap();
}

#[test]
#[ignore = "slow: power cuts on a real filesystem"]
fn power_cuts_on_ext4() {
    if let Some(lack) = lacks() {
        skip!(lack);
    }
    survives(Filesystem::Ext4, false).unwrap();
}

#[test]
#[ignore = "slow: power cuts on a real filesystem"]
fn power_cuts_on_btrfs() {
    if let Some(lack) = lacks() {
        skip!(lack);
    }
    if !Filesystem::Btrfs.is_known() {
        skip!("needs a kernel with btrfs");
    }
    survives(Filesystem::Btrfs, true).unwrap();
}

#[test]
#[ignore = "slow: power cuts on a real filesystem"]
fn power_cuts_on_xfs() {
    if let Some(lack) = lacks() {
        skip!(lack);
    }
    if !Filesystem::Xfs.is_known() {
        skip!("needs a kernel with XFS");
    }
    survives(Filesystem::Xfs, true).unwrap();
}

fn survives(filesystem: Filesystem, state_apart: bool) -> Result<(), Wrong> {
    let world = World::new(Layout {
        filesystem,
        state_apart,
    });
    let mut sample = Sample::begin();
    let run_words = world.words("run", &GOAL);
    let run = Recording::of(&world, &world.before, &run_words, |_| {});
    try_cuts(&world, &run, Verb::Run, &mut sample);

    let done = run.after(&Cut {
        position: run.end,
        loss: Loss::All,
    });
    let undo = Recording::of(&world, &done, &world.words("undo", &[]), |_| {});
    try_cuts(&world, &undo, Verb::Undo, &mut sample);

    let all = (run.end - run.begin) as u64;
    let number = sample.roll() % all;
    let cut = run.cut_at(&world, number, sample.roll());
    let second = Recording::of(&world, &run.after(&cut), &run_words, |_| {});
    try_cuts(&world, &second, Verb::Run, &mut sample);
    sample.end("power cuts on real filesystems")
}

/// What was under way when the power was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Run,
    Undo,
}

fn try_cuts(world: &World, recording: &Recording, verb: Verb, sample: &mut Sample) {
    assert_eq!(recording.code, Some(0), "{verb:?}: {}", recording.said);
    let announcements = recording.cuts_at_announcements();
    let chosen = sample.choose_below(announcements.len() as u64, CUTS);
    let mut cuts: Vec<Cut> = chosen
        .into_iter()
        .map(|number| announcements[usize::try_from(number).unwrap()].clone())
        .collect();
    let all = (recording.end - recording.begin + 1) as u64;
    for number in sample.choose_below(all, CUTS) {
        cuts.push(recording.cut_at(world, number, sample.roll()));
    }
    for cut in cuts {
        let back = sample.roll().is_multiple_of(3);
        let circumstances = || {
            let (layout, of) = (world.layout, recording.end);
            format!("{verb:?} on {layout:?}, {cut:?} of {of}, undone {back}")
        };
        sample.try_out(circumstances, || {
            world.insert(&recording.after(&cut))?;
            let survived = goes_on(world, recording, verb, &cut, back);
            world.eject();
            survived
        });
    }
}

/// Looks at what the cut left, and goes on from there.
fn goes_on(
    world: &World,
    recording: &Recording,
    verb: Verb,
    cut: &Cut,
    back: bool,
) -> Result<(), Wrong> {
    let left = Left::of(world);
    left.keeps(world, recording.announced(cut))?;
    if cut.position >= recording.end {
        is_complete(world, verb)?;
    }
    if !left.is_begun() {
        return world.must_resume("run", &GOAL);
    }
    if verb == Verb::Undo || back {
        return world.must_undo();
    }
    world.must_resume("resume", &[])
}

/// A program that has ended with code 0 leaves nothing to do.
fn is_complete(world: &World, verb: Verb) -> Result<(), Wrong> {
    let tree = world.tree();
    let compared = match verb {
        Verb::Run => world.expected.compare(&meaning_of(&tree)),
        Verb::Undo => world.initial.compare(&tree),
    };
    compared.map_err(|difference| Wrong(format!("{verb:?} ended, and then:\n{difference}")))
}
