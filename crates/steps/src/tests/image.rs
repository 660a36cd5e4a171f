//! A stage that an image renders: how the image is called, and what becomes of what it wrote.

use bootlace_model::check::Test;
use bootlace_model::config::{FragmentText, RendererImage, Settings, load};
use bootlace_model::effect::{Effect, RunCommand};
use bootlace_model::fact::Facts;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::Digest;
use bootlace_model::probe::{Answer, FileTree, TreeFile};
use bootlace_model::step::{Decision, PlanError};

use super::{settings, step, text_of, told, tree};
use crate::render::Component;

const CLASS: &str =
    "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: bootlace}}\n";

/// Settings by which an image renders a component.
fn with_image(component: &str, arguments: &[&str]) -> Settings {
    let mut settings = settings();
    let digest = Digest::of(b"image");
    let renderer = RendererImage {
        image: format!("registry.example/renderer@{digest}"),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
    };
    let rendering = &mut settings.cluster.rendering;
    rendering.images.insert(component.into(), renderer);
    rendering.podman_flags = vec!["--storage-driver=vfs".into()];
    rendering.run_flags = vec!["--memory=1g".into()];
    settings
}

/// Facts with which a stage plans that an image renders.
fn facts(step: &str, copied: Option<&str>, written: FileTree) -> Facts {
    let mut facts = Facts::default();
    let content = |text: &str| text.as_bytes().to_vec();
    facts.set("manifests.copied", Answer::Content(copied.map(content)));
    facts.set("auth.bootstrap-token", Answer::Content(None));
    facts.set(format!("{step}.listed"), Answer::Content(None));
    facts.set(format!("{step}.image"), Answer::Tree(written));
    facts.set("node.name", Answer::Json("node-1".into()));
    let release = crate::release::built_in("v1.36.3");
    facts.set("release.version", Answer::Json(release.version.into()));
    facts.set("release.digest", Answer::Json(serde_json::Value::Null));
    let images = serde_json::json!(release.images);
    facts.set("release.images", Answer::Json(images));
    facts
}

fn first(name: &str, settings: &Settings, facts: &Facts) -> Vec<Effect> {
    match step(name).plan(settings, facts) {
        Ok(Decision::DoFirst { effects, opens, .. }) => {
            assert_eq!(opens.len(), 3);
            effects
        }
        other => panic!("{name} does not ask an image: {other:?}"),
    }
}

fn command(effects: &[Effect]) -> &RunCommand {
    match effects.last() {
        Some(Effect::RunCommand(run)) => run,
        other => panic!("no command: {other:?}"),
    }
}

/// Plans the rest of `render-ingress` after an image wrote these files.
fn rest(copied: Option<&str>, written: FileTree) -> Result<Vec<Effect>, Fault> {
    let facts = facts("render-ingress", copied, written);
    match step("render-ingress").plan_rest(&with_image("ingress", &[]), &facts) {
        Ok(Decision::Do(effects)) => Ok(effects),
        Err(PlanError::Fault(fault)) => Err(*fault),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_whole_command_is_known_before_it_is_run() {
    let settings = with_image("etcd", &[]);
    let written = FileTree::default();
    let effects = first(
        "render-etcd",
        &settings,
        &facts("render-etcd", None, written),
    );
    let lines: Vec<String> = effects.iter().map(Effect::shell).collect();
    insta::assert_snapshot!(lines.join("\n").replace(" --", "\n  --"));
    let run = command(&effects);
    assert_eq!(run.within, settings.cluster.rendering.within);
}

#[test]
fn arguments_of_its_own_are_filled_in() {
    let words = [
        "/usr/bin/operator",
        "--in=$(input)",
        "--out=$(output)/$(version)",
        "--config=$(config)",
        "$(image)",
    ];
    let settings = with_image("kube-scheduler", &words);
    let facts = facts("render-kube-scheduler", None, FileTree::default());
    let effects = first("render-kube-scheduler", &settings, &facts);
    let called = &command(&effects).argv;
    assert_eq!(
        called[called.len() - 5..],
        [
            "/usr/bin/operator",
            "--in=/assets/tls",
            "--out=/assets/kube-scheduler/v1.36.3",
            "--config=/assets/cluster-config.yaml",
            "registry.k8s.io/kube-scheduler:v1.36.3",
        ]
    );
}

#[test]
fn keys_are_shown_only_to_those_that_need_them() {
    for component in Component::ALL {
        let name = format!("render-{}", component.name);
        let facts = facts(
            &name,
            Some(r#"{"files": {}, "objects": []}"#),
            FileTree::default(),
        );
        let effects = first(&name, &with_image(component.name, &[]), &facts);
        let words = command(&effects).argv.join(" ");
        for key in [
            "ca.key",
            "sa.key",
            "apiserver.key",
            "etcd/peer.key",
            "admin.key",
        ] {
            let mounted = words.contains(&format!("=./tls/{key}:/assets/tls/{key}:ro,z"));
            assert_eq!(mounted, component.tls.contains(&key), "{name}: {key}");
        }
        for word in words
            .split(' ')
            .filter(|word| word.starts_with("--volume="))
        {
            let written = word.ends_with(&format!(":/assets/{}:z", component.output));
            assert!(written || word.ends_with(":ro,z"), "{word}");
            assert!(!word.contains("=.:") && !word.contains("./tls:"), "{word}");
        }
    }
}

#[test]
fn the_config_that_an_image_reads_leads_to_the_same_settings() {
    let mut wanted = settings();
    wanted.cluster.name = "demo".into();
    wanted.cluster.control_plane.node_name = Some("node-7".into());
    wanted.cluster.pki.extra_names = vec!["api.example".into()];
    let text = crate::yaml::document(&crate::stage::image_config(&wanted).unwrap());
    let fragment = FragmentText {
        name: "cluster-config.yaml",
        base: "/assets",
        text: &text,
    };
    assert_eq!(load(&[fragment], wanted.paths.clone()).unwrap(), wanted);
}

#[test]
fn what_it_wrote_goes_where_ours_would_go() {
    let mut written = tree(&[
        ("output/manifests/ingress-class.yaml", CLASS),
        ("output/notes/x.txt", ""),
        ("output/secret.bin", "x"),
        ("cluster-config.yaml", "not its work"),
    ]);
    written.files[2].is_private = true;
    let effects = rest(None, written.clone()).unwrap();
    let line = |effect: &Effect| format!("{} {}", effect.target(), effect.detail());
    let lines: Vec<String> = effects.iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    /opt/bootlace/.rendering-ingress/rendered.json 318 bytes, mode 0600
    /opt/bootlace/ingress/manifests/ingress-class.yaml 83 bytes, mode 0644
    /opt/bootlace/ingress/notes/x.txt 0 bytes, mode 0644
    /opt/bootlace/ingress/secret.bin 1 bytes, mode 0600
    /opt/bootlace/manifests/ingress-class.yaml 83 bytes, mode 0644
    /opt/bootlace/records/render-ingress.json 471 bytes, mode 0644
    /opt/bootlace/.rendering-ingress not kept: all of it is where it is needed by now
    ");
    assert_eq!(text_of(&effects[1]), CLASS);
    // Once that is listed, the image is not asked again, unless something was changed since.
    let listed = TreeFile {
        relative: "rendered.json".into(),
        content: text_of(&effects[0]).into_bytes(),
        is_private: true,
    };
    written.files.push(listed);
    let settings = with_image("ingress", &[]);
    let plan = |written: &FileTree| {
        let facts = facts("render-ingress", None, written.clone());
        step("render-ingress").plan(&settings, &facts).unwrap()
    };
    assert_eq!(plan(&written), Decision::Do(effects));
    written.files[1].content = b"changed".to_vec();
    assert!(matches!(plan(&written), Decision::DoFirst { .. }));
}

#[test]
fn what_the_user_defines_counts_also_beside_an_image() {
    let copied = r#"{"files": {}, "objects": [{"file": "a.yaml",
        "group": "networking.k8s.io", "kind": "IngressClass", "name": "bootlace"}]}"#;
    let both = format!("{CLASS}---\n{}", CLASS.replace("bootlace", "other"));
    let written = tree(&[("output/manifests/ingress-class.yaml", both)]);
    let effects = rest(Some(copied), written).unwrap();
    let published = "/opt/bootlace/manifests/ingress-class.yaml";
    let published = effects.iter().find(|effect| effect.target() == published);
    let published = text_of(published.unwrap());
    assert!(published.contains("other") && !published.contains("name: bootlace"));
}

#[test]
fn an_output_that_is_not_whole_or_makes_no_sense_is_refused() {
    let nothing = rest(None, FileTree::default()).unwrap_err();
    let partly = rest(None, tree(&[("output/x", "")])).unwrap_err();
    let mut odd = tree(&[
        ("output/manifests/ingress-class.yaml", CLASS),
        ("output/manifests/b.yaml", "kind: ["),
        ("output/manifests/c.yaml", "\n"),
        ("output/d.json", "{"),
        ("output/manifests/e.yaml", "{kind: X}"),
    ]);
    odd.odd = vec![("output/link".into(), "a link to /etc/shadow".into())];
    let odd = rest(None, odd).unwrap_err();
    for fault in [&nothing, &partly, &odd] {
        assert_eq!(fault.kind, FaultKind::StepFailed);
    }
    insta::assert_snapshot!([&nothing, &partly, &odd].map(told).join("\n"));
}

#[test]
fn an_image_has_a_digest_and_podman_is_there() {
    let stage = step("render-etcd");
    assert_eq!(stage.checks(&settings()), []);
    let checks = stage.checks(&with_image("etcd", &[]));
    let image = &with_image("etcd", &[]).cluster.rendering.images["etcd"];
    assert!(image.is_pinned());
    assert_eq!(checks[0].test, Test::PinnedImage(image.image.clone()));
    assert_eq!(checks.len(), 2);
}
