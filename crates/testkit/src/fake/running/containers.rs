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

/// How long a kubelet that has seen many failures waits before it starts a container again.
const BACK_OFF: Duration = Duration::from_mins(5);
/// How often a container that is stuck has said why.
const REPEATS: usize = 5;

/// What is left of a failure whose cause is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The container ended, and is started again when the kubelet's back-off is over.
    Ended {
        attempt: u32,
        state: ContainerState,
        line: String,
        again: jiff::Timestamp,
    },
    /// The container runs, with what it read when it was started.
    Stuck { line: String },
}

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
    is_stuck: bool,
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
        let stays = |it: &&Container| {
            let has_ended = matches!(it.state, ContainerState::Exited { .. });
            fails.is_none() && !has_ended && !it.is_stuck
        };
        let first = all.first().filter(stays)?;
        Some(first.since)
    }

    /// Lists the containers of a pod.
    pub(super) fn containers_of(&self, pod: &Pod) -> Vec<Container> {
        let Some(begun) = pod.since else {
            return vec![];
        };
        let stuck = self.stuck(pod);
        let (attempt, since, state, mut line) = self.attempt_of(pod, begun);
        let is_stuck = stuck.is_some();
        line = stuck.unwrap_or(line);
        let containers = pod.containers.iter().map(|(name, _)| Container {
            pod: pod.name.clone(),
            namespace: pod.namespace.clone(),
            name: name.clone(),
            attempt,
            state: state.clone(),
            since,
            line: line.clone(),
            is_stuck,
        });
        containers.collect()
    }

    /// Tells what keeps a pod's containers from their work.
    fn stuck(&self, pod: &Pod) -> Option<String> {
        match &pod.failure {
            Some(Failure::Stuck { line }) => Some(line.clone()),
            _ => self.running.sticks(&pod.name),
        }
    }

    /// Lets pods keep what came of a cause that is about to go.
    pub(super) fn remember_failures(&mut self) {
        let again = self.now.saturating_add(BACK_OFF).unwrap_or(self.now);
        let failure = |pod: &Pod| {
            let first = self.containers_of(pod).into_iter().next()?;
            if first.is_stuck {
                return Some(Failure::Stuck { line: first.line });
            }
            self.running.exits(&pod.name)?;
            let (attempt, state, line) = (first.attempt, first.state, first.line);
            let has_ended = matches!(state, ContainerState::Exited { .. });
            has_ended.then_some(Failure::Ended {
                attempt,
                state,
                line,
                again,
            })
        };
        let pods = self.running.pods.iter();
        let found: Vec<(String, Failure)> = pods
            .filter_map(|(name, pod)| Some((name.clone(), failure(pod)?)))
            .collect();
        for (name, failure) in found {
            if let Some(pod) = self.running.pods.get_mut(&name) {
                pod.failure = Some(failure);
            }
        }
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
        if let Some(Failure::Ended {
            attempt,
            state,
            line,
            again,
        }) = &pod.failure
            && self.running.exits(&pod.name).is_none()
        {
            if self.now < *again {
                return (*attempt, runs_at, state.clone(), line.clone());
            }
            return (attempt + 1, *again, ContainerState::Running, started);
        }
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
        let Some(found) = found else {
            return vec![];
        };
        let times = if found.is_stuck { REPEATS } else { 1 };
        let said = std::iter::repeat_n(found.line, times);
        ["it begins".to_owned()].into_iter().chain(said).collect()
    }
}
