//! Real Ignition as the referee: what it says of configs, and what it makes of them, is what we say and make.
//!
//! Configs are made by a seed that is printed; `BOOTLACE_SEED` repeats a row, `BOOTLACE_SOAK` makes a longer one.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test runs the program that it compares with, and may fail loudly"
)]

mod merge;
mod names;
mod verdict;

use bootlace_lab::IgnitionPrograms;
use bootlace_testkit::dice::Dice;
use bootlace_testkit::ignition::real::RealIgnition;
use bootlace_testkit::ignition::row;

/// Finds real Ignition.
fn referee() -> RealIgnition {
    let programs = IgnitionPrograms::load().unwrap();
    RealIgnition::new(&programs.ignition(), &programs.validate()).unwrap()
}

/// Tries a row of cases; fails with all that went wrong.
fn try_all(what: &str, least: u64, case: impl Fn(&mut Dice) -> Result<(), String> + Sync) {
    match row::try_all(what, least, case) {
        Ok(said) => println!("{said}"),
        Err(wrong) => panic!("{wrong}"),
    }
}
