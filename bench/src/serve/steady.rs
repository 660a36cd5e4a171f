//! A few clients that ask again and again on the same connections.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::answer::Answer;
use super::client::{Buffers, Endpoint};
use super::servers::Server;
use super::{Bench, Servers, site};
use crate::rounds;
use crate::row::{Bound, Row, millis};

const CONNECTIONS: usize = 16;
/// How often each server is measured; they take turns, so that noise hits all of them.
const ROUNDS: usize = 15;
/// How long one round takes.
const ROUND: Duration = Duration::from_millis(1500);

/// What one server did in one round.
#[derive(Debug, Clone, Copy)]
struct Figures {
    /// Requests in a second.
    rate: f64,
    /// What 99 of 100 answers took at most, in milliseconds.
    p99: f64,
    /// How long the server kept a processor busy for a request, in milliseconds.
    busy: f64,
}

impl Figures {
    fn measure(bench: &Bench, server: &Server) -> Result<Self, Box<dyn std::error::Error>> {
        let peer = bench.peer(server)?;
        let busy = server.busy();
        let began = Instant::now();
        let mut times = bench.runtime.block_on(round(bench, &peer))?;
        let took = began.elapsed();
        let busy = server.busy().saturating_sub(busy);
        times.sort();
        let count = f64::from(u32::try_from(times.len())?);
        let p99 = times.get(times.len() * 99 / 100);
        Ok(Self {
            rate: count / took.as_secs_f64(),
            p99: millis(p99.copied().unwrap_or(ROUND)),
            busy: millis(busy) / count,
        })
    }
}

/// Measures the rate, the latency, and the memory afterwards.
pub(super) fn run(
    bench: &Bench,
    servers: &Servers,
) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let all = servers.all();
    let mut figures: Vec<Vec<Figures>> = vec![Vec::new(); all.len()];
    for round in 0..rounds::count(ROUNDS)? {
        for who in rounds::order(round, all.len()) {
            figures[who].push(Figures::measure(bench, all[who])?);
        }
    }
    let each = |figure: fn(&Figures) -> f64| -> Vec<Vec<f64>> {
        let of_server = |rounds: &Vec<Figures>| rounds.iter().map(figure).collect();
        figures.iter().map(of_server).collect()
    };
    let row = |id: &str, what: &str, unit: &str, figure: fn(&Figures) -> f64, bound: Bound| {
        let figures = each(figure);
        let row = Row::new(id, what, unit, &figures[0]);
        let peers = servers.peers(&figures, bound);
        peers.into_iter().fold(row, Row::beside)
    };
    let kilobytes = bench.body.len() / 1000;
    let (files, units) = (site::FILES, site::UNITS);
    let rate = format!("answers a second of {kilobytes} KB over TLS, {CONNECTIONS} connections");
    Ok(vec![
        row("serve.rate", &rate, "/s", |it| it.rate, Bound::AtLeast(1.15)).note(format!(
            "A config of {files} files and {units} units; clients share the processors with the server."
        )),
        row(
            "serve.p99",
            "99 of 100 answers take at most",
            "ms",
            |it| it.p99,
            Bound::AtMost(0.85),
        ),
        row(
            "serve.busy",
            "processor time of the server for an answer",
            "ms",
            |it| it.busy,
            Bound::AtMost(0.74),
        ),
        memory(servers, "serve.memory", "peak memory of the server, all processes"),
    ])
}

/// Reads the peak memory of all servers so far.
pub(super) fn memory(servers: &Servers, id: &str, what: &str) -> Row {
    let all = servers.all();
    let peaks: Vec<Vec<f64>> = all.iter().map(|server| vec![server.peak()]).collect();
    let row = Row::new(id, what, "MiB", &peaks[0]);
    let peers = servers.peers(&peaks, Bound::AtMost(0.8));
    peers.into_iter().fold(row, Row::beside)
}

/// Lets all clients ask for a while; returns how long each request took.
async fn round(bench: &Bench, peer: &Endpoint) -> io::Result<Vec<Duration>> {
    let request: Arc<[u8]> = bench.request.as_slice().into();
    let body: Arc<[u8]> = bench.body.as_slice().into();
    let end = Instant::now() + ROUND;
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (peer, request, body) = (peer.clone(), Arc::clone(&request), Arc::clone(&body));
            tokio::spawn(async move {
                let mut buffers = Buffers::default();
                let mut connection = peer.connect(&mut buffers).await?;
                let mut answer = Answer::new(&body);
                let mut times = Vec::new();
                while Instant::now() < end {
                    let began = Instant::now();
                    answer.again();
                    connection.ask(&mut buffers, &request, &mut answer).await?;
                    times.push(began.elapsed());
                }
                connection.close(&mut buffers).await?;
                io::Result::Ok(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.await.map_err(io::Error::other)??);
    }
    Ok(times)
}
