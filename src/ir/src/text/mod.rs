//! Text to program, and back.

pub(crate) mod lexer;
#[doc(hidden)]
pub mod parse;
pub(crate) mod parse_attr;
pub(crate) mod parse_labels;
pub(crate) mod parse_more;
pub(crate) mod parse_nest;
pub(crate) mod parse_op;
pub(crate) mod parse_type;
#[doc(hidden)]
pub mod print;
pub(crate) mod print_type;
