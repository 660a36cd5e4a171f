//! From the table to requests: subjects, names, addresses and validity for one cluster.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use bootlace_model::config::Settings;
use bootlace_model::effect::Issuer;
use bootlace_model::path::TargetPath;
use bootlace_model::pki::{CertificateRequest, Subject, Usage};

use super::{Names, Row, Speaker, TABLE};
use crate::assets::{ENCRYPTION_KEY_FILE, asset, below};

/// How long a certificate is valid at most that only the bootstrap needs: a run that is stopped for a
/// week-end goes on.
const BRIEF: Duration = Duration::from_hours(7 * 24);

/// A certificate as it is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCertificate {
    /// Where.
    pub path: TargetPath,
    /// Its key.
    pub key: TargetPath,
    /// Subject, names, usages, validity.
    pub request: CertificateRequest,
    /// The authority that signs; itself if none.
    pub issuer: Option<Issuer>,
    /// What would not work without it.
    pub purpose: &'static str,
    /// Whether its subject names the node.
    pub speaks_for_node: bool,
}

/// The pair with which tokens of service accounts are signed and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPair {
    /// The private half.
    pub key: TargetPath,
    /// The public half.
    pub public: TargetPath,
    /// What would not work without it.
    pub purpose: &'static str,
}

/// Every key and certificate of a cluster, in the order in which they are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PkiPlan {
    /// The certificates, authorities before what they sign.
    pub certificates: Vec<PlannedCertificate>,
    /// The pair of the service accounts.
    pub service_accounts: KeyPair,
    /// The private key from which the key follows by which Secrets are encrypted in etcd.
    pub encryption: Option<TargetPath>,
}

/// Plans the keys and certificates for a node's name.
pub fn pki_plan(settings: &Settings, node_name: &str) -> PkiPlan {
    plan_for(settings, Some(node_name))
}

/// Plans for a name that may not be known yet: it is then left out, also where it is the subject.
pub(crate) fn plan_for(settings: &Settings, node: Option<&str>) -> PkiPlan {
    let certificates = TABLE.iter().map(|row| row.plan(settings, node)).collect();
    let service_accounts = KeyPair {
        key: asset(settings, "tls/sa.key"),
        public: asset(settings, "tls/sa.pub"),
        purpose: "Tokens of service accounts are signed with one half and checked with the other.",
    };
    PkiPlan {
        certificates,
        service_accounts,
        encryption: settings
            .cluster
            .security
            .is_hardened()
            .then(|| asset(settings, ENCRYPTION_KEY_FILE)),
    }
}

impl Row {
    fn plan(&self, settings: &Settings, node: Option<&str>) -> PlannedCertificate {
        let tls = asset(settings, "tls");
        let issuer = self.issuer.map(|stem| Issuer {
            certificate: with_ending(&tls, stem, ".crt"),
            key: with_ending(&tls, stem, ".key"),
        });
        PlannedCertificate {
            path: with_ending(&tls, self.stem, ".crt"),
            key: with_ending(&tls, self.stem, ".key"),
            request: self.request(settings, node),
            issuer,
            purpose: self.purpose,
            speaks_for_node: matches!(self.speaker, Speaker::Node(_)),
        }
    }

    fn request(&self, settings: &Settings, node: Option<&str>) -> CertificateRequest {
        let pki = &settings.cluster.pki;
        let common_name = match self.speaker {
            Speaker::Fixed(name) => name.to_owned(),
            Speaker::Node(prefix) => format!("{prefix}{}", node.unwrap_or_default()),
        };
        let organizations = self.group.iter().map(|&group| group.to_owned()).collect();
        let is_authority = self.usages.contains(&Usage::Authority);
        let (dns_names, addresses) = self.names.of(settings, node);
        CertificateRequest {
            subject: Subject {
                common_name,
                organizations,
            },
            dns_names,
            addresses,
            usages: self.usages.to_vec(),
            valid_for: match is_authority {
                true => pki.authority_validity,
                false if self.is_brief => pki.leaf_validity.min(BRIEF),
                false => pki.leaf_validity,
            },
            back_dated: pki.back_date,
        }
    }
}

fn with_ending(tls: &TargetPath, stem: &'static str, ending: &str) -> TargetPath {
    let path = below(tls, stem);
    let name = format!("{}{ending}", path.name());
    let folder = path.parent().unwrap_or_else(TargetPath::root);
    folder.join(&name).unwrap_or(path)
}

impl Names {
    /// Lists the names and addresses, each once, in a fixed order.
    fn of(self, settings: &Settings, node: Option<&str>) -> (Vec<String>, Vec<IpAddr>) {
        let cluster = &settings.cluster;
        let plane = &cluster.control_plane;
        let mut names = Collected::default();
        if matches!(self, Self::None) {
            return (names.dns, names.addresses);
        }
        names.extend(node);
        if matches!(self, Self::ApiServer) {
            let service = "kubernetes.default.svc";
            names.extend(["kubernetes", "kubernetes.default", service]);
            names.add(&format!("{service}.{}", cluster.network.cluster_domain));
        }
        names.add("localhost");
        if matches!(self, Self::ApiServer | Self::Endpoint) {
            names.add(&plane.endpoint.host);
        }
        if matches!(self, Self::Endpoint) {
            names.add(&cluster.machine_config_server.reached_at(plane).host);
        }
        if matches!(self, Self::ApiServer | Self::Endpoint) {
            names.extend(cluster.pki.extra_names.iter().map(String::as_str));
        }
        if matches!(self, Self::ApiServer)
            && let Some(first_service) = cluster.network.service_cidr.nth(1)
        {
            names.address(first_service);
        }
        names.address(plane.advertise_address);
        names.address(Ipv4Addr::LOCALHOST.into());
        names.address(Ipv6Addr::LOCALHOST.into());
        (names.dns, names.addresses)
    }
}

/// Names and addresses, told apart, each once.
#[derive(Debug, Default)]
struct Collected {
    dns: Vec<String>,
    addresses: Vec<IpAddr>,
}

impl Collected {
    fn add(&mut self, name: &str) {
        if let Ok(address) = name.parse() {
            self.address(address);
        } else if !self.dns.iter().any(|known| known == name) {
            self.dns.push(name.to_owned());
        }
    }

    fn extend<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        for name in names {
            self.add(name);
        }
    }

    fn address(&mut self, address: IpAddr) {
        if !self.addresses.contains(&address) {
            self.addresses.push(address);
        }
    }
}
