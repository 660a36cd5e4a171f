//! A stage that an image renders: what podman is called with, and what is made ready for it.
//!
//! podman runs in the asset folder, as bootkube.sh runs it, and the folder is `/assets` inside. Only
//! what the component needs is there, and only its output can be written.

use bootlace_model::config::{RendererImage, Settings};
use bootlace_model::effect::{
    AlreadyRan, Body, CommandUndo, DropPath, Effect, MakeDirectory, Origin, Product, PutFile,
    RunCommand,
};
use bootlace_model::expect::Claim;
use bootlace_model::fault::Fault;
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::step::{Decision, PlanError};
use serde_json::{Value, json};

use super::{Input, Stage};
use crate::assets::{COPIED, NODE, RELEASE, TOKEN};
use crate::facts::{NODE_NAME, RELEASE_DIGEST, RELEASE_IMAGES, RELEASE_VERSION};
use crate::render::{Component, InputFolder, RenderInput};
use crate::yaml;

/// The name, beside the output, of the list that says that the output is whole.
pub(super) const LIST: &str = "rendered.json";
/// The folder into which the image writes.
pub(super) const OUTPUT: &str = "output";
/// The settings, as a config.
const CONFIG: &str = "cluster-config.yaml";
/// Where podman notes which container it runs.
const CONTAINER: &str = "container-id";
/// How many seconds longer than we do the container's own watchdog waits.
const GRACE: u64 = 30;

/// A renderer that is an image, at work for a stage.
pub(super) struct ImageWork<'a> {
    pub(super) stage: &'a Stage,
    pub(super) component: &'static Component,
    pub(super) renderer: &'a RendererImage,
    pub(super) settings: &'a Settings,
}

impl ImageWork<'_> {
    /// Names the folder that it works in.
    pub(super) fn folder(settings: &Settings, component: &Component) -> Result<TargetPath, Fault> {
        join(&settings.paths.assets, &folder_name(component))
    }

    fn inside(&self, name: &str) -> Result<TargetPath, Fault> {
        join(&Self::folder(self.settings, self.component)?, name)
    }

    /// Says where what it renders comes from.
    pub(super) fn origin(&self) -> Origin {
        Origin::new("image", self.renderer.image.as_str())
    }

    /// Decides to run the image; what it writes decides the rest.
    pub(super) fn first(&self, input: &RenderInput<'_>) -> Result<Decision, PlanError> {
        let effects = vec![
            self.make_folder(Self::folder(self.settings, self.component)?),
            self.make_folder(self.inside(OUTPUT)?),
            Effect::PutFile(PutFile {
                path: self.inside(CONFIG)?,
                body: Body::text(yaml::document(&config(self.settings)?)),
                attributes: Attributes::mode(0o600),
                origin: self.origin(),
            }),
            Effect::RunCommand(self.command(input)?),
        ];
        let folders = [self.component.output, "manifests", "bootstrap-manifests"];
        let opens = folders.map(|name| join(&self.settings.paths.assets, name));
        Ok(Decision::DoFirst {
            effects,
            rest: "the files are known after the image has rendered them".into(),
            opens: opens.into_iter().collect::<Result<_, _>>()?,
        })
    }

    /// Puts the list first, which says that the output is whole and need not be made again, and
    /// drops the folder last.
    pub(super) fn around(
        &self,
        list: String,
        between: Vec<Effect>,
    ) -> Result<Vec<Effect>, PlanError> {
        let list = Effect::PutFile(PutFile {
            path: self.inside(LIST)?,
            body: Body::text(list),
            attributes: Attributes::mode(0o600),
            origin: self.origin(),
        });
        let drop = Effect::DropPath(DropPath {
            path: Self::folder(self.settings, self.component)?,
            forget: Some("all of it is where it is needed by now".into()),
            origin: self.origin(),
        });
        Ok([list].into_iter().chain(between).chain([drop]).collect())
    }

    fn make_folder(&self, path: TargetPath) -> Effect {
        Effect::MakeDirectory(MakeDirectory {
            path,
            attributes: Attributes::mode(0o700),
            origin: self.origin(),
        })
    }

    fn command(&self, input: &RenderInput<'_>) -> Result<RunCommand, Fault> {
        let rendering = &self.settings.cluster.rendering;
        let engine = ["podman"].into_iter().map(ToOwned::to_owned);
        let engine: Vec<String> = engine.chain(rendering.podman_flags.clone()).collect();
        let image = self.renderer.image.clone();
        let whole = Claim::ListedFiles {
            index: self.inside(LIST)?,
            below: self.inside(OUTPUT)?,
        };
        let mut argv = engine.clone();
        argv.extend(self.run_words(input));
        argv.push(image.clone());
        argv.extend(self.arguments(input)?);
        Ok(RunCommand {
            name: format!("render {} with {image}", self.component.name),
            argv,
            env: std::collections::BTreeMap::new(),
            directory: Some(self.settings.paths.assets.clone()),
            within: rendering.within,
            already: AlreadyRan::While(Box::new(whole)),
            undo: CommandUndo::Products,
            products: vec![
                Product::Container {
                    engine: engine.clone(),
                    id_file: self.inside(CONTAINER)?,
                },
                Product::StoredImage { engine, image },
                Product::Path(self.inside(OUTPUT)?),
            ],
            empties: vec![self.inside(OUTPUT)?],
            edits: vec![],
            hidden: vec![],
            input: None,
            origin: self.origin(),
        })
    }

    /// Lists the words from `run` to the image.
    fn run_words(&self, input: &RenderInput<'_>) -> Vec<String> {
        let rendering = &self.settings.cluster.rendering;
        let folder = folder_name(self.component);
        let fixed = [
            "run",
            "--rm",
            "--quiet",
            "--pull=missing",
            "--log-driver=none",
            "--network=none",
            "--user=0",
            "--cap-drop=all",
            "--security-opt=no-new-privileges",
            "--read-only",
        ];
        let mut words: Vec<String> = fixed.map(ToOwned::to_owned).into();
        // Ends the container also when nobody is left to do it.
        let seconds = rendering.within.as_secs() + GRACE;
        words.push(format!("--timeout={seconds}"));
        words.push(format!("--cidfile=./{folder}/{CONTAINER}"));
        words.extend(rendering.run_flags.clone());
        for name in self.inputs(input) {
            words.push(format!("--volume=./{name}:/assets/{name}:ro,z"));
        }
        words.push(format!(
            "--volume=./{folder}/{CONFIG}:/assets/{CONFIG}:ro,z"
        ));
        let output = self.component.output;
        words.push(format!("--volume=./{folder}/{OUTPUT}:/assets/{output}:z"));
        words
    }

    /// Lists what the component needs of the asset folder.
    fn inputs(&self, input: &RenderInput<'_>) -> Vec<String> {
        let mut names: Vec<String> = match (self.component.input, self.component.tls) {
            (InputFolder::Manifests, _) => vec!["manifests".into()],
            // Nothing in it is needed, but the folder is.
            (InputFolder::Tls, []) => vec!["tls/ca.crt".into()],
            (InputFolder::Tls, tls) => tls.iter().map(|name| format!("tls/{name}")).collect(),
        };
        let uses = |fact: &str| self.stage.uses.contains(&fact);
        let release = [
            RELEASE_IMAGES.name(),
            RELEASE_VERSION.name(),
            RELEASE_DIGEST.name(),
        ];
        if uses(NODE_NAME.name()) {
            names.push(NODE.into());
        }
        if release.into_iter().any(uses) {
            names.push(RELEASE.into());
        }
        if input.copied.is_some() {
            names.push(COPIED.into());
        }
        if self.stage.inputs.contains(&Input::Token) && input.token.is_some() {
            names.push(TOKEN.into());
        }
        names
    }

    /// Lists what the image is called with.
    fn arguments(&self, input: &RenderInput<'_>) -> Result<Vec<String>, Fault> {
        let from = match self.component.input {
            InputFolder::Tls => "/assets/tls",
            InputFolder::Manifests => "/assets/manifests",
        };
        let to = format!("/assets/{}", self.component.output);
        let config = format!("/assets/{CONFIG}");
        let image = self.component.image.map(|name| input.image(name));
        let image = image.transpose()?;
        if self.renderer.arguments.is_empty() {
            let words = ["render".to_owned(), self.component.name.into()].into_iter();
            let folders = [
                format!("--asset-input-dir={from}"),
                format!("--asset-output-dir={to}"),
            ];
            let image = image.map(|image| format!("--manifest-image={image}"));
            let config = format!("--config={config}");
            return Ok(words.chain(folders).chain(image).chain([config]).collect());
        }
        let places = [
            ("$(input)", from),
            ("$(output)", &to),
            ("$(config)", &config),
            ("$(image)", image.unwrap_or_default()),
            ("$(version)", &self.settings.cluster.kubernetes_version),
        ];
        let fill = |word: &String| {
            let put = |word: String, (place, value): (&str, &str)| word.replace(place, value);
            places.into_iter().fold(word.clone(), put)
        };
        Ok(self.renderer.arguments.iter().map(fill).collect())
    }
}

fn folder_name(component: &Component) -> String {
    format!(".rendering-{}", component.name)
}

fn join(folder: &TargetPath, name: &str) -> Result<TargetPath, Fault> {
    let path = folder.join(name);
    path.map_err(|bad| Fault::internal(bad.to_string()))
}

/// Writes the settings as a config that leads to them; what lies elsewhere is left out.
pub(crate) fn config(settings: &Settings) -> Result<Value, Fault> {
    let cluster = serde_json::to_value(&settings.cluster)
        .map_err(|error| Fault::internal(format!("the settings cannot be written: {error}")))?;
    let keys = [
        "profile",
        "kubernetesVersion",
        "controlPlane",
        "network",
        "pki",
        "node",
    ];
    let spec = keys.map(|key| (key.to_owned(), cluster[key].clone()));
    Ok(json!({
        "apiVersion": "bootlace.dev/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": cluster["name"]},
        "spec": serde_json::Map::from_iter(spec),
    }))
}
