//! Units, images and products of the fake machine.

use std::time::Duration;

use bootlace_engine::port::{HostError, Machine};
use bootlace_model::effect::{Product, UnitName};

use super::super::{Ailment, Death, FakeHost, When, archive};
use super::{path, stop};
use crate::tree::Snapshot;

const WITHIN: Duration = Duration::from_secs(5);

fn unit(name: &str) -> UnitName {
    UnitName::parse(name).unwrap()
}

/// A machine with a runtime that a boot starts, and a unit that it does not.
fn machine() -> FakeHost {
    let host = FakeHost::new(1);
    host.set_up(|world| {
        world.install_unit("containerd.service", true)?;
        world.install_unit("lazy.service", false)?;
        world.write("/images.tar", &archive(&["a:1", "b:1", "c:1"]))?;
        world.start_unit("containerd.service")
    })
    .unwrap();
    host
}

#[test]
fn a_boot_starts_what_is_enabled_and_nothing_else() {
    let host = machine();
    let active = |name| host.unit(&unit(name)).unwrap().is_active;
    host.start_unit(&unit("lazy.service"), false, WITHIN)
        .unwrap();
    assert!(active("containerd.service") && active("lazy.service"));
    host.reboot(Death::Kill);
    assert!(active("containerd.service") && active("lazy.service"));
    host.reboot(Death::PowerCut { seed: 0 });
    assert!(active("containerd.service") && !active("lazy.service"));
    host.set_up(|world| world.make_link("/etc/systemd/system/containerd.service", "/dev/null"))
        .unwrap();
    host.reboot(Death::PowerCut { seed: 0 });
    assert!(!active("containerd.service"), "it is masked");
    assert!(host.start_unit(&unit("no.service"), false, WITHIN).is_err());
    assert!(!host.unit(&unit("no.service")).unwrap().is_known);
}

#[test]
fn images_survive_a_power_cut_and_need_a_runtime() {
    let host = machine();
    host.import_images(&path("/images.tar"), None, WITHIN)
        .unwrap();
    host.reboot(Death::PowerCut { seed: 3 });
    let expected: Vec<String> = ["a:1", "b:1", "c:1"].map(Into::into).into();
    assert_eq!(host.images().unwrap(), Some(expected));
    let image = Product::Image("b:1".into());
    assert!(host.has_product(&image).unwrap());
    host.remove_product(&image, WITHIN).unwrap();
    assert_eq!(host.images().unwrap().unwrap().len(), 2);
    host.set_up(|world| world.remove("/etc/systemd/system/multi-user.target.wants"))
        .unwrap();
    host.reboot(Death::PowerCut { seed: 3 });
    assert_eq!(host.images().unwrap(), None);
    assert!(
        host.remove_product(&Product::Image("a:1".into()), WITHIN)
            .is_err()
    );
}

#[test]
fn every_call_is_a_crash_point_before_and_after_it_takes_effect() {
    for (when, expected) in [(When::Before, 0), (When::After, 3)] {
        let host = machine();
        host.crash_at(0, when);
        let imported = host.import_images(&path("/images.tar"), None, WITHIN);
        assert!(matches!(imported, Err(HostError::Crashed)));
        host.reboot(Death::Kill);
        assert_eq!(host.images().unwrap().unwrap().len(), expected);

        let host = machine();
        host.crash_at(0, when);
        let started = host.start_unit(&unit("lazy.service"), false, WITHIN);
        assert!(matches!(started, Err(HostError::Crashed)));
        host.reboot(Death::Kill);
        assert_eq!(
            host.unit(&unit("lazy.service")).unwrap().is_active,
            expected > 0
        );
    }
    let host = machine();
    host.crash_at(0, When::Before);
    assert!(matches!(
        host.unit(&unit("lazy.service")),
        Err(HostError::Crashed)
    ));
}

#[test]
fn what_a_unit_leaves_is_there_until_it_is_removed() {
    let host = machine();
    let table = Product::PacketTable("inet lazy".into());
    let leaves = vec![
        table.clone(),
        Product::Cgroup("lazy.slice/below".into()),
        Product::Mounts(path("/run/lazy/mount")),
        Product::Path(path("/var/lib/lazy")),
    ];
    host.unit_leaves("lazy.service", leaves);
    let before = Snapshot::of_fake(&host, &[]);
    host.start_unit(&unit("lazy.service"), false, WITHIN)
        .unwrap();
    let above = [
        Product::Cgroup("lazy.slice".into()),
        Product::Mounts(path("/run/lazy")),
    ];
    for product in above.iter().chain([&table]) {
        assert!(host.has_product(product).unwrap(), "{product:?}");
    }
    assert!(
        host.remove_product(&table, WITHIN).is_err(),
        "its unit runs"
    );
    stop(&host, "lazy.service");
    for product in above.iter().chain([&table]) {
        host.remove_product(product, WITHIN).unwrap();
        assert!(!host.has_product(product).unwrap(), "{product:?}");
    }
    host.set_up(|world| world.remove("/var/lib/lazy")).unwrap();
    assert_eq!(before.compare(&Snapshot::of_fake(&host, &[])), Ok(()));
}

#[test]
fn a_unit_that_ails_loops_or_fails_until_it_is_healed() {
    let host = machine();
    let lazy = unit("lazy.service");
    let line = "out of luck".to_owned();
    host.ail(Ailment::UnitLoops {
        unit: lazy.to_string(),
        line: line.clone(),
    });
    host.start_unit(&lazy, false, WITHIN).unwrap();
    host.set_up(|world| {
        world.pass_time(Duration::from_secs(1));
        Ok(())
    })
    .unwrap();
    let found = host.unit(&lazy).unwrap();
    assert!(!found.is_active && found.restarts >= 4, "{found:?}");
    assert_eq!(host.unit_log(&lazy, 1).unwrap().concat(), line);
    host.heal();
    assert!(host.unit(&lazy).unwrap().is_active);
    host.ail(Ailment::UnitFails {
        unit: lazy.to_string(),
        line,
    });
    assert!(host.start_unit(&lazy, true, WITHIN).is_err());
    assert!(host.unit(&lazy).unwrap().has_failed);
    host.heal();
    host.start_unit(&lazy, false, WITHIN).unwrap();
    assert!(host.unit(&lazy).unwrap().is_active);
}

#[test]
fn what_ails_a_machine_shows() {
    let host = machine();
    assert_eq!(host.port_holder(6443).unwrap(), None);
    host.ail(Ailment::PortTaken {
        port: 6443,
        holder: "process 9 (nginx)".into(),
    });
    host.ail(Ailment::LittleRoom { bytes: 7 });
    host.ail(Ailment::Swap {
        area: "/swap".into(),
    });
    host.ail(Ailment::ControllerMissing {
        name: "memory".into(),
    });
    host.ail(Ailment::NotLive);
    assert_eq!(
        host.port_holder(6443).unwrap().as_deref(),
        Some("process 9 (nginx)")
    );
    assert_eq!(host.free_bytes(&path("/var")).unwrap(), 7);
    assert_eq!(host.swap_areas().unwrap(), ["/swap"]);
    assert!(
        !host
            .cgroup_controllers()
            .unwrap()
            .contains(&"memory".to_owned())
    );
    assert!(!host.is_live());
}
