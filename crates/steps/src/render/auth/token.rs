//! The Secret of a bootstrap token that the user brings.
//!
//! A token is a secret, so it is not made up here: a renderer gives the same bytes every time.

use std::collections::BTreeMap;

use base64::Engine as _;
use bootlace_model::config::Settings;
use bootlace_model::fault::Fault;
use serde_json::{Value, json};

use crate::assets::{TOKEN, asset};

/// Returns the Secret, or says what is wrong with the token without repeating it.
pub(super) fn secret(settings: &Settings, content: &[u8]) -> Result<Value, Fault> {
    let bad = || {
        let path = asset(settings, TOKEN);
        Fault::bad_input(format!("{path} holds no bootstrap token"))
            .in_file(path.as_str())
            .because("a token that the API does not accept would let no machine join")
            .hint("write ID.SECRET on one line: 6 and 16 small letters or digits")
            .hint("`kubeadm token generate` prints one; without the file no token is rendered")
    };
    let text = std::str::from_utf8(content).map_err(|_| bad())?;
    let (id, secret) = text.trim().split_once('.').ok_or_else(bad)?;
    let fits = |part: &str, length: usize| {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        part.len() == length && part.bytes().all(allowed)
    };
    if !fits(id, 6) || !fits(secret, 16) {
        return Err(bad());
    }
    let data = [
        (
            "auth-extra-groups",
            "system:bootstrappers:kubeadm:default-node-token",
        ),
        ("description", "Brought along when the cluster was made."),
        ("token-id", id),
        ("token-secret", secret),
        ("usage-bootstrap-authentication", "true"),
        ("usage-bootstrap-signing", "true"),
    ];
    // Not stringData: what is applied again is compared with what the API stores.
    let encode = |text| base64::engine::general_purpose::STANDARD.encode(text);
    let data: BTreeMap<&str, String> = data.map(|(key, text)| (key, encode(text))).into();
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": format!("bootstrap-token-{id}"), "namespace": "kube-system"},
        "type": "bootstrap.kubernetes.io/token",
        "data": data,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::settings;

    #[test]
    fn only_tokens_that_the_api_accepts_are_rendered() {
        let good = secret(&settings(), b"abcdef.0123456789abcdef\n").unwrap();
        assert_eq!(good["metadata"]["name"], "bootstrap-token-abcdef");
        assert_eq!(good["data"]["token-secret"], "MDEyMzQ1Njc4OWFiY2RlZg==");
        let bad: [&[u8]; 6] = [
            b"",
            b"abcdef",
            b"abcde.0123456789abcdef",
            b"abcdef.0123456789abcdefg",
            b"ABCDEF.0123456789abcdef",
            b"\xff.0123456789abcdef",
        ];
        for token in bad {
            let fault = secret(&settings(), token).unwrap_err();
            assert!(!format!("{fault:?}").contains("0123456789"), "{fault:?}");
        }
    }
}
