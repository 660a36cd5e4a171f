//! How long a run waited for nothing but itself, read from its journal.

use std::collections::HashMap;

use serde_json::Value;

/// Effects that other programs perform.
const OF_OTHERS: [&str; 4] = ["start-unit", "import-images", "apply-objects", "await"];

/// Returns the milliseconds of wall-clock time of a run in which it waited for no other program.
///
/// It waits while an effect is under way that another program performs, from the intent until the
/// effect is done, and while a step of a running machine is verified, from its last effect on. What
/// remains is time in which bootlace alone decided, wrote or synced. Processor time is another
/// figure: it also counts the looks while it waits, and does not count the disk.
pub(super) fn own_time(journal: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let (mut first, mut last) = (f64::MAX, 0.0_f64);
    let mut acts: HashMap<u64, f64> = HashMap::new();
    let mut steps: HashMap<u64, String> = HashMap::new();
    let mut touched: HashMap<String, f64> = HashMap::new();
    let mut live = false;
    let mut waits = Vec::new();
    for text in journal.lines() {
        let entry: Value = serde_json::from_str(text)?;
        let (at, record) = (seconds(&entry["at"])?, &entry["rec"]);
        (first, last) = (first.min(at), last.max(at));
        let number = record["n"].as_u64().unwrap_or_default();
        let step = || record["step"].as_str().unwrap_or_default().to_owned();
        match record["kind"].as_str().unwrap_or_default() {
            "intent" => {
                steps.insert(number, step());
                let kind = record["effect"]["kind"].as_str().unwrap_or_default();
                if OF_OTHERS.contains(&kind) {
                    live = true;
                    acts.insert(number, at);
                }
            }
            "done" => {
                waits.extend(acts.remove(&number).map(|begin| (begin, at)));
                if let Some(step) = steps.remove(&number) {
                    touched.insert(step, at);
                }
            }
            "step-planned" => {
                touched.insert(step(), at);
            }
            "verified" if live => waits.extend(touched.get(&step()).map(|begin| (*begin, at))),
            _ => {}
        }
    }
    if first > last {
        return Err("the journal is empty".into());
    }
    Ok((last - first - covered(waits)) * 1000.0)
}

/// Returns how long at least one of several intervals lasts.
fn covered(mut intervals: Vec<(f64, f64)>) -> f64 {
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut total, mut until) = (0.0, f64::MIN);
    for (begin, end) in intervals {
        total += (end - begin.max(until)).max(0.0);
        until = until.max(end);
    }
    total
}

/// Reads the time of day of a record; no run of a benchmark lasts over midnight twice.
fn seconds(at: &Value) -> Result<f64, Box<dyn std::error::Error>> {
    let text = at.as_str().ok_or("a record has no time")?;
    let (day, time) = text.split_once('T').ok_or("a record has no time of day")?;
    let day: f64 = day.rsplit('-').next().unwrap_or_default().parse()?;
    let time = time.trim_end_matches('Z').split(':');
    let parts: Result<Vec<f64>, _> = time.map(str::parse).collect();
    let seconds = parts?.into_iter().fold(0.0, |sum, part| sum * 60.0 + part);
    Ok(day * 86_400.0 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_counts_once() {
        let covered = covered(vec![(5.0, 6.0), (1.0, 3.0), (2.0, 4.0), (2.0, 2.5)]);
        assert!((covered - 4.0).abs() < 1e-9, "{covered}");
    }

    #[test]
    fn waiting_for_others_is_not_our_own_time() {
        let line = |second: f64, record: &str| {
            format!(r#"{{"at":"2026-01-31T23:59:{second:06.3}Z","rec":{record}}}"#)
        };
        let journal = [
            line(10.0, r#"{"kind":"run-opened"}"#),
            line(10.1, r#"{"kind":"step-planned","step":"a"}"#),
            line(
                10.2,
                r#"{"kind":"intent","n":0,"step":"a","effect":{"kind":"put-file"}}"#,
            ),
            line(10.3, r#"{"kind":"done","n":0}"#),
            line(10.4, r#"{"kind":"verified","step":"a"}"#),
            line(
                10.5,
                r#"{"kind":"intent","n":1,"step":"b","effect":{"kind":"await"}}"#,
            ),
            line(20.5, r#"{"kind":"done","n":1}"#),
            line(30.5, r#"{"kind":"verified","step":"b"}"#),
            line(30.6, r#"{"kind":"run-closed"}"#),
        ];
        let own = own_time(&journal.join("\n")).unwrap();
        assert!((own - 600.0).abs() < 0.01, "{own}");
    }
}
