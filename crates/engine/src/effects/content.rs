//! Contents of files that may have been made a moment ago and not be in place yet.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use bootlace_model::content::Content;
use bootlace_model::effect::{Body, Part};
use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::secret::Secret;
use bootlace_model::token;

use super::standing::unfit;
use crate::folders::{Folders, LARGEST_FILE};

/// Reads files, those first that are staged in the same group.
pub(crate) struct Contents<'a> {
    pub(crate) folders: &'a Folders<'a>,
    pub(crate) staged: HashMap<TargetPath, Content>,
}

impl<'a> Contents<'a> {
    pub(crate) fn new(folders: &'a Folders<'a>) -> Self {
        Self {
            folders,
            staged: HashMap::new(),
        }
    }

    /// Returns what a file holds or is about to hold; none if it is absent.
    pub(crate) fn read(&self, path: &TargetPath) -> Result<Option<Arc<[u8]>>, Fault> {
        if let Some(staged) = self.staged.get(path) {
            return Ok(Some(staged.read()?));
        }
        Ok(self.folders.read(path, LARGEST_FILE)?.map(Arc::from))
    }

    /// Like [`Contents::read`], but the file must be there.
    pub(crate) fn must_read(&self, path: &TargetPath) -> Result<Arc<[u8]>, Fault> {
        self.read(path)?
            .ok_or_else(|| Fault::internal(format!("{path} should be there by now")))
    }

    /// Reads a private key; none if it is absent.
    pub(crate) fn key(&self, path: &TargetPath) -> Result<Option<Secret>, Fault> {
        Ok(self.read(path)?.map(|bytes| Secret::new(bytes.to_vec())))
    }

    /// Puts a body together; none if a file that it is made of is absent.
    pub(crate) fn compose(&self, body: &Body) -> Result<Option<Content>, Fault> {
        let parts = match body {
            Body::Literal(content) => return Ok(Some(content.clone())),
            Body::Compose(parts) => parts,
        };
        let mut whole = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => whole.extend_from_slice(text.as_bytes()),
                Part::FileOf(path) => match self.read(path)? {
                    None => return Ok(None),
                    Some(content) => whole.extend_from_slice(&content),
                },
                Part::Base64Of(path) => match self.read(path)? {
                    None => return Ok(None),
                    Some(content) => {
                        let text = base64::engine::general_purpose::STANDARD.encode(content);
                        whole.extend_from_slice(text.as_bytes());
                    }
                },
                Part::PublicKeyOf(path) => match self.key(path)? {
                    None => return Ok(None),
                    Some(key) => {
                        let public = self.folders.host().public_key(&key);
                        let public =
                            public.map_err(|error| Fault::from(error).in_file(path.as_str()))?;
                        whole.extend_from_slice(public.as_bytes());
                    }
                },
                Part::HashOf(path) => match self.read(path)? {
                    None => return Ok(None),
                    Some(content) => {
                        whole.extend_from_slice(Digest::of(&content).hex().as_bytes());
                    }
                },
                Part::SymmetricKeyOf(path) => match self.read(path)? {
                    None => return Ok(None),
                    Some(content) => {
                        whole.extend_from_slice(Digest::of(&content).base64().as_bytes());
                    }
                },
                Part::ExpiryOf(path) => match self.read(path)? {
                    None => return Ok(None),
                    Some(content) => {
                        let expires = token::expiry(&content);
                        let expires =
                            expires.map_err(|why| unfit(path, "token", vec![why.into()]))?;
                        whole.extend_from_slice(expires.to_string().as_bytes());
                    }
                },
            }
        }
        Ok(Some(Content::of(whole)))
    }
}

/// Puts together what follows from files in place; none if one of them is absent.
pub(crate) fn composed(folders: &Folders<'_>, body: &Body) -> Result<Option<Content>, Fault> {
    Contents::new(folders).compose(body)
}
