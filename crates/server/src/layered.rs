//! What a machine gets that will run a layered image: only what it needs until then.
//!
//! The rest of the config is in the image. What is written here is listed in one file on the machine,
//! so that the first boot can remove it again before the machine moves to its image: a file of `/etc`
//! that stays counts as changed by hand, and shadows the one in every later image.

pub(crate) mod image;
pub(crate) mod placement;
mod units;
mod written;

use bootlace_ignition::Version;
use serde_json::{Value, json};

use self::placement::Place;
use crate::rendered::{self, Unrenderable};
use crate::source::Source;

/// Where the machine finds what it is to become.
pub(crate) const RECORD: &str = "/etc/bootlace/layered.json";
/// Where the pull secret is.
const PULL_SECRET: &str = "/var/lib/kubelet/config.json";
/// 0600, as a number of JSON.
const PRIVATE: u32 = 0o600;

/// Renders what a machine of a pool needs until it runs its image.
pub(crate) fn render(source: &Source, version: Version) -> Result<Vec<u8>, Unrenderable> {
    let machine_config = rendered::complete(&source.machine_config)?;
    let whole = rendered::ignition(&machine_config)?;
    let images = image::images(source).map_err(Unrenderable::NoImage)?;
    let mut config = kept(&whole);
    for (path, content) in &source.authorities {
        rendered::put_content(&mut config, path, content);
    }
    let annotations = rendered::annotations(source, Some(&images.desired));
    append(&mut config, rendered::ANNOTATIONS, 0o644, &annotations);
    if let Some(kubeconfig) = &source.kubeconfig {
        append(&mut config, rendered::KUBECONFIG, PRIVATE, kubeconfig);
    }
    for (registry, content) in &source.certificates {
        append(
            &mut config,
            &rendered::certificate(registry),
            0o644,
            content,
        );
    }
    let has_secret = files(&config).any(|file| file["path"] == PULL_SECRET);
    let units = units::units(&images, has_secret.then_some(PULL_SECRET));
    config["systemd"] = json!({ "units": units });
    let record = record(source, &machine_config, &whole, &images, &config);
    append(&mut config, RECORD, PRIVATE, record.to_string().as_bytes());
    rendered::in_version(config, &rendered::special_modes(&machine_config), version)
}

/// Leaves of a config what the table leaves to the machine.
fn kept(whole: &Value) -> Value {
    let mut config = json!({});
    let parts = whole.as_object().into_iter().flatten();
    for (name, part) in parts {
        if name == "storage" {
            let lists = part.as_object().into_iter().flatten();
            for (name, list) in lists {
                let place = placement::of_part(&format!("storage.{name}"));
                let list = match place {
                    Some(place) if !place.is_served() => continue,
                    Some(_) => list.clone(),
                    None => nodes(list),
                };
                config["storage"][name] = list;
            }
        } else if placement::of_part(name).is_none_or(Place::is_served) {
            config[name] = part.clone();
        }
    }
    config
}

/// Leaves of a list of files, directories or links those that the machine gets.
fn nodes(list: &Value) -> Value {
    let nodes = list.as_array().into_iter().flatten();
    let nodes = nodes.filter(|node| {
        let path = node["path"].as_str().unwrap_or_default();
        placement::of_path(path).0.is_served()
    });
    nodes.cloned().collect()
}

fn files(config: &Value) -> impl Iterator<Item = &Value> {
    let files = config.pointer("/storage/files").and_then(Value::as_array);
    files.into_iter().flatten()
}

fn append(config: &mut Value, path: &str, mode: u32, content: &[u8]) {
    rendered::append_file(config, path, content);
    let files = config.pointer_mut("/storage/files");
    if let Some(file) = files
        .and_then(Value::as_array_mut)
        .and_then(|files| files.last_mut())
    {
        file["mode"] = mode.into();
    }
}

/// Says what the machine is to become, and what was written on the way.
fn record(
    source: &Source,
    machine_config: &Value,
    whole: &Value,
    images: &image::Images,
    config: &Value,
) -> Value {
    let spec = &machine_config["spec"];
    let listed = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut arguments = listed(&spec["kernelArguments"]);
    arguments.extend(listed(&whole["kernelArguments"]["shouldExist"]));
    json!({
        "apiVersion": "bootlace.dev/v1alpha1",
        "kind": "LayeredNode",
        "metadata": {"name": source.pool_name.as_str()},
        "spec": {
            "pool": source.pool_name.as_str(),
            "config": source.config.as_str(),
            "image": images.desired,
            "imageFrom": images.from,
            "bootlaceImage": images.bootlace,
            "beforePivot": {
                "kernelArguments": arguments,
                "removedKernelArguments": listed(&whole["kernelArguments"]["shouldNotExist"]),
                "fips": spec["fips"],
            },
            "expectedOfImage": {
                "kernelType": spec["kernelType"],
                "extensions": listed(&spec["extensions"]),
            },
            "written": written::list(config),
        },
    })
}

#[cfg(test)]
mod tests;
