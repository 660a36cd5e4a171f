//! YAML → trees with places. The only file that knows the YAML reader.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{
    DuplicateKeyPolicy, Error, Location, MergeKeyPolicy, NonFiniteFloatPolicy, Spanned,
};

use super::findings::Finding;
use super::tree::{Entry, Map, Node, Origin, Source, Value};

/// How deep maps and lists may lie in each other; our own documents need four levels.
const DEEPEST: usize = 32;

/// How many values one text may have, with everything that its aliases repeat.
const MOST_VALUES: usize = 20_000;

/// Why there are limits.
const WHY_LIMITS: &str = "reading it could use up the memory of the machine";

/// What a config that cannot be read means to the reader of the error.
pub(super) const WHY_READABLE: &str =
    "a config is read completely before anything begins, so nothing was changed";

/// Reads every document of a text that is not empty; `start` is the place where the text begins.
pub(super) fn read(text: &str, start: &Origin) -> Result<Vec<Node>, Finding> {
    let documents: Vec<Spanned<Raw>> = serde_saphyr::from_multiple_with_options(text, options())
        .map_err(|error| unreadable(start, &error))?;
    let place = |raw| place(raw, &start.source);
    Ok(documents.into_iter().map(place).collect())
}

/// Strict where YAML is lax, and with limits that end an alias bomb early.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            max_nodes: MOST_VALUES,
            max_events: 4 * MOST_VALUES,
            max_documents: 64,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MOST_VALUES,
            max_replay_stack_depth: 8,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        // Our types refuse the text in its place, and then with the place of the value.
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

/// Turns an error of the YAML reader into one of ours.
fn unreadable(start: &Origin, error: &Error) -> Finding {
    let at = match error.location() {
        Some(location) if location != Location::UNKNOWN => Origin {
            source: Arc::clone(&start.source),
            line: location.line(),
            column: location.column(),
        },
        _ => start.clone(),
    };
    let (what, why, hint) = explain(error);
    Finding::new(&at, what, why, hint)
}

/// Says in our words what the YAML reader stumbled over.
fn explain(error: &Error) -> (String, &'static str, &'static str) {
    match error {
        Error::AliasError { error, .. } => explain(error),
        Error::DuplicateMappingKey { key, .. } => (
            format!(
                "the key {} stands twice in the same map",
                key.as_deref().unwrap_or("?")
            ),
            "which of the two was meant would be a guess",
            "keep one of the two",
        ),
        Error::MergeKeyNotAllowed { .. } => (
            "the merge key << is not supported".into(),
            "what a merged key overrides differs from one YAML reader to the next",
            "write the keys out, or give what is shared as a file of its own with another --config",
        ),
        Error::UnsupportedTag { tag, .. } => (
            format!("the tag {tag} is not supported"),
            "a tag asks for a type that a config does not have",
            "leave the tag out",
        ),
        Error::Budget {
            breach: BudgetBreach::Depth { .. },
            ..
        } => (
            format!("maps and lists lie more than {DEEPEST} deep in each other"),
            WHY_LIMITS,
            "check the brackets at this place",
        ),
        limit if is_limit(limit) => (
            "the text unfolds into far more values than a config has".into(),
            WHY_LIMITS,
            "write the values out instead of repeating anchors (&name, *name)",
        ),
        Error::UnknownAnchor { .. } => (
            "the alias has no anchor (&name) before it".into(),
            WHY_READABLE,
            "put the text in quotes if it shall begin with *",
        ),
        Error::Unexpected { expected, .. } if *expected == "string scalar" => (
            "a key is not a text".into(),
            WHY_READABLE,
            "write a plain word in front of the colon",
        ),
        other => (
            format!("this is not YAML: {}", first_line(other)),
            WHY_READABLE,
            "check indentation, colons and quotes at this place",
        ),
    }
}

/// Tells whether the reader stopped because the text grew too large.
fn is_limit(error: &Error) -> bool {
    matches!(
        error,
        Error::Budget { .. }
            | Error::AliasReplayLimitExceeded { .. }
            | Error::AliasReplayStackDepthExceeded { .. }
            | Error::AliasExpansionLimitExceeded { .. }
            | Error::AliasReplayCounterOverflow { .. }
    )
}

/// Returns the reader's own first sentence, without the place, which we print ourselves.
fn first_line(error: &Error) -> String {
    let text = error.render_with_formatter(&serde_saphyr::DefaultMessageFormatter);
    let line = text.lines().next().unwrap_or_default();
    let line = line.split(" at line ").next().unwrap_or(line);
    let line = line.strip_prefix("error: ").unwrap_or(line);
    line.trim_end_matches(':').to_owned()
}

/// A value as the YAML reader hands it out.
enum Raw {
    Scalar(Value),
    List(Vec<Spanned<Self>>),
    Map(Vec<(Spanned<String>, Spanned<Self>)>),
}

/// Gives every value its place.
fn place(raw: Spanned<Raw>, source: &Arc<Source>) -> Node {
    let at = |location: Location| Origin {
        source: Arc::clone(source),
        line: location.line(),
        column: location.column(),
    };
    let value = match raw.value {
        Raw::Scalar(value) => value,
        Raw::List(items) => {
            Value::List(items.into_iter().map(|item| place(item, source)).collect())
        }
        Raw::Map(pairs) => {
            let entry = |(key, value): (Spanned<String>, Spanned<Raw>)| {
                let node = place(value, source);
                (
                    key.value,
                    Entry {
                        key: at(key.referenced),
                        node,
                    },
                )
            };
            let entries = pairs.into_iter().map(entry).collect();
            Value::Map(Map {
                entries,
                replaces: false,
            })
        }
    };
    Node {
        value,
        origin: at(raw.referenced),
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true or false, a list or a map")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Null))
    }

    fn visit_none<E: de::Error>(self) -> Result<Raw, E> {
        self.visit_unit()
    }

    fn visit_bool<E: de::Error>(self, bool: bool) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Bool(bool)))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Number(number.into())))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Number(number.into())))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Raw, E> {
        let number = serde_json::Number::from_f64(number);
        let number = number.ok_or_else(|| E::custom("the number is not finite"))?;
        Ok(Raw::Scalar(Value::Number(number)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Text(text.into())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Raw, A::Error> {
        let mut items = vec![];
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut pairs = vec![];
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Raw::Map(pairs))
    }
}
