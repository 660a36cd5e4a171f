//! Are the keys and certificates in place what the plan wants?

use bootlace_engine::port::{Host, HostError, Stat};
use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;
use bootlace_model::pki::CertificateFacts;
use bootlace_model::secret::Secret;
use bootlace_model::shell;
use bootlace_model::view::{CertificateView, PkiView};
use bootlace_steps::pki::{KeyPair, PkiPlan, PlannedCertificate};
use jiff::Timestamp;

/// No key and no certificate is as large as this.
const LARGEST: u64 = 1 << 20;

/// A file that should be there.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    /// It is not there.
    Absent,
    /// It cannot be read, for this reason.
    Unreadable(String),
    /// It is there.
    File {
        /// Its mode bits.
        mode: u32,
        /// Its content, which may be a key.
        content: Secret,
    },
}

impl Found {
    fn content(&self) -> Option<&Secret> {
        match self {
            Self::File { content, .. } => Some(content),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }
}

/// Looks at every key and certificate of the plan.
pub(super) fn check(host: &dyn Host, plan: &PkiPlan) -> Result<PkiView, Fault> {
    let now = host.now();
    let mut certificates = Vec::new();
    for planned in &plan.certificates {
        let (certificate, key) = (look(host, &planned.path)?, look(host, &planned.key)?);
        let issuer = match &planned.issuer {
            Some(issuer) => look(host, &issuer.certificate)?,
            None => certificate.clone(),
        };
        let facts = certificate.content().map(|certificate| {
            let issuer = issuer.content().map(Secret::expose);
            host.inspect(certificate.expose(), key.content(), issuer)
                .map_err(|error| error.to_string())
        });
        certificates.push(judge(planned, &certificate, facts, &key, now));
    }
    certificates.extend(check_pair(host, &plan.service_accounts)?);
    Ok(PkiView { certificates })
}

/// Compares what was found with what is planned; touches nothing.
fn judge(
    planned: &PlannedCertificate,
    certificate: &Found,
    facts: Option<Result<CertificateFacts, String>>,
    key: &Found,
    now: Timestamp,
) -> CertificateView {
    let mut problems = match certificate {
        Found::Absent => vec!["it is absent".to_owned()],
        Found::Unreadable(why) => vec![format!("it cannot be read: {why}")],
        Found::File { .. } => vec![],
    };
    let facts = match facts {
        Some(Ok(facts)) => {
            problems.extend(facts.problems(&planned.request, now));
            Some(facts)
        }
        Some(Err(why)) => {
            problems.push(format!("it is no certificate: {why}"));
            None
        }
        None => None,
    };
    problems.extend(key_problem(&planned.key, key));
    let wanted_issuer = planned.issuer.as_ref();
    let wanted_issuer =
        wanted_issuer.map_or("itself".into(), |issuer| issuer.certificate.to_string());
    let subject = facts
        .as_ref()
        .map_or(&planned.request.subject, |f| &f.subject);
    CertificateView {
        path: planned.path.to_string(),
        subject: subject.to_string(),
        issuer: facts
            .as_ref()
            .map_or(wanted_issuer, |f| f.issuer.to_string()),
        not_after: facts.as_ref().map(|f| f.not_after.to_string()),
        days_left: facts.as_ref().map(|f| f.days_left(now)),
        ok: problems.is_empty(),
        problems,
    }
}

fn key_problem(path: &TargetPath, key: &Found) -> Option<String> {
    match key {
        Found::Absent => Some(format!("its key {path} is absent")),
        Found::Unreadable(why) => Some(format!("its key {path} cannot be read: {why}")),
        Found::File { mode, .. } if mode & 0o077 != 0 => {
            let mode = shell::mode(*mode);
            Some(format!(
                "its key {path} has mode {mode}, so others may use it"
            ))
        }
        Found::File { .. } => None,
    }
}

/// Checks the pair of the service accounts, which is no certificate: listed only if it is wrong.
fn check_pair(host: &dyn Host, pair: &KeyPair) -> Result<Option<CertificateView>, Fault> {
    let (key, public) = (look(host, &pair.key)?, look(host, &pair.public)?);
    let derived = key.content().map(|key| host.public_key(key));
    let mut problems: Vec<String> = key_problem(&pair.key, &key).into_iter().collect();
    match (&public, derived) {
        (Found::Absent, _) => problems.push("it is absent".into()),
        (Found::Unreadable(why), _) => problems.push(format!("it cannot be read: {why}")),
        (_, Some(Err(error))) => problems.push(format!("its key is none: {error}")),
        (Found::File { content, .. }, Some(Ok(derived)))
            if content.expose().trim_ascii() != derived.as_bytes().trim_ascii() =>
        {
            problems.push("it is not the public half of the key beside it".into());
        }
        (Found::File { .. }, _) => {}
    }
    Ok((!problems.is_empty()).then(|| CertificateView {
        path: pair.public.to_string(),
        subject: "service accounts".into(),
        issuer: "none, it is a key pair".into(),
        not_after: None,
        days_left: None,
        ok: false,
        problems,
    }))
}

/// Reads a file; one that may not be read is a finding, a link that leads away is a fault.
fn look(host: &dyn Host, path: &TargetPath) -> Result<Found, Fault> {
    let folder = path.parent().unwrap_or_else(TargetPath::root);
    let Some(dir) = host.open_dir(&folder)? else {
        return Ok(Found::Absent);
    };
    let mode = match dir.stat(path.name())? {
        None => return Ok(Found::Absent),
        Some(Stat::File { mode, .. }) => mode,
        Some(_) => return Ok(Found::Unreadable("it is no regular file".into())),
    };
    match dir.read(path.name(), LARGEST) {
        Ok(content) => Ok(Found::File {
            mode,
            content: Secret::new(content),
        }),
        Err(error @ HostError::Escape { .. }) => Err(error.into()),
        Err(error) => Ok(Found::Unreadable(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use bootlace_model::config::{Paths, Settings};
    use bootlace_steps::pki::pki_plan;

    use super::*;

    fn planned() -> PlannedCertificate {
        let path = |text: &str| TargetPath::new(text).unwrap();
        let paths = Paths {
            assets: path("/opt/bootlace"),
            state: path("/var/lib/bootlace"),
        };
        let plan = pki_plan(&Settings::defaults(paths), "node-1");
        plan.certificates[1].clone()
    }

    fn facts(planned: &PlannedCertificate) -> CertificateFacts {
        CertificateFacts {
            subject: planned.request.subject.clone(),
            issuer: bootlace_model::pki::Subject::user("kubernetes"),
            dns_names: planned.request.dns_names.clone(),
            addresses: planned.request.addresses.clone(),
            usages: planned.request.usages.clone(),
            not_before: day(0),
            not_after: day(365),
            key_fits: Some(true),
            signature_fits: Some(true),
        }
    }

    fn day(n: i64) -> Timestamp {
        Timestamp::from_second(n * 86_400).unwrap()
    }

    fn file(mode: u32) -> Found {
        Found::File {
            mode,
            content: Secret::new(vec![]),
        }
    }

    #[test]
    fn a_certificate_as_planned_has_no_problems() {
        let planned = planned();
        let view = judge(
            &planned,
            &file(0o644),
            Some(Ok(facts(&planned))),
            &file(0o600),
            day(5),
        );
        assert_eq!((view.ok, view.days_left), (true, Some(360)));
        assert_eq!(view.problems, [""; 0]);
        assert_eq!(view.issuer, "CN=kubernetes");
    }

    #[test]
    fn everything_that_is_wrong_is_listed() {
        let planned = planned();
        let mut facts = facts(&planned);
        facts.key_fits = Some(false);
        let view = judge(
            &planned,
            &file(0o644),
            Some(Ok(facts)),
            &file(0o640),
            day(365),
        );
        assert!(!view.ok);
        assert_eq!(view.problems.len(), 3, "{:?}", view.problems);
        assert!(
            view.problems[2].contains("mode 0640"),
            "{:?}",
            view.problems
        );
    }

    #[test]
    fn what_is_not_there_or_unreadable_is_a_problem() {
        let planned = planned();
        let view = judge(&planned, &Found::Absent, None, &Found::Absent, day(5));
        assert_eq!(view.problems[0], "it is absent");
        assert!(view.problems[1].contains(".key is absent"));
        assert_eq!((view.not_after, view.days_left), (None, None));
        let refused = Found::Unreadable("permission denied".into());
        let garbage = Some(Err("no PEM".to_owned()));
        let view = judge(&planned, &file(0o644), garbage, &refused, day(5));
        assert_eq!(view.problems[0], "it is no certificate: no PEM");
        assert!(view.problems[1].contains("permission denied"));
    }
}
