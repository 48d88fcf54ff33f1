//! Arithmetic that attributes say in words of their own: the blocks of a launch, the map of
//! `affine.apply`.
pub(crate) mod affine;
pub(crate) mod grid;
