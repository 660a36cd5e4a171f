//! Files, folders and links.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use bootlace_engine::port::{Host as _, HostError, Stat};
use bootlace_host::RealHost;
use bootlace_model::node::{Attributes, Owner, SpecialKind};
use rustix::fs::{CWD, FileType, Mode};

use crate::world::{World, assert_passes, is_root, kind, path};

#[test]
fn files_are_created_read_renamed_and_removed() {
    let world = World::new();
    let (dir, real) = world.root();
    assert_eq!(dir.path(), &path("/"));
    dir.create("a.new", b"hello", &Attributes::mode(0o640))
        .unwrap();
    assert_eq!(dir.read("a.new", 5).unwrap(), b"hello");
    dir.rename("a.new", "a").unwrap();
    assert!(!real.join("a.new").exists());
    assert_eq!(std::fs::read(real.join("a")).unwrap(), b"hello");
    // Renaming replaces, creating does not.
    dir.create("b", b"other", &Attributes::mode(0o600)).unwrap();
    dir.rename("b", "a").unwrap();
    assert_eq!(dir.read("a", 100).unwrap(), b"other");
    let error = dir.create("a", b"x", &Attributes::mode(0o600)).unwrap_err();
    assert_eq!(kind(&error), ErrorKind::AlreadyExists);
    assert_eq!(dir.read("a", 100).unwrap(), b"other");
    dir.remove("a").unwrap();
    assert_eq!(dir.list().unwrap(), Vec::<String>::new());
    assert_eq!(kind(&dir.read("a", 100).unwrap_err()), ErrorKind::NotFound);
    assert_eq!(kind(&dir.remove("a").unwrap_err()), ErrorKind::NotFound);
}

#[test]
fn two_names_of_a_file_are_known_as_such() {
    let world = World::new();
    let (root, _) = world.root();
    root.create_dir("x", &Attributes::mode(0o755)).unwrap();
    let below = world.open("/x");
    root.create("a", b"hello", &Attributes::mode(0o600))
        .unwrap();
    root.create_link("link", "a").unwrap();
    below.create_hard_link("b", root.as_ref(), "a").unwrap();
    // A link gets the name itself, not what it leads to.
    below.create_hard_link("c", root.as_ref(), "link").unwrap();
    assert_eq!(below.read("b", 100).unwrap(), b"hello");
    let first = root.identity("a").unwrap();
    assert!(first.is_some());
    assert_eq!(below.identity("b").unwrap(), first);
    assert_eq!(below.identity("c").unwrap(), root.identity("link").unwrap());
    assert_ne!(below.identity("c").unwrap(), first);
    assert_eq!(below.identity("d").unwrap(), None);
    let error = below.create_hard_link("b", root.as_ref(), "link");
    assert_eq!(kind(&error.unwrap_err()), ErrorKind::AlreadyExists);
}

#[test]
fn folders_are_made_opened_and_removed_only_when_empty() {
    let world = World::new();
    let (root, real) = world.root();
    assert!(world.host.open_dir(&path("/x")).unwrap().is_none());
    root.create_dir("x", &Attributes::mode(0o750)).unwrap();
    let error = root.create_dir("x", &Attributes::mode(0o750)).unwrap_err();
    assert_eq!(kind(&error), ErrorKind::AlreadyExists);
    let dir = world.open("/x");
    dir.create("file", b"", &Attributes::mode(0o600)).unwrap();
    // A handle stays with its folder, whatever that is called by now.
    root.rename("x", "y").unwrap();
    dir.create("more", b"", &Attributes::mode(0o600)).unwrap();
    assert!(real.join("y/more").exists());
    let error = root.remove_dir("y").unwrap_err();
    assert_eq!(kind(&error), ErrorKind::DirectoryNotEmpty);
    assert_eq!(dir.list().unwrap(), ["file", "more"]);
    dir.remove("file").unwrap();
    dir.remove("more").unwrap();
    root.remove_dir("y").unwrap();
    assert!(root.stat("y").unwrap().is_none());
}

#[test]
fn every_kind_of_thing_is_told_apart() {
    let world = World::new();
    let (dir, real) = world.root();
    dir.create("file", b"12345", &Attributes::mode(0o640))
        .unwrap();
    dir.create_dir("folder", &Attributes::mode(0o711)).unwrap();
    dir.create_link("link", "nowhere/../x").unwrap();
    symlink(OsStr::from_bytes(b"\xff"), real.join("odd")).unwrap();
    let mode = Attributes::mode(0o662);
    dir.create_special("pipe", SpecialKind::Pipe, &mode)
        .unwrap();
    let _socket = UnixListener::bind(real.join("socket")).unwrap();
    dir.create_special("made", SpecialKind::Socket, &mode)
        .unwrap();
    let error = dir.create_special("file", SpecialKind::Pipe, &mode);
    assert_eq!(kind(&error.unwrap_err()), ErrorKind::AlreadyExists);
    let bits = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(real.join("socket"), bits).unwrap();
    let owner = world.host.identity();
    let other = |what: &str| Stat::Other(what.into());
    let special = |kind, mode| Stat::Special { kind, mode, owner };
    let (size, mode, target) = (5, 0o640, "nowhere/../x".to_owned());
    for (name, expected) in [
        ("file", Stat::File { size, mode, owner }),
        ("folder", Stat::Directory { mode: 0o711, owner }),
        ("link", Stat::Link { target, owner }),
        ("odd", other("a link whose target is not UTF-8")),
        ("pipe", special(SpecialKind::Pipe, 0o662)),
        ("socket", special(SpecialKind::Socket, 0o640)),
        ("made", special(SpecialKind::Socket, 0o662)),
    ] {
        assert_eq!(dir.stat(name).unwrap(), Some(expected), "{name}");
    }
    assert_eq!(dir.stat("nothing").unwrap(), None);
}

#[test]
fn only_regular_files_are_read_and_nothing_is_waited_for() {
    let world = World::new();
    let (dir, real) = world.root();
    std::fs::write(world.outside().join("secret"), "secret").unwrap();
    symlink(world.outside().join("secret"), real.join("link")).unwrap();
    dir.create_dir("folder", &Attributes::mode(0o700)).unwrap();
    rustix::fs::mknodat(CWD, real.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let null = rustix::fs::makedev(1, 3);
    let device = rustix::fs::mknodat(
        CWD,
        real.join("device"),
        FileType::CharacterDevice,
        Mode::RWXU,
        null,
    );
    for name in ["link", "folder", "pipe", "device"] {
        if name == "device" && device.is_err() {
            continue;
        }
        let error = dir.read(name, 100).unwrap_err();
        assert_eq!(kind(&error), ErrorKind::InvalidInput, "{name}");
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}

#[test]
fn too_much_is_refused_also_where_the_length_says_nothing() {
    let world = World::new();
    let (dir, _) = world.root();
    dir.create("file", &[7; 1000], &Attributes::mode(0o600))
        .unwrap();
    assert_eq!(dir.read("file", 1000).unwrap().len(), 1000);
    let limit = 999;
    let error = dir.read("file", limit).unwrap_err();
    assert!(matches!(&error, HostError::TooLarge { target, limit: 999 } if target == "/file"));
    // The kernel says that this file is empty, and then it grows while it is read.
    let machine = RealHost::builder().proxy(None).build();
    let kernel = machine.open_dir(&path("/proc/self")).unwrap().unwrap();
    assert!(matches!(
        kernel.stat("status").unwrap(),
        Some(Stat::File { size: 0, .. })
    ));
    assert!(
        kernel
            .read("status", 100_000)
            .unwrap()
            .starts_with(b"Name:")
    );
    let error = kernel.read("status", 10).unwrap_err();
    assert!(
        matches!(error, HostError::TooLarge { limit: 10, .. }),
        "{error}"
    );
}

#[test]
fn names_are_single_parts() {
    let world = World::new();
    let (dir, real) = world.root();
    std::fs::create_dir(real.join("sub")).unwrap();
    std::fs::write(real.join("sub/file"), "").unwrap();
    // All of them lie in this test's own folder, in case one is let through after all.
    let elsewhere = world.outside().join("elsewhere");
    std::fs::write(&elsewhere, "").unwrap();
    let absolute = elsewhere.to_str().unwrap();
    let mode = Attributes::mode(0o700);
    for name in [
        "",
        ".",
        "..",
        "sub/file",
        "../root",
        "../elsewhere",
        "a\0b",
        absolute,
    ] {
        let attempts = [
            dir.stat(name).map(drop),
            dir.read(name, 10).map(drop),
            dir.xattrs(name).map(drop),
            dir.create(name, b"", &mode),
            dir.create_dir(name, &mode),
            dir.create_link(name, "x"),
            dir.set_attributes(name, &mode),
            dir.set_owner(name, world.host.identity()),
            dir.rename(name, "x"),
            dir.rename("sub", name),
            dir.remove(name),
            dir.remove_dir(name),
            world.host.open_log(dir.as_ref(), name).map(drop),
            world.host.lock(dir.as_ref(), name).map(drop),
            world.host.lock_holder(dir.as_ref(), name).map(drop),
            world.host.sync_files(&[(dir.as_ref(), name)]),
        ];
        for (number, attempt) in attempts.into_iter().enumerate() {
            let error = attempt.expect_err(&format!("{name:?}, attempt {number}"));
            assert_eq!(kind(&error), ErrorKind::InvalidInput, "{error}");
        }
    }
}

#[test]
fn names_are_listed_sorted_and_odd_ones_are_not_passed_over() {
    let world = World::new();
    let (dir, real) = world.root();
    for name in ["b", "a", ".hidden", "ä", "Z"] {
        std::fs::write(real.join(name), "").unwrap();
    }
    assert_eq!(dir.list().unwrap(), [".hidden", "Z", "a", "b", "ä"]);
    // Again, because reading a folder moves a position in it.
    assert_eq!(dir.list().unwrap().len(), 5);
    std::fs::write(real.join(OsStr::from_bytes(b"bad\xff")), "").unwrap();
    let error = dir.list().unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}

#[test]
fn an_input_folder_is_read_but_never_changed() {
    let world = World::new();
    let (dir, real) = world.input();
    std::fs::create_dir(real.join("folder")).unwrap();
    for name in ["file", "journal"] {
        std::fs::write(real.join(name), "content").unwrap();
    }
    assert_eq!(dir.read("file", 100).unwrap(), b"content");
    assert!(
        world
            .host
            .open_dir(&path("/input/folder"))
            .unwrap()
            .is_some()
    );
    let log = world.host.open_log(dir.as_ref(), "journal").unwrap();
    assert_eq!(log.length().unwrap(), 7);
    let mode = Attributes::mode(0o600);
    for attempt in [
        dir.create("new", b"", &mode),
        dir.create_dir("new", &mode),
        dir.create_link("new", "x"),
        dir.set_attributes("file", &mode),
        dir.set_owner("file", world.host.identity()),
        dir.rename("file", "new"),
        dir.remove("file"),
        dir.remove_dir("folder"),
        world.host.open_log(dir.as_ref(), "new").map(drop),
        world.host.lock(dir.as_ref(), "new").map(drop),
        world.open("/input/folder").create("new", b"", &mode),
    ] {
        let error = attempt.unwrap_err();
        assert!(matches!(error, HostError::ReadOnly { .. }), "{error:?}");
    }
    assert_eq!(dir.list().unwrap(), ["file", "folder", "journal"]);
    let mut log = world.host.open_log(dir.as_ref(), "journal").unwrap();
    assert!(log.append(b"x").is_err() && log.truncate(0).is_err());
    assert_eq!(std::fs::read(real.join("journal")).unwrap(), b"content");
}

#[test]
fn links_lead_nowhere_outside_and_not_in_circles() {
    let world = World::new();
    let (dir, real) = world.root();
    std::fs::create_dir(world.outside().join("secrets")).unwrap();
    symlink(world.outside().join("secrets"), real.join("absolute")).unwrap();
    symlink("../secrets", real.join("relative")).unwrap();
    dir.create_link("circle", "circle").unwrap();
    dir.create("file", b"", &Attributes::mode(0o600)).unwrap();
    for name in ["/absolute", "/relative"] {
        assert!(
            world.host.open_dir(&path(name)).unwrap().is_none(),
            "{name}"
        );
    }
    let error = world.host.open_dir(&path("/circle/x")).unwrap_err();
    assert!(
        matches!(&error, HostError::Escape { path } if path == "/circle/x"),
        "{error:?}"
    );
    let error = world.host.open_dir(&path("/file")).unwrap_err();
    assert_eq!(kind(&error), ErrorKind::NotADirectory);
}

#[test]
fn a_failed_creation_leaves_nothing_behind() {
    let world = World::new();
    let (dir, _) = world.root();
    let mut attributes = Attributes::mode(0o700);
    // No filesystem knows this namespace.
    attributes.xattrs.0.insert("bogus.name".into(), vec![1]);
    dir.create("file", b"content", &attributes).unwrap_err();
    dir.create_dir("folder", &attributes).unwrap_err();
    assert_eq!(dir.list().unwrap(), Vec::<String>::new());
}

#[test]
fn without_a_root_there_is_nothing_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("not/yet");
    let host = RealHost::builder().root(&root).proxy(None).build();
    for name in ["/", "/etc"] {
        assert!(host.open_dir(&path(name)).unwrap().is_none());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    host.ensure().unwrap();
    assert_eq!(host.real_path(&path("/etc")), root.join("etc"));
    let dir = host.open_dir(&path("/")).unwrap().unwrap();
    dir.create("file", b"", &Attributes::mode(0o600)).unwrap();
    assert!(root.join("file").exists());
}

/// One may work in a folder that one may not list; root may do everything, so it is run by another.
#[test]
fn a_folder_that_may_not_be_listed_can_be_worked_in() {
    if is_root() {
        let test = "dir::a_folder_that_may_not_be_listed_can_be_worked_in";
        // The binary may lie where only root can go.
        let shared = tempfile::tempdir_in("/tmp").unwrap();
        let everybody = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(shared.path(), everybody).unwrap();
        let program = shared.path().join("test");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let mut command = Command::new(program);
        command.args(["--exact", test, "--nocapture"]);
        command.uid(65_534).gid(65_534).env("TMPDIR", "/tmp");
        command.current_dir("/tmp");
        assert_passes(command);
        return;
    }
    let world = World::new();
    let (root, _) = world.root();
    root.create_dir("drop", &Attributes::mode(0o300)).unwrap();
    let dir = world.open("/drop");
    dir.create("file", b"content", &Attributes::mode(0o200))
        .unwrap();
    assert!(matches!(
        dir.stat("file").unwrap(),
        Some(Stat::File { mode: 0o200, .. })
    ));
    assert_eq!(kind(&dir.list().unwrap_err()), ErrorKind::PermissionDenied);
    assert_eq!(
        kind(&dir.read("file", 10).unwrap_err()),
        ErrorKind::PermissionDenied
    );
    world.host.sync_files(&[(dir.as_ref(), "file")]).unwrap();
    let error = world.host.sync_dirs(&[dir.as_ref()]).unwrap_err();
    assert_eq!(kind(&error), ErrorKind::PermissionDenied);
    // What this process may not give away, it says.
    let owner = Some(Owner { uid: 0, gid: 0 });
    let attributes = Attributes {
        mode: 0o600,
        owner,
        ..Attributes::default()
    };
    let error = dir.create("gift", b"", &attributes).unwrap_err();
    assert_eq!(kind(&error), ErrorKind::PermissionDenied);
    dir.remove("file").unwrap();
    root.set_attributes("drop", &Attributes::mode(0o700))
        .unwrap();
    assert_eq!(dir.list().map_err(|error| error.to_string()), Ok(vec![]));
}
