//! A page of text: wraps prose, hangs labels, keeps code in one piece.

use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::clean;

/// Text that is being laid out.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    style: &'a Style,
    text: String,
}

impl<'a> Page<'a> {
    /// Begins an empty page.
    pub(crate) fn new(style: &'a Style) -> Self {
        let text = String::new();
        Self { style, text }
    }

    /// Returns the style.
    pub(crate) fn style(&self) -> &'a Style {
        self.style
    }

    /// Adds a line that is laid out already.
    pub(crate) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Adds an empty line, unless the page is empty or ends with one.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Adds prose, wrapped and indented; empty lines in it part paragraphs.
    pub(crate) fn prose(&mut self, indent: usize, text: &str) {
        self.hanging(&" ".repeat(indent), indent, text, None);
    }

    /// Adds prose in one tone.
    pub(crate) fn toned(&mut self, indent: usize, tone: Tone, text: &str) {
        self.hanging(&" ".repeat(indent), indent, text, Some(tone));
    }

    /// Adds prose behind a symbol.
    pub(crate) fn item(&mut self, indent: usize, sign: Sign, text: &str) {
        let first = format!("{}{} ", " ".repeat(indent), self.style.sign(sign));
        let rest = indent + self.style.sign_width() + 1;
        self.hanging(&first, rest, text, None);
    }

    /// Adds prose behind a word and a colon, as in `error: …`.
    pub(crate) fn led(&mut self, indent: usize, tone: Tone, word: &str, text: &str) {
        let first = format!("{}{}: ", " ".repeat(indent), self.style.paint(tone, word));
        let rest = indent + word.chars().count() + 2;
        self.hanging(&first, rest, text, None);
    }

    /// Adds prose behind a front that is laid out already and takes so many columns.
    pub(crate) fn hung(&mut self, front: &str, columns: usize, text: &str) {
        self.hanging(front, columns, text, None);
    }

    /// Adds prose behind a label; further lines hang below the first.
    pub(crate) fn labelled(&mut self, label: &Label, text: &str) {
        self.hanging(&label.first(self.style), label.rest(), text, None);
    }

    /// Adds lines that must stay as they are behind a label, such as commands to paste; below
    /// the label if they would be too wide behind it.
    pub(crate) fn verbatim(&mut self, label: &Label, text: &str) {
        let text = clean(text);
        let widest = text.lines().map(|line| line.chars().count()).max();
        let mut first = label.first(self.style);
        let mut indent = label.rest();
        if widest.unwrap_or(0) + indent > self.style.width {
            self.line(&first);
            indent = label.indent + 2;
            first = " ".repeat(indent);
        }
        for line in text.trim_end().lines() {
            let line = self.style.paint(Tone::Code, line);
            self.line(&format!("{first}{line}"));
            first = " ".repeat(indent);
        }
    }

    /// Hands out the text.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn hanging(&mut self, first: &str, rest: usize, text: &str, tone: Option<Tone>) {
        let mut front = first.to_owned();
        for line in wrap(&clean(text), self.style.width.saturating_sub(rest)) {
            let shown = match tone {
                Some(tone) => self.style.paint(tone, &line),
                None => highlight(self.style, &line),
            };
            self.line(&format!("{front}{shown}"));
            front = " ".repeat(rest);
        }
    }
}

/// A label in front of text, in a column of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label<'a> {
    /// How far the label is indented.
    pub(crate) indent: usize,
    /// The label; empty for a further text under the same one.
    pub(crate) text: &'a str,
    /// How wide the label's column is.
    pub(crate) column: usize,
}

impl Label<'_> {
    fn first(&self, style: &Style) -> String {
        let padding = self.column.saturating_sub(self.text.chars().count());
        format!(
            "{}{}{}",
            " ".repeat(self.indent),
            style.paint(Tone::Faint, self.text),
            " ".repeat(padding)
        )
    }

    fn rest(&self) -> usize {
        self.indent + self.column
    }
}

/// Pads a text that may be coloured by the width of what is shown of it.
pub(crate) fn pad(style: &Style, tone: Tone, text: &str, columns: usize) -> String {
    let padding = columns.saturating_sub(text.chars().count());
    format!("{}{}", style.paint(tone, text), " ".repeat(padding))
}

/// Breaks a text at blanks so that lines fit; words that are too long stand alone.
///
/// What stands between backticks is one word: a command that is broken cannot be pasted.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.trim_end().split('\n') {
        let mut line = String::new();
        let mut width = 0;
        for word in words(paragraph) {
            let length = word.chars().count();
            if width > 0 && width + 1 + length > columns {
                lines.push(std::mem::take(&mut line));
                width = 0;
            }
            if width > 0 {
                line.push(' ');
                width += 1;
            }
            line.push_str(&word);
            width += length;
        }
        lines.push(line);
    }
    lines
}

/// Parts a paragraph into what must stay on one line.
fn words(paragraph: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for word in paragraph.split_whitespace() {
        match words.last_mut().filter(|_| open) {
            Some(last) => {
                last.push(' ');
                last.push_str(word);
            }
            None => words.push(word.to_owned()),
        }
        open ^= word.matches('`').count() % 2 == 1;
    }
    if open {
        // A backtick that nothing closes is no code.
        return paragraph
            .split_whitespace()
            .map(ToOwned::to_owned)
            .collect();
    }
    words
}

/// Colours what stands between backticks.
fn highlight(style: &Style, line: &str) -> String {
    if !style.color {
        return line.to_owned();
    }
    let parts = line.split('`').enumerate().map(|(n, part)| {
        if n % 2 == 1 {
            style.paint(Tone::Code, part)
        } else {
            part.to_owned()
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_never_broken() {
        assert_eq!(wrap("a bb ccc dddd", 4), ["a bb", "ccc", "dddd"]);
        assert_eq!(wrap("abcdefgh i", 4), ["abcdefgh", "i"]);
        assert_eq!(wrap("one\n\ntwo\n", 80), ["one", "", "two"]);
    }

    #[test]
    fn code_stays_in_one_piece_and_is_coloured() {
        assert_eq!(wrap("type `a b c` now", 8), ["type", "`a b c`", "now"]);
        assert_eq!(wrap("a ` b c", 3), ["a `", "b c"], "nothing closes it");
        let style = Style {
            color: true,
            ..Style::plain()
        };
        let shown = highlight(&style, "type `a b` now");
        assert_eq!(shown, "type `\x1b[36ma b\x1b[0m` now");
    }

    #[test]
    fn gaps_do_not_pile_up() {
        let style = Style::plain();
        let mut page = Page::new(&style);
        page.gap();
        page.line("a  ");
        page.gap();
        page.gap();
        page.line("b");
        assert_eq!(page.finish(), "a\n\nb\n");
    }
}
