//! All tests of the command, in one program: it is linked once, and its tests share the
//! cores. Those of a file: `cargo test -p lanebook-cli ask::`.
#![allow(missing_docs)]

mod ask;
mod asks;
mod assembled;
mod bad_input;
mod check;
mod contract;
mod convert;
mod courses;
mod families;
mod formats;
mod golden;
mod guide;
mod infer;
mod invented;
mod launch;
mod lint;
mod manual;
mod opt;
mod prove;
mod readback;
mod skeleton;
mod support;
