//! Files that change while machines are served.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::client::ask;
use crate::world::{World, machine_config, pool};

/// Returns the mark that a config was written with.
fn mark(body: &serde_json::Value) -> String {
    let files = body["storage"]["files"].as_array().unwrap();
    let file = files.iter().find(|file| file["path"] == "/etc/mark");
    file.unwrap()["contents"]["source"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_change_is_served_at_once() {
    let world = World::open();
    let got = || mark(&world.client.get("/config/worker", &[]).json());
    assert_eq!(got(), "data:,one");
    for text in ["two", "six", "ten"] {
        world.write(
            "pools/machine-configs/rendered-1.yaml",
            &machine_config("rendered-1", text),
        );
        assert_eq!(got(), format!("data:,{text}"));
    }
    world.write(
        "pools/machine-configs/rendered-2.yaml",
        &machine_config("rendered-2", "new"),
    );
    world.replace("pools/machine-pools/worker.yaml", &pool("rendered-2"));
    assert_eq!(got(), "data:,new");
    world.remove("pools/machine-pools");
    assert_eq!(world.client.get("/config/worker", &[]).status, 503);
    assert_eq!(world.client.get("/readyz", &[]).status, 503);
    assert_eq!(world.client.get("/healthz", &[]).status, 200);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "writers that pause now and then")]
fn nobody_ever_sees_a_mix() {
    let world = World::open();
    let state = |n: usize| {
        // Its name and its content belong together, and its length tells states apart.
        let name = format!("state-{n}");
        (
            name.clone(),
            machine_config(&name, &format!("{name}-{}", "x".repeat(n * 999))),
        )
    };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut answers = 0;
                    let mut stream = world.client.connect().unwrap();
                    while !over.load(Ordering::Relaxed) {
                        let answer = ask(&mut stream, "GET", "/config/worker", &[]).unwrap();
                        assert_eq!(answer.status, 200, "{answer:?}");
                        let body = answer.json();
                        let mark = mark(&body);
                        let files = body["storage"]["files"].as_array().unwrap();
                        let annotations = files[1]["contents"]["source"].as_str().unwrap();
                        let (name, rest) = mark["data:,".len()..].rsplit_once('-').unwrap();
                        if name != "one" && name.starts_with("state") {
                            assert!(
                                annotations.contains(&format!("Config%22%3A%22{name}%22")),
                                "{annotations}"
                            );
                            let n: usize = name["state-".len()..].parse().unwrap();
                            assert_eq!(rest.len(), n * 999);
                        }
                        answers += 1;
                    }
                    answers
                })
            })
            .collect();
        world.replace("pools/machine-configs/state-0.yaml", &state(0).1);
        world.replace("pools/machine-pools/worker.yaml", &pool("state-0"));
        for round in 0..60 {
            let (name, text) = state(round % 7);
            let file = format!("pools/machine-configs/{name}.yaml");
            if round % 2 == 0 {
                world.replace(&file, &text);
                world.replace("pools/machine-pools/worker.yaml", &pool(&name));
            } else {
                world.write(&file, &text);
                world.write("pools/machine-pools/worker.yaml", &pool(&name));
            }
            std::thread::sleep(Duration::from_millis(
                u64::try_from(round * 37 % 90).unwrap(),
            ));
        }
        over.store(true, Ordering::Relaxed);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });
}
