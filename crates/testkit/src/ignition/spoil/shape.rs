//! Wrong shapes: types, keys and lists that are not as they must be.

use super::{Spoil, change};
use crate::dice::Dice;
use crate::ignition::draft::Draft;
use crate::ignition::words::pick;

/// All ways.
pub(super) const WAYS: &[(&str, Spoil)] = &[
    ("another type", another_type),
    ("null", null),
    ("unknown key", unknown_key),
    ("key in another case", other_case),
    ("key twice", key_twice),
    ("key missing", key_missing),
    ("element twice", element_twice),
    ("odd number", odd_number),
    ("odd text", odd_text),
    ("nothing in it", nothing_in_it),
    ("deep nesting", deep_nesting),
];

const KEYS: [&str; 7] = [
    "foo",
    "path ",
    "x-comment",
    "",
    "überflüssig",
    "file",
    "contents",
];
const NUMBERS: [&str; 14] = [
    "-1",
    "4096",
    "4095",
    "99999",
    "1.5",
    "1.0",
    "1e3",
    "1E2",
    "-0",
    "0.0",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999",
    "1e400",
];
const TEXTS: [&str; 8] = [
    r#""\u0000""#,
    r#""\ud800""#,
    r#""\ud83d\ude00 \u00e9 \/""#,
    r#""""#,
    r#"" ""#,
    r#""/etc/\u0068osts""#,
    r#""\b\f\n\r\t\\\"""#,
    "\"\u{fffd}\u{2028}\"",
];

fn any(_: &[&str], _: &Draft) -> bool {
    true
}

fn is_object(_: &[&str], value: &Draft) -> bool {
    matches!(value, Draft::Object(_))
}

fn has_keys(_: &[&str], value: &Draft) -> bool {
    matches!(value, Draft::Object(pairs) if !pairs.is_empty())
}

fn another_type(config: &mut Draft, dice: &mut Dice) -> bool {
    change(config, dice, &any, &mut |value, dice| {
        *value = match dice.below(6) {
            0 => Draft::from("text"),
            1 => Draft::Number(5),
            2 => Draft::Flag(true),
            3 => Draft::List(vec![Draft::from("in a list")]),
            4 => Draft::object().with("key", 1),
            _ => Draft::List(vec![value.clone()]),
        };
    })
}

fn null(config: &mut Draft, dice: &mut Dice) -> bool {
    change(config, dice, &any, &mut |value, _| *value = Draft::null())
}

fn unknown_key(config: &mut Draft, dice: &mut Dice) -> bool {
    change(config, dice, &is_object, &mut |value, dice| {
        let key = pick(dice, &KEYS);
        let what = match dice.below(3) {
            0 => Draft::from("bar"),
            1 => Draft::object().with("inner", vec![Draft::Number(1)]),
            _ => Draft::null(),
        };
        value.put(key, what);
    })
}

fn other_case(config: &mut Draft, dice: &mut Dice) -> bool {
    change(config, dice, &has_keys, &mut |value, dice| {
        if let Some((key, _)) = any_pair(value, dice) {
            *key = match dice.below(5) {
                0 => key.to_uppercase(),
                1 => key.to_lowercase(),
                // These become the letters s and k when case is ignored.
                2 => key.replacen('s', "\u{17f}", 1).replacen('k', "\u{212a}", 1),
                _ => {
                    let mut letters = key.chars();
                    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
                    first.into_iter().chain(letters).collect()
                }
            };
        }
    })
}

fn key_twice(config: &mut Draft, dice: &mut Dice) -> bool {
    change(config, dice, &has_keys, &mut |value, dice| {
        let Some((key, mut again)) =
            any_pair(value, dice).map(|(key, value)| (key.clone(), value.clone()))
        else {
            return;
        };
        let key = if dice.percent(20) {
            key.to_uppercase()
        } else {
            key
        };
        match dice.below(4) {
            0 => {}
            1 => again = Draft::null(),
            2 => {
                another_type(&mut again, dice);
            }
            _ => {
                key_missing(&mut again, dice);
            }
        }
        value.put(&key, again);
        value.shuffle(dice);
    })
}

fn key_missing(config: &mut Draft, dice: &mut Dice) -> bool {
    change(config, dice, &has_keys, &mut |value, dice| {
        if let Draft::Object(pairs) = value {
            pairs.remove(dice.index(pairs.len()));
        }
    })
}

fn element_twice(config: &mut Draft, dice: &mut Dice) -> bool {
    let is_list =
        |_: &[&str], value: &Draft| matches!(value, Draft::List(values) if !values.is_empty());
    change(config, dice, &is_list, &mut |value, dice| {
        if let Draft::List(values) = value {
            let again = values.get(dice.index(values.len())).cloned();
            let place = dice.index(values.len() + 1);
            values.splice(place..place, again);
        }
    })
}

fn odd_number(config: &mut Draft, dice: &mut Dice) -> bool {
    let is_number = |_: &[&str], value: &Draft| matches!(value, Draft::Number(_));
    change(config, dice, &is_number, &mut |value, dice| {
        *value = Draft::Raw(pick(dice, &NUMBERS).to_owned());
    })
}

fn odd_text(config: &mut Draft, dice: &mut Dice) -> bool {
    let is_text = |_: &[&str], value: &Draft| matches!(value, Draft::Text(_));
    change(config, dice, &is_text, &mut |value, dice| {
        *value = Draft::Raw(pick(dice, &TEXTS).to_owned());
    })
}

fn nothing_in_it(config: &mut Draft, dice: &mut Dice) -> bool {
    let is_inner = |keys: &[&str], value: &Draft| {
        !keys.is_empty() && matches!(value, Draft::Object(_) | Draft::List(_))
    };
    change(config, dice, &is_inner, &mut |value, _| {
        *value = match value {
            Draft::Object(_) => Draft::object(),
            _ => Draft::List(vec![]),
        };
    })
}

fn deep_nesting(config: &mut Draft, dice: &mut Dice) -> bool {
    // Ten thousand levels are the most that Go reads.
    let depth = match dice.below(4) {
        0 => 9_990 + dice.index(20),
        1 => 20_000,
        _ => 1 + dice.index(200),
    };
    let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    config.put("deep", Draft::Raw(nested));
    true
}

fn any_pair<'a>(value: &'a mut Draft, dice: &mut Dice) -> Option<(&'a mut String, &'a mut Draft)> {
    let Draft::Object(pairs) = value else {
        return None;
    };
    let index = dice.index(pairs.len());
    pairs.get_mut(index).map(|(key, value)| (key, value))
}
