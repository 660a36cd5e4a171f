//! Values → YAML, the same bytes every time.
//!
//! What is written here is read by kubectl, the kubelet and other readers of YAML 1.1 and 1.2. So
//! a text stands without quotes only if no reader could take it for anything else: everything that
//! looks like a number, a date, a truth value or nothing is quoted. Keys are sorted, but for those
//! that people look for first.

use serde_json::{Map, Value};

/// Keys that stand before all others, in this order.
const FIRST: [&str; 5] = ["apiVersion", "kind", "metadata", "name", "namespace"];

/// Words that some reader takes for a truth value, for nothing or for a number.
const WORDS: [&str; 13] = [
    "true", "false", "yes", "no", "on", "off", "y", "n", "null", "nil", "inf", "nan", "infinity",
];

/// Writes one document.
pub(crate) fn document(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => mapping(&mut text, map, 0, false),
        Value::Array(items) if !items.is_empty() => sequence(&mut text, items, 0),
        scalar_value => {
            scalar(&mut text, scalar_value, 1);
            text.push('\n');
        }
    }
    text
}

/// Writes several documents into one file.
pub(crate) fn documents<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let texts: Vec<String> = values.into_iter().map(document).collect();
    texts.join("---\n")
}

/// Writes the entries of a map; the first one stands behind a dash if `begun`.
fn mapping(out: &mut String, map: &Map<String, Value>, depth: usize, begun: bool) {
    for (n, (key, value)) in sorted(map).into_iter().enumerate() {
        if n > 0 || !begun {
            indent(out, depth);
        }
        text(out, key);
        out.push(':');
        match value {
            Value::Object(map) if !map.is_empty() => {
                out.push('\n');
                mapping(out, map, depth + 1, false);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                sequence(out, items, depth);
            }
            value => {
                out.push(' ');
                scalar(out, value, depth + 1);
                out.push('\n');
            }
        }
    }
}

fn sequence(out: &mut String, items: &[Value], depth: usize) {
    for item in items {
        indent(out, depth);
        out.push('-');
        match item {
            Value::Object(map) if !map.is_empty() => {
                out.push(' ');
                mapping(out, map, depth + 1, true);
            }
            // Items of a list in a list begin on a line of their own.
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                sequence(out, items, depth + 1);
            }
            item => {
                out.push(' ');
                scalar(out, item, depth + 1);
                out.push('\n');
            }
        }
    }
}

fn sorted(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let rank = |key: &str| FIRST.iter().position(|first| *first == key);
    let rank = |key: &str| rank(key).unwrap_or(FIRST.len());
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by(|(a, _), (b, _)| rank(a).cmp(&rank(b)).then_with(|| a.cmp(b)));
    entries
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

fn scalar(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(lines) if fits_block(lines) => block(out, lines, depth),
        Value::String(plain) => text(out, plain),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

fn text(out: &mut String, text: &str) {
    if is_plain(text) {
        out.push_str(text);
    } else {
        quoted(out, text);
    }
}

/// Tells whether every reader takes a text for a text without quotes.
fn is_plain(text: &str) -> bool {
    let flag = text.strip_prefix("--").unwrap_or(text);
    let begins = |c: char| c.is_ascii_alphabetic() || (c == '/' && flag.len() == text.len());
    let goes_on = |c: char| c.is_ascii_alphanumeric() || "_./@+=,:-".contains(c);
    flag.starts_with(begins)
        && flag.chars().all(goes_on)
        && !flag.ends_with(':')
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(flag))
}

/// Tells whether a text of several lines can be written as it is.
fn fits_block(text: &str) -> bool {
    let blank = |line: &str| !line.is_empty() && line.trim().is_empty();
    text.contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && text
            .chars()
            .all(|c| c == '\n' || c == '\t' || !is_strange(c))
        && !text.lines().any(blank)
}

fn block(out: &mut String, text: &str, depth: usize) {
    let (body, sign) = match text.strip_suffix('\n') {
        None => (text, "|-"),
        Some(body) if body.ends_with('\n') => (body, "|+"),
        Some(body) => (body, "|"),
    };
    out.push_str(sign);
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            indent(out, depth);
            out.push_str(line);
        }
    }
}

/// Quotes a text as JSON does, which YAML reads, and escapes what YAML does not allow as it is.
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_strange(c) => {
                let escape = format!("\\u{:04x}", u32::from(c));
                out.push_str(&escape);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Tells whether a character is invisible, ends a line for some readers, or is none at all.
fn is_strange(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Value {
        serde_saphyr::from_str(text).unwrap()
    }

    #[test]
    fn texts_that_look_like_something_else_are_quoted() {
        let misleading = [
            "",
            " ",
            "true",
            "True",
            "YES",
            "no",
            "On",
            "y",
            "N",
            "null",
            "~",
            "1",
            "-1",
            "+1",
            "1e3",
            "0755",
            "0o17",
            "0x1f",
            "1_000",
            "1:30",
            "2026-01-31",
            ".5",
            ".inf",
            ".NaN",
            "nan",
            "-",
            "--",
            "---",
            "--- a",
            "...",
            "- a",
            "a: b",
            "a:",
            "a #b",
            "#a",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "%a",
            "@a",
            "`a`",
            "'a'",
            "\"a\"",
            "[a]",
            "{a}",
            "a, b",
            "?",
            "? a",
            "=",
            "<<",
            " a",
            "a ",
            "a\tb",
            "a\u{7f}b",
            "a\u{85}b",
            "a\u{2028}b",
            "\u{feff}a",
            "\\",
            "10.96.0.0/12",
            "--1",
        ];
        for text in misleading {
            let written = document(&json!({"k": text}));
            assert!(written.starts_with("k: \""), "{written}");
            assert_eq!(read(&written), json!({"k": text}), "{written}");
        }
        let plain = [
            "a",
            "/etc/x",
            "a:b",
            "https://127.0.0.1:2379",
            "--a=b,c",
            "a.b/c-d_e",
            "yess",
        ];
        for text in plain {
            assert_eq!(document(&json!([text])), format!("- {text}\n"));
            assert_eq!(read(&document(&json!([text]))), json!([text]));
        }
    }

    #[test]
    fn several_lines_are_written_as_they_are_where_that_is_safe() {
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIB+/=\n-----END CERTIFICATE-----\n";
        let written = document(&json!({"data": {"ca.crt": certificate}}));
        insta::assert_snapshot!(written, @r"
        data:
          ca.crt: |
            -----BEGIN CERTIFICATE-----
            MIIB+/=
            -----END CERTIFICATE-----
        ");
        let texts = [
            "a\nb",
            "a\nb\n",
            "a\nb\n\n",
            "a\n\nb\n",
            "\na",
            " a\nb",
            "a\n  b\n",
            "a\n \nb",
            "a\r\nb",
            "a: b\n# c\n",
            "a\nb \n",
            "\n",
            "\n\n",
            "a\n\tb\n",
            "a\n---\nb\n",
            "a\n...\n",
        ];
        for text in texts {
            for value in [
                json!({"k": text, "l": 1}),
                json!([text, [text]]),
                json!(text),
            ] {
                let written = document(&value);
                assert_eq!(read(&written), value, "{text:?} became\n{written}");
            }
        }
    }

    #[test]
    fn keys_that_people_look_for_first_stand_first() {
        let value = json!({
            "spec": {"list": [{"zebra": 1, "name": "a"}, [], {}, [1, [2]]], "empty": {}},
            "kind": "Pod",
            "metadata": {"labels": null, "name": "p"},
            "apiVersion": "v1",
        });
        let written = documents([&value, &json!({"on": "off"})]);
        insta::assert_snapshot!(written, @r#"
        apiVersion: v1
        kind: Pod
        metadata:
          name: p
          labels: null
        spec:
          empty: {}
          list:
          - name: a
            zebra: 1
          - []
          - {}
          -
            - 1
            -
              - 2
        ---
        "on": "off"
        "#);
        let read: Vec<Value> = serde_saphyr::from_multiple(&written).unwrap();
        assert_eq!(read, [value, json!({"on": "off"})]);
    }
}
