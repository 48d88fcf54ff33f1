//! The numbers of TIRx 0.27's ready-made layouts: what `tmem_datapath_layout("D", ...)` and its kin
//! stand for in that version.
//!
//! Not hardware facts but definitions of the peer's names: what a call of that version returns.
//! They change with the peer's version, not with a machine, and the engine reads none of them
//! (`tests/floors.rs` looks); where the tables describe the same machine (lanes, banks, swizzle
//! modes, accumulators and scale factors in tensor memory), tests compare the two:
//! `tests/seeds/tirx.rs`, `src/tile/src/unit/tests/tensor.rs`. Every constructor takes such numbers as an
//! argument, so those of another version or machine need no change here.
//!
//! Sources: the PTX ISA, sections on the data path layouts of the fifth-generation tensor cores
//! (9.7.16.10.5), on their shared-memory modes and on the shapes of loads from tensor memory (table
//! 49); and Apache TVM 0.27.0, `tvm.tirx.layout`, whose answers are recorded in
//! `tests/oracle/data/tirx`. Status of all: one source.
//!
//! ```
//! use lanebook_layout::tirx::{self, facts};
//!
//! // Numbers of TIRx's targets, for the functions that take them.
//! assert_eq!((facts::BANKS.count, facts::BANKS.bank_bytes), (32, 4));
//! assert_eq!((facts::SWIZZLE.vector_bytes, facts::SCALE_ATOM.lanes), (16, 32));
//! assert!(facts::WARP_32.iter().any(|relation| relation.factor == 32));
//! assert!(facts::DATAPATH_USES.iter().all(|used| tirx::datapath(facts::DATAPATHS, used.letter).is_ok()));
//! assert!(tirx::atom_layout(facts::ATOM_FORMS, "32x32b", 128, 8, 32).is_ok());
//! ```

use super::{
    AtomForm, AxisRelation, Banks, Count, Datapath, DatapathUse, FormIter, OperandA, ScaleAtom,
    SwizzleAtom,
};
use crate::axis::AxisId;

const fn relation(axis: AxisId, factor: u32, parent: AxisId) -> AxisRelation {
    AxisRelation { axis, factor, parent }
}

/// Thread axes of a machine with warps of 32 lanes and warpgroups of 4 warps.
pub const WARP_32: &[AxisRelation] = &[
    relation(AxisId::LANE, 1, AxisId::TID_IN_WG),
    relation(AxisId::LANE, 1, AxisId::TX),
    relation(AxisId::WID_IN_WG, 32, AxisId::TID_IN_WG),
    relation(AxisId::WID_IN_WG, 32, AxisId::TX),
    relation(AxisId::WID_IN_WG, 1, AxisId::WARP),
    relation(AxisId::TID_IN_WG, 1, AxisId::TX),
    relation(AxisId::WARP, 32, AxisId::TX),
    relation(AxisId::WGID, 128, AxisId::TX),
    relation(AxisId::WGID, 4, AxisId::WARP),
];

/// The banks of shared memory.
pub const BANKS: Banks = Banks { count: 32, bank_bytes: 4 };

/// The swizzle modes of 32, 64 and 128 bytes.
pub const SWIZZLE: SwizzleAtom = SwizzleAtom { vector_bytes: 16, distance: 3 };

/// Scale factors of 8 bits.
pub const SCALE_ATOM: ScaleAtom = ScaleAtom { lanes: 32, copies: 4, per_cell: 4 };

const WHOLE: &[(u32, u32)] = &[(128, 1)];
const HALF: &[(u32, u32)] = &[(64, 1)];
const SCATTERED: &[(u32, u32)] = &[(4, 32), (16, 1)];

const fn path(letter: char, rows: u32, row: &'static [(u32, u32)]) -> Datapath {
    Datapath {
        letter,
        rows,
        row,
        folds: 1,
        fold_lanes: 0,
        slab_lanes: None,
        operand: &[OperandA::Plain],
    }
}

/// The data paths A to G.
pub const DATAPATHS: &[Datapath] = &[
    path('A', 128, WHOLE),
    Datapath {
        folds: 2,
        fold_lanes: 64,
        operand: &[OperandA::Copied, OperandA::Batched],
        ..path('B', 64, HALF)
    },
    Datapath { slab_lanes: Some(16), operand: &[], ..path('C', 64, SCATTERED) },
    path('D', 128, WHOLE),
    Datapath { folds: 2, fold_lanes: 64, operand: &[OperandA::Batched], ..path('E', 64, HALF) },
    Datapath { slab_lanes: Some(16), ..path('F', 64, SCATTERED) },
    Datapath { folds: 4, fold_lanes: 32, operand: &[], ..path('G', 32, &[(32, 1)]) },
];

const fn used(rows: u32, blocks: u32, stationary: bool, letter: char) -> DatapathUse {
    DatapathUse { rows, blocks, stationary, letter }
}

/// The data path of each dense instruction.
pub const DATAPATH_USES: &[DatapathUse] = &[
    used(128, 1, false, 'D'),
    used(64, 1, false, 'F'),
    used(64, 1, true, 'E'),
    used(256, 2, false, 'A'),
    used(128, 2, false, 'B'),
];

const UP_TO_128: &[u32] = &[1, 2, 4, 8, 16, 32, 64, 128];
const UP_TO_64: &[u32] = &[1, 2, 4, 8, 16, 32, 64];
const UP_TO_32: &[u32] = &[1, 2, 4, 8, 16, 32];

const fn lane(extent: u32, stride: u32) -> FormIter {
    FormIter::fixed(extent, stride, AxisId::LANE)
}

const fn register(extent: u32, stride: u32) -> FormIter {
    FormIter::fixed(extent, stride, AxisId::M)
}

/// The four warps.
const WARPS: FormIter = FormIter::fixed(4, 1, AxisId::WID_IN_WG);

/// The upper sixteen of a warp's lanes, whose registers follow those of the lower.
const fn slab(registers: u32) -> FormIter {
    FormIter { extent: Count::Fixed(2), stride: Count::Repeats(registers), axis: AxisId::M }
}

const fn thread(extent: u32, stride: u32) -> FormIter {
    FormIter::fixed(extent, stride, AxisId::TID_IN_WG)
}

const fn form(
    name: &'static str,
    rows: u32,
    columns: u32,
    repeats: &'static [u32],
    row: &'static [FormIter],
    column: &'static [FormIter],
) -> AtomForm {
    AtomForm { name, rows, columns, repeats, element_bits: &[16, 32], row, column }
}

/// The forms of loads from tensor memory and stores to it, as tiles of a warpgroup.
pub const ATOM_FORMS: &[AtomForm] = &[
    form("32x32b", 128, 1, UP_TO_128, &[thread(128, 1)], &[FormIter::repeats(1)]),
    // The image of a folded accumulator: 64 rows over all lanes, half the columns in each thread.
    AtomForm {
        element_bits: &[32],
        ..form("32x32b", 64, 2, UP_TO_128, &[thread(64, 1)], &[thread(2, 64), FormIter::repeats(1)])
    },
    form(
        "16x64b",
        64,
        2,
        UP_TO_128,
        &[WARPS, lane(2, 1), lane(8, 4)],
        &[FormIter::repeats(1), lane(2, 2)],
    ),
    form(
        "16x64b",
        128,
        2,
        UP_TO_128,
        &[WARPS, slab(1), lane(2, 1), lane(8, 4)],
        &[FormIter::repeats(1), lane(2, 2)],
    ),
    form(
        "16x128b",
        64,
        4,
        UP_TO_64,
        &[WARPS, register(2, 1), lane(8, 4)],
        &[FormIter::repeats(2), lane(4, 1)],
    ),
    form(
        "16x128b",
        128,
        4,
        UP_TO_64,
        &[WARPS, slab(2), register(2, 1), lane(8, 4)],
        &[FormIter::repeats(2), lane(4, 1)],
    ),
    form(
        "16x256b",
        64,
        8,
        UP_TO_32,
        &[WARPS, register(2, 2), lane(8, 4)],
        &[FormIter::repeats(4), lane(4, 1), register(2, 1)],
    ),
    form(
        "16x256b",
        128,
        8,
        UP_TO_32,
        &[WARPS, slab(4), register(2, 2), lane(8, 4)],
        &[FormIter::repeats(4), lane(4, 1), register(2, 1)],
    ),
];
