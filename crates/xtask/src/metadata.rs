//! What cargo says of the workspace: which crates there are, and which depend on which.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde::Deserialize;

use crate::failure::Failure;

/// The crates of the workspace and everything they are built from, by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Graph {
    /// The workspace's own crates.
    pub(crate) ours: BTreeSet<String>,
    /// What each crate is built from.
    pub(crate) uses: BTreeMap<String, BTreeSet<String>>,
    /// What each crate's tests are built from besides.
    pub(crate) tests_use: BTreeMap<String, BTreeSet<String>>,
}

/// Asks cargo, for the platform of this machine only: other platforms' crates are not downloaded.
pub(crate) fn read() -> Result<Graph, Failure> {
    let host = host()?;
    let arguments = [
        "metadata",
        "--format-version=1",
        "--locked",
        "--filter-platform",
        &host,
    ];
    parse(&cargo(&arguments)?)
}

/// Asks cargo for the platform of this machine, such as `x86_64-unknown-linux-gnu`.
pub(crate) fn host() -> Result<String, Failure> {
    let version = cargo(&["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(ToOwned::to_owned).ok_or_else(|| Failure::Program {
        command: "cargo -vV".into(),
        reason: "it does not name the host".into(),
    })
}

fn cargo(arguments: &[&str]) -> Result<String, Failure> {
    let failed = |reason: String| Failure::Program {
        command: format!("cargo {}", arguments.join(" ")),
        reason,
    };
    let output = Command::new("cargo")
        .args(arguments)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(error.to_string()))
}

/// The parts of `cargo metadata` that are needed.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<ResolvedNode>,
}

#[derive(Deserialize)]
struct ResolvedNode {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

/// Reads the answer of `cargo metadata`.
fn parse(json: &str) -> Result<Graph, Failure> {
    let metadata: Metadata = serde_json::from_str(json)?;
    let names: BTreeMap<String, String> = metadata
        .packages
        .into_iter()
        .map(|package| (package.id, package.name))
        .collect();
    let name = |id: &str| names.get(id).cloned().unwrap_or_else(|| id.to_owned());
    let mut graph = Graph {
        ours: metadata
            .workspace_members
            .iter()
            .map(|id| name(id))
            .collect(),
        ..Graph::default()
    };
    for node in metadata.resolve.nodes {
        for dependency in node.deps {
            for kind in &dependency.dep_kinds {
                let of_tests = kind.kind.as_deref() == Some("dev");
                let graph = if of_tests {
                    &mut graph.tests_use
                } else {
                    &mut graph.uses
                };
                graph
                    .entry(name(&node.id))
                    .or_default()
                    .insert(name(&dependency.pkg));
            }
        }
    }
    Ok(graph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_dependencies_are_kept_apart() {
        let json = r#"{
            "packages": [{"id": "a 1", "name": "a"}, {"id": "b 1", "name": "b"}, {"id": "c 1", "name": "c"}],
            "workspace_members": ["a 1"],
            "resolve": {"nodes": [{"id": "a 1", "deps": [
                {"pkg": "b 1", "dep_kinds": [{"kind": null}, {"kind": "dev"}]},
                {"pkg": "c 1", "dep_kinds": [{"kind": "dev"}]}
            ]}]}
        }"#;
        let graph = parse(json).unwrap();
        let set = |names: &[&str]| {
            names
                .iter()
                .map(ToString::to_string)
                .collect::<BTreeSet<_>>()
        };
        assert_eq!(graph.ours, set(&["a"]));
        assert_eq!(graph.uses["a"], set(&["b"]));
        assert_eq!(graph.tests_use["a"], set(&["b", "c"]));
        assert!(parse("{}").is_err());
    }
}
