//! The page, as browsers and programs get it.

mod chromium;
mod explain;
mod login;

use crate::world::{World, token};

/// As a browser asks.
pub(crate) const BROWSER: &str = "Accept: text/html,application/xhtml+xml,*/*;q=0.8";

/// Returns a tokens file with `worker-token`, `luks-token`, `all-token` and `late-token`.
pub(crate) fn tokens() -> String {
    [
        "tokens:\n".to_owned(),
        token(
            "worker-token",
            "pool: worker, expires: 2999-01-01T00:00:00Z",
        ),
        token("luks-token", "pool: luks, expires: 2999-01-01T00:00:00Z"),
        token("all-token", "pool: '*', expires: 2999-01-01T00:00:00Z"),
        token("late-token", "pool: worker, expires: 2020-01-01T00:00:00Z"),
    ]
    .concat()
}

/// Starts a server whose pool worker serves a config, as JSON, and has an image.
pub(crate) fn serving(world: &World, config: &serde_json::Value) {
    let digest = "0".repeat(64);
    let pool = format!(
        "spec: {{desiredImage: 'registry.example/os@sha256:{digest}'}}\n\
         status: {{configuration: {{name: rendered-1}}}}\n"
    );
    world.replace("pools/machine-pools/worker.yaml", &pool);
    world.replace("pools/machine-configs/rendered-1.yaml", &config.to_string());
}

/// Writes a text as a data URL.
fn data_url(text: &str) -> String {
    let escaped = text.bytes().map(|byte| match byte {
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    format!("data:,{}", escaped.collect::<String>())
}

/// Keeps a picture for whoever asks for it with `BOOTLACE_PICTURES`; the guide's is one of them.
#[expect(clippy::disallowed_methods, reason = "a test's own files and settings")]
fn keep_picture(name: &str, picture: &[u8]) {
    if let Ok(folder) = std::env::var("BOOTLACE_PICTURES") {
        std::fs::write(std::path::Path::new(&folder).join(name), picture).unwrap();
    }
}
