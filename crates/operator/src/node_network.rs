//! The pod network of one node, as simple as it gets: a CNI config, and routes to the other nodes.
//!
//! Pods of a node share a bridge and the node's part of the pod network. To reach pods of other
//! nodes, the kernel is told which node has which part. A node is Ready only when the config is
//! there, so it is written as soon as the node knows its part. Programs on the node itself reach services
//! by a route that is there even before the API answers.

mod conflist;
mod files;
mod netlink;
mod node;
mod routes;
mod services;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use bootlace_model::fault::Fault;
use futures_util::StreamExt as _;
use kube::api::WatchEvent;

use crate::api::{Access, Api};
use crate::log::Log;
use crate::retry::{Refusal, back_off};
use crate::signals;
use crate::stop::Stop;
use node::{Node, NodeList};
pub use routes::Network as AddressRange;
use services::Decision;

/// The path of all nodes.
const NODES: &str = "/api/v1/nodes";
/// How long until the file and the routes are looked at although no node changed.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// What the program is told when it starts.
#[derive(Debug, Clone)]
pub struct Options {
    /// How the API server is reached.
    pub access: Access,
    /// The name of the node that this runs on.
    pub node: String,
    /// The folder of CNI configs.
    pub folder: PathBuf,
    /// The node's own addresses.
    pub addresses: Vec<IpAddr>,
    /// The networks of pods; what a node claims outside of them is not its own.
    pub pods: Vec<AddressRange>,
    /// The networks of services, to which the node gets a route if it has none.
    pub services: Vec<AddressRange>,
}

/// Keeps the node's network as it should be until it is stopped.
pub fn run(options: &Options, log: &Log, stop: &Stop) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::internal(format!("the runtime cannot be started: {error}")))?;
    runtime.block_on(async {
        signals::listen(stop)?;
        let network = Network {
            api: Api::new(&options.access).await?,
            options,
            log,
        };
        tokio::select! {
            () = stop.asked() => log.say("stopped; the config and the routes stay"),
            () = network.follow() => {}
        }
        Ok(())
    })
}

struct Network<'o> {
    api: Api,
    options: &'o Options,
    log: &'o Log,
}

impl Network<'_> {
    /// Follows the nodes for ever.
    async fn follow(&self) {
        let mut failures = 0;
        loop {
            // Before the API is asked: it may need services itself to answer.
            self.serve();
            match self.list_and_watch().await {
                Ok(()) => failures = 0,
                Err(refusal) => {
                    self.log.news(
                        "nodes",
                        format!("the nodes cannot be seen: {}", refusal.why),
                    );
                    failures += 1;
                }
            }
            let wait = back_off(failures, Duration::from_millis(100), Duration::from_secs(2));
            tokio::time::sleep(wait).await;
        }
    }

    /// Reads all nodes and follows their changes until the watch ends.
    async fn list_and_watch(&self) -> Result<(), Refusal> {
        let list: NodeList = self.api.list(NODES, None).await?;
        self.log.over("nodes");
        let named = list
            .items
            .into_iter()
            .map(|node| (node.metadata.name.clone(), node));
        let mut nodes: BTreeMap<String, Node> = named.collect();
        self.settle(&nodes);
        let since = &list.metadata.resource_version;
        let mut events = self.api.watch::<Node>(NODES, None, since).await?;
        loop {
            let event = match tokio::time::timeout(LOOK_AGAIN, events.next()).await {
                Ok(Some(event)) => event?,
                Ok(None) => return Ok(()),
                Err(_) => {
                    self.serve();
                    self.settle(&nodes);
                    continue;
                }
            };
            let before = match event {
                WatchEvent::Added(node) | WatchEvent::Modified(node) => {
                    let name = node.metadata.name.clone();
                    nodes
                        .insert(name.clone(), node.clone())
                        .filter(|before| before.is_reached_like(&node))
                }
                WatchEvent::Deleted(node) => {
                    nodes.remove(&node.metadata.name);
                    None
                }
                WatchEvent::Bookmark(_) => continue,
                // The version is too old, or the server wants rest: begin anew.
                WatchEvent::Error(_) => return Ok(()),
            };
            // Most changes of a node are heartbeats.
            if before.is_none() {
                self.settle(&nodes);
            }
        }
    }

    /// Makes services reachable from the node itself.
    fn serve(&self) {
        for network in &self.options.services {
            if let Err(error) = self.serve_one(network) {
                let line = format!("cannot set a route to the services in {network}: {error}");
                self.log.news("services", line);
            }
        }
    }

    fn serve_one(&self, network: &AddressRange) -> std::io::Result<()> {
        let mut kernel = netlink::Routes::open()?;
        let decision = services::decide(&mut kernel, network, &self.options.addresses)?;
        for change in decision.changes() {
            kernel.perform(change)?;
            self.log.say(format!("{change}"));
        }
        if decision == Decision::NoDevice {
            let line = format!(
                "no route to the services in {network}: no device has an address of this node"
            );
            self.log.news("services", line);
        } else {
            self.log.over("services");
        }
        Ok(())
    }

    /// Makes the file and the routes be as the nodes want them.
    fn settle(&self, nodes: &BTreeMap<String, Node>) {
        let Options { node, folder, .. } = self.options;
        let Some(mine) = nodes
            .get(node)
            .map(Node::pod_networks)
            .filter(|mine| !mine.is_empty())
        else {
            let line = format!("waiting: the node {node} has no part of the pod network yet");
            return self.log.news("config", line);
        };
        match files::put(folder, &conflist::text(&mine)) {
            Ok(files::Put::Foreign(name)) => {
                let line = format!(
                    "nothing to do: {name} in {} is somebody else's",
                    folder.display()
                );
                return self.log.news("config", line);
            }
            Ok(files::Put::Written) => {
                let mine = mine.join(", ");
                self.log.say(format!(
                    "wrote {}: pods get {mine}",
                    folder.join(conflist::NAME).display()
                ));
            }
            Ok(files::Put::Same) => {}
            Err(error) => {
                let path = folder.join(conflist::NAME);
                let line = format!("{} cannot be written: {error}", path.display());
                self.log.news("config", line);
            }
        }
        let all: Vec<&Node> = nodes.values().collect();
        let wanted = routes::wanted(&all, node, &self.options.pods);
        if wanted.refused.is_empty() {
            self.log.over("refused");
        } else {
            self.log.news("refused", wanted.refused.join("; "));
        }
        self.route(&wanted.routes);
    }

    fn route(&self, wanted: &[routes::Route]) {
        let changes = match netlink::Routes::open().and_then(|mut kernel| {
            let changes = routes::changes(wanted, &kernel.table()?.ours);
            Ok((kernel, changes))
        }) {
            Ok((mut kernel, changes)) => {
                for change in &changes {
                    match kernel.perform(change) {
                        Ok(()) => self.log.say(format!("{change}")),
                        Err(error) => self
                            .log
                            .news("routes", format!("not done: {change}: {error}")),
                    }
                }
                return;
            }
            Err(error) => error,
        };
        self.log.news(
            "routes",
            format!("the kernel's routes cannot be read: {changes}"),
        );
    }
}
