//! A few clients that ask again and again on the same connections.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::answer::Answer;
use super::client::{Buffers, Peer};
use super::servers::Server;
use super::{Bench, site};
use crate::table::{Bound, Row, middle, millis};

const CONNECTIONS: usize = 16;
/// How often each server is measured; the two take turns, so that noise hits both.
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
    bootlace: &Server,
    nginx: &Server,
) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let ours = Figures::measure(bench, bootlace)?;
        rounds.push((ours, Figures::measure(bench, nginx)?));
    }
    // What disturbs one round disturbs its neighbour as well, so neighbours are compared.
    let beside = |figure: fn(&Figures) -> f64| {
        let each = rounds
            .iter()
            .map(|(ours, theirs)| figure(ours) / figure(theirs));
        middle(each.collect())
    };
    let ours =
        |figure: fn(&Figures) -> f64| middle(rounds.iter().map(|(ours, _)| figure(ours)).collect());
    let theirs = |figure: fn(&Figures) -> f64| {
        middle(rounds.iter().map(|(_, theirs)| figure(theirs)).collect())
    };
    let kilobytes = bench.body.len() / 1000;
    let (files, units) = (site::FILES, site::UNITS);
    Ok(vec![
        Row {
            what: format!(
                "{kilobytes} KB ({files} files, {units} units), TLS, {CONNECTIONS} connections: rate by nginx's"
            ),
            value: beside(|figures| figures.rate),
            bound: Bound::AtLeast(0.9),
            unit: "×",
            peer: format!(
                "{:.0} /s, server busy for {:.2} ms each; nginx, the same bytes as a file: {:.0} /s, {:.2} ms (medians of {ROUNDS})",
                ours(|figures| figures.rate),
                ours(|figures| figures.busy),
                theirs(|figures| figures.rate),
                theirs(|figures| figures.busy),
            ),
        },
        Row {
            what: "what 99 of 100 of them take at most, by nginx's".into(),
            value: beside(|figures| figures.p99),
            bound: Bound::AtMost(2.0),
            unit: "×",
            peer: format!(
                "{:.1} ms; nginx: {:.1} ms",
                ours(|figures| figures.p99),
                theirs(|figures| figures.p99)
            ),
        },
        Row {
            what: "peak memory of the server".into(),
            value: bootlace.peak(),
            bound: Bound::AtMost(40.0),
            unit: "MiB",
            peer: format!("all processes of nginx: {:.1} MiB", nginx.peak()),
        },
    ])
}

/// Lets all clients ask for a while; returns how long each request took.
async fn round(bench: &Bench, peer: &Peer) -> io::Result<Vec<Duration>> {
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
