//! Two configs become one, by Ignition's rules: where both say something, the child wins.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::node::{Node, Part, Value};
use crate::shape::{Field, Holds, Merging};

/// Merges a child into a parent of the same shape.
pub(crate) fn merge(parent: &Node, child: &Node) -> Node {
    let (Value::Part(above), Value::Part(below)) = (&parent.value, &child.value) else {
        return child.clone();
    };
    Node {
        value: Value::Part(merge_parts(above, below)),
        mark: child.mark.clone(),
    }
}

fn merge_parts(parent: &Part, child: &Part) -> Part {
    let children = Children::of(child);
    let mut merged = Part {
        shape: child.shape,
        fields: Vec::new(),
    };
    for (index, field) in child.shape.fields.iter().enumerate() {
        let (above, below) = (parent.at(index), child.at(index));
        let node = match field.holds {
            Holds::Text | Holds::Number | Holds::Flag if field.is_plain => below.cloned(),
            Holds::Text | Holds::Number | Holds::Flag => below.or(above).cloned(),
            Holds::Part(_) => match (above, below) {
                (Some(above), Some(below)) if below.is_empty() => Some(above.clone()),
                (Some(above), Some(below)) if above.is_empty() => Some(below.clone()),
                (Some(above), Some(below)) => Some(merge(above, below)),
                (above, below) => below.or(above).cloned(),
            },
            Holds::Texts | Holds::Parts(_) => merge_lists(field, above, below, &children),
        };
        if let Some(node) = node {
            merged.set(index, node);
        }
    }
    merged
}

/// The items of a child's lists by their keys, with the name of the list; the last of equal ones counts.
struct Children<'n>(HashMap<(&'static str, Cow<'n, str>), (&'static str, &'n Node)>);

impl<'n> Children<'n> {
    fn of(child: &'n Part) -> Self {
        let mut items = HashMap::new();
        for (at, node) in &child.fields {
            let Some(field) = child.shape.fields.get(usize::from(*at)) else {
                continue;
            };
            if let (Value::List(list), Merging::ByKey(group)) = (&node.value, field.merging) {
                for item in list {
                    items.insert((group, item.key()), (field.name, item));
                }
            }
        }
        Self(items)
    }
}

fn merge_lists(
    field: &Field,
    parent: Option<&Node>,
    child: Option<&Node>,
    children: &Children<'_>,
) -> Option<Node> {
    let above = list_of(parent);
    let below = list_of(child);
    let mark = child.or(parent)?.mark.clone();
    let items = match field.merging {
        Merging::All => above.iter().chain(below).cloned().collect(),
        Merging::ByKey(group) => {
            let mut items = Vec::with_capacity(above.len() + below.len());
            for item in above {
                match children.0.get(&(group, item.key())) {
                    None => items.push(item.clone()),
                    // The child says it in another list; it stands there.
                    Some((list, _)) if *list != field.name => {}
                    // A header without a value takes the parent's away.
                    Some((_, own)) if field.name == "httpHeaders" && own.get("value").is_none() => {
                    }
                    Some((_, own)) => items.push(merge(item, own)),
                }
            }
            let merged: HashSet<Cow<'_, str>> = above.iter().map(Node::key).collect();
            let new = below.iter().filter(|item| !merged.contains(&item.key()));
            items.extend(new.cloned());
            items
        }
    };
    (!items.is_empty()).then_some(Node {
        value: Value::List(items),
        mark,
    })
}

fn list_of(node: Option<&Node>) -> &[Node] {
    match node.map(|node| &node.value) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}
