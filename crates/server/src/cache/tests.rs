#![expect(clippy::disallowed_methods, reason = "a test's own files")]

use std::path::Path;

use super::*;
use crate::folder::Folder;
use crate::pools::Origin;

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn config(mark: &str) -> String {
    format!(
        "metadata: {{name: r}}\nspec: {{config: {{ignition: {{version: 3.2.0}}, \
         storage: {{files: [{{path: /a, contents: {{source: 'data:,{mark}'}}}}]}}}}}}\n"
    )
}

fn cache(folder: &Path) -> Cache {
    let pools = Pools {
        origin: Origin::Folder(Folder(folder.to_owned())),
        kubeconfig: None,
        certificates: vec![],
    };
    Cache::new(pools, Duration::from_millis(500))
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

#[tokio::test]
async fn rendered_once_until_a_file_changes() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "machine-pools/p.yaml",
        "status: {configuration: {name: r}}",
    );
    write(folder.path(), "machine-configs/r.yaml", &config("one"));
    let cache = cache(folder.path());
    let first = cache
        .get(&name("p"), View::Whole, Version::V3_2)
        .await
        .unwrap();
    let again = cache
        .get(&name("p"), View::Whole, Version::V3_2)
        .await
        .unwrap();
    assert!(Arc::ptr_eq(&first, &again), "it is shared, not copied");
    assert_eq!(cache.renders(), 1);
    let other = cache
        .get(&name("p"), View::Whole, Version::V3_4)
        .await
        .unwrap();
    assert_ne!(first.tag, other.tag);
    assert_eq!(cache.renders(), 2);
    // The same size, at once: only the time tells.
    write(folder.path(), "machine-configs/r.yaml", &config("two"));
    let changed = cache
        .get(&name("p"), View::Whole, Version::V3_2)
        .await
        .unwrap();
    let text = String::from_utf8(changed.content.to_vec()).unwrap();
    assert!(text.contains("data:,two"), "{text}");
    assert_ne!(changed.tag, first.tag);
    write(
        folder.path(),
        "machine-pools/p.yaml",
        "status: {configuration: {name: gone}}",
    );
    let problem = cache
        .get(&name("p"), View::Whole, Version::V3_2)
        .await
        .unwrap_err();
    assert!(
        problem.detail().contains("machine-configs/gone.yaml"),
        "{problem:?}"
    );
    write(folder.path(), "machine-configs/gone.yaml", &config("three"));
    assert!(
        cache
            .get(&name("p"), View::Whole, Version::V3_2)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn made_up_names_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "machine-pools/p.yaml", "");
    let cache = cache(folder.path());
    for n in 0..50 {
        let problem = cache
            .get(&name(&format!("x{n}")), View::Whole, Version::V3_2)
            .await;
        assert_eq!(problem.unwrap_err().status(), 404);
    }
    assert!(cache.slots().is_empty());
    std::fs::remove_dir_all(folder.path().join("machine-pools")).unwrap();
    let problem = cache
        .get(&name("p"), View::Whole, Version::V3_2)
        .await
        .unwrap_err();
    assert_eq!(problem.status(), 503, "{problem:?}");
}

#[tokio::test]
async fn three_zero_is_refused_for_good_where_it_cannot_be_said() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "machine-pools/p.yaml",
        "status: {configuration: {name: r}}",
    );
    let text = "spec: {config: {ignition: {version: 3.2.0, proxy: {httpProxy: 'http://p'}}}}";
    write(folder.path(), "machine-configs/r.yaml", text);
    let cache = cache(folder.path());
    for (version, status) in [(Version::V3_0, 400), (Version::V2_2, 500)] {
        let problem = cache
            .get(&name("p"), View::Whole, version)
            .await
            .unwrap_err();
        assert_eq!(problem.status(), status);
        assert!(problem.detail().contains("proxy"), "{problem:?}");
    }
    assert!(
        cache
            .get(&name("p"), View::Whole, Version::V3_1)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn half_a_file_is_not_served() {
    let folder = tempfile::tempdir().unwrap();
    let pool = "status: {configuration: {name: r}}";
    write(folder.path(), "machine-pools/p.yaml", pool);
    let line = |n: usize| format!("    - {{path: /f{n}, contents: {{source: 'data:,x'}}}}\n");
    let mut text =
        "spec:\n config:\n  ignition: {version: 3.2.0}\n  storage:\n   files:\n".to_owned();
    let cache = cache(folder.path());
    let mut whole = 0;
    for n in 0..4 {
        // What is there is a whole document each time, and more of it comes a moment later.
        text += &line(n);
        write(folder.path(), "machine-configs/r.yaml", &text);
        let more = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            write(
                folder.path(),
                "machine-configs/r.yaml",
                &(text.clone() + &line(99)),
            );
        };
        let pool = name("p");
        let (answer, ()) = tokio::join!(cache.get(&pool, View::Whole, Version::V3_2), more);
        let served = String::from_utf8(answer.unwrap().content.to_vec()).unwrap();
        whole += usize::from(served.contains("/f99"));
    }
    // On a busy machine more of it may come too late now and then.
    assert!(whole > 0, "half of it was served each time");
}
