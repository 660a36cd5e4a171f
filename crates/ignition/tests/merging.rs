//! Two configs become one, and one becomes another version of itself.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails where something is not as it shall be"
)]

use bootlace_ignition::{Config, Version, parse};
use serde_json::{Value, json};

fn config(name: &str, value: &Value) -> Config {
    let parsed = parse(name, value.to_string().as_bytes());
    parsed
        .config
        .unwrap_or_else(|| panic!("{:#?}", parsed.report))
}

fn of_version(version: &str, mut value: Value) -> Value {
    value["ignition"]["version"] = version.into();
    value
}

fn merged(parent: Value, child: Value) -> Value {
    let parent = config("parent", &of_version("3.5.0", parent));
    let child = config("child", &of_version("3.5.0", child));
    let mut merged = Config::merge(&parent, &child).to_json();
    merged["ignition"]
        .as_object_mut()
        .unwrap()
        .remove("version");
    if merged["ignition"] == json!({}) {
        merged.as_object_mut().unwrap().remove("ignition");
    }
    merged
}

#[test]
fn the_child_wins_and_lists_are_merged_by_key() {
    let parent = json!({"storage": {"files": [
        {"path": "/a", "mode": 420, "user": {"name": "x"}, "append": [{"source": "data:,1"}]},
        {"path": "/b", "contents": {"source": "data:,b"}},
    ]}});
    let child = json!({"storage": {"files": [
        {"path": "/c"},
        {"path": "/a", "mode": 384, "contents": {"source": "data:,a"}, "append": [{"source": "data:,1"}]},
    ]}});
    let expected = json!({"storage": {"files": [
        {"path": "/a", "mode": 384, "user": {"name": "x"}, "contents": {"source": "data:,a"},
         "append": [{"source": "data:,1"}, {"source": "data:,1"}]},
        {"path": "/b", "contents": {"source": "data:,b"}},
        {"path": "/c"},
    ]}});
    assert_eq!(merged(parent, child), expected);
}

#[test]
fn files_directories_and_links_share_their_paths() {
    let parent = json!({"storage": {
        "files": [{"path": "/a"}, {"path": "/b"}], "links": [{"path": "/l", "target": "/t"}]}});
    let child = json!({"storage": {"directories": [{"path": "/a"}], "files": [{"path": "/l"}]}});
    let expected = json!({"storage": {
        "directories": [{"path": "/a"}], "files": [{"path": "/b"}, {"path": "/l"}]}});
    assert_eq!(merged(parent, child), expected);
    let parent = json!({"kernelArguments": {"shouldExist": ["a", "b"]}});
    let child = json!({"kernelArguments": {"shouldNotExist": ["a"]}});
    let expected = json!({"kernelArguments": {"shouldExist": ["b"], "shouldNotExist": ["a"]}});
    assert_eq!(merged(parent, child), expected);
}

#[test]
fn a_header_without_a_value_takes_the_parent_s_away() {
    let file = |headers: Value| {
        json!({"storage": {"files": [
        {"path": "/a", "contents": {"source": "http://h/", "httpHeaders": headers}}]}})
    };
    let parent = file(json!([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]));
    let child = file(json!([{"name": "A"}, {"name": "C", "value": "3"}]));
    let expected = file(json!([{"name": "B", "value": "2"}, {"name": "C", "value": "3"}]));
    assert_eq!(merged(parent, child), expected);
}

#[test]
fn every_value_knows_where_it_was_written() {
    let parent = config(
        "base.ign",
        &of_version(
            "3.5.0",
            json!({"storage": {"files": [{"path": "/x"}, {"path": "/a", "mode": 420}]}}),
        ),
    );
    let child = config(
        "mine.ign",
        &of_version(
            "3.4.0",
            json!({"storage": {"files": [{"path": "/a", "overwrite": false}]}}),
        ),
    );
    let transcript = Config::merge(&parent, &child).transcript();
    let came = |path: &str| {
        let found = transcript.iter().find(|came| came.path == path).unwrap();
        format!("{} {}", found.from.source, found.from.path)
    };
    assert_eq!(
        came("storage.files.0.path"),
        "base.ign storage.files.0.path"
    );
    assert_eq!(
        came("storage.files.1.mode"),
        "base.ign storage.files.1.mode"
    );
    assert_eq!(
        came("storage.files.1.path"),
        "mine.ign storage.files.0.path"
    );
    assert_eq!(
        came("storage.files.1.overwrite"),
        "mine.ign storage.files.0.overwrite"
    );
}

#[test]
fn an_older_version_refuses_what_it_cannot_say() {
    let whole = of_version(
        "3.6.0",
        json!({
            "kernelArguments": {"shouldExist": ["a"]},
            "passwd": {"users": [{"name": "u", "shouldExist": false}]},
            "storage": {"files": [{"path": "/a", "mode": 2541, "contents": {"source": "gs://b/o"}}]},
        }),
    );
    let whole = config("whole.ign", &whole);
    let lost = |version| {
        let lost = whole.to_version(version).err().unwrap_or_default();
        lost.into_iter()
            .map(|lost| lost.place.path)
            .collect::<Vec<_>>()
    };
    assert_eq!(lost(Version::V3_6), [""; 0]);
    assert_eq!(lost(Version::V3_5), ["storage.files.0.mode"]);
    assert_eq!(lost(Version::V3_2), ["kernelArguments"]);
    assert_eq!(
        lost(Version::V3_1),
        ["kernelArguments", "passwd.users.0.shouldExist"]
    );
    let plain = of_version(
        "3.1.0",
        json!({"storage": {"files": [{"path": "/a", "contents": {"source": "data:,x"}}]}}),
    );
    let newer = config("plain.ign", &plain);
    assert_eq!(newer.to_version(Version::V3_1).unwrap(), plain);
}

#[test]
fn special_bits_get_no_effect_by_translation() {
    let old = of_version(
        "3.5.0",
        json!({"storage": {"files": [{"path": "/a", "mode": 2541}]}}),
    );
    assert_eq!(
        config("old", &old).files().next().unwrap().mode,
        Some(0o755)
    );
    let new = of_version(
        "3.6.0",
        json!({"storage": {"files": [{"path": "/a", "mode": 2541}]}}),
    );
    assert_eq!(
        config("new", &new).files().next().unwrap().mode,
        Some(0o4755)
    );
}

#[test]
fn version_2_2_is_written_for_old_clients() {
    let file = json!({"path": "/a", "mode": 420, "contents": {"source": "data:,x"}, "append": [{"source": "data:,y"}]});
    let unit = json!({"name": "a.service", "enabled": true, "contents": "[Install]\nWantedBy=x\n"});
    let config = config(
        "x",
        &of_version(
            "3.4.0",
            json!({"storage": {"files": [file]}, "systemd": {"units": [unit]}}),
        ),
    );
    let expected = json!({
        "ignition": {"version": "2.2.0"},
        "storage": {"files": [
            {"filesystem": "root", "path": "/a", "mode": 420, "overwrite": false, "contents": {"source": "data:,x"}},
            {"filesystem": "root", "path": "/a", "mode": 420, "append": true, "contents": {"source": "data:,y"}},
        ]},
        "systemd": {"units": [unit]},
    });
    assert_eq!(config.to_version(Version::V2_2).unwrap(), expected);
}

#[test]
fn disks_and_what_lies_on_them_are_written_for_old_clients() {
    let config = config(
        "x",
        &of_version(
            "3.4.0",
            json!({
                "ignition": {"security": {"tls": {"certificateAuthorities": [{"source": "data:,ca"}]}}},
                "storage": {
                    "disks": [{"device": "/dev/sda", "wipeTable": true, "partitions": [
                        {"label": "var", "number": 1, "sizeMiB": 0}]}],
                    "raid": [{"name": "data", "level": "raid1", "devices": ["/dev/sdb", "/dev/sdc"]}],
                    "filesystems": [
                        {"device": "/dev/sda1", "format": "xfs", "path": "/var", "wipeFilesystem": true},
                        {"device": "/dev/md/data", "format": "ext4", "path": "/var/data", "label": "data"},
                    ],
                    "files": [
                        {"path": "/var/data/a", "contents": {"source": "data:,a"}},
                        {"path": "/various", "contents": {"source": "data:,b"}},
                    ],
                    "directories": [{"path": "/var/folder"}],
                    "links": [{"path": "/var/link", "target": "/var/folder", "hard": false},
                        {"path": "/var/data/b", "target": "/var/data/a", "hard": true}],
                },
            }),
        ),
    );
    let expected = json!({
        "ignition": {"version": "2.2.0",
            "security": {"tls": {"certificateAuthorities": [{"source": "data:,ca"}]}}},
        "storage": {
            "disks": [{"device": "/dev/sda", "wipeTable": true, "partitions": [{"label": "var", "number": 1}]}],
            "raid": [{"name": "data", "level": "raid1", "devices": ["/dev/sdb", "/dev/sdc"]}],
            "filesystems": [
                {"name": "filesystem-0", "mount": {"device": "/dev/sda1", "format": "xfs", "wipeFilesystem": true}},
                {"name": "filesystem-1", "mount": {"device": "/dev/md/data", "format": "ext4", "label": "data"}},
            ],
            "files": [
                {"filesystem": "filesystem-1", "path": "/a", "overwrite": false, "contents": {"source": "data:,a"}},
                {"filesystem": "root", "path": "/various", "overwrite": false, "contents": {"source": "data:,b"}},
            ],
            "directories": [{"filesystem": "filesystem-0", "path": "/folder", "overwrite": false}],
            "links": [
                {"filesystem": "filesystem-0", "path": "/link", "overwrite": false, "target": "/var/folder", "hard": false},
                {"filesystem": "filesystem-1", "path": "/b", "overwrite": false, "target": "/a", "hard": true},
            ],
        },
    });
    assert_eq!(config.to_version(Version::V2_2).unwrap(), expected);
}

#[test]
fn what_2_2_cannot_say_about_disks_is_refused_by_name() {
    let config = config(
        "x",
        &of_version(
            "3.4.0",
            json!({"storage": {
                "disks": [{"device": "/dev/sda", "partitions": [
                    {"number": 1, "label": "a", "sizeMiB": 100},
                    {"number": 2, "shouldExist": false, "wipePartitionEntry": true}]}],
                "filesystems": [{"device": "/dev/sdb", "format": "xfs", "path": "/var", "mountOptions": ["ro"]}],
                "luks": [{"name": "l", "device": "/dev/sdc", "clevis": {"tpm2": true}}],
            }}),
        ),
    );
    let lost = config.to_version(Version::V2_2).unwrap_err();
    let lost: Vec<String> = lost
        .iter()
        .map(|lost| format!("{}: {}", lost.place.path, lost.why))
        .collect();
    assert_eq!(
        lost,
        [
            "storage.luks: 2.2.0 has no luks",
            "storage.disks.0.partitions.0: 2.2.0 counts sectors of a disk, not MiB",
            "storage.disks.0.partitions.1: 2.2.0 cannot remove partitions",
            "storage.disks.0.partitions.1: 2.2.0 cannot replace single partitions",
            "storage.filesystems.0: 2.2.0 has no mountOptions",
        ]
    );
}
