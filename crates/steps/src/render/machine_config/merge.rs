//! Machine configs become the one that a machine gets.

use bootlace_ignition::{Config, Parsed, parse};
use bootlace_model::fault::Fault;
use serde_json::{Value, json};

use super::config::MachineConfig;
use super::ignition;

/// The largest config that the API keeps.
const LARGEST: usize = 1_572_864;
/// Kernels for which nobody has built what modules are built with.
const WITHOUT_DEVEL: [&str; 2] = ["realtime", "64k-pages"];

/// Returns an image that a config asks for.
type Image = fn(&MachineConfig) -> Option<&str>;

/// Puts configs into the order in which they are merged: those of all workers first, then those of
/// a pool's own role, each by name.
pub(super) fn sort(parts: &mut [&MachineConfig]) {
    parts.sort_by_key(|part| (part.role() != "worker", part.name.as_str()));
}

/// Merges configs that are in order; where two say something, the later one wins.
pub(super) fn spec(pool: &str, parts: &[&MachineConfig]) -> Result<Value, Fault> {
    let kernel = parts
        .iter()
        .rev()
        .find_map(|part| part.kernel_type.as_deref());
    let kernel = kernel.unwrap_or("default");
    let list = |of: fn(&MachineConfig) -> &Vec<Value>| -> Vec<Value> {
        parts.iter().flat_map(|part| of(part)).cloned().collect()
    };
    let extensions = list(|part| &part.extensions);
    if WITHOUT_DEVEL.contains(&kernel) && extensions.iter().any(|it| it == "kernel-devel") {
        let message = format!("the pool {pool} asks for kernel-devel with the kernel {kernel}");
        return Err(Fault::bad_input(message)
            .because(
                "There are no such packages for that kernel, and its machines would never come up.",
            )
            .hint("leave one of them out"));
    }
    let mut spec = json!({
        "config": config(pool, parts)?,
        "extensions": extensions,
        "fips": parts.iter().any(|part| part.fips),
        "kernelArguments": list(|part| &part.kernel_arguments),
        "kernelType": kernel,
    });
    let images: [(&str, Image); 2] = [
        ("osImageURL", |part| part.os_image.as_deref()),
        ("baseOSExtensionsContainerImage", |part| {
            part.extensions_image.as_deref()
        }),
    ];
    for (key, image) in images {
        if let Some(image) = last_image(parts, image) {
            spec[key] = image.into();
        }
    }
    let size = spec.to_string().len();
    if size > LARGEST {
        let message = format!("the config of the pool {pool} has {size} bytes");
        return Err(Fault::bad_input(message)
            .because("The API keeps no object of more than 1.5 MiB.")
            .hint("fetch large files from a URL: give contents.source one, with a hash"));
    }
    Ok(spec)
}

/// Returns the image that counts: the last one of somebody's own, else the last one of all.
fn last_image<'p>(parts: &[&'p MachineConfig], image: Image) -> Option<&'p str> {
    let last = |generated: bool| {
        let parts = parts.iter().rev();
        let mut own = parts.filter(|part| part.is_generated == generated);
        own.find_map(|part| image(part))
    };
    last(false).or_else(|| last(true))
}

fn config(pool: &str, parts: &[&MachineConfig]) -> Result<Value, Fault> {
    let Parsed {
        version: Some(mut version),
        config: Some(mut merged),
        ..
    } = nothing()
    else {
        return Err(Fault::internal("an empty Ignition config cannot be read"));
    };
    for (of, config) in parts.iter().filter_map(|part| part.ignition.as_ref()) {
        version = version.max(*of);
        merged = Config::merge(&merged, config);
    }
    let report = merged.validate();
    if report.is_fatal() {
        let message = format!("the machine configs of the pool {pool} cannot be merged");
        let mut fault = Fault::bad_input(message)
            .because("Each is right by itself, and Ignition would refuse them together.")
            .hint("correct the one that is named");
        fault.details = report
            .errors()
            .map(|finding| {
                let place = &finding.place;
                format!(
                    "{}, spec.config.{}: {}",
                    place.source, place.path, finding.problem
                )
            })
            .collect();
        return Err(fault);
    }
    let mut config = merged
        .to_version(version)
        .map_err(|_| Fault::internal(format!("Ignition {version} cannot say what it said")))?;
    settle_files(&mut config);
    Ok(config)
}

/// Begins with a config of the oldest version that is served.
fn nothing() -> Parsed {
    let config = json!({"ignition": {"version": ignition::VERSION}});
    parse("", config.to_string().as_bytes())
}

/// Lets files with contents take the place of what is there, unless they say otherwise.
fn settle_files(config: &mut Value) {
    let files = config.pointer_mut("/storage/files");
    for file in files.and_then(Value::as_array_mut).into_iter().flatten() {
        let contents = file.get_mut("contents").and_then(Value::as_object_mut);
        let Some(contents) = contents else {
            continue;
        };
        if contents.get("compression").is_some_and(|it| it == "") {
            contents.remove("compression");
        }
        if contents.contains_key("source") && file.get("overwrite").is_none() {
            file["overwrite"] = true.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, role: &str, spec: &Value) -> MachineConfig {
        let labels = json!({super::super::ROLE: role});
        let object = json!({"metadata": {"name": name, "labels": labels}, "spec": spec});
        MachineConfig::read(&object, "mine.yaml").unwrap()
    }

    fn merged(parts: &[MachineConfig]) -> Result<Value, Fault> {
        let mut parts: Vec<&MachineConfig> = parts.iter().collect();
        sort(&mut parts);
        spec("pool", &parts)
    }

    #[test]
    fn the_later_one_wins_and_lists_are_joined() {
        let gzip =
            json!({"source": "data:;base64,H4sIAAAAAAAAAwMAAAAAAAAAAAA=", "compression": "gzip"});
        let parts = [
            read(
                "20-b",
                "worker",
                &json!({"config": {
                "ignition": {"version": "3.5.0"},
                "storage": {"files": [{"path": "/a", "contents": {"source": "data:,2"}}]},
                "systemd": {"units": [{"name": "k.service", "dropins": [{"name": "10.conf", "contents": "[Unit]\n"}]}]},
            }, "kernelArguments": ["b"], "osImageURL": "x", "kernelType": ""}),
            ),
            read(
                "10-a",
                "worker",
                &json!({"config": {
                "ignition": {"version": "3.2.0"},
                "storage": {"files": [{"path": "/a", "mode": 420, "contents": gzip}, {"path": "/b", "contents": {"source": "data:,b"}, "overwrite": false}]},
                "systemd": {"units": [{"name": "k.service", "enabled": true, "contents": "[Install]\nWantedBy=a\n"}]},
            }, "kernelArguments": ["a"], "fips": true, "kernelType": "realtime"}),
            ),
        ];
        let expected = json!({
            "config": {
                "ignition": {"version": "3.5.0"},
                "storage": {"files": [
                    {"path": "/a", "mode": 420, "overwrite": true, "contents": {"source": "data:,2"}},
                    {"path": "/b", "contents": {"source": "data:,b"}, "overwrite": false},
                ]},
                "systemd": {"units": [{"name": "k.service", "enabled": true, "contents": "[Install]\nWantedBy=a\n",
                    "dropins": [{"name": "10.conf", "contents": "[Unit]\n"}]}]},
            },
            "extensions": [], "fips": true, "kernelArguments": ["a", "b"], "kernelType": "realtime", "osImageURL": "x",
        });
        assert_eq!(merged(&parts).unwrap(), expected);
    }

    #[test]
    fn configs_of_a_role_come_after_those_of_all_workers() {
        let file = |content: &str| {
            json!({"config": {"ignition": {"version": "3.4.0"},
            "storage": {"files": [{"path": "/a", "contents": {"source": format!("data:,{content}")}}]}}})
        };
        let parts = [
            read("01-infra", "infra", &file("infra")),
            read("99-worker", "worker", &file("worker")),
        ];
        let spec = merged(&parts).unwrap();
        assert_eq!(
            spec.pointer("/config/storage/files/0/contents/source")
                .unwrap(),
            "data:,infra"
        );
    }

    #[test]
    fn images_of_people_go_before_those_of_a_controller() {
        let mut generated = read("99-generated", "worker", &json!({"osImageURL": "theirs"}));
        generated.is_generated = true;
        let own = read("10-own", "worker", &json!({"osImageURL": "mine"}));
        assert_eq!(
            merged(&[own, generated.clone()]).unwrap()["osImageURL"],
            "mine"
        );
        assert_eq!(merged(&[generated]).unwrap()["osImageURL"], "theirs");
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_name() {
        let read = |spec: Value| {
            let object = json!({"metadata": {"name": "mine"}, "spec": spec});
            MachineConfig::read(&object, "mine.yaml").unwrap_err()
        };
        for (spec, named) in [
            (json!({"kernalArguments": []}), "spec.kernalArguments"),
            (json!({"kernelType": "fast"}), "spec.kernelType"),
            (json!({"extensions": ["vim"]}), "spec.extensions"),
            (json!({"fips": "yes"}), "spec.fips"),
            (
                json!({"config": {"ignition": {"version": "2.2.0"}}}),
                "mine",
            ),
        ] {
            let fault = read(spec);
            assert!(fault.message.contains(named), "{fault:?}");
            assert_eq!(fault.place.unwrap().file, "mine.yaml");
        }
        let bad = json!({"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "a"}]}}});
        let details = read(bad).details.join("\n");
        assert!(
            details.contains("spec.config.storage.files.0.path"),
            "{details}"
        );
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let config = |rest: Value| {
            let mut config = rest;
            config["ignition"]["version"] = "3.4.0".into();
            json!({"config": config})
        };
        let link = read(
            "a",
            "worker",
            &config(json!({"storage": {"links": [{"path": "/l", "target": "/x"}]}})),
        );
        let file = read(
            "b",
            "worker",
            &config(json!({"storage": {"files": [{"path": "/l/f"}]}})),
        );
        let fault = merged(&[link, file]).unwrap_err();
        assert!(
            fault.details[0].contains("spec.config.storage.files.0"),
            "{fault:?}"
        );
        let kernel = read(
            "a",
            "worker",
            &json!({"kernelType": "realtime", "extensions": ["kernel-devel"]}),
        );
        assert!(merged(&[kernel]).is_err());
    }
}
