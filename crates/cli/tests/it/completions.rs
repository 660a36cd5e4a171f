//! Completions and manual pages, which are made from the command line itself.

use crate::program::Place;

#[test]
fn every_shell_gets_the_commands_and_flags() {
    let place = Place::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let said = place.call_bare(&format!("completions {shell}"));
        assert!(said.starts_with("code: 0\n"), "{said}");
        assert!(said.ends_with("--- stderr\n"), "{said}");
        for word in ["explain", "undo", "print-defaults", "replan", "assets"] {
            assert!(said.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn every_command_has_a_page() {
    let place = Place::new();
    let main = place.call_bare("man");
    assert!(main.contains(".TH bootlace 1"), "{main}");
    assert!(main.contains("bootlace\\-run(1)"), "{main}");
    let page = place.call_bare("man config validate");
    assert!(page.contains(".TH bootlace-config-validate 1"), "{page}");
    assert!(
        page.contains("\\-\\-root"),
        "flags of every command are on every page: {page}"
    );
    let unknown = place.call_bare("man conifg");
    insta::assert_snapshot!(unknown);
}
