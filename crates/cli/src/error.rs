//! How a command ends: the one place where kinds of faults become exit codes.

use std::ffi::OsString;
use std::process::ExitCode;

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_report::style::Style;
use clap::error::ErrorKind;
use clap::{ColorChoice, FromArgMatches as _};

use crate::args::{self, Cli, Output};
use crate::console::{self, print_stderr};
use crate::environment;
use crate::session::Session;

/// What a command comes to when nothing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything is done.
    Done,
    /// Something does not hold; it was printed as data.
    DoesNotHold,
    /// Something was left alone for safety; it was printed as data.
    LeftAlone,
    /// A bootlace inside a machine ended with this code, and has said why.
    Code(u8),
}

/// Tells what went wrong, if anything, and returns the exit code.
pub(crate) fn end(result: Result<Ending, Fault>, session: &Session) -> ExitCode {
    let kind = match result {
        Ok(Ending::Done) => return ExitCode::SUCCESS,
        Ok(Ending::DoesNotHold) => FaultKind::VerifyFailed,
        Ok(Ending::LeftAlone) => FaultKind::Refused,
        Ok(Ending::Code(code)) => return ExitCode::from(code),
        Err(fault) => {
            let fault = session.retype.complete_hints(fault);
            session.console.fault(&fault);
            fault.kind
        }
    };
    exit_code(kind)
}

fn exit_code(kind: FaultKind) -> ExitCode {
    ExitCode::from(kind.exit_code())
}

/// Reads the command line; help and mistakes are printed here.
pub(crate) fn parse(words: &[OsString]) -> Result<Cli, ExitCode> {
    let glance = Glance::at(words);
    let parsed = args::command()
        .color(glance.color)
        .try_get_matches_from(words);
    let cli = parsed.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    let cli = cli.map_err(|error| misread(&error, &glance))?;
    if glance.configs > cli.globals.config.len() {
        let message = "--config stands before and after the command";
        let fault = Fault::new(FaultKind::Usage, message)
            .because("only those on one side would count, and the others would be lost silently")
            .hint("give all of them on the same side of the command");
        return Err(tell(&fault, &glance));
    }
    Ok(cli)
}

/// Prints what the parser says; what was asked for goes to stdout and is no mistake.
fn misread(error: &clap::Error, glance: &Glance) -> ExitCode {
    let asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if !asked && glance.output != Output::Text {
        return tell(&as_fault(error), glance);
    }
    // Nobody may be reading, as in `bootlace --help | head`; there is nothing else to do then.
    drop(error.print());
    if asked {
        ExitCode::SUCCESS
    } else {
        exit_code(FaultKind::Usage)
    }
}

/// Turns the parser's message into a fault for programs that read them.
fn as_fault(error: &clap::Error) -> Fault {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first);
    let mut fault = Fault::new(FaultKind::Usage, message);
    for line in lines {
        match line.strip_prefix("tip: ") {
            Some(tip) => fault.hints.push(tip.to_owned()),
            None if line.starts_with("For more information") => {}
            None => fault.details.push(line.to_owned()),
        }
    }
    fault.hint("`bootlace --help` lists commands and flags")
}

fn tell(fault: &Fault, glance: &Glance) -> ExitCode {
    let color = match glance.color {
        ColorChoice::Auto => bootlace_report::style::ColorChoice::Auto,
        ColorChoice::Always => bootlace_report::style::ColorChoice::Always,
        ColorChoice::Never => bootlace_report::style::ColorChoice::Never,
    };
    let style = Style::choose(color, &environment::of_stderr());
    print_stderr(&console::fault_text(fault, glance.output, &style));
    exit_code(fault.kind)
}

/// What has to be known of a command line before it is parsed: how its mistakes are shown.
#[derive(Debug, PartialEq, Eq)]
struct Glance {
    output: Output,
    color: ColorChoice,
    configs: usize,
}

impl Glance {
    fn at(words: &[OsString]) -> Self {
        let mut glance = Self {
            output: Output::Text,
            color: ColorChoice::Auto,
            configs: 0,
        };
        let words = words.iter().map(|word| word.to_string_lossy());
        let words: Vec<_> = words.take_while(|word| word != "--").collect();
        for (n, word) in words.iter().enumerate() {
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None if word.starts_with("-o") && word.len() > 2 => ("-o", Some(&word[2..])),
                None => (&**word, words.get(n + 1).map(|next| &**next)),
            };
            match (flag, value) {
                ("-o" | "--output", Some("json")) => glance.output = Output::Json,
                ("-o" | "--output", Some("yaml")) => glance.output = Output::Yaml,
                ("--color", Some("always")) => glance.color = ColorChoice::Always,
                ("--color", Some("never")) => glance.color = ColorChoice::Never,
                ("--config", Some(_)) => glance.configs += 1,
                _ => {}
            }
        }
        glance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_glance_sees_how_mistakes_are_shown() {
        let glance = |line| Glance::at(&words(line));
        for line in ["b -o json x", "b x -ojson", "b --output=json", "b -o=json"] {
            assert_eq!(glance(line).output, Output::Json, "{line}");
        }
        assert_eq!(glance("b x -o text -- -o json").output, Output::Text);
        assert_eq!(glance("b --color never").color, ColorChoice::Never);
        assert_eq!(glance("b --config a run --config=b").configs, 2);
    }

    #[test]
    fn configs_on_both_sides_of_the_command_are_refused() {
        assert!(parse(&words("bootlace --config a runs --config b")).is_err());
        let cli = parse(&words("bootlace runs --config a --config b")).unwrap();
        assert_eq!(cli.globals.config.len(), 2);
    }

    #[test]
    fn the_parser_s_words_become_a_fault() {
        let error = parse_error("bootlace --rot /x runs");
        let fault = as_fault(&error);
        assert_eq!(fault.message, "unexpected argument '--rot' found");
        assert_eq!(fault.hints[0], "a similar argument exists: '--root'");
    }

    fn parse_error(line: &str) -> clap::Error {
        args::command()
            .try_get_matches_from(words(line))
            .unwrap_err()
    }
}
