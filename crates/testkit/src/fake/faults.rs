//! Where a test may break the world: every operation that changes something is a fault point.

use std::collections::BTreeMap;

use super::errno::Errno;

/// What kind of thing an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is named after the port's method")]
pub enum OperationKind {
    Create,
    CreateDirectory,
    CreateLink,
    SetAttributes,
    SetOwner,
    Rename,
    Remove,
    RemoveDirectory,
    SyncFiles,
    SyncDirectories,
    OpenLog,
    Append,
    Truncate,
    SyncLog,
    Lock,
    Run,
    Fetch,
    StartUnit,
    ImportImages,
    RemoveProduct,
    Apply,
    /// A question to an API; few of them change something.
    Ask,
    /// A question to the machine; none of them changes anything.
    Look,
    /// A change that a scripted program makes while it runs.
    ByProgram,
}

impl OperationKind {
    /// Tells whether something that only looks may do it.
    pub fn may_look(self) -> bool {
        matches!(self, Self::Run | Self::Ask | Self::Look)
    }

    /// Returns the verb of error messages.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Create | Self::CreateDirectory => "create",
            Self::CreateLink => "link",
            Self::SetAttributes => "set the attributes of",
            Self::SetOwner => "set the owner of",
            Self::Rename => "rename",
            Self::Remove | Self::RemoveDirectory | Self::RemoveProduct => "remove",
            Self::SyncFiles | Self::SyncDirectories | Self::SyncLog => "sync",
            Self::OpenLog => "open",
            Self::Append | Self::ByProgram => "write",
            Self::Truncate => "truncate",
            Self::Lock => "lock",
            Self::Run => "run",
            Self::Fetch => "fetch",
            Self::StartUnit => "start",
            Self::ImportImages => "import",
            Self::Apply => "apply",
            Self::Ask => "ask for",
            Self::Look => "look at",
        }
    }
}

/// One operation of an undisturbed or a disturbed run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// What it does.
    pub kind: OperationKind,
    /// To what.
    pub target: String,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind.verb(), self.target)
    }
}

/// How far an operation gets before it is disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Nothing of it is done.
    Before,
    /// A part of it is done, where it consists of parts: half a file, some syncs of several.
    Within,
    /// All of it is done.
    After,
}

impl When {
    /// Every extent.
    pub const ALL: [Self; 3] = [Self::Before, Self::Within, Self::After];
}

/// Counts what happened since the host was made or came back to life.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Operations of all kinds.
    pub operations: u64,
    /// Appends to growing files: one group of journal records each.
    pub appends: u64,
    /// Syncs of growing files.
    pub log_syncs: u64,
    /// Listings of folders.
    pub listings: u64,
}

/// Which operation is meant, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    Operation(u64),
    Append(u64),
    LogSync(u64),
}

/// What a test wants to go wrong.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    pub(crate) crash: Option<(Point, When)>,
    pub(crate) failures: BTreeMap<u64, (Errno, When)>,
    pub(crate) stop_after: Option<u64>,
    /// By how much the clock is set at an operation.
    pub(crate) clock_steps: BTreeMap<u64, jiff::SignedDuration>,
}

/// What becomes of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Undisturbed,
    Crash(When),
    Fail(Errno, When),
}

impl Faults {
    /// Judges an operation by the counters as they were before it.
    pub(crate) fn judge(&self, kind: OperationKind, before: Counters) -> Verdict {
        let meant = |point: Point| match point {
            Point::Operation(n) => n == before.operations,
            Point::Append(n) => kind == OperationKind::Append && n == before.appends,
            Point::LogSync(n) => kind == OperationKind::SyncLog && n == before.log_syncs,
        };
        if let Some((point, when)) = self.crash
            && meant(point)
        {
            return Verdict::Crash(when);
        }
        match self.failures.get(&before.operations) {
            Some((errno, when)) => Verdict::Fail(*errno, *when),
            None => Verdict::Undisturbed,
        }
    }
}
