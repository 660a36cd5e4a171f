//! Who runs a control plane, and where its components listen.

use serde::{Deserialize, Serialize};

/// Who runs the control plane's static pods.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The kubelet of a machine, in containers.
    #[default]
    Kubelet,
    /// A supervisor, as plain processes whose paths lie below the root.
    Process {
        /// The folders of their programs on this computer, searched in this order before the
        /// system's own.
        programs: Vec<String>,
    },
}

impl Placement {
    /// Tells whether it is the usual one.
    pub fn is_kubelet(&self) -> bool {
        matches!(self, Self::Kubelet)
    }

    /// Returns the folders of the programs, if plain processes run.
    pub fn programs(&self) -> Option<&[String]> {
        match self {
            Self::Kubelet => None,
            Self::Process { programs } => Some(programs),
        }
    }

    /// Reads the placement of a run from the settings that its journal keeps.
    pub fn of_run(config: &serde_json::Value) -> Self {
        let kept = config.get("placement").cloned();
        let read = kept.and_then(|placement| serde_json::from_value(placement).ok());
        read.unwrap_or_default()
    }
}

/// Where the components of the control plane listen, but for the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ports {
    /// etcd, for its clients.
    pub etcd_clients: u16,
    /// etcd, for its other members.
    pub etcd_peers: u16,
    /// etcd, for its health and its numbers, without TLS.
    pub etcd_metrics: u16,
    /// The controller manager.
    pub controller_manager: u16,
    /// The scheduler.
    pub scheduler: u16,
}

impl Default for Ports {
    fn default() -> Self {
        Self {
            etcd_clients: 2379,
            etcd_peers: 2380,
            etcd_metrics: 2381,
            controller_manager: 10257,
            scheduler: 10259,
        }
    }
}

impl Ports {
    /// Lists all of them.
    pub fn all(&self) -> [u16; 5] {
        [
            self.etcd_clients,
            self.etcd_peers,
            self.etcd_metrics,
            self.controller_manager,
            self.scheduler,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Paths, Settings};
    use crate::path::TargetPath;

    #[test]
    fn a_run_tells_who_ran_its_control_plane() {
        let paths = Paths {
            assets: TargetPath::root(),
            state: TargetPath::root(),
        };
        let mut settings = Settings::defaults(paths);
        let kept = |settings: &Settings| serde_json::to_value(settings).unwrap();
        assert_eq!(kept(&settings).get("placement"), None);
        assert_eq!(Placement::of_run(&kept(&settings)), Placement::Kubelet);
        settings.placement = Placement::Process {
            programs: vec!["/opt/programs".into()],
        };
        assert_eq!(Placement::of_run(&kept(&settings)), settings.placement);
    }
}
