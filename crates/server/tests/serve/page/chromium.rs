//! The page in a real browser: what people do, and what they see.

use serde_json::{Value, json};

use super::{data_url, serving, tokens};
use crate::browser::Browser;
use crate::world::{World, machine_config};

const WORKER: &str = "Authorization: Bearer worker-token";

/// Finds the row of a machine.
const ROW: &str = "document.querySelector('tr[data-node=\"node-1\"]')";

fn config() -> Value {
    let file = |path: &str, mode: u32, text: &str| json!({"path": path, "mode": mode, "contents": {"source": data_url(text)}});
    json!({"metadata": {"name": "rendered-1"}, "spec": {"config": {
        "ignition": {"version": "3.4.0"},
        "storage": {"files": [
            file("/etc/hello", 0o644, "hello from the config\n<b>not markup</b>"),
            file("/etc/private", 0o600, "topsecret"),
        ]},
        "systemd": {"units": [{"name": "hello.service", "enabled": true,
            "contents": "[Service]\nEnvironment=A_TOKEN=topsecret\nExecStart=/usr/bin/true\n"}]},
    }}})
}

fn log_in(browser: &mut Browser, world: &World, token: &str) {
    browser.open(&world.client.url("/"));
    enter(browser, token);
}

/// Types a token into the form, where the cursor is already.
fn enter(browser: &mut Browser, token: &str) {
    browser.until("document.readyState === 'complete' && document.activeElement.name === 'token'");
    browser.types(token);
    browser.until(&format!("document.activeElement.value === '{token}'"));
    browser.presses("Enter", 13);
}

#[test]
#[ignore = "slow: a real browser, and a machine that falls silent"]
fn people_log_in_and_see_pools_and_machines() {
    let world = World::with_tokens(&tokens());
    serving(&world, &config());
    let mut browser = Browser::start(&world.path("tls.crt"));
    log_in(&mut browser, &world, "nobody");
    browser.until("document.querySelector('#said').innerText.includes('not known')");
    // That a token is refused is told in the log as well, and is no fault of the page.
    let refusals: Vec<String> = browser
        .complaints()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        refusals.iter().all(|text| text.contains("status of 401")),
        "{refusals:#?}"
    );
    browser.events.clear();
    enter(&mut browser, "worker-token");
    browser
        .until("document.querySelector('[data-pool=worker] .pill').innerText.includes('served')");
    browser.until("document.querySelector('#stream').innerText === 'live'");
    browser.until("document.querySelector('#ready').innerText.includes('ready')");
    assert_eq!(browser.value("location.pathname"), "/");
    cookies_are_out_of_reach(&mut browser);
    browser.until("document.querySelector('[data-pool=worker] .image').innerText.includes('registry.example/os@sha256')");
    assert_eq!(
        browser.value("document.querySelector('[data-pool=luks]')"),
        Value::Null
    );
    a_pool_is_explained(&mut browser);
    what_changes_is_offered(&mut browser, &world);
    machines_come_and_fall_silent(&mut browser, &world);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let here = world.client.url("/");
    let asked = browser.asked();
    assert!(
        asked
            .iter()
            .all(|url| url.starts_with(&here) || url.starts_with("data:")),
        "{asked:#?}"
    );
    browser.clicks("#leave button");
    browser.until("document.activeElement.name === 'token'");
    let cookies = browser.call("Network.getCookies", &json!({}));
    assert_eq!(cookies["cookies"], json!([]));
}

fn cookies_are_out_of_reach(browser: &mut Browser) {
    let cookies = browser.call("Network.getCookies", &json!({}));
    let cookie = &cookies["cookies"][0];
    assert_eq!(cookie["name"], "__Host-bootlace", "{cookies}");
    for (rule, value) in [
        ("httpOnly", json!(true)),
        ("secure", json!(true)),
        ("session", json!(true)),
        ("sameSite", json!("Strict")),
        ("path", json!("/")),
    ] {
        assert_eq!(cookie[rule], value, "{rule}");
    }
    assert_eq!(browser.value("document.cookie"), "");
}

fn a_pool_is_explained(browser: &mut Browser) {
    browser.clicks("[data-pool=worker] button");
    browser.clicks("details[data-name='/etc/hello'] summary");
    browser.until("document.querySelector(\"details[data-name='/etc/hello'] pre\").innerText.includes('hello from the config')");
    let text = browser
        .value("document.querySelector(\"details[data-name='/etc/hello'] pre\").textContent");
    assert_eq!(text, "hello from the config\n<b>not markup</b>");
    browser.clicks("details[data-name='/etc/private'] summary");
    browser.until("document.querySelector(\"details[data-name='/etc/private'] .withheld\").innerText.includes('not everybody on the machine may read it')");
    // Keys do what clicks do.
    browser.value("document.querySelector(\"details[data-name='hello.service'] summary\").focus()");
    browser.presses("Enter", 13);
    browser.until("document.querySelector(\"details[data-name='hello.service'] pre\").innerText.includes('A_TOKEN=(hidden)')");
    browser.clicks("[data-pool=worker] fieldset label:nth-of-type(2)");
    browser.until("document.querySelector(\"details[data-name='bootlace-pull.service']\")");
    browser.until("document.querySelector('[data-pool=worker] .parts').innerText.includes('Left to the image')");
    let text = browser.value("document.documentElement.outerHTML");
    assert!(!text.as_str().unwrap().contains("topsecret"));
}

/// What somebody reads stays until they ask for what is served now.
fn what_changes_is_offered(browser: &mut Browser, world: &World) {
    let changed = config()
        .to_string()
        .replace("hello.service", "changed.service");
    world.replace("pools/machine-configs/rendered-1.yaml", &changed);
    browser
        .until("document.querySelector('.parts').innerText.includes('The pool has changed since')");
    let text = browser.value("document.querySelector('.parts').innerText");
    assert!(text.as_str().unwrap().contains("hello.service"), "{text}");
    browser.clicks(".parts [role=status] button");
    browser.until("document.querySelector('.parts').innerText.includes('changed.service')");
}

fn machines_come_and_fall_silent(browser: &mut Browser, world: &World) {
    browser.value("window.stays = true");
    let report = r#"{"node": "node-1", "phase": "pivot", "step": "pull-image", "attempt": 2, "cause": "no <i>route</i>"}"#;
    assert_eq!(
        world.client.post("/progress", &[WORKER], report).status,
        204
    );
    browser.until(ROW);
    let row = browser.value(&format!("{ROW}.innerText"));
    let row = row.as_str().unwrap();
    for part in [
        "node-1",
        "worker",
        "pivot › pull-image",
        "2",
        "no <i>route</i>",
    ] {
        assert!(row.contains(part), "{part} is not in {row}");
    }
    browser.until(&format!("{ROW}.innerText.includes('stalled')"));
    browser.until("document.querySelector('#counts').innerText.includes('1 stalled')");
    let report = r#"{"node": "node-1", "phase": "done"}"#;
    assert_eq!(
        world.client.post("/progress", &[WORKER], report).status,
        204
    );
    browser.until(&format!(
        "{ROW}.innerText.includes('done ✓') || {ROW}.innerText.includes('done✓')"
    ));
    let row = browser.value(&format!("{ROW}.innerText"));
    assert!(!row.as_str().unwrap().contains("stalled"), "{row}");
    assert_eq!(
        browser.value("window.stays"),
        true,
        "the page was not loaded again"
    );
}

/// Looks at the page in narrow and wide windows, in light and dark; nothing may stick out.
fn assert_fits(browser: &mut Browser, name: &str) {
    for (width, height) in [(360, 740), (1400, 1000)] {
        for scheme in ["light", "dark"] {
            browser.looks(width, height, scheme);
            let wide = browser.value("document.documentElement.scrollWidth");
            let wide = wide.as_u64().unwrap();
            assert!(
                wide <= u64::from(width),
                "{name}, {width}, {scheme}: {wide}"
            );
            let name = format!("{name}-{width}-{scheme}.png");
            super::keep_picture(&name, &browser.picture());
        }
    }
}

/// Changes the world to one as there are many: two pools, one of them layered.
fn furnish(world: &World) {
    let text = |text: &str| json!({"source": data_url(text)});
    let config = json!({"metadata": {"name": "rendered-worker-7d1e"}, "spec": {
    "osImageURL": "", "kernelArguments": ["systemd.unified_cgroup_hierarchy=1"],
    "extensions": ["usbguard"],
    "config": {
        "ignition": {"version": "3.4.0"},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 A", "ssh-ed25519 B"]}]},
        "storage": {"files": [
            {"path": "/etc/chrony.conf", "mode": 420, "contents": text("server ntp.example iburst\ndriftfile /var/lib/chrony/drift\nmakestep 1.0 3\nrtcsync\n")},
            {"path": "/etc/containers/registries.conf", "mode": 420, "contents": text("unqualified-search-registries = []\n")},
            {"path": "/etc/kubernetes/kubelet.conf", "mode": 420, "contents": text("kind: KubeletConfiguration\n")},
            {"path": "/var/lib/kubelet/config.json", "mode": 384, "contents": text("{\"auths\": {}}")},
            {"path": format!("/etc/a-very-long-path/{}", "without-end/".repeat(12) + "file"), "contents": text("x".repeat(300).as_str())},
        ]},
        "systemd": {"units": [{"name": "kubelet.service", "enabled": true, "contents": "[Service]\nExecStart=/usr/bin/kubelet\n"}]},
    }}});
    let digest = "9c2f".repeat(16);
    let pool = format!(
        "spec: {{desiredImage: 'registry.example/os/worker@sha256:{digest}'}}\n\
         status: {{configuration: {{name: rendered-worker-7d1e}}}}\n"
    );
    world.replace(
        "pools/machine-configs/rendered-worker-7d1e.yaml",
        &config.to_string(),
    );
    world.replace("pools/machine-pools/worker.yaml", &pool);
    let master = machine_config("rendered-master-52a0", "one");
    world.replace("pools/machine-configs/rendered-master-52a0.yaml", &master);
    world.replace(
        "pools/machine-pools/master.yaml",
        &crate::world::pool("rendered-master-52a0"),
    );
    world.remove_file("pools/machine-pools/broken.yaml");
    world.remove_file("pools/machine-pools/luks.yaml");
}

#[test]
#[ignore = "slow: a real browser, and a machine that falls silent"]
fn the_page_fits_into_narrow_and_wide_windows_in_light_and_dark() {
    let world = World::with_tokens(&tokens());
    furnish(&world);
    let mut browser = Browser::start(&world.path("tls.crt"));
    browser.open(&world.client.url("/"));
    assert_fits(&mut browser, "login");
    log_in(&mut browser, &world, "all-token");
    browser.until("document.querySelector('#stream').innerText === 'live'");
    let tell = |report: Value| {
        let answer = world
            .client
            .post("/progress", &[WORKER], &report.to_string());
        assert_eq!(answer.status, 204);
    };
    tell(
        json!({"node": "worker-3", "phase": "pivot", "step": "pull-image", "attempt": 4,
        "cause": "GET https://registry.example/v2/: no route to host; the next attempt follows in 20 s"}),
    );
    browser.until("document.querySelector('tr.stalled')");
    browser.clicks("[data-pool=worker] button");
    browser.clicks("details[data-name='/etc/chrony.conf'] summary");
    browser.until("document.querySelector('pre')");
    tell(json!({"node": "worker-1", "phase": "done"}));
    tell(json!({"node": "worker-2", "phase": "pivot", "step": "stage-image"}));
    tell(
        json!({"node": "worker-4", "phase": "first-boot", "step": "remove-written", "attempt": 1}),
    );
    browser.until("document.querySelectorAll('#nodes tbody tr').length === 4");
    browser.value("scrollTo(0, 0)");
    assert_fits(&mut browser, "page");
    browser.value("scrollTo(0, 1000)");
    assert_fits(&mut browser, "explained");
    let complaints = browser.complaints();
    let refused = |text: String| text.contains("status of 401");
    assert!(
        complaints.iter().all(|event| refused(event.to_string())),
        "{complaints:#?}"
    );
}

#[test]
#[ignore = "slow: a real browser"]
fn a_server_that_goes_away_is_noticed() {
    let mut world = World::open();
    let mut browser = Browser::start(&world.path("tls.crt"));
    browser.open(&world.client.url("/"));
    browser.until("document.querySelector('#stream').innerText === 'live'");
    browser.until("document.querySelector('#insecure').innerText.includes('INSECURE')");
    let hidden = browser.value("document.querySelector('#leave').hidden");
    assert_eq!(hidden, true, "there is nothing to log out of");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    world.end();
    browser.until("document.querySelector('#stream').innerText.includes('connection lost')");
    browser.until("document.querySelector('#ready').innerText.includes('cannot be reached')");
    browser.looks(1400, 1000, "light");
    super::keep_picture("lost.png", &browser.picture());
}
