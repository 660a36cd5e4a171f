//! Which releases `release-info` trusts, and what it writes down.

use std::collections::BTreeMap;

use bootlace_model::config::{Profile, ReleaseSource, Settings};
use bootlace_model::expect::Claim;
use bootlace_model::fact::Facts;
use bootlace_model::ids::Digest;
use bootlace_model::probe::{Answer, FileTree, Probe};
use serde_json::{Value, json};

use super::{effects, fault, path, settings, step, text_of, told, tree};
use crate::facts::{RELEASE_DIGEST, RELEASE_IMAGES, RELEASE_PINNED};

const NAME: &str = "release-info";

fn pinned(name: &str) -> String {
    format!("quay.io/demo/{name}@{}", Digest::of(name.as_bytes()))
}

fn references(tags: &[(&str, &str)]) -> String {
    let tags = tags.iter();
    let tags = tags.map(|(name, from)| json!({"name": name, "from": {"name": from}}));
    json!({"kind": "ImageStream", "spec": {"tags": tags.collect::<Vec<_>>()}}).to_string()
}

fn payload(references: &str, metadata: &str) -> FileTree {
    tree(&[
        ("release-manifests/0000_10_crd.yaml", "kind: A\n"),
        ("release-manifests/image-references", references),
        ("release-manifests/release-metadata", metadata),
    ])
}

fn good() -> FileTree {
    let (etcd, apiserver) = (pinned("etcd"), pinned("kube-apiserver"));
    let tags = [
        ("kube-apiserver", apiserver.as_str()),
        ("etcd", etcd.as_str()),
    ];
    payload(
        &references(&tags),
        r#"{"version": "4.99.0", "previous": []}"#,
    )
}

fn world(tree: FileTree, digest: Option<Digest>) -> (Settings, Facts) {
    let mut settings = settings();
    let path = path("/in/release");
    settings.cluster.release = ReleaseSource::Dir { path, digest };
    let mut facts = Facts::default();
    facts.set("release.tree", Answer::Tree(tree));
    (settings, facts)
}

fn record(settings: &Settings, facts: &Facts) -> Value {
    serde_json::from_str(&text_of(&effects(NAME, settings, facts)[0])).unwrap()
}

fn refusal(tree: FileTree) -> String {
    let (settings, facts) = world(tree, None);
    told(&fault(NAME, &settings, &facts))
}

#[test]
fn built_in_names_are_not_pinned() {
    let record = record(&settings(), &Facts::default());
    insta::assert_snapshot!(serde_json::to_string_pretty(&record).unwrap());
}

#[test]
fn a_good_release_is_written_down() {
    let (settings, facts) = world(good(), None);
    let record = record(&settings, &facts);
    insta::assert_snapshot!(serde_json::to_string_pretty(&record).unwrap());
}

#[test]
fn later_steps_read_the_record_as_typed_facts() {
    let (settings, facts) = world(good(), None);
    let record = record(&settings, &facts);
    let mut learned = Facts::default();
    for ask in step(NAME).yields(&settings) {
        let Probe::ReadJson { path, pointer } = &ask.probe else {
            panic!("{:?} reads no record", ask.probe)
        };
        assert_eq!(path.as_str(), "/opt/bootlace/records/release.json");
        learned.set(
            ask.fact,
            Answer::Json(record.pointer(pointer).unwrap().clone()),
        );
    }
    let images = BTreeMap::from(["etcd", "kube-apiserver"].map(|name| (name.into(), pinned(name))));
    assert_eq!(learned.get(&RELEASE_IMAGES), Ok(images));
    assert_eq!(learned.get(&RELEASE_PINNED), Ok(true));
    let digest = record["digest"].as_str().unwrap().parse().unwrap();
    assert_eq!(learned.get(&RELEASE_DIGEST), Ok(Some(digest)));
}

#[test]
fn the_digest_is_that_of_sha256sum_s_listing() {
    let files = tree(&[
        ("image-references", references(&[("etcd", &pinned("etcd"))])),
        ("release-metadata", r#"{"version": "1"}"#.to_owned()),
        ("a/b", String::new()),
    ]);
    let line = |n: usize| {
        let file = &files.files[n];
        format!("{}  {}\n", Digest::of(&file.content).hex(), file.relative)
    };
    let listing = [line(2), line(0), line(1)].concat();
    let (settings, facts) = world(files.clone(), None);
    let digest = Digest::of(listing.as_bytes());
    assert_eq!(record(&settings, &facts)["digest"], json!(digest));
    let (settings, facts) = world(files, Some(digest));
    assert_eq!(record(&settings, &facts)["pinned"], json!(true));
}

#[test]
fn another_release_than_the_trusted_one_is_refused_for_safety() {
    let (settings, facts) = world(good(), Some(Digest::of(b"another")));
    let fault = fault(NAME, &settings, &facts);
    assert_eq!(fault.kind.exit_code(), 9);
    insta::assert_snapshot!(told(&fault));
}

#[test]
fn releases_that_cannot_be_trusted_are_refused_by_name() {
    let etcd = pinned("etcd");
    let metadata = r#"{"version": "1"}"#;
    let with = |tags: &[(&str, &str)]| payload(&references(tags), metadata);
    let mut linked = good();
    linked.odd = vec![("release-manifests/x".into(), "a link".into())];
    let mut strange = good();
    strange.files[0].relative = "a\nb".into();
    strange.files.push(tree(&[("c\\d", "")]).files.remove(0));
    let mut doubled = good();
    doubled
        .files
        .push(tree(&[("image-references", "{}")]).files.remove(0));
    let text: String = [
        FileTree::default(),
        tree::<&str>(&[]),
        tree(&[("image-references", references(&[("etcd", &etcd)]))]),
        payload("{", metadata),
        payload(r#"{"kind": "ImageStream", "spec": {}}"#, metadata),
        payload(&references(&[("etcd", &etcd)]), r#"{"no": "version"}"#),
        with(&[]),
        with(&[
            ("tag", "quay.io/demo/a:v1"),
            ("bare", "quay.io/demo/a"),
            ("short", "quay.io/demo/a@sha256:123"),
            ("nameless", &etcd[etcd.find('@').unwrap()..]),
            ("", &etcd),
            ("etcd", &etcd),
            ("etcd", &pinned("other")),
        ]),
        payload(
            &references(&[("etcd", &etcd)]).replace("ImageStream", "Image"),
            metadata,
        ),
        linked,
        strange,
        doubled,
    ]
    .map(refusal)
    .join("\n");
    insta::assert_snapshot!(text);
}

#[test]
fn versions_of_kubernetes_must_agree() {
    let etcd = pinned("etcd");
    let stated = |version: &str| {
        let metadata = json!({"version": "1", "kubernetesVersion": version});
        payload(&references(&[("etcd", &etcd)]), &metadata.to_string())
    };
    let annotated = |version: &str| {
        let versions = json!({"io.openshift.build.versions": format!("x=1, kubernetes={version}")});
        let tag = json!({"name": "etcd", "from": {"name": etcd}, "annotations": versions});
        let stream = json!({"kind": "ImageStream", "spec": {"tags": [tag]}});
        payload(&stream.to_string(), r#"{"version": "1"}"#)
    };
    for good in [stated("v1.36.3"), stated("1.36.3"), annotated("1.36.3")] {
        let (settings, facts) = world(good, None);
        assert_eq!(record(&settings, &facts)["version"], "1");
    }
    insta::assert_snapshot!(
        [stated("v1.35.0"), annotated("1.36.30")]
            .map(refusal)
            .join("\n")
    );
    let (mut settings, facts) = world(annotated("1.34.0"), None);
    settings.cluster.profile = Profile::Openshift;
    assert_eq!(
        record(&settings, &facts)["version"],
        "1",
        "the payload decides"
    );
}

#[test]
fn what_cannot_be_known_is_not_invented() {
    let mut settings = settings();
    settings.cluster.release = ReleaseSource::Image("quay.io/demo/release:4".into());
    assert!(step(NAME).asks(&settings).is_empty());
    let image = fault(NAME, &settings, &Facts::default());
    assert_eq!(image.kind.exit_code(), 4);
    settings.cluster.release = ReleaseSource::BuiltIn;
    settings.cluster.profile = Profile::Openshift;
    let openshift = fault(NAME, &settings, &Facts::default());
    assert_eq!(openshift.kind.exit_code(), 3);
    insta::assert_snapshot!(told(&image) + &told(&openshift));
}

#[test]
fn the_record_of_built_in_names_is_expected_to_the_byte() {
    let settings = settings();
    let planned = effects(NAME, &settings, &Facts::default());
    let expected = step(NAME).expects(&settings, &Facts::default());
    let Claim::File { digest, path, .. } = &expected[0].claim else {
        panic!("the record is expected")
    };
    assert_eq!(
        (*digest, Some(path)),
        (planned[0].digest(), planned[0].path())
    );
    assert!(digest.is_some());
}
