//! Trees compared by what they mean: fresh keys and certificates differ in every run.
//!
//! Private keys, public keys and certificates are replaced by what they say: whose key it is, who
//! signed, for which names, for how long; tokens, and when they expire, by whose they are. That holds for files, for bundles, for blocks inside of
//! other texts and for base64 in kubeconfigs. A digest of a file in the tree is replaced by that
//! file's path. Two keys that were the same stay the same, so a mix-up shows. Nothing else is
//! replaced.

mod papers;
mod segments;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;

use self::papers::Papers;
use self::segments::{Segment, base64_runs, decoded, hex_digests, segments};
use crate::tree::{EntryKind, Snapshot};

/// Returns the tree with its contents replaced by what they mean.
pub fn meaning_of(tree: &Snapshot) -> Snapshot {
    let papers = Papers::of(tree);
    let translator = Translator {
        tree,
        papers,
        digests: OnceCell::new(),
    };
    let mut meant = tree.clone();
    for entry in meant.files.values_mut() {
        if let EntryKind::File(content) = &mut entry.kind
            && let Ok(text) = std::str::from_utf8(content)
            && let Some(translated) = translator.translate(text)
        {
            *content = Arc::new(translated.into_bytes());
        }
    }
    meant
}

struct Translator<'a> {
    tree: &'a Snapshot,
    papers: Papers,
    digests: OnceCell<BTreeMap<String, TargetPath>>,
}

impl Translator<'_> {
    /// Translates a text; none if it means what it says.
    fn translate(&self, text: &str) -> Option<String> {
        let mut translated = String::with_capacity(text.len());
        for segment in segments(text) {
            match segment {
                Segment::Plain(plain) => self.translate_plain(plain, &mut translated),
                Segment::Pem(block) => translated.push_str(&self.papers.describe(&block)),
                Segment::Encoded(inner) => {
                    let inner = self.translate(&inner).unwrap_or(inner);
                    // Writing to a string cannot fail.
                    write!(translated, "<in base64: {inner}>").unwrap_or_default();
                }
            }
        }
        (translated != text).then_some(translated)
    }

    fn translate_plain(&self, plain: &str, into: &mut String) {
        let plain = self.papers.describe_tokens(plain);
        let plain = self.name_digests(&plain, hex_digests(&plain));
        let plain = self.name_digests(&plain, base64_runs(&plain).filter(|run| run.len() == 44));
        into.push_str(&describe(&plain, |bits| time(bits).or_else(|| key(bits))));
    }

    /// Replaces those of the candidates that are digests of files, which come in the text's order.
    fn name_digests<'t>(&self, text: &'t str, candidates: impl Iterator<Item = &'t str>) -> String {
        let (mut named, mut rest) = (String::with_capacity(text.len()), text);
        for digest in candidates {
            let Some(path) = self.digests().get(digest) else {
                continue;
            };
            let Some((before, after)) = rest.split_once(digest) else {
                continue;
            };
            // Writing to a string cannot fail.
            write!(named, "{before}<digest of {path}>").unwrap_or_default();
            rest = after;
        }
        named.push_str(rest);
        named
    }

    /// Hashes all files, once and only if a text holds something that could be a digest.
    fn digests(&self) -> &BTreeMap<String, TargetPath> {
        self.digests.get_or_init(|| {
            let mut digests = BTreeMap::new();
            for (path, entry) in self.tree.files.iter().rev() {
                if let EntryKind::File(content) = &entry.kind {
                    let digest = Digest::of(content);
                    digests.insert(digest.base64(), path.clone());
                    digests.insert(digest.hex(), path.clone());
                }
            }
            digests
        })
    }
}

/// Returns the tree without times in base64, such as those at which tokens expire.
pub fn without_times(tree: &Snapshot) -> Snapshot {
    let mut timeless = tree.clone();
    for entry in timeless.files.values_mut() {
        if let EntryKind::File(content) = &mut entry.kind
            && let Ok(text) = std::str::from_utf8(content)
        {
            *content = Arc::new(describe(text, time).into_bytes());
        }
    }
    timeless
}

/// Names a time in base64.
fn time(bits: &[u8]) -> Option<&'static str> {
    let text = std::str::from_utf8(bits).ok()?;
    let time: Result<jiff::Timestamp, _> = text.parse();
    time.ok().map(|_| "<a time in base64>")
}

/// Names a key for symmetric encryption, of which nothing else is left.
fn key(bits: &[u8]) -> Option<&'static str> {
    (bits.len() == 32).then_some("<32 bytes in base64>")
}

/// Replaces what is in base64 and has a name.
fn describe(text: &str, name: impl Fn(&[u8]) -> Option<&'static str>) -> String {
    let (mut described, mut rest) = (String::with_capacity(text.len()), text);
    for run in base64_runs(text) {
        let Some(name) = decoded(run).and_then(|bits| name(&bits)) else {
            continue;
        };
        let Some((before, after)) = rest.split_once(run) else {
            continue;
        };
        described.push_str(before);
        described.push_str(name);
        rest = after;
    }
    described.push_str(rest);
    described
}

#[cfg(test)]
mod tests;
