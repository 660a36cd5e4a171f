//! A disk that remembers all it is told: a file that this process serves to the kernel.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::fuse::{self, Request};
use super::image::Image;
use super::record::Record;
use super::space::Space;

/// A disk that writes down every write and every flush.
///
/// This process must not touch a filesystem on such a disk itself: killed in the middle of that, it
/// would wait for its own answer for ever. Other processes do that.
#[derive(Debug)]
pub struct Disk {
    path: PathBuf,
    faults: Arc<Faults>,
    server: Option<JoinHandle<Result<()>>>,
}

/// What fails, once.
#[derive(Debug, Default)]
struct Faults {
    /// Counts down to the flush that does; none at 0.
    flushes: AtomicU64,
    /// What the write contains that does.
    writes: Mutex<Option<Vec<u8>>>,
}

impl Faults {
    fn writes(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether this flush fails.
    fn hits_flush(&self) -> bool {
        let (flushes, order) = (&self.flushes, Ordering::SeqCst);
        flushes.fetch_update(order, order, |left| left.checked_sub(1)) == Ok(1)
    }

    /// Tells whether this write fails.
    fn hits_write(&self, data: &[u8]) -> bool {
        let mut writes = self.writes();
        let contains = |bytes: &Vec<u8>| data.windows(bytes.len()).any(|part| part == bytes);
        writes.take_if(|bytes| contains(bytes)).is_some()
    }
}

impl Disk {
    /// Serves a disk that holds `content`, as a file of that name in a space.
    pub fn serve(
        space: &Space,
        name: &str,
        content: Image,
        record: &Record,
        number: usize,
    ) -> Result<Self> {
        let path = space.path(name);
        let kernel = open_device()?;
        space.write(name, &Image::default())?;
        let faults = Arc::new(Faults::default());
        let session = Session {
            kernel: kernel.try_clone()?,
            content,
            record: record.clone(),
            number,
            faults: Arc::clone(&faults),
        };
        let mut mount = space.command("mount");
        mount
            .args(["-i", "-t", "fuse", "-o"])
            .arg("fd=0,rootmode=100600,user_id=0,group_id=0")
            .arg(name)
            .arg(&path)
            .stdin(Stdio::from(kernel));
        Space::must(mount)?;
        // There is nothing to read before the mount; its first request waits until now.
        let server = std::thread::Builder::new()
            .name(format!("disk-{name}"))
            .spawn(move || session.serve())?;
        Ok(Self {
            path,
            faults,
            server: Some(server),
        })
    }

    /// Returns the file that is the disk, as processes in the space see it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets one flush fail, the n-th from now on; the first is 1.
    pub fn fail_flush(&self, nth: u64) {
        self.faults.flushes.store(nth, Ordering::SeqCst);
    }

    /// Lets one write fail: the next that contains these bytes.
    pub fn fail_write_of(&self, bytes: &[u8]) {
        *self.faults.writes() = Some(bytes.to_vec());
    }

    /// Takes the disk away, once nothing uses it, and returns when its record is complete.
    pub fn remove(mut self, space: &Space) -> Result<()> {
        let mut unmount = space.command("umount");
        unmount.arg(&self.path);
        Space::must(unmount)?;
        match self.server.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(Error::other("the disk's thread panicked")),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the kernel's side of the disk, beside the port"
)]
fn open_device() -> Result<File> {
    let opened = OpenOptions::new().read(true).write(true).open("/dev/fuse");
    opened.map_err(|error| Error::new(error.kind(), format!("/dev/fuse: {error}")))
}

struct Session {
    kernel: File,
    content: Image,
    record: Record,
    number: usize,
    faults: Arc<Faults>,
}

impl Session {
    /// Answers requests until the disk is unmounted.
    fn serve(mut self) -> Result<()> {
        let mut buffer = vec![0; fuse::LARGEST_REQUEST];
        loop {
            let length = match self.kernel.read(&mut buffer) {
                Ok(length) => length,
                // A request that was withdrawn before it was read.
                Err(error) if is_withdrawn(&error) => continue,
                Err(error) if error.raw_os_error() == Some(NO_DEVICE) => return Ok(()),
                Err(error) => return Err(error),
            };
            let (unique, request) = fuse::parse(&buffer[..length])?;
            if let Some(answer) = self.answer(unique, &request) {
                match self.kernel.write(&answer) {
                    Err(error) if !is_withdrawn(&error) => return Err(error),
                    _ => {}
                }
            }
        }
    }

    fn answer(&mut self, unique: u64, request: &Request<'_>) -> Option<Vec<u8>> {
        Some(match request {
            Request::Notice => return None,
            Request::Init => fuse::answer(unique, &fuse::init()),
            Request::Attributes => {
                fuse::answer(unique, &fuse::attributes(self.content.length() as u64))
            }
            Request::Open => fuse::answer(unique, &fuse::open()),
            Request::Close => fuse::answer(unique, &[]),
            Request::Other => fuse::not_implemented(unique),
            Request::Read { offset, length } => {
                let from = usize::try_from(*offset).unwrap_or(usize::MAX);
                fuse::answer(unique, &self.content.read(from, *length))
            }
            Request::Write { offset, data } => self.write(unique, *offset, data),
            Request::Sync => self.flush(unique),
        })
    }

    fn write(&mut self, unique: u64, offset: u64, data: &[u8]) -> Vec<u8> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        if self.faults.hits_write(data) || !self.content.write(offset, data) {
            return fuse::io_error(unique);
        }
        self.record.wrote(self.number, offset, data);
        fuse::answer(unique, &fuse::written(data.len()))
    }

    fn flush(&self, unique: u64) -> Vec<u8> {
        if self.faults.hits_flush() {
            return fuse::io_error(unique);
        }
        self.record.flushed(self.number);
        fuse::answer(unique, &[])
    }
}

const NO_DEVICE: i32 = 19;
const NO_SUCH_REQUEST: i32 = 2;

fn is_withdrawn(error: &Error) -> bool {
    error.kind() == ErrorKind::Interrupted || error.raw_os_error() == Some(NO_SUCH_REQUEST)
}
