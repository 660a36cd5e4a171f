//! A real etcd and a real kube-apiserver, as processes of the test.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType,
};
use serde_json::Value;

/// Finds a program: in the folder that is given, or where `bootlace-lab prepare` keeps them.
fn program(name: &str) -> PathBuf {
    if let Some(folder) = std::env::var_os("BOOTLACE_KUBERNETES_BIN") {
        return Path::new(&folder).join(name);
    }
    let home = std::env::var_os("HOME").unwrap_or_default();
    let cache = Path::new(&home).join(".cache/bootlace");
    let of = |component: &str| -> Vec<PathBuf> {
        let folder = std::fs::read_dir(cache.join(component));
        let entries = folder.into_iter().flatten().flatten();
        entries.map(|entry| entry.path().join(name)).collect()
    };
    let found = ["kubernetes", "etcd"]
        .into_iter()
        .flat_map(of)
        .filter(|path| path.is_file());
    let newest = found.max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    newest.unwrap_or_else(|| {
        panic!(
            "there is no {name}: `cargo run -p bootlace-lab -- prepare` builds it, or give its \
                folder as BOOTLACE_KUBERNETES_BIN"
        )
    })
}

/// An API server of this test alone.
pub(crate) struct Cluster {
    folder: tempfile::TempDir,
    port: u16,
    children: Vec<Child>,
}

impl Cluster {
    /// Starts it, and waits until it is ready.
    pub(crate) fn start() -> Self {
        let mut cluster = Self {
            folder: tempfile::tempdir().unwrap(),
            port: free_port(),
            children: vec![],
        };
        cluster.write_secrets();
        cluster.start_etcd();
        cluster.start_api_server();
        cluster.wait_until_ready();
        cluster
    }

    /// A file in the test's own folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.path("kubeconfig")
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    fn write_secrets(&self) {
        let authority_key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, "test");
        let authority = params.self_signed(&authority_key).unwrap();
        let issuer = Issuer::new(params, authority_key);
        let server_key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".into()]).unwrap();
        let loopback = SanType::IpAddress("127.0.0.1".parse().unwrap());
        params.subject_alt_names.push(loopback);
        let server = params.signed_by(&server_key, &issuer).unwrap();
        let write = |name: &str, text: &str| std::fs::write(self.path(name), text).unwrap();
        write("ca.pem", &authority.pem());
        write("server.pem", &server.pem());
        write("server.key", &server_key.serialize_pem());
        let account_key = KeyPair::generate().unwrap();
        write("account.key", &account_key.serialize_pem());
        write("account.pub", &account_key.public_key_pem());
        write("tokens.csv", "sesame,admin,admin,system:masters\n");
        let (ca, port) = (self.text("ca.pem"), self.port);
        write(
            "kubeconfig",
            &format!(
                "apiVersion: v1\nkind: Config\nclusters: [{{name: c, cluster: {{server: \
                 'https://127.0.0.1:{port}', certificate-authority: '{ca}'}}}}]\nusers: [{{name: u, \
                 user: {{token: sesame}}}}]\ncontexts: [{{name: x, context: {{cluster: c, user: \
                 u}}}}]\ncurrent-context: x\n"
            ),
        );
    }

    fn start_etcd(&mut self) {
        let client = format!("unix://{}", self.text("etcd.sock"));
        let peer = format!("unix://{}", self.text("peer.sock"));
        let arguments = [
            format!("--data-dir={}", self.text("etcd")),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=default={peer}"),
            "--unsafe-no-fsync".into(),
            "--log-level=error".into(),
        ];
        self.spawn("etcd", &arguments);
    }

    /// Starts the API server, also a second time after [`Self::stop_api_server`].
    pub(crate) fn start_api_server(&mut self) {
        let arguments = [
            format!("--etcd-servers=unix://{}", self.text("etcd.sock")),
            "--bind-address=127.0.0.1".into(),
            format!("--secure-port={}", self.port),
            format!("--tls-cert-file={}", self.text("server.pem")),
            format!("--tls-private-key-file={}", self.text("server.key")),
            format!("--token-auth-file={}", self.text("tokens.csv")),
            format!("--service-account-key-file={}", self.text("account.pub")),
            format!(
                "--service-account-signing-key-file={}",
                self.text("account.key")
            ),
            "--service-account-issuer=https://test".into(),
            "--service-cluster-ip-range=10.96.0.0/16".into(),
            "--authorization-mode=RBAC".into(),
            "--disable-admission-plugins=ServiceAccount".into(),
            "--endpoint-reconciler-type=none".into(),
            "--allow-privileged".into(),
        ];
        self.spawn("kube-apiserver", &arguments);
    }

    /// Kills the API server, as a machine's crash would.
    pub(crate) fn stop_api_server(&mut self) {
        let mut server = self.children.pop().unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
    }

    fn spawn(&mut self, program: &str, arguments: &[String]) {
        let log = std::fs::File::create(self.path(&format!("{program}.log"))).unwrap();
        let child = Command::new(self::program(program))
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.children.push(child);
    }

    /// Waits until the API server is ready to serve.
    pub(crate) fn wait_until_ready(&mut self) {
        wait_for(Duration::from_mins(2), "the API server is ready", || {
            for child in &mut self.children {
                if let Some(status) = child.try_wait().unwrap() {
                    let log =
                        std::fs::read_to_string(self.folder.path().join("kube-apiserver.log"));
                    panic!("{status}\n{}", log.unwrap_or_default());
                }
            }
            let ready = kubectl_command(self.folder.path())
                .args(["get", "--raw", "/readyz"])
                .output()
                .unwrap();
            ready.status.success().then_some(())
        });
    }

    /// Runs kubectl, which must succeed.
    pub(crate) fn kubectl(&self, words: &[&str]) -> String {
        let output = kubectl_command(self.folder.path())
            .args(words)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {words:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Applies a text as somebody who is not the operator.
    pub(crate) fn apply(&self, text: &str) {
        let file = self.path("apply.yaml");
        std::fs::write(&file, text).unwrap();
        self.kubectl(&["apply", "-f", &file.to_string_lossy()]);
    }

    /// Returns an object; null if it is not there.
    pub(crate) fn get(&self, words: &[&str]) -> Value {
        let words: Vec<&str> = ["get", "--ignore-not-found", "-o", "json"]
            .into_iter()
            .chain(words.iter().copied())
            .collect();
        let text = self.kubectl(&words);
        if text.trim().is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn kubectl_command(folder: &Path) -> Command {
    let mut command = Command::new(program("kubectl"));
    command.arg("--kubeconfig").arg(folder.join("kubeconfig"));
    // Its discovery cache would outlive the test, and remember the kinds of others.
    command.arg("--cache-dir").arg(folder.join("cache"));
    command
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Looks again and again until there is something to see.
pub(crate) fn wait_for<T>(within: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begin.elapsed() < within, "not within {within:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
