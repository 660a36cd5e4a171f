//! What the fake API can be asked: a table of paths and of the functions that answer.

use std::collections::BTreeMap;

use bootlace_engine::port::ApiAnswer;
use bootlace_model::effect::ObjectId;
use serde_json::{Value, json};

use super::super::running::{Component, NODE_NAME};
use super::super::state::State;
use super::kinds::Served;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Api,
    Etcd,
}

/// A question, taken apart.
#[derive(Debug)]
pub(super) struct Question<'a> {
    /// The parts of the path that stand in braces in the table.
    pub(super) found: BTreeMap<&'static str, String>,
    pub(super) query: &'a str,
    pub(super) post: Option<&'a Value>,
}

impl Question<'_> {
    fn part(&self, name: &str) -> Option<&str> {
        self.found.get(name).map(String::as_str)
    }

    /// Tells whether an object has the labels that the query asks for.
    fn selects(&self, object: &Value) -> bool {
        let pairs = self
            .query
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        let mut selectors = pairs.filter(|(name, _)| *name == "labelSelector");
        selectors.all(|(_, wanted)| {
            let wanted = wanted
                .replace("%3D", "=")
                .replace("%2C", ",")
                .replace("%2F", "/");
            wanted.split(',').all(|one| match one.split_once('=') {
                Some((label, value)) => object["metadata"]["labels"][label] == value,
                None => !object["metadata"]["labels"][one].is_null(),
            })
        })
    }
}

/// A row of the table.
pub(super) struct Route {
    pub(super) side: Side,
    path: &'static str,
    pub(super) answer: fn(&mut State, &Question<'_>) -> ApiAnswer,
}

const fn api(path: &'static str, answer: fn(&mut State, &Question<'_>) -> ApiAnswer) -> Route {
    let side = Side::Api;
    Route { side, path, answer }
}

const fn etcd(path: &'static str, answer: fn(&mut State, &Question<'_>) -> ApiAnswer) -> Route {
    let side = Side::Etcd;
    Route { side, path, answer }
}

/// What can be asked; the first row that fits answers.
const TABLE: [Route; 21] = [
    api("/readyz", |state, _| {
        health(state.is_up(Component::ApiServer))
    }),
    api("/livez", |_, _| health(true)),
    api("/livez/ping", |_, _| health(true)),
    api("/healthz", |state, _| {
        health(state.is_up(Component::ApiServer))
    }),
    api("/version", version),
    api("/api", |_, _| {
        found(json!({"kind": "APIVersions", "versions": ["v1"]}))
    }),
    api("/apis", groups),
    api("/api/v1", resources),
    api("/apis/{group}/{version}", resources),
    api("/api/v1/namespaces/{namespace}/{plural}/{name}", one),
    api("/api/v1/namespaces/{namespace}/{plural}", several),
    api("/api/v1/{plural}/{name}", one),
    api("/api/v1/{plural}", several),
    api(
        "/apis/{group}/{version}/namespaces/{namespace}/{plural}/{name}",
        one,
    ),
    api(
        "/apis/{group}/{version}/namespaces/{namespace}/{plural}",
        several,
    ),
    api("/apis/{group}/{version}/{plural}/{name}", one),
    api("/apis/{group}/{version}/{plural}", several),
    etcd("/health", |_, _| {
        found(json!({"health": "true", "reason": ""}))
    }),
    etcd("/v3/cluster/member/list", members),
    etcd("/v3/maintenance/alarm", |_, _| {
        found(json!({"header": {"member_id": "1"}}))
    }),
    etcd("/v3/maintenance/status", |_, _| {
        found(json!({"header": {"member_id": "1"}, "leader": "1", "version": "3.7.3"}))
    }),
];

/// Finds the row for a path, with the parts that its braces stand for.
pub(super) fn find(path: &str) -> Option<(&'static Route, BTreeMap<&'static str, String>)> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    TABLE.iter().find_map(|route| {
        let pattern: Vec<&'static str> = route.path.trim_matches('/').split('/').collect();
        if pattern.len() != parts.len() {
            return None;
        }
        let mut found = BTreeMap::new();
        for (wanted, part) in pattern.into_iter().zip(&parts) {
            match wanted.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
                Some(name) => {
                    found.insert(name, (*part).to_owned());
                }
                None if wanted == *part => {}
                None => return None,
            }
        }
        Some((route, found))
    })
}

fn found(body: Value) -> ApiAnswer {
    ApiAnswer { status: 200, body }
}

/// Says that nothing is there.
pub(super) fn not_found(path: &str) -> ApiAnswer {
    refusal(404, &format!("the server could not find {path}"))
}

fn refusal(status: u16, message: &str) -> ApiAnswer {
    let body = json!({"kind": "Status", "status": "Failure", "code": status, "message": message});
    ApiAnswer { status, body }
}

fn health(is_well: bool) -> ApiAnswer {
    if is_well {
        return found(json!("ok"));
    }
    let body = json!("[+]ping ok\n[-]poststarthook/rbac/bootstrap-roles failed: reason withheld\n");
    ApiAnswer { status: 500, body }
}

fn version(state: &mut State, _: &Question<'_>) -> ApiAnswer {
    found(json!({"major": "1", "minor": "36", "gitVersion": state.api_version()}))
}

fn members(_: &mut State, question: &Question<'_>) -> ApiAnswer {
    if question.post.is_none() {
        return refusal(405, "members are asked for with a POST");
    }
    let urls = |port: u16| json!([format!("https://127.0.0.1:{port}")]);
    found(json!({"header": {"member_id": "1"}, "members": [{
        "ID": "1", "name": NODE_NAME, "peerURLs": urls(2380), "clientURLs": urls(2379),
    }]}))
}

fn groups(state: &mut State, _: &Question<'_>) -> ApiAnswer {
    let mut groups: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for served in state.served() {
        let Some((group, version)) = served.api_version.split_once('/') else {
            continue;
        };
        let entry = json!({"groupVersion": served.api_version, "version": version});
        let versions = groups.entry(group.to_owned()).or_default();
        if !versions.contains(&entry) {
            versions.push(entry);
        }
    }
    let groups = groups.into_iter();
    let groups: Vec<Value> = groups
        .map(|(name, versions)| json!({"name": name, "versions": versions}))
        .collect();
    found(json!({"kind": "APIGroupList", "groups": groups}))
}

fn resources(state: &mut State, question: &Question<'_>) -> ApiAnswer {
    let api_version = api_version(question);
    let served = state.served().into_iter();
    let served = served.filter(|it| it.api_version == api_version);
    let resources: Vec<Value> = served
        .map(|it| json!({"name": it.plural, "kind": it.kind, "namespaced": it.is_namespaced}))
        .collect();
    if resources.is_empty() {
        return not_found(&api_version);
    }
    found(json!({
        "kind": "APIResourceList", "groupVersion": api_version, "resources": resources,
    }))
}

fn api_version(question: &Question<'_>) -> String {
    match (question.part("group"), question.part("version")) {
        (Some(group), Some(version)) => format!("{group}/{version}"),
        _ => "v1".into(),
    }
}

fn served(state: &State, question: &Question<'_>) -> Option<Served> {
    state.served_plural(&api_version(question), question.part("plural")?)
}

fn one(state: &mut State, question: &Question<'_>) -> ApiAnswer {
    let name = question.part("name").unwrap_or_default();
    let Some(served) = served(state, question) else {
        return not_found(question.part("plural").unwrap_or_default());
    };
    let all = state.all_of(&served, question.part("namespace"));
    let object = all.into_iter().find(|it| it["metadata"]["name"] == name);
    let missing = || refusal(404, &format!("{} {name:?} not found", served.plural));
    object.map_or_else(missing, found)
}

fn several(state: &mut State, question: &Question<'_>) -> ApiAnswer {
    let Some(served) = served(state, question) else {
        return not_found(question.part("plural").unwrap_or_default());
    };
    if let Some(content) = question.post {
        return create(state, &served, question, content);
    }
    let mut items = state.all_of(&served, question.part("namespace"));
    items.retain(|item| question.selects(item));
    found(json!({
        "kind": format!("{}List", served.kind), "apiVersion": served.api_version,
        "metadata": {"resourceVersion": "1"}, "items": items,
    }))
}

fn create(
    state: &mut State,
    served: &Served,
    question: &Question<'_>,
    content: &Value,
) -> ApiAnswer {
    let id = ObjectId {
        api_version: served.api_version.clone(),
        kind: served.kind.clone(),
        namespace: question.part("namespace").map(ToOwned::to_owned),
        name: content["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    };
    match state.create(&id, content) {
        Ok(()) => ApiAnswer {
            status: 201,
            body: content.clone(),
        },
        Err((status, message)) => refusal(status, &message),
    }
}
