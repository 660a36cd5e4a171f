//! `bootlace`: brings machines and clusters to life, one step at a time.

mod args;
mod commands;
mod config_files;
mod console;
#[cfg(test)]
mod documented;
mod environment;
mod error;
mod ignition_file;
mod observer;
mod paths;
mod retype;
mod rooted;
mod session;
mod wire;

use std::process::ExitCode;

use crate::session::Session;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let cli = match error::parse(&words) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let mut session = Session::new(cli.globals);
    let result = commands::dispatch(cli.command, &mut session);
    error::end(result, &session)
}
