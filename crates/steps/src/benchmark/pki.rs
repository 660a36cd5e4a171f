//! What is in the folder of keys and certificates.

use std::collections::BTreeMap;

use bootlace_model::path::TargetPath;
use bootlace_model::probe::FileTree;

use crate::assets::machine;
use crate::documents::ending;

/// The folder of keys and certificates.
pub(super) const PKI: &str = "etc/kubernetes/pki";

/// Something in the folder of keys and certificates.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) path: TargetPath,
    pub(super) is: FoundKind,
}

/// What something in the folder of keys and certificates is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoundKind {
    Folder,
    PrivateKey,
    Other,
}

/// Lists everything in the folder of keys and certificates, and the folders above each file.
pub(super) fn found(tree: &FileTree) -> Vec<Found> {
    let root = machine(PKI);
    let at = |relative: &str| {
        let parts = relative.split('/');
        parts.fold(root.clone(), |path, part| path.join(part).unwrap_or(path))
    };
    let is_key = |name: &str, content: &[u8]| {
        let word = b"PRIVATE KEY-----";
        ending(name) == "key" || content.windows(word.len()).any(|it| it == word)
    };
    let files = tree.files.iter();
    let files = files.map(|file| (&file.relative, is_key(&file.relative, &file.content)));
    let odd = tree.odd.iter().map(|(name, _)| (name, is_key(name, b"")));
    let mut all = BTreeMap::new();
    for (relative, is_key) in files.chain(odd) {
        let is = if is_key {
            FoundKind::PrivateKey
        } else {
            FoundKind::Other
        };
        all.insert(at(relative), is);
        for (end, _) in relative.match_indices('/') {
            all.insert(at(&relative[..end]), FoundKind::Folder);
        }
    }
    let all = all.into_iter();
    all.map(|(path, is)| Found { path, is }).collect()
}
