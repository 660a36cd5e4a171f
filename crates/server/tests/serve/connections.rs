//! Many connections of one source, and room for others.

use std::io;
use std::time::Duration;

use bootlace_server::Limits;

use crate::client::{Client, Connection, ask};
use crate::world::{Setup, World, token, until};

const LIMITS: Limits = Limits {
    connections: 8,
    of_one_source: 4,
    of_strangers: 2,
    reserve: 2,
    few: 1,
    pool_returns_within: Duration::ZERO,
};

fn world(limits: Limits) -> World {
    let tokens = token("good-token", "pool: worker, expires: 2999-01-01T00:00:00Z");
    let tokens = format!("tokens:\n{tokens}");
    World::start(Setup {
        limits,
        ..Setup::of_tokens(&tokens)
    })
}

/// Connects, shows a valid token, and keeps the connection.
fn held(client: &Client) -> io::Result<Connection> {
    let mut stream = client.connect()?;
    introduce(&mut stream)?;
    Ok(stream)
}

fn introduce(stream: &mut Connection) -> io::Result<()> {
    let token = "Authorization: Bearer good-token";
    let answer = ask(stream, "GET", "/config/worker", &[token])?;
    assert_eq!(answer.status, 200, "{answer:?}");
    Ok(())
}

#[test]
fn holders_of_tokens_on_two_sources_leave_room_for_others() {
    let world = world(LIMITS);
    let source = |number: u8| world.client.from([127, 0, 0, number]);
    let mut of_one: Vec<_> = (0..4).map(|_| held(&source(2)).unwrap()).collect();
    assert!(held(&source(2)).is_err(), "one source has its half");
    let of_two: Vec<_> = (0..2).map(|_| held(&source(3)).unwrap()).collect();
    assert!(held(&source(3)).is_err(), "the last places are for others");
    let three = held(&source(4)).unwrap();
    assert!(held(&source(4)).is_err(), "a place of the reserve is one");
    let four = held(&source(5)).unwrap();
    // All places are taken, and each of them is still good.
    introduce(&mut of_one[0]).unwrap();
    drop((of_two, three, four));
    until("a place is free again", || held(&source(3)).is_ok());
    assert!(held(&source(2)).is_err());
    of_one.pop();
    until("its own place is free again", || held(&source(2)).is_ok());
}

#[test]
fn a_source_without_a_token_has_fewer_connections() {
    let world = world(LIMITS);
    let client = world.client.from([127, 0, 0, 2]);
    let mut first = client.connect().unwrap();
    let second = client.connect().unwrap();
    assert!(client.connect().is_err());
    introduce(&mut first).unwrap();
    let third = client.connect().unwrap();
    assert!(client.connect().is_err());
    drop((second, third));
}

#[test]
fn a_source_has_at_most_half_of_all_connections() {
    let limits = Limits::of(12);
    let world = world(limits);
    let client = world.client.from([127, 0, 0, 2]);
    let held: Vec<_> = (0..6).map(|_| held(&client).unwrap()).collect();
    assert!(client.connect().is_err());
    assert!(world.client.connect().is_ok());
    drop(held);
}
