//! How hardened a cluster is.

use std::time::Duration;

use super::Check;
use crate::config::SecuritySettings;
use crate::config::document::SecurityDocument;
use crate::config::grammar::duration::{duration, text};

const VALIDITY: &str = "spec.security.bootstrapTokenValidity";

const SHORTEST: Duration = Duration::from_mins(10);
const LONGEST: Duration = Duration::from_hours(30 * 24);

const WHY: &str = "a machine joins the cluster with any bootstrap token that is still valid";

impl Check<'_> {
    /// Checks how long bootstrap tokens are valid.
    pub(super) fn security(&mut self, document: SecurityDocument) -> Option<SecuritySettings> {
        let defaults = SecuritySettings::default();
        let validity = self.text(
            VALIDITY,
            document.bootstrap_token_validity,
            defaults.bootstrap_token_validity,
            duration,
        )?;
        if !(SHORTEST..=LONGEST).contains(&validity) {
            let bounds = format!("from {} to {}", text(SHORTEST), text(LONGEST));
            let what = format!("{VALIDITY}: {} is not {bounds}", text(validity));
            let hint = format!("write a duration {bounds}; 24h suits most clusters");
            self.refuse(VALIDITY, what, WHY, hint);
            return None;
        }
        Some(SecuritySettings {
            profile: document.profile.unwrap_or(defaults.profile),
            bootstrap_token_validity: validity,
        })
    }
}
