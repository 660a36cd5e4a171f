//! Reading a real folder, without following links.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;

use bootlace_model::node::Owner;
use bootlace_model::path::TargetPath;

use super::{Entry, EntryKind};

/// Lists everything in a folder and below it.
pub(super) fn entries(root: &Path) -> Result<BTreeMap<TargetPath, Entry>> {
    let mut entries = BTreeMap::new();
    let mut next = vec![(root.to_owned(), TargetPath::root())];
    while let Some((place, path)) = next.pop() {
        let metadata = std::fs::symlink_metadata(&place)?;
        if metadata.is_dir() {
            for item in std::fs::read_dir(&place)? {
                let name = item?.file_name();
                let text = name.to_str().ok_or_else(|| odd_name(&place))?;
                let below = path.join(text).map_err(|_| odd_name(&place))?;
                next.push((place.join(&name), below));
            }
        }
        entries.insert(path, entry(&place, &metadata)?);
    }
    Ok(entries)
}

fn odd_name(place: &Path) -> Error {
    let message = format!("{} holds a name that is no text", place.display());
    Error::new(ErrorKind::InvalidData, message)
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests look at real folders beside the port"
)]
fn entry(place: &Path, metadata: &Metadata) -> Result<Entry> {
    let file_type = metadata.file_type();
    let kind = if file_type.is_file() {
        EntryKind::File(Arc::new(std::fs::read(place)?))
    } else if file_type.is_dir() {
        EntryKind::Directory
    } else if file_type.is_symlink() {
        EntryKind::Link(std::fs::read_link(place)?.to_string_lossy().into_owned())
    } else if file_type.is_socket() {
        EntryKind::Other("a socket".into())
    } else if file_type.is_fifo() {
        EntryKind::Other("a pipe".into())
    } else {
        EntryKind::Other("a device".into())
    };
    let is_link = matches!(kind, EntryKind::Link(_));
    Ok(Entry {
        kind,
        mode: if is_link {
            0o777
        } else {
            metadata.mode() & 0o7777
        },
        owner: Owner {
            uid: metadata.uid(),
            gid: metadata.gid(),
        },
        xattrs: xattrs(place)?,
    })
}

fn xattrs(place: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut names = Vec::with_capacity(64 << 10);
    match rustix::fs::llistxattr(place, rustix::buffer::spare_capacity(&mut names)) {
        Ok(_) => {}
        // A filesystem without extended attributes has none.
        Err(rustix::io::Errno::NOTSUP) => return Ok(BTreeMap::new()),
        Err(error) => return Err(error.into()),
    }
    let mut found = BTreeMap::new();
    for name in names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        let mut value = Vec::with_capacity(64 << 10);
        rustix::fs::lgetxattr(place, name, rustix::buffer::spare_capacity(&mut value))?;
        found.insert(String::from_utf8_lossy(name).into_owned(), value);
    }
    Ok(found)
}
