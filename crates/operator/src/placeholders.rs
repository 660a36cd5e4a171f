//! Words in the release's manifests that every cluster has its own values for.
//!
//! A release is made once and runs in many clusters. What differs between them stands in the
//! manifests as a word, and in the cluster in the `ConfigMap` `bootlace-system/cluster-config`. The
//! image of the operator itself is a word, too: it holds the manifests, so they cannot hold its digest.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use bootlace_model::config::Cidr;
use serde_json::Value;

/// A word, and where its value comes from.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Placeholder {
    /// The word in the manifests.
    word: &'static str,
    /// Where its value comes from.
    source: Source,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// This key of the cluster's own values, of this kind.
    Cluster(&'static str, Kind),
    /// This name in the release's `image-references`.
    Image(&'static str),
}

/// What a value of the cluster has to be.
///
/// Words stand within configs of other programs: a value with a line break or a brace would add to them
/// whatever its writer wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Networks, with commas between them.
    Networks,
    /// Addresses, with commas between them.
    Addresses,
    /// A DNS name.
    Domain,
    /// An HTTPS address without a path.
    Server,
}

impl Kind {
    fn allows(self, value: &str) -> bool {
        match self {
            Self::Networks => value.split(',').all(|one| one.parse::<Cidr>().is_ok()),
            Self::Addresses => value.split(',').all(|one| one.parse::<IpAddr>().is_ok()),
            Self::Domain => is_dns_name(value),
            Self::Server => value.strip_prefix("https://").is_some_and(is_host_and_port),
        }
    }

    /// Completes the sentence: the value is not …
    fn name(self) -> &'static str {
        match self {
            Self::Networks => "a network such as 10.96.0.0/12",
            Self::Addresses => "an address such as 10.96.0.10",
            Self::Domain => "a DNS name such as cluster.local",
            Self::Server => "an address such as https://10.0.0.1:6443",
        }
    }
}

fn is_dns_name(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| {
        let ends = !label.starts_with('-') && !label.ends_with('-');
        !label.is_empty() && label.len() <= 63 && ends && label.bytes().all(is_inner)
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

fn is_host_and_port(text: &str) -> bool {
    if text.parse::<SocketAddr>().is_ok() {
        return true;
    }
    let (host, port) = text.rsplit_once(':').unwrap_or((text, "443"));
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    is_dns_name(host) && is_port
}

const PLACEHOLDERS: &[Placeholder] = &[
    Placeholder::cluster("POD_CIDR", "podCIDR", Kind::Networks),
    Placeholder::cluster("SERVICE_CIDR", "serviceCIDR", Kind::Networks),
    Placeholder::cluster("CLUSTER_DNS", "clusterDNS", Kind::Addresses),
    Placeholder::cluster("CLUSTER_DOMAIN", "clusterDomain", Kind::Domain),
    Placeholder::cluster("API_SERVER", "server", Kind::Server),
    Placeholder {
        word: "BOOTLACE_IMAGE",
        source: Source::Image("bootlace"),
    },
];

impl Placeholder {
    const fn cluster(word: &'static str, key: &'static str, kind: Kind) -> Self {
        let source = Source::Cluster(key, kind);
        Self { word, source }
    }
}

/// A word that cannot be replaced.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lack {
    /// Why, with the place to put it right.
    pub(crate) why: String,
    /// Whether a value may still come: the cluster's values are made while it starts.
    pub(crate) may_come: bool,
}

/// The values of this cluster and of this release.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Values {
    /// The data of the `ConfigMap`.
    pub(crate) cluster: BTreeMap<String, String>,
    /// The images of the release, by name.
    pub(crate) images: BTreeMap<String, String>,
}

impl Values {
    fn get(&self, placeholder: &Placeholder) -> Result<&str, Lack> {
        let (value, why, may_come) = match placeholder.source {
            Source::Cluster(key, kind) => {
                let place = "the ConfigMap bootlace-system/cluster-config";
                match self.cluster.get(key) {
                    // The value itself is not shown: it may be of any length and hold anything.
                    Some(value) if !kind.allows(value) => {
                        let why = format!("{key} of {place} is not {}", kind.name());
                        (None, why, true)
                    }
                    value => (value, format!("{place} has no {key}"), true),
                }
            }
            Source::Image(name) => {
                let why = format!("image-references names no image {name}");
                (self.images.get(name), why, false)
            }
        };
        value.map(String::as_str).ok_or(Lack { why, may_come })
    }
}

/// Reads the images of a release from its `image-references`; what cannot be read names none.
pub(crate) fn images(image_references: &str) -> BTreeMap<String, String> {
    let references: Value = serde_json::from_str(image_references).unwrap_or_default();
    let tags = references.pointer("/spec/tags").and_then(Value::as_array);
    let image = |tag: &Value| {
        let name = tag.get("name")?.as_str()?;
        let image = tag.pointer("/from/name")?.as_str()?;
        Some((name.to_owned(), image.to_owned()))
    };
    tags.into_iter().flatten().filter_map(image).collect()
}

/// Puts values in the place of words, and tells which have none that can be used.
///
/// Only texts are looked at, after the manifest was parsed: no value can add a field.
pub(crate) fn fill(object: &mut Value, values: &Values) -> BTreeSet<Lack> {
    let mut missing = BTreeSet::new();
    fill_in(object, values, &mut missing);
    missing
}

fn fill_in(value: &mut Value, values: &Values, missing: &mut BTreeSet<Lack>) {
    match value {
        Value::String(text) => {
            for placeholder in PLACEHOLDERS {
                let word = placeholder.word;
                if find(text, word, 0).is_none() {
                    continue;
                }
                match values.get(placeholder) {
                    Ok(value) => *text = replace(text, word, value),
                    Err(lack) => {
                        missing.insert(lack);
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

    fn values(pairs: &[(&str, &str)]) -> Values {
        let pairs = pairs.iter();
        let cluster = pairs.map(|(key, value)| (key.to_string(), value.to_string()));
        Values {
            cluster: cluster.collect(),
            images: BTreeMap::new(),
        }
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
    fn words_without_a_value_are_told_with_the_place_to_put_it() {
        let mut object = json!(["CLUSTER_DNS", "BOOTLACE_IMAGE", "POD_CIDR"]);
        let missing = fill(&mut object, &values(&[("podCIDR", "10.0.0.0/8")]));
        let told: Vec<&str> = missing.iter().map(|lack| lack.why.as_str()).collect();
        assert_eq!(
            told,
            [
                "image-references names no image bootlace",
                "the ConfigMap bootlace-system/cluster-config has no clusterDNS",
            ]
        );
        assert_eq!(missing.iter().filter(|lack| lack.may_come).count(), 1);
    }

    #[test]
    fn no_value_writes_into_the_config_around_it() {
        let good = [
            ("podCIDR", "10.244.0.0/16,fd00::/48"),
            ("serviceCIDR", "10.96.0.0/12"),
            ("clusterDNS", "10.96.0.10"),
            ("clusterDomain", "cluster.local"),
            ("server", "https://api.example.org:6443"),
            ("server", "https://[fd00::1]:6443"),
        ];
        let bad = [
            ("podCIDR", "10.244.0.0/16\nbindAddress: 0.0.0.0"),
            ("podCIDR", ""),
            ("serviceCIDR", "10.96.0.0/12 --bind"),
            ("clusterDNS", "10.96.0.10\n"),
            ("clusterDomain", "cluster.local {\n  forward . 10.6.6.6"),
            ("clusterDomain", "cluster..local"),
            ("server", "http://10.0.0.1:6443"),
            ("server", "https://10.0.0.1:6443/\ntoken: x"),
            ("server", "https://10.0.0.1:+6443"),
            ("server", "https://user@10.0.0.1:6443"),
        ];
        for (is_good, (key, value)) in good
            .map(|row| (true, row))
            .into_iter()
            .chain(bad.map(|row| (false, row)))
        {
            let word = PLACEHOLDERS
                .iter()
                .find(|known| matches!(known.source, Source::Cluster(of, _) if of == key));
            let mut object = json!(word.unwrap().word);
            let missing = fill(&mut object, &values(&[(key, value)]));
            assert_eq!(missing.is_empty(), is_good, "{key}: {value}");
            assert_eq!(object == value, is_good, "{key}: {value}");
            assert!(
                missing
                    .iter()
                    .all(|lack| lack.why.contains(key) && lack.may_come)
            );
        }
    }

    #[test]
    fn the_operator_s_own_image_is_the_one_of_the_release() {
        let references = json!({"kind": "ImageStream", "spec": {"tags": [
            {"name": "etcd", "from": {"name": "r/etcd@sha256:1"}},
            {"name": "bootlace", "from": {"kind": "DockerImage", "name": "r/bootlace@sha256:2"}}]}});
        let values = Values {
            images: images(&references.to_string()),
            ..Values::default()
        };
        let mut object = json!({"image": "BOOTLACE_IMAGE"});
        assert!(fill(&mut object, &values).is_empty());
        assert_eq!(object["image"], "r/bootlace@sha256:2");
        assert!(images("nonsense").is_empty());
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
                    expected.push_str(if word == "POD_CIDR" { "10.0.0.0/8" } else { &word });
                    word.clear();
                    expected.push(c);
                }
            }
            expected.pop();
            let mut object = json!(text);
            fill(&mut object, &values(&[("podCIDR", "10.0.0.0/8")]));
            prop_assert_eq!(object, json!(expected));
        }
    }
}
