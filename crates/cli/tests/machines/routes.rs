//! A machine without a default route: programs on the node reach services, webhooks among them.

use std::time::Duration;

use bootlace_testkit::crash::Sample;

use crate::world::{Node, World};

/// How long `node-network` may take to see that a route is gone: it looks every 30 s.
const MENDED: Duration = Duration::from_mins(1);
/// How long the control plane may take to come back after a boot.
const BOOTED: Duration = Duration::from_mins(4);

const ROUTES: &str = "ip route show proto 98";

/// A web app with its service, and a webhook that leads there.
///
/// The app does not speak TLS, so that the API server complains of its answer: it has got one.
const APP: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: IMAGE
          command: [httpd, -f, -p, "8080", -h, /tmp]
          readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec:
  selector: {app: web}
  ports: [{port: 443, targetPort: 8080}]
"#;

const WEBHOOK: &str = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: web}
webhooks:
  - name: web.default.svc
    admissionReviewVersions: [v1]
    sideEffects: None
    timeoutSeconds: 5
    clientConfig: {service: {name: web, namespace: default, path: /}}
    rules:
      - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}
"#;

#[test]
#[ignore = "slow: a whole cluster on a machine"]
fn a_machine_without_a_default_route_reaches_services() {
    let world = World::new();
    let add_ons = [("10-app.yaml", APP.replace("IMAGE", &world.image("busybox")))];
    let node = world.create(world.spec_with("m1", 11, &world.lab.release, &add_ons));
    node.boot();
    assert_eq!(node.sh("ip route show default"), "");
    let said = node.ends_with(0, &["run", "cluster", "--progress", "plain"]);
    let notice = "[Service-Route] no route leads to 10.96.0.0/12";
    assert!(said.stderr.contains(notice), "{}", said.stderr);
    let route = node.sh(ROUTES);
    let wanted = "10.96.0.0/12 dev host0 scope link src 10.90.0.11";
    assert_eq!(route.trim(), wanted);

    node.write("/root/webhook.yaml", WEBHOOK);
    node.kubectl(&["apply", "-f", "/root/webhook.yaml"]);
    // A webhook is called a moment after it was made known; until then the secret is made.
    node.wait("the webhook is called", MENDED, |node| {
        webhook_says(node).contains("server gave HTTP response to HTTPS client")
    });

    node.kubectl(&["delete", "validatingwebhookconfiguration", "web"]);

    // While node-network is held, `verify` names what is missing; then it is put back.
    node.sh(&signal("STOP"));
    node.sh("ip route delete 10.96.0.0/12 proto 98");
    let verified = node.bootlace(&["verify", "cluster", "--only", "hand-over"]);
    assert_eq!(verified.code, 6, "{verified:?}");
    let named = "a route leads to the service network 10.96.0.0/12";
    assert!(verified.stdout.contains(named), "{}", verified.stdout);
    node.sh(&signal("CONT"));
    node.wait("the route is back", MENDED, |node| {
        node.sh(ROUTES).trim() == wanted
    });

    // A machine waits a minute and a half for its containers to end before it boots.
    if Sample::begin().soak {
        node.machine.reboot(Duration::from_mins(4)).unwrap();
        node.wait("the node is ready after a boot", BOOTED, Node::is_ready);
        node.wait("the route is there after a boot", MENDED, |node| {
            node.sh(ROUTES).trim() == wanted
        });
    }

    node.ends_with(0, &["reset", "--yes"]);
    assert_eq!(node.sh(ROUTES), "");
}

/// Returns a line that sends a signal to node-network.
fn signal(name: &str) -> String {
    format!(
        "for pid in $(pidof bootlace); do \
         grep -qz '^node-network$' /proc/$pid/cmdline && kill -{name} $pid && exit 0; done; exit 1"
    )
}

/// Makes a secret, which the webhook is asked about, and returns what came of it.
fn webhook_says(node: &Node) -> String {
    let line = "kubectl --kubeconfig /etc/kubernetes/admin.conf create secret generic asked 2>&1; \
                kubectl --kubeconfig /etc/kubernetes/admin.conf delete secret asked >/dev/null 2>&1; true";
    node.sh(line)
}
