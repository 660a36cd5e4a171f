//! The table of results, for people.

use crate::row::Row;

/// Draws the table.
pub(crate) fn text(rows: &[Row]) -> String {
    rows.iter().map(lines).collect()
}

fn lines(row: &Row) -> String {
    let mark = if row.holds { "ok  " } else { "MISS" };
    let (what, value, unit, rounds) = (&row.what, row.value, &row.unit, row.rounds);
    let bound = row.bound.map(|bound| format!(", {}", bound.words()));
    let bound = bound.unwrap_or_default();
    let mut text = format!("{mark} {what:<64} {value:>9.2} {unit} (n={rounds}{bound})\n");
    for peer in &row.peers {
        let line = match (peer.value, &peer.missing) {
            (Some(value), _) => format!("{value:.2} {unit}"),
            (None, why) => format!("not measured: {}", why.as_deref().unwrap_or("no reason")),
        };
        let ratio = peer.ratio.map(|ratio| format!(", ours {ratio:.2}×"));
        let bound = peer.bound.map(|bound| format!(", {}×", bound.words()));
        let (ratio, bound) = (ratio.unwrap_or_default(), bound.unwrap_or_default());
        let goal = peer.goal.map(|goal| format!(", goal {}×", goal.words()));
        let reached = match peer.has_reached() {
            Some(false) => " (missed)",
            Some(true) | None => "",
        };
        let goal = goal.unwrap_or_default();
        text.extend([
            "       ", &peer.name, ": ", &line, &ratio, &bound, &goal, reached, "\n",
        ]);
    }
    text
}
