//! In what two trees differ, for people.

use std::fmt;

use bootlace_model::ids::Digest;
use bootlace_model::node::Owner;
use bootlace_model::path::TargetPath;
use bootlace_model::shell;

use super::{Entry, EntryKind, Snapshot};

/// How many findings are printed; the rest is counted.
const MOST_FINDINGS: usize = 40;

/// In what a tree differs from the one that was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// One finding a path, in the order of paths.
    pub findings: Vec<String>,
}

impl Difference {
    pub(super) fn between(expected: &Snapshot, found: &Snapshot) -> Result<(), Self> {
        let mut findings = Vec::new();
        for (path, entry) in &expected.files {
            match found.files.get(path) {
                None => findings.push(format!("- {path}: {} is missing", noun(entry))),
                Some(other) => findings.extend(changed(path, entry, other)),
            }
        }
        for (path, entry) in &found.files {
            if !expected.files.contains_key(path) {
                findings.push(format!("+ {path}: {} should not be there", noun(entry)));
            }
        }
        findings.extend(other_running(expected, found));
        if findings.is_empty() {
            Ok(())
        } else {
            Err(Self { findings })
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the trees differ in {} places:", self.findings.len())?;
        for finding in self.findings.iter().take(MOST_FINDINGS) {
            writeln!(f, "{finding}")?;
        }
        let more = self.findings.len().saturating_sub(MOST_FINDINGS);
        if more > 0 {
            writeln!(f, "and {more} more")
        } else {
            Ok(())
        }
    }
}

impl std::error::Error for Difference {}

fn other_running(expected: &Snapshot, found: &Snapshot) -> Vec<String> {
    let mut findings = Vec::new();
    for (what, how) in &expected.running {
        match found.running.get(what) {
            None => findings.push(format!("- {what}: {how} is missing")),
            Some(other) if other == how => {}
            Some(other) => findings.push(format!("~ {what}: {how} is {other}")),
        }
    }
    let added = found.running.iter();
    let added = added.filter(|(what, _)| !expected.running.contains_key(*what));
    findings.extend(added.map(|(what, how)| format!("+ {what}: {how} should not be there")));
    findings
}

fn noun(entry: &Entry) -> String {
    match &entry.kind {
        EntryKind::File(content) => format!("a file of {} bytes", content.len()),
        EntryKind::Directory => "a folder".into(),
        EntryKind::Link(target) => format!("a link to {target}"),
        EntryKind::Other(what) => what.clone(),
    }
}

fn changed(path: &TargetPath, expected: &Entry, found: &Entry) -> Option<String> {
    let mut what = Vec::new();
    if expected.mode != found.mode {
        what.push(format!(
            "mode {} is {}",
            shell::mode(expected.mode),
            shell::mode(found.mode)
        ));
    }
    if expected.owner != found.owner {
        let text = |owner: Owner| format!("{}:{}", owner.uid, owner.gid);
        what.push(format!(
            "owner {} is {}",
            text(expected.owner),
            text(found.owner)
        ));
    }
    if expected.xattrs != found.xattrs {
        what.push(format!(
            "labels {:?} are {:?}",
            expected.xattrs, found.xattrs
        ));
    }
    if expected.kind != found.kind {
        what.push(content_change(expected, found));
    }
    (!what.is_empty()).then(|| format!("~ {path}: {}", what.join(", ")))
}

fn content_change(expected: &Entry, found: &Entry) -> String {
    let (EntryKind::File(old), EntryKind::File(new)) = (&expected.kind, &found.kind) else {
        return format!("{} is {}", noun(expected), noun(found));
    };
    if let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) {
        let diff = similar::TextDiff::from_lines(old, new);
        let lines = diff.unified_diff().context_radius(1).to_string();
        return format!("content\n    {}", lines.trim_end().replace('\n', "\n    "));
    }
    let text = |bytes: &[u8]| format!("{} bytes {}", bytes.len(), Digest::of(bytes).short());
    format!("content of {} is {}", text(old), text(new))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn entry(kind: EntryKind, mode: u32) -> Entry {
        Entry {
            kind,
            mode,
            owner: Owner { uid: 0, gid: 0 },
            xattrs: [].into(),
        }
    }

    fn file(text: &str) -> EntryKind {
        EntryKind::File(Arc::new(text.as_bytes().to_vec()))
    }

    fn tree(entries: Vec<(&str, Entry)>) -> Snapshot {
        let named = |(path, entry)| (TargetPath::new(path).unwrap(), entry);
        let files = entries.into_iter().map(named).collect();
        let running = [].into();
        Snapshot { files, running }
    }

    #[test]
    fn every_kind_of_difference_is_named() {
        let mut labelled = entry(file("x"), 0o644);
        labelled.xattrs.insert("user.a".into(), b"b".to_vec());
        labelled.owner.gid = 7;
        let expected = tree(vec![
            ("/a", entry(file("one\ntwo\n"), 0o644)),
            ("/b", entry(EntryKind::Directory, 0o755)),
            ("/c", entry(EntryKind::Link("x".into()), 0o777)),
            ("/d", entry(file("x"), 0o644)),
            ("/e", entry(file("x"), 0o644)),
        ]);
        let found = tree(vec![
            ("/a", entry(file("one\n2\n"), 0o600)),
            ("/c", entry(EntryKind::Directory, 0o777)),
            ("/d", labelled),
            ("/e", entry(file("x"), 0o644)),
            ("/f", entry(EntryKind::Other("a socket".into()), 0o644)),
        ]);
        let difference = expected.compare(&found).unwrap_err();
        assert_eq!(
            difference.to_string(),
            "the trees differ in 5 places:\n\
             ~ /a: mode 0644 is 0600, content\n\
             \x20   @@ -1,2 +1,2 @@\n     one\n    -two\n    +2\n\
             - /b: a folder is missing\n\
             ~ /c: a link to x is a folder\n\
             ~ /d: owner 0:0 is 0:7, labels {} are {\"user.a\": [98]}\n\
             + /f: a socket should not be there\n"
        );
        assert_eq!(expected.compare(&expected), Ok(()));
    }

    #[test]
    fn what_runs_is_compared() {
        let running = |pairs: &[(&str, &str)]| Snapshot {
            running: pairs
                .iter()
                .map(|(a, b)| ((*a).into(), (*b).into()))
                .collect(),
            ..Snapshot::default()
        };
        let expected = running(&[("pod a/b", "image"), ("unit a", "started"), ("unit b", "x")]);
        let found = running(&[("pod a/b", "other"), ("unit b", "x"), ("unit c", "started")]);
        let difference = expected.compare(&found).unwrap_err();
        let expected = [
            "~ pod a/b: image is other",
            "- unit a: started is missing",
            "+ unit c: started should not be there",
        ];
        assert_eq!(difference.findings, expected);
    }
}
