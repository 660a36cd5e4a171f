//! One measured figure: its bound, and the peers that were measured in the same run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a figure must not pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bound {
    /// Less is better.
    AtMost(f64),
    /// More is better.
    AtLeast(f64),
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }

    /// Returns the bound in words.
    pub(crate) fn words(self) -> String {
        match self {
            Self::AtMost(most) => format!("at most {most}"),
            Self::AtLeast(least) => format!("at least {least}"),
        }
    }
}

/// The same figure of another program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Peer {
    /// Its name in this file; documents refer to it, so it stays.
    pub(crate) id: String,
    /// The program and how it was run.
    pub(crate) name: String,
    /// Its figure, in the row's unit; none if it could not be measured here.
    pub(crate) value: Option<f64>,
    /// Our figure divided by its figure: the median over neighbouring rounds.
    pub(crate) ratio: Option<f64>,
    /// What that ratio may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bound: Option<Bound>,
    /// What that ratio should become; missing it fails nothing, and is shown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) goal: Option<Bound>,
    /// Why it could not be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing: Option<String>,
}

impl Peer {
    /// Compares rounds of ours with the rounds of a peer that ran beside them.
    pub(crate) fn new(id: &str, name: &str, ours: &[f64], theirs: &[f64]) -> Self {
        let ratios = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs);
        Self {
            id: id.into(),
            name: name.into(),
            value: Some(median(theirs)),
            ratio: Some(median(&ratios.collect::<Vec<f64>>())),
            bound: None,
            goal: None,
            missing: None,
        }
    }

    /// A peer that cannot be measured on this machine.
    pub(crate) fn missing(id: &str, name: &str, why: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            value: None,
            ratio: None,
            bound: None,
            goal: None,
            missing: Some(why.into()),
        }
    }

    /// Sets what the ratio may be.
    pub(crate) fn within(self, bound: Bound) -> Self {
        Self {
            bound: Some(bound),
            ..self
        }
    }

    /// Sets what the ratio should become.
    pub(crate) fn towards(self, goal: Bound) -> Self {
        Self {
            goal: Some(goal),
            ..self
        }
    }

    /// Tells whether the goal is reached, if there is one.
    pub(crate) fn has_reached(&self) -> Option<bool> {
        Some(self.goal?.holds(self.ratio?))
    }
}

/// One measured figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Its name, `BENCHMARK.FIGURE`; documents refer to it, so it stays.
    pub(crate) id: String,
    /// What was measured.
    pub(crate) what: String,
    /// The figure: a median, if there were several rounds.
    pub(crate) value: f64,
    /// The unit.
    pub(crate) unit: String,
    /// The number of rounds.
    pub(crate) rounds: usize,
    /// What the figure itself may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bound: Option<Bound>,
    /// The peers of the same run.
    pub(crate) peers: Vec<Peer>,
    /// How it was measured, where that is not obvious.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub(crate) note: String,
    /// Whether all bounds are kept.
    pub(crate) holds: bool,
}

impl Row {
    /// Takes the median of several rounds.
    pub(crate) fn new(id: &str, what: impl Into<String>, unit: &str, rounds: &[f64]) -> Self {
        Self {
            id: id.into(),
            what: what.into(),
            value: median(rounds),
            unit: unit.into(),
            rounds: rounds.len(),
            bound: None,
            peers: Vec::new(),
            note: String::new(),
            holds: true,
        }
    }

    /// Sets what the figure may be.
    pub(crate) fn within(self, bound: Bound) -> Self {
        let row = Self {
            bound: Some(bound),
            ..self
        };
        row.judged()
    }

    /// Adds a peer.
    pub(crate) fn beside(mut self, peer: Peer) -> Self {
        self.peers.push(peer);
        self.judged()
    }

    /// Says how it was measured.
    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self {
            note: note.into(),
            ..self
        }
    }

    fn judged(self) -> Self {
        let holds = self.misses().is_empty();
        Self { holds, ..self }
    }

    /// Lists the bounds that the figure misses.
    pub(crate) fn misses(&self) -> Vec<String> {
        let (value, unit) = (self.value, &self.unit);
        let own = self.bound.filter(|bound| !bound.holds(value));
        let own = own.map(|bound| format!("{value:.2} {unit}, allowed {} {unit}", bound.words()));
        let beside = self.peers.iter().filter_map(|peer| {
            let (ratio, bound) = (peer.ratio?, peer.bound?);
            let missed = !bound.holds(ratio);
            let words = bound.words();
            missed.then(|| format!("{ratio:.2}× {}, allowed {words}×", peer.name))
        });
        own.into_iter().chain(beside).collect()
    }
}

/// Returns the middle of several figures; zero of none.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |place: usize| sorted.get(place).copied().unwrap_or_default();
    let half = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) && half > 0 {
        f64::midpoint(at(half - 1), at(half))
    } else {
        at(half)
    }
}

/// Returns milliseconds.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two_in_the_middle() {
        for (figures, middle) in [
            (vec![], 0.0),
            (vec![3.0], 3.0),
            (vec![3.0, 1.0], 2.0),
            (vec![9.0, 1.0, 2.0], 2.0),
            (vec![9.0, 1.0, 2.0, 4.0], 3.0),
        ] {
            assert!((median(&figures) - middle).abs() < 1e-9, "{figures:?}");
        }
    }

    #[test]
    fn a_row_keeps_its_own_bound_and_that_of_every_peer() {
        let row = || Row::new("a.b", "it", "s", &[2.0, 4.0]);
        let peer = |most| Peer::new("p", "peer", &[2.0, 4.0], &[4.0, 4.0]).within(most);
        assert!(row().within(Bound::AtMost(3.0)).holds);
        assert!(!row().within(Bound::AtLeast(3.1)).holds);
        assert!(row().beside(peer(Bound::AtMost(0.75))).holds);
        let missed = row().beside(peer(Bound::AtMost(0.7)));
        assert_eq!(missed.misses(), ["0.75× peer, allowed at most 0.7×"]);
        let aims = peer(Bound::AtMost(0.8)).towards(Bound::AtMost(0.7));
        assert_eq!(aims.has_reached(), Some(false));
        assert!(
            row().beside(aims).holds,
            "a goal that is missed fails nothing"
        );
        assert!(row().beside(Peer::missing("p", "peer", "no kTLS")).holds);
    }
}
