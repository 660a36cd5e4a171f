//! The part of the port that asks services of a cluster over the cluster's own network.

use std::net::IpAddr;
use std::time::Duration;

use bootlace_model::expect::Vantage;

/// A question to a service.
#[derive(Debug)]
pub struct ServiceRequest<'a> {
    /// From where it is asked.
    pub from: Vantage,
    /// Its address.
    pub address: IpAddr,
    /// What it is asked.
    pub question: ServiceQuestion<'a>,
    /// How long it may take.
    pub within: Duration,
}

/// What a service is asked.
#[derive(Debug, Clone, Copy)]
pub enum ServiceQuestion<'a> {
    /// To prove over TLS, at a port, that an authority has certified it.
    Identity {
        /// The port.
        port: u16,
        /// The authority in PEM.
        authority: &'a [u8],
    },
    /// For the address of a name, as a name server at port 53.
    Name(&'a str),
}

/// What came of a question to a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// It answered so.
    Answered(String),
    /// It gave no answer, or a wrong one.
    Failed(String),
    /// No pod on this machine has a network of its own from which it could be asked.
    NoPod,
}
