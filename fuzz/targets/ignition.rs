//! An Ignition config: parsed, validated, merged and translated.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bootlace_ignition::fuzzing::config(input));
