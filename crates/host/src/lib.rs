//! The real world behind the engine's port.
//!
//! One neighbour, one file. Nothing here decides: it does what it is told, tells what it found, and
//! sees to it that no path leaves its root, no secret is readable for a moment, no child is left
//! behind and no wait lasts for ever.
//!
//! | module | neighbour |
//! |---|---|
//! | `roots` | where paths on the target lie on this computer |
//! | `resolve` | folders, opened so that no link leads out of the root |
//! | `dir`, `attributes` | files, folders and links; their modes, owners and labels |
//! | `sync`, `log`, `lock` | durability, the journal's file, one writer at a time |
//! | `exec` | programs |
//! | `network` | the runtime on which everything waits that talks over a socket |
//! | `http`, `retry` | downloads |
//! | `cluster` | APIs over verified TLS |
//! | [`pki`] | keys and certificates; pure, so that fake hosts can use it |
//! | `machine` | what the machine says of itself; units, containers, what they leave behind |
//! | `clock`, [`signals`] | time and stopping |
//! | [`limits`] | how much the kernel grants this process |

mod attributes;
mod clock;
mod cluster;
mod dir;
mod error;
mod exec;
mod http;
pub mod limits;
mod lock;
mod log;
mod machine;
mod network;
pub mod pki;
mod resolve;
mod retry;
mod roots;
pub mod signals;
mod sync;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bootlace_engine::port::{
    Command, Dir, FetchRequest, Host, HostError, HostResult, Lock, LogFile, Output, Signer,
};
use bootlace_model::ids::BootId;
use bootlace_model::node::Owner;
use bootlace_model::path::TargetPath;
use bootlace_model::pki::{CertificateFacts, CertificateRequest, KeyAlgorithm};
use bootlace_model::secret::Secret;

pub use crate::clock::StopHandle;
pub use crate::http::Proxy;

use crate::cluster::Apis;
use crate::dir::RealDir;
use crate::error::refused;
use crate::http::{Http, Trust};
use crate::machine::kernel;
use crate::machine::runtime::Runtime;
use crate::network::Network;
use crate::resolve::{LostWay, OpenFolder, Resolver};
use crate::roots::Roots;

/// Where containerd listens.
const RUNTIME_SOCKET: &str = "/run/containerd/containerd.sock";

/// This computer, with a root that may lie below its own.
#[derive(Debug)]
pub struct RealHost {
    roots: Roots,
    resolver: Resolver,
    stop: StopHandle,
    http: Http,
    apis: Apis,
    runtime: Runtime,
}

/// Collects where a host's paths lie.
#[derive(Debug)]
pub struct RealHostBuilder {
    roots: Roots,
    resolver: Resolver,
    trust: Trust,
    proxy: Option<Proxy>,
    runtime_socket: Option<PathBuf>,
}

impl RealHostBuilder {
    /// Puts the target's root into a folder; without this it is `/`.
    #[must_use]
    pub fn root(mut self, real: impl AsRef<Path>) -> Self {
        self.roots.set_root(real.as_ref());
        self
    }

    /// Lets a folder stand for a path on the target, wherever it lies.
    ///
    /// Without `writable` it is an input, and changing anything there is refused.
    #[must_use]
    pub fn mount(mut self, at: TargetPath, real: impl AsRef<Path>, writable: bool) -> Self {
        self.roots.mount(at, real.as_ref(), writable);
        self
    }

    /// Reaches https servers through a proxy, or through none, whatever the environment says.
    #[must_use]
    pub fn proxy(mut self, proxy: Option<Proxy>) -> Self {
        self.proxy = proxy;
        self
    }

    /// Asks a container runtime at another socket than the usual one, also for a root in a folder.
    #[must_use]
    pub fn runtime_socket(mut self, socket: impl Into<PathBuf>) -> Self {
        self.runtime_socket = Some(socket.into());
        self
    }

    /// Makes the host; touches nothing.
    pub fn build(self) -> RealHost {
        let network = Arc::new(Network::default());
        // The runtime of this machine has nothing to do with a root in a folder.
        let default = || self.roots.is_live().then(|| RUNTIME_SOCKET.into());
        let socket = self.runtime_socket.or_else(default);
        RealHost {
            roots: self.roots,
            resolver: self.resolver,
            stop: StopHandle::default(),
            apis: Apis::new(self.trust.clone(), Arc::clone(&network)),
            http: Http::new(self.trust, self.proxy, Arc::clone(&network)),
            runtime: Runtime::new(socket, network),
        }
    }
}

impl RealHost {
    /// Begins with the root `/`, nothing mounted, and the proxy that the environment names.
    pub fn builder() -> RealHostBuilder {
        RealHostBuilder {
            roots: Roots::new(Path::new("/")),
            resolver: Resolver::Best,
            trust: Trust::default(),
            proxy: Proxy::from_environment(),
            runtime_socket: None,
        }
    }

    /// Makes the folder of the root and those of the writable mounts, as far as they are missing.
    ///
    /// Called before something is run; planning works without and makes nothing.
    pub fn ensure(&self) -> HostResult<()> {
        self.roots.ensure()
    }

    /// Returns what asks this host to stop.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Returns where a path lies on this computer, for people; links on the way are not followed.
    pub fn real_path(&self, path: &TargetPath) -> PathBuf {
        self.roots.real_path(path)
    }

    /// Opens a folder, and tells whether it may be changed.
    fn open(&self, path: &TargetPath) -> HostResult<Option<(OpenFolder, bool)>> {
        let (mount, rest) = self.roots.locate(path);
        match self.resolver.open(mount.real(), rest) {
            Ok(folder) => Ok(Some((folder, mount.is_writable()))),
            Err(LostWay::Absent) => Ok(None),
            Err(LostWay::Escape) => Err(HostError::Escape {
                path: path.to_string(),
            }),
            Err(LostWay::Foreign(user)) => Err(HostError::ForeignLink {
                path: path.to_string(),
                user,
            }),
            Err(LostWay::Refused(errno)) => Err(refused("open", path.as_str(), errno)),
        }
    }

    /// Opens the folder in which a program runs.
    fn working_folder(&self, wanted: Option<&TargetPath>) -> HostResult<OpenFolder> {
        let root = TargetPath::root();
        let path = wanted.unwrap_or(&root);
        if let Some((folder, _)) = self.open(path)? {
            return Ok(folder);
        }
        match wanted {
            // A plan may ask a program before there is a root.
            None => Resolver::Best
                .open(Path::new("/"), "")
                .map_err(|_| refused("open", "/", std::io::ErrorKind::NotFound)),
            Some(_) => Err(refused("open", path.as_str(), std::io::ErrorKind::NotFound)),
        }
    }
}

impl Host for RealHost {
    fn open_dir(&self, path: &TargetPath) -> HostResult<Option<Box<dyn Dir>>> {
        match self.open(path)? {
            None => Ok(None),
            Some((folder, writable)) => Ok(Some(Box::new(RealDir::new(
                path.clone(),
                folder,
                writable,
            )?))),
        }
    }

    fn sync_files(&self, files: &[(&dyn Dir, &str)]) -> HostResult<()> {
        sync::files(files)
    }

    fn sync_dirs(&self, dirs: &[&dyn Dir]) -> HostResult<()> {
        sync::dirs(dirs)
    }

    fn open_log(&self, dir: &dyn Dir, name: &str) -> HostResult<Box<dyn LogFile>> {
        log::open(dir, name)
    }

    fn lock(&self, dir: &dyn Dir, name: &str) -> HostResult<Box<dyn Lock>> {
        lock::take(dir, name)
    }

    fn lock_holder(&self, dir: &dyn Dir, name: &str) -> HostResult<Option<String>> {
        lock::holder(dir, name)
    }

    fn interrupt_holder(&self, dir: &dyn Dir, name: &str, within: Duration) -> HostResult<()> {
        lock::interrupt_holder(dir, name, within)
    }

    fn run(&self, command: &Command<'_>) -> HostResult<Output> {
        self.run_patiently(command, Duration::ZERO)
    }

    fn run_patiently(&self, command: &Command<'_>, patience: Duration) -> HostResult<Output> {
        let folder = self.working_folder(command.directory)?;
        exec::run(command, &folder.handle, &self.stop, patience)
    }

    fn fetch(&self, request: &FetchRequest<'_>) -> HostResult<Vec<u8>> {
        self.http.fetch(request, &self.stop)
    }

    fn http_status(&self, request: &FetchRequest<'_>) -> HostResult<u16> {
        self.http.status(request, &self.stop)
    }

    fn make_key(&self, algorithm: KeyAlgorithm) -> HostResult<Secret> {
        pki::make_key(algorithm)
    }

    fn secret_bits(&self) -> HostResult<Secret> {
        pki::secret_bits()
    }

    fn public_key(&self, key: &Secret) -> HostResult<String> {
        pki::public_key(key)
    }

    fn issue(
        &self,
        request: &CertificateRequest,
        key: &Secret,
        signer: Signer<'_>,
    ) -> HostResult<String> {
        pki::issue(request, key, signer, clock::now())
    }

    fn inspect(
        &self,
        certificate: &[u8],
        key: Option<&Secret>,
        issuer: Option<&[u8]>,
    ) -> HostResult<CertificateFacts> {
        pki::inspect(certificate, key, issuer)
    }

    fn now(&self) -> jiff::Timestamp {
        clock::now()
    }

    fn steady(&self) -> Duration {
        clock::steady()
    }

    fn sleep(&self, how_long: Duration) -> HostResult<()> {
        clock::sleep(how_long, &self.stop)
    }

    fn stop_requested(&self) -> bool {
        self.stop.is_requested()
    }

    fn random(&self) -> u64 {
        kernel::random()
    }

    fn boot_id(&self) -> HostResult<BootId> {
        kernel::boot_id()
    }

    fn host_name(&self) -> HostResult<String> {
        kernel::host_name()
    }

    fn identity(&self) -> Owner {
        attributes::identity()
    }
}
