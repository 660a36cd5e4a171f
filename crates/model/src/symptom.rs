//! Signs that waiting is pointless: a cause is already visible.

use crate::effect::UnitName;
use crate::path::TargetPath;

/// Something that ends a wait before its deadline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Symptom {
    /// A unit failed, or is restarted again and again.
    UnitFails(UnitName),
    /// A container of these pods ended with a line that is known to be final, or ends repeatedly.
    ContainersFail {
        /// The names of pods begin with one of these; every pod if there is none.
        pods: Vec<String>,
        /// Last words by which a cause is known.
        known: &'static [KnownLine],
    },
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
    },
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
            Self::ContainersFail { pods, .. } if pods.is_empty() => "a container ends".into(),
            Self::ContainersFail { pods, .. } => format!("a container of {} ends", pods.join(", ")),
            Self::ProcessesFail { .. } => "a process ends".into(),
            Self::ImagesMissing { .. } => "an image is missing".into(),
            Self::CertificateOutOfDate { path } => format!("{path} is not valid now"),
        }
    }
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
