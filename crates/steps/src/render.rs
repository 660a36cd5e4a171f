//! Built-in renderers for profile `kubernetes`: what an operator's `render` would write.
//!
//! A renderer is a pure function from [`RenderInput`] to files. A stage of the sequence `cluster`
//! turns those files into effects; `bootlace render COMPONENT` writes the same bytes into a folder,
//! called like an operator's own command. So a stage does not care who renders.
//!
//! | module | renders |
//! |---|---|
//! | `api` | the first API server's pod, and the definitions of our kinds |
//! | `auth` | who may ask the new API for what, and where a joining machine learns whom to trust |
//! | `config` | the cluster's facts as objects, and the kubelet's files |
//! | `version_operator` | the operator that holds the cluster to its release |
//! | `etcd`, `kube_*` | the static pods of the control plane |
//! | `ingress` | the class that an Ingress without one belongs to |
//! | `network_policies` | who may connect to the pods of the system namespaces |
//! | `machine_config` | what further machines are told at their first boot |

mod api;
mod auth;
mod component;
mod config;
mod content;
mod definitions;
mod etcd;
mod hardening;
mod ingress;
mod input;
mod kube_apiserver;
mod kube_controller_manager;
mod kube_scheduler;
mod kubelet;
mod machine_config;
mod network_policies;
mod objects;
mod places;
mod pod;
mod user;
mod version_operator;

pub use component::{Component, InputFolder};
pub(crate) use content::body_of;
pub use content::{Content, Publish, RenderedFile};
pub(crate) use hardening::CIPHERS;
pub use input::{ReleaseFacts, RenderInput};
pub(crate) use places::ENCRYPTION;
