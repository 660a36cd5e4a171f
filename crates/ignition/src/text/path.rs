//! Paths with slashes, cleaned as Go cleans them.

use std::borrow::Cow;

/// Tells whether a path begins at the root.
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
}

/// Returns the shortest path that means the same, by its text alone.
pub(crate) fn clean(path: &str) -> Cow<'_, str> {
    if path.is_empty() {
        return Cow::Borrowed(".");
    }
    let rooted = is_absolute(path);
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                _ if rooted => {}
                _ => parts.push(".."),
            },
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    let cleaned = match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".into(),
        (false, false) => joined,
    };
    if cleaned == path {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(cleaned)
    }
}

/// Joins two paths and cleans the result.
pub(crate) fn join(first: &str, second: &str) -> String {
    clean(&format!("{first}/{second}")).into_owned()
}

/// Returns what stands behind the last dot of a path's last part, with the dot.
pub(crate) fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rfind('.').map_or("", |dot| &name[dot..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_by_their_text() {
        for (path, cleaned) in [
            ("", "."),
            ("/", "/"),
            ("//a", "/a"),
            ("/a/", "/a"),
            ("/a/./b", "/a/b"),
            ("/a/../b", "/b"),
            ("/../a", "/a"),
            ("a/..", "."),
            ("../a", "../a"),
            ("../../a", "../../a"),
            ("/a/b", "/a/b"),
        ] {
            assert_eq!(clean(path), cleaned, "{path}");
        }
        assert_eq!(join("/a/b", "../c"), "/a/c");
        assert_eq!(extension("/x.d/a.tar.gz"), ".gz");
        assert_eq!(extension("/x.d/a"), "");
        assert_eq!(extension(".conf"), ".conf");
    }
}
