//! YAML as it is written into the folders and files that are served from.
//!
//! Plain `yes` and `on` are true and `0644` is octal, as in YAML 1.1: OpenShift's server reads them so.

use serde_json::Value;
use serde_saphyr::MessageFormatter as _;

/// Reads one document; an error says where it is, and shows nothing of the content.
pub(crate) fn parse(content: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(content).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 200,
            max_events: 4_000_000,
            max_nodes: 2_000_000,
        },
        legacy_octal_numbers: true,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
    };
    let value = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let error = error.without_snippet();
        let line = error.location().map(|at| at.line());
        let what = serde_saphyr::UserMessageFormatter.format_message(error);
        // What stands behind a colon is from the text, which may be a secret.
        let what = what.split(':').next().unwrap_or_default();
        let what = what.replace(char::is_control, " ");
        match line {
            Some(line) => format!("line {line} is not YAML: {what}"),
            None => format!("it is not YAML: {what}"),
        }
    })?;
    Ok(with_whole_numbers(value))
}

/// Writes numbers without a fraction as whole ones, which is what `1.0` and `1e3` are in JSON.
fn with_whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => {
                let whole: Option<i64> = format!("{float:.0}").parse().ok();
                whole.map_or(Value::Number(number), Value::from)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(with_whole_numbers).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(name, value)| (name, with_whole_numbers(value)));
            Value::Object(fields.collect())
        }
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_and_numbers_are_those_of_yaml_1_1() {
        let value = parse(b"[yes, off, 'on', 0644, 0x1f, 420.0, 1e2, 2.5, 9007199254740993]");
        let expected = serde_json::json!([
            true,
            false,
            "on",
            420,
            31,
            420,
            100,
            2.5,
            9_007_199_254_740_993_i64
        ]);
        assert_eq!(value.unwrap(), expected);
    }

    #[test]
    fn what_is_not_yaml_is_refused_with_its_line() {
        assert_eq!(parse(b"a: [1]\n").unwrap()["a"][0], 1);
        let error = parse(b"a: 1\nb: [\n").unwrap_err();
        assert!(error.contains("is not YAML"), "{error}");
        let error = parse(b"my-plain-token: 1\nmy-plain-token: 2\n").unwrap_err();
        assert!(
            error.contains("line 2") && !error.contains("my-plain"),
            "{error}"
        );
        assert!(parse(b"\xff").is_err());
    }
}
