//! A unit file: its `[Install]` section, and the links that enable it.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bootlace_engine::fuzzing::unit(input));
