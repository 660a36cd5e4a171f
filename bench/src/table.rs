//! The table of results, for people and for programs.

use std::time::Duration;

/// One measured figure with its bound and its peer.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: String,
    /// The figure.
    pub(crate) value: f64,
    /// What is allowed.
    pub(crate) bound: Bound,
    /// The unit of both.
    pub(crate) unit: &'static str,
    /// The peer's figure from the same run, in words.
    pub(crate) peer: String,
}

/// What a figure must not pass.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    /// Less is better.
    AtMost(f64),
    /// More is better.
    AtLeast(f64),
}

impl Bound {
    /// Returns which side is allowed, in words, and the number.
    pub(crate) fn words(self) -> (&'static str, f64) {
        match self {
            Self::AtMost(most) => ("at most", most),
            Self::AtLeast(least) => ("at least", least),
        }
    }
}

impl Row {
    /// Tells whether the figure keeps its bound.
    pub(crate) fn holds(&self) -> bool {
        match self.bound {
            Bound::AtMost(most) => self.value <= most,
            Bound::AtLeast(least) => self.value >= least,
        }
    }
}

/// Returns the middle of several times.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns the middle of several figures.
pub(crate) fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

/// Returns milliseconds.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Draws the table.
pub(crate) fn text(rows: &[Row]) -> String {
    let mut lines = Vec::new();
    for row in rows {
        let mark = if row.holds() { "ok  " } else { "MISS" };
        let (value, unit) = (row.value, row.unit);
        let (side, bound) = row.bound.words();
        let what = &row.what;
        lines.push(format!(
            "{mark} {what:<58} {value:>9.2} {unit:<4} {side} {bound:.1} {unit}\n"
        ));
        lines.push(format!("       beside: {}\n", row.peer));
    }
    lines.concat()
}

/// Writes the same as JSON.
pub(crate) fn json(rows: &[Row]) -> String {
    let rows: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| {
            let (side, bound) = row.bound.words();
            serde_json::json!({
                "what": row.what, "value": row.value, "bound": bound, "unit": row.unit,
                "side": side, "holds": row.holds(), "peer": row.peer,
            })
        })
        .collect();
    let machine = std::thread::available_parallelism().map_or(0, usize::from);
    let results = serde_json::json!({"cores": machine, "rows": rows});
    format!("{results:#}\n")
}
