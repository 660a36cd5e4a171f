//! The page at `/`: the pools, what each would serve, and where machines are.
//!
//! It is one document without any request to elsewhere. What it shows comes from `/status`, `/explain`
//! and `/progress`; a browser proves itself by a cookie that holds the token, which is taken for
//! reading these alone and never for a config.

mod assets;
mod cookie;
mod explain;
mod explained;
pub(crate) mod secrets;

pub(crate) use cookie::{Credentials, credentials, header};
pub(crate) use explain::explain;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use explain::pool_of;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http_body_util::{BodyExt as _, Limited};
use hyper::StatusCode;
use hyper::body::Body;
use hyper::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, LOCATION,
    REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};

use crate::answer::{self, Refusal};
use crate::name::Name;
use crate::problem::{Kind, Problem};
use crate::progress::Unreadable;
use crate::reply::Reply;
use crate::site::Site;
use crate::tokens::{Bearer, Purpose, Verdict};

const HTML: &str = "text/html; charset=utf-8";
/// By this a browser says from where a request comes.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// More than any token, with every byte of it escaped.
const LARGEST_FORM: usize = 16 << 10;
/// How long a form may take to come.
const TAKES: Duration = Duration::from_secs(10);

/// Which kinds of answers a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accepts {
    /// It is a browser.
    Html,
    /// Whatever there is.
    Anything,
    /// Something else.
    Other,
}

impl Accepts {
    fn of(headers: &HeaderMap) -> Self {
        let accept = headers.get(ACCEPT).map(HeaderValue::as_bytes);
        let accept = String::from_utf8_lossy(accept.unwrap_or(b"*/*")).to_ascii_lowercase();
        let kinds = accept.split(',').map(|kind| {
            let kind = kind.split(';').next().unwrap_or_default();
            kind.trim().to_owned()
        });
        let kinds: Vec<String> = kinds.collect();
        let has = |wanted: &str| kinds.iter().any(|kind| kind == wanted);
        if has("text/html") || has("text/*") {
            Self::Html
        } else if has("*/*") {
            Self::Anything
        } else {
            Self::Other
        }
    }
}

/// Answers `/`.
pub(crate) fn home(site: &Site, request: &Parts, source: SocketAddr) -> Reply {
    let headers = &request.headers;
    let accepts = Accepts::of(headers);
    let (verdict, bearer) =
        answer::judge(site, Purpose::Read, None, headers, &credentials(headers));
    let is_open = site.gate.tokens().is_none();
    let mut reply = match (answer::refusal(None, verdict), accepts) {
        (Some(refusal), Accepts::Html) => sent_away(site, "page", refusal, source),
        (Some(refusal), _) => answer::refused(site, "page", refusal, source),
        (None, Accepts::Html) => shown(&bearer, is_open),
        (None, Accepts::Anything) if !is_open => shown(&bearer, is_open),
        // Whoever is no browser finds here what OpenShift's server has here: nothing.
        (None, _) => answer::nowhere("page"),
    };
    reply.bearer = bearer;
    reply
}

/// Shows the page to somebody who may see it.
fn shown(bearer: &Bearer, is_open: bool) -> Reply {
    let pools: Vec<&str> = bearer.pools.iter().map(Name::as_str).collect();
    let page = assets::page(&pools, bearer.sees_all, is_open);
    guarded(Reply::new("page", HTML, page))
}

/// Adds what keeps a browser from doing anything but what the page does.
fn guarded(mut reply: Reply) -> Reply {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, assets::policy()),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (X_FRAME_OPTIONS, "DENY"),
    ] {
        reply.headers.push((name, value.to_owned()));
    }
    reply
}

/// Asks for a token, and says what is wrong with the one that was given.
fn sent_away(site: &Site, endpoint: &'static str, refusal: Refusal, source: SocketAddr) -> Reply {
    let said = in_words(refusal.0);
    let problem = answer::counted(site, refusal, source);
    let mut reply = Reply::problem(endpoint, &problem);
    let said = match problem.seconds() {
        Some(seconds) if reply.status == StatusCode::SERVICE_UNAVAILABLE => format!(
            "Too many attempts from your address had no valid token. Wait {seconds} seconds, or \
             give a valid token: that is never held up."
        ),
        _ => said.to_owned(),
    };
    if reply.status != StatusCode::SERVICE_UNAVAILABLE {
        // Other answers make machines ask again, and people wonder.
        reply = Reply::problem(endpoint, &problem.with_status(StatusCode::UNAUTHORIZED));
    }
    as_form(reply, &said)
}

fn as_form(mut reply: Reply, said: &str) -> Reply {
    let form = Reply::new(reply.endpoint, HTML, assets::form(said));
    reply
        .headers
        .retain(|(name, _)| *name != hyper::header::CONTENT_TYPE);
    reply.headers.extend(form.headers);
    reply.body = form.body;
    guarded(reply)
}

/// Says to a person what is wrong with a token. Who comes without one has done nothing wrong.
fn in_words(reason: &str) -> &'static str {
    match reason {
        "missing" => "",
        "malformed" => {
            "This is not a token: it is empty, too long, or has signs that no token has."
        }
        "expired" => "The token has expired. Ask for a new one.",
        "revoked" => "The token was revoked. Ask for a new one.",
        "other-node" => {
            "This token is bound to a node, and a browser cannot send the node's name. Log in with a token that is not bound to a node."
        }
        "unknown" => {
            "The token is not known. If it was written into the tokens file just now, try again in a few seconds."
        }
        _ => "The token is for something else.",
    }
}

/// Answers `/login`: takes a token and makes a cookie of it.
pub(crate) async fn login<B: Body<Error: Into<Unreadable>>>(
    site: &Arc<Site>,
    request: &Parts,
    body: B,
    source: SocketAddr,
) -> Reply {
    if request.method != hyper::Method::POST || site.gate.tokens().is_none() {
        return to_page("login", None);
    }
    if is_foreign(&request.headers) {
        return foreign("login");
    }
    let body = Limited::new(body, LARGEST_FORM).collect();
    let body = match tokio::time::timeout(TAKES, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        _ => Bytes::new(),
    };
    let token = cookie::token_of_form(&body);
    let given = Credentials::Token(token.clone());
    // What comes later comes with the cookie alone, so a token of one node is of no use here.
    let headers = HeaderMap::new();
    let (verdict, bearer) = answer::judge(site, Purpose::Read, None, &headers, &given);
    // Nothing in the field is no token either.
    let verdict = match verdict {
        Verdict::Missing => Verdict::Malformed,
        verdict => verdict,
    };
    let mut reply = match answer::refusal(None, verdict) {
        Some(refusal) => sent_away(site, "login", refusal, source),
        None => to_page("login", Some(cookie::set(&token))),
    };
    reply.bearer = bearer;
    reply
}

/// Answers `/logout`: takes the cookie away.
pub(crate) fn logout(request: &Parts) -> Reply {
    if is_foreign(&request.headers) {
        return foreign("logout");
    }
    to_page("logout", Some(cookie::clear()))
}

/// Tells whether a browser says that another site made it ask.
fn is_foreign(headers: &HeaderMap) -> bool {
    let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
    site.is_some_and(|site| site != b"same-origin" && site != b"none")
}

fn foreign(endpoint: &'static str) -> Reply {
    let detail = "another site made the browser send this";
    let hint = "open the page of this server, and log in there";
    let problem = Problem::new(Kind::Forbidden, detail, hint);
    guarded(Reply::problem(endpoint, &problem))
}

/// Sends a browser to the page.
fn to_page(endpoint: &'static str, cookie: Option<String>) -> Reply {
    let mut reply = Reply::new(endpoint, HTML, Bytes::new());
    reply.status = StatusCode::SEE_OTHER;
    reply.headers.push((LOCATION, "/".into()));
    reply
        .headers
        .extend(cookie.map(|cookie| (SET_COOKIE, cookie)));
    guarded(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_told_from_programs() {
        let accepts = |text: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(text) = text {
                headers.insert(ACCEPT, text.parse().unwrap());
            }
            Accepts::of(&headers)
        };
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        assert_eq!(accepts(Some(browser)), Accepts::Html);
        assert_eq!(accepts(Some("TEXT/HTML ; q=0.1")), Accepts::Html);
        assert_eq!(accepts(Some("text/*")), Accepts::Html);
        assert_eq!(accepts(None), Accepts::Anything);
        assert_eq!(accepts(Some("*/*")), Accepts::Anything);
        assert_eq!(accepts(Some("application/json")), Accepts::Other);
        assert_eq!(accepts(Some("text/html2")), Accepts::Other);
    }
}
