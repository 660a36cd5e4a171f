//! Many machines that boot for the first time at once, each on a connection of its own.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::Bench;
use super::answer::Answer;
use super::client::{Buffers, Peer};
use super::servers::Server;
use crate::table::{Bound, Row, millis};

const BOOTS: usize = 10_000;
/// How many machines ask at the same time.
const AT_ONCE: usize = 64;

/// Measures how long it takes until all machines have their config; not one may fail.
pub(super) fn run(
    bench: &Bench,
    bootlace: &Server,
    nginx: &Server,
) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let measure = |server: &Server| -> Result<(Duration, f64), Box<dyn std::error::Error>> {
        let peer = bench.peer(server)?;
        let busy = server.busy();
        let began = Instant::now();
        bench.runtime.block_on(storm(bench, &peer))?;
        let took = began.elapsed();
        let busy = millis(server.busy().saturating_sub(busy)) / f64::from(u32::try_from(BOOTS)?);
        Ok((took, busy))
    };
    let (ours, busy) = measure(bootlace)?;
    let (theirs, their_busy) = measure(nginx)?;
    Ok(vec![
        Row {
            what: format!("{BOOTS} first boots, each a new TLS connection, no error"),
            value: ours.as_secs_f64(),
            bound: Bound::AtMost(120.0),
            unit: "s",
            peer: format!(
                "nginx: {:.1} s; server busy for {busy:.2} ms a boot, nginx {their_busy:.2} ms",
                theirs.as_secs_f64()
            ),
        },
        Row {
            what: "peak memory of the server, after the first boots".into(),
            value: bootlace.peak(),
            bound: Bound::AtMost(40.0),
            unit: "MiB",
            peer: format!("all processes of nginx: {:.1} MiB", nginx.peak()),
        },
    ])
}

async fn storm(bench: &Bench, peer: &Peer) -> io::Result<()> {
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
