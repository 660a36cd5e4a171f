//! The API server and etcd, as far as a rotation talks to them.

use std::time::Duration;

use bootlace_engine::credentials;
use bootlace_engine::port::{
    ApiAnswer, ApiRequest, Credentials, Host, HostError, HostResult, RewriteRequest,
};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::Digest;
use bootlace_steps::key_rotation::{Places, Scan, StoredKeys, loaded_digest};
use serde_json::{Value, json};

use super::GO_ON;

/// How long one answer may take.
const ONE_ANSWER: Duration = Duration::from_mins(1);
/// How long the API server or etcd may give no useful answer, as while one of them restarts.
const SILENT_WITHIN: Duration = Duration::from_mins(5);
/// The wait between two tries.
const PAUSE: Duration = Duration::from_millis(500);
/// How many objects are listed at once: as many of the largest ones as fit into an answer.
const PAGE: u32 = 40;
/// How many refusals are shown.
const MOST_PROBLEMS: usize = 10;

/// The cluster of this machine.
pub(super) struct Cluster<'a> {
    host: &'a dyn Host,
    api: Credentials,
    etcd: Credentials,
}

impl<'a> Cluster<'a> {
    /// Reads the credentials.
    pub(super) fn open(host: &'a dyn Host, places: &Places) -> Result<Self, Fault> {
        Ok(Self {
            host,
            api: credentials(host, &places.api)?,
            etcd: credentials(host, &places.etcd)?,
        })
    }

    /// Counts the API servers, by nodes and by pods.
    pub(super) fn api_servers(&self) -> Result<u64, Fault> {
        let mut most = 0;
        for path in [
            "/api/v1/nodes?labelSelector=node-role.kubernetes.io/control-plane",
            "/api/v1/namespaces/kube-system/pods?labelSelector=component%3Dkube-apiserver",
        ] {
            let answer = self.get(path)?;
            let items = expected(path, &answer)?["items"].as_array();
            most = most.max(items.map_or(0, Vec::len));
        }
        Ok(most as u64)
    }

    /// Counts the members of etcd.
    pub(super) fn etcd_members(&self) -> Result<u64, Fault> {
        let path = "/v3/cluster/member/list";
        let answer = self.ask_etcd(path, &json!({}))?;
        let members = expected(path, &answer)?["members"].as_array();
        Ok(members.map_or(0, Vec::len) as u64)
    }

    /// Tells whether the API server uses an encryption config with this digest.
    pub(super) fn uses(&self, digest: Digest) -> Result<bool, Fault> {
        let path = "/metrics";
        let answer = self.get(path)?;
        let metrics = expected(path, &answer)?.as_str().unwrap_or_default();
        let loaded = loaded_digest(metrics).ok_or_else(|| {
            let message = "the API server does not report which encryption config it has loaded";
            Fault::new(FaultKind::Preflight, message)
                .because("Without that, the command cannot know when the new key is in use.")
                .hint("the metric apiserver_encryption_config_controller_last_config_info is missing: Kubernetes 1.36 has it")
                .hint("the API server needs --encryption-provider-config with this file")
        })?;
        Ok(loaded == digest.to_string())
    }

    /// Counts what etcd holds by the key that encrypted it.
    pub(super) fn stored_keys(&self) -> Result<StoredKeys, Fault> {
        let mut scan = Scan::new();
        while let Some(question) = scan.question() {
            let answer = self.ask_etcd(Scan::PATH, &question)?;
            scan.take(expected(Scan::PATH, &answer)?)?;
        }
        Ok(scan.finish())
    }

    /// Lists the paths of all objects of a resource, such as `secrets` or `tokens.example.com`.
    ///
    /// What is created later is encrypted by the key that the API server uses then.
    pub(super) fn objects(&self, resource: &str) -> Result<Vec<String>, Fault> {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        let Some(base) = self.base_of(group)? else {
            return Ok(vec![]);
        };
        let mut paths = Vec::new();
        let mut after = String::new();
        loop {
            let path = format!("{base}/{plural}?limit={PAGE}{after}");
            let answer = self.get(&path)?;
            match answer.status {
                // The API does not serve it any more.
                404 => return Ok(paths),
                // The list took so long that etcd has forgotten where it began.
                410 => {
                    paths.clear();
                    after.clear();
                    continue;
                }
                _ => {}
            }
            let list = expected(&path, &answer)?;
            let items = list["items"].as_array().map(Vec::as_slice);
            let items = items.unwrap_or_default().iter();
            paths.extend(items.filter_map(|item| object_path(&base, plural, item)));
            match list["metadata"]["continue"].as_str() {
                Some(next) if !next.is_empty() => after = format!("&continue={}", encode(next)),
                _ => return Ok(paths),
            }
        }
    }

    /// Has objects stored again as they are; returns how many. Those deleted since are skipped.
    pub(super) fn rewrite(&self, paths: &[String]) -> Result<u64, Fault> {
        let mut rewritten = 0;
        let mut problems = Vec::new();
        for path in paths {
            let answer = self.patiently(|host| {
                host.rewrite_object(&RewriteRequest {
                    credentials: &self.api,
                    path,
                    within: ONE_ANSWER,
                })
            })?;
            match answer.status {
                200 => rewritten += 1,
                404 => {}
                _ => problems.push(format!("{path}: {}", said(&answer))),
            }
            if problems.len() >= MOST_PROBLEMS {
                break;
            }
        }
        if problems.is_empty() {
            return Ok(rewritten);
        }
        let message = "the API server refuses to rewrite objects";
        let mut fault = Fault::new(FaultKind::StepFailed, message)
            .because("They are still encrypted by the old key, which stays in the file.")
            .hint("look for admission webhooks and policies that reject an empty patch")
            .hint(GO_ON);
        fault.details = problems;
        Err(fault)
    }

    /// Returns the path below which a group's resources are; none if the API does not serve it.
    fn base_of(&self, group: &str) -> Result<Option<String>, Fault> {
        if group.is_empty() {
            return Ok(Some("/api/v1".into()));
        }
        let path = format!("/apis/{group}");
        let answer = self.get(&path)?;
        if answer.status == 404 {
            return Ok(None);
        }
        let version = &expected(&path, &answer)?["preferredVersion"]["groupVersion"];
        Ok(version.as_str().map(|version| format!("/apis/{version}")))
    }

    fn get(&self, path: &str) -> Result<ApiAnswer, Fault> {
        self.ask(&self.api, path, None)
    }

    fn ask_etcd(&self, path: &str, question: &Value) -> Result<ApiAnswer, Fault> {
        self.ask(&self.etcd, path, Some(question))
    }

    fn ask(
        &self,
        credentials: &Credentials,
        path: &str,
        post: Option<&Value>,
    ) -> Result<ApiAnswer, Fault> {
        self.patiently(|host| {
            host.ask_api(&ApiRequest {
                credentials,
                path,
                post,
                within: ONE_ANSWER,
            })
        })
    }

    /// Asks again for as long as that may help.
    fn patiently(
        &self,
        ask: impl Fn(&dyn Host) -> HostResult<ApiAnswer>,
    ) -> Result<ApiAnswer, Fault> {
        let began = self.host.steady();
        loop {
            let problem = match ask(self.host) {
                Ok(answer) if !is_temporary(answer.status) => return Ok(answer),
                Ok(answer) => said(&answer),
                Err(error @ (HostError::Unreachable { .. } | HostError::TimedOut { .. })) => {
                    error.to_string()
                }
                Err(error) => return Err(error.into()),
            };
            if self.host.steady().saturating_sub(began) >= SILENT_WITHIN {
                let minutes = SILENT_WITHIN.as_secs() / 60;
                let message = format!("no useful answer came for {minutes} minutes: {problem}");
                return Err(Fault::new(FaultKind::Deadline, message)
                    .because("The rotation needs the API server and etcd of this machine.")
                    .hint("`bootlace verify cluster` tells what is wrong with the control plane")
                    .hint(GO_ON));
            }
            self.host.sleep(PAUSE)?;
        }
    }
}

/// Tells whether the same question may be answered differently a little later.
fn is_temporary(status: u16) -> bool {
    matches!(status, 409 | 429 | 500 | 502 | 503 | 504)
}

/// Takes the body of an answer that must be a good one.
fn expected<'a>(path: &str, answer: &'a ApiAnswer) -> Result<&'a Value, Fault> {
    if answer.status == 200 {
        return Ok(&answer.body);
    }
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let message = format!("cannot read {path}: {}", said(answer));
    Err(Fault::new(FaultKind::StepFailed, message)
        .because("The rotation must know what is stored, and by which key.")
        .hint("`bootlace verify cluster` tells what is wrong with the control plane")
        .hint(GO_ON))
}

/// Words an answer that is not a good one.
fn said(answer: &ApiAnswer) -> String {
    let message = answer.body["message"].as_str();
    match message.filter(|message| !message.is_empty()) {
        Some(message) => format!("status {}, {message}", answer.status),
        None => format!("status {}", answer.status),
    }
}

fn object_path(base: &str, plural: &str, item: &Value) -> Option<String> {
    let name = encode(item["metadata"]["name"].as_str()?);
    Some(match item["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{base}/namespaces/{}/{plural}/{name}", encode(namespace)),
        None => format!("{base}/{plural}/{name}"),
    })
}

/// Writes a text so that it is one part of a path or one value of a query.
fn encode(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |byte: u8| match byte {
        plain if is_plain(plain) => char::from(plain).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_named_by_where_the_api_has_them() {
        let item = json!({"metadata": {"name": "a:b", "namespace": "n"}});
        let path = object_path("/api/v1", "secrets", &item);
        assert_eq!(path.unwrap(), "/api/v1/namespaces/n/secrets/a%3Ab");
        let item = json!({"metadata": {"name": "x?y"}});
        let path = object_path("/apis/e.com/v1", "tokens", &item);
        assert_eq!(path.unwrap(), "/apis/e.com/v1/tokens/x%3Fy");
        assert_eq!(object_path("/api/v1", "secrets", &json!({})), None);
    }
}
