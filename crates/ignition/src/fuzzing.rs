//! What must hold for any Ignition config; the fuzz target in `fuzz/` calls it with what it makes up.
//!
//! The files in `fuzz/corpus/ignition` go through the same function in the tests of this crate.

use std::sync::Arc;

use crate::content::{decode_data_url, finish};
use crate::{Config, Parsed, Version, parse, parse_shared};

/// The most that contents may unpack to.
const LIMIT: u64 = 1 << 16;

/// Checks what is made of a config.
///
/// # Panics
///
/// Panics if the verdict is not stable, or if the config means something else after it was written,
/// merged with itself or translated.
pub fn config(input: &[u8]) {
    let parsed = parse("fuzz", input);
    check_verdict(input, &parsed);
    let Some(config) = parsed.config else {
        return;
    };
    check_writing(&config);
    check_merging(&config);
    check_translation(&config);
    for url in config.files().filter_map(|file| file.contents.source) {
        if let Ok(content) = decode_data_url(url) {
            assert!(content.len() <= url.len(), "it grew: {url}");
            let unpacked = finish(content, Some("gzip"), None, LIMIT);
            let size = unpacked.map_or(0, |content| content.len() as u64);
            assert!(size <= LIMIT, "unpacked to {size} bytes");
        }
    }
}

/// Checks that a verdict says where, and is the same again, also for a shared text.
fn check_verdict(input: &[u8], parsed: &Parsed) {
    assert_eq!(parsed.config.is_some(), !parsed.report.is_fatal());
    for finding in &parsed.report.findings {
        assert!(finding.place.line >= 1 && finding.place.column >= 1);
        assert!(!finding.problem.to_string().is_empty() && !finding.problem.advice().is_empty());
    }
    let mut others = vec![parse("fuzz", input)];
    if let Ok(text) = String::from_utf8(input.to_vec()) {
        others.push(parse_shared("fuzz", &Arc::new(text)));
    }
    for other in others {
        assert_eq!(other.version, parsed.version);
        assert_eq!(other.report, parsed.report, "another verdict");
        assert_eq!(json(other.config), json(parsed.config.clone()));
    }
}

/// Checks that a config that was written is read as the same, if the newest rules allow it at all.
fn check_writing(config: &Config) {
    let written = config.to_json();
    let read = parse("again", written.to_string().as_bytes());
    assert_eq!(
        read.config.is_some(),
        !config.validate().is_fatal(),
        "judged otherwise when it is read again: {written}"
    );
    if read.config.is_some() {
        assert_eq!(json(read.config), Some(written), "read as another config");
    }
}

/// Checks that a config that is merged with itself stays valid, and keeps its entries.
fn check_merging(config: &Config) {
    let merged = Config::merge(config, config);
    assert_eq!(
        merged.validate().is_fatal(),
        config.validate().is_fatal(),
        "merged with itself it is judged otherwise"
    );
    assert_eq!(merged.files().count(), config.files().count());
    assert!(merged.transcript().iter().all(|came| came.from.line >= 1));
}

/// Checks that what is written in an older version is valid there, and means the same.
fn check_translation(config: &Config) {
    for version in Version::ALL {
        let Ok(older) = config.to_version(version) else {
            continue;
        };
        assert_eq!(older["ignition"]["version"], version.name());
        // It is written for old clients, and never read.
        if version == Version::V2_2 {
            continue;
        }
        let read = parse("older", older.to_string().as_bytes());
        assert_eq!(read.version, Some(version));
        assert_eq!(json(read.config), Some(config.to_json()), "{version}");
    }
}

fn json(config: Option<Config>) -> Option<serde_json::Value> {
    config.map(|config| config.to_json())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test reads the corpus")]
    fn every_config_of_the_corpus_means_the_same_again() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/ignition");
        let mut checked = 0;
        for entry in std::fs::read_dir(corpus).unwrap() {
            let file = entry.unwrap().path();
            println!("{}", file.display());
            super::config(&std::fs::read(file).unwrap());
            checked += 1;
        }
        assert!(checked >= 4, "only {checked} files");
    }
}
