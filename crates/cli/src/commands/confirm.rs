//! Asking before something that cannot be taken back.

use std::io::{BufRead as _, IsTerminal as _, Read as _};

use bootlace_model::fault::{Fault, FaultKind};

use crate::console::print_stderr;

/// The longest answer that is read.
const LONGEST: u64 = 1024;

/// Asks a question on the terminal, and refuses unless the answer is yes. Without a terminal nobody can
/// answer, so it refuses at once. `yes` is the command line that does not ask.
pub(super) fn confirm(question: &str, yes: &str) -> Result<(), Fault> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        let message = "nothing was removed: there is no terminal on which to ask first";
        return Err(Fault::refused(message)
            .because(question)
            .hint(format!("`{yes}` does not ask")));
    }
    // However little a person wants to read: the answer is waited for.
    print_stderr(&format!("{question}\nType yes to go on:\n"));
    let mut answer = String::new();
    let read = stdin.lock().take(LONGEST).read_line(&mut answer);
    read.map_err(|error| Fault::new(FaultKind::Usage, format!("cannot read the answer: {error}")))?;
    if answer.trim() == "yes" {
        return Ok(());
    }
    let message = "nothing was removed: the question was not answered with yes";
    Err(Fault::refused(message).hint(format!("`{yes}` does not ask")))
}
