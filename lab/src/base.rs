//! The root of every machine, in two layers that never change once they are made: a small Debian with
//! systemd and containerd, and on top of it the few files that make it a machine of the lab. Making the
//! first takes minutes; the second can be changed at will.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::{Cache, Lock, Product};
use crate::error::LabError;
use crate::files;
use crate::key::Key;
use crate::program;
use crate::progress::Progress;
use crate::sources::Sources;

/// Changes when Debian's layer is made in another way.
const DEBIAN_RECIPE: u32 = 1;

/// Changes when the settings are made in another way.
const SETTINGS_RECIPE: u32 = 2;

/// The release of Debian.
pub(crate) const SUITE: &str = "bookworm";

/// What is installed besides the smallest possible system.
const PACKAGES: &[&str] = &[
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
    "netbase",
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
    /// What Debian's layer is made from.
    pub(crate) key: String,
    debian: Product,
    settings: Product,
    files: PathBuf,
}

impl Base {
    /// Finds out where it is or will be.
    pub(crate) fn find(sources: &Sources, cache: &Cache) -> Result<Self, LabError> {
        let files = sources.path("root");
        let key = Key::new("debian", DEBIAN_RECIPE)
            .text("suite", SUITE)
            .text("packages", &PACKAGES.join(" "))
            .text("architecture", std::env::consts::ARCH)
            .finish();
        let settings = Key::new("settings", SETTINGS_RECIPE)
            .text("masked", &MASKED.join(" "))
            .folder(&files)?
            .finish();
        Ok(Self {
            debian: cache.product("debian", &key),
            settings: cache.product("settings", &settings),
            key,
            files,
        })
    }

    /// Returns the folder of Debian's layer.
    pub(crate) fn debian(&self) -> PathBuf {
        self.debian.path().join("root")
    }

    /// Returns both layers, the first on top.
    pub(crate) fn layers(&self) -> [PathBuf; 2] {
        [self.settings.path().to_owned(), self.debian()]
    }

    /// Says what will be made; none if it is there.
    pub(crate) fn todo(&self) -> Option<String> {
        let count = PACKAGES.len();
        let what = format!(
            "make a machine's root with debootstrap (Debian {SUITE}, {count} packages and what they need, about 2 minutes)"
        );
        (!self.debian.is_ready()).then_some(what)
    }

    /// Makes both layers, unless they are there.
    pub(crate) fn make(&self, lock: &Lock, progress: &Progress) -> Result<(), LabError> {
        self.debian.make(lock, |folder| {
            let task = progress.task("makes a machine's root");
            let root = folder.join("root");
            bootstrap(&root, PACKAGES, |line| {
                task.detail(line.trim_start_matches("I: "));
            })?;
            let mut query = program::command("chroot");
            query.arg(&root).args(["dpkg-query", "--show"]);
            let packages = program::run("listing packages", &mut query, |_| {})?;
            files::write(&folder.join("packages.txt"), packages.as_bytes())?;
            forget(&root)
        })?;
        self.settings
            .make(lock, |folder| settle(folder, &self.files))
    }
}

/// Makes a small Debian with some packages in it.
pub(crate) fn bootstrap(
    root: &Path,
    packages: &[&str],
    on_line: impl Fn(&str) + Sync,
) -> Result<(), LabError> {
    let mut command = debootstrap(root, packages);
    command.args(std::env::var("BOOTLACE_DEBIAN_MIRROR").ok());
    program::run("making a root with debootstrap", &mut command, on_line)?;
    Ok(())
}

/// Returns the call of debootstrap, to which a mirror can be added.
fn debootstrap(root: &Path, packages: &[&str]) -> Command {
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
        // Packages become root's programs, so a mirror has to prove that they are Debian's.
        .args(["debootstrap", "--force-check-gpg", "--variant=minbase"])
        .arg(format!("--include={}", packages.join(",")))
        .arg(SUITE)
        .arg(root);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/local/sbin:/usr/sbin:/sbin"));
    command
}

/// Removes what a root knows of the computer on which it was made, and what was downloaded for it.
fn forget(root: &Path) -> Result<(), LabError> {
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

/// Lays out what makes a root a machine of the lab.
fn settle(layer: &Path, files: &Path) -> Result<(), LabError> {
    for relative in files::below(files)? {
        files::copy(&files.join(&relative), &layer.join(&relative))?;
    }
    let units = layer.join("etc/systemd/system");
    link(
        "../lab-early.service",
        &units.join("sysinit.target.wants/lab-early.service"),
    )?;
    for unit in MASKED {
        link("/dev/null", &units.join(unit))?;
    }
    // The id that the bus got when its package was installed would be that of every machine.
    link("/etc/machine-id", &layer.join("var/lib/dbus/machine-id"))?;
    // Where others look for the plugins of the network.
    link("/usr/lib/cni", &layer.join("opt/cni/bin"))?;
    files::folder(&layer.join("etc/cni/net.d"))?;
    files::folder(&layer.join("var/log/journal"))
}

/// Makes a link, and the folders above it.
fn link(to: &str, at: &Path) -> Result<(), LabError> {
    if let Some(parent) = at.parent() {
        files::folder(parent)?;
    }
    symlink(to, at).map_err(LabError::file("make the link", at))
}

#[cfg(test)]
mod tests {
    use bootlace_test_notes::skip;

    use super::*;
    use crate::packages;

    /// Tells why debootstrap cannot be tried here, if so.
    fn why_not() -> Option<String> {
        if !rustix::process::geteuid().is_root() {
            return Some("debootstrap needs root".into());
        }
        let missing = packages::missing().into_iter();
        let needed = [
            "debootstrap",
            "gpgv",
            "debian-archive-keyring",
            "util-linux",
        ];
        let missing: Vec<&str> = missing.filter(|name| needed.contains(name)).collect();
        let names = missing.join(" ");
        (!missing.is_empty()).then(|| format!("missing on this computer: {names}"))
    }

    /// Makes a mirror whose list of packages nobody has signed.
    fn unsigned_mirror(folder: &Path) -> String {
        let suite = folder.join("dists").join(SUITE);
        fs::create_dir_all(&suite).unwrap();
        let release = format!("Suite: {SUITE}\nCodename: {SUITE}\nComponents: main\nSHA256:\n");
        fs::write(suite.join("Release"), release).unwrap();
        format!("file://{}", folder.display())
    }

    /// Calls debootstrap as the lab does, and returns why it refuses.
    fn refusal(folder: &Path, own_folder: Option<&Path>) -> String {
        let mirror = unsigned_mirror(&folder.join("mirror"));
        let mut command = debootstrap(&folder.join("root"), &["bash"]);
        command.arg(mirror);
        command.envs(own_folder.map(|folder| ("DEBOOTSTRAP_DIR", folder)));
        let ended = program::run("a test", &mut command, |_| {});
        ended.unwrap_err().to_string()
    }

    #[test]
    fn a_mirror_that_is_not_signed_is_refused() {
        if let Some(why) = why_not() {
            skip!(why);
        }
        let folder = tempfile::tempdir().unwrap();
        let said = refusal(folder.path(), None);
        assert!(
            said.contains("Failed getting release signature file"),
            "{said}"
        );
    }

    #[test]
    fn without_debian_s_keys_no_mirror_is_trusted() {
        if let Some(why) = why_not() {
            skip!(why);
        }
        let folder = tempfile::tempdir().unwrap();
        // Debian's own scripts, which do not find the keys where they look for them.
        let scripts = folder.path().join("debootstrap");
        let source = Path::new("/usr/share/debootstrap");
        fs::create_dir_all(scripts.join("scripts")).unwrap();
        fs::copy(source.join("functions"), scripts.join("functions")).unwrap();
        let names = fs::read_dir(source.join("scripts")).unwrap();
        for name in names.map(|entry| entry.unwrap().file_name()) {
            let text = fs::read_to_string(source.join("scripts").join(&name)).unwrap();
            let nowhere = folder.path().join("no-keys").display().to_string();
            let text = text.replace("/usr/share/keyrings", &nowhere);
            fs::write(scripts.join("scripts").join(&name), text).unwrap();
        }
        let said = refusal(folder.path(), Some(&scripts));
        assert!(said.contains("Keyring-based check was requested"), "{said}");
    }

    #[test]
    fn a_machine_s_settings_are_laid_out_as_on_the_machine() {
        let layer = tempfile::tempdir().unwrap();
        settle(layer.path(), &Sources::own().path("root")).unwrap();
        let early = layer.path().join("usr/local/sbin/lab-early");
        assert_eq!(
            fs::metadata(early).unwrap().permissions().mode() & 0o777,
            0o755
        );
        let wants = layer
            .path()
            .join("etc/systemd/system/sysinit.target.wants/lab-early.service");
        assert!(fs::metadata(wants).unwrap().is_file());
        let masked = layer.path().join("etc/systemd/system/apt-daily.timer");
        assert_eq!(fs::read_link(masked).unwrap(), Path::new("/dev/null"));
        let config = fs::read_to_string(layer.path().join("etc/containerd/config.toml")).unwrap();
        assert!(
            config.contains("sandbox_image = \"registry.bootlace.test/pause:1\""),
            "{config}"
        );
    }
}
