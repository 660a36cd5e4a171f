//! The defaults as a document that people can begin with.

use super::document::{API_VERSION, KIND};
use super::grammar::duration;
use super::machine_config_server::MachineConfigServer;
use super::rendering::RenderingSettings;
use super::security::SecuritySettings;
use super::settings::{Paths, Profile, Settings};
use crate::path::TargetPath;

/// Returns a commented YAML document that loads to exactly [`Settings::defaults`].
///
/// What has no default is there as a comment, ready to be uncommented.
pub fn print_defaults() -> String {
    // The paths are no part of the document.
    let nowhere = Paths {
        assets: TargetPath::root(),
        state: TargetPath::root(),
    };
    let cluster = Settings::defaults(nowhere).cluster;
    let (control_plane, network, pki) = (cluster.control_plane, cluster.network, cluster.pki);
    let (node, ports) = (cluster.node, control_plane.ports);
    let profile = match cluster.profile {
        Profile::Kubernetes => "kubernetes",
        Profile::Openshift => "openshift",
    };
    format!(
        "# What bootlace does without a config. Keep what you change; for the rest the defaults hold.
# Several files are merged in the order of --config: maps key by key, everything else replaces,
# and null brings a default back. Relative folders begin at the folder of the file that names them.
apiVersion: {API_VERSION}
kind: {KIND}
metadata:
  # The cluster's name: lower-case letters, digits and hyphens.
  name: {name}
spec:
  # kubernetes: plain Kubernetes, rendered by this tool. openshift: rendered by its operators.
  profile: {profile}
  kubernetesVersion: {version}

  # The release payload, a folder or an image. Without one the built-in names and versions are
  # used, which are not pinned.
  # release:
  #   dir: release
  #   # What the folder must hash to.
  #   digest: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
  # release:
  #   image: registry.example/bootlace/release:{version}

  controlPlane:
    # Where clients reach the API: HOST:PORT, an IPv6 address in brackets.
    endpoint: {endpoint}
    # How many machines the control plane has: 1, 3 or 5.
    replicas: {replicas}
    # The address that this machine's API server announces.
    advertiseAddress: {advertise}
    # This machine's name in the cluster; by default what the machine calls itself.
    # nodeName: node-1
    # Where its components listen; the API server's port is that of the endpoint.
    ports:
      etcdClients: {etcd_clients}
      etcdPeers: {etcd_peers}
      etcdMetrics: {etcd_metrics}
      controllerManager: {controller_manager}
      scheduler: {scheduler}

  network:
    podCIDR: {pods}
    serviceCIDR: {services}
    clusterDomain: {domain}

  # Folders with manifests of your own, which the step copy-manifests copies in.
  manifests: []

  # The folder that the step add-ons applies.
  # addOns:
  #   dir: add-ons

  # How keys and certificates are made. Durations are a number and y (365 days), d, h, m or s.
  pki:
    authorityValidity: {authority}
    leafValidity: {leaf}
    # How far certificates begin in the past, for machines whose clock is behind.
    backDate: {back_date}
    # Further DNS names and addresses of the API server.
    extraNames: []

  # What the machines are like.
  node:
    # Who makes cgroups for pods, systemd or cgroupfs; it must be the same in the runtime's config.
    cgroupDriver: {driver}
    # Where the kubelet's program lies on the machine.
    kubelet: {kubelet}
    # The socket at which the container runtime answers.
    containerRuntimeEndpoint: {runtime}
{server}{security}{rendering}",
        name = cluster.name,
        version = cluster.kubernetes_version,
        endpoint = control_plane.endpoint,
        replicas = control_plane.replicas,
        advertise = control_plane.advertise_address,
        etcd_clients = ports.etcd_clients,
        etcd_peers = ports.etcd_peers,
        etcd_metrics = ports.etcd_metrics,
        controller_manager = ports.controller_manager,
        scheduler = ports.scheduler,
        pods = network.pod_cidr,
        services = network.service_cidr,
        domain = network.cluster_domain,
        authority = duration::text(pki.authority_validity),
        leaf = duration::text(pki.leaf_validity),
        back_date = duration::text(pki.back_date),
        driver = node.cgroup_driver.as_str(),
        kubelet = node.kubelet,
        runtime = node.container_runtime_endpoint,
        server = machine_config_server(&cluster.machine_config_server),
        security = security(&cluster.security),
        rendering = rendering(&cluster.rendering),
    )
}

/// The part about the server of first configs.
fn machine_config_server(settings: &MachineConfigServer) -> String {
    let token_validity = duration::text(settings.token_validity);
    format!(
        "
  # The server from which further machines take their first config.
  machineConfigServer:
    # Where machines reach it; the host of controlPlane.endpoint and port 22623 by default.
    # endpoint: configs.demo.example:22623
    # How long the tokens are valid that machines ask with.
    tokenValidity: {token_validity}
"
    )
}

/// The part about hardening.
fn security(settings: &SecuritySettings) -> String {
    let profile = settings.profile.as_str();
    let validity = duration::text(settings.bootstrap_token_validity);
    format!(
        "
  security:
    # cis: what the CIS Kubernetes Benchmark asks for. compatible: Kubernetes' own defaults.
    profile: {profile}
    # How long the bootstrap token that you bring is valid.
    bootstrapTokenValidity: {validity}
"
    )
}

/// The part about images that render.
fn rendering(settings: &RenderingSettings) -> String {
    let within = duration::text(settings.within);
    format!(
        "
  # A stage can be rendered by an image instead, which podman runs.
  rendering:
    # How long one image may take, pulling included.
    within: {within}
    # Words between podman and run, and words after podman run.
    podmanFlags: []
    runFlags: []
    # Which image renders which component, null is this tool itself. An image is named by its digest
    # and is called as `bootlace render` is, or with arguments of its own:
    # etcd:
    #   image: registry.example/renderer@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
    #   arguments: [render, --asset-input-dir=$(input), --asset-output-dir=$(output)]
    images:
      api: null
      auth: null
      config: null
      version-operator: null
      etcd: null
      kube-apiserver: null
      kube-controller-manager: null
      kube-scheduler: null
      ingress: null
      machine-config: null
"
    )
}
