//! One text → one or more fragments: trees that are known to be documents of ours.

use std::sync::Arc;

use super::document::{API_VERSION, KIND};
use super::findings::Finding;
use super::nearest::nearest;
use super::tree::{Node, Origin, Source, Value};
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

/// Reads one text; every document in it must be one of ours.
pub(super) fn parse(number: usize, fragment: &FragmentText<'_>) -> Result<Vec<Node>, Vec<Finding>> {
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
    if fragment.text.len() > LARGEST_TEXT {
        let what = format!("the file is larger than {} KiB", LARGEST_TEXT >> 10);
        let hint =
            "give the file that describes the cluster; `bootlace config print-defaults` shows one";
        return Err(vec![Finding::new(&start, what, WHY_READABLE, hint)]);
    }
    let nodes = yaml::read(fragment.text, &start).map_err(|finding| vec![finding])?;
    if nodes.is_empty() {
        let what = "the file holds no document";
        let hint = "begin with what `bootlace config print-defaults` prints";
        return Err(vec![Finding::new(&start, what, WHY_READABLE, hint)]);
    }
    let findings: Vec<Finding> = nodes.iter().flat_map(check_head).collect();
    if findings.is_empty() {
        Ok(nodes)
    } else {
        Err(findings)
    }
}

/// Checks that a document says what it is, and that it is one of ours.
fn check_head(node: &Node) -> Vec<Finding> {
    let Value::Map(map) = &node.value else {
        let what = format!("the document is {}, not a map", node.describe());
        let hint = format!("begin with `apiVersion: {API_VERSION}` and `kind: {KIND}`");
        return vec![Finding::new(&node.origin, what, WHY_HEAD, hint)];
    };
    let heads = [("apiVersion", API_VERSION), ("kind", KIND)];
    let check = |(key, wanted): (&str, &str)| match map.entries.get(key) {
        None => {
            let near = nearest(key, map.entries.keys().map(String::as_str));
            let hint = near.map_or_else(
                || format!("add the line `{key}: {wanted}`"),
                |near| format!("write {key} instead of {near}: `{key}: {wanted}`"),
            );
            Some(Finding::new(
                &node.origin,
                format!("the document has no {key}"),
                WHY_HEAD,
                hint,
            ))
        }
        Some(entry) if entry.node.value == Value::Text(wanted.into()) => None,
        Some(entry) => {
            let what = format!(
                "{key} is {}, which this version does not know",
                entry.node.describe()
            );
            Some(Finding::new(
                &entry.node.origin,
                what,
                WHY_HEAD,
                format!("write `{key}: {wanted}`"),
            ))
        }
    };
    heads.into_iter().filter_map(check).collect()
}
