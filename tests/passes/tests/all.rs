//! All tests of passes, in one program: it is linked once, and its tests share the
//! cores. Those of a file: `cargo test -p lanebook-pass-tests agents::`.
#![allow(missing_docs)]

mod agents;
mod alias;
mod anchors;
mod assign;
mod beside;
mod conversions;
mod dead_args;
mod defaults;
mod encodings;
mod limits;
mod meaning;
mod pragmas;
mod printed;
mod products;
mod seed;
mod slice;
mod texts;
mod triton;
