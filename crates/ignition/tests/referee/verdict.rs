//! The same verdicts: valid or not, and the same findings at the same places.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;

use bootlace_ignition::{Problem, Severity, parse};
use bootlace_testkit::dice::Dice;
use bootlace_testkit::ignition::config::{Purpose, valid};
use bootlace_testkit::ignition::coverage::{Coverage, MUST_BE_FREQUENT};
use bootlace_testkit::ignition::real::{self, RealIgnition};
use bootlace_testkit::ignition::spoil::{self, spoil};
use serde_json::Value;

use crate::{names, referee, try_all};

/// A finding as both sides can say it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    is_error: bool,
    name: String,
    path: String,
    position: Option<(u32, u32)>,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_error { "error" } else { "warning" };
        write!(
            f,
            "{kind} {} at {:?} {:?}",
            self.name, self.path, self.position
        )
    }
}

/// A verdict as both sides can say it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Judged {
    is_valid: bool,
    said: BTreeSet<Said>,
}

fn by_referee(referee: &RealIgnition, config: &[u8]) -> Judged {
    let verdict = referee.judge(config).unwrap();
    let remarks = verdict.remarks.iter().map(|remark| Said {
        is_error: remark.severity == real::Severity::Error,
        // What is wrong with a text as a whole has no path; the reader of data URLs uses the same words.
        name: match names::name(&remark.message) {
            name if name == "syntax" && !remark.path.is_empty() => "bad data URL".into(),
            name => name,
        },
        // It names a field that there is not.
        path: match remark.path.strip_suffix(".keys") {
            Some(volume) => format!("{volume}.keyFile"),
            None => remark.path.clone(),
        },
        position: remark
            .position
            .filter(|_| remark.path.strip_suffix(".keys").is_none()),
    });
    // It warns that it lost its place where null stands for an object, and goes on; we keep ours.
    let mut said: BTreeSet<Said> = remarks.filter(|said| said.name != "context tree").collect();
    said.extend(verdict.refusal.map(|refusal| Said {
        is_error: true,
        name: names::refusal(&refusal),
        path: String::new(),
        position: None,
    }));
    Judged {
        is_valid: verdict.is_valid,
        said,
    }
}

fn by_us(config: &[u8]) -> Judged {
    let parsed = parse("config.ign", config);
    let said = parsed.report.findings.iter().map(|finding| Said {
        is_error: finding.severity == Severity::Error,
        name: our_name(&finding.problem),
        path: finding.place.path.clone(),
        position: Some((finding.place.line, finding.place.column)),
    });
    Judged {
        said: said.collect(),
        is_valid: !parsed.report.is_fatal(),
    }
}

fn our_name(problem: &Problem) -> String {
    let kind = match problem {
        Problem::Syntax(_) => "syntax",
        Problem::WrongType { .. } => "wrong type",
        Problem::UnusedKey(_) => "unused key",
        Problem::BadUnit(_) => "bad unit",
        Problem::BadDataUrl(_) => "bad data URL",
        Problem::NoInstallSection { .. } => "no install section",
        Problem::NoInstallSectionInTemplate { .. } => "no install section in template",
        other => other.name().unwrap_or("without a name"),
    };
    kind.to_owned()
}

/// What ends the reading for Ignition, at the first of them and somewhere behind it; we name all.
const ENDS: [&str; 2] = ["syntax", "wrong type"];

/// Two verdicts on a config.
struct Compared<'a> {
    referee: &'a Judged,
    us: &'a Judged,
    config: &'a [u8],
    /// Whether an object of the config has a key twice.
    has_keys_twice: bool,
}

impl Compared<'_> {
    /// Says in what the verdicts differ, except where a difference is explained.
    fn difference(&self) -> Result<(), String> {
        let Self { referee, us, .. } = self;
        let has_ended = referee.said.iter().any(Said::ends);
        let theirs = referee.said.iter();
        let theirs = theirs.filter(|said| !us.said.iter().any(|other| self.agree(said, other)));
        let theirs: Vec<String> = theirs.map(ToString::to_string).collect();
        let ours = us.said.iter();
        let ours = ours
            .filter(|said| !(has_ended && (said.ends() || !said.is_error)))
            // Of two equal keys it looks only below the last for keys that it does not know.
            .filter(|said| said.name != "unused key" || !self.is_below_lost_key(&said.path))
            .filter(|said| !referee.said.iter().any(|other| self.agree(other, said)));
        let ours: Vec<String> = ours.map(ToString::to_string).collect();
        if referee.is_valid == us.is_valid && theirs.is_empty() && ours.is_empty() {
            return Ok(());
        }
        let word = |judged: &Judged| if judged.is_valid { "valid" } else { "invalid" };
        Err(format!(
            "Ignition says {}, and alone {theirs:#?}\nwe say {}, and alone {ours:#?}",
            word(referee),
            word(us)
        ))
    }

    fn agree(&self, theirs: &Said, ours: &Said) -> bool {
        let is_same = (theirs.is_error, &theirs.name) == (ours.is_error, &ours.name);
        let has_no_place = theirs.position.is_none() || theirs.ends();
        is_same && (has_no_place || theirs.path == ours.path && self.is_near(theirs, ours))
    }

    /// Compares positions. Ignition points behind the bracket of a list or an object, we point at it; where null
    /// stands for what is missing, it points at null, and we at what is around it; and it does not know the place
    /// of what stands below a key in another case, or below the first of two equal keys.
    fn is_near(&self, theirs: &Said, ours: &Said) -> bool {
        let Some((line, column)) = ours.position else {
            return false;
        };
        let is_bracket = self.rest(ours.position).starts_with([b'{'].as_slice())
            || self.rest(ours.position).starts_with([b'['].as_slice());
        let shown = (line, column + u32::from(is_bracket));
        theirs.position == Some(shown)
            || self.rest(theirs.position).starts_with(b"null")
            || self.is_below_lost_key(&ours.path)
    }

    /// Tells whether a path leads through a key in another case, or through one that is there twice.
    fn is_below_lost_key(&self, path: &str) -> bool {
        let folded = |path: &str| path.to_lowercase().replace('\u{17f}', "s");
        let is_above = |said: &Said| {
            let below = folded(path);
            let below = below.strip_prefix(&folded(&said.path));
            said.path != path && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let mut unused = self.us.said.iter().filter(|said| said.name == "unused key");
        self.has_keys_twice || unused.any(is_above)
    }

    /// Returns the text from a position on.
    fn rest(&self, position: Option<(u32, u32)>) -> &[u8] {
        let Some((line, column)) = position else {
            return &[];
        };
        let ends = self
            .config
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n');
        let mut begins = std::iter::once(0).chain(ends.map(|(at, _)| at + 1));
        let begin = begins.nth(line as usize - 1).unwrap_or(self.config.len());
        self.config
            .get(begin + column as usize - 1..)
            .unwrap_or_default()
    }
}

/// Tells whether an object has a key twice: then fewer keys are left once it is read.
fn has_keys_twice(config: &[u8]) -> bool {
    fn keys(value: &Value) -> usize {
        match value {
            Value::Object(pairs) => pairs.len() + pairs.values().map(keys).sum::<usize>(),
            Value::Array(values) => values.iter().map(keys).sum(),
            _ => 0,
        }
    }
    let text = String::from_utf8_lossy(config);
    // It reads neither deep nesting nor half of a surrogate pair; then it is not known.
    let Ok(value) = serde_json::from_str::<Value>(&text) else {
        return true;
    };
    // Colons in texts are none that follow a key.
    let parts = text.replace(r"\\", "").replace(r#"\""#, "");
    let outside = parts.split('"').step_by(2);
    let written = outside.map(|part| part.matches(':').count()).sum::<usize>();
    written > keys(&value)
}

impl Said {
    fn ends(&self) -> bool {
        ENDS.contains(&self.name.as_str())
    }
}

fn judge(referee: &RealIgnition, config: &[u8], ways: &[&str]) -> Result<(), String> {
    let compared = Compared {
        referee: &by_referee(referee, config),
        us: &by_us(config),
        config,
        has_keys_twice: has_keys_twice(config),
    };
    compared.difference().map_err(|difference| {
        let text = String::from_utf8_lossy(config);
        let shown: String = text.chars().take(3000).collect();
        format!("{difference}\nspoilt by {ways:?}\n{shown}")
    })
}

#[test]
#[ignore = "slow: real Ignition"]
fn valid_configs_are_valid_to_both() {
    let referee = referee();
    let coverage = Mutex::new(Coverage::default());
    try_all("verdicts on valid configs", 600, |dice| {
        let config = valid(dice, Purpose::Verdict);
        coverage.lock().unwrap().count(&config);
        let text = config.write(dice).into_bytes();
        let ours = by_us(&text);
        if !ours.is_valid {
            let text = String::from_utf8_lossy(&text);
            return Err(format!(
                "the generator made no valid config: {ours:?}\n{text}"
            ));
        }
        judge(&referee, &text, &[])
    });
    let coverage = coverage.into_inner().unwrap();
    println!("{coverage}");
    assert_eq!(coverage.rare(&MUST_BE_FREQUENT, 50), Vec::<&str>::new());
}

#[test]
#[ignore = "slow: real Ignition"]
fn nearly_valid_configs_are_judged_alike() {
    let referee = referee();
    let coverage = Mutex::new(Coverage::default());
    try_all(
        "verdicts on nearly valid configs",
        1500,
        |dice: &mut Dice| {
            let config = valid(dice, Purpose::Verdict);
            let spoilt = spoil(dice, config);
            let mut coverage = coverage.lock().unwrap();
            for way in &spoilt.ways {
                coverage.note(way);
            }
            drop(coverage);
            judge(&referee, &spoilt.text, &spoilt.ways)
        },
    );
    let coverage = coverage.into_inner().unwrap();
    println!("{coverage}");
    assert_eq!(coverage.rare(&spoil::ways(), 5), Vec::<&str>::new());
}

#[test]
#[ignore = "slow: real Ignition"]
fn the_newest_version_is_known_to_us_alone() {
    let config = br#"{"ignition": {"version": "3.6.0"}}"#;
    let theirs = by_referee(&referee(), config);
    let names: Vec<&str> = theirs.said.iter().map(|said| said.name.as_str()).collect();
    assert!(!theirs.is_valid);
    assert_eq!(names, ["ErrUnknownVersion"]);
    assert!(by_us(config).is_valid);
}
