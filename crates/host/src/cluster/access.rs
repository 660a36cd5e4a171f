//! Where an API is, whom it must prove to be, and who asks.

use bootlace_engine::port::{Credentials, HostError, HostResult};
use bootlace_model::secret::Secret;
use reqwest::Url;

use super::kubeconfig;

/// How an API is reached.
#[derive(Debug)]
pub(super) struct Access {
    /// Where it is.
    pub(super) server: Url,
    /// The authorities in PEM that its certificate must come from; this machine's if none.
    pub(super) authority: Option<Vec<u8>>,
    /// Who asks.
    pub(super) identity: Identity,
}

/// Who asks.
#[derive(Debug)]
pub(super) enum Identity {
    /// Somebody without a name.
    Anonymous,
    /// The holder of a certificate.
    Certificate {
        /// The certificate in PEM, with those that lead to its authority.
        certificate: Vec<u8>,
        /// Its key in PEM.
        key: Secret,
    },
    /// The bearer of a token.
    Token(Secret),
}

impl Access {
    /// Reads credentials.
    pub(super) fn of(credentials: &Credentials) -> HostResult<Self> {
        match credentials {
            Credentials::Kubeconfig(text) => kubeconfig::read(text),
            Credentials::Certificate {
                server,
                authority,
                certificate,
                key,
            } => Ok(Self {
                server: address(server)?,
                authority: Some(authority.clone()),
                identity: Identity::Certificate {
                    certificate: certificate.clone(),
                    key: key.clone(),
                },
            }),
        }
    }
}

/// Reads the address of an API; only https is accepted.
pub(super) fn address(text: &str) -> HostResult<Url> {
    let bad = |why: String| HostError::Crypto(format!("the server {text:?} cannot be used: {why}"));
    let url = Url::parse(text).map_err(|error| bad(format!("it is not a URL: {error}")))?;
    if url.scheme() != "https" {
        return Err(bad(
            "it is not reached over https, so it cannot prove who it is".into(),
        ));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(bad("it has a user or a query in it".into()));
    }
    Ok(url)
}
