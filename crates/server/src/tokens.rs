//! Who may ask: bearer tokens, of which only hashes are known here.
//!
//! A machine that boots for the first time asks again after an answer of 5xx, and gives up after one
//! of 4xx. So a token that is not known, but may be written into the file any moment, is answered with
//! 511, and one that never will be valid with 401.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::name::Name;
use crate::yaml;

/// The longest token that is looked at.
const LONGEST: usize = 4096;
/// How many revoked tokens are remembered; who revokes more has long since let them expire.
const MOST_REVOKED: usize = 100_000;

/// The hash of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hash([u8; 32]);

impl Hash {
    fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        if text.len() != 64 {
            return None;
        }
        let mut hash = [0; 32];
        for (byte, digits) in hash.iter_mut().zip(text.chunks_exact(2)) {
            let digit = |at: usize| char::from(digits[at]).to_digit(16);
            *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
        }
        Some(Self(hash))
    }

    /// Compares in a time that does not depend on where the two differ.
    fn is(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(other.0);
        let differ = pairs.fold(0, |differ, (one, other)| {
            std::hint::black_box(differ | (one ^ other))
        });
        differ == 0
    }

    /// Returns as much of it as may be shown: enough to find it in the file, too little to use.
    fn shown(&self) -> String {
        hex(&self.0[..4])
    }
}

/// Writes bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// One token of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    hash: Hash,
    /// The pool; none for a token that may look at everything, and gets no config.
    pool: Option<Name>,
    node: Option<String>,
    expires: Timestamp,
    /// Whether the file says that it is not valid any more.
    is_revoked: bool,
}

impl Token {
    fn is_valid(&self, now: Timestamp) -> bool {
        self.expires > now && !self.is_revoked
    }
}

/// The tokens of the file, and those that were in it before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tokens {
    tokens: Vec<Token>,
    revoked: BTreeSet<Hash>,
}

/// What is known about whoever asks; for the audit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bearer {
    /// The first digits of the token's hash.
    pub(crate) token: Option<String>,
    /// The node that the token is for.
    pub(crate) node: Option<String>,
    /// The pools that the token is valid for, on the node that asks.
    pub(crate) pools: Vec<Name>,
    /// Whether the token may look at everything, on the node that asks.
    pub(crate) sees_all: bool,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It reads something: a token of one node needs the name of that node beside it.
    Read,
    /// It reports something, and the report names the node.
    Report,
}

/// Whether somebody may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Yes.
    Allowed,
    /// There is no token.
    Missing,
    /// It is not a bearer token.
    Malformed,
    /// It was valid once.
    Expired,
    /// It is for another pool.
    OtherPool,
    /// It may look at everything, and gets no config.
    OnlyLooks,
    /// It is for another node.
    OtherNode,
    /// It is for one node, and the request does not say from which it comes.
    NoNode,
    /// It was taken out of the file.
    Revoked,
    /// It is not known, and may become so.
    Unknown,
}

impl Tokens {
    /// Reads the file; an error shows nothing of the content, which may be a token by mistake.
    pub(crate) fn parse(content: &[u8]) -> Result<Self, String> {
        let document = yaml::parse(content).map_err(|error| {
            if has_bare_star(content) {
                format!("{error}; write the star in quotes: `pool: '*'`")
            } else {
                error
            }
        })?;
        only(&document, "the file", &["tokens"])?;
        let list = document["tokens"].as_array();
        let list = list.ok_or("tokens is not a list")?;
        let tokens: Vec<Token> = list
            .iter()
            .enumerate()
            .map(|(index, entry)| token(entry, &format!("tokens[{index}]")))
            .collect::<Result<_, _>>()?;
        let mut seen = BTreeSet::new();
        for (index, token) in tokens.iter().enumerate() {
            if !seen.insert((token.hash, &token.pool)) {
                return Err(format!("tokens[{index}] is there twice for the same pool"));
            }
        }
        Ok(Self {
            tokens,
            revoked: BTreeSet::new(),
        })
    }

    /// Remembers which tokens were known before and are not any more.
    #[must_use]
    pub(crate) fn after(mut self, before: &Self) -> Self {
        let known = before.tokens.iter().map(|token| token.hash);
        let mut revoked = before.revoked.clone();
        revoked.extend(known.take(MOST_REVOKED.saturating_sub(revoked.len())));
        for token in &self.tokens {
            revoked.remove(&token.hash);
        }
        self.revoked = revoked;
        self
    }

    /// Counts the tokens, and those that have not expired.
    pub(crate) fn counts(&self, now: Timestamp) -> (usize, usize) {
        let valid = self.tokens.iter().filter(|token| token.is_valid(now));
        (self.tokens.len(), valid.count())
    }

    /// Judges the `Authorization` header of a request that concerns a pool, or any that the token is
    /// for; the client may say which node it is.
    pub(crate) fn judge(
        &self,
        purpose: Purpose,
        header: Option<&[u8]>,
        pool: Option<&Name>,
        node: Option<&[u8]>,
        now: Timestamp,
    ) -> (Verdict, Bearer) {
        let Some(header) = header else {
            return (Verdict::Missing, Bearer::default());
        };
        let Some(value) = bearer(header) else {
            return (Verdict::Malformed, Bearer::default());
        };
        let hash = Hash::of(value);
        let mut listed: Vec<&Token> = Vec::new();
        // All are looked at, so that the time tells nothing about the place of the one that fits.
        for token in &self.tokens {
            if token.hash.is(&hash) {
                listed.push(token);
            }
        }
        let entries = Entries {
            listed,
            purpose,
            node,
            now,
        };
        let chosen = entries.chosen(pool);
        let verdict = match entries.verdict(chosen) {
            Some(verdict) => verdict,
            None if self.revoked.contains(&hash) => Verdict::Revoked,
            None => Verdict::Unknown,
        };
        (verdict, entries.bearer(&hash, chosen))
    }
}

/// The entries of the file for the token of a request.
struct Entries<'t> {
    listed: Vec<&'t Token>,
    purpose: Purpose,
    /// The node that the client says it is.
    node: Option<&'t [u8]>,
    now: Timestamp,
}

impl<'t> Entries<'t> {
    /// Returns the entry that decides about a pool, or about a request that concerns none.
    fn chosen(&self, pool: Option<&Name>) -> Option<&'t Token> {
        // A request that concerns no pool is decided by any entry.
        let fits = |token: &&Token| pool.is_none_or(|pool| token.pool.as_ref() == Some(pool));
        let mut listed = self.listed.iter().copied();
        let best = self.usable().find(fits).or(self.valid().find(fits));
        best.or(listed.find(fits))
    }

    fn valid(&self) -> impl Iterator<Item = &'t Token> {
        let listed = self.listed.iter().copied();
        listed.filter(|token| token.is_valid(self.now))
    }

    /// Lists the valid entries for the node that asks.
    fn usable(&self) -> impl Iterator<Item = &'t Token> {
        self.valid().filter(|token| self.is_for_node(token))
    }

    fn is_for_node(&self, token: &Token) -> bool {
        match (token.node.as_deref(), self.node) {
            (None, _) => true,
            (Some(bound), Some(node)) => bound.as_bytes() == node,
            (Some(_), None) => self.purpose == Purpose::Report,
        }
    }

    /// Judges by the entry that decides; none if the token is not in the file.
    fn verdict(&self, chosen: Option<&Token>) -> Option<Verdict> {
        let first = self.listed.first()?;
        let other_node = match self.node {
            Some(_) => Verdict::OtherNode,
            None => Verdict::NoNode,
        };
        Some(match chosen {
            Some(token) if token.is_revoked => Verdict::Revoked,
            Some(token) if token.expires <= self.now => Verdict::Expired,
            Some(token) if !self.is_for_node(token) => other_node,
            Some(_) => Verdict::Allowed,
            None if first.is_revoked => Verdict::Revoked,
            None if self.valid().next().is_none() => Verdict::Expired,
            None if self.usable().next().is_none() => other_node,
            None if self.usable().all(|token| token.pool.is_none()) => Verdict::OnlyLooks,
            None => Verdict::OtherPool,
        })
    }

    fn bearer(&self, hash: &Hash, chosen: Option<&Token>) -> Bearer {
        let node = chosen.or(self.listed.first().copied());
        let node = node.and_then(|token| token.node.clone());
        // A report is about the node of one entry, so it does not reach the pools of other nodes.
        let usable = || {
            let usable = self.usable();
            usable.filter(|token| self.purpose == Purpose::Read || token.node == node)
        };
        Bearer {
            token: Some(hash.shown()),
            pools: usable().filter_map(|token| token.pool.clone()).collect(),
            sees_all: usable().any(|token| token.pool.is_none()),
            node: node.clone(),
        }
    }
}

/// Returns the token of a header `Bearer TOKEN`; none if that is not what it is.
fn bearer(header: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(header).ok()?;
    let (scheme, value) = text.split_once(' ')?;
    let is_token = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/')
    };
    let padded = value.trim_end_matches('=');
    let is_bearer = scheme.eq_ignore_ascii_case("bearer")
        && !padded.is_empty()
        && value.len() <= LONGEST
        && padded.bytes().all(is_token);
    is_bearer.then_some(value)
}

/// Tells whether a star stands in the text without quotes; to YAML it begins an alias.
fn has_bare_star(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let mut values = text.split("pool:").skip(1);
    values.any(|value| value.trim_start_matches(' ').starts_with('*'))
}

fn only(entry: &Value, place: &str, known: &[&str]) -> Result<(), String> {
    let fields = entry.as_object();
    let fields = fields.ok_or_else(|| format!("{place} is not a set of fields"))?;
    let strange = fields.keys().any(|key| !known.contains(&key.as_str()));
    if strange {
        let known = known.join(", ");
        return Err(format!("{place} has a field that is none of: {known}"));
    }
    Ok(())
}

fn token(entry: &Value, place: &str) -> Result<Token, String> {
    only(
        entry,
        place,
        &["sha256", "pool", "node", "expires", "revoked"],
    )?;
    for (field, line) in [
        (
            "sha256",
            "`sha256: HEX`; `printf %s TOKEN | sha256sum` prints HEX",
        ),
        (
            "pool",
            "`pool: NAME`, the pool whose config it may fetch, or `pool: '*'` to see all machines and no config",
        ),
        ("expires", "`expires: 2030-01-31T00:00:00Z`"),
    ] {
        if entry[field].is_null() {
            return Err(format!("{place} has no {field}: add {line}"));
        }
    }
    let text = |field: &str| entry[field].as_str();
    let hash = text("sha256").and_then(Hash::parse);
    let hash = hash.ok_or_else(|| {
        format!("{place}.sha256 is not the SHA-256 of a token in 64 hexadecimal digits")
    })?;
    let pool = match text("pool") {
        Some("*") => None,
        pool => {
            let pool = pool.and_then(Name::parse);
            Some(pool.ok_or_else(|| {
                format!("{place}.pool is not the name of a pool, such as worker, nor '*'")
            })?)
        }
    };
    let node = match &entry["node"] {
        Value::Null => None,
        Value::String(node) if !node.is_empty() => Some(node.clone()),
        _ => return Err(format!("{place}.node is not the name of a node")),
    };
    let expires = text("expires").and_then(|text| text.parse().ok());
    let expires = expires
        .ok_or_else(|| format!("{place}.expires is not a time such as 2030-01-31T00:00:00Z"))?;
    let is_revoked = match &entry["revoked"] {
        Value::Null => false,
        Value::Bool(is_revoked) => *is_revoked,
        _ => return Err(format!("{place}.revoked is neither true nor false")),
    };
    Ok(Token {
        hash,
        pool,
        node,
        expires,
        is_revoked,
    })
}

#[cfg(test)]
mod tests;
