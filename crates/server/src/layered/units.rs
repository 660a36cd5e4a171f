//! The units of a machine's first boot.

use serde_json::{Value, json};

use super::RECORD;
use super::image::Images;

/// The one that pulls bootlace.
pub(super) const PULL: &str = "bootlace-pull.service";
/// The one that runs it.
pub(super) const FIRST_BOOT: &str = "bootlace-first-boot.service";
/// Where bootlace is until the machine moves to its image.
const BINARY: &str = "/run/bootlace/bootlace";
/// What must not start before the first boot is over.
pub(super) const WAITING: [&str; 2] = ["kubelet.service", "crio.service"];
/// What starts the first boot.
pub(super) const WANTED_BY: &str = "multi-user.target";

/// Returns the units as Ignition writes them.
pub(super) fn units(images: &Images, pull_secret: Option<&str>) -> Value {
    json!([
        {"name": PULL, "enabled": true, "contents": pull(images, pull_secret)},
        {"name": FIRST_BOOT, "enabled": true, "contents": first_boot()},
    ])
}

/// Pulls the image that holds bootlace, and takes the binary out. Thirty attempts are enough for any
/// registry that works; after that the failure is to be seen, not hidden in a loop.
fn pull(images: &Images, pull_secret: Option<&str>) -> String {
    let secret = pull_secret.map_or(String::new(), |path| format!(" --authfile={path}"));
    let image = &images.bootlace;
    let waiting = WAITING.join(" ");
    format!(
        "[Unit]\n\
         Description=Pull bootlace, which moves this machine to its image\n\
         ConditionPathExists={RECORD}\n\
         Wants=network-online.target\n\
         After=network-online.target\n\
         Before={FIRST_BOOT} {waiting}\n\
         StartLimitIntervalSec=1d\n\
         StartLimitBurst=30\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         Restart=on-failure\n\
         RestartSec=10\n\
         TimeoutStartSec=3min\n\
         RuntimeDirectory=bootlace\n\
         RuntimeDirectoryPreserve=yes\n\
         EnvironmentFile=-/etc/mco/proxy.env\n\
         ExecStart=/usr/bin/podman pull --quiet{secret} {image}\n\
         ExecStart=/usr/bin/podman create --replace --name=bootlace-pull --pull=never {image} {BINARY}\n\
         ExecStart=/usr/bin/podman cp bootlace-pull:/usr/bin/bootlace {BINARY}\n\
         ExecStart=/usr/bin/podman rm --force bootlace-pull\n\
         ExecStart=-/usr/bin/chcon --reference=/usr/bin/podman {BINARY}\n\
         ExecStart={BINARY} --version\n\
         \n\
         [Install]\n\
         RequiredBy={FIRST_BOOT}\n"
    )
}

/// Runs bootlace. What waits for it requires it, so that a failed first boot does not let a kubelet
/// join with half a system.
fn first_boot() -> String {
    let waiting = WAITING.join(" ");
    format!(
        "[Unit]\n\
         Description=Move this machine to its image\n\
         ConditionPathExists={RECORD}\n\
         Requires={PULL}\n\
         After={PULL}\n\
         Before=kubelet-dependencies.target {waiting}\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         TimeoutStartSec=1h\n\
         EnvironmentFile=-/etc/mco/proxy.env\n\
         ExecStart={BINARY} run node --first-boot={RECORD}\n\
         \n\
         [Install]\n\
         WantedBy={WANTED_BY}\n\
         RequiredBy={waiting}\n"
    )
}
