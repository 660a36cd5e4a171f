//! Images and archives of images, as the Open Container Initiative describes them; no daemon needed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tar::Builder;

use crate::error::LabError;
use crate::files;
use crate::key::{Hashing, digest};
use crate::layer::{Layer, append_plain};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// Where programs of an image are looked for.
const PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How a container of an image begins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Start<'a> {
    /// The program; a shell if none is named.
    pub(crate) entrypoint: Option<&'a str>,
    /// The user and the group that it runs as; root if none are named.
    pub(crate) user: Option<&'a str>,
}

impl<'a> Start<'a> {
    /// Starts a program as root.
    pub(crate) fn program(path: &'a str) -> Self {
        Self {
            entrypoint: Some(path),
            user: None,
        }
    }
}

/// An image that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Image {
    /// The digest of its manifest, by which it is named for ever.
    pub(crate) digest: String,
    /// The size of all of it.
    pub(crate) size: u64,
    /// Its manifest's size.
    manifest_size: u64,
    /// Its blobs: manifest, config and layers.
    blobs: Vec<String>,
}

impl Image {
    /// Makes an image of one layer in a folder.
    pub(crate) fn make(folder: &Path, layer: &Layer, start: &Start<'_>) -> Result<Self, LabError> {
        let layer = write_layer(folder, layer)?;
        let mut runs = match start.entrypoint {
            Some(program) => json!({"Entrypoint": [program]}),
            None => json!({"Cmd": ["/bin/sh"]}),
        };
        if let Some(user) = start.user {
            runs["User"] = json!(user);
        }
        let image = Self::of_layers(folder, &[layer], runs)?;
        let record = json!(image).to_string();
        files::write(&folder.join("image.json"), record.as_bytes())?;
        Ok(image)
    }

    /// Makes an image of layers that were written to the folder; `runs` is what its config adds to the defaults.
    pub(crate) fn of_layers(
        folder: &Path,
        layers: &[LayerBlob],
        mut runs: Value,
    ) -> Result<Self, LabError> {
        let blobs = folder.join("blobs");
        runs["Env"] = json!([PATH]);
        runs["WorkingDir"] = json!("/");
        let digests: Vec<&str> = layers.iter().map(|layer| layer.digest.as_str()).collect();
        let history = vec![json!({"created_by": "lab prepare"}); layers.len()];
        let config = json!({
            "architecture": architecture(),
            "os": "linux",
            "config": runs,
            "rootfs": {"type": "layers", "diff_ids": digests},
            "history": history,
        });
        let config = config.to_string();
        let config_digest = put(&blobs, config.as_bytes())?;
        let described = layers.iter();
        let described = described
            .map(|layer| json!({"mediaType": LAYER, "digest": layer.digest, "size": layer.size}));
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": CONFIG, "digest": config_digest, "size": config.len()},
            "layers": described.collect::<Vec<_>>(),
        });
        let manifest = manifest.to_string();
        let manifest_digest = put(&blobs, manifest.as_bytes())?;
        let size = layers.iter().map(|layer| layer.size).sum::<u64>();
        let mut all = vec![manifest_digest.clone(), config_digest];
        all.extend(layers.iter().map(|layer| layer.digest.clone()));
        Ok(Self {
            digest: manifest_digest,
            size: size + (config.len() + manifest.len()) as u64,
            manifest_size: manifest.len() as u64,
            blobs: all,
        })
    }

    /// Reads what was made in a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, LabError> {
        let path = folder.join("image.json");
        let text = fs::read(&path).map_err(LabError::file("read", &path))?;
        serde_json::from_slice(&text).map_err(|error| LabError::source(&path, error.to_string()))
    }
}

/// An image in an archive, by all names that it shall have there.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    /// The image.
    pub(crate) image: Image,
    /// The folder in which it was made.
    pub(crate) folder: PathBuf,
    /// Its full names, with a tag or a digest.
    pub(crate) names: Vec<String>,
}

/// Writes an archive of images; returns its digest and its size.
///
/// `ctr images import` gives an image the name in the annotation `io.containerd.image.name`, and
/// takes a manifest that is listed twice under both names.
pub(crate) fn archive(path: &Path, images: &[Named]) -> Result<(String, u64), LabError> {
    let mut blobs: BTreeMap<&str, &Path> = BTreeMap::new();
    let mut manifests = Vec::new();
    for Named {
        image,
        folder,
        names,
    } in images
    {
        for name in names {
            manifests.push(json!({
                "mediaType": MANIFEST,
                "digest": image.digest,
                "size": image.manifest_size,
                "annotations": {"io.containerd.image.name": name},
            }));
        }
        blobs.extend(
            image
                .blobs
                .iter()
                .map(|blob| (blob.as_str(), folder.as_path())),
        );
    }
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests});
    let small = [
        (
            "oci-layout",
            json!({"imageLayoutVersion": "1.0.0"}).to_string(),
        ),
        ("index.json", index.to_string()),
    ];
    let failed = || LabError::file("write", path);
    let file = File::create(path).map_err(failed())?;
    let mut builder = Builder::new(Hashing::new(BufWriter::with_capacity(1 << 20, file)));
    for (name, text) in small {
        append_plain(&mut builder, name, text.len() as u64, text.as_bytes()).map_err(failed())?;
    }
    for (blob, folder) in blobs {
        let from = blob_path(&folder.join("blobs"), blob);
        let file = File::open(&from).map_err(LabError::file("read", &from))?;
        let size = file
            .metadata()
            .map_err(LabError::file("read", &from))?
            .len();
        let name = format!("blobs/{}", blob.replacen(':', "/", 1));
        append_plain(&mut builder, &name, size, file).map_err(failed())?;
    }
    let hashing = builder.into_inner().map_err(failed())?;
    let (mut file, digest, size) = hashing.finish();
    file.flush().map_err(failed())?;
    Ok((digest, size))
}

/// A layer among the blobs of a folder.
#[derive(Debug, Clone)]
pub(crate) struct LayerBlob {
    digest: String,
    size: u64,
}

/// Writes a layer to the blobs of a folder in which images are made.
pub(crate) fn write_layer(folder: &Path, layer: &Layer) -> Result<LayerBlob, LabError> {
    let blobs = folder.join("blobs");
    files::folder(&blobs)?;
    let path = blobs.join("layer.tar");
    let file = File::create(&path).map_err(LabError::file("write", &path))?;
    let hashing = layer.write(Hashing::new(BufWriter::with_capacity(1 << 20, file)))?;
    let (mut file, digest, size) = hashing.finish();
    file.flush().map_err(LabError::file("write", &path))?;
    fs::rename(&path, blob_path(&blobs, &digest)).map_err(LabError::file("write", &path))?;
    Ok(LayerBlob { digest, size })
}

fn put(blobs: &Path, content: &[u8]) -> Result<String, LabError> {
    let digest = digest(content);
    files::write(&blob_path(blobs, &digest), content)?;
    Ok(digest)
}

fn blob_path(blobs: &Path, digest: &str) -> PathBuf {
    blobs.join(digest.trim_start_matches("sha256:"))
}

/// Returns this computer's architecture as images name it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn an_archive_holds_each_blob_once_under_all_names() {
        let folder = tempfile::tempdir().unwrap();
        let layer = Layer::default().text("/x", "1", 0o755);
        let image = Image::make(folder.path(), &layer, &Start::program("/x")).unwrap();
        assert_eq!(Image::read(folder.path()).unwrap(), image);
        let named = Named {
            image: image.clone(),
            folder: folder.path().to_owned(),
            names: vec!["a.test/x:1".into(), format!("a.test/x@{}", image.digest)],
        };
        let path = folder.path().join("bundle.tar");
        let (found, size) = archive(&path, &[named.clone(), named.clone()]).unwrap();
        assert_eq!(found, crate::key::digest_of_file(&path).unwrap());
        assert_eq!(size, fs::metadata(&path).unwrap().len());

        let mut archive = tar::Archive::new(File::open(&path).unwrap());
        let mut contents = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let name = entry.path().unwrap().to_string_lossy().into_owned();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            assert!(contents.insert(name, content).is_none());
        }
        assert_eq!(contents.len(), 5);
        for (name, content) in contents
            .iter()
            .filter(|(name, _)| name.starts_with("blobs/"))
        {
            let expected = format!("blobs/{}", digest(content).replace(':', "/"));
            assert_eq!(*name, expected);
        }
        let index: serde_json::Value = serde_json::from_slice(&contents["index.json"]).unwrap();
        assert_eq!(
            index["manifests"][0]["annotations"]["io.containerd.image.name"],
            "a.test/x:1"
        );
        assert_eq!(index["manifests"].as_array().unwrap().len(), 4);
    }

    #[test]
    fn layers_are_stacked_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let lower = write_layer(folder.path(), &Layer::default().text("/a", "1", 0o644)).unwrap();
        let upper = write_layer(folder.path(), &Layer::default().text("/b", "2", 0o644)).unwrap();
        let layers = [lower, upper];
        let image = Image::of_layers(folder.path(), &layers, json!({"Cmd": ["x"]})).unwrap();
        let read = |digest: &str| -> Value {
            let path = blob_path(&folder.path().join("blobs"), digest);
            serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
        };
        let manifest = read(&image.digest);
        let config = read(manifest["config"]["digest"].as_str().unwrap());
        for (number, layer) in layers.iter().enumerate() {
            assert_eq!(manifest["layers"][number]["digest"], layer.digest);
            assert_eq!(config["rootfs"]["diff_ids"][number], layer.digest);
        }
        assert_eq!(config["config"]["Cmd"], json!(["x"]));
        assert_eq!(config["history"].as_array().unwrap().len(), 2);
    }
}
