//! Several requests on one connection, which is idle in between.

use std::io::Write as _;

use crate::client::{ask, read};
use crate::world::World;

#[test]
fn requests_may_follow_each_other_at_any_pace() {
    let world = World::open();
    let mut stream = world.client.connect().unwrap();
    let request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    // At every place where one can be cut: two whole ones and a part, and then the rest.
    for cut in 1..request.len() {
        let text = format!("{request}{request}{}", &request[..cut]);
        stream.write_all(text.as_bytes()).unwrap();
        for _ in 0..2 {
            assert_eq!(read(&mut stream, false).unwrap().body, b"ok\n");
        }
        stream.write_all(&request.as_bytes()[cut..]).unwrap();
        assert_eq!(read(&mut stream, false).unwrap().body, b"ok\n");
    }
}

#[test]
fn answers_without_a_body_leave_the_connection_usable() {
    let world = World::open();
    let mut stream = world.client.connect().unwrap();
    let whole = ask(&mut stream, "GET", "/config/worker", &[]).unwrap();
    let condition = format!("If-None-Match: {}", whole.header("etag").unwrap());
    for _ in 0..3 {
        let head = ask(&mut stream, "HEAD", "/config/worker", &[]).unwrap();
        assert_eq!(head.header("etag"), whole.header("etag"));
        let none = ask(&mut stream, "GET", "/config/worker", &[&condition]).unwrap();
        assert_eq!(none.status, 304);
        let again = ask(&mut stream, "GET", "/config/worker", &[]).unwrap();
        assert_eq!(again.body, whole.body);
    }
}

#[test]
fn a_request_with_a_body_is_answered_and_the_next_one_too() {
    let world = World::open();
    let mut stream = world.client.connect().unwrap();
    let request = "POST /config/worker HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody";
    for _ in 0..3 {
        stream.write_all(request.as_bytes()).unwrap();
        assert_eq!(read(&mut stream, false).unwrap().status, 405);
        let next = ask(&mut stream, "GET", "/healthz", &[]).unwrap();
        assert_eq!(next.body, b"ok\n");
    }
}

#[test]
fn an_idle_connection_does_not_hold_up_the_end() {
    let mut world = World::open();
    let silent = world.client.connect().unwrap();
    let mut idle = world.client.connect().unwrap();
    assert_eq!(ask(&mut idle, "GET", "/healthz", &[]).unwrap().status, 200);
    world.end();
    // A goodbye, and not a line that is cut.
    let mut rest = Vec::new();
    let count = std::io::Read::read_to_end(&mut idle, &mut rest).unwrap();
    assert_eq!(count, 0);
    drop(silent);
}
