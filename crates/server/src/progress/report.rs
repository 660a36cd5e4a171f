//! What a machine tells about itself.

use serde::Deserialize;

use crate::page::secrets::redacted;

/// The longest name, phase or step.
const LONGEST_WORD: usize = 253;
/// The longest cause, in characters; what is longer is cut.
const LONGEST_CAUSE: usize = 500;

/// What a machine told, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    /// The name of the machine.
    pub(crate) node: String,
    /// The phase.
    pub(crate) phase: String,
    /// The step of the phase.
    pub(crate) step: Option<String>,
    /// The how many-th time it tries.
    pub(crate) attempt: Option<u32>,
    /// Why it is not further.
    pub(crate) cause: Option<String>,
}

/// What is sent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    node: Option<String>,
    pool: Option<String>,
    phase: String,
    step: Option<String>,
    attempt: Option<u32>,
    cause: Option<String>,
}

impl Report {
    /// Reads what was sent by a machine whose name may be known from its token; returns the pool
    /// besides, if it names one.
    pub(crate) fn parse(
        text: &[u8],
        bound: Option<&str>,
    ) -> Result<(Self, Option<String>), String> {
        let sent: Sent = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let node = sent.node.as_deref().or(bound);
        let node = node.ok_or("node is missing, and the token is not bound to one")?;
        word("node", node)?;
        word("phase", &sent.phase)?;
        if let Some(step) = &sent.step {
            word("step", step)?;
        }
        let report = Self {
            node: node.to_owned(),
            phase: sent.phase,
            step: sent.step,
            attempt: sent.attempt,
            cause: sent
                .cause
                .as_deref()
                .map(plain)
                .filter(|text| !text.is_empty()),
        };
        Ok((report, sent.pool))
    }
}

/// Takes a short text without spaces, which can be a label and a line of a table.
fn word(field: &str, text: &str) -> Result<(), String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@".contains(&byte);
    if text.is_empty() || text.len() > LONGEST_WORD || !text.bytes().all(is_plain) {
        return Err(format!(
            "{field} is not a word of at most {LONGEST_WORD} letters, digits and -_./:@"
        ));
    }
    Ok(())
}

/// What hides behind these words in a cause is a secret, whatever it is called.
const BEFORE_SECRETS: [&str; 2] = ["bearer", "basic"];

/// Makes a text harmless: one line, not too long, and without what looks like a secret.
fn plain(text: &str) -> String {
    let mut text: String = text.chars().take(LONGEST_CAUSE).collect();
    text = text.replace(|c: char| c.is_control() || turns_text_around(c), " ");
    if let Some(at) = text.find("PRIVATE KEY-----") {
        text.truncate(at);
        text.push_str("(hidden)");
    }
    for word in BEFORE_SECRETS {
        text = without_secret(&text, word);
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    redacted(&text).0
}

/// Tells whether a character makes what follows look like something else.
fn turns_text_around(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Hides what follows a word, up to the next space.
fn without_secret(text: &str, word: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut hidden = String::new();
    let mut rest = 0;
    while let Some(at) = lower[rest..].find(word) {
        let after = rest + at + word.len();
        let between = |c: char| c.is_whitespace() || "\"':=".contains(c);
        let secret = text[after..].find(|c: char| !between(c));
        let secret = secret.map_or(text.len(), |skipped| after + skipped);
        hidden.push_str(&text[rest..after]);
        hidden.push_str(" (hidden)");
        let end = text[secret..].find(|c: char| c.is_whitespace() || "\"',;".contains(c));
        rest = end.map_or(text.len(), |end| secret + end);
    }
    hidden.push_str(&text[rest..]);
    hidden
}
