//! What a renderer may know.

use std::collections::BTreeMap;
use std::net::IpAddr;

use bootlace_model::config::{Endpoint, Ports, ReleaseSource, Settings};
use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::FileTree;

use crate::copied::Copied;
use crate::survey::survey;
use crate::{cluster, release};

/// What is known of the release.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReleaseFacts {
    /// The version of the whole.
    pub version: String,
    /// What the payload hashes to; none for built-in names.
    pub digest: Option<Digest>,
    /// Where each image is pulled from, by its name.
    pub images: BTreeMap<String, String>,
}

impl ReleaseFacts {
    /// Takes them from the record of `release-info`, else from the payload, else they are built in.
    pub fn find(
        settings: &Settings,
        record: Option<&[u8]>,
        payload: Option<&FileTree>,
    ) -> Result<Self, Fault> {
        let release = match (record, payload, &settings.cluster.release) {
            (Some(record), _, _) => serde_json::from_slice(record).map_err(|error| {
                Fault::bad_input(format!("the record of the release cannot be read: {error}"))
                    .because("it says which images the cluster is made of")
                    .hint("`bootlace run cluster --only release-info` writes it")
            })?,
            (None, Some(tree), ReleaseSource::Dir { path, .. }) => {
                release::read(path, tree)?.release
            }
            _ => release::built_in(&settings.cluster.kubernetes_version),
        };
        Ok(Self {
            version: release.version,
            digest: release.digest,
            images: release.images,
        })
    }
}

/// Everything that a renderer may look at. The same input gives the same bytes.
#[derive(Debug, Clone)]
pub struct RenderInput<'a> {
    /// What the user wants.
    pub settings: &'a Settings,
    /// This machine's name in the cluster; empty where no renderer asks for it.
    pub node: String,
    /// The release.
    pub release: ReleaseFacts,
    /// The bootstrap token that the user brought, if there is one.
    pub token: Option<Vec<u8>>,
    /// Folders with the user's own manifests.
    pub manifests: Vec<FileTree>,
    /// The list of what `copy-manifests` copied, if there is one.
    pub copied: Option<Vec<u8>>,
    /// The files of the release payload, if there is one.
    pub payload: Option<FileTree>,
}

impl<'a> RenderInput<'a> {
    /// Begins with nothing but settings.
    pub fn new(settings: &'a Settings) -> Self {
        Self {
            settings,
            node: String::new(),
            release: ReleaseFacts::default(),
            token: None,
            manifests: vec![],
            copied: None,
            payload: None,
        }
    }

    /// Lists manifests as `copy-manifests` would, for a folder that it did not copy.
    pub fn list(folder: &TargetPath, manifests: &FileTree) -> Result<Vec<u8>, Fault> {
        let folders = [(folder, manifests.clone())];
        let record = cluster::record(&Copied::of(&survey(&folders)))?;
        Ok(record.into_bytes())
    }

    /// Returns where an image is pulled from.
    pub(crate) fn image(&self, name: &str) -> Result<&str, Fault> {
        self.release
            .images
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| {
                Fault::bad_input(format!("the release names no image {name}"))
                    .because("a pod without an image cannot be rendered, and guessing is not safe")
                    .hint(format!(
                        "add a tag {name} to image-references of the release"
                    ))
                    .hint("or take a release that fits this version of bootlace")
            })
    }

    /// Returns this machine's name in the cluster.
    pub(super) fn node(&self) -> Result<&str, Fault> {
        if self.node.is_empty() {
            return Err(Fault::internal(
                "a renderer asks for a name that nobody gave it",
            ));
        }
        Ok(&self.node)
    }

    /// Returns the address that this machine announces.
    pub(super) fn advertised(&self) -> String {
        self.address().to_string()
    }

    fn address(&self) -> IpAddr {
        self.settings.cluster.control_plane.advertise_address
    }

    /// Returns the loopback address of the family that this machine announces.
    pub(super) fn loopback(&self) -> &'static str {
        if self.address().is_ipv4() {
            "127.0.0.1"
        } else {
            "::1"
        }
    }

    /// Tells whether nobody but this machine is meant to reach the API.
    pub(super) fn is_private(&self) -> bool {
        let host = &self.settings.cluster.control_plane.endpoint.host;
        let loopback = |address: IpAddr| address.is_loopback();
        let only_here = host == "localhost" || host.parse().is_ok_and(loopback);
        only_here && self.address().is_loopback()
    }

    /// Returns where the other components listen.
    pub(super) fn ports(&self) -> Ports {
        self.settings.cluster.control_plane.ports
    }

    /// Returns the port at which the API server listens.
    pub(super) fn api_port(&self) -> u16 {
        self.settings.cluster.control_plane.endpoint.port
    }
}

/// Writes an address and a port as they stand in a URL.
pub(super) fn host_port(host: impl Into<String>, port: u16) -> String {
    let host = host.into();
    Endpoint { host, port }.to_string()
}
