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
const ROUNDS: usize = 9;
/// How long one round takes.
const ROUND: Duration = Duration::from_secs(2);

/// What one server did in all rounds.
#[derive(Debug, Default)]
struct Figures {
    /// Requests in a second.
    rate: Vec<f64>,
    /// What 99 of 100 answers took at most, in milliseconds.
    p99: Vec<f64>,
    /// How long the server kept a processor busy for a request, in milliseconds.
    busy: Vec<f64>,
}

impl Figures {
    fn measure(
        &mut self,
        bench: &Bench,
        server: &Server,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let peer = bench.peer(server)?;
        let busy = server.busy();
        let began = Instant::now();
        let mut times = bench.runtime.block_on(round(bench, &peer))?;
        let took = began.elapsed();
        let busy = server.busy() - busy;
        times.sort();
        let count = f64::from(u32::try_from(times.len())?);
        let p99 = times.get(times.len() * 99 / 100);
        self.rate.push(count / took.as_secs_f64());
        self.p99.push(millis(p99.copied().unwrap_or(ROUND)));
        self.busy.push(millis(busy) / count);
        Ok(())
    }

    fn middles(self) -> [f64; 3] {
        [self.rate, self.p99, self.busy].map(middle)
    }
}

/// Measures the rate, the latency, and the memory afterwards.
pub(super) fn run(
    bench: &Bench,
    bootlace: &Server,
    nginx: &Server,
) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let (mut ours, mut theirs) = (Figures::default(), Figures::default());
    for _ in 0..ROUNDS {
        ours.measure(bench, bootlace)?;
        theirs.measure(bench, nginx)?;
    }
    let [rate, p99, busy] = ours.middles();
    let [their_rate, their_p99, their_busy] = theirs.middles();
    let kilobytes = bench.body.len() / 1000;
    let (files, units) = (site::FILES, site::UNITS);
    Ok(vec![
        Row {
            what: format!(
                "{kilobytes} KB ({files} files, {units} units), TLS, {CONNECTIONS} connections"
            ),
            value: rate,
            bound: Bound::AtLeast(0.9 * their_rate),
            unit: "/s",
            peer: format!(
                "nginx, the same as a file: {their_rate:.0} /s; server busy for {busy:.2} ms a request, nginx {their_busy:.2} ms (medians of {ROUNDS})"
            ),
        },
        Row {
            what: "what 99 of 100 of them take at most".into(),
            value: p99,
            bound: Bound::AtMost(2.0 * their_p99),
            unit: "ms",
            peer: format!("nginx: {their_p99:.1} ms"),
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
