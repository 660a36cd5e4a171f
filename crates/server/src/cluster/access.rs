//! How the API server is reached.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bootlace_model::fault::Fault;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How the API server is reached.
#[derive(Debug, Clone, Default)]
pub struct ClusterAccess {
    /// The kubeconfig; without one, the service account of the pod that the server runs in.
    pub kubeconfig: Option<PathBuf>,
}

/// Prepares to speak with the API server; nothing is sent yet.
pub(crate) async fn connect(access: &ClusterAccess) -> Result<Client, Fault> {
    let mut config = match &access.kubeconfig {
        Some(path) => from_kubeconfig(path).await?,
        None => Config::incluster().map_err(|error| {
            Fault::bad_input(format!("there is no usable service account: {error}"))
                .because("without a kubeconfig the service account of a pod says who we are")
                .hint("outside a pod, give `--cluster-kubeconfig FILE`")
        })?,
    };
    config.connect_timeout = Some(CONNECT);
    Client::try_from(config).map_err(|error| {
        Fault::bad_input(format!(
            "the access to the API server is not usable: {error}"
        ))
        .because("pools and configs come from there")
        .hint("check the certificates and keys that the kubeconfig names")
    })
}

async fn from_kubeconfig(path: &Path) -> Result<Config, Fault> {
    let unusable = |error: KubeconfigError| {
        let why = match error {
            // What cannot be read is shown by the reader, and may be a key or a token.
            KubeconfigError::Parse(_) => "it is not a kubeconfig in YAML".to_owned(),
            error => error.to_string(),
        };
        Fault::bad_input(format!("the kubeconfig cannot be used: {why}"))
            .in_file(path.display().to_string())
            .because("it says where the API server is and who we are")
            .hint("give another one with `--cluster-kubeconfig FILE`")
    };
    let kubeconfig = Kubeconfig::read_from(path).map_err(unusable)?;
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    config.map_err(unusable)
}
