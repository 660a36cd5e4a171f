//! What is said to the container runtime and by it: the used part of the CRI, version 1.
//!
//! Field numbers are those of the protocol; fields that nobody here reads are left out, which the
//! encoding allows.

/// Asks for all containers, or for all pods, or for all images.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct Everything {}

/// An answer in which nothing is of interest.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct Nothing {}

/// Names a pod or a container, in the first field.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct ById {
    #[prost(string, tag = "1")]
    pub(super) id: String,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct ContainerList {
    #[prost(message, repeated, tag = "1")]
    pub(super) containers: Vec<Container>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct Container {
    #[prost(string, tag = "1")]
    pub(super) id: String,
    #[prost(string, tag = "2")]
    pub(super) pod: String,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct ContainerName {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(uint32, tag = "2")]
    pub(super) attempt: u32,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct ContainerAnswer {
    #[prost(message, optional, tag = "1")]
    pub(super) status: Option<Status>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct Status {
    #[prost(string, tag = "1")]
    pub(super) id: String,
    #[prost(message, optional, tag = "2")]
    pub(super) name: Option<ContainerName>,
    #[prost(enumeration = "State", tag = "3")]
    pub(super) state: i32,
    #[prost(int32, tag = "7")]
    pub(super) exit_code: i32,
    #[prost(string, tag = "10")]
    pub(super) reason: String,
    #[prost(string, tag = "11")]
    pub(super) message: String,
    #[prost(string, tag = "15")]
    pub(super) log: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(super) enum State {
    Created = 0,
    Running = 1,
    Exited = 2,
    Unknown = 3,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct PodList {
    #[prost(message, repeated, tag = "1")]
    pub(super) pods: Vec<Pod>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct Pod {
    #[prost(string, tag = "1")]
    pub(super) id: String,
    #[prost(message, optional, tag = "2")]
    pub(super) name: Option<PodName>,
}

/// Asks for all that is known of a pod.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct PodInDetail {
    #[prost(string, tag = "1")]
    pub(super) id: String,
    #[prost(bool, tag = "2")]
    pub(super) verbose: bool,
}

/// What is known of a pod: the runtime's own notes, as JSON.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct PodDetails {
    #[prost(map = "string, string", tag = "2")]
    pub(super) info: std::collections::HashMap<String, String>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct PodName {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "3")]
    pub(super) namespace: String,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct ImageList {
    #[prost(message, repeated, tag = "1")]
    pub(super) images: Vec<Image>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct Image {
    #[prost(string, repeated, tag = "2")]
    pub(super) tags: Vec<String>,
    #[prost(string, repeated, tag = "3")]
    pub(super) digests: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct RemoveImage {
    #[prost(message, optional, tag = "1")]
    pub(super) image: Option<ImageReference>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct ImageReference {
    #[prost(string, tag = "1")]
    pub(super) reference: String,
}
