//! Why there is no plan, as numbers.
//!
//! ```
//! use lanebook::detail::{PLAN, of_plan};
//! use lanebook::plan::PlanError;
//!
//! // An error of planning as a number with its name.
//! let detail = of_plan(PlanError::UnknownArch);
//! assert!(PLAN.contains(&(detail.number, "UnknownArch")));
//! ```

use crate::PlanError;
use lanebook_ir::detail::wide;

lanebook_ir::details! {
    /// Why there is no plan.
    of_plan,
    /// Numbers and names of why there can be no plan.
    PLAN of PlanError:
    1 Threads { threads, wave, most } => [threads, wave, most];
    2 Unsupported(op) at op => [];
    3 Extents(op) at op => [];
    4 Element(op) at op => [];
    5 NotTraced { op, operand } at op => [operand];
    6 NoMatrixAtom(op) at op => [];
    7 NoCopyAtom { op } at op => [];
    8 Conflict { op } at op => [];
    9 Undecided(op) at op => [];
    10 SharedMemory { op, need, have } at op => [need, have];
    11 Capacity { pool, capacity, op } in op => [capacity, pool as u32];
    12 UnknownArch => [];
    13 Unscaled { op } at op => [];
    14 Registers { op, registers, most } at op => [registers, most];
    15 Written { op, why } at op => [why as u32];
    16 TensorMemory { op, need, scales, have } at op => [need, scales, have];
    17 TensorReach { op, warps, needed } at op => [warps, needed];
    18 GlobalReach { op, bytes } at op => [wide(bytes)];
    19 Stale => [];
    20 Stages { op, why } at op => [why as u32];
    21 Masked(op) at op => [];
    22 Indexed { op, why } at op => [why as u32];
    23 Atomic { op, why } at op => [why as u32];
    24 Reshape(op) at op => [];
    25 Scratch { op, need, have } at op => [need, have];
    26 Part { op, why } at op => [why as u32];
    27 Precision(op) at op => [];
    28 ProgramCapacity { op, pool, limit } at op => [limit, pool as u32];
    29 Sums { op, why } at op => [why as u32];
    30 Target(op) at op => [];
    31 Wave { op, lanes, have } at op => [lanes, have];
}
