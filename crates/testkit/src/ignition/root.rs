//! What is on a machine before a config is applied to it.

use std::fs;
use std::io::Result;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::dice::Dice;

/// Users that are there.
pub const USERS: &[&str] = &["core", "old", "root"];
/// Groups that are there.
pub const GROUPS: &[&str] = &["core", "docker", "old", "wheel"];
/// Units that are there: one is enabled, one is masked, one is neither.
pub const UNITS: &[&str] = &["masked.service", "on.service", "present.service"];
/// A file that is there and that configs leave as it is.
pub const LINKED: &str = "/etc/issue";
/// Paths at which something is, at which it is in the way, or that lead through a link.
pub const PATHS: &[&str] = &[
    "/etc/app",
    "/etc/app/new.conf",
    "/etc/app/old.conf",
    "/etc/app/old.conf/below",
    "/etc/current",
    "/etc/current/new.conf",
    "/etc/current/other/deep.conf",
    "/etc/hosts",
    "/etc/motd",
    "/home/core/file",
    "/opt/dangling",
    "/opt/dangling/file",
    "/opt/hosts",
    "/opt/loop/file",
    "/run/file",
    "/srv/data",
    "/srv/data/inner",
    "/srv/data/inner/leaf",
    "/srv/pipe",
    "/var/run/file",
    "/var/run/file/below",
];

const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash
core:x:1000:1000:CoreOS Admin:/home/core:/bin/bash
old:x:1001:1001::/var/home/old:/sbin/nologin
";
const GROUP: &str = "root:x:0:
wheel:x:10:core
docker:x:999:
core:x:1000:
old:x:1001:
";
const SHADOW: &str = "root:*:15887:0:::::
core:*:15887:0:::::
old:!:15887:0:::::
";
const GSHADOW: &str = "root:*::root
wheel:*::core
docker:!::
core:!*::
old:!*::
";
const LOGIN_DEFS: &str = "UID_MIN 1000
UID_MAX 60000
SYS_UID_MIN 201
SYS_UID_MAX 999
GID_MIN 1000
GID_MAX 60000
SYS_GID_MIN 201
SYS_GID_MAX 999
CREATE_HOME yes
UMASK 077
USERGROUPS_ENAB yes
ENCRYPT_METHOD SHA512
";
const UNIT: &str = "[Service]\nExecStart=/bin/true\n\n[Install]\nWantedBy=multi-user.target\n";

/// Makes a root in an empty folder; equal dice make equal roots.
pub fn make(folder: &Path, dice: &mut Dice) -> Result<()> {
    let root = Root { folder };
    root.own("", 0o755, 0, 0)?;
    root.accounts(dice)?;
    root.files(dice)?;
    root.units(dice)
}

/// A folder that is filled.
struct Root<'a> {
    folder: &'a Path,
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests fill real folders beside the port"
)]
impl Root<'_> {
    fn accounts(&self, dice: &mut Dice) -> Result<()> {
        self.file("etc/passwd", PASSWD, 0o644)?;
        self.file("etc/group", GROUP, 0o644)?;
        self.file("etc/shadow", SHADOW, 0o600)?;
        if dice.percent(80) {
            self.file("etc/gshadow", GSHADOW, 0o600)?;
        }
        if dice.percent(80) {
            self.file("etc/login.defs", LOGIN_DEFS, 0o644)?;
        }
        if dice.percent(60) {
            self.file("etc/skel/.profile", "umask 022\n", 0o644)?;
        }
        if dice.percent(30) {
            self.file("etc/subuid", "core:100000:65536\n", 0o644)?;
            self.file("etc/subgid", "core:100000:65536\n", 0o644)?;
        }
        self.directory("root", 0o700, 0, 0)?;
        self.directory("var/home", 0o755, 0, 0)?;
        self.directory("var/home/old", 0o700, 1001, 1001)?;
        if dice.percent(30) {
            self.link("home", "var/home")?;
            self.directory("var/home/core", 0o700, 1000, 1000)
        } else {
            self.directory("home/core", 0o700, 1000, 1000)
        }
    }

    fn files(&self, dice: &mut Dice) -> Result<()> {
        self.file("etc/issue", "welcome\n", 0o644)?;
        self.file("etc/hosts", "127.0.0.1 localhost\n", 0o644)?;
        self.file("etc/motd", "hello\n", 0o600)?;
        self.own("etc/motd", 0o600, 10, 20)?;
        self.directory("etc/app", 0o750, 10, 20)?;
        self.file("etc/app/old.conf", "old = true\n", 0o640)?;
        self.link("etc/current", "/etc/app")?;
        // The journal is kept in it.
        self.directory("var/lib", 0o755, 0, 0)?;
        self.directory("run", 0o755, 0, 0)?;
        self.link("var/run", "../run")?;
        self.directory("opt", 0o755, 0, 0)?;
        self.link("opt/hosts", "/etc/hosts")?;
        self.link("opt/dangling", "/nowhere/at/all")?;
        self.link("opt/loop", "loop")?;
        self.file("srv/data/inner/leaf", "leaf\n", 0o644)?;
        self.own("srv/data/inner", 0o1777, 5, 6)?;
        if dice.percent(50) {
            let pipe = self.folder.join("srv/pipe");
            mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o644), 0)?;
        }
        Ok(())
    }

    fn units(&self, dice: &mut Dice) -> Result<()> {
        let units = "etc/systemd/system";
        self.file(&format!("{units}/on.service"), UNIT, 0o644)?;
        self.file(&format!("{units}/present.service"), UNIT, 0o644)?;
        self.link(&format!("{units}/masked.service"), "/dev/null")?;
        self.directory(&format!("{units}/multi-user.target.wants"), 0o755, 0, 0)?;
        let wants = format!("{units}/multi-user.target.wants/on.service");
        self.link(&wants, "/etc/systemd/system/on.service")?;
        if dice.percent(10) {
            let preset = "etc/systemd/system-preset/20-ignition.preset";
            self.file(preset, "enable before.service\n", 0o644)?;
        }
        Ok(())
    }

    fn directory(&self, path: &str, mode: u32, user: u32, group: u32) -> Result<()> {
        fs::create_dir_all(self.folder.join(path))?;
        self.own(path, mode, user, group)
    }

    fn file(&self, path: &str, content: &str, mode: u32) -> Result<()> {
        let place = self.folder.join(path);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&place, content)?;
        fs::set_permissions(&place, fs::Permissions::from_mode(mode))
    }

    fn link(&self, path: &str, target: &str) -> Result<()> {
        symlink(target, self.folder.join(path))
    }

    fn own(&self, path: &str, mode: u32, user: u32, group: u32) -> Result<()> {
        let place = self.folder.join(path);
        chown(&place, Some(user), Some(group))?;
        fs::set_permissions(&place, fs::Permissions::from_mode(mode))
    }
}
