//! The operator that holds the cluster to its release.

mod operator;
mod overrides;
mod payload;

use bootlace_model::config::ReleaseSource;
use bootlace_model::fault::Fault;
use serde_json::{Value, json};

use self::overrides::Overrides;
use self::payload::Payload;
use super::content::RenderedFile;
use super::input::RenderInput;
use super::objects::RENDERED_BY;
use super::user::{self, UserObject};
use crate::copied::Copied;

const GROUP: &str = "bootlace.dev";
const KIND: &str = "ClusterVersion";
const NAME: &str = "version";

/// The file of the object. Among the manifests it stands behind the user's own file, of which it
/// holds everything.
const FILE: &str = "zz_cluster-version.yaml";

/// Renders the operator, what it is told, and the release that it works on.
pub(super) fn render(input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    let payload = Payload::read(input)?;
    let copied = Copied::read(input.settings, input.copied.as_deref())?;
    let theirs = users_own(input)?;
    let overrides = Overrides::new(theirs.as_ref(), &payload, &copied);
    let version = cluster_version(input, theirs, &overrides);
    let mut files = vec![
        RenderedFile::manifest(FILE, vec![version]).merged(),
        RenderedFile::static_pod("version-operator-pod.yaml", operator::pod(input)?),
        // restore-overrides applies it: until then the pod above does its work.
        RenderedFile::manifest("version-operator.yaml", operator::objects(input)?).kept(),
        RenderedFile::text("original-overrides.json", overrides.original()?),
        RenderedFile::text("payload.txt", payload.listing()),
    ];
    files.extend(payload.files());
    Ok(files)
}

/// Finds the user's own `ClusterVersion`.
fn users_own(input: &RenderInput<'_>) -> Result<Option<UserObject>, Fault> {
    let found = user::objects(input, GROUP, KIND)?;
    let own = found
        .into_iter()
        .find(|own| own.object["metadata"]["name"] == NAME);
    match own {
        Some(own) if own.file.as_str() >= FILE => {
            let message = format!(
                "{} stands behind {FILE}, which is rendered from it",
                own.file
            );
            Err(Fault::bad_input(message)
                .in_file(own.file)
                .because("manifests are applied by name, and yours would take back what ours adds")
                .hint("give your file a name that comes earlier in the alphabet"))
        }
        own => Ok(own),
    }
}

/// Returns the object: what follows from the release, and over it what the user wrote.
fn cluster_version(
    input: &RenderInput<'_>,
    theirs: Option<UserObject>,
    overrides: &Overrides,
) -> Value {
    let mut release = json!({"version": input.release.version});
    if let Some(digest) = input.release.digest {
        release["digest"] = digest.to_string().into();
    }
    if let ReleaseSource::Image(image) = &input.settings.cluster.release {
        release["image"] = image.clone().into();
    }
    let mut version = json!({
        "apiVersion": "bootlace.dev/v1alpha1",
        "kind": KIND,
        "metadata": {"name": NAME},
        "spec": {"release": release},
    });
    if let Some(theirs) = theirs {
        lay_over(&mut version, theirs.object);
    }
    version["metadata"]["labels"][RENDERED_BY] = "render-version-operator".into();
    version["spec"]["overrides"] = overrides.during_bootstrap();
    version
}

/// Lays a value over another: maps key by key, everything else replaces.
fn lay_over(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                lay_over(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above,
    }
}
