//! What a test lets be wrong with the fake machine, until it is healed.

use super::{Component, Running};

/// Something that is wrong with the machine; a reboot does not help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ailment {
    /// The root is a folder and not the machine itself.
    NotLive,
    /// A unit can be started, but its process ends again and again.
    UnitLoops {
        /// Which.
        unit: String,
        /// The last line that it logs.
        line: String,
    },
    /// A unit fails for good when it is started.
    UnitFails {
        /// Which.
        unit: String,
        /// The last line that it logs.
        line: String,
    },
    /// The containers of a pod end shortly after each start.
    ContainerExits {
        /// How the pod's name begins.
        pod: String,
        /// The exit code.
        code: i32,
        /// The last line of the log.
        line: String,
    },
    /// The containers of a pod run, and say again and again what keeps them from their work. They read
    /// what is wrong only when they start.
    ContainerStuck {
        /// How the pod's name begins.
        pod: String,
        /// What they say.
        line: String,
    },
    /// The API answers, but never says that it is ready.
    ApiNeverReady,
    /// The API takes every question and answers none.
    ApiSilent,
    /// No service of the cluster answers.
    ServicesDead {
        /// From where.
        from: bootlace_model::expect::Vantage,
    },
    /// The node was not ready for a moment, and its static pods were marked as unready.
    PodsMarked {
        /// When.
        since: jiff::Timestamp,
        /// When the kubelet corrects it.
        until: jiff::Timestamp,
    },
    /// The API's certificate cannot be trusted.
    ApiUntrusted {
        /// Why.
        reason: String,
    },
    /// The API refuses an object.
    ObjectRefused {
        /// The object's name.
        name: String,
        /// Why.
        reason: String,
    },
    /// Somebody else listens on a TCP port.
    PortTaken {
        /// Which.
        port: u16,
        /// Who.
        holder: String,
    },
    /// The disk is almost full.
    LittleRoom {
        /// How many bytes are free.
        bytes: u64,
    },
    /// Swap is in use.
    Swap {
        /// The area.
        area: String,
    },
    /// A control group controller cannot be used.
    ControllerMissing {
        /// Which.
        name: String,
    },
}

/// How a process ends, and its last words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) code: i32,
    pub(crate) line: String,
}

impl Running {
    /// Finds an ailment by a function that takes what it needs from it.
    pub(crate) fn ailing<T>(&self, takes: impl Fn(&Ailment) -> Option<T>) -> Option<T> {
        self.ailments.iter().find_map(takes)
    }

    /// Tells how a unit fails for good, if it does.
    pub(super) fn unit_fails(&self, name: &str) -> Option<String> {
        self.ailing(|ailment| match ailment {
            Ailment::UnitFails { unit, line } if unit == name => Some(line.clone()),
            _ => None,
        })
    }

    /// Tells how a unit loops, if it does.
    pub(super) fn unit_loops(&self, name: &str) -> Option<String> {
        self.ailing(|ailment| match ailment {
            Ailment::UnitLoops { unit, line } if unit == name => Some(line.clone()),
            _ => None,
        })
    }

    /// Tells what keeps the containers of a pod from their work, if something does.
    pub(super) fn sticks(&self, pod_name: &str) -> Option<String> {
        self.ailing(|ailment| match ailment {
            Ailment::ContainerStuck { pod, line } if pod_name.starts_with(pod.as_str()) => {
                Some(line.clone())
            }
            _ => None,
        })
    }

    /// Tells how the containers of a pod end, if they do.
    pub(super) fn exits(&self, pod_name: &str) -> Option<Ending> {
        let ports = Component::of(pod_name).map_or(&[][..], Component::ports);
        self.ailing(|ailment| match ailment {
            Ailment::ContainerExits { pod, code, line } if pod_name.starts_with(pod.as_str()) => {
                let (code, line) = (*code, line.clone());
                Some(Ending { code, line })
            }
            Ailment::PortTaken { port, .. } if ports.contains(port) => {
                let line = format!("listen tcp 0.0.0.0:{port}: bind: address already in use");
                Some(Ending { code: 1, line })
            }
            _ => None,
        })
    }
}
