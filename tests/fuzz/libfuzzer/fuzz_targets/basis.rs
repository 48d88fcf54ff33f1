//! See [`lanebook_fuzz::text::basis`].
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| lanebook_fuzz::text::basis(data));
