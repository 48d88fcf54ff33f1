//! The index maps of TileLang 0.1.15's helpers for matrix instructions, by the names of their
//! functions.
//!
//! Not hardware facts but definitions of the peer's names: what a call of that version returns.
//! They change with the peer's version, not with a machine, and the engine reads none of them
//! (`tests/floors.rs` looks); fragments of its own come from the atoms' operand layouts.
//!
//! Sources: TileLang 0.1.15, `tilelang.cuda.intrinsics.layout.mma_layout` and
//! `tilelang.rocm.intrinsics.mfma_layout`, each function evaluated at all its points and written as
//! a layout; the answers are recorded in `tests/oracle/data/tilelang`. Status of all: one source.
//!
//! ```
//! use lanebook_layout::tilelang::index_maps::{IndexMap, LANES_32, LANES_64};
//! use lanebook_layout::{NoSyms, WellKnown, notation};
//!
//! // Each is a name and a layout's text.
//! let all: Vec<IndexMap> = LANES_32.iter().chain(LANES_64).copied().collect();
//! for (name, text) in all {
//!     assert!(notation::cute::parse(text, &WellKnown, &mut NoSyms).is_ok(), "{name}");
//! }
//! ```

/// An index map of two coordinates: its name, and its layout in CuTe's notation.
///
/// Mode 0 is the *second* coordinate (the fastest), mode 1 the first. Axis `@0` is the first number
/// of the result, axis `m` the second: thread and register, or row and column.
pub type IndexMap = (&'static str, &'static str);

/// Warps of 32 lanes: fragments of matrix instructions and the lanes' addresses of matrix loads.
pub const LANES_32: &[IndexMap] = &[
    ("ldmatrix_32x4_to_shared_16x8_layout_a", "(4,(16,2)):(1,(1@0,4))"),
    ("ldmatrix_32x4_to_shared_16x8_layout_b", "(4,(8,2,2)):(1,(1@0,4,8@0))"),
    ("ldmatrix_32x8_to_shared_16x16_layout", "(8,(16,2)):(1,(1@0,8))"),
    ("ldmatrix_trans_32x8_to_shared_16x16_layout", "(8,(8,2,2)):(1,(1@0,8,8@0))"),
    ("ldmatrix_32x16_to_shared_16x32_layout_a", "(16,(16,2)):(1,(1@0,16))"),
    ("ldmatrix_32x16_to_shared_16x32_layout_b", "(16,(8,2,2)):(1,(1@0,16,8@0))"),
    ("mma_store_32x8_to_shared_16x16_layout", "((2,2,2),(4,8)):((1,8@0,8),(2,1@0))"),
    ("mma_store_32x2_to_shared_8x8_layout_fp64", "(2,(4,8)):(1,(2,1@0))"),
    ("shared_16x8_to_mma_a_32x4_layout", "((4,2),(8,2)):((1@0,2),(4@0,1))"),
    ("shared_16x8_to_mma_a_32x4_layout_trans", "(8,(4,4)):(4@0,(1@0,2))"),
    ("shared_16x8_to_mma_b_32x4_layout", "((4,2),(8,2)):((1@0,1),(4@0,2))"),
    ("shared_16x8_to_mma_b_32x4_layout_trans", "(8,(4,4)):(4@0,(1@0,1))"),
    ("shared_16x16_to_mma_a_32x8_layout", "((2,4,2),(8,2)):((1,1@0,4),(4@0,2))"),
    ("shared_16x16_to_mma_a_32x8_layout_trans", "((8,2),(2,4,2)):((4@0,2),(1,1@0,4))"),
    ("shared_16x16_to_mma_b_32x8_layout", "((2,4,2),(8,2)):((1,1@0,2),(4@0,4))"),
    ("shared_16x16_to_mma_b_32x8_layout_trans", "((8,2),(2,4,2)):((4@0,4),(1,1@0,2))"),
    ("shared_16x32_to_mma_a_32x16_layout", "((4,4,2),(8,2)):((1,1@0,8),(4@0,4))"),
    ("shared_32x16_to_mma_a_32x16_layout_trans", "((8,2),(4,4,2)):((4@0,4),(1,1@0,8))"),
    ("shared_16x32_to_mma_b_32x16_layout", "((4,4,2),(8,2)):((1,1@0,4),(4@0,8))"),
    ("shared_32x16_to_mma_b_32x16_layout_trans", "((8,2),(4,4,2)):((4@0,8),(1,1@0,4))"),
    ("mma_32x8_to_shared_16x16_layout", "((2,2,2),(4,8)):((1,8@0,8),(2,1@0))"),
    ("mma_load_a_32x4_to_shared_16x8_layout", "((2,2),(4,8)):((8@0,4),(1,1@0))"),
    ("mma_load_b_32x4_to_shared_16x8_layout", "((2,2),(4,8)):((4,8@0),(1,1@0))"),
    ("mma_load_a_32x16_to_shared_16x32_layout", "((4,2,2),(4,8)):((1,8@0,16),(4,1@0))"),
    ("mma_load_a_32x8_to_shared_16x16_layout", "((2,2,2),(4,8)):((1,8@0,8),(2,1@0))"),
    ("mma_load_b_32x16_to_shared_16x32_layout", "((4,2,2),(4,8)):((1,16,8@0),(4,1@0))"),
    ("mma_load_b_32x8_to_shared_16x16_layout", "((2,2,2),(4,8)):((1,8,8@0),(2,1@0))"),
    ("shared_16x64_to_mma_a_32x32_layout", "((8,4,2),(8,2)):((1,1@0,8),(4@0,16))"),
    ("shared_64x16_to_mma_a_32x32_layout_trans", "((8,2),(8,4,2)):((4@0,16),(1,1@0,8))"),
    ("shared_8x64_to_mma_b_32x16_layout", "((8,4,2),8):((1,1@0,8),4@0)"),
    ("shared_64x8_to_mma_b_32x16_layout_trans", "(8,(8,4,2)):(4@0,(1,1@0,8))"),
    ("mma_load_a_32x32_to_shared_16x64_layout", "((8,2,2),(4,8)):((1,8@0,32),(8,1@0))"),
    ("mma_load_b_32x16_to_shared_8x64_layout", "((8,2),(4,8)):((1,32),(8,1@0))"),
    ("shared_16x16_to_mma_32x8_smoothlayout", "((8,2),16):((1,1@0),2@0)"),
    ("shared_16x32_to_mma_32x16_smoothlayout", "((16,2),16):((1,1@0),2@0)"),
    ("shared_32x16_to_mma_32x16_smoothlayout", "(16,32):(1,2@0)"),
];

/// Waves of 64 lanes: fragments of matrix instructions.
pub const LANES_64: &[IndexMap] = &[
    ("shared_16x4_to_local_64x1_layout_A", "(4,16):(16@0,1@0)"),
    ("thread_id_shared_access_64x1_to_16x4_layout_A", "(1,(16,4)):(0,(1@0,1))"),
    ("shared_4x16_to_local_64x1_layout_B", "(16,4):(1@0,16@0)"),
    ("thread_id_shared_access_64x1_to_4x16_layout_B", "(1,(16,4)):(0,(1,1@0))"),
    ("shared_16x16_to_local_64x4_layout_C", "(16,(4,4)):(1@0,(1,16@0))"),
    ("thread_id_shared_access_64x4_to_16x16_layout_A", "(4,(16,4)):(1,(1@0,4))"),
    ("shared_16x16_to_local_64x4_layout_A", "((4,4),16):((1,16@0),1@0)"),
    ("thread_id_shared_access_64x4_to_16x16_layout_B", "(4,(16,4)):(1@0,(1,4@0))"),
    ("shared_16x16_to_local_64x4_layout_B", "(16,(4,4)):(1@0,(1,16@0))"),
    ("thread_id_shared_access_64x4_to_16x16_layout_C_m_n", "(4,(16,4)):(1@0,(1,4@0))"),
    ("thread_id_shared_access_64x4_to_16x16_layout_C_n_m", "(4,(16,4)):(1,(1@0,4))"),
    ("thread_id_shared_access_64x8_to_16x32_layout_A", "(8,(16,4)):(1,(1@0,8))"),
    ("shared_16x32_to_local_64x8_layout_A", "((8,4),16):((1,16@0),1@0)"),
    ("thread_id_shared_access_64x8_to_16x32_layout_B", "(8,(16,4)):(1@0,(1,8@0))"),
    ("shared_16x32_to_local_64x8_layout_B", "(32,(8,2)):(1@0,(1,16@0))"),
    ("thread_id_shared_access_64x16_to_16x64_layout_A", "(16,(16,4)):(1,(1@0,16))"),
    ("shared_16x64_to_local_64x16_layout_A", "((16,4),16):((1,16@0),1@0)"),
    ("thread_id_shared_access_64x16_to_16x64_layout_B", "(16,(16,4)):(1@0,(1,16@0))"),
    ("shared_16x64_to_local_64x16_layout_B", "((16,4),16):((1,16@0),1@0)"),
    ("shared_32x32_to_local_64x16_layout_C", "((4,2,4),32):((1,32@0,4),1@0)"),
    ("thread_id_shared_access_64x16_to_32x32_layout_C_n_m", "((4,4),(32,2)):((1,8),(1@0,4))"),
    ("thread_id_shared_access_64x16_to_32x32_layout_C_m_n", "((4,4),(32,2)):((1,8),(1@0,4))"),
    ("shared_32x32_to_local_64x16_layout_A", "((16,2),32):((1,32@0),1@0)"),
    ("thread_id_shared_access_64x16_to_32x32_layout_A", "(16,(32,2)):(1,(1@0,16))"),
    ("shared_32x32_to_local_64x16_layout_B", "(32,(16,2)):(1@0,(1,32@0))"),
    ("thread_id_shared_access_64x16_to_32x32_layout_B", "(16,(32,2)):(1@0,(1,16@0))"),
];
