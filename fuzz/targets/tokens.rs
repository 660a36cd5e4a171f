//! The `Authorization` header, the node and the tokens file of the config server.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bootlace_server::fuzzing::token(input));
