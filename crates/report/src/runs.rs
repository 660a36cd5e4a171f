//! `runs` for people: one line a run, oldest first.

use bootlace_model::view::RunsView;

use crate::page::{Page, pad};
use crate::status::run_state;
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::{clean, moment_text};

/// Lays out the list of runs.
pub fn text(view: &RunsView, style: &Style) -> String {
    let mut page = Page::new(style);
    if view.runs.is_empty() {
        page.line("There are no runs yet.");
        return page.finish();
    }
    let widths = view.runs.iter().map(|run| run.run.chars().count());
    let column = widths.max().unwrap_or(0);
    let indent = style.sign_width() + 1;
    let heading = format!(
        "{}{:column$}  {:11}  {:>5}  opened",
        " ".repeat(indent),
        "run",
        "state",
        "steps"
    );
    page.line(&style.paint(Tone::Faint, &heading));
    for run in &view.runs {
        let (sign, word) = run.state.map_or((Sign::Bad, "unreadable"), run_state);
        page.line(&format!(
            "{} {}  {}  {:>5}  {}",
            style.sign(sign),
            pad(style, Tone::Name, &clean(&run.run), column),
            pad(style, sign.tone(), word, 11),
            format!("{}/{}", run.done, run.of),
            style.paint(Tone::Faint, &moment_text(&run.opened))
        ));
        if let Some(problem) = &run.problem {
            page.prose(indent, problem);
        }
    }
    page.finish()
}
