//! From the text of a config to what it asks for.

use std::cell::RefCell;
use std::collections::BTreeMap;

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::provision::Holds;

use crate::ignition::resolve::{Request, Resolved, Text, resolve};

/// Answers by URL, and remembers what was asked.
struct Servers {
    answers: BTreeMap<String, String>,
    asked: RefCell<Vec<Request>>,
}

impl Servers {
    fn new(answers: &[(&str, &str)]) -> Self {
        let answers = answers.iter();
        Self {
            answers: answers
                .map(|(url, text)| ((*url).into(), (*text).into()))
                .collect(),
            asked: RefCell::default(),
        }
    }

    fn resolve(&self, text: &str) -> Result<Resolved, Fault> {
        let mut fetch = |request: &Request| {
            self.asked.borrow_mut().push(request.clone());
            let answer = self.answers.get(&request.url);
            let answer = answer.ok_or_else(|| Fault::internal("the server answered 404"))?;
            Ok(answer.clone().into_bytes())
        };
        let text = Text {
            name: "a.ign".into(),
            bytes: text.as_bytes().to_vec(),
            again: None,
        };
        resolve(text, &mut fetch)
    }
}

fn config(rest: &str) -> String {
    format!(r#"{{"ignition": {{"version": "3.4.0"}}{rest}}}"#)
}

fn merging(url: &str) -> String {
    format!(
        r#"{{"ignition": {{"version": "3.4.0", "config": {{"merge": [{{"source": "{url}"}}]}}}}}}"#
    )
}

fn files(path: &str, source: &str) -> String {
    format!(
        r#", "storage": {{"files": [{{"path": "{path}", "contents": {{"source": "{source}"}}}}]}}"#
    )
}

#[test]
fn contents_are_fetched_and_every_entry_says_where_it_is_from() {
    let servers = Servers::new(&[
        ("https://b.test/b.ign", &config(&files("/b", "data:,b"))),
        ("https://c.test/file", "from c"),
    ]);
    let own = config(&files("/c", "https://c.test/file"));
    let own = own.replace(
        r#""version": "3.4.0""#,
        r#""version": "3.4.0", "config": {"merge": [{"source": "https://b.test/b.ign"}]}"#,
    );
    let resolved = servers.resolve(&own).unwrap().provision;
    let found: Vec<(&str, Vec<u8>, &str)> = resolved
        .files
        .iter()
        .map(|file| {
            let Holds::Whole(content) = &file.holds else {
                panic!("{file:?} has no contents")
            };
            let (path, origin) = (file.entry.path.as_str(), &*file.entry.origin.name);
            (path, content.read().unwrap().to_vec(), origin)
        })
        .collect();
    assert_eq!(found.len(), 2, "{found:?}");
    for (path, content, from) in [
        ("/b", &b"b"[..], "https://b.test/b.ign:1 storage.files.0"),
        ("/c", b"from c", "a.ign:1 storage.files.0"),
    ] {
        assert!(found.contains(&(path, content.to_vec(), from)), "{found:?}");
    }
    let asked = servers.asked.borrow();
    let accepts = |(name, value): &(String, String)| name == "Accept" && value.contains("version=");
    assert!(asked[0].headers.iter().any(accepts), "{asked:?}");
}

#[test]
fn circles_are_named_and_depth_is_bounded() {
    let servers = Servers::new(&[
        ("https://x.test/a", &merging("https://x.test/b")),
        ("https://x.test/b", &merging("https://x.test/a")),
    ]);
    let fault = servers.resolve(&merging("https://x.test/a")).unwrap_err();
    assert_eq!(fault.kind, FaultKind::BadInput);
    assert!(fault.message.contains("in a circle"), "{fault}");
    let urls: Vec<String> = (0..40).map(|n| format!("https://x.test/{n}")).collect();
    let texts: Vec<String> = (1..41)
        .map(|n| merging(&format!("https://x.test/{n}")))
        .collect();
    let chain: Vec<(&str, &str)> = urls
        .iter()
        .zip(&texts)
        .map(|(url, text)| (url.as_str(), text.as_str()))
        .collect();
    let fault = Servers::new(&chain)
        .resolve(&merging(&urls[0]))
        .unwrap_err();
    assert!(fault.message.contains("deep"), "{fault}");
}

#[test]
fn what_cannot_be_fetched_is_told_by_its_path_in_the_config() {
    let servers = Servers::new(&[]);
    for (source, says) in [
        ("https://gone.test/x", "404"),
        ("s3://bucket/key", "s3"),
        ("gs://bucket/key", "gs"),
        ("tftp://host/key", "tftp"),
    ] {
        let fault = servers.resolve(&config(&files("/x", source))).unwrap_err();
        assert!(fault.message.contains(says), "{fault}");
        assert!(
            fault.message.contains("storage.files.0.contents"),
            "{fault}"
        );
        assert_eq!(fault.place.as_ref().unwrap().line, Some(1));
        assert_eq!(fault.kind, FaultKind::BadInput);
    }
}

#[test]
fn a_proxy_matters_only_to_what_is_fetched() {
    let servers = Servers::new(&[("https://c.test/file", "from c")]);
    let proxied = |source: &str| {
        let proxy = r#""version": "3.4.0", "proxy": {"httpsProxy": "https://u:p@proxy.test"}"#;
        config(&files("/x", source)).replace(r#""version": "3.4.0""#, proxy)
    };
    assert!(servers.resolve(&proxied("data:,x")).is_ok());
    let fault = servers
        .resolve(&proxied("https://c.test/file"))
        .unwrap_err();
    assert!(fault.message.contains("https://proxy.test"), "{fault}");
    assert!(!fault.message.contains("u:p"), "{fault}");
    assert!(servers.asked.borrow().is_empty());
}

#[test]
fn a_wrong_hash_and_a_bomb_are_refused() {
    let servers = Servers::new(&[]);
    let zeros = format!("sha512-{}", "0".repeat(128));
    let hashed = format!(
        r#", "storage": {{"files": [{{"path": "/x", "contents": {{"source": "data:,x",
            "verification": {{"hash": "{zeros}"}}}}}}]}}"#
    );
    let fault = servers.resolve(&config(&hashed)).unwrap_err();
    assert!(
        fault.message.contains("storage.files.0.contents"),
        "{fault}"
    );
    assert!(fault.message.contains("hash"), "{fault}");
}

#[test]
fn disks_are_refused_by_name_and_kernel_arguments_noted() {
    let servers = Servers::new(&[]);
    let disks = r#", "storage": {"disks": [{"device": "/dev/sda", "wipeTable": true}]}"#;
    let fault = servers.resolve(&config(disks)).unwrap_err();
    assert!(fault.message.contains("storage.disks"), "{fault}");
    let arguments = r#", "kernelArguments": {"shouldExist": ["quiet"]}"#;
    let resolved = servers.resolve(&config(arguments)).unwrap().provision;
    assert_eq!(resolved.kernel_arguments.should_exist, ["quiet"]);
}

#[test]
fn a_config_that_ignition_refuses_is_refused_with_all_that_is_wrong() {
    let servers = Servers::new(&[]);
    let fault = servers
        .resolve(r#"{"ignition": {"version": "9.9.9"}}"#)
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::BadInput);
    let two = r#", "storage": {"files": [{"path": "a"}, {"path": "/b/"}]}"#;
    let fault = servers.resolve(&config(two)).unwrap_err();
    assert_eq!(fault.details.len(), 2, "{fault:?}");
}

#[test]
fn hashes_of_configs_are_compared_letter_by_letter() {
    let servers = Servers::new(&[("https://b.test/b.ign", &config(""))]);
    let hash = format!("sha256-{}", "A".repeat(64));
    let text = merging("https://b.test/b.ign").replace(
        r#""source""#,
        &format!(r#""verification": {{"hash": "{hash}"}}, "source""#),
    );
    let fault = servers.resolve(&text).unwrap_err();
    assert!(fault.message.contains("upper case"), "{fault}");
    assert!(
        fault.message.starts_with("ignition.config.merge.0"),
        "{fault}"
    );
}
