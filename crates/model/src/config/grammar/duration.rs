//! Durations as people write them: `10y`, `365d`, `36h`, `90m`, `30s`.

use std::time::Duration;

use super::Problem;

const WHY: &str = "it decides when certificates begin and end";

/// Units, longest first, in seconds. A year is 365 days: certificates do not follow calendars.
const UNITS: [(char, u64); 5] = [
    ('y', 365 * 86400),
    ('d', 86400),
    ('h', 3600),
    ('m', 60),
    ('s', 1),
];

/// Reads a whole number and a unit.
pub(in crate::config) fn duration(text: &str) -> Result<Duration, Problem> {
    let bad = |reason: &str| {
        let hint = "write a whole number and y, d, h, m (minutes) or s, such as 10y, 365d or 36h";
        Problem::new(format!("is not a duration: {reason}"), WHY, hint)
    };
    let unit = text.chars().last().ok_or_else(|| bad("it is empty"))?;
    if unit.is_ascii_digit() {
        return Err(bad("it has no unit"));
    }
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, seconds) = known.ok_or_else(|| bad(&format!("there is no unit {unit:?}")))?;
    let number = &text[..text.len() - unit.len_utf8()];
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(bad(&format!("{number:?} is not a whole number")));
    }
    let number: Option<u64> = number.parse().ok();
    let seconds = number.and_then(|number| number.checked_mul(*seconds));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| bad("it is too long"))
}

/// Writes a duration with the longest unit that is exact; parts of a second are dropped.
pub(in crate::config) fn text(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let exact = UNITS
        .iter()
        .find(|(_, unit)| seconds > 0 && seconds.is_multiple_of(*unit));
    match exact {
        Some((name, unit)) => format!("{}{name}", seconds / unit),
        None => format!("{seconds}s"),
    }
}

/// Serializes a duration as [`text`].
pub(in crate::config) fn serialize<S: serde::Serializer>(
    duration: &Duration,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(*duration))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_printed_as_they_are_read() {
        for good in ["10y", "364d", "36h", "90m", "1s", "0s"] {
            assert_eq!(duration(good).map(text).as_deref(), Ok(good));
        }
        assert_eq!(duration("365d").map(text).as_deref(), Ok("1y"));
        for bad in [
            "",
            "10",
            "y",
            "1.5h",
            "-1h",
            "+1h",
            "1h30m",
            "1ms",
            "1w",
            "99999999999999999999y",
            "9999999999999999y",
            "1ä",
        ] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
