use super::report::Report;
use super::*;
use crate::tokens::Bearer;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn pool() -> Name {
    Name::parse("worker").unwrap()
}

fn report(text: &str) -> Report {
    Report::parse(text.as_bytes(), None).unwrap().0
}

fn everything() -> Sight {
    Sight::new(&Bearer::default(), true)
}

#[test]
fn a_report_is_read_as_it_is_documented() {
    let text = r#"{"node": "n-1", "phase": "pivot", "step": "pull", "attempt": 2, "cause": "x"}"#;
    let (read, pool) = Report::parse(text.as_bytes(), None).unwrap();
    let expected = Report {
        node: "n-1".into(),
        phase: "pivot".into(),
        step: Some("pull".into()),
        attempt: Some(2),
        cause: Some("x".into()),
    };
    assert_eq!((read, pool), (expected, None));
    let (read, pool) = Report::parse(br#"{"phase": "p", "pool": "q"}"#, Some("bound")).unwrap();
    assert_eq!((read.node.as_str(), pool.as_deref()), ("bound", Some("q")));
    for bad in [
        "",
        "[]",
        "{}",
        r#"{"phase": "p"}"#,
        r#"{"node": "n"}"#,
        r#"{"node": "n", "phase": ""}"#,
        r#"{"node": "a b", "phase": "p"}"#,
        r#"{"node": "n\"}", "phase": "p"}"#,
        r#"{"node": "n", "phase": "p", "attempt": -1}"#,
        r#"{"node": "n", "phase": "p", "strange": 1}"#,
        r#"{"node": "n", "phase": "p", "phase": "q"}"#,
    ] {
        assert!(Report::parse(bad.as_bytes(), None).is_err(), "{bad}");
    }
}

#[test]
fn a_cause_is_one_line_without_secrets() {
    for (cause, expected) in [
        ("no route", "no route"),
        ("a\nb\u{1b}[31m\u{202e}c", "a b [31m c"),
        (
            "GET x: Authorization: Bearer abc.def, 401",
            "GET x: Authorization:(hidden)",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIE", "-----BEGIN (hidden)"),
    ] {
        let text = serde_json::json!({"node": "n", "phase": "p", "cause": cause}).to_string();
        assert_eq!(report(&text).cause.as_deref(), Some(expected));
    }
    for cause in [
        "curl: Bearer  hunter2",
        "basic hunter2",
        "password: \"hunter2\"",
        "token=\"hunter2\"",
        "password='hunter2'",
        "pull https://user:hunter2@registry/x",
        r#"{"auth":"hunter2"}"#,
        r#""token":"hunter2""#,
        "PASSWORD = hunter2",
        "secret=hunter2",
        "passwd=hunter2",
        "run --password hunter2",
        "X-Auth-Token:hunter2",
        "token=a token=hunter2",
    ] {
        let text = serde_json::json!({"node": "n", "phase": "p", "cause": cause}).to_string();
        let cause = report(&text).cause.unwrap();
        assert!(!cause.contains("hunter2"), "{cause}");
        assert!(cause.contains("(hidden)"), "{cause}");
    }
    let long = serde_json::json!({"node": "n", "phase": "p", "cause": "é".repeat(9_000)});
    assert_eq!(
        report(&long.to_string()).cause.unwrap().chars().count(),
        500
    );
}

#[test]
fn who_goes_silent_before_the_end_has_stalled() {
    let progress = Progress::new(Duration::from_mins(1));
    let mut changes = progress.follow().unwrap();
    let tell = |text: &str, second: i64| {
        progress.note(&pool(), report(text), "10.0.0.1".into(), at(second));
    };
    tell(r#"{"node": "a", "phase": "pull"}"#, 0);
    tell(r#"{"node": "a", "phase": "pull", "attempt": 2}"#, 30);
    tell(r#"{"node": "b", "phase": "done"}"#, 0);
    let list = progress.list(&everything(), at(60));
    assert_eq!(list[0].since, at(0), "it is still there");
    assert_eq!(
        (list[0].last, list[0].reports, list[0].stalled),
        (at(30), 2, false)
    );
    let stalled = |second: i64| {
        let list = progress.list(&everything(), at(second));
        list.iter().map(|node| node.stalled).collect::<Vec<_>>()
    };
    assert_eq!(stalled(90), [false, false]);
    assert_eq!(stalled(91), [true, false], "who is done need not tell");
    for _ in 0..3 {
        changes.try_recv().unwrap();
    }
    progress.look_for_stalled(at(91));
    progress.look_for_stalled(at(92));
    assert!(
        changes
            .try_recv()
            .unwrap()
            .text
            .contains(r#""stalled":true"#)
    );
    assert!(changes.try_recv().is_err(), "it is told once");
    tell(r#"{"node": "a", "phase": "reboot"}"#, 100);
    assert_eq!(stalled(101), [false, false]);
    assert_eq!(progress.list(&everything(), at(101))[0].since, at(100));
    let other = Bearer {
        pools: vec![Name::parse("other").unwrap()],
        ..Bearer::default()
    };
    let of_other = Sight::new(&other, false);
    assert_eq!(progress.list(&of_other, at(101)), []);
    progress.end();
    assert!(progress.follow().is_none());
}

#[test]
fn those_who_were_silent_for_longest_are_forgotten() {
    let progress = Progress::new(Duration::from_mins(1));
    for n in 0..=MOST_NODES {
        let text = format!(r#"{{"node": "n{n}", "phase": "p"}}"#);
        let second = i64::try_from(n).unwrap();
        progress.note(&pool(), report(&text), String::new(), at(second));
    }
    let list = progress.list(&everything(), at(0));
    assert_eq!(list.len(), MOST_NODES);
    assert!(list.iter().all(|node| node.name != "n0"));
}
