//! Certificates are checked by `openssl`, which shares no code with the library that makes them.
#![expect(
    clippy::disallowed_methods,
    reason = "openssl is run on files in a folder of the test's own"
)]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bootlace_engine::port::{HostError, Signer};
use bootlace_model::pki::{CertificateRequest, KeyAlgorithm, Subject, Usage};
use bootlace_model::secret::Secret;
use jiff::Timestamp;

use super::{inspect, issue, make_key, public_key};

const DAY: Duration = Duration::from_hours(24);

fn key() -> Secret {
    make_key(KeyAlgorithm::EcdsaP256).unwrap()
}

fn now() -> Timestamp {
    Timestamp::now()
}

fn authority_request() -> CertificateRequest {
    CertificateRequest {
        subject: Subject::user("the-authority"),
        dns_names: vec![],
        addresses: vec![],
        usages: vec![Usage::Authority],
        valid_for: DAY * 3650,
        back_dated: Duration::from_mins(5),
    }
}

fn leaf_request() -> CertificateRequest {
    CertificateRequest {
        subject: Subject {
            common_name: "kube-apiserver".into(),
            organizations: vec!["system:masters".into(), "second".into(), "third".into()],
        },
        dns_names: vec!["kubernetes.default".into(), "api.demo.example".into()],
        addresses: vec!["10.96.0.1".parse().unwrap(), "::1".parse().unwrap()],
        usages: vec![Usage::Server, Usage::Client],
        valid_for: DAY * 365,
        back_dated: Duration::from_mins(5),
    }
}

struct Authority {
    key: Secret,
    certificate: String,
}

impl Authority {
    fn new() -> Self {
        let key = key();
        let certificate = issue(&authority_request(), &key, Signer::Itself, now()).unwrap();
        Self { key, certificate }
    }

    fn signer(&self) -> Signer<'_> {
        Signer::Authority {
            certificate: self.certificate.as_bytes(),
            key: &self.key,
        }
    }
}

fn openssl(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("openssl")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text}{errors}");
    text
}

fn openssl_pem(folder: &Path, arguments: &[&str]) -> Secret {
    Secret::new(openssl(folder, arguments).into_bytes())
}

fn message(error: &HostError) -> String {
    assert!(matches!(error, HostError::Crypto(_)), "{error:?}");
    error.to_string()
}

#[test]
fn openssl_verifies_the_chain_and_reads_what_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (authority, leaf_key) = (Authority::new(), key());
    let leaf = issue(&leaf_request(), &leaf_key, authority.signer(), now()).unwrap();
    std::fs::write(folder.path().join("ca.crt"), &authority.certificate).unwrap();
    std::fs::write(folder.path().join("leaf.crt"), &leaf).unwrap();
    for purpose in ["sslserver", "sslclient"] {
        let arguments = [
            "verify",
            "-x509_strict",
            "-purpose",
            purpose,
            "-CAfile",
            "ca.crt",
            "leaf.crt",
        ];
        assert_eq!(openssl(folder.path(), &arguments), "leaf.crt: OK\n");
    }
    let text = openssl(
        folder.path(),
        &["x509", "-in", "leaf.crt", "-noout", "-text"],
    );
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let subject = format!("Subject: {}", leaf_request().subject);
    let expected = [
        "Issuer: CN=the-authority",
        &subject,
        "X509v3 Basic Constraints: critical\nCA:FALSE",
        "X509v3 Key Usage: critical\nDigital Signature, Key Encipherment",
        "X509v3 Extended Key Usage:\nTLS Web Server Authentication, TLS Web Client Authentication",
        "X509v3 Subject Alternative Name:\nDNS:kubernetes.default, DNS:api.demo.example, \
         IP Address:10.96.0.1, IP Address:0:0:0:0:0:0:0:1",
    ];
    // Releases of openssl differ in how they space names.
    let joined = lines.join("\n").replace(" = ", "=");
    for expected in expected {
        assert!(joined.contains(expected), "{expected} is not in\n{text}");
    }
    // Those four, the ids of the two keys, and the heading.
    assert_eq!(joined.matches("X509v3 ").count(), 7, "{text}");
}

#[test]
fn openssl_reads_an_authority_as_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.crt"), Authority::new().certificate).unwrap();
    let arguments = ["verify", "-x509_strict", "-CAfile", "ca.crt", "ca.crt"];
    assert_eq!(openssl(folder.path(), &arguments), "ca.crt: OK\n");
    let text = openssl(folder.path(), &["x509", "-in", "ca.crt", "-noout", "-text"]);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let joined = lines.join("\n");
    for expected in [
        "X509v3 Basic Constraints: critical\nCA:TRUE\n",
        "X509v3 Key Usage: critical\nDigital Signature, Certificate Sign, CRL Sign",
    ] {
        assert!(joined.contains(expected), "{expected} is not in\n{text}");
    }
    assert!(!joined.contains("Extended"), "{text}");
}

#[test]
fn inspecting_tells_what_was_asked_for() {
    let (authority, leaf_key) = (Authority::new(), key());
    let at = now();
    let leaf = issue(&leaf_request(), &leaf_key, authority.signer(), at).unwrap();
    let bundle = leaf + &authority.certificate;
    let issuer = authority.certificate.as_bytes();
    let facts = inspect(bundle.as_bytes(), Some(&leaf_key), Some(issuer)).unwrap();
    assert_eq!(facts.subject, leaf_request().subject);
    assert_eq!(facts.issuer, authority_request().subject);
    assert_eq!(facts.dns_names, ["api.demo.example", "kubernetes.default"]);
    assert_eq!(facts.addresses, leaf_request().addresses);
    assert_eq!(facts.usages, [Usage::Client, Usage::Server]);
    assert_eq!(facts.not_before.as_second(), at.as_second() - 300);
    assert_eq!(facts.not_after.as_second(), at.as_second() + 365 * 86_400);
    assert_eq!(
        (facts.key_fits, facts.signature_fits),
        (Some(true), Some(true))
    );
    assert_eq!(facts.problems(&leaf_request(), at), Vec::<String>::new());

    let own = inspect(issuer, None, None).unwrap();
    assert_eq!(own.usages, [Usage::Authority]);
    assert_eq!((own.key_fits, own.signature_fits), (None, None));
    assert_eq!(own.problems(&authority_request(), at), Vec::<String>::new());
}

#[test]
fn a_certificate_that_does_not_restrict_its_use_serves_every_use() {
    let mut request = leaf_request();
    request.usages = vec![];
    let leaf = issue(&request, &key(), Authority::new().signer(), now()).unwrap();
    let facts = inspect(leaf.as_bytes(), None, None).unwrap();
    assert_eq!(facts.usages, [Usage::Client, Usage::Server]);
}

#[test]
fn strangers_keys_and_issuers_do_not_fit() {
    let (authority, leaf_key) = (Authority::new(), key());
    let leaf = issue(&leaf_request(), &leaf_key, authority.signer(), now()).unwrap();
    // Same name, other key: only the signature tells them apart.
    let namesake = Authority::new();
    let other = namesake.certificate.as_bytes();
    let facts = inspect(leaf.as_bytes(), Some(&namesake.key), Some(other)).unwrap();
    assert_eq!(
        (facts.key_fits, facts.signature_fits),
        (Some(false), Some(false))
    );
    // Same key, other name.
    let mut request = authority_request();
    request.subject = Subject::user("renamed");
    let renamed = issue(&request, &authority.key, Signer::Itself, now()).unwrap();
    let facts = inspect(leaf.as_bytes(), None, Some(renamed.as_bytes())).unwrap();
    assert_eq!(facts.signature_fits, Some(false));
}

#[test]
fn no_certificate_outlives_its_authority() {
    let key = key();
    let mut request = authority_request();
    request.valid_for = DAY * 30;
    let made = now();
    let certificate = issue(&request, &key, Signer::Itself, made).unwrap();
    let signer = Signer::Authority {
        certificate: certificate.as_bytes(),
        key: &key,
    };
    let leaf = issue(&leaf_request(), &key, signer, made).unwrap();
    let facts = inspect(leaf.as_bytes(), None, None).unwrap();
    assert_eq!(facts.not_after.as_second(), made.as_second() + 30 * 86_400);
    let later = made.checked_add(DAY * 31).unwrap();
    let error = issue(&leaf_request(), &key, signer, later).unwrap_err();
    assert!(message(&error).contains("expired on"), "{error}");
}

#[test]
fn an_authority_that_cannot_sign_is_refused() {
    let (authority, leaf_key) = (Authority::new(), key());
    let leaf = issue(&leaf_request(), &leaf_key, authority.signer(), now()).unwrap();
    let not_an_authority = Signer::Authority {
        certificate: leaf.as_bytes(),
        key: &leaf_key,
    };
    let error = issue(&leaf_request(), &leaf_key, not_an_authority, now()).unwrap_err();
    assert!(message(&error).contains("no authority"), "{error}");
    let wrong_key = Signer::Authority {
        certificate: authority.certificate.as_bytes(),
        key: &leaf_key,
    };
    let error = issue(&leaf_request(), &leaf_key, wrong_key, now()).unwrap_err();
    assert!(message(&error).contains("belongs to another"), "{error}");
}

#[test]
fn serial_numbers_are_positive_and_differ() {
    let authority = Authority::new();
    let serial = || {
        let leaf = issue(&leaf_request(), &key(), authority.signer(), now()).unwrap();
        let der = super::pem::first_certificate(leaf.as_bytes()).unwrap();
        super::inspect::parse(&der).unwrap().raw_serial().to_vec()
    };
    let (first, second) = (serial(), serial());
    assert_ne!(first, second);
    for serial in [first, second] {
        assert_eq!(serial.len(), 16);
        assert!((0x40..0x80).contains(&serial[0]), "{serial:x?}");
    }
}

#[test]
fn dates_before_1970_and_after_2050_are_written_right() {
    let key = key();
    for at in ["1970-01-01T00:01:00Z", "2049-12-31T00:00:00Z"] {
        let at: Timestamp = at.parse().unwrap();
        let certificate = issue(&authority_request(), &key, Signer::Itself, at).unwrap();
        let facts = inspect(certificate.as_bytes(), None, None).unwrap();
        assert_eq!(facts.not_before.as_second(), at.as_second() - 300);
        assert_eq!(facts.not_after.as_second(), at.as_second() + 3650 * 86_400);
    }
}

#[test]
fn keys_that_people_bring_are_read_in_every_common_form() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let forms = [
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384",
        "genpkey -algorithm ED25519",
        "genrsa 2048",
        "genrsa -traditional 2048",
        "ecparam -genkey -name prime256v1",
        "ecparam -genkey -name secp384r1",
    ];
    for form in forms {
        let arguments: Vec<&str> = form.split(' ').collect();
        let key = openssl_pem(folder, &arguments);
        std::fs::write(folder.join("key"), key.expose()).unwrap();
        let theirs = openssl(folder, &["pkey", "-in", "key", "-pubout"]);
        assert_eq!(public_key(&key).unwrap(), theirs, "{form}");
        let certificate = issue(&authority_request(), &key, Signer::Itself, now()).unwrap();
        std::fs::write(folder.join("ca.crt"), &certificate).unwrap();
        openssl(
            folder,
            &["verify", "-x509_strict", "-CAfile", "ca.crt", "ca.crt"],
        );
        let own = Some(certificate.as_bytes());
        let facts = inspect(certificate.as_bytes(), Some(&key), own).unwrap();
        assert_eq!(
            (facts.key_fits, facts.signature_fits),
            (Some(true), Some(true)),
            "{form}"
        );
    }
}

#[test]
fn an_authority_with_an_unusual_name_keeps_its_chain() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let arguments = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "ca.key",
        "-out",
        "ca.crt",
        "-days",
        "30",
        "-multivalue-rdn",
        "-subj",
        "/C=DE/OU=first/OU=second+CN=Old Root",
    ];
    openssl(folder, &arguments);
    let authority_key = Secret::new(std::fs::read(folder.join("ca.key")).unwrap());
    let certificate = std::fs::read(folder.join("ca.crt")).unwrap();
    let signer = Signer::Authority {
        certificate: &certificate,
        key: &authority_key,
    };
    let leaf = issue(&leaf_request(), &key(), signer, now()).unwrap();
    std::fs::write(folder.join("leaf.crt"), &leaf).unwrap();
    let arguments = ["verify", "-CAfile", "ca.crt", "leaf.crt"];
    assert_eq!(openssl(folder, &arguments), "leaf.crt: OK\n");
    let facts = inspect(leaf.as_bytes(), None, Some(&certificate)).unwrap();
    assert_eq!(facts.issuer.common_name, "Old Root");
    assert_eq!(facts.signature_fits, Some(true));
    // An authority of another kind of key, by the same name, is not the one that signed.
    let foreign = Authority::new();
    let facts = inspect(leaf.as_bytes(), None, Some(foreign.certificate.as_bytes())).unwrap();
    assert_eq!(facts.signature_fits, Some(false));
}

#[test]
fn garbage_is_refused_in_words() {
    let key = key();
    let good = issue(&authority_request(), &key, Signer::Itself, now()).unwrap();
    let torn = good.replace("-----END", "AAAA\n-----END");
    for garbage in [
        "",
        "hello",
        "-----BEGIN CERTIFICATE-----\nAAAA\n",
        torn.as_str(),
    ] {
        message(&inspect(garbage.as_bytes(), None, None).unwrap_err());
    }
    for garbage in [
        "",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ] {
        message(&public_key(&Secret::new(garbage.into())).unwrap_err());
    }
    // A certificate is no key, and a key is no certificate.
    message(&public_key(&Secret::new(good.clone().into_bytes())).unwrap_err());
    message(&inspect(key.expose(), None, None).unwrap_err());
    message(&inspect(good.as_bytes(), Some(&Secret::new(b"x".to_vec())), None).unwrap_err());
    let locked =
        b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----";
    let error = public_key(&Secret::new(locked.to_vec())).unwrap_err();
    assert!(message(&error).contains("encrypted"), "{error}");
}

#[test]
fn a_name_that_is_not_ascii_is_refused() {
    let mut request = leaf_request();
    request.dns_names = vec!["bücher.example".into()];
    let error = issue(&request, &key(), Signer::Itself, now()).unwrap_err();
    assert!(message(&error).contains("bücher.example"), "{error}");
}
