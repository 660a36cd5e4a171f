//! The shapes of `-o json`. People's scripts read them: fields are added, never changed.

mod ignition;

pub use ignition::{
    IgnitionFindingView, IgnitionOriginView, IgnitionReportView, IgnitionTranscriptView,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::effect::EffectKind;
use crate::fault::Fault;
use crate::replay::Unknown;

/// `explain -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainView {
    /// The sequence's name.
    pub sequence: String,
    /// The chosen steps, in order.
    pub steps: Vec<ExplainedStep>,
    /// What the codes of those steps' known failures mean.
    #[serde(default)]
    pub failures: Vec<ExplainedFailure>,
}

/// What a code of [`ExplainedStep::failures`] means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedFailure {
    /// The code, such as `F-30`.
    pub code: String,
    /// How it shows.
    pub shows: String,
    /// Where it comes from.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}

/// One step of [`ExplainView`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedStep {
    /// The step's name within the sequence.
    pub id: String,
    /// A line that names the act.
    pub title: String,
    /// Why the step exists.
    pub why: String,
    /// What it reads.
    pub reads: Vec<String>,
    /// What it writes.
    pub writes: Vec<String>,
    /// What a person would type.
    pub command: String,
    /// What must hold afterwards.
    pub expects: Vec<ExplainedExpectation>,
    /// How it is taken back.
    pub undo: ExplainedUndo,
    /// Codes of the failures that are known for it.
    pub failures: Vec<String>,
    /// The steps whose verified results it needs.
    pub needs: Vec<String>,
    /// Whether it can run yet.
    pub built: bool,
    /// What is looked at before it may begin.
    #[serde(default)]
    pub checks: Vec<ExplainedCheck>,
}

/// One check of [`ExplainedStep`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedCheck {
    /// The name by which `--ignore-preflight-errors` knows it.
    pub name: String,
    /// Why the step would fail, or do harm, otherwise.
    pub why: String,
    /// What to do about it.
    pub hint: String,
}

/// One expectation of [`ExplainedStep`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedExpectation {
    /// What must hold.
    pub what: String,
    /// How long it may take.
    pub within_seconds: u64,
    /// Why it matters.
    pub because: String,
    /// The step after which it need not hold any more.
    pub until: Option<String>,
    /// What ends the wait for it at once, because a cause is visible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unless: Vec<String>,
    /// Whether only `verify` looks at it, and a run does not wait for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verify_only: bool,
}

/// How a step is taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedUndo {
    /// `inverse`, `forward-only` or `point-of-no-return`.
    pub policy: String,
    /// Why.
    pub why: String,
}

/// `plan -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanView {
    /// The sequence's name.
    pub sequence: String,
    /// What it comes to, in a sentence or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The chosen steps, in order.
    pub steps: Vec<PlannedStep>,
}

/// One step of [`PlanView`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedStep {
    /// The step's name within the sequence.
    pub id: String,
    /// Where it stands.
    pub state: PlannedState,
    /// The effects that are still missing.
    pub effects: Vec<PlannedEffect>,
    /// Why it is skipped or unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Where a planned step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlannedState {
    /// Nothing is missing, and the journal says that it was verified.
    Done,
    /// Something is missing or not verified yet.
    Todo,
    /// It depends on something that is known only after another step, or is not built yet.
    Unknown,
    /// It will not run.
    Skipped,
}

/// One effect of [`PlannedStep`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedEffect {
    /// Whether something is there that it takes the place of.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces: bool,
    /// Which kind.
    pub kind: EffectKind,
    /// What it is about.
    pub target: String,
    /// In a few words.
    pub detail: String,
    /// The line a person would type.
    pub command: String,
}

/// `status -o json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusView {
    /// The run's id.
    pub run: String,
    /// The sequence's name.
    pub sequence: String,
    /// Where the run stands.
    pub state: RunStateView,
    /// All steps of the sequence, in order.
    pub steps: Vec<StepStatus>,
    /// What was switched off that protects; empty is good.
    pub insecure: Vec<String>,
    /// Whether the release is pinned by digest.
    pub pinned: bool,
    /// Files that undo left alone because someone edited them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// What another version wrote in the journal and this one does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownView>,
}

/// What this version does not know of a run: it neither continues the run nor takes it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownView {
    /// The line of the journal, counted from 1.
    pub line: u64,
    /// What is not known.
    pub what: String,
    /// The version that wrote it.
    pub tool: String,
}

impl From<&Unknown> for UnknownView {
    fn from(unknown: &Unknown) -> Self {
        let Unknown { line, what, tool } = unknown.clone();
        Self { line, what, tool }
    }
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunStateView {
    /// A live process works on it.
    Running,
    /// All that was chosen is done and verified.
    Succeeded,
    /// A step failed.
    Failed,
    /// It was stopped or cut off, and can be resumed.
    Interrupted,
    /// It was taken back.
    Undone,
    /// It was closed by another version, in a way that this one does not know.
    Unknown,
}

/// One step of [`StatusView`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepStatus {
    /// The step's name within the sequence.
    pub id: String,
    /// Where it stands.
    pub state: StepStateView,
    /// When it began.
    pub started: Option<String>,
    /// How long it took, in seconds.
    pub seconds: Option<f64>,
    /// What proved it.
    pub evidence: Vec<String>,
    /// Why it was skipped, or what it leaves undone on purpose.
    pub reason: Option<String>,
    /// Why it failed.
    pub error: Option<Fault>,
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepStateView {
    /// Not begun, or begun and taken back.
    Todo,
    /// Begun and not ended.
    Running,
    /// Verified.
    Done,
    /// Failed.
    Failed,
    /// Skipped for a reason.
    Skipped,
}

/// `verify -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyView {
    /// The run's id.
    pub run: String,
    /// The sequence's name.
    pub sequence: String,
    /// Whether everything holds.
    pub ok: bool,
    /// Where the run stands; what an interrupted run has not done yet has not drifted.
    pub state: RunStateView,
    /// What was looked at, step by step.
    pub checks: Vec<CheckView>,
}

/// One finding of [`VerifyView`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckView {
    /// The step's name within the sequence.
    pub step: String,
    /// What must hold.
    pub what: String,
    /// Whether it does.
    pub ok: bool,
    /// What was found.
    pub found: String,
    /// Why it matters.
    pub because: String,
    /// Whether it says that the step failed or was cut off, in contrast to what it left behind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
}

/// `verify --benchmark -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BenchmarkView {
    /// The benchmark: `cis`.
    pub benchmark: String,
    /// The version whose numbers the checks have.
    pub version: String,
    /// Whether no check failed.
    pub ok: bool,
    /// How many checks passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
    /// How many do not hold, for a reason that is given.
    pub exceptions: u64,
    /// The checks, in the order of the benchmark.
    pub checks: Vec<BenchmarkCheckView>,
}

/// One check of [`BenchmarkView`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BenchmarkCheckView {
    /// Its number in the benchmark.
    pub number: String,
    /// What it asks for.
    pub title: String,
    /// Whether the benchmark itself calls it automated.
    pub automated: bool,
    /// What came of it.
    pub result: BenchmarkResult,
    /// What was found.
    pub found: String,
    /// What to do, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Why it need not hold, if it is an exception.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BenchmarkResult {
    /// It holds.
    Pass,
    /// It does not hold.
    Fail,
    /// It does not hold, for a reason that is known.
    Exception,
}

/// `undo -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoView {
    /// The run's id.
    pub run: String,
    /// How many effects were taken back now.
    pub undone: u64,
    /// What was left alone, and why.
    pub refused: Vec<RefusedView>,
}

/// Something that undo left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedView {
    /// The step's name within the sequence.
    pub step: String,
    /// What: a path, a unit, a command.
    pub target: String,
    /// Why.
    pub why: String,
}

/// `runs -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunsView {
    /// The runs, oldest first.
    pub runs: Vec<RunSummary>,
}

/// One run of [`RunsView`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// The run's id.
    pub run: String,
    /// The sequence's name.
    pub sequence: String,
    /// Where it stands; none if its journal cannot be read.
    pub state: Option<RunStateView>,
    /// When it was opened.
    pub opened: String,
    /// How many steps are done.
    pub done: u64,
    /// How many steps there are.
    pub of: u64,
    /// Why its journal cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// `assets create -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssetsView {
    /// The run that made them.
    pub run: String,
    /// Where machines ask for their config.
    pub server: String,
    /// When the first of the tokens expires; none if there is none.
    pub expires: Option<String>,
    /// Every file that is there, in the order in which they are made.
    pub files: Vec<AssetView>,
}

/// One file of [`AssetsView`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssetView {
    /// Where it lies on this computer.
    pub path: String,
    /// What would not work without it.
    pub purpose: String,
    /// Whether nobody but its owner may read it.
    pub secret: bool,
}

/// `pki check -o json` and `pki list -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PkiView {
    /// Every certificate of the plan, in the order in which they are made.
    pub certificates: Vec<CertificateView>,
}

/// One certificate of [`PkiView`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CertificateView {
    /// Where it lies.
    pub path: String,
    /// Who it speaks for.
    pub subject: String,
    /// Who signed it.
    pub issuer: String,
    /// Until when it is valid; none if it is absent or unreadable.
    pub not_after: Option<String>,
    /// The whole days that are left.
    pub days_left: Option<i64>,
    /// Whether nothing is wrong with it.
    pub ok: bool,
    /// What is wrong with it.
    pub problems: Vec<String>,
}

/// `pki rotate-encryption-key -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyRotationView {
    /// The encryption config of the API server.
    pub file: String,
    /// Whether this only shows what would be done.
    pub dry_run: bool,
    /// Whether this finishes a rotation that an earlier call began.
    pub resumed: bool,
    /// The name of the key that encrypts afterwards.
    pub key: String,
    /// The names of the keys that are removed.
    pub removed: Vec<String>,
    /// The resources that the key encrypts.
    pub resources: Vec<String>,
    /// How many objects are rewritten.
    pub rewritten: u64,
}

/// `-o json` when a command fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorView {
    /// What went wrong.
    pub error: ErrorBody,
}

/// The inside of [`ErrorView`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// The kind, such as `bad-input`.
    pub kind: crate::fault::FaultKind,
    /// The exit code.
    pub code: u8,
    /// What happened.
    pub message: String,
    /// The step during which it happened.
    pub step: Option<String>,
    /// Where: file, line, column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<crate::fault::Place>,
    /// Why it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Further findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// What to type or do next.
    pub hints: Vec<String>,
}

impl From<&Fault> for ErrorView {
    fn from(fault: &Fault) -> Self {
        let fault = fault.clone();
        Self {
            error: ErrorBody {
                kind: fault.kind,
                code: fault.kind.exit_code(),
                message: fault.message,
                step: fault.step.map(|step| step.step().to_owned()),
                place: fault.place,
                because: fault.because,
                details: fault.details,
                hints: fault.hints,
            },
        }
    }
}

/// `up -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpView {
    /// The kubeconfig by which this computer reaches the cluster.
    pub kubeconfig: String,
    /// Where the control plane runs: `machine` or `process`.
    #[serde(rename = "in")]
    pub place: String,
}
