//! A small seeded source of numbers: the same seed gives the same numbers on every machine.

/// Numbers that look random and are reproduced by their seed (the generator is `SplitMix64`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dice(u64);

impl Dice {
    /// Begins a row of numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`; 0 if the limit is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        // The bias of the remainder is far below what any test could notice.
        self.roll().checked_rem(limit).unwrap_or(0)
    }

    /// Returns an index into something of this length; 0 if it is empty.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// Tells yes in this many of a hundred cases.
    pub fn percent(&mut self, yes: u64) -> bool {
        self.below(100) < yes
    }

    /// Begins an independent row that is reproduced by the same seed.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.roll())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_reproduces_its_row_and_another_does_not() {
        let row = |seed| {
            let mut dice = Dice::new(seed);
            [
                dice.roll(),
                dice.below(10),
                dice.below(0),
                dice.fork().roll(),
            ]
        };
        assert_eq!(row(7), row(7));
        assert_ne!(row(7), row(8));
        let mut dice = Dice::new(1);
        assert!((0..1000).all(|_| dice.below(10) < 10));
        let yes = (0..1000).filter(|_| dice.percent(30)).count();
        assert!((200..400).contains(&yes), "{yes}");
    }
}
