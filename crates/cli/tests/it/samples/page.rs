//! A page of the guides: its fences, and the commands in them.

use std::collections::BTreeMap;

use super::show::Shown;

/// What a page wants to be done, in its order.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) deeds: Vec<Deed>,
}

/// Something that a page wants to be done.
#[derive(Debug)]
pub(crate) enum Deed {
    /// A command is typed.
    Type(Sample),
    /// A file is written.
    Write { name: String, text: String },
}

/// A command, and what a page shows of its output.
#[derive(Debug)]
pub(crate) struct Sample {
    /// The line of the page, from 1.
    pub(crate) line: usize,
    pub(crate) command: String,
    /// The output; none where only success is asked for.
    pub(crate) output: Option<Vec<String>>,
}

impl Page {
    pub(crate) fn read(text: &str) -> Self {
        let mut deeds = Vec::new();
        let mut lines = text.lines().enumerate();
        while let Some((_, line)) = lines.next() {
            let Some(info) = line.trim_start().strip_prefix("```") else {
                continue;
            };
            let inside = lines
                .by_ref()
                .take_while(|(_, line)| line.trim_start() != "```");
            let inside: Vec<(usize, &str)> = inside.map(|(n, line)| (n + 1, line)).collect();
            deeds.extend(fence(info, &inside));
        }
        Self { deeds }
    }

    pub(crate) fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.deeds.iter().filter_map(|deed| match deed {
            Deed::Type(sample) => Some(sample),
            Deed::Write { .. } => None,
        })
    }

    /// Writes what was shown into the page.
    pub(crate) fn updated(&self, text: &str, shown: &[Shown]) -> String {
        let mut outputs: BTreeMap<usize, (usize, Vec<String>)> = BTreeMap::new();
        for (sample, shown) in self.samples().zip(shown) {
            let Some(old) = &sample.output else { continue };
            let begin = sample.line + sample.command.lines().count();
            outputs.insert(begin, (begin + old.len(), shown.like(old)));
        }
        let mut lines = Vec::new();
        let mut old = text.lines().enumerate().map(|(n, line)| (n + 1, line));
        let mut skipped = 0;
        for (n, line) in old.by_ref() {
            if let Some((end, new)) = outputs.remove(&n) {
                lines.extend(new);
                skipped = end;
            }
            if n >= skipped {
                lines.push(line.to_owned());
            }
        }
        format!("{}\n", lines.join("\n"))
    }
}

fn fence(info: &str, inside: &[(usize, &str)]) -> Vec<Deed> {
    let words: Vec<&str> = info.split_whitespace().collect();
    if let Some(name) = words.iter().find_map(|word| word.strip_prefix("file=")) {
        let text = inside
            .iter()
            .fold(String::new(), |text, (_, line)| format!("{text}{line}\n"));
        let name = name.to_owned();
        return vec![Deed::Write { name, text }];
    }
    match words.as_slice() {
        ["console"] => console(inside),
        ["sh", "run"] => {
            let lines: Vec<&str> = inside.iter().map(|(_, line)| *line).collect();
            vec![Deed::Type(Sample {
                line: inside.first().map_or(0, |(n, _)| *n),
                command: lines.join("\n"),
                output: None,
            })]
        }
        _ => vec![],
    }
}

fn console(inside: &[(usize, &str)]) -> Vec<Deed> {
    let mut samples: Vec<Sample> = Vec::new();
    for (line, text) in inside {
        let goes_on = |sample: &Sample| sample.command.ends_with('\\');
        match (text.strip_prefix("$ "), samples.last_mut()) {
            (Some(command), _) => samples.push(Sample {
                line: *line,
                command: command.to_owned(),
                output: Some(vec![]),
            }),
            (None, Some(sample)) if goes_on(sample) => {
                sample.command = format!("{}\n{text}", sample.command);
            }
            (None, Some(sample)) => sample
                .output
                .get_or_insert_default()
                .push((*text).to_owned()),
            (None, None) => {
                unreachable!("line {line}: a console sample begins with `$ `: {text}")
            }
        }
    }
    samples.into_iter().map(Deed::Type).collect()
}
