//! What must be so on the disks after a power cut, before anything repairs it.
//!
//! - What was announced is in the journal.
//! - What the journal calls done is in place.
//! - What is in place was intended in the journal before.
//! - What an intent would replace is kept in a blob.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bootlace_model::event::Event;
use bootlace_model::ids::Digest;
use bootlace_model::node::{Node, NodeState};
use bootlace_model::path::TargetPath;
use bootlace_model::record::{Before, ClosedLine, Outcome, Record};
use bootlace_testkit::crash::Wrong;
use bootlace_testkit::tree::{Entry, EntryKind, Snapshot};

use crate::world::World;

/// What a power cut left, read without the program's help.
#[derive(Debug)]
pub(crate) struct Left {
    tree: Snapshot,
    pub(crate) records: Vec<Record>,
    blobs: BTreeMap<String, Vec<u8>>,
}

impl Left {
    /// Looks at the disks in the machine.
    pub(crate) fn of(world: &World) -> Self {
        let mut left = Self {
            tree: world.tree(),
            records: vec![],
            blobs: BTreeMap::new(),
        };
        // There is at most one run.
        for run in files(&world.state().join("runs")) {
            let journal = std::fs::read(run.join("journal.jsonl")).unwrap_or_default();
            let lines = journal.split_inclusive(|byte| *byte == b'\n');
            let lines = lines.map_while(|line| serde_json::from_slice::<ClosedLine>(line).ok());
            left.records.extend(lines.map(|closed| closed.line.rec));
            for blob in files(&run.join("blobs")) {
                let name = blob.file_name().unwrap().to_string_lossy().into_owned();
                left.blobs.insert(name, std::fs::read(blob).unwrap());
            }
        }
        left
    }

    /// Tells whether a run was begun.
    pub(crate) fn is_begun(&self) -> bool {
        !self.records.is_empty()
    }

    /// Compares all of it with the promises.
    pub(crate) fn keeps<'a>(
        &self,
        world: &World,
        announced: impl Iterator<Item = &'a Event>,
    ) -> Result<(), Wrong> {
        for event in announced {
            self.has_journalled(event)?;
        }
        let story = Story::of(&self.records);
        self.has_what_is_done(&story)?;
        self.has_nothing_unintended(&story, &world.initial)?;
        self.has_blobs(&story)
    }

    fn has_journalled(&self, event: &Event) -> Result<(), Wrong> {
        let is = |record: &Record| match (event, record) {
            (Event::RunStarted { .. }, Record::RunOpened { .. }) => true,
            (Event::StepDone { step, .. }, Record::Verified { step: verified, .. }) => {
                step == verified
            }
            (Event::StepSkipped { step, .. }, Record::Skipped { step: skipped, .. }) => {
                step == skipped
            }
            (Event::RunFinished { outcome, .. }, Record::RunClosed { outcome: closed }) => {
                serde_json::to_value(closed).unwrap() == outcome.as_str()
            }
            _ => false,
        };
        let must_be = matches!(
            event,
            Event::RunStarted { .. }
                | Event::StepDone { .. }
                | Event::StepSkipped { .. }
                | Event::RunFinished { .. }
        );
        // A run that fails because it cannot be journalled says so only to those who watch.
        let must_be =
            must_be && !matches!(event, Event::RunFinished { outcome, .. } if outcome == "failed");
        if !must_be || self.records.iter().any(is) {
            return Ok(());
        }
        Err(Wrong(format!(
            "announced and not in the journal: {event:?}"
        )))
    }

    fn has_what_is_done(&self, story: &Story<'_>) -> Result<(), Wrong> {
        let unsettled = story.unsettled();
        for (path, state) in &story.stands {
            let entry = self.tree.files.get(*path);
            if !unsettled.contains(path) && !is_like(state, entry) {
                let found = entry.map(|entry| &entry.kind);
                let message = format!("{path} is done as {state:?}, and there is {found:?}");
                return Err(Wrong(message));
            }
        }
        Ok(())
    }

    fn has_nothing_unintended(&self, story: &Story<'_>, initial: &Snapshot) -> Result<(), Wrong> {
        let touched = story.touched();
        let is_staged = |path: &TargetPath| {
            let beside = |other: &&TargetPath| other.parent() == path.parent();
            path.name().starts_with(".bootlace-") && touched.iter().any(beside)
        };
        let paths: BTreeSet<&TargetPath> =
            self.tree.files.keys().chain(initial.files.keys()).collect();
        for path in paths {
            let changed = self.tree.files.get(path) != initial.files.get(path);
            if changed && !touched.contains(path) && !is_staged(path) {
                return Err(Wrong(format!("{path} changed, and no intent says so")));
            }
        }
        Ok(())
    }

    fn has_blobs(&self, story: &Story<'_>) -> Result<(), Wrong> {
        let (outcome, records) = (Outcome::Undone, &self.records);
        if records.contains(&Record::RunClosed { outcome }) {
            return Ok(());
        }
        for node in story.intents.values().flat_map(|before| &before.nodes) {
            if let NodeState::File { digest, .. } = &node.state {
                let kept = self.blobs.get(&digest.hex());
                if kept.map(|content| Digest::of(content)) != Some(*digest) {
                    let length = kept.map(Vec::len);
                    let message = format!("{} was kept in a blob of {length:?} bytes", node.path);
                    return Err(Wrong(message));
                }
            }
        }
        Ok(())
    }
}

/// What a journal tells.
#[derive(Default)]
struct Story<'a> {
    intents: BTreeMap<u64, &'a Before>,
    /// Effects that may or may not have happened, or may or may not have been taken back.
    open: BTreeSet<u64>,
    /// What is where.
    stands: BTreeMap<&'a TargetPath, &'a NodeState>,
}

impl<'a> Story<'a> {
    fn of(records: &'a [Record]) -> Self {
        let mut story = Self::default();
        for record in records {
            match record {
                Record::Intent { n, before, .. } => {
                    story.intents.insert(*n, before);
                    story.open.insert(*n);
                }
                Record::Done { n, after, .. } => story.settle(*n, after),
                Record::UndoIntent { n } => {
                    story.open.insert(*n);
                }
                Record::UndoDone { n, .. } => {
                    let before = story.intents.get(n).copied();
                    story.settle(*n, before.map_or(&[], |before| &before.nodes));
                }
                _ => {}
            }
        }
        story
    }

    fn settle(&mut self, n: u64, nodes: &'a [Node]) {
        self.open.remove(&n);
        for node in nodes {
            self.stands.insert(&node.path, &node.state);
        }
    }

    fn unsettled(&self) -> BTreeSet<&'a TargetPath> {
        let open = self.intents.iter().filter(|(n, _)| self.open.contains(n));
        open.flat_map(|(_, before)| paths(before)).collect()
    }

    fn touched(&self) -> BTreeSet<&'a TargetPath> {
        self.intents
            .values()
            .flat_map(|before| paths(before))
            .collect()
    }
}

fn paths(before: &Before) -> impl Iterator<Item = &TargetPath> {
    let nodes = before.nodes.iter().map(|node| &node.path);
    nodes.chain(&before.parents)
}

fn is_like(state: &NodeState, entry: Option<&Entry>) -> bool {
    match (state, entry) {
        (NodeState::Absent, entry) => entry.is_none(),
        (_, None) => false,
        (NodeState::File { digest, mode, .. }, Some(entry)) => {
            matches!(&entry.kind, EntryKind::File(content) if Digest::of(content) == *digest)
                && entry.mode == *mode
        }
        (NodeState::Directory { mode, .. }, Some(entry)) => {
            entry.kind == EntryKind::Directory && entry.mode == *mode
        }
        (NodeState::Link { target, .. }, Some(entry)) => {
            matches!(&entry.kind, EntryKind::Link(to) if to == target)
        }
        _ => true,
    }
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(names) = std::fs::read_dir(folder) else {
        return vec![];
    };
    names.map(|name| name.unwrap().path()).collect()
}
