//! One API: sends questions, returns answers.

use std::time::Duration;

use bootlace_engine::port::{ApiAnswer, HostError, HostResult};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Url};
use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;

use super::access::{Access, Identity};
use super::fault;
use crate::http::{Trust, tls};

/// The largest answer that is taken.
const MOST_BYTES: usize = 64 << 20;
/// How long it may take to reach the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a kept connection is tried while an answer is waited for.
const ALIVE_CHECK: Duration = Duration::from_secs(2);
/// How long the other side may take to say that it is there.
const ALIVE_TIMEOUT: Duration = Duration::from_secs(3);

/// An API that can be asked.
#[derive(Debug)]
pub(super) struct Api {
    server: Url,
    shown: String,
    /// Opens a connection for each question: one that the server closed meanwhile would make a
    /// healthy server look broken to somebody who asks once.
    fresh: Client,
    /// Keeps its connection, for many questions in a row that are asked again if they fail.
    kept: Client,
}

impl Api {
    /// Prepares to ask an API.
    pub(super) fn new(access: &Access, trust: &Trust) -> HostResult<Self> {
        let tls = configuration(access, trust)?;
        let headers = headers(&access.identity)?;
        let builder = |tls| {
            Client::builder()
                .tls_backend_preconfigured(tls)
                .user_agent(concat!("bootlace/", env!("CARGO_PKG_VERSION")))
                .default_headers(headers.clone())
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .referer(false)
                .no_proxy()
                .connect_timeout(CONNECT_TIMEOUT)
        };
        let fresh = builder(tls.clone()).pool_max_idle_per_host(0);
        let kept = builder(tls)
            .http2_keep_alive_interval(ALIVE_CHECK)
            .http2_keep_alive_timeout(ALIVE_TIMEOUT);
        Ok(Self {
            server: access.server.clone(),
            shown: access.server.as_str().trim_end_matches('/').to_owned(),
            fresh: fresh.build().map_err(unprepared)?,
            kept: kept.build().map_err(unprepared)?,
        })
    }

    /// Returns where it is, for people.
    pub(super) fn server(&self) -> &str {
        &self.shown
    }

    /// Asks for a path with its query, once, over a connection of its own.
    pub(super) async fn ask(&self, path: &str, post: Option<&Value>) -> HostResult<ApiAnswer> {
        let url = self.url_of(path)?;
        let request = match post {
            None => self.fresh.get(url),
            Some(body) => self
                .fresh
                .post(url)
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string()),
        };
        self.send(request).await
    }

    /// Asks for what lies at these parts of a path, over the kept connection.
    pub(super) async fn get(&self, parts: &[&str]) -> HostResult<ApiAnswer> {
        let url = self.url(parts, "")?;
        self.send(self.kept.request(Method::GET, url)).await
    }

    /// Applies a document to what lies at these parts of a path, over the kept connection.
    pub(super) async fn patch(
        &self,
        parts: &[&str],
        query: &str,
        content_type: &'static str,
        body: Vec<u8>,
    ) -> HostResult<ApiAnswer> {
        let request = self.kept.patch(self.url(parts, query)?);
        let request = request.header(CONTENT_TYPE, content_type).body(body);
        self.send(request).await
    }

    /// Has the object at a path stored again as it is, over the kept connection.
    ///
    /// The server compares what it stores, not what it is sent: a change of nothing is written if the
    /// stored form is outdated, as after a change of the key that encrypts it.
    pub(super) async fn rewrite(&self, path: &str) -> HostResult<ApiAnswer> {
        let request = self.kept.patch(self.url_of(path)?);
        let request = request.header(CONTENT_TYPE, "application/merge-patch+json");
        self.send(request.body("{}")).await
    }

    fn url_of(&self, path: &str) -> HostResult<Url> {
        let url = format!("{}{path}", self.shown);
        Url::parse(&url).map_err(|error| HostError::Crypto(format!("{url} is not a URL: {error}")))
    }

    fn url(&self, parts: &[&str], query: &str) -> HostResult<Url> {
        let mut url = self.server.clone();
        url.path_segments_mut()
            .map_err(|()| HostError::Crypto(format!("{} can have no path", self.shown)))?
            .pop_if_empty()
            .extend(parts);
        url.set_query(Some(query).filter(|query| !query.is_empty()));
        Ok(url)
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> HostResult<ApiAnswer> {
        let failed = |error: reqwest::Error| fault::judge(&self.shown, &error.without_url());
        let mut response = request.send().await.map_err(failed)?;
        let mut content = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            if content.len() + piece.len() > MOST_BYTES {
                return Err(HostError::TooLarge {
                    target: format!("the answer of {}", self.shown),
                    limit: MOST_BYTES as u64,
                });
            }
            content.extend_from_slice(&piece);
        }
        Ok(ApiAnswer {
            status: response.status().as_u16(),
            body: serde_json::from_slice(&content)
                .unwrap_or_else(|_| String::from_utf8_lossy(&content).into()),
        })
    }
}

/// Prepares TLS: whom to trust, and as whom to ask.
fn configuration(access: &Access, trust: &Trust) -> HostResult<ClientConfig> {
    let roots = trust.roots(access.authority.as_deref())?;
    let begun = tls(roots.ok_or_else(|| trust.nobody())?)?;
    let mut tls = match &access.identity {
        Identity::Certificate { certificate, key } => {
            let bad = |what, error: String| {
                HostError::Crypto(format!("the client's {what} is bad: {error}"))
            };
            let chain = CertificateDer::pem_slice_iter(certificate)
                .collect::<Result<Vec<_>, _>>()
                .map_err(|error| bad("certificate", error.to_string()))?;
            let key = PrivateKeyDer::from_pem_slice(key.expose())
                .map_err(|error| bad("key", error.to_string()))?;
            begun
                .with_client_auth_cert(chain, key)
                .map_err(|error| bad("certificate", error.to_string()))?
        }
        Identity::Anonymous | Identity::Token(_) => begun.with_no_client_auth(),
    };
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    // A session that goes on is not verified again; whoever asks wants to know how things are now.
    tls.resumption = Resumption::disabled();
    Ok(tls)
}

fn headers(identity: &Identity) -> HostResult<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*"));
    if let Identity::Token(token) = identity {
        let value = [b"Bearer ", token.expose()].concat();
        let mut value = HeaderValue::from_bytes(&value)
            .map_err(|_| HostError::Crypto("the token has characters that none has".into()))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

fn unprepared(error: reqwest::Error) -> HostError {
    let error = error.without_url();
    HostError::Crypto(format!("asking the API cannot be prepared: {error}"))
}
