//! When a download that failed is tried again.

use std::time::Duration;

/// The wait after the first failure; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Returns how long to wait before the next try; none if there is no time left for one.
///
/// `failed` counts the tries so far. The wait lies between the half and the whole of what is due, so
/// that many machines that failed together do not come back together. `asked` is what the server
/// asked for, which is never shortened: then it is better to give up at once.
pub(crate) fn wait(
    failed: u32,
    random: u64,
    asked: Option<Duration>,
    left: Duration,
) -> Option<Duration> {
    let due = 2_u32
        .checked_pow(failed.saturating_sub(1))
        .map_or(LONGEST_WAIT, |times| FIRST_WAIT.saturating_mul(times))
        .min(LONGEST_WAIT);
    let half = due / 2;
    let spread = u64::try_from(half.as_millis()).unwrap_or_default() + 1;
    let jittered = half + Duration::from_millis(random % spread);
    let wait = asked.map_or(jittered, |asked| asked.max(jittered));
    (wait < left).then_some(wait)
}

/// Reads the header `Retry-After`: seconds, or a date.
pub(crate) fn asked(header: &str, now: jiff::Timestamp) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(header).ok()?.timestamp();
    // A date that has passed means now.
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLENTY: Duration = Duration::from_hours(1);

    #[test]
    fn waits_double_up_to_a_limit_and_are_spread() {
        let range = |failed| {
            let shortest = wait(failed, 0, None, PLENTY).unwrap();
            let longest = (0..200)
                .filter_map(|n| wait(failed, n * 37, None, PLENTY))
                .max();
            (shortest.as_millis(), longest.unwrap().as_millis())
        };
        assert_eq!(range(1).0, 100);
        assert!((150..=200).contains(&range(1).1));
        assert_eq!(range(2).0, 200);
        assert_eq!(range(4).0, 800);
        for many in [7, 20, 31, 32, u32::MAX] {
            let (shortest, longest) = range(many);
            assert_eq!(shortest, 5_000, "{many}");
            assert!((5_000..=10_000).contains(&longest), "{many}");
        }
    }

    #[test]
    fn no_try_is_begun_for_which_there_is_no_time() {
        assert_eq!(wait(1, 0, None, Duration::from_millis(100)), None);
        assert!(wait(1, 0, None, Duration::from_millis(101)).is_some());
    }

    #[test]
    fn what_the_server_asks_for_is_never_shortened() {
        let asked = Duration::from_secs(7);
        assert_eq!(wait(1, 3, Some(asked), PLENTY), Some(asked));
        assert_eq!(wait(1, 3, Some(asked), asked), None);
        let nothing = wait(1, 0, Some(Duration::ZERO), PLENTY).unwrap();
        assert_eq!(nothing.as_millis(), 100);
    }

    #[test]
    fn the_header_is_seconds_or_a_date() {
        let now: jiff::Timestamp = "2026-10-21T07:28:00Z".parse().unwrap();
        for (header, expected) in [
            ("3", Some(3)),
            (" 120 ", Some(120)),
            ("Wed, 21 Oct 2026 07:28:09 GMT", Some(9)),
            ("Wed, 21 Oct 2026 07:27:00 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
            ("", None),
        ] {
            let seconds = asked(header, now).map(|asked| asked.as_secs());
            assert_eq!(seconds, expected, "{header:?}");
        }
    }
}
