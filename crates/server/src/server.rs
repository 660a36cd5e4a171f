//! The server as a whole: opened with everything checked, then run until it is asked to stop.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use bootlace_model::fault::{Fault, FaultKind};

use crate::audit::Audit;
use crate::cache::Cache;
use crate::cluster::{self, ClusterAccess, Store};
use crate::folder::Folder;
use crate::limits::Limits;
use crate::log::Log;
use crate::pools::{Origin, Pools};
use crate::progress::Progress;
use crate::reload::{self, Watched};
use crate::site::{Gate, Site};
use crate::stop::Stop;
use crate::tls::{self, Identity};
use crate::tokens::Tokens;
use crate::{disk, listen};

/// How long is waited for threads that read files when the server ends.
const LINGERS: Duration = Duration::from_secs(1);

/// Files that are open besides connections, at most: those that are read, the log, the runtime's.
const OTHER_FILES: usize = 256;

/// What to serve, where, and to whom.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where pools and their configs come from.
    pub pools: PoolsFrom,
    /// Where to listen.
    pub listen: SocketAddr,
    /// The certificate, in PEM, with those that lead to its authority.
    pub certificate: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
    /// Who may ask.
    pub access: Access,
    /// The kubeconfig that every machine gets.
    pub kubeconfig: Option<PathBuf>,
    /// Registries, and the authorities that machines shall trust for them.
    pub certificates: Vec<(String, PathBuf)>,
    /// After how long a machine that tells nothing counts as stalled.
    pub stalls_after: Duration,
    /// Where to write a line for each answer; to stderr if it is none.
    pub audit: Option<PathBuf>,
}

/// Where pools and their configs come from.
#[derive(Debug, Clone)]
pub enum PoolsFrom {
    /// A folder.
    Folder(PathBuf),
    /// A Kubernetes cluster.
    Cluster(ClusterAccess),
}

/// Who may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Whoever has a token whose hash is in this file.
    Tokens(PathBuf),
    /// Anybody who reaches the server.
    Anybody,
}

/// A server that listens, and does not answer yet.
pub struct Server {
    site: Arc<Site>,
    listener: TcpListener,
    address: SocketAddr,
    identity: Watched<2>,
    tokens: Option<Watched<1>>,
    cluster: Option<(kube::Client, Arc<Store>)>,
    limits: Limits,
    log: Log,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server at {}", self.address)
    }
}

impl Server {
    /// Reads everything that is needed, and begins to listen; refuses what cannot work. Needs a
    /// runtime around it.
    pub async fn open(options: Options, limits: Limits, log: Log) -> Result<Self, Fault> {
        let (origin, cluster) = origin(options.pools).await?;
        let pools = Pools {
            origin,
            kubeconfig: options.kubeconfig,
            certificates: options.certificates,
        };
        if let Some(path) = &pools.kubeconfig {
            disk::read(path).map_err(|error| unreadable(path, &error))?;
        }
        for (_, path) in &pools.certificates {
            disk::read(path).map_err(|error| unreadable(path, &error))?;
        }
        let (identity, identity_files) = identity(options.certificate, options.key)?;
        let (gate, tokens) = match options.access {
            Access::Tokens(path) => {
                let file = Watched::new([path]);
                (gate(&file.paths()[0])?, Some(file))
            }
            Access::Anybody => (Gate::Open, None),
        };
        let audit = Audit::open(options.audit.as_deref());
        let audit = audit.map_err(|error| no_audit(options.audit.as_deref(), &error))?;
        let (listener, address) = bind(options.listen)?;
        Ok(Self {
            site: Arc::new(Site::new(
                Cache::new(pools, limits.pool_returns_within),
                gate,
                audit,
                identity,
                Progress::new(options.stalls_after),
            )),
            listener,
            address,
            identity: identity_files,
            tokens,
            cluster,
            limits,
            log,
        })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until it is asked to stop, and ends what is under way. Needs a runtime around it.
    pub async fn serve(self, stop: &Stop) -> Result<(), Fault> {
        let internal = |what: &str, why: &dyn std::fmt::Display| {
            Fault::internal(format!("cannot {what}: {why}"))
        };
        let listener = tokio::net::TcpListener::from_std(self.listener)
            .map_err(|error| internal("listen", &error))?;
        let tls = tls::config(Arc::clone(&self.site.identity))
            .map_err(|error| internal("set TLS up", &error))?;
        let site = Arc::clone(&self.site);
        let watch = reload::watch(site, self.identity, self.tokens, self.log.clone());
        let watch = tokio::spawn(watch);
        let cluster = self.cluster.map(|(client, store)| {
            let site = Arc::clone(&self.site);
            tokio::spawn(cluster::watch(client, store, site, self.log.clone()))
        });
        let site = Arc::clone(&self.site);
        listen::serve(site, listener, Arc::new(tls), self.log, self.limits, stop).await;
        watch.abort();
        if let Some(cluster) = cluster {
            cluster.abort();
        }
        self.site.audit.close();
        Ok(())
    }

    fn greet(&self) {
        let pools = match self.site.cache.pools().list() {
            Ok(pools) if pools.is_empty() => "none yet".to_owned(),
            Ok(pools) => {
                let pools: Vec<&str> = pools.iter().map(crate::name::Name::as_str).collect();
                pools.join(", ")
            }
            Err(_) => "those of the cluster, as soon as it tells".to_owned(),
        };
        self.log
            .say(&format!("serving https://{}, pools: {pools}", self.address));
        for insecure in crate::status::insecure(&self.site) {
            self.log.say(&format!("INSECURE: {insecure}"));
        }
    }
}

/// Serves until `SIGTERM` or `SIGINT`.
pub fn run(options: Options, log: &Log) -> Result<(), Fault> {
    let limits = within_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime
        .map_err(|error| Fault::internal(format!("cannot start threads to answer: {error}")))?;
    let (log, rest) = log.clone().in_background();
    let served = runtime.block_on(async {
        let server = Server::open(options, limits, log.clone()).await?;
        let stop = Stop::default();
        stop.on_signals()?;
        server.greet();
        server.serve(&stop).await
    });
    // Whatever a thread still waits for, such as a disk that is gone, must not keep us from ending.
    runtime.shutdown_timeout(LINGERS);
    if served.is_ok() {
        log.say("ended");
    }
    rest.write();
    served
}

/// Raises the limit of open files as far as the kernel allows, and shares out as many connections as fit.
fn within_file_limit() -> Limits {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // If this is refused, the limit stays as it is.
    let _ = setrlimit(Resource::Nofile, raised);
    let limits = Limits::default();
    match getrlimit(Resource::Nofile).current {
        Some(files) => {
            let files = usize::try_from(files).unwrap_or(usize::MAX);
            let left = files.saturating_sub(OTHER_FILES).max(1);
            Limits::of(left.min(limits.connections))
        }
        None => limits,
    }
}

/// Reads by what the server proves who it is, from files that are watched from then on.
fn identity(certificate: PathBuf, key: PathBuf) -> Result<(Identity, Watched<2>), Fault> {
    let files = Watched::new([certificate, key]);
    let [certificate, key] = files.paths();
    let identity = Identity::read(certificate, key).map_err(|(file, why)| {
        Fault::bad_input(format!("the server cannot prove who it is: {why}"))
            .in_file(file.display().to_string())
            .because("machines are served over TLS only")
            .hint("give a certificate and its key, in PEM, with --cert and --key")
    })?;
    Ok((identity, files))
}

fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Fault> {
    let listener = TcpListener::bind(address);
    let bound = listener.and_then(|listener| {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    bound.map_err(|error| {
        Fault::new(
            FaultKind::Preflight,
            format!("cannot listen on {address}: {error}"),
        )
        .hint("give another address with --listen, or end what listens there")
    })
}

fn gate(path: &Path) -> Result<Gate, Fault> {
    let (content, _) = disk::read(path).map_err(|error| unreadable(path, &error))?;
    let tokens = Tokens::parse(&content).map_err(|why| {
        Fault::bad_input(format!("the tokens cannot be used: {why}"))
            .in_file(path.display().to_string())
            .because("nobody could be let in, or the wrong ones")
            .hint("write `tokens: [{sha256: HEX, pool: NAME, expires: 2030-01-31T00:00:00Z}]`; `printf %s TOKEN | sha256sum` prints HEX")
    })?;
    Ok(Gate::Tokens(RwLock::new(Arc::new(tokens))))
}

/// Finds out where pools come from.
async fn origin(from: PoolsFrom) -> Result<(Origin, Option<(kube::Client, Arc<Store>)>), Fault> {
    match from {
        PoolsFrom::Folder(path) => {
            let folder = Folder(path);
            folder.list().map_err(|error| no_pools(&folder, &error))?;
            Ok((Origin::Folder(folder), None))
        }
        PoolsFrom::Cluster(access) => {
            let client = cluster::connect(&access).await?;
            let store = Arc::<Store>::default();
            let origin = Origin::Cluster(Arc::clone(&store));
            Ok((origin, Some((client, store))))
        }
    }
}

fn no_pools(folder: &Folder, error: &str) -> Fault {
    Fault::bad_input(format!("there are no pools to serve: {error}"))
        .in_file(folder.0.join("machine-pools").display().to_string())
        .because("the folder must hold machine-pools/POOL.yaml and machine-configs/NAME.yaml")
        .hint("give that folder with --pools")
}

fn no_audit(path: Option<&Path>, error: &io::Error) -> Fault {
    let fault = Fault::new(
        FaultKind::Preflight,
        format!("the audit log cannot be opened: {error}"),
    );
    let fault = fault.because("nobody could tell afterwards who got which config");
    match path {
        Some(path) => fault.in_file(path.display().to_string()),
        None => fault,
    }
    .hint("give a file that can be written with --audit")
}

fn unreadable(path: &Path, error: &io::Error) -> Fault {
    Fault::bad_input(format!(
        "a file that is served from cannot be read: {error}"
    ))
    .in_file(path.display().to_string())
}
