//! `bootlace serve`: answers machines that boot for the first time.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_server::{Access, ClusterAccess, Log, Options, PoolsFrom};
use clap::{Args, ValueHint};

use crate::console::print_stderr;
use crate::error::Ending;
use crate::session::Session;

/// `serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The folder that holds machine-pools/POOL.yaml and machine-configs/NAME.yaml
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(required_unless_present = "cluster", conflicts_with = "cluster")]
    pools: Option<PathBuf>,
    /// Serve the pools of a Kubernetes cluster, as they change
    #[arg(long)]
    cluster: bool,
    /// The kubeconfig for the cluster that is served from [default: this pod's service account]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "cluster")]
    cluster_kubeconfig: Option<PathBuf>,
    /// The address and port to listen on; the port 0 is any that is free
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,
    /// The server's certificate, in PEM; read again when it changes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    cert: PathBuf,
    /// The certificate's private key, in PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    key: PathBuf,
    /// Whose tokens are valid, by their SHA-256; read again when it changes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with = "insecure_no_auth")]
    tokens: Option<PathBuf>,
    /// Serve anybody, without tokens
    #[arg(long)]
    insecure_no_auth: bool,
    /// The kubeconfig that every machine gets
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    kubeconfig: Option<PathBuf>,
    /// A registry, and the authority in PEM that machines shall trust for it
    #[arg(long, value_name = "REGISTRY=FILE", value_delimiter = ',', value_parser = certificate)]
    bootstrap_certs: Vec<(String, PathBuf)>,
    /// Report a machine as stalled when it has sent nothing for this long, such as 90s or 5m
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = stalled_after)]
    stalled_after: Duration,
    /// Where to write a line of JSON for each answer [default: stderr]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    audit: Option<PathBuf>,
}

pub(crate) fn serve(session: &Session, args: Serve) -> Result<Ending, Fault> {
    let access = match (args.tokens, args.insecure_no_auth) {
        (Some(tokens), _) => Access::Tokens(tokens),
        (None, true) => Access::Anybody,
        (None, false) => {
            let message = "nothing says who may ask: neither --tokens nor --insecure-no-auth";
            return Err(Fault::new(FaultKind::Usage, message)
                .because("configs hold secrets, and are for machines of their pool alone")
                .hint("give the hashes of the tokens of your machines with --tokens FILE")
                .hint("`--insecure-no-auth` serves anybody who reaches the server"));
        }
    };
    let pools = match args.pools {
        Some(folder) => PoolsFrom::Folder(folder),
        None => PoolsFrom::Cluster(ClusterAccess {
            kubeconfig: args.cluster_kubeconfig,
        }),
    };
    let options = Options {
        pools,
        listen: args.listen,
        certificate: args.cert,
        key: args.key,
        access,
        kubeconfig: args.kubeconfig,
        certificates: args.bootstrap_certs,
        stalls_after: args.stalled_after,
        audit: args.audit,
    };
    let is_quiet = session.console.is_quiet();
    let log = Log::new(move |line| {
        // What is insecure is said to those, too, who want to hear of failures only.
        if !is_quiet || line.starts_with("INSECURE") {
            print_stderr(&format!("{line}\n"));
        }
    });
    bootlace_server::run(options, &log)?;
    Ok(Ending::Done)
}

/// Reads a duration; a bare number counts seconds.
fn stalled_after(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map(Duration::from_secs);
    let read = seconds.or_else(|_| bootlace_model::config::duration(text))?;
    if read.is_zero() {
        return Err("it must be at least 1s".into());
    }
    Ok(read)
}

/// Reads a registry and the file of its authority.
fn certificate(text: &str) -> Result<(String, PathBuf), String> {
    let wrong = || "it is not REGISTRY=FILE, with the plain name of a registry".to_owned();
    let (registry, file) = text.split_once('=').ok_or_else(wrong)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let is_name = !registry.is_empty()
        && !registry.starts_with('.')
        && registry.bytes().all(is_plain)
        && !file.is_empty();
    if !is_name {
        return Err(wrong());
    }
    Ok((registry.to_owned(), file.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit_or_counts_seconds() {
        for (text, seconds) in [("5s", 5), ("5m", 300), ("300", 300), ("1h", 3600)] {
            assert_eq!(stalled_after(text), Ok(Duration::from_secs(seconds)));
        }
        for bad in ["", "5x", "-5", "0", "0s", "1.5m"] {
            assert!(stalled_after(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn registries_become_a_part_of_a_path_and_must_be_plain() {
        let read = certificate("registry.local:5000=/ca.pem").unwrap();
        assert_eq!(read, ("registry.local:5000".into(), "/ca.pem".into()));
        for bad in ["", "a", "=b", "a=", "../x=b", "a/b=c", ".=b"] {
            assert!(certificate(bad).is_err(), "{bad}");
        }
    }
}
