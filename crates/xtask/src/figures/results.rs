//! What `bench/results.json` says, and how its numbers are shown.

use serde::Deserialize;

/// All figures.
#[derive(Debug, Deserialize)]
pub(super) struct Results {
    pub(super) commit: String,
    pub(super) dirty: bool,
    pub(super) date: String,
    pub(super) kernel: String,
    pub(super) cores: usize,
    rows: Vec<Row>,
    #[serde(default)]
    failed: Vec<Failed>,
}

/// A benchmark that gave no figures.
#[derive(Debug, Deserialize)]
struct Failed {
    benchmark: String,
    why: String,
}

/// One figure.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    id: String,
    pub(super) what: String,
    pub(super) value: f64,
    pub(super) unit: String,
    pub(super) rounds: usize,
    pub(super) bound: Option<Bound>,
    pub(super) peers: Vec<Peer>,
    #[serde(default)]
    pub(super) note: String,
}

/// The same figure of another program.
#[derive(Debug, Deserialize)]
pub(super) struct Peer {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) value: Option<f64>,
    pub(super) ratio: Option<f64>,
    pub(super) bound: Option<Bound>,
    pub(super) goal: Option<Bound>,
    pub(super) missing: Option<String>,
}

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Missing {
    /// The run could not measure it, for this reason; the page says so.
    NotMeasured(String),
    /// No run ever measures it: the mark is wrong.
    Unknown(String),
}

/// What a figure or a ratio may be.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    /// Tells whether a value keeps it.
    pub(super) fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }

    /// Returns the bound with a unit.
    pub(super) fn shown(self, unit: &str) -> String {
        match self {
            Self::AtMost(most) => format!("≤ {}", shown(most, unit)),
            Self::AtLeast(least) => format!("≥ {}", shown(least, unit)),
        }
    }
}

impl Results {
    /// Finds a row.
    pub(super) fn row(&self, id: &str) -> Result<&Row, Missing> {
        if let Some(row) = self.rows.iter().find(|row| row.id == id) {
            return Ok(row);
        }
        let benchmark = id.split('.').next().unwrap_or_default();
        let mut failed = self.failed.iter();
        match failed.find(|failed| failed.benchmark == benchmark) {
            Some(Failed { why, .. }) => Err(Missing::NotMeasured(why.clone())),
            None => Err(Missing::Unknown(format!(
                "{id} is not in bench/results.json"
            ))),
        }
    }

    /// Finds a peer of a row.
    pub(super) fn peer(&self, id: &str, peer: &str) -> Result<(&Row, &Peer), Missing> {
        let row = self.row(id)?;
        let found = row.peers.iter().find(|one| one.id == peer);
        let unknown = || Missing::Unknown(format!("{id} has no peer {peer}"));
        let found = found.ok_or_else(unknown)?;
        Ok((row, found))
    }
}

/// Shows a number with its unit, as precisely as it is worth.
pub(super) fn shown(value: f64, unit: &str) -> String {
    let decimals = match (unit, value) {
        ("×", _) => 2,
        ("/s", _) => 0,
        (_, value) if value < 20.0 => 1,
        ("s", value) if value < 100.0 => 1,
        _ => 0,
    };
    let number = with_commas(&format!("{value:.decimals$}"));
    match unit {
        // The row says what is counted in a second.
        "/s" => number,
        "×" => format!("{number}×"),
        unit => format!("{number} {unit}"),
    }
}

/// Separates thousands.
fn with_commas(number: &str) -> String {
    let (whole, rest) = number
        .find('.')
        .map_or((number, ""), |at| number.split_at(at));
    let mut text = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_precisely_as_they_are_worth() {
        for (value, unit, text) in [
            (3.414, "s", "3.4 s"),
            (22.36, "s", "22.4 s"),
            (1234.4, "ms", "1,234 ms"),
            (11.94, "ms", "11.9 ms"),
            (52.9, "MiB", "53 MiB"),
            (2_822.6, "/s", "2,823"),
            (1_000_000.0, "/s", "1,000,000"),
            (0.634, "×", "0.63×"),
        ] {
            assert_eq!(shown(value, unit), text);
        }
    }
}
