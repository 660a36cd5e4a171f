//! The user's own objects of a kind, among all of their manifests.

use bootlace_model::fault::{Fault, Place};
use serde_json::Value;

use super::input::RenderInput;
use super::objects::RENDERED_BY;
use crate::documents;

/// An object that the user wrote.
#[derive(Debug, Clone)]
pub(super) struct UserObject {
    /// The file, below its folder.
    pub(super) file: String,
    /// The object.
    pub(super) object: Value,
}

/// Finds the user's objects of a kind, sorted by file; those that we rendered are left out.
pub(super) fn objects(
    input: &RenderInput<'_>,
    group: &str,
    kind: &str,
) -> Result<Vec<UserObject>, Fault> {
    let mut found = Vec::new();
    let files = input.manifests.iter().flat_map(|folder| &folder.files);
    // Reading all of a large folder takes a while, and few files name the kind.
    let names_kind = |content: &[u8]| {
        let mut windows = content.windows(kind.len());
        windows.any(|window| window == kind.as_bytes())
    };
    for file in files.filter(|file| documents::is_manifest_name(&file.relative)) {
        if !names_kind(&file.content) {
            continue;
        }
        let documents = documents::documents(&file.relative, &file.content);
        let documents = documents.map_err(|problem| unreadable(&file.relative, &problem))?;
        for document in documents {
            let items = match document.value {
                Value::Object(mut list) if list.get("items").is_some_and(Value::is_array) => {
                    list.remove("items")
                }
                other => Some(Value::Array(vec![other])),
            };
            let Some(Value::Array(items)) = items else {
                continue;
            };
            let wanted = |object: &Value| is_of(object, group, kind) && !is_ours(object);
            found.extend(items.into_iter().filter(wanted).map(|object| UserObject {
                file: file.relative.clone(),
                object,
            }));
        }
    }
    found.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(found)
}

fn is_of(object: &Value, group: &str, kind: &str) -> bool {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let of_group = version.split_once('/').is_some_and(|(of, _)| of == group);
    of_group && object["kind"] == kind
}

fn is_ours(object: &Value) -> bool {
    object["metadata"]["labels"][RENDERED_BY].is_string()
}

fn unreadable(file: &str, problem: &documents::Problem) -> Fault {
    let place = Place {
        file: file.to_owned(),
        line: problem.at.map(|(line, _)| line),
        column: problem.at.map(|(_, column)| column),
    };
    Fault::bad_input(format!("your manifest cannot be read: {}", problem.what))
        .at(place)
        .because("what it says about machines and versions has to be rendered")
        .hint("correct or remove the file, then run again")
}
