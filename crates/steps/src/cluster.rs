//! The sequence `cluster`: from an empty asset folder to a cluster that stands by itself.
//!
//! The order in the table below is the only place where it is written. `--pause` walks it line by
//! line; without it, a step runs as soon as the steps that it needs are verified:
//!
//! ```text
//! 1  prepare-assets (a)    copy-manifests (m)    release-info (r)
//! 2  render-api: m r       render-kube-scheduler: a r       render-ingress: m r
//! 3  render-auth: a r   render-config: a r   render-version-operator: a m r
//!    render-etcd: a r   render-kube-controller-manager: a r          all need render-api, too
//! 4  render-kube-apiserver: a r, render-etcd    render-machine-config: a m r, render-config
//!              └────────────────────┬───────────────────────┘
//! 5                        start-control-plane
//!                      ┌────────────┴───────────┐
//! 6            restore-overrides            verify-api
//!                      └──────┐   ┌─────────────┤
//! 7             wait-version-operator      wait-masters
//!                             │         ┌───────┴────────┬─────────────────┐
//! 8                           │     wait-etcd   wait-control-plane       add-ons
//!                             └─────────┴────┬───────────┘                 │
//! 9                                      hand-over                         │   the point of no return
//!                                            └──────────────┬──────────────┘
//! 10                                                   clean-assets
//! ```
//!
//! `bootkube.sh` walks the same way strictly one after the other. What really flows between its
//! renders is the growing manifests folder with the feature gates in it, etcd's certificates, the
//! config that machine configs are made from, and the names of the images: those are the edges.

mod add_ons;
pub(crate) mod clean_assets;
mod encryption;
mod handover;
mod kubeconfig;
mod live;
pub mod pki;
pub mod pointer;
mod prepare_assets;
mod s01_copy_manifests;
mod s02_release_info;
mod s03_render_api;
mod s04_render_auth;
mod s05_render_config;
mod s06_render_version_operator;
mod s07_render_etcd;
mod s08_render_kube_apiserver;
mod s09_render_kube_controller_manager;
mod s10_render_kube_scheduler;
mod s11_render_ingress;
mod s12_render_machine_config;
mod s13_start_control_plane;
mod s14_restore_overrides;
mod s15_verify_api;
mod wait_control_plane;
mod wait_etcd;
mod wait_masters;
mod wait_version_operator;

use bootlace_model::config::{Profile, Settings};
use bootlace_model::fault::Fault;
use bootlace_model::step::Sequence;
use serde::Serialize;

/// The sequence's name.
pub(crate) const NAME: &str = "cluster";

/// The sequence.
pub(crate) const SEQUENCE: Sequence = Sequence {
    name: NAME,
    about: "Brings a cluster to life: assets, a first control plane, the hand-over, the add-ons.",
    steps: &[
        &prepare_assets::PrepareAssets,
        &s01_copy_manifests::CopyManifests,
        &s02_release_info::ReleaseInfo,
        &s03_render_api::STEP,
        &s04_render_auth::STEP,
        &s05_render_config::STEP,
        &s06_render_version_operator::STEP,
        &s07_render_etcd::STEP,
        &s08_render_kube_apiserver::STEP,
        &s09_render_kube_controller_manager::STEP,
        &s10_render_kube_scheduler::STEP,
        &s11_render_ingress::STEP,
        &s12_render_machine_config::STEP,
        &s13_start_control_plane::STEP,
        &s14_restore_overrides::STEP,
        &s15_verify_api::STEP,
        &wait_masters::STEP,
        &wait_etcd::STEP,
        &wait_control_plane::STEP,
        &wait_version_operator::STEP,
        &handover::STEP,
        &add_ons::STEP,
        &clean_assets::STEP,
    ],
    failures: crate::failures::FAILURES,
    replaced_later: &[crate::render::ENCRYPTION],
};

/// What a cluster of profile `kubernetes` accepts and does not do, in one line.
const LIMITS: &str = "Note: NetworkPolicy is not enforced, and there is no StorageClass and no \
                      metrics API (docs/guide/what-it-does-not-have.md).";

/// Returns what to say of a cluster that was handed over, beside that all is well.
pub fn limits(settings: &Settings, steps: &[&str]) -> Option<&'static str> {
    let is_plain = settings.cluster.profile == Profile::Kubernetes;
    (is_plain && steps.contains(&handover::STEP.name)).then_some(LIMITS)
}

/// Writes a record of the asset folder: JSON for people and for `jq`, the same every time.
pub(crate) fn record(value: &impl Serialize) -> Result<String, Fault> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Fault::internal(format!("a record cannot be written: {error}")))?;
    Ok(text + "\n")
}
