//! Preflight: what must be so before a step may begin. Looking changes nothing.

use crate::config::Cidr;
use crate::path::TargetPath;

/// One thing to look at before a step begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The name by which it can be ignored; kubeadm's where it looks at the same.
    pub name: String,
    /// What is looked at.
    pub test: Test,
    /// Why the step would fail, or do harm, otherwise.
    pub why: &'static str,
    /// What to do about it.
    pub hint: String,
}

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// The tool works on this machine itself and not on a folder.
    LiveRoot,
    /// The tool works on a folder and not on this machine itself.
    FolderRoot,
    /// The tool runs as root.
    Root,
    /// Nobody listens on a TCP port.
    PortFree(u16),
    /// A program is there and its output names a version that fits.
    Program {
        /// The program and the arguments that make it print its version.
        argv: Vec<String>,
        /// Folders in which it is looked for, before those of the system.
        folders: Vec<String>,
        /// The minor version of Kubernetes that it must have, or one or two less.
        fits: Option<String>,
    },
    /// The container runtime answers, or its unit is installed and can be started.
    Runtime,
    /// A path holds nothing.
    Empty(TargetPath),
    /// The disk below a path has this much room.
    Room {
        /// The path.
        path: TargetPath,
        /// How many bytes.
        bytes: u64,
    },
    /// The clock lies within a certificate's validity; one that is not made yet fits.
    Clock {
        /// The certificate.
        certificate: TargetPath,
    },
    /// No swap is in use.
    NoSwap,
    /// These control group controllers are there.
    Cgroups(&'static [&'static str]),
    /// The machine's name is a valid name of a node.
    NodeName(Option<String>),
    /// A route leads to a network. That there is none is noted, and refuses nothing.
    Route(Cidr),
    /// The images are pinned by digest.
    Pinned(TargetPath),
    /// An image is named by its digest.
    PinnedImage(String),
}

impl Test {
    /// Tells whether a step is refused where this is not so; the rest is only noted.
    pub fn refuses(&self) -> bool {
        !matches!(self, Self::Route(_))
    }
}
