//! Files that only grow.

use std::io::ErrorKind;

use bootlace_engine::port::Host as _;
use bootlace_model::node::Attributes;

use crate::world::{World, kind};

#[test]
fn a_log_grows_at_its_end_and_is_read_anywhere() {
    let world = World::new();
    let (dir, real) = world.root();
    let mut log = world.host.open_log(dir.as_ref(), "journal").unwrap();
    assert_eq!(log.length().unwrap(), 0);
    log.append(b"one\n").unwrap();
    let mut second = world.host.open_log(dir.as_ref(), "journal").unwrap();
    second.append(b"two\n").unwrap();
    log.append(b"three\n").unwrap();
    assert_eq!(
        std::fs::read(real.join("journal")).unwrap(),
        b"one\ntwo\nthree\n"
    );
    let mut buffer = [0; 6];
    assert_eq!(second.read_at(4, &mut buffer).unwrap(), 6);
    assert_eq!(&buffer, b"two\nth");
    assert_eq!(second.read_at(10, &mut buffer).unwrap(), 4);
    assert_eq!(&buffer[..4], b"ree\n");
    assert_eq!(second.read_at(14, &mut buffer).unwrap(), 0);
    assert_eq!(second.read_at(99, &mut buffer).unwrap(), 0);
    assert_eq!(second.length().unwrap(), 14);
}

#[test]
fn the_end_is_cut_and_writing_goes_on_there() {
    let world = World::new();
    let (dir, real) = world.root();
    let mut log = world.host.open_log(dir.as_ref(), "journal").unwrap();
    log.append(b"whole\ntorn").unwrap();
    log.truncate(6).unwrap();
    log.append(b"next\n").unwrap();
    assert_eq!(
        std::fs::read(real.join("journal")).unwrap(),
        b"whole\nnext\n"
    );
}

#[test]
fn a_syncer_works_beside_the_writer_and_outlives_it() {
    let world = World::new();
    let (dir, _) = world.root();
    let mut log = world.host.open_log(dir.as_ref(), "journal").unwrap();
    let syncer = log.syncer().unwrap();
    std::thread::scope(|scope| {
        let syncing = scope.spawn(|| (0..20).try_for_each(|_| syncer.sync()));
        for _ in 0..20 {
            log.append(b"line\n").unwrap();
        }
        syncing.join().unwrap().unwrap();
    });
    drop(log);
    syncer.sync().unwrap();
}

#[test]
fn a_log_is_a_regular_file_and_nothing_else() {
    let world = World::new();
    let (dir, real) = world.root();
    std::fs::write(world.outside().join("elsewhere"), "untouched").unwrap();
    std::os::unix::fs::symlink("../elsewhere", real.join("link")).unwrap();
    dir.create_dir("folder", &Attributes::mode(0o700)).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        real.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    for name in ["link", "folder", "pipe"] {
        let error = world.host.open_log(dir.as_ref(), name).unwrap_err();
        assert_ne!(kind(&error), ErrorKind::NotFound, "{name}: {error}");
    }
}
