//! What is built into a layered image, and what stays outside: the one table that decides it.

/// Where a part of a config belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the image alone: the machine gets it when it moves there.
    Image,
    /// In the image, and on the machine until it moves there.
    UntilPivot,
    /// On the machine alone, for good.
    Machine,
    /// In no file: the first boot sees to it before the machine moves to its image.
    FirstBoot,
}

impl Place {
    /// Tells whether a machine gets it from this server.
    pub(crate) fn is_served(self) -> bool {
        matches!(self, Self::UntilPivot | Self::Machine)
    }
}

/// A row: what, where it belongs, and why. What begins with `/` is a path; one that ends in `/` means
/// everything below it. Anything else is a part of the config.
pub(crate) type Row = (&'static str, Place, &'static str);

const SECRET: &str = "a secret: an image is read by everybody who may pull it";
const ROTATES: &str = "renewed while the machine runs, without a new image";
const IDENTITY: &str = "belongs to this one machine";
const PULL: &str = "needed to pull the image, and part of it afterwards";
const NOT_REPLACED: &str = "an image does not replace what is below it on a machine that runs";
const DISK: &str = "made once, before there is a system to put an image on";

/// The table. The first row that fits decides.
pub(crate) const TABLE: [Row; 43] = [
    ("/var/lib/kubelet/config.json", Place::Machine, SECRET),
    ("/etc/kubernetes/kubeconfig", Place::Machine, SECRET),
    ("/etc/kubernetes/ca.crt", Place::Machine, ROTATES),
    ("/etc/kubernetes/kubelet-ca.crt", Place::Machine, ROTATES),
    (
        "/etc/kubernetes/static-pod-resources/",
        Place::Machine,
        ROTATES,
    ),
    ("/etc/bootlace/", Place::Machine, IDENTITY),
    ("/etc/machine-config-daemon/", Place::Machine, IDENTITY),
    ("/etc/hostname", Place::Machine, IDENTITY),
    ("/etc/hosts", Place::Machine, IDENTITY),
    ("/etc/iscsi/initiatorname.iscsi", Place::Machine, IDENTITY),
    (
        "/etc/NetworkManager/system-connections/",
        Place::Machine,
        IDENTITY,
    ),
    ("/etc/sysconfig/network-scripts/", Place::Machine, IDENTITY),
    ("/etc/nmstate/", Place::Machine, IDENTITY),
    ("/etc/NetworkManager/", Place::UntilPivot, PULL),
    ("/etc/sysconfig/network", Place::UntilPivot, PULL),
    ("/etc/resolv.conf", Place::UntilPivot, PULL),
    ("/etc/chrony.conf", Place::UntilPivot, PULL),
    ("/etc/chrony.d/", Place::UntilPivot, PULL),
    ("/etc/mco/proxy.env", Place::UntilPivot, PULL),
    ("/etc/containers/", Place::UntilPivot, PULL),
    ("/etc/docker/certs.d/", Place::UntilPivot, PULL),
    ("/etc/pki/ca-trust/source/anchors/", Place::UntilPivot, PULL),
    ("/var/", Place::Machine, NOT_REPLACED),
    ("/home/", Place::Machine, NOT_REPLACED),
    ("/root/", Place::Machine, NOT_REPLACED),
    ("/opt/", Place::Machine, NOT_REPLACED),
    ("/srv/", Place::Machine, NOT_REPLACED),
    ("/mnt/", Place::Machine, NOT_REPLACED),
    ("/usr/local/", Place::Machine, NOT_REPLACED),
    ("/boot/", Place::Machine, NOT_REPLACED),
    (
        "/etc/",
        Place::Image,
        "the same on all machines of the pool",
    ),
    (
        "/",
        Place::Image,
        "read-only on a machine that runs an image",
    ),
    (
        "ignition",
        Place::UntilPivot,
        "how Ignition fetches: authorities, proxy, timeouts",
    ),
    (
        "passwd",
        Place::Machine,
        "people must be able to log in if the pivot fails; hashes are secrets",
    ),
    ("storage.disks", Place::Machine, DISK),
    ("storage.raid", Place::Machine, DISK),
    ("storage.luks", Place::Machine, DISK),
    ("storage.filesystems", Place::Machine, DISK),
    (
        "systemd",
        Place::Image,
        "units of the pool start what only the image has",
    ),
    (
        "kernelArguments",
        Place::FirstBoot,
        "set together with the image, in one reboot",
    ),
    (
        "spec.kernelArguments",
        Place::FirstBoot,
        "set together with the image, in one reboot",
    ),
    (
        "spec.fips",
        Place::FirstBoot,
        "set by the installer; the first boot checks it and stops if it differs",
    ),
    (
        "spec.extensions, spec.kernelType",
        Place::Image,
        "packages are built in; the first boot checks that the image has them",
    ),
];

/// Returns where a path belongs, and why.
pub(crate) fn of_path(path: &str) -> (Place, &'static str) {
    let mut rows = TABLE.iter();
    let row = rows.find(|(pattern, ..)| {
        pattern.starts_with('/')
            && if pattern.ends_with('/') {
                path.starts_with(pattern)
            } else {
                path == *pattern
            }
    });
    // The row `/` fits every path that a valid config has.
    row.map_or((Place::Image, ""), |(_, place, why)| (*place, *why))
}

/// Returns where a part of a config belongs; none if its entries are looked up by their paths.
pub(crate) fn of_part(part: &str) -> Option<Place> {
    let row = TABLE.iter().find(|(name, ..)| *name == part);
    row.map(|(_, place, _)| *place)
}
