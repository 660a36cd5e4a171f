//! What the machine must be like before anything is started on it.

use bootlace_model::check::{Check, Test};
use bootlace_model::config::Settings;

use crate::assets::{RELEASE, asset, machine};

/// How much room etcd, images and logs need at least.
const ROOM: u64 = 2 << 30;

/// Lists the checks; the names are kubeadm's where it looks at the same.
pub(super) fn checks(settings: &Settings) -> Vec<Check> {
    let mut checks = vec![
        check(
            "Live-Root",
            Test::LiveRoot,
            "Units are started by the systemd of a running machine, not by a folder.",
            "leave out --root, end with `--to render-machine-config`, or add --placement process",
        ),
        check(
            "IsPrivilegedUser",
            Test::Root,
            "Only root may write to /etc/kubernetes and start units.",
            "run it as root",
        ),
    ];
    checks.extend(ports(settings));
    checks.extend(programs(settings));
    checks.extend(machine_state(settings));
    checks
}

/// Writes a check.
pub(super) fn check(name: &str, test: Test, why: &'static str, hint: &str) -> Check {
    Check {
        name: name.into(),
        test,
        why,
        hint: hint.into(),
    }
}

/// The port of the kubelet, which is the same everywhere.
const KUBELET: u16 = 10250;

fn ports(settings: &Settings) -> impl Iterator<Item = Check> {
    component_ports(settings).chain([port_free(KUBELET)])
}

/// Lists the ports of the control plane itself.
pub(super) fn component_ports(settings: &Settings) -> impl Iterator<Item = Check> {
    let plane = &settings.cluster.control_plane;
    let ports = [plane.endpoint.port].into_iter().chain(plane.ports.all());
    ports.map(port_free)
}

fn port_free(port: u16) -> Check {
    Check {
        name: format!("Port-{port}"),
        test: Test::PortFree(port),
        why: "A component of the control plane listens there, and ends at once if it cannot.",
        hint: format!("`ss -ltnp 'sport = :{port}'` names who listens; stop it"),
    }
}

fn programs(settings: &Settings) -> Vec<Check> {
    let kubelet = &settings.cluster.node.kubelet;
    vec![
        Check {
            name: "KubeletVersion".into(),
            test: Test::Program {
                argv: vec![kubelet.clone(), "--version".into()],
                folders: vec![],
                fits: Some(settings.cluster.kubernetes_version.clone()),
            },
            why: "The kubelet runs the static pods; one that is too new or too old is refused.",
            hint: format!("install a kubelet that fits at {kubelet}, or set spec.node.kubelet"),
        },
        check(
            "CRI",
            Test::Runtime,
            "Without a container runtime the kubelet starts nothing.",
            "install containerd",
        ),
    ]
}

fn machine_state(settings: &Settings) -> Vec<Check> {
    let mut checks = own_ground(settings, ROOM);
    checks.extend([
        check(
            "Swap",
            Test::NoSwap,
            "The kubelet refuses to start beside swap, unless its config says otherwise.",
            "`swapoff -a`, and remove it from /etc/fstab",
        ),
        check(
            "SystemVerification",
            Test::Cgroups(&["cpu", "memory", "pids"]),
            "The kubelet limits pods by control groups.",
            "enable the controllers at boot, as with `cgroup_enable=memory`",
        ),
        check(
            "Service-Route",
            Test::Route(settings.cluster.network.service_cidr),
            "Without a route the API server cannot call webhooks or aggregated APIs: `network is \
             unreachable`.",
            "nothing to do: `node-network` of the release adds the route",
        ),
        check(
            "Release-Pinned",
            Test::Pinned(asset(settings, RELEASE)),
            "A tag can be moved to another image at any time; what runs must be what was looked at.",
            "give spec.release.dir, or insist with --insecure-unpinned-release",
        ),
    ]);
    checks
}

/// Lists what a control plane needs wherever it runs.
pub(super) fn own_ground(settings: &Settings, room: u64) -> Vec<Check> {
    vec![
        check(
            "DirAvailable--var-lib-etcd",
            Test::Empty(machine("var/lib/etcd")),
            "There is the data of an etcd that is not ours; starting on it would mix two clusters.",
            "save it and move it away, or `bootlace undo` what made it",
        ),
        check(
            "DirAvailable--etc-kubernetes-manifests",
            Test::Empty(machine("etc/kubernetes/manifests")),
            "What lies there would be started beside our own pods.",
            "move it away",
        ),
        Check {
            name: "Disk".into(),
            test: Test::Room {
                path: machine("var/lib/etcd"),
                bytes: room,
            },
            why: "An etcd without room stops, and the API with it.",
            hint: "`df -h /var/lib` shows it; make room".into(),
        },
        check(
            "Clock",
            Test::Clock {
                certificate: asset(settings, "tls/apiserver.crt"),
            },
            "A certificate that is not valid yet, or not any more, is trusted by nobody.",
            "set the clock right (`date`), or make the assets anew",
        ),
        check(
            "Hostname",
            Test::NodeName(settings.cluster.control_plane.node_name.clone()),
            "The node's name stands in certificates and must be a DNS name in small letters.",
            "`hostnamectl set-hostname NAME`, or set spec.controlPlane.nodeName",
        ),
    ]
}
