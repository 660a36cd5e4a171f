use bootlace_engine::port::Host;
use bootlace_model::node::Owner;

use super::super::{Death, FakeHost};
use super::{dir, listing, mode, sync_dir, sync_file};

/// What is done, and what is there after a cut that loses all, nothing, contents, names.
struct Rule {
    name: &'static str,
    act: fn(&FakeHost),
    lost: &'static str,
    kept: &'static str,
    names_only: &'static str,
    contents_only: &'static str,
}

fn create(host: &FakeHost, folder: &str, name: &str, content: &str) {
    dir(host, folder)
        .create(name, content.as_bytes(), &mode(0o644))
        .unwrap();
}

const RULES: &[Rule] = &[
    Rule {
        name: "a new file is there with its name and its content only if both are synced",
        act: |host| create(host, "/", "a", "new"),
        lost: "old=old",
        kept: "a=new old=old",
        names_only: "a= old=old",
        contents_only: "old=old",
    },
    Rule {
        name: "a synced file without a synced name is lost",
        act: |host| {
            create(host, "/", "a", "new");
            sync_file(host, "/", "a");
        },
        lost: "old=old",
        kept: "a=new old=old",
        names_only: "a=new old=old",
        contents_only: "old=old",
    },
    Rule {
        name: "a synced name without a synced file is empty and narrow",
        act: |host| {
            create(host, "/", "a", "new");
            sync_dir(host, "/");
        },
        lost: "a=[600] old=old",
        kept: "a=new old=old",
        names_only: "a= old=old",
        contents_only: "a=new[600] old=old",
    },
    Rule {
        name: "a file replaced with care is the old one or the new one",
        act: |host| {
            create(host, "/", "t", "new");
            sync_file(host, "/", "t");
            dir(host, "/").rename("t", "old").unwrap();
        },
        lost: "old=old",
        kept: "old=new",
        names_only: "old=new",
        contents_only: "old=old",
    },
    Rule {
        name: "a file replaced without care may be empty",
        act: |host| {
            create(host, "/", "t", "new");
            dir(host, "/").rename("t", "old").unwrap();
        },
        lost: "old=old",
        kept: "old=new",
        names_only: "old=",
        contents_only: "old=old",
    },
    Rule {
        name: "a file replaced and synced stays",
        act: |host| {
            create(host, "/", "t", "new");
            sync_file(host, "/", "t");
            dir(host, "/").rename("t", "old").unwrap();
            sync_dir(host, "/");
        },
        lost: "old=new",
        kept: "old=new",
        names_only: "old=new",
        contents_only: "old=new",
    },
    Rule {
        name: "a removed file comes back",
        act: |host| dir(host, "/").remove("old").unwrap(),
        lost: "old=old",
        kept: "",
        names_only: "",
        contents_only: "old=old",
    },
    Rule {
        name: "a removed file stays away once its folder is synced",
        act: |host| {
            dir(host, "/").remove("old").unwrap();
            sync_dir(host, "/");
        },
        lost: "",
        kept: "",
        names_only: "",
        contents_only: "",
    },
    Rule {
        name: "a lost folder takes along what was synced in it",
        act: |host| {
            dir(host, "/").create_dir("d", &mode(0o755)).unwrap();
            create(host, "/d", "a", "new");
            sync_file(host, "/d", "a");
            sync_dir(host, "/d");
        },
        lost: "old=old",
        kept: "d/ d/a=new old=old",
        names_only: "d/ d/a=new old=old",
        contents_only: "old=old",
    },
    Rule {
        name: "a new folder's mode comes with its name",
        act: |host| {
            dir(host, "/").create_dir("d", &mode(0o751)).unwrap();
            sync_dir(host, "/");
        },
        lost: "d/[751] old=old",
        kept: "d/[751] old=old",
        names_only: "d/[751] old=old",
        contents_only: "d/[751] old=old",
    },
    Rule {
        name: "an old folder's mode comes with a sync of its own",
        act: |host| {
            dir(host, "/").create_dir("d", &mode(0o755)).unwrap();
            sync_dir(host, "/");
            dir(host, "/").set_attributes("d", &mode(0o700)).unwrap();
            sync_dir(host, "/");
        },
        lost: "d/ old=old",
        kept: "d/[700] old=old",
        names_only: "d/[700] old=old",
        contents_only: "d/ old=old",
    },
    Rule {
        name: "an old folder's mode is durable after a sync of its own",
        act: |host| {
            dir(host, "/").create_dir("d", &mode(0o755)).unwrap();
            sync_dir(host, "/");
            dir(host, "/").set_attributes("d", &mode(0o700)).unwrap();
            sync_dir(host, "/d");
        },
        lost: "d/[700] old=old",
        kept: "d/[700] old=old",
        names_only: "d/[700] old=old",
        contents_only: "d/[700] old=old",
    },
    Rule {
        name: "a file's mode and owner come with a sync of its own",
        act: |host| {
            dir(host, "/").set_attributes("old", &mode(0o600)).unwrap();
            dir(host, "/")
                .set_owner("old", Owner { uid: 7, gid: 7 })
                .unwrap();
        },
        lost: "old=old",
        kept: "old=old[600]@7",
        names_only: "old=old[600]@7",
        contents_only: "old=old",
    },
    Rule {
        name: "a link and its owner come with their folder",
        act: |host| {
            dir(host, "/").create_link("l", "t").unwrap();
            dir(host, "/")
                .set_owner("l", Owner { uid: 7, gid: 7 })
                .unwrap();
            sync_dir(host, "/");
        },
        lost: "l->t@7 old=old",
        kept: "l->t@7 old=old",
        names_only: "l->t@7 old=old",
        contents_only: "l->t@7 old=old",
    },
    Rule {
        name: "a folder that was emptied and removed is gone or empty or whole",
        act: |host| {
            dir(host, "/").create_dir("d", &mode(0o755)).unwrap();
            create(host, "/d", "a", "new");
            sync_file(host, "/d", "a");
            sync_dir(host, "/d");
            sync_dir(host, "/");
            dir(host, "/d").remove("a").unwrap();
            sync_dir(host, "/d");
            dir(host, "/").remove_dir("d").unwrap();
        },
        lost: "d/ old=old",
        kept: "old=old",
        names_only: "old=old",
        contents_only: "d/ old=old",
    },
    Rule {
        name: "an appended log is torn, its synced beginning is not",
        act: |host| {
            let root = dir(host, "/");
            let mut log = host.open_log(root.as_ref(), "log").unwrap();
            sync_dir(host, "/");
            log.append(b"one").unwrap();
            log.syncer().unwrap().sync().unwrap();
            log.append(b"two").unwrap();
        },
        lost: "log=one[600] old=old",
        kept: "log=onetwo[600] old=old",
        names_only: "log=one[600] old=old",
        contents_only: "log=onetwo[600] old=old",
    },
    Rule {
        name: "a truncated log stays short",
        act: |host| {
            let root = dir(host, "/");
            let mut log = host.open_log(root.as_ref(), "log").unwrap();
            sync_dir(host, "/");
            log.append(b"onetwo").unwrap();
            log.syncer().unwrap().sync().unwrap();
            log.truncate(3).unwrap();
        },
        lost: "log=one[600] old=old",
        kept: "log=one[600] old=old",
        names_only: "log=one[600] old=old",
        contents_only: "log=one[600] old=old",
    },
];

fn machine() -> FakeHost {
    let host = FakeHost::new(1);
    host.set_up(|world| world.write("/old", b"old")).unwrap();
    host
}

#[test]
fn what_is_synced_survives_and_what_is_not_may_be_lost() {
    for rule in RULES {
        let host = machine();
        (rule.act)(&host);
        let killed = host.fork();
        killed.reboot(Death::Kill);
        assert_eq!(listing(&killed), rule.kept, "{}: killed", rule.name);
        let cases = [rule.lost, rule.kept, rule.names_only, rule.contents_only];
        for (seed, expected) in (0..).zip(cases) {
            let cut = host.fork();
            cut.reboot(Death::PowerCut { seed });
            assert_eq!(listing(&cut), expected, "{}: seed {seed}", rule.name);
            // A second cut finds everything durable.
            cut.reboot(Death::PowerCut { seed: 0 });
            assert_eq!(listing(&cut), expected, "{}: second cut", rule.name);
        }
    }
}

fn busy(host: &FakeHost) {
    for n in 0..20 {
        let name = format!("f{n}");
        create(host, "/", &name, &format!("content {n}"));
        dir(host, "/")
            .create_dir(&format!("d{n}"), &mode(0o700))
            .unwrap();
        create(host, &format!("/d{n}"), "x", "below");
        dir(host, "/").rename(&name, &format!("g{n}")).unwrap();
    }
}

#[test]
fn a_power_cut_is_reproduced_by_its_seed() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..64 {
        let after = || {
            let host = machine();
            busy(&host);
            host.reboot(Death::PowerCut { seed });
            listing(&host)
        };
        let first = after();
        assert_eq!(first, after(), "seed {seed}");
        seen.insert(first);
    }
    assert!(seen.len() > 32, "only {} different results", seen.len());
}

#[test]
fn torn_appends_end_at_every_byte_and_never_before_a_synced_one() {
    let mut lengths = std::collections::BTreeSet::new();
    for seed in 0..400 {
        let host = machine();
        let root = dir(&host, "/");
        let mut log = host.open_log(root.as_ref(), "log").unwrap();
        sync_dir(&host, "/");
        log.append(b"0123").unwrap();
        log.syncer().unwrap().sync().unwrap();
        log.append(b"4567").unwrap();
        log.append(b"89").unwrap();
        host.reboot(Death::PowerCut { seed });
        let content = host.set_up(|world| world.read("/log")).unwrap().unwrap();
        assert!(b"0123456789".starts_with(&content), "{content:?}");
        lengths.insert(content.len());
    }
    assert_eq!(
        lengths.into_iter().collect::<Vec<_>>(),
        (4..=10).collect::<Vec<_>>()
    );
}

#[test]
fn an_ordered_journal_keeps_a_beginning_of_what_happened() {
    for seed in (0..200).filter(|seed| matches!(seed % 8, 4 | 5)) {
        let host = machine();
        for n in 0..10 {
            create(&host, "/", &format!("f{n}"), "");
        }
        host.reboot(Death::PowerCut { seed });
        let names = dir(&host, "/").list().unwrap();
        let expected = (0..names.len() - 1).map(|n| format!("f{n}"));
        assert_eq!(
            names,
            expected.chain(["old".into()]).collect::<Vec<_>>(),
            "seed {seed}"
        );
    }
}

#[test]
fn a_kill_does_not_make_durable_what_the_dead_wrote() {
    let host = machine();
    create(&host, "/", "a", "new");
    host.reboot(Death::Kill);
    assert_eq!(listing(&host), "a=new old=old");
    host.reboot(Death::PowerCut { seed: 0 });
    assert_eq!(listing(&host), "old=old");
}
