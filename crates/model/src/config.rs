//! From what people write to settings that steps can trust.

mod nearest;
mod settings;

pub use nearest::nearest;
pub use settings::{
    Cidr, ClusterSettings, ControlPlane, Endpoint, Network, Paths, PkiSettings, Profile,
    ReleaseSource, Settings,
};
