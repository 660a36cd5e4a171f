//! Filesystems.

use std::collections::HashMap;

use super::{Judge, path_problem};
use crate::node::Node;
use crate::problem::Problem;
use crate::version::Version;

/// Judges whether filesystems lie on disks that are changed, too.
pub(super) fn on_disks(judge: &mut Judge, storage: &Node) {
    let disks = storage.items("disks").iter();
    let disks: HashMap<&str, &Node> = disks
        .map(|disk| (disk.text("device").unwrap_or_default(), disk))
        .collect();
    judge.each(storage, "filesystems", |judge, filesystem| {
        let device = filesystem.text("device").unwrap_or_default();
        let Some(disk) = disks.get(device) else {
            return;
        };
        if !disk.items("partitions").is_empty() {
            judge.warn_in(filesystem, &["device"], Problem::PartitionsOverwritten);
        } else if !filesystem.is_true("wipeFilesystem") && disk.is_true("wipeTable") {
            judge.warn_in(filesystem, &["device"], Problem::FilesystemImplicitWipe);
        }
    });
}

/// Judges a filesystem.
pub(super) fn filesystem(judge: &mut Judge, filesystem: &Node) {
    if let Some(problem) = filesystem.some_text("path").and_then(path_problem) {
        judge.error_in(filesystem, &["path"], problem);
    }
    let device = filesystem.text("device").unwrap_or_default();
    if let Some(problem) = path_problem(device) {
        judge.error_in(filesystem, &["device"], problem);
    }
    if let Some(problem) = format_problem(filesystem, judge.version) {
        judge.error_in(filesystem, &["format"], problem);
    }
    if let Some(problem) = label_problem(filesystem) {
        judge.error_in(filesystem, &["label"], problem);
    }
}

fn format_problem(filesystem: &Node, version: Version) -> Option<Problem> {
    match filesystem.some_text("format") {
        Some("ext4" | "btrfs" | "xfs" | "swap" | "vfat") => None,
        Some("none") if version >= Version::V3_3 => None,
        Some(_) => Some(Problem::FilesystemInvalidFormat),
        None => {
            let says_more = ["path", "label", "uuid"]
                .iter()
                .any(|name| filesystem.some_text(name).is_some())
                || filesystem.is_true("wipeFilesystem")
                || !filesystem.items("mountOptions").is_empty()
                || !filesystem.items("options").is_empty();
            says_more.then_some(Problem::FormatNilWithOthers)
        }
    }
}

fn label_problem(filesystem: &Node) -> Option<Problem> {
    let label = filesystem.some_text("label")?;
    let (longest, problem) = match filesystem.some_text("format") {
        None => return Some(Problem::LabelNeedsFormat),
        Some("ext4") => (16, Problem::Ext4LabelTooLong),
        Some("btrfs") => (256, Problem::BtrfsLabelTooLong),
        Some("xfs") => (12, Problem::XfsLabelTooLong),
        Some("swap") => (15, Problem::SwapLabelTooLong),
        Some("vfat") => (11, Problem::VfatLabelTooLong),
        Some(_) => return None,
    };
    (label.len() > longest).then_some(problem)
}
