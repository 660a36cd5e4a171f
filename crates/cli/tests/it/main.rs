//! The program as people call it, in an environment of its own.

mod completions;
mod config;
mod errors;
mod explain;
mod help;
mod normal;
mod program;
mod streams;
mod verbs;
