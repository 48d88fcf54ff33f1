//! Arguments with which loops turn, where those that are invented one by one let them run no turn: a
//! loop between two numbers that are both computed of arguments and of the block's number.

use crate::contents::ContentsContext;
use crate::contents::address::ThreadRun;
use crate::contents::arguments::{Edge, Given};
use crate::contents::guards::EDGES;
use crate::contents::storage::ContentsScratch;
use crate::stages::stages_of;
use lanebook_emit::{Param, ParamKind};
use lanebook_ir::{Loop, Op, Value};
use lanebook_tables::OpRole;

/// Turns that a loop is to have; one of stages has as many for each of its buffers.
const WANTED: u32 = 2;
/// How many numbers are tried for an argument.
const TRIED: u32 = 8;
/// Arguments of which two are tried together.
const TOGETHER: usize = 4;

/// What the arguments are, of those that loops begin or end at, with which more loops turn than with
/// what each would be alone. None, if all loops turn, or none can be found.
#[inline(never)]
pub(in crate::contents) fn turning(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
) -> heapless::Vec<Edge, EDGES> {
    let mut found: heapless::Vec<Edge, EDGES> = heapless::Vec::new();
    let wanted = look.counted().map(|parts| look.wanted(&parts)).fold(0u32, u32::saturating_add);
    let mut most = turns(look, &found, scratch);
    // One at a time, as long as that helps; then two.
    for (round, _) in (0..EDGES).zip(look.deciding()) {
        if most >= wanted {
            break;
        }
        let before = most;
        for value in look.deciding() {
            for nth in 0..TRIED {
                try_numbers(look, scratch, (&mut found, &mut most), &[(value, nth)]);
            }
        }
        let stuck = before == most && round == 0;
        for (k, first) in look.deciding().take(TOGETHER).enumerate().filter(|_| stuck) {
            for second in look.deciding().take(TOGETHER).skip(k.saturating_add(1)) {
                for nth in 0..TRIED.saturating_mul(TRIED) {
                    let [a, b] = [nth.checked_div(TRIED), nth.checked_rem(TRIED)];
                    let two = [(first, a.unwrap_or(0)), (second, b.unwrap_or(0))];
                    try_numbers(look, scratch, (&mut found, &mut most), &two);
                }
            }
        }
        if before == most {
            break;
        }
    }
    if matches!(look.given, Given::Edge(_)) {
        lower(look, scratch, &mut found, most);
    }
    found
}

/// Takes numbers for some arguments if more loops turn with them.
fn try_numbers(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    (found, most): (&mut heapless::Vec<Edge, EDGES>, &mut u32),
    numbers: &[(Value, u32)],
) {
    let mut trial = found.clone();
    for &(value, nth) in numbers {
        let Some(number) = look.tried(value, nth) else { return };
        put(&mut trial, Edge { value, number });
    }
    let turned = turns(look, &trial, scratch);
    if turned > *most {
        (*found, *most) = (trial, turned);
    }
}

/// Lets each argument be as small as loops turn as often with: the last turn reaches beyond it.
#[inline(never)]
fn lower(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    found: &mut heapless::Vec<Edge, EDGES>,
    most: u32,
) {
    for k in 0..found.len() {
        let Some(&edge) = found.get(k) else { continue };
        let unit = look.unit(edge.value);
        let (mut below, mut enough) = (0u64, edge.number.checked_div(unit).unwrap_or(0));
        while below.saturating_add(1) < enough {
            let middle = below.midpoint(enough);
            let mut trial = found.clone();
            put(&mut trial, Edge { value: edge.value, number: middle.saturating_mul(unit) });
            if turns(look, &trial, scratch) < most {
                below = middle;
            } else {
                enough = middle;
            }
        }
        put(found, Edge { value: edge.value, number: enough.saturating_mul(unit) });
    }
}

/// Sets what an argument is. Arguments for which there is no room stay what they are.
fn put(all: &mut heapless::Vec<Edge, EDGES>, edge: Edge) {
    match all.iter_mut().find(|own| own.value == edge.value) {
        Some(own) => *own = edge,
        None => drop(all.push(edge)),
    }
}

/// How many of the wanted turns all loops have together, the loops around them in their first.
#[inline(never)]
fn turns(look: &ContentsContext<'_>, edges: &[Edge], scratch: &mut ContentsScratch<'_>) -> u32 {
    let trial = ContentsContext { edges, ..*look };
    let run = ThreadRun::of(&trial, scratch, false);
    let has = |parts: &Loop, turn: u32| run.has_turn(parts.op, i64::from(turn)) == Some(true);
    let of_one =
        |parts: Loop| (0..trial.wanted(&parts)).take_while(|turn| has(&parts, *turn)).count();
    let all = trial.counted().map(of_one).fold(0usize, usize::saturating_add);
    u32::try_from(all).unwrap_or(u32::MAX)
}

impl<'a> ContentsContext<'a> {
    /// Loops that begin or end at what is computed of arguments.
    fn counted(&self) -> impl Iterator<Item = Loop> {
        let program = self.program;
        let inside = program.functions().next().into_iter().flat_map(|f| program.inside(f));
        let loops = inside.filter(|op: &Op| program.role(*op) == OpRole::For);
        loops
            .filter_map(|op| program.counted_loop(op))
            .filter(|parts| self.deciding().any(|value| self.is_of(parts, value)))
    }

    /// Arguments that loops begin or end at, or that such a number is computed of.
    fn deciding(&self) -> impl Iterator<Item = Value> {
        let program = self.program;
        let is_index =
            |p: &&Param| p.kind == ParamKind::Scalar && program.type_of(p.value).dtype.is_none();
        self.params.iter().filter(is_index).map(|p| p.value).filter(|value| {
            let inside = program.functions().next().into_iter().flat_map(|f| program.inside(f));
            let mut loops = inside.filter(|op: &Op| program.role(*op) == OpRole::For);
            loops.any(|op| program.counted_loop(op).is_some_and(|parts| self.is_of(&parts, *value)))
        })
    }

    /// Whether a loop begins or ends at an argument, or at what is computed of it.
    fn is_of(&self, parts: &Loop, value: Value) -> bool {
        [parts.lower, parts.upper].iter().any(|end| *end == value || self.feeds(value, *end))
    }

    /// How many turns a loop is to have.
    fn wanted(&self, parts: &Loop) -> u32 {
        WANTED.saturating_mul(u32::from(stages_of(self.program, self.plan, parts.op)))
    }

    /// What an argument is a multiple of.
    fn unit(&self, value: Value) -> u64 {
        u64::from(self.program.index_facts(value).divisor()).max(1)
    }

    /// One of the numbers that are tried: from a few units up to as many as there may be.
    fn tried(&self, value: Value, nth: u32) -> Option<u64> {
        let unit = self.unit(value);
        let units = 16u64.checked_pow(nth)?.checked_mul(5)?;
        Some(units.checked_mul(unit)?.min(self.most(unit)))
    }
}
