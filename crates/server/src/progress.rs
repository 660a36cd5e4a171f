//! Who is where: what machines tell about themselves before there is a kubelet that could.

mod endpoint;
mod events;
mod report;
#[cfg(test)]
mod tests;

pub(crate) use endpoint::{Unreadable, take, tell};
pub(crate) use events::Events;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::broadcast;

use self::report::Report;
use crate::name::Name;
use crate::sight::Sight;

/// How many machines of a pool are remembered; of more, those that are done, and then those that were
/// silent for longest, are forgotten.
const MOST_NODES: usize = 5_000;
/// How many changes may wait for a reader that is slow; it gets everything anew afterwards.
const WAITING: usize = 256;
/// The phase of a machine that has got to its end.
const DONE: &str = "done";
/// The phase of a machine that got its config and told nothing yet.
const FETCHED: &str = "config-served";

/// Where a machine is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Node {
    /// The pool.
    pub(crate) pool: String,
    /// Its name.
    #[serde(rename = "node")]
    pub(crate) name: String,
    /// The phase.
    pub(crate) phase: String,
    /// The step of the phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<String>,
    /// The how many-th time it tries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempt: Option<u32>,
    /// Why it is not further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<String>,
    /// Since when it is there.
    pub(crate) since: Timestamp,
    /// When it told last.
    pub(crate) last: Timestamp,
    /// From where.
    pub(crate) source: String,
    /// How often it told something.
    pub(crate) reports: u64,
    /// Whether it stopped telling before it was done.
    pub(crate) stalled: bool,
}

/// A change that readers are told of.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// The pool of the machine.
    pub(crate) pool: String,
    /// The machine, as JSON.
    pub(crate) text: String,
}

/// All that machines told.
#[derive(Debug)]
pub(crate) struct Progress {
    nodes: Mutex<BTreeMap<(String, String), Node>>,
    changes: Mutex<Option<broadcast::Sender<Change>>>,
    stalls_after: Duration,
}

impl Progress {
    /// Begins with nobody; who is silent for longer than this has stalled.
    pub(crate) fn new(stalls_after: Duration) -> Self {
        Self {
            nodes: Mutex::default(),
            changes: Mutex::new(Some(broadcast::Sender::new(WAITING))),
            stalls_after,
        }
    }

    /// Returns how long a machine may be silent.
    pub(crate) fn stalls_after(&self) -> Duration {
        self.stalls_after
    }

    /// Notes what a machine told.
    pub(crate) fn note(&self, pool: &Name, report: Report, source: String, now: Timestamp) {
        let key = (pool.as_str().to_owned(), report.node.clone());
        let mut nodes = self.nodes();
        let before = nodes.get(&key);
        let is_there = |node: &&Node| node.phase == report.phase && node.step == report.step;
        let node = Node {
            pool: key.0.clone(),
            name: report.node,
            since: before.filter(is_there).map_or(now, |node| node.since),
            phase: report.phase,
            step: report.step,
            attempt: report.attempt,
            cause: report.cause,
            last: now,
            source,
            reports: before.map_or(0, |node| node.reports) + 1,
            stalled: false,
        };
        self.tell(&node);
        nodes.insert(key, node);
        let of_pool = || nodes.values().filter(|node| node.pool == pool.as_str());
        if of_pool().count() > MOST_NODES {
            let forgotten = of_pool().min_by_key(|node| (node.phase != DONE, node.last));
            let forgotten = forgotten.map(|node| (node.pool.clone(), node.name.clone()));
            forgotten.and_then(|key| nodes.remove(&key));
        }
    }

    /// Notes that a machine got its config. One that tells more has told so already.
    pub(crate) fn fetched(&self, pool: &Name, node: &str, source: String, now: Timestamp) {
        let report = Report {
            node: node.to_owned(),
            phase: FETCHED.to_owned(),
            step: None,
            attempt: None,
            cause: None,
        };
        self.note(pool, report, source, now);
    }

    /// Returns where everybody is whom one may see.
    pub(crate) fn list(&self, sight: &Sight, now: Timestamp) -> Vec<Node> {
        let nodes = self.nodes();
        let nodes = nodes.values().filter(|node| sight.sees(&node.pool));
        let nodes = nodes.cloned().map(|mut node| {
            node.stalled = self.is_stalled(&node, now);
            node
        });
        nodes.collect()
    }

    /// Tells readers of machines that have stalled since it was last asked.
    pub(crate) fn look_for_stalled(&self, now: Timestamp) {
        let mut nodes = self.nodes();
        for node in nodes.values_mut() {
            if !node.stalled && self.is_stalled(node, now) {
                node.stalled = true;
                self.tell(node);
            }
        }
    }

    fn is_stalled(&self, node: &Node, now: Timestamp) -> bool {
        let silent = now.duration_since(node.last);
        node.phase != DONE && silent.unsigned_abs() > self.stalls_after && silent.is_positive()
    }

    /// Begins to read changes; none when the server is about to end.
    pub(crate) fn follow(&self) -> Option<broadcast::Receiver<Change>> {
        self.changes().as_ref().map(broadcast::Sender::subscribe)
    }

    /// Ends all streams.
    pub(crate) fn end(&self) {
        drop(self.changes().take());
    }

    fn tell(&self, node: &Node) {
        if let (Some(changes), Ok(text)) = (&*self.changes(), serde_json::to_string(node)) {
            let pool = node.pool.clone();
            // Nobody may be reading.
            drop(changes.send(Change { pool, text }));
        }
    }

    fn nodes(&self) -> MutexGuard<'_, BTreeMap<(String, String), Node>> {
        // The map is whole whatever happened to whoever held it.
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changes(&self) -> MutexGuard<'_, Option<broadcast::Sender<Change>>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
