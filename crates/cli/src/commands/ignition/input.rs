//! Reading configs that a person names.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use bootlace_ignition::{Config, Finding, Parsed, Problem, Version};
use bootlace_model::fault::{Fault, Place};
use bootlace_model::view::IgnitionFindingView;

/// The largest config that is read: all of it has to be in memory.
const LARGEST: u64 = 256 << 20;

/// Reads a file, or standard input for `-`, and returns what it is called.
#[expect(
    clippy::disallowed_methods,
    reason = "a person's own file on this computer, outside of any root"
)]
pub(crate) fn read(file: &Path) -> Result<(String, Vec<u8>), Fault> {
    let is_input = file == Path::new("-");
    let name = if is_input {
        "standard input".to_owned()
    } else {
        file.display().to_string()
    };
    let mut bytes = Vec::new();
    let result = if is_input {
        std::io::stdin().take(LARGEST + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| {
            let size = file.metadata()?.len().min(LARGEST);
            bytes.reserve_exact(usize::try_from(size).unwrap_or(0) + 1);
            file.take(LARGEST + 1).read_to_end(&mut bytes)
        })
    };
    result.map_err(|error| {
        Fault::bad_input(format!("cannot read the Ignition config: {error}"))
            .in_file(&name)
            .hint("check the name of the file")
    })?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("the Ignition config is larger than {} MiB", LARGEST >> 20);
        return Err(Fault::bad_input(message)
            .in_file(&name)
            .because("All of it would have to be in memory.")
            .hint("move contents of files out of it: a source may be a URL"));
    }
    Ok((name, bytes))
}

/// Reads and parses a config, fit for use or not.
pub(crate) fn parsed(file: &Path) -> Result<(String, Parsed), Fault> {
    let (name, bytes) = read(file)?;
    let parsed = match String::from_utf8(bytes) {
        Ok(text) => bootlace_ignition::parse_shared(&name, &Arc::new(text)),
        Err(odd) => bootlace_ignition::parse(&name, odd.as_bytes()),
    };
    Ok((name, parsed))
}

/// Reads and parses a config that must be fit for use.
pub(crate) fn config(file: &Path) -> Result<(Version, Config), Fault> {
    let (_, parsed) = parsed(file)?;
    match (parsed.version, parsed.config) {
        (Some(version), Some(config)) => Ok((version, config)),
        (version, config) => Err(unusable(&Parsed {
            version,
            config,
            report: parsed.report,
        })),
    }
}

/// Says why a config cannot be used, and what else is odd about it.
pub(crate) fn unusable(parsed: &Parsed) -> Fault {
    let mut errors = parsed.report.errors();
    let Some(first) = errors.next() else {
        return Fault::internal("a config without errors was called unusable");
    };
    let further = errors.count();
    let place = Place {
        file: first.place.source.to_string(),
        line: Some(u64::from(first.place.line)),
        column: Some(u64::from(first.place.column)),
    };
    let findings = &parsed.report.findings;
    let message = match (further, first.place.path.as_str()) {
        (0, "") => first.problem.to_string(),
        (0, path) => format!("{path}: {}", first.problem),
        (further, _) => format!("the Ignition config has {} errors", further + 1),
    };
    let mut fault = Fault::bad_input(message)
        .at(place)
        .because(match first.problem {
            Problem::Empty => "It may be the wrong file; nothing would be applied.",
            _ => "Ignition would refuse the whole config, and so do we.",
        })
        .hint(match further {
            0 => first.problem.advice(),
            _ => "correct them, then try again",
        });
    if findings.len() > 1 {
        let lines = findings.iter().map(finding);
        fault.details = lines
            .map(|view| bootlace_report::ignition::line(&view))
            .collect();
    }
    fault
}

/// Puts a finding into the shape of `-o json`.
pub(crate) fn finding(finding: &Finding) -> IgnitionFindingView {
    IgnitionFindingView {
        severity: finding.severity.to_string(),
        name: finding.problem.name().map(ToOwned::to_owned),
        message: finding.problem.to_string(),
        path: finding.place.path.clone(),
        line: finding.place.line,
        column: finding.place.column,
        advice: finding.problem.advice().to_owned(),
    }
}
