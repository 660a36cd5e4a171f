//! Roots, state and asset folders, and inputs that lie elsewhere.

use crate::program::{Place, code};

#[test]
fn state_and_assets_may_lie_anywhere() {
    let place = Place::new();
    let flags = "--root root --state state --assets assets";
    let mut run = place.bare(&format!("run cluster --to release-info {flags}"));
    let said = place.said(&run.output().unwrap());
    assert!(said.starts_with("code: 0\n"), "{said}");
    assert!(
        place
            .tree("assets")
            .iter()
            .any(|name| name.ends_with("assets/tls/ca.crt"))
    );
    assert!(!place.tree("state").is_empty());
    assert_eq!(
        place.tree("root"),
        [""; 0],
        "nothing of it lies in the root"
    );
    assert!(
        said.contains(&format!("`bootlace verify cluster {flags}`")),
        "{said}"
    );
    let status = place.call_bare(&format!("status cluster {flags}"));
    assert!(status.starts_with("code: 0\n"), "{status}");
}

#[test]
fn variables_stand_for_flags() {
    let place = Place::new();
    let mut run = place.bare("run cluster --to prepare-assets");
    run.env("BOOTLACE_ROOT", place.path("root"));
    run.env("BOOTLACE_STATE", place.path("state"));
    run.env("BOOTLACE_ASSETS", place.path("assets"));
    assert_eq!(code(&mut run), Some(0));
    assert!(!place.tree("assets").is_empty() && !place.tree("state").is_empty());
}

#[test]
fn the_user_s_manifests_are_read_from_where_they_lie() {
    let place = Place::new();
    let manifest = "apiVersion: v1\nkind: Namespace\nmetadata: {name: mine}\n";
    place.write("inputs/mine/ns.yaml", manifest);
    let config = "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec: {manifests: [mine]}\n";
    place.write("inputs/cluster.yaml", config);
    let said =
        place.call_bare("run cluster --to copy-manifests --root root --config inputs/cluster.yaml");
    assert!(said.starts_with("code: 0\n"), "{said}");
    let copied = place.tree("root/opt/bootlace/manifests");
    assert!(
        copied.iter().any(|name| name.ends_with("ns.yaml")),
        "{copied:?}"
    );
}

#[test]
fn an_input_that_holds_the_assets_is_refused() {
    let place = Place::new();
    let config = "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec: {manifests: [root]}\n";
    place.write("cluster.yaml", config);
    place.write("root/mine.yaml", "x: 1\n");
    let said = place.call_bare("plan cluster --root root --config cluster.yaml -o json");
    insta::assert_snapshot!(said);
}

#[test]
fn a_link_that_leads_nowhere_in_the_root_is_refused_and_not_followed() {
    let place = Place::new();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), place.path("opt")).unwrap();
    let said = place.call("run cluster --to copy-manifests");
    assert!(said.starts_with("code: 4\n"), "{said}");
    assert!(said.contains("a link on the way to it leads"), "{said}");
    assert_eq!(outside.path().read_dir().unwrap().count(), 0);
}
