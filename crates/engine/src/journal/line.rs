//! One line of the journal, and the hash that closes it.

use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::record::{Foreign, LINE_VERSION, Line, Record};
use serde::Deserialize;
use serde_json::Value;

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
    /// It is whole and its hash fits, but it lacks what every version writes.
    Unreadable(String),
}

/// What every version writes around a record, in the same shape.
#[derive(Deserialize)]
struct Envelope {
    v: u32,
    seq: u64,
    prev: Digest,
    at: jiff::Timestamp,
    rec: Value,
}

/// Reads a line without its line feed; returns it with its hash. What another version wrote and this
/// one does not understand becomes a foreign record.
pub(super) fn decode(bytes: &[u8]) -> Result<(Line, Digest), BadLine> {
    let hash = checked_hash(bytes)?;
    let why = match serde_json::from_slice::<Line>(bytes) {
        Ok(line) if line.v <= LINE_VERSION => return Ok((line, hash)),
        Ok(line) => format!("version {} of the journal's lines", line.v),
        Err(error) => in_short(&error.to_string()),
    };
    let envelope: Result<Envelope, _> = serde_json::from_slice(bytes);
    let envelope = envelope.map_err(|error| BadLine::Unreadable(error.to_string()))?;
    let Envelope {
        v,
        seq,
        prev,
        at,
        rec,
    } = envelope;
    let rec = Record::Foreign(Foreign::new(&rec, &why));
    let line = Line {
        v,
        seq,
        prev,
        at,
        rec,
    };
    Ok((line, hash))
}

/// Leaves out of serde's message all that was expected instead, and where on the line it is.
fn in_short(message: &str) -> String {
    let end = message.find(", expected").or(message.find(" at line "));
    let short = end.and_then(|end| message.get(..end)).unwrap_or(message);
    short.replace("unknown variant", "unknown value")
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
