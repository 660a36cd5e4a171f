//! The threat model names tests; each of them exists.

#![expect(
    clippy::disallowed_methods,
    reason = "the repository's own files are read"
)]

use std::collections::BTreeSet;
use std::path::Path;

/// Collects the names of all functions below a folder.
fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(str::trim);
            let names = lines.filter_map(|line| {
                let line = line.strip_prefix("async ").unwrap_or(line);
                let (name, _) = line.strip_prefix("fn ")?.split_once('(')?;
                Some(name.to_owned())
            });
            found.extend(names);
        }
    }
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = BTreeSet::new();
    functions(&top.join("crates"), &mut found);
    let page = std::fs::read_to_string(top.join("docs/security.md")).unwrap();
    // Names of tests are sentences; flags, paths and settings have other characters.
    let is_test = |word: &&str| {
        let plain = word
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        plain && word.matches('_').count() >= 2
    };
    let named: BTreeSet<&str> = page.split('`').skip(1).step_by(2).filter(is_test).collect();
    assert!(named.len() > 50, "{named:?}");
    let missing: Vec<_> = named
        .iter()
        .filter(|name| !found.contains(**name))
        .collect();
    assert!(missing.is_empty(), "no test has these names: {missing:?}");
}
