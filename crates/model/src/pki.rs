//! Keys and certificates as a plan: what each must say, and whether one that is there says it.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Which kind of key is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyAlgorithm {
    /// ECDSA on the curve P-256: small, fast, and read by every client of the last ten years.
    #[serde(rename = "ecdsa-p256")]
    EcdsaP256,
}

impl fmt::Display for KeyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EcdsaP256 => f.write_str("ECDSA P-256"),
        }
    }
}

/// Who a certificate speaks for; Kubernetes reads the common name as user, organisations as groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The user.
    pub common_name: String,
    /// The groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub organizations: Vec<String>,
}

impl Subject {
    /// Names a user without groups.
    pub fn user(common_name: impl Into<String>) -> Self {
        Self {
            common_name: common_name.into(),
            organizations: vec![],
        }
    }

    /// Names a user in one group.
    pub fn member(common_name: impl Into<String>, organization: &str) -> Self {
        Self {
            common_name: common_name.into(),
            organizations: vec![organization.into()],
        }
    }

    /// Writes it the way `openssl -subj` takes it.
    pub fn slashed(&self) -> String {
        let groups = self.organizations.iter().map(|name| format!("/O={name}"));
        groups
            .chain([format!("/CN={}", self.common_name)])
            .collect()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for group in &self.organizations {
            write!(f, "O={group}, ")?;
        }
        write!(f, "CN={}", self.common_name)
    }
}

/// What a certificate may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Usage {
    /// Signs other certificates.
    Authority,
    /// Proves a client.
    Client,
    /// Proves a server.
    Server,
}

/// A certificate as it is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateRequest {
    /// Who it speaks for.
    pub subject: Subject,
    /// The DNS names that a server answers to.
    pub dns_names: Vec<String>,
    /// The addresses that a server answers at.
    pub addresses: Vec<IpAddr>,
    /// What it may be used for.
    pub usages: Vec<Usage>,
    /// How long it is valid, from the moment of issue.
    pub valid_for: Duration,
    /// How far its begin lies before the moment of issue, for machines whose clock is behind.
    pub back_dated: Duration,
}

impl CertificateRequest {
    /// Returns the validity in whole days.
    pub fn days(&self) -> u64 {
        self.valid_for.as_secs() / 86_400
    }

    /// Tells whether it is for an authority.
    pub fn is_authority(&self) -> bool {
        self.usages.contains(&Usage::Authority)
    }

    /// Lists the extensions the way `openssl req -addext` takes them.
    pub fn extensions(&self) -> Vec<String> {
        let mut extensions = Vec::new();
        if self.is_authority() {
            extensions.push("basicConstraints=critical,CA:TRUE".to_owned());
            extensions.push("keyUsage=critical,digitalSignature,keyCertSign,cRLSign".to_owned());
        } else {
            extensions.push("basicConstraints=critical,CA:FALSE".to_owned());
            extensions.push("keyUsage=critical,digitalSignature,keyEncipherment".to_owned());
        }
        let extended: Vec<&str> = self
            .usages
            .iter()
            .filter_map(|usage| match usage {
                Usage::Authority => None,
                Usage::Client => Some("clientAuth"),
                Usage::Server => Some("serverAuth"),
            })
            .collect();
        if !extended.is_empty() {
            extensions.push(format!("extendedKeyUsage={}", extended.join(",")));
        }
        let dns = self.dns_names.iter().map(|name| format!("DNS:{name}"));
        let addresses = self.addresses.iter().map(|address| format!("IP:{address}"));
        let names: Vec<String> = dns.chain(addresses).collect();
        if !names.is_empty() {
            extensions.push(format!("subjectAltName={}", names.join(",")));
        }
        extensions
    }
}

/// A certificate as it is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateFacts {
    /// Who it speaks for.
    pub subject: Subject,
    /// Who says so.
    pub issuer: Subject,
    /// Its DNS names, sorted.
    pub dns_names: Vec<String>,
    /// Its addresses, sorted.
    pub addresses: Vec<IpAddr>,
    /// What it may be used for, sorted.
    pub usages: Vec<Usage>,
    /// Valid from.
    pub not_before: jiff::Timestamp,
    /// Valid until.
    pub not_after: jiff::Timestamp,
    /// Whether its public key is that of the key it was compared with; none if it was not compared.
    pub key_fits: Option<bool>,
    /// Whether its signature is that of the issuer it was compared with; none if not compared.
    pub signature_fits: Option<bool>,
}

impl CertificateFacts {
    /// Lists in what this certificate differs from the one that is wanted; none if it will do.
    ///
    /// More names than wanted are fine: somebody may have added one on purpose. An authority may
    /// be called as its owner likes: what counts is its key.
    pub fn problems(&self, wanted: &CertificateRequest, now: jiff::Timestamp) -> Vec<String> {
        let mut problems = self.time_problems(now);
        if wanted.is_authority() {
            // Companies name their authorities after themselves.
        } else if self.subject.common_name == wanted.subject.common_name {
            for group in &wanted.subject.organizations {
                if !self.subject.organizations.contains(group) {
                    problems.push(format!("it lacks the group {group}"));
                }
            }
            for group in &self.subject.organizations {
                if !wanted.subject.organizations.contains(group) {
                    problems.push(format!("it has the group {group}, which it must not have"));
                }
            }
        } else {
            problems.push(format!(
                "it is for {}, not for {}",
                self.subject, wanted.subject
            ));
        }
        for name in &wanted.dns_names {
            if !self.dns_names.contains(name) {
                problems.push(format!("it lacks the name {name}"));
            }
        }
        for address in &wanted.addresses {
            if !self.addresses.contains(address) {
                problems.push(format!("it lacks the address {address}"));
            }
        }
        for usage in &wanted.usages {
            if !self.usages.contains(usage) {
                problems.push(match usage {
                    Usage::Authority => "it is not an authority".into(),
                    Usage::Client => "it is not for clients".into(),
                    Usage::Server => "it is not for servers".into(),
                });
            }
        }
        if !wanted.is_authority() && self.usages.contains(&Usage::Authority) {
            problems.push("it is an authority, which it must not be".into());
        }
        if self.key_fits == Some(false) {
            problems.push("it does not belong to the key beside it".into());
        }
        if self.signature_fits == Some(false) {
            problems.push(format!(
                "it is not signed by the authority in place ({})",
                self.issuer
            ));
        }
        problems
    }

    /// Lists what is wrong with the dates alone.
    pub fn time_problems(&self, now: jiff::Timestamp) -> Vec<String> {
        if now >= self.not_after {
            return vec![format!(
                "it expired on {}",
                self.not_after.strftime("%Y-%m-%d %H:%M UTC")
            )];
        }
        if now < self.not_before {
            let from = self.not_before.strftime("%Y-%m-%d %H:%M UTC");
            return vec![format!(
                "it is valid only from {from}; is the clock of this machine right?"
            )];
        }
        vec![]
    }

    /// Returns the whole days that are left, negative if it expired.
    pub fn days_left(&self, now: jiff::Timestamp) -> i64 {
        (self.not_after.as_second() - now.as_second()).div_euclid(86_400)
    }
}
