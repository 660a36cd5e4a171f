//! Where each value of a merged config was written.

use crate::node::{Node, Step, Value, shown};
use crate::report::Place;

/// A value of a config and where it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Came {
    /// The path of the value in the config as it is now.
    pub path: String,
    /// Where it was written.
    pub from: Place,
}

/// Lists all values, in order.
pub(crate) fn transcript(root: &Node) -> Vec<Came> {
    let mut came = Vec::new();
    visit(root, &mut Vec::new(), &mut came);
    came
}

fn visit(node: &Node, path: &mut Vec<Step>, came: &mut Vec<Came>) {
    match &node.value {
        Value::Part(part) => {
            for (at, inner) in &part.fields {
                if let Some(field) = part.shape.fields.get(usize::from(*at)) {
                    path.push(Step::Field(field.name));
                    visit(inner, path, came);
                    path.pop();
                }
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(u32::try_from(index).unwrap_or(u32::MAX)));
                visit(item, path, came);
                path.pop();
            }
        }
        Value::Text(_) | Value::Number(_) | Value::Flag(_) => came.push(Came {
            path: shown(path),
            from: node.mark.place(path),
        }),
    }
}
