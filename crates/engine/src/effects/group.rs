//! Which effects are committed together.

use bootlace_model::effect::Effect;

/// The most effects that share one commit; it bounds what is held in memory.
pub(crate) const LARGEST_GROUP: usize = 8192;

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
