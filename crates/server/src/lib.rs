//! The machine config server: answers machines that boot for the first time.
//!
//! | modules | what they do |
//! |---|---|
//! | `accept`, `rendered`, `layered`, `tokens`, `throttle`, `problem`, `yaml` | decisions about texts; pure |
//! | `folder`, `cluster`, `disk`, `reload`, `audit`, `tls` | one neighbour each |
//! | `pools`, `source`, `name` | all that a pool's config is made of |
//! | `cache` | what was rendered, as long as it holds |
//! | `progress` | who is where |
//! | `answer`, `reply`, `status`, `metrics` | from a request to its answer |
//! | `page` | what people see: what is served, explained, and who is where |
//! | `listen`, `shares`, `bare`, `patience`, `turn`, `stop` | connections, and how they end |
//! | `site`, `server` | everything together |

mod accept;
mod answer;
mod audit;
mod bare;
mod cache;
mod cluster;
mod disk;
mod folder;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod layered;
mod limits;
mod listen;
mod log;
mod metrics;
mod name;
mod page;
mod patience;
mod pools;
mod problem;
mod progress;
mod reload;
mod rendered;
mod reply;
mod server;
mod shares;
mod sight;
mod site;
mod source;
mod status;
mod stop;
mod throttle;
mod tls;
mod tokens;
mod turn;
mod yaml;

pub use cluster::ClusterAccess;
pub use limits::Limits;
pub use log::Log;
pub use server::{Access, Options, PoolsFrom, Server, run};
pub use stop::Stop;
