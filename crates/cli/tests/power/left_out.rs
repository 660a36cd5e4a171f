//! Syncs that are left out on purpose, to know that the tests beside this one would notice.
//!
//! strace lets a system call return success without doing anything. To tell the sync of one file
//! from that of another, the run must have a known name, so its first steps are done beforehand.

use std::path::{Path, PathBuf};

use bootlace_model::node::NodeState;
use bootlace_model::path::TargetPath;
use bootlace_model::record::Record;
use bootlace_test_notes::skip;
use bootlace_testkit::crash::Wrong;
use bootlace_testkit::disk::{Filesystem, Image};
use bootlace_testkit::meaning::meaning_of;
use bootlace_testkit::tree::{EntryKind, Snapshot};

use crate::promises::Left;
use crate::recording::Recording;
use crate::world::{GOAL, Layout, World, ends_with, lacks};

const ONE_BY_ONE: [&str; 4] = [GOAL[0], GOAL[1], "--jobs", "1"];

/// A run whose first steps are done, and what the rest of it will do.
struct Begun {
    world: World,
    base: Vec<Image>,
    done: Vec<Image>,
    /// The staged files of what the rest will do.
    staged: Vec<PathBuf>,
    /// The staged files of before-images that the rest will keep.
    blobs: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    journal: PathBuf,
}

impl Begun {
    fn new() -> Self {
        let world = World::new(Layout {
            filesystem: Filesystem::Ext4,
            state_apart: true,
        });
        world.insert(&world.before).unwrap();
        let first = world.bootlace("run", &["--to", "copy-manifests", "--jobs", "1"]);
        ends_with(0, first).unwrap();
        let run = only_name_in(&world.state().join("runs"));
        let base = world.eject_whole();
        world.insert(&base).unwrap();
        let rest = world.bootlace("run", &ONE_BY_ONE);
        ends_with(0, rest).unwrap();
        let records = Left::of(&world).records;
        let folders = folders_of(&world.tree(), &world.space.path("root"));
        let done = world.eject_whole();
        let folder = world.space.path("state").join("runs").join(&run);
        let mut rest = Self {
            base,
            done,
            staged: vec![],
            blobs: vec![],
            folders,
            journal: folder.join("journal.jsonl"),
            world,
        };
        let tag = run.rsplit('-').next().unwrap();
        for record in &records {
            if let Record::Intent { n, before, .. } = record {
                for (index, node) in before.nodes.iter().enumerate() {
                    let name = format!(".bootlace-{tag}-{n}-{index}");
                    rest.staged.push(rest.beside(&node.path, &name));
                    if let NodeState::File { digest, .. } = &node.state {
                        let name = format!(".{}", digest.hex());
                        rest.blobs.push(folder.join("blobs").join(name));
                    }
                }
            }
        }
        rest
    }

    fn beside(&self, path: &TargetPath, name: &str) -> PathBuf {
        let folder = path.parent().unwrap();
        let folder = folder.as_str().trim_start_matches('/');
        self.world.space.path("root").join(folder).join(name)
    }

    /// Does the rest, or something else, without some syncs, and tells what a cut then loses.
    fn loses(
        &self,
        base: &[Image],
        words: &[String],
        calls: &str,
        paths: &[PathBuf],
    ) -> Option<Wrong> {
        let world = &self.world;
        let mut traced = ["strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null"]
            .map(str::to_owned)
            .to_vec();
        traced.extend(["-e".into(), format!("inject={calls}:retval=0")]);
        for path in paths {
            traced.extend(["-P".into(), path.display().to_string()]);
        }
        traced.push("--".into());
        traced.extend_from_slice(words);
        let recording = Recording::of(world, base, &traced, |_| {});
        assert_eq!(recording.code, Some(0), "{}", recording.said);
        let is_undo = words.iter().any(|word| word == "undo");
        for cut in recording.cuts_at_announcements() {
            world.insert(&recording.after(&cut)).unwrap();
            let mut kept = Left::of(world).keeps(world, recording.announced(&cut));
            if kept.is_ok() && cut.position >= recording.end {
                let tree = world.tree();
                let compared = if is_undo {
                    world.initial.compare(&tree)
                } else {
                    world.expected.compare(&meaning_of(&tree))
                };
                kept = compared.map_err(|difference| Wrong(difference.to_string()));
            }
            world.eject();
            if let Err(wrong) = kept {
                return Some(wrong.when(format!("cut at {}", cut.position)));
            }
        }
        None
    }
}

fn only_name_in(folder: &Path) -> String {
    let mut names = std::fs::read_dir(folder).unwrap();
    let name = names.next().unwrap().unwrap().file_name();
    name.into_string().unwrap()
}

fn folders_of(tree: &Snapshot, root: &Path) -> Vec<PathBuf> {
    let folders = tree.files.iter();
    let folders = folders.filter(|(_, entry)| entry.kind == EntryKind::Directory);
    let place = |path: &TargetPath| root.join(path.as_str().trim_start_matches('/'));
    let folders = folders.map(|(path, _)| place(path));
    // The root's own path has no slash at its end.
    folders.map(|path| path.components().collect()).collect()
}

#[test]
#[ignore = "slow: runs on real filesystems, each without a kind of sync"]
fn every_kind_of_sync_that_is_left_out_is_noticed() {
    if let Some(lack) = lacks() {
        skip!(lack);
    }
    let begun = Begun::new();
    let run = begun.world.words("run", &ONE_BY_ONE);
    let undo = begun.world.words("undo", &[]);
    let journal = std::slice::from_ref(&begun.journal);
    let nowhere = [PathBuf::from("/nowhere")];
    let base = &begun.base;
    for (words, base, calls, paths) in [
        (&run, base, "fsync,fdatasync,syncfs", &nowhere[..]),
        (&undo, &begun.done, "fsync,fdatasync,syncfs", &nowhere),
    ] {
        let lost = begun.loses(base, words, calls, paths);
        assert_eq!(lost, None, "although nothing was left out");
    }
    for (what, words, base, calls, paths) in [
        ("staged files", &run, base, "fsync", &begun.staged[..]),
        ("folders", &run, base, "fsync", &begun.folders),
        ("many files or folders", &run, base, "syncfs", &[]),
        ("the journal", &run, base, "fdatasync", journal),
        ("before-images", &run, base, "fsync", &begun.blobs),
        (
            "folders, taking back",
            &undo,
            &begun.done,
            "fsync,syncfs",
            &begun.folders,
        ),
        (
            "the journal, taking back",
            &undo,
            &begun.done,
            "fdatasync",
            journal,
        ),
    ] {
        match begun.loses(base, words, calls, paths) {
            None => panic!("no loss was found although {what} are not synced"),
            Some(wrong) => println!("{what} not synced: {wrong}"),
        }
    }
}
