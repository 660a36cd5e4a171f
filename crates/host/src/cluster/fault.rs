//! Tells a server that does not answer from one that cannot be trusted.
//!
//! The first may get better by itself and is asked again; the second will not, and whoever waits
//! for it waits in vain.

use std::error::Error as StdError;
use std::io::ErrorKind;

use bootlace_engine::port::HostError;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error as TlsError};

use crate::error::{causes, chain};

/// Puts a failed question into the port's words.
pub(super) fn judge(server: &str, error: &(dyn StdError + 'static)) -> HostError {
    let server = server.to_owned();
    let tls = causes(error).find_map(|cause| cause.downcast_ref::<TlsError>());
    match tls.and_then(distrust) {
        Some(reason) => HostError::Untrusted { server, reason },
        None => HostError::Unreachable {
            server,
            reason: silence(error),
        },
    }
}

/// Says why no answer came.
fn silence(error: &(dyn StdError + 'static)) -> String {
    let kinds = causes(error).filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    let words = kinds.map(std::io::Error::kind).find_map(|kind| match kind {
        ErrorKind::ConnectionRefused => Some("nobody listens there (connection refused)"),
        ErrorKind::ConnectionReset => Some("the connection was reset"),
        ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof => {
            Some("the connection was closed before an answer came")
        }
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            Some("there is no way to that address")
        }
        ErrorKind::TimedOut => Some("the connection took too long"),
        _ => None,
    });
    words.map_or_else(|| chain(error), str::to_owned)
}

/// Says why a server cannot be trusted; none if that is not what failed.
fn distrust(error: &TlsError) -> Option<String> {
    Some(match error {
        TlsError::InvalidCertificate(problem) => certificate(problem),
        TlsError::NoCertificatesPresented => "it shows no certificate".into(),
        TlsError::AlertReceived(alert) => return refusal(*alert),
        TlsError::InvalidMessage(_) => "what listens there does not speak TLS".into(),
        TlsError::PeerIncompatible(why) => {
            format!("it speaks no TLS that is accepted here: {why:?}")
        }
        TlsError::PeerMisbehaved(why) => format!("it breaks the rules of TLS: {why:?}"),
        TlsError::UnsupportedNameType => "its address can be in no certificate".into(),
        _ => return None,
    })
}

/// Says what is wrong with a server's certificate.
fn certificate(problem: &CertificateError) -> String {
    match problem {
        CertificateError::ExpiredContext { time, not_after } => format!(
            "its certificate expired at {}; this machine's clock says {}",
            date(*not_after),
            date(*time)
        ),
        CertificateError::Expired => "its certificate expired".into(),
        CertificateError::NotValidYetContext { time, not_before } => format!(
            "its certificate is valid only from {}; this machine's clock says {}",
            date(*not_before),
            date(*time)
        ),
        CertificateError::NotValidYet => "its certificate is not valid yet".into(),
        CertificateError::UnknownIssuer => {
            "its certificate does not come from the authority that is trusted here".into()
        }
        CertificateError::BadSignature => {
            "the signature of its certificate is not that of the authority".into()
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => {
            let presented = match presented.as_slice() {
                [] => "nobody".to_owned(),
                names => names
                    .iter()
                    .map(|name| bare(name))
                    .collect::<Vec<_>>()
                    .join(", "),
            };
            format!(
                "its certificate is not for {} but for {presented}",
                expected.to_str()
            )
        }
        CertificateError::NotValidForName => "its certificate is for another name".into(),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "its certificate is not meant for servers".into()
        }
        CertificateError::Revoked => "its certificate was revoked".into(),
        other => format!("its certificate cannot be accepted: {other}"),
    }
}

/// Takes the name out of rustls' notation of it: `DnsName("a")`, `IpAddress(1.2.3.4)`.
fn bare(name: &str) -> String {
    let inner = name
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"').to_owned()
}

/// Says why a server does not trust us; none if it complains about something else.
fn refusal(alert: AlertDescription) -> Option<String> {
    let why = match alert {
        AlertDescription::CertificateExpired => "it expired, or is not valid yet, by its clock",
        AlertDescription::UnknownCA => "it does not know the authority that issued it",
        AlertDescription::CertificateRequired => "there is none",
        AlertDescription::CertificateRevoked => "it was revoked",
        AlertDescription::DecryptError => "it was signed by another authority of the same name",
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::AccessDenied => "it cannot accept it",
        AlertDescription::HandshakeFailure
        | AlertDescription::ProtocolVersion
        | AlertDescription::InsufficientSecurity => {
            return Some(format!(
                "it refuses the kinds of TLS that are known here: {alert:?}"
            ));
        }
        _ => return None,
    };
    Some(format!(
        "it refuses our client certificate: {why} ({alert:?})"
    ))
}

fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).ok();
    let time = seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    time.map_or_else(|| "a time out of reach".into(), |time| time.to_string())
}
