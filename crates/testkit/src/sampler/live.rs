//! The sample steps that need a running machine: images, units, pods, objects, waits.

mod rows;

use std::time::Duration;

use bootlace_model::check::{Check, Test};
use bootlace_model::effect::{
    ApplyObjects, Await, Body, Effect, Given, GivenObject, ImportImages, Product, StartUnit,
    UnitState, Via,
};
use bootlace_model::expect::{
    Access, Claim, Expectation, Field, MaintainedClaim, Question, ServiceClaim, Vantage, Wanted,
};
use bootlace_model::ids::Digest;
use bootlace_model::step::{About, Decision, PlanError};

pub(super) use self::rows::{IMAGES, leaves};
use self::rows::{KUBECONFIG, api, etcd, objects, pod, products, symptoms};
use super::parts::{SampleStep, about, at, attributes, origin, put, set_unit, unit_name};
use crate::fake::archive;

const ABOUT_LOAD_IMAGES: About = about("Load images into the container runtime");
const ABOUT_START: About = about("Start units and a control plane");
const ABOUT_APPLY: About = about("Apply objects to an API");

const A_WHILE: Duration = Duration::from_secs(30);

fn start(unit: &str, anew: Option<&str>, products: Vec<Product>) -> Result<Effect, PlanError> {
    Ok(Effect::StartUnit(StartUnit {
        unit: unit_name(unit)?,
        anew: anew.map(Into::into),
        within: A_WHILE,
        products,
        origin: origin(),
    }))
}

fn wait(claim: Claim) -> Result<Effect, PlanError> {
    Ok(Effect::Await(Await {
        claim,
        within: A_WHILE,
        because: "what follows needs it",
        symptoms: symptoms()?,
        origin: origin(),
    }))
}

fn unit_file(name: &str, above: &str) -> Effect {
    let text = format!(
        "[Unit]\n{above}\n[Service]\nExecStart=/usr/bin/stay\n[Install]\nWantedBy=multi-user.target\n"
    );
    let path = format!("/etc/systemd/system/{name}");
    put(&path, Body::text(text), attributes(0o644, None, None))
}

fn static_pod(name: &str) -> Effect {
    let path = format!("/etc/kubernetes/manifests/{name}-pod.yaml");
    let text = pod(name).to_string();
    put(&path, Body::text(text), attributes(0o600, None, None))
}

pub(super) const LOAD_IMAGES: SampleStep = SampleStep {
    name: "load-images",
    about: &ABOUT_LOAD_IMAGES,
    needs: &["lay-out"],
    uses: &[],
    checks: Vec::new,
    asks: Vec::new,
    yields: Vec::new,
    plan: |_, _| {
        Ok(Decision::Do(vec![
            start("containerd.service", None, vec![])?,
            Effect::ImportImages(ImportImages {
                archive: at("/inputs/images.tar"),
                digest: Some(Digest::of(&archive(&IMAGES))),
                images: IMAGES.iter().map(|image| (*image).to_owned()).collect(),
                within: A_WHILE,
                origin: origin(),
            }),
        ]))
    },
    expects: || {
        let images = IMAGES.iter().map(|image| (*image).to_owned()).collect();
        vec![Expectation::now(Claim::Images { images }, "pods need them")]
    },
};

fn listens() -> Claim {
    Claim::Listens {
        what: "the API listens".into(),
        port: 6443,
    }
}

pub(super) const START: SampleStep = SampleStep {
    name: "start",
    about: &ABOUT_START,
    needs: &["load-images", "make-keys"],
    uses: &[],
    checks,
    asks: Vec::new,
    yields: Vec::new,
    plan: |_, _| {
        let private = attributes(0o600, None, None);
        Ok(Decision::Do(vec![
            put("/var/lib/kubelet/config.yaml", Body::text("{}\n"), private),
            unit_file("kubelet.service", "Requires=containerd.service"),
            unit_file("steady.service", ""),
            static_pod("etcd"),
            static_pod("kube-apiserver"),
            start("kubelet.service", None, products())?,
            wait(listens())?,
            start("kubelet.service", Some("it registers at once"), vec![])?,
            wait(api("/readyz", vec![]))?,
            static_pod("kube-controller-manager"),
            static_pod("kube-scheduler"),
            start("steady.service", None, leaves())?,
            // What is enabled before it is started may be started by a boot instead of by us.
            set_unit("kubelet.service", UnitState::Enabled, Via::Links)?,
            set_unit("steady.service", UnitState::Enabled, Via::Links)?,
        ]))
    },
    expects: || {
        let running = ["kubelet.service", "steady.service"].into_iter();
        let running = running.filter_map(|unit| unit_name(unit).ok());
        let running = running.map(|unit| {
            let runs = Claim::Running { unit };
            Expectation::now(runs, "pods need it").within(A_WHILE)
        });
        let ready = Field::is("status/conditions/type=Ready/status", "True");
        let node = api("/api/v1/nodes/fake-0", vec![ready]);
        let node = Expectation::now(node, "pods run there").within(A_WHILE);
        let listens = Expectation::now(listens(), "others ask it");
        running.chain([node, listens]).collect()
    },
};

pub(super) const APPLY: SampleStep = SampleStep {
    name: "apply",
    about: &ABOUT_APPLY,
    needs: &["start"],
    uses: &[],
    checks: Vec::new,
    asks: Vec::new,
    yields: Vec::new,
    plan: |_, _| {
        let available = Field::is("status/conditions/type=Available/status", "True");
        let path = "/apis/apps/v1/namespaces/sampler/deployments/app";
        Ok(Decision::Do(vec![
            Effect::ApplyObjects(ApplyObjects {
                name: "sample objects".into(),
                kubeconfig: at(KUBECONFIG),
                lasting: Some(lasting()),
                objects: objects(),
                within: A_WHILE,
                origin: origin(),
            }),
            wait(api(path, vec![available]))?,
        ]))
    },
    expects: || {
        let sample = api(
            "/apis/sampler.example/v1/samples/one",
            vec![Field::is("spec/number", 1)],
        );
        let members = Field::new("members", Wanted::Length(1));
        let members = etcd("/v3/cluster/member/list", vec![members]);
        let expect = |claim| Expectation::now(claim, "others read it").within(A_WHILE);
        vec![
            expect(sample),
            expect(members),
            expect(dns()).by_verify(),
            expect(Claim::Maintained(kept())).by_verify(),
        ]
    },
};

/// A name that pods look up.
fn dns() -> Claim {
    Claim::Service(ServiceClaim {
        what: "pods find each other by name".into(),
        access: Access::Kubeconfig(at(KUBECONFIG)),
        path: "/api/v1/namespaces/default/services/kubernetes".into(),
        address_at: "spec/clusterIP",
        from: Vantage::Pod,
        question: Question::Name("one.sampler".into()),
    })
}

/// Objects that something lists; here an object without a list's entries.
fn kept() -> MaintainedClaim {
    MaintainedClaim {
        what: "what the sample lists exists".into(),
        access: Access::Kubeconfig(at(KUBECONFIG)),
        path: "/apis/sampler.example/v1/samples/one".into(),
        list_at: "spec/kept",
        progress_at: "spec/number",
    }
}

fn lasting() -> Given {
    let objects = objects().into_iter();
    let given = objects.map(|object| GivenObject {
        id: object.id,
        source: object.source,
    });
    Given {
        kubeconfig: at(KUBECONFIG),
        objects: given.collect(),
    }
}

fn checks() -> Vec<Check> {
    let argv = vec!["kubelet".into(), "--version".into()];
    let (folders, fits) = (vec![], Some("v1.36.3".into()));
    let program = Test::Program {
        argv,
        folders,
        fits,
    };
    let (path, bytes) = (at("/var/lib/etcd"), 1 << 30);
    let certificate = at("/srv/sampler/pki/server.crt");
    let services = crate::env::settings().cluster.network.service_cidr;
    let rows = [
        ("Live", Test::LiveRoot),
        ("Root", Test::Root),
        ("Port-6443", Test::PortFree(6443)),
        ("Kubelet", program),
        ("Runtime", Test::Runtime),
        ("Data", Test::Empty(path.clone())),
        ("Room", Test::Room { path, bytes }),
        ("Clock", Test::Clock { certificate }),
        ("Swap", Test::NoSwap),
        ("Cgroups", Test::Cgroups(&["cpu", "memory"])),
        ("Name", Test::NodeName(None)),
        ("Route", Test::Route(services)),
        ("Pinned", Test::Pinned(at("/inputs/release.json"))),
        ("Image", Test::PinnedImage("x@sha256:0".into())),
    ];
    let check = |(name, test): (&str, Test)| Check {
        name: name.into(),
        test,
        why: "the step would fail",
        hint: "look at it".into(),
    };
    rows.map(check).into()
}
