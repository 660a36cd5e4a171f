//! What a stage makes of rendered files: effects, copies for others, a list.

use bootlace_model::config::{Profile, Settings};
use bootlace_model::effect::Effect;
use bootlace_model::fact::Facts;
use bootlace_model::fault::FaultKind;
use bootlace_model::probe::Answer;

use super::{effects, fault, path, settings, text_of, told, tree};

const LISTED: &str = "render-ingress.listed";
const COPIED: &str = "manifests.copied";

fn content(text: &str) -> Answer {
    Answer::Content(Some(text.as_bytes().to_vec()))
}

/// Facts with which `render-ingress` plans, after the user brought manifests.
fn facts(copied: &str, listed: Option<&str>) -> Facts {
    let mut facts = Facts::default();
    facts.set(COPIED, content(copied));
    facts.set(LISTED, listed.map_or(Answer::Content(None), content));
    facts
}

const NOTHING: &str = r#"{"files": {}, "objects": []}"#;

fn targets(effects: &[Effect]) -> Vec<String> {
    let line = |effect: &Effect| format!("{:?} {}", effect.kind(), effect.target());
    effects.iter().map(line).collect()
}

#[test]
fn files_go_to_the_stage_s_folder_and_where_others_need_them_and_the_list_comes_last() {
    let effects = effects("render-ingress", &settings(), &facts(NOTHING, None));
    assert_eq!(
        targets(&effects),
        [
            "PutFile /opt/bootlace/ingress/manifests/ingress-class.yaml",
            "PutFile /opt/bootlace/ingress/manifests/ingress-config.yaml",
            "PutFile /opt/bootlace/manifests/ingress-class.yaml",
            "PutFile /opt/bootlace/manifests/ingress-config.yaml",
            "PutFile /opt/bootlace/records/render-ingress.json",
        ]
    );
    let list = text_of(effects.last().unwrap());
    assert_eq!(list.matches("sha256:").count(), 4, "{list}");
    assert_eq!(text_of(&effects[0]), text_of(&effects[2]));
}

#[test]
fn what_the_user_defines_is_not_defined_a_second_time() {
    let copied = r#"{"files": {}, "objects": [{"file": "a.yaml",
        "group": "networking.k8s.io", "kind": "IngressClass", "name": "bootlace"}]}"#;
    let effects = effects("render-ingress", &settings(), &facts(copied, None));
    let targets = targets(&effects);
    let published = "PutFile /opt/bootlace/manifests/ingress-class.yaml";
    assert!(
        !targets.iter().any(|target| target == published),
        "{targets:?}"
    );
    let kept = "PutFile /opt/bootlace/ingress/manifests/ingress-class.yaml";
    assert!(targets.iter().any(|target| target == kept), "{targets:?}");
}

#[test]
fn a_file_of_the_user_s_is_never_overwritten() {
    let digest = bootlace_model::ids::Digest::of(b"");
    let copied = format!(r#"{{"files": {{"ingress-class.yaml": "{digest}"}}, "objects": []}}"#);
    let fault = fault("render-ingress", &settings(), &facts(&copied, None));
    insta::assert_snapshot!(told(&fault), @r"
    BadInput: your manifest ingress-class.yaml has the name of a file that is rendered
      at ingress-class.yaml
      because render-ingress writes a file of that name, and one of the two would be lost
      > give your file another name; what it defines counts, whatever it is called
    ");
}

#[test]
fn what_an_earlier_run_rendered_and_nobody_wants_any_more_is_removed() {
    let digest = bootlace_model::ids::Digest::of(b"");
    let listed = format!(
        r#"{{"files": {{"ingress/old.yaml": "{digest}", "manifests/mine.yaml": "{digest}",
            "manifests/ingress-class.yaml": "{digest}"}}, "composed": ["manifests/older.yaml"]}}"#
    );
    // The user has put a file of their own there since.
    let copied = format!(r#"{{"files": {{"mine.yaml": "{digest}"}}, "objects": []}}"#);
    let facts = facts(&copied, Some(&listed));
    let effects = effects("render-ingress", &settings(), &facts);
    let targets = targets(&effects);
    let dropped = targets
        .iter()
        .filter(|target| target.starts_with("DropPath"));
    let dropped: Vec<&String> = dropped.collect();
    assert_eq!(
        dropped,
        [
            "DropPath /opt/bootlace/ingress/old.yaml",
            "DropPath /opt/bootlace/manifests/older.yaml"
        ]
    );
}

#[test]
fn a_list_that_names_what_no_stage_writes_is_refused() {
    let digest = bootlace_model::ids::Digest::of(b"");
    let lists = [
        format!(r#"{{"files": {{"tls/ca.key": "{digest}"}}, "composed": []}}"#),
        format!(r#"{{"files": {{"ingressx/a": "{digest}"}}, "composed": []}}"#),
        "[]".into(),
        String::new(),
    ];
    for listed in lists {
        let facts = facts(NOTHING, Some(&listed));
        let fault = fault("render-ingress", &settings(), &facts);
        assert_eq!(fault.kind, FaultKind::Refused, "{listed}");
    }
    let out = r#"{"files": {}, "composed": ["ingress/../../etc/passwd"]}"#;
    let plan = super::step("render-ingress").plan(&settings(), &facts(NOTHING, Some(out)));
    assert!(plan.is_err(), "{plan:?}");
}

#[test]
fn openshift_is_not_rendered_by_us() {
    let mut settings = settings();
    settings.cluster.profile = Profile::Openshift;
    let fault = fault("render-etcd", &settings, &Facts::default());
    assert_eq!(fault.kind, FaultKind::Preflight);
    assert!(fault.message.contains("profile openshift"), "{fault}");
}

/// Facts with which `render-version-operator` plans for a user's `ClusterVersion`.
fn with_version(settings: &mut Settings, file: &str) -> Facts {
    settings.cluster.manifests = vec![path("/srv/manifests")];
    let version =
        "{apiVersion: bootlace.dev/v1alpha1, kind: ClusterVersion, metadata: {name: version}}";
    let object = r#""group": "bootlace.dev", "kind": "ClusterVersion", "name": "version""#;
    let copied = format!(r#"{{"files": {{}}, "objects": [{{"file": "{file}", {object}}}]}}"#);
    let mut facts = Facts::default();
    facts.set(COPIED, content(&copied));
    facts.set("manifests.00", Answer::Tree(tree(&[(file, version)])));
    facts.set("render-version-operator.listed", Answer::Content(None));
    facts.set("node.name", Answer::Json("node-1".into()));
    let release = crate::release::built_in("v1.36.3");
    facts.set("release.version", Answer::Json(release.version.into()));
    facts.set("release.digest", Answer::Json(serde_json::Value::Null));
    facts.set(
        "release.images",
        Answer::Json(serde_json::json!(release.images)),
    );
    facts
}

#[test]
fn the_version_that_the_user_brings_is_merged_and_stands_before_ours() {
    let mut settings = settings();
    let facts = with_version(&mut settings, "version.yaml");
    let effects = effects("render-version-operator", &settings, &facts);
    let merged = "PutFile /opt/bootlace/manifests/zz_cluster-version.yaml";
    assert!(targets(&effects).iter().any(|target| target == merged));
    let facts = with_version(&mut settings, "zzz.yaml");
    let fault = fault("render-version-operator", &settings, &facts);
    assert_eq!(fault.kind, FaultKind::BadInput);
    assert!(fault.message.contains("zzz.yaml"), "{fault}");
}
