//! The scheduler.

use bootlace_model::fault::Fault;
use serde_json::{Map, json};

use super::content::RenderedFile;
use super::hardening;
use super::input::RenderInput;
use super::places::SCHEDULER_CONF;
use super::pod::{Mount, Probes, StaticPod};

const MOUNTS: [Mount; 1] = [Mount::file("kubeconfig", SCHEDULER_CONF)];

/// Renders the pod.
pub(super) fn render(input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    let kubeconfig = || SCHEDULER_CONF.to_owned();
    let mut flags = vec![
        ("bind-address", "127.0.0.1".into()),
        ("secure-port", input.ports().scheduler.to_string()),
        ("kubeconfig", kubeconfig()),
        ("authentication-kubeconfig", kubeconfig()),
        ("authorization-kubeconfig", kubeconfig()),
        ("leader-elect", "true".into()),
    ];
    flags.extend(hardening::of_component(input));
    let pod = StaticPod {
        name: "kube-scheduler",
        image: input.image("kube-scheduler")?,
        program: &["kube-scheduler"],
        flags,
        mounts: &MOUNTS,
        probes: Some(Probes {
            scheme: "HTTPS",
            host: "127.0.0.1".into(),
            port: input.ports().scheduler,
            live: "/livez",
            ready: Some("/readyz"),
        }),
        requests: json!({"cpu": "100m"}),
        annotations: Map::new(),
    };
    let name = "kube-scheduler-pod.yaml";
    Ok(vec![RenderedFile::static_pod(name, pod.object())])
}
