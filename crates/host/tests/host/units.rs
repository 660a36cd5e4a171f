//! Units of a real systemd, on a real machine: the test goes there and runs again.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bootlace_engine::port::{HostError, Machine as _, UnitActivity};
use bootlace_host::RealHost;
use bootlace_lab::Lab;
use bootlace_machines::{Bind, MachineName, MachineSpec, Machines};
use bootlace_model::effect::UnitName;
use tempfile::TempDir;

const PLENTY: Duration = Duration::from_mins(1);
/// Where a machine finds this program.
const HERE: &str = "/usr/local/bin/host-test";

#[test]
#[ignore = "slow: boots a machine; needs root"]
fn a_real_systemd_starts_what_it_is_told_and_says_how_it_went() {
    let lab = Lab::load().expect("run `make lab` first");
    let folder = TempDir::with_prefix_in("bootlace-test-", "/var/tmp").unwrap();
    let machines = Machines::open(folder.path()).unwrap();
    let program = Bind {
        from: std::env::current_exe().unwrap(),
        to: PathBuf::from(HERE),
        read_only: true,
    };
    let machine = machines.create(MachineSpec {
        name: MachineName::new("units").unwrap(),
        address: Ipv4Addr::new(10, 90, 0, 21),
        layers: lab.layers,
        images: None,
        binds: vec![program],
        files: vec![],
    });
    let run = || {
        let machine = machine.unwrap();
        machine.boot().unwrap();
        machine.wait_booted(PLENTY * 2).unwrap();
        let argv = [
            HERE,
            "--exact",
            "units::helper_on_the_machine",
            "--ignored",
            "--nocapture",
        ];
        machine.run(&argv, PLENTY * 2).unwrap()
    };
    let finished = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    machines.clean().unwrap();
    let finished = finished.unwrap();
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    assert!(finished.stdout.contains("1 passed"), "{}", finished.stdout);
}

fn write(unit: &str, content: &str) -> UnitName {
    std::fs::write(format!("/etc/systemd/system/{unit}"), content).unwrap();
    UnitName::parse(unit).unwrap()
}

fn until(host: &RealHost, unit: &UnitName, holds: impl Fn(&UnitActivity) -> bool) -> UnitActivity {
    let begun = Instant::now();
    loop {
        let found = host.unit(unit).unwrap();
        if holds(&found) {
            return found;
        }
        assert!(begun.elapsed() < PLENTY, "{found:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "helper: only a machine that was made for it may run this"]
fn helper_on_the_machine() {
    assert_eq!(std::env::current_exe().unwrap(), PathBuf::from(HERE));
    let host = RealHost::builder().build();
    let unknown = UnitName::parse("no-such.service").unwrap();
    let found = host.unit(&unknown).unwrap();
    assert!(
        !found.is_known && !found.is_active && !found.has_failed,
        "{found:?}"
    );
    let error = host.start_unit(&unknown, false, PLENTY).unwrap_err();
    assert!(error.to_string().contains("not found"), "{error}");

    // Unit files that were just written count, and those that changed, too.
    let script = |text: &str| format!("[Service]\nExecStart=sh -c '{text}'\n");
    let good = write("good.service", &script("echo up; echo run; sleep 1000"));
    host.start_unit(&good, false, PLENTY).unwrap();
    let found = host.unit(&good).unwrap();
    assert!(
        found.is_active && found.is_known && !found.has_failed,
        "{found:?}"
    );
    // systemd's own words about a unit stand between the unit's.
    let has_logged = |expected: &[&str]| {
        let begun = Instant::now();
        let said = || {
            let lines = host.unit_log(&good, 50).unwrap();
            let known = |line: &String| ["up", "run", "again"].contains(&line.as_str());
            lines.into_iter().filter(known).collect::<Vec<String>>()
        };
        while said() != expected {
            assert!(begun.elapsed() < PLENTY, "{:?}", said());
        }
    };
    has_logged(&["up", "run"]);
    assert_eq!(host.unit_log(&good, 1).unwrap().len(), 1);
    write("good.service", &script("echo again; sleep 1000"));
    host.start_unit(&good, false, PLENTY).unwrap();
    has_logged(&["up", "run"]);
    host.start_unit(&good, true, PLENTY).unwrap();
    has_logged(&["up", "run", "again"]);

    // One that never gets ready is given up.
    let slow = write(
        "slow.service",
        "[Service]\nType=notify\nExecStart=sleep 1000\n",
    );
    let error = host
        .start_unit(&slow, false, Duration::from_secs(1))
        .unwrap_err();
    assert!(matches!(error, HostError::TimedOut { .. }), "{error:?}");

    fails_and_heals(&host);
}

fn fails_and_heals(host: &RealHost) {
    let broken = "[Unit]\nStartLimitBurst=2\n[Service]\nRestart=on-failure\nRestartSec=10ms\n\
                  ExecStart=sh -c 'echo broken; exit 7'\n";
    let unit = write("sick.service", broken);
    host.start_unit(&unit, false, PLENTY).unwrap();
    let failed = until(host, &unit, |found| found.has_failed);
    assert_eq!(failed.result, "exit-code 7");
    assert!(failed.restarts > 0 && !failed.is_active, "{failed:?}");
    let log = host.unit_log(&unit, 100).unwrap();
    assert_eq!(log.iter().filter(|line| *line == "broken").count(), 2);
    // Some versions of systemd would refuse to start it again so soon; its cause is mended.
    write("sick.service", &broken.replace("exit 7", "exec sleep 1000"));
    host.start_unit(&unit, false, PLENTY).unwrap();
    let healed = until(host, &unit, |found| found.is_active);
    assert_eq!(healed.restarts, 0, "{healed:?}");

    // A start that fails at once says so.
    let gone = "[Service]\nType=oneshot\nExecStart=false\n";
    let unit = write("gone.service", gone);
    let error = host.start_unit(&unit, false, PLENTY).unwrap_err();
    assert!(error.to_string().contains("gone.service"), "{error}");
    assert_eq!(host.unit(&unit).unwrap().result, "exit-code 1");
}
