//! Scripted URLs: what the fake host downloads instead of real files.

use std::collections::VecDeque;
use std::time::Duration;

use bootlace_engine::port::{FetchRequest, HostError, HostResult};

use super::faults::OperationKind;
use super::state::State;

/// What one request gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Nobody listens.
    Refused,
    /// The server answers with this status and nothing useful.
    Status(u16),
}

/// A scripted URL: troubles first, one a request, then the content.
#[derive(Debug, Clone, Default)]
pub(crate) struct Url {
    pub(crate) content: Vec<u8>,
    pub(crate) troubles: VecDeque<Trouble>,
}

/// How long the fake host waits between two tries.
const BETWEEN_TRIES: Duration = Duration::from_secs(1);

impl State {
    /// Downloads a scripted URL, trying again like the real host.
    pub(crate) fn fetch(&mut self, request: &FetchRequest<'_>) -> HostResult<Vec<u8>> {
        let pass = self.begin(OperationKind::Fetch, request.url)?;
        let until = self
            .now
            .saturating_add(request.within)
            .unwrap_or(jiff::Timestamp::MAX);
        let fetched = loop {
            let reason = match self.ask(request.url) {
                Ok(200) => break self.content(request),
                Ok(status) if (400..500).contains(&status) => {
                    break Err(failure(request, format!("the server answers {status}")));
                }
                Ok(status) => format!("the server answers {status}"),
                Err(reason) => reason,
            };
            self.pass_time(BETWEEN_TRIES);
            if self.now >= until {
                break Err(failure(request, reason));
            }
        };
        self.end(pass, fetched)
    }

    /// Asks a scripted URL once.
    pub(crate) fn http_status(&mut self, request: &FetchRequest<'_>) -> HostResult<u16> {
        self.ask(request.url)
            .map_err(|reason| failure(request, reason))
    }

    fn ask(&mut self, url: &str) -> Result<u16, String> {
        self.asked.push_back(url.to_owned());
        let refused = || "the connection is refused".to_owned();
        self.settle();
        let health = port_of(url).and_then(|port| self.health_on(port));
        let Some(scripted) = self.urls.get_mut(url) else {
            return health.ok_or_else(refused);
        };
        match scripted.troubles.pop_front() {
            None => Ok(200),
            Some(Trouble::Status(status)) => Ok(status),
            Some(Trouble::Refused) => Err(refused()),
        }
    }

    fn content(&self, request: &FetchRequest<'_>) -> HostResult<Vec<u8>> {
        let content = self.urls.get(request.url).map(|url| url.content.clone());
        let content = content.unwrap_or_default();
        if content.len() as u64 > request.limit {
            let target = request.url.to_owned();
            return Err(HostError::TooLarge {
                target,
                limit: request.limit,
            });
        }
        Ok(content)
    }
}

/// Returns the port of a URL on this machine itself.
fn port_of(url: &str) -> Option<u16> {
    let (_, rest) = url.split_once("://127.0.0.1:")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

fn failure(request: &FetchRequest<'_>, reason: String) -> HostError {
    HostError::Fetch {
        url: request.url.to_owned(),
        reason,
    }
}
