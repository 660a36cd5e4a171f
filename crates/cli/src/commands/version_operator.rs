//! `bootlace version-operator`: holds the cluster to its release.

use std::path::PathBuf;
use std::time::Duration;

use bootlace_model::fault::Fault;
use bootlace_operator::{Access, Log, Options, Stop};
use clap::{Args, ValueHint};

use crate::console::print_stderr;
use crate::error::Ending;
use crate::session::Session;

/// `version-operator`.
#[derive(Debug, Args)]
pub(crate) struct VersionOperator {
    #[command(flatten)]
    access: ApiAccess,
    /// The folder that holds the release's manifests
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(default_value = "/release-manifests")]
    release_manifests: PathBuf,
    /// How many seconds until it looks again whether everything is as it should be
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    resync: u64,
    /// The port of /healthz on 127.0.0.1; 0 is none
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    health_port: u16,
    /// End when everything is applied and ready
    #[arg(long)]
    once: bool,
    /// How many seconds that may take
    #[arg(long, value_name = "SECONDS", default_value_t = 300, requires = "once")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
}

/// How the API server is reached.
#[derive(Debug, Args)]
pub(crate) struct ApiAccess {
    /// How the API server is reached [default: by the service account of the pod that this runs in]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    kubeconfig: Option<PathBuf>,
    /// The API server's address, `https://HOST:PORT`, instead of the one that is found there
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    server: Option<String>,
}

impl From<ApiAccess> for Access {
    fn from(given: ApiAccess) -> Self {
        Self {
            kubeconfig: given.kubeconfig,
            server: given.server,
        }
    }
}

pub(crate) fn version_operator(session: &Session, args: VersionOperator) -> Result<Ending, Fault> {
    let options = Options {
        access: args.access.into(),
        release_manifests: args.release_manifests,
        resync: Duration::from_secs(args.resync),
        health_port: args.health_port,
        once: args.once,
        timeout: Duration::from_secs(args.timeout),
    };
    bootlace_operator::run(options, log(session), &Stop::default())?;
    Ok(Ending::Done)
}

/// Returns where a service says what it does: to stderr, a line at a time.
pub(super) fn log(session: &Session) -> Log {
    let is_quiet = session.console.is_quiet();
    Log::new(move |line| {
        if !is_quiet {
            print_stderr(&format!("{line}\n"));
        }
    })
}
