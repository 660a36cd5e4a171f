//! The documents that browsers get, each in one piece.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

const PAGE: &str = include_str!("page.html");
const FORM: &str = include_str!("form.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = concat!(
    include_str!("script/base.js"),
    include_str!("script/explain.js"),
    include_str!("script/nodes.js"),
    include_str!("script/pools.js"),
);
/// The picture in the tab, so that browsers need not ask for one.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E\
    %3Crect width='32' height='32' rx='7' fill='%231f6f4a'/%3E\
    %3Cpath d='M9 9l14 7M23 9L9 16m0 0l14 7M23 16L9 23' stroke='white' stroke-width='2.6' stroke-linecap='round' fill='none'/%3E%3C/svg%3E";

/// What a browser may do; whatever is not named here it may not.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; \
         img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        hash(SCRIPT),
        hash(STYLE),
    )
});

/// Returns what a browser may do.
pub(super) fn policy() -> &'static str {
    &POLICY
}

/// Returns the page for somebody who may see these pools, or all.
pub(super) fn page(pools: &[&str], sees_all: bool, is_open: bool) -> String {
    let kind = match (is_open, sees_all) {
        (true, _) => "open",
        (false, true) => "all",
        (false, false) => "pools",
    };
    filled(
        PAGE,
        &[
            ("{{kind}}", kind),
            ("{{pools}}", &escaped(&pools.join(" "))),
            ("{{version}}", env!("CARGO_PKG_VERSION")),
        ],
    )
}

/// Returns the form that asks for a token.
pub(super) fn form(said: &str) -> String {
    filled(FORM, &[("{{said}}", &escaped(said))])
}

fn filled(document: &str, fields: &[(&str, &str)]) -> String {
    let mut text = document.replace("{{icon}}", ICON);
    for (field, value) in fields {
        text = text.replace(field, value);
    }
    // Last, so that nothing in them is taken for a field.
    text.replace("{{style}}", STYLE)
        .replace("{{script}}", SCRIPT)
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_whole_and_ask_nobody_else() {
        for text in [page(&["a", "b\"<"], false, false), form("<b>")] {
            assert!(!text.contains("{{"), "{text}");
            assert!(!text.contains("b\"<") && !text.contains("<b>"));
            for word in [
                " src=",
                "@import",
                "url(",
                " style=",
                " onclick=",
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
            ] {
                assert!(!text.contains(word), "{word}");
            }
            for link in text.match_indices("http") {
                let place = &text[link.0..];
                assert!(
                    place.starts_with("http://www.w3.org/2000/svg"),
                    "{place:.60}"
                );
            }
        }
        // A script or style that ends early would not be the one whose hash is told.
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</style"));
    }
}
