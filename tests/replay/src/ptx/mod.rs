//! PTX: parse a module, run one block of it.

mod alu;
mod bulk;
mod decode;
mod decode_memory;
mod fragment;
mod lane;
mod matrix;
mod op;
mod parse;
mod phase;
mod register;
mod run;
mod scaled;
mod tensor;
mod text;
mod tmem;
mod transfer;
mod unit;

pub(crate) use op::Program;
pub(crate) use parse::parse;
pub(crate) use run::run_block;
