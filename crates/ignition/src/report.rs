//! What is wrong with a config, and where.

use std::fmt;
use std::sync::Arc;

use crate::problem::Problem;

/// All that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The findings, in the order of the text.
    pub findings: Vec<Finding>,
}

/// One thing that is wrong, or that may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub problem: Problem,
    /// Where it is.
    pub place: Place,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The config cannot be used.
    Error,
    /// The config can be used, and may not do what was meant.
    Warning,
}

/// A place in a config, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// What the config is called: a file's path or a URL.
    pub source: Arc<str>,
    /// The path in the config, such as `storage.files.3.mode`; empty for the whole.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The byte in the line, counted from 1.
    pub column: u32,
}

impl Report {
    /// Tells whether the config cannot be used.
    pub fn is_fatal(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Returns the findings that make a config unusable.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        let findings = self.findings.iter();
        findings.filter(|finding| finding.severity == Severity::Error)
    }

    /// Puts the findings in the order of the text.
    pub(crate) fn sorted(mut self) -> Self {
        self.findings
            .sort_by_key(|finding| (finding.place.line, finding.place.column));
        self
    }

    pub(crate) fn add(&mut self, severity: Severity, problem: Problem, place: Place) {
        self.findings.push(Finding {
            severity,
            problem,
            place,
        });
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            source,
            path,
            line,
            column,
        } = self;
        write!(f, "{source}:{line}:{column}")?;
        if path.is_empty() {
            return Ok(());
        }
        write!(f, ", {path}")
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}
