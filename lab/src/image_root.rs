//! What an image holds beside its program, as the images of the upstream projects do.

use std::path::Path;

use crate::layer::Layer;

/// Files that are taken from Debian's root.
///
/// `nft` prints `tcp` and `udp` only where it finds them in `etc/protocols`. Without that file it prints
/// numbers, and a kube-proxy that starts again takes its own rules for stale ones and deletes them.
pub(crate) const FROM_DEBIAN: [&str; 3] = [
    "etc/protocols",
    "etc/services",
    "etc/ssl/certs/ca-certificates.crt",
];

/// Small files that are the same in every image.
pub(crate) const WRITTEN: [(&str, &str); 3] = [
    (
        "etc/passwd",
        "root:x:0:0:root:/root:/sbin/nologin\n\
         nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n\
         nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n",
    ),
    (
        "etc/group",
        "root:x:0:\nnogroup:x:65534:\nnonroot:x:65532:\n",
    ),
    (
        "etc/nsswitch.conf",
        "passwd: files\ngroup: files\nhosts: files dns\nprotocols: files\nservices: files\n",
    ),
];

/// Returns the ground of an image: accounts, name services, certificates and a folder for temporary files.
pub(crate) fn with_debian(debian: &Path) -> Layer {
    FROM_DEBIAN.iter().fold(small(), |layer, path| {
        layer.file(path, &debian.join(path), 0o644)
    })
}

/// Returns the part of it that needs no files of Debian.
pub(crate) fn small() -> Layer {
    let layer = Layer::default().folder("tmp", 0o1777);
    WRITTEN
        .iter()
        .fold(layer, |layer, (path, text)| layer.text(path, *text, 0o644))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read as _;

    use super::*;
    use crate::files;

    #[test]
    fn an_image_holds_accounts_name_services_and_certificates() {
        let debian = tempfile::tempdir().unwrap();
        for path in FROM_DEBIAN {
            files::write(&debian.path().join(path), path.as_bytes()).unwrap();
        }
        let layer = with_debian(debian.path()).write(Vec::new()).unwrap();
        let mut found = BTreeMap::new();
        for entry in tar::Archive::new(layer.as_slice()).entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            let mut content = String::new();
            entry.read_to_string(&mut content).unwrap();
            found.insert(path, (entry.header().mode().unwrap(), content));
        }
        assert_eq!(found["tmp/"].0, 0o1777);
        for path in [
            "etc/protocols",
            "etc/services",
            "etc/ssl/certs/ca-certificates.crt",
        ] {
            assert_eq!(found[path], (0o644, path.to_owned()));
        }
        assert!(found["etc/nsswitch.conf"].1.contains("hosts: files dns\n"));
        assert!(found["etc/passwd"].1.contains("nobody:x:65534:"));
        assert!(found["etc/group"].1.contains("nogroup:x:65534:"));
    }

    #[test]
    fn a_root_without_one_of_the_files_makes_no_image() {
        let debian = tempfile::tempdir().unwrap();
        let refused = with_debian(debian.path()).write(Vec::new()).unwrap_err();
        assert!(refused.to_string().contains("etc/protocols"), "{refused}");
    }
}
