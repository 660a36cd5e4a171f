//! A server with everything that it needs, in a folder that is removed afterwards.

#![expect(clippy::disallowed_methods, reason = "a test's own files and clock")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bootlace_server::{Access, ClusterAccess, Limits, Log, Options, PoolsFrom, Server, Stop};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::client::Client;

/// How long something that happens by itself may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// After how long a silent machine has stalled.
pub(crate) const STALLS: Duration = Duration::from_secs(2);

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct World {
    folder: TempDir,
    pub(crate) client: Client,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    pub(crate) stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl World {
    /// Starts a server that serves anybody.
    pub(crate) fn open() -> Self {
        Self::start(Setup::default())
    }

    /// Starts a server that asks for tokens.
    pub(crate) fn with_tokens(tokens: &str) -> Self {
        Self::start(Setup::of_tokens(tokens))
    }

    /// Starts a server that cannot write its audit.
    pub(crate) fn with_full_disk() -> Self {
        Self::start(Setup {
            audit: "/dev/full",
            ..Setup::default()
        })
    }

    /// Starts a server of what is in a cluster.
    pub(crate) fn of_cluster(kubeconfig: PathBuf) -> Self {
        Self::start(Setup {
            cluster: Some(kubeconfig),
            ..Setup::default()
        })
    }

    /// Starts a server.
    pub(crate) fn start(setup: Setup<'_>) -> Self {
        let folder = prepared();
        let path = |name: &str| folder.path().join(name);
        let authority = certify(&folder);
        let access = setup.tokens.map_or(Access::Anybody, |tokens| {
            std::fs::write(path("tokens.yaml"), tokens).unwrap();
            Access::Tokens(path("tokens.yaml"))
        });
        let pools = match setup.cluster {
            Some(kubeconfig) => PoolsFrom::Cluster(ClusterAccess {
                kubeconfig: Some(kubeconfig),
            }),
            None => PoolsFrom::Folder(path("pools")),
        };
        let options = Options {
            pools,
            listen: ([127, 0, 0, 1], 0).into(),
            certificate: path("tls.crt"),
            key: path("tls.key"),
            access,
            kubeconfig: Some(path("kubeconfig")),
            certificates: vec![],
            stalls_after: STALLS,
            audit: Some(path(setup.audit)),
        };
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines = Arc::clone(&log);
        let log_lines = Log::new(move |line| lines.lock().unwrap().push(line.to_owned()));
        let runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let server = runtime.block_on(Server::open(options, setup.limits, log_lines));
        let server = server.unwrap();
        let client = Client::new(server.address(), &authority);
        (setup.before_serving)(folder.path());
        let stop = Stop::default();
        let asked = stop.clone();
        let thread = std::thread::spawn(move || {
            runtime.block_on(server.serve(&asked)).unwrap();
        });
        Self {
            folder,
            client,
            log,
            stop,
            thread: Some(thread),
        }
    }

    /// Returns all that the server said so far.
    pub(crate) fn said(&self) -> String {
        self.log.lock().unwrap().join("\n")
    }

    /// Returns a path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file in place.
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Replaces a file by another.
    pub(crate) fn replace(&self, name: &str, text: &str) {
        self.write("new", text);
        std::fs::rename(self.path("new"), self.path(name)).unwrap();
    }

    /// Removes a folder.
    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_dir_all(self.path(name)).unwrap();
    }

    /// Removes a file.
    pub(crate) fn remove_file(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    /// Makes a new authority and a certificate by it, and returns a client that trusts only that.
    pub(crate) fn certify_again(&self) -> Client {
        let authority = certify(&self.folder);
        self.client.trusting(&authority)
    }

    /// Ends the server and returns its audit.
    pub(crate) fn audit(mut self) -> String {
        self.end();
        std::fs::read_to_string(self.path("audit.jsonl")).unwrap()
    }

    /// Waits until the server has ended.
    pub(crate) fn end(&mut self) {
        self.stop.ask();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.ask();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// How a server is started.
#[derive(Debug, Clone)]
pub(crate) struct Setup<'s> {
    pub(crate) tokens: Option<&'s str>,
    pub(crate) audit: &'s str,
    /// The kubeconfig of the cluster that is served from, if it is not a folder.
    pub(crate) cluster: Option<PathBuf>,
    pub(crate) limits: Limits,
    /// What happens after the server has read its files, and before it serves.
    pub(crate) before_serving: fn(&Path),
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            tokens: None,
            audit: "audit.jsonl",
            cluster: None,
            limits: Limits::default(),
            before_serving: |_| {},
        }
    }
}

impl<'s> Setup<'s> {
    /// A server that asks for tokens.
    pub(crate) fn of_tokens(tokens: &'s str) -> Self {
        Self {
            tokens: Some(tokens),
            ..Self::default()
        }
    }
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An entry of the tokens file.
pub(crate) fn token(token: &str, rest: &str) -> String {
    let hash = Sha256::digest(token.as_bytes());
    let hash = hash
        .iter()
        .fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    format!("- {{sha256: {hash}, {rest}}}\n")
}

/// A config with one file.
pub(crate) fn machine_config(name: &str, mark: &str) -> String {
    format!(
        "apiVersion: machineconfiguration.openshift.io/v1\n\
         kind: MachineConfig\n\
         metadata: {{name: {name}}}\n\
         spec:\n\
         \x20 config:\n\
         \x20   ignition: {{version: 3.2.0}}\n\
         \x20   storage: {{files: [{{path: /etc/mark, contents: {{source: 'data:,{mark}'}}}}]}}\n"
    )
}

/// The pool that names a config.
pub(crate) fn pool(config: &str) -> String {
    format!("kind: MachineConfigPool\nstatus: {{configuration: {{name: {config}}}}}\n")
}

/// Makes a folder with the pools worker, luks and broken.
fn prepared() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("pools/machine-pools/worker.yaml", &pool("rendered-1"));
    write(
        "pools/machine-configs/rendered-1.yaml",
        &machine_config("rendered-1", "one"),
    );
    write("pools/machine-pools/luks.yaml", &pool("luks-1"));
    let luks = "spec: {config: {ignition: {version: 3.2.0}, storage: {luks: \
                [{name: a, device: /dev/x, keyFile: {source: 'data:,k'}}]}}}";
    write("pools/machine-configs/luks-1.yaml", luks);
    write("pools/machine-pools/broken.yaml", "status: [");
    write("kubeconfig", "kind: Config\n");
    folder
}

/// Writes a certificate for 127.0.0.1 and its key; returns the authority, in PEM.
fn certify(folder: &TempDir) -> String {
    let mut authority = rcgen::CertificateParams::new(vec![]).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let key = rcgen::KeyPair::generate().unwrap();
    let server = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let server = server.signed_by(&key, &issuer).unwrap();
    std::fs::write(folder.path().join("tls.key"), key.serialize_pem()).unwrap();
    std::fs::write(folder.path().join("tls.crt"), server.pem()).unwrap();
    certificate.pem()
}
