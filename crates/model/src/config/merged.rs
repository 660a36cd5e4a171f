//! Several fragments → one tree: later ones win, value by value.

use super::tree::{Entry, Map, Node, Value};

/// Lays `upper` over `lower`: maps merge key by key, everything else replaces. Associative.
///
/// A `null` stays in the tree, because it also removes what a still lower fragment says;
/// [`settle`] takes it out in the end.
pub(super) fn merge(lower: Node, upper: Node) -> Node {
    let value = match (lower.value, upper.value) {
        (Value::Map(lower), Value::Map(upper)) if !upper.replaces => {
            Value::Map(merge_maps(lower, upper))
        }
        (lower, Value::Map(upper)) => {
            let replaces = upper.replaces || !matches!(lower, Value::Map(_));
            Value::Map(Map { replaces, ..upper })
        }
        (_, upper) => upper,
    };
    Node {
        value,
        origin: upper.origin,
    }
}

fn merge_maps(mut lower: Map, upper: Map) -> Map {
    for (name, Entry { key, node }) in upper.entries {
        let node = match lower.entries.remove(&name) {
            Some(below) => merge(below.node, node),
            None => node,
        };
        lower.entries.insert(name, Entry { key, node });
    }
    lower
}

/// Takes out keys whose value is `null`: for them the default holds.
pub(super) fn settle(node: &mut Node) {
    if let Value::Map(map) = &mut node.value {
        map.entries
            .retain(|_, entry| entry.node.value != Value::Null);
        for entry in map.entries.values_mut() {
            settle(&mut entry.node);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::tree::{Origin, Source};
    use super::*;

    fn origin(number: usize) -> Origin {
        let source = Source {
            number,
            name: format!("{number}.yaml"),
            base: "/".into(),
        };
        Origin {
            source: Arc::new(source),
            line: 1,
            column: 1,
        }
    }

    /// Any tree over three keys, written as fragment `number`; few keys make collisions likely.
    fn tree(number: usize) -> impl Strategy<Value = Node> {
        let node = move |value| Node {
            value,
            origin: origin(number),
        };
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            "[xy]".prop_map(Value::Text),
        ];
        leaf.prop_map(node).prop_recursive(3, 24, 3, move |inner| {
            let entry = move |node| Entry {
                key: origin(number),
                node,
            };
            let entries = prop::collection::btree_map("[abc]", inner.clone().prop_map(entry), 0..3);
            prop_oneof![
                prop::collection::vec(inner, 0..2).prop_map(Value::List),
                (entries, Just(false))
                    .prop_map(|(entries, replaces)| Value::Map(Map { entries, replaces })),
            ]
            .prop_map(node)
        })
    }

    proptest! {
        #[test]
        fn merging_is_associative(a in tree(0), b in tree(1), c in tree(2)) {
            let left = merge(merge(a.clone(), b.clone()), c.clone());
            let right = merge(a, merge(b, c));
            prop_assert_eq!(left, right);
        }

        #[test]
        fn a_settled_tree_has_no_null_in_a_map(a in tree(0), b in tree(1)) {
            fn clean(node: &Node) -> bool {
                match &node.value {
                    Value::Map(map) => map.entries.values().all(|entry| {
                        entry.node.value != Value::Null && clean(&entry.node)
                    }),
                    _ => true,
                }
            }
            let mut merged = merge(a, b);
            settle(&mut merged);
            prop_assert!(clean(&merged));
        }
    }
}
