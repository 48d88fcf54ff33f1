//! Errors as numbers, for who cannot take Rust's enums: C, logs, a wire.
//!
//! Each variant has a number of its own among its kind, from 1, which is never reused;
//! `capi/lanebook.h` says what they mean. The matches name every variant, so a new one does not
//! build before it has a number.

use crate::compile::CompileError;
use lanebook_emit::{ElementReason, EmitError};
use lanebook_ir::SourcePlace;
use lanebook_ir::verify::contract::Breach;
use lanebook_plan::{PlanError, Unwritable};

pub use lanebook_emit::detail::{EMIT, of_emit};
pub use lanebook_ir::detail::{CONTRACT, Detail, IR, of_breach, of_ir};
pub use lanebook_plan::detail::{PLAN, of_plan};

/// Above all numbers of why a layout cannot be planned for: those of why it is none.
const LAYOUTS: i64 = 100;

/// What refused to compile.
///
/// ```
/// use lanebook::compile::CompileError;
/// use lanebook::detail::{Stage, of_compile};
///
/// assert_eq!(of_compile(CompileError::NoFunction), Stage::NoFunction);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Planning: the detail is [`of_plan`]'s.
    Plan(Detail),
    /// Emission: the detail is [`of_emit`]'s.
    Emit(Detail),
    /// The text sink.
    Text,
    /// There is no function.
    NoFunction,
    /// Something that is not obeyed: the detail is [`of_breach`]'s; and where it is written.
    Contract(Detail, SourcePlace),
}

/// The parts of an error of compiling.
#[must_use]
pub fn of_compile(e: CompileError) -> Stage {
    match e {
        CompileError::Plan(e) => Stage::Plan(of_plan(e)),
        CompileError::Emit(e) => Stage::Emit(of_emit(e)),
        // The same as emission's own, with the operation.
        CompileError::Capacity { pool, capacity, op } => {
            Stage::Emit(Detail { op, ..of_emit(EmitError::full(pool, capacity)) })
        }
        CompileError::Text(_) => Stage::Text,
        CompileError::NoFunction => Stage::NoFunction,
        // The same as of an element whose layouts are foreign.
        CompileError::NotTold(op) => {
            let why = ElementReason::Foreign;
            Stage::Emit(of_emit(EmitError::Element { op, why }))
        }
        // The same as of a written layout that cannot be planned for, with reasons of their own.
        CompileError::Layout { op, why } => {
            let planned = of_plan(PlanError::Written { op, why: Unwritable::Unreadable });
            let number = LAYOUTS.saturating_add(i64::from(why.number()));
            Stage::Plan(Detail { numbers: [number, 0, 0], ..planned })
        }
        CompileError::Contract(Breach { kind, at }) => {
            Stage::Contract(Detail { op: at.op, ..of_breach(kind) }, at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CONTRACT, EMIT, IR, PLAN};
    use std::collections::BTreeSet;
    use std::string::String;
    use std::vec::Vec;

    /// Numbers that the C header describes behind `heading`: `NUMBER WORDS, NUMBER WORDS ... .`
    fn described(heading: &str) -> Vec<u32> {
        let header: String = include_str!("capi/lanebook.h")
            .lines()
            .map(|line| line.trim_start().trim_start_matches("* "))
            .flat_map(|line| [line, " "])
            .collect();
        let (_, rest) = header.split_once(heading).expect("the header has the heading");
        let (list, _) = rest.split_once('.').expect("a full stop ends it");
        list.split(", ").filter_map(|item| item.trim().split_once(' ')?.0.parse().ok()).collect()
    }

    #[test]
    fn every_variant_has_a_number_that_the_header_describes() {
        for (heading, list) in [
            ("for LB_PARSE and LB_VERIFY:", IR),
            ("LB_PLAN:", PLAN),
            ("LB_EMIT:", EMIT),
            ("LB_CONTRACT:", CONTRACT),
        ] {
            let numbers: BTreeSet<u32> = list.iter().map(|(number, _)| *number).collect();
            assert_eq!(numbers.len(), list.len(), "{heading} a number twice");
            assert!(!numbers.contains(&0), "{heading} 0 is no error");
            let told = described(heading);
            assert_eq!(
                told.iter().copied().collect::<BTreeSet<_>>(),
                numbers,
                "{heading} as the header has it"
            );
            assert_eq!(told.len(), list.len(), "{heading} twice in the header");
        }
    }
}
