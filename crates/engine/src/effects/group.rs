//! Which effects are committed together.

use bootlace_model::effect::{AppendFile, Body, Effect, PutFile};

/// The most effects that share one commit; it bounds what is held in memory.
pub(crate) const LARGEST_GROUP: usize = 512;
/// The most bytes of contents that share one commit, unless a single one has more.
pub(crate) const LARGEST_GROUP_BYTES: u64 = 16 << 20;

/// Returns how many bytes an effect holds in memory while it is performed, where that is known.
pub(crate) fn weight(effect: &Effect) -> u64 {
    match effect {
        Effect::PutFile(PutFile {
            body: Body::Literal(content),
            ..
        })
        | Effect::AppendFile(AppendFile { content, .. }) => content.length(),
        _ => 0,
    }
}

/// Effects of one class that follow each other share a commit; a command is alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Files, folders, links, keys, certificates.
    Files,
    /// Units: what they touch is known only when the files before them are in place.
    Units,
    /// Removals: what they touch is known only then, too.
    Drops,
    /// Further names of files, which have to be in place before.
    Names,
    /// A program or a download, whose end nobody knows: a barrier.
    Alone,
}

/// Returns the class of an effect.
pub(crate) fn class(effect: &Effect) -> Class {
    match effect {
        Effect::PutFile(_)
        | Effect::MakeDirectory(_)
        | Effect::MakeLink(_)
        | Effect::MakeKey(_)
        | Effect::MakeToken(_)
        | Effect::SetAttributes(_)
        | Effect::AppendFile(_)
        | Effect::IssueCertificate(_) => Class::Files,
        Effect::MakeHardLink(_) => Class::Names,
        Effect::SetUnit(_) => Class::Units,
        Effect::DropPath(_) => Class::Drops,
        Effect::RunCommand(_)
        | Effect::Fetch(_)
        | Effect::StartUnit(_)
        | Effect::ImportImages(_)
        | Effect::ApplyObjects(_)
        | Effect::Await(_) => Class::Alone,
    }
}
