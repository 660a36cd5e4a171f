//! Texts that are no JSON, or nearly none.

use super::SpoilText;
use crate::dice::Dice;
use crate::ignition::words::pick;

/// All ways.
pub(super) const WAYS: &[(&str, SpoilText)] = &[
    ("truncated", truncated),
    ("something behind it", something_behind),
    ("something before it", something_before),
    ("another byte", another_byte),
    ("no UTF-8", no_utf8),
    ("a comma too many", comma),
    ("odd word", odd_word),
    ("nothing", nothing),
];

fn truncated(text: &mut Vec<u8>, dice: &mut Dice) {
    text.truncate(dice.index(text.len()));
}

fn something_behind(text: &mut Vec<u8>, dice: &mut Dice) {
    let more = pick(dice, &["}", " \n\t ", "x", "{}", "\0", " // comment", ","]);
    text.extend(more.bytes());
}

fn something_before(text: &mut Vec<u8>, dice: &mut Dice) {
    let more = pick(
        dice,
        &["\u{feff}", " \r\n", "x", "//\n", "[", "\0", "\u{a0}"],
    );
    text.splice(0..0, more.bytes());
}

#[expect(clippy::ptr_arg, reason = "all ways are of one type")]
fn another_byte(text: &mut Vec<u8>, dice: &mut Dice) {
    let index = dice.index(text.len());
    // A printable one: others are tried elsewhere, and cannot be read in a report.
    let byte = u8::try_from(0x20 + dice.below(0x5f)).unwrap_or(b' ');
    // Reports of the referee take this one for the beginning of a placeholder.
    let byte = if byte == b'%' { b'x' } else { byte };
    if let Some(place) = text.get_mut(index) {
        *place = byte;
    }
}

fn no_utf8(text: &mut Vec<u8>, dice: &mut Dice) {
    let bytes: &[u8] = match dice.below(4) {
        0 => b"\xff",
        1 => b"\xc3",
        2 => b"\xed\xa0\x80",
        _ => b"\xf4\x90\x80\x80",
    };
    // Behind a quote it is in a text or right after one.
    let quotes: Vec<usize> = positions(text, b'"');
    let place = quotes
        .get(dice.index(quotes.len()))
        .map_or(0, |place| place + 1);
    text.splice(place..place, bytes.iter().copied());
}

fn comma(text: &mut Vec<u8>, dice: &mut Dice) {
    let ends = positions(text, if dice.percent(50) { b'}' } else { b']' });
    let place = ends.get(dice.index(ends.len())).copied().unwrap_or(0);
    text.insert(place, b',');
}

fn odd_word(text: &mut Vec<u8>, dice: &mut Dice) {
    let word = pick(
        dice,
        &[
            "True",
            "nul",
            "NaN",
            "+1",
            "01",
            "1.",
            ".5",
            "-",
            "'x'",
            "\"\\x41\"",
            "\"\t\"",
            "0x10",
            "1e",
            "\"\\u12\"",
        ],
    );
    let colons = positions(text, b':');
    let place = colons
        .get(dice.index(colons.len()))
        .map_or(0, |place| place + 1);
    // What stood there follows without a comma, or the text ends with the word.
    text.splice(place..place, word.bytes());
    if dice.percent(50) {
        text.truncate(place + word.len());
    }
}

fn nothing(text: &mut Vec<u8>, dice: &mut Dice) {
    let other = pick(
        dice,
        &[
            "",
            " ",
            "\n",
            "null",
            "[]",
            "{}",
            "\"\"",
            "0",
            "true",
            "{\"ignition\":{}}",
            "{\"ignition\":null}",
        ],
    );
    *text = other.as_bytes().to_vec();
}

fn positions(text: &[u8], wanted: u8) -> Vec<usize> {
    let found = text.iter().enumerate().filter(|(_, byte)| **byte == wanted);
    found.map(|(place, _)| place).collect()
}
