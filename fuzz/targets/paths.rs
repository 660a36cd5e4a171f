//! The path of a request to the config server.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bootlace_server::fuzzing::path(input));
