//! What a refusal of the API means: whether and when it helps to ask again.

use std::time::Duration;

use kube::core::Status;

/// Whether it helps to ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// The API did not answer; nothing can be done until it does.
    Reach,
    /// The same request may be answered otherwise a little later.
    Again,
    /// The same request is refused for ever: something must change first.
    Change,
}

/// Why the API did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Whether it helps to ask again.
    pub(crate) remedy: Remedy,
    /// The HTTP status, if there was an answer.
    pub(crate) code: Option<u16>,
    /// What the API said, or what kept it from saying something.
    pub(crate) why: String,
}

impl Refusal {
    /// A request that was never sent, as it cannot succeed.
    pub(crate) fn unsendable(why: String) -> Self {
        Self {
            remedy: Remedy::Change,
            code: None,
            why,
        }
    }

    /// A request that was not answered in time.
    pub(crate) fn unanswered(within: Duration) -> Self {
        Self {
            remedy: Remedy::Reach,
            code: None,
            why: format!(
                "the API server did not answer within {} s",
                within.as_secs()
            ),
        }
    }

    /// A kind that the API does not serve, or not yet.
    pub(crate) fn unknown_kind(kind: &str, api_version: &str) -> Self {
        Self {
            remedy: Remedy::Again,
            code: Some(404),
            why: format!("the API serves no kind {kind} in {api_version}"),
        }
    }

    /// Tells whether the object is not there.
    pub(crate) fn is_absent(&self) -> bool {
        self.code == Some(404)
    }

    /// Tells whether somebody else was faster.
    pub(crate) fn is_conflict(&self) -> bool {
        self.code == Some(409)
    }
}

impl From<kube::Error> for Refusal {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self {
                remedy: remedy(status.code),
                code: Some(status.code),
                why: words(&status),
            },
            kube::Error::BuildRequest(error) => Self::unsendable(error.to_string()),
            kube::Error::Service(error) => Self {
                remedy: Remedy::Reach,
                code: None,
                why: chain(&*error),
            },
            other => Self {
                remedy: Remedy::Reach,
                code: None,
                why: chain(&other),
            },
        }
    }
}

/// Sorts answers by what can be done about them.
///
/// 404 is a namespace or a kind that comes later, 403 a permission that spreads, 401 a token that is
/// renewed, 409 a race. What the API calls wrong in itself stays wrong.
fn remedy(code: u16) -> Remedy {
    match code {
        400 | 405 | 406 | 413 | 415 | 422 => Remedy::Change,
        _ => Remedy::Again,
    }
}

fn words(status: &Status) -> String {
    let message = match status.message.trim() {
        "" => status.reason.trim(),
        message => message,
    };
    let message = message.replace(char::is_control, " ");
    format!("{} (HTTP {})", shortened(&message, 600), status.code)
}

/// Joins an error with its causes; each names only its own part.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let part = error.to_string();
        if !text.contains(&part) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&part);
        }
        next = error.source();
    }
    shortened(&text, 600)
}

/// Cuts a text that would fill a screen.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns how long to wait after the n-th failure in a row, from 0.
pub(crate) fn back_off(failures: u32, first: Duration, longest: Duration) -> Duration {
    let factor = 1_u32.checked_shl(failures.min(31)).unwrap_or(u32::MAX);
    first.saturating_mul(factor).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(code: u16, message: &str) -> Refusal {
        let status = Status::failure(message, "Reason").with_code(code);
        kube::Error::Api(status.boxed()).into()
    }

    #[test]
    fn only_what_may_be_answered_otherwise_is_asked_again() {
        for code in [401, 403, 404, 409, 429, 500, 503, 504] {
            assert_eq!(refusal(code, "x").remedy, Remedy::Again, "{code}");
        }
        for code in [400, 413, 415, 422] {
            assert_eq!(refusal(code, "x").remedy, Remedy::Change, "{code}");
        }
        let cut = kube::Error::ReadEvents(std::io::Error::other("cut"));
        assert_eq!(Refusal::from(cut).remedy, Remedy::Reach);
    }

    #[test]
    fn the_api_s_own_words_are_kept() {
        assert_eq!(
            refusal(422, "spec.x:\nInvalid").why,
            "spec.x: Invalid (HTTP 422)"
        );
        assert_eq!(refusal(500, "").why, "Reason (HTTP 500)");
        let long = refusal(422, &"x".repeat(5000)).why;
        assert!(long.len() < 700, "{}", long.len());
    }

    #[test]
    fn causes_are_named_once() {
        let inner = std::io::Error::other("connection refused");
        let error = kube::Error::Service(Box::new(inner));
        let why = Refusal::from(error).why;
        assert_eq!(why.matches("connection refused").count(), 1, "{why}");
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let wait = |n| back_off(n, Duration::from_millis(200), Duration::from_secs(5)).as_millis();
        assert_eq!(
            [wait(0), wait(1), wait(4), wait(5), wait(400)],
            [200, 400, 3200, 5000, 5000]
        );
    }
}
