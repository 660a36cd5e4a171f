use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bootlace_model::supervised::STATE;

use super::*;

/// Runs a supervisor on a thread while something is done.
fn while_serving(place: &Place, act: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| serve(place, &|| stop.load(Ordering::Relaxed)));
        // What fails here must not keep the other thread running for ever.
        let acted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act));
        stop.store(true, Ordering::Relaxed);
        let served = serving.join().unwrap();
        if let Err(panic) = acted {
            std::panic::resume_unwind(panic);
        }
        served.unwrap();
    });
}

fn place() -> (tempfile::TempDir, Place) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(MANIFESTS)).unwrap();
    let programs = vec![];
    (folder, Place { root, programs })
}

/// Writes a manifest as the engine does: under another name, then renamed.
fn put(place: &Place, name: &str, script: &str) {
    let pod = serde_json::json!({
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "command": ["sh", "-c", script]}]},
    });
    let folder = place.below(MANIFESTS);
    let staged = folder.join(format!(".{name}"));
    fs::write(&staged, pod.to_string()).unwrap();
    fs::rename(&staged, folder.join(format!("{name}-pod.yaml"))).unwrap();
}

fn notes(root: &Path) -> Supervised {
    match fs::read(root.join(STATE)) {
        Ok(text) => serde_json::from_slice(&text).unwrap(),
        Err(_) => Supervised::default(),
    }
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn pid_of(place: &Place, name: &str) -> Option<u32> {
    let notes = notes(&place.root);
    let process = notes.processes.iter().find(|it| it.name == name);
    process.and_then(|process| process.pid)
}

fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn manifests_become_processes_that_come_and_go_with_them() {
    let (_folder, place) = place();
    put(&place, "first", "exec sleep 600");
    let mut last = 0;
    while_serving(&place, || {
        let first = until("the first runs", || pid_of(&place, "first"));
        put(&place, "second", "exec sleep 600");
        let second = until("the second runs", || pid_of(&place, "second"));
        assert!(runs(first) && runs(second));
        // A changed manifest is another process, a manifest that is gone none.
        put(&place, "first", "exec sleep 601");
        last = until("the first runs anew", || {
            pid_of(&place, "first").filter(|pid| *pid != first && runs(*pid))
        });
        fs::remove_file(place.below(MANIFESTS).join("second-pod.yaml")).unwrap();
        until("the second is gone", || (!runs(second)).then_some(()));
        until("nobody speaks of it", || {
            (notes(&place.root).processes.len() == 1).then_some(())
        });
    });
    assert!(!runs(last));
    assert_eq!(notes(&place.root).processes, []);
}

#[test]
fn processes_end_in_the_reverse_order_of_their_coming() {
    let (_folder, place) = place();
    let script = |name: &str| {
        format!("trap 'echo {name} >> ends; exit' TERM; touch {name}; while :; do sleep 0.02; done")
    };
    while_serving(&place, || {
        for name in ["etcd", "api"] {
            put(&place, name, &script(name));
            let sign = place.root.join(name);
            until("it is ready", || sign.exists().then_some(()));
        }
    });
    let ends = fs::read_to_string(place.root.join("ends")).unwrap();
    assert_eq!(ends, "api\netcd\n");
}

#[test]
fn what_ends_and_what_cannot_begin_is_written_down() {
    let (_folder, place) = place();
    put(&place, "ends", "echo why >&2; exit 7");
    fs::write(place.below(MANIFESTS).join("odd.yaml"), "kind: [").unwrap();
    while_serving(&place, || {
        let ended = |name: &str| {
            let notes = notes(&place.root);
            let process = notes.processes.into_iter().find(|it| it.name == name)?;
            process.ended
        };
        let end = until("it ended", || ended("ends"));
        assert_eq!(end.code, Some(7));
        assert_eq!(end.last_words, ["why"]);
        let odd = until("the odd one is refused", || ended("odd.yaml"));
        assert!(odd.last_words[0].contains("it is no pod"), "{odd:?}");
    });
}

#[test]
fn what_a_killed_supervisor_left_behind_is_ended_before_anything_starts() {
    let (_folder, place) = place();
    let mut left = std::process::Command::new("sleep")
        .arg("600")
        .env(leftovers::MARK, &place.root)
        .spawn()
        .unwrap();
    // It carries the mark only once it has become its program.
    let name = format!("/proc/{}/comm", left.id());
    until("it sleeps", || {
        fs::read_to_string(&name)
            .ok()
            .filter(|name| name == "sleep\n")
    });
    put(&place, "fresh", "exec sleep 600");
    while_serving(&place, || {
        until("the fresh one runs", || pid_of(&place, "fresh"));
        assert!(!left.wait().unwrap().success());
    });
}
