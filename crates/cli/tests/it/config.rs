//! Config files: printed, checked, described, found.

use insta::assert_snapshot;

use crate::program::Place;

const HEAD: &str = "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\n";

fn stdout(said: &str) -> &str {
    let (_, rest) = said.split_once("--- stdout\n").unwrap();
    rest.split_once("--- stderr\n").unwrap().0
}

#[test]
fn the_printed_defaults_are_valid_and_change_nothing() {
    let place = Place::new();
    let printed = place.call_bare("config print-defaults");
    assert!(printed.starts_with("code: 0\n"), "{printed}");
    place.write("defaults.yaml", stdout(&printed));
    let by_file = place.call("config validate defaults.yaml -o json");
    let without = place.call("config validate -o json");
    assert!(
        without.contains("\"kubernetesVersion\": \"v1.36.3\""),
        "{without}"
    );
    assert_eq!(by_file, without);
    let json = place.call_bare("config print-defaults -o json");
    assert!(
        stdout(&json).contains("\"apiVersion\": \"bootlace.dev/v1alpha1\""),
        "{json}"
    );
}

#[test]
fn a_valid_config_says_so_on_stderr() {
    let place = Place::new();
    place.write("demo.yaml", &format!("{HEAD}metadata: {{name: demo}}\n"));
    assert_snapshot!(place.call("config validate demo.yaml"));
    assert_snapshot!(
        "settings_as_yaml",
        place.call("config validate demo.yaml -o yaml")
    );
}

#[test]
fn mistakes_are_named_with_their_place() {
    let place = Place::new();
    let text = format!("{HEAD}spec:\n  network:\n    podCidr: 10.244.0.0/16\n");
    place.write("demo.yaml", &text);
    assert_snapshot!(place.call("config validate demo.yaml"));
    assert_snapshot!(
        "mistakes_json",
        place.call("config validate demo.yaml -o json")
    );
    let absent = place.call("config validate --config nowhere.yaml");
    assert_snapshot!("absent_config", absent);
    place.write("latin.yaml", "\u{0}");
    assert!(
        place
            .call("plan cluster --config latin.yaml")
            .starts_with("code: 3\n")
    );
}

#[test]
fn a_wrong_head_hides_no_other_mistake() {
    let place = Place::new();
    let text = "apiVersion: bootlace.dev/v1\nkind: Cluster\nmetadata: {name: Demo}\nspec:\n  \
                controlPlane: {replica: 3}\n  pki: {leafValidity: 365}\n";
    place.write("demo.yaml", text);
    assert_snapshot!(place.call("config validate demo.yaml"));
}

#[test]
fn the_config_folder_of_the_root_is_read_in_order() {
    let place = Place::new();
    let named = |name: &str| format!("{HEAD}metadata: {{name: {name}}}\n");
    place.write("etc/bootlace/20-b.yaml", &named("second"));
    place.write("etc/bootlace/10-a.yaml", &named("first"));
    place.write("etc/bootlace/30-c.yaml.bak", "not: [read");
    let said = place.call("config validate");
    assert!(said.contains("cluster second"), "later files win: {said}");
    place.write("mine.yaml", &named("third"));
    let said = place.call("config validate --config mine.yaml");
    assert!(
        said.contains("cluster third"),
        "named files stand alone: {said}"
    );
    let mut by_variable = place.command("config validate");
    by_variable.env("BOOTLACE_CONFIG", place.path("mine.yaml"));
    let said = place.said(&by_variable.output().unwrap());
    assert!(said.contains("cluster third"), "{said}");
}

#[test]
fn the_schema_describes_the_config() {
    let place = Place::new();
    let schema = place.call_bare("config schema");
    assert!(schema.starts_with("code: 0\n"), "{schema}");
    for word in ["\"podCIDR\"", "\"kubernetesVersion\"", "\"$schema\""] {
        assert!(schema.contains(word), "{word} is not in {schema}");
    }
    assert!(
        place
            .call_bare("config schema -o yaml")
            .contains("kubernetesVersion:")
    );
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let place = Place::new();
    let said = place.call("plan cluster --config /dev/zero");
    assert!(said.starts_with("code: 3\n"), "{said}");
    assert!(said.contains("is larger than"), "{said}");
}
