//! Single wrong facts planted in the tables, and what the audit says of each.
//!
//! [`facts`] finds every value of the tables that a reader could get wrong and says of what kind it
//! is; [`change`] makes it another one of the same form; [`judge`] compiles the tables with that one
//! difference and runs the audit, as `lanebook check --deny warnings` does; [`report`] counts by
//! kind and lists what was not caught.
//!
//! A wrong fact that changes nothing that is built from the tables is no mistake that an audit
//! could find: such survivors are counted apart, with the reason.
//!
//! [`algebra`] plants bugs in the code of `src/layout` instead, and asks the oracle runner and the
//! unit tests.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod algebra;
pub mod change;
pub mod facts;
pub mod judge;
pub mod knowledge;
pub mod misreadings;
pub mod omissions;
pub mod report;
pub mod seed;
pub mod slips;
mod walk;
