//! The journal: write-ahead, hash-chained, one writer, many commits at once.

mod line;
mod read;

use std::sync::{Mutex, PoisonError};

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::Digest;
use bootlace_model::record::{LINE_VERSION, Line, Record};
use bootlace_model::replay::RunState;
pub(crate) use line::encode;
use read::LONGEST_LINE;
pub(crate) use read::{Damage, ReadJournal, has_first_line, last_line, read_journal};

use crate::port::{Host, LogFile, LogSync};

/// The journal's file in a run's folder.
pub(crate) const JOURNAL_FILE: &str = "journal.jsonl";

/// An open journal with the state that its lines fold into.
///
/// Several steps append at the same time; a commit makes durable what all of them appended, so a
/// step that waits for the disk carries the others along.
#[derive(Debug)]
pub(crate) struct Journal {
    tail: Mutex<Tail>,
    synced: Mutex<Synced>,
    sync: Box<dyn LogSync>,
}

#[derive(Debug)]
struct Synced {
    /// How many lines are durable.
    lines: u64,
    /// Whether a sync failed. A later one would succeed and prove nothing: the kernel reports once
    /// that it could not write, and then takes its pages for written.
    failed: bool,
}

#[derive(Debug)]
struct Tail {
    log: Box<dyn LogFile>,
    next: u64,
    prev: Digest,
    state: RunState,
    /// Whether half a line may stand at the end that could not be cut off.
    torn: bool,
}

impl Tail {
    /// Writes whole lines or nothing: half a line in front of later ones would be damage.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.torn {
            return Err(Fault::internal(
                "the journal could not be written to its end before",
            ));
        }
        let good = self.log.length()?;
        if let Err(error) = self.log.append(bytes) {
            self.torn = self.log.truncate(good).is_err();
            return Err(error.into());
        }
        Ok(())
    }
}

impl Journal {
    /// Takes a journal over: `state`, `next` and `prev` are what reading it gave.
    pub(crate) fn new(
        log: Box<dyn LogFile>,
        next: u64,
        prev: Digest,
        state: RunState,
    ) -> Result<Self, Fault> {
        let sync = log.syncer()?;
        let tail = Mutex::new(Tail {
            log,
            next,
            prev,
            state,
            torn: false,
        });
        Ok(Self {
            tail,
            synced: Mutex::new(Synced {
                lines: next,
                failed: false,
            }),
            sync,
        })
    }

    /// Appends records as one write. They count only after [`Journal::commit`].
    pub(crate) fn append(&self, host: &dyn Host, records: Vec<Record>) -> Result<(), Fault> {
        self.append_numbered(host, |_| records).map(|_| ())
    }

    /// Like [`Journal::append`], for intents: `records` is told the number of the next effect.
    ///
    /// Numbering and writing are one act, because steps that run side by side number theirs, too.
    pub(crate) fn append_numbered(
        &self,
        host: &dyn Host,
        records: impl FnOnce(u64) -> Vec<Record>,
    ) -> Result<u64, Fault> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let first = tail.state.next_effect;
        let records = records(first);
        if records.is_empty() {
            return Ok(first);
        }
        let mut bytes = Vec::with_capacity(records.len() * 512);
        let (mut next, mut prev) = (tail.next, tail.prev);
        let mut lines = Vec::with_capacity(records.len());
        for rec in records {
            let line = Line {
                v: LINE_VERSION,
                seq: next,
                prev,
                at: host.now(),
                rec,
            };
            let begin = bytes.len();
            prev = encode(&line, &mut bytes)?;
            check_length(&line.rec, bytes.len() - begin)?;
            next += 1;
            lines.push(line);
        }
        tail.append(&bytes)?;
        (tail.next, tail.prev) = (next, prev);
        for line in lines {
            // What this process writes must be what a later one can read.
            tail.state
                .apply(line)
                .map_err(|illegal| Fault::internal(illegal.to_string()))?;
        }
        Ok(first)
    }

    /// Returns when everything that was appended before the call is durable.
    pub(crate) fn commit(&self) -> Result<(), Fault> {
        let wanted = self
            .tail
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next;
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if synced.failed {
            return Err(not_synced());
        }
        if synced.lines < wanted {
            // Whatever is appended between here and the sync is made durable as well.
            let reached = self
                .tail
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .next;
            synced.failed = true;
            self.sync.sync()?;
            *synced = Synced {
                lines: reached,
                failed: false,
            };
        }
        Ok(())
    }

    /// Appends and commits.
    pub(crate) fn write(&self, host: &dyn Host, records: Vec<Record>) -> Result<(), Fault> {
        self.append(host, records)?;
        self.commit()
    }

    /// Looks at the state that all appended lines fold into.
    pub(crate) fn with_state<T>(&self, look: impl FnOnce(&RunState) -> T) -> T {
        look(
            &self
                .tail
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .state,
        )
    }

    /// Returns how many lines there are and the hash of the last.
    pub(crate) fn head(&self) -> (u64, Digest) {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        (tail.next, tail.prev)
    }
}

/// Says that nothing can be made durable any more by this process.
fn not_synced() -> Fault {
    Fault::new(FaultKind::StepFailed, "the journal could not be synced")
        .because("After one failed sync, a later one that succeeds proves nothing.")
        .hint("when the cause is gone, `bootlace resume` goes on from here")
}

/// Refuses a line that would be too long to be read again, before anything of it is done.
fn check_length(record: &Record, length: usize) -> Result<(), Fault> {
    // What an effect leaves is noted in a line of its own, about as long as that of its intent.
    let (most, target) = match record {
        Record::Intent { effect, .. } => (LONGEST_LINE / 2, effect.target.as_str()),
        _ => (LONGEST_LINE, "a record"),
    };
    if length <= most {
        return Ok(());
    }
    let message = format!("{target} concerns too many files to be journalled");
    Err(Fault::refused(message)
        .because("What the journal cannot hold can neither be resumed nor undone.")
        .hint("move the large folder, such as a home with a source tree, to another place first"))
}

#[cfg(test)]
mod tests {
    use bootlace_model::ids::StepId;
    use bootlace_model::record::{Before, EffectRecord};

    use super::*;

    #[test]
    fn what_no_reader_would_take_is_refused_before_it_is_done() {
        let effect = serde_json::json!({
            "kind": "run-command", "target": "move the home of core",
            "origin": {"kind": "config", "name": "a"}
        });
        let effect: EffectRecord = serde_json::from_value(effect).unwrap();
        let intent = Record::Intent {
            n: 0,
            step: StepId::new("ignition", "create-groups-and-users"),
            effect,
            before: Before::default(),
        };
        assert_eq!(check_length(&intent, LONGEST_LINE / 2), Ok(()));
        let refused = check_length(&intent, LONGEST_LINE / 2 + 1).unwrap_err();
        assert!(refused.message.starts_with("move the home of core"));
        let other = Record::TailCut { bytes: 1 };
        assert_eq!(check_length(&other, LONGEST_LINE), Ok(()));
        assert!(check_length(&other, LONGEST_LINE + 1).is_err());
    }
}
