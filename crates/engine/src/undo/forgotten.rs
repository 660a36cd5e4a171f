//! What was dropped for good, so that no copy of it is kept.

use std::collections::BTreeMap;

use bootlace_model::path::TargetPath;

use crate::history::Deed;

/// Takes out the drops that need no taking back: what was dropped had been made by the run itself, and
/// that is taken back as well, so that it must be absent in the end.
pub(super) fn take_forgotten(deeds: &mut Vec<Deed>) -> Vec<Deed> {
    let mut made: BTreeMap<TargetPath, u64> = BTreeMap::new();
    for deed in deeds.iter().filter(|deed| !deed.effect.kind.is_act()) {
        let absent = deed.before.nodes.iter();
        let absent = absent.filter(|node| !node.state.exists());
        let absent = absent.map(|node| &node.path).chain(&deed.before.parents);
        for path in absent {
            let first = made.entry(path.clone()).or_insert(deed.n);
            *first = deed.n.min(*first);
        }
    }
    let needs_nothing = |deed: &mut Deed| {
        let by_the_run = |path| made.get(path).is_some_and(|first| *first < deed.n);
        let mut nodes = deed.before.nodes.iter();
        deed.effect.no_inverse.is_some()
            && nodes.all(|node| !node.state.exists() || by_the_run(&node.path))
    };
    deeds.extract_if(.., needs_nothing).collect()
}
