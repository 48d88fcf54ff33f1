//! See [`lanebook_fuzz::text::tile_ir`].
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| lanebook_fuzz::text::tile_ir(data));
