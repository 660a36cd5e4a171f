//! The API server: how it is reached, and the few questions that are asked of it.

use std::path::PathBuf;
use std::time::Duration;

use bootlace_model::fault::Fault;
use futures_util::{Stream, StreamExt as _};
use kube::api::{GetParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::Request;
use kube::{Client, Config};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::retry::Refusal;

/// Under which name the operator owns the fields that it sets.
const FIELD_MANAGER: &str = "bootlace-version-operator";
/// How long the API server may take for one answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How the API server is reached.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The kubeconfig; without one, the service account of the pod that this runs in.
    pub kubeconfig: Option<PathBuf>,
    /// Scheme, host and port of the API server, instead of those that are found there.
    pub server: Option<String>,
}

/// The API server.
#[derive(Clone)]
pub(crate) struct Api {
    client: Client,
}

impl Api {
    /// Prepares to speak with the API server; nothing is sent yet.
    pub(crate) async fn new(access: &Access) -> Result<Self, Fault> {
        let mut config = match &access.kubeconfig {
            Some(path) => from_kubeconfig(path).await?,
            None => in_cluster(access.server.is_some())?,
        };
        if let Some(server) = &access.server {
            config.cluster_url = server.parse().map_err(|error| {
                Fault::bad_input(format!(
                    "{server:?} is not the address of an API server: {error}"
                ))
                .hint("write it like `--server https://10.0.0.1:6443`")
            })?;
        }
        config.connect_timeout = Some(ANSWER_WITHIN);
        // What is asked again, and when, is decided in one place, and that is here.
        config.default_retry = false;
        let client = Client::try_from(config).map_err(|error| {
            let why = Refusal::from(error).why;
            Fault::bad_input(format!("the access to the API server is not usable: {why}"))
                .because("without it the operator can neither see nor change anything")
                .hint("check the certificates and keys that the kubeconfig names")
        })?;
        Ok(Self { client })
    }

    /// Returns an object.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        resource: &str,
        name: &str,
    ) -> Result<T, Refusal> {
        let request = Request::new(resource).get(name, &GetParams::default());
        let request = request.map_err(kube::Error::BuildRequest)?;
        within(self.client.request(request)).await
    }

    /// Returns all objects of a kind, or those that have labels.
    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        resource: &str,
        labels: Option<&str>,
    ) -> Result<T, Refusal> {
        let params = ListParams {
            label_selector: labels.map(ToOwned::to_owned),
            ..ListParams::default()
        };
        let request = Request::new(resource).list(&params);
        let request = request.map_err(kube::Error::BuildRequest)?;
        within(self.client.request(request)).await
    }

    /// Makes an object.
    pub(crate) async fn create<T: Serialize + DeserializeOwned>(
        &self,
        resource: &str,
        object: &T,
    ) -> Result<T, Refusal> {
        let request = Request::new(resource).create(&written(), bytes(object)?);
        let request = request.map_err(kube::Error::BuildRequest)?;
        within(self.client.request(request)).await
    }

    /// Replaces an object unless somebody else changed it since it was read.
    pub(crate) async fn replace<T: Serialize + DeserializeOwned>(
        &self,
        resource: &str,
        name: &str,
        object: &T,
    ) -> Result<T, Refusal> {
        let request = Request::new(resource).replace(name, &written(), bytes(object)?);
        let request = request.map_err(kube::Error::BuildRequest)?;
        within(self.client.request(request)).await
    }

    /// Replaces a part of an object that has a right of its own, such as its approval.
    pub(crate) async fn replace_part<T: Serialize + DeserializeOwned>(
        &self,
        resource: &str,
        name: &str,
        part: &str,
        object: &T,
    ) -> Result<T, Refusal> {
        let body = bytes(object)?;
        let request = Request::new(resource).replace_subresource(part, name, &written(), body);
        let request = request.map_err(kube::Error::BuildRequest)?;
        within(self.client.request(request)).await
    }

    /// Makes an object be as it is given, whatever others set the same fields to.
    pub(crate) async fn apply(
        &self,
        resource: &str,
        name: &str,
        object: &Value,
    ) -> Result<Value, Refusal> {
        let params = PatchParams::apply(FIELD_MANAGER)
            .force()
            .validation_strict();
        let request = Request::new(resource).patch(name, &params, &Patch::Apply(object));
        let request = request.map_err(kube::Error::BuildRequest)?;
        within(self.client.request(request)).await
    }

    /// Sets the status of an object.
    pub(crate) async fn set_status<T: DeserializeOwned>(
        &self,
        resource: &str,
        name: &str,
        status: &Value,
    ) -> Result<T, Refusal> {
        let params = PatchParams {
            field_manager: Some(FIELD_MANAGER.into()),
            ..PatchParams::default()
        };
        let patch = Patch::Merge(status);
        let request = Request::new(resource).patch_subresource("status", name, &params, &patch);
        let request = request.map_err(kube::Error::BuildRequest)?;
        within(self.client.request(request)).await
    }

    /// Lists the kinds of a version of a group.
    pub(crate) async fn kinds(
        &self,
        api_version: &str,
    ) -> Result<k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList, Refusal> {
        if api_version.contains('/') {
            within(self.client.list_api_group_resources(api_version)).await
        } else {
            within(self.client.list_core_api_resources(api_version)).await
        }
    }

    /// Follows the changes of objects since a version of theirs.
    pub(crate) async fn watch<T: DeserializeOwned + Clone + Send + 'static>(
        &self,
        resource: &str,
        only: Option<&str>,
        since: &str,
    ) -> Result<impl Stream<Item = Result<WatchEvent<T>, Refusal>> + use<T>, Refusal> {
        let mut params = WatchParams::default();
        if let Some(name) = only {
            params = params.fields(&format!("metadata.name={name}"));
        }
        let request = Request::new(resource).watch(&params, since);
        let request = request.map_err(kube::Error::BuildRequest)?;
        let events = within(self.client.request_events::<T>(request)).await?;
        let events = events.map(|event: Result<_, kube::Error>| event.map_err(Refusal::from));
        Ok(events.boxed())
    }
}

async fn from_kubeconfig(path: &std::path::Path) -> Result<Config, Fault> {
    let unusable = |error: kube::config::KubeconfigError| {
        Fault::bad_input(format!("the kubeconfig cannot be used: {error}"))
            .in_file(path.to_string_lossy())
            .because("it says where the API server is and who we are")
            .hint("give another one with `--kubeconfig FILE`")
    };
    let kubeconfig = Kubeconfig::read_from(path).map_err(unusable)?;
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    config.map_err(unusable)
}

/// Uses the pod's service account; the address comes from the environment unless it was given.
fn in_cluster(is_server_given: bool) -> Result<Config, Fault> {
    let config = if is_server_given {
        Config::incluster_dns()
    } else {
        Config::incluster_env()
    };
    config.map_err(|error| {
        Fault::bad_input(format!("there is no usable service account: {error}"))
            .because("without a kubeconfig the service account of a pod says who we are")
            .hint("outside a pod, give `--kubeconfig FILE`")
    })
}

fn written() -> PostParams {
    PostParams {
        field_manager: Some(FIELD_MANAGER.into()),
        ..PostParams::default()
    }
}

fn bytes<T: Serialize>(object: &T) -> Result<Vec<u8>, Refusal> {
    serde_json::to_vec(object).map_err(|error| Refusal::unsendable(error.to_string()))
}

/// Waits for an answer, but not for ever: a connection that died silently never ends by itself.
async fn within<T>(answer: impl Future<Output = Result<T, kube::Error>>) -> Result<T, Refusal> {
    match tokio::time::timeout(ANSWER_WITHIN, answer).await {
        Ok(answer) => answer.map_err(Refusal::from),
        Err(_) => Err(Refusal::unanswered(ANSWER_WITHIN)),
    }
}
