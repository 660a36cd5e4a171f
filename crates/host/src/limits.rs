//! How much the kernel grants this process.

use rustix::process::{Resource, Rlimit};

/// Lets this process have as many files open as it may; what cannot be had is left.
///
/// Folders stay open while something is done in them, and a config may name thousands.
pub fn open_many_files() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let wanted = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if limit.current != limit.maximum {
        // Without more there are still those that everybody has.
        let _ = rustix::process::setrlimit(Resource::Nofile, wanted);
    }
}
