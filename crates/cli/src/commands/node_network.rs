//! `bootlace node-network`: the pod network of the node that this runs on.

use std::net::IpAddr;
use std::path::PathBuf;

use bootlace_model::fault::Fault;
use bootlace_operator::Stop;
use bootlace_operator::node_network::{self, AddressRange, Options};
use clap::{Args, ValueHint};

use super::version_operator::{ApiAccess, log};
use crate::error::Ending;
use crate::session::Session;

/// `node-network`.
#[derive(Debug, Args)]
pub(crate) struct NodeNetwork {
    #[command(flatten)]
    access: ApiAccess,
    /// The node's name
    #[arg(long, value_name = "NAME")]
    node: String,
    /// The folder of CNI configs
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(default_value = "/etc/cni/net.d")]
    cni_folder: PathBuf,
    /// The node's own addresses
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    node_ip: Vec<IpAddr>,
    /// Networks of pods; what a node claims outside of them gets no route
    #[arg(long, value_name = "CIDR", value_delimiter = ',', required = true)]
    pod_cidr: Vec<AddressRange>,
    /// Networks of services; the node gets a route to them if it has none
    #[arg(long, value_name = "CIDR", value_delimiter = ',', requires = "node_ip")]
    service_cidr: Vec<AddressRange>,
}

pub(crate) fn node_network(session: &Session, args: NodeNetwork) -> Result<Ending, Fault> {
    let options = Options {
        access: args.access.into(),
        node: args.node,
        folder: args.cni_folder,
        addresses: args.node_ip,
        pods: args.pod_cidr,
        services: args.service_cidr,
    };
    node_network::run(&options, &log(session), &Stop::default())?;
    Ok(Ending::Done)
}
