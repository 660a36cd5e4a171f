//! Which image a machine moves to.

use serde_json::Value;

use crate::source::Source;

/// What annotations of machine configs begin with.
const DOMAIN: &str = "machineconfiguration.openshift.io";

/// The images of a pool, all by digest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Images {
    /// The one that the machine moves to.
    pub(crate) desired: String,
    /// What named it.
    pub(crate) from: &'static str,
    /// The one that holds bootlace.
    pub(crate) bootlace: String,
}

/// Finds a pool's images. The first that names one wins: the pool itself, since that is what people
/// write; then what the cluster built; then the config.
pub(crate) fn images(source: &Source) -> Result<Images, String> {
    let text = |value: Option<&Value>| {
        let value = value.and_then(Value::as_str);
        value.filter(|text| !text.is_empty()).map(ToOwned::to_owned)
    };
    let annotation = |object: &Value, name: &str| text(object["metadata"]["annotations"].get(name));
    let pool = |field: &str, name: &str| {
        let spec = text(source.pool["spec"].get(field));
        spec.or_else(|| annotation(&source.pool, name))
    };
    let machine_config = &source.machine_config;
    let named = [
        (
            "spec.desiredImage of the pool",
            pool("desiredImage", "bootlace.dev/desired-image"),
        ),
        ("the cluster's build", source.built_image.clone()),
        (
            "the pre-built image of the config",
            annotation(machine_config, &format!("{DOMAIN}/pre-built-image")),
        ),
        (
            "spec.osImageURL of the config",
            text(machine_config["spec"].get("osImageURL")),
        ),
    ];
    let mut named = named
        .into_iter()
        .filter_map(|(from, image)| Some((from, image?)));
    let Some((from, desired)) = named.next() else {
        return Err(
            "no image is named: write one, by digest, into spec.desiredImage of the pool".into(),
        );
    };
    by_digest(from, &desired)?;
    let bootlace = pool("bootlaceImage", "bootlace.dev/bootlace-image");
    let bootlace = bootlace.unwrap_or_else(|| desired.clone());
    by_digest("spec.bootlaceImage of the pool", &bootlace)?;
    Ok(Images {
        desired,
        from,
        bootlace,
    })
}

/// Refuses an image that may be another one tomorrow, or that is no name at all: it becomes a part of
/// a command line.
fn by_digest(from: &str, image: &str) -> Result<(), String> {
    let wrong = || format!("{from} is not REGISTRY/NAME@sha256:DIGEST");
    let (name, digest) = image.split_once("@sha256:").ok_or_else(wrong)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"./:-_[]".contains(&byte);
    let is_name = name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[')
        && name.contains('/')
        && name.bytes().all(is_plain);
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_digest = digest.len() == 64 && digest.bytes().all(is_hex);
    if is_name && is_digest {
        Ok(())
    } else {
        Err(wrong())
    }
}
