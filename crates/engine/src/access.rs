//! Reading what it takes to talk to an API.

use std::time::Duration;

use bootlace_model::expect::{Access, ApiClaim};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;
use bootlace_model::secret::Secret;

use crate::folders::Folders;
use crate::port::{ApiAnswer, ApiRequest, Credentials, Host, HostError};

/// The largest kubeconfig or certificate that is read.
const LARGEST: u64 = 1 << 20;
/// How long one question may take.
pub(crate) const ONE_QUESTION: Duration = Duration::from_secs(5);

/// Reads a kubeconfig.
pub(crate) fn kubeconfig(host: &dyn Host, path: &TargetPath) -> Result<Credentials, Fault> {
    Ok(Credentials::Kubeconfig(read(&Folders::new(host), path)?))
}

/// Reads all that an access names.
pub fn credentials(host: &dyn Host, access: &Access) -> Result<Credentials, Fault> {
    let folders = Folders::new(host);
    match access {
        Access::Kubeconfig(path) => Ok(Credentials::Kubeconfig(read(&folders, path)?)),
        Access::Certificate {
            server,
            authority,
            certificate,
            key,
        } => Ok(Credentials::Certificate {
            server: server.clone(),
            authority: read(&folders, authority)?,
            certificate: read(&folders, certificate)?,
            key: Secret::new(read(&folders, key)?),
        }),
    }
}

/// Asks what a claim asks, once.
pub(crate) fn ask(
    host: &dyn Host,
    claim: &ApiClaim,
    within: Duration,
) -> Result<Result<ApiAnswer, HostError>, Fault> {
    let credentials = credentials(host, &claim.access)?;
    Ok(host.ask_api(&ApiRequest {
        credentials: &credentials,
        path: &claim.path,
        post: claim.post.as_ref(),
        within,
    }))
}

fn read(folders: &Folders<'_>, path: &TargetPath) -> Result<Vec<u8>, Fault> {
    folders.read(path, LARGEST)?.ok_or_else(|| {
        Fault::new(FaultKind::VerifyFailed, format!("{path} is missing"))
            .in_file(path.as_str())
            .because("Without it nobody can prove to the API who is asking.")
    })
}
