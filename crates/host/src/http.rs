//! Downloads over HTTP and HTTPS.
//!
//! Each request opens a connection of its own. A kept one that the server has closed meanwhile would
//! make a healthy server look broken to somebody who only asks for its status.

mod attempt;
mod client;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bootlace_engine::port::{FetchRequest, HostError, HostResult};
use bootlace_model::ids::Digest;
use reqwest::{Client, Url};

use crate::clock::{self, StopHandle};
use crate::network::Network;
use crate::{machine::kernel, retry};

use self::attempt::Outcome;
pub use self::client::Proxy;
pub(crate) use self::client::{Trust, tls};

/// The most clients that are kept, one for each set of authorities.
const MOST_CLIENTS: usize = 16;

/// Downloads; does nothing before the first request.
#[derive(Debug)]
pub(crate) struct Http {
    trust: Trust,
    proxy: Option<Proxy>,
    network: Arc<Network>,
    clients: Mutex<BTreeMap<(Option<Digest>, bool), Client>>,
}

impl Http {
    /// Prepares to download with given ways to the world.
    pub(crate) fn new(trust: Trust, proxy: Option<Proxy>, network: Arc<Network>) -> Self {
        Self {
            trust,
            proxy,
            network,
            clients: Mutex::default(),
        }
    }

    /// Downloads into memory, with retries until time is up.
    pub(crate) fn fetch(
        &self,
        request: &FetchRequest<'_>,
        stop: &StopHandle,
    ) -> HostResult<Vec<u8>> {
        let url = parse(request.url)?;
        let client = self.client(&url, request)?;
        let headers = attempt::headers(request.headers)
            .map_err(|cause| Failures::default().last(&url, &cause))?;
        let begun = Instant::now();
        let mut failures = Failures::default();
        loop {
            let left = request.within.saturating_sub(begun.elapsed());
            let attempt = attempt::fetch(&client, url.clone(), &headers, request.limit);
            let (cause, asked) = match self.network.wait_for(attempt, left, stop)? {
                None => return Err(failures.timed_out(&url, request.within)),
                Some(Outcome::Content(content)) => return Ok(content),
                Some(Outcome::TooLarge) => {
                    return Err(HostError::TooLarge {
                        target: shown(&url),
                        limit: request.limit,
                    });
                }
                Some(Outcome::Final(cause)) => return Err(failures.last(&url, &cause)),
                Some(Outcome::Passing { cause, asked }) => (cause, asked),
            };
            failures.add(cause);
            let left = request.within.saturating_sub(begun.elapsed());
            match retry::wait(failures.tries, kernel::random(), asked, left) {
                Some(wait) => clock::sleep(wait, stop)?,
                None => return Err(failures.timed_out(&url, request.within)),
            }
        }
    }

    /// Asks a URL once and returns the status; a redirect is an answer.
    pub(crate) fn status(&self, request: &FetchRequest<'_>, stop: &StopHandle) -> HostResult<u16> {
        let url = parse(request.url)?;
        let client = self.client(&url, request)?;
        let attempt = attempt::status(&client, url.clone());
        match self.network.wait_for(attempt, request.within, stop)? {
            None => Err(Failures::default().timed_out(&url, request.within)),
            Some(Ok(status)) => Ok(status),
            Some(Err(reason)) => Err(HostError::Fetch {
                url: shown(&url),
                reason,
            }),
        }
    }

    fn client(&self, url: &Url, request: &FetchRequest<'_>) -> HostResult<Client> {
        let authorities = request.authorities;
        let key = (authorities.map(Digest::of), request.trusts_system);
        // Nothing is left half done under this lock, so a panic elsewhere does not spoil it.
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let secure = url.scheme() == "https";
        let (client, complete) = client::build(&self.trust, request, self.proxy.as_ref(), secure)?;
        if complete {
            if clients.len() >= MOST_CLIENTS {
                clients.clear();
            }
            clients.insert(key, client.clone());
        }
        Ok(client)
    }
}

/// The tries so far and what the last one said.
#[derive(Debug, Default)]
struct Failures {
    tries: u32,
    cause: Option<String>,
}

impl Failures {
    fn add(&mut self, cause: String) {
        self.tries = self.tries.saturating_add(1);
        self.cause = Some(cause);
    }

    /// Says that a try failed for good.
    fn last(&self, url: &Url, cause: &str) -> HostError {
        let reason = match self.tries {
            0 => cause.to_owned(),
            before => format!("{cause} (at try {})", before + 1),
        };
        HostError::Fetch {
            url: shown(url),
            reason,
        }
    }

    /// Says that there is no time for another try.
    fn timed_out(&self, url: &Url, within: Duration) -> HostError {
        let url = shown(url);
        let what = match (&self.cause, self.tries) {
            (None, _) => format!("{url} gave no answer and"),
            (Some(cause), 1) => format!("fetching {url}, which failed once ({cause}),"),
            (Some(cause), tries) => {
                format!("fetching {url}, which failed {tries} times (at last: {cause}),")
            }
        };
        HostError::TimedOut { what, within }
    }
}

/// Reads a URL; only the two schemes that are meant are accepted.
fn parse(text: &str) -> HostResult<Url> {
    let bad = |reason: String| HostError::Fetch {
        url: text.to_owned(),
        reason,
    };
    let url = Url::parse(text).map_err(|error| bad(format!("it is not a URL: {error}")))?;
    if matches!(url.scheme(), "http" | "https") {
        return Ok(url);
    }
    Err(bad(format!("{}: is neither http nor https", url.scheme())))
}

/// Writes a URL without what may be secret in it: a password, a signed query.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that cannot have a user at all.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    if url.query().is_some() {
        url.set_query(Some("…"));
    }
    url.set_fragment(None);
    url.to_string().replace("%E2%80%A6", "…")
}

#[cfg(test)]
mod tests;
