//! What goes between the lanes of a warp, and what lanes hold by their number.

pub(crate) mod full;
pub(crate) mod reduce;
pub(crate) mod shuffle;
