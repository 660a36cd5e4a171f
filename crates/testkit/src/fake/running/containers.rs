//! Containers of the fake runtime: what each is doing follows from when its pod began.

use std::time::Duration;

use bootlace_engine::port::{ContainerState, ContainerStatus};

use super::super::state::State;
use super::pods::Pod;
use super::{Component, NODE_NAME, RUNTIME};

/// How long a container is made before it runs.
const MAKING: Duration = Duration::from_millis(40);
/// How long a container that fails runs.
const FAILING: Duration = Duration::from_millis(60);
/// How long it takes from one start of a container that fails to the next.
const AGAIN: Duration = Duration::from_millis(400);

/// A container with what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Container {
    pub(crate) pod: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) attempt: u32,
    pub(crate) state: ContainerState,
    /// Since when this attempt runs or will run.
    since: jiff::Timestamp,
    line: String,
}

impl Container {
    pub(super) fn is_running(&self) -> bool {
        self.state == ContainerState::Running
    }

    /// Tells it as the container runtime does.
    pub(crate) fn status(&self) -> ContainerStatus {
        let pod = format!("{}-{NODE_NAME}", self.pod);
        let log = format!(
            "/var/log/pods/{}_{pod}/{}/{}.log",
            self.namespace, self.name, self.attempt
        );
        ContainerStatus {
            id: format!("{pod}.{}.{}", self.name, self.attempt),
            pod: (self.namespace.clone(), pod),
            name: self.name.clone(),
            attempt: self.attempt,
            state: self.state.clone(),
            log,
        }
    }
}

impl State {
    /// Lists all containers; none if no runtime answers.
    pub(crate) fn all_containers(&self) -> Option<Vec<Container>> {
        self.works_since(RUNTIME)?;
        let pods = self.running.pods.values();
        Some(pods.flat_map(|pod| self.containers_of(pod)).collect())
    }

    /// Lists the containers of a component.
    pub(super) fn component_containers(&self, component: Component) -> Vec<Container> {
        let pod = self.pod_of(component);
        pod.map_or(vec![], |pod| self.containers_of(pod))
    }

    /// Returns since when a component's container runs; none if it does not or will not stay.
    pub(super) fn container_since(&self, component: Component) -> Option<jiff::Timestamp> {
        let all = self.component_containers(component);
        let fails = self
            .pod_of(component)
            .and_then(|pod| self.running.exits(&pod.name));
        let first = all.first().filter(|_| fails.is_none())?;
        Some(first.since)
    }

    /// Lists the containers of a pod.
    pub(super) fn containers_of(&self, pod: &Pod) -> Vec<Container> {
        let Some(begun) = pod.since else {
            return vec![];
        };
        let (attempt, since, state, line) = self.attempt_of(pod, begun);
        let containers = pod.containers.iter().map(|(name, _)| Container {
            pod: pod.name.clone(),
            namespace: pod.namespace.clone(),
            name: name.clone(),
            attempt,
            state: state.clone(),
            since,
            line: line.clone(),
        });
        containers.collect()
    }

    fn attempt_of(
        &self,
        pod: &Pod,
        begun: jiff::Timestamp,
    ) -> (u32, jiff::Timestamp, ContainerState, String) {
        let runs_at = begun.saturating_add(MAKING).unwrap_or(begun);
        let age = self.now.duration_since(runs_at);
        if age.is_negative() {
            return (0, runs_at, ContainerState::Created, String::new());
        }
        let started = "it started".to_owned();
        let Some(ending) = self.running.exits(&pod.name) else {
            return (0, runs_at, ContainerState::Running, started);
        };
        let age = age.unsigned_abs();
        let attempt = u32::try_from(age.as_millis() / AGAIN.as_millis()).unwrap_or(u32::MAX);
        let since = runs_at.saturating_add(AGAIN * attempt).unwrap_or(runs_at);
        let into = age.saturating_sub(AGAIN * attempt);
        if into < FAILING {
            return (attempt, since, ContainerState::Running, started);
        }
        let (code, reason) = (ending.code, "Error".to_owned());
        let state = ContainerState::Exited { code, reason };
        (attempt, since, state, ending.line)
    }

    /// Returns the lines of a container's log.
    pub(crate) fn container_lines(&self, id: &str) -> Vec<String> {
        let all = self.all_containers().unwrap_or_default();
        let found = all.into_iter().find(|it| it.status().id == id);
        found.map_or(vec![], |it| vec!["it begins".into(), it.line])
    }
}
