//! The shapes of `bootlace ignition … -o json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `ignition validate -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IgnitionReportView {
    /// The file, or what it was called.
    pub source: String,
    /// The version that it says it is of, if it is one that can be read.
    pub version: Option<String>,
    /// Whether it can be used.
    pub valid: bool,
    /// What is wrong with it, in the order of its text.
    pub findings: Vec<IgnitionFindingView>,
}

/// One finding of [`IgnitionReportView`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IgnitionFindingView {
    /// `error` or `warning`.
    pub severity: String,
    /// The name of the error in Ignition's sources, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is wrong.
    pub message: String,
    /// The path in the config, such as `storage.files.3.mode`.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The byte in the line, counted from 1.
    pub column: u32,
    /// What to change.
    pub advice: String,
}

/// `ignition merge --transcript -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IgnitionTranscriptView {
    /// Every value of the merged config, in order.
    pub values: Vec<IgnitionOriginView>,
}

/// One value of [`IgnitionTranscriptView`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IgnitionOriginView {
    /// Its path in the merged config.
    pub path: String,
    /// The config that it was written in.
    pub source: String,
    /// Its path there.
    pub from: String,
    /// The line there.
    pub line: u32,
    /// The byte in that line.
    pub column: u32,
}
