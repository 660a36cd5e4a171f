//! An answer, before it is put into the words of HTTP.

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, RETRY_AFTER,
    VARY, WWW_AUTHENTICATE,
};
use hyper::{Method, Response, StatusCode};

use crate::problem::Problem;
use crate::progress::Events;
use crate::tokens::Bearer;

/// The body of an answer: whole, or one that goes on.
pub(crate) type Sent = Either<Full<Bytes>, Events>;

/// An answer, and what the audit says about it.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The status.
    pub(crate) status: StatusCode,
    /// The headers.
    pub(crate) headers: Vec<(HeaderName, String)>,
    /// The body.
    pub(crate) body: Bytes,
    /// What goes on after the body, for as long as somebody reads.
    pub(crate) events: Option<Events>,
    /// Under which name it is counted.
    pub(crate) endpoint: &'static str,
    /// Why it is not what was asked for.
    pub(crate) reason: Option<String>,
    /// Who asked.
    pub(crate) bearer: Bearer,
    /// What was asked for: pool, its config, version.
    pub(crate) subject: [Option<String>; 3],
}

impl Reply {
    /// Begins an answer that is what was asked for.
    pub(crate) fn new(endpoint: &'static str, kind: &str, body: impl Into<Bytes>) -> Self {
        Self {
            status: StatusCode::OK,
            headers: vec![(CONTENT_TYPE, kind.to_owned())],
            body: body.into(),
            events: None,
            endpoint,
            reason: None,
            bearer: Bearer::default(),
            subject: [const { None }; 3],
        }
    }

    /// Begins an answer that goes on.
    pub(crate) fn stream(endpoint: &'static str, kind: &str, events: Events) -> Self {
        let mut reply = Self::new(endpoint, kind, Bytes::new());
        reply.headers.push((CACHE_CONTROL, "no-store".into()));
        reply.events = Some(events);
        reply
    }

    /// Begins an answer that is not what was asked for.
    pub(crate) fn problem(endpoint: &'static str, problem: &Problem) -> Self {
        let mut reply = Self::new(endpoint, "application/problem+json", problem.body());
        reply.status = problem.status();
        reply.reason = Some(problem.detail().to_owned());
        if let Some(seconds) = problem.seconds() {
            reply.headers.push((RETRY_AFTER, seconds.to_string()));
        }
        match reply.status {
            StatusCode::METHOD_NOT_ALLOWED => {
                let allowed = match endpoint {
                    "progress" | "login" => "GET, HEAD, POST",
                    "logout" => "POST",
                    _ => "GET, HEAD",
                };
                reply.headers.push((ALLOW, allowed.into()));
            }
            StatusCode::UNAUTHORIZED => {
                reply.headers.push((WWW_AUTHENTICATE, "Bearer".into()));
            }
            _ => {}
        }
        reply
    }

    /// Gives the body a name; who has a body of that name already gets none.
    pub(crate) fn tagged(mut self, tag: &str, held: Option<&str>) -> Self {
        self.headers.push((ETAG, tag.to_owned()));
        self.headers
            .push((CACHE_CONTROL, "private, no-cache".into()));
        self.headers.push((VARY, "Accept, Authorization".into()));
        if held.is_some_and(|held| holds(held, tag)) {
            self.status = StatusCode::NOT_MODIFIED;
            self.body = Bytes::new();
            self.headers.retain(|(name, _)| *name != CONTENT_TYPE);
        }
        self
    }

    /// Tells whether whoever asked has a valid token, whatever came of it.
    pub(crate) fn is_of_valid_token(&self) -> bool {
        self.bearer.sees_all || !self.bearer.pools.is_empty()
    }

    /// Counts the bytes that are sent as a body.
    pub(crate) fn sent(&self, method: &Method) -> u64 {
        if method == Method::HEAD {
            0
        } else {
            self.body.len() as u64
        }
    }

    /// Puts the answer into the words of HTTP. The body of an answer to HEAD is left out by whoever
    /// writes it, but its length is told.
    pub(crate) fn into_response(self) -> Response<Sent> {
        let length = self.body.len();
        let has_length = self.events.is_none()
            && !matches!(
                self.status,
                StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT
            );
        let body = match self.events {
            Some(events) => Either::Right(events),
            None => Either::Left(Full::new(self.body)),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        for (name, value) in self.headers {
            // All values are ours, and none holds a byte that a header cannot.
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
        if has_length {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        response
    }
}

/// Tells whether `If-None-Match` names a tag.
fn holds(held: &str, tag: &str) -> bool {
    let mut names = held.split(',').map(str::trim);
    names.any(|name| name == "*" || name.strip_prefix("W/").unwrap_or(name) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_held_is_not_sent_again() {
        for (held, status) in [
            (None, 200),
            (Some("\"x\""), 200),
            (Some("a"), 200),
            (Some("\"a\""), 304),
            (Some("W/\"a\""), 304),
            (Some("\"b\", \"a\""), 304),
            (Some("*"), 304),
            (Some(""), 200),
        ] {
            let reply = Reply::new("config", "application/json", "{}").tagged("\"a\"", held);
            assert_eq!(reply.status.as_u16(), status, "{held:?}");
            let response = reply.into_response();
            assert_eq!(response.headers()[ETAG], "\"a\"");
            let has_length = response.headers().contains_key(CONTENT_LENGTH);
            assert_eq!(has_length, status == 200);
        }
    }
}
