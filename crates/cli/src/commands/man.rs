//! `bootlace man`: manual pages, made from the same texts as `--help`.

use bootlace_model::config::nearest;
use bootlace_model::fault::{Fault, FaultKind};
use clap::{Command, CommandFactory as _};

use crate::args::Cli;
use crate::error::Ending;
use crate::session::Session;

pub(crate) fn man(session: &Session, words: &[String]) -> Result<Ending, Fault> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(find(words)?);
    man.render(&mut page)
        .map_err(|error| Fault::internal(format!("cannot lay out the page: {error}")))?;
    session.console.write(&String::from_utf8_lossy(&page))?;
    Ok(Ending::Done)
}

/// Finds a command by its words.
fn find(words: &[String]) -> Result<Command, Fault> {
    let mut root = Cli::command();
    // Only then do commands know the flags that every one takes, and their own whole names.
    root.build();
    let mut command = root;
    for word in words {
        let names: Vec<String> = command
            .get_subcommands()
            .map(|c| c.get_name().to_owned())
            .collect();
        let Some(found) = command.find_subcommand(word) else {
            let fault = Fault::new(FaultKind::Usage, format!("there is no command {word:?}"));
            let near = nearest(word, names.iter().map(String::as_str));
            return Err(match near {
                Some(near) => fault.hint(format!("did you mean {near}?")),
                None => fault,
            }
            .hint("`bootlace --help` lists the commands"));
        };
        command = found.clone();
    }
    Ok(command.version(env!("CARGO_PKG_VERSION")))
}
