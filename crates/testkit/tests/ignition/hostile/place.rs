//! A root with traps in it, and something beside it that must not change.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use bootlace_testkit::dice::Dice;
use bootlace_testkit::tree::Snapshot;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use super::Look;
use crate::world::{Root, make_parents};

/// Paths at which traps may be.
pub(super) const TRAPS: &[&str] = &[
    "/a/abs",
    "/a/dangling",
    "/a/device",
    "/a/dir",
    "/a/dir/inner",
    "/a/dir/inner/leaf",
    "/a/file",
    "/a/loop",
    "/a/out",
    "/a/pipe",
    "/a/ring",
    "/a/socket",
    "/a/to-file",
    "/a/twin",
    "/a/up",
    "/b",
    "/b/dir",
    "/etc/passwd",
    "/etc/systemd",
    "/etc/systemd/system",
    "/etc/systemd/system-preset",
    "/etc/systemd/system-preset/20-ignition.preset",
    "/etc/systemd/system/a.service",
    "/etc/systemd/system/a.service.d",
    "/etc/systemd/system/a.service.d/10.conf",
    "/opt",
];

/// A root, and a folder beside it.
pub(super) struct Place {
    pub(super) root: Root,
    outside_before: Snapshot,
}

impl Place {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let root = Root::new();
        let outside = root.around().join("outside");
        fs::create_dir_all(outside.join("folder")).unwrap();
        fs::write(outside.join("file"), "not yours").unwrap();
        fs::write(outside.join("folder/leaf"), "nor this").unwrap();
        symlink("folder", outside.join("link")).unwrap();
        fill(&root, dice, &outside);
        let outside_before = Snapshot::of_folder(&outside, &[]).unwrap();
        Self {
            root,
            outside_before,
        }
    }

    /// Returns the folder beside the root that must not change.
    pub(super) fn outside(&self) -> String {
        self.root.around().join("outside").display().to_string()
    }

    /// Takes everything.
    pub(super) fn look(&self) -> Result<Look, String> {
        let of =
            |folder: &Path| Snapshot::of_folder(folder, &[]).map_err(|error| error.to_string());
        let names = fs::read_dir(self.root.around()).unwrap();
        let names = names.map(|item| item.unwrap().file_name().to_string_lossy().into_owned());
        let beside: BTreeSet<String> = names.collect();
        Ok(Look {
            root: of(&self.root.root())?,
            outside: of(Path::new(&self.outside()))?,
            beside,
        })
    }

    /// Tells whether what is beside the root is as it was.
    pub(super) fn untouched_outside(&self) -> Result<(), String> {
        let now = Snapshot::of_folder(Path::new(&self.outside()), &[])
            .map_err(|error| error.to_string())?;
        let compared = self.outside_before.compare(&now);
        compared.map_err(|difference| format!("outside of the root: {difference}"))
    }
}

/// Puts traps into a root; some are there each time, others now and then.
fn fill(root: &Root, dice: &mut Dice, outside: &Path) {
    let at = |path: &str| root.at(path);
    let outside = outside.to_str().unwrap();
    fs::create_dir_all(at("/a/dir/inner")).unwrap();
    root.put("/a/file", "a file");
    root.put("/a/dir/inner/leaf", "a leaf");
    let mut link = |path: &str, target: &str| {
        if dice.percent(80) {
            make_parents(&at(path));
            symlink(target, at(path)).unwrap();
        }
    };
    link("/a/out", "../../outside");
    link("/a/abs", outside);
    link("/a/up", "../../../../../../../..");
    link("/a/loop", "loop");
    link("/a/ring", "/a/gnir");
    link("/a/gnir", "ring");
    link("/a/dangling", "/nowhere/at/all");
    link("/a/to-file", "file");
    link("/b", "a");
    fs::hard_link(at("/a/file"), at("/a/twin")).unwrap();
    let make = |path: &str, kind: FileType, device: u64| {
        let mode = Mode::from_raw_mode(0o640);
        mknodat(CWD, at(path), kind, mode, device).unwrap();
        chown(at(path), Some(7), Some(8)).unwrap();
    };
    if dice.percent(60) {
        make("/a/pipe", FileType::Fifo, 0);
    }
    if dice.percent(60) {
        drop(UnixListener::bind(at("/a/socket")).unwrap());
    }
    if dice.percent(20) {
        make("/a/device", FileType::CharacterDevice, makedev(1, 3));
    }
    let mode = [0o755, 0o2775, 0o1777, 0o700, 0o000][dice.index(5)];
    fs::set_permissions(at("/a/dir"), fs::Permissions::from_mode(mode)).unwrap();
    chown(at("/a/dir"), Some(3), Some(4)).unwrap();
    trap(root, dice, "/etc/passwd", "root:x:0:0::/root:/bin/sh\n");
    trap(root, dice, "/opt", "not a folder");
    let units = "/etc/systemd/system";
    if trap(root, dice, units, "not a folder either") {
        trap(root, dice, &format!("{units}/a.service"), "[Service]\n");
        let dropins = format!("{units}/a.service.d");
        if trap(root, dice, &dropins, "no folder") {
            trap(root, dice, &format!("{dropins}/10.conf"), "[Unit]\n");
        }
        let preset = "/etc/systemd/system-preset";
        if trap(root, dice, preset, "no folder") {
            let file = format!("{preset}/20-ignition.preset");
            trap(root, dice, &file, "enable before.service\n");
        }
    }
}

/// Puts something at a path, or nothing; tells whether something can be below it.
fn trap(root: &Root, dice: &mut Dice, path: &str, text: &str) -> bool {
    let place = root.at(path);
    make_parents(&place);
    match dice.below(20) {
        0 => symlink("../../../../../outside/folder", &place).unwrap(),
        1 => symlink("/a/file", &place).unwrap(),
        2 => symlink(place.file_name().unwrap(), &place).unwrap(),
        3 => {
            let mode = Mode::from_raw_mode(0o600);
            mknodat(CWD, &place, FileType::Fifo, mode, 0).unwrap();
        }
        4..7 => {
            fs::write(&place, text).unwrap();
        }
        7..12 => {
            fs::create_dir(&place).unwrap();
            return true;
        }
        12 => {
            fs::create_dir(&place).unwrap();
            fs::set_permissions(&place, fs::Permissions::from_mode(0o2711)).unwrap();
            return true;
        }
        _ => return true,
    }
    false
}
