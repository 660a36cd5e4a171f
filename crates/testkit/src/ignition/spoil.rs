//! Configs that are nearly valid: each is a valid one with a few things wrong with it.

mod bytes;
mod disks;
mod meaning;
mod shape;

use super::draft::Draft;
use crate::dice::Dice;

/// A way to spoil a config; tells whether there was anything to be spoilt in that way.
type Spoil = fn(&mut Draft, &mut Dice) -> bool;

/// A way to spoil a text.
type SpoilText = fn(&mut Vec<u8>, &mut Dice);

/// A config that is nearly valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoilt {
    /// What it says.
    pub text: Vec<u8>,
    /// What was done to it.
    pub ways: Vec<&'static str>,
}

/// Lists the names of all ways.
pub fn ways() -> Vec<&'static str> {
    let values = values().into_iter().map(|(name, _)| *name);
    values
        .chain(bytes::WAYS.iter().map(|(name, _)| *name))
        .collect()
}

/// Lists the ways to spoil values.
fn values() -> Vec<&'static (&'static str, Spoil)> {
    let all = shape::WAYS.iter().chain(meaning::WAYS);
    all.chain(disks::WAYS).collect()
}

/// Spoils a valid config in one to three ways.
pub fn spoil(dice: &mut Dice, mut config: Draft) -> Spoilt {
    let mut done = Vec::new();
    let in_text = dice.percent(25);
    let wanted = if in_text { 0 } else { 1 + dice.index(3) };
    let ways = values();
    for _ in 0..50 {
        let Some((name, way)) = ways.get(dice.index(ways.len())) else {
            break;
        };
        if done.len() < wanted && way(&mut config, dice) {
            done.push(*name);
        }
    }
    let mut text = config.write(dice).into_bytes();
    if in_text && let Some((name, way)) = bytes::WAYS.get(dice.index(bytes::WAYS.len())) {
        way(&mut text, dice);
        done.push(name);
    }
    Spoilt { text, ways: done }
}

/// Changes one of the values for which something holds; tells whether there is one.
fn change(
    config: &mut Draft,
    dice: &mut Dice,
    holds: &dyn Fn(&[&str], &Draft) -> bool,
    change: &mut dyn FnMut(&mut Draft, &mut Dice),
) -> bool {
    let places = config.places(holds);
    let Some(place) = places.get(dice.index(places.len())) else {
        return false;
    };
    let Some(value) = config.at_mut(place) else {
        return false;
    };
    change(value, dice);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ignition::config::{Purpose, valid};

    #[test]
    fn every_way_is_taken_and_changes_something() {
        let mut dice = Dice::new(7);
        let mut taken: Vec<&str> = Vec::new();
        for _ in 0..1500 {
            let config = valid(&mut dice, Purpose::Verdict);
            let spoilt = spoil(&mut dice, config);
            assert!(!spoilt.ways.is_empty());
            taken.extend(spoilt.ways);
        }
        for way in ways() {
            assert!(taken.contains(&way), "{way}");
        }
    }

    #[test]
    fn a_seed_spoils_in_the_same_way_again() {
        let make = |seed| {
            let mut dice = Dice::new(seed);
            let config = valid(&mut dice, Purpose::Verdict);
            spoil(&mut dice, config)
        };
        assert_eq!(make(3), make(3));
        assert_ne!(make(3), make(4));
    }
}
