//! What a command showed, beside what a page says that it shows.

use std::fmt;

use super::page::Sample;
use crate::normal;

/// Stands for anything.
const ANYTHING: &str = "…";

/// What a command showed.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) succeeded: bool,
    lines: Vec<String>,
}

impl Shown {
    /// Takes the output as a terminal would have shown it.
    pub(crate) fn new(succeeded: bool, output: &str) -> Self {
        let lines = output.lines().filter_map(on_a_terminal);
        let lines = lines.map(|line| line.trim_end().to_owned()).collect();
        Self { succeeded, lines }
    }

    /// Tells whether it is what the page shows.
    pub(crate) fn fits(&self, sample: &Sample) -> bool {
        match &sample.output {
            None => self.succeeded,
            Some(expected) => fit(&comparable(expected), &comparable(&self.lines)),
        }
    }

    /// Returns what the page should show: as much of it as before, with `…` in the same places. Lines
    /// that still fit stay as they are.
    pub(crate) fn like(&self, old: &[String]) -> Vec<String> {
        let is_gap = |line: &String| line == ANYTHING;
        let gap = old
            .iter()
            .position(is_gap)
            .zip(old.iter().rposition(is_gap));
        let (head, middle, tail) = match gap {
            Some((first, last)) => (&old[..first], &old[first..=last], &old[last + 1..]),
            None => (old, &old[..0], &old[..0]),
        };
        let shown_head = match gap {
            Some(_) => &self.lines[..head.len().min(self.lines.len())],
            None => &self.lines,
        };
        let shown_tail = &self.lines[self.lines.len().saturating_sub(tail.len())..];
        let mut like = kept(head, shown_head);
        like.extend_from_slice(middle);
        like.extend(kept(tail, shown_tail));
        like
    }
}

/// Keeps old lines where they fit.
fn kept(old: &[String], shown: &[String]) -> Vec<String> {
    let fits = |n: usize, line: &str| {
        let old = old.get(n)?;
        line_fits(&normal::text(old), &normal::text(line)).then(|| old.clone())
    };
    let lines = shown.iter().enumerate();
    lines
        .map(|(n, line)| fits(n, line).unwrap_or_else(|| line.clone()))
        .collect()
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.succeeded {
            writeln!(f, "(it failed)")?;
        }
        writeln!(f, "{}", self.lines.join("\n"))
    }
}

/// Turns a line of a log into the line that a terminal keeps; none if it is shown only in passing.
fn on_a_terminal(line: &str) -> Option<&str> {
    let Some((elapsed, rest)) = line.split_once("s] ").filter(|_| line.starts_with('[')) else {
        return Some(line);
    };
    let is_time = |c: char| c.is_ascii_digit() || ".mh".contains(c);
    if !elapsed[1..].trim_start().chars().all(is_time) {
        return Some(line);
    }
    let ends = rest.starts_with("Run ") && rest.contains(" after ");
    (!rest.starts_with('▸') && !ends).then_some(rest)
}

/// Blots out what differs from run to run, and sorts steps that ran side by side.
fn comparable(lines: &[String]) -> Vec<String> {
    let text = normal::text(&lines.join("\n"));
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    let is_step = |line: &String| line.starts_with(['✓', '↶']) && line.contains(" effect");
    lines
        .chunk_by_mut(|one, other| is_step(one) && is_step(other))
        .for_each(<[String]>::sort);
    lines
}

/// Compares lines; a line `…` is any number of them.
fn fit(expected: &[String], found: &[String]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((first, rest)) if first == ANYTHING => {
            (0..=found.len()).any(|skipped| fit(rest, &found[skipped..]))
        }
        Some((first, rest)) => found
            .split_first()
            .is_some_and(|(line, left)| line_fits(first, line) && fit(rest, left)),
    }
}

/// Compares a line; `…` in it is any text.
fn line_fits(expected: &str, found: &str) -> bool {
    let Some((head, rest)) = expected.split_once(ANYTHING) else {
        return expected == found;
    };
    let Some(found) = found.strip_prefix(head) else {
        return false;
    };
    let mut ends = found.char_indices().map(|(at, _)| at).chain([found.len()]);
    ends.any(|at| line_fits(rest, &found[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(expected: &str, output: &str) -> bool {
        let expected = expected.lines().map(ToOwned::to_owned).collect();
        let sample = Sample {
            line: 1,
            command: String::new(),
            output: Some(expected),
        };
        Shown::new(true, output).fits(&sample)
    }

    #[test]
    fn what_is_left_open_is_open_and_nothing_else() {
        assert!(fits("a\nb", "a\nb\n") && fits("", ""));
        assert!(!fits("a", "a\nb") && !fits("a\nb", "a") && !fits("a", "b"));
        assert!(fits("a\n…", "a") && fits("a\n…", "a\nb\nc") && fits("…\nc", "a\nb\nc"));
        assert!(!fits("a\n…\nd", "a\nb\nc"));
        assert!(fits("x … y", "x 17 y") && !fits("x … y", "x 17 z"));
    }

    #[test]
    fn progress_is_compared_as_a_terminal_keeps_it() {
        let log = "[   0.00s] ▸ one  begins\n[   0.10s] ✓ two   1 effect    0.10s\n\
                   [   0.20s] ✓ one  3 effects    0.15s\n[   0.20s] Run x succeeded after 0.20s\n";
        assert!(fits(
            "✓ one  3 effects    0.99s\n✓ two   1 effect    0.05s",
            log
        ));
        assert!(!fits(
            "✓ one  4 effects    0.99s\n✓ two   1 effect    0.05s",
            log
        ));
        assert!(fits("[1] 12 [s] x", "[1] 12 [s] x"));
    }

    #[test]
    fn an_update_keeps_what_was_left_out() {
        let shown = Shown::new(true, "1\n2\n3\n4\n5");
        let like = |old: &str| {
            let old: Vec<String> = old.lines().map(ToOwned::to_owned).collect();
            shown.like(&old).join(" ")
        };
        assert_eq!(like("a\nb"), "1 2 3 4 5");
        assert_eq!(like("a\n…"), "1 …");
        assert_eq!(like("a\n…\ny\nz"), "1 … 4 5");
    }
}
