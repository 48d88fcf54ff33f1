//! See [`lanebook_fuzz::compile`].
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| lanebook_fuzz::kernels::compile(data));
