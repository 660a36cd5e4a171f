//! `bootlace version-operator` and `bootlace node-network`: what runs inside the cluster.

use std::time::Duration;

use bootlace_model::fault::Fault;
use bootlace_operator::{Access, Log, Options, Stop, node_network};

use crate::args::{NodeNetwork, ToApi, VersionOperator};
use crate::console::print_stderr;
use crate::error::Ending;

/// Holds the cluster to its release.
pub(crate) fn version_operator(args: VersionOperator) -> Result<Ending, Fault> {
    let options = Options {
        access: access(args.api),
        release_manifests: args.release_manifests,
        resync: Duration::from_secs(args.resync),
        health_port: args.health_port,
        once: args.once,
        timeout: Duration::from_secs(args.timeout),
    };
    bootlace_operator::run(options, log(), &Stop::default())?;
    Ok(Ending::Done)
}

/// Gives a node its pod network.
pub(crate) fn node_network(args: NodeNetwork) -> Result<Ending, Fault> {
    let options = node_network::Options {
        access: access(args.api),
        node: args.node,
        folder: args.folder,
    };
    node_network::run(&options, &log(), &Stop::default())?;
    Ok(Ending::Done)
}

fn access(api: ToApi) -> Access {
    Access {
        kubeconfig: api.kubeconfig,
        server: api.server,
    }
}

fn log() -> Log {
    Log::new(|line| print_stderr(&format!("{line}\n")))
}
