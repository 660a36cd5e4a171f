//! What a run left at each path, and what differs there now.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bootlace_model::ids::StepId;
use bootlace_model::node::NodeState;
use bootlace_model::path::TargetPath;
use bootlace_model::view::CheckView;

use crate::history::Deed;

/// Returns what the run left at each path it touched, and which step touched it last.
pub(super) fn as_left(deeds: Vec<Deed>) -> BTreeMap<TargetPath, (StepId, NodeState)> {
    let mut left = BTreeMap::new();
    for deed in deeds {
        if deed.after.is_none() {
            // It was cut off: what is there now may be the old or the new.
            for node in &deed.before.nodes {
                forget_below(&mut left, &node.path);
                left.remove(&node.path);
            }
        }
        // What a program makes is its own affair; its expectations speak for it.
        if deed.effect.kind.is_act() {
            continue;
        }
        for node in deed.after.into_iter().flatten() {
            if node.state.exists() {
                forget_above(&mut left, &node.path);
            } else {
                forget_below(&mut left, &node.path);
            }
            left.insert(node.path, (deed.step.clone(), node.state));
        }
    }
    left
}

/// Forgets that folders are gone on the way to something that is there: they were made again for it.
fn forget_above(left: &mut BTreeMap<TargetPath, (StepId, NodeState)>, path: &TargetPath) {
    let mut above = path.parent();
    while let Some(folder) = above {
        if left.get(&folder).is_some_and(|(_, state)| !state.exists()) {
            left.remove(&folder);
        }
        above = folder.parent();
    }
}

/// Forgets what was left in a folder that is gone: a try that was cut off removed it without saying.
fn forget_below<T>(left: &mut BTreeMap<TargetPath, T>, folder: &TargetPath) {
    let next = left.range(folder..).map(|(path, _)| path);
    let next = next.take_while(|path| path.as_str().starts_with(folder.as_str()));
    let below = next.filter(|path| path.below(folder).is_some());
    let below: Vec<TargetPath> = below.cloned().collect();
    for path in below {
        left.remove(&path);
    }
}

/// Returns what must be at a path: what the run left there, with the content of now if another command
/// replaces it.
pub(super) fn wanted<'a>(
    left: &'a NodeState,
    now: &NodeState,
    is_replaced: bool,
) -> Cow<'a, NodeState> {
    match (left, now) {
        (
            NodeState::File {
                mode,
                owner,
                xattrs,
                ..
            },
            NodeState::File { digest, size, .. },
        ) if is_replaced => Cow::Owned(NodeState::File {
            digest: *digest,
            size: *size,
            mode: *mode,
            owner: *owner,
            xattrs: xattrs.clone(),
        }),
        _ => Cow::Borrowed(left),
    }
}

/// Compares what is at a path with what the run left there.
pub(super) fn drift(
    step: &str,
    path: &TargetPath,
    wanted: &NodeState,
    now: &NodeState,
) -> CheckView {
    let ok = wanted.same_but_for_labels(now);
    let found = if ok {
        "unchanged".to_owned()
    } else {
        difference(wanted, now)
    };
    CheckView {
        step: step.into(),
        what: format!("{path} is as the run left it"),
        ok,
        found,
        because: "Someone or something changed it since.".into(),
        unfinished: false,
    }
}

/// Tells in what two nodes differ.
pub(crate) fn difference(wanted: &NodeState, now: &NodeState) -> String {
    match (wanted, now) {
        (
            NodeState::File {
                digest,
                mode,
                owner,
                ..
            },
            NodeState::File {
                digest: d,
                mode: m,
                owner: o,
                ..
            },
        ) => {
            let mut words = Vec::new();
            if digest != d {
                words.push("its content was changed".to_owned());
            }
            if mode != m {
                let mode = bootlace_model::shell::mode(*m);
                words.push(format!("its mode is now {mode}"));
            }
            if owner != o {
                words.push(format!("its owner is now {}:{}", o.uid, o.gid));
            }
            words.join(", ")
        }
        (NodeState::Directory { .. }, NodeState::Directory { mode, owner, .. }) => {
            let mode = bootlace_model::shell::mode(*mode);
            format!(
                "its mode is now {mode}, its owner {}:{}",
                owner.uid, owner.gid
            )
        }
        (NodeState::Link { .. }, NodeState::Link { target, .. }) => {
            format!("it points to {target} now")
        }
        (_, NodeState::Absent) => "it is gone".into(),
        (NodeState::Absent, now) => format!("{} is there again", now.noun()),
        (_, now) => format!("it is {} now", now.noun()),
    }
}

#[cfg(test)]
mod tests {
    use bootlace_model::ids::Digest;
    use bootlace_model::node::{Owner, Xattrs};

    use super::*;

    fn file(content: &[u8], mode: u32) -> NodeState {
        NodeState::File {
            digest: Digest::of(content),
            size: content.len() as u64,
            mode,
            owner: Owner { uid: 0, gid: 0 },
            xattrs: Xattrs::default(),
        }
    }

    #[test]
    fn of_a_file_that_another_command_replaces_all_but_the_content_counts() {
        let path = TargetPath::new("/etc/x").unwrap();
        let (left, now) = (file(b"old", 0o600), file(b"new", 0o600));
        let ok = |now: &NodeState, is_replaced| {
            drift("s", &path, &wanted(&left, now, is_replaced), now).ok
        };
        assert!(ok(&now, true));
        assert!(!ok(&now, false), "other files are compared as a whole");
        assert!(!ok(&file(b"new", 0o644), true), "its mode counts");
        assert!(!ok(&NodeState::Absent, true), "it must be there");
    }
}
