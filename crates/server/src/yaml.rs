//! YAML as it is written into the folders and files that are served from.

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
        strict_booleans: true,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let error = error.without_snippet();
        let line = error.location().map(|at| at.line());
        let what = serde_saphyr::UserMessageFormatter.format_message(error);
        let what = what.replace(char::is_control, " ");
        match line {
            Some(line) => format!("line {line} is not YAML: {what}"),
            None => format!("it is not YAML: {what}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_yaml_is_refused_with_its_line() {
        assert_eq!(parse(b"a: [1]\n").unwrap()["a"][0], 1);
        let error = parse(b"a: 1\nb: [\n").unwrap_err();
        assert!(error.contains("is not YAML"), "{error}");
        assert!(parse(b"a: 1\na: 2\n").is_err());
        assert!(parse(b"\xff").is_err());
    }
}
