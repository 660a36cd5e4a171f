//! The table of results, for people and for programs.

use std::time::Duration;

/// One measured figure with its bound and its peer.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: String,
    /// The figure.
    pub(crate) value: f64,
    /// The most that is allowed.
    pub(crate) bound: f64,
    /// The unit of both.
    pub(crate) unit: &'static str,
    /// The peer's figure from the same run, in words.
    pub(crate) peer: String,
}

impl Row {
    /// Tells whether the figure keeps its bound.
    pub(crate) fn holds(&self) -> bool {
        self.value <= self.bound
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
        let (value, bound, unit) = (row.value, row.bound, row.unit);
        let what = &row.what;
        lines.push(format!(
            "{mark} {what:<58} {value:>9.2} {unit:<4} bound {bound:.1} {unit}\n"
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
            serde_json::json!({
                "what": row.what, "value": row.value, "bound": row.bound, "unit": row.unit,
                "holds": row.holds(), "peer": row.peer,
            })
        })
        .collect();
    let machine = std::thread::available_parallelism().map_or(0, usize::from);
    let results = serde_json::json!({"cores": machine, "rows": rows});
    format!("{results:#}\n")
}
