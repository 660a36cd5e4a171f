//! Where things lie in the asset folder.

use bootlace_model::config::Settings;
use bootlace_model::path::TargetPath;

/// The list of the files that `copy-manifests` copied, outside the folder that is applied.
pub(crate) const COPIED: &str = "records/copy-manifests.json";
/// The node's name that the certificates speak for.
pub(crate) const NODE: &str = "records/node.json";
/// Which release, and where each image is pulled from.
pub(crate) const RELEASE: &str = "records/release.json";
/// The private key from which the key follows by which Secrets are encrypted in etcd.
pub(crate) const ENCRYPTION_KEY_FILE: &str = "tls/encryption.key";
/// A bootstrap token that the user brings: `ID.SECRET` on one line, readable by its owner alone.
pub(crate) const TOKEN: &str = "auth/bootstrap-token";

/// Returns a path in the asset folder.
///
/// The text is written in this crate. A part that no path may have would be left out, so that the
/// result stays inside the asset folder; the snapshots of the steps would show it.
pub(crate) fn asset(settings: &Settings, relative: &'static str) -> TargetPath {
    below(&settings.paths.assets, relative)
}

/// Returns a path below a folder; see [`asset`].
pub(crate) fn below(folder: &TargetPath, relative: &'static str) -> TargetPath {
    let step = |path: TargetPath, part: &str| path.join(part).unwrap_or(path);
    relative.split('/').fold(folder.clone(), step)
}

/// Returns a path on the machine; see [`asset`].
pub(crate) fn machine(absolute: &'static str) -> TargetPath {
    below(&TargetPath::root(), absolute)
}
