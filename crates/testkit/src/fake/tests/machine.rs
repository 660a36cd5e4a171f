use std::time::Duration;

use bootlace_engine::port::{Command, FetchRequest, Host, HostError, Signer, Stat};
use bootlace_model::node::{Attributes, Owner, Xattrs};
use bootlace_model::pki::{CertificateRequest, KeyAlgorithm, Subject, Usage};

use super::super::{Death, FakeHost, Trouble, When, failed, printed};
use super::{dir, listing, mode, path};

fn command(argv: &[String], within: u64) -> Command<'_> {
    let within = Duration::from_secs(within);
    Command {
        argv,
        env: vec![],
        directory: None,
        within,
        keep: 8,
        input: None,
    }
}

fn request(url: &str) -> FetchRequest<'_> {
    FetchRequest {
        url,
        authorities: None,
        trusts_system: false,
        headers: &[],
        limit: 16,
        within: Duration::from_secs(5),
    }
}

#[test]
fn the_same_seed_gives_the_same_machine() {
    let life = |seed| {
        let host = FakeHost::new(seed);
        (host.now(), host.now(), host.random(), host.random())
    };
    assert_eq!(life(3), life(3));
    assert_ne!(life(3), life(4));
    let host = FakeHost::new(3);
    let (first, second) = (host.now(), host.now());
    assert!(first < second && second.duration_since(first).as_secs() == 0);
    host.sleep(Duration::from_hours(1)).unwrap();
    assert!(host.now().duration_since(second).as_secs() >= 3600);
    assert_eq!(host.host_name().unwrap(), "fake-0");
    assert_eq!(host.identity(), Owner { uid: 0, gid: 0 });
}

#[test]
fn only_a_power_cut_changes_the_boot() {
    let host = FakeHost::new(1);
    let boot = host.boot_id().unwrap();
    host.reboot(Death::Kill);
    assert_eq!(host.boot_id().unwrap(), boot);
    host.reboot(Death::PowerCut { seed: 0 });
    assert_ne!(host.boot_id().unwrap(), boot);
}

#[test]
fn a_fork_goes_its_own_way() {
    let host = FakeHost::new(1);
    let fork = host.fork();
    dir(&host, "/").create("a", b"", &mode(0o644)).unwrap();
    assert_eq!(
        (listing(&host).as_str(), listing(&fork).as_str()),
        ("a=", "")
    );
}

#[test]
fn a_lock_names_its_holder_and_dies_with_it() {
    let host = FakeHost::new(1);
    let root = dir(&host, "/");
    assert_eq!(host.lock_holder(root.as_ref(), "lock").unwrap(), None);
    let lock = host.lock(root.as_ref(), "lock").unwrap();
    let refused = host.lock(root.as_ref(), "lock").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "/lock is held by process 4000 (bootlace)"
    );
    drop(lock);
    let lock = host.lock(root.as_ref(), "lock").unwrap();
    host.reboot(Death::Kill);
    let root = dir(&host, "/");
    let again = host.lock(root.as_ref(), "lock").unwrap();
    // A lock of an earlier life must not give the new one back.
    drop(lock);
    assert!(host.lock(root.as_ref(), "lock").is_err());
    drop(again);
    host.hold_lock("/lock", "process 7 (other)").unwrap();
    host.reboot(Death::Kill);
    let root = dir(&host, "/");
    let holder = host.lock_holder(root.as_ref(), "lock").unwrap();
    assert_eq!(holder.as_deref(), Some("process 7 (other)"));
    host.release_lock();
    assert!(host.lock(root.as_ref(), "lock").is_ok());
}

#[test]
fn inputs_are_read_only() {
    let host = FakeHost::new(1);
    host.set_up(|world| {
        world.write("/in/a", b"x")?;
        world.make_input(&path("/in"));
        Ok(())
    })
    .unwrap();
    let input = dir(&host, "/in");
    assert_eq!(input.read("a", 10).unwrap(), b"x");
    let refused = input.create("b", b"", &mode(0o644)).unwrap_err();
    assert!(matches!(refused, HostError::ReadOnly { path } if path == "/in/b"));
    assert!(matches!(input.remove("a"), Err(HostError::ReadOnly { .. })));
    assert!(matches!(
        host.open_log(input.as_ref(), "log"),
        Err(HostError::ReadOnly { .. })
    ));
    assert!(dir(&host, "/").create("b", b"", &mode(0o644)).is_ok());
}

#[test]
fn attributes_are_given_and_others_left_alone() {
    let host = FakeHost::new(1);
    let root = dir(&host, "/");
    let label = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
    let attributes = Attributes {
        mode: 0o4755,
        owner: Some(Owner { uid: 5, gid: 6 }),
        xattrs: Xattrs([label("user.a", "1")].into()),
    };
    root.create("a", b"x", &attributes).unwrap();
    let stat = root.stat("a").unwrap().unwrap();
    assert_eq!(
        stat,
        Stat::File {
            size: 1,
            mode: 0o4755,
            owner: Owner { uid: 5, gid: 6 }
        }
    );
    let more = Attributes {
        xattrs: Xattrs([label("user.b", "2")].into()),
        ..mode(0o755)
    };
    root.set_attributes("a", &more).unwrap();
    let found = root.xattrs("a").unwrap();
    assert_eq!(found.0, [label("user.a", "1"), label("user.b", "2")].into());
    assert_eq!(listing(&host), "a=x[755]@5");
    // A new owner takes the set-user-id bit away, unless the mode is given with it.
    root.set_attributes("a", &mode(0o4755)).unwrap();
    root.set_owner("a", Owner { uid: 9, gid: 9 }).unwrap();
    assert_eq!(listing(&host), "a=x[755]@9");
    root.set_attributes("a", &attributes).unwrap();
    assert_eq!(listing(&host), "a=x[4755]@5");
}

#[test]
fn reads_are_limited_and_say_what_is_wrong() {
    let host = FakeHost::new(1);
    host.set_up(|world| {
        world.write("/a", b"0123456789")?;
        world.make_link("/l", "a")?;
        world.make_link("/loop", "loop")
    })
    .unwrap();
    let root = dir(&host, "/");
    assert_eq!(root.read("a", 10).unwrap().len(), 10);
    assert!(matches!(
        root.read("a", 9),
        Err(HostError::TooLarge { limit: 9, .. })
    ));
    assert!(matches!(root.read("l", 10), Err(HostError::Io { .. })));
    let missing = root.read("x", 10).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "cannot read /x: No such file or directory (os error 2)"
    );
    assert!(host.open_dir(&path("/x")).unwrap().is_none());
    assert!(matches!(
        host.open_dir(&path("/a")),
        Err(HostError::Io { .. })
    ));
    assert!(matches!(
        host.open_dir(&path("/loop")),
        Err(HostError::Escape { .. })
    ));
    assert!(matches!(root.stat("a/b"), Err(HostError::Io { .. })));
}

#[test]
fn programs_are_scripted_and_can_be_crashed_in_the_middle() {
    let host = FakeHost::new(1);
    host.program("two-files", |_, world| {
        world.write("/out/one", b"1")?;
        world.write("/out/two", b"2")?;
        Ok(printed("twelve bytes"))
    });
    host.program("slow", |_, world| {
        world.pass_time(Duration::from_mins(1));
        Ok(failed(3, "complaints"))
    });
    let two = ["two-files".to_owned()];
    let crashed = host.fork();
    let output = host.run(&command(&two, 10)).unwrap();
    assert_eq!(
        (output.code, output.stdout.as_slice()),
        (Some(0), &b"twelve b"[..])
    );
    assert_eq!(listing(&host), "out/ out/one=1 out/two=2");
    host.reboot(Death::PowerCut { seed: 0 });
    assert_eq!(listing(&host), "");
    // The program itself, the folder, the first file, the second file.
    crashed.crash_at(3, When::Before);
    assert!(matches!(
        crashed.run(&command(&two, 10)),
        Err(HostError::Crashed)
    ));
    assert_eq!(listing(&crashed), "out/ out/one=1");
    let slow = ["slow".to_owned()];
    assert!(matches!(
        host.run(&command(&slow, 10)),
        Err(HostError::TimedOut { .. })
    ));
    let output = host.run(&command(&slow, 60)).unwrap();
    assert_eq!(
        (output.code, output.stderr.as_slice()),
        (Some(3), &b"mplaints"[..])
    );
    let unknown = ["unknown".to_owned()];
    assert!(matches!(
        host.run(&command(&unknown, 10)),
        Err(HostError::Io { .. })
    ));
}

#[test]
fn urls_are_scripted_with_their_troubles() {
    let host = FakeHost::new(1);
    let troubles = [Trouble::Refused, Trouble::Status(503)];
    host.url("http://127.0.0.1/a", "content", &troubles);
    assert_eq!(
        host.fetch(&request("http://127.0.0.1/a")).unwrap(),
        b"content"
    );
    assert_eq!(host.take_asked().len(), 3);
    host.url("http://127.0.0.1/gone", "", &[Trouble::Status(404)]);
    assert!(matches!(
        host.fetch(&request("http://127.0.0.1/gone")),
        Err(HostError::Fetch { .. })
    ));
    host.url("http://127.0.0.1/down", "", &[Trouble::Refused; 9]);
    assert!(matches!(
        host.fetch(&request("http://127.0.0.1/down")),
        Err(HostError::Fetch { .. })
    ));
    host.url("http://127.0.0.1/big", "0123456789abcdef0", &[]);
    assert!(matches!(
        host.fetch(&request("http://127.0.0.1/big")),
        Err(HostError::TooLarge { .. })
    ));
    host.url("http://127.0.0.1/health", "", &troubles);
    assert!(
        host.http_status(&request("http://127.0.0.1/health"))
            .is_err()
    );
    assert_eq!(
        host.http_status(&request("http://127.0.0.1/health"))
            .unwrap(),
        503
    );
    assert_eq!(
        host.http_status(&request("http://127.0.0.1/health"))
            .unwrap(),
        200
    );
    assert!(
        host.http_status(&request("http://127.0.0.1/unknown"))
            .is_err()
    );
}

#[test]
fn certificates_are_issued_by_the_fake_clock() {
    let host = FakeHost::new(1);
    let key = host.make_key(KeyAlgorithm::EcdsaP256).unwrap();
    let request = CertificateRequest {
        subject: Subject::user("authority"),
        dns_names: vec![],
        addresses: vec![],
        usages: vec![Usage::Authority],
        valid_for: Duration::from_hours(24),
        back_dated: Duration::from_mins(1),
    };
    let made = host.issue(&request, &key, Signer::Itself).unwrap();
    let facts = host
        .inspect(made.as_bytes(), Some(&key), Some(made.as_bytes()))
        .unwrap();
    assert_eq!(
        (facts.key_fits, facts.signature_fits),
        (Some(true), Some(true))
    );
    assert_eq!(facts.problems(&request, host.now()), Vec::<String>::new());
    host.sleep(Duration::from_hours(24)).unwrap();
    assert!(!facts.problems(&request, host.now()).is_empty());
    assert!(host.public_key(&key).unwrap().contains("PUBLIC KEY"));
}
