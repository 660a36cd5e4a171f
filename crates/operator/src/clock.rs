//! What time it is, and a name that nobody else has.

use jiff::Timestamp;

/// Returns the time.
#[expect(
    clippy::disallowed_methods,
    reason = "the operator runs in a container of its own, without the engine and its port"
)]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns the time as the API writes it, to the second.
pub(crate) fn now_text() -> String {
    now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns a name that tells operators of the same machine apart.
///
/// In host networks all of them have the machine's name, and in containers all have the number 1.
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel's own names for the machine and for nobody else"
)]
pub(crate) fn identity() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let host = read("/proc/sys/kernel/hostname");
    let unique = read("/proc/sys/kernel/random/uuid");
    let unique = match unique.trim() {
        "" => format!("{}-{}", std::process::id(), now().as_nanosecond()),
        unique => unique.to_owned(),
    };
    format!("{}_{unique}", host.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_api_writes_them() {
        let text = now_text();
        assert_eq!(text.len(), "2026-01-01T00:00:00Z".len(), "{text}");
        assert!(text.parse::<Timestamp>().is_ok(), "{text}");
    }

    #[test]
    fn no_two_have_the_same_name() {
        assert_ne!(identity(), identity());
    }
}
