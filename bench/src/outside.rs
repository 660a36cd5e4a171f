//! Starting programs as a person would, and not as something that cargo runs.

use std::process::Command;

/// Prepares a program without what cargo tells the programs that it runs: build scripts look at some
/// of it, and half of everything would be built again.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    let told = |name: &str| {
        let by_cargo = [
            "CARGO_MANIFEST_",
            "CARGO_PKG_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
        ];
        name == "CARGO" || by_cargo.iter().any(|prefix| name.starts_with(prefix))
    };
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(told) {
            command.env_remove(name);
        }
    }
    command
}
