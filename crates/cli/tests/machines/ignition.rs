//! An Ignition config on a machine that runs: what it says counts at once.

use bootlace_machines::BOOTLACE;

use crate::world::World;

const CONFIG: &str = r#"{
  "ignition": {"version": "3.4.0"},
  "passwd": {
    "groups": [{"name": "admins"}],
    "users": [{"name": "core", "groups": ["admins"], "sshAuthorizedKeys": ["ssh-ed25519 AAAA core"]}]
  },
  "storage": {"files": [
    {"path": "/etc/greeting", "user": {"name": "core"}, "contents": {"source": "data:,hello"}}
  ]},
  "systemd": {"units": [
    {"name": "greet.service", "enabled": true, "contents":
     "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"},
    {"name": "count@.service", "contents":
     "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"},
    {"name": "count@one.service", "enabled": true},
    {"name": "missing.service", "enabled": true},
    {"name": "idle.service", "mask": true}
  ]}
}"#;

#[test]
#[ignore = "slow: a machine"]
fn units_of_a_config_run_at_once_and_are_gone_when_it_is_taken_back() {
    let world = World::new();
    let mut spec = world.spec("m1", 11);
    spec.images = None;
    let node = world.create(spec);
    node.boot();
    let state = "sha256sum /etc/passwd /etc/group /etc/shadow; ls -1R /etc/systemd /home; \
                 systemctl list-units --all --plain --no-legend --type=service | awk '{print $1, $3}' \
                 | grep -E 'greet|count' || true";
    let before = node.sh(state);
    node.sh(&format!("cat > /root/node.ign <<'END'\n{CONFIG}\nEND"));
    node.must(&[BOOTLACE, "ignition", "apply", "/root/node.ign"]);
    for unit in ["greet.service", "count@one.service"] {
        assert_eq!(
            node.sh(&format!("systemctl is-active {unit}")).trim(),
            "active",
            "{unit}"
        );
        assert_eq!(
            node.sh(&format!("systemctl is-enabled {unit}")).trim(),
            "enabled",
            "{unit}"
        );
    }
    assert_eq!(
        node.sh("systemctl is-enabled idle.service || true").trim(),
        "masked"
    );
    assert_eq!(node.sh("stat -c %U /etc/greeting").trim(), "core");
    let preset = node.sh("cat /etc/systemd/system-preset/20-ignition.preset");
    assert_eq!(
        preset,
        "enable count@.service one\nenable greet.service\nenable missing.service\n"
    );
    node.must(&[BOOTLACE, "verify", "ignition"]);
    node.must(&[BOOTLACE, "undo", "ignition"]);
    assert_eq!(node.sh(state), before);
}
