//! What `copy-manifests` accepts, and how it says what it does not.

use bootlace_model::config::Settings;
use bootlace_model::effect::{Effect, EffectKind};
use bootlace_model::fact::Facts;
use bootlace_model::ids::Digest;
use bootlace_model::probe::{Answer, FileTree};
use serde_json::{Value, json};

use super::{effects, fault, path, settings, step, text_of, told, tree};

const NAME: &str = "copy-manifests";
const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n";

/// Names a folder for each tree, and answers what is asked.
fn world(trees: Vec<FileTree>) -> (Settings, Facts) {
    let mut settings = settings();
    let mut facts = Facts::default();
    for (n, tree) in trees.into_iter().enumerate() {
        settings.cluster.manifests.push(path(&format!("/in/{n}")));
        facts.set(format!("manifests.{n:02}"), Answer::Tree(tree));
    }
    facts.set("manifests.copied", Answer::Content(None));
    (settings, facts)
}

fn refused(trees: Vec<FileTree>) -> String {
    let (settings, facts) = world(trees);
    told(&fault(NAME, &settings, &facts))
}

/// Every way in which a single file can be wrong: its name and its content.
const BAD: &[(&str, &[u8])] = &[
    ("README.md", b"# hello"),
    ("backup.yaml~", b""),
    ("LOUD.YAML", b"kind: A"),
    ("no-ending", b"kind: A"),
    ("binary.yaml", b"kind: A\nname: \xff\xfe\n"),
    ("tabs.yaml", b"metadata:\n\tname: a\n"),
    ("open.yaml", b"kind: [A\nmetadata: b\n"),
    ("helm.yaml", b"kind: {{ .Values.kind }}\n"),
    (
        "twice.yaml",
        b"apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  name: b\n",
    ),
    ("twice.json", b"{\"kind\": \"A\",\n \"kind\": \"B\"}"),
    ("yaml-inside.json", b"kind: A\n"),
    ("cut-off.json", b"{\"kind\": \"A\",\n"),
    (
        "second-document.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n\nkind: B: c\n",
    ),
    ("text.yaml", b"hello\n"),
    ("number.yaml", b"7\n"),
    ("list.yaml", b"- kind: A\n"),
    ("nothing-set.yaml", b"spec: {}\n"),
    ("no-kind.yaml", b"apiVersion: v1\nmetadata: {name: a}\n"),
    ("no-version.yaml", b"kind: A\nmetadata: {name: a}\n"),
    (
        "bad-version.yaml",
        b"apiVersion: a/b/c\nkind: A\nmetadata: {name: a}\n",
    ),
    (
        "no-group.yaml",
        b"apiVersion: /v1\nkind: A\nmetadata: {name: a}\n",
    ),
    (
        "number-kind.yaml",
        b"apiVersion: v1\nkind: 3\nmetadata: {name: a}\n",
    ),
    ("no-metadata.yaml", b"apiVersion: v1\nkind: A\n"),
    (
        "metadata-text.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: a\n",
    ),
    (
        "no-name.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: {labels: {}}\n",
    ),
    (
        "number-name.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: {name: 007}\n",
    ),
    (
        "bool-name.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: {name: true}\n",
    ),
    (
        "empty-name.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: {name: \"\"}\n",
    ),
    (
        "null-name.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: {name: }\n",
    ),
    (
        "url-name.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: {name: a/b}\n",
    ),
    (
        "dots-name.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: {name: ..}\n",
    ),
    (
        "bell-name.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: {name: \"a\\ab\"}\n",
    ),
    (
        "generated.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: {generateName: a-}\n",
    ),
    (
        "namespace.yaml",
        b"apiVersion: v1\nkind: A\nmetadata: {name: a, namespace: [b]}\n",
    ),
    ("empty-list.yaml", b"apiVersion: v1\nkind: List\n"),
    (
        "odd-list.yaml",
        b"apiVersion: v1\nkind: List\nitems: {a: b}\n",
    ),
    ("loose-list.yaml", b"kind: List\nitems: []\n"),
    (
        "nested-list.yaml",
        b"apiVersion: v1\nkind: List\nitems:\n- {kind: List, items: []}\n- 3\n",
    ),
    (
        "bare-items.yaml",
        b"apiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n",
    ),
    (
        "typed-items.yaml",
        b"apiVersion: v1\nkind: PodList\nitems:\n- metadata: {}\n",
    ),
];

#[test]
fn every_problem_of_a_file_is_named_with_its_place() {
    let mut text = String::new();
    for (name, content) in BAD {
        let (settings, facts) = world(vec![tree(&[(name, content)])]);
        let fault = fault(NAME, &settings, &facts);
        assert_eq!(fault.kind.exit_code(), 3, "{name}");
        text += &(fault.details.join("\n") + "\n");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn all_problems_of_all_folders_are_in_one_answer() {
    let mut first = tree(&[
        ("a.yaml", CONFIG),
        (
            "b.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: default}\n",
        ),
        ("c.yaml", "kind: A\n---\nkind: B\n"),
        (
            "d.yaml",
            "apiVersion: a/v1\nkind: ConfigMap\nmetadata: {name: app}\n",
        ),
        ("notes.txt", ""),
    ]);
    first.odd = vec![
        ("link.yaml".into(), "a link".into()),
        ("socket".into(), "a socket".into()),
    ];
    let second = tree(&[
        ("a.yaml", "{}"),
        (
            "c.yaml/x.yaml",
            "apiVersion: v1\nkind: X\nmetadata: {name: x}\n",
        ),
        (
            "e.yaml",
            "# again\n---\napiVersion: a/v2\nkind: ConfigMap\nmetadata: {name: app}\n",
        ),
    ]);
    insta::assert_snapshot!(refused(vec![first, second]));
}

#[test]
fn folders_that_cannot_be_copied_are_refused() {
    let (mut settings, facts) = world(vec![
        FileTree::default(),
        tree::<&str>(&[]),
        FileTree::default(),
    ]);
    let mut text = told(&fault(NAME, &settings, &facts));
    settings.cluster.manifests = ["/in", "/opt/bootlace/manifests/own", "/in", "/opt"]
        .map(path)
        .into();
    text += &told(&fault(NAME, &settings, &facts));
    settings.cluster.manifests = (0..17).map(|n| path(&format!("/in/{n}"))).collect();
    assert_eq!(
        step(NAME).asks(&settings).len(),
        17,
        "sixteen folders and the list"
    );
    text += &told(&fault(NAME, &settings, &facts));
    insta::assert_snapshot!(text);
}

#[test]
fn good_files_are_copied_byte_for_byte_and_listed_last() {
    let many = "# first\n---\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: app}\r\n---\n\
                apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n\
                metadata: {name: 'system:app'}\n...\n";
    let list = "apiVersion: v1\nkind: List\nitems:\n\
                - {apiVersion: v1, kind: Secret, metadata: {name: a, namespace: app}}\n\
                - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: app}}\n";
    let typed = r#"{"apiVersion": "v1", "kind": "ConfigMapList", "items": [
	{"metadata": {"name": "b", "namespace": null}}]}"#;
    let named_list = "apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: mine}\n";
    let anchors =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: &a {x: y}\nmore: *a\n";
    let (settings, facts) = world(vec![
        tree(&[("b.yml", many), ("sub/secret.yaml", list)]),
        tree(&[
            ("a.json", typed),
            ("allow.yaml", named_list),
            ("anchors.yaml", anchors),
            ("comment.yaml", "# nothing here\n"),
            ("empty.yaml", ""),
        ]),
    ]);
    let effects = effects(NAME, &settings, &facts);
    let put = |name: &str| {
        let path = path(&format!("/opt/bootlace/manifests/{name}"));
        effects
            .iter()
            .find(|effect| effect.path() == Some(&path))
            .unwrap()
    };
    assert_eq!(text_of(put("b.yml")), many);
    assert_eq!(text_of(put("a.json")), typed);
    let modes: Vec<(String, u32, String)> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::PutFile(put) => Some((
                put.path.to_string(),
                put.attributes.mode,
                format!("{} {}", put.origin.kind, put.origin.name),
            )),
            _ => None,
        })
        .collect();
    insta::assert_debug_snapshot!("copied-files", modes);
    insta::assert_snapshot!("copied-list", text_of(effects.last().unwrap()));
}

#[test]
fn the_list_is_one_that_can_be_checked() {
    let (settings, facts) = world(vec![tree(&[("a.yaml", CONFIG)])]);
    let planned = effects(NAME, &settings, &facts);
    let list: Value = serde_json::from_str(&text_of(planned.last().unwrap())).unwrap();
    let digest = Digest::of(CONFIG.as_bytes()).to_string();
    assert_eq!(list["files"], json!({"a.yaml": digest}));
}

#[test]
fn without_folders_there_is_an_empty_list_and_an_empty_folder() {
    let (settings, facts) = world(vec![]);
    let effects = effects(NAME, &settings, &facts);
    let kinds: Vec<EffectKind> = effects.iter().map(Effect::kind).collect();
    assert_eq!(kinds, [EffectKind::MakeDirectory, EffectKind::PutFile]);
    let list: Value = serde_json::from_str(&text_of(&effects[1])).unwrap();
    assert_eq!(list, json!({"files": {}, "objects": []}));
}

#[test]
fn what_is_no_longer_wanted_is_dropped_and_nothing_else() {
    let (settings, mut facts) = world(vec![tree(&[("kept.yaml", CONFIG)])]);
    let digest = Digest::of(b"");
    let list = json!({"files": {"kept.yaml": digest, "sub/gone.yaml": digest}, "objects": []});
    facts.set(
        "manifests.copied",
        Answer::Content(Some(list.to_string().into_bytes())),
    );
    let effects = effects(NAME, &settings, &facts);
    let dropped: Vec<String> = effects
        .iter()
        .filter(|effect| effect.kind() == EffectKind::DropPath)
        .map(Effect::target)
        .collect();
    assert_eq!(dropped, ["/opt/bootlace/manifests/sub/gone.yaml"]);
    assert_eq!(
        effects[1].kind(),
        EffectKind::DropPath,
        "before anything is copied"
    );
}

#[test]
fn a_list_that_somebody_changed_is_not_followed() {
    let (settings, mut facts) = world(vec![]);
    let digest = Digest::of(b"");
    let escape = json!({"files": {"../../etc/passwd": digest}, "objects": []}).to_string();
    for (list, code) in [("not json", 9), (escape.as_str(), 3)] {
        facts.set(
            "manifests.copied",
            Answer::Content(Some(list.as_bytes().to_vec())),
        );
        let fault = fault(NAME, &settings, &facts);
        assert_eq!(fault.kind.exit_code(), code, "{}", told(&fault));
    }
}

#[test]
fn large_files_are_read_whole() {
    let document = |n| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}}}\n");
    let text = (0..2000).map(document).collect::<Vec<_>>().join("---\n");
    let (settings, facts) = world(vec![tree(&[("many.yaml", text)])]);
    let effects = effects(NAME, &settings, &facts);
    let list: Value = serde_json::from_str(&text_of(effects.last().unwrap())).unwrap();
    assert_eq!(list["objects"].as_array().unwrap().len(), 2000);
}
