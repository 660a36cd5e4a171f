//! What people see who look for help.

use insta::assert_snapshot;

use crate::program::Place;

#[test]
fn without_a_command_the_way_in_is_shown() {
    let place = Place::new();
    let nothing = place.call_bare("");
    assert_snapshot!(nothing);
    assert_eq!(nothing, place.call_bare("-h"));
}

#[test]
fn help_in_a_pipe_is_80_columns_wide() {
    let place = Place::new();
    for words in ["", "-h", "run --help", "serve --help"] {
        let mut command = place.bare(words);
        let piped = place.said(&command.env_remove("COLUMNS").output().unwrap());
        assert_eq!(piped, place.call_bare(words));
        let mut wide = place.bare(words);
        let wide = place.said(&wide.env("COLUMNS", "100").output().unwrap());
        assert_ne!(piped, wide, "COLUMNS counts");
    }
}

#[test]
fn every_command_has_help() {
    let place = Place::new();
    let commands = [
        "explain",
        "plan",
        "run",
        "verify",
        "resume",
        "undo",
        "reset",
        "up",
        "down",
        "shell",
        "status",
        "log",
        "runs",
        "render",
        "config",
        "config print-defaults",
        "config validate",
        "config schema",
        "pki",
        "pki list",
        "pki check",
        "pki rotate-encryption-key",
        "serve",
        "version-operator",
        "completions",
        "man",
    ];
    let mut texts = String::new();
    for command in commands {
        let text = place.call_bare(&format!("{command} -h"));
        // The flags that every command has are the same everywhere, and shown once above.
        let own = text.split("\nFlags everywhere:").next().unwrap();
        let after = text.rsplit_once("\n\n").map_or("", |(_, after)| after);
        let begins = ["Example", "Ends", "Asks"];
        let after = if begins.iter().any(|word| after.starts_with(word)) {
            after
        } else {
            ""
        };
        texts = format!("{texts}$ bootlace {command} -h\n{own}\n{after}\n");
        assert!(text.starts_with("code: 0\n"), "{text}");
    }
    assert_snapshot!(texts);
}

#[test]
fn the_version_is_that_of_the_package() {
    let said = Place::new().call_bare("--version");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        said,
        format!("code: 0\n--- stdout\nbootlace {version}\n--- stderr\n")
    );
}
