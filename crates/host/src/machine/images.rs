//! Loading images into the container runtime, for which its interface has no call.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsRawFd as _;
use std::time::{Duration, Instant};

use bootlace_engine::port::{HostError, HostResult, Machine as _};
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use rustix::fs::{Mode, OFlags};

use super::not_live;
use crate::error::{refused, senseless};
use crate::{RealHost, clock};

/// How much of an archive is read at once.
const PIECE: usize = 1 << 20;
/// How long a program may take to answer a question.
const QUESTION: Duration = Duration::from_secs(10);
/// How long the runtime may take to notice images that were loaded.
const NOTICING: Duration = Duration::from_secs(10);
/// How often is looked whether it noticed.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Loads the images of an archive whose digest is as wanted.
pub(super) fn import(
    host: &RealHost,
    archive: &TargetPath,
    wanted: Option<Digest>,
    within: Duration,
) -> HostResult<()> {
    let begun = Instant::now();
    let left = || within.saturating_sub(begun.elapsed());
    let file = open(host, archive)?;
    if let Some(wanted) = wanted {
        let found = digest(host, &file, archive)?;
        if found != wanted {
            return Err(HostError::WrongDigest {
                url: archive.to_string(),
                wanted,
                found,
            });
        }
    }
    let before = names(host, archive)?;
    // By the handle, so that it is the file that was looked at and no other.
    let place = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    ctr(host, archive, &["import", &place], left())?;
    let new: Vec<String> = names(host, archive)?.difference(&before).cloned().collect();
    noticed(host, &new, left().min(NOTICING))
}

/// Waits until the runtime shows new images to those who ask over its interface, as kubelet does.
fn noticed(host: &RealHost, new: &[String], within: Duration) -> HostResult<()> {
    let begun = Instant::now();
    while begun.elapsed() < within {
        let there = host.images()?.unwrap_or_default();
        if new.iter().all(|image| there.binary_search(image).is_ok()) {
            break;
        }
        clock::sleep(LOOK_AGAIN, &host.stop)?;
    }
    // What is still not shown then, such as one for another kind of processor, the caller misses.
    Ok(())
}

/// Lists the names of all images.
fn names(host: &RealHost, archive: &TargetPath) -> HostResult<BTreeSet<String>> {
    let text = ctr(host, archive, &["list", "--quiet"], QUESTION)?;
    // The runtime adds names that are plain digests, which it does not show.
    let named = text.lines().filter(|name| !name.starts_with("sha256:"));
    Ok(named.map(str::to_owned).collect())
}

fn ctr(
    host: &RealHost,
    archive: &TargetPath,
    words: &[&str],
    within: Duration,
) -> HostResult<String> {
    const ACT: &str = "import the images of";
    let Some(socket) = host.runtime.socket() else {
        return Err(not_live(ACT, archive.as_str()));
    };
    let socket = socket.to_string_lossy();
    let begin = [
        "ctr",
        "--address",
        &socket,
        "--namespace",
        "k8s.io",
        "images",
    ];
    let words: Vec<&str> = begin.into_iter().chain(words.iter().copied()).collect();
    host.succeed(ACT, archive.as_str(), &words, within)
}

fn open(host: &RealHost, archive: &TargetPath) -> HostResult<File> {
    let failed = |error: io::Error| refused("read", archive.as_str(), error);
    let above = archive
        .parent()
        .map(|above| host.open(&above))
        .transpose()?;
    let (folder, _) = above
        .flatten()
        .ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&folder.handle, archive.name(), flags, Mode::empty());
    let file = File::from(file.map_err(|errno| failed(errno.into()))?);
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(senseless(
            "read",
            archive.as_str(),
            "it is not a regular file",
        ));
    }
    Ok(file)
}

/// Hashes a file, however large it is.
fn digest(host: &RealHost, mut file: &File, archive: &TargetPath) -> HostResult<Digest> {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    let mut piece = vec![0; PIECE];
    loop {
        if host.stop.is_requested() {
            return Err(HostError::Stopped);
        }
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => context.update(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(refused("read", archive.as_str(), error)),
        }
    }
    let mut text = String::from("sha256:");
    for byte in context.finish().as_ref() {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.parse()
        .map_err(|_| HostError::Crypto("a digest that was just made cannot be read".into()))
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use super::*;

    #[test]
    fn a_long_archive_hashes_like_its_bytes() {
        let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file.rewind().unwrap();
        let host = RealHost::builder().build();
        let found = digest(&host, &file, &TargetPath::root()).unwrap();
        assert_eq!(found, Digest::of(&bytes));
    }
}
