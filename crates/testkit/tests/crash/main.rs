//! Everything that must hold whatever happens, over all sequences, against a machine in memory.

mod failures;
mod interleavings;
mod resume;
mod twice;
mod undo;

use bootlace_testkit::crash::Sample;

/// Ends a test with what was tried, or with what went wrong.
fn end(sample: Sample) {
    match sample.end() {
        Ok(tried) => println!("{tried}"),
        Err(wrong) => panic!("{wrong}"),
    }
}
