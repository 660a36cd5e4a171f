//! The lab: real Kubernetes, its images and the root of real machines, made from pinned sources.
//!
//! `lab prepare` makes what is missing and keeps it in a cache outside of `target/`, each product in a
//! folder named by what it is made from. [`Lab::load`] says where everything is.
//!
//! | module | makes |
//! |---|---|
//! | `packages` | Debian packages on this computer |
//! | `programs` | Kubernetes, etcd, CoreDNS; Ignition and the conformance specs, where they are wanted |
//! | `base` | the root of every machine |
//! | `busybox` | the programs of the image for sample applications |
//! | `layer`, `oci`, `libraries`, `image_root`, `images` | images, without a daemon |
//! | `test_images` | the images that conformance specs run |
//! | `payload` | the release: manifests and images that name each other by digest |
//! | `store` | containerd's disk with all images in it, shared by new machines |
//! | `prepare`, `ready` | all of that in order; the record of where it is |
//! | `cache`, `key`, `sources` | what is whole and what it was made from |
//! | `program`, `progress`, `files` | running, telling, reading and writing |

#![expect(
    clippy::disallowed_methods,
    reason = "the lab prepares this computer for tests; it is never shipped and no step of it is journalled"
)]

mod base;
mod busybox;
mod cache;
mod error;
mod files;
mod image_root;
mod images;
mod key;
mod layer;
mod libraries;
mod oci;
mod packages;
mod payload;
mod prepare;
mod program;
mod programs;
mod progress;
mod ready;
mod sources;
mod store;
mod test_images;

pub use error::LabError;
pub use prepare::{Wanted, prepare};
pub use ready::{ConformanceSuite, IgnitionPrograms, Lab, ProgramFolders};
