//! Arithmetic: of operations on indices, and that which attributes say in words of their own, the
//! blocks of a launch and the map of `affine.apply`.
pub(crate) mod affine;
pub(crate) mod grid;
pub(crate) mod index_expr;
pub(crate) mod leads;
