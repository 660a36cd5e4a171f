//! `assets create`: what is made, what is told, and what is told to nobody.

use insta::assert_snapshot;
use serde_json::Value;

use crate::program::{Place, code};

#[test]
fn it_tells_what_was_made_and_what_to_type_next() {
    let place = Place::with_config();
    let first = place.call("assets create");
    let again = place.call("assets create");
    assert_snapshot!(format!("{first}\n{again}"));
}

#[test]
fn the_list_names_every_file_and_which_are_secret() {
    let place = Place::with_config();
    let output = place.command("assets create -o json").output().unwrap();
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(view["server"], "https://localhost:22623");
    let files = view["files"].as_array().unwrap();
    let is_secret = |name: &str| {
        let ends = |file: &&Value| file["path"].as_str().unwrap().ends_with(name);
        files.iter().find(ends).map(|file| file["secret"] == true)
    };
    for secret in ["pointer/worker.ign", "auth/master.token", "tls/ca.key"] {
        assert_eq!(is_secret(secret), Some(true), "{secret}");
    }
    assert_eq!(is_secret("tls/machine-config-server.crt"), Some(false));
    let there = place.tree("opt/bootlace");
    let names = there.iter().filter_map(|line| line.split_once(' '));
    let there = names.filter(|(_, name)| place.path(name).is_file());
    assert_eq!(files.len(), there.count());
}

#[test]
fn no_token_is_in_a_journal_or_on_a_screen_or_in_what_is_rendered() {
    let place = Place::with_config();
    let said = place.call("assets create -v");
    let ran = place.call("run cluster --to render-machine-config -v");
    assert!(ran.starts_with("code: 0\n"), "{ran}");
    let log = place.call("log cluster -o json");
    let plan = place.call("plan cluster --replan -v -o json");
    for role in ["master", "worker"] {
        let token = place.read(&format!("opt/bootlace/auth/{role}.token"));
        for text in [&said, &ran, &log, &plan] {
            assert!(!text.contains(&token), "{role}");
        }
        for folder in ["var/lib/bootlace", "opt/bootlace/mco-bootstrap"] {
            for line in place.tree(folder) {
                let (_, name) = line.split_once(' ').unwrap();
                if place.path(name).is_file() {
                    assert!(!place.read(name).contains(&token), "{name}");
                }
            }
        }
    }
}

#[test]
fn another_config_is_refused_as_it_is_by_a_run() {
    let place = Place::with_config();
    assert_eq!(code(&mut place.command("assets create")), Some(0));
    let config = place.read("etc/bootlace/cluster.yaml");
    let server = "  machineConfigServer: {endpoint: 'configs.example:22623'}\n";
    place.write("etc/bootlace/cluster.yaml", &format!("{config}{server}"));
    assert_eq!(code(&mut place.command("assets create")), Some(9));
    assert_eq!(code(&mut place.command("assets create --replan")), Some(0));
    let pointer = place.read("opt/bootlace/pointer/worker.ign");
    assert!(pointer.contains("https://configs.example:22623/config/worker"));
}
