use std::time::Duration;

use base64::Engine as _;
use bootlace_engine::port::{Host, Signer};
use bootlace_model::pki::{CertificateRequest, KeyAlgorithm, Subject, Usage};
use bootlace_model::secret::Secret;

use super::*;
use crate::fake::FakeHost;

fn request(name: &str, usage: Usage) -> CertificateRequest {
    CertificateRequest {
        subject: Subject::member(name, "group"),
        dns_names: vec![format!("{name}.example")],
        addresses: vec![[127, 0, 0, 1].into()],
        usages: vec![usage],
        valid_for: Duration::from_hours(24 * 365),
        back_dated: Duration::ZERO,
    }
}

/// What makes one tree mean something else than another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Twist {
    None,
    OtherName,
    OtherKey,
    OtherAuthority,
    SignedBySelf,
    OtherPublicKey,
}

fn key(host: &FakeHost) -> Secret {
    host.make_key(KeyAlgorithm::EcdsaP256).unwrap()
}

/// Writes an authority, a leaf, a public key, a kubeconfig with all of them, and an index.
fn tree(twist: Twist) -> Snapshot {
    let host = FakeHost::new(1);
    let (ca_key, leaf_key) = (key(&host), key(&host));
    let ca = host
        .issue(&request("ca", Usage::Authority), &ca_key, Signer::Itself)
        .unwrap();
    let name = if twist == Twist::OtherName {
        "other"
    } else {
        "leaf"
    };
    let signer = match twist {
        Twist::SignedBySelf => Signer::Itself,
        _ => Signer::Authority {
            certificate: ca.as_bytes(),
            key: &ca_key,
        },
    };
    let leaf = host
        .issue(&request(name, Usage::Client), &leaf_key, signer)
        .unwrap();
    let beside = if twist == Twist::OtherKey {
        key(&host)
    } else {
        leaf_key.clone()
    };
    let ca_beside = match twist {
        Twist::OtherAuthority => host
            .issue(
                &request("ca", Usage::Authority),
                &key(&host),
                Signer::Itself,
            )
            .unwrap(),
        _ => ca,
    };
    let public = match twist {
        Twist::OtherPublicKey => host.public_key(&ca_key).unwrap(),
        _ => host.public_key(&leaf_key).unwrap(),
    };
    let encode = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let kubeconfig = format!(
        "ca: {}\nkey: {}\n",
        encode(ca_beside.as_bytes()),
        encode(beside.expose())
    );
    let index = format!(
        "{{\"kubeconfig\":\"{}\"}}",
        Digest::of(kubeconfig.as_bytes())
    );
    host.set_up(|world| {
        world.write("/ca.crt", ca_beside.as_bytes())?;
        world.write("/ca.key", ca_key.expose())?;
        world.write("/leaf.crt", leaf.as_bytes())?;
        world.write("/leaf.key", beside.expose())?;
        world.write("/leaf.pub", public.as_bytes())?;
        world.write("/kubeconfig", kubeconfig.as_bytes())?;
        world.write("/index.json", index.as_bytes())?;
        world.write("/plain", b"plain")
    })
    .unwrap();
    Snapshot::of_fake(&host, &[])
}

#[test]
fn fresh_keys_and_certificates_mean_the_same() {
    let (one, two) = (tree(Twist::None), tree(Twist::None));
    assert_eq!(one.compare(&two).unwrap_err().findings.len(), 7);
    assert_eq!(meaning_of(&one).compare(&meaning_of(&two)), Ok(()));
    let meant = meaning_of(&one);
    let text = |path| String::from_utf8(meant.content(path).unwrap().to_vec()).unwrap();
    assert_eq!(text("/ca.key"), "<private key, first at /ca.key>\n");
    assert_eq!(text("/leaf.pub"), "<public key of /kubeconfig>\n");
    assert_eq!(
        text("/index.json"),
        "{\"kubeconfig\":\"sha256:<digest of /kubeconfig>\"}"
    );
    assert!(
        text("/leaf.crt").contains("signed by /ca.crt>"),
        "{}",
        text("/leaf.crt")
    );
    assert!(text("/kubeconfig").starts_with("ca: <in base64: <certificate, first at /ca.crt"));
    assert_eq!(text("/plain"), "plain");
}

#[test]
fn a_tree_that_means_something_else_shows() {
    let expected = meaning_of(&tree(Twist::None));
    for (twist, path) in [
        (Twist::OtherName, "~ /leaf.crt"),
        (Twist::OtherKey, "~ /leaf.crt"),
        (Twist::OtherAuthority, "~ /leaf.crt"),
        (Twist::SignedBySelf, "~ /leaf.crt"),
        (Twist::OtherPublicKey, "~ /leaf.pub"),
    ] {
        let difference = expected.compare(&meaning_of(&tree(twist))).unwrap_err();
        assert!(
            difference.findings.iter().any(|f| f.starts_with(path)),
            "{difference}"
        );
    }
}
