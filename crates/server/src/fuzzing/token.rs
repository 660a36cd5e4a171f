//! Tokens: the `Authorization` header, the node's header, and the tokens file.

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::name::Name;
use crate::tokens::{Purpose, Tokens, Verdict, hex};
use crate::yaml;

/// What begins every header with a token.
const SCHEME: &str = "bearer ";
/// Shorter texts may stand in a message by chance.
const SECRET: usize = 24;

/// One row of the tokens file, read in the simplest way.
struct Row<'f> {
    sha256: &'f str,
    pool: &'f str,
    node: Option<&'f str>,
    expires: Timestamp,
    is_revoked: bool,
}

/// A request: an `Authorization` header, and the node that it names.
struct Request<'i> {
    header: &'i [u8],
    node: Option<&'i [u8]>,
}

/// Checks who is let in: the first line is the `Authorization` header, the second the node, the rest
/// the tokens file.
///
/// # Panics
///
/// Panics if a token is let in that the file does not list, or that has expired or was revoked, or if
/// an error shows the token.
pub fn token(input: &[u8]) {
    let mut parts = input.splitn(3, |byte| *byte == b'\n');
    let header = parts.next().unwrap_or_default();
    let node = parts.next().filter(|node| !node.is_empty());
    let file = parts.next().unwrap_or_default();
    let request = Request { header, node };
    let is_secret =
        |text: &&str| text.len() >= SECRET && text.bytes().all(|byte| byte.is_ascii_graphic());
    let secret = text_of(header).filter(is_secret);
    let tokens = match Tokens::parse(file) {
        Ok(tokens) => tokens,
        Err(error) => {
            let is_shown = secret.is_some_and(|secret| error.contains(secret));
            assert!(!is_shown, "the error shows the token: {error}");
            return;
        }
    };
    let document = yaml::parse(file).unwrap_or_default();
    let rows = rows(&document);
    let now = Timestamp::from_second(1_767_225_600).unwrap_or_default();
    for purpose in [Purpose::Read, Purpose::Report] {
        check_verdicts(&tokens, &rows, &request, purpose, now);
    }
    // A token outlives neither its time nor its place in the file.
    let late = |pool: Option<&Name>| request.verdict(&tokens, pool, Timestamp::MAX);
    let gone = Tokens::parse(b"tokens: []").unwrap_or_default();
    let gone = gone.after(&tokens);
    let revoked = revoked(&document);
    for pool in pools(&rows) {
        assert_ne!(late(pool.as_ref()), Verdict::Allowed, "expired, and let in");
        let verdict = request.verdict(&gone, pool.as_ref(), now);
        assert_ne!(verdict, Verdict::Allowed, "not in the file, and let in");
        let is_listed = text_of(header).is_some_and(|token| {
            let sha256 = hex(&Sha256::digest(token));
            rows.iter()
                .any(|row| row.sha256.eq_ignore_ascii_case(&sha256))
        });
        let is_revoked = verdict == Verdict::Revoked;
        assert!(!is_revoked || is_listed, "revoked, and never in the file");
        if let Some(revoked) = &revoked {
            let verdict = request.verdict(revoked, pool.as_ref(), now);
            assert_ne!(verdict, Verdict::Allowed, "revoked, and let in");
        }
    }
}

impl Request<'_> {
    /// Judges a report, for which less is asked than for reading.
    fn verdict(&self, tokens: &Tokens, pool: Option<&Name>, now: Timestamp) -> Verdict {
        let header = Some(self.header);
        tokens
            .judge(Purpose::Report, header, pool, self.node, now)
            .0
    }
}

/// Compares each verdict with the rows of the file.
fn check_verdicts(
    tokens: &Tokens,
    rows: &[Row<'_>],
    request: &Request<'_>,
    purpose: Purpose,
    now: Timestamp,
) {
    let token = text_of(request.header);
    let sha256 = token.map(|token| hex(&Sha256::digest(token)));
    for pool in pools(rows) {
        let is_here = |row: &Row<'_>| pool.as_ref().is_none_or(|pool| pool.as_str() == row.pool);
        let is_node = |row: &Row<'_>| match (row.node, request.node) {
            (Some(bound), Some(node)) => bound.as_bytes() == node,
            // A report names its node itself.
            (Some(_), None) => purpose == Purpose::Report,
            (None, _) => true,
        };
        let is_listed = rows.iter().any(|row| {
            let is_token = sha256.as_deref() == Some(&row.sha256.to_ascii_lowercase());
            is_token && is_here(row) && is_node(row) && row.expires > now && !row.is_revoked
        });
        let header = Some(request.header);
        let (verdict, bearer) = tokens.judge(purpose, header, pool.as_ref(), request.node, now);
        if verdict == Verdict::Allowed {
            assert!(is_listed, "let in by no row of the file");
        } else if pool.is_some() && is_listed {
            let is_plain = token.is_some_and(|token| {
                token.bytes().all(|byte| byte.is_ascii_alphanumeric()) && token.len() <= 64
            });
            assert!(!is_plain, "listed, and refused: {verdict:?}");
        }
        for seen in bearer.pools {
            let may_see = rows
                .iter()
                .any(|row| row.pool == seen.as_str() && row.expires > now && !row.is_revoked);
            assert!(may_see, "sees {seen:?} by no row of the file");
        }
    }
    let (verdict, _) = tokens.judge(purpose, None, None, request.node, now);
    assert_eq!(verdict, Verdict::Missing);
}

/// Returns what follows the scheme of a header.
fn text_of(header: &[u8]) -> Option<&str> {
    let (scheme, token) = header.split_at_checked(SCHEME.len())?;
    let token = std::str::from_utf8(token).ok()?;
    scheme
        .eq_ignore_ascii_case(SCHEME.as_bytes())
        .then_some(token)
}

/// Lists the pools to ask for: those of the file, one that it need not have, and any.
fn pools(rows: &[Row<'_>]) -> Vec<Option<Name>> {
    let named = rows.iter().map(|row| row.pool).chain(["worker"]);
    let named = named.filter_map(Name::parse).map(Some);
    named.chain([None]).collect()
}

fn rows(document: &Value) -> Vec<Row<'_>> {
    let rows = document["tokens"].as_array().into_iter().flatten();
    let rows = rows.filter_map(|row| {
        Some(Row {
            sha256: row["sha256"].as_str()?,
            pool: row["pool"].as_str()?,
            node: row["node"].as_str(),
            expires: row["expires"].as_str()?.parse().ok()?,
            is_revoked: row["revoked"].as_bool().unwrap_or(false),
        })
    });
    rows.collect()
}

/// Revokes every token of a file; none if the file cannot be written again.
fn revoked(document: &Value) -> Option<Tokens> {
    let mut document = document.clone();
    for row in document.get_mut("tokens")?.as_array_mut()? {
        *row.as_object_mut()?.entry("revoked").or_insert(Value::Null) = Value::Bool(true);
    }
    Tokens::parse(document.to_string().as_bytes()).ok()
}
