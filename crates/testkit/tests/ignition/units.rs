//! How units are found set, beside what the real systemctl says.

use std::collections::BTreeMap;
use std::process::Command;

use bootlace_model::effect::UnitName;
use bootlace_model::probe::{Answer, Probe};
use bootlace_model::survey::UnitFileState;
use bootlace_testkit::fake::FakeHost;

use crate::world::{Root, make_parents};

const PLAIN: &str = "[Service]\nExecStart=/bin/true\n";
const WANTED: &str = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n";
const ALIASED: &str = "[Service]\nExecStart=/bin/true\n[Install]\nAlias=other-name.service\n";
const ALONG: &str = "[Service]\nExecStart=/bin/true\n[Install]\nAlso=wanted.service\n";

fn root() -> Root {
    let root = Root::new();
    for (name, text) in [
        ("static.service", PLAIN),
        ("wanted.service", WANTED),
        ("linked.service", WANTED),
        ("required.service", WANTED),
        ("aliased.service", ALIASED),
        ("named.service", ALIASED),
        ("along.service", ALONG),
        ("masked.service", WANTED),
        ("echo@.service", WANTED),
        ("on@.service", WANTED),
    ] {
        root.put(&format!("/usr/lib/systemd/system/{name}"), text);
    }
    root.put("/etc/systemd/system/own.service", WANTED);
    root.put("/etc/systemd/system/own-static.service", PLAIN);
    for (link, target) in [
        ("multi-user.target.wants/linked.service", "linked.service"),
        (
            "multi-user.target.requires/required.service",
            "required.service",
        ),
        ("multi-user.target.wants/on@x.service", "on@.service"),
        ("other-name.service", "named.service"),
    ] {
        let place = root.at(&format!("/etc/systemd/system/{link}"));
        make_parents(&place);
        let target = format!("/usr/lib/systemd/system/{target}");
        std::os::unix::fs::symlink(target, place).unwrap();
    }
    let mask = root.at("/etc/systemd/system/masked.service");
    std::os::unix::fs::symlink("/dev/null", mask).unwrap();
    root
}

#[test]
fn a_unit_counts_as_enabled_if_the_real_systemctl_says_so() {
    let root = root();
    let names = [
        "static",
        "wanted",
        "linked",
        "required",
        "aliased",
        "named",
        "along",
        "masked",
        "own",
        "own-static",
        "absent",
        "other-name",
        "echo@x",
        "on@x",
        "on@y",
        "echo@",
        "on@",
    ];
    let units: Vec<UnitName> = names
        .iter()
        .map(|name| UnitName::parse(&format!("{name}.service")).unwrap())
        .collect();
    let Answer::Json(found) = root.answer(&Probe::UnitFiles(units.clone())) else {
        panic!("no words");
    };
    let found: BTreeMap<String, UnitFileState> = serde_json::from_value(found).unwrap();
    let mut wrong = Vec::new();
    for unit in units {
        let asked = Command::new("systemctl")
            .args([
                "--root",
                root.root().to_str().unwrap(),
                "is-enabled",
                unit.as_str(),
            ])
            .output();
        let asked = asked.unwrap();
        let ours = found[unit.as_str()];
        if ours.counts_as_enabled() != asked.status.success() {
            let said = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
            wrong.push(format!("{unit}: {ours:?}, not {said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn folders_are_listed_once_for_all_units() {
    let host = FakeHost::new(1);
    let names = (0..50).map(|number| format!("u{number}.service"));
    let units: Vec<UnitName> = names.map(|name| UnitName::parse(&name).unwrap()).collect();
    host.set_up(|world| {
        for unit in &units {
            let folder = "/etc/systemd/system";
            world.write(&format!("{folder}/{unit}"), WANTED.as_bytes())?;
            world.make_link(&format!("{folder}/multi-user.target.wants/{unit}"), "../x")?;
        }
        Ok(())
    })
    .unwrap();
    let before = host.counters().listings;
    let answer = bootlace_engine::answer(&host, &Probe::UnitFiles(units.clone())).unwrap();
    let Answer::Json(found) = answer else {
        panic!("no words");
    };
    let found: BTreeMap<String, UnitFileState> = serde_json::from_value(found).unwrap();
    assert_eq!(found.len(), units.len());
    assert!(found.values().all(|state| *state == UnitFileState::Enabled));
    // The folder of units, and the one of links in it.
    assert_eq!(host.counters().listings - before, 2);
}
