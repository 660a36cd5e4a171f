//! How a step is taken back, as the journal keeps it.

use serde::{Deserialize, Serialize};

use crate::step::UndoPolicy;

/// How a step is taken back, and why so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RecordedPolicy {
    /// Which policy.
    pub policy: PolicyKind,
    /// Why, unless it is the usual one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The kinds of policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyKind {
    /// By the inverse of each effect.
    Inverse,
    /// Not by itself; what it did stays.
    ForwardOnly,
    /// Neither it nor anything before it.
    PointOfNoReturn,
}

impl From<UndoPolicy> for RecordedPolicy {
    fn from(policy: UndoPolicy) -> Self {
        let (policy, why) = match policy {
            UndoPolicy::Inverse => (PolicyKind::Inverse, ""),
            UndoPolicy::ForwardOnly { why } => (PolicyKind::ForwardOnly, why),
            UndoPolicy::PointOfNoReturn { why } => (PolicyKind::PointOfNoReturn, why),
        };
        Self {
            policy,
            why: why.into(),
        }
    }
}
