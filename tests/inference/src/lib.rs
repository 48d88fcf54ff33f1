//! TileLang's recorded programs, told to lanebook's inference, and the answers checked.

pub mod banks;
pub mod beside;
pub mod expr;
pub mod judge;
pub mod program;
pub mod random;
pub mod text;
pub mod unit;
