//! Expectations that several steps have in common.

use std::time::Duration;

use bootlace_model::config::Settings;
use bootlace_model::expect::{Claim, Expectation};

use crate::assets::asset;

/// The step after which nothing in the asset folder is expected any more.
pub(crate) const CLEANED: &str = "clean-assets";

/// Counts minutes.
pub(crate) const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(minutes * 60)
}

/// Expects a file of the asset folder for as long as the folder is there.
pub(crate) fn file(
    settings: &Settings,
    relative: &'static str,
    because: &'static str,
) -> Expectation {
    let claim = Claim::File {
        path: asset(settings, relative),
        digest: None,
        mode: None,
    };
    Expectation::now(claim, because).until(CLEANED)
}

/// Expects what a render writes: some files that must be there by name, and all that it listed.
pub(crate) fn rendered(
    settings: &Settings,
    record: &'static str,
    files: &[(&'static str, &'static str)],
) -> Vec<Expectation> {
    let listed = Claim::ListedFiles {
        index: asset(settings, record),
        below: settings.paths.assets.clone(),
    };
    let because = "A render that was cut off leaves some files; the list is written last.";
    let whole = Expectation::now(listed, because).until(CLEANED);
    let named = files.iter().map(|(path, why)| file(settings, path, why));
    named.chain([whole]).collect()
}
