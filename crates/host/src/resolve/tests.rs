//! Both ways to follow a path are led through the same hostile trees.
#![expect(
    clippy::disallowed_methods,
    reason = "trees are laid out by other means than the code under test"
)]

use std::cell::Cell;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

use super::{LostWay, Resolver};

const BOTH: [Resolver; 2] = [Resolver::Best, Resolver::ByHand];

/// How the kernel follows links inside a root.
const INSIDE: ResolveFlags = ResolveFlags::IN_ROOT.union(ResolveFlags::NO_MAGICLINKS);

/// Identifies a folder: its device and inode numbers.
type Identity = (u64, u64);

fn identity_of(path: &Path) -> Identity {
    let metadata = std::fs::metadata(path).unwrap();
    (metadata.dev(), metadata.ino())
}

fn open(resolver: Resolver, root: &Path, path: &str) -> Result<Identity, LostWay> {
    let folder = resolver.open(root, path)?;
    let stat = rustix::fs::fstat(&folder.handle).unwrap();
    Ok((stat.st_dev, stat.st_ino))
}

/// Follows all links as the kernel does, regardless of their owners.
fn open_by_kernel_alone(root: &Path, path: &str) -> Result<Identity, LostWay> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(root, flags, Mode::empty()).unwrap();
    // Whoever renames something anywhere, as other tests do, lets the kernel give up a path with `..`.
    let opened = loop {
        match super::open_by_kernel(&root, path, flags, INSIDE) {
            Err(Errno::AGAIN) => std::thread::yield_now(),
            opened => break opened.map_err(LostWay::from)?,
        }
    };
    let stat = rustix::fs::fstat(&opened).unwrap();
    Ok((stat.st_dev, stat.st_ino))
}

fn folder(path: &Path) {
    std::fs::create_dir_all(path).unwrap();
}

fn assert_opens(root: &Path, path: &str, expected: Result<&str, LostWay>) {
    let expected = expected.map(|inside| identity_of(&root.join(inside)));
    for resolver in BOTH {
        assert_eq!(
            open(resolver, root, path),
            expected,
            "{path} by {resolver:?}"
        );
    }
}

#[test]
fn this_kernel_can_do_it_itself() {
    // Else the other tests would compare walking by hand with itself.
    let folder = tempfile::tempdir().unwrap();
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
    let root = rustix::fs::open(folder.path(), flags, Mode::empty()).unwrap();
    super::open_by_kernel(&root, "", flags, INSIDE).unwrap();
}

#[test]
fn links_stay_inside_the_root() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().join("root");
    folder(&root.join("etc/inside"));
    folder(&root.join("a/b/c"));
    folder(&temporary.path().join("outside"));
    std::fs::write(root.join("a/file"), "").unwrap();
    for (link, target) in [
        ("a/to-etc", "/etc"),
        ("a/to-top", "../../../.."),
        ("a/to-outside", "../../outside"),
        (
            "a/to-real-outside",
            temporary.path().join("outside").to_str().unwrap(),
        ),
        ("a/absolute", "/a/b"),
        ("a/relative", "./b/../b//c/."),
        ("a/dangling", "nowhere/at/all"),
        ("a/loop", "loop"),
        ("a/ping", "pong"),
        ("a/pong", "/a/ping"),
        ("a/through-file", "file/x"),
        ("a/up-from-file", "file/.."),
        ("a/to-file", "file"),
        ("top", "/"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    let not_a_folder = Err(LostWay::Refused(Errno::NOTDIR));
    for (path, expected) in [
        ("", Ok("")),
        ("a/b", Ok("a/b")),
        ("a/to-etc/inside", Ok("etc/inside")),
        ("a/to-top", Ok("")),
        ("a/to-top/etc", Ok("etc")),
        ("a/to-outside", Err(LostWay::Absent)),
        ("a/to-real-outside", Err(LostWay::Absent)),
        ("a/absolute/c", Ok("a/b/c")),
        ("a/relative", Ok("a/b/c")),
        ("top/top/top/a", Ok("a")),
        ("a/dangling", Err(LostWay::Absent)),
        ("missing/b", Err(LostWay::Absent)),
        ("a/loop", Err(LostWay::Escape)),
        ("a/ping/x", Err(LostWay::Escape)),
        ("a/file", not_a_folder),
        ("a/file/x", not_a_folder),
        ("a/to-file", not_a_folder),
        ("a/through-file", not_a_folder),
        ("a/up-from-file", not_a_folder),
    ] {
        assert_opens(&root, path, expected);
    }
    let lost = open(Resolver::Best, &temporary.path().join("no-root"), "");
    assert_eq!(lost, Err(LostWay::Absent));
}

#[test]
fn forty_links_are_followed_and_not_one_more() {
    let temporary = tempfile::tempdir().unwrap();
    folder(&temporary.path().join("l0"));
    for n in 1..=41 {
        symlink(
            format!("l{}", n - 1),
            temporary.path().join(format!("l{n}")),
        )
        .unwrap();
    }
    assert_opens(temporary.path(), "l40", Ok("l0"));
    assert_opens(temporary.path(), "l41", Err(LostWay::Escape));
}

#[test]
fn links_that_jump_are_refused() {
    let open_root = |path: &str| BOTH.map(|by| open(by, Path::new("/"), path).map(|_| ()));
    for jump in ["proc/self/cwd", "proc/self/root", "proc/self/root/etc"] {
        assert_eq!(open_root(jump), [Err(LostWay::Escape); 2], "{jump}");
    }
    // But `/proc/self` and `/proc/net` are plain links.
    for plain in ["proc/self", "proc/self/task", "proc/net"] {
        assert_eq!(open_root(plain), [Ok(()); 2], "{plain}");
    }
}

#[test]
fn what_is_no_folder_is_never_opened() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path();
    rustix::fs::mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let null = rustix::fs::makedev(1, 3);
    let device = root.join("device");
    let made = rustix::fs::mknodat(CWD, &device, FileType::CharacterDevice, Mode::RWXU, null);
    let not_a_folder = Err(LostWay::Refused(Errno::NOTDIR));
    // Opening a pipe the usual way would wait for a writer for ever.
    assert_opens(root, "pipe", not_a_folder);
    if made.is_ok() {
        assert_opens(root, "device", not_a_folder);
        assert_opens(root, "device/x", not_a_folder);
    }
}

#[test]
fn trees_deeper_than_any_path_or_table_of_open_files_are_reached() {
    // Longer than one system call takes, and more folders than most processes may have open.
    const DEPTH: usize = 2_500;
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path();
    let mut here = rustix::fs::open(root, rustix::fs::OFlags::PATH, Mode::empty()).unwrap();
    for _ in 0..DEPTH {
        rustix::fs::mkdirat(&here, "d", Mode::RWXU).unwrap();
        here = rustix::fs::openat(&here, "d", rustix::fs::OFlags::PATH, Mode::empty()).unwrap();
    }
    rustix::fs::symlinkat("../d/../d", &here, "up").unwrap();
    let stat = rustix::fs::fstat(&here).unwrap();
    let bottom = (stat.st_dev, stat.st_ino);
    let path = vec!["d"; DEPTH].join("/");
    for resolver in BOTH {
        assert_eq!(open(resolver, root, &path), Ok(bottom), "{resolver:?}");
        let up = format!("{path}/up");
        assert_eq!(open(resolver, root, &up), Ok(bottom), "{resolver:?}");
    }
    // Taken apart from the top: the usual way opens one folder within the other.
    rustix::fs::unlinkat(&here, "up", AtFlags::empty()).unwrap();
    let (top, next) = (root.join("d"), root.join("next"));
    while std::fs::rename(top.join("d"), &next).is_ok() {
        std::fs::remove_dir(&top).unwrap();
        std::fs::rename(&next, &top).unwrap();
    }
}

/// Exchanges a folder and a link to the outside thousands of times while the path is opened.
fn race(resolver: Resolver) -> (u32, u32) {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().join("root");
    let outside = temporary.path().join("outside");
    folder(&root.join("swap/inner/x"));
    folder(&outside.join("inner/x"));
    // The same names inside the root, so that following the link inside the root finds a folder.
    let twin = root.join(outside.strip_prefix("/").unwrap());
    folder(&twin.join("inner/x"));
    symlink(&outside, root.join("link")).unwrap();
    symlink("../../../../../../../..", root.join("swap/up")).unwrap();
    let inside = [
        identity_of(&root.join("swap/inner/x")),
        identity_of(&twin.join("inner/x")),
    ];
    let escaped = identity_of(&outside.join("inner/x"));
    let done = AtomicBool::new(false);
    let found = Cell::new([0; 2]);
    std::thread::scope(|scope| {
        // Also when an assertion fails, or the other thread would go on for ever.
        let _ending = Ending(&done);
        scope.spawn(|| {
            let (swap, link) = (root.join("swap"), root.join("link"));
            while !done.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &swap, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        // A busy machine may not let the other thread run for a long while: rounds alone say nothing.
        let deadline = Instant::now() + Duration::from_mins(2);
        let rounds = (0..).take_while(|round| {
            let both = found.get().iter().all(|times| *times > 0);
            *round < 6_000 || (!both && Instant::now() < deadline)
        });
        for round in rounds {
            let path = if round % 2 == 0 {
                "swap/inner/x"
            } else {
                "swap/up/swap/inner/x"
            };
            match open(resolver, &root, path) {
                Ok(identity) => {
                    assert_ne!(identity, escaped, "escaped in round {round}");
                    let which = inside.iter().position(|known| *known == identity);
                    let mut times = found.get();
                    times[which.expect("some other folder was opened")] += 1;
                    found.set(times);
                }
                Err(LostWay::Absent | LostWay::Escape | LostWay::Refused(Errno::NOTDIR)) => {}
                Err(lost) => panic!("{lost:?} in round {round}"),
            }
        }
    });
    let [as_folder, as_link] = found.get();
    (as_folder, as_link)
}

/// Ends another thread when it goes away.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn exchanging_folders_and_links_all_the_time_opens_no_way_out() {
    for resolver in BOTH {
        let (as_folder, as_link) = race(resolver);
        // Else nothing was exchanged while the path was opened, and the test shows nothing.
        assert!(
            as_folder > 0 && as_link > 0,
            "{resolver:?}: {as_folder}, {as_link}"
        );
    }
}

/// Root's folders, and the home of a user in which links lead to them; runs as root alone.
fn home_with_links(root: &Path, user: u32) {
    for path in ["etc", "home/user/own/deep", "home/other"] {
        folder(&root.join(path));
    }
    for (path, target) in [
        ("home/user/to-etc", "/etc"),
        ("home/user/up", "../../etc"),
        ("home/user/to-other", "/home/other"),
        ("home/user/to-own", "own"),
        ("home/user/to-far-own", "/home/user/own"),
        ("home/user/of-root", "/etc"),
        ("homes", "/home"),
        ("to-user", "home/user"),
    ] {
        symlink(target, root.join(path)).unwrap();
    }
    for path in [
        "",
        "/own",
        "/own/deep",
        "/to-etc",
        "/up",
        "/to-other",
        "/to-own",
        "/to-far-own",
    ] {
        std::os::unix::fs::lchown(root.join(format!("home/user{path}")), Some(user), None).unwrap();
    }
    std::os::unix::fs::lchown(root.join("home/other"), Some(user + 1), None).unwrap();
}

#[test]
fn links_of_others_lead_only_to_what_is_theirs() {
    const USER: u32 = 12_345;
    if !rustix::process::geteuid().is_root() {
        bootlace_test_notes::skip!("only root can give files to others");
    }
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path();
    home_with_links(root, USER);
    let foreign = Err(LostWay::Foreign(USER));
    for (path, expected) in [
        ("home/user/to-etc", foreign),
        ("home/user/up", foreign),
        ("home/user/to-other", foreign),
        // The user can move it there, whoever made it.
        ("home/user/of-root", foreign),
        ("to-user/to-etc", foreign),
        ("home/user/to-own/deep", Ok("home/user/own/deep")),
        ("home/user/to-far-own", Ok("home/user/own")),
        // Root's own links lead everywhere.
        ("homes/user/own", Ok("home/user/own")),
        ("to-user", Ok("home/user")),
        ("homes/other", Ok("home/other")),
    ] {
        assert_opens(root, path, expected);
    }
}

/// A random link farm: folders, files and links, all with few names so that links find each other.
#[derive(Debug, Clone)]
enum Thing {
    Folder,
    File,
    Link(String),
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec!["a", "b", "c"]),
        1 => prop::sample::select(vec!["..", "."]),
    ]
    .prop_map(str::to_owned)
}

fn thing() -> impl Strategy<Value = Thing> {
    let target =
        (any::<bool>(), prop::collection::vec(part(), 1..5)).prop_map(|(absolute, parts)| {
            let begin = if absolute { "/" } else { "" };
            Thing::Link(format!("{begin}{}", parts.join("/")))
        });
    prop_oneof![3 => Just(Thing::Folder), 1 => Just(Thing::File), 4 => target]
}

fn name() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..4)
        .prop_map(|parts| parts.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_agree_on_random_link_farms(
        things in prop::collection::vec((name(), thing()), 1..14),
        paths in prop::collection::vec(name(), 1..20),
    ) {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("root");
        folder(&root);
        for (name, thing) in things {
            // The first letter's folder may be anything by now; what cannot be made is left out.
            let path = root.join(&name);
            let plain = path.ancestors().skip(1).take_while(|above| *above != root)
                .all(|above| above.symlink_metadata().is_ok_and(|found| found.is_dir()));
            if plain {
                match thing {
                    Thing::Folder => drop(std::fs::create_dir(&path)),
                    // Never through a link that is there already: it may lead anywhere.
                    Thing::File => drop(std::fs::File::create_new(&path)),
                    Thing::Link(target) => drop(symlink(target, &path)),
                }
            }
        }
        for path in paths {
            let [best, by_hand] = BOTH.map(|resolver| open(resolver, &root, &path));
            prop_assert_eq!(best, by_hand, "{}", path);
            prop_assert_eq!(best, open_by_kernel_alone(&root, &path), "{}", path);
        }
    }
}
