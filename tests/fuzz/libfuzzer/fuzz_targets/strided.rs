//! See [`lanebook_fuzz::algebra::strided`].
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| lanebook_fuzz::algebra::strided(data));
