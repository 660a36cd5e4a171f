//! The machine config server beside nginx: the same bytes, the same certificate, the same clients.
//!
//! | module | what it does |
//! |---|---|
//! | `site`, `servers`, `ktls` | what is served, and by whom |
//! | `client`, `answer` | who asks |
//! | `steady`, `storm`, `idle` | what is measured |

mod answer;
mod client;
mod idle;
mod ktls;
mod servers;
mod site;
mod steady;
mod storm;

use std::io;

use client::Endpoint;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use servers::{Encryption, Server};
use site::Site;
use tokio::runtime::Runtime;

use crate::Outcome;
use crate::row::{Bound, Peer};

/// How many bytes are served, about.
const SERVED: std::ops::Range<usize> = 600_000..700_000;

/// What all measurements share.
#[derive(Debug)]
struct Bench {
    site: Site,
    runtime: Runtime,
    request: Vec<u8>,
    /// What is answered.
    body: Vec<u8>,
}

impl Bench {
    /// Returns a server as clients see it.
    fn peer(&self, server: &Server) -> io::Result<Endpoint> {
        Endpoint::new(server.address, &self.site.authority)
    }
}

/// Everything that is measured.
#[derive(Debug)]
struct Servers {
    bootlace: Server,
    nginx: Server,
    /// nginx with kTLS, or why it cannot be measured here.
    ktls: Result<Server, String>,
}

impl Servers {
    /// Lists those that can be measured, ours first.
    fn all(&self) -> Vec<&Server> {
        let two = [&self.bootlace, &self.nginx];
        two.into_iter().chain(&self.ktls).collect()
    }

    /// Compares figures of [`Servers::all`], a list of rounds for each server.
    fn peers(&self, figures: &[Vec<f64>], bound: Bound) -> Vec<Peer> {
        let rounds = |at: usize| figures.get(at).map(Vec::as_slice).unwrap_or_default();
        let (ours, theirs) = (rounds(0), rounds(1));
        let nginx = Peer::new("nginx", "nginx, the same bytes as a file", ours, theirs);
        let name = "nginx with kTLS";
        let ktls = match &self.ktls {
            Ok(_) => Peer::new("nginx-ktls", name, ours, rounds(2)),
            Err(why) => Peer::missing("nginx-ktls", name, why),
        };
        vec![nginx.within(bound), ktls]
    }
}

/// Measures all servers.
pub(crate) fn run() -> Outcome {
    raise_file_limit()?;
    let site = Site::new()?;
    let bootlace = Server::bootlace(&site)?;
    let body = bootlace.fetch(&site.authority)?;
    if !SERVED.contains(&body.len()) {
        return Err(format!(
            "the config has {} bytes, which is not the one meant",
            body.len()
        )
        .into());
    }
    site.write(&format!("nginx{}", site::PATH), &body)?;
    std::fs::create_dir_all(site.path("temporary"))?;
    let nginx = Server::nginx(&site, Encryption::Process)?;
    if nginx.fetch(&site.authority)? != body {
        return Err("nginx serves something else".into());
    }
    let bench = Bench {
        site,
        // Clients share the processors with the server, as they would with nothing to do but ask.
        runtime: tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?,
        request: site::request().into_bytes(),
        body,
    };
    let servers = Servers {
        bootlace,
        nginx,
        ktls: ktls::nginx(&bench.site),
    };
    let mut rows = steady::run(&bench, &servers)?;
    rows.extend(storm::run(&bench, &servers)?);
    // Each starts again: what earlier measurements left in memory does not count.
    drop(servers);
    rows.extend(idle::run(&bench)?);
    Ok(rows)
}

/// Allows this process as many connections as the kernel lets it have.
fn raise_file_limit() -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    Ok(setrlimit(Resource::Nofile, raised)?)
}
