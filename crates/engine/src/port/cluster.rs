//! The part of the port that talks to APIs over verified TLS.

use std::time::Duration;

use bootlace_model::effect::{ApiObject, GivenObject, ObjectId};

use super::{Asked, HostResult, ServiceRequest};

/// Somebody who can talk to the API of a cluster.
pub trait Cluster {
    /// Asks once; an answer of any status is an answer.
    fn ask_api(&self, request: &ApiRequest<'_>) -> HostResult<ApiAnswer>;
    /// Applies objects in an order in which they can be accepted, as the field manager `bootlace`.
    ///
    /// Definitions are waited for until they are served. What can get better is tried again until
    /// time is up, what cannot is reported at once; both are in the result, object by object.
    fn apply_objects(&self, request: &ApplyRequest<'_>) -> HostResult<Vec<Applied>>;
    /// Tells for each object whether the API has it, whatever it holds.
    fn has_objects(&self, request: &HasRequest<'_>) -> HostResult<Vec<bool>> {
        let marks = self.object_marks(request)?.into_iter();
        Ok(marks.map(|mark| mark.is_some()).collect())
    }
    /// Returns the mark of each object, as `expect::mark` makes it; none if the API has it not.
    fn object_marks(&self, request: &HasRequest<'_>) -> HostResult<Vec<Option<String>>>;
    /// Has an object stored again as it is, by a change that changes nothing; an answer of any status is
    /// an answer.
    fn rewrite_object(&self, request: &RewriteRequest<'_>) -> HostResult<ApiAnswer>;
    /// Asks a service over the cluster's network; that it does not answer is an answer.
    fn ask_service(&self, request: &ServiceRequest<'_>) -> HostResult<Asked>;
}

/// How an API is reached, with all contents at hand.
#[derive(Debug, Clone)]
pub enum Credentials {
    /// As a kubeconfig says.
    Kubeconfig(Vec<u8>),
    /// As the holder of a certificate.
    Certificate {
        /// Scheme, host and port.
        server: String,
        /// The authority in PEM.
        authority: Vec<u8>,
        /// The certificate in PEM.
        certificate: Vec<u8>,
        /// The key in PEM.
        key: bootlace_model::secret::Secret,
    },
}

/// A question to an API.
#[derive(Debug, Clone)]
pub struct ApiRequest<'a> {
    /// How it is reached.
    pub credentials: &'a Credentials,
    /// The path, with its query.
    pub path: &'a str,
    /// What is posted; a GET if nothing is.
    pub post: Option<&'a serde_json::Value>,
    /// How long it may take.
    pub within: Duration,
}

/// An object to store again.
#[derive(Debug, Clone)]
pub struct RewriteRequest<'a> {
    /// How the API is reached.
    pub credentials: &'a Credentials,
    /// The object's path.
    pub path: &'a str,
    /// How long it may take.
    pub within: Duration,
}

/// An answer of an API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiAnswer {
    /// The status.
    pub status: u16,
    /// The body; text that is no JSON is a JSON string.
    pub body: serde_json::Value,
}

/// Objects to apply.
#[derive(Debug)]
pub struct ApplyRequest<'a> {
    /// How the API is reached.
    pub credentials: &'a Credentials,
    /// The objects, in the order in which they were written down.
    pub objects: &'a [ApiObject],
    /// How long all of them together may take.
    pub within: Duration,
}

/// Objects to ask for.
#[derive(Debug)]
pub struct HasRequest<'a> {
    /// How the API is reached.
    pub credentials: &'a Credentials,
    /// The objects.
    pub objects: &'a [GivenObject],
    /// How long all of them together may take.
    pub within: Duration,
}

/// What came of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Which.
    pub id: ObjectId,
    /// Why it could not be applied, in the API's words; none if it was.
    pub problem: Option<String>,
    /// How often it was tried.
    pub tries: u32,
}
