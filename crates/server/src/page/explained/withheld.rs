//! What of an explanation is not for those who may not have the config.

use serde_json::{Value, json};

use crate::rendered::ANNOTATIONS;

/// Takes out by what the hidden parts of a config could be guessed: sizes and digests of what is not
/// shown whole, and the name of the config, which follows from all of it.
pub(in crate::page) fn withhold(explained: &mut Value) {
    let files = explained.get_mut("files").and_then(Value::as_array_mut);
    for file in files.into_iter().flatten() {
        if file["path"] == ANNOTATIONS {
            let why = "it names the config, and the name follows from the whole config";
            file["content"] = json!({"kind": "hidden", "why": why});
        }
        let content = &file["content"];
        let is_whole = content["kind"] == "text" && content["hidden_values"].is_null();
        if !is_whole {
            file["size"] = Value::Null;
            file["sha256"] = Value::Null;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_shown_whole_keeps_its_size_and_digest() {
        let file = |path: &str, content: Value| json!({"path": path, "size": 5, "sha256": "x", "content": content});
        let mut explained = json!({"files": [
            file("/shown", json!({"kind": "text", "text": "hello"})),
            file("/part", json!({"kind": "text", "text": "a=(hidden)", "hidden_values": 1})),
            file("/hidden", json!({"kind": "hidden"})),
            file("/large", json!({"kind": "large"})),
            file(ANNOTATIONS, json!({"kind": "text", "text": "rendered-1"})),
        ]});
        withhold(&mut explained);
        let files = explained["files"].as_array().unwrap();
        assert_eq!(
            (&files[0]["size"], &files[0]["sha256"]),
            (&5.into(), &"x".into())
        );
        for file in &files[1..] {
            assert!(file["size"].is_null() && file["sha256"].is_null(), "{file}");
        }
        assert!(!explained.to_string().contains("rendered-1"), "{explained}");
        let mut summary = json!({"image": null});
        withhold(&mut summary);
        assert_eq!(summary, json!({"image": null}));
    }
}
