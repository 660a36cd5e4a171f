//! What a node may serve, and what an attacker with a node's credentials may not.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::certificates::v1::CertificateSigningRequestSpec;
use rcgen::{Attribute, CertificateParams, DnType, KeyPair, SanType};
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

/// What a cluster says of itself, with some values replaced; an empty one is left out.
fn values(changes: &[(&str, &str)]) -> BTreeMap<String, String> {
    let values = [
        ("podCIDR", "10.244.0.0/16"),
        ("serviceCIDR", "10.96.0.0/12"),
        ("server", "https://10.90.0.100:6443"),
        ("clusterDomain", "cluster.local"),
    ];
    let values = values.iter().chain(changes);
    let values = values.map(|(key, value)| (key.to_string(), value.to_string()));
    let mut values: BTreeMap<_, _> = values.collect();
    values.retain(|_, value| !value.is_empty());
    values
}

fn reserved() -> Reserved {
    Reserved::of(&values(&[])).unwrap()
}

fn pem(subject: &[(DnType, &str)], names: &[&str]) -> Vec<u8> {
    pem_with(subject, names, vec![])
}

fn pem_with(subject: &[(DnType, &str)], names: &[&str], attributes: Vec<Attribute>) -> Vec<u8> {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    for (kind, text) in subject {
        params.distinguished_name.push(kind.clone(), *text);
    }
    for name in names {
        let dns = name.strip_prefix("dns:");
        let name = match (dns, name.parse()) {
            (Some(dns), _) => SanType::DnsName(dns.try_into().unwrap()),
            (_, Ok(address)) => SanType::IpAddress(address),
            _ if name.contains("://") => SanType::URI((*name).try_into().unwrap()),
            _ if name.contains('@') => SanType::Rfc822Name((*name).try_into().unwrap()),
            _ => SanType::DnsName((*name).try_into().unwrap()),
        };
        params.subject_alt_names.push(name);
    }
    let key = KeyPair::generate().unwrap();
    let request = params.serialize_request_with_attributes(&key, attributes);
    request.unwrap().pem().unwrap().into_bytes()
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
        &["::ffff:10.90.0.12"],
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
        "169.254.169.254",
        "fe80::1",
        "255.255.255.255",
        "m1",
        "M2",
        "*.demo.example",
        "kubernetes.default.svc",
        "localhost",
    ];
    for lie in lies {
        let mut nodes = nodes();
        nodes[1] = node("m2", &["10.90.0.12", "m2", lie]);
        let orders: [&[&str]; 8] = [
            &["m2", lie],
            &[lie],
            &["m2", "10.90.0.12", lie],
            &["m2", lie, "10.90.0.12"],
            &["10.90.0.12", "m2", lie],
            &["10.90.0.12", lie, "m2"],
            &[lie, "m2", "10.90.0.12"],
            &[lie, "10.90.0.12", "m2"],
        ];
        for names in orders {
            let decision = decide(&request("system:node:m2", names), &nodes, &reserved());
            assert!(
                matches!(decision, Decision::Refuse(_)),
                "{names:?}: {decision:?}"
            );
        }
    }
}

/// What is reported later does not hide what is refused now.
#[test]
fn an_address_that_nothing_reports_hides_no_other() {
    let request = request("system:node:m2", &["10.90.0.13", "10.90.0.11"]);
    let decision = decide(&request, &nodes(), &reserved());
    assert!(matches!(decision, Decision::Refuse(_)), "{decision:?}");
}

/// Whoever has a bootstrap token chooses the name of a node.
#[test]
fn a_node_that_has_the_name_of_something_else_gets_no_certificate_for_it() {
    let values = values(&[("server", "https://API.demo.example:6443")]);
    let reserved = Reserved::of(&values).unwrap();
    let decision = |name: &str| {
        let user = format!("{USER}{name}");
        let dns = format!("dns:{name}");
        decide(&request(&user, &[&dns]), &[node(name, &[])], &reserved)
    };
    for name in [
        "api.demo.example",
        "Api.Demo.Example",
        "localhost",
        "LocalHost",
        "localhost.localdomain",
        "m2.localhost",
        "kubernetes",
        "Kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.SVC",
        "dns.kube-system.svc",
        "kubernetes.default.svc.cluster.local",
        "m2.Cluster.Local",
        "cluster.local",
        "cluster.local.",
        "10.96.0.1",
        "fd00::1",
    ] {
        let decision = decision(name);
        assert!(
            matches!(decision, Decision::Refuse(_)),
            "{name}: {decision:?}"
        );
    }
    for name in ["m2", "m2.demo.example", "kubernetes-1", "mycluster.local"] {
        assert_eq!(decision(name), Decision::Approve, "{name}");
    }
}

#[test]
fn every_network_of_a_list_is_reserved() {
    let values = values(&[
        ("podCIDR", "10.244.0.0/16,fd00::/48"),
        ("serviceCIDR", "10.96.0.0/12,fd01::/108"),
    ]);
    let reserved = Reserved::of(&values).unwrap();
    for lie in ["10.244.1.7", "fd00::7", "10.96.0.1", "fd01::1"] {
        let nodes = [node("m2", &["m2", lie])];
        let decision = decide(&request("system:node:m2", &["m2", lie]), &nodes, &reserved);
        assert!(
            matches!(decision, Decision::Refuse(_)),
            "{lie}: {decision:?}"
        );
    }
}

#[test]
fn the_api_server_is_reserved_by_its_address_however_it_is_written() {
    for (server, address) in [
        ("https://[fd00:9::1]:6443", "fd00:9::1"),
        ("https://[fd00:9::1]", "fd00:9::1"),
        ("https://[::ffff:10.90.0.100]:6443", "10.90.0.100"),
        ("https://10.90.0.100:6443", "10.90.0.100"),
        ("https://10.90.0.100", "10.90.0.100"),
    ] {
        let reserved = Reserved::of(&values(&[("server", server)])).unwrap();
        let nodes = [node("m2", &["m2", address])];
        let decision = decide(&request("system:node:m2", &[address]), &nodes, &reserved);
        assert!(
            matches!(decision, Decision::Refuse(_)),
            "{server}: {decision:?}"
        );
    }
}

/// Without a value, any address or name could be one that belongs to no node.
#[test]
fn a_value_that_is_missing_or_bad_is_an_error_that_names_it() {
    for server in ["https://api.demo.example", "https://api:443"] {
        assert!(Reserved::of(&values(&[("server", server)])).is_ok());
    }
    let nonsense: [(&str, &[&str]); 4] = [
        (
            "podCIDR",
            &["", "x", "10.244.0.0", "10.244.0.0/16,", "10.244.0.1/16"],
        ),
        (
            "serviceCIDR",
            &["", ",", "10.96.0.0/12, fd00::/48", "::ffff:10.96.0.0/108"],
        ),
        (
            "server",
            &[
                "",
                "https://",
                "10.90.0.100:6443",
                "http://10.90.0.100",
                "https://[fd00::1:6443",
                "https://api:x",
                "https://api.:6443",
                "https://api/x",
            ],
        ),
        ("clusterDomain", &["", ".", "cluster..local", "a b"]),
    ];
    for (key, bad) in nonsense {
        for value in bad {
            let why = Reserved::of(&values(&[(key, value)])).unwrap_err();
            assert!(why.starts_with(key), "{key} is {value:?}: {why}");
        }
    }
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
        ("no usages", |it| it.spec.usages = None),
        ("another node", |it| {
            it.spec.username = Some("system:node:m1".into());
        }),
        ("signs code", |it| {
            it.spec.usages = Some(vec![SERVES.into(), "code signing".into()]);
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
            (DnType::OrganizationName, GROUP),
            (DnType::CommonName, "system:node:m1"),
        ],
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
    for names in [
        &[][..],
        &["spiffe://demo/m2"],
        &["m2", "spiffe://demo/m2"],
        &["m2", "root@m2"],
        &["*"],
        &["*.m2"],
        &["m2", "*.cluster.local"],
        &["m2."],
        &["m2", "::ffff:10.90.0.11"],
        &["dns:10.90.0.12"],
    ] {
        let request = request("system:node:m2", names);
        let decision = decide(&request, &nodes(), &reserved());
        assert!(
            matches!(decision, Decision::Refuse(_)),
            "{names:?}: {decision:?}"
        );
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

/// The signer reads the request with another parser, so both must find the same in it.
#[test]
fn what_another_parser_could_read_differently_is_refused() {
    let subject = |name| {
        [
            (DnType::OrganizationName, GROUP),
            (DnType::CommonName, name),
        ]
    };
    let text = |names: &[&str]| {
        let pem = pem(&subject("system:node:m2"), names);
        String::from_utf8(pem).unwrap()
    };
    let (good, evil) = (text(&["m2"]), text(&["m1"]));
    // A reader that compares the labels skips the first block, and signs the second.
    let other_end = good.replace("END CERTIFICATE REQUEST", "END X");
    let label = "BEGIN CERTIFICATE REQUEST-----";
    let second_list = Attribute {
        oid: &[1, 2, 840, 113_549, 1, 9, 14],
        values: extensions("kubernetes.default.svc"),
    };
    let twice = pem_with(&subject("system:node:m2"), &["m2"], vec![second_list]);
    for bad in [
        format!("{good}{evil}"),
        format!("{other_end}{evil}"),
        format!("{}{evil}", good.replace(label, &format!("{label}x"))),
        good.replace(label, &format!("{label}\nProc-Type: 4")),
        format!("text\n{good}"),
        format!("{good}text"),
        good.replace("CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"),
        String::from_utf8(twice).unwrap(),
    ] {
        let mut request = request("system:node:m2", &["m2"]);
        request.spec.request = ByteString(bad.clone().into_bytes());
        let decision = decide(&request, &nodes(), &reserved());
        assert!(
            matches!(decision, Decision::Refuse(_)),
            "{bad}: {decision:?}"
        );
    }
    let mut request = request("system:node:m2", &["m2"]);
    request.spec.request = ByteString(good.replace('\n', "\r\n").into_bytes());
    assert_eq!(decide(&request, &nodes(), &reserved()), Decision::Approve);
}

/// A set with a list of extensions, which has one alternative name.
fn extensions(dns: &str) -> Vec<u8> {
    let wrap = |tag: u8, content: &[u8]| {
        let mut der = vec![tag, u8::try_from(content.len()).unwrap()];
        der.extend(content);
        der
    };
    let names = wrap(0x30, &wrap(0x82, dns.as_bytes()));
    let mut extension = vec![0x06, 0x03, 0x55, 0x1d, 0x11];
    extension.extend(wrap(0x04, &names));
    wrap(0x31, &wrap(0x30, &wrap(0x30, &extension)))
}
