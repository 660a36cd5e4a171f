//! A table of figures in Markdown.

use super::results::{Missing, Peer, Results, Row, shown};

/// Writes a table of rows, and below it how they were measured and which were not.
pub(super) fn markdown(ids: &[&str], results: &Results) -> Result<String, Missing> {
    let (mut rows, mut missing) = (vec![], vec![]);
    for id in ids {
        match results.row(id) {
            Ok(row) => rows.push(row),
            Err(Missing::NotMeasured(why)) => {
                missing.push(format!("{id} was not measured: {why}."));
            }
            Err(unknown) => return Err(unknown),
        }
    }
    let mut text = if rows.is_empty() {
        String::new()
    } else {
        table(&rows)
    };
    for remark in remarks(&rows).into_iter().chain(missing) {
        text.extend(["\n", &remark, "\n"]);
    }
    text.extend(["\n", &stamp(&rows, results), "\n"]);
    Ok(text)
}

fn table(rows: &[&Row]) -> String {
    let columns = columns(rows);
    let mut header = vec![String::new(), "bootlace".into()];
    for peer in &columns {
        header.extend([peer.name.clone(), "ratio".into()]);
    }
    header.push("bound".into());
    let has_goals = has_goals(rows);
    if has_goals {
        header.push("goal".into());
    }
    let rule = vec!["---".to_owned(); header.len()];
    let mut text = line(&header) + &line(&rule);
    for row in rows {
        let mut cells = cells(row, &columns);
        if has_goals {
            cells.push(goals(row));
        }
        text += &line(&cells);
    }
    text
}

fn has_goals(rows: &[&Row]) -> bool {
    let mut peers = rows.iter().flat_map(|row| &row.peers);
    peers.any(|peer| peer.goal.is_some())
}

/// Lists the goals of a row, and which of them are missed.
fn goals(row: &Row) -> String {
    let goals = row.peers.iter().filter_map(|peer| {
        let (goal, ratio) = (peer.goal?, peer.ratio?);
        let missed = if goal.holds(ratio) { "" } else { " (missed)" };
        Some(goal.shown("×") + missed)
    });
    goals.collect::<Vec<String>>().join(", ")
}

fn line(cells: &[String]) -> String {
    let cell = |cell: &String| match cell.as_str() {
        "" => " |".to_owned(),
        cell => format!(" {cell} |"),
    };
    let cells: String = cells.iter().map(cell).collect();
    format!("|{cells}\n")
}

/// Lists the peers that have a figure, in the order in which rows name them.
fn columns<'r>(rows: &[&'r Row]) -> Vec<&'r Peer> {
    let mut columns: Vec<&Peer> = vec![];
    for peer in rows.iter().flat_map(|row| &row.peers) {
        if peer.value.is_some() && columns.iter().all(|known| known.id != peer.id) {
            columns.push(peer);
        }
    }
    columns
}

fn cells(row: &Row, columns: &[&Peer]) -> Vec<String> {
    let mut cells = vec![row.what.clone(), shown(row.value, &row.unit)];
    for column in columns {
        let peer = row.peers.iter().find(|peer| peer.id == column.id);
        let value = peer.and_then(|peer| peer.value);
        let ratio = peer.and_then(|peer| peer.ratio);
        cells.push(value.map_or_else(String::new, |value| shown(value, &row.unit)));
        cells.push(ratio.map_or_else(String::new, |ratio| shown(ratio, "×")));
    }
    let own = row.bound.map(|bound| bound.shown(&row.unit));
    let of_peers = row.peers.iter().filter(|peer| peer.ratio.is_some());
    let of_peers = of_peers.filter_map(|peer| Some(peer.bound?.shown("×")));
    let bounds: Vec<String> = own.into_iter().chain(of_peers).collect();
    cells.push(bounds.join(", "));
    cells
}

/// Says what was not measured, and what a row means.
fn remarks(rows: &[&Row]) -> Vec<String> {
    let mut remarks: Vec<String> = vec![];
    for (at, row) in rows.iter().enumerate() {
        let is_said = |earlier: &&Row| earlier.note == row.note;
        if row.note.is_empty() || rows[..at].iter().any(is_said) {
            continue;
        }
        let alike = rows.iter().filter(|other| other.note == row.note);
        let names: Vec<String> = alike.map(|row| format!("*{}*", row.what)).collect();
        remarks.push(format!("{}: {}", names.join(" and "), row.note));
    }
    for peer in rows.iter().flat_map(|row| &row.peers) {
        let Some(why) = &peer.missing else { continue };
        let remark = format!("{} was not measured: {why}.", peer.name);
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    remarks
}

/// Says where and when it was measured.
fn stamp(rows: &[&Row], results: &Results) -> String {
    let most = rows.iter().map(|row| row.rounds).max().unwrap_or(0);
    let least = rows.iter().map(|row| row.rounds).min().unwrap_or(0);
    let medians = match (least, most) {
        (0 | 1, 0 | 1) => "Measured once".to_owned(),
        (least, most) if least == most => format!("Medians of {most}"),
        (least, most) => format!("Medians of {least} to {most}"),
    };
    let Results {
        commit,
        dirty,
        date,
        kernel,
        cores,
        ..
    } = results;
    let commit = commit.get(..10).unwrap_or(commit);
    let changed = if *dirty {
        " with uncommitted changes"
    } else {
        ""
    };
    let day = date.split('T').next().unwrap_or(date);
    format!(
        "{medians}, on {cores} cores with Linux {kernel}, commit `{commit}`{changed}, {day}. A ratio is \
         bootlace's figure divided by the peer's, the median over neighbouring runs."
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::results;
    use super::*;

    #[test]
    fn a_table_shows_figures_peers_bounds_and_where_they_come_from() {
        let results = results();
        assert_eq!(
            markdown(&["a.goal"], &results).unwrap().lines().nth(2),
            Some("| it aims | 1.0 s | 2.0 s | 0.50× | | ≤ 0.40× (missed) |")
        );
        assert_eq!(
            markdown(&["a.time", "c.x", "a.rate"], &results).unwrap(),
            "\
| | bootlace | peer | ratio | bound |
| --- | --- | --- | --- | --- |
| it takes | 3.4 s | 5.5 s | 0.62× | ≤ 0.70× |
| answers a second | 2,823 | | | ≥ 2,000 |

*it takes*: Asked often.

other was not measured: no such kernel.

c.x was not measured: there is no nginx.

Medians of 1 to 10, on 2 cores with Linux 6.18.1, commit `0123456789`, 2026-01-02. A ratio is \
bootlace's figure divided by the peer's, the median over neighbouring runs.
"
        );
    }
}
