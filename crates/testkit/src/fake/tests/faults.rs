use bootlace_engine::port::{Host, HostError, LogFile};

use super::super::{Death, Errno, FakeHost, OperationKind, When};
use super::{dir, listing, mode, path};

/// Does one operation of each kind that has several; stops at the first error.
fn work(host: &FakeHost) -> Result<(), HostError> {
    let root = host.open_dir(&path("/"))?.ok_or(HostError::Crashed)?;
    root.create("a", b"0123456789", &mode(0o644))?;
    host.sync_files(&[(root.as_ref(), "a")])?;
    root.rename("a", "b")?;
    host.sync_dirs(&[root.as_ref()])?;
    let mut log = host.open_log(root.as_ref(), "log")?;
    log.append(b"one\n")?;
    log.syncer()?.sync()?;
    log.append(b"two\n")?;
    log.syncer()?.sync()
}

#[test]
fn an_undisturbed_run_counts_what_it_does() {
    let host = FakeHost::new(1);
    work(&host).unwrap();
    let counters = host.counters();
    assert_eq!(
        (counters.operations, counters.appends, counters.log_syncs),
        (9, 2, 2)
    );
    let trace: Vec<String> = host.trace().iter().map(ToString::to_string).collect();
    let expected =
        "create /a,sync /a,rename /b,sync /,open /log,write /log,sync /log,write /log,sync /log";
    assert_eq!(trace.join(","), expected);
    assert_eq!(host.trace()[4].kind, OperationKind::OpenLog);
}

#[test]
fn a_crash_comes_before_within_or_after_its_operation_and_lasts() {
    for (operation, when, expected) in [
        (0, When::Before, ""),
        (0, When::After, "a=0123456789"),
        (2, When::Before, "a=0123456789"),
        (2, When::After, "b=0123456789"),
        (4, When::Before, "b=0123456789"),
        (4, When::After, "b=0123456789 log=[600]"),
        (7, When::Before, "b=0123456789 log=one\n[600]"),
        (7, When::After, "b=0123456789 log=one\ntwo\n[600]"),
    ] {
        let host = FakeHost::new(1);
        host.crash_at(operation, when);
        assert!(
            matches!(work(&host), Err(HostError::Crashed)),
            "{operation} {when:?}"
        );
        assert!(host.is_crashed());
        assert!(matches!(host.open_dir(&path("/")), Err(HostError::Crashed)));
        host.reboot(Death::Kill);
        assert_eq!(listing(&host), expected, "{operation} {when:?}");
        assert_eq!(host.counters().operations, 0);
    }
}

#[test]
fn a_crash_within_an_operation_leaves_a_part_that_the_seed_chooses() {
    let mut parts = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let host = FakeHost::new(seed);
        host.crash_at(0, When::Within);
        assert!(matches!(work(&host), Err(HostError::Crashed)));
        // The content may be whole, but the file is still as narrow as it began.
        parts.insert(listing(&host));
    }
    let expected = (0..=10).map(|length| format!("a={}[600]", &"0123456789"[..length]));
    assert_eq!(parts, expected.collect());
}

#[test]
fn crashes_after_records_count_appends_and_syncs_alone() {
    for (order, expected) in [
        (
            (|host| host.crash_after_append(0)) as fn(&FakeHost),
            "log=one\n[600]",
        ),
        (|host| host.crash_after_append(1), "log=one\ntwo\n[600]"),
        (|host| host.crash_after_log_sync(0), "log=one\n[600]"),
    ] {
        let host = FakeHost::new(1);
        order(&host);
        assert!(matches!(work(&host), Err(HostError::Crashed)));
        host.reboot(Death::Kill);
        assert_eq!(listing(&host), format!("b=0123456789 {expected}"));
    }
}

#[test]
fn a_failure_hits_one_operation_and_the_rest_goes_on() {
    let host = FakeHost::new(1);
    host.fail_at(1, Errno::ENOSPC, When::Before);
    let root = dir(&host, "/");
    root.create("a", b"x", &mode(0o644)).unwrap();
    let failed = root.create("b", b"x", &mode(0o644)).unwrap_err();
    assert_eq!(
        failed.to_string(),
        "cannot create /b: No space left on device (os error 28)"
    );
    root.create("b", b"x", &mode(0o644)).unwrap();
    assert_eq!(listing(&host), "a=x b=x");
}

#[test]
fn a_failure_within_leaves_half_a_line_but_no_half_file() {
    let host = FakeHost::new(1);
    let root = dir(&host, "/");
    let mut log = host.open_log(root.as_ref(), "log").unwrap();
    host.clear_faults();
    host.fail_at(0, Errno::EIO, When::Within);
    host.fail_at(1, Errno::ENOSPC, When::Within);
    root.create("a", b"0123456789", &mode(0o644)).unwrap_err();
    log.append(b"0123456789").unwrap_err();
    assert_eq!(root.list().unwrap(), ["log"]);
    assert!(log.length().unwrap() < 10);
}

#[test]
fn a_crash_within_a_sync_syncs_some() {
    let mut survivors = std::collections::BTreeSet::new();
    for seed in 0..32 {
        let host = FakeHost::new(seed);
        let root = dir(&host, "/");
        let names = ["a", "b", "c"];
        for name in names {
            root.create(name, b"x", &mode(0o644)).unwrap();
        }
        host.sync_dirs(&[root.as_ref()]).unwrap();
        host.crash_at(4, When::Within);
        let files = names.map(|name| (root.as_ref(), name));
        assert!(matches!(host.sync_files(&files), Err(HostError::Crashed)));
        host.reboot(Death::PowerCut { seed: 0 });
        survivors.insert(listing(&host).matches("=x").count());
    }
    assert_eq!(survivors.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn handles_of_an_earlier_life_are_dead() {
    let host = FakeHost::new(1);
    let root = dir(&host, "/");
    let mut log = host.open_log(root.as_ref(), "log").unwrap();
    let sync = log.syncer().unwrap();
    host.reboot(Death::Kill);
    assert!(matches!(root.list(), Err(HostError::Crashed)));
    assert!(matches!(
        root.create("a", b"", &mode(0o644)),
        Err(HostError::Crashed)
    ));
    assert!(matches!(log.append(b"x"), Err(HostError::Crashed)));
    assert!(matches!(log.length(), Err(HostError::Crashed)));
    assert!(matches!(sync.sync(), Err(HostError::Crashed)));
    assert!(matches!(
        host.sync_dirs(&[root.as_ref()]),
        Err(HostError::Crashed)
    ));
    assert!(matches!(
        host.lock(root.as_ref(), "lock"),
        Err(HostError::Crashed)
    ));
    let fresh: Box<dyn LogFile> = host.open_log(dir(&host, "/").as_ref(), "log").unwrap();
    assert_eq!(fresh.length().unwrap(), 0);
}

#[test]
fn a_stop_is_asked_for_at_its_operation() {
    let host = FakeHost::new(1);
    host.stop_after(1);
    let root = dir(&host, "/");
    root.create("a", b"", &mode(0o644)).unwrap();
    assert!(!host.stop_requested());
    root.create("b", b"", &mode(0o644)).unwrap();
    assert!(host.stop_requested());
    let waited = host.sleep(std::time::Duration::from_secs(1));
    assert!(matches!(waited, Err(HostError::Stopped)));
}
