//! See [`lanebook_fuzz::passes`].
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| lanebook_fuzz::passes(data));
