//! A machine as the steps make it passes, and each thing that is changed on it fails its own check.

use std::collections::BTreeMap;

use bootlace_model::config::SecurityProfile;
use bootlace_model::fact::Facts;
use bootlace_model::node::Owner;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::{Answer, FileTree, Probe};
use bootlace_model::survey::{Seen, Survey};
use bootlace_model::view::{BenchmarkResult, BenchmarkView};

use super::{asks, judge};
use crate::machine_files::{MACHINE_FOLDERS, machine_files};
use crate::release;
use crate::render::{Component, ReleaseFacts, RenderInput};
use crate::tests::{settings, tree};

const ROOT: Owner = Owner { uid: 0, gid: 0 };

/// The files of a machine, as the steps put them there.
struct World {
    files: BTreeMap<&'static str, (Vec<u8>, u32, Owner)>,
}

impl World {
    fn new(profile: SecurityProfile) -> Self {
        let mut settings = settings();
        settings.cluster.security.profile = profile;
        let built_in = release::built_in(&settings.cluster.kubernetes_version);
        let mut input = RenderInput::new(&settings);
        input.node = "node-1".into();
        input.release = ReleaseFacts {
            version: built_in.version,
            digest: None,
            images: built_in.images,
        };
        let mut rendered = BTreeMap::new();
        for component in Component::ALL {
            for file in component.render(&input).unwrap() {
                let bytes = file.bytes_of(&settings, &|_| Ok(vec![])).unwrap();
                let name = file.path.rsplit('/').next().unwrap();
                if let Some(folder) = file.publish.folder() {
                    rendered.insert(format!("{folder}/{name}"), bytes.clone());
                }
                rendered.insert(format!("{}/{}", component.output, file.path), bytes);
            }
        }
        let file = |file: &crate::machine_files::MachineFile| {
            let content = rendered.get(file.asset).cloned().unwrap_or_default();
            (file.machine, (content, file.mode, ROOT))
        };
        let cni = "etc/cni/net.d/10-bootlace.conflist";
        let made_later = [(cni, (vec![], 0o600, ROOT))];
        Self {
            files: machine_files().map(file).chain(made_later).collect(),
        }
    }

    fn text(&self, path: &str) -> String {
        String::from_utf8(self.files[path].0.clone()).unwrap()
    }

    fn edit(&mut self, path: &str, from: &str, to: &str) {
        let text = self.text(path);
        assert!(text.contains(from), "{from} is not in {text}");
        self.files.get_mut(path).unwrap().0 = text.replacen(from, to, 1).into_bytes();
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        for ask in asks() {
            let relative = |path: &TargetPath| path.as_str()[1..].to_owned();
            let answer = match &ask.probe {
                Probe::ReadFile { path, .. } => {
                    let file = self.files.get(relative(path).as_str());
                    Answer::Content(file.map(|file| file.0.clone()))
                }
                Probe::ReadTree { path, .. } => Answer::Tree(self.tree(&relative(path))),
                Probe::Survey(places) => {
                    Answer::Json(serde_json::to_value(self.survey(&places.paths)).unwrap())
                }
                other => panic!("{other:?}"),
            };
            facts.set(ask.fact, answer);
        }
        facts
    }

    fn tree(&self, folder: &str) -> FileTree {
        if folder.ends_with("release-manifests") {
            let proxy = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kube-proxy}\ndata:\n  config.conf: |\n    kind: KubeProxyConfiguration\n    mode: nftables\n";
            return tree(&[("proxy.yaml", proxy)]);
        }
        let below = |path: &&'static str| path.strip_prefix(folder).is_some();
        let paths: Vec<&'static str> = self.files.keys().copied().filter(below).collect();
        let files: Vec<_> = paths
            .iter()
            .map(|path| (&path[folder.len() + 1..], &self.files[path].0))
            .collect();
        tree(&files)
    }

    fn survey(&self, paths: &[TargetPath]) -> Survey {
        let seen = |path: &TargetPath| {
            let relative = &path.as_str()[1..];
            let folder = MACHINE_FOLDERS
                .iter()
                .find(|(folder, _)| *folder == relative);
            let file = self.files.get(relative);
            let seen = match (file, folder) {
                (Some((_, mode, owner)), _) => Seen::File {
                    mode: *mode,
                    owner: *owner,
                    digest: None,
                },
                (None, Some((_, mode))) => Seen::Directory {
                    mode: *mode,
                    owner: ROOT,
                },
                (None, None) => return None,
            };
            Some((path.clone(), seen))
        };
        Survey {
            identity: ROOT,
            moved: BTreeMap::new(),
            nodes: paths.iter().filter_map(seen).collect(),
            owners: BTreeMap::new(),
            same: vec![],
            lost: BTreeMap::new(),
        }
    }

    fn judged(&self) -> BenchmarkView {
        judge(&self.facts()).unwrap()
    }

    fn failed(&self) -> Vec<String> {
        let view = self.judged();
        let failed = view.checks.into_iter();
        let failed = failed.filter(|check| check.result == BenchmarkResult::Fail);
        failed.map(|check| check.number).collect()
    }
}

const API: &str = "etc/kubernetes/manifests/kube-apiserver-pod.yaml";
const KUBELET: &str = "var/lib/kubelet/config.yaml";

#[test]
fn a_machine_of_ours_fails_nothing() {
    let world = World::new(SecurityProfile::Cis);
    assert_eq!(world.failed(), [""; 0]);
    let view = world.judged();
    assert!(view.ok);
    let exceptions = view.checks.iter().filter(|check| check.reason.is_some());
    let exceptions: Vec<&str> = exceptions.map(|check| &*check.number).collect();
    assert_eq!(exceptions, ["1.1.12", "1.2.1", "1.2.11", "4.2.7"]);
}

#[test]
fn the_profile_compatible_fails_what_kubernetes_leaves_open() {
    let failed = World::new(SecurityProfile::Compatible).failed();
    let expected = "1.2.3 1.2.5 1.2.9 1.2.15 1.2.16 1.2.17 1.2.18 1.2.19 1.2.27 1.2.29 1.2.30 \
         1.3.2 1.4.1 3.2.1 4.2.12 4.2.13 4.2.14";
    assert_eq!(failed.join(" "), expected);
}

#[test]
fn what_is_changed_fails_its_own_check() {
    type Change = fn(&mut World);
    let changes: [(&str, Change); 9] = [
        ("1.1.1", |world| world.files.get_mut(API).unwrap().1 = 0o640),
        ("1.1.19", |world| {
            let key = world.files.get_mut("etc/kubernetes/pki/sa.pub");
            key.unwrap().2 = Owner { uid: 7, gid: 0 };
        }),
        ("1.1.21", |world| {
            let key = world.files.get_mut("etc/kubernetes/pki/etcd/peer.key");
            key.unwrap().1 = 0o644;
        }),
        ("1.2.8", |world| world.edit(API, "Node,RBAC", "Node")),
        ("1.2.15", |world| {
            world.edit(API, "--profiling=false", "--profiling=true");
        }),
        ("1.2.17", |world| world.edit(API, "maxage=30", "maxage=3")),
        ("4.2.1", |world| {
            world.edit(KUBELET, "enabled: false", "enabled: true");
        }),
        ("4.2.4", |world| {
            let dropin = ("readOnlyPort: 10255\n".into(), 0o600, ROOT);
            world
                .files
                .insert("etc/kubernetes/kubelet.conf.d/10-mine.conf", dropin);
        }),
        ("4.2.10", |world| {
            let path = "etc/kubernetes/kubelet.env";
            world.edit(path, "--config=", "--rotate-certificates=false --config=");
        }),
    ];
    for (number, change) in changes {
        let mut world = World::new(SecurityProfile::Cis);
        change(&mut world);
        assert_eq!(world.failed(), [number]);
    }
}

#[test]
fn a_machine_without_a_control_plane_fails_with_a_remedy_for_each_check() {
    let world = World {
        files: BTreeMap::new(),
    };
    let view = world.judged();
    assert!(!view.ok && view.passed < 3, "{} passed", view.passed);
    for check in view.checks {
        assert!(!check.found.is_empty(), "{}", check.number);
        let failed = check.result == BenchmarkResult::Fail;
        assert_eq!(check.remedy.is_some(), failed, "{}", check.number);
    }
}
