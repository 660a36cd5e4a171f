//! What a pool serves, in words: each part, where it comes from, where it belongs, and why.

mod content;
mod origin;
#[cfg(test)]
mod tests;
mod withheld;

use bootlace_ignition::Version;
use serde_json::{Value, json};

use self::content::Shown;
use self::origin::Origins;
pub(super) use self::withheld::withhold;
use super::secrets::{redacted, shown_url};
use crate::cache::View;
use crate::layered::image;
use crate::layered::placement::{self, Place};
use crate::rendered::{self, Unrenderable};
use crate::source::Source;

/// How a file is written that says nothing about it.
const MODE: u64 = 0o644;

/// Explains what is served, which is the same config as JSON.
pub(super) fn explain(
    source: &Source,
    view: View,
    version: Version,
    served: &Value,
) -> Result<Value, Unrenderable> {
    let machine_config = rendered::complete(&source.machine_config)?;
    let whole = rendered::ignition(&machine_config)?;
    let origins = Origins::new(source, view, &whole);
    let files = list(served, "/storage/files");
    let mut explained = json!({
        "image": image(source),
        "system": system(&machine_config),
        "files": files.map(|entry| file(entry, &origins)).collect::<Value>(),
        "directories": nodes(served, "/storage/directories", &origins),
        "links": nodes(served, "/storage/links", &origins),
        "units": list(served, "/systemd/units").map(|entry| unit(entry, view)).collect::<Value>(),
        "users": list(served, "/passwd/users").map(user).collect::<Value>(),
        "groups": list(served, "/passwd/groups").map(|group| group["name"].clone()).collect::<Value>(),
        "disks": disks(served),
        "fetches": fetches(served),
        "kernel_arguments": kernel_arguments(&machine_config, &whole),
    });
    if view == View::Layered {
        explained["left_to_the_image"] = left_out(&whole);
    } else if version < Version::V3_3
        && list(&whole, "/kernelArguments/shouldExist")
            .next()
            .is_some()
    {
        explained["note"] = "in this version all kernel arguments are in the MachineConfig: \
            the Ignition config has no place for them"
            .into();
    }
    Ok(explained)
}

fn list<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// Names the image that a layered machine moves to, and what named it.
fn image(source: &Source) -> Value {
    match image::images(source) {
        Ok(images) => json!({
            "name": images.desired, "from": images.from, "bootlace": images.bootlace,
        }),
        Err(reason) => json!({ "problem": reason }),
    }
}

/// Says what the `MachineConfig` wants besides its Ignition part.
fn system(machine_config: &Value) -> Value {
    let spec = &machine_config["spec"];
    let text = |field: &str| redacted(spec[field].as_str().unwrap_or_default()).0;
    json!({
        "os_image": text("osImageURL"),
        "kernel_type": text("kernelType"),
        "fips": spec["fips"],
        "extensions": spec["extensions"],
    })
}

/// Says where something belongs by the table, and why.
fn place(place: Place, why: &str) -> Value {
    let (code, text) = match place {
        Place::Image => ("image", "in the image"),
        Place::UntilPivot => ("until-pivot", "on the machine until it runs its image"),
        Place::Machine => ("machine", "on the machine, for good"),
        Place::FirstBoot => ("first-boot", "set by the first boot"),
    };
    json!({"place": code, "text": text, "why": why})
}

fn place_of_path(path: &str) -> Value {
    let (found, why) = placement::of_path(path);
    place(found, why)
}

fn place_of_part(part: &str) -> Value {
    let row = placement::TABLE.iter().find(|(name, ..)| *name == part);
    row.map_or(Value::Null, |(_, found, why)| place(*found, why))
}

fn mode(node: &Value) -> Option<u64> {
    node["mode"].as_u64()
}

fn octal(mode: u64) -> String {
    format!("{mode:04o}")
}

fn file(file: &Value, origins: &Origins<'_>) -> Value {
    let path = file["path"].as_str().unwrap_or_default();
    let bits = mode(file).unwrap_or(MODE);
    // A mode that is none lets nobody read.
    let readable = u32::try_from(bits).unwrap_or(0);
    let shown = content::of_resource(path, readable, &file["contents"]);
    let appended = list(file, "/append");
    let appended = appended.map(|part| content::of_resource(path, readable, part).content);
    let Shown {
        size,
        sha256,
        content,
    } = shown;
    json!({
        "path": path,
        "mode": octal(bits),
        "owner": owner(file),
        "overwrite": file["overwrite"],
        "size": size,
        "sha256": sha256,
        "content": content,
        "appended": appended.collect::<Value>(),
        "origin": origins.of(path),
        "place": place_of_path(path),
    })
}

fn owner(node: &Value) -> Option<String> {
    let who = |field: &str| {
        let who = &node[field];
        let name = who["name"].as_str().map(ToOwned::to_owned);
        name.or_else(|| who["id"].as_u64().map(|id| id.to_string()))
    };
    match (who("user"), who("group")) {
        (None, None) => None,
        (user, group) => {
            let or_root = |name: Option<String>| name.unwrap_or_else(|| "root".into());
            Some(format!("{}:{}", or_root(user), or_root(group)))
        }
    }
}

/// Lists directories or links.
fn nodes(served: &Value, pointer: &str, origins: &Origins<'_>) -> Value {
    let nodes = list(served, pointer).map(|node| {
        let path = node["path"].as_str().unwrap_or_default();
        json!({
            "path": path,
            "mode": mode(node).map(octal),
            "owner": owner(node),
            "target": node["target"],
            "origin": origins.of(path),
            "place": place_of_path(path),
        })
    });
    nodes.collect()
}

fn unit(unit: &Value, view: View) -> Value {
    let dropins = list(unit, "/dropins").map(|dropin| {
        json!({"name": dropin["name"], "content": content::of_text(dropin["contents"].as_str())})
    });
    let (origin, place) = match view {
        View::Whole => (origin::config(), place_of_part("systemd")),
        View::Layered => (
            origin::server("moves the machine to its image", false),
            place(Place::UntilPivot, "serves the first boot alone"),
        ),
    };
    json!({
        "name": unit["name"],
        "enabled": unit["enabled"],
        "masked": unit["mask"],
        "content": content::of_text(unit["contents"].as_str()),
        "dropins": dropins.collect::<Value>(),
        "origin": origin,
        "place": place,
    })
}

/// Says who may log in, and never by what.
fn user(user: &Value) -> Value {
    let hash = user["passwordHash"].as_str().unwrap_or_default();
    json!({
        "name": user["name"],
        "ssh_keys": list(user, "/sshAuthorizedKeys").count(),
        "has_password": !hash.is_empty(),
        "groups": user["groups"],
        "removed": user["shouldExist"] == false,
    })
}

/// Lists what is made of disks; what opens them is not shown.
fn disks(served: &Value) -> Value {
    let mut disks = Vec::new();
    for (kind, pointer, name) in [
        ("disk", "/storage/disks", "device"),
        ("RAID", "/storage/raid", "name"),
        ("encrypted device", "/storage/luks", "name"),
        ("filesystem", "/storage/filesystems", "device"),
    ] {
        for entry in list(served, pointer) {
            let partitions = list(entry, "/partitions").count();
            disks.push(json!({
                "kind": kind,
                "name": entry[name],
                "path": entry["path"],
                "format": entry["format"],
                "partitions": (partitions > 0).then_some(partitions),
                "hidden": (kind == "encrypted device").then_some("what opens it is a secret"),
            }));
        }
    }
    disks.into()
}

/// Lists what Ignition fetches besides, without what it proves itself by.
fn fetches(served: &Value) -> Value {
    let mut fetches = Vec::new();
    for (what, pointer) in [
        ("merged config", "/ignition/config/merge"),
        ("merged config", "/ignition/config/append"),
        ("authority", "/ignition/security/tls/certificateAuthorities"),
    ] {
        let found = list(served, pointer);
        fetches.extend(found.map(|entry| json!({"what": what, "from": remote(entry)})));
    }
    let replace = &served["ignition"]["config"]["replace"];
    if replace["source"].is_string() {
        fetches.push(json!({"what": "config instead of this one", "from": remote(replace)}));
    }
    for field in ["httpProxy", "httpsProxy"] {
        if let Some(proxy) = served["ignition"]["proxy"][field].as_str() {
            fetches.push(json!({"what": "proxy", "from": shown_url(proxy)}));
        }
    }
    fetches.into()
}

fn remote(resource: &Value) -> String {
    match resource["source"].as_str() {
        Some(url) if url.starts_with("data:") => "inside the config (hidden)".into(),
        Some(url) => shown_url(url),
        None => "nowhere".into(),
    }
}

fn kernel_arguments(machine_config: &Value, whole: &Value) -> Value {
    let mut arguments = Vec::new();
    for (value, pointer, action, part, from) in [
        (
            machine_config,
            "/spec/kernelArguments",
            "add",
            "spec.kernelArguments",
            "the MachineConfig",
        ),
        (
            whole,
            "/kernelArguments/shouldExist",
            "add",
            "kernelArguments",
            "its Ignition config",
        ),
        (
            whole,
            "/kernelArguments/shouldNotExist",
            "remove",
            "kernelArguments",
            "its Ignition config",
        ),
    ] {
        for argument in list(value, pointer) {
            let (argument, _) = redacted(argument.as_str().unwrap_or_default());
            arguments.push(json!({
                "argument": argument, "action": action, "from": from, "place": place_of_part(part),
            }));
        }
    }
    arguments.into()
}

/// Lists what the config has and a layered machine does not get, since it is in its image.
fn left_out(whole: &Value) -> Value {
    let mut left_out = Vec::new();
    for (kind, pointer) in [
        ("file", "/storage/files"),
        ("directory", "/storage/directories"),
        ("link", "/storage/links"),
    ] {
        for node in list(whole, pointer) {
            let path = node["path"].as_str().unwrap_or_default();
            if !placement::of_path(path).0.is_served() {
                left_out.push(json!({"kind": kind, "name": path, "place": place_of_path(path)}));
            }
        }
    }
    for unit in list(whole, "/systemd/units") {
        let place = place_of_part("systemd");
        left_out.push(json!({"kind": "unit", "name": unit["name"], "place": place}));
    }
    left_out.into()
}
