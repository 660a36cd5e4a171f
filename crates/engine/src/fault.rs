//! From what the world refused to what a person is told.

use bootlace_model::fault::{Fault, FaultKind};

use crate::port::HostError;

impl From<HostError> for Fault {
    fn from(error: HostError) -> Self {
        let message = error.to_string();
        match error {
            HostError::Io { target, error, .. } => io_fault(message, &target, error.kind()),
            HostError::Escape { .. } => Self::refused(message)
                .because("Following it would read or write outside of the root that you gave.")
                .hint("look at the links on the way with `namei -l PATH`"),
            HostError::ForeignLink { .. } => Self::refused(message)
                .because("The link's owner decides where it points, and could point it at /etc.")
                .hint("look at the links on the way with `namei -l PATH`")
                .hint("name the folder itself in the config, or let root own the link and its folder"),
            HostError::TooLarge { .. } | HostError::Crypto(_) => Self::bad_input(message),
            HostError::ReadOnly { .. } | HostError::Crashed => Self::internal(message),
            HostError::TimedOut { .. } => Self::new(FaultKind::Deadline, message),
            HostError::Fetch { .. } | HostError::Unreachable { .. } => Self::new(FaultKind::StepFailed, message)
                .hint("when the cause is gone, `bootlace resume` goes on from here"),
            HostError::WrongDigest { .. } => Self::refused(message)
                .because(
                    "What came is not what was promised: a newer file, a broken mirror, or worse.",
                )
                .hint("compare the digest with its publisher before you change the config"),
            HostError::Untrusted { .. } => Self::new(FaultKind::StepFailed, message)
                .because("Whoever answers there may not be who it should be; asking again changes nothing.")
                .hint("`bootlace pki check` looks at every certificate; `date` shows the clock"),
            HostError::Locked { .. } => Self::new(FaultKind::Preflight, message)
                .because(
                    "Two writers would mix up the journal, so only one may work on a state folder.",
                )
                .hint("`bootlace run --attach` shows its progress until it ends")
                .hint("`bootlace status` tells how far it has come"),
            HostError::Stopped => Self::new(FaultKind::Stopped, message),
        }
    }
}

fn io_fault(message: String, target: &str, kind: std::io::ErrorKind) -> Fault {
    let fault = Fault::new(FaultKind::StepFailed, message);
    match kind {
        std::io::ErrorKind::PermissionDenied => {
            fault.hint("run it as root, or give another place with --root, --state and --assets")
        }
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => fault
            .because("Nothing half-written is left: files appear whole or not at all.")
            .hint("make room (`df -h`), then `bootlace resume` goes on from here"),
        std::io::ErrorKind::ReadOnlyFilesystem => fault.hint(format!(
            "`findmnt -T {target}` shows the mount; remount it, or choose another --root, --state or --assets"
        )),
        _ => fault.hint("when the cause is gone, `bootlace resume` goes on from here"),
    }
}
