//! What the way to another version needs besides the translation of a config as such.
//!
//! Two things go through OpenShift's server as they are written, though the newest spec gives them
//! another meaning or no place: bits of a mode that are special, and what says the default in words.

use bootlace_ignition::Version;
use serde_json::Value;

/// Setuid, setgid and sticky.
const SPECIAL_BITS: u64 = 0o7000;

/// Modes with special bits: the list, the path of the entry, and the mode.
pub(crate) type SpecialModes = Vec<(&'static str, String, u64)>;

/// Looks for modes with special bits, which translation to the newest spec takes away.
pub(super) fn special_modes(config: &Value) -> SpecialModes {
    let mut found = Vec::new();
    for list in ["directories", "files"] {
        for entry in items(&config["storage"][list]) {
            let mode = entry["mode"].as_u64().unwrap_or_default();
            if let Some(path) = entry["path"].as_str()
                && mode & SPECIAL_BITS != 0
            {
                found.push((list, path.to_owned(), mode));
            }
        }
    }
    found
}

/// Puts modes back, or says that the version has none like these.
pub(super) fn restore(
    modes: &SpecialModes,
    config: &mut Value,
    version: Version,
) -> Result<(), Vec<String>> {
    if version < Version::V3_4 && !modes.is_empty() {
        let lost = modes.iter().map(|(list, path, _)| {
            format!("storage.{list}: {path}: {version} has no special bits of a mode")
        });
        return Err(lost.collect());
    }
    for (list, path, mode) in modes {
        for entry in items_mut(&mut config["storage"], list) {
            // A file that gave way to an appended one has another mode by now.
            if entry["path"] == **path && entry["mode"] == (mode & !SPECIAL_BITS) {
                entry["mode"] = (*mode).into();
            }
        }
    }
    Ok(())
}

/// Takes out what says in words what a version means anyway, and has no words for.
pub(super) fn ease(config: &mut Value, version: Version) {
    if version >= Version::V3_2 {
        return;
    }
    for list in ["users", "groups"] {
        for account in items_mut(&mut config["passwd"], list) {
            take_if(account, "shouldExist", &true.into());
        }
    }
    each_partition(config, |partition| {
        take_if(partition, "resize", &false.into());
    });
}

/// Takes out what is the same as nothing, and not written by Go.
pub(super) fn tidy(config: &mut Value) {
    each_partition(config, |partition| {
        take_if(partition, "number", &0.into());
    });
}

fn each_partition(config: &mut Value, mut change: impl FnMut(&mut Value)) {
    for disk in items_mut(&mut config["storage"], "disks") {
        items_mut(disk, "partitions").for_each(&mut change);
    }
}

fn take_if(object: &mut Value, name: &str, value: &Value) {
    if let Some(fields) = object.as_object_mut()
        && fields.get(name) == Some(value)
    {
        fields.remove(name);
    }
}

/// Returns the items of a list; none of what is no list.
pub(super) fn items(value: &Value) -> std::slice::Iter<'_, Value> {
    value.as_array().map_or(&[][..], Vec::as_slice).iter()
}

fn items_mut<'v>(object: &'v mut Value, name: &str) -> std::slice::IterMut<'v, Value> {
    let list = object.get_mut(name).and_then(Value::as_array_mut);
    list.map_or(&mut [][..], Vec::as_mut_slice).iter_mut()
}
