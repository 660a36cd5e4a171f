//! What tests tell the test runner: that they were skipped and why, and how much they tried.
//!
//! libtest hides what a passing test prints. Notes therefore go to the file that
//! [`FILE`] names, which `cargo run -p xtask -- test` sets and reads. Without it they are printed.

use std::fs::OpenOptions;
use std::io::Write as _;

/// The environment variable that names the file.
pub const FILE: &str = "BOOTLACE_TEST_NOTES";

/// One thing that a test says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The test checked nothing.
    Skipped {
        /// The test, with its module path.
        test: String,
        /// What is missing.
        why: String,
    },
    /// The test counted what it tried.
    Tried {
        /// What was counted: `crashes in undo`, `kills`.
        what: String,
        /// How many.
        count: u64,
        /// Repeats the choice.
        seed: u64,
    },
}

impl Note {
    /// Returns the note as a line without its end.
    pub fn line(&self) -> String {
        let fields = match self {
            Self::Skipped { test, why } => ["skipped", test, why].join("\u{1f}"),
            Self::Tried { what, count, seed } => {
                ["tried", what, &count.to_string(), &seed.to_string()].join("\u{1f}")
            }
        };
        // One note a line, whatever its words are.
        fields.replace(['\n', '\t'], " ").replace('\u{1f}', "\t")
    }

    /// Reads a line back; none if it is no note.
    pub fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields.as_slice() {
            ["skipped", test, why] => Some(Self::Skipped {
                test: (*test).into(),
                why: (*why).into(),
            }),
            ["tried", what, count, seed] => Some(Self::Tried {
                what: (*what).into(),
                count: count.parse().ok()?,
                seed: seed.parse().ok()?,
            }),
            _ => None,
        }
    }

    /// Leaves the note for the runner, or prints it if there is none.
    ///
    /// # Panics
    ///
    /// If the runner's file cannot be written: a note that is lost must fail its test.
    #[expect(
        clippy::disallowed_methods,
        clippy::print_stderr,
        clippy::expect_used,
        reason = "only tests call it"
    )]
    pub fn leave(&self) {
        let line = self.line();
        let Some(file) = std::env::var_os(FILE) else {
            eprintln!("{}", line.replace('\t', "  "));
            return;
        };
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(file)
            .expect("the runner names a file that can be written");
        // A single write, so that tests side by side do not mix their lines.
        let written = file.write_all(format!("{line}\n").as_bytes());
        written.expect("the runner names a file that can be written");
    }
}

/// Ends a test that cannot check anything here; the runner lists it with the reason.
///
/// Use it only for what the machine lacks, never for what the test should have set up.
#[macro_export]
macro_rules! skip {
    ($why:expr) => {{
        $crate::Note::Skipped {
            test: $crate::name!().to_owned(),
            why: String::from($why),
        }
        .leave();
        return;
    }};
}

/// Returns the module path and name of the function that it is written in.
#[macro_export]
macro_rules! name {
    () => {{
        fn here() {}
        $crate::enclosing(std::any::type_name_of_val(&here))
    }};
}

/// Tells how much a test tried, for the record of a soak; see [`Note::leave`].
pub fn tried(what: &str, count: u64, seed: u64) {
    let what = what.to_owned();
    Note::Tried { what, count, seed }.leave();
}

/// Returns the function around the item with this name.
#[doc(hidden)]
pub fn enclosing(item: &'static str) -> &'static str {
    item.strip_suffix("::here").unwrap_or(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_left() {
        let notes = [
            Note::Skipped {
                test: "host::a".into(),
                why: "needs root".into(),
            },
            Note::Tried {
                what: "crashes".into(),
                count: 12,
                seed: 7,
            },
        ];
        for note in notes {
            assert_eq!(Note::parse(&note.line()), Some(note));
        }
        assert_eq!(Note::parse("something else"), None);
    }

    #[test]
    fn a_note_stays_on_its_line() {
        let note = Note::Skipped {
            test: "a".into(),
            why: "two\nlines\tand a tab".into(),
        };
        assert_eq!(note.line(), "skipped\ta\ttwo lines and a tab");
    }

    #[test]
    fn a_test_knows_its_name() {
        let name = name!();
        assert!(name.ends_with("tests::a_test_knows_its_name"), "{name}");
    }
}
