//! The record of a run of all specs: `conformance/results.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::exceptions::Exception;
use crate::suite::Ended;
use crate::{ConformanceError, Result};

/// Specs that took longer are not part of samples.
const LONGEST_OF_A_SAMPLE: f64 = 30.0;

/// How a spec ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// At the first attempt.
    Passed,
    /// At the second attempt, alone, after a failure beside others.
    PassedAgain,
    /// At both attempts.
    Failed,
    /// Listed in the exceptions.
    NotRun,
}

/// One spec of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The spec's full text.
    pub spec: String,
    /// How it ended.
    pub outcome: Outcome,
    /// How long the last attempt took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The first failure, or why it was not run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// One run of all specs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The version of Kubernetes and of its specs.
    pub kubernetes: String,
    /// The commit of bootlace; it ends with `+` if files differed from it.
    pub commit: String,
    /// The day.
    pub date: String,
    /// The kernel's release.
    pub kernel: String,
    /// How many processors the computer has.
    pub cores: usize,
    /// How many nodes the cluster has.
    pub nodes: usize,
    /// How many specs ran side by side.
    pub procs: usize,
    /// How long the specs took, both attempts.
    pub minutes: u64,
    /// What else a reader must know about the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Every conformance spec, sorted by its text.
    pub specs: Vec<Row>,
}

/// Returns where the record is.
pub fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results.json")
}

impl Results {
    /// Reads the record.
    pub fn read() -> Result<Self> {
        let path = file();
        let text = std::fs::read(&path).map_err(ConformanceError::file("read", &path))?;
        serde_json::from_slice(&text).map_err(|error| ConformanceError::content(&path, &error))
    }

    /// Writes the record.
    pub fn write(&self) -> Result<()> {
        let path = file();
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|error| ConformanceError::content(&path, &error))?;
        text.push('\n');
        std::fs::write(&path, text).map_err(ConformanceError::file("write", &path))
    }

    /// Counts the specs that ended in one way.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.with(outcome).count()
    }

    /// Returns the specs that ended in one way.
    pub fn with(&self, outcome: Outcome) -> impl Iterator<Item = &Row> {
        self.specs.iter().filter(move |row| row.outcome == outcome)
    }

    /// Returns the specs that samples are taken from: passed, soon, and beside others.
    pub fn for_samples(&self) -> Vec<&str> {
        self.with(Outcome::Passed)
            .filter(|row| row.seconds.is_some_and(|took| took <= LONGEST_OF_A_SAMPLE))
            .map(|row| row.spec.as_str())
            .filter(|spec| {
                !["[Serial]", "[Disruptive]", "[Slow]"]
                    .iter()
                    .any(|tag| spec.contains(tag))
            })
            .collect()
    }
}

/// Joins the list of specs with two attempts and the exceptions; a spec without a result is an error.
pub fn rows(
    specs: &[String],
    first: &BTreeMap<String, Ended>,
    second: &BTreeMap<String, Ended>,
    exceptions: &[Exception],
) -> Result<Vec<Row>> {
    let mut missing = Vec::new();
    let mut rows = Vec::new();
    for spec in specs {
        let exception = exceptions.iter().find(|exception| exception.spec == *spec);
        let (outcome, seconds, reason) = match (first.get(spec), second.get(spec), exception) {
            (Some(one), _, _) if one.passed => (Outcome::Passed, Some(one.seconds), String::new()),
            (Some(one), Some(two), _) if two.passed => (
                Outcome::PassedAgain,
                Some(two.seconds),
                summary(&one.failure),
            ),
            (Some(one), _, _) => (Outcome::Failed, Some(one.seconds), summary(&one.failure)),
            (None, _, Some(exception)) => (Outcome::NotRun, None, exception.reason.clone()),
            (None, _, None) => {
                missing.push(spec.clone());
                continue;
            }
        };
        rows.push(Row {
            spec: spec.clone(),
            outcome,
            seconds: seconds.map(|seconds| (seconds * 10.0).round() / 10.0),
            reason,
        });
    }
    match missing.first() {
        Some(first) => Err(ConformanceError::NoResult {
            count: missing.len(),
            first: first.clone(),
        }),
        None => Ok(rows),
    }
}

/// Returns the first line of a failure, shortened.
fn summary(failure: &str) -> String {
    let line = failure.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or_default().trim().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(passed: bool, failure: &str) -> Ended {
        Ended {
            passed,
            seconds: 1.26,
            failure: failure.into(),
        }
    }

    #[test]
    fn each_spec_gets_its_outcome() {
        let specs = ["a", "b", "c", "d"].map(str::to_owned);
        let first = BTreeMap::from([
            ("a".to_owned(), ended(true, "")),
            ("b".to_owned(), ended(false, "\nslow\nmore")),
            ("c".to_owned(), ended(false, "broken")),
        ]);
        let second = BTreeMap::from([
            ("b".to_owned(), ended(true, "")),
            ("c".to_owned(), ended(false, "broken")),
        ]);
        let exceptions = [Exception {
            spec: "d".into(),
            reason: "It needs more.".into(),
        }];
        let found: Vec<_> = rows(&specs, &first, &second, &exceptions)
            .unwrap()
            .into_iter()
            .map(|row| (row.outcome, row.seconds, row.reason))
            .collect();
        let expected = [
            (Outcome::Passed, Some(1.3), String::new()),
            (Outcome::PassedAgain, Some(1.3), "slow".to_owned()),
            (Outcome::Failed, Some(1.3), "broken".to_owned()),
            (Outcome::NotRun, None, "It needs more.".to_owned()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_spec_without_a_result_is_an_error() {
        let none = BTreeMap::new();
        let missing = rows(&["a".to_owned()], &none, &none, &[]).unwrap_err();
        assert!(missing.to_string().contains("the first is: a"), "{missing}");
    }
}
