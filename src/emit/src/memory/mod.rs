//! Copies and their addresses.

pub(crate) mod address;
pub(crate) mod advance;
pub(crate) mod combined;
pub(crate) mod copies_together;
pub(crate) mod exchange;
pub(crate) mod global_overlap;
pub(crate) mod guard;
pub(crate) mod indexed;
pub(crate) mod movement;
pub(crate) mod repeated_step;
pub(crate) mod scalar_stride;
pub(crate) mod tma;
pub(crate) mod transpose;
pub(crate) mod uniform_base;
