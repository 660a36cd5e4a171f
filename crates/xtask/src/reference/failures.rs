//! The page of known failures: what each code means, and which steps name it.

use bootlace_model::view::{ExplainView, ExplainedFailure};

use super::markdown::{literal, sentence};

const INTRODUCTION: &str = "\
# Known failures

What people met before, in the words of `bootlace explain`. A code is a name for ever. Some of these cannot
happen here any more, and stand here because whoever comes from another tool looks for them; a wait that
sees a line of one of them in a log ends at once, and puts the code in brackets behind the cause: `[F-30]`.
Codes that begin with `N` are noise: they look like failures and are none. Those of the sequence `ignition` begin with `I`.

`bootlace explain SEQUENCE --only STEP -v` prints the causes and remedies of one step.

";

/// Lays the page out.
pub(crate) fn page(views: &[ExplainView]) -> String {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("| code | how it shows |\n|---|---|\n");
    page.extend(views.iter().flat_map(|view| view.failures.iter().map(row)));
    for view in views {
        page.extend(view.failures.iter().map(|failure| section(view, failure)));
    }
    page
}

/// Returns the name by which a page links to the section of a code.
pub(super) fn anchor(code: &str) -> String {
    code.to_lowercase()
}

fn row(failure: &ExplainedFailure) -> String {
    let (code, shows) = (&failure.code, literal(&failure.shows));
    format!("| [{code}](#{}) | {shows} |\n", anchor(code))
}

fn section(view: &ExplainView, failure: &ExplainedFailure) -> String {
    let code = &failure.code;
    let names = view
        .steps
        .iter()
        .filter(|step| step.failures.contains(code));
    let names: Vec<String> = names
        .map(|step| format!("[{0}](steps.md#{0})", step.id))
        .collect();
    format!(
        "\n## {code}\n\n**Shows as** {}\n\n**Cause** {}\n\n**Do** {}\n\n**Named by** {}\n",
        sentence(&failure.shows),
        sentence(&failure.cause),
        sentence(&failure.remedy),
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_a_section_that_names_its_steps() {
        let view = crate::samples::explained();
        let page = page(&[view]);
        for expected in [
            "| [F-01](#f-01) | it hangs |\n",
            "\n## F-01\n\n**Shows as** It hangs.\n\n**Cause** A \\<b\\>.\n\n**Do** `c`.\n",
            "**Named by** [second](steps.md#second)\n",
        ] {
            assert!(page.contains(expected), "{expected}\n{page}");
        }
    }
}
