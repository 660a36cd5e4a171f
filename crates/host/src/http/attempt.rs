//! One try of a download, and what its failure means.

use std::error::Error as StdError;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};

use crate::error::{causes, chain};
use crate::{clock, retry};

/// How many redirects are followed.
const MOST_REDIRECTS: u32 = 5;

/// What came of a try.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The content.
    Content(Vec<u8>),
    /// More than is accepted.
    TooLarge,
    /// A failure that another try would meet again.
    Final(String),
    /// A failure that may pass.
    Passing {
        /// What failed.
        cause: String,
        /// How long the server asks to wait.
        asked: Option<Duration>,
    },
}

/// Downloads into memory once.
pub(super) async fn fetch(client: &Client, url: Url, headers: &HeaderMap, limit: u64) -> Outcome {
    match follow(client, url, headers).await {
        Ok(response) => read(response, limit).await,
        Err(outcome) => outcome,
    }
}

/// Reads headers as they may be sent, or says why one may not.
pub(super) fn headers(given: &[(String, String)]) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let bad = || format!("the header {name:?} cannot be sent");
        let name_read = HeaderName::try_from(name).map_err(|_| bad())?;
        let value = HeaderValue::try_from(value).map_err(|_| bad())?;
        headers.append(name_read, value);
    }
    Ok(headers)
}

/// Asks for a status once.
pub(super) async fn status(client: &Client, url: Url) -> Result<u16, String> {
    match client.get(url).send().await {
        Ok(response) => Ok(response.status().as_u16()),
        Err(error) => Err(chain(&error.without_url())),
    }
}

/// Sends the request and follows redirects by hand: never from a secure place to an open one.
async fn follow(client: &Client, mut url: Url, headers: &HeaderMap) -> Result<Response, Outcome> {
    let mut redirects = 0;
    loop {
        let mut request = client.get(url.clone());
        if redirects == 0 {
            // Elsewhere they could tell a secret to a stranger.
            request = request.headers(headers.clone());
        }
        let sent = request.send().await;
        let response = sent.map_err(failure)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if !is_redirect(status) {
            return Err(refusal(status, response.headers()));
        }
        redirects += 1;
        if redirects > MOST_REDIRECTS {
            let cause = format!("it was redirected more than {MOST_REDIRECTS} times");
            return Err(Outcome::Final(cause));
        }
        url = next(&url, response.headers())?;
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Finds out where a redirect leads, and whether one may go there.
fn next(url: &Url, headers: &HeaderMap) -> Result<Url, Outcome> {
    let last = |cause: String| Outcome::Final(cause);
    let target = headers
        .get(LOCATION)
        .and_then(|value| value.to_str().ok())
        .ok_or_else(|| last("it was redirected to nowhere".into()))?;
    let next = url
        .join(target)
        .map_err(|error| last(format!("it was redirected to what is not a URL: {error}")))?;
    match (url.scheme(), next.scheme()) {
        (_, "https") | ("http", "http") => Ok(next),
        ("https", "http") => Err(last(format!(
            "it was redirected from https to plain http ({}), which anyone on the way can change",
            super::shown(&next)
        ))),
        (_, scheme) => Err(last(format!(
            "it was redirected to {scheme}:, which is neither http nor https"
        ))),
    }
}

/// Judges a status that is no success.
fn refusal(status: StatusCode, headers: &HeaderMap) -> Outcome {
    let cause = format!("the server answered {status}");
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        let asked = headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| retry::asked(value, clock::now()));
        return Outcome::Passing { cause, asked };
    }
    Outcome::Final(cause)
}

/// Reads the content, but not more than is accepted.
async fn read(mut response: Response, limit: u64) -> Outcome {
    if response
        .content_length()
        .is_some_and(|length| length > limit)
    {
        return Outcome::TooLarge;
    }
    let mut content = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => return Outcome::Content(content),
            Ok(Some(piece)) => {
                if (content.len() + piece.len()) as u64 > limit {
                    return Outcome::TooLarge;
                }
                content.extend_from_slice(&piece);
            }
            Err(error) => return failure(error),
        }
    }
}

/// Judges an error below HTTP.
fn failure(error: reqwest::Error) -> Outcome {
    let error = error.without_url();
    let cause = chain(&error);
    if error.is_builder() || is_unverified(&error) {
        return Outcome::Final(cause);
    }
    Outcome::Passing { cause, asked: None }
}

/// Tells whether a server could not prove who it is; trying again would not make it another one.
fn is_unverified(error: &(dyn StdError + 'static)) -> bool {
    causes(error).any(|cause| {
        matches!(
            cause.downcast_ref(),
            Some(
                rustls::Error::InvalidCertificate(_)
                    | rustls::Error::NoCertificatesPresented
                    | rustls::Error::PeerIncompatible(_)
                    | rustls::Error::UnsupportedNameType
            )
        )
    })
}
