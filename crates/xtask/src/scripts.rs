//! Writes the scripts that walk through a cluster's birth stage by stage, by hand.
//!
//! Each explains a stage, shows its commands, runs it alone, validates and logs it. They come from
//! what the program says of its steps, so a step that changes changes its script.

use std::path::Path;

use bootlace_model::view::{ExplainView, ExplainedStep};

use crate::failure::Failure;
use crate::generated::{File, Generated};
use crate::program::Program;

const SCRIPTS: Generated = Generated {
    chore: "scripts",
    folder: "scripts",
    mode: 0o755,
    hint: "run `cargo run -p xtask -- scripts` and commit what it writes",
};

/// The text that all scripts share.
const TEMPLATE: &str = include_str!("scripts/template.sh");

/// The script that renders everything, and the last step that renders.
const ALL: (&str, &str) = ("render-all.sh", "render-machine-config");

/// The other scripts, under the names that they are known by, and the step of each.
const ROWS: &[(&str, &str)] = &[
    ("render-etcd.sh", "render-etcd"),
    ("render-kube-apiserver.sh", "render-kube-apiserver"),
    ("render-kcm.sh", "render-kube-controller-manager"),
    ("render-scheduler.sh", "render-kube-scheduler"),
    ("render-cvo.sh", "render-version-operator"),
    ("render-mco.sh", "render-machine-config"),
    ("start-bootstrap.sh", "start-control-plane"),
];

/// How wide a line of a comment is.
const WIDTH: usize = 98;

/// Writes the scripts, or with `--check` compares them with those in the repository.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let generate = |root: &Path| generate(&Program::new(root).explain("cluster")?);
    SCRIPTS.run(arguments, generate)
}

/// Returns the scripts as they must be.
fn generate(view: &ExplainView) -> Result<Vec<File>, Failure> {
    let (name, last) = ALL;
    let end = position(view, last)?;
    let mut scripts = vec![(name, all(name, &view.steps[..=end]))];
    for (name, step) in ROWS {
        let step = &view.steps[position(view, step)?];
        scripts.push((name, single(name, step, &last_need(view, step)?)));
    }
    Ok(scripts)
}

fn position(view: &ExplainView, name: &str) -> Result<usize, Failure> {
    let found = view.steps.iter().position(|step| step.id == name);
    found.ok_or_else(|| Failure::Found {
        summary: format!("a script wants the step {name}, which the sequence does not have"),
        findings: vec![],
        hint: "the table of scripts is in crates/xtask/src/scripts.rs",
    })
}

/// Returns the need that comes last in the sequence: running up to it makes all of them.
fn last_need(view: &ExplainView, step: &ExplainedStep) -> Result<String, Failure> {
    let mut last = None;
    for need in &step.needs {
        last = last.max(Some(position(view, need)?));
    }
    Ok(last.map_or(String::new(), |at| view.steps[at].id.clone()))
}

fn all(name: &str, steps: &[ExplainedStep]) -> String {
    let widest = steps.iter().map(|step| step.id.len()).max().unwrap_or(0);
    let rows = steps.iter().map(|step| {
        let row = format!("#   {:widest$}  {}", step.id, step.title);
        row.trim_end().to_owned()
    });
    let mut header = vec![
        format!(
            "# {name}: Render everything that a cluster is made of, one stage after the other."
        ),
        "#".to_owned(),
    ];
    header.extend(rows);
    let ids: Vec<&str> = steps.iter().map(|step| step.id.as_str()).collect();
    script(name, &header, &format!("\n  {}\n", ids.join("\n  ")), "")
}

fn single(name: &str, step: &ExplainedStep, last_need: &str) -> String {
    let mut header = vec![format!("# {name}: {}.", step.title), "#".to_owned()];
    header.extend(comment(&step.why));
    if !last_need.is_empty() {
        let needs = step.needs.join(", ");
        let text = format!(
            "It needs {needs}. `bootlace run cluster --to {last_need}` makes them, and so does \
             render-all.sh."
        );
        header.push("#".to_owned());
        header.extend(comment(&text));
    }
    script(name, &header, &step.id, last_need)
}

fn script(name: &str, header: &[String], steps: &str, last_need: &str) -> String {
    TEMPLATE
        .replace("@HEADER@", &header.join("\n"))
        .replace("@NAME@", name)
        .replace("@STEPS@", steps)
        .replace("@LAST_NEED@", last_need)
}

/// Breaks a text into lines of a comment.
fn comment(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("# {word}")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{explained, step};

    fn sequence() -> ExplainView {
        let mut view = explained();
        let names = ROWS.iter().map(|(_, step)| *step);
        view.steps = ["first"].into_iter().chain(names).map(step).collect();
        view.steps[0].needs = vec![];
        view
    }

    #[test]
    fn a_stage_has_its_reason_its_needs_and_its_step() {
        let scripts = generate(&sequence()).unwrap();
        let (name, text) = &scripts[1];
        assert_eq!(*name, "render-etcd.sh");
        for expected in [
            "#!/usr/bin/env bash\n# render-etcd.sh: Do it.\n#\n# Because of `a b`.\n",
            "# It needs first. `bootlace run cluster --to first` makes them",
            "\nsteps=(render-etcd)\nlast_need=first\n",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        for (_, text) in &scripts {
            for word in ["@HEADER@", "@NAME@", "@STEPS@", "@LAST_NEED@"] {
                assert!(TEMPLATE.contains(word) && !text.contains(word), "{word}");
            }
        }
    }

    #[test]
    fn everything_is_rendered_in_the_order_of_the_sequence() {
        let scripts = generate(&sequence()).unwrap();
        let text = &scripts[0].1;
        let steps = "\nsteps=(\n  first\n  render-etcd\n  render-kube-apiserver\n";
        assert!(text.contains(steps), "{text}");
        assert!(text.contains("  render-machine-config\n)\nlast_need=\n"));
    }

    #[test]
    fn a_step_that_is_gone_is_named() {
        let mut view = sequence();
        view.steps.retain(|step| step.id != "render-etcd");
        let failure = generate(&view).unwrap_err();
        assert!(failure.to_string().contains("the step render-etcd"));
    }

    #[test]
    fn comments_stay_within_their_width() {
        let lines = comment(&"word ".repeat(60));
        assert!(lines.len() > 2);
        for line in lines {
            assert!(line.starts_with("# word") && line.len() <= WIDTH, "{line}");
        }
    }
}
