//! Every path that Ignition will write, so that the first boot knows what to remove.

use std::collections::BTreeSet;

use bootlace_ignition::content::{decode_data_url, finish};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::placement::{Place, of_path};
use super::{RECORD, units};
use crate::tokens::hex;

/// Where units are.
const UNITS: &str = "/etc/systemd/system";
/// What Ignition writes whatever the config says.
const BY_ITSELF: [&str; 2] = [
    "/etc/systemd/system-preset/20-ignition.preset",
    "/etc/.ignition-result.json",
];
/// No file of a config is larger in earnest.
const LARGEST: u64 = 64 << 20;
/// Folders that every system has.
const ALWAYS_THERE: [&str; 4] = ["/", "/etc", "/var", "/etc/systemd/system"];

/// Lists what a served config makes Ignition write, in the order of the paths.
pub(super) fn list(config: &Value) -> Vec<Value> {
    let mut written = Written::default();
    for (kind, list) in [
        ("file", "/storage/files"),
        ("directory", "/storage/directories"),
        ("link", "/storage/links"),
    ] {
        for node in config
            .pointer(list)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            written.node(kind, node);
        }
    }
    // This list is in a file as well.
    written.add("file", RECORD, json!({"mode": "0600"}));
    for unit in config
        .pointer("/systemd/units")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let name = unit["name"].as_str().unwrap_or_default();
        let sha256 = digest(unit["contents"].as_str().unwrap_or_default().as_bytes());
        let facts = json!({"mode": "0644", "sha256": sha256});
        written.add("file", &format!("{UNITS}/{name}"), facts);
    }
    let link = |by: &str, unit: &str| format!("{UNITS}/{by}/{unit}");
    let requires = |unit: &str| format!("{unit}.requires");
    let links = [
        link(&format!("{}.wants", units::WANTED_BY), units::FIRST_BOOT),
        link(&requires(units::FIRST_BOOT), units::PULL),
    ];
    let waiting = units::WAITING.map(|waiting| link(&requires(waiting), units::FIRST_BOOT));
    for path in links.iter().chain(&waiting) {
        written.add("link", path, json!({}));
    }
    for path in BY_ITSELF {
        written.add("file", path, json!({}));
    }
    for user in config
        .pointer("/passwd/users")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        written.user(user);
    }
    written.finish()
}

#[derive(Default)]
struct Written {
    entries: Vec<(String, Value)>,
}

impl Written {
    fn node(&mut self, kind: &'static str, node: &Value) {
        let path = node["path"].as_str().unwrap_or_default();
        let mut facts = json!({});
        if let Some(mode) = node["mode"].as_u64() {
            facts["mode"] = format!("{mode:04o}").into();
        }
        if let Some(content) = literal(&node["contents"]) {
            facts["sha256"] = digest(&content).into();
        }
        if let Some(target) = node["target"].as_str() {
            facts["target"] = target.into();
        }
        self.add(kind, path, facts);
    }

    /// Adds a path. What the first boot shall do with it follows from the table, but for what belongs
    /// to the first boot itself, which is over when the machine has moved.
    fn add(&mut self, kind: &'static str, path: &str, mut facts: Value) {
        let (place, why) = of_path(path);
        let is_kept = place == Place::Machine && path != RECORD;
        facts["path"] = path.into();
        facts["kind"] = kind.into();
        facts["then"] = if is_kept { "keep" } else { "remove" }.into();
        facts["why"] = match place {
            Place::Machine if !is_kept => "used up by the first boot",
            Place::Image => "serves the first boot alone",
            _ => why,
        }
        .into();
        self.entries.push((path.to_owned(), facts));
    }

    fn user(&mut self, user: &Value) {
        let name = user["name"].as_str().unwrap_or_default();
        let facts = json!({"kind": "user", "name": name, "then": "keep",
            "why": "people must be able to log in"});
        self.entries.push((format!("~{name}"), facts));
    }

    /// Adds the folders that Ignition makes on the way to what goes away: they go when they are empty.
    fn finish(mut self) -> Vec<Value> {
        let listed: BTreeSet<&str> = self.entries.iter().map(|(path, _)| path.as_str()).collect();
        let mut parents = BTreeSet::new();
        for (path, facts) in &self.entries {
            let mut rest = path.as_str();
            while let Some((parent, _)) = rest.rsplit_once('/') {
                let is_known = ALWAYS_THERE.contains(&parent) || listed.contains(parent);
                if !parent.is_empty() && !is_known && facts["then"] == "remove" {
                    parents.insert(parent.to_owned());
                }
                rest = parent;
            }
        }
        for path in parents {
            let facts = json!({"path": path, "kind": "directory", "then": "remove-if-empty",
                "why": "made on the way to what is removed"});
            self.entries.push((path, facts));
        }
        self.entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.entries.into_iter().map(|(_, facts)| facts).collect()
    }
}

fn digest(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// Returns the content that a config holds itself; none for what is fetched, since what that becomes is
/// known to the machine alone.
fn literal(contents: &Value) -> Option<Vec<u8>> {
    let raw = decode_data_url(contents["source"].as_str()?).ok()?;
    finish(raw, contents["compression"].as_str(), None, LARGEST).ok()
}
