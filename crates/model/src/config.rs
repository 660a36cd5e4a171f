//! From what people write to settings that steps can trust.
//!
//! ```text
//! texts ──fragments──▶ trees ──merged──▶ one tree ──shape──▶ document ──validate──▶ settings
//! ```
//!
//! Up to the last stage every value knows the file, line and column it was written at, so that
//! each error can name them. Nothing is guessed, and no mistake hides another: a stage reports
//! everything that it finds.

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
mod settings;
mod shape;
#[cfg(test)]
mod tests;
mod tree;
mod validate;
mod yaml;

pub use cidr::Cidr;
pub use defaults::print_defaults;
pub use fragments::FragmentText;
pub use machine_config_server::MachineConfigServer;
pub use nearest::nearest;
pub use placement::{Placement, Ports};
pub use rendering::{RendererImage, RenderingSettings};
pub use schema::schema;
pub use settings::{
    CgroupDriver, ClusterSettings, ControlPlane, Endpoint, IgnitionSettings, Network, NodeSettings,
    Paths, PkiSettings, Profile, ReleaseSource, Settings,
};

use crate::fault::Fault;

/// Reads texts, in the order given, into settings; later texts win. Without texts the defaults hold.
pub fn load(fragments: &[FragmentText<'_>], paths: Paths) -> Result<Settings, Fault> {
    let (mut trees, mut findings) = (vec![], vec![]);
    for (number, fragment) in fragments.iter().enumerate() {
        match fragments::parse(number, fragment) {
            Ok(parsed) => trees.extend(parsed),
            Err(found) => findings.extend(found),
        }
    }
    if let Some(fault) = findings::fault(findings) {
        return Err(fault);
    }
    let Some(mut tree) = trees.into_iter().reduce(merged::merge) else {
        return Ok(Settings::defaults(paths));
    };
    merged::settle(&mut tree);
    let document = shape::read(tree.clone())?;
    validate::validate(&document, &tree, paths)
}
