//! What must hold after a step: the reason why it may count as done.

mod api;
mod cluster;

use std::time::Duration;

pub use api::{Access, ApiClaim, Field, Wanted, find};
pub use cluster::{Maintained, MaintainedClaim, Question, ServiceClaim, Vantage, mark};

use crate::effect::{Body, Issuer, UnitName, UnitState};
use crate::ids::Digest;
use crate::path::TargetPath;
use crate::pki::CertificateRequest;
use crate::symptom::Symptom;

/// A sentence about the world that is true or false; evaluating it changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// A file is there, with this content and mode where they are given.
    File {
        /// Where.
        path: TargetPath,
        /// Its content.
        digest: Option<Digest>,
        /// Its mode.
        mode: Option<u32>,
    },
    /// A folder is there.
    Directory {
        /// Where.
        path: TargetPath,
    },
    /// Nothing is there.
    Absent {
        /// Where.
        path: TargetPath,
    },
    /// A link is there and points there.
    Link {
        /// Where.
        path: TargetPath,
        /// What it points to.
        target: String,
    },
    /// A private key is there, can be read, and nobody but its owner may read it.
    Key {
        /// Where.
        path: TargetPath,
    },
    /// A certificate is there, fits its key and issuer, says what it must, and is valid now.
    Certificate {
        /// Where.
        path: TargetPath,
        /// Its key.
        key: TargetPath,
        /// What it must say.
        request: CertificateRequest,
        /// Who must have signed it; itself if none.
        issuer: Option<Issuer>,
    },
    /// A file is there, with this mode, and holds what follows from other files.
    Holds {
        /// Where.
        path: TargetPath,
        /// What it holds, as one piece of it.
        body: Body,
        /// Its mode.
        mode: u32,
    },
    /// Every file that an index of ours lists is there with its digest.
    ListedFiles {
        /// The index: a JSON object whose `files` maps paths, relative to `below`, to digests.
        index: TargetPath,
        /// The folder that the paths are relative to.
        below: TargetPath,
    },
    /// A unit is set so, offline.
    Unit {
        /// Which.
        unit: UnitName,
        /// How.
        state: UnitState,
    },
    /// A user or a group is in the target's lists, or is not.
    Account {
        /// Whether it is a group.
        is_group: bool,
        /// Its name.
        name: String,
        /// Whether it shall be there.
        exists: bool,
    },
    /// A program that only looks ends with code 0.
    Succeeds {
        /// The program and its arguments.
        argv: Vec<String>,
        /// How long one try may take.
        within: Duration,
    },
    /// A unit runs.
    Running {
        /// Which.
        unit: UnitName,
    },
    /// A program of this machine listens on a TCP port.
    Listens {
        /// What that means.
        what: String,
        /// Which port.
        port: u16,
    },
    /// An API answers a question, and fields of the answer are as wanted.
    Api(ApiClaim),
    /// A service of a cluster answers over its network.
    Service(ServiceClaim),
    /// What something in a cluster maintains is there, unchanged.
    Maintained(MaintainedClaim),
    /// These images are in the container runtime.
    Images {
        /// Their references.
        images: Vec<String>,
    },
    /// All of several claims hold.
    All {
        /// What they come to together.
        what: String,
        /// Each of them.
        claims: Vec<Self>,
    },
    /// A URL answers with this status.
    Answers {
        /// The URL.
        url: String,
        /// The status.
        status: u16,
        /// Authorities to trust instead of the system's.
        authorities: Option<TargetPath>,
    },
}

impl Claim {
    /// Returns the path that a claim is about, if it is about one.
    pub fn path(&self) -> Option<&TargetPath> {
        match self {
            Self::File { path, .. }
            | Self::Directory { path }
            | Self::Absent { path }
            | Self::Link { path, .. }
            | Self::Key { path }
            | Self::Certificate { path, .. }
            | Self::Holds { path, .. }
            | Self::ListedFiles { index: path, .. } => Some(path),
            Self::Unit { .. }
            | Self::Account { .. }
            | Self::Succeeds { .. }
            | Self::Running { .. }
            | Self::Listens { .. }
            | Self::Api(_)
            | Self::Service(_)
            | Self::Maintained(_)
            | Self::Images { .. }
            | Self::All { .. }
            | Self::Answers { .. } => None,
        }
    }

    /// Returns how the API is reached that a claim asks, if it asks one.
    pub fn access(&self) -> Option<&Access> {
        match self {
            Self::Api(ApiClaim { access, .. })
            | Self::Service(ServiceClaim { access, .. })
            | Self::Maintained(MaintainedClaim { access, .. }) => Some(access),
            _ => None,
        }
    }

    /// Tells in a few words what must hold.
    pub fn what(&self) -> String {
        match self {
            Self::File { path, digest, mode } => {
                let digest = digest.map(|d| format!(" with content {}", d.short()));
                let mode = mode.map(|m| format!(" with mode {}", crate::shell::mode(m)));
                format!(
                    "{path} exists{}{}",
                    digest.unwrap_or_default(),
                    mode.unwrap_or_default()
                )
            }
            Self::Directory { path } => format!("the folder {path} exists"),
            Self::Absent { path } => format!("{path} does not exist"),
            Self::Link { path, target } => format!("{path} points to {target}"),
            Self::Key { path } => format!("the key {path} is readable by its owner alone"),
            Self::Certificate {
                path,
                request,
                issuer,
                ..
            } => {
                let by = Issuer::shown(issuer.as_ref(), path);
                format!("{path} is valid for {}, signed by {by}", request.subject)
            }
            Self::Holds { path, body, mode } => {
                let names = body.source_names();
                let mode = crate::shell::mode(*mode);
                format!(
                    "{path} holds what follows from {}, with mode {mode}",
                    names.join(", ")
                )
            }
            Self::ListedFiles { index, .. } => format!("every file listed in {index} is as listed"),
            Self::Unit { unit, state } => format!("{unit} is {state:?}").to_lowercase(),
            Self::Account {
                is_group,
                name,
                exists,
            } => {
                let kind = if *is_group { "group" } else { "user" };
                let verb = if *exists { "exists" } else { "does not exist" };
                format!("the {kind} {name} {verb}")
            }
            Self::Succeeds { argv, .. } => {
                format!(
                    "`{}` succeeds",
                    crate::shell::line(argv.iter().map(String::as_str))
                )
            }
            Self::Running { unit } => format!("{unit} runs"),
            Self::All { what, .. } | Self::Listens { what, .. } => what.clone(),
            Self::Api(api) => api.what.clone(),
            Self::Service(service) => service.what.clone(),
            Self::Maintained(maintained) => maintained.what.clone(),
            Self::Images { images } => match images.as_slice() {
                [image] => format!("the image {image} is loaded"),
                several => format!("{} images are loaded", several.len()),
            },
            Self::Answers { url, status, .. } => format!("{url} answers {status}"),
        }
    }
}

impl Claim {
    /// Returns the line that a person would type to look; it succeeds if the claim holds.
    pub fn shell(&self) -> String {
        use crate::shell::{line, quote};
        match self {
            Self::File { path, .. } | Self::Holds { path, .. } => {
                line(["test", "-f", path.as_str()])
            }
            Self::Directory { path } => line(["test", "-d", path.as_str()]),
            Self::Absent { path } => line(["test", "!", "-e", path.as_str()]),
            Self::Link { path, .. } => line(["test", "-L", path.as_str()]),
            Self::Key { path } => line(["openssl", "pkey", "-noout", "-in", path.as_str()]),
            Self::Certificate { path, .. } => line([
                "openssl",
                "x509",
                "-checkend",
                "0",
                "-noout",
                "-in",
                path.as_str(),
            ]),
            Self::ListedFiles { index, .. } => line(["jq", "-e", ".files", index.as_str()]),
            Self::Unit { unit, .. } => line(["systemctl", "is-enabled", unit.as_str()]),
            Self::Running { unit } => line(["systemctl", "is-active", "--quiet", unit.as_str()]),
            Self::Listens { port, .. } => {
                format!("ss -Hltn 'sport = :{port}' | grep -q .")
            }
            Self::Account {
                is_group,
                name,
                exists,
            } => {
                let list = if *is_group { "group" } else { "passwd" };
                let look = line(["getent", list, name]);
                if *exists { look } else { format!("! {look}") }
            }
            Self::Succeeds { argv, .. } => line(argv.iter().map(String::as_str)),
            Self::Answers {
                url, authorities, ..
            } => {
                let trust = authorities.as_ref().map(|path| ["--cacert", path.as_str()]);
                let words = ["curl", "-fsS"].into_iter();
                line(
                    words
                        .chain(trust.into_iter().flatten())
                        .chain([url.as_str()]),
                )
            }
            Self::Images { images } => {
                let wanted: Vec<String> = images.iter().map(|image| quote(image)).collect();
                format!(
                    "ctr -n k8s.io images check name=={}",
                    wanted.join(" name==")
                )
            }
            Self::Api(api) => api.shell(),
            Self::Service(service) => service.shell(),
            Self::Maintained(it) => it.question().shell(),
            Self::All { claims, .. } => {
                let lines: Vec<String> = claims.iter().map(Self::shell).collect();
                lines.join(" && ")
            }
        }
    }
}

/// Something that must hold within a time, for a reason, possibly only until a later step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// What must hold.
    pub claim: Claim,
    /// How long it may take to become true after the step's effects.
    pub within: Duration,
    /// Why it matters; shown when it does not hold.
    pub because: &'static str,
    /// The step, by name in the same sequence, after which it need not hold any more.
    pub until: Option<&'static str>,
    /// What would make waiting pointless.
    pub symptoms: Vec<Symptom>,
    /// Which verb looks first whether it holds.
    pub checked_by: CheckedBy,
}

/// Which verb looks first whether an expectation holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckedBy {
    /// The run itself: the step is done only once it holds.
    Run,
    /// Only `verify`: the step does not wait for it, and its time is counted from the step's end.
    Verify,
}

impl Expectation {
    /// Expects something at once and for ever.
    pub fn now(claim: Claim, because: &'static str) -> Self {
        Self {
            claim,
            within: Duration::ZERO,
            because,
            until: None,
            symptoms: vec![],
            checked_by: CheckedBy::Run,
        }
    }

    /// Leaves it to `verify`: the run does not wait for it.
    #[must_use]
    pub fn by_verify(mut self) -> Self {
        self.checked_by = CheckedBy::Verify;
        self
    }

    /// Ends the expectation with a later step.
    #[must_use]
    pub fn until(mut self, step: &'static str) -> Self {
        self.until = Some(step);
        self
    }

    /// Ends the wait early if one of these shows.
    #[must_use]
    pub fn unless(mut self, symptoms: Vec<Symptom>) -> Self {
        self.symptoms = symptoms;
        self
    }

    /// Gives time to become true.
    #[must_use]
    pub fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }
}
