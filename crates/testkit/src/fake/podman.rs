//! A podman that renders: as strict about what it is given as the real one, and as careless about
//! what becomes durable.

use bootlace_engine::port::{Command, HostResult, Output};
use bootlace_model::path::TargetPath;

use super::program::{failed, printed};
use super::world::World;

/// What it notes as a container's id.
const ID: [u8; 64] = [b'c'; 64];

/// Runs `podman --version`, or one render of the files that it is given.
///
/// Like podman, it refuses to overwrite the id of another container, and mounts only what is there.
/// Like a careful renderer, it refuses to write beside what somebody else left.
pub fn podman(
    command: &Command<'_>,
    world: &mut World<'_>,
    files: &[(&str, &str)],
) -> HostResult<Output> {
    let words = &command.argv[1..];
    if words == ["--version"] {
        return Ok(printed("podman version 4.3.1"));
    }
    let folder = command.directory.map_or("/", TargetPath::as_str);
    let value = |flag: &str| words.iter().find_map(|word| word.strip_prefix(flag));
    let Some(id_file) = value("--cidfile=./") else {
        return Ok(failed(125, "which container?"));
    };
    let id_file = format!("{folder}/{id_file}");
    if world.exists(&id_file) {
        return Ok(failed(125, format!("{id_file}: the file exists")));
    }
    let mut output = None;
    let volumes = words.iter();
    for volume in volumes.filter_map(|word| word.strip_prefix("--volume=./")) {
        let mut parts = volume.split(':');
        let source = format!("{folder}/{}", parts.next().unwrap_or_default());
        if !world.exists(&source) {
            return Ok(failed(125, format!("statfs {source}: no such file")));
        }
        if parts.next_back() == Some("z") {
            output = Some(source);
        }
    }
    let Some(output) = output else {
        return Ok(failed(2, "where to?"));
    };
    world.write(&id_file, &ID)?;
    for (name, text) in files {
        let path = format!("{output}/{name}");
        if world.exists(&path) {
            return Ok(failed(1, format!("{path} is there already")));
        }
        world.write(&path, text.as_bytes())?;
    }
    Ok(printed(""))
}
