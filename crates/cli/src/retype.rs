//! Commands that can be pasted: what to type next, with the flags that a person gave.

use std::path::Path;

use bootlace_model::fault::Fault;
use bootlace_model::shell;
use bootlace_model::step::{Choice, Sequence};

use crate::args::Globals;

/// Commands whose flags say where things lie.
const PLACED: [&str; 13] = [
    "explain", "plan", "run", "verify", "resume", "undo", "reset", "status", "log", "runs", "pki",
    "ignition", "assets",
];
/// Commands that are about the same run.
const ON_RUN: [&str; 5] = ["verify", "resume", "undo", "status", "log"];
/// Commands that are about a sequence.
const ON_SEQUENCE: [&str; 8] = [
    "explain", "plan", "run", "verify", "resume", "undo", "status", "log",
];
/// Commands that go on with the same choice of steps.
const ON_CHOICE: [&str; 2] = ["run", "resume"];

/// What a person typed, as far as it has to be typed again.
#[derive(Debug, Default)]
pub(crate) struct Retype {
    places: Vec<String>,
    sequence: Option<String>,
    choice: Vec<String>,
    run: Option<String>,
}

impl Retype {
    /// Remembers the flags.
    pub(crate) fn new(globals: &Globals) -> Self {
        let mut places = Vec::new();
        let mut flag = |name: &str, path: &Path| {
            places.extend([name.to_owned(), path.display().to_string()]);
        };
        for file in &globals.config {
            flag("--config", file);
        }
        if globals.root != Path::new("/") {
            flag("--root", &globals.root);
        }
        if let Some(state) = &globals.state {
            flag("--state", state);
        }
        if let Some(assets) = &globals.assets {
            flag("--assets", assets);
        }
        Self {
            places,
            sequence: None,
            choice: vec![],
            run: None,
        }
    }

    /// Remembers the sequence and the choice of steps.
    ///
    /// A whole sequence is refused while some of its steps are not built, so without a choice the
    /// commands stop at the last step before those.
    pub(crate) fn on(&mut self, sequence: &Sequence, choice: &Choice) {
        self.sequence = Some(sequence.name.to_owned());
        let built = sequence.steps.iter().take_while(|step| step.about().built);
        let built: Vec<&str> = built.map(|step| step.name()).collect();
        if *choice == Choice::default() && built.len() < sequence.steps.len() {
            let last = built
                .last()
                .map(|last| ["--to".to_owned(), (*last).to_owned()]);
            self.choice = last.into_iter().flatten().collect();
        }
        let flags = [
            ("--from", &choice.from),
            ("--to", &choice.to),
            ("--only", &choice.only),
        ];
        for (flag, step) in flags {
            if let Some(step) = step {
                self.choice.extend([flag.to_owned(), step.clone()]);
            }
        }
    }

    /// Remembers the run that was named: without it, the newest would be meant.
    pub(crate) fn on_run(&mut self, run: Option<&str>) {
        self.run = run.map(ToOwned::to_owned);
    }

    /// Returns the line for a command, such as `resume`, with all that belongs to it.
    pub(crate) fn line(&self, command: &str) -> String {
        self.complete(&format!("bootlace {command}"))
    }

    /// Completes every command of ours in a fault's hints.
    pub(crate) fn complete_hints(&self, mut fault: Fault) -> Fault {
        for hint in &mut fault.hints {
            let parts = hint.split('`').enumerate().map(|(n, part)| {
                if n % 2 == 1 {
                    self.complete(part)
                } else {
                    part.to_owned()
                }
            });
            *hint = parts.collect::<Vec<_>>().join("`");
        }
        fault
    }

    /// Adds what is missing to a command of ours; leaves everything else alone.
    fn complete(&self, line: &str) -> String {
        let mut words = line.split(' ');
        let (Some("bootlace"), Some(command)) = (words.next(), words.next()) else {
            return line.to_owned();
        };
        let rest: Vec<&str> = words.collect();
        let has_sequence = rest.first().is_some_and(|word| !word.starts_with('-'));
        let wants_sequence = ON_SEQUENCE.contains(&command) && !has_sequence;
        let sequence = self.sequence.as_deref().filter(|_| wants_sequence);
        let front = ["bootlace", command]
            .into_iter()
            .chain(sequence)
            .chain(rest.iter().copied());
        let mut added: Vec<&str> = Vec::new();
        let chooses = |word: &&str| ["--from", "--to", "--only"].contains(word);
        if ON_CHOICE.contains(&command) && !rest.iter().any(chooses) {
            added.extend(self.choice.iter().map(String::as_str));
        }
        if let Some(run) = &self.run
            && ON_RUN.contains(&command)
            && !rest.contains(&"--run")
        {
            added.extend(["--run", run]);
        }
        let placed = |word: &&str| ["--config", "--root", "--state", "--assets"].contains(word);
        if PLACED.contains(&command) && !rest.iter().any(placed) {
            added.extend(self.places.iter().map(String::as_str));
        }
        let front = front.collect::<Vec<_>>().join(" ");
        if added.is_empty() {
            return front;
        }
        format!("{front} {}", shell::line(added))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::Cli;

    fn retype(words: &[&str]) -> Retype {
        let words = ["bootlace"].iter().chain(words);
        let mut retype = Retype::new(&Cli::try_parse_from(words).unwrap().globals);
        let choice = Choice {
            to: Some("release-info".into()),
            ..Choice::default()
        };
        retype.on(bootlace_steps::sequence("cluster").unwrap(), &choice);
        retype
    }

    #[test]
    fn lines_carry_the_flags_that_matter() {
        let retype = retype(&["--root", "/tmp/a b", "--config", "x.yaml"]);
        assert_eq!(
            retype.line("resume"),
            "bootlace resume cluster --to release-info --config x.yaml --root '/tmp/a b'"
        );
        assert_eq!(
            retype.line("status"),
            "bootlace status cluster --config x.yaml --root '/tmp/a b'"
        );
        assert_eq!(retype.line("completions bash"), "bootlace completions bash");
        assert_eq!(
            retype.line("undo --force"),
            "bootlace undo cluster --force --config x.yaml --root '/tmp/a b'"
        );
    }

    #[test]
    fn hints_are_completed_and_the_rest_is_left_alone() {
        let retype = retype(&["--root", "/r"]);
        let fault = Fault::internal("x")
            .hint("`bootlace resume` goes on, `df -h` looks, `bootlace runs` lists")
            .hint("`bootlace run cluster --only x --root /q` is complete")
            .hint("see `bootlace config print-defaults`");
        let wanted = [
            "`bootlace resume cluster --to release-info --root /r` goes on, `df -h` looks, `bootlace runs --root /r` lists",
            "`bootlace run cluster --only x --root /q` is complete",
            "see `bootlace config print-defaults`",
        ];
        assert_eq!(retype.complete_hints(fault).hints, wanted);
    }

    #[test]
    fn the_run_that_was_named_stays_the_one_that_is_meant() {
        let mut retype = retype(&["--root", "/r"]);
        retype.on_run(Some("19700101T000000Z-cluster-beef"));
        let undo = "bootlace undo cluster --force --run 19700101T000000Z-cluster-beef --root /r";
        assert_eq!(retype.line("undo --force"), undo);
        assert_eq!(retype.line("runs"), "bootlace runs --root /r");
        let apply = "bootlace ignition apply FILE --root /r";
        assert_eq!(retype.line("ignition apply FILE"), apply);
    }

    #[test]
    fn without_flags_nothing_is_added() {
        let none = Retype::default();
        assert_eq!(none.line("status cluster"), "bootlace status cluster");
    }
}
