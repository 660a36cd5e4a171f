//! What a value must be.

/// What the value of a flag or of a setting must be; none is given if it is left out.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    /// It is given.
    Set,
    /// It is left out.
    Unset,
    /// It is given, as this.
    Is(&'static str),
    /// It is left out, because its default is this, or given as this.
    UnsetOr(&'static str),
    /// It is not this.
    Not(&'static str),
    /// It is a list in which this stands.
    Lists(&'static str),
    /// It is no list in which this stands.
    ListsNot(&'static str),
    /// It is at least this number.
    AtLeast(u64),
    /// It is left out, because its default is more, or at least this number.
    UnsetOrAtLeast(u64),
    /// It is a duration other than zero, as its default is.
    NotZero,
    /// It is a list of these alone.
    Among(&'static [&'static str]),
}

impl Rule {
    /// Tells whether a value fits.
    pub(super) fn fits(self, value: Option<&str>) -> bool {
        let lists = |wanted: &str| value.is_some_and(|list| list.split(',').any(|it| it == wanted));
        let at_least = |most: u64| value.is_some_and(|it| it.parse().is_ok_and(|n: u64| n >= most));
        match self {
            Self::Set => value.is_some_and(|value| !value.is_empty()),
            Self::Unset => value.is_none(),
            Self::Is(wanted) => value == Some(wanted),
            Self::UnsetOr(wanted) => value.is_none_or(|value| value == wanted),
            Self::Not(unwanted) => value != Some(unwanted),
            Self::Lists(wanted) => lists(wanted),
            Self::ListsNot(unwanted) => !lists(unwanted),
            Self::AtLeast(least) => at_least(least),
            Self::UnsetOrAtLeast(least) => value.is_none() || at_least(least),
            Self::NotZero => value.is_none_or(|it| it.bytes().any(|b| (b'1'..=b'9').contains(&b))),
            Self::Among(good) => {
                let is_good = |it: &str| good.contains(&it);
                value.is_some_and(|list| !list.is_empty() && list.split(',').all(is_good))
            }
        }
    }

    /// Says what to do to a flag or a setting of a name.
    pub(super) fn remedy(self, name: &str) -> String {
        match self {
            Self::Set => format!("set {name}"),
            Self::Unset => format!("remove {name}"),
            Self::Is(value) | Self::UnsetOr(value) => format!("set {name} to {value}"),
            Self::Not(value) => format!("set {name} to something else than {value}"),
            Self::Lists(value) => format!("add {value} to {name}"),
            Self::ListsNot(value) => format!("remove {value} from {name}"),
            Self::AtLeast(least) | Self::UnsetOrAtLeast(least) => {
                format!("set {name} to {least} or more")
            }
            Self::NotZero => format!("set {name} to a duration other than 0"),
            Self::Among(good) => format!("set {name} to some of {}", good.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rule::{self, *};

    type Values = &'static [Option<&'static str>];

    #[test]
    fn each_rule_accepts_what_it_says_and_nothing_else() {
        let rows: &[(Rule, Values, Values)] = &[
            (Set, &[Some("a")], &[None, Some("")]),
            (Unset, &[None], &[Some("a")]),
            (Is("a"), &[Some("a")], &[None, Some("b")]),
            (UnsetOr("a"), &[None, Some("a")], &[Some("b")]),
            (Not("a"), &[None, Some("b")], &[Some("a")]),
            (Lists("a"), &[Some("b,a")], &[None, Some("ab")]),
            (ListsNot("a"), &[None, Some("ab")], &[Some("b,a")]),
            (AtLeast(30), &[Some("30")], &[None, Some("29"), Some("x")]),
            (UnsetOrAtLeast(1), &[None, Some("50")], &[Some("0")]),
            (
                NotZero,
                &[None, Some("30m"), Some("4h0m0s")],
                &[Some("0"), Some("0s")],
            ),
            (
                Among(&["a", "b"]),
                &[Some("b,a")],
                &[None, Some("a,c"), Some("")],
            ),
        ];
        for (rule, good, bad) in rows {
            assert!(good.iter().all(|value| rule.fits(*value)), "{rule:?}");
            assert!(!bad.iter().any(|value| rule.fits(*value)), "{rule:?}");
        }
    }
}
