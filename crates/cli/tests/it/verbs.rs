//! plan, run, verify, resume, undo, status, log and runs, on an empty root.

mod attach;
mod journey;
mod pause;
mod pki;
mod places;
mod rooted;
