//! Texts that nobody would write, a fixed number of them: none makes us panic, and what is taken
//! means the same when it is written and read again.

#![expect(clippy::print_stdout, reason = "the seed repeats a failure")]

use std::sync::Arc;

use bootlace_ignition::content::{decode_data_url, finish};
use bootlace_ignition::{Config, Version, parse};

/// How many texts are tried of each kind.
const COUNT: usize = 40_000;

/// A source of numbers that repeats itself for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % (end.max(1) as u64)).unwrap_or(0)
    }
}

/// The seed: printed, and taken from the environment to repeat a failure.
fn dice() -> Dice {
    let given = std::env::var_os("BOOTLACE_SEED");
    let given = given.and_then(|seed| seed.to_str()?.parse().ok());
    let seed: u64 = given.unwrap_or_else(|| u64::from(std::process::id()));
    println!("BOOTLACE_SEED={seed}");
    Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
}

/// Configs to begin with, which say something of every kind.
const SEEDS: [&str; 5] = [
    r#"{"ignition": {"version": "3.6.0", "config": {"merge": [{"source": "data:,x"}]}, "timeouts": {"httpTotal": 3}}}"#,
    r#"{"ignition": {"version": "3.5.0"}, "storage": {"files": [{"path": "/a", "mode": 420, "overwrite": true, "user": {"id": 3},
        "contents": {"source": "data:text/plain;charset=utf-8;base64,aGk=", "compression": "", "verification": {"hash": "sha512-00"}},
        "append": [{"source": "http://h/", "httpHeaders": [{"name": "A", "value": "b"}]}]}]}}"#,
    r#"{"ignition": {"version": "3.4.0"}, "storage": {"directories": [{"path": "/d"}], "links": [{"path": "/l", "target": "/d", "hard": false}],
        "disks": [{"device": "/dev/a", "partitions": [{"number": 1, "sizeMiB": 10, "startMiB": 1}]}], "raid": [{"name": "r", "level": "1", "devices": ["/dev/a"]}]}}"#,
    r#"{"ignition": {"version": "3.2.0"}, "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["k"], "groups": ["g"]}], "groups": [{"name": "g", "gid": 7}]}}"#,
    r#"{"ignition": {"version": "3.3.0"}, "kernelArguments": {"shouldExist": ["a"]}, "systemd": {"units": [{"name": "a@b.service", "enabled": true,
        "contents": "[Unit]\nA=b\n[Install]\nWantedBy=c\n", "dropins": [{"name": "1.conf", "contents": "[Service]\n"}]}]}}"#,
];

/// Pieces that are put in where they do not belong.
const PIECES: [&str; 14] = [
    "null", "{", "}", "[", "]", "\"", "\\u0000", "\\ud800", ",", "1e9", "-", "\u{212a}", "true",
    "/../",
];

/// Spoils a text in a few places.
fn spoilt(text: &str, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len());
        match dice.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, u8::try_from(dice.below(256)).unwrap_or(0)),
            2 => drop(bytes.drain(at..(at + dice.below(20)).min(bytes.len()))),
            3 => {
                let piece = PIECES[dice.below(PIECES.len())].bytes();
                bytes.splice(at..at, piece);
            }
            4 => {
                let end = (at + dice.below(60)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = dice.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = u8::try_from(dice.below(256)).unwrap_or(0);
                }
            }
        }
    }
    bytes
}

#[test]
fn any_text_is_answered_and_what_is_taken_means_the_same_again() {
    let mut dice = dice();
    let mut taken = 0;
    let mut last: Option<Config> = None;
    for _ in 0..COUNT {
        let seed = SEEDS[dice.below(SEEDS.len())];
        let text = spoilt(seed, &mut dice);
        let parsed = parse("fuzz", &text);
        let shown = String::from_utf8_lossy(&text);
        assert_eq!(
            parsed.config.is_some(),
            !parsed.report.is_fatal(),
            "{shown}"
        );
        for finding in &parsed.report.findings {
            let place = &finding.place;
            assert!(place.line >= 1 && place.column >= 1, "{place} of {shown}");
            assert!(
                !finding.problem.to_string().is_empty() && !finding.problem.advice().is_empty()
            );
        }
        if let Ok(text) = String::from_utf8(text.clone()) {
            let shared = bootlace_ignition::parse_shared("fuzz", &Arc::new(text));
            assert_eq!(shared.report.findings, parsed.report.findings, "{shown}");
            let json = |config: &Option<Config>| config.as_ref().map(Config::to_json);
            assert_eq!(json(&shared.config), json(&parsed.config), "{shown}");
        }
        let Some(config) = parsed.config else {
            continue;
        };
        taken += 1;
        let json = config.to_json();
        let again = parse("again", json.to_string().as_bytes());
        let again = again.config.map(|config| config.to_json());
        // Older rules take some links without a target, which the newest refuses.
        if let Some(again) = again {
            assert_eq!(again, json, "{shown}");
        }
        for version in Version::ALL {
            if let Ok(older) = config.to_version(version)
                && version != Version::V2_2
            {
                let read = parse("older", older.to_string().as_bytes());
                let read = read.config.map(|config| config.to_json());
                assert_eq!(read.as_ref(), Some(&json), "{version}: {shown}");
            }
        }
        if let Some(parent) = last.replace(config.clone()) {
            let merged = Config::merge(&parent, &config);
            assert!(merged.transcript().iter().all(|came| came.from.line >= 1));
            // A config merged with itself says nothing new, but for what is added to files.
            let twice = Config::merge(&config, &config);
            assert_eq!(twice.files().count(), config.files().count(), "{shown}");
        }
    }
    assert!(taken > COUNT / 20, "only {taken} texts were taken");
}

#[test]
fn any_data_url_and_any_content_is_answered() {
    let mut dice = dice();
    let seeds = [
        "data:,a%20b",
        "data:text/plain;charset=\"utf-8\";base64,aGVsbG8=",
        "data:;base64,H4sIAAAAAAAAAwMAAAAAAAAAAAA=",
    ];
    let mut taken = 0;
    for _ in 0..COUNT {
        let url = spoilt(seeds[dice.below(seeds.len())], &mut dice);
        let url = String::from_utf8_lossy(&url);
        let Ok(content) = decode_data_url(&url) else {
            continue;
        };
        taken += 1;
        assert!(content.len() <= url.len());
        if let Ok(unpacked) = finish(content, Some("gzip"), None, 1 << 16) {
            assert!(unpacked.len() <= 1 << 16);
        }
    }
    assert!(taken > COUNT / 20, "only {taken} were taken");
}
