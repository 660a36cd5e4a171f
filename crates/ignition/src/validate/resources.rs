//! Where contents come from: URLs, hashes, headers, and what is fetched before anything else.

use super::Judge;
use crate::node::Node;
use crate::problem::Problem;
use crate::text::data_url;
use crate::text::url::Url;
use crate::version::Version;

/// Judges what a config says about itself and about fetching.
pub(super) fn ignition(judge: &mut Judge, ignition: &Node) {
    let is_first = judge.version == Version::V3_0;
    judge.within(ignition, "config", |judge, config| {
        judge.each(config, "merge", |judge, reference| {
            if !is_first && let Some(problem) = required_source_problem(judge, reference) {
                judge.error(reference, problem);
            }
            self::reference(judge, reference);
        });
        judge.within(config, "replace", reference);
    });
    judge.within(ignition, "proxy", proxy);
    judge.within(ignition, "security", |judge, security| {
        judge.within(security, "tls", |judge, tls| {
            judge.each(tls, "certificateAuthorities", |judge, authority| {
                if is_first {
                    let source = authority.text("source").unwrap_or_default();
                    if let Some(problem) = url_problem(source, judge.version) {
                        judge.error_in(authority, &["source"], problem);
                    }
                    judge.within(authority, "verification", verification);
                    return;
                }
                if let Some(problem) = required_source_problem(judge, authority) {
                    judge.error(authority, problem);
                }
                reference(judge, authority);
            });
        });
    });
}

/// Judges what another config is fetched from.
fn reference(judge: &mut Judge, reference: &Node) {
    if judge.version > Version::V3_0 {
        return resource(judge, reference);
    }
    source(judge, reference);
    judge.within(reference, "verification", verification);
}

/// Judges what contents come from.
pub(super) fn resource(judge: &mut Judge, resource: &Node) {
    if !matches!(resource.text("compression"), None | Some("" | "gzip")) {
        judge.error_in(resource, &["compression"], Problem::CompressionInvalid);
    }
    let hash = resource.find(&["verification", "hash"]);
    if hash.is_some() && resource.text("source").is_none() {
        let problem = Problem::VerificationAndNilSource;
        judge.error_in(resource, &["verification", "hash"], problem);
    }
    source(judge, resource);
    headers(judge, resource);
    judge.within(resource, "verification", verification);
}

fn source(judge: &mut Judge, resource: &Node) {
    let problem = resource
        .some_text("source")
        .and_then(|source| url_problem(source, judge.version));
    if let Some(problem) = problem {
        judge.error_in(resource, &["source"], problem);
    }
}

fn headers(judge: &mut Judge, resource: &Node) {
    if !resource.items("httpHeaders").is_empty() {
        let url = resource.some_text("source").and_then(Url::parse);
        let problem = match url.as_ref().map(|url| url.scheme.as_str()) {
            None => Some(Problem::InvalidUrl),
            Some("http" | "https") => None,
            Some(_) => Some(Problem::UnsupportedSchemeForHttpHeaders),
        };
        if let Some(problem) = problem {
            judge.error_in(resource, &["httpHeaders"], problem);
        }
    }
    judge.each(resource, "httpHeaders", |judge, header| {
        if header.some_text("name").is_none() {
            judge.error_in(header, &["name"], Problem::EmptyHttpHeaderName);
        }
        if header.text("value") == Some("") {
            judge.error_in(header, &["value"], Problem::InvalidHttpHeader);
        }
    });
}

fn verification(judge: &mut Judge, verification: &Node) {
    let Some(hash) = verification.text("hash") else {
        return;
    };
    let problem = match hash.split_once('-') {
        None => Some(Problem::HashMalformed),
        Some(("sha512", sum)) => (sum.len() != 128).then_some(Problem::HashWrongSize),
        Some(("sha256", sum)) if judge.version > Version::V3_0 => {
            (sum.len() != 64).then_some(Problem::HashWrongSize)
        }
        Some(_) => Some(Problem::HashUnrecognized),
    };
    if let Some(problem) = problem {
        judge.error_in(verification, &["hash"], problem);
    }
}

fn required_source_problem(judge: &Judge, resource: &Node) -> Option<Problem> {
    match resource.some_text("source") {
        None => Some(Problem::SourceRequired),
        Some(source) => url_problem(source, judge.version),
    }
}

fn proxy(judge: &mut Judge, proxy: &Node) {
    for (name, is_plain_fine) in [("httpProxy", true), ("httpsProxy", false)] {
        let Some(text) = proxy.text(name) else {
            continue;
        };
        match Url::parse(text).map(|url| url.scheme).as_deref() {
            None => judge.error_in(proxy, &[name], Problem::InvalidUrl),
            Some("https") => {}
            Some("http") if is_plain_fine => {}
            Some("http") => judge.warn_in(proxy, &[name], Problem::InsecureProxy),
            Some(_) => judge.error_in(proxy, &[name], Problem::InvalidProxy),
        }
    }
}

/// Tells what is wrong with the URL of a source, if something is.
pub(super) fn url_problem(text: &str, version: Version) -> Option<Problem> {
    let Some(url) = Url::parse(text) else {
        return Some(Problem::InvalidUrl);
    };
    match url.scheme.as_str() {
        "http" | "https" | "tftp" => None,
        "gs" if version >= Version::V3_2 => None,
        "s3" => version_id_problem(&url),
        "arn" if version >= Version::V3_4 => arn_problem(&url),
        "data" => data_url::decode(text).err().map(Problem::BadDataUrl),
        _ => Some(Problem::InvalidScheme),
    }
}

fn version_id_problem(url: &Url<'_>) -> Option<Problem> {
    let value = url.query_value("versionId");
    value
        .is_some_and(|value| value.is_empty())
        .then_some(Problem::InvalidS3ObjectVersionId)
}

/// Judges the name of an object of S3: `arn:partition:s3:region:account:resource`.
fn arn_problem(url: &Url<'_>) -> Option<Problem> {
    let sections: Vec<&str> = url.opaque.splitn(5, ':').collect();
    let [_, "s3", _, _, resource] = sections.as_slice() else {
        return Some(Problem::InvalidS3Arn);
    };
    let parts = url.opaque.split('/').count();
    let is_access_point = resource.starts_with("accesspoint/");
    if (is_access_point && parts < 3) || parts < 2 {
        return Some(Problem::InvalidS3Arn);
    }
    version_id_problem(url)
}
