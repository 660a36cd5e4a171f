//! What is taken, what is refused, and where that is said.

use bootlace_ignition::{Finding, Parsed, Severity, Version, parse};

fn parsed(text: &str) -> Parsed {
    parse("test.ign", text.as_bytes())
}

/// Writes a config of a version around the rest of it.
fn config(version: &str, rest: &str) -> String {
    format!(r#"{{"ignition": {{"version": "{version}"}}, {rest}}}"#)
}

/// Writes a finding as a line: its name, or its words, and its path.
fn line(finding: &Finding) -> String {
    let name = finding.problem.name().map(ToOwned::to_owned);
    let name = name.unwrap_or_else(|| finding.problem.to_string());
    format!("{name} {}", finding.place.path)
}

fn errors(text: &str) -> Vec<String> {
    let parsed = parsed(text);
    let errors: Vec<String> = parsed.report.errors().map(line).collect();
    assert_eq!(
        errors.is_empty(),
        parsed.config.is_some(),
        "{text}: {errors:?}"
    );
    errors
}

fn warnings(text: &str) -> Vec<String> {
    let findings = parsed(text).report.findings;
    let warnings = findings
        .iter()
        .filter(|it| it.severity == Severity::Warning);
    warnings.map(line).collect()
}

#[test]
fn every_version_is_read_and_others_are_not() {
    for version in [
        "3.0.0",
        "3.1.0",
        "3.2.0",
        "3.3.0",
        "3.4.0",
        "3.5.0",
        "3.6.0",
        "3.6.0-experimental",
    ] {
        assert_eq!(
            errors(&config(version, r#""storage": {}"#)),
            [""; 0],
            "{version}"
        );
    }
    assert_eq!(
        parsed(&config("3.2.0", r#""passwd": {}"#)).version,
        Some(Version::V3_2)
    );
    for (text, error) in [
        ("", "ErrEmpty "),
        ("{", "ErrInvalid "),
        ("[]", "ErrInvalid "),
        ("null", "ErrInvalidVersion ignition.version"),
        ("{}", "ErrInvalidVersion ignition.version"),
        (
            r#"{"ignition": {"version": 3}}"#,
            "ErrInvalid ignition.version",
        ),
        (r#"{"ignition": []}"#, "ErrInvalid ignition"),
        (
            r#"{"ignition": {"version": "3.7.0"}}"#,
            "ErrUnknownVersion ignition.version",
        ),
        (
            r#"{"ignition": {"version": "2.2.0"}}"#,
            "ErrUnknownVersion ignition.version",
        ),
        (
            r#"{"ignition": {"version": "3"}}"#,
            "ErrInvalidVersion ignition.version",
        ),
    ] {
        assert_eq!(errors(text), [error], "{text}");
    }
}

#[test]
fn keys_count_in_any_case_and_are_warned_about() {
    let text =
        r#"{"Ignition": {"VERSION": "3.4.0"}, "storage": {"files": [{"PATH": "/a"}], "filez": 1}}"#;
    assert_eq!(errors(text), [""; 0]);
    let said = warnings(text);
    let paths: Vec<&str> = said
        .iter()
        .map(|it| it.rsplit(' ').next().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "Ignition",
            "ignition.VERSION",
            "storage.files.0.PATH",
            "storage.filez"
        ]
    );
    // Of several equal keys the last counts, and parts of objects stay.
    let text = r#"{"ignition": {"version": "3.0.0"}, "ignition": {"version": "3.4.0"},
        "storage": {"files": [{"path": "relative"}]}, "storage": {"files": [{"path": "/a"}]}}"#;
    assert_eq!(errors(text), [""; 0]);
    assert_eq!(parsed(text).version, Some(Version::V3_4));
    // Null takes back what may be absent, and nothing else.
    let file =
        r#""storage": {"files": [{"path": "/a", "mode": 9999, "Path": null, "Mode": null}]}"#;
    assert_eq!(errors(&config("3.4.0", file)), [""; 0]);
}

#[test]
fn a_field_that_is_younger_than_the_version_is_an_unknown_key() {
    let kernel = r#""kernelArguments": {"shouldExist": ["a"]}"#;
    assert_eq!(warnings(&config("3.2.0", kernel)).len(), 1);
    assert_eq!(warnings(&config("3.3.0", kernel)), [""; 0]);
    let old = parsed(&config("3.2.0", kernel)).config.unwrap();
    assert!(old.kernel_arguments().should_exist.is_empty());
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let text = "{\n  \"ignition\": {\"version\": \"3.5.0\"},\n  \"storage\": {\"files\": [\n    {\"path\": \"/a\", \"mode\": 99999},\n    {\"path\": \"b\"}]}}";
    let findings = parsed(text).report.findings;
    let places: Vec<String> = findings.iter().map(|it| it.place.to_string()).collect();
    assert_eq!(
        places,
        [
            "test.ign:4:28, storage.files.0.mode",
            "test.ign:4:28, storage.files.0.mode",
            "test.ign:5:14, storage.files.1.path"
        ]
    );
}

#[test]
fn rules_of_files_directories_and_links() {
    let storage = |rest: &str| config("3.5.0", &format!(r#""storage": {{{rest}}}"#));
    for (rest, expected) in [
        (
            r#""files": [{"path": ""}]"#,
            "ErrNoPath storage.files.0.path",
        ),
        (r#""files": [{}]"#, "ErrNoPath storage.files.0.path"),
        (
            r#""files": [{"path": "/a/../b"}]"#,
            "ErrDirtyPath storage.files.0.path",
        ),
        (
            r#""files": [{"path": "/a", "overwrite": true}]"#,
            "ErrOverwriteAndNilSource storage.files.0.overwrite",
        ),
        (
            r#""files": [{"path": "/a", "user": {"id": 1, "name": "x"}}]"#,
            "ErrBothIDAndNameSet storage.files.0.user",
        ),
        (
            r#""files": [{"path": "/a"}, {"path": "/a"}]"#,
            "ErrDuplicate storage.files.1",
        ),
        (
            r#""files": [{"path": "/a"}], "directories": [{"path": "/a"}]"#,
            "ErrDuplicate storage.files.0",
        ),
        (
            r#""links": [{"path": "/l"}]"#,
            "ErrLinkTargetRequired storage.links.0.target",
        ),
        (
            r#""links": [{"path": "/l", "target": "/x"}], "files": [{"path": "/l/a"}]"#,
            "ErrFileUsedSymlink storage.files.0",
        ),
        (
            r#""links": [{"path": "/l", "target": "/d", "hard": true}], "directories": [{"path": "/d"}]"#,
            "ErrHardLinkToDirectory storage.links.0",
        ),
        (
            r#""files": [{"path": "/a", "contents": {"source": "data:,x", "verification": {"hash": "sha512-00"}}}]"#,
            "ErrHashWrongSize storage.files.0.contents.verification.hash",
        ),
        (
            r#""files": [{"path": "/a", "contents": {"source": "ftp://x"}}]"#,
            "ErrInvalidScheme storage.files.0.contents.source",
        ),
        (
            r#""files": [{"path": "/a", "mode": "0644"}]"#,
            "ErrInvalid storage.files.0.mode",
        ),
    ] {
        assert_eq!(errors(&storage(rest)), [expected], "{rest}");
    }
}

#[test]
fn versions_judge_differently() {
    let file = |source: &str| {
        format!(r#""storage": {{"files": [{{"path": "/a", "contents": {source}}}]}}"#)
    };
    let sha256 = file(&format!(
        r#"{{"source": "data:,x", "verification": {{"hash": "sha256-{}"}}}}"#,
        "0".repeat(64)
    ));
    let gs = file(r#"{"source": "gs://b/o"}"#);
    let arn = file(r#"{"source": "arn:aws:s3:::b/o"}"#);
    let link = r#""storage": {"links": [{"path": "/l"}]}"#.to_owned();
    for (rest, since) in [(sha256, 1), (gs, 2), (arn, 4)] {
        for minor in 0..=6 {
            let fails = !errors(&config(&format!("3.{minor}.0"), &rest)).is_empty();
            assert_eq!(fails, minor < since, "3.{minor}.0 {rest}");
        }
    }
    let no_version = file(r#"{"source": "s3://b/o?versionId="}"#);
    for version in ["3.0.0", "3.3.0", "3.6.0"] {
        assert_eq!(
            errors(&config(version, &no_version)),
            ["ErrInvalidS3ObjectVersionId storage.files.0.contents.source"]
        );
    }
    assert_eq!(errors(&config("3.2.0", &link)), [""; 0]);
    assert_eq!(errors(&config("3.3.0", &link)).len(), 1);
}

#[test]
fn rules_of_units() {
    let units = |rest: &str| config("3.5.0", &format!(r#""systemd": {{"units": [{rest}]}}"#));
    assert_eq!(
        errors(&units(r#"{"name": "a"}"#)),
        ["ErrInvalidSystemdExt systemd.units.0.name"]
    );
    let dropin = r#"{"name": "a.service", "dropins": [{"name": "x"}]}"#;
    assert_eq!(
        errors(&units(dropin)),
        ["ErrInvalidSystemdDropinExt systemd.units.0.dropins.0.name"]
    );
    let broken = errors(&units(r#"{"name": "a.service", "contents": "[Unit"}"#));
    assert!(broken[0].contains("end of section"), "{broken:?}");
    let no_install = r#"{"name": "a.service", "enabled": true, "contents": "[Unit]\nA=b"}"#;
    assert_eq!(errors(&units(no_install)), [""; 0]);
    assert_eq!(warnings(&units(no_install)).len(), 1);
    let both = r#""systemd": {"units": [{"name": "a.service", "contents": "[Unit]"}]},
        "storage": {"files": [{"path": "/etc/systemd/system/a.service"}]}"#;
    assert_eq!(
        errors(&config("3.5.0", both)),
        ["ErrPathConflictsSystemd storage.files.0.path"]
    );
}

#[test]
fn nothing_is_too_deep_or_too_odd_to_be_answered() {
    let deep = format!(
        r#"{{"ignition": {{"version": "3.5.0"}}, "x": {}{}}}"#,
        "[".repeat(9_000),
        "]".repeat(9_000)
    );
    assert_eq!(errors(&deep), [""; 0]);
    let deeper = format!(r#"{{"x": {}"#, "[".repeat(1 << 20));
    assert_eq!(errors(&deeper), ["ErrInvalid "]);
    let mut odd = config("3.5.0", r#""storage": {"files": [{"path": "/X"}]}"#).into_bytes();
    let at = odd.iter().position(|byte| *byte == b'X').unwrap();
    odd[at] = 0xff;
    let config = parse("x", &odd).config.unwrap();
    assert_eq!(config.files().next().unwrap().entry.path, "/\u{fffd}");
}
