//! Disks, RAID and filesystems in the terms of 2.2.
//!
//! There a filesystem has a name, and an entry names the filesystem that it is in; in 3.x it is in
//! the one that is mounted nearest above its path.

use serde_json::{Map, Value as Json, json};

use super::Writer;
use crate::node::{Node, Step};

/// The formats that 2.2 can make.
const FORMATS: [&str; 5] = ["ext4", "btrfs", "xfs", "vfat", "swap"];

/// A filesystem to which entries can belong.
#[derive(Debug, Clone)]
pub(super) struct Mounted {
    name: String,
    /// Where it is mounted, without a slash at the end.
    path: String,
}

/// Returns the filesystem that a path is in, and the path there.
pub(super) fn home<'a>(mounted: &'a [Mounted], path: &'a str) -> (&'a str, &'a str) {
    let within = |it: &'a Mounted| {
        let rest = path.strip_prefix(it.path.as_str())?;
        rest.starts_with('/').then_some((it.name.as_str(), rest))
    };
    let nearest = mounted.iter().filter_map(within);
    nearest
        .min_by_key(|(_, rest)| rest.len())
        .unwrap_or(("root", path))
}

impl Writer {
    /// Lists the filesystems to which entries can belong.
    pub(super) fn find_mounted(&mut self, root: &Node) {
        let filesystems = root.get("storage").map(|node| node.items("filesystems"));
        let named = filesystems.unwrap_or_default().iter().enumerate();
        let mounted = named.filter_map(|(index, filesystem)| {
            let path = filesystem.some_text("path")?.trim_end_matches('/');
            let name = name(index);
            (!path.is_empty()).then(|| Mounted {
                name,
                path: path.to_owned(),
            })
        });
        self.mounted = mounted.collect();
    }

    pub(super) fn disks(&mut self, root: &Node) -> Json {
        self.each(root, &["storage", "disks"], |writer, disk| {
            let mut written = fields(disk, &["device", "wipeTable"]);
            let mut partitions = Vec::new();
            writer.path.push(Step::Field("partitions"));
            for (index, partition) in disk.items("partitions").iter().enumerate() {
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                writer.path.push(Step::Index(index));
                partitions.push(writer.partition(partition));
                writer.path.pop();
            }
            writer.path.pop();
            if !partitions.is_empty() {
                written.insert("partitions".into(), partitions.into());
            }
            vec![written.into()]
        })
    }

    fn partition(&mut self, partition: &Node) -> Json {
        for name in ["sizeMiB", "startMiB"] {
            // Zero means the same in sectors: all that is left, and wherever there is room.
            if partition.number(name).is_some_and(|number| number != 0) {
                self.refuse(partition, "2.2.0 counts sectors of a disk, not MiB");
            }
        }
        if partition.flag("shouldExist") == Some(false) {
            self.refuse(partition, "2.2.0 cannot remove partitions");
        }
        for (name, why) in [
            (
                "wipePartitionEntry",
                "2.2.0 cannot replace single partitions",
            ),
            ("resize", "2.2.0 cannot resize partitions"),
        ] {
            if partition.is_true(name) {
                self.refuse(partition, why);
            }
        }
        fields(partition, &["guid", "label", "number", "typeGuid"]).into()
    }

    pub(super) fn raid(&mut self, root: &Node) -> Json {
        self.each(root, &["storage", "raid"], |_, raid| vec![raid.to_json()])
    }

    pub(super) fn filesystems(&mut self, root: &Node) -> Json {
        let mut index = 0;
        self.each(root, &["storage", "filesystems"], |writer, filesystem| {
            if !filesystem.items("mountOptions").is_empty() {
                writer.refuse(filesystem, "2.2.0 has no mountOptions");
            }
            let format = filesystem.some_text("format");
            if format.is_none_or(|format| !FORMATS.contains(&format)) {
                writer.refuse(
                    filesystem,
                    "2.2.0 makes ext4, btrfs, xfs, vfat and swap only",
                );
            }
            let names = [
                "device",
                "format",
                "label",
                "options",
                "uuid",
                "wipeFilesystem",
            ];
            let mount = fields(filesystem, &names);
            let name = name(index);
            index += 1;
            vec![json!({"name": name, "mount": mount})]
        })
    }

    pub(super) fn security(&mut self, root: &Node) -> Json {
        let path = ["ignition", "security", "tls", "certificateAuthorities"];
        let authorities = self.each(root, &path, |writer, authority| {
            vec![writer.reference(authority)]
        });
        json!({"tls": {"certificateAuthorities": authorities}})
    }
}

/// Names a filesystem by its place in the list: a name is needed, and 3.x has none.
fn name(index: usize) -> String {
    format!("filesystem-{index}")
}

fn fields(node: &Node, names: &[&str]) -> Map<String, Json> {
    let found = names.iter().filter_map(|name| {
        let field = node.get(name).filter(|field| !field.is_empty())?;
        Some(((*name).to_owned(), field.to_json()))
    });
    found.collect()
}
