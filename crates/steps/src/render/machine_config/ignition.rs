//! Parts of an Ignition config.

use base64::Engine as _;
use serde_json::{Value, json};

/// The version of the specification that is written: old enough for every machine that reads 3.x
/// as OpenShift serves it.
pub(super) const VERSION: &str = "3.4.0";

/// Returns a file.
pub(super) fn file(path: &str, mode: u32, content: &str) -> Value {
    let content = base64::engine::general_purpose::STANDARD.encode(content);
    json!({
        "path": path,
        "mode": mode,
        "overwrite": true,
        "contents": {"source": format!("data:text/plain;charset=utf-8;base64,{content}")},
    })
}

/// Returns a folder.
pub(super) fn folder(path: &str, mode: u32) -> Value {
    json!({"path": path, "mode": mode})
}

/// Returns a unit that is started at boot.
pub(super) fn unit(name: &str, contents: &str) -> Value {
    json!({"name": name, "enabled": true, "contents": contents})
}
