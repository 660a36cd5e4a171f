//! Whether this computer can run machines.

use std::process::Stdio;

use crate::cgroups;
use crate::tools;
use crate::{MachineError, Result};

/// Says why machines cannot run on this computer; none if they can.
///
/// It changes nothing, so it can be asked before anything else is decided.
pub fn why_not() -> Option<String> {
    let refused = require().and_then(|()| namespaces()).err()?;
    let hints = refused.hints();
    Some(match hints.first() {
        Some(hint) if !matches!(refused, MachineError::Unable { .. }) => {
            format!("{refused} ({hint})")
        }
        _ => refused.to_string(),
    })
}

/// Refuses to go on without what machines are made of.
pub(crate) fn require() -> Result<()> {
    let user = rustix::process::geteuid();
    if !user.is_root() {
        return Err(MachineError::NotRoot {
            user: user.as_raw(),
        });
    }
    for &(program, package) in tools::NEEDED {
        if tools::find(program).is_none() {
            return Err(MachineError::Missing { program, package });
        }
    }
    let missing = cgroups::missing()?;
    if !missing.is_empty() {
        return Err(MachineError::Unable {
            reason: format!(
                "it has no control groups of version 1 for {}",
                missing.join(", ")
            ),
        });
    }
    Ok(())
}

/// Makes namespaces for a moment, which some sandboxes refuse even to root.
fn namespaces() -> Result<()> {
    let mut command = tools::command("unshare");
    command.args([
        "--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup", "--fork", "true",
    ]);
    command.stdout(Stdio::null());
    let unable = |reason: String| MachineError::Unable {
        reason: format!("it may not make namespaces: {reason}"),
    };
    let output = command
        .output()
        .map_err(|error| unable(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(unable(
        String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    ))
}
