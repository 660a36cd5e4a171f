//! `copy-manifests`: the user's own manifests, checked and then copied byte for byte.

use bootlace_model::config::Settings;
use bootlace_model::effect::{Body, DropPath, Effect, MakeDirectory, Origin, PutFile};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::fault::Fault;
use bootlace_model::ids::StepId;
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::{FileTree, Probe};
use bootlace_model::step::{About, Decision, PlanError, Step, UndoPolicy};

use crate::assets::{COPIED, asset};
use crate::copied::Copied;
use crate::expectations::CLEANED;
use crate::facts::{MANIFEST_FOLDERS, MANIFESTS_COPIED};
use crate::stage::{LIMIT, ask_for_manifests};
use crate::survey::{Found, Survey, survey};

/// The step.
#[derive(Debug)]
pub(crate) struct CopyManifests;

const NAME: &str = "copy-manifests";

static ABOUT: About = About {
    title: "Check your own manifests and copy them into the assets",
    why: "Your own manifests are part of the cluster from its first minute: later stages read \
          them, for example for feature gates, networks and machine configs, and the control \
          plane applies them as soon as it answers. bootkube.sh only copies the files, and \
          cluster-bootstrap loads all of them at once much later, where a single file that cannot \
          be read stops the bootstrap, far away from its cause. Here every file is read before \
          the first one is copied: wrong YAML, a key that stands twice, a missing kind or name \
          and two definitions of one object are reported all together, with file and line, and \
          then nothing is written. Two definitions are refused because a bootstrap creates \
          objects and does not update them, so the alphabet would decide in silence which one \
          counts. Files are copied byte for byte, and those that hold a Secret can be read by \
          their owner alone. What was copied is listed in a record outside the manifests folder, \
          so that nobody applies the list by accident, and so that a file that you have removed \
          since does not stay behind, as it does with `cp`.",
    reads: &["the folders of spec.manifests: *.yaml, *.yml, *.json"],
    writes: &["ASSETS/manifests/", "ASSETS/records/copy-manifests.json"],
    command: "\
yq -e '.apiVersion and .kind and .metadata.name' DIR/*.yaml   # says which documents lack one
install -d -m 0755 ASSETS/manifests
cp -r DIR/. ASSETS/manifests/
chmod 0600 ASSETS/manifests/FILE-WITH-A-SECRET.yaml",
    undo: UndoPolicy::Inverse,
    failures: &["F-47", "F-48"],
    built: true,
};

impl Step for CopyManifests {
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
        let copied = MANIFESTS_COPIED.from(Probe::ReadFile {
            path: asset(settings, COPIED),
            limit: LIMIT,
        });
        ask_for_manifests(settings).chain([copied]).collect()
    }

    fn plan(&self, settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
        check_folders(settings)?;
        let folders = settings.cluster.manifests.iter().zip(&MANIFEST_FOLDERS);
        let folders: Vec<(&TargetPath, FileTree)> = folders
            .map(|(path, fact)| Ok((path, facts.get(fact)?)))
            .collect::<Result<_, PlanError>>()?;
        check_presence(&folders)?;
        let found = survey(&folders);
        check_findings(&found)?;
        let manifests = asset(settings, "manifests");
        let mut effects = vec![Effect::MakeDirectory(MakeDirectory {
            path: manifests.clone(),
            attributes: Attributes::mode(0o755),
            origin: generated(),
        })];
        effects.extend(leftovers(settings, facts, &found, &manifests)?);
        for file in found.files.values() {
            effects.push(copy(file, &manifests)?);
        }
        // Last, so that a copy that was cut off is not listed as whole.
        effects.push(list(settings, &found)?);
        Ok(Decision::Do(effects))
    }

    fn expects(&self, settings: &Settings, _: &Facts) -> Vec<Expectation> {
        let folder = Claim::Directory {
            path: asset(settings, "manifests"),
        };
        let listed = Claim::ListedFiles {
            index: asset(settings, COPIED),
            below: asset(settings, "manifests"),
        };
        vec![
            Expectation::now(folder, "Every render adds to this folder.").until(CLEANED),
            Expectation::now(
                listed,
                "What the control plane applies must be what you wrote, to the byte.",
            )
            .until(CLEANED),
        ]
    }
}

/// Refuses folders that cannot be copied whatever is in them.
fn check_folders(settings: &Settings) -> Result<(), Fault> {
    let folders = &settings.cluster.manifests;
    let target = asset(settings, "manifests");
    let mut details = Vec::new();
    for (n, folder) in folders.iter().enumerate() {
        if folders[..n].contains(folder) {
            details.push(format!("{folder} stands there twice"));
        }
        if folder.below(&target).is_some() || target.below(folder).is_some() {
            details.push(format!(
                "{folder} and {target}, into which it is copied, overlap"
            ));
        }
    }
    if folders.len() > MANIFEST_FOLDERS.len() {
        let most = MANIFEST_FOLDERS.len();
        details.push(format!(
            "there are {} folders, at most {most} are read",
            folders.len()
        ));
    }
    if details.is_empty() {
        return Ok(());
    }
    let mut fault = Fault::bad_input("spec.manifests names folders that cannot be copied")
        .because("nothing was copied, so that no half of your manifests can be applied")
        .hint("correct spec.manifests and run again");
    fault.details = details;
    Err(fault)
}

fn check_presence(folders: &[(&TargetPath, FileTree)]) -> Result<(), Fault> {
    let absent: Vec<&TargetPath> = folders
        .iter()
        .filter(|(_, tree)| !tree.exists)
        .map(|(path, _)| *path)
        .collect();
    let Some(first) = absent.first() else {
        return Ok(());
    };
    let mut fault = Fault::bad_input(format!(
        "the folder {first}, which spec.manifests names, does not exist"
    ))
    .in_file(first.as_str())
    .because("a cluster without the manifests that you meant would look well and be wrong")
    .hint("create the folder, or correct spec.manifests");
    let others = absent.iter().skip(1);
    fault.details = others
        .map(|path| format!("{path} does not exist either"))
        .collect();
    Err(fault)
}

fn check_findings(survey: &Survey<'_>) -> Result<(), Fault> {
    let Some(first) = survey.findings.first() else {
        return Ok(());
    };
    let message = match survey.findings.len() {
        1 => "your manifests have a problem".to_owned(),
        n => format!("your manifests have {n} problems"),
    };
    let mut fault = Fault::bad_input(message)
        .at(first.place.clone())
        .because("such a manifest would stop the bootstrap much later; nothing was copied")
        .hint("correct or remove the named files, then run again");
    fault.details = survey.findings.iter().map(ToString::to_string).collect();
    Err(fault)
}

fn generated() -> Origin {
    Origin::generated(&StepId::new(super::NAME, NAME))
}

/// Drops what an earlier run copied and nobody wants any more: it would be applied all the same.
fn leftovers(
    settings: &Settings,
    facts: &Facts,
    survey: &Survey<'_>,
    manifests: &TargetPath,
) -> Result<Vec<Effect>, PlanError> {
    let Some(content) = facts.get(&MANIFESTS_COPIED)?.0 else {
        return Ok(vec![]);
    };
    let copied = Copied::read(settings, Some(&content))?;
    let unwanted = copied
        .files
        .keys()
        .filter(|relative| !survey.files.contains_key(relative.as_str()));
    unwanted
        .map(|relative| {
            Ok(Effect::DropPath(DropPath {
                path: manifests.join(relative)?,
                forget: None,
                origin: generated(),
            }))
        })
        .collect()
}

fn copy(file: &Found<'_>, manifests: &TargetPath) -> Result<Effect, PlanError> {
    let secret = file.objects.iter().any(crate::manifest::Object::is_secret);
    Ok(Effect::PutFile(PutFile {
        path: manifests.join(file.relative)?,
        body: Body::bytes(file.content),
        attributes: Attributes::mode(if secret { 0o600 } else { 0o644 }),
        origin: Origin::new("manifest", file.source.clone()),
    }))
}

fn list(settings: &Settings, survey: &Survey<'_>) -> Result<Effect, PlanError> {
    let text = super::record(&Copied::of(survey))?;
    Ok(Effect::PutFile(PutFile {
        path: asset(settings, COPIED),
        body: Body::text(text),
        attributes: Attributes::mode(0o644),
        origin: generated(),
    }))
}
