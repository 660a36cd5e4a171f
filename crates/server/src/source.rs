//! All that a pool's config is made of, and in which state it was found.

use std::path::PathBuf;

use serde_json::Value;

use crate::disk::Fingerprint;
use crate::name::Name;

/// A document that configs are made of, wherever it is kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Document {
    /// A pool.
    Pool(Name),
    /// A config.
    Config(Name),
    /// The settings of the cluster, with its authorities.
    Controller,
    /// The image that the cluster built for a pool.
    BuiltImage(Name),
}

/// All that a pool's config is made of.
#[derive(Debug)]
pub(crate) struct Source {
    /// The name of the pool.
    pub(crate) pool_name: Name,
    /// The pool, as a Kubernetes object.
    pub(crate) pool: Value,
    /// The name of the config.
    pub(crate) config: Name,
    /// The config, as a Kubernetes object.
    pub(crate) machine_config: Value,
    /// Whether it comes from a cluster, whose machines may be older than its server.
    pub(crate) is_from_cluster: bool,
    /// The image that the cluster built for the pool and this config.
    pub(crate) built_image: Option<String>,
    /// Authorities of the cluster: path on the machine and content.
    pub(crate) authorities: Vec<(&'static str, Vec<u8>)>,
    /// The kubeconfig that the machine gets.
    pub(crate) kubeconfig: Option<Vec<u8>>,
    /// Registries and their authorities.
    pub(crate) certificates: Vec<(String, Vec<u8>)>,
}

/// Why a pool is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unservable {
    /// There is none of that name.
    Unknown,
    /// A file cannot be read, which may be over in a moment without a change of the file.
    Unreadable {
        /// The file.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// Something is wrong with one of its documents.
    Broken {
        /// The document, as people find it.
        place: String,
        /// What is wrong.
        reason: String,
    },
}

impl Unservable {
    /// Says what is wrong with a document.
    pub(crate) fn broken(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Broken {
            place: place.into(),
            reason: reason.into(),
        }
    }
}

/// The state in which something was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A file; none if there was none.
    File(PathBuf, Option<Fingerprint>),
    /// An object of the cluster, by its version; none if there was none.
    Object(Document, Option<String>),
}

/// What came of reading a pool, and the state of all that it came from.
#[derive(Debug)]
pub(crate) struct Reading {
    /// What was read.
    pub(crate) marks: Vec<Mark>,
    /// What came of it.
    pub(crate) source: Result<Source, Unservable>,
}
