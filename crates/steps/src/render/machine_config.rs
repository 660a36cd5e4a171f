//! What further machines are told at their first boot.
//!
//! The layout is that of OpenShift's bootstrap server: `machine-pools/ROLE.yaml` names the config
//! that a pool's machines get, and `machine-configs/NAME.yaml` holds it. What a machine must not
//! get from a file that lies around, the authority and its first credentials, the server adds when
//! it hands the config out.

mod ignition;
mod merge;
mod role;

use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use serde_json::{Value, json};

use self::role::{ROLES, Role};
use super::content::RenderedFile;
use super::input::RenderInput;
use super::objects::RENDERED_BY;
use super::user::{self, UserObject};
use crate::yaml;

const GROUP: &str = "machineconfiguration.openshift.io";
const KIND: &str = "MachineConfig";
const API_VERSION: &str = "machineconfiguration.openshift.io/v1";
/// The label that says whom a config is for.
const ROLE: &str = "machineconfiguration.openshift.io/role";

/// Renders the configs and the pools of all roles.
pub(super) fn render(input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    let theirs = user::objects(input, GROUP, KIND)?;
    let mut files = Vec::new();
    let mut pools = Vec::new();
    for own in &theirs {
        files.push(config_file(&named(own)?, own.object.clone()));
    }
    for role in ROLES {
        let base = machine_config(&role.base_name(), role, &role.spec(input)?);
        let parts = parts(role, &base, &theirs)?;
        let rendered = rendered(role, &parts)?;
        let name = text(&rendered, "/metadata/name").to_owned();
        // A config of the user's own of the same name takes the place of ours.
        if !theirs
            .iter()
            .any(|own| is_named(&own.object, &role.base_name()))
        {
            files.push(config_file(&role.base_name(), base.clone()));
        }
        files.push(config_file(&name, rendered.clone()));
        let pool = role.pool(&name, &parts);
        let path = format!("machine-pools/{}.yaml", role.name);
        files.push(RenderedFile::object(path, pool.clone()));
        let manifest = format!("machine-config-{}.yaml", role.name);
        files.push(RenderedFile::manifest(&manifest, vec![base, rendered]).secret());
        pools.push(without_status(pool));
    }
    files.push(RenderedFile::manifest("machine-config-pools.yaml", pools));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Returns the file of a config. Configs often hold credentials.
fn config_file(name: &str, config: Value) -> RenderedFile {
    RenderedFile::object(format!("machine-configs/{name}.yaml"), config).secret()
}

fn machine_config(name: &str, role: &Role, spec: &Value) -> Value {
    let mut labels = json!({RENDERED_BY: "render-machine-config"});
    labels[ROLE] = role.name.into();
    json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
    })
}

/// Lists the configs of a role, sorted by name.
fn parts(role: &Role, base: &Value, theirs: &[UserObject]) -> Result<Vec<Value>, Fault> {
    let mut parts = Vec::new();
    for own in theirs {
        let pointer = format!("/metadata/labels/{}", ROLE.replace('/', "~1"));
        if own
            .object
            .pointer(&pointer)
            .is_some_and(|label| label == role.name)
        {
            merge::check(own)?;
            parts.push(own.object.clone());
        }
    }
    if !parts.iter().any(|part| is_named(part, &role.base_name())) {
        parts.push(base.clone());
    }
    parts.sort_by(|a, b| text(a, "/metadata/name").cmp(text(b, "/metadata/name")));
    Ok(parts)
}

/// Merges configs into the one that machines get; its name says what is in it.
fn rendered(role: &Role, parts: &[Value]) -> Result<Value, Fault> {
    let spec = merge::specs(parts.iter().map(|part| &part["spec"]));
    let hash = Digest::of(yaml::document(&spec).as_bytes()).hex();
    let hash = hash
        .get(..32)
        .ok_or_else(|| Fault::internal("a digest is too short"))?;
    let name = format!("rendered-{}-{hash}", role.name);
    Ok(machine_config(&name, role, &spec))
}

fn named(own: &UserObject) -> Result<String, Fault> {
    let name = text(&own.object, "/metadata/name");
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(allowed) {
        return Ok(name.to_owned());
    }
    let message = format!("{name:?} cannot be the name of a machine config");
    Err(Fault::bad_input(message)
        .in_file(own.file.as_str())
        .because("machines ask for configs by name, and the API accepts only DNS names")
        .hint("use small letters, digits, `-` and `.`"))
}

fn is_named(object: &Value, name: &str) -> bool {
    text(object, "/metadata/name") == name
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The status of an object is nobody's to apply.
fn without_status(mut object: Value) -> Value {
    if let Value::Object(map) = &mut object {
        map.remove("status");
    }
    object
}
