//! What ignition-validate says, taken apart.

use std::collections::BTreeSet;
use std::process::Output;

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The config is refused.
    Error,
    /// The config is used all the same.
    Warning,
}

/// Something that was said about a place in a config.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// How bad it is.
    pub severity: Severity,
    /// Where in the config, such as `storage.files.3.path`; empty for all of it.
    pub path: String,
    /// Line and column in the text, if they are known.
    pub position: Option<(u32, u32)>,
    /// What was said.
    pub message: String,
}

/// A verdict on a config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the config is used.
    pub is_valid: bool,
    /// All remarks, in no order.
    pub remarks: BTreeSet<Remark>,
    /// What was said about the whole text, if it is no config at all.
    pub refusal: Option<String>,
}

impl Verdict {
    pub(super) fn read(output: &Output) -> Self {
        let said = String::from_utf8_lossy(&output.stdout);
        let refusal = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Self {
            is_valid: output.status.success(),
            remarks: said.lines().filter_map(Remark::read).collect(),
            refusal: (!refusal.is_empty()).then_some(refusal),
        }
    }
}

impl Remark {
    /// Reads a line such as `error at $.a.0, line 3 col 7: words`.
    fn read(line: &str) -> Option<Self> {
        let (kind, rest) = line.split_at(line.find([' ', ':'])?);
        let severity = match kind {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => return None,
        };
        let Some(rest) = rest.strip_prefix(" at ") else {
            return Some(Self {
                severity,
                path: String::new(),
                position: None,
                message: rest.trim_start_matches(':').trim().to_owned(),
            });
        };
        // A key may hold a colon, a place is always followed by one.
        let (place, message) = match rest.find("line ").and_then(|at| {
            let end = rest.get(at..)?.find(": ")?;
            Some(at + end)
        }) {
            Some(end) => (rest.get(..end)?, rest.get(end + 2..)?),
            None => rest.split_once(": ")?,
        };
        let (path, position) = match place.rsplit_once("line ") {
            Some((path, position)) => {
                let (line, column) = position.split_once(" col ")?;
                let position = (line.parse().ok()?, column.parse().ok()?);
                (path.trim_end_matches(", "), Some(position))
            }
            None => (place, None),
        };
        Some(Self {
            severity,
            path: path
                .trim_start_matches('$')
                .trim_start_matches('.')
                .to_owned(),
            position,
            message: message.trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (Severity, String, Option<(u32, u32)>, String) {
        let remark = Remark::read(line).unwrap();
        (
            remark.severity,
            remark.path,
            remark.position,
            remark.message,
        )
    }

    #[test]
    fn remarks_are_taken_apart() {
        assert_eq!(
            read("error at $.storage.files.0.path, line 3 col 7: path: no"),
            (
                Severity::Error,
                "storage.files.0.path".into(),
                Some((3, 7)),
                "path: no".into()
            )
        );
        assert_eq!(
            read("warning at $.a:b: unused"),
            (Severity::Warning, "a:b".into(), None, "unused".into())
        );
        assert_eq!(
            read("error at line 1 col 2: invalid character"),
            (
                Severity::Error,
                String::new(),
                Some((1, 2)),
                "invalid character".into()
            )
        );
        assert_eq!(
            read("error: words"),
            (Severity::Error, String::new(), None, "words".into())
        );
        assert_eq!(Remark::read("something else"), None);
    }
}
