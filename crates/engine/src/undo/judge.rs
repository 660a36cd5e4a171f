//! May what is there now be put back to what was there before?

use bootlace_model::effect::EffectKind;
use bootlace_model::node::{Node, NodeState};

use crate::history::Deed;
use crate::verify::difference;

/// What to do about one path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It already is as it was.
    AsBefore,
    /// It is as the run left it, so it may be put back.
    Ours,
    /// Someone changed it since.
    Edited(String),
}

/// Compares one path of a deed with what is there now.
pub(crate) fn judge(deed: &Deed, before: &Node, now: &NodeState) -> Judgement {
    if before.state.same_but_for_labels(now) && before.state == relabelled(now, &before.state) {
        return Judgement::AsBefore;
    }
    let after = deed
        .after
        .as_ref()
        .map(|nodes| nodes.iter().find(|node| node.path == before.path));
    // Attributes are set one by one; a crash may have come between two of them.
    if deed.undo_begun && is_on_the_way(deed, &before.state, after.flatten(), now) {
        return Judgement::Ours;
    }
    match after {
        Some(Some(after)) if after.state.same_but_for_labels(now) => Judgement::Ours,
        Some(Some(after)) => Judgement::Edited(difference(&after.state, now)),
        // An earlier try that was cut off did it, or did a part of it and the last one the rest.
        None | Some(None) if could_be_ours(deed, before, now) => Judgement::Ours,
        Some(None) => Judgement::Edited("it is not what the run left".into()),
        None => {
            Judgement::Edited("it is neither what was there before nor what was intended".into())
        }
    }
}

/// A state with the labels of another, because labels do not count in comparisons.
fn relabelled(state: &NodeState, like: &NodeState) -> NodeState {
    match (state.clone(), like) {
        (
            NodeState::File {
                digest,
                size,
                mode,
                owner,
                ..
            },
            NodeState::File { xattrs, .. },
        ) => NodeState::File {
            digest,
            size,
            mode,
            owner,
            xattrs: xattrs.clone(),
        },
        (NodeState::Directory { mode, owner, .. }, NodeState::Directory { xattrs, .. }) => {
            NodeState::Directory {
                mode,
                owner,
                xattrs: xattrs.clone(),
            }
        }
        (other, _) => other,
    }
}

/// Tells whether a folder, a link, a pipe or a socket is what an earlier undo made of it before it was
/// cut off.
fn is_on_the_way(deed: &Deed, before: &NodeState, after: Option<&Node>, now: &NodeState) -> bool {
    use NodeState::{Directory, File, Link, Special};
    match (before, now) {
        (File { digest: was, .. }, File { digest: is, .. })
            if deed.effect.kind == EffectKind::SetAttributes =>
        {
            was == is
        }
        (Directory { .. }, Directory { .. }) => true,
        (Link { target: was, .. }, Link { target: is, .. }) => was == is,
        (Special { kind: was, .. }, Special { kind: is, .. }) => was == is,
        (_, Directory { .. }) => after.is_some_and(|after| matches!(after.state, Directory { .. })),
        _ => false,
    }
}

/// An intent without an answer: what is there may be its work if it looks like it.
fn could_be_ours(deed: &Deed, before: &Node, now: &NodeState) -> bool {
    let Node {
        path,
        state: before,
    } = before;
    match (deed.effect.kind, now) {
        // A program was cut off while it edited, or took away what it was told to.
        (EffectKind::RunCommand, _) if deed.after.is_none() => deed.is_editor(),
        (EffectKind::RunCommand, NodeState::Absent) => deed.edits(path),
        (EffectKind::SetAttributes, NodeState::File { digest, .. }) => {
            matches!(before, NodeState::File { digest: was, .. } if was == digest)
        }
        (EffectKind::AppendFile, NodeState::File { size, .. }) => {
            matches!(before, NodeState::File { size: was, .. } if was <= size)
        }
        (EffectKind::MakeHardLink, NodeState::File { .. } | NodeState::Link { .. }) => {
            !before.exists()
        }
        (EffectKind::DropPath | EffectKind::SetUnit, NodeState::Absent)
        | (EffectKind::MakeLink | EffectKind::SetUnit, NodeState::Link { .. })
        | (
            EffectKind::SetUnit | EffectKind::MakeKey | EffectKind::MakeToken,
            NodeState::File { .. },
        ) => true,
        (EffectKind::MakeDirectory, NodeState::Directory { .. }) => {
            matches!(before, NodeState::Absent | NodeState::Directory { .. })
        }
        (
            EffectKind::PutFile | EffectKind::IssueCertificate | EffectKind::Fetch,
            NodeState::File { digest, .. },
        ) => deed
            .effect
            .digest
            .is_none_or(|intended| intended == *digest),
        _ => false,
    }
}
