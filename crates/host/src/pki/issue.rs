//! Issues certificates.
//!
//! The library lays out the certificate; the two names in it are written here. Its own names can
//! hold one value of a kind, so a user in two groups would lose one, and the name of an authority
//! that has two units would come out changed, which breaks the chain to it.

use std::time::Duration;

use bootlace_engine::port::{HostResult, Signer};
use bootlace_model::pki::{CertificateRequest, Subject, Usage};
use bootlace_model::secret::Secret;
use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyIdMethod, KeyPair, KeyUsagePurpose, PublicKeyData, SanType, SerialNumber, SigningKey,
};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::ParsedExtension;

use super::{crypto, der, inspect, key as keys, pem};

/// The object identifiers 2.5.4.10 and 2.5.4.3.
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

/// Where the issuer and the subject stand among the fields of a certificate's signed part.
const ISSUER_FIELD: usize = 3;
const SUBJECT_FIELD: usize = 5;

/// Issues a certificate in PEM, at a given time.
///
/// No certificate outlives the authority that signs it: nobody would accept it then.
pub fn issue(
    request: &CertificateRequest,
    key: &Secret,
    signer: Signer<'_>,
    now: Timestamp,
) -> HostResult<String> {
    let key = keys::read(key)?;
    let subject = name(&request.subject);
    let der = match signer {
        Signer::Itself => {
            let params = params(request, now, None)?;
            assemble(&params, &key, &key, None, [&subject, &subject])?
        }
        Signer::Authority {
            certificate,
            key: authority_key,
        } => {
            let der = pem::first_certificate(certificate)?;
            let authority = inspect::parse(&der)?;
            let authority_key = keys::read(authority_key)?;
            check_authority(&authority, &authority_key, now)?;
            let params = params(request, now, Some(&authority))?;
            let names = [authority.subject().as_raw(), subject.as_slice()];
            assemble(&params, &key, &authority_key, key_id(&authority), names)?
        }
    };
    Ok(pem::encode("CERTIFICATE", &der))
}

/// Refuses an authority whose signatures would be worth nothing.
fn check_authority(
    authority: &X509Certificate<'_>,
    key: &KeyPair,
    now: Timestamp,
) -> HostResult<()> {
    let who = inspect::subject(authority.subject());
    if !authority.is_ca() {
        return Err(crypto(format!(
            "{who} cannot sign certificates: its own says that it is no authority"
        )));
    }
    if authority.public_key().raw != key.subject_public_key_info() {
        return Err(crypto(format!(
            "the key beside the certificate of {who} belongs to another certificate"
        )));
    }
    let until = inspect::timestamp(authority.validity().not_after)?;
    if until <= now {
        return Err(crypto(format!(
            "the certificate of {who} expired on {}, so what it signs would not be accepted",
            until.strftime("%Y-%m-%d %H:%M UTC")
        )));
    }
    Ok(())
}

/// Lays down everything but the names and the signature.
fn params(
    request: &CertificateRequest,
    now: Timestamp,
    authority: Option<&X509Certificate<'_>>,
) -> HostResult<CertificateParams> {
    let mut params = CertificateParams::default();
    set_validity(&mut params, request, now, authority)?;
    set_usages(&mut params, request);
    params.serial_number = Some(serial_number()?);
    params.subject_alt_names = alternative_names(request)?;
    params.use_authority_key_identifier_extension = true;
    // Only a stand-in: both names are replaced below. Without one, the other names would be marked
    // as critical, which older clients refuse.
    params
        .distinguished_name
        .push(DnType::CommonName, request.subject.common_name.as_str());
    Ok(params)
}

fn set_validity(
    params: &mut CertificateParams,
    request: &CertificateRequest,
    now: Timestamp,
    authority: Option<&X509Certificate<'_>>,
) -> HostResult<()> {
    let out_of_range = |error| crypto(format!("its validity cannot be written down: {error}"));
    let begin = now.checked_sub(request.back_dated).map_err(out_of_range)?;
    let end = now.checked_add(request.valid_for).map_err(out_of_range)?;
    let latest = authority.map_or(i64::MAX, |authority| {
        authority.validity().not_after.timestamp()
    });
    let at = |second: i64| {
        let distance = Duration::from_secs(second.unsigned_abs());
        let epoch = rcgen::date_time_ymd(1970, 1, 1);
        if second < 0 {
            epoch - distance
        } else {
            epoch + distance
        }
    };
    params.not_before = at(begin.as_second());
    params.not_after = at(end.as_second().min(latest));
    Ok(())
}

fn set_usages(params: &mut CertificateParams, request: &CertificateRequest) {
    if request.is_authority() {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::CrlSign,
        ];
    } else {
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyEncipherment,
        ];
    }
    for usage in &request.usages {
        match usage {
            Usage::Authority => {}
            Usage::Client => params.insert_extended_key_usage(ExtendedKeyUsagePurpose::ClientAuth),
            Usage::Server => params.insert_extended_key_usage(ExtendedKeyUsagePurpose::ServerAuth),
        }
    }
}

/// Makes a positive number of 127 bits that nobody can guess.
fn serial_number() -> HostResult<SerialNumber> {
    let mut bytes = [0_u8; 16];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bytes)
        .map_err(|_| crypto("the operating system gives no random bytes"))?;
    bytes[0] = bytes[0] & 0x7f | 0x40;
    Ok(SerialNumber::from_slice(&bytes))
}

fn alternative_names(request: &CertificateRequest) -> HostResult<Vec<SanType>> {
    let mut names = Vec::new();
    for name in &request.dns_names {
        let ascii = name
            .as_str()
            .try_into()
            .map_err(|_| crypto(format!("{name:?} is not a DNS name: it is not plain ASCII")))?;
        names.push(SanType::DnsName(ascii));
    }
    names.extend(request.addresses.iter().copied().map(SanType::IpAddress));
    Ok(names)
}

/// Writes a name: the groups first, then the user, as `openssl` does for `/O=…/CN=…`.
fn name(subject: &Subject) -> Vec<u8> {
    let part = |kind: &[u8], text: &str| {
        let kind = der::element(der::OBJECT_IDENTIFIER, &[kind]);
        let text = der::element(der::UTF8_STRING, &[text.as_bytes()]);
        der::element(der::SET, &[&der::element(der::SEQUENCE, &[&kind, &text])])
    };
    let mut parts: Vec<Vec<u8>> = subject
        .organizations
        .iter()
        .map(|group| part(ORGANIZATION, group))
        .collect();
    parts.push(part(COMMON_NAME, &subject.common_name));
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    der::element(der::SEQUENCE, &parts)
}

/// Returns how an authority's certificate names its key, which must be repeated byte by byte.
fn key_id(authority: &X509Certificate<'_>) -> Option<KeyIdMethod> {
    authority
        .iter_extensions()
        .find_map(|extension| match extension.parsed_extension() {
            ParsedExtension::SubjectKeyIdentifier(id) => {
                Some(KeyIdMethod::PreSpecified(id.0.to_vec()))
            }
            _ => None,
        })
}

/// Has a certificate laid out, puts the names of issuer and subject in, and signs it.
fn assemble(
    params: &CertificateParams,
    key: &KeyPair,
    signer: &KeyPair,
    signer_id: Option<KeyIdMethod>,
    [issuer, subject]: [&[u8]; 2],
) -> HostResult<Vec<u8>> {
    let failed = |error: rcgen::Error| crypto(format!("the certificate cannot be made: {error}"));
    let mut issuer_params = CertificateParams::default();
    issuer_params.key_identifier_method = signer_id.unwrap_or(KeyIdMethod::Sha256);
    let draft = params
        .signed_by(key, &Issuer::new(issuer_params, Unsigned(signer)))
        .map_err(failed)?;
    let parts = der::elements(der::content(draft.der())?)?;
    let [signed_part, algorithm, _] = parts[..] else {
        return Err(crypto("the certificate came out without its three parts"));
    };
    let mut fields = der::elements(der::content(signed_part)?)?;
    if fields.len() <= SUBJECT_FIELD {
        return Err(crypto("the certificate came out without its names"));
    }
    fields[ISSUER_FIELD] = issuer;
    fields[SUBJECT_FIELD] = subject;
    let signed_part = der::element(der::SEQUENCE, &fields);
    let signature = signer.sign(&signed_part).map_err(failed)?;
    // The leading zero says that no bits of the last byte are unused.
    let signature = der::element(der::BIT_STRING, &[&[0], &signature]);
    Ok(der::element(
        der::SEQUENCE,
        &[&signed_part, algorithm, &signature],
    ))
}

/// A signer that does not sign: the draft's signature is thrown away.
struct Unsigned<'a>(&'a KeyPair);

impl PublicKeyData for Unsigned<'_> {
    fn der_bytes(&self) -> &[u8] {
        self.0.der_bytes()
    }

    fn algorithm(&self) -> &'static rcgen::SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl SigningKey for Unsigned<'_> {
    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        Ok(vec![0])
    }
}
