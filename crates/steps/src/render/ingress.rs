//! The class that an Ingress without one belongs to.

use bootlace_model::fault::Fault;
use serde_json::json;

use super::content::RenderedFile;
use super::input::RenderInput;
use super::objects::{NAMESPACE, config_map};
use crate::yaml;

const CLASS: &str = "bootlace";
const CONTROLLER: &str = "bootlace.dev/ingress";

/// Renders the class, and what a controller for it is told.
#[expect(
    clippy::unnecessary_wraps,
    reason = "every renderer may refuse its input, and this one is in their table"
)]
pub(super) fn render(_: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    let class = json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IngressClass",
        "metadata": {
            "name": CLASS,
            "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"},
        },
        "spec": {"controller": CONTROLLER},
    });
    let config = json!({
        "class": CLASS,
        "controller": CONTROLLER,
        "ports": {"http": 80, "https": 443},
    });
    let config = yaml::document(&config);
    let config = config_map(NAMESPACE, "ingress-config", "ingress.yaml", config);
    Ok(vec![
        RenderedFile::manifest("ingress-class.yaml", vec![class]),
        RenderedFile::manifest("ingress-config.yaml", vec![config]),
    ])
}
