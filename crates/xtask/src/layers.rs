//! Checks the arrows between crates: data flows in one direction, and nothing flows back.

use std::collections::BTreeSet;

use crate::failure::{Failure, no_arguments};
use crate::metadata::{self, Graph};

/// What a crate may be built from.
struct Layer {
    /// The crate.
    name: &'static str,
    /// The crates of ours that it may use; none means any.
    may_use: Option<&'static [&'static str]>,
    /// The crates of ours that its tests may use besides.
    tests_may_use: &'static [&'static str],
    /// Crates of others that it may not be built from, not even through a third one.
    never: &'static [&'static str],
    /// Why, for whoever breaks it.
    because: &'static str,
}

/// Crates that touch the world or wait for it.
const WORLD: &[&str] = &["tokio", "reqwest", "rustix", "kube"];

/// The architecture. This table is its only place in code.
const LAYERS: &[Layer] = &[
    Layer {
        name: "bootlace-model",
        may_use: Some(&[]),
        tests_may_use: &[],
        never: WORLD,
        because: "the model is the vocabulary of all others, and does no I/O",
    },
    Layer {
        name: "bootlace-ignition",
        may_use: Some(&[]),
        tests_may_use: &["bootlace-testkit", "bootlace-lab"],
        never: WORLD,
        because: "a config is read, judged and merged the same everywhere, and fetched by others",
    },
    Layer {
        name: "bootlace-steps",
        may_use: Some(&["bootlace-model", "bootlace-ignition"]),
        tests_may_use: &[],
        never: WORLD,
        because: "steps decide and never act, so that they can be explained, planned and tested",
    },
    Layer {
        name: "bootlace-engine",
        may_use: Some(&["bootlace-model"]),
        tests_may_use: &[],
        never: &["kube"],
        because: "the engine knows steps as values and the world through its port alone",
    },
    Layer {
        name: "bootlace-host",
        may_use: Some(&["bootlace-engine", "bootlace-model"]),
        tests_may_use: &["bootlace-lab", "bootlace-machines", "bootlace-test-notes"],
        never: &[],
        because: "the host does what it is told and decides nothing",
    },
    Layer {
        name: "bootlace-operator",
        may_use: Some(&["bootlace-model"]),
        tests_may_use: &[],
        never: &[],
        because: "the operator lives in the cluster: the API is its world, and it runs no steps",
    },
    Layer {
        name: "bootlace-report",
        may_use: Some(&["bootlace-model"]),
        tests_may_use: &[],
        never: &[],
        because: "a report is made from records, whoever wrote them",
    },
    Layer {
        name: "bootlace-machines",
        may_use: Some(&[]),
        tests_may_use: &["bootlace-lab"],
        never: &["tokio", "kube"],
        because: "a machine is made of namespaces and files, and knows nothing of what runs in it",
    },
    Layer {
        name: "bootlace-supervisor",
        may_use: Some(&["bootlace-model"]),
        tests_may_use: &[],
        never: &["tokio", "kube"],
        because: "a supervisor starts what manifests name, and knows nothing of runs",
    },
    Layer {
        name: "bootlace-server",
        may_use: Some(&["bootlace-model", "bootlace-ignition"]),
        tests_may_use: &[],
        never: &[],
        because: "the server hands out what lies in folders and clusters, and knows nothing of runs",
    },
    Layer {
        name: "bootlace",
        may_use: Some(&[
            "bootlace-model",
            "bootlace-steps",
            "bootlace-engine",
            "bootlace-host",
            "bootlace-ignition",
            "bootlace-machines",
            "bootlace-operator",
            "bootlace-report",
            "bootlace-server",
            "bootlace-supervisor",
        ]),
        tests_may_use: &["bootlace-testkit", "bootlace-lab", "bootlace-test-notes"],
        never: &[],
        because: "what is made for tests does not ship",
    },
    Layer {
        name: "bootlace-test-notes",
        may_use: Some(&[]),
        tests_may_use: &[],
        never: WORLD,
        because: "the tests of every crate may use it, so it uses none of them",
    },
    free("bootlace-testkit"),
    free("bootlace-bench"),
    free("bootlace-conformance"),
    free("bootlace-lab"),
    free("xtask"),
];

/// A crate that does not ship may use any.
const fn free(name: &'static str) -> Layer {
    Layer {
        name,
        may_use: None,
        tests_may_use: &[],
        never: &[],
        because: "",
    }
}

/// Checks the workspace.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments(arguments)?;
    let graph = metadata::read()?;
    let findings = check(&graph);
    if !findings.is_empty() {
        return Err(Failure::Found {
            summary: "an arrow of the architecture is broken:".into(),
            findings,
            hint: "move the code to the crate that may do it; the table is in crates/xtask/src/layers.rs",
        });
    }
    println!(
        "layers: {} crates depend only in the allowed direction",
        graph.ours.len()
    );
    Ok(())
}

/// Returns every arrow that the table does not allow, and every crate that it does not know.
fn check(graph: &Graph) -> Vec<String> {
    let mut findings = vec![];
    for name in &graph.ours {
        match LAYERS.iter().find(|layer| layer.name == name) {
            Some(layer) => findings.extend(check_layer(layer, graph)),
            None => findings.push(format!("{name} has no row in the table of layers")),
        }
    }
    findings
}

fn check_layer(layer: &Layer, graph: &Graph) -> Vec<String> {
    let none = BTreeSet::new();
    let ours = |uses: &BTreeSet<String>| -> Vec<String> {
        uses.iter()
            .filter(|name| graph.ours.contains(*name))
            .cloned()
            .collect()
    };
    let uses = ours(graph.uses.get(layer.name).unwrap_or(&none));
    let tests_use = ours(graph.tests_use.get(layer.name).unwrap_or(&none));
    let (name, because) = (layer.name, layer.because);
    let mut findings = vec![];
    if let Some(may_use) = layer.may_use {
        let forbidden = |other: &&String| !may_use.contains(&other.as_str());
        for other in uses.iter().filter(forbidden) {
            findings.push(format!("{name} may not use {other}: {because}"));
        }
        let forbidden_in_tests =
            |other: &&String| forbidden(other) && !layer.tests_may_use.contains(&other.as_str());
        for other in tests_use.iter().filter(forbidden_in_tests) {
            findings.push(format!(
                "the tests of {name} may not use {other}: {because}"
            ));
        }
    }
    for never in layer.never {
        if let Some(way) = way(graph, name, never) {
            findings.push(format!(
                "{name} may not be built from {never} ({way}): {because}"
            ));
        }
    }
    findings
}

/// Returns a way from one crate to another, such as `a → b → c`; tests do not count.
fn way(graph: &Graph, from: &str, to: &str) -> Option<String> {
    let mut seen = BTreeSet::from([from]);
    let mut ways = vec![vec![from]];
    while let Some(way) = ways.pop() {
        let last = way.last().copied().unwrap_or(from);
        if last == to {
            return Some(way.join(" → "));
        }
        for next in graph.uses.get(last).into_iter().flatten() {
            if seen.insert(next) {
                ways.push(way.iter().copied().chain([next.as_str()]).collect());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The workspace as the table wants it, and further arrows.
    fn graph(arrows: &[(&str, &str)], test_arrows: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::default();
        for layer in LAYERS {
            graph.ours.insert(layer.name.into());
            let uses = layer
                .may_use
                .unwrap_or_default()
                .iter()
                .map(ToString::to_string)
                .collect();
            graph.uses.insert(layer.name.into(), uses);
        }
        for (from, to) in arrows {
            graph
                .uses
                .entry(from.to_string())
                .or_default()
                .insert(to.to_string());
        }
        for (from, to) in test_arrows {
            graph
                .tests_use
                .entry(from.to_string())
                .or_default()
                .insert(to.to_string());
        }
        graph
    }

    #[test]
    fn the_table_allows_itself_and_what_tests_need() {
        let tests = [
            ("bootlace", "bootlace-testkit"),
            ("bootlace-model", "rustix"),
        ];
        assert_eq!(
            check(&graph(&[("bootlace-host", "rustix")], &tests)),
            [""; 0]
        );
    }

    #[test]
    fn arrows_against_the_stream_are_found() {
        let broken = graph(
            &[
                ("bootlace-model", "bootlace-engine"),
                ("bootlace-steps", "bootlace-host"),
                ("bootlace", "bootlace-testkit"),
            ],
            &[("bootlace-engine", "bootlace-host")],
        );
        let findings = check(&broken).join("\n");
        for expected in [
            "bootlace-model may not use bootlace-engine: ",
            "bootlace-steps may not use bootlace-host: ",
            "bootlace may not use bootlace-testkit: ",
            "the tests of bootlace-engine may not use bootlace-host: ",
        ] {
            assert!(findings.contains(expected), "{expected}\n{findings}");
        }
        assert_eq!(findings.lines().count(), 4, "{findings}");
    }

    #[test]
    fn the_world_is_found_behind_a_third_crate() {
        let findings = check(&graph(
            &[("bootlace-steps", "handy"), ("handy", "tokio")],
            &[],
        ));
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].contains("(bootlace-steps → handy → tokio)"),
            "{findings:?}"
        );
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        let mut graph = graph(&[], &[]);
        graph.ours.insert("bootlace-stranger".into());
        assert_eq!(
            check(&graph),
            ["bootlace-stranger has no row in the table of layers"]
        );
    }
}
