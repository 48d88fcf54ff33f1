//! Layout inference: parallel loops over fragments, shared and global buffers go in; which thread
//! executes which iteration and holds which element comes out.
//!
//! TileLang calls it layout inference too; stages have its names in their descriptions. Nothing is
//! proved by a solver or bounded by a budget: index maps are sums of digits ([`IndexForm`]), inverted,
//! compared and contained by structure, and where structure gives no answer, point by point.
#![no_std]
#![forbid(unsafe_code)]

mod anchor;
mod arena;
mod bits;
mod contain;
mod driver;
mod error;
mod event;
mod form;
mod fragment;
mod inference;
mod parallel;
mod points;
mod pool;
mod program;
mod solve;
mod subst;
mod traffic;

pub use anchor::{UnitSide, UnitTile, WarpPolicy, split_warps};
pub use arena::{
    ArenaMark, ArenaParts, BaseDigit, BaseEntry, BaseId, DigitTerm, FormArena, FormBase, FormOp,
    IndexForm, MAX_TERMS, VarRole,
};
pub use contain::{MAX_THREADS, Threads};
pub use driver::Inferred;
pub use error::{FormError, FormResult, PoolName};
pub use event::{Cost, CostWeights, InferenceEvent, Level, Listener, Reason, SpreadSource};
pub use inference::{Inference, Parts, Stop};
pub use points::{Tape, Walk};
pub use program::{
    Access, Buffer, BufferId, FragmentForm, Kind, MAX_RANK, MemoryScope, Operator, OperatorId,
    VarRange,
};
pub use solve::{Equation, Free, MAX_VARS, Solution, VarForms};
pub use subst::{MAX_WALK, Variables};
