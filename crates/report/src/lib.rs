//! Records, views and events for people: everything that this tool shows is worded here.
//!
//! Rendering is pure: a view and a [`style::Style`] go in, a text comes out. The one exception is
//! [`progress`], which owns stderr while a run is under way.
//!
//! | module | what it shows |
//! |---|---|
//! | [`explain`], [`plan`], [`status`], [`runs`], [`log`], [`verify`], [`undo`], [`pki`] | the output of the command of that name |
//! | [`fault`], [`next`] | what went wrong, and what to type next |
//! | [`progress`] | what happens right now |
//! | [`output`] | any view as JSON or YAML |
//! | [`style`], [`theme`] | colours, symbols and widths, by meaning |
//!
//! What a program or a file contributed to a text is never obeyed as a control sequence.

pub mod benchmark;
pub mod explain;
pub mod fault;
pub mod ignition;
pub mod log;
pub mod next;
pub mod outline;
pub mod output;
mod page;
pub mod pki;
pub mod plan;
pub mod progress;
pub mod runs;
pub mod status;
pub mod style;
pub mod theme;
pub mod undo;
pub mod verify;
mod words;

pub use words::{count, duration};

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
