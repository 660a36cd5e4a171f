//! What had failed before a wait began: that is known, and no reason to end the wait.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bootlace_model::effect::{Await, Product, UnitName};
use bootlace_model::fault::Fault;
use bootlace_model::symptom::Symptom;

use super::containers;
use crate::effects::run_program;
use crate::port::{Command, ContainerState, ContainerStatus, Host};
use crate::{claims, waiting};

/// How long a unit may take to stop or start, and its pods to go.
const AFRESH: Duration = Duration::from_mins(2);

/// What was there when a wait began.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    /// When the wait began, by the clock that objects of an API are dated with.
    pub(super) began: jiff::Timestamp,
    /// The same moment, by the clock that nothing sets.
    pub(super) began_steady: Duration,
    /// Containers that had ended, by id.
    ended: BTreeSet<String>,
    /// The first start of each container that belongs to this wait.
    first: BTreeMap<ContainerName, u32>,
    /// How often systemd had restarted a unit.
    restarts: BTreeMap<UnitName, u32>,
}

/// The names of a pod's namespace, a pod and a container.
type ContainerName = (String, String, String);

fn name_of(container: &ContainerStatus) -> ContainerName {
    let (namespace, pod) = container.pod.clone();
    (namespace, pod, container.name.clone())
}

impl Earlier {
    /// Looks at the units and containers that could end a wait.
    pub(crate) fn look(host: &dyn Host, symptoms: &[Symptom]) -> Result<Self, Fault> {
        let mut earlier = Self {
            began: host.now(),
            began_steady: host.steady(),
            ..Self::default()
        };
        for symptom in symptoms {
            if let Symptom::UnitFails(unit) = symptom {
                let restarts = host.unit(unit)?.restarts;
                earlier.restarts.insert(unit.clone(), restarts);
            }
        }
        let of_containers = |symptom: &Symptom| matches!(symptom, Symptom::ContainersFail(_));
        if !symptoms.iter().any(of_containers) {
            return Ok(earlier);
        }
        for container in host.containers()?.unwrap_or_default() {
            let has_ended = matches!(container.state, ContainerState::Exited { .. });
            let next = container.attempt + u32::from(has_ended);
            let first = earlier.first.entry(name_of(&container)).or_default();
            *first = next.max(*first);
            if has_ended {
                earlier.ended.insert(container.id);
            }
        }
        Ok(earlier)
    }

    /// Tells whether a container had ended before.
    pub(super) fn knows(&self, container: &ContainerStatus) -> bool {
        self.ended.contains(&container.id)
    }

    /// Tells whether a container was started more than once in this wait.
    pub(super) fn was_repeated(&self, container: &ContainerStatus) -> bool {
        let first = self.first.get(&name_of(container));
        container.attempt > first.copied().unwrap_or_default()
    }

    /// Tells how often systemd restarted a unit in this wait.
    pub(super) fn restarts_since(&self, unit: &UnitName, restarts: u32) -> u32 {
        let before = self.restarts.get(unit).copied().unwrap_or_default();
        // Whoever starts a unit by hand lets systemd count from nought again.
        restarts.checked_sub(before).unwrap_or(restarts)
    }
}

/// Starts pods afresh that failed before: whoever runs them waits longer after every failure, and those
/// that did not fail may still hold what was wrong in the files that they read.
pub(crate) fn start_afresh(host: &dyn Host, wait: &Await) -> Result<(), Fault> {
    for symptom in &wait.symptoms {
        let Symptom::ContainersFail(signs) = symptom else {
            continue;
        };
        let Some(runner) = &signs.runner else {
            continue;
        };
        let finding = claims::evaluate_within(host, &wait.claim, waiting::BRIEFLY)?;
        let is_hopeless = finding.hopeless;
        if is_hopeless || containers::any_stuck(host, signs)? {
            restart_with_pods(host, runner)?;
        }
    }
    Ok(())
}

fn restart_with_pods(host: &dyn Host, runner: &UnitName) -> Result<(), Fault> {
    let argv = ["systemctl", "stop", "--", runner.as_str()].map(ToOwned::to_owned);
    let stop = Command {
        argv: &argv,
        env: vec![],
        directory: None,
        within: AFRESH,
        keep: 4096,
        input: None,
    };
    run_program(host, &stop)?;
    host.remove_product(&Product::Pods, AFRESH)?;
    Ok(host.start_unit(runner, false, AFRESH)?)
}
