//! Modes, owners and extended attributes.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use bootlace_engine::port::{Dir, Host as _, Stat};
use bootlace_model::node::{Attributes, Owner};
use bootlace_test_notes::skip;

use crate::world::{World, assert_passes, is_root, kind};

const MODES: [u32; 9] = [0o600, 0o644, 0o755, 0o400, 0o666, 0o777, 0, 0o4755, 0o2640];

fn mode(dir: &dyn Dir, name: &str) -> u32 {
    match dir.stat(name).unwrap().unwrap() {
        Stat::File { mode, .. } | Stat::Directory { mode, .. } => mode,
        other => panic!("{other:?}"),
    }
}

#[test]
fn modes_come_out_exactly() {
    let world = World::new();
    let (dir, _) = world.root();
    for (number, wanted) in MODES.into_iter().enumerate() {
        let attributes = Attributes::mode(wanted);
        let (file, folder) = (format!("file{number}"), format!("folder{number}"));
        dir.create(&file, b"x", &attributes).unwrap();
        assert_eq!(mode(dir.as_ref(), &file), wanted, "a file of {wanted:o}");
        dir.create_dir(&folder, &attributes).unwrap();
        assert_eq!(
            mode(dir.as_ref(), &folder),
            wanted,
            "a folder of {wanted:o}"
        );
        for changed in MODES {
            dir.set_attributes(&file, &Attributes::mode(changed))
                .unwrap();
            assert_eq!(mode(dir.as_ref(), &file), changed);
        }
        // Or nobody but root could clean up.
        dir.set_attributes(&folder, &Attributes::mode(0o700))
            .unwrap();
    }
    let mut log = world.host.open_log(dir.as_ref(), "journal").unwrap();
    log.append(b"x").unwrap();
    assert_eq!(mode(dir.as_ref(), "journal"), 0o600);
}

#[test]
fn modes_do_not_depend_on_the_umask() {
    for umask in ["000", "022", "077"] {
        modes_come_out_with(umask);
    }
}

#[test]
fn modes_do_not_depend_on_a_umask_that_takes_everything() {
    if !is_root() {
        skip!("only root can work in a folder that its own umask has closed");
    }
    modes_come_out_with("777");
}

fn modes_come_out_with(umask: &str) {
    let test = "attributes::modes_come_out_exactly";
    let script = format!("umask {umask} && exec \"$0\" --exact {test}");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap());
    assert_passes(command);
}

#[test]
fn nothing_is_more_open_at_first_than_it_ends() {
    let world = World::new();
    let (dir, real) = world.root();
    let content = vec![1; 96 << 20];
    // Whether the watcher gets a turn in time is up to the machine, so it is tried again until it did.
    let watched = (0..50).any(|_| {
        let seen = sizes_seen_while_written(dir.as_ref(), &real, &content);
        assert_eq!(mode(dir.as_ref(), "file"), 0o644);
        dir.remove("file").unwrap();
        seen > 0
    });
    assert!(watched, "the file was never seen while it was written");
}

/// Writes the file and counts how often another thread saw it unfinished, and closed to others.
fn sizes_seen_while_written(dir: &dyn Dir, real: &Path, content: &[u8]) -> usize {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut seen = 0;
            while !done.load(Ordering::Relaxed) {
                if let Ok(found) = std::fs::metadata(real.join("file"))
                    && found.size() < content.len() as u64
                {
                    assert_eq!(found.mode() & 0o077, 0, "at {} bytes", found.size());
                    seen += 1;
                }
            }
            seen
        });
        dir.create("file", content, &Attributes::mode(0o644))
            .unwrap();
        done.store(true, Ordering::Relaxed);
        watching.join().unwrap()
    })
}

#[test]
fn owners_are_given_and_links_are_not_followed() {
    if !is_root() {
        skip!("only root gives files to others");
    }
    let world = World::new();
    let (dir, real) = world.root();
    let owner = Owner {
        uid: 1234,
        gid: 2345,
    };
    let attributes = Attributes {
        mode: 0o4750,
        owner: Some(owner),
        ..Attributes::default()
    };
    dir.create("file", b"x", &attributes).unwrap();
    dir.create_dir("folder", &attributes).unwrap();
    dir.create_link("link", "file").unwrap();
    let (size, mode) = (1, 0o4750);
    assert_eq!(
        dir.stat("file").unwrap(),
        Some(Stat::File { size, mode, owner })
    );
    assert_eq!(
        dir.stat("folder").unwrap(),
        Some(Stat::Directory { mode, owner })
    );
    let other = Owner { uid: 9, gid: 8 };
    dir.set_owner("link", other).unwrap();
    assert!(matches!(dir.stat("link").unwrap(), Some(Stat::Link { owner, .. }) if owner == other));
    assert_eq!(std::fs::metadata(real.join("file")).unwrap().uid(), 1234);
    let error = dir.set_attributes("link", &attributes).unwrap_err();
    assert_eq!(kind(&error), std::io::ErrorKind::InvalidInput);
    let attributes = Attributes {
        mode: 0o600,
        owner: Some(other),
        ..Attributes::default()
    };
    for name in ["file", "folder"] {
        dir.set_attributes(name, &attributes).unwrap();
        let found = std::fs::metadata(real.join(name)).unwrap();
        assert_eq!(
            (found.uid(), found.gid(), found.mode() & 0o7777),
            (9, 8, 0o600)
        );
    }
}

#[test]
fn what_is_made_belongs_to_us_also_where_the_folder_would_hand_its_group_down() {
    if !is_root() {
        skip!("only root gives files to others");
    }
    let world = World::new();
    let (root, _) = world.root();
    let shared = Some(Owner { uid: 0, gid: 4321 });
    let attributes = Attributes {
        mode: 0o2775,
        owner: shared,
        ..Attributes::default()
    };
    root.create_dir("shared", &attributes).unwrap();
    let dir = world.open("/shared");
    dir.create("file", b"", &Attributes::mode(0o644)).unwrap();
    dir.create_dir("folder", &Attributes::mode(0o755)).unwrap();
    let (mode, owner) = (0o644, world.host.identity());
    assert_eq!(
        dir.stat("file").unwrap(),
        Some(Stat::File {
            size: 0,
            mode,
            owner
        })
    );
    assert_eq!(
        dir.stat("folder").unwrap(),
        Some(Stat::Directory { mode: 0o755, owner })
    );
}

#[test]
fn extended_attributes_that_can_be_restored_are_read_and_given() {
    let world = World::new();
    let (dir, real) = world.root();
    let mut attributes = Attributes::mode(0o640);
    attributes
        .xattrs
        .0
        .insert("user.small".into(), b"value".to_vec());
    attributes
        .xattrs
        .0
        .insert("user.large".into(), vec![9; 1500]);
    match dir.create("file", b"x", &attributes) {
        Err(error) if kind(&error) == std::io::ErrorKind::Unsupported => {
            skip!("the filesystem of the temporary folder has no extended attributes")
        }
        created => created.unwrap(),
    }
    dir.create_dir("folder", &attributes).unwrap();
    if is_root() {
        // The kernel's own and a service's; neither is ours to put back.
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(real.join("file"), "trusted.x", b"1", flags).unwrap();
        // The right to bind low ports, as `setcap` writes it.
        let capability = [1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0].to_vec();
        attributes
            .xattrs
            .0
            .insert("security.capability".into(), capability);
        dir.set_attributes("file", &attributes).unwrap();
    }
    let mut found = dir.xattrs("file").unwrap();
    // Where a security module is at work, everything has a label.
    found.0.remove("security.selinux");
    assert_eq!(found, attributes.xattrs);
    assert_eq!(dir.xattrs("folder").unwrap().0["user.small"], b"value");
    // Those that are not named are left alone.
    dir.set_attributes("folder", &Attributes::mode(0o700))
        .unwrap();
    assert_eq!(dir.xattrs("folder").unwrap().0["user.small"], b"value");
    let error = dir.xattrs("nothing").unwrap_err();
    assert_eq!(kind(&error), std::io::ErrorKind::NotFound);
}

#[test]
fn a_filesystem_without_extended_attributes_has_none() {
    let machine = bootlace_host::RealHost::builder().proxy(None).build();
    let kernel = machine
        .open_dir(&crate::world::path("/proc/self"))
        .unwrap()
        .unwrap();
    assert!(kernel.xattrs("status").unwrap().is_empty());
}
