//! Colours and symbols by meaning; the one table of both.
//!
//! Nothing is said by colour alone: every colour goes with a word or a symbol, so that output is
//! as readable in a log file or for someone who cannot tell the colours apart.

/// What a piece of text means to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Begins a part of the output.
    Heading,
    /// Names a step, a run, a file.
    Name,
    /// Can be typed or pasted.
    Code,
    /// Is done, holds, is fine.
    Good,
    /// Failed, does not hold, is refused.
    Bad,
    /// Should be looked at, stops nothing.
    Warn,
    /// Is under way.
    Active,
    /// Is good to know and may be overlooked.
    Faint,
}

impl Tone {
    /// Returns the parameters of the terminal's `SGR` sequence.
    pub(crate) fn sgr(self) -> &'static str {
        match self {
            Self::Heading | Self::Name => "1",
            Self::Code | Self::Active => "36",
            Self::Good => "32",
            Self::Bad => "1;31",
            Self::Warn => "33",
            Self::Faint => "2",
        }
    }
}

/// A symbol that stands in front of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Done, holds.
    Good,
    /// Failed, does not hold.
    Bad,
    /// Look here.
    Warn,
    /// Under way.
    Active,
    /// Not begun.
    Todo,
    /// Left out for a reason.
    Skipped,
    /// Not known yet.
    Unknown,
    /// Not built yet.
    Unbuilt,
    /// Comes into being.
    Add,
    /// Goes away.
    Remove,
    /// Is changed.
    Change,
    /// Is run.
    Execute,
    /// One of several.
    Item,
    /// Was taken back.
    Undone,
}

impl Sign {
    /// Returns the symbol, in Unicode or in plain ASCII.
    pub(crate) fn text(self, unicode: bool) -> &'static str {
        let (fancy, plain) = match self {
            Self::Good => ("✓", "ok"),
            Self::Bad => ("✗", "x"),
            Self::Warn => ("!", "!"),
            Self::Active => ("▸", ">"),
            Self::Todo => ("○", "o"),
            Self::Skipped => ("↷", "-"),
            Self::Unknown => ("?", "?"),
            Self::Unbuilt => ("·", "."),
            Self::Add => ("+", "+"),
            Self::Remove => ("-", "-"),
            Self::Change => ("~", "~"),
            Self::Execute => ("$", "$"),
            Self::Item => ("•", "*"),
            Self::Undone => ("↶", "<"),
        };
        if unicode { fancy } else { plain }
    }

    /// Returns the tone in which the symbol and its line are shown.
    pub fn tone(self) -> Tone {
        match self {
            Self::Good | Self::Add => Tone::Good,
            Self::Bad | Self::Remove => Tone::Bad,
            Self::Warn | Self::Change | Self::Unknown => Tone::Warn,
            Self::Active | Self::Execute => Tone::Active,
            Self::Todo | Self::Skipped | Self::Unbuilt | Self::Item | Self::Undone => Tone::Faint,
        }
    }
}
