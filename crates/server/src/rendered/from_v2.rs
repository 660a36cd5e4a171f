//! From 2.1 and 2.2 to 3.0, for pools whose config was rendered long ago.
//!
//! What stands twice is one, as OpenShift's server makes it: the later file and unit win, and go before
//! the earlier ones; the keys of a user are joined.

use serde_json::{Map, Value, json};

use super::older::items;

/// The only user that such configs may have.
const USER: &str = "core";

/// Tells whether a config is of a version that is translated here.
pub(super) fn is_meant(config: &Value) -> bool {
    let version = config["ignition"]["version"].as_str();
    version.is_some_and(|version| matches!(version, "2.1.0" | "2.2.0"))
}

/// Writes a config of 2.x in 3.0, or says why that cannot be.
pub(super) fn translate(config: &Value) -> Result<Value, String> {
    refuse_what_is_gone(config)?;
    refuse_paths_through_links(&config["storage"])?;
    let ignition = &config["ignition"];
    let units = without_duplicates(&config["systemd"]["units"], "name", join_dropins);
    let groups = list(&config["passwd"]["groups"], |group| {
        let mut written = kept(group, &["gid"]);
        written.extend(worth(group, &["name", "passwordHash", "system"]));
        written
    });
    Ok(json!({
        "ignition": {
            "version": "3.0.0",
            "config": {"merge": ignition["config"]["append"], "replace": ignition["config"]["replace"]},
            "security": ignition["security"],
            "timeouts": ignition["timeouts"],
        },
        "passwd": {"users": user(&config["passwd"]["users"])?, "groups": groups},
        "storage": storage(&config["storage"], ignition["version"] == "2.1.0"),
        "systemd": {"units": units.iter().map(unit).collect::<Vec<_>>()},
    }))
}

/// Writes what is stored; nothing and zero were the same mode in 2.1.
fn storage(storage: &Value, is_2_1: bool) -> Value {
    let entry_with_mode = |node: &Value| {
        let mut written = entry(node);
        written.extend(kept(node, &["mode"]));
        if is_2_1 {
            written.entry("mode").or_insert(0.into());
        }
        written
    };
    let files = without_duplicates(&storage["files"], "path", |_, _| {});
    let files = files.iter().map(|node| file(node, entry_with_mode(node)));
    json!({
        "files": files.collect::<Vec<_>>(),
        "directories": list(&storage["directories"], entry_with_mode),
        "links": list(&storage["links"], |node| {
            let mut written = entry(node);
            written.extend(worth(node, &["hard"]));
            written.insert("target".into(), node["target"].clone());
            written
        }),
        "disks": list(&storage["disks"], |disk| worth(disk, &["device", "wipeTable"])),
        "raid": list(&storage["raid"], |raid| {
            let mut written = worth(raid, &["name", "spares"]);
            written.extend(kept(raid, &["level", "devices", "options"]));
            written
        }),
    })
}

/// Refuses what 3.x has nothing for, or what was frowned upon before.
fn refuse_what_is_gone(config: &Value) -> Result<(), String> {
    if items(&config["networkd"]["units"]).next().is_some() {
        return Err("networkd: 3.x has no networkd, only files".into());
    }
    let mut filesystems = items(&config["storage"]["filesystems"]);
    if filesystems.any(|filesystem| filesystem["name"] != "root") {
        return Err("storage.filesystems: nothing says where they are mounted".into());
    }
    if items(&config["passwd"]["users"]).any(|user| !user["create"].is_null()) {
        return Err("passwd.users: `create` was replaced by fields of the user".into());
    }
    let mut disks = items(&config["storage"]["disks"]);
    if disks.any(|disk| items(&disk["partitions"]).next().is_some()) {
        return Err("storage.disks: 3.x counts MiB, not sectors of a disk".into());
    }
    Ok(())
}

/// Refuses entries below links of the same config: who makes which first is not said in 3.x.
fn refuse_paths_through_links(storage: &Value) -> Result<(), String> {
    let links: Vec<&str> = items(&storage["links"])
        .filter_map(|link| link["path"].as_str())
        .collect();
    for list in ["files", "directories", "links"] {
        for entry in items(&storage[list]) {
            let path = entry["path"].as_str().unwrap_or_default();
            let leads = |link: &&&str| path != **link && path.starts_with(**link);
            if let Some(link) = links.iter().find(leads) {
                return Err(format!(
                    "storage.{list}: {path} leads through the link {link}"
                ));
            }
        }
    }
    Ok(())
}

/// Keeps the last of several items with the same key, from the last to the first.
fn without_duplicates(list: &Value, key: &str, join: impl Fn(&mut Value, &Value)) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for item in items(list).rev() {
        match kept.iter_mut().find(|later| later[key] == item[key]) {
            Some(later) => join(later, item),
            None => kept.push(item.clone()),
        }
    }
    kept
}

/// Adds the dropins of an earlier unit that a later one of the same name does not have.
fn join_dropins(later: &mut Value, earlier: &Value) {
    let mut dropins: Vec<Value> = items(&later["dropins"]).cloned().collect();
    for dropin in items(&earlier["dropins"]) {
        if !dropins.iter().any(|there| there["name"] == dropin["name"]) {
            dropins.push(dropin.clone());
        }
    }
    later["dropins"] = dropins.into();
}

/// Writes the one user, with the keys of all of that name.
fn user(users: &Value) -> Result<Vec<Value>, String> {
    let Some(last) = items(users).next_back() else {
        return Ok(vec![]);
    };
    let mut keys: Vec<Value> = Vec::new();
    for user in items(users).rev() {
        if user["name"] != USER {
            return Err(format!("passwd.users: only the user {USER} can be there"));
        }
        for key in items(&user["sshAuthorizedKeys"]) {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
    }
    let names = [
        "name",
        "gecos",
        "homeDir",
        "noCreateHome",
        "noLogInit",
        "noUserGroup",
        "primaryGroup",
        "shell",
        "system",
    ];
    let mut written = worth(last, &names);
    written.extend(kept(last, &["uid", "passwordHash", "groups"]));
    written.insert("sshAuthorizedKeys".into(), keys.into());
    Ok(vec![written.into()])
}

fn file(file: &Value, mut written: Map<String, Value>) -> Value {
    let mut contents = worth(&file["contents"], &["compression"]);
    contents.extend(kept(&file["contents"], &["verification"]));
    let source = file["contents"]["source"].as_str().unwrap_or_default();
    contents.insert("source".into(), source.into());
    if file["append"] == true {
        written.insert("overwrite".into(), false.into());
        written.insert("append".into(), json!([contents]));
    } else {
        // 2.x overwrites unless it says otherwise.
        written.entry("overwrite").or_insert(true.into());
        written.insert("contents".into(), contents.into());
    }
    written.into()
}

/// Writes what files, directories and links have in common.
fn entry(node: &Value) -> Map<String, Value> {
    let mut written = kept(node, &["path", "overwrite"]);
    for owner in ["user", "group"] {
        let mut who = kept(&node[owner], &["id"]);
        who.extend(worth(&node[owner], &["name"]));
        if !who.is_empty() {
            written.insert(owner.into(), who.into());
        }
    }
    written
}

fn unit(unit: &Value) -> Map<String, Value> {
    let mut written = worth(unit, &["name", "contents", "mask"]);
    written.extend(kept(unit, &["enabled"]));
    if unit["enable"] == true {
        written.entry("enabled").or_insert(true.into());
    }
    let dropins = items(&unit["dropins"]).map(|dropin| worth(dropin, &["name", "contents"]));
    written.insert("dropins".into(), dropins.map(Value::from).collect());
    written
}

fn list(value: &Value, write: impl FnMut(&Value) -> Map<String, Value>) -> Value {
    items(value).map(write).collect()
}

/// Takes fields over that are said.
fn kept(from: &Value, names: &[&str]) -> Map<String, Value> {
    let said = names.iter().filter_map(|name| {
        let value = from.get(*name).filter(|value| !value.is_null())?;
        Some(((*name).to_owned(), value.clone()))
    });
    said.collect()
}

/// Takes fields over that are not empty, zero or false.
fn worth(from: &Value, names: &[&str]) -> Map<String, Value> {
    let nothing = [json!(""), json!(0), json!(false)];
    let mut said = kept(from, names);
    said.retain(|_, value| !nothing.contains(value));
    said
}
