//! Counters, as text that Prometheus reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::progress::Node;

/// How many phases are told apart.
const MOST_PHASES: usize = 200;

/// To what the size of an answer is rounded up.
const BLOCK: u64 = 64 << 10;

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    answers: Mutex<BTreeMap<(&'static str, u16), u64>>,
    refusals: Mutex<BTreeMap<&'static str, u64>>,
    bytes: AtomicU64,
    connections: AtomicI64,
    failed_handshakes: AtomicU64,
}

impl Metrics {
    /// Counts an answer.
    pub(crate) fn answered(&self, endpoint: &'static str, status: u16, bytes: u64) {
        add(&self.answers, (endpoint, status));
        // Anybody may read the sum, and the exact size of a config tells how long its secrets are.
        let bytes = bytes.next_multiple_of(BLOCK);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a token that was refused.
    pub(crate) fn refused(&self, reason: &'static str) {
        add(&self.refusals, reason);
    }

    /// Counts a connection, until what is returned is dropped.
    pub(crate) fn connected(self: &std::sync::Arc<Self>) -> Connected {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Connected(std::sync::Arc::clone(self))
    }

    /// Counts a connection that came to nothing.
    pub(crate) fn handshake_failed(&self) {
        self.failed_handshakes.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many connections there are.
    pub(crate) fn connections(&self) -> i64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Writes all counters, and further values that others keep.
    pub(crate) fn text(&self, further: &[(&str, &str, u64)]) -> String {
        let mut text = String::new();
        let answers = self.answers.lock();
        let answers = answers.unwrap_or_else(PoisonError::into_inner).clone();
        head(
            &mut text,
            "answers_total",
            "counter",
            "Answers by endpoint and status.",
        );
        for ((endpoint, status), count) in answers {
            let labels = format!("{{endpoint=\"{endpoint}\",status=\"{status}\"}}");
            line(&mut text, &format!("answers_total{labels}"), count);
        }
        let refusals = self.refusals.lock();
        let refusals = refusals.unwrap_or_else(PoisonError::into_inner).clone();
        head(
            &mut text,
            "refused_tokens_total",
            "counter",
            "Requests without a valid token.",
        );
        for (reason, count) in refusals {
            line(
                &mut text,
                &format!("refused_tokens_total{{reason=\"{reason}\"}}"),
                count,
            );
        }
        head(
            &mut text,
            "sent_bytes_total",
            "counter",
            "Bytes of answers, each rounded up to a multiple of 64 KiB.",
        );
        line(
            &mut text,
            "sent_bytes_total",
            self.bytes.load(Ordering::Relaxed),
        );
        head(&mut text, "connections", "gauge", "Open connections.");
        line(
            &mut text,
            "connections",
            u64::try_from(self.connections()).unwrap_or(0),
        );
        head(
            &mut text,
            "failed_handshakes_total",
            "counter",
            "Connections that came to nothing.",
        );
        let failed = self.failed_handshakes.load(Ordering::Relaxed);
        line(&mut text, "failed_handshakes_total", failed);
        for (name, help, value) in further {
            let kind = if name.ends_with("_total") {
                "counter"
            } else {
                "gauge"
            };
            head(&mut text, name, kind, help);
            line(&mut text, name, *value);
        }
        text
    }
}

/// Writes how many machines are where, and how many went silent.
pub(crate) fn nodes(text: &mut String, nodes: &[Node]) {
    let mut phases: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut stalled: BTreeMap<&str, u64> = BTreeMap::new();
    for node in nodes {
        // Phases are words of others, and each is a series for whoever collects them.
        let is_new = !phases.contains_key(&(&*node.pool, &*node.phase));
        let phase = match &*node.phase {
            _ if is_new && phases.len() >= MOST_PHASES => "other",
            phase => phase,
        };
        *phases.entry((&node.pool, phase)).or_default() += 1;
        *stalled.entry(&node.pool).or_default() += u64::from(node.stalled);
    }
    head(text, "nodes", "gauge", "Machines by pool and phase.");
    for ((pool, phase), count) in phases {
        let labels = format!("{{pool=\"{pool}\",phase=\"{phase}\"}}");
        line(text, &format!("nodes{labels}"), count);
    }
    let help = "Machines that stopped telling where they are.";
    head(text, "stalled_nodes", "gauge", help);
    for (pool, count) in stalled {
        line(text, &format!("stalled_nodes{{pool=\"{pool}\"}}"), count);
    }
}

/// A connection that is counted.
#[derive(Debug)]
pub(crate) struct Connected(std::sync::Arc<Metrics>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn add<K: Ord>(counts: &Mutex<BTreeMap<K, u64>>, key: K) {
    let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    *counts.entry(key).or_default() += 1;
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing into a text does not fail.
    let _ = writeln!(text, "# HELP bootlace_server_{name} {help}");
    let _ = writeln!(text, "# TYPE bootlace_server_{name} {kind}");
}

fn line(text: &mut String, name: &str, value: u64) {
    let _ = writeln!(text, "bootlace_server_{name} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_written_as_prometheus_reads_them() {
        let metrics = std::sync::Arc::new(Metrics::default());
        metrics.answered("config", 200, 5);
        metrics.answered("config", 200, BLOCK + 1);
        metrics.answered("config", 304, 0);
        metrics.refused("expired");
        let connected = metrics.connected();
        let text = metrics.text(&[("renders_total", "Renders.", 3)]);
        for expected in [
            "bootlace_server_answers_total{endpoint=\"config\",status=\"200\"} 2\n",
            "bootlace_server_refused_tokens_total{reason=\"expired\"} 1\n",
            "bootlace_server_sent_bytes_total 196608\n",
            "# TYPE bootlace_server_connections gauge\nbootlace_server_connections 1\n",
            "# TYPE bootlace_server_renders_total counter\nbootlace_server_renders_total 3\n",
        ] {
            assert!(text.contains(expected), "{text}");
        }
        drop(connected);
        assert_eq!(metrics.connections(), 0);
    }
}
