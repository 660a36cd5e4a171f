//! Signs that waiting is pointless: a cause is already visible.

use std::time::Duration;

use crate::effect::UnitName;
use crate::expect::Access;
use crate::path::TargetPath;

/// Something that ends a wait before its deadline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Symptom {
    /// A unit failed, or is restarted again and again.
    UnitFails(UnitName),
    /// A container ended with a line that is known to be final, ends repeatedly, or cannot get any further.
    ContainersFail(ContainersFail),
    /// A supervised process ended with a line that is known to be final, or ends repeatedly.
    ProcessesFail {
        /// What the supervisor wrote down.
        state: TargetPath,
        /// Last words by which a cause is known.
        known: &'static [KnownLine],
    },
    /// An image that a pod needs is not there, and nobody will fetch it.
    ImagesMissing {
        /// Which are needed.
        images: Vec<String>,
        /// Who may still fetch them, until its log says that it cannot; none if nobody does.
        fetcher: Option<UnitName>,
    },
    /// Objects of an API say of themselves that they cannot get any further.
    ObjectsComplain(ObjectsComplain),
    /// A certificate is not valid at this machine's time.
    CertificateOutOfDate {
        /// Where it lies.
        path: TargetPath,
    },
}

impl Symptom {
    /// Tells in a few words what would end the wait.
    pub fn what(&self) -> String {
        match self {
            Self::UnitFails(unit) => format!("{unit} fails"),
            Self::ContainersFail(it) if it.pods.is_empty() => "a container ends".into(),
            Self::ContainersFail(it) => format!("a container of {} ends", it.pods.join(", ")),
            Self::ProcessesFail { .. } => "a process ends".into(),
            Self::ImagesMissing { fetcher: None, .. } => "an image is missing".into(),
            Self::ImagesMissing { .. } => "an image cannot be fetched".into(),
            Self::ObjectsComplain(it) => format!("a {} stays {}", it.noun, it.reason),
            Self::CertificateOutOfDate { path } => format!("{path} is not valid now"),
        }
    }
}

/// How objects of an API say that they cannot get any further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectsComplain {
    /// What they are called.
    pub noun: &'static str,
    /// How the API is reached.
    pub access: Access,
    /// The path of their list.
    pub path: &'static str,
    /// The condition that is false.
    pub condition: &'static str,
    /// The reason that it gives.
    pub reason: &'static str,
    /// What its message contains as long as it can get better by itself.
    pub hope: &'static [&'static str],
    /// How long it must have been so; what was so before the wait began gets six times as long.
    pub lasting: Duration,
    /// What to do about it.
    pub hint: &'static str,
}

/// How containers fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainersFail {
    /// The names of their pods begin with one of these; every pod counts if there is none.
    pub pods: Vec<String>,
    /// Last words by which a cause is known.
    pub known: &'static [KnownLine],
    /// What no container gets over that says it again and again, even while it runs.
    pub lasting: &'static [KnownLine],
    /// Who runs the pods. If they failed before a wait begins, it is restarted without them, so that
    /// all of them begin afresh.
    pub runner: Option<UnitName>,
}

/// A line in a log that names its cause.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownLine {
    /// What the line contains.
    pub needle: &'static str,
    /// The code by which documents know the cause.
    pub code: &'static str,
    /// The cause, as one sentence.
    pub cause: &'static str,
    /// What to do about it.
    pub hint: &'static str,
}
