//! Containers and images of a container engine that commands run, such as podman.
//!
//! A container is known by the file in which the engine noted its id, so that nobody else's is ever
//! touched. Without the engine there is neither.

use std::io::ErrorKind;
use std::time::Duration;

use bootlace_engine::port::{Command, Host as _, HostError, HostResult, Output};
use bootlace_model::path::TargetPath;

use super::KEPT;
use crate::RealHost;
use crate::clock::StopHandle;
use crate::error::refused;

/// How long the engine may take to answer a question.
const QUESTION: Duration = Duration::from_secs(20);
/// The length of a container's id.
const ID: usize = 64;

/// Tells whether the container of an id file is there; none if the engine cannot tell.
pub(super) fn has(
    host: &RealHost,
    engine: &[String],
    id_file: &TargetPath,
) -> HostResult<Option<bool>> {
    match id(host, id_file)? {
        None => Ok(Some(false)),
        Some(id) => exists(host, engine, ["container", "exists", &id]),
    }
}

/// Tells whether an image is stored; none if the engine cannot tell.
pub(super) fn has_image(
    host: &RealHost,
    engine: &[String],
    image: &str,
) -> HostResult<Option<bool>> {
    exists(host, engine, ["image", "exists", image])
}

/// Ends and removes the container of an id file.
pub(super) fn remove(
    host: &RealHost,
    engine: &[String],
    id_file: &TargetPath,
    within: Duration,
) -> HostResult<()> {
    let Some(id) = id(host, id_file)? else {
        return Ok(());
    };
    // Whatever it is asked to do, it may not do it; so it is not asked.
    let words = ["rm", "--force", "--time=0", "--volumes", "--ignore", &id];
    succeed(host, engine, &words, &format!("container {id}"), within)
}

/// Removes an image.
pub(super) fn remove_image(
    host: &RealHost,
    engine: &[String],
    image: &str,
    within: Duration,
) -> HostResult<()> {
    let what = format!("image {image}");
    succeed(host, engine, &["rmi", image], &what, within)
}

/// Reads the id that the engine noted; none if it noted none.
fn id(host: &RealHost, id_file: &TargetPath) -> HostResult<Option<String>> {
    let folder = id_file.parent().unwrap_or_else(TargetPath::root);
    let Some(dir) = host.open_dir(&folder)? else {
        return Ok(None);
    };
    if dir.stat(id_file.name())?.is_none() {
        return Ok(None);
    }
    let content = dir.read(id_file.name(), 4096)?;
    let id = String::from_utf8_lossy(&content).trim().to_owned();
    // It is a word of a command later, so it is taken for nothing else.
    let is_id = id.len() == ID && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(is_id.then_some(id))
}

fn exists(host: &RealHost, engine: &[String], words: [&str; 3]) -> HostResult<Option<bool>> {
    match call(host, engine, &words, QUESTION) {
        Ok(output) => Ok(match output.code {
            Some(0) => Some(true),
            Some(1) => Some(false),
            _ => None,
        }),
        Err(HostError::Io { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(Some(false)),
        Err(error) => Err(error),
    }
}

fn succeed(
    host: &RealHost,
    engine: &[String],
    words: &[&str],
    what: &str,
    within: Duration,
) -> HostResult<()> {
    let output = call(host, engine, words, within)?;
    if output.code == Some(0) {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(refused("remove", what, std::io::Error::other(complaint)))
}

fn call(
    host: &RealHost,
    engine: &[String],
    words: &[&str],
    within: Duration,
) -> HostResult<Output> {
    let words = words.iter().map(|word| (*word).to_owned());
    let argv: Vec<String> = engine.iter().cloned().chain(words).collect();
    let command = Command {
        argv: &argv,
        env: vec![],
        directory: None,
        within,
        keep: KEPT,
        input: None,
    };
    let folder = host.working_folder(None)?;
    // Also after a request to stop: what was started must not go on.
    let never = StopHandle::default();
    crate::exec::run(&command, &folder.handle, &never, Duration::ZERO)
}
