//! The container runtime, asked over the same interface over which kubelet asks it.

mod line;
mod messages;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bootlace_engine::port::{ContainerState, ContainerStatus, HostResult};
use futures_util::{StreamExt as _, stream};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::clock::StopHandle;
use crate::error::refused;
use crate::network::Network;

use self::line::{Line, ask, is_silence, words};
use self::messages::{
    ById, Container, ContainerAnswer, ContainerList, Everything, ImageList, ImageReference,
    Nothing, PodDetails, PodInDetail, PodList, PodName, RemoveImage, State,
};

/// How long an answer may take that changes nothing.
const QUESTION: Duration = Duration::from_secs(10);
/// How many questions are under way at once.
const AT_ONCE: usize = 8;

const LIST_CONTAINERS: &str = "/runtime.v1.RuntimeService/ListContainers";
const CONTAINER_STATUS: &str = "/runtime.v1.RuntimeService/ContainerStatus";
const LIST_PODS: &str = "/runtime.v1.RuntimeService/ListPodSandbox";
const POD_STATUS: &str = "/runtime.v1.RuntimeService/PodSandboxStatus";
const STOP_POD: &str = "/runtime.v1.RuntimeService/StopPodSandbox";
const REMOVE_POD: &str = "/runtime.v1.RuntimeService/RemovePodSandbox";
const LIST_IMAGES: &str = "/runtime.v1.ImageService/ListImages";
const REMOVE_IMAGE: &str = "/runtime.v1.ImageService/RemoveImage";

/// The container runtime, if there can be one.
#[derive(Debug)]
pub(crate) struct Runtime {
    socket: Option<PathBuf>,
    network: Arc<Network>,
    line: Line,
}

impl Runtime {
    /// Prepares to ask; none listens for a root that is not this machine.
    pub(crate) fn new(socket: Option<PathBuf>, network: Arc<Network>) -> Self {
        Self {
            socket,
            network,
            line: Line::default(),
        }
    }

    /// Returns where it listens.
    pub(super) fn socket(&self) -> Option<&Path> {
        self.socket.as_deref()
    }

    /// Lists all containers; none if no runtime answers.
    pub(super) fn containers(&self, stop: &StopHandle) -> HostResult<Option<Vec<ContainerStatus>>> {
        self.ask("list the containers of", QUESTION, stop, containers)
    }

    /// Lists the references of all images; none if no runtime answers.
    pub(super) fn images(&self, stop: &StopHandle) -> HostResult<Option<Vec<String>>> {
        self.ask("list the images of", QUESTION, stop, images)
    }

    /// Counts the pods; none if no runtime answers.
    pub(super) fn pods(&self, stop: &StopHandle) -> HostResult<Option<usize>> {
        let count = async |channel| {
            let list: PodList = ask(&channel, LIST_PODS, Everything {}).await?;
            Ok(list.pods.len())
        };
        self.ask("list the pods of", QUESTION, stop, count)
    }

    /// Lists a process of each pod that runs, by the order of the runtime.
    pub(crate) fn pod_processes(&self, stop: &StopHandle) -> HostResult<Vec<u32>> {
        let found = self.ask("look at the pods of", QUESTION, stop, pod_processes)?;
        Ok(found.unwrap_or_default())
    }

    /// Stops and removes the pods that are there now.
    pub(super) fn remove_pods(&self, within: Duration, stop: &StopHandle) -> HostResult<()> {
        self.ask("remove the pods of", within, stop, remove_pods)?;
        Ok(())
    }

    /// Removes an image under all its names.
    pub(super) fn remove_image(
        &self,
        reference: &str,
        within: Duration,
        stop: &StopHandle,
    ) -> HostResult<()> {
        let image = Some(ImageReference {
            reference: reference.to_owned(),
        });
        let remove = async |channel| {
            let Nothing {} = ask(&channel, REMOVE_IMAGE, RemoveImage { image }).await?;
            Ok(())
        };
        self.ask("remove an image from", within, stop, remove)?;
        Ok(())
    }

    /// Asks the runtime; none if there is none or it does not answer in time.
    fn ask<T>(
        &self,
        act: &'static str,
        within: Duration,
        stop: &StopHandle,
        question: impl AsyncFnOnce(Channel) -> Result<T, Status>,
    ) -> HostResult<Option<T>> {
        let Some(socket) = self.socket.as_ref().filter(|socket| socket.exists()) else {
            return Ok(None);
        };
        let question = async { question(self.line.open(socket)?).await };
        match self.network.wait_for(question, within, stop)? {
            Some(Ok(answer)) => Ok(Some(answer)),
            Some(Err(status)) if is_silence(&status) => Ok(None),
            Some(Err(status)) => {
                let why = std::io::Error::other(words(&status));
                Err(refused(
                    act,
                    format!("the runtime at {}", socket.display()),
                    why,
                ))
            }
            None => Ok(None),
        }
    }
}

async fn containers(channel: Channel) -> Result<Vec<ContainerStatus>, Status> {
    let pods: PodList = ask(&channel, LIST_PODS, Everything {}).await?;
    let named = pods
        .pods
        .into_iter()
        .filter_map(|pod| Some((pod.id, pod.name?)));
    let pods: BTreeMap<String, PodName> = named.collect();
    let list: ContainerList = ask(&channel, LIST_CONTAINERS, Everything {}).await?;
    let questions = list
        .containers
        .into_iter()
        .map(|it| container(&channel, &pods, it));
    let mut answers = stream::iter(questions).buffer_unordered(AT_ONCE);
    let mut found = Vec::new();
    while let Some(answer) = answers.next().await {
        found.extend(answer?);
    }
    found.sort_by(|a, b| (&a.pod, &a.name, a.attempt).cmp(&(&b.pod, &b.name, b.attempt)));
    Ok(found)
}

/// Asks for a container; none if it was removed meanwhile.
async fn container(
    channel: &Channel,
    pods: &BTreeMap<String, PodName>,
    listed: Container,
) -> Result<Option<ContainerStatus>, Status> {
    let by_id = ById { id: listed.id };
    let answer: ContainerAnswer = match ask(channel, CONTAINER_STATUS, by_id).await {
        Err(status) if status.code() == Code::NotFound => return Ok(None),
        answer => answer?,
    };
    let Some(status) = answer.status else {
        return Ok(None);
    };
    let pod = pods.get(&listed.pod).cloned().unwrap_or_default();
    let state = match status.state() {
        State::Created => ContainerState::Created,
        State::Running => ContainerState::Running,
        State::Unknown => ContainerState::Unknown,
        State::Exited => ContainerState::Exited {
            code: status.exit_code,
            reason: match (status.reason, status.message) {
                (reason, message) if message.is_empty() => reason,
                (reason, message) => format!("{reason}: {message}"),
            },
        },
    };
    let name = status.name.unwrap_or_default();
    Ok(Some(ContainerStatus {
        id: status.id,
        pod: (pod.namespace, pod.name),
        name: name.name,
        attempt: name.attempt,
        state,
        log: status.log,
    }))
}

async fn pod_processes(channel: Channel) -> Result<Vec<u32>, Status> {
    let list: PodList = ask(&channel, LIST_PODS, Everything {}).await?;
    let questions = list.pods.into_iter().map(async |pod| {
        let in_detail = PodInDetail {
            id: pod.id,
            verbose: true,
        };
        match ask::<_, PodDetails>(&channel, POD_STATUS, in_detail).await {
            Err(status) if status.code() == Code::NotFound => Ok(None),
            details => details.map(|details| process_of(&details)),
        }
    });
    let mut answers = stream::iter(questions).buffered(AT_ONCE);
    let mut found = Vec::new();
    while let Some(answer) = answers.next().await {
        found.extend(answer?);
    }
    Ok(found)
}

/// Reads the process that holds a pod's namespaces; one that has ended has none.
fn process_of(details: &PodDetails) -> Option<u32> {
    let notes: serde_json::Value = serde_json::from_str(details.info.get("info")?).ok()?;
    let process = u32::try_from(notes.get("pid")?.as_u64()?).ok()?;
    (process > 0).then_some(process)
}

async fn images(channel: Channel) -> Result<Vec<String>, Status> {
    let list: ImageList = ask(&channel, LIST_IMAGES, Everything {}).await?;
    let images = list.images.into_iter();
    let mut references: Vec<String> = images
        .flat_map(|it| [it.tags, it.digests])
        .flatten()
        .collect();
    references.sort_unstable();
    references.dedup();
    Ok(references)
}

/// Stops and removes the pods, all of them before it tells of the first that could not be.
async fn remove_pods(channel: Channel) -> Result<(), Status> {
    let list: PodList = ask(&channel, LIST_PODS, Everything {}).await?;
    let removals = list.pods.into_iter().map(async |pod| {
        let Nothing {} = ask(&channel, STOP_POD, ById { id: pod.id.clone() }).await?;
        let Nothing {} = ask(&channel, REMOVE_POD, ById { id: pod.id }).await?;
        Ok(())
    });
    let mut removals = stream::iter(removals).buffer_unordered(AT_ONCE);
    let mut result = Ok(());
    while let Some(removal) = removals.next().await {
        if let Err(status) = removal {
            result = Err(status);
        }
    }
    result
}
