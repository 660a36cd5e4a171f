//! A merged tree → a document: no unknown keys, and every value of the right type.

use super::document::Document;
use super::findings::Finding;
use super::nearest::nearest;
use super::schema::{Rule, schema};
use super::tree::{Node, Value};
use crate::fault::Fault;

/// Why an unknown key is an error and not ignored.
const WHY_UNKNOWN: &str = "a misspelt key that is ignored leaves its default in force, unnoticed";

/// Why a wrong type is an error and not converted.
const WHY_TYPE: &str = "a value that must be guessed at may come out differently than you meant it";

/// Reads a settled tree as a document; takes out and reports everything that has the wrong shape.
pub(super) fn read(tree: &mut Node, findings: &mut Vec<Finding>) -> Result<Document, Fault> {
    let schema = schema();
    let root = Rule::root(&schema);
    unknown_keys(tree, root, "", findings);
    // Serde stops at the first error. Taking out the value at fault and reading again finds the
    // next one; it ends, because each round makes the tree smaller.
    loop {
        let error = match serde_path_to_error::deserialize(tree.to_json()) {
            Ok(document) => return Ok(document),
            Err(error) => error,
        };
        let path = error.path().to_string();
        let found = tree
            .find(&path)
            .map(|node| type_finding(node, root.at(&path), &path));
        let (Some(finding), true) = (found, tree.remove(&path)) else {
            return Err(Fault::internal(format!(
                "cannot place an error in the config: {error}"
            )));
        };
        findings.push(finding);
    }
}

/// Reports and takes out every key that the schema does not know.
fn unknown_keys(node: &mut Node, rule: Rule<'_>, path: &str, findings: &mut Vec<Finding>) {
    let (Value::Map(map), Some(known)) = (&mut node.value, rule.keys()) else {
        return;
    };
    map.entries.retain(|name, entry| {
        let known_key = known.contains(&name.as_str());
        if !known_key {
            let inside = if path.is_empty() {
                "the document"
            } else {
                path
            };
            let what = format!("{inside} has no key {name}");
            let hint = nearest(name, known.iter().copied()).map_or_else(
                || format!("the keys here are {}", known.join(", ")),
                |near| format!("did you mean {near}?"),
            );
            findings.push(Finding::new(&entry.key, what, WHY_UNKNOWN, hint));
        }
        known_key
    });
    for (name, entry) in &mut map.entries {
        if let Some(rule) = rule.key(name) {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            unknown_keys(&mut entry.node, rule, &path, findings);
        }
    }
}

/// Says what a value must be, and what it is instead.
fn type_finding(node: &Node, rule: Option<Rule<'_>>, path: &str) -> Finding {
    let expected = rule.map_or_else(|| "something else".into(), Rule::describe);
    let what = format!("{path} must be {expected}, but is {}", node.describe());
    Finding::new(&node.origin, what, WHY_TYPE, type_hint(node, rule))
}

fn type_hint(node: &Node, rule: Option<Rule<'_>>) -> String {
    let words = rule.and_then(Rule::words).unwrap_or_default();
    let kind = rule.and_then(Rule::kind);
    let example = rule.and_then(Rule::example);
    match (&node.value, example) {
        (Value::Text(text), _) if !words.is_empty() => nearest(text, words.iter().copied())
            .map_or_else(
                || format!("write {}", words.join(" or ")),
                |near| format!("did you mean {near}?"),
            ),
        _ if !words.is_empty() => format!("write {}", words.join(" or ")),
        (Value::Text(text), _) if kind == Some("array") => format!("write it as a list: [{text}]"),
        (Value::Number(number), None) if kind == Some("string") => {
            format!("put it in quotes if it is right: \"{number}\"")
        }
        (_, Some(example)) => format!("write it like {example}"),
        (_, None) => "see how `bootlace config print-defaults` writes it".into(),
    }
}
