//! Merging machine configs: sorted by name, the later one wins.

use bootlace_model::fault::Fault;
use serde_json::{Map, Value, json};

use super::super::user::UserObject;
use super::{ignition, text};

/// How the entries of a list find each other.
#[derive(Debug, Clone, Copy)]
enum Entries {
    /// By this key; the later entry takes the place of the earlier.
    Replace(&'static str),
    /// By this key; fields of the later entry take the place of those of the earlier.
    Merge(&'static str),
}

/// Lists of an Ignition config whose entries are told apart by a key.
const LISTS: [(&str, Entries); 8] = [
    ("files", Entries::Replace("path")),
    ("directories", Entries::Replace("path")),
    ("links", Entries::Replace("path")),
    ("units", Entries::Merge("name")),
    ("dropins", Entries::Replace("name")),
    ("users", Entries::Merge("name")),
    ("groups", Entries::Merge("name")),
    ("disks", Entries::Replace("device")),
];

/// Refuses a config that cannot be merged with ours.
pub(super) fn check(own: &UserObject) -> Result<(), Fault> {
    let version = text(&own.object, "/spec/config/ignition/version");
    let config = own.object.pointer("/spec/config");
    let empty = config.is_none_or(|config| config.is_null() || *config == json!({}));
    if empty || version.starts_with("3.") {
        return Ok(());
    }
    let name = text(&own.object, "/metadata/name");
    let message = format!("the machine config {name} is written for Ignition {version:?}");
    Err(Fault::bad_input(message)
        .in_file(own.file.as_str())
        .because("it is merged with others, which are written for version 3")
        .hint("write spec.config for Ignition 3, with ignition.version 3.4.0 or so"))
}

/// Merges the specs of configs that are sorted by name.
pub(super) fn specs<'a>(specs: impl IntoIterator<Item = &'a Value>) -> Value {
    let mut merged = json!({"config": {"ignition": {"version": ignition::VERSION}}});
    for spec in specs {
        let Value::Object(spec) = spec else {
            continue;
        };
        for (key, value) in spec {
            match (key.as_str(), &mut merged[key]) {
                ("config", config) => lay_over(config, value),
                ("fips", fips) => *fips = (*fips == true || *value == true).into(),
                (_, Value::Array(list)) => {
                    list.extend(value.as_array().cloned().unwrap_or_default());
                }
                // An empty text says nothing.
                (_, set) if *value != "" => *set = value.clone(),
                _ => {}
            }
        }
    }
    if let Value::Object(merged) = &mut merged {
        merged.retain(|_, value| !value.is_null());
    }
    merged
}

fn lay_over(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                let entries = LISTS.iter().find(|(list, _)| list == key);
                let place = below.entry(key.clone()).or_insert(Value::Null);
                match (entries, place, value) {
                    (Some((_, entries)), Value::Array(below), Value::Array(above)) => {
                        entries.lay_over(below, above);
                    }
                    // The highest version of the specification understands all of it.
                    (None, Value::String(below), Value::String(above)) if key == "version" => {
                        if newer(above, below) {
                            below.clone_from(above);
                        }
                    }
                    (None, Value::Array(below), Value::Array(above)) => {
                        let new = above.iter().filter(|item| !below.contains(item));
                        let new: Vec<Value> = new.cloned().collect();
                        below.extend(new);
                    }
                    (_, place @ (Value::Object(_) | Value::Null), Value::Object(map)) => {
                        if place.is_null() {
                            *place = Value::Object(Map::new());
                        }
                        lay_over(place, &Value::Object(map.clone()));
                    }
                    (_, place, value) => *place = value.clone(),
                }
            }
        }
        (below, above) if !above.is_null() => *below = above.clone(),
        _ => {}
    }
}

impl Entries {
    fn lay_over(self, below: &mut Vec<Value>, above: &[Value]) {
        let (Self::Replace(key) | Self::Merge(key)) = self;
        for entry in above {
            let same = below.iter_mut().find(|other| other[key] == entry[key]);
            match (same, self) {
                (Some(same), Self::Replace(_)) => *same = entry.clone(),
                (Some(same), Self::Merge(_)) => lay_over(same, entry),
                (None, _) => below.push(entry.clone()),
            }
        }
    }
}

/// Compares versions by their numbers.
fn newer(one: &str, other: &str) -> bool {
    let numbers = |version: &str| -> Vec<u64> {
        let parts = version.split(['.', '-', '+']);
        parts.map_while(|part| part.parse().ok()).collect()
    };
    numbers(one) > numbers(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(config: &Value) -> Value {
        json!({"config": config})
    }

    #[test]
    fn the_later_file_and_the_later_fields_of_a_unit_win() {
        let first = json!({"config": {
            "ignition": {"version": "3.4.0"},
            "storage": {"files": [{"path": "/a", "contents": {"source": "data:,1", "compression": "gzip"}}, {"path": "/b"}]},
            "systemd": {"units": [{"name": "k.service", "enabled": true, "contents": "[Unit]"}]},
        }, "kernelArguments": ["a"], "fips": true});
        let second = json!({"config": {
            "ignition": {"version": "3.2.0"},
            "storage": {"files": [{"path": "/a", "contents": {"source": "data:,2"}}, {"path": "/c"}]},
            "systemd": {"units": [{"name": "k.service", "dropins": [{"name": "10.conf"}]}]},
        }, "kernelArguments": ["b"], "fips": false, "osImageURL": "x", "kernelType": ""});
        let merged = specs([&first, &second]);
        let expected = json!({"config": {
            "ignition": {"version": "3.4.0"},
            "storage": {"files": [{"path": "/a", "contents": {"source": "data:,2"}}, {"path": "/b"}, {"path": "/c"}]},
            "systemd": {"units": [{"name": "k.service", "enabled": true, "contents": "[Unit]", "dropins": [{"name": "10.conf"}]}]},
        }, "kernelArguments": ["a", "b"], "fips": true, "osImageURL": "x"});
        assert_eq!(merged, expected);
    }

    #[test]
    fn versions_are_compared_by_number_and_other_lists_are_joined() {
        let old = config(
            &json!({"ignition": {"version": "3.9.0"}, "kernelArguments": {"shouldExist": ["a"]}}),
        );
        let new = config(
            &json!({"ignition": {"version": "3.10.0"}, "kernelArguments": {"shouldExist": ["b", "a"]}}),
        );
        let merged = specs([&new, &old]);
        assert_eq!(merged["config"]["ignition"]["version"], "3.10.0");
        assert_eq!(
            merged["config"]["kernelArguments"]["shouldExist"],
            json!(["b", "a"])
        );
    }

    #[test]
    fn configs_for_other_versions_of_ignition_are_refused() {
        let own = |version: &str| UserObject {
            file: "a.yaml".into(),
            object: json!({"metadata": {"name": "a"}, "spec": {"config": {"ignition": {"version": version}}}}),
        };
        assert!(check(&own("3.2.0")).is_ok());
        assert!(check(&own("2.2.0")).is_err());
        let arguments = UserObject {
            file: "a.yaml".into(),
            object: json!({"spec": {"kernelArguments": ["quiet"]}}),
        };
        assert!(check(&arguments).is_ok());
    }
}
