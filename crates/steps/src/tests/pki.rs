//! The table of keys and certificates, seen as a whole.

use std::fmt::Write as _;

use bootlace_model::path::TargetPath;

use super::settings;
use crate::pki::{PlannedCertificate, pki_plan};

fn named(path: &TargetPath) -> &str {
    path.as_str().strip_prefix("/opt/bootlace/tls/").unwrap()
}

fn line(planned: &PlannedCertificate) -> String {
    let request = &planned.request;
    let by = planned
        .issuer
        .as_ref()
        .map(|issuer| named(&issuer.certificate));
    let mut text = format!("{}, {}\n", named(&planned.path), named(&planned.key));
    writeln!(text, "  {} {:?}", request.subject, request.usages).unwrap();
    writeln!(
        text,
        "  by {}, {} days",
        by.unwrap_or("itself"),
        request.days()
    )
    .unwrap();
    if !request.dns_names.is_empty() {
        writeln!(text, "  {}", request.dns_names.join(" ")).unwrap();
        writeln!(text, "  {:?}", request.addresses).unwrap();
    }
    writeln!(text, "  {}", planned.purpose).unwrap();
    text
}

#[test]
fn the_whole_plan_for_a_cluster_with_everything_set() {
    let mut settings = settings();
    let cluster = &mut settings.cluster;
    cluster.control_plane.endpoint.host = "api.demo.example".into();
    cluster.control_plane.advertise_address = "192.0.2.10".parse().unwrap();
    cluster.network.service_cidr = "fd00:10::/112".parse().unwrap();
    cluster.network.cluster_domain = "demo.local".into();
    cluster.pki.extra_names = ["lb.demo.example", "198.51.100.7", "localhost"]
        .map(str::to_owned)
        .to_vec();
    let plan = pki_plan(&settings, "node-1");
    let text: String = plan.certificates.iter().map(line).collect();
    insta::assert_snapshot!(text);
}

#[test]
fn authorities_come_first_and_live_longest() {
    let plan = pki_plan(&settings(), "node-1");
    let mut made: Vec<&TargetPath> = vec![];
    for planned in &plan.certificates {
        match &planned.issuer {
            None => assert!(planned.request.is_authority()),
            Some(issuer) => {
                assert!(made.contains(&&issuer.certificate), "{:?}", planned.path);
                let by = plan
                    .certificates
                    .iter()
                    .find(|by| by.path == issuer.certificate);
                let by = by.unwrap();
                assert!(by.request.is_authority() && by.key == issuer.key);
                assert!(by.request.valid_for > planned.request.valid_for);
            }
        }
        assert_eq!(planned.request.back_dated.as_secs(), 3600);
        made.push(&planned.path);
    }
}

#[test]
fn every_file_and_every_identity_is_there_once() {
    let plan = pki_plan(&settings(), "node-1");
    for (n, planned) in plan.certificates.iter().enumerate() {
        for other in &plan.certificates[..n] {
            assert!(planned.path != other.path && planned.key != other.key);
            // One identity twice under one authority would make two certificates one person.
            let same = planned.request.subject == other.request.subject
                && planned.issuer == other.issuer
                && planned.request.usages == other.request.usages;
            let etcd = planned.path.as_str().contains("/etcd/");
            assert!(!same || etcd, "{:?} and {:?}", planned.path, other.path);
        }
    }
}

#[test]
fn kubeadm_s_names_are_kept() {
    let plan = pki_plan(&settings(), "node-1");
    let mut names: Vec<&str> = plan.certificates.iter().map(|it| named(&it.path)).collect();
    names.push(named(&plan.service_accounts.key));
    names.push(named(&plan.service_accounts.public));
    for kubeadm in [
        "ca.crt",
        "apiserver.crt",
        "apiserver-kubelet-client.crt",
        "apiserver-etcd-client.crt",
        "front-proxy-ca.crt",
        "front-proxy-client.crt",
        "etcd/ca.crt",
        "etcd/server.crt",
        "etcd/peer.crt",
        "sa.key",
        "sa.pub",
    ] {
        assert!(names.contains(&kubeadm), "{kubeadm}");
    }
}
