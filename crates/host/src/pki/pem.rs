//! The text form of keys and certificates.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bootlace_engine::port::HostResult;
use rustls::pki_types::pem::{PemObject as _, SectionKind};

use super::crypto;

/// The line length that every reader of PEM understands.
const COLUMNS: usize = 64;

/// Wraps bytes in the lines that begin and end a block.
pub(super) fn encode(label: &str, der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in body.as_bytes().chunks(COLUMNS) {
        text.extend(line.iter().copied().map(char::from));
        text.push('\n');
    }
    text.push_str("-----END ");
    text.push_str(label);
    text.push_str("-----\n");
    text
}

/// Returns the first certificate of a file that holds one, or a bundle.
pub(super) fn first_certificate(text: &[u8]) -> HostResult<Vec<u8>> {
    find(text, |kind| kind == SectionKind::Certificate)?
        .map(|(_, der)| der)
        .ok_or_else(|| {
            crypto("there is no certificate in it: no block BEGIN CERTIFICATE was found")
        })
}

/// Returns the first block of a kind, in the order of the text.
pub(super) fn find(
    text: &[u8],
    wanted: impl Fn(SectionKind) -> bool,
) -> HostResult<Option<(SectionKind, Vec<u8>)>> {
    for section in <(SectionKind, Vec<u8>)>::pem_slice_iter(text) {
        let (kind, der) = section.map_err(|error| crypto(format!("it is no PEM text: {error}")))?;
        if wanted(kind) {
            return Ok(Some((kind, der)));
        }
    }
    Ok(None)
}
