//! The program as people call it, in an environment of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod apply;
mod assets;
mod completions;
mod config;
mod errors;
mod explain;
mod help;
mod ignition;
mod normal;
mod old_journals;
mod program;
mod render;
mod rotation;
mod samples;
mod scripts;
mod security;
mod serve;
mod streams;
mod swapped;
mod verbs;
