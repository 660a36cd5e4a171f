//! What a node may serve, and what an attacker with a node's credentials may not.

use k8s_openapi::ByteString;
use k8s_openapi::api::certificates::v1::CertificateSigningRequestSpec;
use rcgen::{CertificateParams, DnType, KeyPair, SanType};
use serde_json::json;

use super::*;

fn node(name: &str, addresses: &[&str]) -> Node {
    let kind = |address: &str| {
        if address.parse::<IpAddr>().is_ok() {
            "InternalIP"
        } else {
            "Hostname"
        }
    };
    let addresses = addresses.iter();
    let addresses = addresses.map(|it| json!({"type": kind(it), "address": it}));
    let addresses: Vec<_> = addresses.collect();
    let node = json!({"metadata": {"name": name}, "status": {"addresses": addresses}});
    serde_json::from_value(node).unwrap()
}

fn nodes() -> Vec<Node> {
    vec![
        node("m1", &["10.90.0.11", "m1"]),
        node("m2", &["10.90.0.12", "fd00::12", "m2"]),
    ]
}

fn reserved() -> Reserved {
    let values = [
        ("podCIDR", "10.244.0.0/16"),
        ("serviceCIDR", "10.96.0.0/12"),
        ("server", "https://10.90.0.100:6443"),
    ];
    Reserved::of(
        &values
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
    )
}

fn pem(subject: &[(DnType, &str)], names: &[&str]) -> Vec<u8> {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    for (kind, text) in subject {
        params.distinguished_name.push(kind.clone(), *text);
    }
    for name in names {
        let name = match name.parse() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) if name.contains("://") => SanType::URI((*name).try_into().unwrap()),
            Err(_) => SanType::DnsName((*name).try_into().unwrap()),
        };
        params.subject_alt_names.push(name);
    }
    let key = KeyPair::generate().unwrap();
    let request = params.serialize_request(&key).unwrap();
    request.pem().unwrap().into_bytes()
}

fn request(user: &str, names: &[&str]) -> CertificateSigningRequest {
    let subject = [
        (DnType::OrganizationName, GROUP),
        (DnType::CommonName, user),
    ];
    CertificateSigningRequest {
        spec: CertificateSigningRequestSpec {
            request: ByteString(pem(&subject, names)),
            signer_name: SIGNER.into(),
            username: Some(user.into()),
            groups: Some(vec![GROUP.into(), "system:authenticated".into()]),
            usages: Some(vec![USAGES[0].into(), SERVES.into()]),
            ..CertificateSigningRequestSpec::default()
        },
        ..CertificateSigningRequest::default()
    }
}

#[test]
fn a_node_serves_its_own_names_and_addresses() {
    for names in [
        &["m2", "10.90.0.12"][..],
        &["m2", "fd00::12"],
        &["10.90.0.12"],
    ] {
        let request = request("system:node:m2", names);
        assert!(is_pending(&request));
        assert_eq!(
            decide(&request, &nodes(), &reserved()),
            Decision::Approve,
            "{names:?}"
        );
    }
}

#[test]
fn what_is_decided_or_for_others_is_left_alone() {
    let mut denied = request("system:node:m2", &["m2"]);
    let condition = json!({"conditions": [{"type": "Denied", "status": "True"}]});
    denied.status = Some(serde_json::from_value(condition).unwrap());
    assert!(!is_pending(&denied));
    let mut client = request("system:node:m2", &["m2"]);
    client.spec.signer_name = "kubernetes.io/kube-apiserver-client-kubelet".into();
    assert!(!is_pending(&client));
}

#[test]
fn a_node_that_is_not_known_yet_waits() {
    let is_waiting = |user: &str, names: &[&str]| {
        matches!(
            decide(&request(user, names), &nodes(), &reserved()),
            Decision::Wait(_)
        )
    };
    assert!(is_waiting("system:node:m3", &["m3"]));
    assert!(is_waiting("system:node:m2", &["10.90.0.13"]));
}

/// A node says itself which addresses it has, so it may say anything.
#[test]
fn a_node_that_lies_about_its_addresses_gets_nothing_that_is_not_its_own() {
    let lies = [
        "10.90.0.11",
        "::ffff:10.90.0.11",
        "10.96.0.1",
        "::ffff:10.96.0.1",
        "10.244.1.7",
        "10.90.0.100",
        "127.0.0.1",
        "::1",
        "0.0.0.0",
        "m1",
        "M2",
        "*.demo.example",
        "kubernetes.default.svc",
        "localhost",
    ];
    for lie in lies {
        let mut nodes = nodes();
        nodes[1] = node("m2", &["10.90.0.12", "m2", lie]);
        let decision = decide(
            &request("system:node:m2", &["m2", lie]),
            &nodes,
            &reserved(),
        );
        assert!(
            matches!(decision, Decision::Refuse(_)),
            "{lie}: {decision:?}"
        );
    }
}

#[test]
fn what_is_reserved_is_read_from_what_the_cluster_says_of_itself() {
    let values = |server: &str| {
        let values = [
            ("podCIDR", "fd00:1::/56"),
            ("server", server),
            ("clusterDomain", "x"),
        ];
        values
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into()
    };
    let reserved = |server| {
        Reserved::of(&values(server))
            .server
            .map(|it| it.to_string())
    };
    assert_eq!(
        reserved("https://[fd00::1]:6443").as_deref(),
        Some("fd00::1")
    );
    assert_eq!(
        reserved("https://10.90.0.100:6443").as_deref(),
        Some("10.90.0.100")
    );
    assert_eq!(reserved("https://api.demo.example:6443"), None);
    assert_eq!(Reserved::of(&values("")).networks.len(), 1);
}

#[test]
fn each_way_to_ask_for_too_much_is_refused() {
    type Change = fn(&mut CertificateSigningRequest);
    let subject = |kind: DnType, text: &'static str| vec![(kind, text)];
    let changes: [(&str, Change); 8] = [
        ("another user", |it| {
            it.spec.username = Some("system:serviceaccount:a:b".into());
        }),
        ("no name", |it| it.spec.username = Some(USER.into())),
        ("not a node", |it| {
            it.spec.groups = Some(vec!["system:authenticated".into()]);
        }),
        ("client", |it| {
            it.spec.usages = Some(vec![SERVES.into(), "client auth".into()]);
        }),
        ("serves nothing", |it| {
            it.spec.usages = Some(vec![USAGES[0].into()]);
        }),
        ("another node", |it| {
            it.spec.username = Some("system:node:m1".into());
        }),
        ("no names", |it| {
            let subject = [
                (DnType::OrganizationName, GROUP),
                (DnType::CommonName, "system:node:m2"),
            ];
            it.spec.request = ByteString(pem(&subject, &[]));
        }),
        ("a URI", |it| {
            let subject = [
                (DnType::OrganizationName, GROUP),
                (DnType::CommonName, "system:node:m2"),
            ];
            it.spec.request = ByteString(pem(&subject, &["spiffe://demo/m2"]));
        }),
    ];
    for (what, change) in changes {
        let mut request = request("system:node:m2", &["m2"]);
        change(&mut request);
        let decision = decide(&request, &nodes(), &reserved());
        assert!(
            matches!(decision, Decision::Refuse(_)),
            "{what}: {decision:?}"
        );
    }
    for subject in [
        subject(DnType::CommonName, "system:node:m2"),
        vec![
            (DnType::OrganizationName, "system:masters"),
            (DnType::CommonName, "system:node:m2"),
        ],
        vec![
            (DnType::OrganizationName, GROUP),
            (DnType::CommonName, "system:node:m2"),
            (DnType::LocalityName, "x"),
        ],
    ] {
        let mut request = request("system:node:m2", &["m2"]);
        request.spec.request = ByteString(pem(&subject, &["m2"]));
        let decision = decide(&request, &nodes(), &reserved());
        assert!(matches!(decision, Decision::Refuse(_)), "{decision:?}");
    }
}

#[test]
fn what_is_no_request_is_refused() {
    let good = request("system:node:m2", &["m2"]);
    let text = String::from_utf8(good.spec.request.0.clone()).unwrap();
    let mut other_key = text.lines().map(ToOwned::to_owned).collect::<Vec<_>>();
    // The signature stands at the end.
    let line = other_key.len() - 3;
    other_key[line] = other_key[line].chars().rev().collect();
    let forged = (other_key.join("\n") + "\n").into_bytes();
    for bad in [
        vec![],
        b"nonsense".to_vec(),
        text.as_bytes()[..200].to_vec(),
        forged,
    ] {
        let mut request = good.clone();
        request.spec.request = ByteString(bad);
        let decision = decide(&request, &nodes(), &reserved());
        assert!(matches!(decision, Decision::Refuse(_)), "{decision:?}");
    }
}
