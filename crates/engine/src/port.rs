//! The one port through which the engine touches the world.
//!
//! It is low on purpose: files, programs, downloads, keys, a clock. How a file is replaced safely,
//! when something is synced and how it is taken back is decided above it, once, so that the fake
//! host of the crash tests and the real one run the same code.

mod cluster;
mod machine;
mod service;

use std::any::Any;
use std::fmt::Debug;
use std::time::Duration;

use bootlace_model::ids::{BootId, Digest};
use bootlace_model::node::{Attributes, Owner, SpecialKind, Xattrs};
use bootlace_model::path::TargetPath;
use bootlace_model::pki::{CertificateFacts, CertificateRequest, KeyAlgorithm};
use bootlace_model::secret::Secret;
pub use cluster::{
    ApiAnswer, ApiRequest, Applied, ApplyRequest, Cluster, Credentials, HasRequest, RewriteRequest,
};
pub use machine::{ContainerState, ContainerStatus, Machine, UnitActivity};
pub use service::{Asked, ServiceQuestion, ServiceRequest};

/// Why something in the world could not be done.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The operating system refused.
    #[error("cannot {act} {target}: {error}")]
    Io {
        /// What was tried, as a verb: `read`, `rename`.
        act: &'static str,
        /// On what.
        target: String,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// A path led out of the root, or through too many links.
    #[error("{path} leads out of the root or through too many links")]
    Escape {
        /// Which path.
        path: String,
    },
    /// A path led through a link of another user to what is not that user's.
    #[error("{path} passes through a symbolic link of user {user} to a folder with another owner")]
    ForeignLink {
        /// Which path.
        path: String,
        /// The number of the user.
        user: u32,
    },
    /// Something is larger than what is accepted.
    #[error("{target} is larger than {limit} bytes")]
    TooLarge {
        /// What.
        target: String,
        /// The limit.
        limit: u64,
    },
    /// A path lies in a place that is only read.
    #[error("{path} lies in an input folder, which is never written")]
    ReadOnly {
        /// Which path.
        path: String,
    },
    /// It took too long.
    #[error("{what} did not end within {} s", within.as_secs_f32())]
    TimedOut {
        /// What.
        what: String,
        /// How long it had.
        within: Duration,
    },
    /// A download failed for good.
    #[error("cannot fetch {url}: {reason}")]
    Fetch {
        /// From where.
        url: String,
        /// Why.
        reason: String,
    },
    /// Downloaded content is not what was promised.
    #[error("{url} has the digest {found}, not {wanted}")]
    WrongDigest {
        /// From where.
        url: String,
        /// What was promised.
        wanted: Digest,
        /// What came.
        found: Digest,
    },
    /// A key or a certificate cannot be read or made.
    #[error("{0}")]
    Crypto(String),
    /// A server's certificate cannot be trusted; asking again changes nothing.
    #[error("{server} cannot be trusted: {reason}")]
    Untrusted {
        /// Which server.
        server: String,
        /// Why.
        reason: String,
    },
    /// An API does not answer; it may later.
    #[error("{server} does not answer: {reason}")]
    Unreachable {
        /// Which server.
        server: String,
        /// Why.
        reason: String,
    },
    /// Another live process holds a lock.
    #[error("{path} is held by {holder}")]
    Locked {
        /// Which lock.
        path: String,
        /// Who: process id and command.
        holder: String,
    },
    /// The process was asked to stop while it waited.
    #[error("stopped on request")]
    Stopped,
    /// The host is gone: only fake hosts say so, when a test crashes them.
    #[error("the machine crashed")]
    Crashed,
}

/// The result of touching the world.
pub type HostResult<T> = Result<T, HostError>;

/// The world.
pub trait Host: Machine + Cluster + Sync {
    /// Opens a folder; none if nothing is there. Links on the way stay inside the root.
    fn open_dir(&self, path: &TargetPath) -> HostResult<Option<Box<dyn Dir>>>;
    /// Makes written files durable, each named by its folder and its name there.
    fn sync_files(&self, files: &[(&dyn Dir, &str)]) -> HostResult<()>;
    /// Makes names in folders durable: what was created, renamed or removed there.
    fn sync_dirs(&self, dirs: &[&dyn Dir]) -> HostResult<()>;
    /// Opens a file that only grows, making it (mode 0600) if it is absent.
    fn open_log(&self, dir: &dyn Dir, name: &str) -> HostResult<Box<dyn LogFile>>;
    /// Takes a lock without waiting; it is given back when the value is dropped or the process dies.
    fn lock(&self, dir: &dyn Dir, name: &str) -> HostResult<Box<dyn Lock>>;
    /// Names the live holder of a lock, if there is one; takes nothing.
    fn lock_holder(&self, dir: &dyn Dir, name: &str) -> HostResult<Option<String>>;
    /// Interrupts the live holder of a lock, and waits at most so long until it gives the lock back.
    fn interrupt_holder(&self, dir: &dyn Dir, name: &str, within: Duration) -> HostResult<()>;

    /// Runs a program to its end, and kills it with all its children when time is up.
    fn run(&self, command: &Command<'_>) -> HostResult<Output>;
    /// Runs a program that should not be cut off: once a stop was asked for it may go on for so
    /// long, to come to its end by itself.
    fn run_patiently(&self, command: &Command<'_>, patience: Duration) -> HostResult<Output> {
        let _ = patience;
        self.run(command)
    }
    /// Downloads into memory, with retries; the digest is checked by the caller.
    fn fetch(&self, request: &FetchRequest<'_>) -> HostResult<Vec<u8>>;
    /// Asks a URL once and returns the status.
    fn http_status(&self, request: &FetchRequest<'_>) -> HostResult<u16>;

    /// Makes a private key as PKCS#8 in PEM.
    fn make_key(&self, algorithm: KeyAlgorithm) -> HostResult<Secret>;
    /// Returns [`bootlace_model::token::BYTES`] random bytes that nobody can guess.
    fn secret_bits(&self) -> HostResult<Secret>;
    /// Returns the public half, in PEM, of a private key; fails if it is none.
    fn public_key(&self, key: &Secret) -> HostResult<String>;
    /// Issues a certificate in PEM.
    fn issue(
        &self,
        request: &CertificateRequest,
        key: &Secret,
        signer: Signer<'_>,
    ) -> HostResult<String>;
    /// Reads a certificate and compares it with a key and an issuer where they are given.
    fn inspect(
        &self,
        certificate: &[u8],
        key: Option<&Secret>,
        issuer: Option<&[u8]>,
    ) -> HostResult<CertificateFacts>;

    /// Returns the time of day, which may be set back or forward at any moment.
    fn now(&self) -> jiff::Timestamp;
    /// Returns the time since an arbitrary moment of this boot. Deadlines and durations are measured with it.
    fn steady(&self) -> Duration;
    /// Waits, but not longer than until the process is asked to stop.
    fn sleep(&self, how_long: Duration) -> HostResult<()>;
    /// Tells whether the process was asked to stop.
    fn stop_requested(&self) -> bool;
    /// Returns random bits, for names only.
    fn random(&self) -> u64;
    /// Identifies this boot.
    fn boot_id(&self) -> HostResult<BootId>;
    /// Returns what the machine calls itself.
    fn host_name(&self) -> HostResult<String>;
    /// Returns who owns what this process creates.
    fn identity(&self) -> Owner;
}

/// Whose signature a certificate gets.
#[derive(Debug, Clone, Copy)]
pub enum Signer<'a> {
    /// Its own.
    Itself,
    /// An authority's.
    Authority {
        /// The authority's certificate in PEM.
        certificate: &'a [u8],
        /// The authority's key.
        key: &'a Secret,
    },
}

/// What a name in a folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stat {
    /// A regular file.
    File {
        /// Its length.
        size: u64,
        /// Mode bits.
        mode: u32,
        /// Who owns it.
        owner: Owner,
    },
    /// A folder.
    Directory {
        /// Mode bits.
        mode: u32,
        /// Who owns it.
        owner: Owner,
    },
    /// A symbolic link.
    Link {
        /// What it points to.
        target: String,
        /// Who owns it.
        owner: Owner,
    },
    /// A pipe or a socket.
    Special {
        /// Which of them.
        kind: SpecialKind,
        /// Mode bits.
        mode: u32,
        /// Who owns it.
        owner: Owner,
    },
    /// Something else, in words: `a block device`.
    Other(String),
}

/// Which file it is: equal for two names of the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    /// The filesystem.
    pub device: u64,
    /// The file on it.
    pub inode: u64,
}

/// An open folder. Names are single parts; they are never followed if they are links.
///
/// Nothing that a method changes is durable before the host's `sync_files` or `sync_dirs`.
/// It is [`Any`] so that a host to which a folder is handed back can find its own handle in it.
pub trait Dir: Any + Send + Sync + Debug {
    /// Returns the path by which it was opened, for messages.
    fn path(&self) -> &TargetPath;
    /// Tells what a name is; none if it is absent.
    fn stat(&self, name: &str) -> HostResult<Option<Stat>>;
    /// Reads a regular file; fails if it is larger than the limit or no regular file.
    fn read(&self, name: &str, limit: u64) -> HostResult<Vec<u8>>;
    /// Tells what a regular file hashes to and how long it is, without holding it in memory.
    fn digest(&self, name: &str, limit: u64) -> HostResult<(Digest, u64)> {
        let content = self.read(name, limit)?;
        Ok((Digest::of(&content), content.len() as u64))
    }
    /// Reads the extended attributes that undo would have to restore.
    fn xattrs(&self, name: &str) -> HostResult<Xattrs>;
    /// Lists the names, sorted.
    fn list(&self) -> HostResult<Vec<String>>;
    /// Creates a file that must not exist, from the first instant at most as readable as it ends.
    fn create(&self, name: &str, content: &[u8], attributes: &Attributes) -> HostResult<()>;
    /// Adds to the end of a regular file.
    fn append(&self, name: &str, content: &[u8]) -> HostResult<()>;
    /// Creates a folder that must not exist.
    fn create_dir(&self, name: &str, attributes: &Attributes) -> HostResult<()>;
    /// Gives a file, of this folder or another, a further name here that must not exist; a symbolic
    /// link is not followed.
    fn create_hard_link(
        &self,
        name: &str,
        existing: &dyn Dir,
        existing_name: &str,
    ) -> HostResult<()>;
    /// Tells which file a name refers to, so that two names of one file can be known as such; none
    /// if it is absent.
    fn identity(&self, name: &str) -> HostResult<Option<FileIdentity>>;
    /// Creates a pipe or a socket that must not exist; nobody listens on it.
    fn create_special(
        &self,
        name: &str,
        kind: SpecialKind,
        attributes: &Attributes,
    ) -> HostResult<()>;
    /// Creates a symbolic link that must not exist.
    fn create_link(&self, name: &str, target: &str) -> HostResult<()>;
    /// Gives a file or a folder these attributes.
    fn set_attributes(&self, name: &str, attributes: &Attributes) -> HostResult<()>;
    /// Gives a name another owner without following it; for links.
    fn set_owner(&self, name: &str, owner: Owner) -> HostResult<()>;
    /// Renames within the folder, replacing what is there.
    fn rename(&self, from: &str, to: &str) -> HostResult<()>;
    /// Removes a file or a link.
    fn remove(&self, name: &str) -> HostResult<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, name: &str) -> HostResult<()>;
}

/// A file that only grows.
pub trait LogFile: Send + Debug {
    /// Reads from an offset until the buffer is full or the file ends; returns how much.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> HostResult<usize>;
    /// Returns the length.
    fn length(&self) -> HostResult<u64>;
    /// Writes at the end.
    fn append(&mut self, bytes: &[u8]) -> HostResult<()>;
    /// Cuts the end off and makes that durable.
    fn truncate(&mut self, length: u64) -> HostResult<()>;
    /// Returns a handle that makes all that was appended so far durable, beside other writers.
    fn syncer(&self) -> HostResult<Box<dyn LogSync>>;
}

/// Makes a growing file durable.
pub trait LogSync: Send + Sync + Debug {
    /// Returns when everything that was appended before the call is durable.
    fn sync(&self) -> HostResult<()>;
}

/// A lock that is held while this lives.
pub trait Lock: Send + Sync + Debug {}

/// A program to run.
#[derive(Debug, Clone)]
pub struct Command<'a> {
    /// The program and its arguments; the program is looked up in a fixed, safe `PATH`.
    pub argv: &'a [String],
    /// Added to an otherwise almost empty environment.
    pub env: Vec<(&'a str, &'a str)>,
    /// Where it runs; the root if none is given.
    pub directory: Option<&'a TargetPath>,
    /// How long it may take.
    pub within: Duration,
    /// How much of each stream is kept; the rest is counted and thrown away.
    pub keep: usize,
    /// What it reads, at most [`LARGEST_INPUT`]; nothing if there is none.
    pub input: Option<&'a Secret>,
}

/// How many bytes a program may be given to read: what a pipe takes in one go.
pub const LARGEST_INPUT: usize = 4096;

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The beginning of what it printed.
    pub stdout: Vec<u8>,
    /// The end of what it complained about.
    pub stderr: Vec<u8>,
}

/// Something to download.
#[derive(Debug, Clone)]
pub struct FetchRequest<'a> {
    /// From where.
    pub url: &'a str,
    /// Authorities in PEM to trust instead of the system's.
    pub authorities: Option<&'a [u8]>,
    /// Whether the system's authorities are trusted beside those that are given.
    pub trusts_system: bool,
    /// Headers to send, but not to where a redirect leads.
    pub headers: &'a [(String, String)],
    /// The most bytes that are accepted.
    pub limit: u64,
    /// How long all tries together may take.
    pub within: Duration,
}
