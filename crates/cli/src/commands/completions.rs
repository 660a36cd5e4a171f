//! `bootlace completions`: what a shell has to know to complete commands.

use bootlace_model::fault::Fault;
use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::Ending;
use crate::session::Session;

pub(crate) fn completions(session: &Session, shell: Shell) -> Result<Ending, Fault> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "bootlace", &mut script);
    session.console.write(&String::from_utf8_lossy(&script))?;
    Ok(Ending::Done)
}
