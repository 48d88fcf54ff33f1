//! AMDGCN: parse a text, run one workgroup of it.

mod between;
mod decode;
mod decode_memory;
mod decode_vector;
mod expression;
mod hazard;
mod lds;
mod matrix;
mod names;
mod objection;
mod op;
mod run;
mod scalar_table;
mod scaled;
mod text;
mod tracked;
mod transpose;
mod vector;
mod vector_table;
mod vmem;
mod wave;
mod wmma;

pub(crate) use decode::parse;
pub(crate) use op::Program;
pub(crate) use run::run_block;
