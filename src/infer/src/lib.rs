//! Layout inference: parallel loops over fragments, shared and global buffers go in; which thread
//! executes which iteration and holds which element comes out.
//!
//! TileLang calls it layout inference too; stages have its names in their descriptions. Nothing is
//! proved by a solver or bounded by a budget: index maps are sums of digits ([`Form`]), inverted,
//! compared and contained by structure, and where structure gives no answer, point by point.
#![no_std]
#![forbid(unsafe_code)]

mod arena;
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

pub use arena::{
    Arena, ArenaParts, Atom, Base, BaseEntry, BaseId, Form, MAX_TERMS, Mark, Op, Role, Term,
};
pub use contain::{MAX_THREADS, Threads};
pub use driver::Verdict;
pub use error::{Error, PoolName, Result};
pub use event::{Cost, Event, Level, Listener, Reason, Source, Weights};
pub use inference::{Inference, Parts, Stop};
pub use points::{Tape, Walk};
pub use program::{
    Access, Buffer, BufferId, Fragment, Kind, MAX_RANK, Operator, OperatorId, Scope, VarRange,
};
pub use solve::{Equation, Free, MAX_VARS, Solution, VarForms};
