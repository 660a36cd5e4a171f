//! Small pieces of text: counts, durations, times, lines that are safe to show.

use jiff::Timestamp;

/// Makes a text safe for a terminal: control characters are shown, not obeyed.
///
/// What programs print ends up in evidence and in errors; a hostile one could otherwise move the
/// cursor, change colours or reverse the direction of what a person reads. Line ends stay.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => cleaned.push('\n'),
            '\t' => cleaned.push_str("    "),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                cleaned.extend(c.escape_unicode());
            }
            c if c.is_control() => cleaned.extend(c.escape_unicode()),
            c => cleaned.push(c),
        }
    }
    cleaned
}

/// Makes a text safe and puts it on one line.
pub(crate) fn one_line(text: &str) -> String {
    let text = clean(text);
    if text.contains('\n') {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        text
    }
}

/// Cuts a text off at so many columns and shows that it did.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(2)).collect();
    format!("{}..", kept.trim_end())
}

/// Writes a number with its noun, `1 effect` or `47 effects`.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// Counts the items of something that has a length.
pub(crate) fn number_of<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

/// Writes a duration the way people read it: `0.31s`, `47.2s`, `3m 05s`, `2h 10m`.
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..10 => format!("{seconds}.{:02}s", millis % 1000 / 10),
        10..60 => format!("{seconds}.{}s", millis % 1000 / 100),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Returns the milliseconds from one moment to another, none if the clock went back.
pub(crate) fn millis_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_millisecond() - from.as_millisecond()).unwrap_or(0)
}

/// Writes a moment as day and time of day.
pub(crate) fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Writes a moment that stands as text in a view; what is no moment is shown as it is.
pub(crate) fn moment_text(text: &str) -> String {
    text.parse::<Timestamp>()
        .map_or_else(|_| clean(text), moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_get_coarser_as_they_grow() {
        let texts = [0, 9, 310, 9_999, 10_000, 59_999, 60_000, 185_000, 7_800_000].map(duration);
        let wanted = [
            "0.00s", "0.00s", "0.31s", "9.99s", "10.0s", "59.9s", "1m 00s", "3m 05s", "2h 10m",
        ];
        assert_eq!(texts, wanted);
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        let hostile = "a\x1b[2Jb\u{202e}c\td\r\n\u{9b}e";
        assert_eq!(
            clean(hostile),
            "a\\u{1b}[2Jb\\u{202e}c    d\\u{d}\n\\u{9b}e"
        );
        assert_eq!(one_line("a\n  b\n"), "a b");
    }

    #[test]
    fn long_lines_are_cut_where_it_shows() {
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("abcdefg", 6), "abcd..");
        assert_eq!(shorten("äöü äöü", 6), "äöü..");
    }

    #[test]
    fn one_is_singular() {
        let texts = [0, 1, 2].map(|n| count(n, "step"));
        assert_eq!(texts, ["0 steps", "1 step", "2 steps"]);
    }
}
