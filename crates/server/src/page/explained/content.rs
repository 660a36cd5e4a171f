//! Contents, as far as they may be shown.

use bootlace_ignition::content::{decode_data_url, finish};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::page::secrets;
use crate::tokens::hex;

/// The largest text that is shown.
const LARGEST_TEXT: usize = 64 << 10;
/// No file of a config is larger in earnest.
const LARGEST: u64 = 64 << 20;

/// What is told about a content.
#[derive(Debug)]
pub(super) struct Shown {
    /// How large it is; none for what the machine fetches.
    pub(super) size: Option<usize>,
    /// Its digest; none for a secret, since a short one could be guessed by it.
    pub(super) sha256: Option<String>,
    /// The content, or why it is not shown.
    pub(super) content: Value,
}

impl Shown {
    fn only(size: Option<usize>, kind: &str, why: &str) -> Self {
        Self {
            size,
            sha256: None,
            content: json!({"kind": kind, "why": why}),
        }
    }
}

/// Shows the content of a file that a config holds, or says from where it comes.
pub(super) fn of_resource(path: &str, mode: u32, resource: &Value) -> Shown {
    let Some(source) = resource["source"].as_str().filter(|url| !url.is_empty()) else {
        return Shown::only(None, "none", "the config says nothing about the content");
    };
    if !source.starts_with("data:") {
        return of_remote(source, resource);
    }
    let content = decode_data_url(source).ok();
    let compression = resource["compression"].as_str();
    let content = content.and_then(|raw| finish(raw, compression, None, LARGEST).ok());
    let Some(content) = content else {
        return Shown::only(None, "unreadable", "it cannot be decoded");
    };
    let size = Some(content.len());
    if let Some(why) = secrets::of_file(path, mode, &content) {
        return Shown::only(size, "hidden", why);
    }
    let shown = of_bytes(&content);
    let is_secret = !shown["hidden_values"].is_null();
    Shown {
        size,
        sha256: (!is_secret).then(|| hex(&Sha256::digest(&content))),
        content: shown,
    }
}

/// Says from where a machine fetches a content, without what it proves itself by.
fn of_remote(source: &str, resource: &Value) -> Shown {
    let headers = resource["httpHeaders"].as_array().into_iter().flatten();
    let headers: Vec<&Value> = headers.map(|header| &header["name"]).collect();
    let hash = &resource["verification"]["hash"];
    let mut shown = Shown::only(None, "remote", "the machine fetches it");
    shown.content["url"] = secrets::shown_url(source).into();
    shown.content["headers"] = json!(headers);
    shown.content["is_verified"] = hash.is_string().into();
    shown
}

fn of_bytes(content: &[u8]) -> Value {
    if content.len() > LARGEST_TEXT {
        return json!({"kind": "large", "why": "it is larger than 64 KiB"});
    }
    match std::str::from_utf8(content) {
        Ok(text) if !text.contains('\0') => text_of(text),
        _ => json!({"kind": "binary", "why": "it is not a text"}),
    }
}

/// Shows the text of a unit.
pub(super) fn of_text(text: Option<&str>) -> Value {
    let Some(text) = text else {
        return json!({"kind": "none", "why": "the config says nothing about the content"});
    };
    match secrets::of_text(text) {
        Some(why) => json!({"kind": "hidden", "why": why}),
        None if text.len() > LARGEST_TEXT => of_bytes(text.as_bytes()),
        None => text_of(text),
    }
}

fn text_of(text: &str) -> Value {
    let (text, hidden) = secrets::redacted(text);
    if hidden == 0 {
        return json!({"kind": "text", "text": text});
    }
    let why = "values whose names are those of secrets are hidden";
    json!({"kind": "text", "text": text, "hidden_values": hidden, "why": why})
}
