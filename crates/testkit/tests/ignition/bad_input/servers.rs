//! What servers do wrong.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bootlace_model::fault::FaultKind;
use bootlace_testkit::ignition::secure::SecureServer;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::refused;
use crate::server::{Server, reply};
use crate::world::Root;

/// How long a config lets a source take.
const GIVEN: Duration = Duration::from_secs(2);
/// How much longer it may take until it is said.
const GRACE: Duration = Duration::from_secs(6);
/// The most memory that this process may need for one large body.
const MOST_MEMORY: u64 = 1 << 30;

/// A file that comes from a server.
fn config(url: &str, more: &str) -> String {
    format!(
        r#"{{"ignition": {{"version": "3.4.0", "timeouts": {{"httpTotal": 2}}}},
            "storage": {{"files": [{{"path": "/srv/x", "contents": {{"source": "{url}"{more}}}}}]}}}}"#
    )
}

/// Sends a head, and then pieces until the client has enough.
fn stream(to: &mut TcpStream, head: &str, piece: &[u8], pause: Duration) {
    if to.write_all(head.as_bytes()).is_err() {
        return;
    }
    while to.write_all(piece).is_ok() {
        std::thread::sleep(pause);
    }
}

fn answer(path: &str, to: &mut TcpStream) {
    const PLAIN: &str = "HTTP/1.1 200 OK\r\n\r\n";
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let to_where = |to: &mut TcpStream, target: &str| {
        reply(to, "302 Found", &format!("location: {target}\r\n"), b"");
    };
    match path {
        "/drip" => stream(to, PLAIN, b"x", Duration::from_millis(200)),
        "/drip-head" => stream(to, "HTTP/1.1 200 OK\r\n", b"x", Duration::from_millis(200)),
        "/cut" => drop(to.write_all(format!("{CHUNKED}5\r\nhello\r\nff\r\nonly").as_bytes())),
        "/bomb" => reply(to, "200 OK", "", &bomb()),
        "/to-file" => to_where(to, "file:///etc/passwd"),
        "/to-data" => to_where(to, "data:,x"),
        "/to-ftp" => to_where(to, "ftp://127.0.0.1/x"),
        "/to-nowhere" => reply(to, "302 Found", "", b""),
        "/around" => to_where(to, "/around"),
        "/absent" => reply(to, "404 Not Found", "", b""),
        "/garbage" => drop(to.write_all(b"\0\xff\0\xff\r\n\r\n")),
        _ => stream(to, PLAIN, &vec![0; 1 << 20], Duration::ZERO),
    }
}

/// Packs four hundred megabytes of nothing, a member for each megabyte.
fn bomb() -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(&vec![0; 1 << 20]).unwrap();
    packer.finish().unwrap().repeat(400)
}

#[test]
fn a_server_may_do_anything_but_be_waited_for() {
    let server = Server::start(|path, _, to| answer(path, to));
    let packed = r#", "compression": "gzip""#;
    let (bad, late) = (FaultKind::BadInput, FaultKind::Deadline);
    for (path, more, kind, says) in [
        ("/drip", "", late, "did not end within 2 s"),
        ("/drip-head", "", late, "did not end within 2 s"),
        ("/cut", "", late, "/cut"),
        ("/garbage", "", late, "/garbage"),
        ("/bomb", packed, bad, "larger than"),
        ("/to-file", "", bad, "redirected to file:"),
        ("/to-data", "", bad, "redirected to data:"),
        ("/to-ftp", "", bad, "redirected to ftp:"),
        ("/to-nowhere", "", bad, "redirected to nowhere"),
        ("/around", "", bad, "redirected more than"),
        ("/absent", "", bad, "404"),
    ] {
        let root = Root::new();
        let fault = refused(&root, config(&server.url(path), more), GIVEN + GRACE);
        assert_eq!(fault.kind, kind, "{path}: {fault}");
        assert!(
            fault.message.starts_with("storage.files.0.contents"),
            "{path}: {fault}"
        );
        assert!(fault.message.contains(says), "{path}: {fault}");
    }
}

#[test]
fn a_body_without_end_is_cut_off_at_the_limit() {
    let server = Server::start(|path, _, to| answer(path, to));
    let root = Root::new();
    let endless =
        config(&server.url("/endless"), "").replace("\"httpTotal\": 2", "\"httpTotal\": 60");
    let fault = refused(&root, endless, Duration::from_mins(1));
    assert_eq!(fault.kind, FaultKind::BadInput, "{fault}");
    assert!(fault.message.contains("larger than"), "{fault}");
    assert!(peak() < MOST_MEMORY, "{} bytes", peak());
}

#[test]
fn a_body_of_a_hundred_megabytes_is_applied() {
    let body = vec![b'a'; 100 << 20];
    let server = Server::start(move |_, _, to| reply(to, "200 OK", "", &body));
    let root = Root::new();
    let config = config(&server.url("/large"), "").replace("\"httpTotal\": 2", "\"httpTotal\": 60");
    let began = Instant::now();
    root.apply(config).unwrap();
    let took = began.elapsed();
    assert_eq!(
        std::fs::metadata(root.at("/srv/x")).unwrap().len(),
        100 << 20
    );
    root.undo().unwrap();
    assert!(!root.at("/srv").exists());
    assert!(took < Duration::from_mins(1), "{took:?}");
    assert!(peak() < MOST_MEMORY, "{} bytes", peak());
}

#[test]
fn a_server_is_trusted_by_the_config_s_authorities_and_by_none_else() {
    let server = SecureServer::listen(b"secret").unwrap();
    let other = SecureServer::listen(b"").unwrap();
    let with = |authority: Option<(&str, &str)>| {
        let plain = config(&server.url("/x"), "");
        let Some((pem, more)) = authority else {
            return plain;
        };
        let source = format!("data:;base64,{}", STANDARD.encode(pem));
        let security = format!(
            r#""security": {{"tls": {{"certificateAuthorities": [{{"source": "{source}"{more}}}]}}}}, "timeouts""#
        );
        plain.replace("\"timeouts\"", &security)
    };
    let root = Root::new();
    for untrusted in [with(None), with(Some((other.authority(), "")))] {
        let fault = refused(&root, untrusted, GIVEN + GRACE);
        assert_eq!(fault.kind, FaultKind::BadInput, "{fault}");
        assert!(fault.message.contains("certificate"), "{fault}");
        assert!(
            fault.message.starts_with("storage.files.0.contents"),
            "{fault}"
        );
    }
    let hash = format!(
        r#", "verification": {{"hash": "sha256-{}"}}"#,
        "0".repeat(64)
    );
    let fault = refused(&root, with(Some((server.authority(), &hash))), GIVEN);
    let at = "ignition.security.tls.certificateAuthorities.0";
    assert!(fault.message.starts_with(at), "{fault}");
    let fault = refused(&root, with(Some(("no certificate", ""))), GIVEN);
    assert!(fault.message.contains("authorities"), "{fault}");
    root.apply(with(Some((server.authority(), "")))).unwrap();
    assert_eq!(root.read("/srv/x"), "secret");
}

/// Tells how much memory this process needed at most, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibi: u64 = line.unwrap().trim_end_matches("kB").trim().parse().unwrap();
    kibi << 10
}
