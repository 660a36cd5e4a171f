//! Contents and configs from servers, good ones and bad ones.

use std::io::Write as _;
use std::time::{Duration, Instant};

use bootlace_model::fault::FaultKind;

use crate::server::{Server, reply};
use crate::world::Root;

/// A config with one file, and more about its source.
fn config(url: &str, more: &str) -> String {
    format!(
        r#"{{"ignition": {{"version": "3.4.0", "timeouts": {{"httpTotal": 2}}}},
            "storage": {{"files": [{{"path": "/srv/x", "contents": {{"source": "{url}"{more}}}}}]}}}}"#
    )
}

#[test]
fn contents_come_with_their_headers_and_only_as_promised() {
    let server = Server::start(|path, lines, to| match path {
        "/secret" if lines.iter().any(|line| line == "x-token: abc") => {
            reply(to, "200 OK", "", b"let in");
        }
        "/moved" => reply(to, "302 Found", "location: /open\r\n", b""),
        "/open" if lines.iter().all(|line| !line.starts_with("x-token")) => {
            reply(to, "200 OK", "", b"open");
        }
        _ => reply(to, "403 Forbidden", "", b""),
    });
    let token = r#", "httpHeaders": [{"name": "X-Token", "value": "abc"}]"#;
    let root = Root::new();
    root.apply(config(&server.url("/secret"), token)).unwrap();
    assert_eq!(root.read("/srv/x"), "let in");
    root.undo().unwrap();
    // What is secret is not told to whom a redirect leads.
    root.apply(config(&server.url("/moved"), token)).unwrap();
    assert_eq!(root.read("/srv/x"), "open");
    root.undo().unwrap();
    let fault = root.apply(config(&server.url("/secret"), "")).unwrap_err();
    assert!(fault.message.contains("403"), "{fault}");
    let hash = format!(
        r#", "verification": {{"hash": "sha256-{}"}}"#,
        "0".repeat(64)
    );
    let fault = root.apply(config(&server.url("/open"), &hash)).unwrap_err();
    assert!(fault.message.contains("hash"), "{fault}");
    assert!(
        root.snapshot().files.len() == 1,
        "{:?}",
        root.snapshot().files.keys()
    );
}

#[test]
fn bad_servers_are_given_up_in_time() {
    let server = Server::start(|path, _, to| match path {
        "/around" => reply(to, "302 Found", "location: /around\r\n", b""),
        "/short" => {
            let head = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this";
            drop(to.write_all(head));
        }
        "/huge" => {
            let head = b"HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\nonly this";
            drop(to.write_all(head));
        }
        "/busy" => reply(to, "503 Service Unavailable", "", b""),
        _ => std::thread::sleep(Duration::from_secs(10)),
    });
    for (path, kind, says) in [
        ("/around", FaultKind::BadInput, "redirected"),
        ("/short", FaultKind::Deadline, "/short"),
        ("/huge", FaultKind::BadInput, "larger"),
        ("/busy", FaultKind::Deadline, "503"),
        ("/silent", FaultKind::Deadline, "no answer"),
    ] {
        let root = Root::new();
        let began = Instant::now();
        let fault = root.apply(config(&server.url(path), "")).unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(8), "{path}");
        assert_eq!(fault.kind, kind, "{path}: {fault}");
        assert!(fault.message.contains(says), "{path}: {fault}");
        assert!(
            fault.message.contains("storage.files.0.contents"),
            "{fault}"
        );
        assert_eq!(root.snapshot().files.len(), 1);
    }
}

#[test]
fn a_run_needs_no_server_once_it_has_begun() {
    let server = Server::start(|_, _, to| {
        let text = br#"{"ignition": {"version": "3.3.0"}, "storage": {"files": [
            {"path": "/srv/y", "contents": {"source": "data:,y"}}]}}"#;
        reply(to, "200 OK", "", text);
    });
    let config = format!(
        r#"{{"ignition": {{"version": "3.4.0", "config": {{"merge": [{{"source": "{}"}}]}}}}}}"#,
        server.url("/other.ign")
    );
    let root = Root::new();
    root.apply(&config).unwrap();
    assert_eq!(root.read("/srv/y"), "y");
    drop(server);
    assert!(root.undo().unwrap().refused.is_empty());
    assert!(!root.at("/srv").exists());
}
