//! Many connections on which nothing happens any more.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Bench;
use super::answer::Answer;
use super::client::{Buffers, Connection, Endpoint};
use super::servers::{Encryption, Server};
use crate::row::{Bound, Peer, Row};

const CONNECTIONS: usize = 5_000;
/// How many are opened at the same time.
const AT_ONCE: usize = 50;
/// How long the server may take until it has put away what it needed for the last answer.
const SETTLES: Duration = Duration::from_millis(500);
/// After how long an idle connection is closed by either server; all of them must be open till then.
const IDLE: Duration = Duration::from_mins(1);

/// Measures how much memory a connection takes while nothing happens on it.
pub(super) fn run(bench: &Bench) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let mut bootlace = Server::bootlace(&bench.site)?;
    let (ours, connections) = measure(bench, &bootlace)?;
    let ended = end(bench, &mut bootlace, connections)?;
    let nginx = Server::nginx(&bench.site, Encryption::Process)?;
    let (theirs, _connections) = measure(bench, &nginx)?;
    let what = format!("memory of an idle connection, of {CONNECTIONS}");
    let row = Row::new("serve.idle", what, "KiB", &[ours]);
    let what = format!("saying goodbye on all {CONNECTIONS} idle connections");
    let ends = Row::new("serve.end", what, "s", &[ended]).within(Bound::AtMost(0.3));
    let nginx = Peer::new(
        "nginx",
        "nginx, the same bytes as a file",
        &[ours],
        &[theirs],
    );
    Ok(vec![row.beside(nginx).within(Bound::AtMost(20.0)), ends])
}

/// Ends the server while all connections are open, and returns how many seconds that took. It must say
/// goodbye on each of them, so that no client takes it for an error.
fn end(
    bench: &Bench,
    server: &mut Server,
    mut connections: Vec<Connection>,
) -> Result<f64, Box<dyn std::error::Error>> {
    let began = Instant::now();
    server.ask_to_end()?;
    bench.runtime.block_on(all_closed(&mut connections))?;
    let status = server.ended()?;
    if !status.success() {
        return Err(format!("a server with idle connections ended badly: {status}").into());
    }
    Ok(began.elapsed().as_secs_f64())
}

/// Returns how many KiB a connection takes, and all of them, open.
fn measure(
    bench: &Bench,
    server: &Server,
) -> Result<(f64, Vec<Connection>), Box<dyn std::error::Error>> {
    let peer = bench.peer(server)?;
    // As many as are opened at once later, so that what those need together is there before.
    let mut warm = bench.runtime.block_on(open(bench, &peer, AT_ONCE))?;
    warm.clear();
    std::thread::sleep(SETTLES);
    let before = server.resident();
    let began = Instant::now();
    let mut connections = bench.runtime.block_on(open(bench, &peer, CONNECTIONS))?;
    std::thread::sleep(SETTLES);
    let after = server.resident();
    bench
        .runtime
        .block_on(ask(bench, connections.first_mut()))?;
    bench.runtime.block_on(ask(bench, connections.last_mut()))?;
    if began.elapsed() > IDLE {
        return Err("it took so long to open the connections that the first are closed".into());
    }
    let each = (after - before) * 1024.0 / f64::from(u32::try_from(CONNECTIONS)?);
    Ok((each, connections))
}

/// Opens connections, and makes one request on each.
async fn open(bench: &Bench, peer: &Endpoint, count: usize) -> io::Result<Vec<Connection>> {
    let request: Arc<[u8]> = bench.request.as_slice().into();
    let body: Arc<[u8]> = bench.body.as_slice().into();
    let clients: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (peer, request, body) = (peer.clone(), Arc::clone(&request), Arc::clone(&body));
            tokio::spawn(async move {
                let mut buffers = Buffers::default();
                let mut connections = Vec::new();
                for _ in 0..count / AT_ONCE {
                    let mut connection = peer.connect(&mut buffers).await?;
                    let mut answer = Answer::new(&body);
                    connection.ask(&mut buffers, &request, &mut answer).await?;
                    connections.push(connection);
                }
                io::Result::Ok(connections)
            })
        })
        .collect();
    let mut connections = Vec::new();
    for client in clients {
        connections.extend(client.await.map_err(io::Error::other)??);
    }
    Ok(connections)
}

/// Shows that a connection that was idle is still good for a request.
async fn ask(bench: &Bench, connection: Option<&mut Connection>) -> io::Result<()> {
    let connection = connection.ok_or(io::ErrorKind::NotConnected)?;
    let mut answer = Answer::new(&bench.body);
    let mut buffers = Buffers::default();
    connection
        .ask(&mut buffers, &bench.request, &mut answer)
        .await
}

/// Waits until the server has closed all connections.
async fn all_closed(connections: &mut [Connection]) -> io::Result<()> {
    let mut buffers = Buffers::default();
    for connection in connections {
        connection.closed(&mut buffers).await?;
    }
    Ok(())
}
