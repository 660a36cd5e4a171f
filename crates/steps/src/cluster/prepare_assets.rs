//! `prepare-assets`: what an installer does beforehand.

use bootlace_model::config::Settings;
use bootlace_model::effect::{
    Body, Effect, IssueCertificate, MakeDirectory, MakeKey, MakeLink, Origin, Part, PutFile,
};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::fault::Fault;
use bootlace_model::ids::{Digest, StepId};
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::Probe;
use bootlace_model::step::{About, Decision, PlanError, Step, UndoPolicy};

use super::encryption;
use super::kubeconfig::KUBECONFIGS;
use super::pki::{self, PlannedCertificate, plan_for};
use super::pointer;
use crate::assets::{NODE, asset};
use crate::expectations::CLEANED;
use crate::facts::{MACHINE_NAME, NODE_NAME};

/// The step.
#[derive(Debug)]
pub(crate) struct PrepareAssets;

const NAME: &str = "prepare-assets";

/// The link that `KUBECONFIG=ASSETS/auth/kubeconfig` of every tutorial finds.
const KUBECONFIG: (&str, &str) = ("auth/kubeconfig", "admin.conf");

static ABOUT: About = About {
    title: "Make keys, certificates and kubeconfigs",
    why: "Every part of a cluster proves who it is with a certificate, and the first parts start \
          before there is a cluster that could issue one, so all of them are made before the \
          first process runs; without them etcd and the API server do not even listen. Four \
          authorities share the work: `ca` vouches for the API and its clients, `etcd/ca` for the \
          database, `front-proxy-ca` for extension API servers and `machine-config-server-ca` for \
          the server from which new machines take their config, so that a certificate that leaks \
          from one family opens nothing in another. Files that kubeadm makes, too, have kubeadm's \
          names; OpenShift's installer makes its own on another computer, with a validity that \
          begins at that very second, so that a machine whose clock is behind refuses them, and \
          some of them end after one day, so that a bootstrap prepared the day before yesterday \
          is dead today. Ours begin an hour in the past and last a year, their authorities ten, \
          unless the config says otherwise. Only the bootstrap itself is in the group \
          `system:masters`, from which nobody can take its rights again, because nothing exists yet \
          that could give rights to another; that certificate ends after a week and leaves the \
          machine with the hand-over, and the administrator is in a group that an object in the \
          cluster binds to its rights, as with kubeadm. \
          Machines that join later are given a pointer config, which names that server, its \
          authority and a token that expires after a day unless the config says otherwise, \
          because the config they then get holds secrets, which OpenShift's server hands to \
          whoever reaches its port; it, keys and tokens are readable by their owner alone from the \
          first instant, and leave the asset folder again with `clean-assets`.",
    reads: &[
        "this machine's name, unless spec.controlPlane.nodeName gives one",
        "spec.controlPlane, spec.network, spec.pki, spec.machineConfigServer",
    ],
    writes: &[
        "ASSETS/tls/",
        "ASSETS/auth/",
        "ASSETS/pointer/",
        "ASSETS/records/node.json",
    ],
    command: "\
# `bootlace plan cluster --only prepare-assets -v` prints the line for every single file, such as
install -d -m 0700 ASSETS/tls ASSETS/tls/etcd ASSETS/auth ASSETS/pointer
(umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ASSETS/tls/ca.key)
openssl req -x509 -new -key ASSETS/tls/ca.key -subj /CN=kubernetes -days 3650 \\
  -addext basicConstraints=critical,CA:TRUE -out ASSETS/tls/ca.crt
openssl pkey -pubout -in ASSETS/tls/sa.key -out ASSETS/tls/sa.pub
kubectl config --kubeconfig ASSETS/auth/admin.conf set-cluster NAME --embed-certs \\
  --server https://ENDPOINT --certificate-authority ASSETS/tls/ca.crt
kubectl config --kubeconfig ASSETS/auth/admin.conf set-credentials kubernetes-admin --embed-certs \\
  --client-certificate ASSETS/tls/admin.crt --client-key ASSETS/tls/admin.key
ln -sfn admin.conf ASSETS/auth/kubeconfig
# the key that encrypts Secrets in etcd, for ASSETS/auth/encryption.yaml
openssl dgst -sha256 -binary ASSETS/tls/encryption.key | base64
(umask 077; printf %s.%s \"$(date -u -d '+24 hours' +%Y%m%dT%H%M%SZ)\" \"$(openssl rand -hex 32)\" \\
  > ASSETS/auth/worker.token)
sha256sum ASSETS/auth/worker.token   # the hash for ASSETS/auth/tokens.yaml",
    undo: UndoPolicy::Inverse,
    failures: &["F-06", "F-07", "F-08", "F-10", "F-11", "F-41"],
    built: true,
};

impl Step for PrepareAssets {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn needs(&self) -> &'static [&'static str] {
        &[]
    }

    fn asks(&self, settings: &Settings) -> Vec<Ask> {
        match settings.cluster.control_plane.node_name {
            Some(_) => vec![],
            None => vec![MACHINE_NAME.from(Probe::HostName)],
        }
    }

    /// Hands on the name that was used, so that a machine that is renamed later stays itself.
    fn yields(&self, settings: &Settings) -> Vec<Ask> {
        let probe = Probe::ReadJson {
            path: asset(settings, NODE),
            pointer: "/name".into(),
        };
        vec![NODE_NAME.from(probe)]
    }

    fn plan(&self, settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
        check_service_network(settings)?;
        let machine = match settings.cluster.control_plane.node_name {
            Some(_) => String::new(),
            None => facts.get(&MACHINE_NAME)?,
        };
        let node = pki::node_name(settings, &machine)?;
        let origin = Origin::generated(&StepId::new(super::NAME, NAME));
        let plan = pki::pki_plan(settings, &node);
        let mut effects: Vec<Effect> = ["tls", "tls/etcd", "auth"]
            .map(|folder| private_folder(asset(settings, folder), &origin))
            .into();
        for certificate in plan.certificates {
            effects.extend(issue(certificate, &origin));
        }
        effects.push(make_key(plan.service_accounts.key.clone(), &origin));
        let public = Body::Compose(vec![Part::PublicKeyOf(plan.service_accounts.key)]);
        effects.push(put(plan.service_accounts.public, public, 0o644, &origin));
        if let Some(key) = plan.encryption {
            let body = encryption::body(key.clone());
            effects.push(make_key(key, &origin));
            effects.push(put(encryption::place(settings), body, 0o600, &origin));
        }
        for config in KUBECONFIGS {
            let (path, body) = (config.place(settings), config.body(settings));
            effects.push(put(path, body, 0o600, &origin));
        }
        effects.extend(pointer::effects(settings, &origin));
        effects.push(Effect::MakeLink(MakeLink {
            path: asset(settings, KUBECONFIG.0),
            target: KUBECONFIG.1.into(),
            owner: None,
            origin: origin.clone(),
        }));
        let record = Body::text(node_record(&node));
        effects.push(put(asset(settings, NODE), record, 0o644, &origin));
        Ok(Decision::Do(effects))
    }

    fn expects(&self, settings: &Settings, _: &Facts) -> Vec<Expectation> {
        let node = settings.cluster.control_plane.node_name.as_deref();
        let plan = plan_for(settings, node);
        let mut expectations = Vec::new();
        for certificate in plan.certificates {
            expectations.push(key(certificate.key.clone()));
            expectations.push(valid(certificate, node.is_some()));
        }
        let pair = plan.service_accounts;
        expectations.push(key(pair.key));
        expectations.push(file(pair.public, None, 0o644, pair.purpose));
        if let Some(path) = plan.encryption {
            expectations.push(key(path));
            let config = encryption::place(settings);
            expectations.push(file(config, None, 0o600, encryption::PURPOSE));
        }
        for config in KUBECONFIGS {
            let path = config.place(settings);
            expectations.push(file(path, None, 0o600, config.purpose));
        }
        expectations.extend(pointer::expectations(settings));
        let link = Claim::Link {
            path: asset(settings, KUBECONFIG.0),
            target: KUBECONFIG.1.into(),
        };
        let because = "People and tools look for the administrator's kubeconfig under this name.";
        expectations.push(Expectation::now(link, because).until(CLEANED));
        let digest = node.map(|node| Digest::of(node_record(node).as_bytes()));
        let because = "Later steps use the name that the certificates speak for, and no other.";
        expectations.push(file(asset(settings, NODE), digest, 0o644, because));
        expectations
    }
}

/// Refuses a service network that is too small to hold the API's own address.
fn check_service_network(settings: &Settings) -> Result<(), Fault> {
    let network = settings.cluster.network.service_cidr;
    if network.nth(1).is_some() {
        return Ok(());
    }
    let message = format!("the service network {network} has no second address");
    Err(Fault::bad_input(message)
        .because("pods reach the API at that address, so the API's certificate must name it")
        .hint("set spec.network.serviceCIDR to a larger network, such as 10.96.0.0/12"))
}

fn node_record(node: &str) -> String {
    format!("{}\n", serde_json::json!({ "name": node }))
}

pub(super) fn private_folder(path: TargetPath, origin: &Origin) -> Effect {
    Effect::MakeDirectory(MakeDirectory {
        path,
        attributes: Attributes::mode(0o700),
        origin: origin.clone(),
    })
}

fn make_key(path: TargetPath, origin: &Origin) -> Effect {
    Effect::MakeKey(MakeKey {
        path,
        algorithm: pki::KEYS,
        origin: origin.clone(),
    })
}

fn issue(certificate: PlannedCertificate, origin: &Origin) -> [Effect; 2] {
    let key = make_key(certificate.key.clone(), origin);
    let issue = IssueCertificate {
        path: certificate.path,
        key: certificate.key,
        request: certificate.request,
        issuer: certificate.issuer,
        origin: origin.clone(),
    };
    [key, Effect::IssueCertificate(issue)]
}

pub(super) fn put(path: TargetPath, body: Body, mode: u32, origin: &Origin) -> Effect {
    Effect::PutFile(PutFile {
        path,
        body,
        attributes: Attributes::mode(mode),
        origin: origin.clone(),
    })
}

fn key(path: TargetPath) -> Expectation {
    let because = "Whoever reads a private key can be whoever its certificate speaks for.";
    Expectation::now(Claim::Key { path }, because).until(CLEANED)
}

/// Expects all of a certificate, or only its file while the name that it must carry is unknown.
fn valid(certificate: PlannedCertificate, node_is_known: bool) -> Expectation {
    if certificate.speaks_for_node && !node_is_known {
        return file(certificate.path, None, 0o644, certificate.purpose);
    }
    let claim = Claim::Certificate {
        path: certificate.path,
        key: certificate.key,
        request: certificate.request,
        issuer: certificate.issuer,
    };
    Expectation::now(claim, certificate.purpose).until(CLEANED)
}

pub(super) fn file(
    path: TargetPath,
    digest: Option<Digest>,
    mode: u32,
    because: &'static str,
) -> Expectation {
    let mode = Some(mode);
    Expectation::now(Claim::File { path, digest, mode }, because).until(CLEANED)
}
