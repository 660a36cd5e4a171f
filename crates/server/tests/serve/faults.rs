//! Clients that mean no good, and a disk that is full.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use crate::client::{ask, read};
use crate::world::World;

#[test]
fn large_heads_are_refused() {
    let world = World::open();
    let huge = format!("X-Huge: {}", "a".repeat(64 << 10));
    let mut stream = world.client.connect().unwrap();
    let answer = ask(&mut stream, "GET", "/config/worker", &[&huge]);
    assert!(answer.is_err() || answer.unwrap().status == 431);
    let many: Vec<String> = (0..500).map(|n| format!("X-{n}: a")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut stream = world.client.connect().unwrap();
    let answer = ask(&mut stream, "GET", "/config/worker", &many).unwrap();
    assert_eq!(answer.status, 431);
    assert_eq!(answer.json()["type"], "urn:bootlace:problem:too-large");
    let path = format!("/config/{}", "a".repeat(4000));
    assert_eq!(world.client.get(&path, &[]).status, 404);
    let absurd = format!("Accept: {}", ",;=/q".repeat(2000));
    assert_eq!(world.client.get("/config/worker", &[&absurd]).status, 200);
    assert_eq!(world.client.get("/healthz", &[]).status, 200);
}

#[test]
fn what_is_not_http_or_not_tls_is_hung_up_on() {
    let world = World::open();
    for text in ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/3.0\r\n\r\n"] {
        let mut stream = world.client.connect().unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let answer = read(&mut stream, false);
        let answer = answer.unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(answer.status, 400, "{text:?}");
        assert_eq!(answer.json()["type"], "urn:bootlace:problem:malformed");
        assert_eq!(answer.header("connection"), Some("close"));
    }
    // Whoever speaks another protocol would not understand an answer.
    let mut stream = world.client.connect().unwrap();
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .unwrap();
    assert!(read(&mut stream, false).is_err());
    // Also after an answer on the same connection, and sent together with what got it.
    let mut stream = world.client.connect().unwrap();
    let both = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n";
    stream.write_all(both.as_bytes()).unwrap();
    assert_eq!(read(&mut stream, false).unwrap().status, 200);
    let answer = read(&mut stream, false).unwrap();
    assert_eq!(answer.json()["status"], 400);
    let mut plain = world.client.plain();
    plain
        .write_all(b"GET /config/worker HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    // The alert of TLS, or nothing; never a config.
    drop(plain.read_to_end(&mut answer));
    assert!(
        !String::from_utf8_lossy(&answer).contains("HTTP"),
        "{answer:?}"
    );
    assert_eq!(world.client.get("/healthz", &[]).status, 200);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a client that takes its time")]
#[ignore = "slow: waits for a deadline of ten seconds"]
fn who_sends_a_request_byte_by_byte_is_cut_off() {
    let world = World::open();
    let mut loris = world.client.connect().unwrap();
    let begin = Instant::now();
    let cut = loop {
        let byte = loris.write_all(b"G").and_then(|()| loris.flush());
        loris
            .sock
            .set_read_timeout(Some(Duration::from_millis(10)))
            .unwrap();
        let mut buffer = [0; 64];
        let is_open = match loris.read(&mut buffer) {
            Ok(0) => false,
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
        };
        if byte.is_err() || !is_open {
            break begin.elapsed();
        }
        assert!(
            begin.elapsed() < Duration::from_secs(25),
            "it is never cut off"
        );
        assert_eq!(world.client.get("/healthz", &[]).status, 200);
        std::thread::sleep(Duration::from_millis(300));
    };
    assert!(cut > Duration::from_secs(8), "{cut:?}");
}

#[test]
fn a_full_disk_stops_nothing_and_is_told() {
    let world = World::with_full_disk();
    assert_eq!(world.client.get("/config/worker", &[]).status, 200);
    crate::world::until("the full disk is noticed", || {
        let status = world.client.get("/status", &[]).json();
        status["problems"].to_string().contains("audit")
    });
    let ready = world.client.get("/readyz", &[]);
    assert_eq!(ready.status, 200);
    assert!(
        ready.json()["problems"]
            .to_string()
            .contains("No space left")
    );
}

#[test]
fn a_stop_ends_idle_connections_and_lets_no_new_ones_in() {
    let mut world = World::open();
    let mut idle = world.client.connect().unwrap();
    assert_eq!(ask(&mut idle, "GET", "/healthz", &[]).unwrap().status, 200);
    let begin = Instant::now();
    world.end();
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert!(ask(&mut idle, "GET", "/healthz", &[]).is_err());
}

#[test]
fn a_pipe_or_a_link_to_nothing_in_place_of_a_file_holds_nobody_up() {
    let world = World::open();
    let place = world.path("pools/machine-pools/pipe.yaml");
    rustix::fs::mkfifoat(rustix::fs::CWD, &place, 0o600.into()).unwrap();
    let lost = world.path("pools/machine-pools/lost.yaml");
    std::os::unix::fs::symlink("/nowhere", lost).unwrap();
    for pool in ["pipe", "lost"] {
        let answer = world.client.get(&format!("/config/{pool}"), &[]);
        assert_eq!(answer.status, 503, "{pool}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("cannot be read"), "{detail}");
    }
    assert_eq!(world.client.get("/readyz", &[]).status, 200);
    assert_eq!(world.client.get("/config/worker", &[]).status, 200);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test's own files")]
fn a_file_that_cannot_be_read_for_a_moment_is_read_again() {
    let world = World::open();
    let (place, aside) = (
        world.path("pools/machine-configs/rendered-1.yaml"),
        world.path("aside"),
    );
    std::fs::rename(&place, &aside).unwrap();
    std::fs::create_dir(&place).unwrap();
    assert_eq!(world.client.get("/config/worker", &[]).status, 503);
    std::fs::remove_dir(&place).unwrap();
    std::fs::rename(&aside, &place).unwrap();
    assert_eq!(world.client.get("/config/worker", &[]).status, 200);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "somebody who replaces a file")]
fn a_pool_that_is_being_replaced_is_not_called_unknown() {
    let world = World::open();
    assert_eq!(world.client.get("/config/worker", &[]).status, 200);
    let place = world.path("pools/machine-pools/worker.yaml");
    let text = std::fs::read_to_string(&place).unwrap();
    std::thread::scope(|scope| {
        std::fs::remove_file(&place).unwrap();
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(150));
            std::fs::write(&place, &text).unwrap();
        });
        assert_eq!(world.client.get("/config/worker", &[]).status, 200);
    });
    std::fs::remove_file(&place).unwrap();
    assert_eq!(world.client.get("/config/worker", &[]).status, 404);
}
