//! A whole cluster beside kubeadm's, on machines of the same kind, in turns.

pub(crate) mod inside;
mod journal;
mod kubeadm;
mod machine;

use bootlace_lab::Lab;
use bootlace_machines::Machines;
use tempfile::TempDir;

use self::inside::Seen;
use self::machine::Contestant;
use crate::row::{Bound, Peer, Row};
use crate::{Outcome, rounds};

/// How often each contestant is run.
const ROUNDS: usize = 10;

/// The names of the peers.
const KUBEADM: &str = "kubeadm as shipped";
const KUBEADM_TUNED: &str = "kubeadm with our settings";

/// What ours does more than its peers, as a part of the measured time.
const PROFILE: &str = "bootlace runs with its default profile `cis`: audit log, encrypted Secrets, \
                       admission limits. kubeadm runs without them; the rows about `cis` show their price.";

/// What was seen of several rounds: of each contestant, in the order of [`Contestant::ALL`].
#[derive(Default)]
struct Runs {
    seen: [Vec<Seen>; 4],
    /// The time in which our runs waited for nothing but themselves.
    own: Vec<f64>,
}

impl Runs {
    /// Returns a figure of every round of a contestant.
    fn of(&self, who: Contestant, figure: fn(&Seen) -> f64) -> Vec<f64> {
        self.seen[who as usize].iter().map(figure).collect()
    }

    /// Makes a row beside both forms of kubeadm.
    fn row(&self, id: &str, what: &str, unit: &str, figure: fn(&Seen) -> f64) -> Row {
        let ours = self.of(Contestant::Bootlace, figure);
        Row::new(id, what, unit, &ours)
    }

    fn peer(&self, who: Contestant, figure: fn(&Seen) -> f64) -> Peer {
        let (id, name) = match who {
            Contestant::KubeadmTuned => ("kubeadm-tuned", KUBEADM_TUNED),
            Contestant::Compatible => ("compatible", "profile `compatible`"),
            _ => ("kubeadm", KUBEADM),
        };
        let ours = self.of(Contestant::Bootlace, figure);
        Peer::new(id, name, &ours, &self.of(who, figure))
    }
}

/// Runs all contestants in turns.
pub(crate) fn run() -> Outcome {
    let rounds = rounds::count(ROUNDS)?;
    let lab = Lab::load()?;
    // Containers need a disk of their own, which a temporary filesystem is not.
    let folder = TempDir::with_prefix_in("bootlace-bench-", "/var/tmp")?;
    let machines = Machines::open(folder.path())?;
    let measured = measure(&lab, &machines, rounds);
    machines.clean()?;
    Ok(rows(&measured?))
}

fn measure(
    lab: &Lab,
    machines: &Machines,
    rounds: usize,
) -> Result<Runs, Box<dyn std::error::Error>> {
    let mut runs = Runs::default();
    for round in 0..rounds {
        // In turns and in changing order: what disturbs the computer disturbs all of them.
        for who in rounds::order(round, Contestant::ALL.len()) {
            let who = Contestant::ALL[who];
            let (seen, journal) = machine::run(who, lab, machines)?;
            eprintln!(
                "bench: cluster {}/{rounds}: {who:?}: node Ready after {:.1} s, the app answers after {:.1} s",
                round + 1,
                seen.ready,
                seen.answers
            );
            if who == Contestant::Bootlace {
                runs.own.push(journal::own_time(&journal)?);
            }
            runs.seen[who as usize].push(seen);
        }
    }
    Ok(runs)
}

fn rows(runs: &Runs) -> Vec<Row> {
    let peer = |who, figure, most| runs.peer(who, figure).within(Bound::AtMost(most));
    let beside = |row: Row, figure: fn(&Seen) -> f64, shipped: f64, tuned: f64| {
        row.beside(peer(Contestant::Kubeadm, figure, shipped))
            .beside(peer(Contestant::KubeadmTuned, figure, tuned))
    };
    let aims = |row: Row, figure: fn(&Seen) -> f64, [shipped, tuned]: [(f64, f64); 2]| {
        let peer = |who, (most, goal)| peer(who, figure, most).towards(Bound::AtMost(goal));
        row.beside(peer(Contestant::Kubeadm, shipped))
            .beside(peer(Contestant::KubeadmTuned, tuned))
            .note(PROFILE)
    };
    let ready = runs.row(
        "cluster.ready",
        "start until the node is Ready",
        "s",
        |seen| seen.ready,
    );
    let answers = runs.row(
        "cluster.answers",
        "start until an app answers by its name from another pod",
        "s",
        |seen| seen.answers,
    );
    let memory = runs.row("cluster.memory", "peak memory", "MiB", |seen| seen.memory);
    let silence = runs.row(
        "cluster.silence",
        "longest time without an answer of the API, from Ready to the end",
        "ms",
        |seen| seen.silence,
    );
    let pause = inside::PAUSE.as_millis();
    vec![
        aims(ready, |seen| seen.ready, [(0.9, 0.55), (0.97, 0.75)]),
        aims(answers, |seen| seen.answers, [(0.55, 0.45), (1.09, 0.7)]),
        beside(memory, |seen| seen.memory, 0.92, 1.0),
        beside(silence, |seen| seen.silence, 2.4, 2.3).note(format!(
            "Asked every {pause} ms. bootlace hands over in this time; kubeadm has nothing to hand over."
        )),
        hardened(
            runs,
            "cluster.hardened-ready",
            "start until the node is Ready, security profile `cis`",
            |seen| seen.ready,
        ),
        hardened(
            runs,
            "cluster.hardened-answers",
            "start until an app answers, security profile `cis`",
            |seen| seen.answers,
        ),
        processor(runs),
        Row::new(
            "cluster.own-time",
            "wall-clock time of all 23 steps in which nothing else was waited for",
            "ms",
            &runs.own,
        )
        .note("From the journal: deciding, writing and syncing. The rest is waiting for Kubernetes.")
        .within(Bound::AtMost(230.0)),
    ]
}

/// What the security profile costs, beside the same cluster without it.
fn hardened(runs: &Runs, id: &str, what: &str, figure: fn(&Seen) -> f64) -> Row {
    let peer = runs.peer(Contestant::Compatible, figure);
    runs.row(id, what, "s", figure)
        .beside(peer.within(Bound::AtMost(1.1)))
}

fn processor(runs: &Runs) -> Row {
    let figure: fn(&Seen) -> f64 = |seen| seen.processor;
    let what = "processor time of the program and of what it starts and waits for";
    let row = runs.row("cluster.processor", what, "ms", figure);
    let note = "User and system time of the whole run. Checks while it waits are included; \
                kubeadm's includes `kubectl apply` of the app.";
    row.note(note)
        .beside(
            runs.peer(Contestant::Kubeadm, figure)
                .within(Bound::AtMost(0.64)),
        )
        .beside(runs.peer(Contestant::KubeadmTuned, figure))
}
