//! How hardened a cluster is.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::grammar::duration;

/// How hardened a cluster is, and how long its first token is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecuritySettings {
    /// Which settings its components get.
    pub profile: SecurityProfile,
    /// How long a bootstrap token is valid, from the moment at which the API server gets it.
    #[serde(serialize_with = "duration::serialize")]
    pub bootstrap_token_validity: Duration,
}

/// Which settings the components of a cluster get.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SecurityProfile {
    /// What the CIS Kubernetes Benchmark asks for.
    #[default]
    Cis,
    /// What Kubernetes and kubeadm do by default.
    Compatible,
}

impl SecurityProfile {
    /// Returns the name that a config knows it by.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cis => "cis",
            Self::Compatible => "compatible",
        }
    }
}

impl SecuritySettings {
    /// Tells whether nothing was said about it.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Tells whether components get what the CIS Kubernetes Benchmark asks for.
    pub fn is_hardened(&self) -> bool {
        self.profile == SecurityProfile::Cis
    }
}

impl Default for SecuritySettings {
    fn default() -> Self {
        Self {
            profile: SecurityProfile::default(),
            bootstrap_token_validity: Duration::from_hours(24),
        }
    }
}
