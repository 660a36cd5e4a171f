//! In which order manifests are applied: by run level, and within one, what others need first.

use crate::manifest::{Broken, Manifest};

/// What is applied side by side: everything of one run level.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Level {
    /// The number in the files' names.
    pub(crate) number: u16,
    /// Its manifests in turns: those of a turn need nothing but the turns before.
    pub(crate) turns: Vec<Vec<Manifest>>,
    /// What of it cannot be used.
    pub(crate) broken: Vec<Broken>,
}

/// Sorts manifests into levels, lowest first.
pub(crate) fn levels(manifests: Vec<Manifest>, broken: Vec<Broken>) -> Vec<Level> {
    let mut levels = std::collections::BTreeMap::<u16, Level>::new();
    let mut manifests = manifests;
    manifests.sort_by(|a, b| (turn(a), &a.origin).cmp(&(turn(b), &b.origin)));
    for manifest in manifests {
        let level = levels.entry(manifest.level).or_default();
        match level.turns.last_mut() {
            Some(last) if last.first().map(turn) == Some(turn(&manifest)) => last.push(manifest),
            _ => level.turns.push(vec![manifest]),
        }
    }
    for problem in broken {
        levels
            .entry(problem.level)
            .or_default()
            .broken
            .push(problem);
    }
    for (number, level) in &mut levels {
        level.number = *number;
    }
    levels.into_values().collect()
}

/// Returns in which turn of its level an object is applied.
///
/// Without turns the objects of a new namespace or kind would be refused until it is there.
fn turn(manifest: &Manifest) -> u8 {
    match (&*manifest.id.group, &*manifest.id.kind) {
        ("", "Namespace") => 0,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn manifests(files: &[(String, &str)]) -> Vec<Manifest> {
        let text = |kind: &str, n: usize| {
            let group = match kind {
                "CustomResourceDefinition" => "apiextensions.k8s.io/v1",
                _ => "v1",
            };
            format!("apiVersion: {group}\nkind: {kind}\nmetadata: {{name: n{n}}}\n")
        };
        let read = |(n, (file, kind)): (usize, &(String, &str))| {
            crate::manifest::read(file, &text(kind, n)).0
        };
        files.iter().enumerate().flat_map(read).collect()
    }

    #[test]
    fn namespaces_and_kinds_come_before_what_needs_them() {
        let files = [
            ("0000_20_b_x.yaml".to_owned(), "ConfigMap"),
            ("0000_20_c_x.yaml".to_owned(), "CustomResourceDefinition"),
            ("0000_20_d_x.yaml".to_owned(), "Namespace"),
            ("0000_10_e_x.yaml".to_owned(), "ConfigMap"),
            ("0000_20_a_x.yaml".to_owned(), "ConfigMap"),
        ];
        let levels = levels(manifests(&files), vec![]);
        let numbers: Vec<u16> = levels.iter().map(|level| level.number).collect();
        assert_eq!(numbers, [10, 20]);
        let turns: Vec<Vec<&str>> = levels[1]
            .turns
            .iter()
            .map(|turn| turn.iter().map(|m| m.id.name.as_str()).collect())
            .collect();
        assert_eq!(turns, [vec!["n2"], vec!["n1"], vec!["n4", "n0"]]);
    }

    #[test]
    fn a_level_of_nothing_but_broken_manifests_is_a_level() {
        let (_, broken) = crate::manifest::read("0000_40_x_y.yaml", "kind: [");
        let levels = levels(vec![], broken);
        assert_eq!(levels.len(), 1);
        assert_eq!((levels[0].number, levels[0].broken.len()), (40, 1));
    }

    proptest! {
        /// The oracle is a plain sort by what the rules say.
        #[test]
        fn levels_are_a_sorted_partition(
            input in prop::collection::vec(
                (0..100u16, prop::sample::select(vec!["Namespace", "CustomResourceDefinition", "Secret"])),
                0..30,
            )
        ) {
            let files: Vec<_> = input
                .iter()
                .enumerate()
                .map(|(n, (level, kind))| (format!("0000_{level:02}_c{n:03}_x.yaml"), *kind))
                .collect();
            let all = manifests(&files);
            let mut expected: Vec<(u16, u8, String)> = all
                .iter()
                .map(|manifest| (manifest.level, turn(manifest), manifest.origin.file.clone()))
                .collect();
            expected.sort();
            let levels = levels(all, vec![]);
            let found: Vec<(u16, u8, String)> = levels
                .iter()
                .flat_map(|level| level.turns.iter().flatten().map(|m| (level.number, turn(m), m.origin.file.clone())))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
