//! What goes between the lanes of a warp.

pub(crate) mod reduce;
pub(crate) mod shuffle;
