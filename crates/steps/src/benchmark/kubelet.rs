//! What the kubelet is started with, and its config.

use std::collections::BTreeMap;

use bootlace_model::fact::{Ask, Fact, FactError, Facts, FileContent};
use bootlace_model::probe::FileTree;
use serde_json::Value;

use super::flags::{Flags, flags};
use super::machine::{first, read, tree};
use super::unit::Unit;
use crate::documents::ending;

const KUBELET: Fact<FileContent> = Fact::new("benchmark.kubelet");
const KUBELET_DROPINS: Fact<FileTree> = Fact::new("benchmark.kubelet-dropins");
const KUBELET_UNIT: Fact<FileContent> = Fact::new("benchmark.kubelet-unit");

/// The kubelet's config.
const KUBELET_CONFIG: &str = "/var/lib/kubelet/config.yaml";
/// The folder of what is added to it.
const KUBELET_CONFIG_DIR: &str = "/etc/kubernetes/kubelet.conf.d";

/// Where systemd finds drop-ins of the kubelet's unit, the most important folder first.
const UNIT_DROPINS: [(&str, Fact<FileTree>); 4] = [
    (
        "/etc/systemd/system/kubelet.service.d",
        Fact::new("benchmark.unit-dropins-etc"),
    ),
    (
        "/run/systemd/system/kubelet.service.d",
        Fact::new("benchmark.unit-dropins-run"),
    ),
    (
        "/usr/local/lib/systemd/system/kubelet.service.d",
        Fact::new("benchmark.unit-dropins-local"),
    ),
    (
        "/usr/lib/systemd/system/kubelet.service.d",
        Fact::new("benchmark.unit-dropins-usr"),
    ),
];

/// Files that may hold the kubelet's flags: our own, and those of kubeadm and its packages.
const VARIABLES: [(&str, Fact<FileContent>); 4] = [
    (
        "/etc/kubernetes/kubelet.env",
        Fact::new("benchmark.kubelet-env"),
    ),
    (
        "/etc/default/kubelet",
        Fact::new("benchmark.default-kubelet"),
    ),
    (
        "/etc/sysconfig/kubelet",
        Fact::new("benchmark.sysconfig-kubelet"),
    ),
    (
        "/var/lib/kubelet/kubeadm-flags.env",
        Fact::new("benchmark.kubeadm-flags"),
    ),
];

/// Lists what has to be asked.
pub(super) fn asks() -> Vec<Ask> {
    let mut asks = vec![
        KUBELET.from(read(KUBELET_CONFIG)),
        KUBELET_DROPINS.from(tree(KUBELET_CONFIG_DIR)),
        KUBELET_UNIT.from(read("/etc/systemd/system/kubelet.service")),
    ];
    asks.extend(UNIT_DROPINS.map(|(path, fact)| fact.from(tree(path))));
    asks.extend(VARIABLES.map(|(path, fact)| fact.from(read(path))));
    asks
}

/// What the kubelet is started with.
#[derive(Debug)]
pub(super) struct Kubelet {
    config: Value,
    flags: Flags,
}

impl Kubelet {
    /// Reads what was asked; an error within says what cannot be followed.
    pub(super) fn read(facts: &Facts) -> Result<Result<Self, String>, FactError> {
        let mut unit = Unit {
            main: facts.get(&KUBELET_UNIT)?.0,
            dropins: vec![],
            variables: BTreeMap::new(),
        };
        for (path, fact) in UNIT_DROPINS {
            unit.dropins.push((path, facts.get(&fact)?));
        }
        for (path, fact) in VARIABLES {
            unit.variables.insert(path, facts.get(&fact)?.0);
        }
        let config = facts.get(&KUBELET)?.0;
        let dropins = facts.get(&KUBELET_DROPINS)?;
        Ok(unit.command().and_then(|command| {
            let flags = flags(command.iter().map(String::as_str));
            let config = merged(&flags, config.as_deref(), &dropins)?;
            Ok(Self { config, flags })
        }))
    }

    /// Returns a setting; a flag wins over the config.
    pub(super) fn setting(&self, pointer: &str, flag: &str) -> Option<String> {
        let flag = self.flags.get(flag).cloned();
        flag.or_else(|| text(self.config.pointer(pointer)))
    }
}

/// Merges the kubelet's config with its drop-ins; an error if the kubelet reads others.
fn merged(flags: &Flags, config: Option<&[u8]>, dropins: &FileTree) -> Result<Value, String> {
    let config = config.ok_or_else(|| format!("no kubelet config in {KUBELET_CONFIG}"))?;
    let is_read = |flag: &str, path: &str| match flags.get(flag) {
        None => Ok(false),
        Some(value) if value.trim_end_matches('/') == path => Ok(true),
        Some(other) => Err(format!("the kubelet's --{flag} is {other}, not {path}")),
    };
    if !is_read("config", KUBELET_CONFIG)? {
        return Err("the kubelet's --config is not set".into());
    }
    let invalid = |path: &str| format!("{path} is not a valid kubelet config");
    let mut merged = first(config).ok_or_else(|| invalid(KUBELET_CONFIG))?;
    if !is_read("config-dir", KUBELET_CONFIG_DIR)? {
        return Ok(merged);
    }
    // The kubelet merges those whose names end so, in the order of their names.
    let is_dropin = |name: &str| ending(name) == "conf";
    if let Some((name, what)) = dropins.odd.iter().find(|(name, _)| is_dropin(name)) {
        return Err(format!(
            "{KUBELET_CONFIG_DIR}/{name} is {what}, which this benchmark does not read"
        ));
    }
    let dropins = dropins.files.iter();
    for file in dropins.filter(|file| is_dropin(&file.relative)) {
        let path = format!("{KUBELET_CONFIG_DIR}/{}", file.relative);
        let over = first(&file.content).ok_or_else(|| invalid(&path))?;
        merge(&mut merged, over);
    }
    Ok(merged)
}

/// Writes a setting as a flag would say it; lists are joined by commas.
pub(super) fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => {
            let texts = values.iter().filter_map(|value| text(Some(value)));
            Some(texts.collect::<Vec<_>>().join(","))
        }
        other => Some(other.to_string()),
    }
}

/// Puts settings over others, as the kubelet does: maps key by key, everything else replaces.
fn merge(into: &mut Value, over: Value) {
    match (into, over) {
        (Value::Object(into), Value::Object(over)) => {
            for (key, value) in over {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (into, over) => *into = over,
    }
}
