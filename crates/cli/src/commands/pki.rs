//! `bootlace pki`: the cluster's keys and certificates.

mod check;

use bootlace_model::fault::Fault;
use bootlace_model::view::{CertificateView, PkiView};
use bootlace_report::next;
use bootlace_steps::pki::PlannedCertificate;

use crate::args::{Output, Pki};
use crate::error::Ending;
use crate::paths::Places;
use crate::session::Session;
use crate::wire;

pub(crate) fn pki(session: &mut Session, args: &Pki) -> Result<Ending, Fault> {
    let places = Places::new(&session.globals)?;
    let settings = session.settings(&places)?;
    let host = wire::host(&places, &[]);
    let plan = wire::pki_plan(&settings, &host)?;
    match args {
        Pki::List => {
            let certificates = plan.certificates.iter().map(planned).collect();
            let view = PkiView { certificates };
            let purposes = plan.certificates.iter().map(|c| c.purpose.to_owned());
            let purposes: Vec<String> = purposes.collect();
            let text = |style: &_| bootlace_report::pki::list_text(&view, &purposes, style);
            session.console.show(&view, text)?;
            Ok(Ending::Done)
        }
        Pki::Check => {
            let view = check::check(&host, &plan)?;
            tell_checked(session, &view)
        }
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
