//! The life of a machine.

use std::time::Duration;

use bootlace_machines::{Bind, MachineError, SeedFile};

use crate::rig::{Rig, SOON, shell};

#[test]
#[ignore = "slow: boots a machine; needs root and `lab prepare`"]
fn a_machine_runs_programs_and_keeps_its_disk_through_a_power_cut() {
    let rig = Rig::new();
    let machine = rig.boot("m1", 11);

    let done = machine
        .run(&["sh", "-c", "hostname; echo status >&2; exit 7"], SOON)
        .unwrap();
    assert_eq!(
        (done.code, done.stdout.as_str(), done.stderr.as_str()),
        (7, "m1\n", "status\n")
    );
    let address = shell(&machine, "ip -brief address show host0");
    assert!(address.contains("10.90.0.11/24"), "{address}");
    assert_eq!(shell(&machine, "systemctl is-active containerd"), "active");
    assert_eq!(
        shell(&machine, "systemctl --failed --no-legend --plain"),
        ""
    );

    let boot = shell(&machine, "cat /proc/1/stat | cut -d' ' -f22");
    shell(&machine, "echo kept > /var/lib/kept && sync");
    machine.kill().unwrap();
    assert!(!machine.is_running().unwrap());
    let refused = machine.run(&["true"], SOON).unwrap_err();
    assert!(
        matches!(refused, MachineError::NotRunning { .. }),
        "{refused}"
    );

    machine.boot().unwrap();
    machine.wait_booted(SOON).unwrap();
    assert_eq!(shell(&machine, "cat /var/lib/kept"), "kept");
    assert_ne!(shell(&machine, "cat /proc/1/stat | cut -d' ' -f22"), boot);
}

#[test]
#[ignore = "slow: boots a machine; needs root and `lab prepare`"]
fn a_machine_boots_although_the_kernel_still_holds_its_interface() {
    let rig = Rig::new();
    let machine = rig.boot("m1", 11);
    // Whoever holds a network namespace keeps its interfaces, as a kernel that is busy does.
    let enter = machine.command(&["true"]).unwrap();
    let mut words = enter.get_args().map(|word| word.to_string_lossy());
    let leader = words.find_map(|word| Some(word.strip_prefix("--target=")?.to_owned()));
    let held = std::fs::File::open(format!("/proc/{}/ns/net", leader.unwrap())).unwrap();
    machine.kill().unwrap();
    machine.boot().unwrap();
    machine.wait_booted(SOON).unwrap();
    drop(held);
}

#[test]
#[ignore = "slow: boots a machine; needs root and `lab prepare`"]
fn a_machine_reboots_and_powers_off_in_good_order() {
    let rig = Rig::new();
    let machine = rig.boot("m1", 11);
    // Written by a service that is stopped, and by no one that is killed.
    shell(
        &machine,
        "systemd-run --unit=last -p RemainAfterExit=yes -p ExecStop='/bin/sh -c \"echo x >> /var/lib/stopped\"' true",
    );
    shell(&machine, "echo 1 > /run/memory");
    machine.reboot(SOON).unwrap();
    assert_eq!(
        shell(
            &machine,
            "cat /var/lib/stopped; ls /run/memory 2>&1 | grep -c No"
        ),
        "x\n1"
    );

    let again = machine.boot().unwrap_err();
    assert!(matches!(again, MachineError::Running { .. }), "{again}");
    machine.power_off(SOON).unwrap();
    assert!(!machine.is_running().unwrap());
    machine.power_off(SOON).unwrap();
}

#[test]
#[ignore = "slow: boots a machine; needs root and `lab prepare`"]
fn a_program_that_hangs_is_killed_at_its_deadline() {
    let rig = Rig::new();
    let machine = rig.boot("m1", 11);
    let line = "echo stuck >&2; exec sleep 4711";
    let late = machine
        .run(&["sh", "-c", line], Duration::from_millis(500))
        .unwrap_err();
    assert!(matches!(late, MachineError::Deadline { .. }), "{late}");
    assert!(
        late.to_string().contains("it printed last: stuck"),
        "{late}"
    );
    let gone = machine.run(&["pgrep", "-f", "sleep 4711"], SOON).unwrap();
    assert_eq!(gone.code, 1, "{gone:?}");
    // What it leaves behind may keep its output open; that is no reason to wait.
    let left = machine
        .run(&["sh", "-c", "echo done; sleep 30 &"], SOON)
        .unwrap();
    assert_eq!(left.stdout, "done\n");
}

#[test]
#[ignore = "slow: boots a machine; needs root and `lab prepare`"]
fn a_machine_gets_files_and_folders_of_the_host() {
    let rig = Rig::new();
    let shared = tempfile::tempdir().unwrap();
    std::fs::write(shared.path().join("here"), "of the host").unwrap();
    let mut spec = rig.spec("m1", 11);
    spec.binds.push(Bind {
        from: shared.path().to_owned(),
        to: "/opt/shared".into(),
        read_only: true,
    });
    spec.files.push(SeedFile {
        path: "/etc/seeded/file".into(),
        mode: 0o600,
        content: b"of the caller".into(),
    });
    let machine = rig.machines.create(spec.clone()).unwrap();
    let twice = rig.machines.create(spec).unwrap_err();
    assert!(matches!(twice, MachineError::Exists { .. }), "{twice}");
    machine.boot().unwrap();
    machine.wait_booted(SOON).unwrap();
    assert_eq!(shell(&machine, "cat /opt/shared/here"), "of the host");
    assert_eq!(
        shell(
            &machine,
            "cat /etc/seeded/file; stat -c %a /etc/seeded/file"
        ),
        "of the caller600"
    );
    let refused = machine.run(&["touch", "/opt/shared/new"], SOON).unwrap();
    assert_ne!(refused.code, 0);
}

#[test]
#[ignore = "slow: boots machines; needs root and `lab prepare`"]
fn machines_of_one_folder_see_each_other_and_no_others() {
    let (rig, other) = (Rig::new(), Rig::new());
    // All at once, and with the same names in both: nothing may meet but what shall.
    let booted: Vec<_> = std::thread::scope(|scope| {
        let boots = [
            (&rig, "m1", 11),
            (&other, "m1", 11),
            (&rig, "m2", 12),
            (&rig, "m3", 13),
        ];
        let boots = boots.map(|(rig, name, last)| scope.spawn(move || rig.boot(name, last)));
        boots.map(|boot| boot.join().unwrap()).into()
    });
    let [first, stranger, second, _] = booted.as_slice() else {
        unreachable!()
    };
    let listen = "systemd-run --unit=echo socat TCP-LISTEN:7000,fork,reuseaddr SYSTEM:hostname";
    shell(second, listen);
    let ask = "for i in 1 2 3 4 5 6 7 8 9 10; do socat -u TCP:10.90.0.12:7000 - && exit 0; sleep 0.2; done; exit 1";
    assert_eq!(shell(first, ask), "m2");
    let refused = stranger.run(
        &["socat", "-u", "TCP:10.90.0.12:7000,connect-timeout=1", "-"],
        SOON,
    );
    assert_ne!(refused.unwrap().code, 0);
    assert_eq!(rig.machines.list().unwrap().len(), 3);
    assert_ne!(
        shell(first, "cat /etc/machine-id"),
        shell(second, "cat /etc/machine-id")
    );
}
