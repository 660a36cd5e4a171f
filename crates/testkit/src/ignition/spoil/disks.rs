//! Wrong disks, partitions and encrypted volumes.

use super::meaning::replace_text;
use super::{Spoil, change};
use crate::dice::Dice;
use crate::ignition::draft::Draft;
use crate::ignition::words::pick;

/// All ways.
pub(super) const WAYS: &[(&str, Spoil)] = &[
    ("bad disk", disk),
    ("bad partition", partition),
    ("bad volume", volume),
];

fn disk(config: &mut Draft, dice: &mut Dice) -> bool {
    let long = "x".repeat(40);
    let (key, from): (&str, &[&str]) = match dice.below(5) {
        0 => ("level", &["raid7", "", "RAID1", "raid0", "linear"]),
        1 => (
            "format",
            &["", "ntfs", "none", "ext3", "EXT4", "xfs", "vfat", "swap"],
        ),
        2 => ("label", &["with:colon", "seventeen-letters", "", &long]),
        3 => ("uuid", &["", "x"]),
        _ => ("device", &["", "dev/sda", "/dev//sda"]),
    };
    replace_text(config, dice, key, from)
}

fn partition(config: &mut Draft, dice: &mut Dice) -> bool {
    let (key, value) = match dice.below(8) {
        0 => ("number", Draft::Number(1)),
        1 => ("number", Draft::Number(0)),
        2 => ("startMiB", Draft::Number(dice.below(2000).cast_signed())),
        3 => ("sizeMiB", Draft::Number(dice.below(5000).cast_signed())),
        4 => ("shouldExist", Draft::Flag(false)),
        5 => ("guid", Draft::from("not-a-guid")),
        6 => (
            "typeGuid",
            Draft::from("4f68bce3-e8cd-4db1-96e7-fbcaf984b70"),
        ),
        _ => ("label", Draft::from("label-1")),
    };
    let holds = |keys: &[&str], found: &Draft| {
        keys.ends_with(&["partitions"]) && matches!(found, Draft::Object(_))
    };
    change(config, dice, &holds, &mut |found, _| {
        if let Draft::Object(pairs) = found {
            pairs.retain(|(name, _)| name != key);
        }
        found.put(key, value.clone());
    })
}

fn volume(config: &mut Draft, dice: &mut Dice) -> bool {
    let custom = |pin: &str, settings: &str| {
        let custom = Draft::object().with("pin", pin).with("config", settings);
        Draft::object().with("custom", custom)
    };
    let tang = |draft: Draft| Draft::object().with("tang", vec![draft]);
    let (key, value) = match dice.below(12) {
        0 => ("name", Draft::from("a/b")),
        1 => ("device", Draft::from(pick(dice, &["", "x"]))),
        2 => ("clevis", custom("tpm2", "{}").with("tpm2", true)),
        3 => ("clevis", custom("yubikey", "{}")),
        4 => ("clevis", custom("", "{}")),
        5 => ("clevis", custom("tang", "").with("threshold", 0)),
        6 => ("clevis", tang(Draft::object().with("url", "http://x"))),
        7 => (
            "clevis",
            tang(
                Draft::object()
                    .with("url", "x")
                    .with("thumbprint", "t")
                    .with("advertisement", "{"),
            ),
        ),
        8 => ("cex", Draft::object().with("enabled", true)),
        9 => (
            "keyFile",
            Draft::object().with("source", pick(dice, &["", "x", "data:,k"])),
        ),
        10 => ("label", Draft::from("l".repeat(48))),
        _ => (
            "clevis",
            Draft::object().with("custom", Draft::object().with("needsNetwork", true)),
        ),
    };
    let holds = |keys: &[&str], found: &Draft| {
        keys == ["storage", "luks"] && matches!(found, Draft::Object(_))
    };
    change(config, dice, &holds, &mut |found, _| {
        if let Draft::Object(pairs) = found {
            pairs.retain(|(name, _)| name != key);
        }
        found.put(key, value.clone());
    })
}
