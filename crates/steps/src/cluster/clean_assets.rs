//! `clean-assets`: no secret stays where it is not needed.

use bootlace_model::config::Settings;
use bootlace_model::effect::{DropPath, Effect};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::Facts;
use bootlace_model::path::TargetPath;
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};

use super::live::by;
use super::pki::plan_for;
use super::pointer;
use crate::assets::asset;
use crate::live_step::{LiveStep, asks_nothing, checks_nothing};

const NAME: &str = "clean-assets";

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
    about: &About {
        title: "Remove the secrets from the asset folder",
        why: "The asset folder now holds copies of every key of the cluster, and a copy that \
              nobody needs is a copy that nobody watches: whoever reads it years later still owns \
              the cluster. So keys, tokens and kubeconfigs always go; what remains are certificates, \
              manifests and records, which are worth keeping to find out later what was done. The \
              rest goes too if the assets were pulled from a store or you say `--clean`, as on \
              the machines for which the old `rm-assets.service` was written. That service once \
              ran after a bootstrap that had failed, because it was only ordered after it and did \
              not require it, and so destroyed what the next try needed; this step needs the \
              verified result of all others. Nothing that it removes is kept for undo, since a \
              hidden copy would be exactly what it exists to prevent.",
        reads: &["ASSETS/"],
        writes: &[
            "ASSETS/auth/",
            "ASSETS/pointer/",
            "ASSETS/tls/",
            "ASSETS/auth-bootstrap/",
            "ASSETS/manifests/",
        ],
        command: "\
find ASSETS/tls -name '*.key' -delete
rm -rf ASSETS/auth ASSETS/pointer
rm -f ASSETS/manifests/bootstrap-token.yaml ASSETS/auth-bootstrap/manifests/bootstrap-token.yaml
rm -rf ASSETS   # only with --clean, or if the assets came from a store",
        undo: UndoPolicy::ForwardOnly {
            why: "A copy kept for undo would be the very secret that the step exists to remove.",
        },
        failures: &["F-07", "F-10"],
        built: true,
    },
    needs: &["hand-over", "add-ons"],
    uses: &[],
    as_processes: Some(
        "nothing was handed over, so the asset folder is still what the control plane \
         is made from",
    ),
    asks: asks_nothing,
    checks: checks_nothing,
    plan,
    expects,
};

#[expect(
    clippy::unnecessary_wraps,
    reason = "a stage's plan may fail, this one never does"
)]
fn plan(settings: &Settings, _: &Facts) -> Result<Decision, PlanError> {
    let drop = |path: TargetPath| {
        Effect::DropPath(DropPath {
            path,
            forget: Some("a copy kept for undo would be the secret itself".into()),
            origin: by(NAME),
        })
    };
    if settings.clean {
        return Ok(Decision::Do(vec![drop(settings.paths.assets.clone())]));
    }
    Ok(Decision::DoPart {
        effects: secrets(settings).map(drop).collect(),
        reason: "the asset folder stays, without its secrets; --clean removes it whole".into(),
    })
}

/// Rendered files that hold a secret; a test compares them with what the renderers write.
pub(crate) const RENDERED: [&str; 2] = [
    "auth-bootstrap/manifests/bootstrap-token.yaml",
    "manifests/bootstrap-token.yaml",
];

/// Lists every secret of the asset folder.
fn secrets(settings: &Settings) -> impl Iterator<Item = TargetPath> {
    let plan = plan_for(settings, None);
    let keys = plan.certificates.into_iter().map(|planned| planned.key);
    let folders = ["auth", pointer::FOLDER].map(|folder| asset(settings, folder));
    let rendered = RENDERED.map(|file| asset(settings, file));
    keys.chain([plan.service_accounts.key])
        .chain(plan.encryption)
        .chain(folders)
        .chain(rendered)
}

fn expects(settings: &Settings) -> Vec<Expectation> {
    let because = "A copy of a secret that nobody needs is a copy that nobody watches.";
    secrets(settings)
        .map(|path| Expectation::now(Claim::Absent { path }, because))
        .collect()
}
