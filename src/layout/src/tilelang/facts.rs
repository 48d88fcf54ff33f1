//! The numbers behind TileLang 0.1.15's helpers: what `make_volta_swizzled_layout` and its kin
//! stand for in that version.
//!
//! Not hardware facts but definitions of the peer's names: what a call of that version returns.
//! They change with the peer's version, not with a machine, and the engine reads none of them
//! (`tests/floors.rs` looks); every helper takes such numbers as an argument.
//!
//! Sources: TileLang 0.1.15, `src/layout/gemm_layouts.cc` and `tilelang.layout.gemm_sp`, and
//! CUTLASS's sparse configuration that the latter cites. Answers are recorded in
//! `tests/oracle/data/tilelang`. Status of all: one source.
//!
//! ```
//! use lanebook_layout::tilelang::{facts, index_map};
//!
//! // Numbers of TileLang 0.1.15, for the functions that take them.
//! assert_eq!(facts::ROW_SWIZZLE.modes, [8, 4, 2]);
//! assert!(facts::WIDE_SWIZZLE.rows > 0 && facts::PHASE_SWIZZLE.lanes > 0 && !facts::METADATA_TILES.is_empty());
//! assert!(facts::METADATA_COLUMNS[0].group > 0 && !facts::CROSSWISE.column.is_empty());
//! assert!(!facts::CONGRUOUS_A.row.is_empty() && !facts::CONGRUOUS_B.row.is_empty());
//! assert!(index_map(facts::GEMM_FRAGMENTS, "gemm_fragment_8x8").is_ok());
//! ```

use super::index_maps::IndexMap;
use super::{Crosswise, MetadataAtom, MetadataColumns, PhaseSwizzle, RowSwizzle, WideSwizzle};
use crate::tirx::Count::{self, Fixed, Repeats};

/// Rows of 16-byte vectors in blocks of 8, in modes of 128, 64 and 32 bytes.
pub const ROW_SWIZZLE: RowSwizzle =
    RowSwizzle { vector_bits: 128, rows: 8, short_rows: 4, modes: &[8, 4, 2] };

/// Tiles of 64-bit elements.
pub const WIDE_SWIZZLE: WideSwizzle =
    WideSwizzle { element_bits: 64, columns: 16, rows: 4, outer_vector: 4 };

/// Operands of the first generation of matrix instructions whose reduced dimension is the column.
pub const CROSSWISE: Crosswise = Crosswise {
    rows: 32,
    columns: 32,
    pitch_rows: true,
    row: &[(0, 16), (0, 32), (0, 4), (0, 8), (0, 64 | 8), (0, 128)],
    column: &[(0, 1), (0, 2), (4, 0), (8, 4), (16, 8), (32, 0)],
};

/// Left operands of that generation otherwise.
pub const CONGRUOUS_A: Crosswise = Crosswise {
    rows: 4,
    columns: 64,
    pitch_rows: false,
    row: &[(0, 8), (0, 16), (4, 0)],
    column: &[(0, 1), (0, 2), (0, 4), (0, 32), (1, 8), (2, 16), (0, 64)],
};

/// Right operands of that generation otherwise.
pub const CONGRUOUS_B: Crosswise = Crosswise {
    column: &[(0, 1), (0, 2), (0, 4), (1, 8), (2, 16), (0, 32), (0, 64)],
    ..CONGRUOUS_A
};

/// Rows swizzled by phase over 32 banks of 32 bits, for 16 lanes at once.
pub const PHASE_SWIZZLE: PhaseSwizzle = PhaseSwizzle { line_bits: 32 * 32, lanes: 16 };

const fn halved(operand_bits: u32, step: u32, words: &'static [(Count, u8)]) -> MetadataAtom {
    MetadataAtom {
        operand_bits,
        step,
        most_steps: match step {
            16 => 8,
            _ => 4,
        },
        rows: &[(8, 3), (2, 1), (4, 5)],
        columns: words,
    }
}

/// Sparsity metadata in 8-bit words: tiles of 64 rows, each step an operand's 512 bits.
pub const METADATA_TILES: &[MetadataAtom] = &[
    halved(32, 16, &[(Fixed(1), 0), (Fixed(2), 4), (Repeats(1), 2)]),
    halved(16, 32, &[(Fixed(2), 0), (Fixed(2), 4), (Repeats(1), 2)]),
    MetadataAtom {
        operand_bits: 8,
        step: 64,
        most_steps: 2,
        rows: &[(64, 1)],
        columns: &[(Repeats(8), 0)],
    },
];

/// Sparsity metadata in words of 16 and 32 bits, interleaved by columns.
pub const METADATA_COLUMNS: &[MetadataColumns] = &[
    MetadataColumns { word_bits: 16, group: 32, interleave: 4 },
    MetadataColumns { word_bits: 32, group: 16, interleave: 2 },
];

/// The fragments of 8 x 8 matrices that matrix loads deliver, as maps to thread and register.
pub const GEMM_FRAGMENTS: &[IndexMap] = &[
    ("gemm_fragment_8x8", "((2,4),8):((1,1@0),4@0)"),
    ("gemm_fragment_8x8_transposed", "(8,(2,4)):(4@0,(1,1@0))"),
];
