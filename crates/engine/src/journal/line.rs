//! One line of the journal, and the hash that closes it.

use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::record::Line;

/// What stands between a line's content and its hash.
const SEAM: &[u8] = b",\"hash\":\"";
/// What stands behind the hash.
const END: &[u8] = b"\"}";
/// `sha256:` and sixty-four digits.
const HASH_LENGTH: usize = 71;

/// Writes a line with its closing hash and a line feed; returns the hash.
pub(crate) fn encode(line: &Line, out: &mut Vec<u8>) -> Result<Digest, Fault> {
    let begin = out.len();
    serde_json::to_writer(&mut *out, line)
        .map_err(|error| Fault::internal(format!("a record cannot be written: {error}")))?;
    // The closing brace comes after the hash.
    out.pop();
    let hash = Digest::of(&out[begin..]);
    out.extend_from_slice(SEAM);
    out.extend_from_slice(hash.to_string().as_bytes());
    out.extend_from_slice(END);
    out.push(b'\n');
    Ok(hash)
}

/// What is wrong with a line by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BadLine {
    /// It does not end the way every line ends, or is no JSON.
    Torn,
    /// It is whole, but its hash is not that of its content.
    Changed,
    /// It is whole and its hash fits, but this version cannot read it.
    Unreadable(String),
}

/// Reads a line without its line feed; returns it with its hash.
pub(super) fn decode(bytes: &[u8]) -> Result<(Line, Digest), BadLine> {
    let hash = checked_hash(bytes)?;
    match serde_json::from_slice(bytes) {
        Ok(line) => Ok((line, hash)),
        Err(error) => Err(BadLine::Unreadable(error.to_string())),
    }
}

/// Compares a line's hash with its content.
pub(super) fn checked_hash(bytes: &[u8]) -> Result<Digest, BadLine> {
    let body = bytes.strip_suffix(END).ok_or(BadLine::Torn)?;
    let split = body.len().checked_sub(HASH_LENGTH).ok_or(BadLine::Torn)?;
    let (content, hash) = body.split_at(split);
    let content = content.strip_suffix(SEAM).ok_or(BadLine::Torn)?;
    let hash = std::str::from_utf8(hash)
        .ok()
        .and_then(|text| text.parse().ok());
    let hash: Digest = hash.ok_or(BadLine::Torn)?;
    if Digest::of(content) == hash {
        return Ok(hash);
    }
    let whole = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    Err(if whole {
        BadLine::Changed
    } else {
        BadLine::Torn
    })
}
