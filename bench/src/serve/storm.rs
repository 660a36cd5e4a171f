//! Many machines that boot for the first time at once, each on a connection of its own.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::answer::Answer;
use super::client::{Buffers, Endpoint};
use super::steady::memory;
use super::{Bench, Servers};
use crate::rounds;
use crate::row::{Bound, Row};

const BOOTS: usize = 10_000;
/// How often each server is measured.
const ROUNDS: usize = 3;
/// How many machines ask at the same time.
const AT_ONCE: usize = 64;

/// Measures how long it takes until all machines have their config; not one may fail.
pub(super) fn run(
    bench: &Bench,
    servers: &Servers,
) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let all = servers.all();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); all.len()];
    for round in 0..rounds::count(ROUNDS)?.min(ROUNDS) {
        for who in rounds::order(round, all.len()) {
            let peer = bench.peer(all[who])?;
            let began = Instant::now();
            bench.runtime.block_on(storm(bench, &peer))?;
            times[who].push(began.elapsed().as_secs_f64());
        }
    }
    let what = format!("{BOOTS} first boots, each a new TLS connection, no error");
    let row = Row::new("serve.storm", what, "s", &times[0]);
    let peers = servers.peers(&times, Bound::AtMost(1.0));
    let what = "peak memory of the server after the first boots";
    Ok(vec![
        peers.into_iter().fold(row, Row::beside),
        memory(servers, "serve.storm-memory", what),
    ])
}

async fn storm(bench: &Bench, peer: &Endpoint) -> io::Result<()> {
    let request: Arc<[u8]> = bench.request.as_slice().into();
    let body: Arc<[u8]> = bench.body.as_slice().into();
    let begun = Arc::new(AtomicUsize::new(0));
    let machines: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (peer, request, body) = (peer.clone(), Arc::clone(&request), Arc::clone(&body));
            let begun = Arc::clone(&begun);
            tokio::spawn(async move {
                let mut buffers = Buffers::default();
                while begun.fetch_add(1, Ordering::Relaxed) < BOOTS {
                    let mut connection = peer.connect(&mut buffers).await?;
                    let mut answer = Answer::new(&body);
                    connection.ask(&mut buffers, &request, &mut answer).await?;
                    connection.close(&mut buffers).await?;
                }
                io::Result::Ok(())
            })
        })
        .collect();
    for machine in machines {
        machine.await.map_err(io::Error::other)??;
    }
    Ok(())
}
