//! See [`lanebook_fuzz::text::tileas`].
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| lanebook_fuzz::text::tileas(data));
