//! What further machines are told at their first boot.
//!
//! The layout is that of OpenShift's bootstrap server: `machine-pools/ROLE.yaml` names the config
//! that a pool's machines get, and `machine-configs/NAME.yaml` holds it. What a machine must not
//! get from a file that lies around, the authority and its first credentials, the server adds when
//! it hands the config out.

mod config;
mod ignition;
mod merge;
mod pool;
mod role;

use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use serde_json::{Value, json};

use self::config::MachineConfig;
use self::pool::Pool;
use self::role::ROLES;
use super::content::RenderedFile;
use super::input::RenderInput;
use super::objects::RENDERED_BY;
use super::user::{self, UserObject};
use crate::yaml;

const GROUP: &str = "machineconfiguration.openshift.io";
const KIND: &str = "MachineConfig";
const POOL_KIND: &str = "MachineConfigPool";
const API_VERSION: &str = "machineconfiguration.openshift.io/v1";
/// The label that says whom a config is for.
const ROLE: &str = "machineconfiguration.openshift.io/role";

/// Renders the configs and the pools of all roles, and of the pools that somebody wrote.
pub(super) fn render(input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    let mut files = Vec::new();
    let mut configs = Vec::new();
    for own in user::objects(input, GROUP, KIND)? {
        let config = MachineConfig::read(&own.object, &own.file)?;
        files.push(config_file(&named(&own)?, own.object));
        configs.push(config);
    }
    let mut manifests = Vec::new();
    for role in ROLES {
        let name = role.base_name();
        let base = machine_config(&name, role.name, &role.spec(input)?);
        // A config of the user's own of the same name takes the place of ours.
        if !configs.iter().any(|config| config.name == name) {
            files.push(config_file(&name, base.clone()));
            configs.push(MachineConfig::read(&base, &format!("{name}.yaml"))?);
        }
        manifests.push((role.name.to_owned(), base));
    }
    let mut pools = Vec::new();
    for pool in pools_of(input)? {
        let mut parts: Vec<&MachineConfig> =
            configs.iter().filter(|config| pool.wants(config)).collect();
        merge::sort(&mut parts);
        let rendered = rendered(&pool.name, &parts)?;
        let name = text(&rendered, "/metadata/name").to_owned();
        files.push(config_file(&name, rendered.clone()));
        let configured = pool.configured(&name, &parts);
        let path = format!("machine-pools/{}.yaml", pool.name);
        files.push(RenderedFile::object(path, configured.clone()));
        let base = manifests.iter().find(|(role, _)| *role == pool.name);
        let objects = base.map(|(_, base)| base.clone()).into_iter();
        let manifest = format!("machine-config-{}.yaml", pool.name);
        let objects = objects.chain([rendered]).collect();
        files.push(RenderedFile::manifest(&manifest, objects).secret());
        pools.push(without_status(configured));
    }
    files.push(RenderedFile::manifest("machine-config-pools.yaml", pools));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Lists the pools: those of the roles, and those that somebody wrote, which go before ours.
fn pools_of(input: &RenderInput<'_>) -> Result<Vec<Pool>, Fault> {
    let mut pools = Vec::new();
    for own in user::objects(input, GROUP, POOL_KIND)? {
        named(&own)?;
        pools.push(Pool::read(&own.object, &own.file)?);
    }
    for role in ROLES {
        if !pools.iter().any(|pool| pool.name == role.name) {
            pools.push(Pool::of_role(role));
        }
    }
    pools.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(pools)
}

/// Returns the file of a config. Configs often hold credentials.
fn config_file(name: &str, config: Value) -> RenderedFile {
    RenderedFile::object(format!("machine-configs/{name}.yaml"), config).secret()
}

fn machine_config(name: &str, role: &str, spec: &Value) -> Value {
    let mut labels = json!({RENDERED_BY: "render-machine-config"});
    labels[ROLE] = role.into();
    json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
    })
}

/// Merges configs into the one that machines get; its name says what is in it.
fn rendered(pool: &str, parts: &[&MachineConfig]) -> Result<Value, Fault> {
    let spec = merge::spec(pool, parts)?;
    let hash = Digest::of(yaml::document(&spec).as_bytes()).hex();
    let hash = hash
        .get(..32)
        .ok_or_else(|| Fault::internal("a digest is too short"))?;
    let name = format!("rendered-{pool}-{hash}");
    Ok(machine_config(&name, pool, &spec))
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
