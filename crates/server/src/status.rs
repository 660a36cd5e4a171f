//! What the server tells about itself.

use bootlace_ignition::Version;
use serde_json::{Map, Value, json};

use crate::cache::{Answer, View};
use crate::name::Name;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::sight::Sight;
use crate::site::{Gate, Site};
use crate::{accept, disk};

/// How many machines are listed at a time.
const MOST_NODES: usize = 1_000;

/// Something that is wrong.
struct Trouble {
    about: About,
    what: String,
}

/// What is wrong: it decides who is told.
enum About {
    /// Nothing that has a name, so everybody is told.
    Anybody,
    /// The server, its files and its cluster.
    Server,
    /// A pool.
    Pool(Name),
}

impl Trouble {
    fn new(about: About, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { about, what }
    }
}

/// Answers `/readyz`: 200 as long as machines can be served, and what is wrong in any case.
pub(crate) async fn ready(site: &Site, sight: &Sight) -> Reply {
    let (troubles, is_able) = troubles(site).await;
    let problems = told(troubles, sight);
    if !is_able {
        let hint = "put right what is listed in problems";
        let detail = problems.join("; ");
        let problem = Problem::new(Kind::NotReady, detail, hint);
        return Reply::problem("readyz", &problem.retry_after(5));
    }
    let body = json!({"ready": is_able, "problems": problems});
    Reply::new("readyz", "application/json", body.to_string())
}

/// Lists what is wrong, and tells whether machines can be served all the same.
async fn troubles(site: &Site) -> (Vec<Trouble>, bool) {
    let mut troubles = Vec::new();
    if site.drains() {
        troubles.push(Trouble::new(About::Anybody, "the server is about to end"));
    }
    if let Some(tokens) = site.gate.tokens()
        && tokens.counts(disk::now()).1 == 0
    {
        let what = "no token is valid: nobody can be served";
        troubles.push(Trouble::new(About::Anybody, what));
    }
    if site.identity.expires() < disk::now() {
        let what = "the certificate has expired";
        troubles.push(Trouble::new(About::Anybody, what));
    }
    let mut is_able = troubles.is_empty();
    match site.cache.pools().list() {
        Err(error) => {
            troubles.push(Trouble::new(About::Server, error));
            is_able = false;
        }
        Ok(pools) => {
            let mut served = 0;
            for pool in pools {
                match site.cache.get(&pool, View::Whole, Version::V3_5).await {
                    Ok(_) => served += 1,
                    Err(problem) => {
                        troubles.push(Trouble::new(About::Pool(pool), problem.detail()));
                    }
                }
            }
            if served == 0 {
                let what = "there is no pool that can be served";
                troubles.push(Trouble::new(About::Anybody, what));
                is_able = false;
            }
        }
    }
    let of_server = site.troubles.list().into_iter().chain(site.audit.problem());
    troubles.extend(of_server.map(|what| Trouble::new(About::Server, what)));
    (troubles, is_able)
}

/// Says what is wrong as far as a caller may know; the rest is counted.
fn told(troubles: Vec<Trouble>, sight: &Sight) -> Vec<String> {
    let (mut pools, mut others) = (0, 0);
    let mut told = Vec::new();
    for Trouble { about, what } in troubles {
        match about {
            About::Anybody => told.push(what),
            About::Server if !sight.is_strangers() => told.push(what),
            About::Server => others += 1,
            About::Pool(pool) if sight.may_have(pool.as_str()) => told.push(what),
            About::Pool(pool) if sight.sees(pool.as_str()) => told.push(withheld(&pool)),
            About::Pool(_) => pools += 1,
        }
    }
    if pools > 0 {
        told.push(format!(
            "pools that cannot be served: {pools}; a token of the pool shows the reason"
        ));
    }
    if others > 0 {
        told.push(format!(
            "problems of the server: {others}; any token shows them"
        ));
    }
    told
}

/// Says that a pool cannot be served. The reason may name its config.
pub(crate) fn withheld(pool: &Name) -> String {
    let pool = pool.as_str();
    format!("the pool {pool} cannot be served; a token of the pool shows the reason")
}

/// Answers `/status`: everything, without secrets; machines and pools only to those who may see them.
pub(crate) async fn status(site: &Site, sight: &Sight) -> Reply {
    let (troubles, is_able) = troubles(site).await;
    let now = disk::now();
    let tokens = site.gate.tokens().map(|tokens| {
        let (all, valid) = tokens.counts(now);
        json!({"known": all, "valid": valid})
    });
    let mut body = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "ready": is_able,
        "insecure": insecure(site),
        "problems": told(troubles, sight),
        "certificate": {"expires": site.identity.expires().to_string()},
        "tokens": tokens,
        "connections": site.metrics.connections(),
        "audit": {"lost": site.audit.lost()},
        "stalls_after_seconds": site.progress.stalls_after().as_secs(),
    });
    if sight.is_strangers() {
        body["hint"] = "machines and pools are listed for those who send a token".into();
    } else {
        // Those who stalled come first: they are the ones that somebody looks for.
        let mut nodes = site.progress.list(sight, now);
        if nodes.len() > MOST_NODES {
            nodes.sort_by_key(|node| !node.stalled);
        }
        body["nodes_total"] = nodes.len().into();
        body["nodes"] = json!(nodes.get(..MOST_NODES).unwrap_or(&nodes));
        body["pools"] = pools(site, sight).await.into();
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

/// Tells for each pool that a caller sees what is served in which version.
async fn pools(site: &Site, sight: &Sight) -> Vec<Value> {
    let mut pools = Vec::new();
    let known = site.cache.pools().list().unwrap_or_default();
    for pool in known.iter().filter(|pool| sight.sees(pool.as_str())) {
        let mut versions = Map::new();
        let mut config = None;
        for version in accept::SERVED {
            let answer = site.cache.get(pool, View::Whole, version).await;
            versions.insert(
                version.name().to_owned(),
                told_version(pool, &answer, sight),
            );
            config = config.or(answer.ok().map(|served| served.config.clone()));
        }
        let config = config.filter(|_| sight.may_have(pool.as_str()));
        pools.push(json!({"name": pool.as_str(), "config": config, "versions": versions}));
    }
    pools
}

/// Tells what a pool is served in a version, as far as a caller may know.
pub(crate) fn told_version(pool: &Name, answer: &Answer, sight: &Sight) -> Value {
    let may_have = sight.may_have(pool.as_str());
    match answer {
        Ok(served) if may_have => json!({
            "status": 200,
            "revision": served.revision,
            "bytes": served.content.len(),
            "etag": served.tag,
        }),
        Ok(served) => json!({"status": 200, "revision": served.revision}),
        Err(problem) => {
            let detail = if may_have {
                problem.detail().to_owned()
            } else {
                withheld(pool)
            };
            json!({"status": problem.status().as_u16(), "detail": detail})
        }
    }
}

/// Answers `/metrics`; machines are counted for those who may see them.
pub(crate) fn metrics(site: &Site, sight: &Sight) -> Reply {
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
    if !sight.is_strangers() {
        crate::metrics::nodes(&mut text, &site.progress.list(sight, disk::now()));
    }
    Reply::new("metrics", "text/plain; version=0.0.4; charset=utf-8", text)
}
