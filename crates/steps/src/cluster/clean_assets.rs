//! `clean-assets`: no secret stays where it is not needed.

use std::collections::{BTreeMap, BTreeSet};

use bootlace_model::config::Settings;
use bootlace_model::effect::{DropPath, Effect};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::Probe;
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};
use serde::Deserialize;

use super::live::by;
use super::pki::plan_for;
use super::pointer;
use super::s12_render_machine_config::RECORD;
use crate::assets::{COPIED, asset};
use crate::copied::Copied;
use crate::facts::{MANIFESTS_COPIED, RENDER_MACHINE_CONFIG_LISTED};
use crate::live_step::{LiveStep, checks_nothing};
use crate::stage::LIMIT;

const NAME: &str = "clean-assets";
/// The pools themselves, which name their configs and hold none.
const POOLS: &str = "machine-config-pools.yaml";

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
    about: &About {
        title: "Remove the secrets from the asset folder",
        why: "The asset folder now holds copies of every key of the cluster, and a copy that \
              nobody needs is a copy that nobody watches: whoever reads it years later still owns \
              the cluster. So keys, tokens and kubeconfigs always go, with your own Secrets and the \
              machine configs among the manifests; what remains are certificates, \
              manifests and records, which are worth keeping to find out later what was done, and \
              the folders of `mco-bootstrap` that `bootlace serve --pools DIR` reads. The rest goes too if the assets were pulled from a store or you say `--clean`, as on \
              the machines for which the old `rm-assets.service` was written. That service once \
              ran after a bootstrap that had failed, because it was only ordered after it and did \
              not require it, and so destroyed what the next try needed; this step needs the \
              verified result of all others. Nothing that it removes is kept for undo, since a \
              hidden copy would be exactly what it exists to prevent.",
        reads: &[
            "ASSETS/",
            "ASSETS/records/copy-manifests.json",
            "ASSETS/records/render-machine-config.json",
        ],
        writes: &[
            "ASSETS/auth/",
            "ASSETS/pointer/",
            "ASSETS/tls/",
            "ASSETS/auth-bootstrap/",
            "ASSETS/manifests/",
            "ASSETS/mco-bootstrap/manifests/",
        ],
        command: "\
find ASSETS/tls -name '*.key' -delete
rm -rf ASSETS/auth ASSETS/pointer
rm -f ASSETS/auth-bootstrap/manifests/bootstrap-token.yaml
find ASSETS/manifests ASSETS/mco-bootstrap/manifests -type f -perm 0600 -delete
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
    asks,
    checks: checks_nothing,
    plan,
    expects,
};

fn asks(settings: &Settings) -> Vec<Ask> {
    if settings.clean {
        return vec![];
    }
    let read = |record| Probe::ReadFile {
        path: asset(settings, record),
        limit: LIMIT,
    };
    vec![
        MANIFESTS_COPIED.from(read(COPIED)),
        RENDER_MACHINE_CONFIG_LISTED.from(read(RECORD)),
    ]
}

fn plan(settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
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
    let mut paths: BTreeSet<TargetPath> = copied_secrets(settings, facts)?;
    paths.extend(machine_configs(settings, facts)?);
    // What is named below comes first, and once.
    let fixed: Vec<TargetPath> = secrets(settings).collect();
    paths.retain(|path| !fixed.contains(path));
    Ok(Decision::DoPart {
        effects: fixed.into_iter().chain(paths).map(drop).collect(),
        reason: "the asset folder stays, with no secrets but those of `mco-bootstrap/machine-configs`; --clean removes all of it".into(),
    })
}

/// Rendered files that always exist and hold a secret, or may hold one; a test compares them with what
/// the renderers write.
const RENDERED: [&str; 6] = [
    "auth-bootstrap/manifests/bootstrap-token.yaml",
    "manifests/bootstrap-token.yaml",
    "manifests/machine-config-master.yaml",
    "manifests/machine-config-worker.yaml",
    "mco-bootstrap/manifests/machine-config-master.yaml",
    "mco-bootstrap/manifests/machine-config-worker.yaml",
];

/// Lists every secret of the asset folder that follows from the settings.
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

/// Lists the user's manifests that `copy-manifests` let only their owner read.
fn copied_secrets(settings: &Settings, facts: &Facts) -> Result<BTreeSet<TargetPath>, PlanError> {
    let copied = Copied::read(settings, facts.get(&MANIFESTS_COPIED)?.0.as_deref())?;
    let manifests = asset(settings, "manifests");
    let secrets = copied.secrets().map(|file| manifests.join(file));
    Ok(secrets.collect::<Result<_, _>>()?)
}

/// What `render-machine-config` listed.
#[derive(Debug, Default, Deserialize)]
struct Listed {
    files: BTreeMap<String, Digest>,
    composed: BTreeSet<String>,
}

/// Lists the manifests that hold the machine config of a pool, those of the user's pools included.
///
/// The list is a file that others may have edited, so it names nothing but such manifests.
fn machine_configs(settings: &Settings, facts: &Facts) -> Result<Vec<TargetPath>, PlanError> {
    let Some(content) = facts.get(&RENDER_MACHINE_CONFIG_LISTED)?.0 else {
        return Ok(vec![]);
    };
    let listed: Listed =
        serde_json::from_slice(&content).map_err(|error| unreadable(settings, &error))?;
    let files = listed.files.keys().chain(&listed.composed);
    let files = files.filter(|file| is_machine_config(file));
    let paths = files.map(|file| settings.paths.assets.join(file));
    Ok(paths.collect::<Result<_, _>>()?)
}

fn is_machine_config(file: &str) -> bool {
    let folders = ["manifests/", "mco-bootstrap/manifests/"];
    let mut names = folders
        .iter()
        .filter_map(|folder| file.strip_prefix(folder));
    names.any(|name| name.starts_with("machine-config-") && name != POOLS && !name.contains('/'))
}

fn unreadable(settings: &Settings, error: &serde_json::Error) -> Fault {
    let path = asset(settings, RECORD);
    Fault::refused(format!(
        "{path} is not the list that render-machine-config wrote: {error}"
    ))
    .in_file(path.as_str())
    .because("The list names the machine configs that have to be removed.")
    .hint(
        "remove the machine configs in ASSETS/manifests and ASSETS/mco-bootstrap/manifests by hand",
    )
    .hint(format!("then remove {path}, and `bootlace resume` goes on"))
}

fn expects(settings: &Settings) -> Vec<Expectation> {
    let because = "A copy of a secret that nobody needs is a copy that nobody watches.";
    secrets(settings)
        .map(|path| Expectation::now(Claim::Absent { path }, because))
        .collect()
}
