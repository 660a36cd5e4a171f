use super::*;

/// The SHA-256 of `good`.
const GOOD: &str = "770e607624d689265ca6c44884d0807d9b054d23c473c106c72be9de08b7376c";

fn sha256(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

fn file() -> String {
    format!(
        "tokens:\n\
         - {{sha256: {GOOD}, pool: worker, node: node-1, expires: 2030-01-01T00:00:00Z}}\n\
         - {{sha256: {}, pool: worker, expires: \"2020-01-01T00:00:00Z\"}}\n\
         - {{sha256: {}, pool: master, expires: 2030-01-01T00:00:00Z}}\n",
        sha256("late").to_uppercase(),
        sha256("other"),
    )
}

fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

fn worker() -> Name {
    Name::parse("worker").unwrap()
}

#[test]
fn tokens_are_judged_row_by_row() {
    let tokens = Tokens::parse(file().as_bytes()).unwrap();
    let long = format!("Bearer {}", "a".repeat(5000));
    let rows: [(Option<&str>, Verdict); 16] = [
        (Some("Bearer good"), Verdict::Allowed),
        (Some("bearer good"), Verdict::Allowed),
        (None, Verdict::Missing),
        (Some(""), Verdict::Malformed),
        (Some("good"), Verdict::Malformed),
        (Some("Basic good"), Verdict::Malformed),
        (Some("Bearer"), Verdict::Malformed),
        (Some("Bearer "), Verdict::Malformed),
        (Some("Bearer ="), Verdict::Malformed),
        (Some("Bearer  good"), Verdict::Malformed),
        (Some("Bearer good x"), Verdict::Malformed),
        (Some("Bearer g\u{e9}"), Verdict::Malformed),
        (Some(&long), Verdict::Malformed),
        (Some("Bearer late"), Verdict::Expired),
        (Some("Bearer other"), Verdict::OtherPool),
        (Some("Bearer goo"), Verdict::Unknown),
    ];
    for (header, expected) in rows {
        let (verdict, _) = tokens.judge(
            Purpose::Read,
            header.map(str::as_bytes),
            Some(&worker()),
            Some(b"node-1"),
            now(),
        );
        assert_eq!(verdict, expected, "{header:?}");
    }
    let (_, bearer) = tokens.judge(
        Purpose::Read,
        Some(b"Bearer good"),
        Some(&worker()),
        Some(b"node-1"),
        now(),
    );
    assert_eq!(bearer.token.as_deref(), Some("770e6076"));
    assert_eq!(bearer.node.as_deref(), Some("node-1"));
    let (verdict, _) = tokens.judge(
        Purpose::Read,
        Some(b"Bearer \xff"),
        Some(&worker()),
        Some(b"node-1"),
        now(),
    );
    assert_eq!(verdict, Verdict::Malformed);
    assert_eq!(tokens.counts(now()), (3, 2));
}

#[test]
fn a_token_that_was_taken_out_is_revoked_until_it_is_back() {
    let first = Tokens::parse(file().as_bytes()).unwrap();
    let empty = Tokens::parse(b"tokens: []").unwrap();
    let judge = |tokens: &Tokens| {
        tokens
            .judge(
                Purpose::Read,
                Some(b"Bearer good"),
                Some(&worker()),
                Some(b"node-1"),
                now(),
            )
            .0
    };
    assert_eq!(judge(&empty), Verdict::Unknown);
    let second = empty.clone().after(&first);
    assert_eq!(judge(&second), Verdict::Revoked);
    let third = empty.after(&second);
    assert_eq!(judge(&third), Verdict::Revoked);
    let back = Tokens::parse(file().as_bytes()).unwrap().after(&third);
    assert_eq!(judge(&back), Verdict::Allowed);
}

#[test]
fn a_wrong_file_is_refused_without_showing_what_is_in_it() {
    let good = format!("sha256: {GOOD}, pool: p, expires: 2030-01-01T00:00:00Z");
    let rows = [
        ("secret".to_owned(), "the file is not a set of fields"),
        ("tokens: secret".into(), "tokens is not a list"),
        ("{}".into(), "tokens is not a list"),
        ("secret: []\ntokens: []".into(), "the file has a field"),
        (
            "tokens: [secret]".into(),
            "tokens[0] is not a set of fields",
        ),
        (
            "tokens: [{sha256: secret, pool: p, expires: secret}]".into(),
            "tokens[0].sha256 is not",
        ),
        (
            "tokens: [{pool: secret}]".into(),
            "tokens[0] has no sha256: add `sha256: HEX`",
        ),
        (
            format!("tokens: [{{sha256: {GOOD}, expires: secret}}]"),
            "tokens[0] has no pool: add `pool: NAME`",
        ),
        (
            format!("tokens: [{{sha256: {GOOD}, pool: secret}}]"),
            "tokens[0] has no expires: add `expires: 2030",
        ),
        (
            format!("tokens:\n- {{sha256: {GOOD}, pool: *, expires: secret}}"),
            "write the star in quotes: `pool: '*'`",
        ),
        (
            format!("tokens:\n- sha256: {GOOD}\n  pool: *\n  expires: secret"),
            "write the star in quotes: `pool: '*'`",
        ),
        (
            format!("tokens: [{{{good}, secret: x}}]"),
            "tokens[0] has a field",
        ),
        (format!("tokens: [{{{good}, node: 3}}]"), "tokens[0].node"),
        (
            format!("tokens: [{{sha256: {GOOD}, pool: a/b, expires: secret}}]"),
            "tokens[0].pool",
        ),
        (
            format!("tokens: [{{sha256: {GOOD}, pool: p, expires: secret}}]"),
            "tokens[0].expires",
        ),
        (
            format!("tokens: [{{{good}}}, {{{good}}}]"),
            "tokens[1] is there twice",
        ),
    ];
    for (text, expected) in rows {
        let error = Tokens::parse(text.as_bytes()).unwrap_err();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn who_is_revoked_in_the_file_stays_so() {
    let text = format!(
        "tokens: [{{sha256: {GOOD}, pool: worker, expires: 2030-01-01T00:00:00Z, revoked: true}}]"
    );
    let tokens = Tokens::parse(text.as_bytes()).unwrap();
    for pool in ["worker", "master"] {
        let pool = Name::parse(pool).unwrap();
        let (verdict, bearer) = tokens.judge(
            Purpose::Read,
            Some(b"Bearer good"),
            Some(&pool),
            None,
            now(),
        );
        assert_eq!((verdict, bearer.pools.len()), (Verdict::Revoked, 0));
    }
    let (verdict, _) = tokens.judge(Purpose::Read, Some(b"Bearer good"), None, None, now());
    assert_eq!(verdict, Verdict::Revoked);
    assert_eq!(tokens.counts(now()), (1, 0));
    assert!(Tokens::parse(text.replace("true", "maybe").as_bytes()).is_err());
}

fn judged(
    tokens: &Tokens,
    purpose: Purpose,
    token: &str,
    pool: Option<&str>,
    node: Option<&str>,
) -> (Verdict, Bearer) {
    let pool = pool.map(|pool| Name::parse(pool).unwrap());
    let header = format!("Bearer {token}");
    let node = node.map(str::as_bytes);
    tokens.judge(purpose, Some(header.as_bytes()), pool.as_ref(), node, now())
}

#[test]
fn a_token_may_be_for_one_node_or_to_look_at_everything() {
    let text = format!(
        "{}- {{sha256: {}, pool: '*', expires: 2030-01-01T00:00:00Z}}\n",
        file(),
        sha256("all")
    );
    let tokens = Tokens::parse(text.as_bytes()).unwrap();
    let judge = |token: &str, pool: Option<&str>, node: Option<&str>| {
        judged(&tokens, Purpose::Read, token, pool, node)
    };
    assert_eq!(
        judge("good", Some("worker"), Some("node-1")).0,
        Verdict::Allowed
    );
    assert_eq!(
        judge("good", Some("worker"), Some("node-2")).0,
        Verdict::OtherNode
    );
    assert_eq!(judge("good", Some("worker"), None).0, Verdict::NoNode);
    assert_eq!(judge("good", None, Some("node-1")).0, Verdict::Allowed);
    // Whatever is read: without the node there is nothing that the token is good for.
    for (node, expected) in [
        (None, Verdict::NoNode),
        (Some("node-2"), Verdict::OtherNode),
    ] {
        for pool in [None, Some("worker"), Some("master"), Some("nowhere")] {
            let (verdict, bearer) = judge("good", pool, node);
            assert_eq!(verdict, expected, "{pool:?} {node:?}");
            assert!(bearer.pools.is_empty() && !bearer.sees_all, "{bearer:?}");
        }
    }
    let report = |node| judged(&tokens, Purpose::Report, "good", None, node);
    let (verdict, bearer) = report(None);
    assert_eq!((verdict, bearer.pools), (Verdict::Allowed, vec![worker()]));
    assert_eq!(report(Some("node-2")).0, Verdict::OtherNode);
    assert_eq!(
        judge("other", Some("master"), Some("any")).0,
        Verdict::Allowed
    );
    assert_eq!(judge("all", Some("worker"), None).0, Verdict::OnlyLooks);
    let (verdict, bearer) = judge("all", None, None);
    assert_eq!(
        (verdict, bearer.sees_all, bearer.pools.len()),
        (Verdict::Allowed, true, 0)
    );
    let (verdict, bearer) = judge("late", None, None);
    assert_eq!(
        (verdict, bearer.sees_all, bearer.pools.len()),
        (Verdict::Expired, false, 0)
    );
}

#[test]
fn each_entry_of_a_token_counts_for_its_own_node() {
    let hash = sha256("both");
    let text = format!(
        "tokens:\n\
         - {{sha256: {hash}, pool: worker, expires: 2030-01-01T00:00:00Z}}\n\
         - {{sha256: {hash}, pool: master, node: node-1, expires: 2030-01-01T00:00:00Z}}\n\
         - {{sha256: {hash}, pool: '*', node: node-1, expires: 2030-01-01T00:00:00Z}}\n"
    );
    let tokens = Tokens::parse(text.as_bytes()).unwrap();
    let reads = |pool, node| judged(&tokens, Purpose::Read, "both", pool, node);
    for node in [None, Some("node-2")] {
        let (verdict, bearer) = reads(None, node);
        assert_eq!((verdict, bearer.sees_all), (Verdict::Allowed, false));
        assert_eq!(bearer.pools, [worker()]);
        assert_ne!(reads(Some("master"), node).0, Verdict::Allowed);
    }
    let (verdict, bearer) = reads(Some("master"), Some("node-1"));
    assert_eq!((verdict, bearer.sees_all), (Verdict::Allowed, true));
    assert_eq!(bearer.pools.len(), 2);
    let (_, bearer) = judged(&tokens, Purpose::Report, "both", None, None);
    assert_eq!((bearer.pools, bearer.node), (vec![worker()], None));
}
