//! Starts pods as kubelet does: this much more of the runtime's interface only tests need.

use std::path::Path;

use prost::Message;
use tonic::transport::{Channel, Endpoint};
use tonic_prost::ProstCodec;

use super::BUSYBOX;

#[derive(Clone, PartialEq, Message)]
struct RunPod {
    #[prost(message, optional, tag = "1")]
    config: Option<PodConfig>,
}

#[derive(Clone, PartialEq, Message)]
struct PodConfig {
    #[prost(message, optional, tag = "1")]
    name: Option<PodName>,
    #[prost(string, tag = "3")]
    logs: String,
    #[prost(message, optional, tag = "8")]
    linux: Option<Linux>,
}

#[derive(Clone, PartialEq, Message)]
struct PodName {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    uid: String,
    #[prost(string, tag = "3")]
    namespace: String,
}

#[derive(Clone, PartialEq, Message)]
struct Linux {
    #[prost(message, optional, tag = "2")]
    security: Option<Security>,
}

#[derive(Clone, PartialEq, Message)]
struct Security {
    #[prost(message, optional, tag = "1")]
    namespaces: Option<Namespaces>,
}

#[derive(Clone, PartialEq, Message)]
struct Namespaces {
    /// 2 is the machine's own, for which no network has to be made.
    #[prost(int32, tag = "1")]
    network: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Id {
    #[prost(string, tag = "1")]
    id: String,
}

#[derive(Clone, PartialEq, Message)]
struct Create {
    #[prost(string, tag = "1")]
    pod: String,
    #[prost(message, optional, tag = "2")]
    config: Option<ContainerConfig>,
    #[prost(message, optional, tag = "3")]
    pod_config: Option<PodConfig>,
}

#[derive(Clone, PartialEq, Message)]
struct ContainerConfig {
    #[prost(message, optional, tag = "1")]
    name: Option<Id>,
    #[prost(message, optional, tag = "2")]
    image: Option<Id>,
    #[prost(string, repeated, tag = "3")]
    command: Vec<String>,
    #[prost(string, tag = "11")]
    log: String,
}

pub(super) struct Pod {
    runtime: tokio::runtime::Runtime,
    channel: Channel,
    config: PodConfig,
    id: String,
}

impl Pod {
    /// Runs a pod without containers, in the network of this machine.
    pub(super) fn run(socket: &Path, logs: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let endpoint = Endpoint::try_from(format!("unix://{}", socket.display())).unwrap();
        let channel = runtime.block_on(async { endpoint.connect_lazy() });
        let namespaces = Some(Namespaces { network: 2 });
        let config = PodConfig {
            name: Some(PodName {
                name: "pod".into(),
                uid: "1".into(),
                namespace: "demo".into(),
            }),
            logs: logs.to_str().unwrap().into(),
            linux: Some(Linux {
                security: Some(Security { namespaces }),
            }),
        };
        let mut pod = Self {
            runtime,
            channel,
            config: config.clone(),
            id: String::new(),
        };
        let config = Some(config);
        let Id { id } = pod.ask("RunPodSandbox", RunPod { config });
        pod.id = id;
        pod
    }

    /// Starts a container.
    pub(super) fn start(&self, name: &str, command: &[&str]) {
        let id = |id: &str| Some(Id { id: id.into() });
        let config = ContainerConfig {
            name: id(name),
            image: id(BUSYBOX),
            command: command.iter().map(|&word| word.into()).collect(),
            log: format!("{name}.log"),
        };
        let create = Create {
            pod: self.id.clone(),
            config: Some(config),
            pod_config: Some(self.config.clone()),
        };
        let made: Id = self.ask("CreateContainer", create);
        let Id { .. } = self.ask("StartContainer", made);
    }

    fn ask<Q, A>(&self, method: &str, question: Q) -> A
    where
        Q: Message + Default + 'static,
        A: Message + Default + 'static,
    {
        let path = format!("/runtime.v1.RuntimeService/{method}");
        self.runtime.block_on(async {
            let mut client = tonic::client::Grpc::new(self.channel.clone());
            client.ready().await.unwrap();
            let codec: ProstCodec<Q, A> = ProstCodec::default();
            let question = tonic::Request::new(question);
            let answer = client.unary(question, path.parse().unwrap(), codec).await;
            answer.unwrap().into_inner()
        })
    }
}
