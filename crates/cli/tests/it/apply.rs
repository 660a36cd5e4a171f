//! An Ignition config on the command line: planned, applied, verified, taken back.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use crate::program::Place;

const CONFIG: &str = r#"{
  "ignition": {"version": "3.4.0"},
  "storage": {
    "files": [
      {"path": "/etc/motd", "overwrite": true, "contents": {"source": "data:,new%0A"}},
      {"path": "/srv/file", "contents": {"source": "data:,x"}}
    ]
  },
  "systemd": {"units": [{"name": "a.service", "enabled": true, "contents": "[Service]\n"}]}
}"#;

fn place() -> Place {
    let place = Place::new();
    place.write("node.ign", CONFIG);
    place.write("etc/motd", "old\n");
    place
}

/// Calls the program, which must end with a code and say all of these.
fn says(place: &Place, words: &str, code: i32, wanted: &[&str]) {
    let said = place.call(words);
    assert!(
        said.starts_with(&format!("code: {code}\n")),
        "{words}: {said}"
    );
    for wanted in wanted {
        assert!(
            said.contains(wanted),
            "{words} does not say {wanted:?}: {said}"
        );
    }
}

#[test]
fn a_config_is_planned_applied_verified_and_taken_back() {
    let place = place();
    let before = place.tree("");
    let sentence = "This config writes 3 files and enables 1 unit. [ROOT]/etc/motd is overwritten.";
    let plan = "plan ignition --ignition node.ign";
    says(&place, plan, 0, &[sentence, "/srv/file"]);
    assert_eq!(place.tree(""), before);
    says(
        &place,
        "explain ignition --ignition node.ign",
        0,
        &["This config writes 3 files"],
    );
    says(
        &place,
        "ignition apply node.ign",
        0,
        &[sentence, "Done: 6 steps"],
    );
    assert_eq!(place.read("etc/motd"), "new\n");
    says(&place, "ignition apply node.ign", 0, &["Nothing to do"]);
    // The run keeps its config: neither the file nor the flag is needed any more.
    place.write("node.ign", "no config at all");
    says(&place, "verify ignition", 0, &["Verified"]);
    says(&place, "status ignition", 0, &["6 of 6 steps done"]);
    says(&place, "resume ignition", 0, &["Nothing to do"]);
    place.write("srv/file", "edited");
    says(&place, "verify ignition", 6, &["/srv/file"]);
    says(&place, "undo ignition", 9, &["/srv/file", "edited since"]);
    assert_eq!(place.read("etc/motd"), "old\n");
    says(&place, "undo ignition --force", 0, &[]);
    says(&place, "undo ignition", 0, &[]);
}

#[test]
fn what_cannot_be_applied_is_told_with_its_entry_and_leaves_nothing() {
    let place = place();
    let conflict = CONFIG.replace(r#""overwrite": true, "#, "");
    place.write("conflict.ign", &conflict);
    let before = place.tree("");
    let entry = "storage.files.0: [ROOT]/etc/motd is there already";
    let wanted = [entry, "conflict.ign:5", "\"overwrite\": true"];
    says(&place, "ignition apply conflict.ign", 3, &wanted);
    says(&place, "ignition apply nowhere.ign", 3, &["nowhere.ign"]);
    let json = place.call("ignition apply conflict.ign -o json");
    assert!(
        json.contains(r#""kind":"bad-input""#) || json.contains(r#""kind": "bad-input""#),
        "{json}"
    );
    assert_eq!(place.tree(""), before);
}

#[test]
fn a_config_has_to_be_named_once_and_only_for_its_sequence() {
    let place = place();
    says(&place, "plan ignition", 2, &["no Ignition config is given"]);
    says(
        &place,
        "verify ignition",
        2,
        &["no Ignition config is given"],
    );
    says(
        &place,
        "plan cluster --ignition node.ign",
        2,
        &["for the sequence ignition"],
    );
    says(&place, "explain ignition", 0, &["write-files"]);
}

/// Answers so many requests, then is gone.
fn serve(answers: usize) -> (String, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        for _ in 0..answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            while lines
                .next()
                .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
            {}
            let body = if first.contains("/more.ign") {
                r#"{"ignition": {"version": "3.3.0"}, "storage": {"files": [
                    {"path": "/srv/more", "contents": {"source": "data:,from%20another%20config"}}]}}"#
            } else {
                "from a server"
            };
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close");
            write!(stream, "{head}\r\n\r\n{body}").unwrap();
        }
    });
    (base, thread)
}

#[test]
fn a_run_goes_on_without_the_servers_that_it_began_with() {
    let place = Place::new();
    let (base, server) = serve(2);
    let config = format!(
        r#"{{"ignition": {{"version": "3.4.0", "config": {{"merge": [{{"source": "{base}/more.ign"}}]}}}},
            "storage": {{"files": [{{"path": "/srv/file", "contents": {{"source": "{base}/file"}}}}]}}}}"#
    );
    place.write("node.ign", &config);
    let first = "run ignition --ignition node.ign --to keep-config";
    says(&place, first, 0, &["Done"]);
    server.join().unwrap();
    place.write("node.ign", "gone");
    let kept: Vec<String> = place.tree("var/lib/bootlace/ignition");
    for name in ["config.ign", "inputs.json", "fetched-1", "fetched-2"] {
        let is_private = |line: &&String| line.contains("600");
        let found = kept
            .iter()
            .filter(is_private)
            .any(|line| line.contains(name));
        assert!(found, "{name} is not in {kept:?}");
    }
    says(&place, "run ignition", 0, &["Done"]);
    assert_eq!(place.read("srv/file"), "from a server");
    assert_eq!(place.read("srv/more"), "from another config");
    let fetched = kept.iter().find(|line| line.contains("fetched-1")).unwrap();
    let fetched = fetched
        .split_whitespace()
        .find(|word| word.contains("fetched-1"));
    place.write(fetched.unwrap(), "something else");
    let changed = "the config that the run keeps was changed";
    says(&place, "verify ignition", 9, &[changed, "--ignition FILE"]);
}

#[test]
fn contents_of_a_large_config_are_taken_from_its_file() {
    let place = Place::new();
    let text = "all work and no play\n".repeat(80_000);
    let source = text.replace(' ', "%20").replace('\n', "%0A");
    let config = format!(
        r#"{{"ignition": {{"version": "3.4.0"}}, "storage": {{"files": [
            {{"path": "/srv/large", "contents": {{"source": "data:,{source}"}}}},
            {{"path": "/srv/small", "contents": {{"source": "data:,x"}}}}]}}}}"#
    );
    place.write("large.ign", &config);
    says(&place, "ignition apply large.ign", 0, &["Done: 6 steps"]);
    assert_eq!(place.read("srv/large"), text);
    assert_eq!(place.read("srv/small"), "x");
    place.write("large.ign", "gone");
    says(&place, "verify ignition", 0, &["Verified"]);
    says(&place, "undo ignition", 0, &[]);
    assert!(!place.path("srv").exists());
}
