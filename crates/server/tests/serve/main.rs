//! The server as machines see it: over TLS, on 127.0.0.1, from folders and files of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod browser;
mod changes;
mod client;
mod cluster;
mod connections;
mod faults;
mod keep;
mod oracle;
mod page;
mod progress;
mod recorded;
mod reload;
mod table;
mod tokens;
mod world;
