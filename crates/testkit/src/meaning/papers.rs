//! The keys and certificates of a tree, and how each is described.

use std::collections::BTreeMap;

use base64::Engine as _;
use bootlace_host::pki;
use bootlace_model::path::TargetPath;
use bootlace_model::pki::CertificateFacts;
use bootlace_model::secret::Secret;
use bootlace_model::token;

use super::segments::{Block, Segment, segments};
use crate::tree::{EntryKind, Snapshot};

/// The keys and certificates of a tree; each is known by the first path at which it occurs.
#[derive(Debug, Default)]
pub(super) struct Papers {
    /// By the public half, in PEM.
    keys: BTreeMap<String, TargetPath>,
    /// By the certificate, in PEM.
    certificates: BTreeMap<String, Certificate>,
    /// By the token itself.
    tokens: BTreeMap<String, TargetPath>,
    /// By the time at which a token expires, as it is written beside its hash.
    expiries: BTreeMap<String, TargetPath>,
}

#[derive(Debug)]
struct Certificate {
    path: TargetPath,
    facts: CertificateFacts,
}

impl Papers {
    pub(super) fn of(tree: &Snapshot) -> Self {
        let mut papers = Self::default();
        for (path, entry) in &tree.files {
            if let EntryKind::File(content) = &entry.kind
                && let Ok(text) = std::str::from_utf8(content)
            {
                papers.collect(path, text);
            }
        }
        papers
    }

    fn collect(&mut self, path: &TargetPath, text: &str) {
        if let Ok(expires) = token::expiry(text.as_bytes()) {
            self.tokens.insert(text.to_owned(), path.clone());
            let expires = self.expiries.entry(expires.to_string());
            expires.or_insert_with(|| path.clone());
        }
        for segment in segments(text) {
            match segment {
                Segment::Plain(_) => {}
                Segment::Encoded(inner) => self.collect(path, &inner),
                Segment::Pem(block) => {
                    if let Some(public) = public_half(&block) {
                        self.keys.entry(public).or_insert_with(|| path.clone());
                    } else if let Some(facts) = facts(&block) {
                        let certificate = Certificate {
                            path: path.clone(),
                            facts,
                        };
                        self.certificates.entry(block.text).or_insert(certificate);
                    }
                }
            }
        }
    }

    /// Replaces tokens, and the times at which they expire, by whose they are.
    pub(super) fn describe_tokens(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (token, path) in &self.tokens {
            text = text.replace(token, &format!("<token of {path}>"));
        }
        for (expires, path) in &self.expiries {
            // Tokens that expire in the same second have one time, of whichever it is.
            let folder = path.parent().unwrap_or_else(TargetPath::root);
            text = text.replace(expires, &format!("<expiry of a token in {folder}>"));
        }
        text
    }

    /// Tells what a block means; what cannot be read means itself.
    pub(super) fn describe(&self, block: &Block) -> String {
        if let Some(public) = public_half(block) {
            return format!("<private key, first at {}>", self.owner(&public));
        }
        if block.label == "PUBLIC KEY" {
            return format!("<public key of {}>", self.owner(&block.text));
        }
        match self.certificates.get(&block.text) {
            Some(certificate) => self.describe_certificate(block, certificate),
            None => block.text.clone(),
        }
    }

    fn owner(&self, public: &str) -> String {
        self.keys
            .get(public)
            .map_or_else(|| "nobody here".into(), ToString::to_string)
    }

    fn describe_certificate(&self, block: &Block, certificate: &Certificate) -> String {
        let CertificateFacts {
            subject,
            issuer,
            dns_names,
            addresses,
            usages,
            ..
        } = &certificate.facts;
        let lives = certificate
            .facts
            .not_after
            .duration_since(certificate.facts.not_before);
        // In months: the exact end depends on when the authority was made.
        let months = (lives.as_hours() + 360) / 720;
        format!(
            "<certificate, first at {}\n  for {subject}\n  by {issuer}\n  names {dns_names:?} \
             {addresses:?}\n  usages {usages:?}\n  valid for {months} months\n  key {}\n  \
             signed by {}>",
            certificate.path,
            self.key_of(block),
            self.signer_of(block, &certificate.facts),
        )
    }

    fn key_of(&self, block: &Block) -> String {
        let der = decoded(&block.text);
        let fits = |public: &str| {
            let public = decoded(public);
            !public.is_empty() && der.windows(public.len()).any(|window| window == public)
        };
        let fitting = self.keys.iter().find(|(public, _)| fits(public));
        fitting.map_or_else(|| "of nobody here".into(), |(_, path)| path.to_string())
    }

    fn signer_of(&self, block: &Block, facts: &CertificateFacts) -> String {
        let fits = |authority: &str| {
            let inspected = pki::inspect(block.text.as_bytes(), None, Some(authority.as_bytes()));
            inspected.is_ok_and(|facts| facts.signature_fits == Some(true))
        };
        let named = self
            .certificates
            .iter()
            .filter(|(_, c)| c.facts.subject == facts.issuer);
        let signer = named.into_iter().find(|(authority, _)| fits(authority));
        signer.map_or_else(|| "nobody here".into(), |(_, c)| c.path.to_string())
    }
}

fn public_half(block: &Block) -> Option<String> {
    if !block.label.ends_with("PRIVATE KEY") {
        return None;
    }
    let public = pki::public_key(&Secret::new(block.text.clone().into_bytes())).ok()?;
    // The same form as that of blocks, so that texts can be compared.
    let lines: Vec<&str> = public.lines().map(str::trim).collect();
    Some(lines.join("\n") + "\n")
}

fn facts(block: &Block) -> Option<CertificateFacts> {
    if block.label != "CERTIFICATE" {
        return None;
    }
    pki::inspect(block.text.as_bytes(), None, None).ok()
}

/// Decodes the inside of a block of PEM; nothing if it is none.
fn decoded(text: &str) -> Vec<u8> {
    let inside: String = text
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .collect();
    base64::engine::general_purpose::STANDARD
        .decode(inside)
        .unwrap_or_default()
}
