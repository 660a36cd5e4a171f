//! `bootlace pki`: the cluster's keys and certificates.

mod check;
mod rotate;

use bootlace_model::fault::Fault;
use bootlace_model::view::{CertificateView, PkiView};
use bootlace_report::next;
use bootlace_steps::pki::PlannedCertificate;
use clap::Subcommand;

use crate::args::Output;
use crate::error::Ending;
use crate::paths::Places;
use crate::session::Session;
use crate::wire;

use self::rotate::RotateEncryptionKey;

/// `pki`.
#[derive(Debug, Subcommand)]
pub(crate) enum Pki {
    /// List every certificate that a cluster gets, who signs it and what it is for
    List,
    /// Check the certificates and keys in the asset folder
    #[command(after_help = "Ends with code 6 if something is wrong with one of them.")]
    Check,
    /// Replace the key that encrypts Secrets in etcd
    ///
    /// Adds a new key to the API server's encryption config, waits until the API server uses it, rewrites
    /// every Secret, and removes the old keys once nothing in etcd needs them. Run it on the
    /// control-plane machine. If it is interrupted, run it again: it finishes what was begun.
    #[command(after_help = "\
Example:
  bootlace pki rotate-encryption-key --dry-run")]
    RotateEncryptionKey(RotateEncryptionKey),
}

pub(crate) fn pki(session: &mut Session, args: &Pki) -> Result<Ending, Fault> {
    let places = Places::new(&session.globals)?;
    let settings = session.settings(&places)?;
    let host = wire::host(&places, &[]);
    match args {
        Pki::List => {
            let plan = wire::pki_plan(&settings, &host)?;
            let certificates = plan.certificates.iter().map(planned).collect();
            let view = PkiView { certificates };
            let purposes = plan.certificates.iter().map(|c| c.purpose.to_owned());
            let purposes: Vec<String> = purposes.collect();
            let text = |style: &_| bootlace_report::pki::list_text(&view, &purposes, style);
            session.console.show(&view, text)?;
            Ok(Ending::Done)
        }
        Pki::Check => {
            let plan = wire::pki_plan(&settings, &host)?;
            let view = check::check(&host, &plan)?;
            tell_checked(session, &view)
        }
        Pki::RotateEncryptionKey(args) => rotate::rotate(&session.console, &host, &settings, args),
    }
}

fn tell_checked(session: &Session, view: &PkiView) -> Result<Ending, Fault> {
    let console = &session.console;
    console.show(view, |style| bootlace_report::pki::check_text(view, style))?;
    if view.certificates.iter().all(|certificate| certificate.ok) {
        return Ok(Ending::Done);
    }
    let absent = view.certificates.iter().all(|c| c.not_after.is_none());
    if absent && console.output() == Output::Text {
        let line = session.retype.line("run cluster --only prepare-assets");
        let hints = [(line, "makes keys and certificates")];
        console.say(&next::text(&hints, console.stderr()));
    }
    Ok(Ending::DoesNotHold)
}

/// Shows a certificate as it is planned, whether it is there or not.
fn planned(certificate: &PlannedCertificate) -> CertificateView {
    let issuer = certificate.issuer.as_ref();
    CertificateView {
        path: certificate.path.to_string(),
        subject: certificate.request.subject.to_string(),
        issuer: issuer.map_or("itself".into(), |issuer| issuer.certificate.to_string()),
        not_after: None,
        days_left: None,
        ok: true,
        problems: vec![],
    }
}
