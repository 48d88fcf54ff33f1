//! Indices of the program, worked out for the turns that run: by what the text says alone.

use crate::contents::ContentsContext;
use crate::contents::address::ThreadRun;
use crate::contents::arguments::Given;
use crate::contents::storage::NO_LOOP;
use heapless::Vec;
use lanebook_emit::ParamKind;
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
