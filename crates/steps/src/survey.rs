//! Looks through all folders of manifests at once, and names everything that is wrong with them.

use std::collections::BTreeMap;

use bootlace_model::fault::Place;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::{FileTree, TreeFile};

use crate::documents;
use crate::manifest::{self, Object};

/// A file that will be copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    /// Where it lies below its folder, and will lie below the manifests.
    pub(crate) relative: &'a str,
    /// Where it lies now.
    pub(crate) source: String,
    /// What it holds.
    pub(crate) content: &'a [u8],
    /// Its objects.
    pub(crate) objects: Vec<Object>,
}

/// Something that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The file, and the line where it is known.
    pub(crate) place: Place,
    /// What is wrong.
    pub(crate) what: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// What was found in all folders.
#[derive(Debug, Default)]
pub(crate) struct Survey<'a> {
    /// The files by their relative name.
    pub(crate) files: BTreeMap<&'a str, Found<'a>>,
    /// What is wrong.
    pub(crate) findings: Vec<Finding>,
}

/// Looks through folders, in the order in which they are given.
pub(crate) fn survey<'a>(folders: &'a [(&TargetPath, FileTree)]) -> Survey<'a> {
    let mut survey = Survey::default();
    for (path, tree) in folders {
        for (relative, what) in &tree.odd {
            let what = format!("it is {what}; only plain files are copied");
            survey.find(&format!("{path}/{relative}"), None, what);
        }
        for file in &tree.files {
            survey.file(path, file);
        }
    }
    survey.nested_names();
    survey.same_objects();
    survey
}

impl<'a> Survey<'a> {
    fn find(&mut self, file: &str, at: Option<(u64, u64)>, what: impl Into<String>) {
        let place = Place {
            file: file.to_owned(),
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
        };
        let what = what.into();
        self.findings.push(Finding { place, what });
    }

    fn file(&mut self, folder: &TargetPath, file: &'a TreeFile) {
        let source = format!("{folder}/{}", file.relative);
        if !documents::is_manifest_name(&file.relative) {
            let what = "it is no manifest: only .yaml, .yml and .json are";
            return self.find(&source, None, what);
        }
        if let Some(other) = self.files.get(file.relative.as_str()) {
            let what = format!(
                "it would overwrite {}, which has the same name",
                other.source
            );
            return self.find(&source, None, what);
        }
        let reading = manifest::read(&file.relative, &file.content);
        for problem in reading.problems {
            self.find(&source, problem.at, problem.what);
        }
        let found = Found {
            relative: &file.relative,
            source,
            content: &file.content,
            objects: reading.objects,
        };
        self.files.insert(&file.relative, found);
    }

    /// Finds a file in one folder whose name is that of a sub-folder in another.
    fn nested_names(&mut self) {
        let mut clashes = Vec::new();
        for found in self.files.values() {
            for (end, _) in found.relative.match_indices('/') {
                if let Some(file) = self.files.get(&found.relative[..end]) {
                    clashes.push((found.source.clone(), file.source.clone()));
                }
            }
        }
        for (source, file) in clashes {
            let what = format!("its folder has the same name as the file {file}");
            self.find(&source, None, what);
        }
    }

    /// Finds objects that are defined more than once, in one file or in several.
    fn same_objects(&mut self) {
        let mut first: BTreeMap<[&str; 4], (String, u64)> = BTreeMap::new();
        let mut twice = Vec::new();
        for found in self.files.values() {
            for object in &found.objects {
                let here = (found.source.clone(), object.line);
                match first.get(&object.identity()) {
                    None => {
                        first.insert(object.identity(), here);
                    }
                    Some((file, line)) => {
                        let what =
                            format!("{object} is defined a second time, after {file}:{line}");
                        twice.push((here, what));
                    }
                }
            }
        }
        for ((source, line), what) in twice {
            let place = Place {
                file: source,
                line: Some(line),
                column: None,
            };
            self.findings.push(Finding { place, what });
        }
    }
}
