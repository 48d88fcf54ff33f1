//! Synchronisation along every walk through the steps.

pub(crate) mod accesses;
pub(crate) mod handover;
pub(crate) mod mbarrier;
pub(crate) mod place;
pub(crate) mod progress;
pub(crate) mod ring;
pub(crate) mod stages;
pub(crate) mod walks;
pub(crate) mod ways;
