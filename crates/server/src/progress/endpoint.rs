//! `/progress`: told with POST, read with GET.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::StatusCode;
use hyper::body::Body;
use hyper::header::{ACCEPT, HeaderMap};

use super::{Events, Report};
use crate::disk;
use crate::name::Name;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::sight::Sight;
use crate::site::Site;
use crate::tokens::Bearer;

const ENDPOINT: &str = "progress";
/// How much a machine may tell at a time.
const LARGEST: usize = 16 << 10;
/// How long it may take for that.
const TAKES: Duration = Duration::from_secs(10);
/// What a report looks like.
const SHAPE: &str = r#"send JSON such as {"node": "worker-1", "phase": "pivot", "step": "pull-image", "attempt": 2, "cause": "no route to the registry"}"#;

/// Why a body cannot be read.
pub(crate) type Unreadable = Box<dyn std::error::Error + Send + Sync>;

/// Takes what a machine tells. The bearer is somebody with a valid token.
pub(crate) async fn take<B: Body<Error: Into<Unreadable>>>(
    site: &Site,
    bearer: &Bearer,
    body: B,
    source: SocketAddr,
) -> Reply {
    let refuse = |problem: Problem| Reply::problem(ENDPOINT, &problem);
    let text = match read(body).await {
        Ok(text) => text,
        Err(problem) => return refuse(problem),
    };
    let (report, pool) = match Report::parse(&text, bearer.node.as_deref()) {
        Ok(parsed) => parsed,
        Err(why) => return refuse(bad(&why)),
    };
    if let Some(node) = &bearer.node
        && *node != report.node
    {
        let detail = format!("the token is for the node {node} alone");
        let hint = "leave `node` out, or use the token of the node that this is about";
        return refuse(Problem::new(Kind::Forbidden, detail, hint));
    }
    let pool = match pool_of(site, bearer, pool.as_deref()) {
        Ok(pool) => pool,
        Err(problem) => return refuse(problem),
    };
    let subject = [Some(pool.as_str().to_owned()), None, None];
    let node = report.node.clone();
    site.progress
        .note(&pool, report, source.ip().to_string(), disk::now());
    let mut reply = Reply::new(ENDPOINT, "application/json", Bytes::new());
    reply.status = StatusCode::NO_CONTENT;
    reply.headers.clear();
    reply.subject = subject;
    reply.bearer.node = Some(node);
    reply
}

async fn read<B: Body<Error: Into<Unreadable>>>(body: B) -> Result<Bytes, Problem> {
    let body = Limited::new(body, LARGEST).collect();
    match tokio::time::timeout(TAKES, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err(bad(&format!(
            "it is larger than {} KiB, or was cut off",
            LARGEST >> 10
        ))),
        Err(_) => Err(bad("it takes too long")),
    }
}

fn bad(why: &str) -> Problem {
    Problem::new(
        Kind::BadReport,
        format!("the report cannot be used: {why}"),
        SHAPE,
    )
}

/// Returns the pool that a report is about: that of the token, or the one it names among those.
fn pool_of(site: &Site, bearer: &Bearer, named: Option<&str>) -> Result<Name, Problem> {
    let known = match site.gate.tokens() {
        Some(_) => bearer.pools.clone(),
        None => site.cache.pools().list().unwrap_or_default(),
    };
    match named {
        Some(named) => {
            let mut known = known.into_iter();
            known.find(|pool| pool.as_str() == named).ok_or_else(|| {
                let detail = "the token is not for the pool that the report names";
                let hint = "leave `pool` out, or use a token of that pool";
                Problem::new(Kind::Forbidden, detail, hint)
            })
        }
        None => match &known[..] {
            [pool] => Ok(pool.clone()),
            _ => Err(bad("pool is missing, and there is more than one")),
        },
    }
}

/// Tells where machines are: as a stream of events, or once, to whoever asks for JSON.
pub(crate) fn tell(
    site: &Arc<Site>,
    bearer: &Bearer,
    headers: &HeaderMap,
    source: SocketAddr,
) -> Reply {
    let sight = Sight::of(site, bearer);
    let accept = headers
        .get(ACCEPT)
        .map(hyper::header::HeaderValue::as_bytes);
    let wants_json = accept.is_some_and(|accept| accept.starts_with(b"application/json"));
    if wants_json {
        let nodes = site.progress.list(&sight, disk::now());
        let body = serde_json::json!({ "nodes": nodes });
        return Reply::new(ENDPOINT, "application/json", body.to_string());
    }
    let Some(events) = Events::begin(site, sight, source.ip()) else {
        let detail = "too many read along already, or the server is about to end";
        let problem = Problem::new(Kind::NotReady, detail, "ask again later");
        return Reply::problem(ENDPOINT, &problem.retry_after(5));
    };
    Reply::stream(ENDPOINT, "text/event-stream", events)
}
