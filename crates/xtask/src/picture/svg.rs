//! A screen as a picture that any browser shows: text in a window, letter by letter in its column.

use std::fmt::Write as _;

use super::screen::{Look, Span};

/// The size of a letter's cell, in pixels.
const CELL_WIDTH: f64 = 8.4;
const CELL_HEIGHT: f64 = 19.0;

/// The room around the text, and that of the window's title.
const MARGIN: f64 = 20.0;
const TITLE: f64 = 40.0;

/// The background is dark on light and on dark pages alike; the frame keeps it apart from both.
const BACKGROUND: &str = "#161b22";
const FRAME: &str = "#444c56";
const PLAIN: &str = "#d6dde4";
const STRONG: &str = "#ffffff";
const FAINT: &str = "#8b949e";

/// The terminal's eight colours.
const COLORS: [&str; 8] = [
    "#6e7681", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#5fd3e0", "#ffffff",
];

/// The window's three buttons.
const BUTTONS: [&str; 3] = ["#ff5f57", "#febc2e", "#28c840"];

const FONTS: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";

/// Draws the lines of a screen that is so many columns wide.
pub(crate) fn draw(lines: &[Vec<Span>], columns: usize) -> String {
    let width = cells(columns) + 2.0 * MARGIN;
    let height = TITLE + rows(lines.len()) + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"{FONTS}\" font-size=\"14\">\n\
         <title>A run of bootlace in a terminal</title>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"9\" \
         fill=\"{BACKGROUND}\" stroke=\"{FRAME}\"/>\n",
        width - 1.0,
        height - 1.0
    );
    // Writing to a text cannot fail.
    for (x, color) in [22, 42, 62].into_iter().zip(BUTTONS) {
        let _infallible = writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"20\" r=\"6\" fill=\"{color}\"/>"
        );
    }
    for (row, line) in lines.iter().enumerate() {
        for span in line {
            svg += &text(span, TITLE + rows(row) + 14.0);
        }
    }
    svg + "</svg>\n"
}

/// Draws one piece. Its length is given, so that every font keeps the columns.
fn text(span: &Span, y: f64) -> String {
    let shown = span.text.trim_end();
    let trimmed = shown.trim_start();
    let indent = shown.chars().count() - trimmed.chars().count();
    let x = MARGIN + cells(span.column + indent);
    let length = cells(trimmed.chars().count());
    let weight = if span.look.bold {
        " font-weight=\"bold\""
    } else {
        ""
    };
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" \
         lengthAdjust=\"spacingAndGlyphs\" fill=\"{}\"{weight} xml:space=\"preserve\">{}</text>\n",
        color(span.look),
        escape(trimmed)
    )
}

fn color(look: Look) -> &'static str {
    match look {
        Look { color: Some(n), .. } => COLORS.get(usize::from(n)).unwrap_or(&PLAIN),
        Look { faint: true, .. } => FAINT,
        Look { bold: true, .. } => STRONG,
        Look { .. } => PLAIN,
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Returns how wide so many columns are.
fn cells(columns: usize) -> f64 {
    CELL_WIDTH * f64::from(u32::try_from(columns).unwrap_or(u32::MAX))
}

/// Returns how high so many rows are.
fn rows(rows: usize) -> f64 {
    CELL_HEIGHT * f64::from(u32::try_from(rows).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_in_their_columns_and_markup_is_text() {
        let span = Span {
            column: 2,
            text: "  a < b ".into(),
            look: Look {
                color: Some(1),
                ..Look::default()
            },
        };
        let svg = draw(&[vec![], vec![span]], 80);
        let expected = "<text x=\"53.6\" y=\"73.0\" textLength=\"42.0\" \
             lengthAdjust=\"spacingAndGlyphs\" fill=\"#ff7b72\" xml:space=\"preserve\">a &lt; b</text>";
        assert!(svg.contains(expected), "{svg}");
    }
}
