//! From a pool's config to the bytes that a machine gets.
//!
//! Files are appended as OpenShift's server appends them, and in its order, because what runs on the
//! machine looks for them: node annotations, kubeconfig, the whole config, authorities of registries,
//! and last the config without its Ignition part, which tells the first boot what Ignition cannot do.

mod from_v2;
mod go;
mod object;
mod older;
mod to_v2;

use bootlace_ignition::{Parsed, Version, parse};
use serde_json::{Value, json};

use crate::source::Source;
use go::{Order, data_url};
use object::MACHINE_CONFIG;
use older::SpecialModes;

/// 0644, as a number of JSON.
const MODE: u32 = 420;
/// What annotations of machine configs begin with.
const DOMAIN: &str = "machineconfiguration.openshift.io";
/// Where a machine finds what it is to tell about itself.
pub(crate) const ANNOTATIONS: &str = "/etc/machine-config-daemon/node-annotations.json";
/// Where a machine finds how to join.
pub(crate) const KUBECONFIG: &str = "/etc/kubernetes/kubeconfig";

/// Why a config cannot be served in a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unrenderable {
    /// The config is not valid, whatever is asked for.
    Invalid(Vec<String>),
    /// The pool names no image that a layered machine could run.
    NoImage(String),
    /// The version cannot say what the config says.
    Inexpressible(Vec<String>),
}

/// Renders the config of a pool in a version.
pub(crate) fn render(source: &Source, version: Version) -> Result<Vec<u8>, Unrenderable> {
    let mut machine_config = complete(&source.machine_config)?;
    if machine_config["spec"]["config"].is_null() {
        // A machine that booted with nothing would wait for somebody who knows what it is for.
        let reason = "spec.config: there is no Ignition config".to_owned();
        return Err(Unrenderable::Invalid(vec![reason]));
    }
    let mut config = ignition(&machine_config)?;
    let modes = special_modes(&machine_config);
    if let Some(image) = &source.built_image {
        machine_config["spec"]["osImageURL"] = image.as_str().into();
    }
    rescue_kernel_arguments(&mut config, &mut machine_config, version)?;
    for (path, content) in &source.authorities {
        put_content(&mut config, path, content);
    }
    for (path, content) in appended(source, &machine_config, version)? {
        append_file(&mut config, &path, &content);
    }
    in_version(config, &modes, version)
}

/// Writes out what a config leaves to its defaults, and leaves out what no config has.
pub(crate) fn complete(machine_config: &Value) -> Result<Value, Unrenderable> {
    object::read(machine_config).map_err(|reason| Unrenderable::Invalid(vec![reason]))
}

/// Lists the modes of a config that its Ignition part does not have in the newest spec.
pub(crate) fn special_modes(machine_config: &Value) -> SpecialModes {
    older::special_modes(&machine_config["spec"]["config"])
}

/// Returns the Ignition part in the terms of the newest spec.
pub(crate) fn ignition(machine_config: &Value) -> Result<Value, Unrenderable> {
    let config = &machine_config["spec"]["config"];
    if config.is_null() {
        return Ok(json!({"ignition": {"version": Version::NEWEST.name()}}));
    }
    let text = if from_v2::is_meant(config) {
        let config = from_v2::translate(config);
        let config = config
            .map_err(|reason| Unrenderable::Invalid(vec![format!("spec.config.{reason}")]))?;
        config.to_string()
    } else {
        config.to_string()
    };
    let parsed = parse("spec.config", text.as_bytes());
    match &parsed.config {
        Some(config) => Ok(config.to_json()),
        None => Err(invalid("spec.config.", &parsed)),
    }
}

/// Says a config of the newest spec in the terms of a version.
pub(crate) fn in_version(
    mut config: Value,
    modes: &SpecialModes,
    version: Version,
) -> Result<Vec<u8>, Unrenderable> {
    older::ease(&mut config, version);
    let parsed = parse("served", config.to_string().as_bytes());
    let Some(config) = &parsed.config else {
        return Err(invalid("", &parsed));
    };
    // There is one way to 2.2, and it begins at 3.2.
    let nearest = match version {
        Version::V2_2 => Version::V3_2,
        other => other,
    };
    let mut served = config.to_version(nearest).map_err(|lost| {
        let lost = lost.iter();
        let lost = lost.map(|lost| format!("{}: {}", lost.place.path, lost.why));
        Unrenderable::Inexpressible(lost.collect())
    })?;
    older::restore(modes, &mut served, version).map_err(Unrenderable::Inexpressible)?;
    older::tidy(&mut served);
    if version == Version::V2_2 {
        served = to_v2::translate(&served).map_err(Unrenderable::Inexpressible)?;
    }
    Ok(go::compact(&served, Order::Ignition).into_bytes())
}

fn invalid(prefix: &str, parsed: &Parsed) -> Unrenderable {
    let errors = parsed.report.errors();
    let errors =
        errors.map(|finding| format!("{prefix}{}: {}", finding.place.path, finding.problem));
    Unrenderable::Invalid(errors.collect())
}

/// Moves kernel arguments out of the Ignition part if the version has no place for them there.
fn rescue_kernel_arguments(
    config: &mut Value,
    machine_config: &mut Value,
    version: Version,
) -> Result<(), Unrenderable> {
    if version >= Version::V3_3 {
        return Ok(());
    }
    let arguments = config
        .as_object_mut()
        .and_then(|config| config.remove("kernelArguments"));
    let Some(arguments) = arguments else {
        return Ok(());
    };
    let listed = |name: &str| arguments[name].as_array().cloned().unwrap_or_default();
    if !listed("shouldNotExist").is_empty() {
        return Err(Unrenderable::Inexpressible(vec![format!(
            "kernelArguments.shouldNotExist: {version} has no kernelArguments, and a MachineConfig cannot remove any"
        )]));
    }
    let rescued = listed("shouldExist");
    if rescued.is_empty() {
        return Ok(());
    }
    let kept = &mut machine_config["spec"]["kernelArguments"];
    let mut all = kept.as_array().cloned().unwrap_or_default();
    all.extend(rescued);
    *kept = all.into();
    Ok(())
}

/// Lists the files that every machine gets besides, in the order in which they are appended.
fn appended(
    source: &Source,
    machine_config: &Value,
    version: Version,
) -> Result<Vec<(String, Vec<u8>)>, Unrenderable> {
    let image = &machine_config["metadata"]["annotations"][format!("{DOMAIN}/pre-built-image")];
    let image = image.as_str().filter(|image| !image.is_empty());
    let image = image.or(source.built_image.as_deref());
    let mut files = vec![(ANNOTATIONS.to_owned(), annotations(source, image))];
    if let Some(kubeconfig) = &source.kubeconfig {
        files.push((KUBECONFIG.into(), kubeconfig.clone()));
    }
    files.push((
        "/etc/mcs-machine-config-content.json".into(),
        go::indented(machine_config, Order::Table(&MACHINE_CONFIG)).into_bytes(),
    ));
    for (registry, content) in &source.certificates {
        files.push((certificate(registry), content.clone()));
    }
    let mut capsule = machine_config.clone();
    capsule["spec"]["config"] = json!({"ignition": {"version": "3.5.0"}});
    if source.is_from_cluster {
        // What runs on an old machine reads the config only if it knows the version.
        let empty = capsule["spec"]["config"].take();
        let empty = in_version(empty, &SpecialModes::default(), version)?;
        capsule["spec"]["config"] = serde_json::from_slice(&empty).unwrap_or_default();
    }
    files.push((
        "/etc/ignition-machine-config-encapsulated.json".into(),
        go::compact(&capsule, Order::Table(&MACHINE_CONFIG)).into_bytes(),
    ));
    Ok(files)
}

/// Returns where the authority of a registry is.
pub(crate) fn certificate(registry: &str) -> String {
    format!("/etc/docker/certs.d/{registry}/ca.crt")
}

/// Tells the machine which config it has, and which image.
pub(crate) fn annotations(source: &Source, image: Option<&str>) -> Vec<u8> {
    let config = source.config.as_str();
    let mut annotations = json!({
        format!("{DOMAIN}/currentConfig"): config,
        format!("{DOMAIN}/desiredConfig"): config,
        format!("{DOMAIN}/firstPivotConfig"): config,
        format!("{DOMAIN}/state"): "Done",
    });
    if let Some(image) = image {
        annotations[format!("{DOMAIN}/currentImage")] = image.into();
        annotations[format!("{DOMAIN}/desiredImage")] = image.into();
    }
    go::compact(&annotations, Order::Sorted).into_bytes()
}

/// Replaces the content of a file, or appends the file.
pub(crate) fn put_content(config: &mut Value, path: &str, content: &[u8]) {
    let files = config.pointer_mut("/storage/files");
    let mut files = files.and_then(Value::as_array_mut).into_iter().flatten();
    match files.find(|file| file["path"] == path) {
        Some(file) => file["contents"]["source"] = data_url(content).into(),
        None => append_file(config, path, content),
    }
}

/// Appends a file; one that was there at the same path gives way, since no path may be there twice.
pub(crate) fn append_file(config: &mut Value, path: &str, content: &[u8]) {
    let storage = &mut config["storage"];
    if !storage["files"].is_array() {
        storage["files"] = json!([]);
    }
    if let Some(files) = storage["files"].as_array_mut() {
        files.retain(|file| file["path"] != path);
        files.push(json!({
            "path": path,
            "mode": MODE,
            "overwrite": true,
            "contents": {"source": data_url(content)},
        }));
    }
}

#[cfg(test)]
mod tests;
