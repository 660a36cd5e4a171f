use serde_json::json;

use super::*;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn held(version: &str, value: Value) -> Held {
    Held {
        version: version.to_owned(),
        value: Arc::new(value),
    }
}

fn pool(updated: i64) -> Value {
    json!({
        "spec": {"configuration": {"name": "next"}},
        "status": {"configuration": {"name": "now"}, "updatedMachineCount": updated},
    })
}

#[test]
fn new_machines_get_what_a_machine_has_got_to() {
    assert_eq!(config_of(&pool(0)), Some(name("now")));
    assert_eq!(config_of(&pool(1)), Some(name("next")));
    let unreported = json!({"spec": {"configuration": {"name": "next"}}});
    assert_eq!(config_of(&unreported), Some(name("next")));
    assert_eq!(config_of(&json!({})), None);
}

#[test]
fn what_was_not_told_yet_is_not_called_missing() {
    let store = Store::default();
    let pool_document = Document::Pool(name("worker"));
    let mut marks = vec![];
    assert!(store.list().is_err());
    assert!(store.document(&pool_document, &mut marks).is_err());
    store.change(|told| told.announced = Some([name("worker")].into()));
    assert!(store.document(&pool_document, &mut marks).is_err());
    let other = store.document(&Document::Pool(name("other")), &mut marks);
    assert_eq!(other.unwrap(), None);
    store.change(|told| told.pools.insert(name("worker"), held("1", pool(0))));
    marks.clear();
    assert!(
        store
            .document(&pool_document, &mut marks)
            .unwrap()
            .is_some()
    );
    assert_eq!(
        marks,
        [Mark::Object(pool_document.clone(), Some("1".into()))]
    );
    assert!(store.is_still(&pool_document, Some("1")));
    store.change(|told| told.pools.insert(name("worker"), held("2", pool(0))));
    assert!(!store.is_still(&pool_document, Some("1")));
    let config = Document::Config(name("now"));
    assert!(store.document(&config, &mut marks).is_err());
    store.change(|told| told.configs.insert(name("now"), None));
    assert_eq!(store.document(&config, &mut marks).unwrap(), None);
}

#[test]
fn a_built_image_is_used_once_machines_outside_can_use_it() {
    let image = "registry.example/os@sha256:1";
    let store = Store::default();
    let put = |updated: i64, image: &str, config: &str, status: &str| {
        let build_config = json!({
            "spec": {"machineConfigPool": {"name": "worker"}},
            "status": {"currentImagePullSpec": image},
        });
        let build = json!({
            "spec": {"machineOSConfig": {"name": "c"}, "machineConfig": {"name": config}},
            "status": {"conditions": [{"type": "Succeeded", "status": status}]},
        });
        store.change(|told| {
            told.pools.insert(name("worker"), held("1", pool(updated)));
            told.builds.configs = [("c".to_owned(), held("1", build_config))].into();
            told.builds.builds = [("b".to_owned(), held("1", build))].into();
        });
        let document = Document::BuiltImage(name("worker"));
        store.document(&document, &mut vec![]).unwrap()
    };
    assert_eq!(put(1, image, "next", "True"), Some(image.into()));
    assert_eq!(put(0, image, "now", "True"), None, "no machine runs it");
    assert_eq!(put(1, image, "other", "True"), None, "of another config");
    assert_eq!(put(1, image, "next", "False"), None, "the build failed");
    let inside = "image-registry.openshift-image-registry.svc:5000/os@sha256:1";
    assert_eq!(put(1, inside, "next", "True"), None, "cannot be reached");
    assert_eq!(put(1, "", "next", "True"), None, "not there yet");
}
