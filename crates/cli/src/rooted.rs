//! Paths that hold where they are read: with `--root DIR`, a path on the target lies below DIR.

use std::path::Path;

use bootlace_model::fault::Fault;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::paths::Places;

/// The folders of a target that are shown to people.
const TOP: [&str; 6] = ["etc", "opt", "var", "srv", "home", "root"];
/// What is always read on this computer, whatever the root is.
const HOST: [&str; 2] = ["/etc/ssl", "/etc/pki"];

/// Writes the root before every path on the target.
#[derive(Debug, Default)]
pub(crate) struct Rooted {
    /// Nothing if the root is that of this computer.
    root: Option<String>,
    /// Paths of this computer, which stay as they are.
    here: Vec<String>,
}

impl Rooted {
    /// Takes the root, and for paths of this computer what was typed.
    pub(crate) fn new(places: &Places, typed: impl IntoIterator<Item = String>) -> Self {
        let root = places.root.to_string_lossy().into_owned();
        let mut rooted = Self {
            root: Some(root).filter(|root| root != "/"),
            here: HOST.map(ToOwned::to_owned).into(),
        };
        for mount in &places.mounts {
            rooted.keep(&mount.source);
        }
        for word in typed {
            let value = word
                .split_once('=')
                .map_or(word.as_str(), |(_, value)| value);
            rooted.keep(Path::new(value));
        }
        rooted
    }

    /// Leaves a path of this computer, and what is below it, as it is.
    pub(crate) fn keep(&mut self, path: &Path) {
        let path = path.to_string_lossy();
        if path.starts_with('/') && path != "/" {
            self.here.push(path.trim_end_matches('/').to_owned());
        }
    }

    /// Writes the root before the paths of a text.
    pub(crate) fn text(&self, text: &str) -> String {
        let Some(root) = &self.root else {
            return text.to_owned();
        };
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('/') {
            let (before, path) = rest.split_at(at);
            shown.push_str(before);
            if begins_word(&shown) && self.is_on_target(root, path) {
                shown.push_str(root);
            }
            // The rest of a path begins no other one.
            let length = path.find(ends_path).unwrap_or(path.len());
            shown.push_str(&path[..length]);
            rest = &path[length..];
        }
        shown.push_str(rest);
        shown
    }

    fn is_on_target(&self, root: &str, text: &str) -> bool {
        let path = &text[..text.find(ends_path).unwrap_or(text.len())];
        let path = path.trim_end_matches(['.', ':', '…']);
        let top = path.trim_start_matches('/').split('/').next();
        let is_below = |folder: &str| {
            // Behind a file come its line and column.
            path.strip_prefix(folder)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
        };
        top.is_some_and(|top| TOP.contains(&top))
            && !is_below(root)
            && !self.here.iter().any(|here| is_below(here))
    }

    /// Writes the root before the paths of all that a fault says.
    pub(crate) fn fault(&self, fault: &Fault) -> Fault {
        let mut fault = fault.clone();
        let place = fault.place.iter_mut().map(|place| &mut place.file);
        let texts = std::iter::once(&mut fault.message)
            .chain(place)
            .chain(&mut fault.because)
            .chain(&mut fault.details)
            .chain(&mut fault.hints);
        for text in texts {
            *text = self.text(text);
        }
        fault
    }

    /// Writes the root before the paths of all texts of a value; none if there is nothing to write.
    pub(crate) fn value<T: Serialize + DeserializeOwned>(&self, value: &T) -> Option<T> {
        self.root.as_ref()?;
        let mut value = serde_json::to_value(value).ok()?;
        self.all(&mut value);
        serde_json::from_value(value).ok()
    }

    fn all(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.all(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.all(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Tells whether a path can begin behind a text: not in the middle of a word, a URL or a path.
fn begins_word(before: &str) -> bool {
    match before.chars().next_back() {
        None => true,
        // The end of a colour.
        Some('m') => before
            .rfind('\u{1b}')
            .is_some_and(|at| before[at..].find('m') == Some(before.len() - at - 1)),
        Some(last) => !(last.is_alphanumeric() || "_-.~/$:}>*…".contains(last)),
    }
}

fn ends_path(c: char) -> bool {
    c.is_whitespace() || "`'\"(),;[]{}<>\u{1b}".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rooted() -> Rooted {
        Rooted {
            root: Some("/var/tmp/demo".into()),
            here: vec!["/etc/ssl".into(), "/etc/mine.yaml".into()],
        }
    }

    #[test]
    fn a_path_on_the_target_gets_the_root() {
        for (text, wanted) in [
            (
                "the key /opt/bootlace/tls/ca.key: others",
                "the key /var/tmp/demo/opt/bootlace/tls/ca.key: others",
            ),
            ("`chmod 600 /opt/x`", "`chmod 600 /var/tmp/demo/opt/x`"),
            (
                "(/etc/a,/etc/b)",
                "(/var/tmp/demo/etc/a,/var/tmp/demo/etc/b)",
            ),
            ("--file=/etc/a", "--file=/var/tmp/demo/etc/a"),
            (
                "\u{1b}[1m/etc/a\u{1b}[0m",
                "\u{1b}[1m/var/tmp/demo/etc/a\u{1b}[0m",
            ),
        ] {
            assert_eq!(rooted().text(text), wanted);
        }
    }

    #[test]
    fn everything_else_stays() {
        for text in [
            "GET /apis/etc/v1 and /readyz",
            "https://example/etc/x and file:///etc/x",
            "--volume ASSETS:/etc/x:z",
            "--root /var/tmp/demo in /var/tmp/demo/etc/x",
            "/etc/mine.yaml:3 and /etc/ssl/certs/ca.crt",
            "a/etc/b ./etc/b ~/etc/b",
            "read/opt",
        ] {
            assert_eq!(rooted().text(text), text);
        }
        let none = Rooted::default();
        assert_eq!(none.text("/etc/x"), "/etc/x");
    }

    #[test]
    fn twice_is_once() {
        let once = rooted().text("/etc/x and /opt/y");
        assert_eq!(rooted().text(&once), once);
    }
}
