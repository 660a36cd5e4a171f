//! What was there before stays; what a started thing made goes.

use bootlace_engine::port::Machine;
use bootlace_model::effect::{Body, DropPath, Effect, ImportImages, Product, PutFile};
use bootlace_model::node::Attributes;
use bootlace_testkit::fake::{Death, FakeHost, When, archive};
use bootlace_testkit::tree::Snapshot;

use super::single::{LONG, Try, at, origin, start, unit};

fn is_active(host: &FakeHost, name: &str) -> bool {
    host.unit(&unit(name)).unwrap().is_active
}

#[test]
fn a_unit_that_ran_already_is_not_stopped_by_undo() {
    let attempt = Try::new(
        vec![
            start("containerd.service", vec![]),
            start("lasting.service", vec![]),
        ],
        vec![],
    );
    attempt.run().unwrap();
    assert!(
        is_active(&attempt.host, "containerd.service")
            && is_active(&attempt.host, "lasting.service")
    );
    let view = attempt.undo().unwrap();
    assert_eq!((view.undone, view.refused.len()), (1, 0));
    assert!(
        is_active(&attempt.host, "containerd.service"),
        "it ran before"
    );
    assert!(
        !is_active(&attempt.host, "lasting.service"),
        "it was started"
    );
}

#[test]
fn products_that_were_there_before_stay_and_the_others_go() {
    let all = vec![
        Product::Interface("old0".into()),
        Product::Interface("new0".into()),
        Product::PacketTable("inet old".into()),
        Product::PacketTable("inet new".into()),
        Product::Cgroup("old.slice".into()),
        Product::Cgroup("new.slice".into()),
        Product::Mounts(at("/mnt/old")),
        Product::Mounts(at("/mnt/new")),
        Product::Path(at("/var/lib/old")),
        Product::Path(at("/var/lib/new")),
    ];
    let attempt = Try::new(vec![start("lasting.service", all.clone())], vec![]);
    let host = &attempt.host;
    // Another unit made the old ones before, and is gone.
    let old = all.iter().step_by(2).cloned().collect();
    host.unit_leaves("earlier.service", old);
    let earlier = host.set_up(|world| {
        world.install_unit("earlier.service", false)?;
        world.start_unit("earlier.service")?;
        world.stop_unit("earlier.service");
        Ok(())
    });
    earlier.unwrap();
    host.unit_leaves("lasting.service", all);
    let before = Snapshot::of_fake(host, &[at("/var/lib/bootlace")]);
    attempt.run().unwrap();
    assert!(
        host.has_product(&Product::Interface("new0".into()))
            .unwrap()
    );
    attempt.undo().unwrap();
    let after = Snapshot::of_fake(host, &[at("/var/lib/bootlace")]);
    assert_eq!(before.compare(&after), Ok(()));
    assert!(
        host.has_product(&Product::Interface("old0".into()))
            .unwrap()
    );
}

#[test]
fn a_file_of_ours_in_the_folder_of_a_started_thing_is_judged_by_itself() {
    let folder = at("/var/lib/lasting");
    let put = Effect::PutFile(PutFile {
        path: folder.join("config").unwrap(),
        body: Body::text("ours\n"),
        attributes: Attributes::mode(0o644),
        origin: origin(),
    });
    let product = Product::Path(folder);
    let attempt = Try::new(
        vec![put, start("lasting.service", vec![product.clone()])],
        vec![],
    );
    let host = &attempt.host;
    host.unit_leaves("lasting.service", vec![product]);
    let tree = || Snapshot::of_fake(host, &[at("/var/lib/bootlace")]);
    let before = tree();
    attempt.run().unwrap();
    let edited = host.fork();
    assert_eq!(attempt.undo().unwrap().refused, vec![]);
    assert_eq!(before.compare(&tree()), Ok(()));

    let attempt = Try {
        host: edited,
        ..attempt
    };
    let host = &attempt.host;
    host.set_up(|world| world.write("/var/lib/lasting/config", b"by hand\n"))
        .unwrap();
    let refused = attempt.undo().unwrap().refused;
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0].target, "/var/lib/lasting/config");
    let after = Snapshot::of_fake(host, &[]);
    assert_eq!(
        after.content("/var/lib/lasting/config"),
        Some(&b"by hand\n"[..])
    );
    assert_eq!(after.content("/var/lib/lasting/state"), None);
}

#[test]
fn what_a_cut_off_removal_removed_is_not_missed_afterwards() {
    let put = |name: &str| {
        Effect::PutFile(PutFile {
            path: at("/srv/folder").join(name).unwrap(),
            body: Body::text("for a while\n"),
            attributes: Attributes::mode(0o644),
            origin: origin(),
        })
    };
    let drop = Effect::DropPath(DropPath {
        path: at("/srv/folder"),
        forget: Some("it is a secret".into()),
        origin: origin(),
    });
    let attempt = Try::two(vec![put("a"), put("b"), put("c")], vec![drop]);
    let tried = attempt.host.fork();
    attempt.run().unwrap();
    assert!(attempt.verify().unwrap().ok);
    let operations = attempt.host.counters().operations;
    for operation in 0..operations {
        let attempt = Try {
            host: tried.fork(),
            options: attempt.options.clone(),
            ..attempt
        };
        attempt.host.crash_at(operation, When::After);
        attempt.run().unwrap_err();
        attempt.host.reboot(Death::Kill);
        attempt.run().unwrap();
        let view = attempt.verify().unwrap();
        assert!(view.ok, "after {operation}: {view:?}");
    }
}

#[test]
fn an_image_that_was_there_before_stays_also_after_a_reboot() {
    let images = vec!["old:1".to_owned(), "new:1".to_owned()];
    let attempt = Try::new(
        vec![Effect::ImportImages(ImportImages {
            archive: at("/images.tar"),
            digest: None,
            images,
            within: LONG,
            origin: origin(),
        })],
        vec![],
    );
    let prepared = attempt.host.set_up(|world| {
        world.write("/images.tar", &archive(&["old:1", "new:1"]))?;
        world.load_images(&["old:1"])
    });
    prepared.unwrap();
    attempt.run().unwrap();
    assert_eq!(attempt.host.images().unwrap().unwrap().len(), 2);
    attempt.host.reboot(Death::PowerCut { seed: 5 });
    attempt.undo().unwrap();
    assert_eq!(attempt.host.images().unwrap().unwrap(), ["old:1"]);
}
