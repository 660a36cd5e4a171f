//! `bench/results.json`: every figure, and what it was measured on.
//!
//! A whole run replaces the file; what could not be measured is listed under `failed`, and no older
//! figure takes its place. A run of some benchmarks replaces their rows only if the file was written
//! from the same commit, so that all figures in it belong to one state of the code.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::row::Row;

/// Where the results are.
const FILE: &str = "bench/results.json";

/// A benchmark that gave no figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failed {
    /// Its name.
    pub(crate) benchmark: String,
    /// What went wrong.
    pub(crate) why: String,
}

/// All figures of one state of the code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Results {
    /// The commit that was measured.
    commit: String,
    /// Whether files differed from that commit.
    dirty: bool,
    /// When the newest figures were measured.
    date: String,
    /// The kernel's release.
    kernel: String,
    /// The number of processors.
    cores: usize,
    /// The figures.
    rows: Vec<Row>,
    /// Benchmarks without figures.
    #[serde(default)]
    failed: Vec<Failed>,
}

/// What a run measured.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The benchmarks that were run.
    pub(crate) names: Vec<&'static str>,
    /// Whether these are all there are.
    pub(crate) is_whole: bool,
    /// Their figures.
    pub(crate) rows: Vec<Row>,
    /// Those that gave none.
    pub(crate) failed: Vec<Failed>,
}

type Failure = Box<dyn std::error::Error>;

/// Reads the state of the code, which is asked for before anything is measured.
pub(crate) fn stamp() -> Result<Results, Failure> {
    let commit = git(&["rev-parse", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--", ".", ":!bench/results.json"])?;
    Ok(Results {
        commit,
        dirty: !changes.is_empty(),
        date: jiff::Timestamp::now().strftime("%FT%TZ").to_string(),
        kernel: rustix::system::uname()
            .release()
            .to_string_lossy()
            .into_owned(),
        cores: std::thread::available_parallelism()?.get(),
        rows: Vec::new(),
        failed: Vec::new(),
    })
}

fn git(words: &[&str]) -> Result<String, Failure> {
    let output = Command::new("git").args(words).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("git {}: {said}", words.join(" ")).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Writes what was measured; returns a sentence about it.
pub(crate) fn write(stamp: Results, measured: Measured) -> Result<String, Failure> {
    let (count, whole) = (measured.rows.len(), measured.is_whole);
    let Some(results) = merged(stamp, measured, || read(FILE.as_ref())) else {
        return Ok(format!(
            "{FILE} stays as it is: it is not of this commit, or files differ from the commit"
        ));
    };
    std::fs::write(FILE, format!("{:#}\n", serde_json::to_value(&results)?))?;
    let kind = if whole { "all" } else { "some" };
    Ok(format!("{FILE}: {count} rows of {kind} benchmarks written"))
}

fn read(path: &Path) -> Result<Results, Failure> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

/// Puts new figures in the place of older ones; none if they would not belong together.
fn merged(
    stamp: Results,
    measured: Measured,
    before: impl FnOnce() -> Result<Results, Failure>,
) -> Option<Results> {
    let Measured {
        names,
        is_whole,
        rows,
        failed,
    } = measured;
    if is_whole {
        return Some(Results {
            rows,
            failed,
            ..stamp
        });
    }
    // A file that is missing or of an older form is not of this commit.
    let before = before().ok()?;
    let is_same = (&before.commit, before.dirty) == (&stamp.commit, stamp.dirty);
    if !is_same || stamp.dirty {
        return None;
    }
    let is_old = |id: &str| names.iter().any(|name| id.split('.').next() == Some(name));
    let mut results = Results {
        rows: before.rows,
        failed: before.failed,
        ..stamp
    };
    let place = results.rows.iter().position(|row| is_old(&row.id));
    results.rows.retain(|row| !is_old(&row.id));
    results.failed.retain(|one| !is_old(&one.benchmark));
    let place = place.unwrap_or(results.rows.len()).min(results.rows.len());
    results.rows.splice(place..place, rows);
    results.failed.extend(failed);
    Some(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(commit: &str, ids: &[&str]) -> Results {
        Results {
            commit: commit.into(),
            dirty: false,
            date: "2026-01-01T00:00:00Z".into(),
            kernel: "6".into(),
            cores: 2,
            rows: ids
                .iter()
                .map(|id| Row::new(id, "it", "s", &[1.0]))
                .collect(),
            failed: vec![],
        }
    }

    fn measured(is_whole: bool) -> Measured {
        Measured {
            names: vec!["a"],
            is_whole,
            rows: vec![Row::new("a.new", "it", "s", &[2.0])],
            failed: vec![],
        }
    }

    fn ids(results: &Results) -> Vec<&str> {
        results.rows.iter().map(|row| row.id.as_str()).collect()
    }

    #[test]
    fn a_part_replaces_its_own_rows_of_the_same_commit() {
        let before = || Ok(results("x", &["a.one", "a.two", "ab.one"]));
        let after = merged(results("x", &[]), measured(false), before).unwrap();
        assert_eq!(ids(&after), ["a.new", "ab.one"]);
    }

    #[test]
    fn figures_of_two_states_of_the_code_are_never_mixed() {
        let before = || Ok(results("x", &["b.one"]));
        assert_eq!(merged(results("y", &[]), measured(false), before), None);
        let dirty = Results {
            dirty: true,
            ..results("x", &[])
        };
        assert_eq!(merged(dirty.clone(), measured(false), before), None);
        let whole = merged(dirty, measured(true), before).unwrap();
        assert_eq!(ids(&whole), ["a.new"]);
        assert!(whole.dirty);
        let missing = || Err("there is no such file".into());
        assert_eq!(merged(results("x", &[]), measured(false), missing), None);
    }
}
