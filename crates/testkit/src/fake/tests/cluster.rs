//! The fake control plane: it comes up by itself, answers, and goes.

use std::time::Duration;

use bootlace_engine::port::{
    ApiAnswer, ApiRequest, ApplyRequest, Cluster, ContainerState, ContainerStatus, Credentials,
    Host, HostError, HostResult, Machine,
};
use bootlace_model::effect::{ApiObject, Product};
use serde_json::{Value, json};

use super::super::{Ailment, Death, FakeHost};
use super::{path, stop};

const WITHIN: Duration = Duration::from_secs(5);
const PODS: [&str; 4] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
];

fn machine() -> FakeHost {
    let host = FakeHost::new(1);
    host.set_up(|world| {
        world.install_unit("containerd.service", true)?;
        world.install_unit("kubelet.service", true)?;
        for name in PODS {
            let pod = json!({
                "metadata": {"name": name, "namespace": "kube-system"},
                "spec": {"containers": [{"name": name, "image": format!("{name}:v1.36.1")}]},
            });
            let path = format!("/etc/kubernetes/manifests/{name}.yaml");
            world.write(&path, pod.to_string().as_bytes())?;
        }
        world.write("/etc/kubernetes/manifests/.half", b"{")?;
        world.start_unit("containerd.service")?;
        world.load_images(
            &PODS
                .map(|name| format!("{name}:v1.36.1"))
                .each_ref()
                .map(|it| &**it),
        )?;
        world.start_unit("kubelet.service")
    })
    .unwrap();
    host
}

fn ask(host: &FakeHost, path: &str, post: Option<&Value>) -> HostResult<ApiAnswer> {
    let credentials = &Credentials::Kubeconfig(vec![]);
    let within = WITHIN;
    host.ask_api(&ApiRequest {
        credentials,
        path,
        post,
        within,
    })
}

fn get(host: &FakeHost, path: &str) -> Value {
    let answer = ask(host, path, None).unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

fn apply(host: &FakeHost, objects: &[Value]) -> Vec<Option<String>> {
    let objects = objects
        .iter()
        .map(|it| ApiObject::new(it.clone(), "test").unwrap());
    let objects: Vec<ApiObject> = objects.collect();
    let credentials = &Credentials::Kubeconfig(vec![]);
    let request = ApplyRequest {
        credentials,
        objects: &objects,
        within: WITHIN,
    };
    let applied = host.apply_objects(&request).unwrap();
    applied.into_iter().map(|it| it.problem).collect()
}

fn config(name: &str, namespace: &str) -> Value {
    let metadata = json!({"name": name, "namespace": namespace});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}})
}

#[test]
fn it_comes_up_by_itself_and_answers() {
    let host = machine();
    assert!(matches!(
        ask(&host, "/readyz", None),
        Err(HostError::Unreachable { .. })
    ));
    let mut seen = vec![];
    while seen.last() != Some(&200) {
        host.sleep(Duration::from_millis(20)).unwrap();
        let status = ask(&host, "/readyz", None).map_or(0, |answer| answer.status);
        seen.push(status);
        assert!(seen.len() < 100, "{seen:?}");
    }
    assert!(seen.contains(&0) && seen.contains(&500), "{seen:?}");
    host.sleep(Duration::from_secs(1)).unwrap();
    assert_eq!(get(&host, "/version")["gitVersion"], "v1.36.1");
    let node = get(&host, "/api/v1/nodes/fake-0");
    assert_eq!(
        node["status"]["conditions"][1],
        json!({"type": "Ready", "status": "True"})
    );
    let pods = get(&host, "/api/v1/namespaces/kube-system/pods");
    assert_eq!(pods["items"].as_array().unwrap().len(), 4);
    let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";
    assert_eq!(get(&host, lease)["spec"]["holderIdentity"], "fake-0");
    let members = ask(&host, "/v3/cluster/member/list", Some(&json!({}))).unwrap();
    assert_eq!(members.body["members"].as_array().unwrap().len(), 1);
    let running = host.containers().unwrap().unwrap();
    assert!(running.iter().all(|it| it.state == ContainerState::Running));
    assert!(
        host.set_up(|world| Ok(world.exists("/var/lib/etcd/member")))
            .unwrap()
    );
    assert!(
        host.port_holder(6443)
            .unwrap()
            .unwrap()
            .contains("kube-apiserver")
    );
    assert_eq!(host.take_unanswered(), Vec::<String>::new());
    assert_eq!(ask(&host, "/unheard/of", None).unwrap().status, 404);
    assert_eq!(host.take_unanswered(), ["/unheard/of"]);
}

#[test]
fn objects_are_read_back_until_etcd_s_folder_goes() {
    let host = machine();
    let available = json!({"type": "Available", "status": "True"});
    let app = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "app", "namespace": "mine"}, "spec": {"replicas": 3}});
    let mine = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}});
    assert_eq!(
        apply(&host, &[app, config("one", "mine"), mine]),
        [None, None, None]
    );
    let strange = json!({"apiVersion": "x/v1", "kind": "Strange", "metadata": {"name": "a"}});
    let problems = apply(&host, &[strange, config("two", "nowhere")]);
    assert!(
        problems[0]
            .as_ref()
            .unwrap()
            .contains("no matches for kind")
    );
    assert!(problems[1].as_ref().unwrap().contains("not found"));
    let path = "/api/v1/namespaces/mine/configmaps/one";
    host.reboot(Death::PowerCut { seed: 1 });
    host.sleep(WITHIN).unwrap();
    assert_eq!(get(&host, path)["data"]["a"], "b");
    let app = get(&host, "/apis/apps/v1/namespaces/mine/deployments/app");
    assert_eq!(
        (&app["status"]["conditions"][0], &app["status"]["replicas"]),
        (&available, &json!(3))
    );
    let written = ask(
        &host,
        "/api/v1/namespaces/mine/configmaps",
        Some(&config("two", "mine")),
    );
    assert_eq!(written.unwrap().status, 201);
    assert_eq!(
        get(&host, "/api/v1/namespaces/mine/configmaps")["items"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    host.set_up(|world| world.remove("/var/lib/etcd")).unwrap();
    host.reboot(Death::PowerCut { seed: 1 });
    host.sleep(WITHIN).unwrap();
    assert_eq!(ask(&host, path, None).unwrap().status, 404);
}

#[test]
fn nothing_answers_once_the_kubelet_is_stopped_and_its_pods_are_gone() {
    let host = machine();
    host.sleep(WITHIN).unwrap();
    stop(&host, "kubelet.service");
    host.sleep(WITHIN).unwrap();
    assert_eq!(
        get(&host, "/readyz"),
        "ok",
        "containers outlive the kubelet"
    );
    assert_eq!(
        get(&host, "/api/v1/nodes/fake-0")["status"]["conditions"][1]["status"],
        "Unknown"
    );
    let mounts = Product::Mounts(path("/var/lib/kubelet"));
    assert!(host.has_product(&mounts).unwrap());
    assert!(
        host.remove_product(&mounts, WITHIN).is_err(),
        "pods use them"
    );
    host.remove_product(&Product::Pods, WITHIN).unwrap();
    assert!(!host.has_product(&Product::Pods).unwrap());
    assert!(!host.has_product(&mounts).unwrap());
    assert!(matches!(
        ask(&host, "/readyz", None),
        Err(HostError::Unreachable { .. })
    ));
}

#[test]
fn containers_that_end_keep_an_api_from_answering() {
    let exits = Ailment::ContainerExits {
        pod: "etcd".into(),
        code: 2,
        line: "no space".into(),
    };
    let taken = Ailment::PortTaken {
        port: 6443,
        holder: "nginx".into(),
    };
    for (ailment, pod, line) in [
        (exits, "etcd-fake-0", "no space"),
        (taken, "kube-apiserver-fake-0", "address already in use"),
    ] {
        let host = machine();
        host.ail(ailment);
        host.sleep(WITHIN).unwrap();
        assert!(matches!(
            ask(&host, "/readyz", None),
            Err(HostError::Unreachable { .. })
        ));
        let has_ended = |it: &ContainerStatus| {
            it.pod.1 == pod && it.attempt > 0 && matches!(it.state, ContainerState::Exited { .. })
        };
        // It runs for a moment after each start.
        let ended = (0..10).find_map(|_| {
            host.sleep(Duration::from_millis(100)).unwrap();
            host.containers()
                .unwrap()
                .unwrap()
                .into_iter()
                .find(has_ended)
        });
        let ended = ended.unwrap();
        assert!(host.container_log(&ended, 1).unwrap()[0].contains(line));
        host.heal();
        // The kubelet has learnt to wait, and does not know that the cause is gone.
        host.sleep(WITHIN).unwrap();
        assert!(ask(&host, "/readyz", None).is_err());
        host.sleep(Duration::from_mins(5)).unwrap();
        assert_eq!(get(&host, "/readyz"), "ok");
    }
}

#[test]
fn an_api_may_never_be_ready_or_trusted_and_an_image_may_be_missing() {
    let host = machine();
    host.ail(Ailment::ApiNeverReady);
    host.sleep(WITHIN).unwrap();
    assert_eq!(ask(&host, "/readyz", None).unwrap().status, 500);
    host.ail(Ailment::ApiUntrusted {
        reason: "expired".into(),
    });
    assert!(matches!(
        ask(&host, "/readyz", None),
        Err(HostError::Untrusted { .. })
    ));
    let host = machine();
    host.remove_product(&Product::Image("etcd:v1.36.1".into()), WITHIN)
        .unwrap();
    host.reboot(Death::PowerCut { seed: 0 });
    host.sleep(WITHIN).unwrap();
    assert_eq!(
        host.containers().unwrap().unwrap().len(),
        3,
        "etcd has no image"
    );
}
