//! Encrypted devices, and what opens them.

use super::resources::{resource, url_problem};
use super::{Judge, path_problem};
use crate::node::Node;
use crate::problem::Problem;
use crate::text::url::Url;
use crate::version::Version;

/// The longest label of an encrypted device.
const LONGEST_LABEL: usize = 47;

/// Judges an encrypted device.
pub(super) fn luks(judge: &mut Judge, luks: &Node) {
    if luks.text("name").unwrap_or_default().contains('/') {
        judge.error_in(luks, &["name"], Problem::LuksNameContainsSlash);
    }
    if luks.text("label").unwrap_or_default().len() > LONGEST_LABEL {
        judge.error_in(luks, &["label"], Problem::LuksLabelTooLong);
    }
    let device = match luks.some_text("device") {
        None => Some(Problem::DiskDeviceRequired),
        Some(device) => path_problem(device),
    };
    if let Some(problem) = device {
        judge.error_in(luks, &["device"], problem);
    }
    if uses_own_pin_with_others(luks, judge.version) {
        judge.error_in(luks, &["clevis"], Problem::ClevisCustomWithOthers);
    }
    let key = luks.get("keyFile");
    let key = key.and_then(|key| key.some_text("source"));
    if key.is_some_and(|source| url_problem(source, judge.version).is_some()) {
        judge.error_in(luks, &["keyFile"], Problem::InvalidLuksKeyFile);
    }
    if luks.get("cex").is_some_and(|cex| cex.is_true("enabled")) {
        if luks.get("clevis").is_some_and(is_clevis_used) {
            judge.error_in(luks, &["cex"], Problem::CexWithClevis);
        }
        if key.is_some() {
            judge.error_in(luks, &["cex"], Problem::CexWithKeyFile);
        }
    }
    judge.within(luks, "clevis", |judge, clevis| {
        judge.within(clevis, "custom", custom);
        judge.each(clevis, "tang", tang);
    });
    judge.within(luks, "keyFile", resource);
}

fn uses_others(clevis: &Node) -> bool {
    !clevis.items("tang").is_empty()
        || clevis.is_true("tpm2")
        || clevis.number("threshold").unwrap_or(0) != 0
}

fn uses_own_pin_with_others(luks: &Node, version: Version) -> bool {
    let Some(clevis) = luks.get("clevis") else {
        return false;
    };
    // In 3.2 an empty pin counted, too.
    let has_own = clevis
        .get("custom")
        .is_some_and(|custom| version <= Version::V3_2 || custom.some_text("pin").is_some());
    has_own && uses_others(clevis)
}

fn is_clevis_used(clevis: &Node) -> bool {
    let pin = clevis.get("custom");
    pin.is_some_and(|custom| custom.some_text("pin").is_some()) || uses_others(clevis)
}

fn custom(judge: &mut Judge, custom: &Node) {
    let pin = custom.some_text("pin");
    let config = custom.some_text("config");
    let is_first = judge.version <= Version::V3_2;
    let says_more = !is_first && custom.is_true("needsNetwork");
    if pin.is_none() && config.is_none() && !says_more {
        return;
    }
    match pin {
        Some("tpm2" | "tang" | "sss") => {}
        None if !is_first => judge.error_in(custom, &["pin"], Problem::ClevisPinRequired),
        _ => judge.error_in(custom, &["pin"], Problem::UnknownClevisPin),
    }
    if config.is_none() {
        judge.error_in(custom, &["config"], Problem::ClevisConfigRequired);
    }
}

fn tang(judge: &mut Judge, tang: &Node) {
    let url = Url::parse(tang.text("url").unwrap_or_default());
    match url.map(|url| url.scheme).as_deref() {
        None => judge.error_in(tang, &["url"], Problem::InvalidUrl),
        Some("http" | "https") => {}
        Some(_) => judge.error_in(tang, &["url"], Problem::InvalidScheme),
    }
    if tang.some_text("thumbprint").is_none() {
        judge.error_in(tang, &["thumbprint"], Problem::TangThumbprintRequired);
    }
    let advertisement = tang.some_text("advertisement");
    if advertisement.is_some_and(|text| crate::json::check(text.as_bytes()).is_err()) {
        judge.error_in(tang, &["advertisement"], Problem::InvalidTangAdvertisement);
    }
}
