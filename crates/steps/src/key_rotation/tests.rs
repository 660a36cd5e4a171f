//! Every state of the file and the cluster leads to the right action, and no cut loses a key.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bootlace_model::config::{Paths, Settings};
use bootlace_model::secret::Secret;
use serde_json::json;

use super::*;

const PATH: &str = "/etc/kubernetes/configs/encryption.yaml";
/// 32 bytes in base64.
const BITS: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

fn file(keys: &[&str]) -> String {
    let keys = keys.iter().map(|name| (*name, BITS));
    document(&[SECRETS.to_owned()], keys, true)
}

fn config(keys: &[&str]) -> EncryptionConfig {
    EncryptionConfig::read(PATH, file(keys).as_bytes()).unwrap()
}

fn stored(keys: &[&str]) -> StoredKeys {
    let mut stored = StoredKeys::default();
    for key in keys {
        stored.note(format!("k8s:enc:secretbox:v1:{key}:\0\u{1}").as_bytes());
    }
    stored
}

fn decide(
    config: &EncryptionConfig,
    keys: &[&str],
    [is_loaded, is_begun, is_rewritten]: [bool; 3],
) -> Result<Action, Fault> {
    next(&Situation {
        config,
        is_loaded,
        stored: &stored(keys),
        is_begun,
        is_rewritten,
    })
}

#[test]
fn every_state_has_one_next_action() {
    let (one, two) = (config(&["key1"]), config(&["key2", "key1"]));
    let rows = [
        (&one, vec!["key1"], [true, false, false], Action::AddKey),
        (&one, vec![], [true, false, false], Action::AddKey),
        (
            &one,
            vec!["key1"],
            [false, true, false],
            Action::AwaitReload,
        ),
        (&one, vec!["key1"], [true, true, true], Action::Finish),
        (
            &two,
            vec!["key1"],
            [false, true, false],
            Action::AwaitReload,
        ),
        (&two, vec!["key1"], [true, true, false], Action::Rewrite),
        // Nothing is left of the old key, but what was never encrypted may be.
        (&two, vec!["key2"], [true, true, false], Action::Rewrite),
        (
            &two,
            vec!["key2", "key1"],
            [true, true, true],
            Action::Rewrite,
        ),
        (&two, vec!["key2"], [true, true, true], Action::DropOldKeys),
        (&two, vec![], [true, true, true], Action::DropOldKeys),
        // An API server that does not use the file yet may still write with the old key.
        (&two, vec!["key2"], [false, true, true], Action::AwaitReload),
    ];
    for (config, keys, flags, wanted) in rows {
        let action = decide(config, &keys, flags).unwrap();
        assert_eq!(action, wanted, "{config:?} {keys:?} {flags:?}");
    }
    assert!(is_in_progress(&two, true) && is_in_progress(&one, false));
    assert!(!is_in_progress(&one, true));
}

#[test]
fn what_no_key_in_the_file_decrypts_stops_a_rotation() {
    let two = config(&["key3", "key2"]);
    let fault = decide(&two, &["key3", "key1", "key1"], [true, true, true]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Refused);
    assert_eq!(fault.details, ["2 by the key key1"]);
    let mut foreign = StoredKeys::default();
    foreign.note(b"k8s:enc:aescbc:v1:key3:x");
    foreign.note(b"k8s:enc:secretbox:v1:without-an-end");
    let now = Situation {
        config: &two,
        is_loaded: true,
        stored: &foreign,
        is_begun: true,
        is_rewritten: true,
    };
    assert_eq!(
        next(&now).unwrap_err().details,
        ["2 by a provider other than secretbox"]
    );
}

#[test]
fn values_are_counted_by_the_key_that_encrypted_them() {
    let mut found = stored(&["key1", "key10", "key1"]);
    found.note(b"k8s\0\n\x0c\n\x02v1 in plain text: k8s:enc:secretbox:v1:key9:");
    assert_eq!(
        found.by_key().collect::<Vec<_>>(),
        [("key1", 2), ("key10", 1)]
    );
    assert_eq!((found.with("key1"), found.with("key")), (2, 0));
    assert_eq!((found.without("key1"), found.without("key2")), (1, 3));
}

#[test]
fn all_pages_of_etcd_are_read() {
    let pair = |key: &str, value: &[u8]| json!({"key": STANDARD.encode(key), "value": STANDARD.encode(value)});
    let long = [b"k8s:enc:secretbox:v1:key1:".as_slice(), &[7; 5000]].concat();
    let mut scan = Scan::new();
    assert_eq!(
        scan.question(),
        Some(json!({"key": "AA==", "range_end": "AA==", "limit": "30"}))
    );
    scan.take(&json!({"kvs": [pair("/a", &long), {"key": STANDARD.encode("/b")}], "more": true}))
        .unwrap();
    let next = scan.question().unwrap();
    assert_eq!(next["key"], STANDARD.encode("/b\0"));
    scan.take(&json!({"kvs": [pair("/c", b"k8s:enc:secretbox:v1:key2:x"), pair("/d", b"plain")]}))
        .unwrap();
    assert_eq!(scan.question(), None);
    assert_eq!(scan.finish(), stored(&["key1", "key2"]));
    for answer in [json!({"more": true}), json!({"kvs": [{"key": 1}]})] {
        assert!(Scan::new().take(&answer).is_err(), "{answer}");
    }
    let mut empty = Scan::new();
    empty.take(&json!({"header": {}})).unwrap();
    assert_eq!(empty.question(), None);
}

#[test]
fn a_new_key_comes_first_and_has_a_name_that_none_had() {
    let one = config(&["key1"]);
    assert_eq!(one.next_key_name(&[]), "key2");
    assert_eq!(config(&["key7", "mine"]).next_key_name(&["key9"]), "key10");
    assert_eq!(config(&["mine"]).next_key_name(&[]), "key1");
    let two = one.with_new_key("key2".into(), &Secret::new(vec![7; 32]));
    let read = EncryptionConfig::read(PATH, two.content().expose()).unwrap();
    assert_eq!(read, two);
    assert_eq!(read.active_key(), "key2");
    assert_eq!(read.old_keys().collect::<Vec<_>>(), ["key1"]);
    let dropped = read.without_old_keys();
    assert_eq!(dropped.key_names().collect::<Vec<_>>(), ["key2"]);
    assert_eq!(dropped.resources(), ["secrets"]);
    insta::assert_snapshot!(String::from_utf8_lossy(two.content().expose()), @r"
    apiVersion: apiserver.config.k8s.io/v1
    kind: EncryptionConfiguration
    resources:
    - providers:
      - secretbox:
          keys:
          - name: key2
            secret: BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=
          - name: key1
            secret: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
      - identity: {}
      resources:
      - secrets
    ");
}

#[test]
fn a_file_that_could_not_be_written_back_as_it_was_meant_is_refused_and_not_quoted() {
    let good = file(&["key1"]);
    let changes = [
        ("resources:", "resources: [", "not valid YAML (line "),
        (
            "apiserver.config.k8s.io/v1",
            "v1",
            "not an EncryptionConfiguration",
        ),
        (
            "EncryptionConfiguration",
            "Other",
            "not an EncryptionConfiguration",
        ),
        (
            "kind:",
            "extra: 1\nkind:",
            "the file does not have exactly the fields",
        ),
        ("  - secrets", "  - '*.*'", "a pattern"),
        ("  - secrets\n", "", "list"),
        (
            "secretbox:",
            "aescbc:",
            "the first provider does not have exactly",
        ),
        ("identity: {}", "kms: {}", "more than `secretbox`"),
        (
            "name: key1",
            "name: 'a:b'",
            "key 1 of `secretbox` has no usable name",
        ),
        ("name: key1", "name: 1", "not text"),
        (BITS, "aGFsZi1hLXNlY3JldA==", "not 32 bytes"),
        (BITS, "'hush!'", "not 32 bytes"),
        ("kind:", "---\nkind:", "exactly one document"),
    ];
    for (from, to, words) in changes {
        assert!(good.contains(from), "{from}: {good}");
        let text = good.replacen(from, to, 1);
        let fault = EncryptionConfig::read(PATH, text.as_bytes()).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Refused, "{text}");
        assert!(fault.message.contains(words), "{to}: {}", fault.message);
        let said = format!("{fault:?}");
        assert!(!said.contains("hush") && !said.contains("aGFs") && !said.contains(BITS));
    }
    for text in ["", "hush", "[]", "\0", "a: b: c"] {
        assert!(
            EncryptionConfig::read(PATH, text.as_bytes()).is_err(),
            "{text:?}"
        );
    }
    let twice = file(&["key1", "key1"]);
    let fault = EncryptionConfig::read(PATH, twice.as_bytes()).unwrap_err();
    assert!(fault.message.contains("the name key1"), "{fault}");
    assert!(!format!("{:?}", config(&["key1"])).contains(BITS));
}

#[test]
fn the_file_of_prepare_assets_can_be_rotated() {
    let first = file(&[FIRST_KEY]);
    let read = EncryptionConfig::read(PATH, first.as_bytes()).unwrap();
    assert_eq!(read.content().expose(), first.as_bytes());
}

#[test]
fn the_digest_that_the_api_server_uses_is_found_in_its_metrics() {
    let metrics = "\
# HELP apiserver_encryption_config_controller_last_config_info [ALPHA] Information
# TYPE apiserver_encryption_config_controller_last_config_info gauge
apiserver_encryption_config_controller_last_config_info{apiserver_id_hash=\"sha256:aa\",hash=\"sha256:bb\"} 1
apiserver_other{hash=\"sha256:cc\"} 1
";
    assert_eq!(loaded_digest(metrics), Some("sha256:bb"));
    assert_eq!(
        loaded_digest("apiserver_other{hash=\"sha256:cc\"} 1\n"),
        None
    );
}

#[test]
fn a_control_plane_of_several_machines_is_refused() {
    assert!(is_one_machine(0, 1).is_ok() && is_one_machine(1, 1).is_ok());
    for (servers, members) in [(2, 1), (1, 3)] {
        let fault = is_one_machine(servers, members).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Preflight);
        assert!(!fault.hints.is_empty());
    }
}

#[test]
fn a_rotation_works_on_what_is_on_the_machine() {
    let path = |text: &str| TargetPath::new(text).unwrap();
    let paths = Paths {
        assets: path("/opt/bootlace"),
        state: path("/var/lib/bootlace"),
    };
    let places = Places::of(&Settings::defaults(paths));
    assert_eq!(places.config.as_str(), ENCRYPTION);
    let is_put =
        |path: &TargetPath| machine_files().any(|it| path.as_str() == format!("/{}", it.machine));
    assert!(is_put(&places.config));
    let gone: Vec<&str> = places
        .bootstrap_only
        .iter()
        .map(TargetPath::as_str)
        .collect();
    assert!(
        gone.contains(&"/etc/kubernetes/bootstrap-secrets/kubeconfig"),
        "{gone:?}"
    );
    assert!(
        gone.contains(&"/opt/bootlace/tls/encryption.key"),
        "{gone:?}"
    );
}

/// A cluster as far as a rotation can break it.
#[derive(Debug, Clone)]
struct Cluster {
    file: String,
    loaded: String,
    /// The key of each Secret.
    secrets: BTreeMap<u32, String>,
}

impl Cluster {
    fn new() -> Self {
        let secrets = (0..3).map(|n| (n, "key1".to_owned())).collect();
        let file = file(&["key1"]);
        Self {
            loaded: file.clone(),
            file,
            secrets,
        }
    }

    fn stored(&self) -> StoredKeys {
        let keys: Vec<&str> = self.secrets.values().map(String::as_str).collect();
        stored(&keys)
    }

    fn config(text: &str) -> EncryptionConfig {
        EncryptionConfig::read(PATH, text.as_bytes()).unwrap()
    }

    /// Another client writes a Secret, by the key that the API server uses.
    fn write(&mut self, secret: u32) {
        let key = Self::config(&self.loaded).active_key().to_owned();
        self.secrets.insert(secret, key);
    }

    /// Every Secret can be read by the file and by what the API server uses, before and after a restart.
    fn check(&self) {
        for text in [&self.file, &self.loaded] {
            let config = Self::config(text);
            let known: BTreeSet<&str> = config.key_names().collect();
            for key in self.secrets.values() {
                assert!(known.contains(key.as_str()), "{key} is lost: {self:?}");
            }
        }
    }

    /// Calls the command, which is killed after so many changes. Returns whether it came to its end.
    fn call(&mut self, mut changes: u32) -> bool {
        let mut is_begun = is_in_progress(&Self::config(&self.file), self.loaded == self.file);
        let mut is_rewritten = false;
        loop {
            let config = Self::config(&self.file);
            let action = next(&Situation {
                config: &config,
                is_loaded: self.loaded == self.file,
                stored: &self.stored(),
                is_begun,
                is_rewritten,
            });
            let action = action.unwrap();
            if action == Action::Finish {
                return true;
            }
            if changes == 0 {
                return false;
            }
            changes -= 1;
            match action {
                Action::AddKey => {
                    let bits = Secret::new(vec![1; 32]);
                    let two = config.with_new_key(config.next_key_name(&[]), &bits);
                    self.file = String::from_utf8(two.content().expose().to_vec()).unwrap();
                    is_begun = true;
                    is_rewritten = false;
                }
                Action::AwaitReload => {
                    // The last moment at which the API server still uses what it had.
                    self.write(100 + changes);
                    self.loaded = self.file.clone();
                }
                Action::Rewrite => {
                    let all: Vec<u32> = self.secrets.keys().copied().collect();
                    // Killed in the middle, a part of them is written.
                    let part = if changes == 0 {
                        all.len() / 2
                    } else {
                        all.len()
                    };
                    all.into_iter()
                        .take(part)
                        .for_each(|secret| self.write(secret));
                    is_rewritten = part > 0 && changes > 0;
                }
                Action::DropOldKeys => {
                    let one = config.without_old_keys();
                    self.file = String::from_utf8(one.content().expose().to_vec()).unwrap();
                }
                Action::Finish => return true,
            }
            self.check();
        }
    }
}

#[test]
fn a_call_that_is_killed_anywhere_is_finished_by_the_next() {
    let mut whole = Cluster::new();
    assert!(whole.call(5));
    for first in 0..6 {
        for second in 0..6 {
            let mut cluster = Cluster::new();
            let ended = cluster.call(first) || cluster.call(second) || cluster.call(100);
            assert!(ended, "killed after {first} and {second}");
            let config = Cluster::config(&cluster.file);
            assert_eq!(config.key_names().collect::<Vec<_>>(), ["key2"]);
            assert_eq!(cluster.stored().without("key2"), 0, "{first} {second}");
            assert_eq!(cluster.loaded, cluster.file);
        }
    }
}

#[test]
fn a_call_after_a_complete_one_rotates_again() {
    let mut cluster = Cluster::new();
    for wanted in ["key2", "key3", "key4"] {
        assert!(cluster.call(100));
        let config = Cluster::config(&cluster.file);
        assert_eq!(config.key_names().collect::<Vec<_>>(), [wanted]);
    }
}
