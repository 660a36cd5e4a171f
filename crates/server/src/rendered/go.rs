//! JSON as Go programs write it, byte for byte: fields in the order of their structs, and characters
//! escaped that mean something in HTML.

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::{Map, Value};

use super::object::{Field, Holds};

/// Fields that Go writes after all others of an entry, since they are in a struct of their own.
const OF_THE_KIND: [&str; 5] = ["append", "contents", "hard", "mode", "target"];
/// Fields of a user that Go writes after the keys, whose name begins with capitals there.
const AFTER_KEYS: [&str; 2] = ["shell", "shouldExist"];

/// The order in which fields are written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    /// By name, as Go writes maps.
    Sorted,
    /// As in the structs of an Ignition config.
    Ignition,
    /// As in a table.
    Table(&'static [Field]),
}

/// Writes a value in one line.
pub(super) fn compact(value: &Value, order: Order) -> String {
    // Writing a value into memory does not fail.
    let text = serde_json::to_string(&Ordered { value, order }).unwrap_or_default();
    escaped(&text)
}

/// Writes a value for people, indented by four.
pub(super) fn indented(value: &Value, order: Order) -> String {
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
    // Writing a value into memory does not fail, and gives UTF-8.
    drop(Ordered { value, order }.serialize(&mut serializer));
    escaped(&String::from_utf8(text).unwrap_or_default())
}

/// Escapes what Go escapes besides; in JSON these characters are in texts only.
fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + text.len() / 16);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('b') => written.push_str("\\u0008"),
                Some('f') => written.push_str("\\u000c"),
                other => written.extend(['\\'].into_iter().chain(other)),
            },
            '<' => written.push_str("\\u003c"),
            '>' => written.push_str("\\u003e"),
            '&' => written.push_str("\\u0026"),
            '\u{2028}' => written.push_str("\\u2028"),
            '\u{2029}' => written.push_str("\\u2029"),
            other => written.push(other),
        }
    }
    written
}

/// Writes bytes as a data URL, escaped as Go programs escape them.
pub(super) fn data_url(content: &[u8]) -> String {
    let mut url = String::with_capacity(6 + content.len() * 2);
    url.push_str("data:,");
    for byte in content {
        match byte {
            b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')' => {
                url.push(char::from(*byte));
            }
            byte if byte.is_ascii_alphanumeric() => url.push(char::from(*byte)),
            byte => {
                let digit = |value: u8| char::from(b"0123456789ABCDEF"[usize::from(value)]);
                url.extend(['%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    url
}

/// A value with the order of its fields.
struct Ordered<'v> {
    value: &'v Value,
    order: Order,
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value, order) in arranged(fields, self.order) {
                    map.serialize_entry(name, &Ordered { value, order })?;
                }
                map.end()
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(|value| Ordered {
                value,
                order: self.order,
            })),
            plain => plain.serialize(serializer),
        }
    }
}

/// Puts the fields of an object in order, each with the order of what is within it.
fn arranged(fields: &Map<String, Value>, order: Order) -> Vec<(&str, &Value, Order)> {
    let by_name = fields.iter();
    let by_name = by_name.map(|(name, value)| (name.as_str(), value, order));
    match order {
        Order::Sorted => by_name.collect(),
        Order::Ignition => {
            let is_entry = fields.contains_key("path");
            let is_user = fields.contains_key("sshAuthorizedKeys");
            let rank = |name: &str| match name {
                name if is_entry => u8::from(OF_THE_KIND.contains(&name)),
                name if is_user && AFTER_KEYS.contains(&name) => 1,
                name if is_user && name > "sshAuthorizedKeys" => 2,
                _ => 0,
            };
            let mut arranged: Vec<_> = by_name.collect();
            arranged.sort_by_key(|(name, _, _)| rank(name));
            arranged
        }
        Order::Table(table) => {
            let present = table.iter().filter_map(|field| {
                let value = fields.get(field.name)?;
                let order = match field.holds {
                    Holds::Object(inner) | Holds::Objects(inner) => Order::Table(inner),
                    _ => Order::Sorted,
                };
                Some((field.name, value, order))
            });
            present.collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_in_the_order_of_the_structs() {
        let config = json!({
            "storage": {"files": [{"append": [], "contents": {}, "mode": 1, "path": "/", "user": {}}]},
            "passwd": {"users": [{"name": "a", "shell": "b", "sshAuthorizedKeys": [], "uid": 1, "system": true}]},
            "systemd": {"units": [{"contents": "", "name": "c"}]},
        });
        assert_eq!(
            compact(&config, Order::Ignition),
            r#"{"passwd":{"users":[{"name":"a","sshAuthorizedKeys":[],"shell":"b","system":true,"uid":1}]},"#
                .to_owned()
                + r#""storage":{"files":[{"path":"/","user":{},"append":[],"contents":{},"mode":1}]},"#
                + r#""systemd":{"units":[{"contents":"","name":"c"}]}}"#
        );
    }

    #[test]
    fn characters_of_html_are_escaped() {
        let value = json!({"<&>": "\u{2028}\u{2029}é\"\\b\u{1}\n\u{7f}\u{8}"});
        assert_eq!(
            compact(&value, Order::Sorted),
            "{\"\\u003c\\u0026\\u003e\":\"\\u2028\\u2029é\\\"\\\\b\\u0001\\n\u{7f}\\u0008\"}"
        );
    }

    #[test]
    fn bytes_are_escaped_as_go_escapes_them() {
        assert_eq!(
            data_url(b"aZ09-_.!~*'() \n\"%/+\xff"),
            "data:,aZ09-_.!~*'()%20%0A%22%25%2F%2B%FF"
        );
    }
}
