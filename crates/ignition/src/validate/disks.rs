//! Disks, their partitions, and arrays of disks.

use std::collections::HashSet;

use super::{Judge, index_step, path_problem};
use crate::node::{Node, Step};
use crate::problem::Problem;
use crate::version::Version;

/// The longest label of a partition.
const LONGEST_LABEL: usize = 36;

/// Judges a disk.
pub(super) fn disk(judge: &mut Judge, disk: &Node) {
    judge.each(disk, "partitions", partition);
    let device = disk.text("device").unwrap_or_default();
    if device.is_empty() {
        judge.error_in(disk, &["device"], Problem::DiskDeviceRequired);
        return;
    }
    if let Some(problem) = path_problem(device) {
        judge.error_in(disk, &["device"], problem);
    }
    let partitions = disk.items("partitions");
    let found = [
        (same_number(partitions), Problem::PartitionNumbersCollide),
        (overlapping(partitions), Problem::PartitionsOverlap),
        (same_label(partitions), Problem::DuplicateLabels),
    ];
    for (index, problem) in found {
        if let Some(index) = index {
            judge.path.push(Step::Field("partitions"));
            judge.path.push(index_step(index));
            judge.error(&partitions[index], problem);
            judge.path.pop();
            judge.path.pop();
        }
    }
    let is_gone = |partition: &Node| partition.flag("shouldExist") == Some(false);
    let is_next = |partition: &Node| partition.number("number").unwrap_or(0) == 0;
    if partitions.iter().any(is_gone) && partitions.iter().any(is_next) {
        judge.error_in(disk, &["partitions"], Problem::ZeroesWithShouldNotExist);
    }
}

fn same_number(partitions: &[Node]) -> Option<usize> {
    let mut seen = HashSet::new();
    partitions.iter().position(|partition| {
        let number = partition.number("number").unwrap_or(0);
        number != 0 && !seen.insert(number)
    })
}

fn same_label(partitions: &[Node]) -> Option<usize> {
    let mut seen = HashSet::new();
    partitions.iter().position(|partition| {
        let label = partition.text("label");
        label.is_some_and(|label| !seen.insert(label))
    })
}

/// Where a partition lies, if that is said: a start of 0 means wherever there is room.
#[derive(PartialEq, Eq)]
struct Extent {
    start: i64,
    end: i64,
}

fn extent(partition: &Node) -> Option<Extent> {
    let start = partition.number("startMiB").filter(|start| *start != 0)?;
    let size = partition.number("sizeMiB")?;
    // A size of 0 means up to whatever comes next.
    let end = if size == 0 {
        start
    } else {
        start.wrapping_add(size).wrapping_sub(1)
    };
    Some(Extent { start, end })
}

fn overlapping(partitions: &[Node]) -> Option<usize> {
    let extents: Vec<Option<Extent>> = partitions.iter().map(extent).collect();
    for (one, extent) in extents.iter().enumerate() {
        let Some(this) = extent else {
            continue;
        };
        for (other, extent) in extents.iter().enumerate() {
            let Some(that) = extent.as_ref().filter(|_| other != one) else {
                continue;
            };
            let holds = |at: i64| at >= that.start && at <= that.end;
            let is_around = this.start < that.start && this.end > that.end;
            if holds(this.start) || holds(this.end) || is_around {
                return Some(other);
            }
        }
    }
    None
}

fn partition(judge: &mut Judge, partition: &Node) {
    let label = partition.text("label");
    let says_more = label.is_some()
        || partition.some_text("typeGuid").is_some()
        || partition.some_text("guid").is_some()
        || partition.get("startMiB").is_some()
        || partition.get("sizeMiB").is_some();
    if partition.flag("shouldExist") == Some(false) && says_more {
        judge.error(partition, Problem::ShouldNotExistWithOthers);
    }
    if partition.number("number").unwrap_or(0) == 0 && label.is_none() {
        judge.error(partition, Problem::NeedLabelOrNumber);
    }
    if let Some(label) = label {
        if label.len() > LONGEST_LABEL {
            judge.error_in(partition, &["label"], Problem::LabelTooLong);
        } else if label.contains(':') {
            judge.error_in(partition, &["label"], Problem::LabelContainsColon);
        }
    }
    for name in ["guid", "typeGuid"] {
        if partition.text(name).is_some_and(|guid| !is_guid(guid)) {
            judge.error_in(partition, &[name], Problem::DoesntMatchGuid);
        }
    }
}

fn is_guid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let is_hex = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.is_empty() || (lengths == [8, 4, 4, 4, 12] && parts.iter().all(is_hex))
}

/// Judges an array of disks.
pub(super) fn raid(judge: &mut Judge, raid: &Node) {
    let level = raid.text("level").unwrap_or_default();
    let has_spares = raid.number("spares").unwrap_or(0) != 0;
    let problem = match level {
        "" if judge.version >= Version::V3_3 => Some(Problem::RaidLevelRequired),
        "linear" | "raid0" | "0" | "stripe" => {
            has_spares.then_some(Problem::SparesUnsupportedForLevel)
        }
        "raid1" | "1" | "mirror" | "raid4" | "4" | "raid5" | "5" | "raid6" | "6" | "raid10"
        | "10" => None,
        _ => Some(Problem::UnrecognizedRaidLevel),
    };
    if let Some(problem) = problem {
        judge.error_in(raid, &["level"], problem);
    }
    if raid.items("devices").is_empty() {
        judge.error_in(raid, &["devices"], Problem::RaidDevicesRequired);
    }
    judge.each(raid, "devices", |judge, device| {
        if let Some(problem) = path_problem(device.as_text().unwrap_or_default()) {
            judge.error(device, problem);
        }
    });
}
