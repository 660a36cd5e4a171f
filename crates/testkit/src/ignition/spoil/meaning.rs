//! Wrong meanings: values of the right type that a rule forbids.

use super::{Spoil, change};
use crate::dice::Dice;
use crate::ignition::draft::Draft;
use crate::ignition::words::pick;

/// All ways.
pub(super) const WAYS: &[(&str, Spoil)] = &[
    ("another version", version),
    ("bad path", path),
    ("id and name", id_and_name),
    ("bad hash", hash),
    ("bad source", source),
    ("no source", no_source),
    ("bad compression", compression),
    ("bad headers", headers),
    ("bad unit", unit),
    ("bad unit name", unit_name),
    ("bad link", link),
    ("below a link", below_a_link),
    ("path of a unit", path_of_a_unit),
    ("bad proxy", proxy),
    ("bad kernel argument", kernel_argument),
];

const VERSIONS: [&str; 14] = [
    "3.7.0",
    "3.6.0-exp",
    "3.5.0-experimental",
    "2.2.0",
    "2.3.0",
    "1.0.0",
    "4.0.0",
    "3",
    "3.0",
    "",
    "v3.0.0",
    " 3.0.0",
    "3.0.0+build",
    "03.0.0",
];
const PATHS: [&str; 11] = [
    "", "relative", "./x", "/a/../b", "/a//b", "/a/", "/./a", "//", "/", "/..", "/a/b/..",
];
const HASHES: [&str; 8] = [
    "",
    "sha512",
    "sha512-",
    "md5-d41d8cd98f00b204e9800998ecf8427e",
    "sha256-00",
    "SHA512-00",
    "sha256-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha256-zzzzc44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
];
const SOURCES: [&str; 43] = [
    "",
    "data:",
    "data:x",
    "data:,",
    "data:,%zz",
    "data:,%",
    "data:;base64,???",
    "data:;base64,YQ",
    "data:;base64,YQ==",
    "data:;base64,YQ==YQ==",
    "data:;base64,Y Q==",
    "data:text/plain;base64",
    "data:text/plain;charset=utf-8;base64,YWJj",
    "data:;charset=\"a b\",x",
    "data:text,x",
    "data:foo/bar,x",
    "data:x-y/z,1",
    "data:text/,x",
    "data:;=,x",
    "data:;a=b;,x",
    "data:,a b",
    "data:,<a>",
    "data:,a#b",
    "data:,ü",
    "DATA:,x",
    "Data:,x",
    "http://",
    "http:",
    "HTTP://x",
    "http://[::1",
    "http://a b/",
    "http://x:port/",
    "://x",
    "file:///etc/passwd",
    "oem:///x",
    "ftp://x",
    "s3://b/o?versionId=",
    "s3://b/o?versionId",
    "gs://b/o",
    "arn:aws:s3:::bucket",
    "arn:aws:iam::1:x/y",
    "arn:aws:s3:::b/k?versionId=",
    "http://x/\u{7f}",
];
const COMPRESSIONS: [&str; 4] = ["xz", "GZIP", "gzip ", "bzip2"];
const UNITS: [&str; 12] = [
    "[Unit",
    "[Unit] garbage\n",
    "[Unit]\nDescription\n",
    "[Unit]\nDescription=x\\",
    "Description=x\n",
    "[]\n",
    "[Unit]\n=x\n",
    "[Unit]\n[Service]\n",
    "\u{feff}[Unit]\nA=b\n",
    "[Unit]\nA=b\n[Install\n",
    "[Unit]\nno equals sign at the end",
    "garbage\n[Unit]\nA=b\n# [Install]\n[Install]\n",
];
const NAMES: [&str; 12] = [
    "",
    "x",
    "x.conf",
    "x.service",
    ".service",
    "x.service.bak",
    "@.service",
    "a@b@c.service",
    "x.conf ",
    ".conf",
    "app.SERVICE",
    "a/b.service",
];

/// Changes a text at the end of some keys.
pub(super) fn replace_text(config: &mut Draft, dice: &mut Dice, key: &str, from: &[&str]) -> bool {
    let holds =
        |keys: &[&str], value: &Draft| keys.last() == Some(&key) && matches!(value, Draft::Text(_));
    change(config, dice, &holds, &mut |value, dice| {
        *value = Draft::from(pick(dice, from));
    })
}

/// Adds a key to an object that is found by the end of its keys.
fn add(config: &mut Draft, dice: &mut Dice, above: &[&str], key: &str, value: &Draft) -> bool {
    let holds =
        |keys: &[&str], found: &Draft| keys.ends_with(above) && matches!(found, Draft::Object(_));
    change(config, dice, &holds, &mut |found, _| {
        found.put(key, value.clone());
    })
}

fn version(config: &mut Draft, dice: &mut Dice) -> bool {
    replace_text(config, dice, "version", &VERSIONS)
}

fn path(config: &mut Draft, dice: &mut Dice) -> bool {
    let key = pick(dice, &["path", "path", "path", "device", "homeDir"]);
    replace_text(config, dice, key, &PATHS)
}

fn id_and_name(config: &mut Draft, dice: &mut Dice) -> bool {
    let list = pick(dice, &["files", "directories", "links"]);
    let key = pick(dice, &["user", "group"]);
    let both = Draft::object()
        .with("id", 0)
        .with("name", pick(dice, &["root", ""]));
    add(config, dice, &["storage", list], key, &both)
}

fn hash(config: &mut Draft, dice: &mut Dice) -> bool {
    if dice.percent(50) {
        return replace_text(config, dice, "hash", &HASHES);
    }
    let verification = Draft::object().with("hash", pick(dice, &HASHES));
    add(config, dice, &["contents"], "verification", &verification)
}

fn source(config: &mut Draft, dice: &mut Dice) -> bool {
    replace_text(config, dice, "source", &SOURCES)
}

fn no_source(config: &mut Draft, dice: &mut Dice) -> bool {
    let has_source = |_: &[&str], value: &Draft| value.get("source").is_some();
    change(config, dice, &has_source, &mut |value, dice| {
        if let Draft::Object(pairs) = value {
            pairs.retain(|(key, _)| key != "source");
        }
        if dice.percent(30) {
            value.put("source", Draft::null());
        }
    })
}

fn compression(config: &mut Draft, dice: &mut Dice) -> bool {
    let value = Draft::from(pick(dice, &COMPRESSIONS));
    let above = pick(dice, &["contents", "append", "merge", "replace"]);
    add(config, dice, &[above], "compression", &value)
}

fn headers(config: &mut Draft, dice: &mut Dice) -> bool {
    let header = match dice.below(5) {
        0 => Draft::object().with("name", "").with("value", "x"),
        1 => Draft::object().with("name", "X").with("value", ""),
        2 => Draft::object().with("value", "x"),
        3 => Draft::object()
            .with("name", "X")
            .with("value", Draft::null()),
        _ => Draft::object().with("name", "X").with("value", "x"),
    };
    let headers = if dice.percent(20) {
        vec![header.clone(), header]
    } else {
        vec![header]
    };
    let above = pick(
        dice,
        &[
            "contents",
            "append",
            "merge",
            "replace",
            "certificateAuthorities",
        ],
    );
    add(config, dice, &[above], "httpHeaders", &headers.into())
}

fn unit(config: &mut Draft, dice: &mut Dice) -> bool {
    let holds = |keys: &[&str], value: &Draft| {
        keys.first() == Some(&"systemd")
            && keys.last() == Some(&"contents")
            && matches!(value, Draft::Text(_))
    };
    change(config, dice, &holds, &mut |value, dice| {
        *value = if dice.percent(10) {
            Draft::from(format!(
                "[Unit]\nDescription={}\n",
                "x".repeat(1000 + dice.index(3000))
            ))
        } else {
            Draft::from(pick(dice, &UNITS))
        };
    })
}

fn unit_name(config: &mut Draft, dice: &mut Dice) -> bool {
    let holds = |keys: &[&str], value: &Draft| {
        keys.first() == Some(&"systemd")
            && keys.last() == Some(&"name")
            && matches!(value, Draft::Text(_))
    };
    change(config, dice, &holds, &mut |value, dice| {
        *value = Draft::from(pick(dice, &NAMES));
    })
}

fn link(config: &mut Draft, dice: &mut Dice) -> bool {
    let holds = |keys: &[&str], value: &Draft| {
        keys == ["storage", "links"] && matches!(value, Draft::Object(_))
    };
    let directory = config.list(&["storage", "directories"]).first();
    let directory = directory.and_then(|entry| entry.get("path")).cloned();
    change(config, dice, &holds, &mut |value, dice| {
        let Draft::Object(pairs) = value else { return };
        pairs.retain(|(key, _)| key != "target");
        let target = match dice.below(4) {
            0 => return,
            1 => Draft::from(""),
            2 => Draft::null(),
            _ => directory.clone().unwrap_or_else(|| Draft::from("..")),
        };
        value.put("target", target);
        value.put("hard", true);
    })
}

/// Puts a link above a file, a folder or another link.
fn below_a_link(config: &mut Draft, dice: &mut Dice) -> bool {
    let list = pick(dice, &["files", "directories", "links"]);
    let entries = config.list(&["storage", list]);
    let Some(Draft::Text(path)) = entries
        .get(dice.index(entries.len()))
        .and_then(|entry| entry.get("path"))
    else {
        return false;
    };
    let above = path.rsplit_once('/').map_or("", |(above, _)| above);
    let link = Draft::object().with("path", above).with("target", "/x");
    let links = config
        .places(&|keys, value| keys == ["storage", "links"] && matches!(value, Draft::List(_)));
    match links.first().and_then(|place| config.at_mut(place)) {
        Some(Draft::List(links)) => {
            links.push(link);
            true
        }
        _ => add(config, dice, &["storage"], "links", &vec![link].into()),
    }
}

fn path_of_a_unit(config: &mut Draft, dice: &mut Dice) -> bool {
    let units = config.list(&["systemd", "units"]);
    let Some(Draft::Text(name)) = units
        .get(dice.index(units.len()))
        .and_then(|unit| unit.get("name"))
    else {
        return false;
    };
    let dropin = if dice.percent(40) {
        ".d/override.conf"
    } else {
        ""
    };
    let path = format!("/etc/systemd/system/{name}{dropin}");
    let key = pick(dice, &["files", "directories", "links"]);
    let holds = |keys: &[&str], value: &Draft| {
        keys == ["storage", key, "path"] && matches!(value, Draft::Text(_))
    };
    change(config, dice, &holds, &mut |value, _| {
        *value = Draft::from(path.clone());
    })
}

fn proxy(config: &mut Draft, dice: &mut Dice) -> bool {
    let key = pick(dice, &["httpProxy", "httpsProxy"]);
    let url = pick(
        dice,
        &[
            "",
            "ftp://x",
            "proxy:80",
            "http://",
            "http://a b",
            "//x",
            "socks5://x",
        ],
    );
    add(
        config,
        dice,
        &["ignition"],
        "proxy",
        &Draft::object().with(key, url),
    )
}

fn kernel_argument(config: &mut Draft, dice: &mut Dice) -> bool {
    let arguments = vec![Draft::from("quiet"), Draft::from("quiet")];
    let key = pick(dice, &["shouldExist", "shouldNotExist"]);
    add(config, dice, &["kernelArguments"], key, &arguments.into())
}
