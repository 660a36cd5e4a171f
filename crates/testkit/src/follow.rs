//! The journal of a run, read from outside while it grows: where is the program just now?

#![expect(
    clippy::disallowed_methods,
    reason = "a test looks at the program from outside"
)]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Follows the newest journal of a state folder from the moment at which this is made.
#[derive(Debug)]
pub struct Journal {
    runs: PathBuf,
    /// Where the last whole line ends. What follows may be cut off by whoever goes on.
    read: u64,
}

/// What a journal says about one step since it is followed.
#[derive(Debug, Default)]
pub struct Seen {
    /// The kinds of its records, in order.
    pub kinds: Vec<String>,
    /// Whether the run was closed behind them.
    pub closed: bool,
    effects: BTreeSet<u64>,
}

impl Seen {
    /// Tells whether a kind of record is there.
    pub fn has(&self, kind: &str) -> bool {
        self.kinds.iter().any(|seen| seen == kind)
    }

    /// Tells whether the step is over.
    pub fn is_over(&self) -> bool {
        ["verified", "skipped", "failed"]
            .iter()
            .any(|kind| self.has(kind))
    }

    /// Tells whether the step has begun and is not over.
    pub fn is_inside(&self) -> bool {
        self.has("step-started") && !self.is_over()
    }

    fn take(&mut self, record: &Value, step: &str) {
        let kind = record["kind"].as_str().unwrap_or_default();
        self.closed = kind == "run-closed" || self.closed && kind != "run-resumed";
        let of_step = match record["step"].as_str() {
            _ if step.is_empty() => true,
            Some(of) => of == step,
            None => record["n"]
                .as_u64()
                .is_some_and(|n| self.effects.contains(&n)),
        };
        if !of_step {
            return;
        }
        if kind == "intent" {
            self.effects.extend(record["n"].as_u64());
        }
        self.kinds.push(kind.to_owned());
    }
}

impl Journal {
    /// Begins behind what is there.
    pub fn behind_now(state: &Path) -> io::Result<Self> {
        let mut journal = Self {
            runs: state.join("runs"),
            read: 0,
        };
        journal.read_on("", &mut Seen::default())?;
        Ok(journal)
    }

    /// Reads what was added, as far as it is about a step; all of it if no step is named.
    pub fn read_on(&mut self, step: &str, seen: &mut Seen) -> io::Result<()> {
        // Half a line may be cut off just while it is read; then it is gone at the second look.
        self.read_once(step, seen)
            .or_else(|_| self.read_once(step, seen))
    }

    fn read_once(&mut self, step: &str, seen: &mut Seen) -> io::Result<()> {
        let Some(mut file) = self.newest()? else {
            return Ok(());
        };
        file.seek(SeekFrom::Start(self.read))?;
        let mut added = vec![];
        file.read_to_end(&mut added)?;
        let whole = added.iter().rposition(|byte| *byte == b'\n');
        added.truncate(whole.map_or(0, |end| end + 1));
        let lines = added.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        let lines: Vec<Value> = lines
            .map(serde_json::from_slice)
            .collect::<serde_json::Result<_>>()?;
        self.read += added.len() as u64;
        for line in lines {
            seen.take(&line["rec"], step);
        }
        Ok(())
    }

    /// Opens the journal of the newest run; none if there is no run yet.
    fn newest(&self) -> io::Result<Option<File>> {
        let absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let runs = match self.runs.read_dir() {
            Err(error) if absent(&error) => return Ok(None),
            runs => runs?,
        };
        let runs: Vec<PathBuf> = runs.map(|run| Ok(run?.path())).collect::<io::Result<_>>()?;
        let Some(newest) = runs.into_iter().max() else {
            return Ok(None);
        };
        match File::open(newest.join("journal.jsonl")) {
            Err(error) if absent(&error) => Ok(None),
            file => file.map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(record: &str) -> String {
        format!("{{\"v\":1,\"rec\":{record}}}\n")
    }

    #[test]
    fn only_what_is_added_counts_and_only_of_the_step() {
        let state = tempfile::tempdir().unwrap();
        let run = state.path().join("runs/2026");
        std::fs::create_dir_all(&run).unwrap();
        let path = run.join("journal.jsonl");
        let old = line(r#"{"kind":"step-started","step":"c/a"}"#);
        std::fs::write(&path, &old).unwrap();
        let mut journal = Journal::behind_now(state.path()).unwrap();
        let new = [
            r#"{"kind":"run-resumed"}"#,
            r#"{"kind":"step-started","step":"c/a"}"#,
            r#"{"kind":"intent","n":4,"step":"c/b"}"#,
            r#"{"kind":"intent","n":5,"step":"c/a"}"#,
            r#"{"kind":"done","n":4}"#,
        ]
        .map(line)
        .concat();
        let torn = line(r#"{"kind":"done","n":5}"#);
        let (half, rest) = torn.split_at(9);
        std::fs::write(&path, format!("{old}{new}{half}")).unwrap();
        let mut seen = Seen::default();
        journal.read_on("c/a", &mut seen).unwrap();
        assert_eq!(seen.kinds, ["step-started", "intent"]);
        assert!(seen.is_inside() && !seen.closed);
        let end = [
            r#"{"kind":"verified","step":"c/a"}"#,
            r#"{"kind":"run-closed","outcome":"succeeded"}"#,
        ]
        .map(line)
        .concat();
        std::fs::write(&path, format!("{old}{new}{half}{rest}{end}")).unwrap();
        journal.read_on("c/a", &mut seen).unwrap();
        assert_eq!(seen.kinds, ["step-started", "intent", "done", "verified"]);
        assert!(!seen.is_inside() && seen.closed);
    }

    #[test]
    fn half_a_line_that_is_cut_off_is_forgotten() {
        let state = tempfile::tempdir().unwrap();
        let run = state.path().join("runs/2026");
        std::fs::create_dir_all(&run).unwrap();
        let path = run.join("journal.jsonl");
        let old = line(r#"{"kind":"step-started","step":"c/a"}"#);
        std::fs::write(&path, format!("{old}{{\"v\":1,\"rec\":{{\"kind\":\"done")).unwrap();
        let mut journal = Journal::behind_now(state.path()).unwrap();
        let new = line(r#"{"kind":"intent","n":5,"step":"c/a"}"#);
        std::fs::write(&path, format!("{old}{new}")).unwrap();
        let mut seen = Seen::default();
        journal.read_on("c/a", &mut seen).unwrap();
        assert_eq!(seen.kinds, ["intent"]);
    }
}
