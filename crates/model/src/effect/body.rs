//! What goes into a file: bytes, or a recipe that names files which do not exist yet.

use std::fmt;

use crate::content::Content;
use crate::path::TargetPath;

/// The content of a file.
#[derive(Clone, PartialEq, Eq)]
pub enum Body {
    /// Bytes that are known now, if only by their digest.
    Literal(Content),
    /// Parts that are put together when the files they name are there.
    Compose(Vec<Part>),
}

/// One part of a composed file.
#[derive(Clone, PartialEq, Eq)]
pub enum Part {
    /// Text that is known now.
    Text(String),
    /// The content of a file, as it is.
    FileOf(TargetPath),
    /// The content of a file, in base64 on one line.
    Base64Of(TargetPath),
    /// The public half, in PEM, of a private key.
    PublicKeyOf(TargetPath),
    /// What a file hashes to by SHA-256, in hexadecimal digits.
    HashOf(TargetPath),
    /// When a token expires.
    ExpiryOf(TargetPath),
    /// 256 bits for symmetric encryption that follow from a private key: what its file hashes to by
    /// SHA-256, in base64.
    SymmetricKeyOf(TargetPath),
}

impl Body {
    /// Takes text that is known now.
    pub fn text(text: impl Into<String>) -> Self {
        Self::bytes(text.into().into_bytes())
    }

    /// Takes bytes that are known now.
    pub fn bytes(bytes: impl Into<std::sync::Arc<[u8]>>) -> Self {
        Self::Literal(Content::of(bytes))
    }

    /// Lists the names of the files that must be there before the content can be known, each once.
    pub fn source_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for source in self.sources() {
            if !names.contains(&source.name()) {
                names.push(source.name());
            }
        }
        names
    }

    /// Lists the files that must be there before the content can be known.
    pub fn sources(&self) -> impl Iterator<Item = &TargetPath> {
        let parts = match self {
            Self::Literal(_) => &[][..],
            Self::Compose(parts) => parts,
        };
        parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::FileOf(path)
            | Part::Base64Of(path)
            | Part::PublicKeyOf(path)
            | Part::HashOf(path)
            | Part::ExpiryOf(path)
            | Part::SymmetricKeyOf(path) => Some(path),
        })
    }
}

impl fmt::Debug for Body {
    /// Shows lengths and names only: contents may be secret and are long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(content) => write!(f, "Literal({} bytes)", content.length()),
            Self::Compose(parts) => write!(f, "Compose({parts:?})"),
        }
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::FileOf(path) => write!(f, "FileOf({path})"),
            Self::Base64Of(path) => write!(f, "Base64Of({path})"),
            Self::PublicKeyOf(path) => write!(f, "PublicKeyOf({path})"),
            Self::HashOf(path) => write!(f, "HashOf({path})"),
            Self::ExpiryOf(path) => write!(f, "ExpiryOf({path})"),
            Self::SymmetricKeyOf(path) => write!(f, "SymmetricKeyOf({path})"),
        }
    }
}
