//! Tests of matrix units against the compiled tables.
mod descriptor;
mod map;
mod moves;
mod operand;
mod tensor;

use crate::TABLES;
use lanebook_tables::Arch;

fn arch(name: &str) -> &'static Arch<'static> {
    TABLES.arch(TABLES.arch_named(name).unwrap()).unwrap()
}
