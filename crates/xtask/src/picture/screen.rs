//! A terminal's screen: its text, and how each piece of it looks.

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// One of the terminal's eight colours; none is its own.
    pub(crate) color: Option<u8>,
    /// Whether it is bold.
    pub(crate) bold: bool,
    /// Whether it is faint.
    pub(crate) faint: bool,
}

/// A piece of a line that looks the same from its first letter to its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// The column of its first letter, from 0.
    pub(crate) column: usize,
    /// The letters, each one column wide.
    pub(crate) text: String,
    /// How they look.
    pub(crate) look: Look,
}

/// Reads text with `SGR` sequences, line by line; empty lines at the end are left out.
pub(crate) fn parse(screen: &str) -> Vec<Vec<Span>> {
    // A terminal keeps its look over the end of a line.
    let mut look = Look::default();
    let mut lines: Vec<Vec<Span>> = screen
        .lines()
        .map(|line| parse_line(line, &mut look))
        .collect();
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

fn parse_line(line: &str, look: &mut Look) -> Vec<Span> {
    let mut spans = vec![];
    let mut column = 0;
    for (n, piece) in line.split("\x1b[").enumerate() {
        let text = match piece.split_once('m') {
            Some((parameters, text)) if n > 0 => {
                parameters.split(';').for_each(|one| look.change(one));
                text
            }
            _ => piece,
        };
        if !text.trim().is_empty() {
            spans.push(Span {
                column,
                text: text.to_owned(),
                look: *look,
            });
        }
        column += text.chars().count();
    }
    spans
}

impl Look {
    /// Applies one parameter of a sequence; what is not drawn has no effect.
    fn change(&mut self, parameter: &str) {
        match parameter {
            "" | "0" => *self = Self::default(),
            "1" => self.bold = true,
            "2" => self.faint = true,
            "22" => (self.bold, self.faint) = (false, false),
            "39" => self.color = None,
            other => {
                if let Ok(color @ 30..=37) = other.parse::<u8>() {
                    self.color = Some(color - 30);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_last_until_they_are_changed() {
        let lines = parse("a \x1b[1;32mb\nc\x1b[0m d\x1b[39m\n\x1b[2m e\n\n");
        let bold_green = Look {
            color: Some(2),
            bold: true,
            faint: false,
        };
        let faint = Look {
            faint: true,
            ..Look::default()
        };
        let span = |column, text: &str, look| Span {
            column,
            text: text.into(),
            look,
        };
        assert_eq!(
            lines,
            [
                vec![span(0, "a ", Look::default()), span(2, "b", bold_green)],
                vec![span(0, "c", bold_green), span(1, " d", Look::default())],
                vec![span(0, " e", faint)],
            ]
        );
    }
}
