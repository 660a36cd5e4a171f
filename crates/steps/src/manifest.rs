//! What a manifest file must be like to be applied later, checked before it is copied.
//!
//! Reading is strict: a key that stands twice is refused, and so is every document that is no
//! object of Kubernetes. All problems of a file are found at once, unless it cannot be parsed.

use std::fmt;

use serde_json::{Map, Value};

use crate::documents::{Problem, documents};

/// An object of Kubernetes, as far as it must be known to tell it from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    /// The API's group; empty for the core.
    pub(crate) group: String,
    /// The kind.
    pub(crate) kind: String,
    /// The namespace, if it names one.
    pub(crate) namespace: Option<String>,
    /// The name.
    pub(crate) name: String,
    /// The line at which its document begins.
    pub(crate) line: u64,
}

impl Object {
    /// Returns what makes two objects the same one.
    ///
    /// An object without a namespace ends up in `default`, if it can be in one at all.
    pub(crate) fn identity(&self) -> [&str; 4] {
        let namespace = self.namespace.as_deref().unwrap_or("default");
        [&self.group, &self.kind, namespace, &self.name]
    }

    /// Tells whether it holds secrets.
    pub(crate) fn is_secret(&self) -> bool {
        self.group.is_empty() && self.kind == "Secret"
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        f.write_str(" ")?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

/// What was found in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The objects, in the order of the file.
    pub(crate) objects: Vec<Object>,
    /// What is wrong.
    pub(crate) problems: Vec<Problem>,
}

/// Reads a file of manifests. The name decides whether it must be JSON.
pub(crate) fn read(name: &str, content: &[u8]) -> Reading {
    match documents(name, content) {
        Ok(documents) => {
            let mut reading = Reading::default();
            for document in &documents {
                let at = document.referenced;
                reading.document(&document.value, (at.line(), at.column()));
            }
            reading
        }
        Err(problem) => Reading {
            objects: vec![],
            problems: vec![problem],
        },
    }
}

/// What an item of a list takes from the list if it does not say it itself.
#[derive(Clone, Copy)]
struct Inherited<'a> {
    api_version: &'a str,
    kind: &'a str,
}

impl Reading {
    fn document(&mut self, value: &Value, at: (u64, u64)) {
        let Some(map) = self.mapping(value, at, "the document") else {
            return;
        };
        let kind = map.get("kind").and_then(Value::as_str).unwrap_or_default();
        let items = map.get("items").filter(|_| kind.ends_with("List"));
        match items {
            None if kind == "List" => self.add(at, "the List has no items"),
            None => self.object(map, at, "", None),
            Some(Value::Array(items)) => self.list(map, kind, items, at),
            Some(_) => self.add(at, format!("the items of the {kind} are no list")),
        }
    }

    fn list(&mut self, list: &Map<String, Value>, kind: &str, items: &[Value], at: (u64, u64)) {
        let api_version = list.get("apiVersion").and_then(Value::as_str);
        let Some(api_version) = api_version else {
            return self.add(at, format!("the {kind} has no apiVersion"));
        };
        // A typed list says once for all items what they are.
        let inherited = (kind != "List").then(|| Inherited {
            api_version,
            kind: kind.strip_suffix("List").unwrap_or(kind),
        });
        for (n, item) in items.iter().enumerate() {
            let who = format!("item {} of the {kind}", n + 1);
            let Some(map) = self.mapping(item, at, &who) else {
                continue;
            };
            if map.get("items").is_some_and(Value::is_array) {
                self.add(at, format!("{who} is a list again"));
                continue;
            }
            self.object(map, at, &who, inherited);
        }
    }

    fn mapping<'a>(
        &mut self,
        value: &'a Value,
        at: (u64, u64),
        who: &str,
    ) -> Option<&'a Map<String, Value>> {
        let found = match value {
            Value::Object(map) => return Some(map),
            Value::Array(_) => "a list",
            Value::String(_) => "text",
            Value::Number(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::Null => "empty",
        };
        self.add(at, format!("{who} is {found}, not an object of Kubernetes"));
        None
    }

    fn object(
        &mut self,
        map: &Map<String, Value>,
        at: (u64, u64),
        who: &str,
        inherited: Option<Inherited<'_>>,
    ) {
        let before = self.problems.len();
        let who = if who.is_empty() { "the object" } else { who };
        let inherited = |pick: fn(Inherited<'_>) -> &str| inherited.map(pick).unwrap_or_default();
        let api_version = match map.get("apiVersion") {
            None => Ok(inherited(|list| list.api_version)),
            Some(value) => text(value),
        };
        let kind = match map.get("kind") {
            None => Ok(inherited(|list| list.kind)),
            Some(value) => text(value),
        };
        let group = self.checked(at, who, "apiVersion", api_version, group_of);
        let kind = self.checked(at, who, "kind", kind, Ok);
        let metadata = match map.get("metadata") {
            None => self.none(at, format!("{who} has no metadata")),
            Some(Value::Object(metadata)) => Some(metadata),
            Some(_) => self.none(at, format!("the metadata of {who} is no mapping")),
        };
        let Some((name, namespace)) = metadata.and_then(|data| self.names(data, at, who)) else {
            return;
        };
        if let (Some(group), Some(kind), true) = (group, kind, before == self.problems.len()) {
            self.objects.push(Object {
                group: group.to_owned(),
                kind: kind.to_owned(),
                namespace: namespace.map(ToOwned::to_owned),
                name: name.to_owned(),
                line: at.0,
            });
        }
    }

    fn names<'a>(
        &mut self,
        metadata: &'a Map<String, Value>,
        at: (u64, u64),
        who: &str,
    ) -> Option<(&'a str, Option<&'a str>)> {
        let namespace = match metadata.get("namespace") {
            None | Some(Value::Null) => None,
            Some(value) => self.checked(at, who, "metadata.namespace", text(value), path_part),
        };
        let name = match metadata.get("name") {
            None if metadata.contains_key("generateName") => {
                let what = "has a generateName: each time it is applied there is one more of it";
                return self.none(at, format!("{who} {what}; give it a name"));
            }
            None => Ok(""),
            Some(value) => text(value),
        };
        let name = self.checked(at, who, "metadata.name", name, path_part)?;
        Some((name, namespace))
    }

    /// Passes a field on if it is there and right, else says what is wrong.
    fn checked<'a>(
        &mut self,
        at: (u64, u64),
        who: &str,
        field: &str,
        value: Result<&'a str, String>,
        check: fn(&'a str) -> Result<&'a str, String>,
    ) -> Option<&'a str> {
        match value {
            Ok("") => self.none(at, format!("{who} has no {field}")),
            Ok(text) => match check(text) {
                Ok(part) => Some(part),
                Err(why) => self.none(at, format!("the {field} {text:?} of {who} {why}")),
            },
            Err(why) => self.none(at, format!("the {field} of {who} {why}")),
        }
    }

    fn none<T>(&mut self, at: (u64, u64), what: String) -> Option<T> {
        self.add(at, what);
        None
    }

    fn add(&mut self, at: (u64, u64), what: impl Into<String>) {
        let what = what.into();
        self.problems.push(Problem { at: Some(at), what });
    }
}

fn text(value: &Value) -> Result<&str, String> {
    match value {
        Value::Null => Ok(""),
        Value::String(text) => Ok(text),
        Value::Number(_) => Err("is a number, not text; put it in quotes".into()),
        Value::Bool(_) => Err("is true or false, not text; put it in quotes".into()),
        Value::Array(_) | Value::Object(_) => Err("is not text".into()),
    }
}

/// Takes the group from `group/version`; the core's versions stand alone.
fn group_of(api_version: &str) -> Result<&str, String> {
    match api_version.split_once('/') {
        None => Ok(""),
        Some((group, version))
            if !group.is_empty() && !version.is_empty() && !version.contains('/') =>
        {
            Ok(group)
        }
        Some(_) => Err("is not of the form group/version".into()),
    }
}

/// Accepts what can stand in a URL of the API; the rest depends on the kind.
fn path_part(name: &str) -> Result<&str, String> {
    if name == "." || name == ".." || name.contains(['/', '%']) || name.contains(char::is_control) {
        return Err("cannot stand in a URL of the API".into());
    }
    Ok(name)
}
