//! From one version to another: up without loss, down only what the older one can say.

mod v2;

use std::fmt;

use crate::node::{Node, Part, Step, Value, shown};
use crate::parse::parse;
use crate::problem::Problem;
use crate::report::Place;
use crate::version::Version;

/// Something that a version cannot say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inexpressible {
    /// Where it is said.
    pub place: Place,
    /// Why it cannot be said.
    pub why: String,
}

impl fmt::Display for Inexpressible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}

/// Setuid, setgid and sticky, which had no effect before 3.6 and must not get one by translation.
const SPECIAL_BITS: i64 = 0o7000;

/// Puts a config of a version into the terms of the newest.
pub(crate) fn up(mut root: Node, from: Version) -> Node {
    let version = Value::Text(Version::NEWEST.name().into());
    set(&mut root, &["ignition"], "version", version);
    if from < Version::V3_6 {
        for list in ["directories", "files"] {
            each(&mut root, &["storage"], list, &mut |entry| {
                if let Some(Value::Number(mode)) = value_mut(entry, "mode") {
                    *mode &= !SPECIAL_BITS;
                }
            });
        }
    }
    // Before 3.3 these were always said, and saying nothing was the same as an empty text.
    if from < Version::V3_3 {
        each(&mut root, &["storage"], "links", &mut |link| {
            say(link, "target");
        });
        each(&mut root, &["storage"], "raid", &mut |raid| {
            say(raid, "level");
        });
        each(&mut root, &["storage"], "luks", &mut |luks| {
            if let Some(clevis) = node_mut(luks, "clevis")
                && let Some(custom) = node_mut(clevis, "custom")
            {
                say(custom, "config");
                say(custom, "pin");
            }
        });
    }
    if from < Version::V3_1 {
        let tls = ["ignition", "security", "tls"];
        each(
            &mut root,
            &tls,
            "certificateAuthorities",
            &mut |authority| {
                say(authority, "source");
            },
        );
    }
    root
}

/// Writes a config in a version, or lists what that version cannot say.
pub(crate) fn down(root: &Node, to: Version) -> Result<serde_json::Value, Vec<Inexpressible>> {
    if to == Version::V2_2 {
        return v2::down(root);
    }
    let mut lost = Vec::new();
    younger(root, to, &mut Vec::new(), &mut lost);
    let mut value = root.to_json();
    value["ignition"]["version"] = to.name().into();
    if !lost.is_empty() {
        return Err(lost);
    }
    // Some fields are old and some of what they may hold is not: the older rules know which.
    let text = value.to_string();
    let parsed = parse("", text.as_bytes());
    let refused =
        parsed.report.findings.iter().filter(|finding| {
            parsed.config.is_none() || finding.problem == Problem::ModeSpecialBits
        });
    let lost: Vec<Inexpressible> = refused
        .map(|finding| Inexpressible {
            place: place_at(root, &finding.place.path),
            why: format!("{to} cannot say it: {}", finding.problem),
        })
        .collect();
    if lost.is_empty() {
        Ok(value)
    } else {
        Err(lost)
    }
}

/// Looks for fields that are younger than a version.
fn younger(node: &Node, to: Version, path: &mut Vec<Step>, lost: &mut Vec<Inexpressible>) {
    match &node.value {
        Value::Part(part) => {
            for (at, inner) in &part.fields {
                let Some(field) = part.shape.fields.get(usize::from(*at)) else {
                    continue;
                };
                path.push(Step::Field(field.name));
                if field.since > to && !inner.is_empty() {
                    lost.push(Inexpressible {
                        place: inner.mark.place(path),
                        why: format!("{to} has no {}: it came with {}", field.name, field.since),
                    });
                } else {
                    younger(inner, to, path, lost);
                }
                path.pop();
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(u32::try_from(index).unwrap_or(u32::MAX)));
                younger(item, to, path, lost);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Finds out where the value at a path of a tree was written.
fn place_at(root: &Node, path: &str) -> Place {
    let mut node = root;
    let mut steps: Vec<Step> = Vec::new();
    for name in path.split('.').filter(|name| !name.is_empty()) {
        let inner = match &node.value {
            Value::Part(part) => {
                let field = part.shape.position(name);
                let Some(index) = field else { break };
                steps.push(Step::Field(part.shape.fields[index].name));
                part.at(index)
            }
            Value::List(items) => {
                let Ok(index) = name.parse::<u32>() else {
                    break;
                };
                steps.push(Step::Index(index));
                items.get(index as usize)
            }
            _ => break,
        };
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    let mut place = node.mark.place(&steps);
    if place.path.is_empty() {
        place.path = shown(&steps);
    }
    place
}

fn node_mut<'n>(node: &'n mut Node, name: &str) -> Option<&'n mut Node> {
    let Value::Part(part) = &mut node.value else {
        return None;
    };
    let index = part.shape.position(name)?;
    let mut fields = part.fields.iter_mut();
    let found = fields.find(|(at, _)| usize::from(*at) == index);
    found.map(|(_, node)| node)
}

fn value_mut<'n>(node: &'n mut Node, name: &str) -> Option<&'n mut Value> {
    node_mut(node, name).map(|node| &mut node.value)
}

/// Calls a function for every item of a list.
fn each(root: &mut Node, path: &[&str], list: &str, change: &mut dyn FnMut(&mut Node)) {
    let mut node = Some(root);
    for name in path {
        node = node.and_then(|node| node_mut(node, name));
    }
    let list = node.and_then(|node| value_mut(node, list));
    if let Some(Value::List(items)) = list {
        items.iter_mut().for_each(change);
    }
}

/// Says an empty text where nothing is said.
fn say(node: &mut Node, name: &str) {
    if node.get(name).is_none() {
        set(node, &[], name, Value::Text("".into()));
    }
}

fn set(root: &mut Node, path: &[&str], name: &str, value: Value) {
    let mut node = Some(root);
    for name in path {
        node = node.and_then(|node| node_mut(node, name));
    }
    let Some(Node {
        value: Value::Part(Part { shape, .. }),
        mark,
    }) = node.as_deref()
    else {
        return;
    };
    let (index, mark) = (shape.position(name), mark.clone());
    if let (Some(index), Some(node)) = (index, node)
        && let Value::Part(part) = &mut node.value
    {
        part.set(index, Node { value, mark });
    }
}
