//! Writes the JSON Schemas of what people's scripts read and of what people write.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use bootlace_model::{config, event, record, view};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::failure::Failure;
use crate::root::root;

/// Where the schemas lie in the repository.
const FOLDER: &str = "docs/reference/schemas";

const HINT: &str = "run `cargo run -p xtask -- schemas` and commit what it writes";

/// One schema: the file's name, and what generates it.
type Row = (&'static str, fn() -> Value);

/// Every schema. A new `-o json` shape is a new row.
const SCHEMAS: &[Row] = &[
    ("config", config::schema),
    ("error", output::<view::ErrorView>),
    ("event", output::<event::Event>),
    ("explain", output::<view::ExplainView>),
    (
        "ignition-transcript",
        output::<view::IgnitionTranscriptView>,
    ),
    ("ignition-validate", output::<view::IgnitionReportView>),
    ("log", output::<record::ClosedLine>),
    ("assets", output::<view::AssetsView>),
    ("benchmark", output::<view::BenchmarkView>),
    ("pki", output::<view::PkiView>),
    ("pki-rotate-encryption-key", output::<view::KeyRotationView>),
    ("plan", output::<view::PlanView>),
    ("runs", output::<view::RunsView>),
    ("status", output::<view::StatusView>),
    ("undo", output::<view::UndoView>),
    ("up", output::<view::UpView>),
    ("verify", output::<view::VerifyView>),
];

/// Describes a type as it is written, not as it would be read: what is always there is required.
fn output<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// Writes the schemas, or with `--check` compares them with those in the repository.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let folder = root()?.join(FOLDER);
    match arguments {
        [] => write(&folder),
        [check] if check == "--check" => compare(&folder),
        [first, ..] => Err(Failure::Usage(first.clone())),
    }
}

/// Returns the files as they must be, by name.
fn generate() -> BTreeMap<String, String> {
    let file = |(name, schema): &Row| (format!("{name}.json"), format!("{:#}\n", schema()));
    SCHEMAS.iter().map(file).collect()
}

fn write(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    let wanted = generate();
    for (name, text) in &wanted {
        let path = folder.join(name);
        fs::write(&path, text).map_err(Failure::file(&path))?;
    }
    for name in read(folder)?
        .into_keys()
        .filter(|name| !wanted.contains_key(name))
    {
        let path = folder.join(name);
        fs::remove_file(&path).map_err(Failure::file(&path))?;
    }
    println!("schemas: {} files in {FOLDER}", wanted.len());
    Ok(())
}

fn compare(folder: &Path) -> Result<(), Failure> {
    let (wanted, found) = (generate(), read(folder)?);
    let names: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
    let findings: Vec<String> = names
        .into_iter()
        .filter_map(|name| match (wanted.get(name), found.get(name)) {
            (Some(_), None) => Some(format!("{FOLDER}/{name} is missing")),
            (None, Some(_)) => Some(format!("{FOLDER}/{name} is left over")),
            (Some(wanted), Some(found)) if wanted != found => {
                Some(format!("{FOLDER}/{name} is not what the types say"))
            }
            _ => None,
        })
        .collect();
    if !findings.is_empty() {
        let summary = "generated files are out of date:".into();
        return Err(Failure::Found {
            summary,
            findings,
            hint: HINT,
        });
    }
    println!("schemas: {} files are up to date", wanted.len());
    Ok(())
}

/// Returns the files that are there, by name; none if the folder is not.
fn read(folder: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut files = BTreeMap::new();
    if !folder.exists() {
        return Ok(files);
    }
    for entry in fs::read_dir(folder).map_err(Failure::file(folder))? {
        let path = entry.map_err(Failure::file(folder))?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
        files.insert(name, text);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_up_to_date_until_someone_changes_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("a/b");
        let findings = |folder: &Path| match compare(folder) {
            Ok(()) => vec![],
            Err(Failure::Found { findings, .. }) => findings,
            Err(other) => panic!("{other}"),
        };
        assert_eq!(findings(&folder).len(), SCHEMAS.len());
        write(&folder).unwrap();
        assert_eq!(findings(&folder), [""; 0]);

        fs::write(folder.join("plan.json"), "{}").unwrap();
        fs::write(folder.join("old.json"), "{}").unwrap();
        fs::remove_file(folder.join("undo.json")).unwrap();
        let found = findings(&folder).join("\n");
        for expected in [
            "plan.json is not what",
            "old.json is left over",
            "undo.json is missing",
        ] {
            assert!(found.contains(expected), "{expected}\n{found}");
        }
        assert_eq!(found.lines().count(), 3, "{found}");
        write(&folder).unwrap();
        assert_eq!(findings(&folder), [""; 0]);
    }

    #[test]
    fn outputs_are_described_as_they_are_written() {
        let required = &output::<view::StatusView>()["required"];
        let required: Vec<&str> = required
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        for key in ["run", "sequence", "state", "steps", "insecure", "pinned"] {
            assert!(required.contains(&key), "{key}");
        }
    }
}
