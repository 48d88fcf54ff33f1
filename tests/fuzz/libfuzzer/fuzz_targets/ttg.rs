//! See [`lanebook_fuzz::text::ttg`].
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| lanebook_fuzz::text::ttg(data));
