//! `/explain/POOL`: what the pool would serve, for people.

use std::net::SocketAddr;

use bootlace_ignition::Version;
use http::request::Parts;
use hyper::header::{CACHE_CONTROL, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use serde_json::{Value, json};

use super::{credentials, explained};
use crate::accept::SERVED;
use crate::answer;
use crate::cache::View;
use crate::layered;
use crate::name::Name;
use crate::problem::{Kind, Problem};
use crate::rendered::render;
use crate::reply::Reply;
use crate::sight::Sight;
use crate::site::Site;
use crate::status;
use crate::tokens::{Purpose, Verdict};

const ENDPOINT: &str = "explain";
/// How often everything is read again if it changes between being served and being explained.
const ATTEMPTS: usize = 5;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Asked {
    view: View,
    version: Version,
    /// Whether each part is explained, or only what there is.
    is_summary: bool,
}

/// Answers whoever wants to know what a pool serves.
pub(crate) async fn explain(site: &Site, request: &Parts, source: SocketAddr) -> Reply {
    let path = request.uri.path();
    let Some(pool) = pool_of(path) else {
        return answer::nowhere(ENDPOINT);
    };
    let headers = &request.headers;
    let given = credentials(headers);
    let (verdict, bearer) = answer::judge(site, Purpose::Read, Some(&pool), headers, &given);
    let looks = verdict == Verdict::OtherPool && bearer.sees_all || verdict == Verdict::OnlyLooks;
    let refusal = answer::refusal(Some(&pool), verdict).filter(|_| !looks);
    let mut reply = match refusal {
        Some(refusal) => match answer::wrong_name(site, &pool, verdict) {
            Some(problem) => Reply::problem(ENDPOINT, &problem),
            None => answer::refused(site, ENDPOINT, refusal, source),
        },
        None => match asked(request.uri.query().unwrap_or_default()) {
            Ok(asked) => explained(site, &pool, asked, &Sight::of(site, &bearer)).await,
            Err(problem) => Reply::problem(ENDPOINT, &problem),
        },
    };
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        reply.headers.push((name, value.to_owned()));
    }
    reply.bearer = bearer;
    reply.subject[0] = Some(pool.as_str().to_owned());
    reply
}

/// Returns the pool that a path asks to explain.
pub(crate) fn pool_of(path: &str) -> Option<Name> {
    path.strip_prefix("/explain/").and_then(Name::parse)
}

/// Reads the query.
fn asked(query: &str) -> Result<Asked, Problem> {
    let field = |name: &str| {
        let mut fields = query.split('&').filter_map(|field| field.split_once('='));
        fields.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let view = match field("view").unwrap_or("config") {
        "config" => View::Whole,
        "layered" => View::Layered,
        _ => {
            let hint = "ask with view=config or view=layered";
            return Err(Problem::new(Kind::NotFound, "there is no such view", hint));
        }
    };
    let newest = Version::V3_5.name();
    let version = field("version").unwrap_or(newest);
    let version = SERVED.iter().find(|served| served.name() == version);
    let version = *version.ok_or_else(|| {
        let served = SERVED.map(Version::name).join(", ");
        let hint = format!("ask for one of these: {served}");
        Problem::new(Kind::UnsupportedVersion, "this version is not served", hint)
    })?;
    Ok(Asked {
        view,
        version,
        is_summary: field("only") == Some("summary"),
    })
}

/// Explains what a pool serves.
async fn explained(site: &Site, pool: &Name, asked: Asked, sight: &Sight) -> Reply {
    let mut versions = Vec::new();
    for version in SERVED {
        let answer = site.cache.get(pool, asked.view, version).await;
        if let Err(problem) = &answer
            && problem.status() == hyper::StatusCode::NOT_FOUND
        {
            return Reply::problem(ENDPOINT, problem);
        }
        let mut told = status::told_version(pool, &answer, sight);
        told["version"] = version.name().into();
        versions.push(told);
    }
    let mut body = json!({
        "pool": pool.as_str(),
        "view": asked.view.endpoint(),
        "version": asked.version.name(),
        "versions": versions,
    });
    let mut config = None;
    let may_have = sight.may_have(pool.as_str());
    match parts(site, pool, asked, may_have).await {
        Ok((parts, of_config)) => {
            for (name, value) in parts.as_object().into_iter().flatten() {
                body[name] = value.clone();
            }
            config = Some(of_config);
        }
        Err(problem) => {
            let problem = if may_have {
                problem
            } else {
                problem.withheld(status::withheld(pool))
            };
            // The body of a problem is JSON.
            body["problem"] = serde_json::from_slice(&problem.body()).unwrap_or_default();
        }
    }
    let mut reply = Reply::new(ENDPOINT, "application/json", body.to_string());
    reply.subject[1] = config;
    reply.subject[2] = Some(asked.version.name().to_owned());
    reply
}

/// Reads a pool again and explains it, until that is exactly what is served; returns the name of its
/// config, too.
async fn parts(
    site: &Site,
    pool: &Name,
    asked: Asked,
    may_have: bool,
) -> Result<(Value, String), Problem> {
    for _ in 0..ATTEMPTS {
        let served = site.cache.get(pool, asked.view, asked.version).await?;
        let (pools, pool) = (site.cache.pools().clone(), pool.clone());
        let content = served.content.clone();
        let made = tokio::task::spawn_blocking(move || {
            let source = pools.read(&pool).source.ok()?;
            let rendered = match asked.view {
                View::Whole => render(&source, asked.version),
                View::Layered => layered::render(&source, asked.version),
            };
            let rendered = rendered.ok().filter(|rendered| *rendered == content)?;
            let config: Value = serde_json::from_slice(&rendered).ok()?;
            let parts = explained::explain(&source, asked.view, asked.version, &config);
            parts.ok()
        });
        if let Ok(Some(mut parts)) = made.await {
            if asked.is_summary {
                parts = json!({ "image": parts["image"] });
            }
            if may_have {
                parts["config"] = served.config.clone().into();
                parts["etag"] = served.tag.clone().into();
                parts["bytes"] = served.content.len().into();
            } else {
                explained::withhold(&mut parts);
            }
            return Ok((parts, served.config.clone()));
        }
    }
    let detail = format!("the pool {} changes all the time", pool.as_str());
    Err(Problem::new(Kind::BrokenPool, detail, "ask again").retry_after(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_view_and_version() {
        let asked =
            |query: &str| asked(query).map(|asked| (asked.view, asked.version, asked.is_summary));
        assert_eq!(asked("").unwrap(), (View::Whole, Version::V3_5, false));
        assert_eq!(
            asked("view=layered&version=3.2.0&only=summary").unwrap(),
            (View::Layered, Version::V3_2, true)
        );
        assert_eq!(asked("view=x").unwrap_err().status(), 404);
        for bad in ["version=3.6.0", "version=", "version=3.4", "version=4.0.0"] {
            assert_eq!(asked(bad).unwrap_err().status(), 400, "{bad}");
        }
    }
}
