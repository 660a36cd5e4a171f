//! The command line of bootlace.
fn main() {}
