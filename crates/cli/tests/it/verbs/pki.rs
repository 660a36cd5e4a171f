//! `pki list` and `pki check`.

use insta::assert_snapshot;

use crate::program::{Place, code};

#[test]
fn the_plan_is_listed() {
    assert_snapshot!(Place::with_config().call("pki list"));
}

#[test]
fn certificates_are_checked_against_the_plan() {
    let place = Place::with_config();
    let absent = place.call("pki check");
    assert!(absent.starts_with("code: 6\n"), "{absent}");
    assert!(
        absent.contains("run cluster --only prepare-assets"),
        "{absent}"
    );
    assert_eq!(
        code(&mut place.command("run cluster --only prepare-assets")),
        Some(0)
    );
    assert_snapshot!(place.call("pki check"));

    let loose = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(place.path("opt/bootlace/tls/admin.key"), loose).unwrap();
    place.write(
        "opt/bootlace/tls/apiserver.crt",
        &place.read("opt/bootlace/tls/admin.crt"),
    );
    place.write("opt/bootlace/tls/sa.pub", "another");
    assert_snapshot!("pki_problems", place.call("pki check"));
    let json = place.command("pki check -o json").output().unwrap();
    assert_eq!(json.status.code(), Some(6));
    let view: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let certificates = view["certificates"].as_array().unwrap();
    let broken = certificates.iter().filter(|c| c["ok"] == false).count();
    assert_eq!(broken, 3);
}
