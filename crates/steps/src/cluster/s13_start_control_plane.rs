//! `start-control-plane`: the first moment at which something runs.

mod files;
mod ground;
mod process;

use std::time::Duration;

use bootlace_model::check::Check;
use bootlace_model::config::{Placement, Profile, Settings};
use bootlace_model::effect::{
    ApiObject, ApplyObjects, Await, Effect, ImportImages, Product, SetUnit, StartUnit, UnitState,
    Via,
};
use bootlace_model::expect::{Access, ApiClaim, Claim, Expectation, Field};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::probe::Probe;
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};
use bootlace_model::symptom::{ContainersFail, Symptom};
use serde_json::json;

use self::files::{Turn, files};
use super::live::{
    self, LOOPBACK, api, by, expect_placed, is_token, lasting, objects, only_kubernetes, unit,
};
use crate::assets::{asset, machine};
use crate::bundle::{self, Bundle};
use crate::expectations::minutes;
use crate::facts::{BUNDLE, MANIFESTS, NODE_NAME, NOW, RELEASE_IMAGES, RELEASE_MANIFESTS};
use crate::failures::{KNOWN, LASTING};
use crate::live_step::LiveStep;
use crate::machine_files::MACHINE_TREES;

const NAME: &str = "start-control-plane";

/// The protocol number of the routes that `node-network` sets.
const NODE_NETWORK: u8 = 98;

/// The most that is read of the manifests.
const LIMIT: u64 = 64 << 20;

/// The step.
pub(crate) static STEP: LiveStep = LiveStep {
    name: NAME,
    about: &About {
        title: "Start the first control plane as static pods",
        why: "So far there are only files; now the kubelet is given the four static pods, and \
              from them come etcd, the API server, the controller manager and the scheduler, \
              without any cluster that could have scheduled them. etcd and the API server go \
              first and have the machine to themselves; when the API server has made the roles \
              of the other two, these and the version operator follow. Secrets go before the pods, each written under a name that begins with a dot and then \
              renamed, because the kubelet runs every other file that it sees in that folder, \
              half-written ones and backup copies included. cluster-bootstrap does the same with \
              two habits that hurt: it insists that the files are absent, so that a start that \
              was killed can never be started again, and on any failure it tears the control \
              plane down before anybody has looked at it; ours knows its own files again, and \
              leaves the evidence alone until `undo`. It also takes any answer of the API, even \
              an error, for a sign of life, while we wait until `/readyz` says 200 to a client \
              that checks the certificate. Images that are not pinned by digest are refused here, \
              unless you insist or there are none: with `--placement process` a small supervisor \
              takes the kubelet's place and runs the commands of the same pods as plain \
              processes, all their paths below the root.",
        reads: &[
            "ASSETS/tls/",
            "ASSETS/auth/",
            "ASSETS/bootstrap-manifests/",
            "ASSETS/manifests/",
        ],
        writes: &[
            "/etc/kubernetes/manifests/",
            "/etc/kubernetes/pki/",
            "/etc/kubernetes/bootstrap-secrets/",
            "/etc/kubernetes/configs/",
            "/etc/kubernetes/kubelet.conf.d/",
            "/etc/kubernetes/release-manifests/",
            "/etc/kubernetes/kubelet.env",
            "/etc/systemd/system/kubelet.service",
            "/var/lib/kubelet/",
            "/etc/kubernetes/admin.conf",
            "/etc/kubernetes/controller-manager.conf",
            "/etc/kubernetes/scheduler.conf",
            "/etc/kubernetes/kubelet.conf",
            "/var/lib/etcd/",
            "/var/log/kubernetes/audit/",
            "/etc/sysctl.d/90-bootlace-kubelet.conf",
            "the objects of ASSETS/manifests/",
        ],
        command: "\
# profile kubernetes
install -d -m 0700 /etc/kubernetes/pki /etc/kubernetes/bootstrap-secrets
cp -r ASSETS/tls/. /etc/kubernetes/pki/ && cp ASSETS/auth/*.conf /etc/kubernetes/
for pod in etcd kube-apiserver kube-controller-manager kube-scheduler; do
  install -m 0600 \"ASSETS/bootstrap-manifests/$pod-pod.yaml\" \"/etc/kubernetes/manifests/.$pod\"
  mv \"/etc/kubernetes/manifests/.$pod\" \"/etc/kubernetes/manifests/$pod-pod.yaml\"
done
curl --cacert ASSETS/tls/ca.crt https://localhost:6443/readyz
kubectl --kubeconfig ASSETS/auth/kubeconfig-loopback apply --server-side -R -f ASSETS/manifests
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-bootstrap\"]' ASSETS/records/release.json)
podman run --rm --net=host --volume ASSETS:/assets:z --volume /etc/kubernetes:/etc/kubernetes:z \\
  \"$IMAGE\" start --tear-down-early=false --asset-dir=/assets --required-pods=PODS",
        undo: UndoPolicy::Inverse,
        failures: &[
            "F-01", "F-02", "F-03", "F-04", "F-05", "F-06", "F-10", "F-18", "F-22", "F-23", "F-24",
            "F-25", "F-26", "F-27", "F-28", "F-29", "F-30", "F-31", "F-32", "F-33", "F-44", "F-54",
            "N-01",
        ],
        built: true,
    },
    needs: &[
        "prepare-assets",
        "copy-manifests",
        "release-info",
        "render-api",
        "render-auth",
        "render-config",
        "render-version-operator",
        "render-etcd",
        "render-kube-apiserver",
        "render-kube-controller-manager",
        "render-kube-scheduler",
        "render-ingress",
        "render-machine-config",
    ],
    uses: &["node.name", "release.images"],
    as_processes: None,
    asks,
    checks,
    plan,
    expects,
};

fn asks(settings: &Settings) -> Vec<Ask> {
    let manifests = Probe::ReadTree {
        path: asset(settings, "manifests"),
        limit: LIMIT,
    };
    let release = Probe::ReadTree {
        path: asset(settings, MACHINE_TREES[0].0),
        limit: LIMIT,
    };
    let bundle = bundle::list_path(settings).map(|path| Probe::ReadFile { path, limit: LIMIT });
    let bundle = bundle.map(|probe| BUNDLE.from(probe));
    [
        MANIFESTS.from(manifests),
        RELEASE_MANIFESTS.from(release),
        NOW.from(Probe::Now),
    ]
    .into_iter()
    .chain(bundle)
    .collect()
}

fn checks(settings: &Settings) -> Vec<Check> {
    match &settings.placement {
        Placement::Kubelet => ground::checks(settings),
        Placement::Process { programs } => process::checks(settings, programs),
    }
}

fn plan(settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
    only_kubernetes(settings, NAME)?;
    if let Placement::Process { programs } = &settings.placement {
        return process::plan(settings, programs, facts);
    }
    let node = facts.get(&NODE_NAME)?;
    let images = facts.get(&RELEASE_IMAGES)?;
    let bundle = bundle::read(settings, facts)?;
    let mut apply = apply(settings, facts)?;
    apply.objects.extend(control_plane_node(&node));
    let mut effects: Vec<Effect> = files::folders(settings).collect();
    effects.extend(files(settings, Turn::Config));
    effects.extend(files::tree(&facts.get(&RELEASE_MANIFESTS)?)?);
    effects.extend(files(settings, Turn::FirstPod));
    effects.push(start("containerd.service", None, vec![])?);
    effects.extend(bundle.as_ref().map(import));
    effects.push(start("kubelet.service", None, products())?);
    // Enabled only now: a boot in between would start it, and it would not count as ours to stop.
    effects.push(Effect::SetUnit(SetUnit {
        unit: unit("kubelet.service")?,
        state: UnitState::Enabled,
        via: Via::Links,
        origin: by(NAME),
    }));
    let pinned: Vec<String> = bundle.map(|it| it.references()).unwrap_or_default();
    let needed = ["etcd", "kube-apiserver"];
    let needed = needed.iter().filter_map(|name| images.get(*name).cloned());
    let (brought, fetched) = needed.partition(|image| pinned.contains(image));
    let symptoms = symptoms(brought, fetched)?;
    effects.push(await_listening(settings, symptoms.clone()));
    // It has asked an API that was not there, and would ask again only seconds later. What it asks now
    // waits at the open door until the API server serves.
    effects.push(start("kubelet.service", Some(ASKS_ANEW.into()), vec![])?);
    effects.push(await_api(GRANTS, symptoms.clone()));
    // What needs the API may start now, and is not refused for want of its role.
    effects.extend(files(settings, Turn::LaterPod));
    effects.push(await_api(READY, symptoms));
    effects.push(Effect::ApplyObjects(apply));
    Ok(Decision::Do(effects))
}

/// Gives the API the objects of the asset folder.
fn apply(settings: &Settings, facts: &Facts) -> Result<ApplyObjects, PlanError> {
    let folder = asset(settings, "manifests");
    let mut objects = objects(&folder, &facts.get(&MANIFESTS)?)?;
    let expires = facts.get(&NOW)? + settings.cluster.security.bootstrap_token_validity;
    for token in objects.iter_mut().filter(|object| is_token(object)) {
        live::expire(token, expires);
    }
    Ok(ApplyObjects {
        name: format!("objects of {folder}"),
        kubeconfig: machine(LOOPBACK),
        lasting: Some(lasting(&objects)),
        objects,
        within: minutes(5),
        origin: by(NAME),
    })
}

/// Marks this machine as one of the control plane; a kubelet may not say that of itself.
fn control_plane_node(node: &str) -> Option<ApiObject> {
    let labels = json!({"node-role.kubernetes.io/control-plane": ""});
    let metadata = json!({"name": node, "labels": labels});
    let object = json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata});
    ApiObject::new(object, NAME)
}

fn start(
    name: &'static str,
    anew: Option<String>,
    products: Vec<Product>,
) -> Result<Effect, PlanError> {
    Ok(Effect::StartUnit(StartUnit {
        unit: unit(name)?,
        anew,
        within: minutes(2),
        products,
        origin: by(NAME),
    }))
}

/// Why the kubelet is restarted.
const ASKS_ANEW: &str = "it registers this node at once instead of after its back-off";

fn import(bundle: &Bundle) -> Effect {
    Effect::ImportImages(ImportImages {
        archive: bundle.archive.clone(),
        digest: Some(bundle.digest),
        images: bundle.references(),
        within: minutes(10),
        origin: by(NAME),
    })
}

/// Lists what a kubelet and its pods leave behind, in the order in which it is removed.
fn products() -> Vec<Product> {
    let paths = [
        "var/lib/kubelet",
        "var/lib/etcd",
        "var/log/pods",
        "var/log/containers",
        "var/log/kubernetes/audit",
        "var/lib/cni",
        "etc/cni/net.d/10-bootlace.conflist",
        "run/kubernetes",
    ];
    let tables = ["ip", "ip6"].into_iter();
    let tables = tables.flat_map(|family| {
        let names = ["kube-proxy", "nat", "filter", "mangle"].into_iter();
        names.map(move |name| Product::PacketTable(format!("{family} {name}")))
    });
    [Product::Pods, Product::Mounts(machine("var/lib/kubelet"))]
        .into_iter()
        .chain(paths.map(|path| Product::Path(machine(path))))
        .chain([
            Product::Interface("cni0".into()),
            Product::Routes(NODE_NETWORK),
        ])
        .chain(tables)
        .chain([Product::Cgroup("kubepods".into())])
        .collect()
}

/// Lists what ends the wait for the API; some images were brought along, others the kubelet may fetch.
fn symptoms(brought: Vec<String>, fetched: Vec<String>) -> Result<Vec<Symptom>, PlanError> {
    let mut symptoms = vec![
        Symptom::UnitFails(unit("containerd.service")?),
        Symptom::UnitFails(unit("kubelet.service")?),
        Symptom::ContainersFail(ContainersFail {
            pods: vec!["etcd-".into(), "kube-apiserver-".into()],
            known: KNOWN,
            lasting: LASTING,
            runner: Some(unit("kubelet.service")?),
        }),
        Symptom::ImagesMissing {
            images: brought,
            fetcher: None,
        },
        Symptom::ImagesMissing {
            images: fetched,
            fetcher: Some(unit("kubelet.service")?),
        },
    ];
    symptoms.extend(certificates_expire());
    Ok(symptoms)
}

/// Ends a wait when a certificate is not valid at this machine's time.
fn certificates_expire() -> impl Iterator<Item = Symptom> {
    let certificates = ["apiserver.crt", "etcd/server.crt", "ca.crt", "etcd/ca.crt"];
    certificates
        .into_iter()
        .map(|name| Symptom::CertificateOutOfDate {
            path: crate::assets::below(&machine("etc/kubernetes/pki"), name),
        })
}

/// A state of the API server: what it is, where it is asked for, and why it is waited for.
type ApiState = (&'static str, &'static str, &'static str);

/// It serves, and has made the role by which the controller manager takes its lease, the last of many.
const GRANTS: ApiState = (
    "the API server of this machine has made the controller manager's role",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/system::leader-locking-kube-controller-manager",
    "What is started without a role is refused, and asks again only seconds later.",
);
const READY: ApiState = (
    "the API server of this machine is ready",
    "/readyz?verbose",
    "Nothing can be applied to an API that is not ready.",
);

/// Waits until others can connect to the API server, which answers them later, and it to etcd.
fn await_listening(settings: &Settings, symptoms: Vec<Symptom>) -> Effect {
    let plane = &settings.cluster.control_plane;
    let listens = |who: &str, port| Claim::Listens {
        what: format!("{who} listens"),
        port,
    };
    let claims = vec![
        listens("etcd", plane.ports.etcd_clients),
        listens("the API server", plane.endpoint.port),
    ];
    Effect::Await(Await {
        claim: Claim::All {
            what: "etcd and the API server of this machine listen".into(),
            claims,
        },
        within: minutes(10),
        because: "Nothing else can begin without an API.",
        symptoms,
        origin: by(NAME),
    })
}

fn await_api((what, path, because): ApiState, symptoms: Vec<Symptom>) -> Effect {
    Effect::Await(Await {
        claim: Claim::Api(ApiClaim {
            what: what.into(),
            access: Access::Kubeconfig(machine(LOOPBACK)),
            path: path.into(),
            post: None,
            fields: vec![],
        }),
        within: minutes(10),
        because,
        symptoms,
        origin: by(NAME),
    })
}

fn expects(settings: &Settings) -> Vec<Expectation> {
    let mut expectations = Vec::new();
    if settings.cluster.profile == Profile::Kubernetes {
        let because = "The kubelet runs what lies here, and stops what no longer does.";
        expectations.extend(files::staying_pods().map(|pod| {
            let (digest, mode) = (None, Some(pod.mode));
            let path = machine(pod.machine);
            Expectation::now(Claim::File { path, digest, mode }, because)
        }));
    }
    let secrets = Claim::Directory {
        path: machine("etc/kubernetes/bootstrap-secrets"),
    };
    let because = "The bootstrap's own pods mount what only they need from here.";
    expectations.push(Expectation::now(secrets, because).until("hand-over"));
    let data = Claim::Directory {
        path: machine("var/lib/etcd/member"),
    };
    let because = "An etcd that has written nothing holds no cluster.";
    expectations.push(Expectation::now(data, because).within(minutes(5)));
    let ready = api("the API server is ready", "/readyz", vec![]);
    let because = "A control plane that does not answer on its own machine answers nowhere.";
    expectations.push(expect_placed(settings, ready, minutes(5), because));
    let served = Field::is("status/conditions/type=Established/status", "True");
    let path =
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterversions.bootlace.dev";
    let claim = api(
        "the definitions of our kinds are served",
        path,
        vec![served],
    );
    let because = "Without them the version operator has nothing to report on.";
    let within = Duration::from_mins(2);
    expectations.push(expect_placed(settings, claim, within, because));
    if let Placement::Process { .. } = settings.placement {
        expectations.push(process::supervised());
    }
    expectations
}
