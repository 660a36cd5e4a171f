//! Nothing is said twice: items of a list have keys of their own.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Judge, index_step};
use crate::node::{Node, Part, Step, Value};
use crate::problem::Problem;
use crate::shape::Merging;

/// Looks through all lists for items with the same key.
pub(super) fn no_key_twice(judge: &mut Judge, node: &Node) {
    match &node.value {
        Value::Part(part) => part_of(judge, part),
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                judge.path.push(index_step(index));
                no_key_twice(judge, item);
                judge.path.pop();
            }
        }
        _ => {}
    }
}

fn part_of(judge: &mut Judge, part: &Part) {
    let mut seen: HashSet<(&str, Cow<'_, str>)> = HashSet::new();
    for (at, node) in &part.fields {
        let Some(field) = part.shape.fields.get(usize::from(*at)) else {
            continue;
        };
        judge.path.push(Step::Field(field.name));
        if let (Value::List(items), Merging::ByKey(group)) = (&node.value, field.merging) {
            for (index, item) in items.iter().enumerate() {
                if !seen.insert((group, item.key())) {
                    judge.path.push(index_step(index));
                    judge.error(item, Problem::Duplicate);
                    judge.path.pop();
                }
            }
        }
        no_key_twice(judge, node);
        judge.path.pop();
    }
}
