//! Speed and size of lanebook, each figure beside a reference: another way measured in the same run, or a peer's published
//! figure with its source.
//!
//! [`report()`] measures everything. Times are printed and never asserted; instruction counts are exact, and
//! `tests/claims.rs` holds them against Triton's.

pub mod address;
pub mod algebra;
mod clock;
pub mod lookup;
pub mod passes;
pub mod report;
pub mod room;
pub mod size;
pub mod whole;

pub use clock::Effort;
pub use report::{Report, Row};

/// The example programs, by name.
pub const EXAMPLES: [(&str, &str); 2] =
    [("gemm", include_str!("../../../gen/cli/examples/gemm.tile")), ("transpose", include_str!("../../../gen/cli/examples/transpose.tile"))];

/// Every figure, section by section.
#[must_use]
pub fn report(effort: Effort) -> Report {
    let mut report = Report::new(effort);
    lookup::measure(&mut report);
    algebra::measure(&mut report);
    whole::measure(&mut report);
    passes::measure(&mut report);
    room::measure(&mut report);
    size::measure(&mut report);
    address::measure(&mut report);
    report
}
