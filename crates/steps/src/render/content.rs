//! What a renderer writes.

use base64::Engine as _;
use bootlace_model::config::Settings;
use bootlace_model::effect::{Body, Part};
use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;
use serde_json::Value;

use crate::assets::asset;
use crate::{documents, yaml};

/// Stands in an object for the cluster's authority, in base64, which is not known when rendering.
pub(super) const AUTHORITY: &str = "BASE64-OF-THE-AUTHORITY";
/// Where that authority lies in the asset folder.
const AUTHORITY_FILE: &str = "tls/ca.crt";

/// Where a rendered file is needed besides the renderer's own output folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publish {
    /// Nowhere else.
    Nowhere,
    /// Among the objects that are applied once the API answers.
    Manifests,
    /// Among the static pods.
    BootstrapManifests,
}

impl Publish {
    /// Returns the folder below the asset folder.
    pub(crate) fn folder(self) -> Option<&'static str> {
        match self {
            Self::Nowhere => None,
            Self::Manifests => Some("manifests"),
            Self::BootstrapManifests => Some("bootstrap-manifests"),
        }
    }
}

/// What a rendered file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Objects of Kubernetes, one YAML document each.
    Objects(Vec<Value>),
    /// A text that is no object.
    Text(String),
    /// Bytes that are passed on as they are.
    Bytes(Vec<u8>),
}

/// A file that a renderer writes.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedFile {
    /// Where, below the output folder.
    pub path: String,
    /// What.
    pub content: Content,
    /// Its mode.
    pub mode: u32,
    /// Where else it is needed.
    pub publish: Publish,
    /// Whether it holds already what the user wrote about the same objects.
    pub(crate) merged: bool,
}

impl RenderedFile {
    fn new(path: impl Into<String>, content: Content, publish: Publish) -> Self {
        Self {
            path: path.into(),
            content,
            mode: 0o644,
            publish,
            merged: false,
        }
    }

    /// A static pod that the kubelet shall run.
    pub(super) fn static_pod(name: &str, pod: Value) -> Self {
        let path = format!("bootstrap-manifests/{name}");
        Self::new(
            path,
            Content::Objects(vec![pod]),
            Publish::BootstrapManifests,
        )
    }

    /// Objects that shall be applied.
    pub(super) fn manifest(name: &str, objects: Vec<Value>) -> Self {
        let path = format!("manifests/{name}");
        Self::new(path, Content::Objects(objects), Publish::Manifests)
    }

    /// An object of Kubernetes, or of a program's configuration, that is nobody else's.
    pub(super) fn object(path: impl Into<String>, object: Value) -> Self {
        Self::new(path, Content::Objects(vec![object]), Publish::Nowhere)
    }

    /// A text that is nobody else's.
    pub(super) fn text(path: &str, text: impl Into<String>) -> Self {
        Self::new(path, Content::Text(text.into()), Publish::Nowhere)
    }

    /// Bytes that are passed on as they are.
    pub(super) fn bytes(path: String, bytes: &[u8]) -> Self {
        Self::new(path, Content::Bytes(bytes.to_vec()), Publish::Nowhere)
    }

    /// Says that it holds already what the user wrote about the same objects.
    pub(super) fn merged(mut self) -> Self {
        self.merged = true;
        self
    }

    /// Keeps it in the output folder.
    pub(super) fn kept(mut self) -> Self {
        self.publish = Publish::Nowhere;
        self
    }

    /// Lets nobody but its owner read it.
    pub(super) fn secret(mut self) -> Self {
        self.mode = 0o600;
        self
    }

    /// A file that somebody else rendered.
    pub(crate) fn foreign(
        path: &str,
        content: Vec<u8>,
        is_private: bool,
        publish: Publish,
    ) -> Self {
        Self {
            mode: if is_private { 0o600 } else { 0o644 },
            ..Self::new(path, Content::Bytes(content), publish)
        }
    }

    /// The same file, as somebody else rendered it.
    pub(crate) fn rendered_elsewhere(&self, content: Vec<u8>, is_private: bool) -> Self {
        let private = is_private || self.mode == 0o600;
        Self {
            merged: self.merged,
            ..Self::foreign(&self.path, content, private, self.publish)
        }
    }

    /// Returns the objects that others are given, where it holds some.
    pub(crate) fn objects(&self) -> Option<Vec<Value>> {
        match &self.content {
            Content::Objects(objects) => Some(objects.clone()),
            Content::Bytes(bytes) if self.publish != Publish::Nowhere => {
                let documents = documents::documents(&self.path, bytes).ok()?;
                Some(documents.into_iter().map(|it| it.value).collect())
            }
            Content::Bytes(_) | Content::Text(_) => None,
        }
    }

    /// Returns what goes into the file; it may name files that do not exist yet.
    pub fn body(&self, settings: &Settings) -> Result<Body, Fault> {
        match &self.content {
            Content::Objects(objects) => body_of(objects, settings),
            Content::Text(text) => Ok(Body::text(text.clone())),
            Content::Bytes(bytes) => Ok(Body::bytes(bytes.as_slice())),
        }
    }

    /// Returns the bytes of the file; `read` answers for the files that it is made of.
    pub fn bytes_of(
        &self,
        settings: &Settings,
        read: &dyn Fn(&TargetPath) -> Result<Vec<u8>, Fault>,
    ) -> Result<Vec<u8>, Fault> {
        let parts = match self.body(settings)? {
            Body::Literal(content) => return Ok(content.read()?.to_vec()),
            Body::Compose(parts) => parts,
        };
        let mut whole = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => whole.extend(text.into_bytes()),
                Part::FileOf(path) => whole.extend(read(&path)?),
                Part::Base64Of(path) => {
                    let encoded = base64::engine::general_purpose::STANDARD.encode(read(&path)?);
                    whole.extend(encoded.into_bytes());
                }
                Part::PublicKeyOf(path)
                | Part::HashOf(path)
                | Part::ExpiryOf(path)
                | Part::SymmetricKeyOf(path) => {
                    let message = format!("no renderer needs what follows from {path}");
                    return Err(Fault::internal(message));
                }
            }
        }
        Ok(whole)
    }
}

/// Writes objects; where one names the authority, its file is named instead of its content.
pub(crate) fn body_of(objects: &[Value], settings: &Settings) -> Result<Body, Fault> {
    let text = yaml::documents(objects);
    let pieces: Vec<&str> = text.split(AUTHORITY).collect();
    match pieces.as_slice() {
        [whole] => Ok(Body::text(*whole)),
        [before, after] => Ok(Body::Compose(vec![
            Part::Text((*before).to_owned()),
            Part::Base64Of(asset(settings, AUTHORITY_FILE)),
            Part::Text((*after).to_owned()),
        ])),
        _ => Err(Fault::internal("a file names the authority more than once")),
    }
}
