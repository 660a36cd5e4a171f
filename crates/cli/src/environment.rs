//! The environment, read once: variables, terminals, processors.

use std::io::IsTerminal as _;
use std::os::fd::AsFd;

use bootlace_report::style::Surroundings;

/// Returns a variable's text; what is not UTF-8 counts as not set.
fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).and_then(|value| value.into_string().ok())
}

/// Returns the words of the command line that are text.
pub(crate) fn words() -> impl Iterator<Item = String> {
    std::env::args_os().filter_map(|word| word.into_string().ok())
}

/// Describes where stdout goes.
pub(crate) fn of_stdout() -> Surroundings {
    let stdout = std::io::stdout();
    surroundings(stdout.is_terminal(), &stdout)
}

/// Describes where stderr goes.
pub(crate) fn of_stderr() -> Surroundings {
    let stderr = std::io::stderr();
    surroundings(stderr.is_terminal(), &stderr)
}

fn surroundings(terminal: bool, stream: &impl AsFd) -> Surroundings {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = locale.into_iter().filter_map(variable);
    let asked = variable("COLUMNS").and_then(|columns| columns.parse().ok());
    let has = || rustix::termios::tcgetwinsize(stream).ok();
    let has = || has().map(|size| usize::from(size.ws_col));
    Surroundings {
        terminal,
        columns: asked
            .or_else(|| has().filter(|_| terminal))
            .filter(|n| *n > 0),
        no_color: variable("NO_COLOR"),
        term: variable("TERM"),
        locale: locale.into_iter().find(|value| !value.is_empty()),
    }
}

/// Returns how many steps run side by side unless a person says otherwise.
///
/// Steps wait for disks, networks and clusters more than they compute, so even one processor serves
/// four: as many as wait for a new cluster at the same time.
pub(crate) fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(4, |n| n.get().max(4))
}

/// Returns the time for displays, which count seconds by it and decide nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "a display outlives no host and decides nothing by the time"
)]
pub(crate) fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}
