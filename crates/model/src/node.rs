//! What is at a path: the one shape for *before*, *after* and *now*.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::Digest;
use crate::path::TargetPath;

/// Numeric owner and group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Owner {
    /// The user's number.
    pub uid: u32,
    /// The group's number.
    pub gid: u32,
}

/// Extended attributes by name, values in base64 when written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Xattrs(pub BTreeMap<String, Vec<u8>>);

impl Xattrs {
    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl schemars::JsonSchema for Xattrs {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Xattrs".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = serde_json::json!({"type": "string", "contentEncoding": "base64"});
        schemars::json_schema!({"type": "object", "additionalProperties": value})
    }
}

impl Serialize for Xattrs {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use base64::Engine as _;
        let encode = |value: &Vec<u8>| base64::engine::general_purpose::STANDARD.encode(value);
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, encode(value))))
    }
}

impl<'de> Deserialize<'de> for Xattrs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use base64::Engine as _;
        let decode = |text: String| base64::engine::general_purpose::STANDARD.decode(text);
        BTreeMap::<String, String>::deserialize(deserializer)?
            .into_iter()
            .map(|(name, text)| Ok((name, decode(text).map_err(serde::de::Error::custom)?)))
            .collect::<Result<_, _>>()
            .map(Xattrs)
    }
}

/// Mode, owner and extended attributes that something gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    /// Permission bits, set-id and sticky bits included.
    pub mode: u32,
    /// The owner; whoever runs the tool if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Extended attributes to set; others are left alone.
    #[serde(default, skip_serializing_if = "Xattrs::is_empty")]
    pub xattrs: Xattrs,
}

impl Attributes {
    /// Gives only a mode.
    pub fn mode(mode: u32) -> Self {
        Self {
            mode,
            ..Self::default()
        }
    }

    /// Tells whether nobody but the owner may read.
    pub fn is_private(&self) -> bool {
        self.mode.trailing_zeros() >= 6
    }
}

/// What holds nothing itself, and by which programs talk to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpecialKind {
    /// A pipe with a name.
    Pipe,
    /// A socket with a name.
    Socket,
}

impl SpecialKind {
    /// Tells in words what it is.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Pipe => "a pipe",
            Self::Socket => "a socket",
        }
    }
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum NodeState {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Of its content.
        digest: Digest,
        /// Its length in bytes.
        size: u64,
        /// Mode bits.
        mode: u32,
        /// Who owns it.
        owner: Owner,
        /// Its extended attributes.
        #[serde(default, skip_serializing_if = "Xattrs::is_empty")]
        xattrs: Xattrs,
    },
    /// A folder; what is in it is not part of this.
    Directory {
        /// Mode bits.
        mode: u32,
        /// Who owns it.
        owner: Owner,
        /// Its extended attributes.
        #[serde(default, skip_serializing_if = "Xattrs::is_empty")]
        xattrs: Xattrs,
    },
    /// A symbolic link.
    Link {
        /// What it points to, as written.
        target: String,
        /// Who owns it.
        owner: Owner,
    },
    /// A pipe or a socket, which is made anew when it is put back.
    Special {
        /// Which of them.
        kind: SpecialKind,
        /// Mode bits.
        mode: u32,
        /// Who owns it.
        owner: Owner,
    },
    /// A device or the like, which this tool neither keeps nor restores.
    Other {
        /// What it is, in words.
        what: String,
    },
}

impl NodeState {
    /// Tells whether something is there.
    pub fn exists(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// Tells in words what it is.
    pub fn noun(&self) -> &str {
        match self {
            Self::Absent => "nothing",
            Self::File { .. } => "a file",
            Self::Directory { .. } => "a folder",
            Self::Link { .. } => "a link",
            Self::Special { kind, .. } => kind.noun(),
            Self::Other { what } => what,
        }
    }

    /// Tells whether both are the same for someone who wants to know if it was edited.
    ///
    /// Extended attributes do not count: labelling services rewrite them behind everyone's back.
    pub fn same_but_for_labels(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::File {
                    digest,
                    mode,
                    owner,
                    ..
                },
                Self::File {
                    digest: d,
                    mode: m,
                    owner: o,
                    ..
                },
            ) => digest == d && mode == m && owner == o,
            (
                Self::Directory { mode, owner, .. },
                Self::Directory {
                    mode: m, owner: o, ..
                },
            ) => mode == m && owner == o,
            _ => self == other,
        }
    }
}

/// A path together with what is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Node {
    /// Where.
    pub path: TargetPath,
    /// What.
    pub state: NodeState,
}
