//! Flags of a program, as the program reads them.

use std::collections::BTreeMap;

/// Flags by their names, without the dashes.
pub(super) type Flags = BTreeMap<String, String>;

/// Flags that may be repeated: each adds to the ones before. Of any other, the last counts.
const LISTS: [&str; 5] = [
    "authorization-mode",
    "disable-admission-plugins",
    "enable-admission-plugins",
    "feature-gates",
    "tls-cipher-suites",
];

/// Reads the flags among the words of a command.
pub(super) fn flags<'a>(words: impl IntoIterator<Item = &'a str>) -> Flags {
    let mut flags = Flags::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let Some(word) = word.strip_prefix("--") else {
            continue;
        };
        // Nothing after two dashes alone is a flag.
        if word.is_empty() {
            break;
        }
        let (name, value) = if let Some(pair) = word.split_once('=') {
            pair
        } else {
            // A flag without a value is a switch that is on.
            let value = words.next_if(|next| !next.starts_with('-'));
            (word, value.unwrap_or("true"))
        };
        // Kubernetes' programs accept both.
        let name = name.replace('_', "-");
        let before = flags.get(&name).filter(|_| LISTS.contains(&&*name));
        let value = match before {
            Some(before) => format!("{before},{value}"),
            None => value.to_owned(),
        };
        flags.insert(name, value);
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::flags;

    #[test]
    fn flags_are_read_as_the_programs_read_them() {
        let rows: [(&str, &[(&str, &str)]); 7] = [
            ("kubelet --a=b x", &[("a", "b")]),
            ("--a b --c", &[("a", "b"), ("c", "true")]),
            ("--read_only_port=1", &[("read-only-port", "1")]),
            ("--a=1 --a=2", &[("a", "2")]),
            (
                "--authorization-mode=AlwaysAllow --authorization-mode RBAC",
                &[("authorization-mode", "AlwaysAllow,RBAC")],
            ),
            ("--a= -v 2 b", &[("a", "")]),
            ("--a=1 -- --a=2", &[("a", "1")]),
        ];
        for (line, expected) in rows {
            let found = flags(line.split(' '));
            let found: Vec<_> = found.iter().map(|(k, v)| (&**k, &**v)).collect();
            assert_eq!(found, expected, "{line}");
        }
    }
}
