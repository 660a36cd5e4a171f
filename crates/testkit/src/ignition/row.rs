//! A row of cases by one seed, tried side by side.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::crash::Sample;
use crate::dice::Dice;

/// How many cases are tried at the same time.
const SIDE_BY_SIDE: usize = 2;
/// How many findings are shown; the rest is counted.
const MOST_SHOWN: usize = 8;
/// How many times longer a row is in a soak.
const SOAK: u64 = 10;

/// Tries at least so many cases, each with dice of its own; the error says what went wrong and how to see it again.
///
/// `what` names the cases for the test runner. `BOOTLACE_SEED` repeats a row, and `BOOTLACE_SOAK` makes a longer one.
pub fn try_all(
    what: &str,
    least: u64,
    case: impl Fn(&mut Dice) -> Result<(), String> + Sync,
) -> Result<String, String> {
    let Sample { seed, soak, .. } = Sample::begin();
    let count = if soak { least * SOAK } else { least };
    let next = AtomicU64::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let mut dice = Dice::new(seed.wrapping_add(number << 32));
                    if let Err(finding) = case(&mut dice) {
                        let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
                        wrong.push((number, finding));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    wrong.sort();
    if wrong.is_empty() {
        bootlace_test_notes::tried(what, count, seed);
        return Ok(format!("{count} cases, seed {seed}"));
    }
    let shown = wrong.iter().take(MOST_SHOWN);
    let shown: Vec<String> = shown
        .map(|(number, finding)| format!("\n* case {number}: {finding}\n"))
        .collect();
    Err(format!(
        "{} of {count} cases went wrong; BOOTLACE_SEED={seed} repeats them{}",
        wrong.len(),
        shown.concat()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_tried_with_dice_of_its_own() {
        let rolled = Mutex::new(Vec::new());
        let said = try_all("dice", 100, |dice| {
            rolled.lock().unwrap().push(dice.roll());
            Ok(())
        });
        assert!(said.unwrap().contains("00 cases, seed "));
        let mut rolled = rolled.into_inner().unwrap();
        rolled.sort_unstable();
        rolled.dedup();
        assert!(rolled.len() >= 100);
    }

    #[test]
    fn what_went_wrong_is_said_with_the_seed() {
        let wrong = try_all("errors", 10, |_| Err("why".into())).unwrap_err();
        assert!(
            wrong.contains("BOOTLACE_SEED=") && wrong.contains("* case 0: why"),
            "{wrong}"
        );
    }
}
