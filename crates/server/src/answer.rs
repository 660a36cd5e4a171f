//! From a request to its answer.

use std::net::IpAddr;

use hyper::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, IF_NONE_MATCH};
use hyper::{Method, Request};

use crate::cache::View;
use crate::name::Name;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::site::Site;
use crate::tokens::{Bearer, Verdict};
use crate::{accept, disk, status};

/// After how many seconds a machine may ask again with a token that is not known yet.
const TOKEN_MAY_COME: u32 = 5;

/// Answers a request.
pub(crate) async fn answer<B>(site: &Site, request: &Request<B>, source: IpAddr) -> Reply {
    let path = request.uri().path();
    let endpoint = match path {
        "/healthz" => "healthz",
        "/readyz" => "readyz",
        "/status" => "status",
        "/metrics" => "metrics",
        path if path.starts_with("/config/") => "config",
        path if path.starts_with("/layered/") => "layered",
        _ => "other",
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let method = crate::audit::shortened(request.method().as_str());
        let detail = format!("{method} is not known here");
        let problem = Problem::new(Kind::MethodNotAllowed, detail, "ask with GET or HEAD");
        return Reply::problem(endpoint, &problem);
    }
    match endpoint {
        "healthz" => Reply::new(endpoint, "text/plain; charset=utf-8", "ok\n"),
        "readyz" => status::ready(site).await,
        "status" => status::status(site).await,
        "metrics" => status::metrics(site),
        _ => match asked_for(path) {
            Some((view, pool)) => config(site, view, &pool, request.headers(), source).await,
            None => nowhere(endpoint),
        },
    }
}

/// Returns which config a path asks for, and of which pool.
fn asked_for(path: &str) -> Option<(View, Name)> {
    let (view, name) = match path.strip_prefix("/config/") {
        Some(name) => (View::Whole, name),
        None => (View::Layered, path.strip_prefix("/layered/")?),
    };
    Some((view, Name::parse(name)?))
}

fn nowhere(endpoint: &'static str) -> Reply {
    let hint =
        "configs are at /config/POOL and /layered/POOL, where POOL is the plain name of a pool";
    let problem = Problem::new(Kind::NotFound, "there is nothing at this path", hint);
    Reply::problem(endpoint, &problem)
}

/// Answers a request for the config of a pool.
async fn config(
    site: &Site,
    view: View,
    pool: &Name,
    headers: &HeaderMap,
    source: IpAddr,
) -> Reply {
    let endpoint = view.endpoint();
    let (verdict, bearer) = judge(site, pool, headers);
    let mut reply = match refusal(pool, verdict) {
        Some((reason, problem)) => {
            site.metrics.refused(reason);
            let held_up = site.throttle.failed(source, disk::now());
            let problem = held_up.map_or(problem, too_many_failures);
            Reply::problem(endpoint, &problem)
        }
        None => served(site, view, pool, headers).await,
    };
    reply.bearer = bearer;
    reply.subject[0] = Some(pool.as_str().to_owned());
    reply
}

async fn served(site: &Site, view: View, pool: &Name, headers: &HeaderMap) -> Reply {
    let endpoint = view.endpoint();
    let version = match accept::choose(&text(headers, &ACCEPT).unwrap_or_default()) {
        Ok(version) => version,
        Err(unsupported) => {
            let served = accept::SERVED.map(bootlace_ignition::Version::name);
            let detail = format!("Ignition {} is not served", unsupported.asked);
            let hint = format!("ask for one of these: {}", served.join(", "));
            let problem = Problem::new(Kind::UnsupportedVersion, detail, hint);
            return Reply::problem(endpoint, &problem);
        }
    };
    let mut reply = match site.cache.get(pool, view, version).await {
        Ok(served) => {
            let reply = Reply::new(endpoint, "application/json", served.content.clone());
            let held = text(headers, &IF_NONE_MATCH);
            let mut reply = reply.tagged(&served.tag, held.as_deref());
            reply.subject[1] = Some(served.config.clone());
            reply
        }
        Err(problem) => Reply::problem(endpoint, &problem),
    };
    reply.subject[2] = Some(version.name().to_owned());
    reply
}

fn judge(site: &Site, pool: &Name, headers: &HeaderMap) -> (Verdict, Bearer) {
    let Some(tokens) = site.gate.tokens() else {
        return (Verdict::Allowed, Bearer::default());
    };
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let first = given.next();
    if given.next().is_some() {
        return (Verdict::Malformed, Bearer::default());
    }
    tokens.judge(first.map(AsRef::as_ref), pool, disk::now())
}

fn too_many_failures(seconds: u32) -> Problem {
    let detail = "too many requests of this source had no valid token";
    let hint = "ask again later, or with a valid token: that is never held up";
    Problem::new(Kind::TooManyFailures, detail, hint).retry_after(seconds)
}

/// Says no, in a way after which a machine asks again only if that may help.
fn refusal(pool: &Name, verdict: Verdict) -> Option<(&'static str, Problem)> {
    let pool = pool.as_str();
    let never = |detail: String, hint: &str| Problem::new(Kind::Unauthorized, detail, hint);
    let new = "give the machine a new pointer config, with a token of this pool";
    Some(match verdict {
        Verdict::Allowed => return None,
        Verdict::Missing => (
            "missing",
            never(
                "the request has no token".into(),
                "send the header `Authorization: Bearer TOKEN`",
            ),
        ),
        Verdict::Malformed => (
            "malformed",
            never(
                "the header Authorization holds no bearer token".into(),
                "send exactly one header `Authorization: Bearer TOKEN`",
            ),
        ),
        Verdict::Expired => ("expired", never("the token has expired".into(), new)),
        Verdict::OtherPool => (
            "other-pool",
            never(format!("the token is not for the pool {pool}"), new),
        ),
        Verdict::Revoked => ("revoked", never("the token was revoked".into(), new)),
        Verdict::Unknown => {
            let hint =
                "write the token's SHA-256 into the tokens file; it is read again when it changes";
            let problem = Problem::new(Kind::UnknownToken, "the token is not known", hint);
            ("unknown", problem.retry_after(TOKEN_MAY_COME))
        }
    })
}

/// Returns the first header of a name as text.
fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests;
