//! Indices of the program, worked out for the turns that run: by what the text says alone.
//!
//! Tiles whose elements are not in memory: in the threads that are carried out, the step that is
//! said to make a register of one leaves the number there that the text says. Which register of
//! which tile a step is said to make is what the goals have found.

use crate::contents::address::ThreadRun;
use crate::contents::arguments::Given;
use crate::contents::goal::Prover;
use crate::contents::storage::{ContentsScratch, NO_LOOP};
use crate::contents::through::BitRange;
use crate::contents::{Content, ContentsContext};
use crate::evaluator::{held, power, row_col};
use crate::violation::Violation;
use heapless::Vec;
use lanebook_emit::ParamKind;
use lanebook_emit::step::Step;
use lanebook_ir::{Def, Op, Value};
use lanebook_tables::{IndexWord, OpRole};

/// Most values that wait for their operands.
const WAITING: usize = 64;
/// Most values of one expression.
const KNOWN: usize = 128;

impl ContentsContext<'_> {
    /// The invented number of the block along an axis.
    pub(super) fn block(&self, axis: u8) -> u64 {
        let number = match self.given {
            Given::Far => 1021,
            Given::Edge(number) => u64::from(number),
            _ => 3,
        };
        number + u64::from(axis)
    }

    /// How many blocks there are said to be along an axis.
    pub(super) fn blocks(&self, axis: u8) -> u64 {
        self.block(axis).saturating_add(4)
    }
}

impl ThreadRun<'_, '_> {
    /// The value of a subscript, which is not below zero.
    pub(super) fn place_of(&self, value: Value) -> Option<u64> {
        u64::try_from(self.index(value)?).ok()
    }

    /// The value of an index of the program in the turns that run.
    pub(super) fn index(&self, value: Value) -> Option<i64> {
        let mut waiting: Vec<Value, WAITING> = Vec::new();
        let mut known: Vec<(Value, i64), KNOWN> = Vec::new();
        waiting.push(value).ok()?;
        while let Some(&top) = waiting.last() {
            let find = |value: Value| known.iter().find(|(v, _)| *v == value).map(|(_, n)| *n);
            let needs = |value: Value, waiting: &mut Vec<Value, WAITING>| -> Option<Option<i64>> {
                if let Some(n) = self.look.program.int(value).or_else(|| find(value)) {
                    return Some(Some(n));
                }
                waiting.push(value).ok()?;
                Some(None)
            };
            let number = if let Some(n) = self.look.program.int(top) {
                n
            } else if let Some(op) = self.look.program.def_op(top) {
                let mut operands = [0i64; 3];
                let mut is_waiting = false;
                for (k, place) in operands.iter_mut().enumerate() {
                    let Some(operand) = self.look.program.operand(op, k) else { break };
                    match needs(operand, &mut waiting)? {
                        Some(n) => *place = n,
                        None => is_waiting = true,
                    }
                }
                if is_waiting {
                    continue;
                }
                self.computed(op, operands)?
            } else {
                let Def::Argument(block, _) = self.look.program.def(top) else { return None };
                let around = self.look.program.owner_of(block)?;
                if self.look.program.role(around) == OpRole::Function {
                    word(self.look.argument(top, ParamKind::Scalar)?.cast_signed())
                } else {
                    let parts = self
                        .look
                        .program
                        .counted_loop(around)
                        .filter(|parts| parts.induction == top)?;
                    let (Some(lower), Some(step)) =
                        (needs(parts.lower, &mut waiting)?, needs(parts.step, &mut waiting)?)
                    else {
                        continue;
                    };
                    let number = self.loops.iter().position(|l| {
                        l.nth != NO_LOOP && self.look.nth_loop(l.nth) == Some(around)
                    })?;
                    let turns = i64::from(self.turns.get(number)?.saturating_sub(1));
                    // All but copies is of an earlier turn.
                    let behind = i64::from(self.look.program.stages(around)).checked_sub(1)?;
                    let turns = if self.ahead == Some(around) {
                        turns
                    } else {
                        turns.checked_sub(behind)?
                    };
                    word(lower.checked_add(turns.checked_mul(step)?)?)
                }
            };
            let _ = waiting.pop();
            if waiting.is_empty() {
                return Some(number);
            }
            known.push((top, number)).ok()?;
        }
        None
    }

    /// What an operation makes of numbers.
    fn computed(&self, op: Op, [a, b, c]: [i64; 3]) -> Option<i64> {
        let plain = |n: i64| n & 0xffff_ffff;
        let program = self.look.program;
        let axis = || program.grid_axis(op);
        // Towards zero, then to the side that is asked for.
        let quotient = |a: i64, b: i64, up: bool| -> Option<i64> {
            let (q, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
            let is_below = (rest < 0) != (b < 0);
            Some(match (rest == 0, is_below, up) {
                (true, ..) | (false, true, true) | (false, false, false) => q,
                (false, true, false) => q.checked_sub(1)?,
                (false, false, true) => q.checked_add(1)?,
            })
        };
        Some(word(match program.index_word(op)? {
            IndexWord::Block => i64::try_from(self.look.block(axis()?)).ok()?,
            IndexWord::Blocks => i64::try_from(self.look.blocks(axis()?)).ok()?,
            IndexWord::Add => a.checked_add(b)?,
            IndexWord::Sub => a.checked_sub(b)?,
            IndexWord::Mul => a.checked_mul(b)?,
            IndexWord::Div => quotient(a, b, false)?,
            IndexWord::DivUnsigned => quotient(plain(a), plain(b), false)?,
            IndexWord::CeilDiv => quotient(a, b, true)?,
            IndexWord::CeilDivUnsigned => quotient(plain(a), plain(b), true)?,
            IndexWord::Rem => a.checked_sub(quotient(a, b, false)?.checked_mul(b)?)?,
            IndexWord::RemUnsigned => plain(a).checked_rem(plain(b))?,
            IndexWord::Min => a.min(b),
            IndexWord::Max => a.max(b),
            IndexWord::MinUnsigned => plain(a).min(plain(b)),
            IndexWord::MaxUnsigned => plain(a).max(plain(b)),
            IndexWord::Compare => {
                let (unsigned, [smaller, equal, greater]) = program.relation(op)?;
                let order = if unsigned { plain(a).cmp(&plain(b)) } else { a.cmp(&b) };
                i64::from(match order {
                    core::cmp::Ordering::Less => smaller,
                    core::cmp::Ordering::Equal => equal,
                    core::cmp::Ordering::Greater => greater,
                })
            }
            IndexWord::Select => {
                if a == 0 {
                    c
                } else {
                    b
                }
            }
        }))
    }
}

/// The number that 32 bits hold of one, with its sign.
fn word(n: i64) -> i64 {
    i64::from((n.cast_unsigned() as u32).cast_signed())
}

impl Prover<'_, '_, '_> {
    /// Whether a step of the operation wrote a register; which one of the tile's is remembered.
    pub(super) fn counted(&mut self, bits: BitRange, op: Op, at: u32) -> bool {
        let Content::Step(number, 0) = bits.content else { return false };
        let is_own = |step: &Step| usize::from(step.origin) == op.index();
        let is_made = self.look.steps.get(usize::from(number)).is_some_and(is_own);
        // One register may stand for all of a tile of one number.
        let place = if self.look.program.repeated_number(op).is_some() { 0 } else { at / 32 };
        is_made && u32::from(bits.bit) == at % 32 && self.bind(number, place)
    }
}

/// Carries out threads once more where goals ended at such steps.
#[inline(never)]
pub(super) fn numbers(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
) -> Result<(), Violation> {
    let is_met = |(step, bound): (&Step, &u32)| *bound != 0 && operation(look, step).is_some();
    if !look.steps.iter().zip(scratch.bound.iter()).any(is_met) {
        return Ok(());
    }
    ThreadRun::again(look, scratch)
}

/// The operation of such a tile that a step is of.
fn operation(look: &ContentsContext<'_>, step: &Step) -> Option<Op> {
    let function = look.program.functions().next()?;
    let is_own = |op: &Op| op.index() == usize::from(step.origin);
    let op = look.program.inside(function).find(is_own)?;
    let is_number = look.program.repeated_number(op).is_some();
    (is_number || look.program.coordinates(op).is_some()).then_some(op)
}

impl ThreadRun<'_, '_> {
    /// What a step writes is what its place of a tile holds in this thread.
    pub(super) fn is_number(
        &self,
        at: u16,
        step: &Step,
        found: Option<u64>,
    ) -> Result<(), Violation> {
        let place = self.claims.and_then(|claims| claims.get(usize::from(at))?.checked_sub(1));
        let Some((place, op)) = place.zip(operation(self.look, step)) else { return Ok(()) };
        let want = self.number_at(op, place);
        if want.is_some() && want == found.map(|n| n as u32) {
            return Ok(());
        }
        let value = self.look.program.result(op, 0);
        Err(Violation::Content { step: at, writer: at, value, at: place.saturating_mul(32) })
    }

    fn number_at(&self, op: Op, place: u32) -> Option<u32> {
        let program = self.look.program;
        if let Some(from) = program.repeated_number(op) {
            return match program.type_of(from).dtype {
                Some(_) => Some(self.look.argument(from, ParamKind::Scalar)? as u32),
                None => Some(self.index(from)? as u32),
            };
        }
        let of = program.coordinates(op)?;
        let value = program.result(op, 0)?;
        let fragment = self.look.fragment(value)?;
        let wave = u32::from(self.look.plan.wave);
        let lane = self.thread & power(usize::from(self.look.plan.wave))?.wrapping_sub(1);
        let warp = self.thread.checked_shr(wave).unwrap_or(0);
        let (element, _) = held(fragment, place.checked_mul(32)?, lane, warp)?;
        let (row, col) = row_col(fragment.shape, element)?;
        let is_row = of.dim.checked_add(2)? == program.type_of(value).shape.rank();
        let further = if is_row { row } else { col };
        Some(of.start.cast_unsigned().wrapping_add(further))
    }
}
