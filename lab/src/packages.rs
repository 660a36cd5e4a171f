//! Debian packages that the lab needs on this computer.

use std::path::Path;

use crate::error::LabError;
use crate::program;
use crate::progress::Progress;

/// Programs and the packages that bring them.
const NEEDED: &[(&str, &str)] = &[
    ("debootstrap", "debootstrap"),
    ("systemd-nspawn", "systemd-container"),
    ("ip", "iproute2"),
    ("unshare", "util-linux"),
    ("cc", "build-essential"),
    ("make", "build-essential"),
    ("bzip2", "bzip2"),
    ("wget", "wget"),
    ("ldd", "libc-bin"),
    ("gpgv", "gpgv"),
];

/// By what debootstrap knows Debian's signatures, and the package that brings it.
const KEYRING: (&str, &str) = (
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "debian-archive-keyring",
);

/// Headers that Ignition's C code includes, and the packages that bring them.
const NEEDED_BY_IGNITION: &[(&str, &str)] = &[("/usr/include/blkid/blkid.h", "libblkid-dev")];

/// Lists the packages that Ignition cannot be built without.
pub(crate) fn missing_for_ignition() -> Vec<&'static str> {
    let headers = NEEDED_BY_IGNITION
        .iter()
        .filter(|(header, _)| !Path::new(header).is_file());
    let compiler = program::find("cc").is_none().then_some("build-essential");
    headers
        .map(|(_, package)| *package)
        .chain(compiler)
        .collect()
}

/// Lists the packages whose programs are missing.
pub(crate) fn missing() -> Vec<&'static str> {
    let missing = NEEDED
        .iter()
        .filter(|(program, _)| program::find(program).is_none());
    let (keyring, package) = KEYRING;
    let keyring = (!Path::new(keyring).is_file()).then_some(package);
    missing
        .map(|(_, package)| *package)
        .chain(keyring)
        .collect()
}

/// Installs packages.
pub(crate) fn install(packages: &[&str], progress: &Progress) -> Result<(), LabError> {
    if packages.is_empty() {
        return Ok(());
    }
    let names = packages.join(" ");
    if !rustix::process::geteuid().is_root() {
        return Err(LabError::Missing {
            hint: format!("as root: apt-get install {names}"),
            what: names,
        });
    }
    if program::find("apt-get").is_none() {
        return Err(LabError::Missing {
            what: names,
            hint: "this system has no apt-get; install them with its own package manager".into(),
        });
    }
    let task = progress.task(&format!("installs {names}"));
    let apt = |arguments: &[&str]| {
        let mut command = program::command("apt-get");
        command.args(["--quiet", "--yes"]).args(arguments);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        program::run("installing packages", &mut command, |line| {
            task.detail(line);
        })
    };
    let install: Vec<&str> = ["install", "--no-install-recommends"]
        .into_iter()
        .chain(packages.iter().copied())
        .collect();
    // Lists of packages may be old or missing. Some of their sources may be out of reach, which need not
    // matter: the second try tells.
    if apt(&install).is_err() {
        let refreshed = apt(&["update"]);
        apt(&install).map_err(|error| refreshed.err().unwrap_or(error))?;
    }
    Ok(())
}
