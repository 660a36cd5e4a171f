//! A user on a live machine swaps folders of the own home for links, while root writes and takes back.

#![expect(
    clippy::disallowed_methods,
    reason = "the attacker works by other means than the program under test"
)]

use std::os::unix::fs::{lchown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::program::Place;

/// The user, and the group of the same number.
const USER: u32 = 12_345;

/// How many folders of the home get a file: each is opened for itself, so that there are as many moments
/// at which a link can be in its way.
const FOLDERS: usize = 60;

/// Writes files into folders of the home, and the keys of its user.
fn config() -> String {
    let file = |path: &String| {
        let path = format!("/home/core/swap/{path}");
        json!({"path": path, "overwrite": true, "contents": {"source": "data:,new"}})
    };
    let files: Vec<_> = targets().iter().map(file).collect();
    let keys = ["ssh-ed25519 AAAA core"];
    json!({
        "ignition": {"version": "3.4.0"},
        "storage": {"files": files},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": keys}]},
    })
    .to_string()
}

/// Files that are written below a folder of the home: one that is there already in every second folder.
fn targets() -> Vec<String> {
    let name = |number| if number % 2 == 0 { "old" } else { "new" };
    (0..FOLDERS)
        .map(|number| format!("{number}/{}", name(number)))
        .collect()
}

/// What the attacker wants changed: files of root with the names that the config writes and undo removes.
fn victims() -> Vec<String> {
    let mut victims = targets();
    victims.push("authorized_keys.d/ignition".into());
    victims
}

/// How long the folders stay as they are between two exchanges; an odd number, so that each comes with
/// the folders and with the links in place.
const PAUSES: [Duration; 7] = [
    Duration::from_micros(100),
    Duration::from_millis(150),
    Duration::from_micros(700),
    Duration::from_millis(2),
    Duration::from_millis(40),
    Duration::from_micros(300),
    Duration::from_millis(5),
];

/// How long to attack, and how often at least each verb has to have worked meanwhile.
const ATTACK: Duration = Duration::from_secs(6);
const LONGEST: Duration = Duration::from_mins(2);
const ENOUGH: u32 = 3;

fn machine() -> Place {
    let place = Place::new();
    place.write("node.ign", &config());
    place.write(
        "etc/passwd",
        "root:x:0:0::/root:/bin/sh\ncore:x:12345:12345::/home/core:/bin/sh\n",
    );
    place.write("etc/group", "root:x:0:\ncore:x:12345:\n");
    for victim in victims() {
        place.write(&format!("etc/secret/{victim}"), "of root\n");
        place.write(&format!("home/core/.ssh/{victim}"), "of core\n");
    }
    for number in 0..FOLDERS {
        place.write(&format!("home/core/swap/{number}/old"), "of core\n");
    }
    for name in ["swap", ".ssh"] {
        symlink(
            "../../etc/secret",
            place.path(&format!("home/core/{name}.link")),
        )
        .unwrap();
    }
    give_to_user(&place.path("home/core"));
    place
}

fn give_to_user(path: &Path) {
    lchown(path, Some(USER), Some(USER)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        for entry in path.read_dir().unwrap() {
            give_to_user(&entry.unwrap().path());
        }
    }
}

/// Exchanges folders and links until it is told to stop.
fn swap(homes: &[PathBuf], done: &AtomicBool) {
    // Short pauses hit a verb in its middle, long ones let it come to its end.
    for pause in PAUSES.into_iter().cycle() {
        if done.load(Ordering::Relaxed) {
            return;
        }
        for home in homes {
            let link = home.with_file_name(format!(
                "{}.link",
                home.file_name().unwrap().to_str().unwrap()
            ));
            renameat_with(CWD, home, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        }
        std::thread::sleep(pause);
    }
}

#[test]
fn a_user_who_swaps_folders_for_links_leads_root_nowhere() {
    if !rustix::process::geteuid().is_root() {
        bootlace_test_notes::skip!("only root can give files to others");
    }
    let place = machine();
    let secret = place.tree("etc");
    let homes = ["swap", ".ssh"].map(|name| place.path(&format!("home/core/{name}")));
    let (done, began) = (AtomicBool::new(false), Instant::now());
    let (mut applied, mut refused, mut undone, mut round) = (0, 0, 0, 0);
    std::thread::scope(|scope| {
        let _ending = Ending(&done);
        scope.spawn(|| swap(&homes, &done));
        let fewest = |counts: [u32; 3]| counts.into_iter().min().unwrap_or_default();
        while began.elapsed() < ATTACK
            || fewest([applied, refused, undone]) < ENOUGH && began.elapsed() < LONGEST
        {
            round += 1;
            let state = format!("--state state-{round}");
            let said = place.call(&format!("ignition apply node.ign {state}"));
            if said.starts_with("code: 0\n") {
                applied += 1;
            } else {
                refused += 1;
            }
            let said = place.call(&format!("undo ignition {state}"));
            undone += u32::from(said.starts_with("code: 0\n"));
            let now = place.tree("etc");
            assert_eq!(now, secret, "round {round}");
            for victim in victims() {
                let path = format!("etc/secret/{victim}");
                assert_eq!(place.read(&path), "of root\n", "{path} in round {round}");
            }
        }
    });
    let counts = format!("{applied} applied, {refused} refused, {undone} undone");
    eprintln!("{counts}");
    assert!(applied.min(refused).min(undone) >= ENOUGH, "{counts}");
}

/// Ends another thread when it goes away.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
