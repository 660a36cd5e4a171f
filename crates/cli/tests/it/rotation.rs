//! `pki rotate-encryption-key` where it cannot begin.

use insta::assert_snapshot;

use crate::program::Place;

const FILE: &str = "etc/kubernetes/configs/encryption.yaml";
const GOOD: &str = "\
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- providers:
  - secretbox:
      keys:
      - name: key1
        secret: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
  resources:
  - secrets
";

#[test]
fn a_machine_without_an_encryption_config_is_named() {
    let place = Place::with_config();
    assert_snapshot!(
        "rotation_without_a_file",
        place.call("pki rotate-encryption-key")
    );
    assert_eq!(place.tree("var"), [""; 0]);
}

#[test]
fn a_file_that_it_does_not_understand_is_refused_and_stays_as_it_is() {
    let place = Place::with_config();
    for text in [
        "hush: [".to_owned(),
        GOOD.replace("secretbox", "kms"),
        GOOD.replace("AAAA", "hush!"),
        String::new(),
    ] {
        place.write(FILE, &text);
        let said = place.call("pki rotate-encryption-key");
        assert!(said.starts_with("code: 9\n"), "{said}");
        assert!(!said.contains("hush"), "{said}");
        assert_eq!(place.read(FILE), text);
    }
    place.write(FILE, &GOOD.replace("name: key1", "name: a/b"));
    let said = place.call("pki rotate-encryption-key");
    assert_snapshot!("rotation_of_a_file_that_is_not_understood", said);
}

#[test]
fn a_cluster_that_is_not_handed_over_is_refused() {
    let place = Place::with_config();
    place.write(FILE, GOOD);
    place.write("opt/bootlace/tls/encryption.key", "a key");
    let said = place.call("pki rotate-encryption-key");
    assert_snapshot!("rotation_before_the_hand_over", said);
    assert_eq!(place.read(FILE), GOOD);
}
