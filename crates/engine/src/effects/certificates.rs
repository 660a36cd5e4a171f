//! Issuing certificates, and judging those that are there.

use std::sync::Arc;

use bootlace_model::effect::{IssueCertificate, Issuer};
use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;
use bootlace_model::pki::CertificateRequest;

use super::content::Contents;
use crate::folders::Folders;
use crate::port::Signer;

/// Issues a certificate from keys that are in place or staged.
pub(super) fn issue(contents: &Contents<'_>, issue: &IssueCertificate) -> Result<Arc<[u8]>, Fault> {
    let must = |path: &TargetPath| {
        contents
            .key(path)?
            .ok_or_else(|| Fault::internal(format!("{path} should be there by now")))
    };
    let host = contents.folders.host();
    let key = must(&issue.key)?;
    let made = match &issue.issuer {
        None => host.issue(&issue.request, &key, Signer::Itself),
        Some(issuer) => {
            let certificate = contents.must_read(&issuer.certificate)?;
            let key_of_issuer = must(&issuer.key)?;
            let signer = Signer::Authority {
                certificate: &certificate,
                key: &key_of_issuer,
            };
            host.issue(&issue.request, &key, signer)
        }
    };
    let certificate = made.map_err(|error| Fault::from(error).in_file(issue.path.as_str()))?;
    Ok(Arc::from(certificate.into_bytes()))
}

/// A certificate that is looked at, beside what it must be.
pub(crate) struct Wanted<'a> {
    pub(crate) path: &'a TargetPath,
    pub(crate) key: &'a TargetPath,
    pub(crate) request: &'a CertificateRequest,
    pub(crate) issuer: Option<&'a Issuer>,
}

/// Lists what is wrong with a certificate; none if it is absent.
pub(crate) fn problems(
    contents: &Contents<'_>,
    wanted: &Wanted<'_>,
) -> Result<Option<Vec<String>>, Fault> {
    let host = contents.folders.host();
    let Some(certificate) = contents.read(wanted.path)? else {
        return Ok(None);
    };
    let key = contents.key(wanted.key)?;
    let issuer = match wanted.issuer {
        None => Some(certificate.clone()),
        Some(issuer) => contents.read(&issuer.certificate)?,
    };
    let facts = match host.inspect(&certificate, key.as_ref(), issuer.as_deref()) {
        Ok(facts) => facts,
        Err(error) => return Ok(Some(vec![error.to_string()])),
    };
    let mut problems = facts.problems(wanted.request, host.now());
    if key.is_none() {
        problems.push(format!("its key {} is missing", wanted.key));
    }
    if issuer.is_none() {
        problems.push("the certificate of its authority is missing".into());
    }
    Ok(Some(problems))
}

/// Lists what is wrong with a certificate in place; none if it is absent.
pub(crate) fn certificate_problems(
    folders: &Folders<'_>,
    path: &TargetPath,
    key: &TargetPath,
    request: &CertificateRequest,
    issuer: Option<&Issuer>,
) -> Result<Option<Vec<String>>, Fault> {
    problems(
        &Contents::new(folders),
        &Wanted {
            path,
            key,
            request,
            issuer,
        },
    )
}
