//! A real API server with a real etcd, as processes of this machine.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bootlace_engine::port::{
    ApiAnswer, ApiRequest, Applied, ApplyRequest, Cluster as _, Credentials, HostError,
};
use bootlace_host::{RealHost, pki};
use bootlace_lab::ProgramFolders;
use bootlace_model::effect::ApiObject;
use bootlace_model::pki::KeyAlgorithm;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::kubeconfig;
use crate::server::Identity;

const PLENTY: Duration = Duration::from_mins(1);

struct Cluster {
    folder: TempDir,
    identity: Identity,
    host: RealHost,
    api: String,
    etcd: String,
    processes: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            // One that ended by itself cannot be ended.
            drop(process.kill());
            drop(process.wait());
        }
        if std::thread::panicking() {
            for name in ["etcd.log", "kube-apiserver.log"] {
                let log = std::fs::read_to_string(self.path(name)).unwrap_or_default();
                let last: Vec<&str> = log.lines().rev().take(12).collect();
                println!("{name}, newest line first:\n{}", last.join("\n"));
            }
        }
    }
}

/// Finds a port that nobody listens on; somebody else may take it before us, which is unlikely.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("https://{}", listener.local_addr().unwrap())
}

fn port(address: &str) -> &str {
    address.rsplit_once(':').unwrap().1
}

impl Cluster {
    /// Starts the processes, and waits for nothing.
    fn start() -> Self {
        let programs = ProgramFolders::load().expect("run `make lab` first");
        let mut cluster = Self {
            folder: tempfile::tempdir().unwrap(),
            identity: Identity::new(&["127.0.0.1"], 10, 1),
            host: RealHost::builder().proxy(None).build(),
            api: free_address(),
            etcd: free_address(),
            processes: vec![],
        };
        cluster.write_papers();
        cluster.start_etcd(&programs.etcd.join("etcd"));
        cluster.start_api(&programs.kubernetes.join("kube-apiserver"));
        cluster
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_papers(&self) {
        let (certificate, key) = self.identity.client(-1, 1);
        let account_key = pki::make_key(KeyAlgorithm::EcdsaP256).unwrap();
        let account_public = pki::public_key(&account_key).unwrap();
        let papers = [
            ("ca.crt", self.identity.authority.as_bytes()),
            ("server.crt", self.identity.certificate.as_bytes()),
            ("server.key", self.identity.key.expose()),
            ("client.crt", certificate.as_bytes()),
            ("client.key", key.expose()),
            ("sa.key", account_key.expose()),
            ("sa.pub", account_public.as_bytes()),
        ];
        for (name, content) in papers {
            std::fs::write(self.path(name), content).unwrap();
        }
    }

    fn spawn(&mut self, program: &Path, flags: &[(&str, &str)]) {
        let name = program.file_name().unwrap().to_str().unwrap();
        let log = File::create(self.path(&format!("{name}.log"))).unwrap();
        let flags = flags
            .iter()
            .map(|(flag, value)| format!("--{flag}={value}"));
        let child = Command::new(program)
            .args(flags)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.processes.push(child);
    }

    fn start_etcd(&mut self, program: &Path) {
        let (etcd, peers) = (self.etcd.clone(), free_address().replace("https", "http"));
        let flags = [
            ("data-dir", "etcd"),
            ("listen-client-urls", &etcd),
            ("advertise-client-urls", &etcd),
            ("listen-peer-urls", &peers),
            ("initial-advertise-peer-urls", &peers),
            ("initial-cluster", &format!("default={peers}")),
            ("cert-file", "server.crt"),
            ("key-file", "server.key"),
            ("trusted-ca-file", "ca.crt"),
            ("client-cert-auth", "true"),
        ];
        self.spawn(program, &flags);
    }

    fn start_api(&mut self, program: &Path) {
        let (api, etcd) = (self.api.clone(), self.etcd.clone());
        let flags = [
            ("secure-port", port(&api)),
            ("bind-address", "127.0.0.1"),
            ("external-hostname", "127.0.0.1"),
            ("etcd-servers", &etcd),
            ("etcd-cafile", "ca.crt"),
            ("etcd-certfile", "client.crt"),
            ("etcd-keyfile", "client.key"),
            ("tls-cert-file", "server.crt"),
            ("tls-private-key-file", "server.key"),
            ("client-ca-file", "ca.crt"),
            ("authorization-mode", "Node,RBAC"),
            ("service-account-issuer", "https://demo.example"),
            ("service-account-key-file", "sa.pub"),
            ("service-account-signing-key-file", "sa.key"),
            ("service-cluster-ip-range", "10.96.0.0/16"),
            ("endpoint-reconciler-type", "none"),
        ];
        self.spawn(program, &flags);
    }

    fn admin(&self) -> Credentials {
        let read = |name: &str| BASE64_STANDARD.encode(std::fs::read(self.path(name)).unwrap());
        let user = json!({
            "client-certificate-data": read("client.crt"), "client-key-data": read("client.key"),
        });
        kubeconfig(&self.api, &self.identity.authority, &user)
    }

    fn apply(&self, objects: &[ApiObject]) -> Vec<Applied> {
        let credentials = &self.admin();
        let request = ApplyRequest {
            credentials,
            objects,
            within: PLENTY,
        };
        let applied = self.host.apply_objects(&request).unwrap();
        assert_eq!(applied.len(), objects.len());
        applied
    }

    fn ask(&self, credentials: &Credentials, path: &str, post: Option<&Value>) -> ApiAnswer {
        let begun = Instant::now();
        loop {
            let request = ApiRequest {
                credentials,
                path,
                post,
                within: PLENTY,
            };
            match self.host.ask_api(&request) {
                Err(HostError::Unreachable { .. }) if begun.elapsed() < PLENTY => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                answer => return answer.unwrap(),
            }
        }
    }
}

fn object(content: Value) -> ApiObject {
    ApiObject::new(content, "test").unwrap()
}

fn things() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.demo.example"},
        "spec": {"group": "demo.example", "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object",
                    "properties": {"spec": {"type": "object",
                        "properties": {"size": {"type": "integer"}}}}}}}]},
    })
}

/// Sixty objects of many kinds, in no order at all.
fn sixty(namespace: &str) -> Vec<ApiObject> {
    let labels = json!({"app": "demo"});
    let mut objects = Vec::new();
    for n in 0..9 {
        let meta = json!({"name": format!("it-{n}"), "namespace": namespace});
        let rule = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
        let to = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "it-0"});
        let container = json!({"name": "c", "image": "demo.example/none:1"});
        let pod = json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}});
        let deployment = json!({"selector": {"matchLabels": labels}, "template": pod});
        let service = json!({"selector": labels, "ports": [{"port": 80}]});
        let rbac = "rbac.authorization.k8s.io/v1";
        objects.extend([
            json!({"apiVersion": "demo.example/v1", "kind": "Thing", "metadata": meta, "spec": {"size": n}}),
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": deployment}),
            json!({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": service}),
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a": "b"}}),
            json!({"apiVersion": rbac, "kind": "RoleBinding", "metadata": meta, "roleRef": to,
                "subjects": [{"kind": "ServiceAccount", "name": "it-0", "namespace": namespace}]}),
            json!({"apiVersion": rbac, "kind": "Role", "metadata": meta, "rules": [rule]}),
        ]);
    }
    for n in 0..4 {
        let meta = json!({"name": format!("it-{n}"), "namespace": namespace});
        objects.push(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}));
    }
    objects.push(things());
    objects.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
    assert_eq!(objects.len(), 60);
    objects.into_iter().map(object).collect()
}

fn assert_all_applied(applied: &[Applied]) {
    let failed: Vec<&Applied> = applied.iter().filter(|one| one.problem.is_some()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
#[ignore = "slow: starts a real API server"]
fn a_real_api_takes_everything_while_it_starts_and_fast_once_it_runs() {
    let cluster = Cluster::start();
    // Nobody listens yet, and the roles come later than the first answers.
    let begun = Instant::now();
    let applied = cluster.apply(&sixty("early"));
    assert_all_applied(&applied);
    println!("while it starts: {:?}", begun.elapsed());

    let is_ready = || cluster.ask(&cluster.admin(), "/readyz", None).status == 200;
    while !is_ready() {
        assert!(begun.elapsed() < PLENTY);
        std::thread::sleep(Duration::from_millis(50));
    }
    // Another definition, so that the wait for it counts, too.
    let later: Vec<ApiObject> = sixty("later")
        .into_iter()
        .map(|it| {
            let text = it
                .content
                .to_string()
                .replace("demo.example", "later.example");
            object(serde_json::from_str(&text).unwrap())
        })
        .collect();
    let begun = Instant::now();
    let applied = cluster.apply(&later);
    let took = begun.elapsed();
    println!("sixty objects: {took:?}");
    assert_all_applied(&applied);
    assert!(took < Duration::from_secs(5), "{took:?}");
    let begun = Instant::now();
    assert_all_applied(&cluster.apply(&later));
    println!("sixty objects again: {:?}", begun.elapsed());

    let path = "/apis/later.example/v1/namespaces/later/things/it-8";
    let thing = cluster.ask(&cluster.admin(), path, None);
    assert_eq!(thing.body["spec"]["size"], json!(8));
    assert_eq!(
        thing.body["metadata"]["managedFields"][0]["manager"],
        json!("bootlace")
    );
}

#[test]
#[ignore = "slow: starts a real API server"]
fn a_real_api_names_what_is_wrong() {
    let cluster = Cluster::start();
    let meta = |name: &str| json!({"name": name, "namespace": "default"});
    let objects = [
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("Bad_Name")}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("odd"), "data": 7}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("good"), "data": {}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": meta("portless"),
            "spec": {"ports": [{"port": 0}]}}),
    ];
    let applied = cluster.apply(&objects.map(object));
    let problem = |n: usize| applied[n].problem.as_deref().unwrap();
    assert!(problem(0).contains("RFC 1123"), "{}", problem(0));
    assert!(problem(1).contains("data"), "{}", problem(1));
    assert_eq!(applied[2].problem, None);
    assert!(problem(3).contains("between 1 and 65535"), "{}", problem(3));

    // Somebody without a name gets an answer, which is a refusal.
    let nobody = kubeconfig(&cluster.api, &cluster.identity.authority, &json!({}));
    let refusal = cluster.ask(&nobody, "/api/v1/secrets", None);
    assert_eq!(refusal.status, 403);
    // The store behind it knows its clients by their certificates.
    let (certificate, key) = cluster.identity.client(-1, 1);
    let etcd = Credentials::Certificate {
        server: cluster.etcd.clone(),
        authority: cluster.identity.authority.clone().into_bytes(),
        certificate: certificate.into_bytes(),
        key,
    };
    let question = json!({"key": "Lw==", "range_end": "MA==", "limit": "1"});
    let answer = cluster.ask(&etcd, "/v3/kv/range", Some(&question));
    assert_eq!(answer.status, 200);
    assert!(
        answer.body["count"]
            .as_str()
            .unwrap()
            .parse::<u64>()
            .unwrap()
            > 0
    );
}
