//! Giving objects to the fake API.

use std::time::Duration;

use bootlace_engine::port::{Applied, ApplyRequest, HasRequest, HostResult};
use bootlace_model::effect::{ApiObject, ObjectId};
use bootlace_model::expect::mark;
use serde_json::Value;

use super::super::running::{Ailment, Component};
use super::super::state::{Pass, State};
use super::kinds::served_kind;
use super::store::{Objects, key, merge};

/// How long the fake waits before it looks again whether the API is ready.
const BETWEEN_TRIES: Duration = Duration::from_millis(50);
/// The namespaces that every API has.
pub(super) const NAMESPACES: [&str; 4] =
    ["default", "kube-node-lease", "kube-public", "kube-system"];

impl State {
    /// Applies objects, or some of them if the operation is disturbed within.
    pub(in super::super) fn apply(
        &mut self,
        request: &ApplyRequest<'_>,
        pass: &Pass,
    ) -> HostResult<Vec<Applied>> {
        let until = self.now.saturating_add(request.within).unwrap_or(self.now);
        while !self.is_up(Component::ApiServer) && self.now < until {
            self.pass_time(BETWEEN_TRIES);
            self.settle();
        }
        self.reach_api(request.credentials)?;
        let mut ordered: Vec<&ApiObject> = request.objects.iter().collect();
        ordered.sort_by_key(|object| match object.id.kind.as_str() {
            "Namespace" => 0,
            "CustomResourceDefinition" => 1,
            _ => 2,
        });
        let most = self.part(pass, ordered.len());
        let mut objects = self.objects();
        let mut applied = Vec::new();
        for object in &ordered[..most] {
            let id = object.id.clone();
            let problem = self.problem_of(&id, &objects);
            if problem.is_none() {
                let there = objects.entry(key(&id)).or_insert(Value::Null);
                merge(there, &object.content);
            }
            let tries = 1;
            applied.push(Applied { id, problem, tries });
        }
        self.keep_objects(&objects)?;
        Ok(applied)
    }

    /// Returns the marks of objects that are there.
    pub(in super::super) fn marks(
        &mut self,
        request: &HasRequest<'_>,
    ) -> HostResult<Vec<Option<String>>> {
        self.keep_silent(request.credentials, request.within)?;
        self.reach_api(request.credentials)?;
        let objects = self.objects();
        let marked = |id: &ObjectId| objects.get(&key(id)).map(mark);
        Ok(request.objects.iter().map(|one| marked(&one.id)).collect())
    }

    /// Creates an object; returns the status and the reason if it is refused.
    pub(super) fn create(&mut self, id: &ObjectId, content: &Value) -> Result<(), (u16, String)> {
        let mut objects = self.objects();
        if let Some(problem) = self.problem_of(id, &objects) {
            return Err((422, problem));
        }
        if objects.contains_key(&key(id)) {
            return Err((409, format!("{id} already exists")));
        }
        objects.insert(key(id), content.clone());
        self.keep_objects(&objects)
            .map_err(|error| (500, error.to_string()))
    }

    fn problem_of(&self, id: &ObjectId, objects: &Objects) -> Option<String> {
        let Some(served) = served_kind(objects, &id.api_version, &id.kind) else {
            let (kind, version) = (&id.kind, &id.api_version);
            return Some(format!(
                "no matches for kind {kind:?} in version {version:?}"
            ));
        };
        match (&id.namespace, served.is_namespaced) {
            (None, true) => return Some(format!("{id} needs a namespace")),
            (Some(_), false) => return Some(format!("{id} cannot have a namespace")),
            (Some(name), true) if !namespace_exists(name, objects) => {
                return Some(format!("namespaces {name:?} not found"));
            }
            _ => {}
        }
        self.running.ailing(|ailment| match ailment {
            Ailment::ObjectRefused { name, reason } if *name == id.name => Some(reason.clone()),
            _ => None,
        })
    }
}

fn namespace_exists(name: &str, objects: &Objects) -> bool {
    let id = ObjectId {
        api_version: "v1".into(),
        kind: "Namespace".into(),
        namespace: None,
        name: name.into(),
    };
    NAMESPACES.contains(&name) || objects.contains_key(&key(&id))
}
