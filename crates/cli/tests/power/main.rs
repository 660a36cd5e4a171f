//! Power cuts, failing syncs and full disks, on real filesystems below the real program.
//!
//! What a power cut leaves is made from a record of all that reached the disk; see
//! [`bootlace_testkit::disk`]. These tests need root and `/dev/fuse`, and are skipped without them.
//! They fail without the programs that the Makefile lists.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test drives the program from outside, and may fail loudly"
)]

mod cuts;
mod failing;
mod full;
mod left_out;
mod promises;
mod recording;
mod world;
