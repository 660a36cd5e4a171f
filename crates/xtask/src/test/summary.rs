//! What came of all parts, in words.

use std::collections::BTreeSet;
use std::time::Duration;

use bootlace_test_notes::Note;

use super::output::Binary;

/// How many of the slowest binaries are listed.
const SLOWEST: usize = 5;

/// What came of one part.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) part: &'static str,
    pub(crate) took: Duration,
    pub(crate) end: End,
    pub(crate) binaries: Vec<Binary>,
    pub(crate) notes: Vec<Note>,
}

/// How a part ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// Its command succeeded.
    #[default]
    Passed,
    /// Its command failed, in its own words.
    Failed(String),
    /// It was not begun, because an earlier part failed.
    NotRun(&'static str),
}

impl Outcome {
    /// Returns the tests that were skipped, each with the reason.
    fn skipped(&self) -> BTreeSet<(&str, &str)> {
        let skipped = self.notes.iter().filter_map(|note| match note {
            Note::Skipped { test, why } => Some((test.as_str(), why.as_str())),
            Note::Tried { .. } => None,
        });
        skipped.collect()
    }

    /// Counts those that passed; libtest counts skipped ones among them.
    fn passed(&self) -> u64 {
        let passed: u64 = self.binaries.iter().map(|binary| binary.passed).sum();
        passed.saturating_sub(self.skipped().len() as u64)
    }

    /// Lists what failed: tests by name, or the command itself.
    fn failures(&self) -> Vec<String> {
        let tests = self.binaries.iter().flat_map(|binary| {
            let name = |test: &String| format!("{}  {test}", binary.name);
            binary.failed.iter().map(name)
        });
        let tests: Vec<String> = tests.collect();
        match &self.end {
            End::Failed(reason) if tests.is_empty() => vec![format!("{}: {reason}", self.part)],
            End::NotRun(part) => vec![format!("{}: not run, because {part} failed", self.part)],
            _ => tests,
        }
    }

    fn describe(&self) -> String {
        let failures = self.failures();
        if self.binaries.is_empty() {
            let word = match self.end {
                End::Passed => "passed",
                End::Failed(_) => "failed",
                End::NotRun(_) => "not run",
            };
            return word.into();
        }
        counts(self.passed(), failures.len(), self.skipped().len())
    }

    /// Tells whether anything in it failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.end != End::Passed || !self.failures().is_empty()
    }
}

fn counts(passed: u64, failed: usize, skipped: usize) -> String {
    format!("{passed} passed, {failed} failed, {skipped} skipped")
}

/// Writes a duration as people say it.
pub(crate) fn duration(took: Duration) -> String {
    let seconds = took.as_secs();
    if seconds < 60 {
        return format!("{:.1} s", took.as_secs_f64());
    }
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

/// Writes the summary of all parts.
pub(crate) fn summary(outcomes: &[Outcome], seed: &str) -> String {
    let mut text = format!("\n==> summary: BOOTLACE_SEED={seed} repeats the samples\n");
    let mut line = |words: String| text.push_str(&(words + "\n"));
    for outcome in outcomes {
        let took = duration(outcome.took);
        line(format!(
            "  {:8} {took:>12}   {}",
            outcome.part,
            outcome.describe()
        ));
    }
    let mut slowest: Vec<&Binary> = outcomes
        .iter()
        .flat_map(|outcome| &outcome.binaries)
        .collect();
    slowest.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    if !slowest.is_empty() {
        line("slowest:".into());
    }
    for binary in slowest.iter().take(SLOWEST) {
        line(format!("  {:>8.1} s   {}", binary.seconds, binary.name));
    }
    list(
        &mut text,
        "skipped",
        outcomes.iter().flat_map(|outcome| {
            outcome
                .skipped()
                .into_iter()
                .map(|(test, why)| format!("{test}: {why}"))
        }),
    );
    list(
        &mut text,
        "failed",
        outcomes.iter().flat_map(Outcome::failures),
    );
    let passed = outcomes.iter().map(Outcome::passed).sum();
    let failed = outcomes
        .iter()
        .map(|outcome| outcome.failures().len())
        .sum();
    let skipped = outcomes.iter().map(|outcome| outcome.skipped().len()).sum();
    let took = duration(outcomes.iter().map(|outcome| outcome.took).sum());
    text + &counts(passed, failed, skipped) + " in " + &took + "\n"
}

fn list(text: &mut String, heading: &str, lines: impl Iterator<Item = String>) {
    let lines: BTreeSet<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    text.push_str(heading);
    text.push_str(":\n");
    for line in lines {
        text.push_str("  ");
        text.push_str(&line);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(name: &str, passed: u64, failed: &[&str]) -> Binary {
        Binary {
            name: name.into(),
            passed,
            failed: failed.iter().map(ToString::to_string).collect(),
            ..Binary::default()
        }
    }

    fn skipped(test: &str) -> Note {
        Note::Skipped {
            test: test.into(),
            why: "needs root".into(),
        }
    }

    #[test]
    fn a_skipped_test_has_not_passed() {
        let outcome = Outcome {
            part: "quick",
            binaries: vec![binary("-p a --lib", 5, &[])],
            notes: vec![skipped("a::b"), skipped("a::b")],
            ..Outcome::default()
        };
        let text = summary(&[outcome], "7");
        assert!(text.contains("4 passed, 0 failed, 1 skipped"), "{text}");
        assert!(text.contains("skipped:\n  a::b: needs root\n"), "{text}");
        assert!(text.contains("BOOTLACE_SEED=7"), "{text}");
    }

    #[test]
    fn what_failed_and_what_was_not_run_is_named() {
        let outcomes = [
            Outcome {
                part: "quick",
                end: End::Failed("exit status: 101".into()),
                binaries: vec![binary("-p a --lib", 5, &["x::y"])],
                ..Outcome::default()
            },
            Outcome {
                part: "lab",
                end: End::Failed("exit status: 2".into()),
                ..Outcome::default()
            },
            Outcome {
                part: "slow",
                end: End::NotRun("lab"),
                ..Outcome::default()
            },
        ];
        let text = summary(&outcomes, "7");
        for expected in [
            "  -p a --lib  x::y\n",
            "  lab: exit status: 2\n",
            "  slow: not run, because lab failed\n",
            "5 passed, 3 failed, 0 skipped in 0.0 s\n",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(outcomes.iter().all(Outcome::has_failed));
    }
}
