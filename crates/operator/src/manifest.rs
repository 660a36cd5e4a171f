//! Manifests: from the text of a release's files to objects that can be applied.

use std::fmt;

use bootlace_model::release::run_level;
use serde_json::Value;
use serde_saphyr::MessageFormatter as _;

use crate::object::ObjectId;

/// Where an object of the release was written down.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    /// The file's name.
    pub(crate) file: String,
    /// Which of the file's documents, from 1; empty ones count.
    pub(crate) document: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, document {}", self.file, self.document)
    }
}

/// An object that the release wants to be there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manifest {
    /// Where it is written.
    pub(crate) origin: Origin,
    /// The run level of its file.
    pub(crate) level: u16,
    /// Which object it is.
    pub(crate) id: ObjectId,
    /// The object as it shall be.
    pub(crate) object: Value,
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.origin, self.id)
    }
}

/// A manifest that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The run level of its file.
    pub(crate) level: u16,
    /// File, document and object, as far as they are known.
    pub(crate) what: String,
    /// What is wrong.
    pub(crate) why: String,
}

/// Reads all objects of a file; what cannot be read does not hide the rest.
pub(crate) fn read(file: &str, text: &str) -> (Vec<Manifest>, Vec<Broken>) {
    let level = run_level(file);
    let (mut manifests, mut broken) = (vec![], vec![]);
    for (index, (first_line, document)) in split(text).into_iter().enumerate() {
        let origin = Origin {
            file: file.to_owned(),
            document: index + 1,
        };
        match parse(document, first_line) {
            Ok(Value::Null) => {}
            Ok(object) => collect(object, &origin, level, &mut manifests, &mut broken),
            Err(why) => broken.push(Broken {
                level,
                what: origin.to_string(),
                why,
            }),
        }
    }
    (manifests, broken)
}

/// Takes an object, or all of a list's.
fn collect(
    mut object: Value,
    origin: &Origin,
    level: u16,
    manifests: &mut Vec<Manifest>,
    broken: &mut Vec<Broken>,
) {
    if object.get("kind").and_then(Value::as_str) == Some("List") {
        if let Some(Value::Array(items)) = object.get_mut("items").map(Value::take) {
            for item in items {
                collect(item, origin, level, manifests, broken);
            }
        }
        return;
    }
    match ObjectId::of(&object) {
        Ok(id) => manifests.push(Manifest {
            origin: origin.clone(),
            level,
            id,
            object,
        }),
        Err(why) => broken.push(Broken {
            level,
            what: origin.to_string(),
            why,
        }),
    }
}

/// Splits a text at its document markers; each part comes with the number of lines before it.
///
/// Kubernetes's own reader splits by lines, too: nothing inside a document can begin a line with
/// `---`, and so one document that is not YAML does not take the others with it.
fn split(text: &str) -> Vec<(u64, &str)> {
    let mut parts = vec![];
    let (mut start, mut start_line, mut offset) = (0, 0, 0);
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let marker = line.strip_prefix("---");
        if marker.is_some_and(|rest| rest.trim().is_empty() || rest.trim_start().starts_with('#')) {
            parts.push((start_line, &text[start..offset]));
            start = offset + line.len();
            start_line = number;
        }
        offset += line.len();
    }
    parts.push((start_line, &text[start..]));
    let is_first_empty = parts.len() > 1 && parts.first().is_some_and(|(_, part)| is_empty(part));
    if is_first_empty {
        // A marker before the first document begins it and ends nothing.
        parts.remove(0);
    }
    parts
}

fn is_empty(part: &str) -> bool {
    let mut lines = part.lines().map(str::trim);
    lines.all(|line| line.is_empty() || line.starts_with('#'))
}

fn parse(document: &str, lines_before: u64) -> Result<Value, String> {
    if is_empty(document) {
        return Ok(Value::Null);
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 200,
            max_events: 4_000_000,
            max_nodes: 2_000_000,
        },
        strict_booleans: true,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(document, options).map_err(|error| {
        let error = error.without_snippet();
        let line = error.location().map(|at| at.line() + lines_before);
        let what = serde_saphyr::UserMessageFormatter.format_message(error);
        let what = what.replace(char::is_control, " ");
        match line {
            Some(line) => format!("line {line} is not YAML: {what}"),
            None => format!("it is not YAML: {what}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn config_map(name: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: a}}\n")
    }

    #[test]
    fn documents_are_told_apart_and_lists_unfolded() {
        let text = format!(
            "# first\n---\n{}--- # second\n---\n{}---\napiVersion: v1\nkind: List\nitems:\n- {{apiVersion: v1, kind: Secret, metadata: {{name: c}}}}\n- {{apiVersion: v1, kind: Secret, metadata: {{name: d}}}}\n",
            config_map("a"),
            config_map("b")
        );
        let (manifests, broken) = read("0000_20_x_y.yaml", &text);
        assert_eq!(broken, []);
        let found: Vec<_> = manifests
            .iter()
            .map(|manifest| (manifest.id.name.as_str(), manifest.origin.document))
            .collect();
        assert_eq!(found, [("a", 1), ("b", 3), ("c", 4), ("d", 4)]);
        assert_eq!(manifests[0].level, 20);
        assert_eq!(
            manifests[1].to_string(),
            "0000_20_x_y.yaml, document 3, ConfigMap a/b"
        );
    }

    #[test]
    fn a_broken_document_is_named_and_does_not_hide_the_others() {
        let text = format!(
            "{}---\na: [1\nb: }}\n---\nkind: Nameless\napiVersion: v1\n---\n{}",
            config_map("a"),
            config_map("b")
        );
        let (manifests, broken) = read("x.yaml", &text);
        assert_eq!(manifests.len(), 2);
        assert_eq!(broken.len(), 2, "{broken:?}");
        assert_eq!(broken[0].what, "x.yaml, document 2");
        assert!(broken[0].why.starts_with("line "), "{}", broken[0].why);
        let line: u64 = broken[0].why[5..6].parse().unwrap();
        assert!((5..=7).contains(&line), "{}", broken[0].why);
        assert_eq!(broken[1].what, "x.yaml, document 3");
        assert_eq!(broken[1].why, "it has no metadata.name");
    }

    #[test]
    fn json_is_a_manifest_too() {
        let text = r#"{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}"#;
        let (manifests, broken) = read("x.json", text);
        assert_eq!((manifests.len(), broken.len()), (1, 0));
    }

    proptest! {
        /// The oracle is the text itself: what was joined by markers comes apart at them.
        #[test]
        fn what_is_joined_comes_apart(names in prop::collection::vec("[a-z]{1,8}", 1..6)) {
            let parts: Vec<String> = names.iter().map(|name| config_map(name)).collect();
            let (manifests, broken) = read("x.yaml", &parts.join("---\n"));
            prop_assert!(broken.is_empty());
            let found: Vec<&str> = manifests.iter().map(|m| m.id.name.as_str()).collect();
            prop_assert_eq!(found, names);
        }

        #[test]
        fn no_text_stops_the_reader(text in "(---\n|a: b\n|- x\n|[{}\"&*|]|[a-z :\n]){0,40}") {
            drop(read("x.yaml", &text));
        }
    }
}
