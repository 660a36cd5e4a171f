//! A state folder without room, or one that may only be read.

use std::fs::File;
use std::io::Write as _;
use std::process::Command;

use bootlace_test_notes::skip;
use bootlace_testkit::crash::{Sample, Wrong};
use bootlace_testkit::disk::{Filesystem, Space};

use crate::promises::Left;
use crate::world::{GOAL, Layout, World, ends_with, lacks};

fn world() -> World {
    World::new(Layout {
        filesystem: Filesystem::Ext4,
        state_apart: true,
    })
}

#[test]
#[ignore = "slow: runs on a real filesystem that is full"]
fn a_full_state_folder_stops_the_run_which_goes_on_when_there_is_room() {
    if let Some(lack) = lacks() {
        skip!(lack);
    }
    try_rooms().unwrap();
}

fn try_rooms() -> Result<(), Wrong> {
    let world = world();
    let mut sample = Sample::begin();
    for room in sample.choose_below(24, 4) {
        let kibibytes = room * 4;
        let back = sample.roll().is_multiple_of(2);
        let circumstances = || format!("{kibibytes} KiB are left, undone {back}");
        sample.try_out(circumstances, || {
            world.insert(&world.before)?;
            let survived = is_full(&world, kibibytes, back);
            world.eject();
            survived
        });
    }
    sample.end("full state folders")
}

fn is_full(world: &World, kibibytes: u64, back: bool) -> Result<(), Wrong> {
    let ballast = world.state().join("ballast");
    fill(&ballast, kibibytes);
    let said = fails(world.bootlace("run", &GOAL))?;
    for part in ["No space left on device", "df -h"] {
        if !said.contains(part) {
            return Err(Wrong(format!("{part} is missing: {said}")));
        }
    }
    let begun = Left::of(world).is_begun();
    if begun {
        world.status()?;
    }
    std::fs::remove_file(ballast).unwrap();
    match (begun, back) {
        (true, true) => world.must_undo(),
        (true, false) => world.must_resume("resume", &[]),
        (false, _) => world.must_resume("run", &GOAL),
    }
}

/// Fills a filesystem but for so much.
fn fill(ballast: &std::path::Path, kibibytes: u64) {
    let mut file = File::create(ballast).unwrap();
    let mut piece = vec![1; 1 << 20];
    while !piece.is_empty() {
        if file.write_all(&piece).is_err() {
            piece.truncate(piece.len() / 2);
        }
    }
    file.sync_all().unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(kibibytes << 10))
        .unwrap();
    file.sync_all().unwrap();
}

#[test]
#[ignore = "slow: runs on a real filesystem that is read-only"]
fn a_read_only_state_folder_is_named_and_nothing_is_lost() {
    if let Some(lack) = lacks() {
        skip!(lack);
    }
    try_read_only().unwrap();
}

fn try_read_only() -> Result<(), Wrong> {
    let world = world();
    world.insert(&world.before)?;
    remount(&world, "ro");
    is_refused(&world, world.bootlace("run", &GOAL))?;
    let untouched = world.initial.compare(&world.tree());
    untouched.map_err(|difference| Wrong(difference.to_string()))?;
    remount(&world, "rw");
    let first = world.bootlace("run", &["--to", "copy-manifests"]);
    ends_with(0, first)?;
    remount(&world, "ro");
    let begun = world.tree();
    is_refused(&world, world.bootlace("run", &GOAL))?;
    is_refused(&world, world.bootlace("undo", &[]))?;
    let untouched = begun.compare(&world.tree());
    untouched.map_err(|difference| Wrong(difference.to_string()))?;
    // Looking needs no right to write.
    world.status()?;
    ends_with(0, world.bootlace("log", &[]))?;
    remount(&world, "rw");
    world.must_resume("run", &GOAL)?;
    world.must_undo()
}

fn is_refused(world: &World, command: Command) -> Result<(), Wrong> {
    let said = fails(command)?;
    let state = world.space.path("state").display().to_string();
    for part in ["Read-only file system", "findmnt", "--state", &state] {
        if !said.contains(part) {
            return Err(Wrong(format!("{part} is missing: {said}")));
        }
    }
    Ok(())
}

fn fails(mut command: Command) -> Result<String, Wrong> {
    let output = command.output().unwrap();
    // Lines are wrapped for people.
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    if output.status.success() {
        return Err(Wrong(format!("it succeeded: {said}")));
    }
    Ok(said)
}

fn remount(world: &World, how: &str) {
    let mut mount = world.space.command("mount");
    mount.args(["-o", &format!("remount,{how}")]);
    mount.arg(world.space.path("state"));
    Space::must(mount).unwrap();
}
