//! From a request to its answer.

use std::net::SocketAddr;
use std::sync::Arc;

use http::request::Parts;
use hyper::body::Body;
use hyper::header::{ACCEPT, HeaderMap, HeaderName, IF_NONE_MATCH};
use hyper::{Method, StatusCode};

use crate::cache::{self, View};
use crate::name::Name;
use crate::page::Credentials;
use crate::problem::{Kind, Problem};
use crate::progress::Unreadable;
use crate::reply::Reply;
use crate::sight::Sight;
use crate::site::Site;
use crate::tokens::{Bearer, Purpose, Verdict};
use crate::{accept, disk, page, progress, status};

/// After how many seconds a machine may ask again with a token that is not known yet.
const TOKEN_MAY_COME: u32 = 5;

/// The header by which a machine says who it is; with a token of one node it has to.
const NODE: HeaderName = HeaderName::from_static("bootlace-node");

/// Answers a request.
pub(crate) async fn answer<B: Body<Error: Into<Unreadable>>>(
    site: &Arc<Site>,
    request: &Parts,
    body: B,
    source: SocketAddr,
) -> Reply {
    let path = request.uri.path();
    let endpoint = endpoint(path);
    let is_known = match request.method {
        Method::GET | Method::HEAD => endpoint != "logout",
        Method::POST => matches!(endpoint, "progress" | "login" | "logout"),
        _ => false,
    };
    if !is_known {
        return wrong_method(endpoint, &request.method);
    }
    match endpoint {
        "healthz" => Reply::new(endpoint, "text/plain; charset=utf-8", "ok\n"),
        // Whoever looks after the server asks without a token, or with one that has expired.
        "readyz" => status::ready(site, &sight(site, request).unwrap_or_default()).await,
        "status" | "metrics" => match sight(site, request) {
            Ok(sight) if endpoint == "status" => status::status(site, &sight).await,
            Ok(sight) => status::metrics(site, &sight),
            Err(refusal) => refused(site, endpoint, refusal, source),
        },
        "progress" => progress(site, request, body, source).await,
        "page" => page::home(site, request, source),
        "login" => page::login(site, request, body, source).await,
        "logout" => page::logout(request),
        "explain" => page::explain(site, request, source).await,
        _ => match asked_for(path) {
            Some((view, pool)) => config(site, view, &pool, request, source).await,
            None => nowhere(endpoint),
        },
    }
}

/// Returns the endpoint that a path belongs to.
pub(crate) fn endpoint(path: &str) -> &'static str {
    match path {
        "/healthz" => "healthz",
        "/readyz" => "readyz",
        "/status" => "status",
        "/metrics" => "metrics",
        "/progress" => "progress",
        "/" => "page",
        "/login" => "login",
        "/logout" => "logout",
        path if path.starts_with("/explain/") => "explain",
        path if path.starts_with("/config/") => "config",
        path if path.starts_with("/layered/") => "layered",
        _ => "other",
    }
}

fn wrong_method(endpoint: &'static str, method: &Method) -> Reply {
    let method = crate::audit::shortened(method.as_str());
    let detail = format!("{method} is not known here");
    let hint = if endpoint == "logout" {
        "ask with POST"
    } else {
        "ask with GET or HEAD"
    };
    let problem = Problem::new(Kind::MethodNotAllowed, detail, hint);
    Reply::problem(endpoint, &problem)
}

/// Answers whoever tells where a machine is, or wants to know.
async fn progress<B: Body<Error: Into<Unreadable>>>(
    site: &Arc<Site>,
    request: &Parts,
    body: B,
    source: SocketAddr,
) -> Reply {
    // Whoever tells something is a machine, and machines have no cookies.
    let (purpose, credentials) = if request.method == Method::POST {
        (Purpose::Report, page::header(&request.headers))
    } else {
        (Purpose::Read, page::credentials(&request.headers))
    };
    let (verdict, bearer) = judge(site, purpose, None, &request.headers, &credentials);
    let mut reply = match refusal(None, verdict) {
        Some(refusal) => refused(site, "progress", refusal, source),
        None if request.method == Method::POST => progress::take(site, &bearer, body, source).await,
        None => progress::tell(site, &bearer, &request.headers, source),
    };
    let node = reply.bearer.node.take();
    reply.bearer = bearer;
    reply.bearer.node = reply.bearer.node.or(node);
    reply
}

/// Tells what a caller may see; without a token that is what strangers see, and a bad one is refused.
fn sight(site: &Site, request: &Parts) -> Result<Sight, Refusal> {
    let credentials = page::credentials(&request.headers);
    let (verdict, bearer) = judge(site, Purpose::Read, None, &request.headers, &credentials);
    match refusal(None, verdict) {
        None => Ok(Sight::of(site, &bearer)),
        Some(_) if verdict == Verdict::Missing => Ok(Sight::default()),
        Some(refusal) => Err(refusal),
    }
}

/// Returns which config a path asks for, and of which pool.
pub(crate) fn asked_for(path: &str) -> Option<(View, Name)> {
    let (view, name) = match path.strip_prefix("/config/") {
        Some(name) => (View::Whole, name),
        None => (View::Layered, path.strip_prefix("/layered/")?),
    };
    Some((view, Name::parse(name)?))
}

/// Says that there is nothing.
pub(crate) fn nowhere(endpoint: &'static str) -> Reply {
    let hint =
        "configs are at /config/POOL and /layered/POOL, where POOL is the plain name of a pool";
    let problem = Problem::new(Kind::NotFound, "there is nothing at this path", hint);
    Reply::problem(endpoint, &problem)
}

/// Why somebody is not let in: in one word, and in full.
pub(crate) type Refusal = (&'static str, Problem);

/// Says no; to a source that is told so too often, later.
pub(crate) fn refused(
    site: &Site,
    endpoint: &'static str,
    refusal: Refusal,
    source: SocketAddr,
) -> Reply {
    Reply::problem(endpoint, &counted(site, refusal, source))
}

/// Counts a refusal, and returns what is said to the source.
pub(crate) fn counted(site: &Site, (reason, problem): Refusal, source: SocketAddr) -> Problem {
    site.metrics.refused(reason);
    let held_up = site.throttle.failed(source.ip(), disk::now());
    held_up.map_or(problem, too_many_failures)
}

/// Answers a request for the config of a pool.
async fn config(
    site: &Site,
    view: View,
    pool: &Name,
    request: &Parts,
    source: SocketAddr,
) -> Reply {
    let headers = &request.headers;
    let given = page::header(headers);
    let (verdict, bearer) = judge(site, Purpose::Read, Some(pool), headers, &given);
    let mut reply = match refusal(Some(pool), verdict) {
        None => served(site, view, pool, headers).await,
        Some(refusal) => match wrong_name(site, pool, verdict) {
            Some(problem) => Reply::problem(view.endpoint(), &problem),
            None => refused(site, view.endpoint(), refusal, source),
        },
    };
    if let Some(node) = &bearer.node
        && reply.status == StatusCode::OK
        && request.method == Method::GET
    {
        site.progress
            .fetched(pool, node, source.ip().to_string(), disk::now());
    }
    reply.bearer = bearer;
    reply.subject[0] = Some(pool.as_str().to_owned());
    reply
}

/// Tells whoever has a valid token, though not of this pool, that the name of the pool is wrong.
///
/// That is all that comes of it: a pool whose file is being replaced is unknown for a moment, too, and
/// what it served until then is for its own tokens alone.
pub(crate) fn wrong_name(site: &Site, pool: &Name, verdict: Verdict) -> Option<Problem> {
    if !matches!(verdict, Verdict::OtherPool | Verdict::OnlyLooks) {
        return None;
    }
    let known = site.cache.pools().list().ok()?;
    (!known.contains(pool)).then(|| cache::unknown(pool, &known))
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

/// Judges what a client proves itself by, for a pool or any; it may say which node it is.
pub(crate) fn judge(
    site: &Site,
    purpose: Purpose,
    pool: Option<&Name>,
    headers: &HeaderMap,
    credentials: &Credentials,
) -> (Verdict, Bearer) {
    let Some(tokens) = site.gate.tokens() else {
        return (Verdict::Allowed, Bearer::default());
    };
    let node = headers.get(NODE).map(AsRef::as_ref);
    let header = credentials.as_header();
    tokens.judge(purpose, header.as_deref(), pool, node, disk::now())
}

fn too_many_failures(seconds: u32) -> Problem {
    let detail = "too many requests of this source had no valid token";
    let hint = "ask again later, or with a valid token: that is never held up";
    Problem::new(Kind::TooManyFailures, detail, hint).retry_after(seconds)
}

/// Says no, in a way after which a machine asks again only if that may help.
pub(crate) fn refusal(pool: Option<&Name>, verdict: Verdict) -> Option<Refusal> {
    let pool = pool.map_or("that is asked for", Name::as_str);
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
        Verdict::OnlyLooks => (
            "other-pool",
            never(
                "the token has the pool `*`: it sees all machines, and gets no config".into(),
                &format!("send a token that tokens.yaml lists with `pool: {pool}`"),
            ),
        ),
        Verdict::OtherNode => (
            "other-node",
            never(
                "the token is for another node".into(),
                "give each machine its own pointer config",
            ),
        ),
        Verdict::NoNode => (
            "other-node",
            never(
                "the token is for one node, and the request does not say which it comes from"
                    .into(),
                "send the header `Bootlace-Node: NAME`; a pointer config has it in httpHeaders",
            ),
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
