//! Mistakes on the command line, as people and programs see them.

use insta::assert_snapshot;

use crate::program::Place;

#[test]
fn sequences_that_cannot_be_worked_on() {
    let place = Place::new();
    assert_snapshot!("misspelt_sequence", place.call("plan clutser"));
    assert_snapshot!("sequence_not_built", place.call("run upgrade"));
    assert_snapshot!("sequence_not_built_yaml", place.call("run node -o yaml"));
}

#[test]
fn steps_that_do_not_exist() {
    let place = Place::new();
    assert_snapshot!(
        "misspelt_step",
        place.call("explain cluster --to render-etdc")
    );
    let order = place.call("explain cluster --from release-info --to prepare-assets");
    assert_snapshot!("steps_in_the_wrong_order", order);
    let both = place.call("explain cluster --only release-info --to release-info");
    assert!(both.starts_with("code: 2\n"), "{both}");
}

#[test]
fn flags_that_do_not_exist() {
    let place = Place::new();
    assert_snapshot!("misspelt_flag", place.call_bare("runs --rot /x"));
    assert_snapshot!(
        "misspelt_flag_json",
        place.call_bare("runs --rot /x -o json")
    );
    let mixed = place.call_bare("--config a.yaml runs --config b.yaml");
    assert_snapshot!("configs_on_both_sides", mixed);
    let own = place.call_bare("up --config mine.yaml");
    assert_snapshot!("up_has_its_own_config", own);
}

#[test]
fn runs_that_cannot_exist() {
    let place = Place::new();
    assert_snapshot!("impossible_run", place.call("status cluster --run ../x"));
}

#[test]
fn colour_is_a_matter_of_choice() {
    let place = Place::new();
    let colored = place.call("plan clutser --color always");
    assert!(
        colored.contains("\u{1b}[1;31merror\u{1b}[0m"),
        "{colored:?}"
    );
    let never = place.call("plan clutser --color never");
    assert!(!never.contains('\u{1b}'), "{never:?}");
    let piped = place.call("plan clutser");
    assert_eq!(piped, never, "what is no terminal gets no colour");
}

#[test]
fn symbols_are_ascii_without_a_unicode_locale() {
    let place = Place::new();
    let mut command = place.command("explain cluster --only release-info");
    let said = place.said(&command.env("LANG", "C").output().unwrap());
    assert!(said.contains("3/23 release-info ---"), "{said}");
}
