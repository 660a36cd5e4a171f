//! Looks into certificates.

use std::net::IpAddr;

use bootlace_engine::port::HostResult;
use bootlace_model::pki::{CertificateFacts, Subject, Usage};
use bootlace_model::secret::Secret;
use jiff::Timestamp;
use rcgen::PublicKeyData as _;
use x509_parser::certificate::X509Certificate;
use x509_parser::error::X509Error;
use x509_parser::extensions::GeneralName;
use x509_parser::time::ASN1Time;
use x509_parser::x509::{AttributeTypeAndValue, X509Name};

use super::{crypto, key as keys, pem};

/// Reads a certificate, or the first of a bundle, and compares it with a key and an issuer.
pub fn inspect(
    certificate: &[u8],
    key: Option<&Secret>,
    issuer: Option<&[u8]>,
) -> HostResult<CertificateFacts> {
    let der = pem::first_certificate(certificate)?;
    let certificate = parse(&der)?;
    let (dns_names, addresses) = alternative_names(&certificate)?;
    let key_fits = match key {
        Some(key) => {
            let public = keys::read(key)?.subject_public_key_info();
            Some(certificate.public_key().raw == public)
        }
        None => None,
    };
    let signature_fits = match issuer {
        Some(issuer) => {
            let der = pem::first_certificate(issuer)?;
            Some(signed_by(&certificate, &parse(&der)?)?)
        }
        None => None,
    };
    Ok(CertificateFacts {
        subject: subject(certificate.subject()),
        issuer: subject(certificate.issuer()),
        dns_names,
        addresses,
        usages: usages(&certificate)?,
        not_before: timestamp(certificate.validity().not_before)?,
        not_after: timestamp(certificate.validity().not_after)?,
        key_fits,
        signature_fits,
    })
}

/// Reads the binary form of one certificate.
pub(super) fn parse(der: &[u8]) -> HostResult<X509Certificate<'_>> {
    match x509_parser::parse_x509_certificate(der) {
        Ok(([], certificate)) => Ok(certificate),
        Ok(_) => Err(crypto(
            "the certificate is damaged: it has bytes behind its end",
        )),
        Err(error) => Err(crypto(format!("the certificate is damaged: {error}"))),
    }
}

/// Reads the user and the groups out of a name; other parts do not matter to Kubernetes.
pub(super) fn subject(name: &X509Name<'_>) -> Subject {
    let text = |part: &AttributeTypeAndValue<'_>| {
        part.as_str().map_or_else(
            |_| String::from_utf8_lossy(part.as_slice()).into_owned(),
            str::to_owned,
        )
    };
    Subject {
        common_name: name
            .iter_common_name()
            .next()
            .map_or_else(String::new, text),
        organizations: name.iter_organization().map(text).collect(),
    }
}

/// Converts a time of a certificate.
pub(super) fn timestamp(time: ASN1Time) -> HostResult<Timestamp> {
    Timestamp::from_second(time.timestamp())
        .map_err(|error| crypto(format!("the certificate has an impossible date: {error}")))
}

fn unreadable(what: &str) -> impl FnOnce(X509Error) -> bootlace_engine::port::HostError {
    move |error| crypto(format!("the certificate's {what} cannot be read: {error}"))
}

fn alternative_names(certificate: &X509Certificate<'_>) -> HostResult<(Vec<String>, Vec<IpAddr>)> {
    let mut dns_names = Vec::new();
    let mut addresses = Vec::new();
    let extension = certificate
        .subject_alternative_name()
        .map_err(unreadable("names"))?;
    let names = extension
        .iter()
        .flat_map(|found| &found.value.general_names);
    for name in names {
        match name {
            GeneralName::DNSName(name) => dns_names.push((*name).to_owned()),
            GeneralName::IPAddress(bytes) => addresses.push(address(bytes)?),
            // Mail addresses and the like; no server is reached by them.
            _ => {}
        }
    }
    dns_names.sort();
    addresses.sort();
    Ok((dns_names, addresses))
}

fn address(bytes: &[u8]) -> HostResult<IpAddr> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        Ok(IpAddr::from(four))
    } else if let Ok(sixteen) = <[u8; 16]>::try_from(bytes) {
        Ok(IpAddr::from(sixteen))
    } else {
        Err(crypto(
            "the certificate has an address of an impossible length",
        ))
    }
}

fn usages(certificate: &X509Certificate<'_>) -> HostResult<Vec<Usage>> {
    let signs = certificate
        .key_usage()
        .map_err(unreadable("key usage"))?
        .is_none_or(|usage| usage.value.key_cert_sign());
    let authority = certificate.is_ca() && signs;
    let extended = certificate
        .extended_key_usage()
        .map_err(unreadable("extended key usage"))?;
    let (client, server) = match extended {
        Some(usage) => (
            usage.value.client_auth || usage.value.any,
            usage.value.server_auth || usage.value.any,
        ),
        // One that does not restrict its use may be used for everything, by RFC 5280.
        None => (!authority, !authority),
    };
    // In the order in which usages sort.
    let found = [
        (authority, Usage::Authority),
        (client, Usage::Client),
        (server, Usage::Server),
    ];
    Ok(found
        .into_iter()
        .filter_map(|(has, usage)| has.then_some(usage))
        .collect())
}

/// Tells whether one certificate is signed by another, in its name and with its key.
fn signed_by(certificate: &X509Certificate<'_>, issuer: &X509Certificate<'_>) -> HostResult<bool> {
    if certificate.issuer().as_raw() != issuer.subject().as_raw() {
        return Ok(false);
    }
    match certificate.verify_signature(Some(issuer.public_key())) {
        Ok(()) => Ok(true),
        // The library also says *unsupported* if the signature is of another kind than the key,
        // and then it cannot be that key's.
        Err(X509Error::SignatureUnsupportedAlgorithm) if !same_family(certificate, issuer) => {
            Ok(false)
        }
        Err(X509Error::SignatureVerificationError) => Ok(false),
        Err(error) => Err(crypto(format!(
            "the signature of {} cannot be checked: {error}",
            subject(issuer.subject())
        ))),
    }
}

/// Tells whether a signature could have been made with a key, going by their kinds.
fn same_family(certificate: &X509Certificate<'_>, issuer: &X509Certificate<'_>) -> bool {
    // id-ecPublicKey and the ECDSA signatures lie below ansi-X9-62, RSA keys and signatures below
    // pkcs-1; Ed25519 has one identifier for both.
    const FAMILIES: [&str; 3] = ["1.2.840.10045.", "1.2.840.113549.1.1.", "1.3.101.112"];
    let signature = certificate.signature_algorithm.algorithm.to_id_string();
    let key = issuer.public_key().algorithm.algorithm.to_id_string();
    FAMILIES
        .iter()
        .any(|family| signature.starts_with(family) && key.starts_with(family))
}
