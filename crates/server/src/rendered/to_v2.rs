//! From 3.2 to 2.2 as OpenShift's server translates, so that an old machine gets the same from both.
//!
//! Filesystems are named by where they are mounted, files are split from what is appended to them, and
//! a file without contents is left out. What 2.2 has no words for is refused.

use serde_json::{Map, Value, json};

use super::older::items;

/// The formats that 2.2 can make.
const FORMATS: [&str; 5] = ["ext4", "btrfs", "xfs", "vfat", "swap"];
/// Schemes of sources that 2.2 does not know.
const YOUNGER_SCHEMES: [&str; 2] = ["gs:", "arn:"];

/// Writes a config of 3.2 in 2.2, or lists what cannot be said there.
pub(super) fn translate(config: &Value) -> Result<Value, Vec<String>> {
    let mut writer = Writer::default();
    for (path, lacks) in [("/ignition/proxy", "proxy"), ("/storage/luks", "luks")] {
        if config.pointer(path).is_some() {
            writer.refuse(lacks, format!("2.2.0 has no {lacks}"));
        }
    }
    let storage = &config["storage"];
    let mounted: Vec<&str> = items(&storage["filesystems"])
        .filter_map(|filesystem| filesystem["path"].as_str())
        .collect();
    let entry = |node: &Value| entry(node, &mounted);
    let mut files = Vec::new();
    for file in items(&storage["files"]) {
        files.extend(writer.file(file, entry(file)));
    }
    let directories = items(&storage["directories"]).map(|node| with(entry(node), node, &["mode"]));
    let links = items(&storage["links"]).map(|node| {
        let said = said(node, &[], &["hard", "target"]);
        entry(node).into_iter().chain(said).collect::<Map<_, _>>()
    });
    let written = json!({
        "ignition": writer.ignition(&config["ignition"]),
        "passwd": {
            "users": writer.accounts(&config["passwd"]["users"], "passwd.users"),
            "groups": writer.accounts(&config["passwd"]["groups"], "passwd.groups"),
        },
        "storage": {
            "disks": writer.disks(&storage["disks"]),
            "raid": list(&storage["raid"], |raid| {
                said(raid, &["devices", "options"], &["name", "level", "spares"])
            }),
            "filesystems": writer.filesystems(&storage["filesystems"]),
            "files": files,
            "directories": directories.collect::<Vec<_>>(),
            "links": links.collect::<Vec<_>>(),
        },
        "systemd": {"units": list(&config["systemd"]["units"], unit)},
    });
    writer.check_paths(&written["storage"]);
    match writer.lost.as_slice() {
        [] => Ok(without_empty_parts(written)),
        _ => Err(writer.lost),
    }
}

#[derive(Debug, Default)]
struct Writer {
    lost: Vec<String>,
}

impl Writer {
    fn refuse(&mut self, place: &str, why: impl AsRef<str>) {
        self.lost.push(format!("{place}: {}", why.as_ref()));
    }

    fn ignition(&mut self, ignition: &Value) -> Value {
        let replace = &ignition["config"]["replace"];
        let replace = (!replace.is_null()).then(|| self.reference(replace));
        let append = items(&ignition["config"]["merge"]).map(|merge| self.reference(merge));
        let append: Vec<Value> = append.collect();
        let authorities = items(&ignition["security"]["tls"]["certificateAuthorities"]);
        let authorities: Vec<Value> = authorities.map(|one| self.reference(one)).collect();
        json!({
            "version": "2.2.0",
            "config": {"append": append, "replace": replace},
            "security": {"tls": {"certificateAuthorities": authorities}},
            "timeouts": ignition["timeouts"],
        })
    }

    /// Writes where a config or an authority comes from.
    fn reference(&mut self, reference: &Value) -> Value {
        if !reference["compression"].is_null() {
            self.refuse("ignition", "2.2.0 has no compression of configs");
        }
        self.resource(reference, "ignition")
    }

    fn resource(&mut self, resource: &Value, place: &str) -> Value {
        if !resource["httpHeaders"].is_null() {
            self.refuse(place, "2.2.0 has no httpHeaders");
        }
        let hash = resource["verification"]["hash"].as_str();
        if hash.is_some_and(|hash| !hash.starts_with("sha512-")) {
            self.refuse(place, "2.2.0 knows no other hashes than sha512");
        }
        let source = resource["source"].as_str().unwrap_or_default();
        if YOUNGER_SCHEMES
            .iter()
            .any(|scheme| source.starts_with(scheme))
        {
            self.refuse(place, "2.2.0 does not know the scheme of this source");
        }
        said(resource, &["verification"], &["compression", "source"]).into()
    }

    /// Writes a file, and each thing that is appended to it as an entry of its own.
    fn file(&mut self, file: &Value, mut entry: Map<String, Value>) -> Vec<Value> {
        let path = file["path"].as_str().unwrap_or_default();
        let place = format!("storage.files: {path}");
        // Files are overwritten in 2.2 unless it says otherwise.
        entry.entry("overwrite").or_insert(false.into());
        let entry = with(entry, file, &["mode"]);
        let mut written = Vec::new();
        if !file["contents"]["source"].is_null() {
            let mut whole = entry.clone();
            whole.insert("contents".into(), self.resource(&file["contents"], &place));
            written.push(whole.into());
        }
        for part in items(&file["append"]) {
            let mut more = entry.clone();
            more.insert("append".into(), true.into());
            more.insert("overwrite".into(), false.into());
            more.insert("contents".into(), self.resource(part, &place));
            written.push(more.into());
        }
        written
    }

    fn accounts(&mut self, accounts: &Value, place: &str) -> Value {
        list(accounts, |account| {
            if account["shouldExist"] == false {
                self.refuse(place, "2.2.0 cannot remove users and groups");
            }
            let is_user = place.ends_with("users");
            let kept: &[&str] = if is_user {
                &["uid", "passwordHash", "groups", "sshAuthorizedKeys"]
            } else {
                &["gid"]
            };
            let plain = [
                "name",
                "passwordHash",
                "system",
                "gecos",
                "homeDir",
                "noCreateHome",
                "noLogInit",
                "noUserGroup",
                "primaryGroup",
                "shell",
            ];
            let plain: Vec<&str> = plain
                .into_iter()
                .filter(|name| !kept.contains(name))
                .collect();
            said(account, kept, &plain)
        })
    }

    fn disks(&mut self, disks: &Value) -> Value {
        list(disks, |disk| {
            let place = format!(
                "storage.disks: {}",
                disk["device"].as_str().unwrap_or_default()
            );
            let partitions = list(&disk["partitions"], |partition| {
                if !partition["sizeMiB"].is_null() || !partition["startMiB"].is_null() {
                    self.refuse(&place, "2.2.0 counts sectors of a disk, not MiB");
                }
                if partition["resize"] == true {
                    self.refuse(&place, "2.2.0 cannot resize partitions");
                }
                said(partition, &[], &["guid", "label", "number", "typeGuid"])
            });
            let mut written = said(disk, &[], &["device", "wipeTable"]);
            written.insert("partitions".into(), partitions);
            written
        })
    }

    fn filesystems(&mut self, filesystems: &Value) -> Value {
        let mut nameless = 0;
        list(filesystems, |filesystem| {
            let device = filesystem["device"].as_str().unwrap_or_default();
            let place = format!("storage.filesystems: {device}");
            if !filesystem["mountOptions"].is_null() {
                self.refuse(&place, "2.2.0 has no mountOptions");
            }
            let format = filesystem["format"].as_str().unwrap_or_default();
            if !FORMATS.contains(&format) {
                self.refuse(&place, "2.2.0 makes ext4, btrfs, xfs, vfat and swap only");
            }
            let name = filesystem["path"].as_str().map(str::to_owned);
            let name = name.unwrap_or_else(|| {
                nameless += 1;
                format!("{nameless}")
            });
            let mount = said(
                filesystem,
                &["label", "uuid", "options"],
                &["device", "format", "wipeFilesystem"],
            );
            let mut written = Map::new();
            written.insert("name".into(), name.into());
            written.insert("mount".into(), mount.into());
            written
        })
    }

    /// Refuses entries whose path is none any more without that of their filesystem.
    fn check_paths(&mut self, storage: &Value) {
        for list in ["files", "directories", "links"] {
            for entry in items(&storage[list]) {
                let path = entry["path"].as_str().unwrap_or_default();
                if !path.starts_with('/') {
                    let filesystem = entry["filesystem"].as_str().unwrap_or_default();
                    let why = format!("2.2.0 cannot say where it is within {filesystem}");
                    self.refuse(&format!("storage.{list}: {filesystem}{path}"), why);
                }
            }
        }
    }
}

/// Writes what files, directories and links have in common.
fn entry(node: &Value, mounted: &[&str]) -> Map<String, Value> {
    let path = node["path"].as_str().unwrap_or_default();
    let above = mounted.iter().filter(|above| path.starts_with(**above));
    let above = above.max_by_key(|above| above.len());
    let within = above.and_then(|above| path.strip_prefix(above));
    let mut written = with(Map::new(), node, &["overwrite"]);
    written.insert("filesystem".into(), above.copied().unwrap_or("root").into());
    written.insert("path".into(), within.unwrap_or(path).into());
    for owner in ["user", "group"] {
        if !node[owner].is_null() {
            let who = said(&node[owner], &["id"], &["name"]);
            written.insert(owner.into(), who.into());
        }
    }
    written
}

fn unit(unit: &Value) -> Map<String, Value> {
    let mut written = said(unit, &["enabled"], &["name", "contents", "mask"]);
    let dropins = list(&unit["dropins"], |dropin| {
        said(dropin, &[], &["name", "contents"])
    });
    written.insert("dropins".into(), dropins);
    written
}

fn list(value: &Value, write: impl FnMut(&Value) -> Map<String, Value>) -> Value {
    items(value).map(write).collect()
}

fn with(mut written: Map<String, Value>, from: &Value, names: &[&str]) -> Map<String, Value> {
    written.extend(said(from, names, &[]));
    written
}

/// Takes fields over: some if they are said, some only if they are not empty, zero or false.
fn said(from: &Value, if_said: &[&str], if_not_empty: &[&str]) -> Map<String, Value> {
    let take = |name: &&str| {
        let value = from.get(*name).filter(|value| !value.is_null())?;
        Some(((*name).to_owned(), value.clone()))
    };
    let is_something = |(_, value): &(String, Value)| match value {
        Value::Bool(flag) => *flag,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_i64() != Some(0),
        _ => true,
    };
    let plain = if_not_empty.iter().filter_map(take).filter(is_something);
    if_said.iter().filter_map(take).chain(plain).collect()
}

/// Takes out parts and lists that say nothing; an item of a list and who owns an entry stay.
fn without_empty_parts(value: Value) -> Value {
    let Value::Object(fields) = value else {
        return match value {
            Value::Array(items) => items.into_iter().map(without_empty_parts).collect(),
            plain => plain,
        };
    };
    let fields = fields.into_iter();
    let fields = fields.map(|(name, value)| (name, without_empty_parts(value)));
    let says = |(name, value): &(String, Value)| match value {
        Value::Null => false,
        Value::Object(fields) => !fields.is_empty() || matches!(&**name, "user" | "group"),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    Value::Object(fields.filter(says).collect())
}
