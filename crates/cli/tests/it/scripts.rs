//! The scripts that walk stage by stage, run by hand on an empty root.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{Place, code};

/// Calls a script of the repository with the place as root; returns its code, stdout and stderr.
#[expect(clippy::disallowed_methods, reason = "the scripts under test")]
fn script(place: &Place, name: &str, flags: &[&str]) -> (i32, String, String) {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
    let mut command = Command::new(scripts.join(name));
    command
        .args(["--root", "."])
        .args(flags)
        .current_dir(place.path(""))
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .env("COLUMNS", "80")
        .env("BOOTLACE", env!("CARGO_BIN_EXE_bootlace"))
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

/// Returns the state of every step, as `status` has it.
fn states(place: &Place) -> Vec<(String, String)> {
    let output = place.command("status cluster -o json").output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let steps = status["steps"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    steps
        .map(|step| (text(&step["id"]), text(&step["state"])))
        .collect()
}

fn done(place: &Place) -> Vec<String> {
    let done = states(place)
        .into_iter()
        .filter(|(_, state)| state == "done");
    done.map(|(id, _)| id).collect()
}

/// The scripts of single stages, in the order of the stages, each with its step.
const STAGES: [(&str, &str); 6] = [
    ("render-cvo.sh", "render-version-operator"),
    ("render-etcd.sh", "render-etcd"),
    ("render-kube-apiserver.sh", "render-kube-apiserver"),
    ("render-kcm.sh", "render-kube-controller-manager"),
    ("render-scheduler.sh", "render-kube-scheduler"),
    ("render-mco.sh", "render-machine-config"),
];

#[test]
fn by_hand_and_in_order_each_script_does_its_own_stage() {
    let place = Place::with_config();
    // What the installer and the first stages make; none of the eight scripts stands for these.
    let first = place.command("run cluster --to render-config").output();
    assert!(first.unwrap().status.success());
    for (name, step) in STAGES {
        let before = done(&place);
        assert!(!before.contains(&step.to_owned()), "{step}");
        let (code, stdout, stderr) = script(&place, name, &[]);
        assert_eq!(code, 0, "{name}: {stdout}{stderr}");
        let after = done(&place);
        let new: Vec<&String> = after.iter().filter(|id| !before.contains(id)).collect();
        assert_eq!(new, [step], "{name} runs its stage alone");
        for part in [
            format!("/23 {step} ─"),
            "  By hand".to_owned(),
            "  Checked by".to_owned(),
            "      install -D -m ".to_owned(),
            format!("✓ {step}  "),
            format!("✓ {step}: verified by "),
        ] {
            assert!(
                stdout.contains(&part),
                "{name}: {part:?} is not in:\n{stdout}"
            );
        }
        for part in ["why it exists", "line by line", "validate", "journal"] {
            let line = format!("==> {step}: ");
            let told = stderr
                .lines()
                .any(|l| l.starts_with(&line) && l.contains(part));
            assert!(told, "{name}: {part:?} is not in:\n{stderr}");
        }
    }
    let (code, _, stderr) = script(&place, "render-all.sh", &["-q"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(done(&place).len(), 13);
}

#[test]
fn render_all_needs_nothing_before_it() {
    let place = Place::with_config();
    let (code, stdout, stderr) = script(&place, "render-all.sh", &[]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(done(&place).len(), 13);
    assert!(stdout.contains("13/23 render-machine-config ─"), "{stdout}");
    // A script whose stage is done says so, validates it and ends well.
    let (code, stdout, stderr) = script(&place, "render-etcd.sh", &["-v"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("✓ render-etcd  done"), "{stdout}");
    assert!(stderr.contains("Nothing to do: run "), "{stderr}");
}

#[test]
fn a_stage_whose_inputs_are_missing_says_what_to_type() {
    let place = Place::with_config();
    let (code, stdout, stderr) = script(&place, "render-kube-apiserver.sh", &[]);
    assert_eq!(code, 4, "{stderr}");
    assert!(
        stdout.contains("render-kube-apiserver  "),
        "it still explains"
    );
    let next = "bootlace run cluster --to render-etcd --root .\n";
    assert!(stderr.contains("needs prepare-assets"), "{stderr}");
    assert!(stderr.contains(next), "{stderr}");
    assert!(stderr.contains("/render-all.sh --root .\n"), "{stderr}");
    assert_eq!(place.tree("opt"), [""; 0]);
}

#[test]
fn a_folder_is_no_machine_to_start_a_control_plane_on() {
    let place = Place::with_config();
    let rendered = "run cluster --to render-machine-config";
    assert_eq!(code(&mut place.command(rendered)), Some(0));
    let before = place.tree("etc");
    let (code, stdout, stderr) = script(&place, "start-bootstrap.sh", &[]);
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("[Live-Root] "), "{stderr}");
    assert!(
        stdout.contains("systemctl start kubelet.service"),
        "{stdout}"
    );
    assert!(
        stdout.contains("it would be refused: [Live-Root]"),
        "{stdout}"
    );
    assert_eq!(place.tree("etc"), before);
}

#[test]
fn what_drifted_since_keeps_its_code() {
    let place = Place::with_config();
    assert_eq!(
        code(&mut place.command("run cluster --to render-etcd")),
        Some(0)
    );
    place.write("opt/bootlace/bootstrap-manifests/etcd-pod.yaml", "edited");
    let (code, stdout, stderr) = script(&place, "render-etcd.sh", &[]);
    assert_eq!(code, 6, "{stderr}");
    assert!(stdout.contains("its content was changed"), "{stdout}");
    assert!(!stdout.contains("verified by"), "the log comes after it");
}

#[test]
fn flags_behind_two_hyphens_are_those_of_run() {
    let place = Place::with_config();
    assert_eq!(
        code(&mut place.command("run cluster --to render-etcd")),
        Some(0)
    );
    let (code, _, stderr) = script(&place, "render-etcd.sh", &["--", "--replan", "--jobs", "1"]);
    assert_eq!(code, 0, "{stderr}");
    let (code, _, stderr) = script(&place, "render-etcd.sh", &["--", "--no-such-flag"]);
    assert_eq!(code, 2, "{stderr}");
}
