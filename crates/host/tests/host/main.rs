//! What the real host does to this computer, seen through the port.
#![expect(
    clippy::disallowed_methods,
    reason = "the world is set up and looked at by other means than the code under test"
)]

#[cfg(test)]
mod api;
#[cfg(test)]
mod apply;
#[cfg(test)]
mod attributes;
#[cfg(test)]
mod dir;
#[cfg(test)]
mod exec;
#[cfg(test)]
mod http;
#[cfg(test)]
mod lock;
#[cfg(test)]
mod log;
#[cfg(test)]
mod products;
#[cfg(test)]
mod real_api;
#[cfg(test)]
mod runtime;
#[cfg(test)]
mod server;
#[cfg(test)]
mod sync;
#[cfg(test)]
mod units;
#[cfg(test)]
mod world;
