//! Every case of Ignition's own tests gives its verdict, and its tree.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::Value;

use crate::world::{Root, make_parents};

#[test]
fn every_case_of_ignition_s_own_tests_comes_out_as_there() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("cases.json")).unwrap();
    assert!(cases.len() >= 191);
    let wrong: Vec<String> = cases.iter().filter_map(|case| check(case).err()).collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

fn number(value: &Value, key: &str) -> u32 {
    value[key].as_u64().unwrap().try_into().unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// Plans, applies, looks, verifies and takes back.
fn check(case: &Value) -> Result<(), String> {
    let name = text(case, "name");
    let root = Root::new();
    prepare(&root, &case["before"]);
    let before = root.snapshot();
    let same = |when: &str| {
        let found = before.compare(&root.snapshot());
        found.map_err(|difference| format!("{name}: {when}: {difference}"))
    };
    let planned = root.plan(text(case, "config"));
    same("a plan changed something")?;
    let applied = root.apply(text(case, "config"));
    match (text(case, "expect"), applied) {
        ("success", Ok(_)) => {}
        ("failure", Err(_)) => return same("a failure left something"),
        (_, Ok(_)) => return Err(format!("{name}: it was applied")),
        (_, Err(fault)) => return Err(format!("{name}: {fault} {:?}", fault.details)),
    }
    planned.map_err(|fault| format!("{name}: applied, but not planned: {fault}"))?;
    let wrong = differences(&root, &case["after"]);
    if !wrong.is_empty() {
        return Err(format!("{name}: {}", wrong.join(", ")));
    }
    let view = root.verify(text(case, "config"));
    let view = view.map_err(|fault| format!("{name}: not verified: {fault}"))?;
    if !view.ok {
        return Err(format!("{name}: it does not hold: {:?}", view.checks));
    }
    let undone = root.undo().map_err(|fault| format!("{name}: {fault}"))?;
    if !undone.refused.is_empty() {
        return Err(format!("{name}: undo left {:?}", undone.refused));
    }
    same("undo left something")
}

fn prepare(root: &Root, before: &Value) {
    for file in list(before, "files") {
        let place = root.put(text(file, "path"), text(file, "contents"));
        own(&place, file);
        if number(file, "mode") != 0 {
            let mode = std::fs::Permissions::from_mode(number(file, "mode"));
            std::fs::set_permissions(&place, mode).unwrap();
        }
    }
    for folder in list(before, "directories") {
        let place = root.at(text(folder, "path"));
        std::fs::create_dir_all(&place).unwrap();
        own(&place, folder);
    }
    for link in list(before, "links") {
        let place = root.at(text(link, "path"));
        make_parents(&place);
        if link["hard"].as_bool().unwrap() {
            std::fs::hard_link(root.at(text(link, "target")), &place).unwrap();
        } else {
            std::os::unix::fs::symlink(text(link, "target"), &place).unwrap();
            own(&place, link);
        }
    }
}

fn own(place: &std::path::Path, node: &Value) {
    let (uid, gid) = (number(node, "uid"), number(node, "gid"));
    std::os::unix::fs::lchown(place, Some(uid), Some(gid)).unwrap();
}

fn differences(root: &Root, after: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for file in list(after, "files") {
        let place = root.at(text(file, "path"));
        match std::fs::symlink_metadata(&place) {
            Ok(found) if found.is_file() => {
                let content = std::fs::read(&place).unwrap();
                if content != text(file, "contents").as_bytes() {
                    let content = String::from_utf8_lossy(&content).into_owned();
                    wrong.push(format!("{} holds {content:?}", text(file, "path")));
                }
                wrong.extend(unlike(file, &found));
            }
            found => wrong.push(format!("{}: {found:?}", text(file, "path"))),
        }
    }
    for folder in list(after, "directories") {
        match std::fs::symlink_metadata(root.at(text(folder, "path"))) {
            Ok(found) if found.is_dir() => wrong.extend(unlike(folder, &found)),
            found => wrong.push(format!("{}: {found:?}", text(folder, "path"))),
        }
    }
    for link in list(after, "links") {
        wrong.extend(unlike_link(root, link));
    }
    for gone in list(after, "removed") {
        let path = gone.as_str().unwrap();
        if std::fs::symlink_metadata(root.at(path)).is_ok() {
            wrong.push(format!("{path} is still there"));
        }
    }
    wrong
}

fn unlike(wanted: &Value, found: &std::fs::Metadata) -> Option<String> {
    let mode = number(wanted, "mode");
    let fits = mode == 0 || found.mode() & 0o7777 == mode;
    let owned = (found.uid(), found.gid()) == (number(wanted, "uid"), number(wanted, "gid"));
    (!fits || !owned).then(|| format!("{}: {:o} {:?}", text(wanted, "path"), found.mode(), found))
}

fn unlike_link(root: &Root, link: &Value) -> Option<String> {
    let (path, target) = (text(link, "path"), text(link, "target"));
    let place = root.at(path);
    let Ok(found) = std::fs::symlink_metadata(&place) else {
        return Some(format!("{path} is absent"));
    };
    if link["hard"].as_bool().unwrap() {
        let other = std::fs::symlink_metadata(root.at(target)).unwrap();
        return (other.ino() != found.ino()).then(|| format!("{path} is not {target}"));
    }
    let leads = std::fs::read_link(&place).is_ok_and(|to| to.to_str() == Some(target));
    let owned = (found.uid(), found.gid()) == (number(link, "uid"), number(link, "gid"));
    (!leads || !owned).then(|| format!("{path}: {:?} {found:?}", std::fs::read_link(&place)))
}
