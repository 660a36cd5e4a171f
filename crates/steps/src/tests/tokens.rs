//! A bootstrap token ends, counted from the moment at which the API server gets it.

use base64::Engine as _;
use bootlace_model::effect::Effect;
use bootlace_model::fact::Facts;
use bootlace_model::probe::Answer;
use serde_json::Value;

use super::{effects, settings, tree};

/// Plans `start-control-plane` with one manifest; returns the object that the API server gets.
fn applied(manifest: &str) -> Value {
    let mut settings = settings();
    settings.placement = bootlace_model::config::Placement::Process { programs: vec![] };
    let mut facts = Facts::default();
    let manifests = [("bootstrap-token.yaml", manifest)];
    facts.set("manifests.all", Answer::Tree(tree(&manifests)));
    let now = Answer::Json("2026-01-01T00:00:00.5Z".into());
    facts.set("start-control-plane.now", now);
    let effects = effects("start-control-plane", &settings, &facts);
    let objects = effects.into_iter().find_map(|effect| match effect {
        Effect::ApplyObjects(apply) => Some(apply.objects),
        _ => None,
    });
    Value::clone(&objects.unwrap()[0].content)
}

const TOKEN: &str = "\
apiVersion: v1
kind: Secret
metadata: {name: bootstrap-token-abcdef, namespace: kube-system}
type: bootstrap.kubernetes.io/token
";

#[test]
fn a_token_without_an_end_gets_one() {
    let applied = applied(TOKEN);
    let encoded = applied["data"]["expiration"].as_str().unwrap();
    let decoded = base64::engine::general_purpose::STANDARD.decode(encoded);
    assert_eq!(decoded.unwrap(), b"2026-01-02T00:00:00Z");
}

#[test]
fn a_token_that_says_when_it_ends_keeps_that() {
    for own in [
        "stringData: {expiration: '2030-01-01T00:00:00Z'}",
        "data: {expiration: eA==}",
    ] {
        let applied = applied(&format!("{TOKEN}{own}\n"));
        let fields = [
            &applied["data"]["expiration"],
            &applied["stringData"]["expiration"],
        ];
        let set: Vec<_> = fields
            .into_iter()
            .filter(|field| !field.is_null())
            .collect();
        assert_eq!(set.len(), 1, "{applied}");
        assert_ne!(set[0], "MjAyNi0wMS0wMlQwMDowMDowMFo=", "{applied}");
    }
}

#[test]
fn other_secrets_do_not_end() {
    let applied = applied(&TOKEN.replace("type: bootstrap.kubernetes.io/token", "type: Opaque"));
    assert!(applied["data"].is_null(), "{applied}");
}
