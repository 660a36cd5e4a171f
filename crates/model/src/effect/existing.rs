//! Changing what is there already, without replacing all of it.

use std::fmt;
use std::sync::Arc;

use super::Origin;
use crate::ids::Digest;
use crate::node::Attributes;
use crate::path::TargetPath;

/// Gives a file that is there another mode or owner; its content stays, and so do its other names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAttributes {
    /// Which file.
    pub path: TargetPath,
    /// Mode, owner, extended attributes.
    pub attributes: Attributes,
    /// Where it came from.
    pub origin: Origin,
}

/// Adds to the end of a file that is there.
#[derive(Clone, PartialEq, Eq)]
pub struct AppendFile {
    /// Which file.
    pub path: TargetPath,
    /// What the file held before: only to that is it added, so it is never added twice.
    pub before: Digest,
    /// What is added.
    pub content: Arc<[u8]>,
    /// Mode and owner.
    pub attributes: Attributes,
    /// Where it came from.
    pub origin: Origin,
}

impl fmt::Debug for AppendFile {
    /// Shows the length only: contents may be secret and are long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.content.len();
        write!(f, "AppendFile({}, {length} bytes)", self.path)
    }
}

/// Gives a file another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MakeHardLink {
    /// The new name; nothing may be there.
    pub path: TargetPath,
    /// The name that it has; a symbolic link there is not followed.
    pub existing: TargetPath,
    /// Where it came from.
    pub origin: Origin,
}
