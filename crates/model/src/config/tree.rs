//! What people wrote, as a tree whose every value knows its file, line and column.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::fault::Place;

/// A text that was read, as far as its values need to remember it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The place of the text in the order of merging; sorts findings.
    pub(super) number: usize,
    /// The file as the person named it.
    pub(super) name: String,
    /// The folder that relative paths in it begin at.
    pub(super) base: String,
}

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) source: Arc<Source>,
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Origin {
    /// Returns the place as errors name it.
    pub(super) fn place(&self) -> Place {
        Place {
            file: self.source.name.clone(),
            line: Some(self.line),
            column: Some(self.column),
        }
    }

    /// Returns what findings are sorted by: the order of the texts, then the place in the text.
    pub(super) fn order(&self) -> (usize, u64, u64) {
        (self.source.number, self.line, self.column)
    }
}

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// A value as YAML and JSON know it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Node>),
    Map(Map),
}

/// Keys with their values.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Map {
    pub(super) entries: BTreeMap<String, Entry>,
    /// Whether the map replaces what an earlier text says instead of adding to it. That is so when
    /// something that is no map, such as `null`, stood between the two.
    pub(super) replaces: bool,
}

/// A key's place and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) key: Origin,
    pub(super) node: Node,
}

impl Node {
    /// Finds the value at a path such as `spec.manifests[0]`.
    pub(super) fn find(&self, path: &str) -> Option<&Self> {
        parts(path).try_fold(self, Self::child)
    }

    /// Returns where the value at a path was written, or else the nearest map or list around it.
    pub(super) fn nearest_origin(&self, path: &str) -> &Origin {
        let mut node = self;
        for part in parts(path) {
            match node.child(part) {
                Some(child) => node = child,
                None => break,
            }
        }
        &node.origin
    }

    fn child(&self, part: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(map) => map.entries.get(part).map(|entry| &entry.node),
            Value::List(items) => items.get(part.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// Takes the value at a path out of its map; from a list takes the whole list, because the
    /// other items would get other numbers. Tells whether there was one.
    pub(super) fn remove(&mut self, path: &str) -> bool {
        let parts: Vec<&str> = parts(path).collect();
        self.remove_parts(&parts)
    }

    fn remove_parts(&mut self, parts: &[&str]) -> bool {
        let (Some((first, rest)), Value::Map(map)) = (parts.split_first(), &mut self.value) else {
            return false;
        };
        let Some(entry) = map.entries.get_mut(*first) else {
            return false;
        };
        if !rest.is_empty() && matches!(entry.node.value, Value::Map(_)) {
            return entry.node.remove_parts(rest);
        }
        map.entries.remove(*first).is_some()
    }

    /// Forgets the places.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(bool) => (*bool).into(),
            Value::Number(number) => number.clone().into(),
            Value::Text(text) => text.clone().into(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(map) => {
                let pairs = map.entries.iter();
                pairs
                    .map(|(key, entry)| (key.clone(), entry.node.to_json()))
                    .collect()
            }
        }
    }

    /// Says in a few words what the value is.
    pub(super) fn describe(&self) -> String {
        match &self.value {
            Value::Null => "nothing".into(),
            Value::Bool(bool) => format!("the truth value {bool}"),
            Value::Number(number) => format!("the number {number}"),
            Value::Text(text) => format!("the text {text:?}"),
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a map".into(),
        }
    }
}

/// Splits `a.b[0]` into `a`, `b` and `0`. Keys with dots do not occur in our documents.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '['])
        .map(|part| part.trim_end_matches(']'))
        .filter(|part| !part.is_empty())
}
