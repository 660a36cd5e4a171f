//! Where machines ask for their first config.

use std::time::Duration;

use super::Check;
use crate::config::document::MachineConfigServerDocument;
use crate::config::grammar::address::endpoint;
use crate::config::grammar::duration::{duration, text};
use crate::config::{ControlPlane, MachineConfigServer};

const ENDPOINT: &str = "spec.machineConfigServer.endpoint";
const VALIDITY: &str = "spec.machineConfigServer.tokenValidity";
const PLANE: &str = "spec.controlPlane.endpoint";

const SHORTEST: Duration = Duration::from_mins(1);
const LONGEST: Duration = Duration::from_hours(365 * 24);

const WHY_VALIDITY: &str =
    "whoever finds a token that is still valid gets the config, and its secrets";
const WHY_SHARED: &str = "two servers cannot listen on the same port of one machine";

impl Check<'_> {
    /// Checks the endpoint, alone and beside that of the API, and how long tokens are valid.
    pub(super) fn machine_config_server(
        &mut self,
        document: MachineConfigServerDocument,
        control_plane: Option<&ControlPlane>,
    ) -> Option<MachineConfigServer> {
        let defaults = MachineConfigServer::default();
        let read = |text: &str| endpoint(text).map(Some);
        let reached_at = self.text(ENDPOINT, document.endpoint, defaults.endpoint, read);
        let validity = document.token_validity;
        let validity = self.text(VALIDITY, validity, defaults.token_validity, duration);
        let validity = validity.filter(|validity| self.token_validity_fits(*validity));
        let server = MachineConfigServer {
            endpoint: reached_at?,
            token_validity: validity?,
        };
        if let Some(plane) = control_plane
            && server.reached_at(plane) == plane.endpoint
        {
            let (at, other) = self.later([ENDPOINT, PLANE]);
            let what = format!("{ENDPOINT} and {PLANE} are both {}", plane.endpoint);
            let hint = format!("take another port for one of the two; {other}");
            self.refuse_beside(at, what, WHY_SHARED, hint);
            return None;
        }
        Some(server)
    }

    fn token_validity_fits(&mut self, validity: Duration) -> bool {
        let fits = (SHORTEST..=LONGEST).contains(&validity);
        if !fits {
            let bounds = format!("from {} to {}", text(SHORTEST), text(LONGEST));
            let what = format!("{VALIDITY}: {} is not {bounds}", text(validity));
            let hint = format!("write a duration {bounds}; 24h suits most clusters");
            self.refuse(VALIDITY, what, WHY_VALIDITY, hint);
        }
        fits
    }
}
