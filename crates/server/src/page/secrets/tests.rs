use super::*;

#[test]
fn files_with_secrets_are_not_shown() {
    let hidden = [
        ("/etc/a", 0o600, "x"),
        ("/etc/a", 0o700, "x"),
        ("/etc/a", 0o640, "x"),
        ("/var/lib/kubelet/config.json", 0o644, "x"),
        ("/etc/kubernetes/kubeconfig", 0o644, "x"),
        ("/etc/kubernetes/bootstrap-kubeconfig.yaml", 0o644, "x"),
        ("/root/.docker/dockerconfig.json", 0o644, "x"),
        ("/etc/pki/a.KEY", 0o644, "x"),
        ("/etc/pki/tls/private/a.pem", 0o644, "x"),
        ("/etc/shadow", 0o644, "x"),
        ("/etc/ssh/ssh_host_ed25519_key", 0o644, "x"),
        ("/etc/bootlace/token", 0o644, "x"),
        ("/home/core/.ssh/config", 0o644, "x"),
        ("/etc/mcs-machine-config-content.json", 0o644, "{}"),
        ("/etc/a", 0o644, "-----BEGIN RSA PRIVATE KEY-----"),
        ("/etc/a", 0o644, r#"{"auths": {}}"#),
        ("/etc/a", 0o644, "curl -H 'Authorization: Bearer abc'"),
        ("/etc/a", 0o644, "  client-key-data: abc"),
        ("/etc/a", 0o644, "users:\n- user: {token: abc}"),
        ("/etc/a", 0o644, "core:$6$salt$hash:1::::::"),
        ("/etc/a", 0o644, "key: LS0tLS1CRUdJTiBSU0E="),
    ];
    for (path, mode, content) in hidden {
        let why = of_file(path, mode, content.as_bytes());
        assert!(why.is_some(), "{path} {mode:o} {content}");
    }
    let shown = [
        ("/etc/chrony.conf", 0o644, "server a iburst"),
        ("/etc/passwd", 0o644, "root:x:0:0::/:/bin/sh"),
        ("/etc/ssh/sshd_config", 0o644, "PasswordAuthentication no"),
        (
            "/etc/kubernetes/ca.crt",
            0o644,
            "-----BEGIN CERTIFICATE-----",
        ),
        ("/usr/local/bin/x", 0o755, "#!/bin/sh\nexit 0\n"),
        ("/etc/keymap", 0o444, "us"),
    ];
    for (path, mode, content) in shown {
        assert_eq!(of_file(path, mode, content.as_bytes()), None, "{path}");
    }
}

#[test]
fn values_are_hidden_by_their_names() {
    let rows = [
        (
            "Environment=A_TOKEN=abc\nB=c\n",
            "Environment=A_TOKEN=(hidden)\nB=c\n",
        ),
        (
            "Environment=\"PASSWORD=a b\"\nB=c\n",
            "Environment=\"PASSWORD=(hidden)\nB=c\n",
        ),
        (
            "Environment=X=1 MY_SECRET=abc Y=2",
            "Environment=X=1 MY_SECRET=(hidden)",
        ),
        ("Environment=API_KEY=abc", "Environment=API_KEY=(hidden)"),
        (
            "ExecStart=/a --db-password=abc x",
            "ExecStart=/a --db-password=(hidden)",
        ),
        ("ExecStart=/a --token abc", "ExecStart=/a --token (hidden)"),
        (
            "password = a b c\nother = d",
            "password =(hidden)\nother = d",
        ),
        (
            "\"apiKey\": \"abc\",\n\"b\": 1",
            "\"apiKey\":(hidden)\n\"b\": 1",
        ),
        (
            "  passphrase: |\n    abc\n  b: c\n",
            "  passphrase:(hidden)\n(hidden: the rest, which may belong to it)\n",
        ),
        (
            "  passphrase: abc\n    def\n  b: c\n",
            "  passphrase:(hidden)\n    (hidden)\n  b: c\n",
        ),
        ("A_KEY=abc\n\n[Service]\n", "A_KEY=(hidden)\n\n[Service]\n"),
        (
            "secret:\n- abc",
            "secret:(hidden)\n(hidden: the rest, which may belong to it)\n",
        ),
        (
            "Environment=A_KEY=abc \\\n  def\nX=y",
            "Environment=A_KEY=(hidden)\n(hidden: the rest, which may belong to it)\n",
        ),
        (
            "proxy=http://me:pw@host:1/x",
            "proxy=http://(hidden)@host:1/x",
        ),
        (
            "curl https://a/b?token=abc",
            "curl https://a/b?token=(hidden)",
        ),
    ];
    for (text, expected) in rows {
        let (shown, count) = redacted(text);
        assert_eq!(shown, expected);
        assert!(count > 0, "{text}");
    }
    for plain in [
        "",
        "A_TOKEN=\nB=c\n",
        "Environment=KUBELET_LOG=2\n",
        "KEYMAP=us\nkeyboard: de\n",
        "[Unit]\nDescription=A: b\nAfter=x.service\n",
        "baseurl=https://host/path\n",
        "monkeys are no secrets\n",
    ] {
        assert_eq!(redacted(plain), (plain.to_owned(), 0));
    }
}

#[test]
fn urls_are_shown_without_who_asks_for_what() {
    let rows = [
        ("https://a.example/b", "https://a.example/b"),
        ("https://me:pw@a.example/b", "https://(hidden)@a.example/b"),
        (
            "https://a.example/b?sig=x#y",
            "https://a.example/b?(hidden)",
        ),
        ("https://p@ss@a.example/", "https://(hidden)@a.example/"),
        ("s3://bucket/key?versionId=1", "s3://bucket/key?(hidden)"),
        ("arn:aws:s3:::bucket/x", "arn:aws:s3:::bucket/x"),
    ];
    for (url, shown) in rows {
        assert_eq!(shown_url(url), shown);
    }
}

#[test]
fn no_text_is_too_absurd() {
    let mut dice: u64 = 0x9e37_79b9_7f4a_7c15;
    let pieces = [
        "token",
        "=",
        ":",
        "\n",
        " ",
        "é",
        "\"",
        "://",
        "@",
        "-",
        "--key",
        "?",
        "\\",
        "|",
        "\t",
        "\u{1f980}",
        "a",
    ];
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..(dice >> 59) {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(pieces[(dice >> 33) as usize % pieces.len()]);
        }
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let _ = redacted(&text).1 + shown_url(&text).len();
    }
}

#[test]
fn values_without_a_sign_are_hidden_too() {
    for text in [
        "auth_pass hunter2\n",
        "secret \"hunter2\";\n",
        "stats auth admin:hunter2\n",
        "<password>hunter2</password>\n",
        "machine a login b password hunter2\n",
        "password =\nhunter2\n",
        "x\t--password hunter2\n",
        "--token hunter2\n",
        "- name: DB_PASSWORD\n  value: hunter2\n",
    ] {
        let (shown, _) = redacted(text);
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    for text in [
        "# no token\nserver 10.0.0.1 iburst\n",
        "ExecStart=/usr/bin/x --file=/etc/secrets/a\n",
        "path /run/token.conf there\n",
    ] {
        assert_eq!(redacted(text).0, text);
    }
}
