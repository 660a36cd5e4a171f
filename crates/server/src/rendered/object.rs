//! A `MachineConfig` as the Go type reads and writes it: fields that it does not know are gone, fields
//! that it always writes are there, and a value of a wrong type is refused.

use serde_json::{Map, Value, json};

/// A field of the type.
#[derive(Debug)]
pub(super) struct Field {
    /// Its name.
    pub(super) name: &'static str,
    /// What it holds.
    pub(super) holds: Holds,
    /// When it is written.
    written: Written,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holds {
    /// A text.
    Text,
    /// True or false.
    Flag,
    /// A whole number.
    Number,
    /// A point in time.
    Time,
    /// A list of texts.
    Texts,
    /// Texts by name.
    TextsByName,
    /// Anything.
    Anything,
    /// An object.
    Object(&'static [Field]),
    /// A list of objects.
    Objects(&'static [Field]),
}

/// When a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    /// Also if nothing is said.
    Always,
    /// If something is said.
    IfSaid,
    /// If something is said that is not empty, zero or false.
    IfNotEmpty,
    /// Never.
    Never,
}

const fn field(name: &'static str, holds: Holds) -> Field {
    Field {
        name,
        holds,
        written: Written::IfNotEmpty,
    }
}

impl Field {
    const fn written(mut self, written: Written) -> Self {
        self.written = written;
        self
    }
}

/// The whole.
pub(super) static MACHINE_CONFIG: [Field; 4] = [
    field("kind", Holds::Text),
    field("apiVersion", Holds::Text),
    field("metadata", Holds::Object(&METADATA)),
    field("spec", Holds::Object(&SPEC)).written(Written::Always),
];

static METADATA: [Field; 15] = [
    field("name", Holds::Text),
    field("generateName", Holds::Text),
    field("namespace", Holds::Text),
    field("selfLink", Holds::Text),
    field("uid", Holds::Text),
    field("resourceVersion", Holds::Text),
    field("generation", Holds::Number),
    // OpenShift's server takes every point in time that is not behind a pointer for nothing.
    field("creationTimestamp", Holds::Time).written(Written::Never),
    field("deletionTimestamp", Holds::Time),
    field("deletionGracePeriodSeconds", Holds::Number).written(Written::IfSaid),
    field("labels", Holds::TextsByName),
    field("annotations", Holds::TextsByName),
    field("ownerReferences", Holds::Objects(&OWNER)),
    field("finalizers", Holds::Texts),
    field("managedFields", Holds::Objects(&MANAGED)),
];

static OWNER: [Field; 6] = [
    field("apiVersion", Holds::Text).written(Written::Always),
    field("kind", Holds::Text).written(Written::Always),
    field("name", Holds::Text).written(Written::Always),
    field("uid", Holds::Text).written(Written::Always),
    field("controller", Holds::Flag).written(Written::IfSaid),
    field("blockOwnerDeletion", Holds::Flag).written(Written::IfSaid),
];

static MANAGED: [Field; 7] = [
    field("manager", Holds::Text),
    field("operation", Holds::Text),
    field("apiVersion", Holds::Text),
    field("time", Holds::Time),
    field("fieldsType", Holds::Text),
    field("fieldsV1", Holds::Anything).written(Written::IfSaid),
    field("subresource", Holds::Text),
];

static SPEC: [Field; 7] = [
    field("osImageURL", Holds::Text).written(Written::Always),
    field("baseOSExtensionsContainerImage", Holds::Text).written(Written::Always),
    field("config", Holds::Anything),
    field("kernelArguments", Holds::Texts).written(Written::Always),
    field("extensions", Holds::Texts).written(Written::Always),
    field("fips", Holds::Flag).written(Written::Always),
    field("kernelType", Holds::Text).written(Written::Always),
];

/// Reads a `MachineConfig`; an error says which field holds what it must not.
pub(super) fn read(value: &Value) -> Result<Value, String> {
    object(value, &MACHINE_CONFIG, "")
}

fn object(value: &Value, table: &'static [Field], path: &str) -> Result<Value, String> {
    let none = Map::new();
    let given = match value {
        Value::Null => &none,
        Value::Object(given) => given,
        _ => return Err(wrong(path, "an object")),
    };
    let mut read = Map::new();
    for field in table {
        let path = match path {
            "" => field.name.to_owned(),
            above => format!("{above}.{}", field.name),
        };
        let said = find(given, field.name).filter(|said| !said.is_null());
        let value = match said {
            Some(said) => one(said, field.holds, &path)?,
            None if field.written == Written::Always => nothing(field.holds)?,
            None => continue,
        };
        let is_written = match field.written {
            Written::Always | Written::IfSaid => true,
            Written::IfNotEmpty => !is_empty(&value),
            Written::Never => false,
        };
        if is_written {
            read.insert(field.name.to_owned(), value);
        }
    }
    Ok(read.into())
}

/// Finds a field as Go does: by its name, else by its name in any case.
fn find<'v>(given: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    given.get(name).or_else(|| {
        let mut given = given.iter();
        let found = given.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    })
}

fn one(said: &Value, holds: Holds, path: &str) -> Result<Value, String> {
    let kept = |is_right: bool, expected: &str| {
        let value = is_right.then(|| said.clone());
        value.ok_or_else(|| wrong(path, expected))
    };
    // YAML takes a plain `1` or `no` for something else than it is meant to be where a text is due.
    let text = |value: &Value| match value {
        Value::Null => Ok("".into()),
        Value::String(_) => Ok(value.clone()),
        Value::Number(number) => Ok(number.to_string().into()),
        Value::Bool(flag) => Ok(flag.to_string().into()),
        Value::Array(_) | Value::Object(_) => Err(wrong(path, "texts")),
    };
    match holds {
        Holds::Text => text(said),
        Holds::Flag => kept(said.is_boolean(), "true or false"),
        Holds::Number => kept(said.is_i64(), "a whole number"),
        Holds::Time => time(said).ok_or_else(|| wrong(path, "a time as of RFC 3339")),
        Holds::Anything => Ok(said.clone()),
        Holds::Texts => {
            let items = said.as_array().ok_or_else(|| wrong(path, "a list"))?;
            items.iter().map(text).collect()
        }
        Holds::TextsByName => {
            let named = said.as_object().ok_or_else(|| wrong(path, "an object"))?;
            let named = named.iter();
            let named = named.map(|(name, value)| Ok((name.clone(), text(value)?)));
            named.collect::<Result<Map<_, _>, String>>().map(Into::into)
        }
        Holds::Object(table) => object(said, table, path),
        Holds::Objects(table) => {
            let items = said.as_array().ok_or_else(|| wrong(path, "a list"))?;
            items.iter().map(|item| object(item, table, path)).collect()
        }
    }
}

/// Returns what is written where nothing is said.
fn nothing(holds: Holds) -> Result<Value, String> {
    Ok(match holds {
        Holds::Text => "".into(),
        Holds::Flag => false.into(),
        Holds::Object(table) => object(&json!({}), table, "")?,
        _ => Value::Null,
    })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Reads a time, and writes it in whole seconds of UTC.
fn time(said: &Value) -> Option<Value> {
    let time: jiff::Timestamp = said.as_str()?.parse().ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into())
}

fn wrong(path: &str, expected: &str) -> String {
    let path = if path.is_empty() { "the file" } else { path };
    format!("{path} holds something else than {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_type_does_not_know_is_gone() {
        let read = read(&json!({
            "status": 1,
            "metadata": {"name": false, "creationTimestamp": "2026-01-02T03:04:05Z", "generation": 0, "x": 1},
            "spec": {"OSImageURL": "i", "unknown": 1, "kernelArguments": []},
        }));
        let spec = json!({
            "osImageURL": "i", "baseOSExtensionsContainerImage": "", "kernelArguments": [],
            "extensions": null, "fips": false, "kernelType": "",
        });
        let expected = json!({"metadata": {"name": "false"}, "spec": spec});
        assert_eq!(read.unwrap(), expected);
    }

    #[test]
    fn wrong_types_are_named() {
        let refused = |value: Value| read(&value).unwrap_err();
        assert!(refused(json!({"spec": {"fips": "yes"}})).starts_with("spec.fips "));
        assert!(refused(json!({"spec": {"kernelArguments": [[]]}})).contains("kernelArguments"));
        assert!(refused(json!({"metadata": {"labels": {"a": {}}}})).contains("metadata.labels"));
        assert!(refused(json!({"metadata": {"creationTimestamp": "x"}})).contains("RFC 3339"));
        assert!(refused(json!([])).starts_with("the file"));
    }
}
