//! A random walk of run, crash, failure, edit by hand, resume and undo, against a small model.
//!
//! The model knows three things: what was there at the start, what a run leaves, and what a person
//! wrote since. A run ends with its own result, or with what a person wrote after it. Undo ends
//! with the start and with what a person wrote, be it before the run, in its middle or after it.

use std::collections::BTreeMap;

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;
use bootlace_testkit::crash::{Bench, Sample, Wrong, cases};
use bootlace_testkit::fake::{Death, Errno, FakeHost, When};
use bootlace_testkit::meaning::meaning_of;
use bootlace_testkit::tree::{Entry, Snapshot};
use proptest::prelude::*;

/// Files of the sample sequence that nothing else is made of.
const EDITABLE: [&str; 4] = [
    "/srv/sampler/deep/er/file",
    "/srv/report/note.txt",
    "/etc/same",
    "/etc/old.txt",
];

/// What happens to a verb while it works, at which of a thousand operations.
#[derive(Debug, Clone, Copy)]
enum Disturbance {
    None,
    Crash(u64, When, Death),
    Failure(u64, Errno, When),
}

#[derive(Debug, Clone, Copy)]
enum Move {
    Run(Disturbance),
    Undo(Disturbance),
    Edit(usize, u8),
}

fn disturbances() -> impl Strategy<Value = Disturbance> {
    let whens = || prop::sample::select(When::ALL.to_vec());
    let errors = prop::sample::select(vec![Errno::ENOSPC, Errno::EIO, Errno::EACCES]);
    let deaths = prop_oneof![
        1 => Just(Death::Kill),
        2 => (0_u64..1000).prop_map(|seed| Death::PowerCut { seed }),
    ];
    prop_oneof![
        3 => Just(Disturbance::None),
        4 => (0_u64..1000, whens(), deaths).prop_map(|(at, when, death)| {
            Disturbance::Crash(at, when, death)
        }),
        2 => (0_u64..1000, errors, whens()).prop_map(|(at, errno, when)| {
            Disturbance::Failure(at, errno, when)
        }),
    ]
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        4 => disturbances().prop_map(Move::Run),
        3 => disturbances().prop_map(Move::Undo),
        2 => (0..EDITABLE.len(), any::<u8>()).prop_map(|(which, how)| Move::Edit(which, how)),
    ]
}

/// What a person wrote, and whether a verb may be refused because another was cut off.
#[derive(Default)]
struct Model {
    edits: BTreeMap<TargetPath, Entry>,
    /// Whether a run may be there to go on with or to take back.
    maybe_begun: bool,
    /// Whether undo may have been cut off in its middle.
    maybe_undoing: bool,
}

struct Walk<'a> {
    bench: &'a Bench,
    host: FakeHost,
    model: Model,
}

impl Walk<'_> {
    fn go(&mut self, next: Move) -> Result<(), Wrong> {
        match next {
            Move::Run(disturbance) => self.run(disturbance),
            Move::Undo(disturbance) => self.undo(disturbance),
            Move::Edit(which, how) => self.edit(which, how),
        }
    }

    fn run(&mut self, disturbance: Disturbance) -> Result<(), Wrong> {
        let before = self.bench.tree(&self.host);
        let result = self.disturbed(disturbance, |bench, host| bench.run(host).map(|_| ()));
        self.model.maybe_begun = true;
        match result {
            None => Ok(()),
            Some(Ok(())) => {
                self.model.maybe_undoing = false;
                self.expect_finish()
            }
            Some(Err(fault)) if self.model.maybe_undoing && fault.kind == FaultKind::Preflight => {
                self.expect(&before, "a refused run")
            }
            Some(Err(fault)) => Err(Wrong::fault("a run", &fault)),
        }
    }

    fn undo(&mut self, disturbance: Disturbance) -> Result<(), Wrong> {
        let before = self.bench.tree(&self.host);
        let mut refused = vec![];
        let result = self.disturbed(disturbance, |bench, host| {
            refused = bench.undo(host)?.refused;
            Ok(())
        });
        match result {
            None => {
                self.model.maybe_undoing = true;
                Ok(())
            }
            Some(Ok(())) => {
                self.model.maybe_undoing = false;
                let edited = |target: &str| {
                    let edits = self.model.edits.keys();
                    edits
                        .map(TargetPath::as_str)
                        .any(|edit| edit.starts_with(target))
                };
                match refused.iter().find(|refused| !edited(&refused.target)) {
                    Some(refused) => Err(Wrong(format!("undo refused {refused:?}"))),
                    None => self.expect_start(),
                }
            }
            // Without a run there is nothing to take back.
            Some(Err(_)) if self.bench.status(&self.host).is_err() => {
                self.expect(&before, "an undo of nothing")
            }
            Some(Err(fault)) => Err(Wrong::fault("undo", &fault)),
        }
    }

    /// Runs a verb; none if it was disturbed, so that its result means nothing.
    fn disturbed(
        &self,
        disturbance: Disturbance,
        verb: impl FnOnce(&Bench, &FakeHost) -> Result<(), Fault>,
    ) -> Option<Result<(), Fault>> {
        self.host.clear_faults();
        let number = |at: u64| at * self.bench.operations.len() as u64 / 1000;
        match disturbance {
            Disturbance::None => {}
            Disturbance::Crash(at, when, _) => self.host.crash_at(number(at), when),
            Disturbance::Failure(at, errno, when) => self.host.fail_at(number(at), errno, when),
        }
        let result = verb(self.bench, &self.host);
        let reached = match disturbance {
            Disturbance::None => false,
            Disturbance::Crash(_, _, death) => {
                let crashed = self.host.is_crashed();
                if crashed {
                    self.host.reboot(death);
                }
                crashed
            }
            Disturbance::Failure(at, ..) => self.host.counters().operations > number(at),
        };
        self.host.clear_faults();
        (!reached).then_some(result)
    }

    fn edit(&mut self, which: usize, how: u8) -> Result<(), Wrong> {
        let text = format!("edited by hand {how}\n");
        let edited = self
            .host
            .set_up(|world| world.write(EDITABLE[which], text.as_bytes()));
        edited.map_err(|error| Wrong(error.to_string()))?;
        let path = TargetPath::new(EDITABLE[which]).map_err(|bad| Wrong(bad.to_string()))?;
        let entry = self.bench.tree(&self.host).files.remove(&path);
        let entry = entry.ok_or_else(|| Wrong("an edit was lost at once".into()))?;
        self.model.edits.insert(path, entry);
        Ok(())
    }

    fn expect(&self, expected: &Snapshot, what: &str) -> Result<(), Wrong> {
        let compared = expected.compare(&self.bench.tree(&self.host));
        compared.map_err(|difference| Wrong(format!("after {what} {difference}")))
    }

    /// Everything is as a run leaves it, or as a person wrote it since.
    fn expect_finish(&self) -> Result<(), Wrong> {
        let mut found = meaning_of(&self.bench.tree(&self.host));
        let mut expected = self.bench.finish.clone();
        for (path, entry) in &self.model.edits {
            let now = found.files.remove(path);
            let wanted = expected.files.remove(path);
            if now.as_ref() != Some(entry) && now != wanted {
                return Err(Wrong(format!("after a run {path} is neither: {now:?}")));
            }
        }
        let compared = expected.compare(&found);
        compared.map_err(|difference| Wrong(format!("after a run {difference}")))
    }

    /// Everything is as at the start, or as a person wrote it.
    fn expect_start(&self) -> Result<(), Wrong> {
        let mut found = self.bench.tree(&self.host);
        let mut expected = self.bench.start.clone();
        for (path, entry) in &self.model.edits {
            let now = found.files.remove(path);
            expected.files.remove(path);
            if now.as_ref() != Some(entry) {
                return Err(Wrong(format!(
                    "after undo the edit of {path} is lost: {now:?}"
                )));
            }
            // The folders that hold it stay with it.
            let is_above = |above: &TargetPath| path.below(above).is_some();
            found
                .files
                .retain(|above, _| !is_above(above) || self.bench.start.files.contains_key(above));
        }
        let compared = expected.compare(&found);
        compared.map_err(|difference| Wrong(format!("after undo {difference}")))
    }
}

fn walk(bench: &Bench, moves: &[Move]) -> Result<(), Wrong> {
    let mut walk = Walk {
        bench,
        host: bench.machine(),
        model: Model::default(),
    };
    for (number, next) in moves.iter().enumerate() {
        walk.go(*next)
            .map_err(|wrong| wrong.when(format!("move {number} {next:?}")))?;
    }
    // Whatever happened, a run can be made whole, or be taken back.
    walk.undo(Disturbance::None)
        .map_err(|wrong| wrong.when("undo at the end"))?;
    walk.run(Disturbance::None)
        .map_err(|wrong| wrong.when("run at the end"))?;
    walk.undo(Disturbance::None)
        .map_err(|wrong| wrong.when("last undo"))
}

fn walks(cases_to_try: u32) -> Result<(), Wrong> {
    let case = cases().into_iter().find(|case| case.name == "sampler");
    let case = case.ok_or_else(|| Wrong("the sample sequence is gone".into()))?;
    let bench = Bench::new(case, 1)?;
    let sample = Sample::begin();
    let cases_to_try = if sample.soak { 3000 } else { cases_to_try };
    let config = ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..ProptestConfig::with_cases(cases_to_try)
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let strategy = prop::collection::vec(moves(), 1..12);
    let result = runner.run(&strategy, |moves| {
        walk(&bench, &moves).map_err(|wrong| TestCaseError::fail(wrong.to_string()))
    });
    result.map_err(|error| Wrong(error.to_string()))
}

#[test]
fn a_random_walk_ends_where_the_model_says() -> Result<(), Wrong> {
    walks(12)
}

#[test]
#[ignore = "slow: many walks"]
fn many_random_walks_end_where_the_model_says() -> Result<(), Wrong> {
    walks(60)
}
