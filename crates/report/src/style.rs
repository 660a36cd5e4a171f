//! How output looks on the reader's side: coloured or not, Unicode or ASCII, how wide.

use crate::theme::{Sign, Tone};

/// The width at which text is wrapped if nothing is known of the terminal.
pub const DEFAULT_WIDTH: usize = 80;
/// The widest text: longer lines are hard to read, whatever the terminal can show.
pub const MAX_WIDTH: usize = 100;

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// If it goes to a terminal that can, and nobody asked for none.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What is known of the place where output goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Whether it is a terminal.
    pub terminal: bool,
    /// How many columns it has.
    pub columns: Option<usize>,
    /// The variable `NO_COLOR`.
    pub no_color: Option<String>,
    /// The variable `TERM`.
    pub term: Option<String>,
    /// The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is not empty.
    pub locale: Option<String>,
}

impl Surroundings {
    /// Tells whether the terminal understands control sequences.
    pub fn is_capable_terminal(&self) -> bool {
        self.terminal && self.term.as_deref() != Some("dumb")
    }
}

/// How output looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether it is coloured.
    pub color: bool,
    /// Whether symbols are Unicode; texts that people or steps wrote are never changed.
    pub unicode: bool,
    /// Where text is wrapped.
    pub width: usize,
}

impl Style {
    /// Returns the style of snapshots and log files: no colour, Unicode, eighty columns.
    pub fn plain() -> Self {
        Self {
            color: false,
            unicode: true,
            width: DEFAULT_WIDTH,
        }
    }

    /// Decides from the person's choice and from where the output goes.
    ///
    /// `NO_COLOR` counts if it is set and not empty, and gives way to an explicit `always`.
    /// A locale that does not name UTF-8, or none at all, gets ASCII symbols: that is what the
    /// C locale promises to show, and what a serial console of a bare machine can show.
    pub fn choose(choice: ColorChoice, place: &Surroundings) -> Self {
        let declined = place.no_color.as_deref().is_some_and(|v| !v.is_empty());
        let color = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => place.is_capable_terminal() && !declined,
        };
        let locale = place.locale.as_deref().unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        Self {
            color,
            unicode: locale.contains("utf-8") || locale.contains("utf8"),
            width: place
                .columns
                .map_or(DEFAULT_WIDTH, |w| w.clamp(DEFAULT_WIDTH, MAX_WIDTH)),
        }
    }

    /// Colours a text by what it means, if output is coloured.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", tone.sgr())
        } else {
            text.to_owned()
        }
    }

    /// Returns a symbol in its colour, as wide as the widest one of this style.
    pub fn sign(&self, sign: Sign) -> String {
        let text = sign.text(self.unicode);
        let padding = " ".repeat(self.sign_width() - text.chars().count());
        format!("{}{padding}", self.paint(sign.tone(), text))
    }

    /// Returns how many columns a symbol takes.
    pub fn sign_width(&self) -> usize {
        if self.unicode { 1 } else { 2 }
    }

    /// Draws a horizontal line of so many columns.
    pub(crate) fn rule(&self, columns: usize) -> String {
        let stroke = if self.unicode { "─" } else { "-" };
        self.paint(Tone::Faint, &stroke.repeat(columns))
    }

    /// Draws a bar that fills a share of so many columns, at least one if the share is not zero.
    pub(crate) fn bar(&self, share: f64, columns: u16) -> String {
        let stroke = if self.unicode { "━" } else { "#" };
        let filled = (1..=columns)
            .take_while(|n| f64::from(*n - 1) < share * f64::from(columns))
            .count();
        self.paint(Tone::Active, &stroke.repeat(filled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal() -> Surroundings {
        Surroundings {
            terminal: true,
            columns: Some(120),
            locale: Some("de_DE.UTF-8".into()),
            term: Some("xterm".into()),
            no_color: None,
        }
    }

    #[test]
    fn colour_follows_the_choice_then_the_place() {
        let color = |choice, place: &Surroundings| Style::choose(choice, place).color;
        assert!(color(ColorChoice::Auto, &terminal()));
        assert!(!color(ColorChoice::Never, &terminal()));
        assert!(color(ColorChoice::Always, &Surroundings::default()));
        assert!(!color(ColorChoice::Auto, &Surroundings::default()));
        let dumb = Surroundings {
            term: Some("dumb".into()),
            ..terminal()
        };
        assert!(!color(ColorChoice::Auto, &dumb));
        let mut declined = terminal();
        declined.no_color = Some("1".into());
        assert!(!color(ColorChoice::Auto, &declined));
        assert!(color(ColorChoice::Always, &declined));
        declined.no_color = Some(String::new());
        assert!(color(ColorChoice::Auto, &declined), "empty counts as unset");
    }

    #[test]
    fn text_is_eighty_to_a_hundred_columns_wide() {
        let width = |columns| {
            let place = Surroundings {
                columns,
                ..terminal()
            };
            Style::choose(ColorChoice::Auto, &place).width
        };
        let widths = [None, Some(20), Some(90), Some(300)].map(width);
        assert_eq!(widths, [80, 80, 90, 100]);
    }

    #[test]
    fn symbols_are_unicode_only_in_a_locale_that_says_so() {
        let unicode = |locale: Option<&str>| {
            let place = Surroundings {
                locale: locale.map(ToOwned::to_owned),
                ..terminal()
            };
            Style::choose(ColorChoice::Never, &place).unicode
        };
        assert!(unicode(Some("C.UTF-8")) && unicode(Some("en_GB.utf8")));
        assert!(!unicode(Some("C")) && !unicode(None) && !unicode(Some("de_DE.ISO-8859-1")));
    }

    #[test]
    fn bars_grow_with_their_share() {
        let style = Style::plain();
        let bars = [0.0, 0.001, 0.5, 1.0].map(|share| style.bar(share, 4).chars().count());
        assert_eq!(bars, [0, 1, 2, 4]);
    }
}
