//! The release, and folders that people name.

use super::Check;
use crate::config::ReleaseSource;
use crate::config::document::ReleaseDocument;
use crate::config::grammar::{Problem, image};
use crate::ids::Digest;
use crate::path::TargetPath;

const DIR: &str = "spec.release.dir";
const IMAGE: &str = "spec.release.image";
const DIGEST: &str = "spec.release.digest";

const WHY_ONE: &str = "names and digests of images can come from one place only";
const WHY_DIGEST: &str = "a digest that is compared with nothing protects nothing";
const WHY_FOLDER: &str = "paths in a config stay inside the root that bootlace works on";

impl Check<'_> {
    /// Checks where the release comes from.
    pub(super) fn release(&mut self, document: &ReleaseDocument) -> Option<ReleaseSource> {
        let dir = document.dir.as_ref().map(|text| self.folder(DIR, text));
        let image = document.image.clone();
        let image = image.map(|text| self.text(IMAGE, Some(text), String::new(), image::image));
        let read = |text: &str| text.parse::<Digest>().map(Some).map_err(|_| bad_digest());
        let digest = self.text(DIGEST, document.digest.clone(), None, read);
        if let (None, Some(digest)) = (&document.dir, &document.digest) {
            let hint = match &document.image {
                Some(image) => format!("pin the image in its name: {image}@{digest}"),
                None => "name the folder with dir".into(),
            };
            let what = "spec.release.digest stands without a dir";
            self.refuse(DIGEST, what, WHY_DIGEST, hint);
            return None;
        }
        match (dir, image) {
            (Some(_), Some(_)) => {
                let what = "spec.release has both a dir and an image";
                self.refuse(IMAGE, what, WHY_ONE, "keep one of the two");
                None
            }
            (Some(path), None) => Some(ReleaseSource::Dir {
                path: path?,
                digest: digest?,
            }),
            (None, Some(image)) => image.map(ReleaseSource::Image),
            (None, None) => Some(ReleaseSource::BuiltIn),
        }
    }

    /// Reads a list of folders.
    pub(super) fn folders(&mut self, path: &str, texts: &[String]) -> Option<Vec<TargetPath>> {
        self.texts(path, texts, Self::folder)
    }

    /// Reads a folder; a relative one begins at the folder of the file that names it.
    pub(super) fn folder(&mut self, path: &str, text: &str) -> Option<TargetPath> {
        let base = self.origin(path).source.base.clone();
        let read = |text: &str| folder(&base, text).map(Some);
        self.text(path, Some(text.into()), None, read)?
    }
}

fn folder(base: &str, text: &str) -> Result<TargetPath, Problem> {
    let bad = |what: &str, hint: &str| Err(Problem::new(what, WHY_FOLDER, hint));
    if text.is_empty() {
        return bad("names no folder", "leave the key out, or name a folder");
    }
    if text.starts_with('~') {
        return bad("begins with ~, which is not expanded", "write the path out");
    }
    if text.split('/').any(|part| part == "..") {
        return bad(
            "has a part `..`",
            "write an absolute path, or move the folder beside the config",
        );
    }
    let plain: Vec<&str> = text.split('/').filter(|part| *part != ".").collect();
    let plain = plain.join("/");
    let whole = if text.starts_with('/') {
        plain
    } else {
        format!("{base}/{plain}")
    };
    TargetPath::new(&whole).map_err(|error| {
        Problem::new(
            format!("cannot be a folder: {error}"),
            WHY_FOLDER,
            "write an absolute path",
        )
    })
}

fn bad_digest() -> Problem {
    let what = "is not a digest of the form sha256:<64 hexadecimal digits>";
    let hint = "write all 64 lower-case hexadecimal digits, or leave the digest out";
    Problem::new(what, WHY_DIGEST, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_begin_where_the_file_lies() {
        let read = |text| folder("/etc/bootlace", text).map(|path| path.to_string());
        assert_eq!(read("m").as_deref(), Ok("/etc/bootlace/m"));
        assert_eq!(read("./m/./n/").as_deref(), Ok("/etc/bootlace/m/n"));
        assert_eq!(read(".").as_deref(), Ok("/etc/bootlace"));
        assert_eq!(read("/m").as_deref(), Ok("/m"));
        for bad in ["", "../m", "/a/../b", "~/m", "a\0b"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
