//! Who may ask the new API for what, and how a joining machine knows it.

mod bindings;
mod token;

use bootlace_model::fault::Fault;
use serde_json::{Value, json};

use super::content::{AUTHORITY, RenderedFile};
use super::hardening;
use super::input::RenderInput;
use super::objects::config_map;
use crate::yaml;

/// Paths at which nobody has to log in: health, and what a machine reads before it joins.
const OPEN_PATHS: [&str; 4] = [
    "/livez",
    "/readyz",
    "/healthz",
    "/api/v1/namespaces/kube-public/configmaps/cluster-info",
];

/// Renders the API server's authentication config, the bindings, and what joining machines need.
pub(super) fn render(input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    let mut files = vec![
        RenderedFile::object("authentication-config.yaml", authentication()),
        RenderedFile::manifest("cluster-admins.yaml", bindings::administrators()),
        RenderedFile::manifest("node-bootstrap-bindings.yaml", bindings::node_bootstrap()),
        RenderedFile::manifest("cluster-info.yaml", vec![cluster_info(input)]),
    ];
    files.extend(hardening::files(input));
    if let Some(content) = &input.token {
        let secret = token::secret(input.settings, content)?;
        files.push(RenderedFile::manifest("bootstrap-token.yaml", vec![secret]).secret());
    }
    Ok(files)
}

fn authentication() -> Value {
    let conditions: Vec<Value> = OPEN_PATHS
        .iter()
        .map(|path| json!({"path": path}))
        .collect();
    json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthenticationConfiguration",
        "anonymous": {"enabled": true, "conditions": conditions},
        "jwt": [],
    })
}

/// Returns what a machine that joins reads before it trusts anybody; a controller signs it with
/// every bootstrap token, so that a machine that holds one can tell whether it is genuine.
fn cluster_info(input: &RenderInput<'_>) -> Value {
    let endpoint = &input.settings.cluster.control_plane.endpoint;
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": "",
            "cluster": {
                "certificate-authority-data": AUTHORITY,
                "server": format!("https://{endpoint}"),
            },
        }],
        "contexts": [],
        "current-context": "",
        "preferences": {},
        "users": [],
    });
    let kubeconfig = yaml::document(&kubeconfig);
    config_map("kube-public", "cluster-info", "kubeconfig", kubeconfig)
}
