//! A machine as the steps make it passes, and each thing that is changed on it fails its own check.

use std::collections::BTreeMap;

use bootlace_model::config::SecurityProfile;
use bootlace_model::effect::Effect;
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::node::Owner;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::{Answer, FileTree, Probe};
use bootlace_model::survey::{Seen, Survey};
use bootlace_model::view::{BenchmarkResult, BenchmarkView};

use super::judge;
use crate::machine_files::{MACHINE_FOLDERS, machine_files};
use crate::release;
use crate::render::{Component, ReleaseFacts, RenderInput};
use crate::tests::{effects, settings, text_of, tree};

const ROOT: Owner = Owner { uid: 0, gid: 0 };

/// A certificate of a kubelet on the machine `node-1`.
pub(super) const SERVING: &str = "\
-----BEGIN CERTIFICATE-----
MIIBuzCCAWGgAwIBAgIUK7mkxrGZldskf6s/Kx/eFPJpOyIwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKa3ViZXJuZXRlczAeFw0yNjExMTkyMjEyMzdaFw0zNjExMTYy
MjEyMzdaMDQxFTATBgNVBAoMDHN5c3RlbTpub2RlczEbMBkGA1UEAwwSc3lzdGVt
Om5vZGU6bm9kZS0xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEZUT9QdZfurVY
o/NFSK+AqXGtpAJVye2/KJNEZxKeFBql7kOTiLeqLMVoKyQ+1+tp7J8llZ47XeqA
WXE7TLujIKNwMG4wFwYDVR0RBBAwDoIGbm9kZS0xhwQKAAABMBMGA1UdJQQMMAoG
CCsGAQUFBwMBMB0GA1UdDgQWBBS+JUXzaxMjPiYWaHI+bkh6/wu/AjAfBgNVHSME
GDAWgBSot+E6xjeSWtaP0TSsl8Sls77rYzAKBggqhkjOPQQDAgNIADBFAiB7CR7v
V6FA2JDH/Qan1Rqfs01pvEjUGeh78mlWnRWGnQIhAKdvaB1IFw1Ax567vI8FcYPw
tTr7F5E2F8ZXPDRfNf1I
-----END CERTIFICATE-----
";

/// The files of a machine, as the steps put them there.
struct World {
    files: BTreeMap<&'static str, (Vec<u8>, u32, Owner)>,
    /// Links, and where they lead.
    links: BTreeMap<&'static str, &'static str>,
    /// Folders that do not belong to root.
    owners: BTreeMap<&'static str, Owner>,
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
        rendered.insert("tls/kubelet-serving.crt".into(), SERVING.into());
        if profile == SecurityProfile::Cis {
            rendered.insert("auth/encryption.yaml".into(), encryption().into());
        }
        let file = |file: &crate::machine_files::MachineFile| {
            let content = rendered.get(file.asset).cloned().unwrap_or_default();
            (file.machine, (content, file.mode, ROOT))
        };
        let cni = "etc/cni/net.d/10-bootlace.conflist";
        let made_later = [(cni, (vec![], 0o600, ROOT))];
        Self {
            files: machine_files().map(file).chain(made_later).collect(),
            links: BTreeMap::new(),
            owners: BTreeMap::new(),
        }
    }

    fn add(&mut self, path: &'static str, content: &str, mode: u32) {
        self.files.insert(path, (content.into(), mode, ROOT));
    }

    fn text(&self, path: &str) -> String {
        String::from_utf8(self.files[path].0.clone()).unwrap()
    }

    fn edit(&mut self, path: &str, from: &str, to: &str) {
        let text = self.text(path);
        assert!(text.contains(from), "{from} is not in {text}");
        self.files.get_mut(path).unwrap().0 = text.replacen(from, to, 1).into_bytes();
    }

    fn facts(&self, asks: &[Ask]) -> Facts {
        let mut facts = Facts::default();
        for ask in asks {
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
        let below = |path: &'static str| path.strip_prefix(folder)?.strip_prefix('/');
        let files = self.files.iter();
        let files = files.filter_map(|(path, file)| Some((below(path)?, &file.0)));
        let mut tree = tree(&files.collect::<Vec<_>>());
        let links = self.links.iter();
        let links = links.filter_map(|(path, to)| Some((below(path)?, to)));
        let links = links.map(|(path, to)| (path.to_owned(), format!("a link to {to}")));
        tree.odd = links.collect();
        tree
    }

    fn survey(&self, paths: &[TargetPath]) -> Survey {
        let seen = |path: &TargetPath| {
            let relative = &path.as_str()[1..];
            let folder = MACHINE_FOLDERS
                .iter()
                .find(|(folder, _)| *folder == relative);
            let mode = folder.map(|(_, mode)| *mode);
            let below = format!("{relative}/");
            let is_above = self.files.keys().any(|file| file.starts_with(&below));
            let mode = mode.or(is_above.then_some(0o755));
            let owner = self.owners.get(relative).copied();
            let seen = match (self.files.get(relative), self.links.get(relative), mode) {
                (Some((_, mode, owner)), ..) => Seen::File {
                    mode: *mode,
                    owner: *owner,
                    digest: None,
                },
                (_, Some(to), _) => Seen::Link {
                    target: (*to).to_owned(),
                    owner: ROOT,
                },
                (_, _, Some(mode)) => Seen::Directory {
                    mode,
                    owner: owner.unwrap_or(ROOT),
                },
                (None, None, None) => return None,
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
        judge(|asks| Ok(self.facts(asks))).unwrap()
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
const ENV: &str = "etc/kubernetes/kubelet.env";
const AUTHENTICATION: &str = "etc/kubernetes/configs/authentication.yaml";
const ENCRYPTION: &str = "etc/kubernetes/configs/encryption.yaml";
const ETCD_DATA: &str = "var/lib/etcd";

/// The encryption config that `prepare-assets` writes, without the key.
fn encryption() -> String {
    let mut facts = Facts::default();
    facts.set("machine.name", Answer::Json("node-1".into()));
    let effects = effects("prepare-assets", &settings(), &facts);
    let mut files = effects.iter().filter(|it| matches!(it, Effect::PutFile(_)));
    let file = files.find(|it| it.target().ends_with("auth/encryption.yaml"));
    text_of(file.unwrap()).replace(['<', '>', '"', '(', ')'], "")
}

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
    let expected = "1.2.3 1.2.5 1.2.9 1.2.15 1.2.16 1.2.17 1.2.18 1.2.19 1.2.27 1.2.28 1.2.29 1.2.30 \
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

type Change = fn(&mut World);

/// Makes each change on a machine of its own, which must then fail one check, with this found.
fn each_fails(changes: &[(&str, &str, Change)]) {
    for (number, found, change) in changes {
        let mut world = World::new(SecurityProfile::Cis);
        change(&mut world);
        let view = world.judged();
        let failed = view.checks.into_iter();
        let failed = failed.filter(|check| check.result == BenchmarkResult::Fail);
        let failed: Vec<_> = failed.map(|check| (check.number, check.found)).collect();
        let [(what, why)] = failed.as_slice() else {
            panic!("{number} {found}: {failed:?}")
        };
        assert!(what == number && why.contains(found), "{what}: {why}");
    }
}

#[test]
fn an_exception_excuses_only_what_its_reason_says() {
    each_fails(&[
        ("1.2.1", "--anonymous-auth is true", |world| {
            world.edit(
                API,
                "- --profiling",
                "- --anonymous-auth=true\n    - --profiling",
            );
        }),
        ("1.2.1", "--authentication-config is not set", |world| {
            world.edit(API, "--authentication-config", "--another");
        }),
        ("1.2.1", "--authentication-config is /etc/mine", |world| {
            let path = "--authentication-config=/etc/kubernetes/configs/authentication.yaml";
            world.edit(API, path, "--authentication-config=/etc/mine");
        }),
        ("1.2.1", "/api is open", |world| {
            world.edit(AUTHENTICATION, "path: /livez", "path: /api");
        }),
        ("1.2.1", "every path is open", |world| {
            let open = "anonymous: {enabled: true}\n";
            world.add(AUTHENTICATION, open, 0o600);
        }),
        ("1.2.1", "every path is open", |world| {
            world.add(AUTHENTICATION, "kind: AuthenticationConfiguration", 0o600);
        }),
        ("1.2.1", "no config in", |world| {
            world.add(AUTHENTICATION, "", 0o600);
        }),
        ("1.2.11", "imagePullPolicy is Always", |world| {
            let from = "imagePullPolicy: IfNotPresent";
            world.edit(API, from, "imagePullPolicy: Always");
        }),
        ("4.2.7", "hostnameOverride is other", |world| {
            world.edit(
                ENV,
                "--hostname-override=node-1",
                "--hostname-override=other",
            );
        }),
        ("4.2.7", "no name of a node", |world| {
            world.add("etc/kubernetes/pki/kubelet-serving.crt", "", 0o644);
        }),
    ]);
    let closed = "anonymous: {enabled: false}\n";
    let mut world = World::new(SecurityProfile::Cis);
    world.add(AUTHENTICATION, closed, 0o600);
    assert_eq!(world.failed(), [""; 0]);
}

#[test]
fn etcds_data_is_excused_only_if_it_is_roots_alone() {
    let mut world = World::new(SecurityProfile::Cis);
    world.owners.insert(ETCD_DATA, Owner { uid: 5, gid: 5 });
    assert_eq!(world.failed(), ["1.1.12"], "a person");
    let pod = "etc/kubernetes/manifests/etcd-pod.yaml";
    let context = "  securityContext:\n";
    world.edit(pod, context, &format!("{context}    runAsUser: 5\n"));
    assert_eq!(world.failed(), [""; 0], "etcd's account");
    let mut world = World::new(SecurityProfile::Cis);
    world.add(ETCD_DATA, "", 0o750);
    assert_eq!(world.failed(), ["1.1.11", "1.1.12"]);
}

#[test]
fn secrets_must_be_encrypted_by_the_first_provider() {
    each_fails(&[
        ("1.2.28", "is identity", |world| {
            let weak =
                "resources:\n- resources: [secrets]\n  providers: [identity: {}, secretbox: {}]\n";
            world.add(ENCRYPTION, weak, 0o600);
        }),
        ("1.2.28", "is aesgcm", |world| {
            world.edit(ENCRYPTION, "secretbox", "aesgcm");
        }),
        ("1.2.28", "is identity", |world| {
            let entry = |names, provider| {
                format!("- resources: ['{names}']\n  providers: [{provider}: {{}}]\n")
            };
            let (first, second) = (entry("*.*", "identity"), entry("secrets", "secretbox"));
            world.add(ENCRYPTION, &format!("resources:\n{first}{second}"), 0o600);
        }),
        ("1.2.28", "no entry names secrets", |world| {
            world.edit(ENCRYPTION, "- secrets", "- configmaps");
        }),
        ("1.2.28", "no first provider", |world| {
            let none = "resources: [{resources: [secrets], providers: []}]";
            world.add(ENCRYPTION, none, 0o600);
        }),
        (
            "1.2.28",
            "--encryption-provider-config is /etc/mine",
            |world| {
                let path = "--encryption-provider-config=/etc/kubernetes/configs/encryption.yaml";
                world.edit(API, path, "--encryption-provider-config=/etc/mine");
            },
        ),
    ]);
    for good in ["aescbc", "kms", "secretbox"] {
        let mut world = World::new(SecurityProfile::Cis);
        world.edit(ENCRYPTION, "secretbox", good);
        assert_eq!(world.failed(), [""; 0], "{good}");
    }
}

#[test]
fn everything_among_the_keys_is_judged_and_not_only_what_we_put_there() {
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\n";
    each_fails(&[
        ("1.1.21", "pki/mine.key: mode 0644", |world| {
            world.add("etc/kubernetes/pki/mine.key", "", 0o644);
        }),
        ("1.1.21", "pki/a/b/mine.key: mode 0640", |world| {
            world.add("etc/kubernetes/pki/a/b/mine.key", "", 0o640);
        }),
        ("1.1.21", "pki/backup.pem: mode 0644", |world| {
            world.add("etc/kubernetes/pki/backup.pem", KEY, 0o644);
        }),
        ("1.1.20", "pki/etcd/mine.crt: mode 0666", |world| {
            world.add("etc/kubernetes/pki/etcd/mine.crt", "", 0o666);
        }),
        ("1.1.19", "pki/mine.crt: owner 7:0", |world| {
            let file = (vec![], 0o600, Owner { uid: 7, gid: 0 });
            world.files.insert("etc/kubernetes/pki/mine.crt", file);
        }),
        ("1.1.19", "pki/a: owner 7:0", |world| {
            world.add("etc/kubernetes/pki/a/mine.crt", "", 0o600);
            let folder = "etc/kubernetes/pki/a";
            world.owners.insert(folder, Owner { uid: 7, gid: 0 });
        }),
    ]);
    let mut world = World::new(SecurityProfile::Cis);
    world.add("etc/kubernetes/pki/one.key", "", 0o644);
    world.add("etc/kubernetes/pki/other.key", "", 0o644);
    let view = world.judged();
    let check = view.checks.iter().find(|check| check.number == "1.1.21");
    let check = check.unwrap();
    assert!(check.found.ends_with(", and 1 more"), "{}", check.found);
    let remedy = "`chmod 0600 /etc/kubernetes/pki/one.key /etc/kubernetes/pki/other.key`";
    assert_eq!(check.remedy.as_deref(), Some(remedy));
    let mut world = World::new(SecurityProfile::Cis);
    world.links.insert("etc/kubernetes/pki/mine.key", "/tmp/x");
    assert_eq!(world.failed(), ["1.1.19", "1.1.21"]);
}

#[test]
fn flags_that_systemd_adds_to_the_kubelets_override() {
    const DROPIN: &str = "etc/systemd/system/kubelet.service.d/10-mine.conf";
    each_fails(&[
        ("4.2.1", "is true", |world| {
            world.add(DROPIN, "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet $KUBELET_ARGS --anonymous-auth=true\n", 0o600);
        }),
        ("4.2.1", "is true", |world| {
            world.add(DROPIN, "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet $KUBELET_ARGS $KUBELET_EXTRA_ARGS\nEnvironment=KUBELET_EXTRA_ARGS=--anonymous-auth=true\n", 0o600);
        }),
        ("4.2.4", "readOnlyPort is 10255", |world| {
            world.add("usr/lib/systemd/system/kubelet.service.d/20-extra.conf", "[Service]\nEnvironmentFile=-/etc/default/kubelet\nExecStart=\nExecStart=/usr/bin/kubelet $KUBELET_ARGS $KUBELET_EXTRA_ARGS\n", 0o600);
            world.add(
                "etc/default/kubelet",
                "KUBELET_EXTRA_ARGS=--read_only_port 10255\n",
                0o600,
            );
        }),
        ("4.2.2", "is AlwaysAllow", |world| {
            world.edit(
                "etc/systemd/system/kubelet.service",
                "$KUBELET_ARGS",
                "--authorization-mode AlwaysAllow $KUBELET_ARGS",
            );
        }),
        ("4.2.4", "readOnlyPort is 10255", |world| {
            world.edit(ENV, "--config=", "--read-only-port=10255 --config=");
        }),
    ]);
}

/// Settings that nothing can be said of fail, because they could be anything.
#[test]
fn a_kubelet_whose_settings_are_elsewhere_fails_all_of_its_checks() {
    let changes: [(&str, Change); 6] = [
        ("--config is /etc/mine", |world| {
            world.edit(
                ENV,
                "--config=/var/lib/kubelet/config.yaml",
                "--config=/etc/mine",
            );
        }),
        ("--config is not set", |world| {
            world.edit(ENV, "--config=", "--other=");
        }),
        ("--config-dir is /etc/mine", |world| {
            let from = "--config-dir=/etc/kubernetes/kubelet.conf.d";
            world.edit(ENV, from, "--config-dir=/etc/mine");
        }),
        ("20-mine.conf is a link", |world| {
            let link = "etc/kubernetes/kubelet.conf.d/20-mine.conf";
            world.links.insert(link, "/etc/mine");
        }),
        ("20-mine.conf is not a valid", |world| {
            world.add("etc/kubernetes/kubelet.conf.d/20-mine.conf", "a: [", 0o600);
        }),
        ("reads /etc/mine", |world| {
            let env = "EnvironmentFile=/etc/kubernetes/kubelet.env";
            let more = format!("{env}\nEnvironmentFile=-/etc/mine");
            world.edit("etc/systemd/system/kubelet.service", env, &more);
        }),
    ];
    for (found, change) in changes {
        let mut world = World::new(SecurityProfile::Cis);
        change(&mut world);
        let view = world.judged();
        let checks = view.checks.iter();
        let checks = checks.filter(|check| check.number.starts_with("4.2."));
        for check in checks {
            let is_found = check.result == BenchmarkResult::Fail && check.found.contains(found);
            assert!(is_found, "{found}: {check:?}");
        }
    }
}

#[test]
fn a_machine_without_a_control_plane_fails_with_a_remedy_for_each_check() {
    let world = World {
        files: BTreeMap::new(),
        links: BTreeMap::new(),
        owners: BTreeMap::new(),
    };
    let view = world.judged();
    assert!(!view.ok && view.passed < 3, "{} passed", view.passed);
    // The folder of etcd's data is there, and nobody else may open it.
    assert_eq!(view.exceptions, 1);
    for check in view.checks {
        assert!(!check.found.is_empty(), "{}", check.number);
        let failed = check.result == BenchmarkResult::Fail;
        assert_eq!(check.remedy.is_some(), failed, "{}", check.number);
    }
}
