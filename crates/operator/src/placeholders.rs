//! Words in the release's manifests that every cluster has its own values for.
//!
//! A release is made once and runs in many clusters. What differs between them stands in the
//! manifests as a word, and in the cluster in the `ConfigMap` `bootlace-system/cluster-config`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Each word, and the key of the `ConfigMap` that holds its value.
pub(crate) const PLACEHOLDERS: [(&str, &str); 5] = [
    ("POD_CIDR", "podCIDR"),
    ("SERVICE_CIDR", "serviceCIDR"),
    ("CLUSTER_DNS", "clusterDNS"),
    ("CLUSTER_DOMAIN", "clusterDomain"),
    ("API_SERVER", "server"),
];

/// Puts values in the place of words, and returns the keys that have no value.
///
/// Only texts are looked at, after the manifest was parsed: no value can add a field.
pub(crate) fn fill(
    object: &mut Value,
    values: &BTreeMap<String, String>,
) -> BTreeSet<&'static str> {
    let mut missing = BTreeSet::new();
    fill_in(object, values, &mut missing);
    missing
}

fn fill_in(
    value: &mut Value,
    values: &BTreeMap<String, String>,
    missing: &mut BTreeSet<&'static str>,
) {
    match value {
        Value::String(text) => {
            for (word, key) in PLACEHOLDERS {
                if find(text, word, 0).is_none() {
                    continue;
                }
                match values.get(key) {
                    Some(value) => *text = replace(text, word, value),
                    None => {
                        missing.insert(key);
                    }
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                fill_in(item, values, missing);
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                fill_in(field, values, missing);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Finds a word that is not part of a longer one.
fn find(text: &str, word: &str, from: usize) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut from = from;
    while let Some(at) = text.get(from..)?.find(word).map(|at| at + from) {
        let end = at + word.len();
        let before = text[..at].chars().next_back();
        let after = text[end..].chars().next();
        if !before.is_some_and(is_part) && !after.is_some_and(is_part) {
            return Some(at);
        }
        from = end;
    }
    None
}

fn replace(text: &str, word: &str, value: &str) -> String {
    let (mut result, mut rest_from) = (String::new(), 0);
    while let Some(at) = find(text, word, rest_from) {
        result.push_str(&text[rest_from..at]);
        result.push_str(value);
        rest_from = at + word.len();
    }
    result.push_str(&text[rest_from..]);
    result
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect()
    }

    #[test]
    fn words_get_their_values_wherever_they_stand() {
        let mut object = json!({"a": "POD_CIDR", "b": ["x=POD_CIDR,y=SERVICE_CIDR"],
            "c": {"d": "server: API_SERVER\nMY_POD_CIDR POD_CIDRS"}, "POD_CIDR": 1});
        let values = values(&[
            ("podCIDR", "10.244.0.0/16"),
            ("serviceCIDR", "10.96.0.0/12"),
            ("server", "https://10.0.0.1:6443"),
        ]);
        assert!(fill(&mut object, &values).is_empty());
        assert_eq!(
            object,
            json!({"a": "10.244.0.0/16", "b": ["x=10.244.0.0/16,y=10.96.0.0/12"],
            "c": {"d": "server: https://10.0.0.1:6443\nMY_POD_CIDR POD_CIDRS"}, "POD_CIDR": 1})
        );
    }

    #[test]
    fn words_without_a_value_are_named_by_their_keys() {
        let mut object = json!(["CLUSTER_DNS", "CLUSTER_DOMAIN", "POD_CIDR"]);
        let missing = fill(&mut object, &values(&[("podCIDR", "x")]));
        assert_eq!(missing, BTreeSet::from(["clusterDNS", "clusterDomain"]));
    }

    proptest! {
        /// The oracle splits the text at everything that is not part of a word.
        #[test]
        fn only_whole_words_are_replaced(text in "(POD_CIDR|POD|_|CIDR| |,|:|a|é|\n){0,12}") {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let mut expected = String::new();
            let mut word = String::new();
            for c in text.chars().chain(['\0']) {
                if is_part(c) {
                    word.push(c);
                } else {
                    expected.push_str(if word == "POD_CIDR" { "VALUE" } else { &word });
                    word.clear();
                    expected.push(c);
                }
            }
            expected.pop();
            let mut object = json!(text);
            fill(&mut object, &values(&[("podCIDR", "VALUE")]));
            prop_assert_eq!(object, json!(expected));
        }
    }
}
