//! Paths that hold where they are read: with `--root DIR`, a path on the target lies below DIR.

use std::path::Path;

use bootlace_model::fault::Fault;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::paths::Places;

/// The first words of paths that lie on no disk: those of APIs.
const API: [&str; 7] = [
    "api", "apis", "healthz", "livez", "openapi", "readyz", "version",
];
/// Where a container sees what it is given of the asset folder.
const CONTAINER: &str = "assets";
/// The folders of a target that a command which runs in a container may name.
const TOP: [&str; 6] = ["etc", "opt", "var", "srv", "home", "root"];
/// What is always read on this computer, whatever the root is.
const HOST: [&str; 6] = [
    "/etc/ssl",
    "/etc/pki",
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
];
/// The root, as a program that runs in it calls it.
const INSIDE: &str = "/proc/self/cwd";

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
            // The rest of a path begins no other one.
            let length = path.find(ends_path).unwrap_or(path.len());
            let command = command_of(&shown);
            if begins_word(&shown) && path[..length] == *INSIDE {
                shown.push_str(root);
            } else {
                if begins_word(&shown)
                    && self.is_on_target(root, path)
                    && !is_seen_elsewhere(command, &path[..length])
                {
                    shown.push_str(root);
                }
                shown.push_str(&path[..length]);
            }
            rest = &path[length..];
        }
        shown.push_str(rest);
        shown
    }

    fn is_on_target(&self, root: &str, text: &str) -> bool {
        let path = &text[..text.find(ends_path).unwrap_or(text.len())];
        let path = path.trim_end_matches(['.', ':', '…']);
        let top = top_of(path);
        let is_below = |folder: &str| {
            // Behind a file come its line and column.
            path.strip_prefix(folder)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
        };
        // Not the range of an address, the subject of a certificate or a pattern.
        top.starts_with(|c: char| c.is_alphanumeric() || "._".contains(c))
            && !top.contains(['=', '?'])
            && top.contains(|c: char| !c.is_ascii_digit())
            && !API.contains(&top)
            && top != CONTAINER
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

/// Returns the first word of a path.
fn top_of(path: &str) -> &str {
    path.trim_start_matches('/')
        .split(['/', ':'])
        .next()
        .unwrap_or_default()
}

/// Returns what stands before a path in the same command; lines that are continued count as one.
fn command_of(before: &str) -> &str {
    let is_end = |(at, c): &(usize, char)| match c {
        '`' => true,
        '\n' => !before[..*at].ends_with('\\'),
        _ => false,
    };
    let end = before.char_indices().rev().find(is_end);
    end.map_or(before, |(at, _)| &before[at + 1..])
}

/// Tells whether a command reads a path where it is right as it is: what a link leads to, what a
/// program is told that was given the root, and what is called in a container.
fn is_seen_elsewhere(command: &str, path: &str) -> bool {
    let in_container = command.contains("podman run") && !TOP.contains(&top_of(path));
    let word = command.trim_end_matches('\'');
    in_container || word.ends_with("ln -sfn ") || command.contains("--root ")
}

/// Tells whether a path can begin behind a text: not in the middle of a word, a URL or a path.
fn begins_word(before: &str) -> bool {
    match before.chars().next_back() {
        None => true,
        // The end of a colour.
        Some('m') => before
            .rfind('\u{1b}')
            .is_some_and(|at| before[at..].find('m') == Some(before.len() - at - 1)),
        // A quote may end a word as well as begin one.
        Some(quote) if "'\"".contains(quote) => begins_quoted(before, quote),
        Some(last) => !is_inside_word(last),
    }
}

/// Tells whether a quote behind a text is the first one of a word.
fn begins_quoted(before: &str, quote: char) -> bool {
    let outside = before.trim_end_matches(quote).chars().next_back();
    !outside.is_some_and(|last| last != ':' && is_inside_word(last))
}

fn is_inside_word(c: char) -> bool {
    c.is_alphanumeric() || "_-.~/$:}>*…]".contains(c)
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
            here: HOST
                .into_iter()
                .chain(["/etc/mine.yaml"])
                .map(ToOwned::to_owned)
                .collect(),
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
                "/usr/local/bin/x and /run/x, /data/x: gone",
                "/var/tmp/demo/usr/local/bin/x and /var/tmp/demo/run/x, /var/tmp/demo/data/x: gone",
            ),
            (
                "install -D -m 0755 /dev/stdin '/usr/a b'",
                "install -D -m 0755 /dev/stdin '/var/tmp/demo/usr/a b'",
            ),
            (
                "ln -sfn /usr/lib/a /etc/b",
                "ln -sfn /usr/lib/a /var/tmp/demo/etc/b",
            ),
            (
                "`useradd --root /proc/self/cwd --shell /bin/sh` at /etc/passwd",
                "`useradd --root /var/tmp/demo --shell /bin/sh` at /var/tmp/demo/etc/passwd",
            ),
            (
                "podman run --volume /opt/b:/assets:z IMAGE \\\n  /usr/bin/render --to=/assets/tls\n/usr/x",
                "podman run --volume /var/tmp/demo/opt/b:/assets:z IMAGE \\\n  /usr/bin/render --to=/assets/tls\n/var/tmp/demo/usr/x",
            ),
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
            "/readyz?verbose, /livez, /healthz/etcd, /version, /openapi/v3, /api/v1/nodes",
            "fd00:1::/56, 10.0.0.0/24, [fd00::]/64",
            "-subj /CN=kubernetes and 1 / 2",
            "echo x > /dev/null 2>/dev/null",
            "cp \"$ASSETS\"/tls/ca.crt 'a b'/etc/c",
            "https://example/etc/x and file:///etc/x",
            "--volume ASSETS:/etc/x:z",
            "--root /var/tmp/demo in /var/tmp/demo/etc/x",
            "bootlace run cluster --root /var/tmp/demo --config /etc/x",
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
        for text in [
            "/etc/x and /opt/y",
            "useradd --root /proc/self/cwd --home-dir /home/a",
            "ln -sfn /usr/a /usr/b",
        ] {
            let once = rooted().text(text);
            assert_eq!(rooted().text(&once), once);
        }
    }
}
