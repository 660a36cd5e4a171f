//! Changing what is there already, without replacing all of it.

use super::Origin;
use super::describe::owner;
use crate::content::Content;
use crate::ids::Digest;
use crate::node::{Attributes, Owner};
use crate::path::TargetPath;
use crate::shell;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendFile {
    /// Which file.
    pub path: TargetPath,
    /// What the file held before: only to that is it added, so it is never added twice.
    pub before: Digest,
    /// What is added.
    pub content: Content,
    /// Mode and owner.
    pub attributes: Attributes,
    /// Where it came from.
    pub origin: Origin,
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

impl SetAttributes {
    /// Tells in a few words what is changed.
    pub(super) fn detail(&self) -> String {
        let mode = shell::mode(self.attributes.mode);
        format!("mode {mode}{}, content kept", owner(&self.attributes))
    }

    /// Returns the line that a person would type.
    pub(super) fn shell(&self) -> String {
        attribute_line(&self.attributes, self.path.as_str())
    }
}

impl AppendFile {
    /// Tells in a few words what is added.
    pub(super) fn detail(&self) -> String {
        let (length, mode) = (self.content.length(), shell::mode(self.attributes.mode));
        let owner = owner(&self.attributes);
        format!("{length} bytes added at its end, mode {mode}{owner}")
    }

    /// Returns the line that a person would type.
    pub(super) fn shell(&self) -> String {
        let (path, length) = (shell::quote(self.path.as_str()), self.content.length());
        let attributes = attribute_line(&self.attributes, self.path.as_str());
        format!("cat >> {path} && {attributes} # {length} bytes from stdin")
    }
}

fn attribute_line(attributes: &Attributes, path: &str) -> String {
    let mode = shell::mode(attributes.mode);
    let mode = shell::line(["chmod", &mode, path]);
    match attributes.owner {
        None => mode,
        Some(Owner { uid, gid }) => {
            let owner = format!("{uid}:{gid}");
            format!("{} && {mode}", shell::line(["chown", &owner, path]))
        }
    }
}
