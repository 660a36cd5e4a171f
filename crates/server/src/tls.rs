//! By what the server proves who it is: a certificate and its key, replaced while it runs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::disk;

/// A certificate and its key, as they were read.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    certified: Arc<CertifiedKey>,
    /// Until when the certificate is valid.
    pub(crate) expires: Timestamp,
}

impl Identity {
    /// Reads both files; an error names the one that is wrong, and shows nothing of the key.
    pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Self, (PathBuf, String)> {
        let content = |path: &Path| {
            let read = disk::read(path);
            let read =
                read.map_err(|error| (path.to_owned(), format!("it cannot be read: {error}")));
            read.map(|(content, _)| content)
        };
        let wrong_certificate = |why: &str| (certificate.to_owned(), why.to_owned());
        let chain = CertificateDer::pem_slice_iter(&content(certificate)?)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| wrong_certificate("it is not a certificate in PEM"))?;
        let first = chain.first();
        let first =
            first.ok_or_else(|| wrong_certificate("there is no certificate in PEM in it"))?;
        let (_, parsed) = x509_parser::parse_x509_certificate(first)
            .map_err(|_| wrong_certificate("the first certificate in it cannot be read"))?;
        let expires = parsed.validity().not_after.timestamp();
        let expires = Timestamp::from_second(expires).unwrap_or(Timestamp::MAX);
        let wrong_key = |why: &str| (key.to_owned(), why.to_owned());
        let private = PrivateKeyDer::from_pem_slice(&content(key)?)
            .map_err(|_| wrong_key("it is not a private key in PEM"))?;
        let provider = rustls::crypto::ring::default_provider();
        let certified = CertifiedKey::from_der(chain, private, &provider)
            .map_err(|_| wrong_key("it is not the key of the certificate"))?;
        Ok(Self {
            certified: Arc::new(certified),
            expires,
        })
    }
}

/// The identity that new connections see.
#[derive(Debug)]
pub(crate) struct Current(RwLock<Identity>);

impl Current {
    /// Begins with one.
    pub(crate) fn new(identity: Identity) -> Self {
        Self(RwLock::new(identity))
    }

    /// Replaces it for all connections to come.
    pub(crate) fn replace(&self, identity: Identity) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = identity;
    }

    /// Returns until when it is valid.
    pub(crate) fn expires(&self) -> Timestamp {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .expires
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let identity = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&identity.certified))
    }
}

/// Puts together how connections are secured: TLS 1.2 or 1.3, and HTTP/1.1 in it.
pub(crate) fn config(current: Arc<Current>) -> Result<ServerConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(current);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // A machine boots for the first time once: nothing is kept for it to come back to.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}
