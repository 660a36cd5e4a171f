//! `make up` as a person types it, with everything cached.

use std::process::Stdio;
use std::time::Instant;

use tempfile::TempDir;

use super::KUBEADM;
use crate::outside;
use crate::row::{Bound, Peer, Row};

/// Times `make up` on a state folder of its own, and takes it down again.
pub(super) fn run(peer: f64, rounds: usize) -> Result<Row, Box<dyn std::error::Error>> {
    let rounds = rounds.min(3);
    let mut times = Vec::new();
    for _ in 0..rounds {
        let state = TempDir::with_prefix_in("bootlace-bench-", "/var/tmp")?;
        let make = |target: &str| -> Result<(), Box<dyn std::error::Error>> {
            let output = outside::command("make")
                .arg(target)
                .env("BOOTLACE_STATE", state.path())
                .stdin(Stdio::null())
                .output()?;
            if output.status.success() {
                return Ok(());
            }
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(format!("make {target} failed: {said}").into())
        };
        let began = Instant::now();
        let up = make("up");
        times.push(began.elapsed().as_secs_f64());
        // First what is left over goes, whatever became of it.
        let down = make("down");
        up?;
        down?;
    }
    let what = "`make up` with a warm cache, the machine's boot included";
    let row = Row::new("cluster.make-up", what, "s", &times);
    let kubeadm = Peer::aside("kubeadm", KUBEADM, peer);
    Ok(row.beside(kubeadm).within(Bound::AtMost(16.0)))
}
