//! The page of the steps: what `explain` says, one section a step.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bootlace_model::view::{ExplainView, ExplainedCheck, ExplainedExpectation, ExplainedStep};

use super::failures::anchor;
use super::markdown::literal;

const INTRODUCTION: &str = "\
# Steps

What `bootlace explain SEQUENCE` says of each step when there is no config. `ASSETS` is the asset
folder, `/opt/bootlace` below the root unless `--assets` names another. What is *looked at first* is looked at
before anything is touched; each check can be left out by its name with `--ignore-preflight-errors`. The
codes under *known failures* are explained in [known failures](failures.md).

";

/// Lays the page out.
pub(crate) fn page(views: &[ExplainView]) -> String {
    let chapters = views.iter().map(chapter);
    let chapters: Vec<String> = chapters.collect();
    format!("{INTRODUCTION}{}", chapters.join("\n"))
}

fn chapter(view: &ExplainView) -> String {
    let mut page = format!("## The sequence `{}`\n\n", view.sequence);
    // A column that says the same of every step says nothing.
    let all_run = view.steps.iter().all(|step| step.built);
    let (title, rule) = if all_run {
        ("", "")
    } else {
        (" runs today |", "---|")
    };
    line(&mut page, &format!("| | step | what it does |{title}"));
    line(&mut page, &format!("|---|---|---|{rule}"));
    for (n, step) in view.steps.iter().enumerate() {
        let (id, number) = (&step.id, n + 1);
        let runs = match (all_run, step.built) {
            (true, _) => "",
            (false, true) => " yes |",
            (false, false) => " explains itself |",
        };
        let row = format!("| {number} | [{id}](#{id}) | {} |{runs}", step.title);
        line(&mut page, &row);
    }
    for step in &view.steps {
        section(&mut page, step);
    }
    page
}

fn line(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}

fn section(page: &mut String, step: &ExplainedStep) {
    line(page, &format!("\n### {}\n\n**{}.**", step.id, step.title));
    if !step.built {
        line(page, "*Not built yet: it explains itself and cannot run.*");
    }
    line(page, &format!("\n{}\n", step.why.trim()));
    let needs: Vec<String> = step
        .needs
        .iter()
        .map(|id| format!("[{id}](#{id})"))
        .collect();
    list(page, "Needs", &needs);
    list(page, "Reads", &step.reads);
    list(page, "Writes", &step.writes);
    if !step.command.trim().is_empty() {
        let command = step.command.trim_end();
        line(page, &format!("**By hand**\n\n```sh\n{command}\n```\n"));
    }
    checks(page, &step.checks);
    expectations(page, &step.expects);
    let undo = format!(
        "**Undone by** {}: {}\n",
        step.undo.policy.replace('-', " "),
        step.undo.why
    );
    line(page, &undo);
    if !step.failures.is_empty() {
        let link = |code: &String| format!("[{code}](failures.md#{})", anchor(code));
        let failures: Vec<String> = step.failures.iter().map(link).collect();
        line(page, &format!("**Known failures** {}", failures.join(", ")));
    }
}

fn list(page: &mut String, name: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    line(page, &format!("**{name}**\n"));
    for item in items {
        line(page, &format!("- {}", literal(item)));
    }
    line(page, "");
}

/// Tells what is looked at before the step begins.
fn checks(page: &mut String, checks: &[ExplainedCheck]) {
    if checks.is_empty() {
        return;
    }
    line(page, "**Looked at first**\n");
    line(page, "| check | why | what to do |\n|---|---|---|");
    for check in checks {
        let (why, hint) = (literal(&check.why), literal(&check.hint));
        line(page, &format!("| `{}` | {why} | {hint} |", check.name));
    }
    line(page, "");
}

/// Tells what must hold; what matters for the same reason stands together.
fn expectations(page: &mut String, expects: &[ExplainedExpectation]) {
    let ending = common_ending(expects);
    let until = ending.map_or(String::new(), |step| format!(", until [{step}](#{step})"));
    line(page, &format!("**Checked by**{until}\n"));
    let mut reasons: Vec<&str> = vec![];
    for expected in expects {
        if !reasons.contains(&expected.because.as_str()) {
            reasons.push(&expected.because);
        }
    }
    for reason in reasons {
        line(page, &format!("- {}", literal(reason)));
        for expected in expects.iter().filter(|e| e.because == reason) {
            let until = expected.until.as_deref().filter(|_| ending.is_none());
            line(page, &format!("  - {}", what_and_when(expected, until)));
        }
    }
    line(page, "");
    let signs: BTreeSet<&str> = expects
        .iter()
        .flat_map(|expected| expected.unless.iter().map(String::as_str))
        .collect();
    if !signs.is_empty() {
        let signs: Vec<&str> = signs.into_iter().collect();
        let signs = literal(&signs.join(", "));
        line(page, &format!("**Given up at once if** {signs}\n"));
    }
}

/// Returns the step that ends all of the expectations, so that it is told once.
fn common_ending(expects: &[ExplainedExpectation]) -> Option<&str> {
    let ending = expects.first()?.until.as_deref()?;
    let same = |expected: &ExplainedExpectation| expected.until.as_deref() == Some(ending);
    expects.iter().all(same).then_some(ending)
}

fn what_and_when(expected: &ExplainedExpectation, until: Option<&str>) -> String {
    let mut text = literal(&expected.what);
    // Writing to a text cannot fail.
    if expected.within_seconds > 0 {
        let _infallible = write!(text, ", within {} s", expected.within_seconds);
    }
    if let Some(step) = until {
        let _infallible = write!(text, ", until [{step}](#{step})");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{expectation, explained};

    #[test]
    fn a_step_is_a_section_with_its_expectations_by_reason() {
        let page = page(&[explained()]);
        for expected in [
            "| 1 | [second](#second) | Do it | explains itself |\n",
            "\n### second\n\n**Do it.**\n*Not built yet",
            "**Needs**\n\n- [first](#first)\n",
            "**Writes**\n\n- ASSETS/\\*.yaml\n",
            "```sh\ntouch x\n```\n",
            "**Looked at first**\n\n| check | why | what to do |\n|---|---|---|\n",
            "| `Swap` | It is slow. | `swapoff -a` |\n",
            "- one\n  - a holds\n  - c holds\n- two\n  - b holds\n",
            "**Given up at once if** d fails\n",
            "**Undone by** forward only: It is gone.\n",
            "**Known failures** [F-01](failures.md#f-01)\n",
        ] {
            assert!(page.contains(expected), "{expected}\n{page}");
        }
        assert!(!page.contains("**Reads**"), "{page}");
    }

    #[test]
    fn an_ending_that_all_share_is_told_once() {
        let ends = |step: &str| ExplainedExpectation {
            until: Some(step.into()),
            ..expectation("a holds", "one")
        };
        let text = |expects: &[ExplainedExpectation]| {
            let mut page = String::new();
            expectations(&mut page, expects);
            page
        };
        let alike = text(&[ends("last"), ends("last")]);
        assert_eq!(alike.matches("until [last]").count(), 1, "{alike}");
        let mixed = text(&[ends("last"), ends("first"), expectation("b", "two")]);
        assert!(
            mixed.contains("a holds, until [first](#first)\n"),
            "{mixed}"
        );
    }
}
