//! What an image wrote: whether it is whole, whether it makes sense, and what becomes of it.

use std::collections::BTreeMap;

use bootlace_model::config::Settings;
use bootlace_model::expect::Claim;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::Digest;
use bootlace_model::probe::{FileTree, TreeFile};
use serde::{Deserialize, Serialize};

use super::Stage;
use super::image::{ImageWork, LIST, OUTPUT};
use crate::documents::{self, is_manifest_name};
use crate::render::{Publish, RenderInput, RenderedFile};
use crate::{cluster, manifest};

/// The list of an output that is whole.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Output {
    /// The files below the output folder.
    files: BTreeMap<String, Digest>,
}

/// Picks the files that the image wrote.
fn written(tree: &FileTree) -> impl Iterator<Item = (&str, &TreeFile)> {
    let files = tree.files.iter();
    files.filter_map(|file| Some((inside(&file.relative)?, file)))
}

fn inside(relative: &str) -> Option<&str> {
    relative.strip_prefix(OUTPUT)?.strip_prefix('/')
}

impl Output {
    /// Lists the files that the image wrote.
    pub(super) fn of(tree: &FileTree) -> Self {
        let digest = |(name, file): (&str, &TreeFile)| (name.to_owned(), Digest::of(&file.content));
        Self {
            files: written(tree).map(digest).collect(),
        }
    }

    /// Writes the list.
    pub(super) fn text(&self) -> Result<String, Fault> {
        cluster::record(self)
    }

    /// Tells whether an earlier try found the output whole, and it is still as it was.
    pub(super) fn is_whole(tree: &FileTree) -> bool {
        let list = tree.files.iter().find(|file| file.relative == LIST);
        let list = list.and_then(|file| serde_json::from_slice::<Self>(&file.content).ok());
        list.is_some_and(|list| list == Self::of(tree))
    }
}

impl ImageWork<'_> {
    /// Takes over what the image wrote, or says all that is wrong with it.
    pub(super) fn take(
        &self,
        input: &RenderInput<'_>,
        tree: &FileTree,
    ) -> Result<Vec<RenderedFile>, Fault> {
        let missing = self
            .stage
            .missing(self.settings, self.component.output, tree);
        if !missing.is_empty() {
            return Err(self.incomplete(tree, missing));
        }
        let problems: Vec<String> = odd(tree).chain(written(tree).flat_map(senseless)).collect();
        if !problems.is_empty() {
            return Err(self.senseless(problems));
        }
        // What the built-in renderer knows of a file of the same name holds for it, too.
        let known = self.component.render(input)?;
        let known: BTreeMap<&str, &RenderedFile> = known
            .iter()
            .map(|file| (file.path.as_str(), file))
            .collect();
        let taken = written(tree).map(|(name, file)| {
            let content = file.content.clone();
            match known.get(name) {
                Some(known) => known.rendered_elsewhere(content, file.is_private),
                None => RenderedFile::foreign(name, content, file.is_private, publish(name)),
            }
        });
        Ok(taken.collect())
    }

    fn incomplete(&self, tree: &FileTree, missing: Vec<String>) -> Fault {
        let image = &self.renderer.image;
        let (name, count) = (self.component.name, written(tree).count());
        let what = match count {
            0 => format!("{image} ended well but wrote nothing for {name}"),
            _ => format!("{image} ended well but did not write all of {name}"),
        };
        let mut fault = Fault::new(FaultKind::StepFailed, what)
            .because("What follows starts from these files, and nobody else writes them.")
            .hint("when the cause is gone, `bootlace resume` asks the image again");
        fault.details = missing
            .into_iter()
            .map(|path| format!("{path} is missing"))
            .collect();
        fault
    }

    fn senseless(&self, problems: Vec<String>) -> Fault {
        let image = &self.renderer.image;
        let what = format!(
            "{image} wrote files for {} that make no sense",
            self.component.name
        );
        let mut fault = Fault::new(FaultKind::StepFailed, what)
            .because("The cluster would be given them as they are, so nothing of it was taken.")
            .hint("when the cause is gone, `bootlace resume` asks the image again");
        fault.details = problems;
        fault
    }
}

impl Stage {
    /// Lists the files that must be there afterwards and that the image did not write.
    fn missing(&self, settings: &Settings, output: &str, tree: &FileTree) -> Vec<String> {
        let has = |wanted: &str| written(tree).any(|(name, _)| name == wanted);
        let expected = (self.expects)(settings).into_iter();
        expected
            .filter_map(|expectation| match expectation.claim {
                Claim::File { path, .. } => Some(path),
                _ => None,
            })
            .filter_map(|path| {
                let below = path.below(&settings.paths.assets)?;
                let name = below.strip_prefix(output)?.strip_prefix('/')?;
                (!has(name)).then(|| format!("{output}/{name}"))
            })
            .collect()
    }
}

/// Says where a file is needed, by the folder that it lies in.
fn publish(name: &str) -> Publish {
    match name.split_once('/') {
        Some(("manifests", rest)) if !rest.contains('/') => Publish::Manifests,
        Some(("bootstrap-manifests", rest)) if !rest.contains('/') => Publish::BootstrapManifests,
        _ => Publish::Nowhere,
    }
}

/// Names what is neither a file nor a folder.
fn odd(tree: &FileTree) -> impl Iterator<Item = String> {
    let odd = tree.odd.iter();
    odd.filter_map(|(relative, what)| {
        let name = inside(relative)?;
        Some(format!("{name} is {what}"))
    })
}

/// Names what is wrong with a file.
fn senseless((name, file): (&str, &TreeFile)) -> Vec<String> {
    let told = |problem: &documents::Problem| match problem.at {
        Some((line, column)) => format!("{name}:{line}:{column}: {}", problem.what),
        None => format!("{name}: {}", problem.what),
    };
    if !is_manifest_name(name) {
        return vec![];
    }
    match publish(name) {
        Publish::Nowhere => match documents::documents(name, &file.content) {
            Ok(_) => vec![],
            Err(problem) => vec![told(&problem)],
        },
        Publish::Manifests | Publish::BootstrapManifests => {
            let reading = manifest::read(name, &file.content);
            if reading.problems.is_empty() && reading.objects.is_empty() {
                return vec![format!("{name} holds no object")];
            }
            reading.problems.iter().map(told).collect()
        }
    }
}
