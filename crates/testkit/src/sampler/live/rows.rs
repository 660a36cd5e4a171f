//! The images, products, objects and questions of the sample steps.

use bootlace_model::effect::{ApiObject, Product};
use bootlace_model::expect::{Access, ApiClaim, Claim, Field};
use bootlace_model::fault::Fault;
use bootlace_model::symptom::{ContainersFail, KnownLine, Symptom};
use serde_json::{Value, json};

use super::super::parts::{at, unit_name};

/// The images of the archive; the first is loaded before the sequence begins.
pub(in super::super) const IMAGES: [&str; 4] = [
    "sampler.example/etcd:v3.7.3",
    "sampler.example/kube-apiserver:v1.36.3",
    "sampler.example/kube-controller-manager:v1.36.3",
    "sampler.example/kube-scheduler:v1.36.3",
];

/// How the API of the sample control plane is reached.
pub(super) const KUBECONFIG: &str = "/srv/sampler/kubeconfig";

/// Makes a static pod.
pub(super) fn pod(name: &str) -> Value {
    let image = IMAGES.iter().find(|image| image.contains(name));
    let command = match name {
        "etcd" => json!(["etcd", "--cert-file=/srv/sampler/pki/server.crt"]),
        "kube-apiserver" => json!([name, "--tls-cert-file=/srv/sampler/pki/server.crt"]),
        _ => json!([name]),
    };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "kube-system", "labels": {"component": name}},
        "spec": {"containers": [{"name": name, "image": image, "command": command}]},
    })
}

/// Lists what the sample kubelet and its pods leave behind.
pub(super) fn products() -> Vec<Product> {
    vec![
        Product::Pods,
        Product::Mounts(at("/var/lib/kubelet")),
        Product::Path(at("/var/lib/kubelet")),
        Product::Path(at("/var/lib/etcd")),
        Product::Cgroup("kubepods".into()),
    ]
}

/// Lists what the other sample unit leaves behind.
pub(in super::super) fn leaves() -> Vec<Product> {
    vec![
        Product::Path(at("/var/lib/steady")),
        Product::Interface("sample0".into()),
        Product::PacketTable("inet sampler".into()),
        Product::Routes(98),
        Product::Cgroup("sampler.slice".into()),
    ]
}

/// Lists objects in an order in which they cannot be applied one by one.
pub(super) fn objects() -> Vec<ApiObject> {
    let namespaced = |name: &str| json!({"name": name, "namespace": "sampler"});
    let names = json!({"kind": "Sample", "plural": "samples"});
    let versions = json!([{"name": "v1", "served": true}]);
    let group = "sampler.example";
    let objects = [
        json!({"apiVersion": "sampler.example/v1", "kind": "Sample",
            "metadata": {"name": "one"}, "spec": {"number": 1, "kept": []}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": namespaced("app"),
            "spec": {"replicas": 2, "template": {"metadata": {"labels": {"app": "app"}}}}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": namespaced("config"),
            "data": {"key": "value"}}),
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "samples.sampler.example"},
            "spec": {"group": group, "scope": "Cluster", "names": names, "versions": versions}}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "sampler"}}),
    ];
    let objects = objects.into_iter();
    objects
        .filter_map(|object| ApiObject::new(object, "sampler"))
        .collect()
}

/// Asks the API.
pub(super) fn api(path: &str, fields: Vec<Field>) -> Claim {
    claim(Access::Kubeconfig(at(KUBECONFIG)), path, None, fields)
}

/// Asks etcd.
pub(super) fn etcd(path: &str, fields: Vec<Field>) -> Claim {
    let access = Access::Certificate {
        server: "https://127.0.0.1:2379".into(),
        authority: at("/srv/sampler/pki/ca.crt"),
        certificate: at("/srv/sampler/pki/server.crt"),
        key: at("/srv/sampler/pki/server.key"),
    };
    claim(access, path, Some(json!({})), fields)
}

fn claim(access: Access, path: &str, post: Option<Value>, fields: Vec<Field>) -> Claim {
    Claim::Api(ApiClaim {
        what: format!("{path} answers as it shall"),
        access,
        path: path.into(),
        post,
        fields,
    })
}

static KNOWN: [KnownLine; 1] = [KnownLine {
    needle: "address already in use",
    code: "S-01",
    cause: "somebody else listens there",
    hint: "stop it",
}];

static LASTING: [KnownLine; 1] = [KnownLine {
    needle: "unknown authority",
    code: "S-02",
    cause: "a certificate is somebody else's",
    hint: "put the right one there",
}];

/// Lists what would end a wait of the sample steps early.
pub(super) fn symptoms() -> Result<Vec<Symptom>, Fault> {
    Ok(vec![
        Symptom::UnitFails(unit_name("kubelet.service")?),
        Symptom::ContainersFail(ContainersFail {
            pods: vec!["etcd-".into(), "kube-".into()],
            known: &KNOWN,
            lasting: &LASTING,
            runner: Some(unit_name("kubelet.service")?),
        }),
        Symptom::ImagesMissing {
            images: IMAGES.iter().map(|image| (*image).to_owned()).collect(),
            fetcher: None,
        },
        Symptom::CertificateOutOfDate {
            path: at("/srv/sampler/pki/server.crt"),
        },
    ])
}
