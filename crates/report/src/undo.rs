//! `undo` for people: what was taken back, and what was left alone and why.

use bootlace_model::view::{RefusedView, UndoView};

use crate::page::Page;
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::{clean, count, number_of};

/// Lays out what came of an undo.
pub fn text(view: &UndoView, style: &Style) -> String {
    let mut page = Page::new(style);
    let run = style.paint(Tone::Name, &clean(&view.run));
    let sign = if view.refused.is_empty() {
        Sign::Good
    } else {
        Sign::Warn
    };
    let undone = match view.undone {
        0 => "nothing was left to take back".to_owned(),
        n => format!("{} taken back", count(n, "effect")),
    };
    page.line(&format!("{} Run {run}: {undone}.", style.sign(sign)));
    if !view.refused.is_empty() {
        page.gap();
        let left = count(number_of(&view.refused), "thing");
        page.toned(0, Tone::Heading, &format!("{left} left alone:"));
        for steps in view.refused.chunk_by(|a, b| a.step == b.step) {
            write_step(&mut page, steps);
        }
    }
    page.finish()
}

fn write_step(page: &mut Page<'_>, refused: &[RefusedView]) {
    let Some(first) = refused.first() else {
        return;
    };
    page.toned(2, Tone::Name, &first.step);
    for thing in refused {
        page.item(4, Sign::Bad, &thing.target);
        page.toned(4 + page.style().sign_width() + 1, Tone::Faint, &thing.why);
    }
}
