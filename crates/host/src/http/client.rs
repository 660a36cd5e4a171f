//! Whom a download trusts, and by which way it goes.
//!
//! Proxies: only if `HTTPS_PROXY` (or `https_proxy`) is set, only for https, and never for this
//! machine itself or what `NO_PROXY` lists. Over plain http a proxy could change what it carries, so
//! `HTTP_PROXY` and `ALL_PROXY` are ignored.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bootlace_engine::port::{FetchRequest, HostError, HostResult};
use reqwest::{Client, NoProxy};
use rustls::client::WantsClientCert;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};

use crate::error::refused;

/// Where systems keep the authorities that they trust, all in one file.
const BUNDLES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/share/ca-certificates/cacert.pem",
];

/// How long one try may take to reach the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server may be silent in the middle of an answer.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);

/// Where this machine's trusted authorities are looked for.
#[derive(Debug, Clone)]
pub(crate) struct Trust(Vec<PathBuf>);

impl Default for Trust {
    fn default() -> Self {
        Self(BUNDLES.iter().map(PathBuf::from).collect())
    }
}

impl Trust {
    /// Looks in other places.
    #[cfg(test)]
    pub(crate) fn at(bundles: Vec<PathBuf>) -> Self {
        Self(bundles)
    }

    /// Takes the given authorities, else those of this machine; none if there are none.
    pub(crate) fn roots(&self, authorities: Option<&[u8]>) -> HostResult<Option<RootCertStore>> {
        match authorities {
            Some(authorities) => Ok(Some(given(authorities)?)),
            None => Ok(self.read()?.map(|bundle| installed(&bundle))),
        }
    }

    /// Says that nobody is trusted.
    pub(crate) fn nobody(&self) -> HostError {
        let places: Vec<_> = self.0.iter().map(|path| path.to_string_lossy()).collect();
        HostError::Crypto(format!(
            "this machine has no trusted authorities, so no server can prove who it is; install the \
             package ca-certificates (looked for {})",
            places.join(", ")
        ))
    }

    /// Reads the first bundle that is there; none if there is none.
    #[expect(
        clippy::disallowed_methods,
        reason = "the authorities of this machine count, whatever root is worked on"
    )]
    fn read(&self) -> HostResult<Option<Vec<u8>>> {
        for bundle in &self.0 {
            match std::fs::read(bundle) {
                Ok(text) => return Ok(Some(text)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(refused("read", bundle.to_string_lossy(), error)),
            }
        }
        Ok(None)
    }
}

/// A proxy for https.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Where it listens.
    pub url: String,
    /// Names, domains and networks that are reached without it, separated by commas.
    pub except: String,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The URL may hold a password.
        write!(f, "Proxy(…, except {:?})", self.except)
    }
}

impl Proxy {
    /// Reads the proxy that the environment names, if any.
    pub fn from_environment() -> Option<Self> {
        let variable = |names: [&str; 2]| {
            names
                .into_iter()
                .filter_map(std::env::var_os)
                .filter_map(|value| value.into_string().ok())
                .find(|value| !value.is_empty())
        };
        Some(Self {
            url: variable(["HTTPS_PROXY", "https_proxy"])?,
            except: variable(["NO_PROXY", "no_proxy"]).unwrap_or_default(),
        })
    }
}

/// Builds a client, and tells whether it is fit for https, too.
///
/// A machine without any trusted authorities can still download over plain http.
pub(super) fn build(
    trust: &Trust,
    request: &FetchRequest<'_>,
    proxy: Option<&Proxy>,
    secure: bool,
) -> HostResult<(Client, bool)> {
    let mut roots = trust.roots(request.authorities)?;
    if request.trusts_system
        && request.authorities.is_some()
        && let (Some(given), Some(system)) = (&mut roots, trust.roots(None)?)
    {
        given.roots.extend(system.roots);
    }
    let complete = roots.is_some();
    if secure && !complete {
        return Err(trust.nobody());
    }
    let roots = roots.unwrap_or_else(RootCertStore::empty);
    let mut tls = tls(roots)?.with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("bootlace/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .pool_max_idle_per_host(0)
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(SILENCE_TIMEOUT);
    if let Some(proxy) = proxy {
        let except = format!("localhost,127.0.0.0/8,::1,{}", proxy.except);
        let https = reqwest::Proxy::https(&proxy.url).map_err(unprepared)?;
        builder = builder.proxy(https.no_proxy(NoProxy::from_string(&except)));
    }
    Ok((builder.build().map_err(unprepared)?, complete))
}

fn unprepared(error: reqwest::Error) -> HostError {
    let error = error.without_url();
    HostError::Crypto(format!("downloads cannot be prepared: {error}"))
}

/// Takes the authorities that the caller gave; all of them must be good.
fn given(pem: &[u8]) -> HostResult<RootCertStore> {
    let bad = |why: String| HostError::Crypto(format!("the given authorities are bad: {why}"));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| bad(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| bad(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(bad("there is no certificate among them".into()));
    }
    Ok(roots)
}

/// Takes the authorities of this machine; some of the old ones in such bundles are always odd.
fn installed(pem: &[u8]) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let readable = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok);
    roots.add_parsable_certificates(readable);
    roots
}

/// Begins a TLS configuration that trusts these authorities.
pub(crate) fn tls(
    roots: RootCertStore,
) -> HostResult<ConfigBuilder<ClientConfig, WantsClientCert>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HostError::Crypto(format!("TLS cannot be prepared: {error}")))?
        .with_root_certificates(roots))
}
