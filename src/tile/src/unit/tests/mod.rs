//! Tests of matrix units against the compiled tables.
pub(crate) mod descriptor;
pub(crate) mod map;
pub(crate) mod moves;
pub(crate) mod operand;
pub(crate) mod tensor;

use lanebook::TABLES;
use lanebook_tables::Arch;

fn arch(name: &str) -> &'static Arch<'static> {
    TABLES.arch(TABLES.arch_named(name).unwrap()).unwrap()
}
