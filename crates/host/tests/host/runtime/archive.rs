//! An archive of a few images, taken out of the release's.

use std::path::Path;
use std::process::Command;

use bootlace_lab::Lab;
use serde_json::{Value, json};

/// Writes an archive of these images.
pub(super) fn write(archive: &Path, images: &[&str]) {
    let bundle = Lab::load().expect("run `make lab` first").bundle;
    let folder = tempfile::tempdir().unwrap();
    take(
        &bundle,
        folder.path(),
        &["oci-layout".into(), "index.json".into()],
    );
    let index: Value = read(&folder.path().join("index.json"));
    let name = |manifest: &Value| {
        let name = &manifest["annotations"]["io.containerd.image.name"];
        name.as_str().unwrap_or_default().to_owned()
    };
    let manifests = index["manifests"].as_array().unwrap().iter();
    let wanted: Vec<Value> = manifests
        .filter(|it| images.contains(&name(it).as_str()))
        .cloned()
        .collect();
    assert_eq!(wanted.len(), images.len(), "{images:?} of {index}");
    let places: Vec<String> = wanted.iter().map(place).collect();
    take(&bundle, folder.path(), &places);
    for at in places {
        let manifest = read(&folder.path().join(at));
        let layers = manifest["layers"].as_array().unwrap().iter().map(place);
        let parts: Vec<String> = layers.chain([place(&manifest["config"])]).collect();
        take(&bundle, folder.path(), &parts);
    }
    let index = json!({"schemaVersion": 2, "manifests": wanted});
    std::fs::write(folder.path().join("index.json"), index.to_string()).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-cf")
        .arg(archive)
        .arg("-C")
        .arg(folder.path())
        .arg(".");
    assert!(tar.status().unwrap().success());
}

/// Tells where in an archive a thing lies that is known by its digest.
fn place(thing: &Value) -> String {
    let digest = thing["digest"].as_str().unwrap();
    format!("blobs/{}", digest.replace(':', "/"))
}

fn take(bundle: &Path, into: &Path, names: &[String]) {
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(bundle).arg("-C").arg(into).args(names);
    assert!(tar.status().unwrap().success());
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
