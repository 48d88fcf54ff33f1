//! What the types of the Rust API must refuse, case by case (`cases`); the test does it all.
#![no_std]
