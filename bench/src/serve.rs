//! The machine config server beside nginx: the same bytes, the same certificate, the same clients.
//!
//! | module | what it does |
//! |---|---|
//! | `site`, `servers` | what is served, and by whom |
//! | `client`, `answer` | who asks |
//! | `steady`, `storm`, `idle` | what is measured |

mod answer;
mod client;
mod idle;
mod servers;
mod site;
mod steady;
mod storm;

use std::io;

use client::Peer;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use servers::Server;
use site::Site;
use tokio::runtime::Runtime;

use crate::Outcome;

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
    fn peer(&self, server: &Server) -> io::Result<Peer> {
        Peer::new(server.address, &self.site.authority)
    }
}

/// Measures both servers.
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
    let nginx = Server::nginx(&site)?;
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
    let mut rows = steady::run(&bench, &bootlace, &nginx)?;
    rows.extend(storm::run(&bench, &bootlace, &nginx)?);
    // Each begins anew: what earlier measurements left in memory would be counted for nothing.
    drop((bootlace, nginx));
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
