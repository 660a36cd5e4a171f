//! How many of all faults a test tries: a sample by a printed seed, or every one in a soak.

use std::hash::{BuildHasher, RandomState};

use super::{Bench, Case, Wrong, cases, one_way_cases};
use crate::dice::Dice;
use crate::fake::Operation;

/// How many findings are shown; the rest is counted.
const MOST_SHOWN: usize = 5;

/// A choice of faults, and what came of them.
#[derive(Debug)]
pub struct Sample {
    /// Reproduces the choice.
    pub seed: u64,
    /// Whether everything is tried.
    pub soak: bool,
    dice: Dice,
    tried: u64,
    wrong: Vec<Wrong>,
}

impl Sample {
    /// Begins a test. `BOOTLACE_SOAK` tries everything, `BOOTLACE_SEED` repeats a sample.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests are steered by their environment"
    )]
    pub fn begin() -> Self {
        let given = std::env::var("BOOTLACE_SEED")
            .ok()
            .and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| RandomState::new().hash_one(0) % 1_000_000);
        let soak = std::env::var("BOOTLACE_SOAK").is_ok_and(|text| text != "0");
        Self {
            seed,
            soak,
            dice: Dice::new(seed),
            tried: 0,
            wrong: vec![],
        }
    }

    /// Returns the next number.
    pub fn roll(&mut self) -> u64 {
        self.dice.roll()
    }

    /// Chooses at most so many operations, with their numbers; all of them in a soak.
    pub fn choose(&mut self, all: &[Operation], most: u64) -> Vec<(u64, Operation)> {
        let numbered = (0..).zip(all);
        let chosen = self.choose_below(all.len() as u64, most);
        let chosen = numbered.filter(|(number, _)| chosen.contains(number));
        chosen
            .map(|(number, operation)| (number, operation.clone()))
            .collect()
    }

    /// Chooses at most so many numbers below `all`, in order; all of them in a soak.
    pub fn choose_below(&mut self, all: u64, most: u64) -> Vec<u64> {
        if self.soak || all <= most {
            return (0..all).collect();
        }
        // One from each of equally long stretches, so that no part is left out.
        let stretch = |n: u64| n * all / most;
        let mut one_of = |n: u64| stretch(n) + self.dice.below(stretch(n + 1) - stretch(n));
        (0..most).map(&mut one_of).collect()
    }

    /// Tries one fault and remembers what went wrong.
    pub fn try_out(
        &mut self,
        circumstances: impl FnOnce() -> String,
        trial: impl FnOnce() -> Result<(), Wrong>,
    ) {
        self.tried += 1;
        if let Err(wrong) = trial() {
            self.wrong.push(wrong.when(circumstances()));
        }
    }

    /// Prepares all cases that can be taken back.
    pub fn benches(&self) -> Result<Vec<Bench>, Wrong> {
        self.prepare(cases())
    }

    /// Prepares all cases that go beyond a point of no return.
    pub fn one_way_benches(&self) -> Result<Vec<Bench>, Wrong> {
        self.prepare(one_way_cases())
    }

    fn prepare(&self, cases: Vec<Case>) -> Result<Vec<Bench>, Wrong> {
        cases
            .into_iter()
            .map(|case| {
                let name = case.name.clone();
                Bench::new(case, self.seed).map_err(|wrong| wrong.when(name))
            })
            .collect()
    }

    /// Ends the test: notes how many of what were tried, or says what went wrong and how to see it again.
    pub fn end(self, what: &str) -> Result<(), Wrong> {
        let Self {
            seed, tried, wrong, ..
        } = self;
        bootlace_test_notes::tried(what, tried, seed);
        if wrong.is_empty() {
            return Ok(());
        }
        let shown = wrong.iter().take(MOST_SHOWN);
        let shown: Vec<String> = shown.map(|wrong| format!("\n* {wrong}")).collect();
        let shown = shown.concat();
        let count = wrong.len();
        Err(Wrong(format!(
            "{count} of {tried} faults went wrong; BOOTLACE_SEED={seed} repeats them{shown}"
        )))
    }
}
