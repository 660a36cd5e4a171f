//! What the server tells about itself.

use bootlace_ignition::Version;
use serde_json::{Map, Value, json};

use crate::cache::View;
use crate::progress::Seen;
use crate::reply::Reply;
use crate::site::{Gate, Site};
use crate::{accept, disk};

/// How many machines are listed at a time.
const MOST_NODES: usize = 1_000;

/// Answers `/readyz`: 200 as long as machines can be served, and everything that is wrong in any case.
pub(crate) async fn ready(site: &Site) -> Reply {
    let (problems, is_able) = problems(site).await;
    let body = json!({"ready": is_able, "problems": problems});
    let mut reply = Reply::new("readyz", "application/json", body.to_string());
    if !is_able {
        let hint = "put right what is listed in problems";
        let detail = problems.join("; ");
        let problem = crate::problem::Problem::new(crate::problem::Kind::NotReady, detail, hint);
        reply = Reply::problem("readyz", &problem.retry_after(5));
    }
    reply
}

/// Lists what is wrong, and tells whether machines can be served all the same.
async fn problems(site: &Site) -> (Vec<String>, bool) {
    let mut problems = Vec::new();
    let mut is_able = true;
    if site.drains() {
        problems.push("the server is about to end".to_owned());
        is_able = false;
    }
    if let Some(tokens) = site.gate.tokens()
        && tokens.counts(disk::now()).1 == 0
    {
        problems.push("no token is valid: nobody can be served".to_owned());
        is_able = false;
    }
    if site.identity.expires() < disk::now() {
        problems.push("the certificate has expired".to_owned());
        is_able = false;
    }
    match site.cache.pools().list() {
        Err(error) => {
            problems.push(error);
            is_able = false;
        }
        Ok(pools) => {
            let mut served = 0;
            for pool in &pools {
                match site.cache.get(pool, View::Whole, Version::V3_5).await {
                    Ok(_) => served += 1,
                    Err(problem) => problems.push(problem.detail().to_owned()),
                }
            }
            if served == 0 {
                problems.push("there is no pool that can be served".to_owned());
                is_able = false;
            }
        }
    }
    problems.extend(site.troubles.list());
    problems.extend(site.audit.problem());
    (problems, is_able)
}

/// Answers `/status`: everything, without secrets; machines and pools only to those who may see them.
pub(crate) async fn status(site: &Site, seen: Option<&Seen>) -> Reply {
    let (problems, is_able) = problems(site).await;
    let now = disk::now();
    let tokens = site.gate.tokens().map(|tokens| {
        let (all, valid) = tokens.counts(now);
        json!({"known": all, "valid": valid})
    });
    let mut body = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "ready": is_able,
        "insecure": insecure(site),
        "problems": problems,
        "certificate": {"expires": site.identity.expires().to_string()},
        "tokens": tokens,
        "connections": site.metrics.connections(),
        "audit": {"lost": site.audit.lost()},
        "stalls_after_seconds": site.progress.stalls_after().as_secs(),
    });
    if let Some(seen) = seen {
        // Those who stalled come first: they are the ones that somebody looks for.
        let mut nodes = site.progress.list(seen, now);
        if nodes.len() > MOST_NODES {
            nodes.sort_by_key(|node| !node.stalled);
        }
        body["nodes_total"] = nodes.len().into();
        body["nodes"] = json!(nodes.get(..MOST_NODES).unwrap_or(&nodes));
        body["pools"] = pools(site, seen).await.into();
    } else {
        body["hint"] = "machines and pools are listed for those who send a token".into();
    }
    let body = serde_json::to_vec_pretty(&body).unwrap_or_default();
    Reply::new("status", "application/json", body)
}

/// Lists what is insecure.
pub(crate) fn insecure(site: &Site) -> Vec<&'static str> {
    match site.gate {
        Gate::Tokens(_) => vec![],
        Gate::Open => vec![
            "no authentication: whoever reaches this server gets every config, with the secrets in it",
        ],
    }
}

/// Tells for each pool what is served in which version.
///
/// An etag follows from the whole config. Whoever knows all of it but a short secret could try
/// secrets until the etag fits, so only those get it who may have the config.
async fn pools(site: &Site, seen: &Seen) -> Vec<Value> {
    let mut pools = Vec::new();
    for pool in site.cache.pools().list().unwrap_or_default() {
        let mut versions = Map::new();
        let mut config = None;
        for version in accept::SERVED {
            let told = match site.cache.get(&pool, View::Whole, version).await {
                Ok(served) => {
                    config = Some(served.config.clone());
                    let etag = seen.sees(pool.as_str()).then_some(&served.tag);
                    json!({"bytes": served.content.len(), "etag": etag})
                }
                Err(problem) => {
                    json!({"status": problem.status().as_u16(), "detail": problem.detail()})
                }
            };
            versions.insert(version.name().to_owned(), told);
        }
        pools.push(json!({"name": pool.as_str(), "config": config, "versions": versions}));
    }
    pools
}

/// Answers `/metrics`; machines are counted for those who may see them.
pub(crate) fn metrics(site: &Site, seen: Option<&Seen>) -> Reply {
    let expires = u64::try_from(site.identity.expires().as_second()).unwrap_or(0);
    let mut text = site.metrics.text(&[
        (
            "renders_total",
            "Configs that were rendered.",
            site.cache.renders(),
        ),
        (
            "lost_audit_lines_total",
            "Lines of the audit that could not be written.",
            site.audit.lost(),
        ),
        (
            "certificate_expires_seconds",
            "When the certificate expires.",
            expires,
        ),
        (
            "insecure",
            "How many things are insecure.",
            insecure(site).len() as u64,
        ),
    ]);
    if let Some(seen) = seen {
        crate::metrics::nodes(&mut text, &site.progress.list(seen, disk::now()));
    }
    Reply::new("metrics", "text/plain; version=0.0.4; charset=utf-8", text)
}
