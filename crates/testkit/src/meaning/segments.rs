//! Cutting a text into blocks of PEM, base64 that hides such blocks, and the rest.

use base64::Engine as _;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment<'a> {
    /// Neither of the others.
    Plain(&'a str),
    /// A block of PEM, as it would stand in a file of its own.
    Pem(Block),
    /// A text in base64 that holds a block of PEM, decoded.
    Encoded(String),
}

/// A block of PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// What it says it is, such as `CERTIFICATE`.
    pub(super) label: String,
    /// The whole block, without indentation.
    pub(super) text: String,
}

const BEGIN: &str = "-----BEGIN ";
const DASHES: &str = "-----";
/// No block of PEM is shorter in base64.
const SHORTEST_ENCODED: usize = 48;

/// Cuts a text into segments; put together in order they are the whole text.
pub(super) fn segments(text: &str) -> Vec<Segment<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find(BEGIN) {
        let Some((block, length)) = block_at(&rest[begin..]) else {
            break;
        };
        cut_encoded(&rest[..begin], &mut found);
        found.push(Segment::Pem(block));
        rest = &rest[begin + length..];
    }
    cut_encoded(rest, &mut found);
    found
}

/// Reads the block that a text begins with; returns it with its length.
fn block_at(text: &str) -> Option<(Block, usize)> {
    let label = text[BEGIN.len()..].split_once(DASHES)?.0;
    let end = format!("-----END {label}-----");
    let length = text.find(&end)? + end.len();
    // In JSON a block stands on one line, in YAML it is indented.
    let lines = text[..length].replace("\\n", "\n");
    let lines: Vec<&str> = lines.lines().map(str::trim).collect();
    let block = Block {
        label: label.to_owned(),
        text: lines.join("\n") + "\n",
    };
    Some((block, length))
}

fn cut_encoded<'a>(text: &'a str, found: &mut Vec<Segment<'a>>) {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    let mut plain_from = 0;
    let mut at = 0;
    while let Some(begin) = text[at..].find(is_base64).map(|begin| at + begin) {
        let length = text[begin..]
            .find(|c| !is_base64(c))
            .unwrap_or(text.len() - begin);
        at = begin + length;
        if length >= SHORTEST_ENCODED
            && let Some(inner) = decode(&text[begin..at])
        {
            if plain_from < begin {
                found.push(Segment::Plain(&text[plain_from..begin]));
            }
            found.push(Segment::Encoded(inner));
            plain_from = at;
        }
    }
    if plain_from < text.len() {
        found.push(Segment::Plain(&text[plain_from..]));
    }
}

fn decode(text: &str) -> Option<String> {
    String::from_utf8(decoded(text)?)
        .ok()
        .filter(|inner| inner.contains(BEGIN))
}

/// Lists what could be SHA-256 digests: runs of exactly sixty-four lower-case hexadecimal digits.
pub(super) fn hex_digests(text: &str) -> impl Iterator<Item = &str> {
    let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    text.split(move |c| !is_hex(c))
        .filter(|run| run.len() == 64)
}

/// Lists the runs of characters of base64.
pub(super) fn base64_runs(text: &str) -> impl Iterator<Item = &str> {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    text.split(move |c| !is_base64(c))
        .filter(|run| !run.is_empty())
}

/// Decodes base64.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "-----BEGIN X-----\nAAAA\n-----END X-----";

    fn pem() -> Segment<'static> {
        Segment::Pem(Block {
            label: "X".into(),
            text: format!("{BLOCK}\n"),
        })
    }

    #[test]
    fn blocks_are_found_wherever_they_stand() {
        let plain = |text| Segment::Plain(text);
        assert_eq!(segments(BLOCK), [pem()]);
        let twice = format!("a\n{BLOCK}\n{BLOCK}\n");
        assert_eq!(
            segments(&twice),
            [plain("a\n"), pem(), plain("\n"), pem(), plain("\n")]
        );
        let indented = BLOCK.replace('\n', "\n    ");
        let yaml = format!("ca: |\n    {indented}\n");
        assert_eq!(segments(&yaml), [plain("ca: |\n    "), pem(), plain("\n")]);
        let json = format!("{{\"ca\":\"{}\"}}", BLOCK.replace('\n', "\\n"));
        assert_eq!(segments(&json), [plain("{\"ca\":\""), pem(), plain("\"}")]);
        let broken = "-----BEGIN X-----\nAAAA\n";
        assert_eq!(segments(broken), [plain(broken)]);
    }

    #[test]
    fn base64_is_opened_only_if_it_hides_a_block() {
        let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        let hidden = format!("{BLOCK}\n");
        let encoded = encode(&hidden);
        let text = format!("data: {encoded}\nend");
        let expected = [
            Segment::Plain("data: "),
            Segment::Encoded(hidden),
            Segment::Plain("\nend"),
        ];
        assert_eq!(segments(&text), expected);
        let harmless = encode(&"harmless ".repeat(20));
        assert_eq!(segments(&harmless), [Segment::Plain(&harmless)]);
    }

    #[test]
    fn digests_are_runs_of_sixty_four() {
        let digest = "0123456789abcdef".repeat(4);
        let text = format!("sha256:{digest} {digest}0 {}", &digest[1..]);
        assert_eq!(hex_digests(&text).collect::<Vec<_>>(), [digest.as_str()]);
    }
}
