//! What the fuzzer runs: each body takes bytes, and panics if something is wrong.
//!
//! [`text`]: every parser answers or refuses any text, a refusal points into the text, and what was read prints and reads
//! again as the same thing. [`algebra`]: operations on layouts made from the bytes, strided against
//! linear against brute force by points. `passes`: programs made from the bytes through passes in
//! any order and with any fuel, judged by the semantic checker of `tests/passes`. [`kernels`]:
//! whole compilations in used storage, judged by the library's checkers. `tests/short.rs` runs all
//! bodies for a few seconds on fixed numbers; `libfuzzer/` (a workspace of its own) runs them under
//! libFuzzer: `cargo +nightly fuzz run cute --fuzz-dir tests/fuzz/libfuzzer`.

pub mod algebra;
pub mod kernels;
pub mod random;
pub mod text;

pub use lanebook_pass_tests::judge::fuzz as passes;

/// A body: panics on a fault.
pub type Body = fn(&[u8]);

/// All bodies by name, as the libFuzzer targets are called.
pub const BODIES: [(&str, Body); 10] = [
    ("tile_ir", text::tile_ir),
    ("cute", text::cute),
    ("tirx", text::tirx),
    ("tileas", text::tileas),
    ("ttg", text::ttg),
    ("basis", text::basis),
    ("strided", algebra::strided),
    ("linear", algebra::linear),
    ("passes", passes),
    ("compile", kernels::compile),
];
