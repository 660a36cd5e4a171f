//! The fake's disk beside a real one: the same operations, the same answers, the same tree.

#![expect(
    clippy::disallowed_methods,
    reason = "the real filesystem is the oracle"
)]

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use bootlace_engine::port::{Dir, Host, HostError};
use bootlace_model::node::{Attributes, Owner, Xattrs};
use proptest::prelude::*;

use super::super::FakeHost;
use super::path;
use crate::tree::Snapshot;

#[derive(Debug, Clone)]
enum Act {
    Create(Vec<u8>, u32),
    CreateDir(u32),
    CreateLink(String),
    SetMode(u32),
    SetLabel(String, Vec<u8>),
    Rename(String),
    Remove,
    RemoveDir,
    Read,
}

fn names() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c"]).prop_map(ToOwned::to_owned)
}

fn folders() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(names(), 0..3);
    parts.prop_map(|parts| format!("/{}", parts.join("/")))
}

fn acts() -> impl Strategy<Value = Act> {
    let content = prop::collection::vec(any::<u8>(), 0..20);
    let modes = || prop::sample::select(vec![0o700, 0o755, 0o750, 0o1777, 0o2755, 0o4711]);
    let targets = prop::sample::select(vec!["a", "../b", "/a/c", "c/b", ".", "..", "/", "b/../a"]);
    prop_oneof![
        4 => (content, modes()).prop_map(|(content, mode)| Act::Create(content, mode)),
        6 => modes().prop_map(Act::CreateDir),
        3 => targets.prop_map(|target| Act::CreateLink(target.to_owned())),
        2 => modes().prop_map(Act::SetMode),
        1 => (names(), prop::collection::vec(any::<u8>(), 0..5))
            .prop_map(|(name, value)| Act::SetLabel(name, value)),
        4 => names().prop_map(Act::Rename),
        2 => Just(Act::Remove),
        2 => Just(Act::RemoveDir),
        2 => Just(Act::Read),
    ]
}

/// What either disk answers: the content read, or the kind of error.
type Answer = Result<Vec<u8>, String>;

fn on_fake(host: &FakeHost, folder: &str, name: &str, act: &Act) -> Answer {
    let answer = |done: Result<(), HostError>| done.map(|()| vec![]).map_err(kind_of);
    let dir = match host.open_dir(&path(folder)) {
        Ok(Some(dir)) => dir,
        Ok(None) => return Err(kind(&io::Error::from(io::ErrorKind::NotFound))),
        Err(error) => return Err(kind_of(error)),
    };
    match act {
        Act::Create(content, mode) => answer(dir.create(name, content, &Attributes::mode(*mode))),
        Act::CreateDir(mode) => answer(dir.create_dir(name, &Attributes::mode(*mode))),
        Act::CreateLink(target) => answer(dir.create_link(name, target)),
        Act::SetMode(mode) => answer(dir.set_attributes(name, &Attributes::mode(*mode))),
        Act::SetLabel(label, value) => answer(set_label(dir.as_ref(), name, label, value)),
        Act::Rename(to) => answer(dir.rename(name, to)),
        Act::Remove => answer(dir.remove(name)),
        Act::RemoveDir => answer(dir.remove_dir(name)),
        Act::Read => dir.read(name, u64::MAX).map_err(kind_of),
    }
}

fn set_label(dir: &dyn Dir, name: &str, label: &str, value: &[u8]) -> Result<(), HostError> {
    use bootlace_engine::port::Stat;
    let mode = match dir.stat(name)? {
        Some(Stat::File { mode, .. } | Stat::Directory { mode, .. }) => mode,
        _ => 0,
    };
    let xattrs = Xattrs(BTreeMap::from([(format!("user.{label}"), value.to_vec())]));
    dir.set_attributes(
        name,
        &Attributes {
            mode,
            owner: None,
            xattrs,
        },
    )
}

fn on_real(root: &Path, folder: &str, name: &str, act: &Act) -> Answer {
    try_real(root, folder, name, act).map_err(|error| kind(&error))
}

fn try_real(root: &Path, folder: &str, name: &str, act: &Act) -> io::Result<Vec<u8>> {
    let place = open_in_root(root, folder)?.join(name);
    let is_link = || fs::symlink_metadata(&place).map(|metadata| metadata.is_symlink());
    match act {
        Act::Create(content, mode) => {
            let mut options = OpenOptions::new();
            let mut file = options
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&place)?;
            file.write_all(content)?;
            file.set_permissions(Permissions::from_mode(*mode))?;
        }
        Act::CreateDir(mode) => {
            DirBuilder::new().mode(0o700).create(&place)?;
            fs::set_permissions(&place, Permissions::from_mode(*mode))?;
        }
        Act::CreateLink(target) => symlink(target, &place)?,
        Act::SetMode(_) | Act::SetLabel(..) | Act::Read if is_link()? => {
            return Err(io::Error::from_raw_os_error(40));
        }
        Act::SetMode(mode) => fs::set_permissions(&place, Permissions::from_mode(*mode))?,
        Act::SetLabel(label, value) => {
            let flags = rustix::fs::XattrFlags::empty();
            rustix::fs::lsetxattr(&place, format!("user.{label}"), value, flags)?;
        }
        Act::Rename(to) => fs::rename(&place, place.with_file_name(to))?,
        Act::Remove => fs::remove_file(&place)?,
        Act::RemoveDir => fs::remove_dir(&place)?,
        Act::Read => return fs::read(&place),
    }
    Ok(vec![])
}

/// Opens a folder the way the port does: the kernel resolves links inside the root.
fn open_in_root(root: &Path, folder: &str) -> io::Result<PathBuf> {
    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
    let root = fs::File::open(root)?;
    let relative = if folder == "/" { "." } else { &folder[1..] };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = loop {
        // The kernel asks to try again when somebody renames something, anywhere, meanwhile.
        match openat2(&root, relative, flags, Mode::empty(), ResolveFlags::IN_ROOT) {
            Err(rustix::io::Errno::AGAIN) => {}
            other => break other?,
        }
    };
    fs::read_link(format!(
        "/proc/self/fd/{}",
        std::os::fd::AsRawFd::as_raw_fd(&opened)
    ))
}

fn kind(error: &io::Error) -> String {
    format!(
        "{:?}",
        error
            .raw_os_error()
            .map_or(error.kind(), |n| io::Error::from_raw_os_error(n).kind())
    )
}

fn kind_of(error: HostError) -> String {
    match error {
        HostError::Io { error, .. } => kind(&error),
        HostError::Escape { .. } => kind(&io::Error::from_raw_os_error(40)),
        other => other.to_string(),
    }
}

/// Leaves out who owns things: a test that is not root cannot choose.
fn unowned(mut tree: Snapshot) -> Snapshot {
    for entry in tree.files.values_mut() {
        entry.owner = Owner { uid: 0, gid: 0 };
    }
    tree
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn the_fake_disk_answers_like_a_real_one(
        acts in prop::collection::vec((folders(), names(), acts()), 1..60)
    ) {
        let real = tempfile::tempdir().unwrap();
        fs::set_permissions(real.path(), Permissions::from_mode(0o755)).unwrap();
        let host = FakeHost::new(0);
        for (folder, name, act) in &acts {
            let expected = on_real(real.path(), folder, name, act);
            let found = on_fake(&host, folder, name, act);
            prop_assert_eq!(found, expected, "{:?} of {} in {}", act, name, folder);
        }
        let expected = unowned(Snapshot::of_folder(real.path(), &[]).unwrap());
        let found = unowned(Snapshot::of_fake(&host, &[]));
        prop_assert!(expected.compare(&found).is_ok(), "{}", expected.compare(&found).unwrap_err());
    }
}
