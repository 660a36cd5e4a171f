//! Strict YAML and JSON: from bytes to values, each with the place where it stands.

use serde_json::Value;
use serde_saphyr::{MessageFormatter, Spanned};

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The line and the column, where they are known.
    pub(crate) at: Option<(u64, u64)>,
    /// What is wrong.
    pub(crate) what: String,
}

/// Tells whether a file's name says that it is a manifest; others read it in small letters only.
pub(crate) fn is_manifest_name(name: &str) -> bool {
    matches!(ending(name), "yaml" | "yml" | "json")
}

/// Returns what stands behind the last dot of a name.
pub(crate) fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Reads all documents of a file, leaving out empty ones. The name decides whether it must be JSON.
pub(crate) fn documents(name: &str, content: &[u8]) -> Result<Vec<Spanned<Value>>, Problem> {
    let text = std::str::from_utf8(content).map_err(|error| {
        let good = content.get(..error.valid_up_to()).unwrap_or_default();
        let line = good.split(|&byte| byte == b'\n').count() as u64;
        Problem {
            at: Some((line, 1)),
            what: "it is not text in UTF-8".into(),
        }
    })?;
    if ending(name) == "json" {
        serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| {
            let message = error.to_string();
            let what = message
                .rsplit_once(" at line ")
                .map_or(&*message, |(what, _)| what);
            Problem {
                at: Some((error.line() as u64, error.column().max(1) as u64)),
                what: format!("it is not JSON: {what}"),
            }
        })?;
    }
    // JSON is YAML too, and this reader also finds keys that stand twice.
    serde_saphyr::from_multiple_with_options(text, strict())
        .map_err(|error| yaml_problem(&error, text))
}

/// The most that a file may ask of the reader; its size is limited before.
fn strict() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 200,
            max_documents: 100_000,
            max_events: 20_000_000,
            max_nodes: 10_000_000,
        },
        ignore_binary_tag_for_string: true,
        with_snippet: false,
    }
}

fn yaml_problem(error: &serde_saphyr::Error, text: &str) -> Problem {
    let error = error.without_snippet();
    let at = error.location().map(|at| (at.line(), at.column()));
    let what = match error {
        serde_saphyr::Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or_default();
            format!("the key {key:?} stands twice")
        }
        other => {
            let what = serde_saphyr::UserMessageFormatter.format_message(other);
            let what = what.replace(char::is_control, " ");
            let template = text.contains("{{").then_some("; is it a template?");
            format!("it is not YAML: {what}{}", template.unwrap_or_default())
        }
    };
    Problem { at, what }
}
