//! Speed and size of lanebook, each figure beside a reference: another way measured in the same
//! run, or a peer's published figure with its source.
//!
//! [`report()`] measures everything. Times are printed and never asserted; instruction counts are
//! exact, and `tests/claims.rs` holds them against Triton's.

pub mod address;
pub mod against;
pub mod algebra;
pub mod budget;
mod clock;
pub mod conversion_time;
pub mod conversions;
pub mod distinct;
pub mod growth;
pub mod inference;
pub mod lookup;
pub mod passes;
pub mod peer;
pub mod regions;
pub mod report;
pub mod room;
mod sass;
pub mod size;
mod slice;
pub mod whole;

pub use clock::Effort;
pub use report::{Report, Row};

/// The example programs, by name.
pub const EXAMPLES: [(&str, &str); 2] = [
    ("gemm", include_str!("../../../gen/cli/examples/gemm.tile")),
    ("transpose", include_str!("../../../gen/cli/examples/transpose.tile")),
];

/// Something large in a box, made on a stack that is large enough for it.
///
/// # Panics
/// If there is no thread to be had.
#[must_use]
pub fn boxed<T: Send + 'static>(make: fn() -> T) -> Box<T> {
    std::thread::Builder::new()
        .stack_size(128 << 20)
        .spawn(move || Box::new(make()))
        .expect("a thread")
        .join()
        .expect("it is made")
}

/// A part of the report.
pub type Part = (&'static str, fn(&mut Report));

/// The parts of the report, by name, in order.
pub const PARTS: [Part; 12] = [
    ("lookup", lookup::measure),
    ("algebra", algebra::measure),
    ("whole", whole::measure),
    ("conversion", conversion_time::measure),
    ("passes", passes::measure),
    ("growth", growth::measure),
    ("regions", regions::measure),
    ("distinct", distinct::measure),
    ("inference", inference::measure),
    ("room", room::measure),
    ("size", size::measure),
    ("address", address::measure),
];

/// Programs whose whole compile is measured: the examples, and two with reductions.
pub const COMPILED: [(&str, &str); 4] = [
    EXAMPLES[0],
    EXAMPLES[1],
    ("attention", include_str!("../../../gen/cli/examples/attention.tile")),
    ("layer_norm", include_str!("../../../gen/cli/examples/layer_norm.tile")),
];

/// Every figure, section by section.
#[must_use]
pub fn report(effort: Effort) -> Report {
    let mut report = Report::new(effort);
    for (_, measure) in PARTS {
        measure(&mut report);
    }
    report
}
