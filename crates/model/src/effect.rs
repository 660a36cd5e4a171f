//! Every way in which this tool changes the world.
//!
//! The enum is closed, so that describing, performing and taking back stay total. A variant comes
//! with the first step that needs it; containers and reboots will be further variants, and
//! `Product` says what a started thing leaves behind.

mod body;
mod command;
mod describe;
mod existing;
mod live;
mod origin;
mod unit;

use std::time::Duration;

pub use body::{Body, Part};
pub use command::{AlreadyRan, CommandUndo, Product, RunCommand};
pub use existing::{AppendFile, MakeHardLink, SetAttributes};
pub use live::{
    ApiObject, ApplyObjects, Await, Given, GivenObject, ImportImages, ObjectId, StartUnit,
};
pub use origin::Origin;
use serde::{Deserialize, Serialize};
pub use unit::{SetUnit, UnitName, UnitState, Via};

use crate::ids::Digest;
use crate::node::{Attributes, Owner};
use crate::path::TargetPath;
use crate::pki::{CertificateRequest, KeyAlgorithm};

/// Writes a file, replacing what is there; the old content is kept for undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutFile {
    /// Where.
    pub path: TargetPath,
    /// What.
    pub body: Body,
    /// Mode, owner, extended attributes.
    pub attributes: Attributes,
    /// Where it came from.
    pub origin: Origin,
}

/// Makes a folder, or gives an existing one these attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MakeDirectory {
    /// Where.
    pub path: TargetPath,
    /// Mode, owner, extended attributes.
    pub attributes: Attributes,
    /// Where it came from.
    pub origin: Origin,
}

/// Makes a symbolic link, replacing a file or link that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MakeLink {
    /// Where.
    pub path: TargetPath,
    /// What it points to, as written; it is not resolved.
    pub target: String,
    /// Who owns it; whoever runs the tool if none is given.
    pub owner: Option<Owner>,
    /// Where it came from.
    pub origin: Origin,
}

/// Removes a file, a link or a whole folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropPath {
    /// Where.
    pub path: TargetPath,
    /// Why what was there is not kept for undo; kept if this is not given.
    pub forget: Option<String>,
    /// Which decision removed it.
    pub origin: Origin,
}

/// Makes a private key, readable by its owner alone from the first instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MakeKey {
    /// Where, as PKCS#8 in PEM.
    pub path: TargetPath,
    /// Which kind.
    pub algorithm: KeyAlgorithm,
    /// Where it came from.
    pub origin: Origin,
}

/// Makes a token, readable by its owner alone from the first instant; one that is there and has not
/// expired is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MakeToken {
    /// Where, as one line in the form of [`crate::token`].
    pub path: TargetPath,
    /// How long after it is made it expires.
    pub valid_for: Duration,
    /// Where it came from.
    pub origin: Origin,
}

/// Issues a certificate; an existing one that fits is kept, one that does not is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueCertificate {
    /// Where, as PEM.
    pub path: TargetPath,
    /// The key that the certificate is for.
    pub key: TargetPath,
    /// Subject, names, usages, validity.
    pub request: CertificateRequest,
    /// The authority that signs; none means that the certificate signs itself.
    pub issuer: Option<Issuer>,
    /// Where it came from.
    pub origin: Origin,
}

/// The authority behind a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issuer {
    /// Its certificate.
    pub certificate: TargetPath,
    /// Its key.
    pub key: TargetPath,
}

impl Issuer {
    /// Names who signs a certificate: by file name beside it, else by path, for there are several
    /// authorities of the same file name.
    pub(crate) fn shown(issuer: Option<&Self>, certificate: &TargetPath) -> String {
        let Some(issuer) = issuer else {
            return "itself".into();
        };
        let beside = issuer.certificate.parent() == certificate.parent();
        let path = &issuer.certificate;
        if beside {
            path.name().to_owned()
        } else {
            path.to_string()
        }
    }
}

/// Downloads a file whose digest is known beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// From where.
    pub url: String,
    /// What the content must hash to.
    pub digest: Digest,
    /// A bundle of authorities in PEM to trust instead of the system's, on the target.
    pub authorities: Option<TargetPath>,
    /// The most bytes that are accepted.
    pub limit: u64,
    /// How long all tries together may take.
    pub within: Duration,
    /// To where.
    pub path: TargetPath,
    /// Mode, owner, extended attributes.
    pub attributes: Attributes,
    /// Where it came from.
    pub origin: Origin,
}

/// One change of the world, as a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is documented at its struct")]
pub enum Effect {
    PutFile(PutFile),
    MakeDirectory(MakeDirectory),
    MakeLink(MakeLink),
    DropPath(DropPath),
    MakeKey(MakeKey),
    IssueCertificate(IssueCertificate),
    SetUnit(SetUnit),
    RunCommand(RunCommand),
    Fetch(Fetch),
    StartUnit(StartUnit),
    ImportImages(ImportImages),
    ApplyObjects(ApplyObjects),
    Await(Await),
    SetAttributes(SetAttributes),
    AppendFile(AppendFile),
    MakeHardLink(MakeHardLink),
    MakeToken(MakeToken),
}

/// The kinds of effects by name, as they stand in journals and plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each variant is documented at its struct")]
pub enum EffectKind {
    PutFile,
    MakeDirectory,
    MakeLink,
    DropPath,
    MakeKey,
    IssueCertificate,
    SetUnit,
    RunCommand,
    Fetch,
    StartUnit,
    ImportImages,
    ApplyObjects,
    Await,
    SetAttributes,
    AppendFile,
    MakeHardLink,
    MakeToken,
}

impl EffectKind {
    /// Tells whether it acts by itself instead of writing to paths.
    pub fn is_act(self) -> bool {
        matches!(
            self,
            Self::RunCommand
                | Self::StartUnit
                | Self::ImportImages
                | Self::ApplyObjects
                | Self::Await
        )
    }
}

impl Effect {
    /// Returns the kind.
    pub fn kind(&self) -> EffectKind {
        match self {
            Self::PutFile(_) => EffectKind::PutFile,
            Self::MakeDirectory(_) => EffectKind::MakeDirectory,
            Self::MakeLink(_) => EffectKind::MakeLink,
            Self::DropPath(_) => EffectKind::DropPath,
            Self::MakeKey(_) => EffectKind::MakeKey,
            Self::IssueCertificate(_) => EffectKind::IssueCertificate,
            Self::SetUnit(_) => EffectKind::SetUnit,
            Self::RunCommand(_) => EffectKind::RunCommand,
            Self::Fetch(_) => EffectKind::Fetch,
            Self::StartUnit(_) => EffectKind::StartUnit,
            Self::ImportImages(_) => EffectKind::ImportImages,
            Self::ApplyObjects(_) => EffectKind::ApplyObjects,
            Self::Await(_) => EffectKind::Await,
            Self::SetAttributes(_) => EffectKind::SetAttributes,
            Self::AppendFile(_) => EffectKind::AppendFile,
            Self::MakeHardLink(_) => EffectKind::MakeHardLink,
            Self::MakeToken(_) => EffectKind::MakeToken,
        }
    }

    /// Returns the path that the effect is about, if it is about one.
    pub fn path(&self) -> Option<&TargetPath> {
        match self {
            Self::PutFile(PutFile { path, .. })
            | Self::MakeDirectory(MakeDirectory { path, .. })
            | Self::MakeLink(MakeLink { path, .. })
            | Self::DropPath(DropPath { path, .. })
            | Self::MakeKey(MakeKey { path, .. })
            | Self::MakeToken(MakeToken { path, .. })
            | Self::IssueCertificate(IssueCertificate { path, .. })
            | Self::SetAttributes(SetAttributes { path, .. })
            | Self::AppendFile(AppendFile { path, .. })
            | Self::MakeHardLink(MakeHardLink { path, .. })
            | Self::Fetch(Fetch { path, .. }) => Some(path),
            Self::SetUnit(_)
            | Self::RunCommand(_)
            | Self::StartUnit(_)
            | Self::ImportImages(_)
            | Self::ApplyObjects(_)
            | Self::Await(_) => None,
        }
    }

    /// Returns what the effect is about, in the words of journals and plans.
    pub fn target(&self) -> String {
        match self {
            Self::SetUnit(set) => set.unit.to_string(),
            Self::RunCommand(run) => run.name.clone(),
            Self::StartUnit(start) if start.anew.is_some() => format!("{} anew", start.unit),
            Self::StartUnit(start) => start.unit.to_string(),
            Self::ImportImages(import) => import.archive.to_string(),
            // A changed set of objects is another act, also for a run that has done the first.
            Self::ApplyObjects(apply) => format!("{} ({})", apply.name, apply.digest().short()),
            Self::Await(wait) => wait.claim.what(),
            _ => self.path().map(ToString::to_string).unwrap_or_default(),
        }
    }

    /// Returns where the changed thing comes from.
    pub fn origin(&self) -> &Origin {
        match self {
            Self::PutFile(e) => &e.origin,
            Self::MakeDirectory(e) => &e.origin,
            Self::MakeLink(e) => &e.origin,
            Self::DropPath(e) => &e.origin,
            Self::MakeKey(e) => &e.origin,
            Self::IssueCertificate(e) => &e.origin,
            Self::SetUnit(e) => &e.origin,
            Self::RunCommand(e) => &e.origin,
            Self::Fetch(e) => &e.origin,
            Self::StartUnit(e) => &e.origin,
            Self::ImportImages(e) => &e.origin,
            Self::ApplyObjects(e) => &e.origin,
            Self::Await(e) => &e.origin,
            Self::SetAttributes(e) => &e.origin,
            Self::AppendFile(e) => &e.origin,
            Self::MakeHardLink(e) => &e.origin,
            Self::MakeToken(e) => &e.origin,
        }
    }

    /// Returns how long an effect may take, if it is one that people wait for.
    pub fn within(&self) -> Option<Duration> {
        match self {
            Self::RunCommand(run) => Some(run.within),
            Self::StartUnit(start) => Some(start.within),
            Self::ImportImages(import) => Some(import.within),
            Self::ApplyObjects(apply) => Some(apply.within),
            Self::Await(wait) => Some(wait.within),
            _ => None,
        }
    }

    /// Returns how an effect that acts by itself is taken back.
    pub fn counterpart(&self) -> Option<CommandUndo> {
        Some(match self {
            Self::RunCommand(run) => run.undo.clone(),
            Self::StartUnit(start) if start.anew.is_none() => start.stop(),
            Self::StartUnit(_) | Self::ImportImages(_) | Self::ApplyObjects(_) | Self::Await(_) => {
                CommandUndo::Products
            }
            _ => return None,
        })
    }

    /// Lists the files and folders that an act edits, and whose content is kept for undo.
    pub fn edits(&self) -> &[TargetPath] {
        match self {
            Self::RunCommand(run) => &run.edits,
            _ => &[],
        }
    }

    /// Returns what an effect leaves behind beside the paths that it writes.
    pub fn products(&self) -> Vec<Product> {
        match self {
            Self::RunCommand(run) => run.products.clone(),
            Self::StartUnit(start) => start.products.clone(),
            Self::ImportImages(import) => {
                let images = import.images.iter();
                images.map(|image| Product::Image(image.clone())).collect()
            }
            _ => vec![],
        }
    }

    /// Returns what an effect gives to an API that shall keep it.
    pub fn given(&self) -> Option<&Given> {
        match self {
            Self::ApplyObjects(apply) => apply.lasting.as_ref(),
            _ => None,
        }
    }

    /// Returns the digest of the content, where it is known before the effect is performed.
    pub fn digest(&self) -> Option<Digest> {
        match self {
            Self::PutFile(PutFile {
                body: Body::Literal(content),
                ..
            }) => Some(content.digest()),
            Self::Fetch(fetch) => Some(fetch.digest),
            Self::ImportImages(import) => import.digest,
            Self::ApplyObjects(apply) => Some(apply.digest()),
            _ => None,
        }
    }
}
