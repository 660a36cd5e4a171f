//! A stage that renders: a row of a table, and what a row has in common with all others.
//!
//! The renderer's files go into the stage's own folder, those that others need also to where they
//! are needed, and a list of them all is written last.

mod files;
mod image;
mod output;
mod record;

use bootlace_model::check::{Check, Test};
use bootlace_model::config::{Profile, ReleaseSource, Settings};
use bootlace_model::expect::Expectation;
use bootlace_model::fact::{Ask, Fact, Facts, FileContent};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::probe::{FileTree, Probe};
use bootlace_model::step::{About, Decision, PlanError, Step};

use self::files::Rendering;
use self::image::ImageWork;
#[cfg(test)]
pub(crate) use self::image::config as image_config;
use self::output::Output;
use crate::assets::{COPIED, TOKEN, asset};
use crate::facts::{
    BOOTSTRAP_TOKEN, IMAGE_OUTPUTS, MANIFEST_FOLDERS, MANIFESTS_COPIED, NODE_NAME, RELEASE_DIGEST,
    RELEASE_IMAGES, RELEASE_TREE, RELEASE_VERSION,
};
use crate::render::{Component, RenderInput};

/// The most that is read of a folder or a list; the same everywhere, so that a fact has one source.
pub(crate) const LIMIT: u64 = 64 << 20;

/// A stage.
pub(crate) struct Stage {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it is for.
    pub(crate) about: &'static About,
    /// The steps whose results it needs.
    pub(crate) needs: &'static [&'static str],
    /// The facts of those steps that it reads.
    pub(crate) uses: &'static [&'static str],
    /// What it asks besides.
    pub(crate) inputs: &'static [Input],
    /// The renderer, by its name.
    pub(crate) component: &'static str,
    /// Where it lists what it wrote.
    pub(crate) record: &'static str,
    /// What it listed before.
    pub(crate) listed: Fact<FileContent>,
    /// What must hold afterwards.
    pub(crate) expects: fn(&Settings) -> Vec<Expectation>,
}

/// What a stage looks at before it renders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// Which manifests the user brought, so that nothing of theirs is overwritten.
    Copied,
    /// The user's manifests themselves.
    Manifests,
    /// The release's manifests.
    Payload,
    /// The bootstrap token.
    Token,
}

impl Step for Stage {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static About {
        self.about
    }

    fn needs(&self) -> &'static [&'static str] {
        self.needs
    }

    fn uses(&self) -> &'static [&'static str] {
        self.uses
    }

    fn asks(&self, settings: &Settings) -> Vec<Ask> {
        let read = |path, limit| Probe::ReadFile { path, limit };
        let mut asks = vec![self.listed.from(read(asset(settings, self.record), LIMIT))];
        for input in self.inputs {
            match input {
                Input::Copied => {
                    asks.push(MANIFESTS_COPIED.from(read(asset(settings, COPIED), LIMIT)));
                }
                Input::Manifests => asks.extend(ask_for_manifests(settings)),
                Input::Payload => asks.extend(ask_for_payload(settings)),
                Input::Token => asks.push(BOOTSTRAP_TOKEN.from(read(asset(settings, TOKEN), 4096))),
            }
        }
        if let Ok(component) = self.component()
            && self.image_work(settings, component).is_some()
            && let (Ok(fact), Ok(path)) =
                (output_of(component), ImageWork::folder(settings, component))
        {
            asks.push(fact.from(Probe::ReadTree { path, limit: LIMIT }));
        }
        asks
    }

    fn checks(&self, settings: &Settings) -> Vec<Check> {
        let Some(renderer) = settings.cluster.rendering.images.get(self.component) else {
            return vec![];
        };
        vec![
            Check {
                name: "Renderer-Pinned".into(),
                test: Test::PinnedImage(renderer.image.clone()),
                why: "What a name without a digest stands for can change from one run to the next.",
                hint: "name the image as NAME@sha256:DIGEST, or insist with \
                       --insecure-unpinned-release"
                    .into(),
            },
            Check {
                name: "Podman".into(),
                test: Test::Program {
                    argv: ["podman", "--version"].map(ToOwned::to_owned).into(),
                    folders: vec![],
                    fits: None,
                },
                why: "An image that renders is run by podman.",
                hint: "install podman, or leave spec.rendering.images out".into(),
            },
        ]
    }

    fn plan(&self, settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
        if settings.cluster.profile == Profile::Openshift {
            return Err(not_built_in(self.name).into());
        }
        let component = self.component()?;
        let input = self.input(settings, facts)?;
        if let Some(work) = self.image_work(settings, component) {
            let tree = facts.get(output_of(component)?)?;
            if !Output::is_whole(&tree) {
                return work.first(&input);
            }
            return self.take(&work, &input, facts);
        }
        let rendering = Rendering {
            files: component.render(&input)?,
            origin: self.built_in(),
        };
        let before = facts.get(&self.listed)?.0;
        let effects = self.effects(component, &input, rendering, before.as_deref())?;
        Ok(Decision::Do(effects))
    }

    fn plan_rest(&self, settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
        let component = self.component()?;
        let work = self.image_work(settings, component);
        let work = work.ok_or_else(|| Fault::internal(format!("{} has no image", self.name)))?;
        self.take(&work, &self.input(settings, facts)?, facts)
    }

    fn expects(&self, settings: &Settings, _: &Facts) -> Vec<Expectation> {
        (self.expects)(settings)
    }
}

impl Stage {
    fn component(&self) -> Result<&'static Component, Fault> {
        Component::find(self.component)
            .ok_or_else(|| Fault::internal(format!("{} has no renderer", self.name)))
    }

    /// Returns the image that renders, if it is not this tool.
    fn image_work<'a>(
        &'a self,
        settings: &'a Settings,
        component: &'static Component,
    ) -> Option<ImageWork<'a>> {
        let renderer = settings.cluster.rendering.images.get(component.name)?;
        Some(ImageWork {
            stage: self,
            component,
            renderer,
            settings,
        })
    }

    /// Makes of what an image wrote what the stage makes of what it renders itself.
    fn take(
        &self,
        work: &ImageWork<'_>,
        input: &RenderInput<'_>,
        facts: &Facts,
    ) -> Result<Decision, PlanError> {
        let tree = facts.get(output_of(work.component)?)?;
        let rendering = Rendering {
            files: work.take(input, &tree)?,
            origin: work.origin(),
        };
        let before = facts.get(&self.listed)?.0;
        let effects = self.effects(work.component, input, rendering, before.as_deref())?;
        let list = Output::of(&tree).text()?;
        Ok(Decision::Do(work.around(list, effects)?))
    }

    fn input<'a>(
        &self,
        settings: &'a Settings,
        facts: &Facts,
    ) -> Result<RenderInput<'a>, PlanError> {
        let uses = |name: &str| self.uses.contains(&name);
        let mut input = RenderInput::new(settings);
        if uses(NODE_NAME.name()) {
            input.node = facts.get(&NODE_NAME)?;
        }
        if uses(RELEASE_IMAGES.name()) {
            input.release.images = facts.get(&RELEASE_IMAGES)?;
        }
        if uses(RELEASE_VERSION.name()) {
            input.release.version = facts.get(&RELEASE_VERSION)?;
        }
        if uses(RELEASE_DIGEST.name()) {
            input.release.digest = facts.get(&RELEASE_DIGEST)?;
        }
        for wanted in self.inputs {
            match wanted {
                Input::Copied => input.copied = facts.get(&MANIFESTS_COPIED)?.0,
                Input::Manifests => input.manifests = manifests(settings, facts)?,
                Input::Token => input.token = facts.get(&BOOTSTRAP_TOKEN)?.0,
                Input::Payload if ask_for_payload(settings).is_some() => {
                    input.payload = Some(facts.get(&RELEASE_TREE)?);
                }
                Input::Payload => {}
            }
        }
        Ok(input)
    }
}

/// Returns the fact of what an image wrote for a component.
fn output_of(component: &Component) -> Result<&'static Fact<FileTree>, Fault> {
    let mut outputs = IMAGE_OUTPUTS.iter();
    let found = outputs.find(|(name, _)| *name == component.name);
    let found = found.map(|(_, fact)| fact);
    found.ok_or_else(|| Fault::internal(format!("{} has no fact for an image", component.name)))
}

/// Asks for the folders of the user's manifests.
pub(crate) fn ask_for_manifests(settings: &Settings) -> impl Iterator<Item = Ask> {
    let folders = settings.cluster.manifests.iter().zip(&MANIFEST_FOLDERS);
    folders.map(|(path, fact)| {
        fact.from(Probe::ReadTree {
            path: path.clone(),
            limit: LIMIT,
        })
    })
}

/// Asks for the files of the release payload, if there is one.
pub(crate) fn ask_for_payload(settings: &Settings) -> Option<Ask> {
    match &settings.cluster.release {
        ReleaseSource::Dir { path, .. } => Some(RELEASE_TREE.from(Probe::ReadTree {
            path: path.clone(),
            limit: LIMIT,
        })),
        ReleaseSource::BuiltIn | ReleaseSource::Image(_) => None,
    }
}

/// Collects the folders of the user's manifests, in the order of the config.
fn manifests(settings: &Settings, facts: &Facts) -> Result<Vec<FileTree>, PlanError> {
    let folders = settings.cluster.manifests.iter().zip(&MANIFEST_FOLDERS);
    folders
        .map(|(_, fact)| facts.get(fact).map_err(PlanError::from))
        .collect()
}

fn not_built_in(step: &str) -> Fault {
    let message = format!("the step {step} is not built yet for the profile openshift");
    Fault::new(FaultKind::Preflight, message)
        .because("there the operators render, in containers of the release, and nobody else can")
        .hint(format!(
            "`bootlace explain cluster --only {step}` tells what it will do"
        ))
        .hint("`bootlace run cluster --to release-info` runs what is built")
        .hint("spec.rendering.images lets an image render a stage of profile kubernetes")
}
