//! Candidates in words: what became of each, and what they are of.
use lanebook::ir::{Op, Program};
use lanebook::layout_seeding::{SeedingCandidate, Verdict};
use lanebook_tables::{Space, Tables};

/// Quarters as a decimal number.
pub fn quarters(number: u32) -> String {
    if number.is_multiple_of(4) {
        format!("{}", number / 4)
    } else {
        format!("{:.2}", f64::from(number) / 4.0)
    }
}

/// An operation with its result and place.
pub fn name(program: &Program<'_, '_>, op: Op) -> String {
    let place = program.place(op);
    let value = program
        .result(op, 0)
        .map(|value| program.value_name(value))
        .filter(|name| !name.is_empty());
    let result = value.map_or_else(String::new, |name| format!("%{name} = "));
    if place.line == 0 {
        format!("{result}{}", program.op_name(op))
    } else {
        format!("{result}{} in line {}", program.op_name(op), place.line)
    }
}

/// A kind of memory.
pub const fn space(space: Space) -> &'static str {
    match space {
        Space::Register => "registers",
        Space::Shared => "shared",
        Space::Global => "global",
        Space::Tensor => "tensor",
    }
}

/// What became of a candidate.
pub fn why(tables: &Tables<'_>, verdict: Verdict) -> String {
    match verdict {
        Verdict::Taken => "<- taken".into(),
        Verdict::Dearer => "dearer".into(),
        Verdict::Illegal(why) => why.display(tables).to_string(),
        Verdict::Spaces { from, to } => format!("joins {} and {}", space(from), space(to)),
        Verdict::Family => "of another family than its group".into(),
        Verdict::Alignment { need, have } => {
            format!("needs {need} B of alignment, {have} B are certain")
        }
        Verdict::Descriptor => "no descriptor here can say this tile".into(),
        Verdict::Bound => "the tile is read from registers, a descriptor delivers none".into(),
        _ => "not taken".into(),
    }
}

/// Whether an operation's tile is read from registers.
pub fn bound(candidates: &[SeedingCandidate]) -> bool {
    candidates.iter().any(|candidate| candidate.verdict == Verdict::Bound)
}
