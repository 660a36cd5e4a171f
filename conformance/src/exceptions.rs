//! Specs that cannot run on a cluster of `up`, each with its reason.
//!
//! The table is data: `conformance/exceptions.json`. An entry names one spec by its full text.

use serde::{Deserialize, Serialize};

use crate::{ConformanceError, Result};

/// The table.
const TABLE: &str = include_str!("../exceptions.json");

/// A spec that is not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// The spec's full text.
    pub spec: String,
    /// Why it cannot pass here, in one or two sentences.
    pub reason: String,
}

/// Reads the table.
pub fn all() -> Result<Vec<Exception>> {
    serde_json::from_str(TABLE).map_err(|error| {
        ConformanceError::content(std::path::Path::new("conformance/exceptions.json"), &error)
    })
}

/// Returns the entries that name none of these specs.
pub fn stale<'a>(exceptions: &'a [Exception], specs: &[String]) -> Vec<&'a str> {
    exceptions
        .iter()
        .map(|exception| exception.spec.as_str())
        .filter(|named| !specs.iter().any(|spec| spec == named))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_names_no_spec_is_stale() {
        let exception = |spec: &str| Exception {
            spec: spec.into(),
            reason: "because".into(),
        };
        let table = [exception("runs [Conformance]"), exception("runs")];
        assert_eq!(stale(&table, &["runs [Conformance]".into()]), ["runs"]);
    }

    #[test]
    fn every_entry_has_a_reason_and_is_there_once() {
        let table = all().unwrap();
        let mut specs: Vec<&str> = table.iter().map(|entry| entry.spec.as_str()).collect();
        specs.sort_unstable();
        specs.dedup();
        assert_eq!(specs.len(), table.len());
        for entry in &table {
            assert!(entry.reason.ends_with('.'), "{entry:?}");
        }
    }
}
