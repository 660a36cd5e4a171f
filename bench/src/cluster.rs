//! A whole cluster beside kubeadm's, on machines of the same kind, in turns.

pub(crate) mod inside;
mod journal;
mod machine;
mod make_up;

use bootlace_lab::Lab;
use bootlace_machines::Machines;
use tempfile::TempDir;

use self::inside::Seen;
use self::machine::Contestant;
use crate::Outcome;
use crate::table::{Bound, Row, middle};

/// How often each of the two is run, unless `BOOTLACE_BENCH_ROUNDS` says otherwise.
const ROUNDS: usize = 10;

/// What was seen of several runs of one contestant.
struct Runs(Vec<Seen>);

impl Runs {
    fn middle(&self, of: impl Fn(&Seen) -> f64) -> f64 {
        middle(self.0.iter().map(of).collect())
    }
}

/// Runs both in turns, then `make up`.
pub(crate) fn run() -> Outcome {
    let rounds = std::env::var("BOOTLACE_BENCH_ROUNDS");
    let rounds = rounds.map_or(Ok(ROUNDS), |text| text.parse())?;
    let lab = Lab::load()?;
    // Containers need a disk of their own, which a temporary filesystem is not.
    let folder = TempDir::with_prefix_in("bootlace-bench-", "/var/tmp")?;
    let machines = Machines::open(folder.path())?;
    let measured = measure(&lab, &machines, rounds);
    machines.clean()?;
    let (ours, peers, own) = measured?;
    let mut rows = rows(&ours, &peers, &own, rounds);
    rows.push(make_up::run(peers.middle(|seen| seen.answers), rounds)?);
    Ok(rows)
}

type Measured = (Runs, Runs, Vec<f64>);

fn measure(
    lab: &Lab,
    machines: &Machines,
    rounds: usize,
) -> Result<Measured, Box<dyn std::error::Error>> {
    let (mut ours, mut peers, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=rounds {
        // In turns: what disturbs the computer disturbs both.
        let (seen, journal) = machine::run(Contestant::Bootlace, lab, machines)?;
        own.push(journal::own_work(&journal)?);
        let (peer, _) = machine::run(Contestant::Kubeadm, lab, machines)?;
        eprintln!(
            "bench: cluster {round}/{rounds}: node Ready after {:.1} s (kubeadm {:.1} s), the app \
             answers after {:.1} s (kubeadm {:.1} s)",
            seen.ready, peer.ready, seen.answers, peer.answers
        );
        ours.push(seen);
        peers.push(peer);
    }
    Ok((Runs(ours), Runs(peers), own))
}

fn rows(ours: &Runs, peers: &Runs, own: &[f64], rounds: usize) -> Vec<Row> {
    let of = format!("medians of {rounds}");
    let beside = |what: &str, figure: f64| format!("kubeadm {what}: {figure:.2} s ({of})");
    let (ready, answers) = (
        peers.middle(|seen| seen.ready),
        peers.middle(|seen| seen.answers),
    );
    vec![
        Row {
            what: "start until the node is Ready".into(),
            value: ours.middle(|seen| seen.ready),
            bound: Bound::AtMost(0.7 * ready),
            unit: "s",
            peer: beside("init", ready),
        },
        Row {
            what: "start until an app answers by its name".into(),
            value: ours.middle(|seen| seen.answers),
            bound: Bound::AtMost(0.8 * answers),
            unit: "s",
            peer: beside("init, its add-ons and the same app", answers),
        },
        Row {
            what: "own work in all 23 steps".into(),
            value: middle(own.to_vec()),
            bound: Bound::AtMost(300.0),
            unit: "ms",
            peer: format!(
                "the whole run: {:.1} s, {:.0} ms of processor time ({of})",
                ours.middle(|seen| seen.ended),
                ours.middle(|seen| seen.processor)
            ),
        },
        Row {
            what: "peak memory of bootlace run".into(),
            value: ours.middle(|seen| seen.memory),
            bound: Bound::AtMost(60.0),
            unit: "MiB",
            peer: format!(
                "kubeadm init: {:.1} MiB ({of})",
                peers.middle(|seen| seen.memory)
            ),
        },
        Row {
            what: "longest silence of the API, node Ready to end".into(),
            value: ours.middle(|seen| seen.silence),
            bound: Bound::AtMost(500.0),
            unit: "ms",
            peer: format!(
                "kubeadm, which hands nothing over: {:.0} ms; asked every {} ms ({of})",
                peers.middle(|seen| seen.silence),
                inside::PAUSE.as_millis()
            ),
        },
    ]
}
