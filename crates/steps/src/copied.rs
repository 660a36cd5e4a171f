//! The list of the user's manifests that `copy-manifests` copied; renders read it, too.

use std::collections::{BTreeMap, BTreeSet};

use bootlace_model::config::Settings;
use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use serde::{Deserialize, Serialize};

use crate::assets::{COPIED, asset};
use crate::survey::Survey;

/// The list of what was copied; `files` is what [`Claim::ListedFiles`] reads.
///
/// [`Claim::ListedFiles`]: bootlace_model::expect::Claim::ListedFiles
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Copied {
    /// The files, below the manifests.
    pub(crate) files: BTreeMap<String, Digest>,
    /// Their objects.
    pub(crate) objects: Vec<CopiedObject>,
}

/// An object of the user's.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CopiedObject {
    /// The file that defines it.
    pub(crate) file: String,
    /// The API's group; empty for the core.
    pub(crate) group: String,
    /// The kind.
    pub(crate) kind: String,
    /// The namespace, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    /// The name.
    pub(crate) name: String,
}

impl CopiedObject {
    /// Returns what makes two objects the same one.
    pub(crate) fn identity(&self) -> [&str; 4] {
        let namespace = self.namespace.as_deref().unwrap_or("default");
        [&self.group, &self.kind, namespace, &self.name]
    }

    /// Tells whether it holds secrets.
    fn is_secret(&self) -> bool {
        self.group.is_empty() && self.kind == "Secret"
    }
}

impl Copied {
    /// Lists the files of a survey.
    pub(crate) fn of(survey: &Survey<'_>) -> Self {
        let files = survey.files.values();
        let objects = files
            .clone()
            .flat_map(|file| file.objects.iter().map(move |object| (file, object)));
        Self {
            files: files
                .map(|file| (file.relative.to_owned(), Digest::of(file.content)))
                .collect(),
            objects: objects
                .map(|(file, object)| CopiedObject {
                    file: file.relative.to_owned(),
                    group: object.group.clone(),
                    kind: object.kind.clone(),
                    namespace: object.namespace.clone(),
                    name: object.name.clone(),
                })
                .collect(),
        }
    }

    /// Reads the list; an absent one lists nothing.
    pub(crate) fn read(settings: &Settings, content: Option<&[u8]>) -> Result<Self, Fault> {
        let Some(content) = content else {
            return Ok(Self::default());
        };
        serde_json::from_slice(content).map_err(|error| {
            let (path, manifests) = (asset(settings, COPIED), asset(settings, "manifests"));
            Fault::refused(format!(
                "{path} is not the list that copy-manifests wrote: {error}"
            ))
            .in_file(path.as_str())
            .because("files that an earlier run copied can no longer be told from others")
            .hint(format!(
                "look into {manifests}, remove what is not wanted, then remove {path}"
            ))
        })
    }

    /// Lists the files that hold a Secret, each once.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        let secrets = self.objects.iter().filter(|object| object.is_secret());
        let files: BTreeSet<&str> = secrets.map(|object| object.file.as_str()).collect();
        files.into_iter()
    }

    /// Finds the user's definition of an object.
    pub(crate) fn find(&self, identity: [&str; 4]) -> Option<&CopiedObject> {
        let mut objects = self.objects.iter();
        objects.find(|object| object.identity() == identity)
    }
}
