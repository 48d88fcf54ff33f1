//! Exact bank conflicts of one access of a warp (being written).
