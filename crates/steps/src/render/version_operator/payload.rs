//! The manifests of the release, in the order in which they are applied.

use bootlace_model::fault::Fault;
use bootlace_model::probe::TreeFile;
use bootlace_model::release::run_level;
use serde_json::json;

use super::super::content::RenderedFile;
use super::super::input::RenderInput;
use crate::documents::is_manifest_name;
use crate::manifest::{self, Object};

/// The folder of a payload that holds its manifests, and the operator's copy of it.
const FOLDER: &str = "release-manifests/";

/// A file of the release that is applied.
#[derive(Debug)]
struct Applied {
    level: u16,
    file: String,
    objects: Vec<Object>,
}

/// A release, as far as its operator needs it.
#[derive(Debug)]
pub(super) struct Payload {
    /// What is applied, in order.
    applied: Vec<Applied>,
    /// Every file, by name.
    passed_on: Vec<(String, Vec<u8>)>,
}

impl Payload {
    /// Reads the payload; without one there are names of images and nothing to apply.
    pub(super) fn read(input: &RenderInput<'_>) -> Result<Self, Fault> {
        let Some(tree) = &input.payload else {
            return Self::built_in(input);
        };
        let inner = |file: &TreeFile| file.relative.starts_with(FOLDER);
        // A payload without the folder is the folder itself.
        let prefix = if tree.files.iter().any(inner) {
            FOLDER
        } else {
            ""
        };
        let mut payload = Self {
            applied: vec![],
            passed_on: vec![],
        };
        let mut problems = Vec::new();
        for file in &tree.files {
            let Some(name) = file.relative.strip_prefix(prefix) else {
                continue;
            };
            if is_manifest_name(name) {
                payload.apply(name, file, &mut problems);
            } else if !matches!(name, "image-references" | "release-metadata") {
                continue;
            }
            payload
                .passed_on
                .push((name.to_owned(), file.content.clone()));
        }
        if !problems.is_empty() {
            let mut fault = Fault::bad_input("the release has manifests that cannot be applied")
                .because("the version operator would stop at them, after the control plane is up")
                .hint("extract the release again, or take another one");
            fault.details = problems;
            return Err(fault);
        }
        let order = |a: &Applied, b: &Applied| (a.level, &a.file).cmp(&(b.level, &b.file));
        payload.applied.sort_by(order);
        Ok(payload)
    }

    fn apply(&mut self, name: &str, file: &TreeFile, problems: &mut Vec<String>) {
        let reading = manifest::read(name, &file.content);
        problems.extend(reading.problems.iter().map(|problem| {
            let line = problem.at.map(|(line, _)| format!(":{line}"));
            let line = line.unwrap_or_default();
            format!("{}{line}: {}", file.relative, problem.what)
        }));
        self.applied.push(Applied {
            level: run_level(name),
            file: name.to_owned(),
            objects: reading.objects,
        });
    }

    /// Writes down the built-in names, so that the operator finds the same files as in a payload.
    fn built_in(input: &RenderInput<'_>) -> Result<Self, Fault> {
        let tags = input.release.images.iter().map(
            |(name, image)| json!({"name": name, "from": {"kind": "DockerImage", "name": image}}),
        );
        let references = json!({
            "apiVersion": "image.openshift.io/v1",
            "kind": "ImageStream",
            "metadata": {"name": input.release.version},
            "spec": {"tags": tags.collect::<Vec<_>>()},
        });
        let metadata = json!({
            "kind": "cincinnati-metadata-v0",
            "version": input.release.version,
        });
        let file = |name: &str, value| {
            let text = crate::cluster::record(value)?;
            Ok((name.to_owned(), text.into_bytes()))
        };
        Ok(Self {
            applied: vec![],
            passed_on: vec![
                file("image-references", &references)?,
                file("release-metadata", &metadata)?,
            ],
        })
    }

    /// Lists every object of the release.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Object> {
        self.applied.iter().flat_map(|applied| &applied.objects)
    }

    /// Writes the list for people.
    pub(super) fn listing(&self) -> String {
        let mut text = String::from(
            "# What the version operator applies, in this order; those of one run level together.\n",
        );
        if self.applied.is_empty() {
            text.push_str(
                "# Nothing: there is no release payload, only built-in names of images.\n",
            );
            return text;
        }
        let widest = self.applied.iter().map(|applied| applied.file.len()).max();
        let width = widest.unwrap_or_default().min(60);
        for applied in &self.applied {
            for object in &applied.objects {
                let (level, file) = (applied.level, &applied.file);
                let line = format!("{level:02}  {file:width$}  {object}\n");
                text.push_str(&line);
            }
        }
        text
    }

    /// Passes the release on.
    pub(super) fn files(&self) -> impl Iterator<Item = RenderedFile> {
        let files = self.passed_on.iter();
        files.map(|(name, content)| RenderedFile::bytes(format!("{FOLDER}{name}"), content))
    }
}
