//! What goes between lanes and warps.

pub(crate) mod part;
pub(crate) mod shape;
pub(crate) mod shuffle;
