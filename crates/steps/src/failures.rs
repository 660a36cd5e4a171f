//! Failures that are known for the steps of a cluster, as one table.
//!
//! Steps name them by their codes, `explain` and the book tell what a code means, and the lines by
//! which a wait ends early come from the same rows. A code is a name for ever.

use bootlace_model::failure::KnownFailure;
use bootlace_model::symptom::KnownLine;

/// Every failure that a step of ours names, by code.
pub(crate) static FAILURES: &[KnownFailure] = &[
    // What an earlier try left behind.
    row(
        "F-01",
        "`/etc/kubernetes/manifests/…-pod.yaml: file exists`, at every start anew",
        "an earlier start was killed, and whoever starts now insists that its files are absent",
        "`bootlace resume cluster` knows its own files again; move files of somebody else away",
    ),
    row(
        "F-02",
        "`container name … is already in use`, at every try anew",
        "a container of an earlier try was created and never removed",
        "`podman ps -a` lists it, `podman rm -f NAME` removes it; then `bootlace resume cluster`",
    ),
    row(
        "F-03",
        "a unit is `active (exited)` and is never tried again",
        "the unit remembers that it ended, so that systemd takes its failure for success",
        "`systemctl restart UNIT`; a unit that shall be tried again has no `RemainAfterExit=`",
    ),
    row(
        "F-04",
        "objects `already exist` and never become what the manifests say",
        "an earlier run created them and died, and whoever works now only creates and never corrects",
        "look for the first run that failed (`bootlace runs`); bootlace applies, so its own `resume` corrects",
    ),
    row(
        "F-05",
        "`layer not known`, or images without a size",
        "the container storage was damaged by a stop in the middle of a write",
        "empty the storage of containers and load the images again",
    ),
    // Certificates and clocks.
    CERTIFICATE_TIME,
    row(
        "F-07",
        "certificates are expired although the assets were just made",
        "the assets were made from the state of an earlier try, and its certificates came with it",
        "`bootlace pki check` shows the dates; make the assets in an empty folder",
    ),
    row(
        "F-08",
        "`current time … is before …`",
        "this machine's clock is behind that of the machine that made the certificates",
        "set the clock (`date`, `timedatectl`); spec.pki.backDate makes certificates begin earlier",
    ),
    row(
        "F-09",
        "a registry's certificate is `not yet valid`",
        "this machine's clock is wrong, not the registry",
        "set the clock (`date`, `timedatectl`), then try again",
    ),
    OTHER_AUTHORITY,
    row(
        "F-11",
        "a cluster that was shut down on its first day does not come back",
        "the kubelets' first certificates were valid for a day and could not be renewed while it was off",
        "`kubectl get csr` lists requests that wait; `kubectl certificate approve NAME` grants one",
    ),
    // The release and its images.
    row(
        "F-12",
        "`unauthorized: authentication required` when the release is pulled",
        "the credentials for that registry are missing or wrong",
        "correct the credentials for the very host that the line names",
    ),
    row(
        "F-13",
        "`certificate signed by unknown authority` when an image is pulled from a mirror",
        "the machine does not trust the authority of the mirror",
        "add the mirror's authority to those that the machine trusts",
    ),
    row(
        "F-14",
        "the release is there, but the image of one component cannot be pulled",
        "that image lies in another repository, which is not mirrored or not allowed",
        "mirror both repositories, or load the image into the runtime beforehand",
    ),
    row(
        "F-15",
        "the release cannot be asked for its contents where there is no way out",
        "the question goes to the registry itself and not to the mirror",
        "extract the release elsewhere and give it as a folder (spec.release.dir)",
    ),
    row(
        "F-16",
        "`manifest unknown`",
        "the registry no longer has an image of this release",
        "use a release that the registry still has, or a copy of your own",
    ),
    row(
        "F-17",
        "`could not find … in UpdatePayload`, or a component that the release does not list",
        "the tool and the release are of different versions",
        "use the tool that belongs to the release; `bootlace explain cluster --only release-info` tells what is read",
    ),
    UNKNOWN_FLAG,
    row(
        "F-19",
        "`no such host`, or a timeout when a registry is dialled",
        "names, proxy or firewall keep the machine from the registry",
        "try the same from the machine by hand (`getent hosts NAME`, `curl -v URL`)",
    ),
    row(
        "F-20",
        "`429 toomanyrequests`",
        "the registry limits how much an unknown client may pull",
        "authenticate, use a mirror, or load the images beforehand",
    ),
    row(
        "F-21",
        "`exec format error`, or a release that says another architecture",
        "the release was made for another kind of processor",
        "use the release for this machine's architecture (`uname -m`)",
    ),
    // The machine.
    row(
        "F-22",
        "`Dependency failed for …`: a unit never runs",
        "a unit that it requires failed before",
        "`systemctl list-units --failed` names the first one; repair that",
    ),
    row(
        "F-23",
        "the container runtime does not start: a path `exists and is not a directory`",
        "a file or a dangling link lies where the runtime wants a folder",
        "`journalctl -u containerd` names the path; remove what lies there",
    ),
    row(
        "F-24",
        "no sandbox can be made for any pod",
        "the pause image of the runtime's config is not on the machine, and nobody can pull it",
        "load the image, or name one that is there in the runtime's config (`sandbox_image`)",
    ),
    row(
        "F-25",
        "static pods are killed and started again; the kubelet complains of its cgroup driver",
        "kubelet and runtime do not agree on who makes control groups",
        "let spec.node.cgroupDriver and the runtime's config (`SystemdCgroup`) say the same",
    ),
    row(
        "F-26",
        "`unknown service runtime.v1.RuntimeService`",
        "the runtime is too old, or its interface for the kubelet is switched off",
        "remove `cri` from `disabled_plugins` in /etc/containerd/config.toml, or install a newer runtime",
    ),
    row(
        "F-27",
        "a component disappears, and the kernel speaks of `oom-killer`",
        "the machine has too little memory",
        "`journalctl -k` names what was killed; give the machine more memory",
    ),
    DISK_FULL,
    row(
        "F-29",
        "etcd logs `slow fdatasync` or `apply request took too long`; the API comes and goes",
        "the disk under /var/lib/etcd is too slow",
        "give etcd a faster disk, or one that it need not share",
    ),
    PORT_TAKEN,
    NO_SUCH_ADDRESS,
    row(
        "F-32",
        "a container ends at once: `CPU does not support x86-64-v2`",
        "the virtual machine shows its guests an older processor than the image needs",
        "let the virtual machine use the processor of its host",
    ),
    row(
        "F-33",
        "probes time out, and everything is late",
        "the machine is too slow: no virtualisation of the hardware, or too few processors",
        "switch virtualisation on, or give it more processors",
    ),
    // Names and ways between machines.
    row(
        "F-34",
        "a new machine cannot resolve the name of the API while it fetches its first config",
        "no name server is known that early in its boot",
        "let DHCP hand one out, or name one on its kernel command line",
    ),
    row(
        "F-35",
        "the first machine cannot resolve the cluster's own name",
        "its resolver does not ask the server that knows the name",
        "`getent hosts NAME` shows what it gets; correct /etc/nsswitch.conf or /etc/resolv.conf",
    ),
    row(
        "F-36",
        "new machines get `connection refused` from the config server",
        "the load balancer does not lead to the config server; a connection that is cut means that it is not up yet",
        "add the config server's port to the load balancer",
    ),
    row(
        "F-37",
        "the API answers on its own machine and not at spec.controlPlane.endpoint",
        "the load balancer or a proxy on the way does not pass TLS through",
        "let the load balancer pass TCP through, and keep proxies out of the way",
    ),
    row(
        "F-38",
        "the virtual address of the API comes and goes",
        "another cluster in the same network uses the same VRRP id",
        "give each cluster an id of its own, or use unicast",
    ),
    row(
        "F-39",
        "a client waits for ever although the bootstrap is complete",
        "the load balancer keeps its connection to a machine that is gone",
        "end the client and start it again; let the load balancer reset such connections",
    ),
    row(
        "F-40",
        "nothing is ever reported, and there is a proxy",
        "requests to the API go through the proxy",
        "add the API's name and the cluster's networks to NO_PROXY",
    ),
    row(
        "F-41",
        "the node is called `localhost`",
        "the machine had no name of its own when its kubelet started",
        "`hostnamectl set-hostname NAME`, or set spec.controlPlane.nodeName",
    ),
    row(
        "F-42",
        "a machine that waits loses its address",
        "its DHCP lease is shorter than the wait",
        "make leases longer, or give it a fixed address",
    ),
    row(
        "F-43",
        "a worker is refused by the config server of the bootstrap",
        "it came too early: only the control plane is served until the hand-over",
        "nothing; it asks again, and is served later",
    ),
    // The cluster.
    row(
        "F-44",
        "etcd refuses connections, and everything waits for it",
        "its pod does not run, for a reason that lies with kubelet, runtime or image",
        "`journalctl -u kubelet` and /var/log/pods name the reason; etcd itself has none",
    ),
    row(
        "F-45",
        "`timed out waiting for the condition`, without any node or certificate request",
        "no other machine ever joined",
        "look at the console of one of them: names (F-34), the load balancer (F-36), trust (F-10)",
    ),
    row(
        "F-46",
        "certificate requests stay `Pending`",
        "nobody approves them",
        "`kubectl get csr`; `kubectl certificate approve NAME` once you know whose it is",
    ),
    row(
        "F-47",
        "`rendered-… not found`: machines are degraded",
        "the config that a machine was born with differs from the one that the cluster renders",
        "compare both; usually a manifest of your own went to one of them only",
    ),
    row(
        "F-48",
        "a stage cannot read what it renders from",
        "a manifest of yours is broken, or the renderer expects files of another version",
        "the message names the file; correct it, then `bootlace resume cluster`",
    ),
    row(
        "F-49",
        "the wait for etcd's members has no end",
        "not enough healthy members joined",
        "`etcdctl endpoint health --cluster` names those that do not answer; repair their machines",
    ),
    row(
        "F-50",
        "etcd lists a member that is gone",
        "the bootstrap's own member was not removed",
        "`etcdctl member list`, then `etcdctl member remove ID`",
    ),
    row(
        "F-51",
        "a deadline passed, and a little later all was well",
        "the machine is slower than the deadline expects",
        "`bootlace resume cluster` waits again from where it stopped",
    ),
    row(
        "F-52",
        "a new machine never shows up, and cannot be logged in to",
        "its first config could not be applied",
        "only its console shows why; look there",
    ),
    row(
        "F-53",
        "after a reboot the API does not come back",
        "the static pods are not where the kubelet looks for them",
        "`bootlace verify cluster --only start-control-plane` names what is missing",
    ),
    NOT_ALLOWED,
    // Noise.
    row(
        "N-01",
        "`no matches for kind`, or `connection refused` at localhost:6443, in the first minute",
        "nothing: kinds and API are still coming up",
        "wait; it matters only if it does not get less",
    ),
];

/// A certificate and the clock do not agree.
const CERTIFICATE_TIME: KnownFailure = row(
    "F-06",
    "`certificate has expired or is not yet valid`",
    "a certificate is not valid at this machine's time",
    "`date` shows the clock; `bootlace pki check` shows every certificate",
);

/// Two parts of a cluster come from different sets of assets.
const OTHER_AUTHORITY: KnownFailure = row(
    "F-10",
    "`certificate signed by unknown authority` within the cluster",
    "a certificate comes from another authority than the one that is trusted",
    "`bootlace pki check` names the certificate that does not fit",
);

/// Manifest and program are of different versions.
const UNKNOWN_FLAG: KnownFailure = row(
    "F-18",
    "`unknown flag: --…`",
    "it does not know a flag of its manifest: they are of different versions",
    "compare spec.kubernetesVersion with the version of the image or program that runs",
);

/// There is no room.
const DISK_FULL: KnownFailure = row(
    "F-28",
    "`no space left on device`",
    "the disk is full",
    "`df -h /var/lib/etcd` shows it; make room, then `bootlace resume`",
);

/// Two listen on one port.
const PORT_TAKEN: KnownFailure = row(
    "F-30",
    "`bind: address already in use`",
    "somebody else listens on its port",
    "`ss -ltnp` names who; stop it, then `bootlace resume`",
);

/// The machine has another address than the config says.
const NO_SUCH_ADDRESS: KnownFailure = row(
    "F-31",
    "`bind: cannot assign requested address`",
    "this machine does not have the address that the config announces",
    "compare `ip addr` with spec.controlPlane.advertiseAddress",
);

/// An owner or a mode is wrong.
const NOT_ALLOWED: KnownFailure = row(
    "F-54",
    "`permission denied`",
    "it may not read or write what it needs",
    "look at owner and mode of the file that the line names",
);

/// Last words that name their cause, whoever says them.
pub(crate) static KNOWN: &[KnownLine] = &[
    line("address already in use", &PORT_TAKEN),
    line("cannot assign requested address", &NO_SUCH_ADDRESS),
    line("no space left on device", &DISK_FULL),
    line(
        "certificate has expired or is not yet valid",
        &CERTIFICATE_TIME,
    ),
    line("certificate signed by unknown authority", &OTHER_AUTHORITY),
    line("unknown flag", &UNKNOWN_FLAG),
    line("permission denied", &NOT_ALLOWED),
];

/// What keeps two parts of a control plane from talking for ever, whoever of them says it.
pub(crate) static LASTING: &[KnownLine] = &[
    line(
        "certificate has expired or is not yet valid",
        &CERTIFICATE_TIME,
    ),
    line("certificate signed by unknown authority", &OTHER_AUTHORITY),
];

const fn row(
    code: &'static str,
    shows: &'static str,
    cause: &'static str,
    remedy: &'static str,
) -> KnownFailure {
    KnownFailure {
        code,
        shows,
        cause,
        remedy,
    }
}

const fn line(needle: &'static str, failure: &KnownFailure) -> KnownLine {
    KnownLine {
        needle,
        code: failure.code,
        cause: failure.cause,
        hint: failure.remedy,
    }
}
