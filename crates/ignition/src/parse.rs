//! The way of a text into a config: JSON, version, tree, rules, newest spec.

use std::sync::Arc;

use crate::Config;
use crate::decode::{Lines, decode};
use crate::json::{self, Cursor, Kind};
use crate::problem::Problem;
use crate::report::{Place, Report, Severity};
use crate::shape::is_same_but_for_case;
use crate::text::semver::SemVer;
use crate::translate;
use crate::validate::validate;
use crate::version::Version;

/// What came of a text.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The version that the text says it is of, if it is one that can be read.
    pub version: Option<Version>,
    /// What is wrong with it.
    pub report: Report,
    /// The config, unless something is wrong that makes it unusable.
    pub config: Option<Config>,
}

/// Parses a config of any version, judges it by the rules of that version, and translates it to the
/// newest. `name` is what the config is called in findings: a file's path or a URL.
pub fn parse(name: &str, text: &[u8]) -> Parsed {
    parsed(name, text, None)
}

/// Like [`parse`], but the config shares the text instead of copying from it.
pub fn parse_shared(name: &str, text: &Arc<String>) -> Parsed {
    parsed(name, text.as_bytes(), Some(text))
}

fn parsed(name: &str, text: &[u8], whole: Option<&Arc<String>>) -> Parsed {
    let lines = Lines::of(name, text);
    let version = match version_of(text, &lines) {
        Ok(version) => version,
        Err((problem, place)) => {
            let mut report = Report::default();
            report.add(Severity::Error, problem, place);
            return Parsed {
                version: None,
                report,
                config: None,
            };
        }
    };
    let (root, mut report) = decode(text, whole, &lines, version);
    // What is of a wrong type is not there, and would only be found missing.
    if !report.is_fatal() {
        let found = validate(&root, version);
        report.findings.extend(found.findings);
    }
    let config = (!report.is_fatal()).then(|| Config {
        root: translate::up(root, version),
    });
    Parsed {
        version: Some(version),
        report: report.sorted(),
        config,
    }
}

/// Finds out which version a text is of, or what is wrong with it before that can be known.
fn version_of(text: &[u8], lines: &Lines) -> Result<Version, (Problem, Place)> {
    let at = |path: &str, offset: usize| lines.place(path.to_owned(), offset);
    if text.is_empty() {
        return Err((Problem::Empty, at("", 0)));
    }
    json::check(text).map_err(|error| match butane(text) {
        Some(offset) => (Problem::Butane, at("", offset)),
        None => (Problem::Syntax(error.what), at("", error.offset)),
    })?;
    let mut said = Said::default();
    let mut cursor = Cursor::new(text);
    match cursor.kind() {
        Kind::Object => said.read_config(&mut cursor, lines)?,
        Kind::Null => {}
        found => return Err(wrong(found, "an object", at("", cursor.offset()))),
    }
    let place = || at("ignition.version", said.offset);
    let Some(version) = SemVer::parse(&said.version) else {
        return Err((Problem::InvalidVersion, place()));
    };
    Version::of(&version).ok_or_else(|| (Problem::UnknownVersion, place()))
}

/// Recognises Butane, a YAML document with `variant` and `version`; returns where the variant stands.
fn butane(text: &[u8]) -> Option<usize> {
    let mut offset = 0;
    let mut found = [None; 2];
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        for (key, place) in [&b"variant:"[..], b"version:"].iter().zip(&mut found) {
            if line.starts_with(key) {
                *place = Some(offset);
            }
        }
        offset += line.len();
    }
    let [variant, version] = found;
    version.and(variant)
}

fn wrong(found: Kind, expected: &'static str, place: Place) -> (Problem, Place) {
    let found = found.noun();
    (Problem::WrongType { expected, found }, place)
}

/// The version as it is said, and where.
#[derive(Debug, Default)]
struct Said {
    version: String,
    offset: usize,
}

impl Said {
    fn read_config(
        &mut self,
        cursor: &mut Cursor<'_>,
        lines: &Lines,
    ) -> Result<(), (Problem, Place)> {
        each_key(cursor, |key, cursor| {
            if !is_same_but_for_case("ignition", key) {
                cursor.skip();
                return Ok(());
            }
            match cursor.kind() {
                Kind::Object => self.read_ignition(cursor, lines),
                Kind::Null => {
                    cursor.skip();
                    Ok(())
                }
                found => {
                    let place = lines.place("ignition".into(), cursor.offset());
                    Err(wrong(found, "an object", place))
                }
            }
        })
    }

    fn read_ignition(
        &mut self,
        cursor: &mut Cursor<'_>,
        lines: &Lines,
    ) -> Result<(), (Problem, Place)> {
        self.offset = cursor.offset();
        each_key(cursor, |key, cursor| {
            if !is_same_but_for_case("version", key) {
                cursor.skip();
                return Ok(());
            }
            match cursor.kind() {
                Kind::Text => {
                    self.offset = cursor.offset();
                    self.version = cursor.text().into_owned();
                }
                Kind::Null => cursor.skip(),
                found => {
                    let place = lines.place("ignition.version".into(), cursor.offset());
                    return Err(wrong(found, "a text", place));
                }
            }
            Ok(())
        })
    }
}

/// Calls a function for each key of the object here, with the cursor at its value.
fn each_key<E>(
    cursor: &mut Cursor<'_>,
    mut see: impl FnMut(&str, &mut Cursor<'_>) -> Result<(), E>,
) -> Result<(), E> {
    cursor.enter();
    while cursor.next_item() {
        let key = cursor.key();
        see(&key, cursor)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_problem(text: &str) -> (Problem, u32) {
        let report = parse("node", text.as_bytes()).report;
        assert_eq!(report.findings.len(), 1, "{report:?}");
        let finding = &report.findings[0];
        (finding.problem.clone(), finding.place.line)
    }

    #[test]
    fn butane_is_told_from_broken_json() {
        let butane = "# mine\nvariant: fcos\nversion: 1.5.0\nstorage: {}\n";
        assert_eq!(only_problem(butane), (Problem::Butane, 2));
        for other in ["version: 1.5.0\n", "a:\n  variant: x\nversion: 1\n", "{"] {
            let (problem, _) = only_problem(other);
            assert!(matches!(problem, Problem::Syntax(_)), "{other}: {problem}");
        }
    }
}
