//! The folder that holds the release's manifests.

use std::path::Path;

use bootlace_model::fault::Fault;

use crate::payload::File;

/// The most that one file may hold; the API takes no larger object.
const LARGEST: u64 = 16 << 20;

/// Reads the text that names the images of the release; empty if there is none.
#[expect(
    clippy::disallowed_methods,
    reason = "the operator runs in a container of its own, without the engine and its port"
)]
pub(crate) fn image_references(folder: &Path) -> String {
    // Whoever needs an image of it says that it is missing.
    std::fs::read_to_string(folder.join("image-references")).unwrap_or_default()
}

/// Reads the manifests of a folder, sorted by name; folders in it and other files are not looked at.
#[expect(
    clippy::disallowed_methods,
    reason = "the operator runs in a container of its own, without the engine and its port"
)]
pub(crate) fn read(folder: &Path) -> Result<Vec<File>, Fault> {
    let unreadable = |error: std::io::Error| {
        Fault::bad_input(format!("the release's manifests cannot be read: {error}"))
            .in_file(folder.to_string_lossy())
            .because("they are what the operator applies, so it has nothing to do without them")
            .hint("give the folder with `--release-manifests DIR`")
    };
    let mut files = vec![];
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if name.starts_with('.') || !matches!(ending, "yaml" | "yml" | "json") {
            continue;
        }
        // A folder that a ConfigMap makes holds links; what they lead to counts.
        let meta = std::fs::metadata(entry.path()).map_err(unreadable)?;
        if !meta.is_file() {
            continue;
        }
        let text = if meta.len() > LARGEST {
            Err(format!("it is larger than {} MiB", LARGEST >> 20))
        } else {
            std::fs::read_to_string(entry.path()).map_err(|error| error.to_string())
        };
        files.push(File { name, text });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests make the files that are read"
)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_read_in_order_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("b.yaml", &b"b"[..]),
            ("a.json", b"a"),
            ("c.yml", b"\xff"),
            ("image-references", b"x"),
            (".hidden.yaml", b"x"),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        std::fs::create_dir(folder.path().join("d.yaml")).unwrap();
        let files = read(folder.path()).unwrap();
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a.json", "b.yaml", "c.yml"]);
        assert_eq!(files[1].text.as_deref(), Ok("b"));
        assert!(files[2].text.is_err());
        assert_eq!(image_references(folder.path()), "x");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        assert_eq!(image_references(Path::new("/nowhere/at/all")), "");
        let fault = read(Path::new("/nowhere/at/all")).unwrap_err();
        assert_eq!(fault.place.unwrap().file, "/nowhere/at/all");
    }
}
