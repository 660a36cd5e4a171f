//! Faults that show only once the control plane starts.

use bootlace_testkit::crash::Sample;

use super::certificates::{FUTURE, OTHER, PAST, VALID, issued, keep, put_back};
use super::{containers_said, fails, was_named_soon, works_now};
use crate::world::{Node, World};

/// How many of them are tried without a soak.
const TRIED: u64 = 2;

/// Something that goes wrong, and what is done about it.
struct Case {
    name: &'static str,
    /// Makes it go wrong; the assets are there.
    spoil: fn(&Node),
    /// What is said beside `run cluster`.
    words: &'static [&'static str],
    /// What stderr names.
    says: &'static [&'static str],
    /// Prints when the cause could be seen; none if it is seen before anything runs.
    seen: Option<fn() -> String>,
    /// Makes it right again.
    mend: fn(&Node),
}

const CASES: [Case; 7] = [
    Case {
        name: "a port that is taken after the preflight",
        spoil: |node| node.listen(6443),
        words: &["--ignore-preflight-errors=Port-6443"],
        says: &["kube-apiserver", "F-30", "address already in use"],
        seen: Some(|| containers_said("address already in use")),
        mend: |node| {
            node.sh("systemctl stop listener");
        },
    },
    Case {
        name: "a disk that is full",
        spoil: |node| {
            node.sh("mkdir -p /var/lib/etcd && mount -t tmpfs -o size=1m tmpfs /var/lib/etcd");
        },
        words: &["--ignore-preflight-errors=Disk"],
        says: &["etcd", "F-28", "no space left on device"],
        seen: Some(|| containers_said("no space left on device")),
        mend: |node| {
            node.sh("mount -o remount,size=1g /var/lib/etcd");
        },
    },
    Case {
        name: "a kubelet that ends again and again",
        spoil: |node| {
            let text = "kind: KubeletConfiguration\n\
                        apiVersion: kubelet.config.k8s.io/v1beta1\n\
                        maxPods: -1\n";
            node.write("/etc/kubernetes/kubelet.conf.d/99-mine.conf", text);
        },
        words: &[],
        says: &["kubelet.service", "again and again", "maxPods"],
        seen: Some(|| "journalctl -u kubelet -o short-unix | grep -F maxPods".into()),
        mend: |node| {
            node.sh("rm /etc/kubernetes/kubelet.conf.d/99-mine.conf");
        },
    },
    Case {
        name: "an etcd that trusts another authority",
        spoil: |node| {
            keep(node, "etcd/ca.crt");
            node.sh(&format!(
                "{OTHER} && cp /tmp/other.crt /opt/bootlace/tls/etcd/ca.crt"
            ));
        },
        words: &[],
        says: &["F-10", "certificate signed by unknown authority"],
        seen: Some(|| containers_said("certificate signed by unknown authority")),
        mend: |node| put_back(node, "etcd/ca.crt"),
    },
    Case {
        name: "an API server with a certificate of another authority",
        spoil: |node| {
            keep(node, "apiserver.crt");
            node.sh(&format!(
                "{OTHER} && {}",
                issued("apiserver", "/tmp/other", VALID)
            ));
        },
        words: &[],
        says: &["does not come from the authority that is trusted here"],
        seen: Some(|| containers_said("Serving securely on")),
        mend: |node| put_back(node, "apiserver.crt"),
    },
    Case {
        name: "a certificate that expired",
        spoil: |node| {
            keep(node, "etcd/server.crt");
            node.sh(&issued("etcd/server", "/opt/bootlace/tls/etcd/ca", PAST));
        },
        words: &[],
        says: &["/etc/kubernetes/pki/etcd/server.crt", "expired"],
        seen: None,
        mend: |node| put_back(node, "etcd/server.crt"),
    },
    Case {
        name: "a certificate that is not valid yet",
        spoil: |node| {
            keep(node, "etcd/server.crt");
            node.sh(&issued("etcd/server", "/opt/bootlace/tls/etcd/ca", FUTURE));
        },
        words: &[],
        says: &["/etc/kubernetes/pki/etcd/server.crt", "valid only from"],
        seen: None,
        mend: |node| put_back(node, "etcd/server.crt"),
    },
];

#[test]
#[ignore = "slow: a control plane for each fault"]
fn a_control_plane_that_cannot_start_says_why() {
    let world = World::new();
    let mut sample = Sample::begin();
    eprintln!("seed {}; BOOTLACE_SEED repeats the choice", sample.seed);
    let chosen = sample.choose_below(CASES.len() as u64, TRIED);
    for position in &chosen {
        let case = &CASES[usize::try_from(*position).unwrap()];
        eprintln!("{}", case.name);
        let node = world.node(&format!("m{position}"), 11);
        node.ends_with(0, &["run", "cluster", "--to", "render-machine-config"]);
        (case.spoil)(&node);
        let words = [["run", "cluster"].as_slice(), case.words].concat();
        fails(&node, 5, &words, case.says);
        if let Some(seen) = case.seen {
            was_named_soon(&node, &seen());
        }
        (case.mend)(&node);
        works_now(&node, &["resume", "cluster"]);
        node.machine.remove().unwrap();
    }
    bootlace_test_notes::tried(
        "control planes that cannot start",
        chosen.len() as u64,
        sample.seed,
    );
}
