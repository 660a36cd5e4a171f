//! One text → one or more fragments: trees that are known to be documents of ours.

use std::sync::Arc;

use super::document::{API_VERSION, KIND};
use super::findings::Finding;
use super::nearest::nearest;
use super::tree::{Entry, Node, Origin, Source, Value};
use super::yaml::{self, WHY_READABLE};

/// A config is read by people; what is larger than this is something else.
const LARGEST_TEXT: usize = 1 << 20;

/// What `apiVersion` and `kind` are for.
const WHY_HEAD: &str = "apiVersion and kind say by which rules the rest of the document is read";

/// A text to read: YAML, or JSON, which is a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentText<'a> {
    /// The file as the person named it; errors repeat it.
    pub name: &'a str,
    /// The folder of the file as an absolute path; relative paths in the text begin there.
    pub base: &'a str,
    /// The text itself.
    pub text: &'a str,
}

/// Reads one text; reports every document in it that is not one of ours.
pub(super) fn parse(
    number: usize,
    fragment: &FragmentText<'_>,
    findings: &mut Vec<Finding>,
) -> Vec<Node> {
    let source = Source {
        number,
        name: fragment.name.into(),
        base: fragment.base.into(),
    };
    let start = Origin {
        source: Arc::new(source),
        line: 1,
        column: 1,
    };
    let mut nodes = match documents(fragment.text, &start) {
        Ok(nodes) => nodes,
        Err(finding) => {
            findings.push(finding);
            return vec![];
        }
    };
    nodes.retain_mut(|node| check_head(node, findings));
    nodes
}

fn documents(text: &str, start: &Origin) -> Result<Vec<Node>, Finding> {
    if text.len() > LARGEST_TEXT {
        let what = format!("the file is larger than {} KiB", LARGEST_TEXT >> 10);
        let hint =
            "give the file that describes the cluster; `bootlace config print-defaults` shows one";
        return Err(Finding::new(start, what, WHY_READABLE, hint));
    }
    let nodes = yaml::read(text, start)?;
    if nodes.is_empty() {
        let what = "the file holds no document";
        let hint = "begin with what `bootlace config print-defaults` prints";
        return Err(Finding::new(start, what, WHY_READABLE, hint));
    }
    Ok(nodes)
}

/// Checks that a document says what it is; false if the rest of it is not worth reading.
///
/// A head that is wrong is put right, so that the rest is judged as if it were.
fn check_head(node: &mut Node, findings: &mut Vec<Finding>) -> bool {
    let Value::Map(map) = &mut node.value else {
        let what = format!("the document is {}, not a map", node.describe());
        let hint = format!("begin with `apiVersion: {API_VERSION}` and `kind: {KIND}`");
        findings.push(Finding::new(&node.origin, what, WHY_HEAD, hint));
        return false;
    };
    let mut is_ours = true;
    for (key, wanted) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        let right = Value::Text(wanted.into());
        match map.entries.get_mut(key) {
            Some(Entry { node, .. }) if node.value == right => {}
            Some(Entry { node, .. }) => {
                let found = node.describe();
                let what = format!("{key} is {found}, which this version does not know");
                let hint = format!("write `{key}: {wanted}`");
                findings.push(Finding::new(&node.origin, what, WHY_HEAD, hint));
                is_ours &= key != "kind" || is_nearly(&node.value, wanted);
                node.value = right;
            }
            None => {
                let near = nearest(key, map.entries.keys().map(String::as_str));
                let near = near.map(ToOwned::to_owned);
                let hint = near.as_ref().map_or_else(
                    || format!("add the line `{key}: {wanted}`"),
                    |near| format!("write {key} instead of {near}: `{key}: {wanted}`"),
                );
                let what = format!("the document has no {key}");
                findings.push(Finding::new(&node.origin, what, WHY_HEAD, hint));
                near.and_then(|near| map.entries.remove(&near));
                let origin = node.origin.clone();
                let (key_origin, value) = (origin.clone(), right);
                let entry = Entry {
                    key: key_origin,
                    node: Node { value, origin },
                };
                map.entries.insert(key.into(), entry);
            }
        }
    }
    is_ours
}

/// Tells whether a kind is a misspelling of ours: the rules for another kind would find nothing right.
fn is_nearly(value: &Value, wanted: &str) -> bool {
    matches!(value, Value::Text(text) if nearest(text, [wanted]).is_some())
}
