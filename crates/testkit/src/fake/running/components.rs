//! The parts of a control plane, known by the names of their pods.

use std::time::Duration;

use bootlace_engine::port::ContainerState;

use super::super::state::State;
use super::{Ailment, KUBELET};

/// A part of a control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    Etcd,
    ApiServer,
    ControllerManager,
    Scheduler,
    VersionOperator,
}

/// What is known of a component.
struct Row {
    component: Component,
    /// How the names of its pods begin, or what they contain.
    pod: &'static str,
    /// The TCP ports that it listens on.
    ports: &'static [u16],
    /// How long it takes from the start of its container, and of all that it needs, to work.
    takes: Duration,
    needs: &'static [Component],
}

const TABLE: [Row; 5] = [
    Row {
        component: Component::Etcd,
        pod: "etcd",
        ports: &[2379, 2380, 2381],
        takes: Duration::from_millis(150),
        needs: &[],
    },
    Row {
        component: Component::ApiServer,
        pod: "kube-apiserver",
        ports: &[6443],
        takes: Duration::from_millis(250),
        needs: &[Component::Etcd],
    },
    Row {
        component: Component::ControllerManager,
        pod: "kube-controller-manager",
        ports: &[10257],
        takes: Duration::from_millis(80),
        needs: &[Component::ApiServer],
    },
    Row {
        component: Component::Scheduler,
        pod: "kube-scheduler",
        ports: &[10259],
        takes: Duration::from_millis(60),
        needs: &[Component::ApiServer],
    },
    Row {
        component: Component::VersionOperator,
        pod: "version-operator",
        ports: &[],
        takes: Duration::from_millis(100),
        needs: &[Component::ApiServer],
    },
];

/// The kubelet's own ports.
const KUBELET_PORTS: [u16; 2] = [10248, 10250];
/// How long before it is ready the API server listens.
const LISTENS_BEFORE: Duration = Duration::from_millis(120);
/// How long a kubelet needs from an API to a node that is ready.
const REGISTERS: Duration = Duration::from_millis(200);

impl Component {
    fn row(self) -> &'static Row {
        let found = TABLE.iter().find(|row| row.component == self);
        found.unwrap_or(&TABLE[0])
    }

    /// Finds the component that a pod is.
    pub(crate) fn of(pod_name: &str) -> Option<Self> {
        // The operator's pod is called after what it is part of.
        let is = |row: &&Row| match row.component {
            Self::VersionOperator => pod_name.contains(row.pod),
            _ => pod_name.starts_with(row.pod),
        };
        TABLE.iter().find(is).map(|row| row.component)
    }

    /// Lists the TCP ports that it listens on.
    pub(crate) fn ports(self) -> &'static [u16] {
        self.row().ports
    }
}

impl State {
    /// Returns since when a component works, or will work; none if it does not.
    pub(crate) fn component_since(&self, component: Component) -> Option<jiff::Timestamp> {
        let row = component.row();
        let mut since = self.container_since(component)?;
        for needed in row.needs {
            since = since.max(self.component_since(*needed)?);
        }
        since.checked_add(row.takes).ok()
    }

    /// Tells whether a component works now.
    pub(crate) fn is_up(&self, component: Component) -> bool {
        let never = component == Component::ApiServer && self.is_never_ready();
        !never
            && self
                .component_since(component)
                .is_some_and(|at| at <= self.now)
    }

    /// Tells whether the API answers at all.
    pub(crate) fn api_listens(&self) -> bool {
        let since = self.component_since(Component::ApiServer);
        let since = since.and_then(|since| since.checked_sub(LISTENS_BEFORE).ok());
        since.is_some_and(|at| at <= self.now)
    }

    fn is_never_ready(&self) -> bool {
        let never = |ailment: &Ailment| matches!(ailment, Ailment::ApiNeverReady).then_some(());
        self.running.ailing(never).is_some()
    }

    /// Tells whether the kubelet has told the API of this node, and that it is ready.
    pub(crate) fn node_is_ready(&self) -> bool {
        let Some(kubelet) = self.works_since(KUBELET) else {
            return false;
        };
        let Some(api) = self.component_since(Component::ApiServer) else {
            return false;
        };
        let at = kubelet.max(api).checked_add(REGISTERS);
        self.is_up(Component::ApiServer) && at.is_ok_and(|at| at <= self.now)
    }

    /// Names who listens on a TCP port.
    pub(crate) fn port_user(&self, wanted: u16) -> Option<String> {
        let other = self.running.ailing(|ailment| match ailment {
            Ailment::PortTaken { port, holder } if *port == wanted => Some(holder.clone()),
            _ => None,
        });
        if other.is_some() {
            return other;
        }
        if KUBELET_PORTS.contains(&wanted) && self.works_since(KUBELET).is_some() {
            return Some("process 700 (kubelet)".into());
        }
        let row = TABLE.iter().find(|row| row.ports.contains(&wanted))?;
        let runs = self.component_containers(row.component);
        let runs = runs.iter().any(|it| it.state == ContainerState::Running);
        runs.then(|| format!("process 800 ({})", row.pod))
    }

    /// Tells what an endpoint for health answers on a port of this machine; none if nobody does.
    pub(crate) fn health_on(&self, wanted: u16) -> Option<u16> {
        if KUBELET_PORTS.contains(&wanted) {
            return self.works_since(KUBELET).map(|_| 200);
        }
        let row = TABLE.iter().find(|row| row.ports.contains(&wanted))?;
        self.is_up(row.component).then_some(200)
    }
}
