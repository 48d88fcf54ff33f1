//! All tests of the replay, in one program: it is linked once, and its tests share the
//! cores. Those of a file: `cargo test -p lanebook-replay amdgcn::`.
#![allow(missing_docs)]

mod amdgcn;
mod common;
mod gemm;
mod global;
mod hazards;
mod ptx;
mod speed;
mod tensor;
