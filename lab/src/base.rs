//! The root of every machine: a small Debian with systemd and containerd, never changed once it is made.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::cache::{Cache, Lock, Product};
use crate::error::LabError;
use crate::files;
use crate::key::Key;
use crate::program;
use crate::progress::Progress;
use crate::sources::Sources;

/// Changes when the root is made in another way.
const RECIPE: u32 = 1;

/// The release of Debian.
const SUITE: &str = "bookworm";

/// What is installed besides the smallest possible system.
const PACKAGES: &[&str] = &[
    "busybox-static",
    "ca-certificates",
    "conntrack",
    "containerd",
    "containernetworking-plugins",
    "curl",
    "dbus",
    "ethtool",
    "iproute2",
    "iptables",
    "kmod",
    "mount",
    "nftables",
    "procps",
    "runc",
    "socat",
    "systemd",
    "systemd-sysv",
    "util-linux",
];

/// Units that a machine of the lab does without, so that it boots in half a second.
const MASKED: &[&str] = &[
    "apt-daily-upgrade.timer",
    "apt-daily.timer",
    "console-getty.service",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "fstrim.timer",
    "getty@.service",
    "modprobe@.service",
    "systemd-pstore.service",
    "systemd-update-utmp-runlevel.service",
    "systemd-update-utmp.service",
];

/// Folders that are emptied: what was downloaded to make the root.
const EMPTIED: &[&str] = &["var/cache/apt/archives", "var/lib/apt/lists"];

/// The base root.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    /// What it is made from.
    pub(crate) key: String,
    product: Product,
    files: PathBuf,
    mirror: Option<String>,
}

impl Base {
    /// Finds out where it is or will be.
    pub(crate) fn find(sources: &Sources, cache: &Cache) -> Result<Self, LabError> {
        let files = sources.path("root");
        let key = Key::new("base", RECIPE)
            .text("suite", SUITE)
            .text("packages", &PACKAGES.join(" "))
            .text("masked", &MASKED.join(" "))
            .text("architecture", std::env::consts::ARCH)
            .folder(&files)?
            .finish();
        Ok(Self {
            product: cache.product("base", &key),
            key,
            files,
            mirror: std::env::var("BOOTLACE_DEBIAN_MIRROR").ok(),
        })
    }

    /// Returns the root's folder.
    pub(crate) fn root(&self) -> PathBuf {
        self.product.path().join("root")
    }

    /// Says what will be made; none if it is there.
    pub(crate) fn todo(&self) -> Option<String> {
        let count = PACKAGES.len();
        let what = format!(
            "make a machine's root with debootstrap (Debian {SUITE}, {count} packages and what they need, about 2 minutes)"
        );
        (!self.product.is_ready()).then_some(what)
    }

    /// Makes it, unless it is there.
    pub(crate) fn make(&self, lock: &Lock, progress: &Progress) -> Result<(), LabError> {
        self.product.make(lock, |folder| {
            let task = progress.task("makes a machine's root");
            let root = folder.join("root");
            self.bootstrap(&root, |line| task.detail(line.trim_start_matches("I: ")))?;
            task.detail("settles it");
            let mut query = program::command("chroot");
            query.arg(&root).args(["dpkg-query", "--show"]);
            let packages = program::run("listing packages", &mut query, |_| {})?;
            files::write(&folder.join("packages.txt"), packages.as_bytes())?;
            self.settle(&root)
        })
    }

    fn bootstrap(&self, root: &Path, on_line: impl Fn(&str) + Sync) -> Result<(), LabError> {
        // In namespaces of its own, so that its mounts and children end with it, however it ends.
        let mut command = program::command("unshare");
        command
            .args([
                "--mount",
                "--propagation=private",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount-proc",
            ])
            .args(["debootstrap", "--variant=minbase"])
            .arg(format!("--include={}", PACKAGES.join(",")))
            .arg(SUITE)
            .arg(root)
            .args(&self.mirror);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:/usr/local/sbin:/usr/sbin:/sbin"));
        program::run("making a machine's root", &mut command, on_line)?;
        Ok(())
    }

    /// Makes a machine of the lab of it.
    fn settle(&self, root: &Path) -> Result<(), LabError> {
        for relative in files::below(&self.files)? {
            let to = root.join(&relative);
            files::copy(&self.files.join(&relative), &to)?;
        }
        let units = root.join("etc/systemd/system");
        link(
            "../lab-early.service",
            &units.join("sysinit.target.wants/lab-early.service"),
        )?;
        for unit in MASKED {
            link("/dev/null", &units.join(unit))?;
        }
        // Where others look for the plugins of the network.
        link("/usr/lib/cni", &root.join("opt/cni/bin"))?;
        files::folder(&root.join("etc/cni/net.d"))?;
        files::folder(&root.join("var/log/journal"))?;
        for folder in EMPTIED {
            files::remove_folder(&root.join(folder))?;
            files::folder(&root.join(folder))?;
        }
        // Each machine gets its own name and id when it boots; none has a name server.
        let hostname = root.join("etc/hostname");
        if hostname.exists() {
            fs::remove_file(&hostname).map_err(LabError::file("remove", &hostname))?;
        }
        for (empty, mode) in [("etc/machine-id", 0o444), ("etc/resolv.conf", 0o644)] {
            let path = root.join(empty);
            files::write(&path, b"")?;
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(&path, mode).map_err(LabError::file("change", &path))?;
        }
        Ok(())
    }
}

/// Makes a link in place of whatever is there, and the folders above it.
fn link(to: &str, at: &Path) -> Result<(), LabError> {
    if let Some(parent) = at.parent() {
        files::folder(parent)?;
    }
    if fs::symlink_metadata(at).is_ok() {
        fs::remove_file(at).map_err(LabError::file("remove", at))?;
    }
    symlink(to, at).map_err(LabError::file("make the link", at))
}
