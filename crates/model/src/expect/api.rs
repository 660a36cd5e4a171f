//! Questions to an API over verified TLS, and what their answers must say.

use jiff::Timestamp;
use serde_json::Value;

use crate::path::TargetPath;

/// A question to an API and what the answer must say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiClaim {
    /// What holds if the answer is as wanted, in words.
    pub what: String,
    /// How the API is reached.
    pub access: Access,
    /// The path, with its query.
    pub path: String,
    /// What is posted; the question is a plain GET if nothing is.
    pub post: Option<Value>,
    /// What the answer's fields must be. Without any, the status must be 200 and nothing more.
    pub fields: Vec<Field>,
}

impl ApiClaim {
    /// Returns the line that a person would type to ask.
    pub(super) fn shell(&self) -> String {
        use crate::shell::line;
        match &self.access {
            Access::Kubeconfig(path) => line([
                "kubectl",
                "--kubeconfig",
                path.as_str(),
                "get",
                "--raw",
                &self.path,
            ]),
            Access::Certificate {
                server,
                authority,
                certificate,
                key,
            } => {
                let url = format!("{server}{}", self.path);
                let post = self.post.as_ref().map(ToString::to_string);
                let post = post.iter().flat_map(|body| ["--json", body.as_str()]);
                let words = ["curl", "-fsS", "--cacert", authority.as_str(), "--cert"];
                let words = words.into_iter().chain([certificate.as_str(), "--key"]);
                line(
                    words
                        .chain([key.as_str()])
                        .chain(post)
                        .chain([url.as_str()]),
                )
            }
        }
    }
}

/// How an API is reached, and as whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// As a kubeconfig says.
    Kubeconfig(TargetPath),
    /// As the holder of a certificate.
    Certificate {
        /// Scheme, host and port.
        server: String,
        /// The authority that the server's certificate must come from.
        authority: TargetPath,
        /// The client's certificate.
        certificate: TargetPath,
        /// Its key.
        key: TargetPath,
    },
}

/// A field of an answer and what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Where it is: names separated by `/`; `key=value` picks the list's first item that has it,
    /// and `*` once means every item of a list.
    pub at: String,
    /// What it must be.
    pub wanted: Wanted,
}

/// What a field must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Exactly this.
    Is(Value),
    /// A number, or a list of a length, not below this.
    AtLeast(u64),
    /// A list of exactly this length.
    Length(u64),
    /// Anything but nothing.
    Something,
    /// The same as another field of the answer.
    SameAs(String),
}

impl Field {
    /// Wants a field to be exactly this.
    pub fn is(at: &str, value: impl Into<Value>) -> Self {
        Self::new(at, Wanted::Is(value.into()))
    }

    /// Wants something of a field.
    pub fn new(at: &str, wanted: Wanted) -> Self {
        Self {
            at: at.into(),
            wanted,
        }
    }

    /// Tells what is wrong with an answer, if something is.
    pub fn problem(&self, answer: &Value) -> Option<String> {
        let Some((list, each)) = self.at.split_once("/*/") else {
            return self.problem_of_one(answer);
        };
        let each = Self::new(each, self.wanted.clone());
        let items = find(answer, list).and_then(Value::as_array);
        items.into_iter().flatten().find_map(|item| {
            let problem = each.problem_of_one(item)?;
            let name = find(item, "metadata/name").and_then(Value::as_str);
            Some(format!("{problem} of {}", name.unwrap_or(list)))
        })
    }

    /// Tells when what is wrong became so: when the youngest condition that is wrong last changed.
    pub fn wrong_since(&self, answer: &Value) -> Option<Timestamp> {
        let (list, each) = match self.at.split_once("/*/") {
            Some((list, each)) => (find(answer, list)?.as_array()?.as_slice(), each),
            None => (std::slice::from_ref(answer), self.at.as_str()),
        };
        let condition = each.strip_suffix("/status")?;
        let each = Self::new(each, self.wanted.clone());
        let wrong = list
            .iter()
            .filter(|item| each.problem_of_one(item).is_some());
        let changed = wrong.filter_map(|item| {
            let changed = find(item, condition)?.get("lastTransitionTime")?;
            changed.as_str()?.parse().ok()
        });
        changed.max()
    }

    fn problem_of_one(&self, answer: &Value) -> Option<String> {
        let found = find(answer, &self.at);
        let holds = match &self.wanted {
            Wanted::Is(value) => found == Some(value),
            Wanted::AtLeast(least) => found.and_then(amount).is_some_and(|n| n >= *least),
            Wanted::Length(length) => found
                .and_then(Value::as_array)
                .map_or(*length == 0, |list| list.len() as u64 == *length),
            Wanted::Something => found.is_some_and(|value| !value.is_null()),
            Wanted::SameAs(other) => found.is_some() && found == find(answer, other),
        };
        (!holds).then(|| {
            let found = found.map_or("nothing".into(), shortened);
            format!("{} is {found}", self.at)
        })
    }
}

fn amount(value: &Value) -> Option<u64> {
    match value {
        Value::Array(list) => Some(list.len() as u64),
        // etcd's gateway writes numbers of 64 bits as text, as JSON's numbers cannot hold them.
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    }
}

fn shortened(value: &Value) -> String {
    let text = match value {
        Value::Array(list) => format!("a list of {}", list.len()),
        other => other.to_string(),
    };
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Finds a field: `status/conditions/type=Ready/status`.
pub fn find<'v>(value: &'v Value, at: &str) -> Option<&'v Value> {
    let mut here = value;
    for part in at.split('/').filter(|part| !part.is_empty()) {
        // As in JSON pointers: a name that holds a slash, such as an annotation's.
        let part = &*part.replace("~1", "/");
        here = match (part.split_once('='), here) {
            (Some((key, wanted)), Value::Array(items)) => items
                .iter()
                .find(|item| item.get(key).and_then(Value::as_str) == Some(wanted))?,
            (_, Value::Array(items)) => items.get(part.parse::<usize>().ok()?)?,
            (_, other) => other.get(part)?,
        };
    }
    Some(here)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_condition_is_wrong_since_it_last_changed() {
        let pod = |status: &str, since: &str| {
            let ready = json!({"type": "Ready", "status": status, "lastTransitionTime": since});
            json!({"status": {"conditions": [{"type": "Initialized"}, ready]}})
        };
        let all = Field::is("items/*/status/conditions/type=Ready/status", "True");
        let one = Field::is("status/conditions/type=Ready/status", "True");
        let (old, young, right) = (
            pod("False", "2026-01-01T00:00:05Z"),
            pod("False", "2026-01-01T00:00:07Z"),
            pod("True", "2026-01-01T00:00:09Z"),
        );
        let at = |text: &str| Some(text.parse().unwrap());
        assert_eq!(one.wrong_since(&old), at("2026-01-01T00:00:05Z"));
        assert_eq!(one.wrong_since(&right), None);
        let pods = json!({"items": [old, young, right]});
        assert_eq!(all.wrong_since(&pods), at("2026-01-01T00:00:07Z"));
        let count = Field::new("items", Wanted::AtLeast(4));
        assert_eq!(count.wrong_since(&pods), None);
        assert_eq!(one.wrong_since(&json!({})), None);
    }

    #[test]
    fn fields_are_found_by_name_by_place_and_by_key() {
        let node = json!({"status": {"conditions": [
            {"type": "DiskPressure", "status": "False"}, {"type": "Ready", "status": "True"}]}});
        assert_eq!(
            find(&node, "status/conditions/type=Ready/status"),
            Some(&json!("True"))
        );
        assert_eq!(
            find(&node, "status/conditions/0/status"),
            Some(&json!("False"))
        );
        assert_eq!(find(&node, "status/conditions/type=Other"), None);
    }

    #[test]
    fn every_item_counts_and_the_wrong_one_is_named() {
        let item = |name: &str, ready: bool| json!({"metadata": {"name": name}, "ready": ready});
        let field = Field::is("items/*/ready", true);
        let good = json!({"items": [item("a", true), item("b", true)]});
        assert_eq!(field.problem(&good), None);
        let bad = json!({"items": [item("a", true), item("b", false)]});
        assert_eq!(field.problem(&bad).unwrap(), "ready is false of b");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let answer = json!({"n": "3", "list": [1, 2], "a": 1, "b": 1, "none": null});
        let right = [
            Field::is("a", 1),
            Field::new("n", Wanted::AtLeast(3)),
            Field::new("list", Wanted::AtLeast(2)),
            Field::new("list", Wanted::Length(2)),
            Field::new("absent", Wanted::Length(0)),
            Field::new("a", Wanted::SameAs("b".into())),
        ];
        for field in right {
            assert_eq!(field.problem(&answer), None);
        }
        let wrong = [
            Field::is("a", "1"),
            Field::new("n", Wanted::AtLeast(4)),
            Field::new("list", Wanted::Length(1)),
            Field::new("none", Wanted::Something),
            Field::new("absent", Wanted::SameAs("gone".into())),
        ];
        for field in wrong {
            assert!(field.problem(&answer).is_some(), "{field:?}");
        }
    }
}
