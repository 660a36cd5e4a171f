//! Why an object was not accepted, and whether another try can help.

use bootlace_engine::port::{ApiAnswer, HostError, HostResult};
use serde_json::Value;

/// Why an object was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Why, in the API's words where it has some.
    pub(super) problem: String,
    /// Whether another try can help.
    pub(super) hope: Hope,
    /// Whether the API answered at all.
    pub(super) is_answer: bool,
}

/// Whether another try can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hope {
    /// It cannot.
    None,
    /// It can if somebody else makes what is missing, which takes seconds at most.
    Soon,
    /// It can at any time.
    Any,
}

impl Refusal {
    /// Judges an answer that is no success.
    ///
    /// `is_expected` tells whether a namespace of that name is among our own objects.
    pub(super) fn of(answer: &ApiAnswer, is_expected: impl Fn(&str) -> bool) -> Self {
        Self {
            problem: words(answer),
            hope: hope(answer, is_expected),
            is_answer: true,
        }
    }

    /// Judges a failure below the API; what cannot be trusted stays an error.
    pub(super) fn below(error: HostError) -> HostResult<Self> {
        match error {
            HostError::Unreachable { .. } => Ok(Self {
                problem: error.to_string(),
                hope: Hope::Any,
                is_answer: false,
            }),
            other => Err(other),
        }
    }

    /// Says something in our own words about what the API offers.
    pub(super) fn own(problem: String, hope: Hope) -> Self {
        Self {
            problem,
            hope,
            is_answer: true,
        }
    }
}

fn hope(answer: &ApiAnswer, is_expected: impl Fn(&str) -> bool) -> Hope {
    let detail = |name| {
        answer
            .body
            .pointer(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let message = detail("/message");
    match answer.status {
        // The API calls it its own fault if a document does not have the shape of its kind.
        500 if message.starts_with("failed to create typed ") => Hope::None,
        408 | 409 | 429 | 500.. => Hope::Any,
        404 if detail("/details/kind") == "namespaces" => {
            let name = detail("/details/name");
            if is_expected(name) || is_made_by_the_api(name) {
                Hope::Any
            } else {
                Hope::Soon
            }
        }
        // Of a namespace that is being removed, and of one whose identity is still being made.
        403 if message.contains("being terminated")
            || message.contains("error looking up service account") =>
        {
            Hope::Any
        }
        // A kind that is not served yet, a role that the API makes at its start and has not made yet.
        403 | 404 => Hope::Soon,
        _ => Hope::None,
    }
}

/// Knows the namespaces that an API makes itself, shortly after its start.
fn is_made_by_the_api(namespace: &str) -> bool {
    matches!(
        namespace,
        "default" | "kube-system" | "kube-public" | "kube-node-lease"
    )
}

/// Returns what the API says about it.
fn words(answer: &ApiAnswer) -> String {
    let message = answer.body.get("message").and_then(Value::as_str);
    let text = message
        .or_else(|| answer.body.as_str())
        .unwrap_or_default()
        .trim();
    if text.is_empty() {
        return format!("the API answered {}", answer.status);
    }
    if message.is_some() {
        return text.to_owned();
    }
    let line = text.lines().next().unwrap_or_default();
    let line: String = line.chars().take(500).collect();
    format!("the API answered {}: {line}", answer.status)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(status: u16, body: Value) -> Refusal {
        Refusal::of(&ApiAnswer { status, body }, |name| name == "ours")
    }

    #[test]
    fn only_what_can_get_better_is_tried_again() {
        let missing =
            |name| json!({"message": "m", "details": {"kind": "namespaces", "name": name}});
        let says = |message: &str| json!({"message": message});
        let cases = [
            (400, json!(null), Hope::None),
            (401, json!(null), Hope::None),
            (405, json!(null), Hope::None),
            (415, json!(null), Hope::None),
            (422, says("spec.replicas: must not be negative"), Hope::None),
            (403, says("user may not"), Hope::Soon),
            (403, says("namespace x is being terminated"), Hope::Any),
            (403, says("error looking up service account a/b"), Hope::Any),
            (404, json!("404 page not found"), Hope::Soon),
            (404, missing("theirs"), Hope::Soon),
            (404, missing("ours"), Hope::Any),
            (404, missing("kube-system"), Hope::Any),
            (409, json!(null), Hope::Any),
            (429, json!(null), Hope::Any),
            (500, json!(null), Hope::Any),
            (500, says("failed to create typed patch object"), Hope::None),
            (503, json!(null), Hope::Any),
        ];
        for (status, body, expected) in cases {
            assert_eq!(
                judged(status, body.clone()).hope,
                expected,
                "{status} {body}"
            );
        }
    }

    #[test]
    fn the_words_of_the_api_are_kept() {
        let says = json!({"kind": "Status", "message": "a\nb"});
        assert_eq!(judged(422, says).problem, "a\nb");
        let page = json!("404 page not found\n");
        assert_eq!(
            judged(404, page).problem,
            "the API answered 404: 404 page not found"
        );
        assert_eq!(judged(500, json!({})).problem, "the API answered 500");
    }

    #[test]
    fn a_server_that_cannot_be_trusted_is_no_refusal() {
        let (server, reason) = (String::from("s"), String::from("r"));
        let silent = HostError::Unreachable {
            server: server.clone(),
            reason: reason.clone(),
        };
        assert_eq!(Refusal::below(silent).unwrap().hope, Hope::Any);
        Refusal::below(HostError::Untrusted { server, reason }).unwrap_err();
    }
}
