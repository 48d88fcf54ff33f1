//! Why there are no instructions, as numbers.
//!
//! ```
//! use lanebook::detail::{EMIT, of_emit};
//! use lanebook::emit::EmitError;
//!
//! let none = of_emit(EmitError::Rules);
//! assert!(EMIT.contains(&(none.number, "Rules")));
//! ```

use crate::EmitError;
use crate::step::InstError;

lanebook_ir::details! {
    /// Why there are no instructions.
    of_emit,
    /// Numbers and names of why there can be no instructions.
    EMIT of EmitError:
    5 Inst(InstError::Capacity { pool, capacity }) => [capacity, pool as u32];
    1 Inst(_) => [];
    2 Expr(_) => [];
    3 Simplify(_) => [];
    4 Select(_) => [];
    6 Unplanned(op) at op => [];
    7 Index(op) at op => [];
    8 Carried(op) at op => [];
    9 Rules => [];
    10 Constant(op) at op => [];
    11 Element { op, why } at op => [why as u32];
}
