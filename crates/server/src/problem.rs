//! What a client is told when it does not get what it asked for: a body that people and programs read.

use hyper::StatusCode;
use serde::Serialize;

/// An answer that is not the one asked for, as `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Problem {
    /// The kind, for programs; the same for ever.
    #[serde(rename = "type")]
    kind: String,
    /// The kind, for people.
    title: &'static str,
    /// The status code.
    status: u16,
    /// What happened.
    detail: String,
    /// What to do about it.
    hint: String,
    /// After how many seconds asking again may help.
    #[serde(skip)]
    retry_after: Option<u32>,
}

/// The kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The version that the client asks for is not served.
    UnsupportedVersion,
    /// The request has no token, or one that never will be valid.
    Unauthorized,
    /// The source failed too often to show a valid token.
    TooManyFailures,
    /// The token is valid, and does not go as far as this.
    Forbidden,
    /// What was sent cannot be read.
    BadReport,
    /// What came is no request.
    Malformed,
    /// The head of the request is too large.
    TooLarge,
    /// There is nothing at that path.
    NotFound,
    /// There is no such pool.
    UnknownPool,
    /// The path is there, the method is not.
    MethodNotAllowed,
    /// The pool's config cannot be said in the version.
    Inexpressible,
    /// The pool cannot be served as long as its files are as they are.
    BrokenPool,
    /// The server does not work as it should.
    NotReady,
    /// The token is not known, and may become so.
    UnknownToken,
}

impl Kind {
    fn parts(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::UnsupportedVersion => (
                StatusCode::BAD_REQUEST,
                "unsupported-version",
                "This version of the Ignition spec is not served",
            ),
            Self::Unauthorized => (
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "The token does not allow this",
            ),
            // Not 429, after which a machine would give up.
            Self::TooManyFailures => (
                StatusCode::SERVICE_UNAVAILABLE,
                "too-many-failures",
                "Too many requests without a valid token",
            ),
            Self::Forbidden => (
                StatusCode::FORBIDDEN,
                "forbidden",
                "The token does not go as far as this",
            ),
            Self::Malformed => (
                StatusCode::BAD_REQUEST,
                "malformed",
                "This is not a request",
            ),
            Self::TooLarge => (
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "too-large",
                "The head of the request is too large",
            ),
            Self::BadReport => (
                StatusCode::BAD_REQUEST,
                "bad-report",
                "The report cannot be used",
            ),
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "not-found",
                "There is nothing at this path",
            ),
            Self::UnknownPool => (
                StatusCode::NOT_FOUND,
                "unknown-pool",
                "There is no such pool",
            ),
            Self::MethodNotAllowed => (
                StatusCode::METHOD_NOT_ALLOWED,
                "method-not-allowed",
                "This path does not know the method",
            ),
            Self::Inexpressible => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "inexpressible",
                "The config cannot be said in this version of the Ignition spec",
            ),
            Self::BrokenPool => (
                StatusCode::SERVICE_UNAVAILABLE,
                "broken-pool",
                "The pool cannot be served",
            ),
            Self::NotReady => (
                StatusCode::SERVICE_UNAVAILABLE,
                "not-ready",
                "The server is not ready",
            ),
            Self::UnknownToken => (
                StatusCode::NETWORK_AUTHENTICATION_REQUIRED,
                "unknown-token",
                "The token is not known yet",
            ),
        }
    }
}

impl Problem {
    /// Begins a problem; what happened and what to do are said in full sentences.
    pub(crate) fn new(kind: Kind, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        let (status, name, title) = kind.parts();
        Self {
            kind: format!("urn:bootlace:problem:{name}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
            hint: hint.into(),
            retry_after: None,
        }
    }

    /// Says after how many seconds asking again may help.
    #[must_use]
    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Answers with another status than the kind's own.
    #[must_use]
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status.as_u16();
        self
    }

    /// Says that it happened, and not why.
    #[must_use]
    pub(crate) fn withheld(self, detail: String) -> Self {
        let hint = "ask with a token of the pool".to_owned();
        Self {
            detail,
            hint,
            ..self
        }
    }

    /// Returns the status code.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Returns what happened.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns after how many seconds asking again may help.
    pub(crate) fn seconds(&self) -> Option<u32> {
        self.retry_after
    }

    /// Returns the body.
    pub(crate) fn body(&self) -> Vec<u8> {
        // Texts and a number: there is nothing in it that could not be written.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_what_happened_and_what_to_do() {
        let problem = Problem::new(Kind::UnknownPool, "there is no pool x", "ask for worker");
        let body: serde_json::Value = serde_json::from_slice(&problem.body()).unwrap();
        assert_eq!(
            body,
            serde_json::json!({
                "type": "urn:bootlace:problem:unknown-pool",
                "title": "There is no such pool",
                "status": 404,
                "detail": "there is no pool x",
                "hint": "ask for worker",
            })
        );
        let kinds = [
            (Kind::UnsupportedVersion, 400),
            (Kind::Unauthorized, 401),
            (Kind::Forbidden, 403),
            (Kind::BadReport, 400),
            (Kind::Malformed, 400),
            (Kind::TooLarge, 431),
            (Kind::NotFound, 404),
            (Kind::MethodNotAllowed, 405),
            (Kind::Inexpressible, 500),
            (Kind::BrokenPool, 503),
            (Kind::NotReady, 503),
            (Kind::UnknownToken, 511),
        ];
        for (kind, status) in kinds {
            assert_eq!(Problem::new(kind, "", "").status().as_u16(), status);
        }
    }
}
