//! The server from which further machines take their first config.

use std::time::Duration;

use serde::Serialize;

use super::grammar::duration;
use super::settings::{ControlPlane, Endpoint};

/// Where machines ask for their first config, and for how long they may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineConfigServer {
    /// Where it answers; the host of the control plane's endpoint if none is given.
    pub endpoint: Option<Endpoint>,
    /// How long tokens are valid.
    #[serde(serialize_with = "duration::serialize")]
    pub token_validity: Duration,
}

impl MachineConfigServer {
    /// The port at which machines expect it.
    pub const PORT: u16 = 22623;

    /// Tells whether nothing was said about it.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns where machines ask.
    pub fn reached_at(&self, control_plane: &ControlPlane) -> Endpoint {
        self.endpoint.clone().unwrap_or_else(|| Endpoint {
            host: control_plane.endpoint.host.clone(),
            port: Self::PORT,
        })
    }
}

impl Default for MachineConfigServer {
    fn default() -> Self {
        Self {
            endpoint: None,
            token_validity: Duration::from_hours(24),
        }
    }
}
