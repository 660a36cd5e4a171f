//! Images that the cluster built for its pools.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Held, config_of, has_updated};
use crate::name::Name;

/// Where the registry of the cluster itself is: a machine that is not part of the cluster yet cannot
/// resolve these names.
const INSIDE: [&str; 2] = [
    "image-registry.openshift-image-registry.svc:",
    "image-registry.openshift-image-registry.svc.cluster.local:",
];

/// What is built, and what came of it.
#[derive(Debug, Default)]
pub(super) struct Builds {
    /// For which pool an image is built: `MachineOSConfig`.
    pub(super) configs: BTreeMap<String, Held>,
    /// Each build: `MachineOSBuild`.
    pub(super) builds: BTreeMap<String, Held>,
}

impl Builds {
    /// Returns the image that was built for a pool's config, once machines outside can use it: it was
    /// built from this very config, a machine runs it, and its registry is not inside the cluster.
    pub(super) fn image(&self, name: &Name, pool: &Value) -> Option<&str> {
        let config = config_of(pool)?;
        let text = |held: &Held, pointer: &str| {
            let value = held.value.pointer(pointer).and_then(Value::as_str);
            value.map(ToOwned::to_owned)
        };
        let mut configs = self.configs.iter();
        let (of, build) = configs.find(|(_, held)| {
            let pool = text(held, "/spec/machineConfigPool/name");
            pool.as_deref() == Some(name.as_str())
        })?;
        let image = build.value.pointer("/status/currentImagePullSpec")?;
        let image = image.as_str().filter(|image| !image.is_empty())?;
        let mut builds = self.builds.values();
        let has_succeeded = builds.any(|held| {
            text(held, "/spec/machineOSConfig/name").as_ref() == Some(of)
                && text(held, "/spec/machineConfig/name").as_deref() == Some(config.as_str())
                && has_succeeded(&held.value)
        });
        let is_inside = INSIDE.iter().any(|registry| image.starts_with(registry));
        (has_succeeded && has_updated(pool) && !is_inside).then_some(image)
    }
}

fn has_succeeded(build: &Value) -> bool {
    let conditions = build
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Succeeded" && condition["status"] == "True")
}
