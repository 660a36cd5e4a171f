//! From rendered files to effects.

use bootlace_model::config::Settings;
use bootlace_model::effect::{Body, DropPath, Effect, Origin, PutFile};
use bootlace_model::fault::Fault;
use bootlace_model::ids::StepId;
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::step::PlanError;
use serde_json::Value;

use super::Stage;
use super::record::Rendered;
use crate::assets::asset;
use crate::cluster;
use crate::copied::Copied;
use crate::render::{Component, Publish, RenderInput, RenderedFile, body_of};

/// Rendered files, and who rendered them.
pub(super) struct Rendering {
    pub(super) files: Vec<RenderedFile>,
    pub(super) origin: Origin,
}

/// A file that a stage writes, below the asset folder.
struct Wanted {
    path: String,
    body: Body,
    mode: u32,
}

impl Stage {
    /// Decides what is written, and what an earlier run wrote and nobody wants any more.
    pub(super) fn effects(
        &self,
        component: &Component,
        input: &RenderInput<'_>,
        rendered: Rendering,
        before: Option<&[u8]>,
    ) -> Result<Vec<Effect>, PlanError> {
        let (settings, origin) = (input.settings, rendered.origin);
        let copied = Copied::read(settings, input.copied.as_deref())?;
        let mut wanted = Vec::new();
        for file in rendered.files {
            wanted.extend(self.published(settings, &copied, &file)?);
            wanted.push(Wanted {
                path: format!("{}/{}", component.output, file.path),
                body: file.body(settings)?,
                mode: file.mode,
            });
        }
        wanted.sort_by(|a, b| a.path.cmp(&b.path));
        let list = list(&wanted);
        let folders = [component.output, "manifests", "bootstrap-manifests"];
        let before = Rendered::read(settings, self.record, &folders, before)?;
        let mut effects = Vec::new();
        for path in before.paths() {
            let theirs = path.strip_prefix("manifests/");
            let theirs = theirs.is_some_and(|name| copied.files.contains_key(name));
            if !list.has(path) && !theirs {
                effects.push(Effect::DropPath(DropPath {
                    path: settings.paths.assets.join(path)?,
                    forget: None,
                    origin: origin.clone(),
                }));
            }
        }
        for file in wanted {
            let path = settings.paths.assets.join(&file.path)?;
            effects.push(put(path, file.body, file.mode, &origin));
        }
        // Last, so that a render that was cut off is not listed as whole.
        let record = Body::text(cluster::record(&list)?);
        effects.push(put(asset(settings, self.record), record, 0o644, &origin));
        Ok(effects)
    }

    /// Returns the copy of a file that others need. Objects that the user defines are left out of
    /// it: theirs count.
    fn published(
        &self,
        settings: &Settings,
        copied: &Copied,
        file: &RenderedFile,
    ) -> Result<Option<Wanted>, PlanError> {
        let Some(folder) = file.publish.folder() else {
            return Ok(None);
        };
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        if file.publish == Publish::Manifests && copied.files.contains_key(name) {
            return Err(self.same_name(name).into());
        }
        let body = match file.objects() {
            Some(objects) if !file.merged => {
                let all = objects.len();
                let ours = |object: &Value| copied.find(identity(object)).is_none();
                let ours: Vec<Value> = objects.into_iter().filter(ours).collect();
                match ours.len() {
                    0 => return Ok(None),
                    // As it was written, also by somebody else.
                    some if some == all => file.body(settings)?,
                    _ => body_of(&ours, settings)?,
                }
            }
            _ => file.body(settings)?,
        };
        Ok(Some(Wanted {
            path: format!("{folder}/{name}"),
            body,
            mode: file.mode,
        }))
    }

    fn same_name(&self, name: &str) -> Fault {
        let message = format!("your manifest {name} has the name of a file that is rendered");
        Fault::bad_input(message)
            .in_file(name)
            .because(format!(
                "{} writes a file of that name, and one of the two would be lost",
                self.name
            ))
            .hint("give your file another name; what it defines counts, whatever it is called")
    }

    /// Says that what is rendered is this tool's own.
    pub(super) fn built_in(&self) -> Origin {
        Origin::new("built-in", StepId::new(cluster::NAME, self.name).as_str())
    }
}

fn put(path: TargetPath, body: Body, mode: u32, origin: &Origin) -> Effect {
    Effect::PutFile(PutFile {
        path,
        body,
        attributes: Attributes::mode(mode),
        origin: origin.clone(),
    })
}

fn list(wanted: &[Wanted]) -> Rendered {
    let mut list = Rendered::default();
    for file in wanted {
        match &file.body {
            Body::Literal(content) => {
                list.files.insert(file.path.clone(), content.digest());
            }
            Body::Compose(_) => {
                list.composed.insert(file.path.clone());
            }
        }
    }
    list
}

/// Returns what makes two objects the same one.
fn identity(object: &Value) -> [&str; 4] {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let version = text("/apiVersion").unwrap_or_default();
    [
        version.split_once('/').map_or("", |(group, _)| group),
        text("/kind").unwrap_or_default(),
        text("/metadata/namespace").unwrap_or("default"),
        text("/metadata/name").unwrap_or_default(),
    ]
}
