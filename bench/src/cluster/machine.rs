//! A machine for one run, made, used and removed.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bootlace_lab::Lab;
use bootlace_machines::{BOOTLACE, Bind, ClusterMachine, Machine, MachineSpec, Machines, SeedFile};
use serde_json::Value;

use super::inside::Seen;
use super::kubeadm;

const NAME: &str = "m1";
const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 90, 0, 11);
const BOOTS: Duration = Duration::from_mins(1);
const RUNS: Duration = Duration::from_mins(6);
/// Where the machine sees this program.
const WATCHER: &str = "/usr/local/bin/bootlace-bench";
/// Where the machine sees the images under the names that kubeadm wants.
const IMAGES: &str = "/opt/kubeadm-images.tar";
/// The config of a cluster of ours, and what goes over it for one without hardening.
const CLUSTER: &str = "/etc/bootlace/cluster.yaml";
const COMPATIBLE: &str = "/etc/bench/compatible.yaml";
const SAMPLE: &str = include_str!("../../../dist/add-ons/sample/10-web.yaml");

/// Who brings the cluster up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contestant {
    Bootlace,
    /// As it is shipped.
    Kubeadm,
    /// With the settings that ours has.
    KubeadmTuned,
    /// Ours without hardening, which is what kubeadm makes.
    Compatible,
}

impl Contestant {
    /// Every contestant.
    pub(super) const ALL: [Self; 4] = [
        Self::Bootlace,
        Self::Kubeadm,
        Self::KubeadmTuned,
        Self::Compatible,
    ];

    /// Tells whether bootlace brings the cluster up.
    fn is_ours(self) -> bool {
        matches!(self, Self::Bootlace | Self::Compatible)
    }
}

/// The same network for all, on disk before any of them begins.
const NETWORK: &str = r#"{"cniVersion":"1.0.0","name":"bench","plugins":[
{"type":"bridge","bridge":"cni0","isGateway":true,"ipMasq":true,"hairpinMode":true,
"ipam":{"type":"host-local","ranges":[[{"subnet":"10.244.0.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}},
{"type":"portmap","capabilities":{"portMappings":true}}]}
"#;

type Failure = Box<dyn std::error::Error>;

/// Runs one contestant on a fresh machine; returns what was seen, and bootlace's journal.
pub(super) fn run(
    who: Contestant,
    lab: &Lab,
    machines: &Machines,
) -> Result<(Seen, String), Failure> {
    let machine = machines.create(spec(who, lab)?)?;
    let measured = measure(who, &machine);
    // Gone even after a failure: the next contestant has the same name and address.
    let removed = machine.kill().and_then(|()| machine.remove());
    let measured = measured?;
    removed?;
    Ok(measured)
}

fn measure(who: Contestant, machine: &Machine) -> Result<(Seen, String), Failure> {
    machine.boot()?;
    machine.wait_booted(BOOTS)?;
    let ready = if who.is_ours() {
        "ctr version".to_owned()
    } else {
        // All have their images when they begin.
        format!("ctr -n k8s.io images import {IMAGES}")
    };
    let call = |words: &[&str]| -> Result<String, Failure> {
        let finished = machine.run(words, RUNS)?;
        if finished.code == 0 {
            Ok(finished.stdout)
        } else {
            Err(format!("{words:?}: {finished:#?}").into())
        }
    };
    call(&[
        "sh",
        "-c",
        &format!("until {ready}; do sleep 0.1; done && sync"),
    ])?;
    let (kubeconfig, words): (&str, &[&str]) = match who {
        Contestant::Bootlace => ("/etc/kubernetes/admin.conf", &[BOOTLACE, "run", "cluster"]),
        Contestant::Compatible => (
            "/etc/kubernetes/admin.conf",
            &[
                BOOTLACE, "run", "cluster", "--config", CLUSTER, "--config", COMPATIBLE,
            ],
        ),
        // The other admin.conf is refused until kubeadm has given it its role.
        _ => (
            "/etc/kubernetes/super-admin.conf",
            &["bash", kubeadm::SCRIPT],
        ),
    };
    let watch = ["env", "PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin"];
    let watch = watch
        .into_iter()
        .chain([WATCHER, "inside", NAME, kubeconfig]);
    let words: Vec<&str> = watch.chain(words.iter().copied()).collect();
    let seen = serde_json::from_str(&call(&words)?)?;
    let journal = match who {
        Contestant::Bootlace => call(&[BOOTLACE, "log", "cluster", "-o", "json"])?,
        _ => String::new(),
    };
    Ok((seen, journal))
}

fn spec(who: Contestant, lab: &Lab) -> Result<MachineSpec, Failure> {
    let sample = with_images(SAMPLE, &lab.release)?;
    let bootlace = PathBuf::from("target/release/bootlace").canonicalize()?;
    let cluster = ClusterMachine {
        name: NAME,
        address: ADDRESS,
        layers: &lab.layers,
        images: Some(&lab.image_store),
        release: &lab.release,
        bootlace: &bootlace,
        add_ons: &[("10-web.yaml", sample.clone())],
    };
    let mut spec = cluster.spec()?;
    let mut bind = |from: PathBuf, to: &str| {
        spec.binds.push(Bind {
            from,
            to: to.into(),
            read_only: true,
        });
    };
    bind(std::env::current_exe()?, WATCHER);
    bind(lab.kubeadm_images.clone(), IMAGES);
    let mut file = |path: &str, content: &str| {
        spec.files.push(SeedFile {
            path: path.into(),
            mode: 0o644,
            content: content.as_bytes().to_vec(),
        });
    };
    file("/etc/cni/net.d/10-bench.conflist", NETWORK);
    file(
        COMPATIBLE,
        "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec: {security: {profile: compatible}}\n",
    );
    if !who.is_ours() {
        for (path, text) in kubeadm::files(who, NAME, ADDRESS, &lab.programs.kubernetes_version) {
            file(&path, &text);
        }
        file("/etc/bench/sample.yaml", &sample);
        // Its CoreDNS forwards to somebody and does not start without a name.
        file("/etc/resolv.conf", "nameserver 10.90.0.1\n");
        let unit = std::fs::read_to_string(&lab.kubeadm_unit)?;
        file("/etc/systemd/system/kubelet.service", &unit);
    }
    Ok(spec)
}

/// Puts the release's references in the place of `IMAGE(name)`.
fn with_images(manifest: &str, release: &Path) -> Result<String, Failure> {
    let list = std::fs::read(release.join("images/bundle.json"))?;
    let list: Value = serde_json::from_slice(&list)?;
    let mut manifest = manifest.to_owned();
    for image in list["images"].as_array().into_iter().flatten() {
        if let (Some(name), Some(reference)) = (image["name"].as_str(), image["reference"].as_str())
        {
            manifest = manifest.replace(&format!("IMAGE({name})"), reference);
        }
    }
    Ok(manifest)
}
