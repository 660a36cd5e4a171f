//! `release-info`: which images the cluster is made of, and whether that can be trusted.

use bootlace_model::config::{Profile, ReleaseSource, Settings};
use bootlace_model::effect::{Body, Effect, Origin, PutFile};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::{Digest, StepId};
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::Probe;
use bootlace_model::step::{About, Decision, PlanError, Step, UndoPolicy};

use crate::assets::{RELEASE, asset};
use crate::expectations::CLEANED;
use crate::facts::{RELEASE_DIGEST, RELEASE_IMAGES, RELEASE_PINNED, RELEASE_TREE, RELEASE_VERSION};
use crate::release::{self, Payload, Release};
use crate::stage::ask_for_payload;

/// The step.
#[derive(Debug)]
pub(crate) struct ReleaseInfo;

const NAME: &str = "release-info";

static ABOUT: About = About {
    title: "Find out which images the cluster is made of",
    why: "A cluster is made of many images that must fit each other, and a release is the list \
          that says which. A tag can be moved to another image at any time, so that two machines \
          of one cluster may run different code; a digest cannot, which is why every image of a \
          release must be named by its digest here. bootkube.sh asks the release image for \
          sixteen names anew at each restart and the registry once more for the version, and does \
          both outside any stage, so that a failure there leaves no trace of where it was. We \
          read the payload's own list once, refuse whatever is not pinned or stands there twice, \
          compare the payload as a whole with the digest that you trust, and write the result \
          down for all later steps. Without a release the built-in names and versions hold: good \
          enough for rendering and for learning, but marked *unpinned*, and `start-control-plane` \
          refuses them unless it is told otherwise.",
    reads: &[
        "spec.release, spec.kubernetesVersion, spec.profile",
        "DIR/release-manifests/image-references, DIR/release-manifests/release-metadata",
    ],
    writes: &["ASSETS/records/release.json"],
    command: "\
oc adm release extract --to DIR RELEASE-IMAGE
jq -r '.spec.tags[] | [.name, .from.name] | @tsv' DIR/release-manifests/image-references
jq -r .version DIR/release-manifests/release-metadata
# what spec.release.digest is compared with:
cd DIR && find . -type f -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum",
    undo: UndoPolicy::Inverse,
    failures: &[
        "F-09", "F-12", "F-13", "F-15", "F-16", "F-17", "F-19", "F-20", "F-21",
    ],
    built: true,
};

impl Step for ReleaseInfo {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn needs(&self) -> &'static [&'static str] {
        &[]
    }

    fn asks(&self, settings: &Settings) -> Vec<Ask> {
        ask_for_payload(settings).into_iter().collect()
    }

    fn yields(&self, settings: &Settings) -> Vec<Ask> {
        let read = |pointer: &str| Probe::ReadJson {
            path: asset(settings, RELEASE),
            pointer: pointer.into(),
        };
        vec![
            RELEASE_VERSION.from(read("/version")),
            RELEASE_DIGEST.from(read("/digest")),
            RELEASE_PINNED.from(read("/pinned")),
            RELEASE_IMAGES.from(read("/images")),
        ]
    }

    fn plan(&self, settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
        let (release, origin) = match &settings.cluster.release {
            ReleaseSource::BuiltIn => (built_in(settings)?, generated()),
            ReleaseSource::Dir { path, digest } => {
                let release = from_folder(settings, facts, path, *digest)?;
                (release, Origin::new("release", path.as_str()))
            }
            ReleaseSource::Image(image) => return Err(not_from_image(image).into()),
        };
        Ok(Decision::Do(vec![Effect::PutFile(PutFile {
            path: asset(settings, RELEASE),
            body: Body::text(super::record(&release)?),
            attributes: Attributes::mode(0o644),
            origin,
        })]))
    }

    fn expects(&self, settings: &Settings, _: &Facts) -> Vec<Expectation> {
        // Only built-in names are known without looking into a payload.
        let known = match &settings.cluster.release {
            ReleaseSource::BuiltIn => built_in(settings).and_then(|it| super::record(&it)).ok(),
            ReleaseSource::Dir { .. } | ReleaseSource::Image(_) => None,
        };
        let claim = Claim::File {
            path: asset(settings, RELEASE),
            digest: known.map(|text| Digest::of(text.as_bytes())),
            mode: Some(0o644),
        };
        let because = "Every render takes its images from here; without it none knows what to run.";
        vec![Expectation::now(claim, because).until(CLEANED)]
    }
}

fn generated() -> Origin {
    Origin::new("built-in", StepId::new(super::NAME, NAME).as_str())
}

fn built_in(settings: &Settings) -> Result<Release, Fault> {
    match settings.cluster.profile {
        Profile::Kubernetes => Ok(release::built_in(&settings.cluster.kubernetes_version)),
        Profile::Openshift => Err(Fault::bad_input("the profile openshift needs a release")
            .because(
                "its operators fit only the release they are part of; names cannot be invented",
            )
            .hint("`oc adm release extract --to DIR RELEASE-IMAGE`, then set spec.release.dir")),
    }
}

fn not_from_image(image: &str) -> Fault {
    let message = format!("the release image {image} cannot be read: pulling is not built yet");
    Fault::new(FaultKind::Preflight, message)
        .because("nothing may be rendered from names that nobody looked at")
        .hint(format!(
            "`oc adm release extract --to DIR {image}`, then set spec.release.dir"
        ))
}

fn from_folder(
    settings: &Settings,
    facts: &Facts,
    folder: &TargetPath,
    trusted: Option<Digest>,
) -> Result<Release, PlanError> {
    let tree = facts.get(&RELEASE_TREE)?;
    if !tree.exists {
        let message = format!("the folder {folder}, which spec.release.dir names, does not exist");
        return Err(Fault::bad_input(message)
            .in_file(folder.as_str())
            .because("a release that is named but absent must not be replaced by guesses")
            .hint("correct spec.release.dir")
            .hint("`oc adm release extract --to DIR RELEASE-IMAGE` writes such a folder")
            .into());
    }
    let payload = release::read(folder, &tree)?;
    check_digest(folder, payload.release.digest, trusted)?;
    check_version(settings, folder, &payload)?;
    Ok(payload.release)
}

fn check_digest(
    folder: &TargetPath,
    found: Option<Digest>,
    trusted: Option<Digest>,
) -> Result<(), Fault> {
    let (Some(found), Some(trusted)) = (found, trusted) else {
        return Ok(());
    };
    if found == trusted {
        return Ok(());
    }
    Err(Fault::refused(format!(
        "the release {folder} is not the one that is trusted"
    ))
    .in_file(folder.as_str())
    .because("somebody changed the payload, or the config names another one")
    .detail(format!("trusted, by spec.release.digest: {trusted}"))
    .detail(format!("found in the folder: {found}"))
    .hint("extract the release again, or find out who changed it")
    .hint("if the change is meant, set spec.release.digest to the digest that was found"))
}

/// Compares versions of Kubernetes where the payload states them.
///
/// What images of OpenShift say in annotations is not compared: there the payload decides.
fn check_version(settings: &Settings, folder: &TargetPath, payload: &Payload) -> Result<(), Fault> {
    let wanted = &settings.cluster.kubernetes_version;
    let stated = payload.release.kubernetes_version.iter();
    let annotated = match settings.cluster.profile {
        Profile::Kubernetes => Some(&payload.annotated),
        Profile::Openshift => None,
    };
    let other: Vec<&String> = stated
        .chain(annotated.into_iter().flatten())
        .filter(|found| !release::same_version(found, wanted))
        .collect();
    let Some(found) = other.first() else {
        return Ok(());
    };
    let message =
        format!("the release {folder} holds Kubernetes {found}, but the config wants {wanted}");
    Err(Fault::bad_input(message)
        .in_file(folder.as_str())
        .because("what is rendered for one version need not start with the images of another")
        .hint(format!(
            "set spec.kubernetesVersion to {found}, or choose another release"
        )))
}
