//! One command a file.

mod assets;
mod benchmark;
mod completions;
mod config;
mod confirm;
mod explain;
mod ignition;
mod log;
mod man;
mod node_network;
mod pki;
mod placement;
mod plan;
mod render;
mod reset;
mod run;
mod runs;
mod serve;
mod status;
mod supervise;
mod undo;
mod up;
mod verify;
mod version_operator;

pub(crate) use assets::Assets;
pub(crate) use ignition::{Ignition, read_ignition};
pub(crate) use node_network::NodeNetwork;
pub(crate) use pki::Pki;
pub(crate) use serve::Serve;
pub(crate) use status::Status;
pub(crate) use version_operator::VersionOperator;

use bootlace_model::fault::Fault;

use crate::args::{self, Benchmark, Command};
use crate::error::Ending;
use crate::session::Session;

/// Does what was asked.
pub(crate) fn dispatch(command: Option<Command>, session: &mut Session) -> Result<Ending, Fault> {
    match command {
        None => help(session),
        Some(Command::Explain(args)) => explain::explain(session, args),
        Some(Command::Plan(args)) => plan::plan(session, &args),
        Some(Command::Run(args)) => run::run(session, &args),
        Some(Command::Resume(args)) => run::resume(session, &args),
        Some(Command::Verify(args)) => match args.benchmark {
            Some(Benchmark::Cis) => benchmark::benchmark(session, &args.on),
            None => verify::verify(session, &args.on),
        },
        Some(Command::Undo(args)) => undo::undo(session, &args),
        Some(Command::Reset(args)) => reset::reset(session, args),
        Some(Command::Up(args)) => up::up(session, &args),
        Some(Command::Down(args)) => up::down(session, &args),
        Some(Command::Shell(args)) => up::enter(session, &args),
        Some(Command::Forward(args)) => up::forward(&args),
        Some(Command::Supervise(args)) => supervise::supervise(session, &args),
        Some(Command::Status(args)) => status::status(session, args),
        Some(Command::Log(args)) => log::log(session, &args),
        Some(Command::Runs) => runs::runs(session),
        Some(Command::Render(args)) => render::render(session, &args),
        Some(Command::Config(args)) => config::config(session, args),
        Some(Command::Pki(args)) => pki::pki(session, &args),
        Some(Command::Ignition(args)) => ignition::ignition(session, &args),
        Some(Command::Assets(args)) => assets::assets(session, &args),
        Some(Command::Serve(args)) => serve::serve(session, args),
        Some(Command::VersionOperator(args)) => version_operator::version_operator(session, args),
        Some(Command::NodeNetwork(args)) => node_network::node_network(session, args),
        Some(Command::Completions { shell }) => completions::completions(session, shell),
        Some(Command::Man { command }) => man::man(session, &command),
    }
}

/// Shows the short help to someone who typed nothing else.
fn help(session: &Session) -> Result<Ending, Fault> {
    let help = args::command().render_help();
    let help = if session.console.stdout().color {
        help.ansi().to_string()
    } else {
        help.to_string()
    };
    session.console.write(&help)?;
    Ok(Ending::Done)
}
