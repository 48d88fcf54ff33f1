//! See [`lanebook_fuzz::algebra::linear`].
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| lanebook_fuzz::algebra::linear(data));
