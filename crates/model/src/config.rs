//! From what people write to settings that steps can trust.
//!
//! ```text
//! texts ──fragments──▶ trees ──merged──▶ one tree ──shape──▶ document ──validate──▶ settings
//! ```
//!
//! Up to the last stage every value knows the file, line and column it was written at, so that
//! each error can name them. Nothing is guessed, and no mistake hides another: what a stage cannot
//! use is reported and taken out, and the next stage looks at the rest.

mod cidr;
mod defaults;
mod document;
mod findings;
mod fragments;
mod grammar;
mod machine_config_server;
mod merged;
mod nearest;
mod placement;
mod rendering;
mod schema;
mod security;
mod settings;
mod shape;
#[cfg(test)]
mod tests;
mod tree;
mod validate;
mod yaml;

use std::time::Duration;

pub use cidr::Cidr;
pub use defaults::print_defaults;
pub use fragments::FragmentText;
pub use machine_config_server::MachineConfigServer;
pub use nearest::nearest;
pub use placement::{Placement, Ports};
pub use rendering::{RendererImage, RenderingSettings};
pub use schema::schema;
pub use security::{SecurityProfile, SecuritySettings};
pub use settings::{
    CgroupDriver, ClusterSettings, ControlPlane, Endpoint, IgnitionSettings, Network, NodeSettings,
    Paths, PkiSettings, Profile, ReleaseSource, Settings,
};

use crate::fault::Fault;

/// Reads a duration such as `90s` or `5m`, or says what is wrong with it and what to write.
pub fn duration(text: &str) -> Result<Duration, String> {
    grammar::duration::duration(text)
        .map_err(|problem| format!("it {}; {}", problem.what, problem.hint))
}

/// Reads texts, in the order given, into settings; later texts win. Without texts the defaults hold.
pub fn load(fragments: &[FragmentText<'_>], paths: Paths) -> Result<Settings, Fault> {
    let (mut trees, mut findings) = (vec![], vec![]);
    for (number, fragment) in fragments.iter().enumerate() {
        trees.extend(fragments::parse(number, fragment, &mut findings));
    }
    let Some(mut tree) = trees.into_iter().reduce(merged::merge) else {
        let defaults = Settings::defaults(paths);
        return findings::fault(findings).map_or(Ok(defaults), Err);
    };
    merged::settle(&mut tree);
    let document = shape::read(&mut tree, &mut findings)?;
    validate::validate(&document, &tree, paths, findings)
}
