//! What both servers serve, and by what they prove who they are.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

/// How many files the config has.
pub(crate) const FILES: usize = 120;
/// How many bytes each of them has.
const FILE_BYTES: usize = 2 << 10;
/// How many units the config has.
pub(crate) const UNITS: usize = 25;
/// The token that is good for the pool.
const TOKEN: &str = "first-boot-of-a-machine-that-is-measured";
/// Where the config is.
pub(crate) const PATH: &str = "/config/worker";

/// A folder with everything that servers need; removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Site {
    folder: TempDir,
    /// The authority of both servers, in PEM.
    pub(crate) authority: String,
}

impl Site {
    /// Writes the pool, its config, a token, a certificate and its key.
    pub(crate) fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let folder = TempDir::with_prefix_in("bootlace-bench-", "/var/tmp")?;
        let authority = certify(folder.path())?;
        let site = Self { folder, authority };
        let pool = "kind: MachineConfigPool\nstatus: {configuration: {name: rendered-worker}}\n";
        site.write("pools/machine-pools/worker.yaml", pool)?;
        site.write(
            "pools/machine-configs/rendered-worker.yaml",
            format!("{:#}\n", machine_config()),
        )?;
        let hash: Vec<String> = Sha256::digest(TOKEN)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let token = format!(
            "tokens: [{{sha256: {}, pool: worker, expires: 2099-01-01T00:00:00Z}}]\n",
            hash.concat()
        );
        site.write("tokens.yaml", &token)?;
        Ok(site)
    }

    /// Returns a path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> io::Result<()> {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, content)
    }
}

/// Returns a request for the config, as real Ignition puts it.
pub(crate) fn request() -> String {
    format!(
        "GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Ignition/2.24.0\r\n\
         Accept: application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1\r\n\
         Accept-Encoding: identity\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    )
}

/// Makes a config as large as those of real clusters; files are escaped, as their tools write them.
fn machine_config() -> serde_json::Value {
    let files: Vec<serde_json::Value> = (0..FILES)
        .map(|number| {
            let line = format!(
                "setting-{number}=chosen-for-all-machines-of-this-pool-and-for-those-of-no-other\n"
            );
            let content: Vec<u8> = line.bytes().cycle().take(FILE_BYTES).collect();
            let source = format!("data:,{}", escaped(&content));
            serde_json::json!({
                "path": format!("/etc/measured/file-{number}.conf"),
                "mode": 420, "overwrite": true, "contents": {"source": source},
            })
        })
        .collect();
    let units: Vec<serde_json::Value> = (0..UNITS)
        .map(|number| {
            let contents = format!(
                "[Unit]\nDescription=Unit {number}\n\n[Service]\nExecStart=/usr/bin/true {number}\n\n\
                 [Install]\nWantedBy=multi-user.target\n"
            );
            serde_json::json!({
                "name": format!("measured-{number}.service"), "enabled": true, "contents": contents,
            })
        })
        .collect();
    serde_json::json!({
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfig",
        "metadata": {"name": "rendered-worker"},
        "spec": {"config": {
            "ignition": {"version": "3.5.0"},
            "storage": {"files": files},
            "systemd": {"units": units},
        }},
    })
}

/// Escapes everything that could mean something in a URL.
fn escaped(content: &[u8]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escape = |byte: &u8| match *byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    content.iter().map(escape).collect()
}

/// Writes a certificate for 127.0.0.1 and its key, both of P-256; returns the authority, in PEM.
fn certify(folder: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let key = || rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256);
    let mut authority = rcgen::CertificateParams::new(vec![])?;
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = key()?;
    let certificate = authority.self_signed(&authority_key)?;
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let server_key = key()?;
    let server = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()])?;
    let server = server.signed_by(&server_key, &issuer)?;
    std::fs::write(folder.join("tls.key"), server_key.serialize_pem())?;
    std::fs::write(folder.join("tls.crt"), server.pem())?;
    Ok(certificate.pem())
}
