//! Whose figure a reference is: what was measured, where it is written down, when and on what.
use std::fmt;

/// A peer that figures are held against.
#[derive(Copy, Clone, Debug)]
pub struct Peer {
    /// What ran, with its version.
    pub what: &'static str,
    /// How its figures are made again, or where they stand.
    pub source: &'static str,
    /// When they were taken.
    pub date: &'static str,
    /// On which machine.
    pub machine: &'static str,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}, {}", self.what, self.source, self.date, self.machine)
    }
}

/// The machine that all of these were run on, shared with other work.
const MACHINE: &str = "2 shared cores of an AMD EPYC";

/// Triton from its own IR to the text of the instruction set, processor time.
pub const TRITON_WHOLE: Peer = Peer {
    what: "Triton 3.9.0, TTIR to PTX or AMDGCN text",
    source: "tests/bench/triton_whole.py",
    date: "2026-11-30",
    machine: MACHINE,
};

/// Triton's linear layouts, construction without the cache.
pub const TRITON_LAYOUTS: Peer = Peer {
    what: "Triton 3.9.0, layouts not cached",
    source: "facts on Triton, section 7",
    date: "2026-09",
    machine: MACHINE,
};

/// Triton's pass that removes conversions, processor time.
pub const TRITON_REMOVAL: Peer = Peer {
    what: "Triton 3.9.0, remove-layout-conversions, the same texts",
    source: "tests/passes/compare.py",
    date: "2026-11-21",
    machine: MACHINE,
};

/// CuTe's algebra in Python.
pub const PYCUTE: Peer = Peer {
    what: "pycute of CUTLASS 4.2.0",
    source: "facts on CuTe and TIRx",
    date: "2026-09",
    machine: MACHINE,
};

/// TVM's layouts.
pub const TVM: Peer = Peer {
    what: "TVM 0.27 less the call",
    source: "facts on CuTe and TIRx",
    date: "2026-09",
    machine: MACHINE,
};

/// TileLang's layout inference.
pub const TILELANG: Peer = Peer {
    what: "TileLang 0.1.15, LayoutInference alone, one warm process",
    source: "facts on TileLang, section 6",
    date: "2026-09",
    machine: MACHINE,
};
