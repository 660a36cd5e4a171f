//! The JSON Schema of the document, and the questions that the checks ask it.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::document::Document;

/// Returns the JSON Schema of the document that people write, with descriptions.
pub fn schema() -> Value {
    // Without references the schema is a tree like the document, and can be walked beside it.
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings
        .into_generator()
        .into_root_schema_for::<Document>()
        .to_value()
}

/// A part of the schema: what one value of the document may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule<'a>(&'a Value);

impl<'a> Rule<'a> {
    /// Begins at the top of a schema.
    pub(super) fn root(schema: &'a Value) -> Self {
        Self(schema)
    }

    /// Returns the rule for the value of a key.
    pub(super) fn key(self, key: &str) -> Option<Self> {
        self.0.get("properties")?.get(key).map(Self)
    }

    /// Returns the rule for the items of a list.
    pub(super) fn items(self) -> Option<Self> {
        self.0.get("items").map(Self)
    }

    /// Returns the keys that a map may have; none if the value may not be a map.
    pub(super) fn keys(self) -> Option<Vec<&'a str>> {
        let properties = self.0.get("properties")?.as_object()?;
        Some(properties.keys().map(String::as_str).collect())
    }

    /// Returns the rule at a path such as `spec.manifests[0]`.
    pub(super) fn at(self, path: &str) -> Option<Self> {
        path.split('.').try_fold(self, |rule, part| {
            let (key, items) = part
                .split_once('[')
                .map_or((part, false), |(key, _)| (key, true));
            let rule = rule.key(key)?;
            if items { rule.items() } else { Some(rule) }
        })
    }

    /// Returns the words that the value may be, if only certain ones are allowed.
    pub(super) fn words(self) -> Option<Vec<&'a str>> {
        let word = |value: &'a Value| value.as_str().or_else(|| value.get("const")?.as_str());
        let choices = self
            .0
            .get("enum")
            .or_else(|| self.0.get("oneOf"))
            .or_else(|| self.0.get("anyOf"))?
            .as_array()?;
        let words: Vec<&str> = choices
            .iter()
            .flat_map(|choice| {
                Self(choice)
                    .words()
                    .unwrap_or_else(|| word(choice).into_iter().collect())
            })
            .collect();
        (!words.is_empty()).then_some(words)
    }

    /// Returns an example of the value, as one would write it.
    pub(super) fn example(self) -> Option<String> {
        self.0.get("examples")?.get(0).map(Value::to_string)
    }

    /// Says in a few words what the value must be.
    pub(super) fn describe(self) -> String {
        if let Some(words) = self.words() {
            return format!("one of {}", words.join(", "));
        }
        match self.kind() {
            Some("string") => "text".into(),
            Some("integer") => "a whole number that is not negative".into(),
            Some("array") => "a list of texts".into(),
            Some("object") => {
                format!(
                    "a map with the keys {}",
                    self.keys().unwrap_or_default().join(", ")
                )
            }
            _ => "something else".into(),
        }
    }

    /// Returns the type's name in the schema; of several the one that is not `null`.
    pub(super) fn kind(self) -> Option<&'a str> {
        match self.0.get("type")? {
            Value::String(kind) => Some(kind),
            Value::Array(kinds) => kinds
                .iter()
                .filter_map(Value::as_str)
                .find(|kind| *kind != "null"),
            _ => None,
        }
    }
}
