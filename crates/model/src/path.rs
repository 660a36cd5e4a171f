//! Paths on the machine that is being built.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// An absolute path inside the target's root, without `.`, `..`, doubled slashes or NUL.
///
/// It says nothing about where that root lies on this computer: the host knows.
// Plans, effects and findings name the same paths, thousands of them, so they share the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct TargetPath(Arc<str>);

/// Says why a text cannot be a path on the target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    /// The text does not begin with a slash.
    #[error("{0:?} is not an absolute path")]
    NotAbsolute(String),
    /// The text has a `.` or `..` part, which could leave the root.
    #[error("{0:?} has a part `.` or `..`, which could lead out of the root")]
    Dotted(String),
    /// The text has a NUL byte or a part that no filesystem can hold.
    #[error("{0:?} has a NUL byte or a part longer than 255 bytes")]
    Impossible(String),
    /// The text is longer than any path that the kernel takes.
    #[error("{start:?}… is {length} bytes long, and no path can have more than {LONGEST}")]
    TooLong {
        /// How it begins.
        start: String,
        /// Its length.
        length: usize,
    },
}

/// The longest path, in bytes, that the kernel takes.
const LONGEST: usize = 4095;
/// How much of a path is shown that is too long.
const SHOWN: usize = 60;

impl TargetPath {
    /// Checks a path and folds repeated and trailing slashes.
    pub fn new(text: &str) -> Result<Self, BadPath> {
        if !text.starts_with('/') {
            return Err(BadPath::NotAbsolute(text.into()));
        }
        let mut path = String::with_capacity(text.len());
        for part in text.split('/').filter(|part| !part.is_empty()) {
            check_part(part, text)?;
            path.push('/');
            path.push_str(part);
        }
        if path.is_empty() {
            path.push('/');
        }
        if path.len() > LONGEST {
            return Err(BadPath::TooLong {
                start: path.chars().take(SHOWN).collect(),
                length: path.len(),
            });
        }
        Ok(Self(path.into()))
    }

    /// The root itself.
    pub fn root() -> Self {
        Self("/".into())
    }

    /// Appends a relative path; each of its parts is checked like those of a whole path.
    pub fn join(&self, relative: &str) -> Result<Self, BadPath> {
        if relative.starts_with('/') {
            return Err(BadPath::Dotted(relative.into()));
        }
        Self::new(&format!("{}/{relative}", self.0))
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the folder that holds this path; the root has none.
    pub fn parent(&self) -> Option<Self> {
        let (parent, name) = self.0.rsplit_once('/')?;
        if name.is_empty() {
            return None;
        }
        Some(if parent.is_empty() {
            Self::root()
        } else {
            Self(parent.into())
        })
    }

    /// Returns the last part; empty for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(_, name)| name)
    }

    /// Returns the parts from the root downwards.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// Returns what is left of this path below `folder`, if it lies there; empty if it is `folder`.
    pub fn below(&self, folder: &Self) -> Option<&str> {
        if &*folder.0 == "/" {
            return Some(&self.0[1..]);
        }
        match self.0.strip_prefix(&*folder.0)? {
            "" => Some(""),
            rest => rest.strip_prefix('/'),
        }
    }
}

fn check_part(part: &str, whole: &str) -> Result<(), BadPath> {
    if part == "." || part == ".." {
        return Err(BadPath::Dotted(whole.into()));
    }
    if part.len() > 255 || part.contains('\0') {
        return Err(BadPath::Impossible(whole.into()));
    }
    Ok(())
}

impl fmt::Display for TargetPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TargetPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl<'de> Deserialize<'de> for TargetPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_folded_and_cannot_leave_the_root() {
        let ok = |text: &str| TargetPath::new(text).map(|p| p.0);
        assert_eq!(ok("/a//b/").as_deref(), Ok("/a/b"));
        assert_eq!(ok("/").as_deref(), Ok("/"));
        assert!(ok("a").is_err() && ok("/a/../b").is_err() && ok("/./a").is_err());
        assert!(ok("/a\0b").is_err() && ok(&format!("/{}", "x".repeat(256))).is_err());
        assert!(ok(&"/abcd".repeat(819)).is_ok());
        let long = ok(&"/abcd".repeat(820)).unwrap_err().to_string();
        assert!(long.ends_with("4100 bytes long, and no path can have more than 4095"));
        assert!(long.len() < 200, "{long}");
        let base = TargetPath::new("/opt/x").unwrap();
        assert!(base.join("../y").is_err() && base.join("/etc").is_err());
        assert_eq!(base.join("y/z").unwrap().as_str(), "/opt/x/y/z");
    }

    #[test]
    fn parents_end_at_the_root() {
        let path = TargetPath::new("/a/b").unwrap();
        assert_eq!(path.name(), "b");
        let parent = path.parent().unwrap();
        assert_eq!(
            (parent.as_str(), parent.parent()),
            ("/a", Some(TargetPath::root()))
        );
        assert_eq!(TargetPath::root().parent(), None);
        assert_eq!(path.below(&parent), Some("b"));
        assert_eq!(path.below(&TargetPath::root()), Some("a/b"));
        assert_eq!(TargetPath::new("/ab").unwrap().below(&parent), None);
        assert_eq!(parent.below(&parent), Some(""));
    }
}
