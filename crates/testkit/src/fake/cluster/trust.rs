//! Whether a client trusts the fake API: by the certificates that really lie on the disk.

use base64::Engine as _;
use bootlace_engine::port::Credentials;
use bootlace_host::pki;

use super::super::running::Component;
use super::super::state::State;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";

/// Names the server that credentials are for.
pub(super) fn server(credentials: &Credentials) -> String {
    let fallback = || "https://127.0.0.1:6443".to_owned();
    match credentials {
        Credentials::Certificate { server, .. } => server.clone(),
        Credentials::Kubeconfig(text) => field(text, "server").unwrap_or_else(fallback),
    }
}

impl State {
    /// Tells why a client does not trust a component; none if it does, or if nobody says.
    pub(super) fn distrust(
        &self,
        component: Component,
        credentials: &Credentials,
    ) -> Option<String> {
        let flag = match component {
            Component::Etcd => "cert-file",
            _ => "tls-cert-file",
        };
        let served = self.pod_of(component)?.flag(flag)?;
        let served = self.text(served)?;
        let authorities = match credentials {
            Credentials::Certificate { authority, .. } => authority.clone(),
            Credentials::Kubeconfig(text) => {
                let data = field(text, "certificate-authority-data")?;
                base64::engine::general_purpose::STANDARD
                    .decode(data)
                    .ok()?
            }
        };
        let signed = |authority: &str| {
            let facts = pki::inspect(served.as_bytes(), None, Some(authority.as_bytes()));
            facts.is_ok_and(|facts| facts.signature_fits == Some(true))
        };
        let authorities = String::from_utf8_lossy(&authorities);
        let mut blocks = authorities
            .split(BEGIN)
            .skip(1)
            .map(|it| format!("{BEGIN}{it}"));
        if !blocks.any(|block| signed(&block)) {
            return Some("its certificate comes from an unknown authority".into());
        }
        let facts = pki::inspect(served.as_bytes(), None, None).ok()?;
        facts.time_problems(self.clock_shows()).into_iter().next()
    }
}

/// Finds a field of a kubeconfig by its name alone.
fn field(kubeconfig: &[u8], name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(kubeconfig);
    let mut lines = text.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches("- ");
        line.strip_prefix(name)?.strip_prefix(':').map(str::trim)
    });
    lines
        .next()
        .map(|value| value.trim_matches(['"', '\'']).to_owned())
}
