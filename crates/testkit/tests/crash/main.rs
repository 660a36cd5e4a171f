//! Everything that must hold whatever happens, over all sequences, against a machine in memory.
//!
//! Each test tries a small sample that a seed chooses; the message of a failure names the seed.
//! The ignored tests try a wide one, and with `BOOTLACE_SOAK=1` all of them try everything.

mod clock;
mod failures;
mod interleavings;
mod interrupted;
mod other_versions;
mod reset;
mod resume;
mod twice;
mod undo;
mod walk;

use bootlace_testkit::dice::Dice;
use bootlace_testkit::fake::Death;

/// How many operations of a sequence a quick test disturbs.
const FEW: u64 = 5;
/// How many operations of a sequence a slow test disturbs.
const MANY: u64 = 15;

/// Chooses how a machine dies: mostly by a power cut, which leaves less.
fn death(dice: &mut Dice) -> Death {
    if dice.percent(25) {
        Death::Kill
    } else {
        Death::PowerCut { seed: dice.roll() }
    }
}
