//! Values of a program as index maps.

use crate::error::LoopErrorKind;
use crate::tell::{Fact, Teller};
use lanebook_infer::notation::select;
use lanebook_infer::{FormArena, FormError, FormOp, IndexForm};
use lanebook_ir::{AffineStep, Def, Op, TypeKind, Value, attr_names};
use lanebook_tables::{AxisWord, IndexWord};

/// Bits of an index.
const WORD: i64 = 32;

/// Most values of an affine map that wait for the operation that takes them.
const MAX_WAITING: usize = 28;

impl Teller<'_, '_, '_, '_> {
    /// The map of a value; `None` if it depends on data, or on a number
    /// below zero whose sign is left out.
    pub(crate) fn index(&mut self, value: Value) -> Result<Option<IndexForm>, LoopErrorKind> {
        if let Some(number) = self.program.int(value) {
            return Ok(Some(IndexForm::constant(number)));
        }
        Ok(match self.fact(value) {
            Fact::Index(form) => Some(form),
            _ => None,
        })
    }

    /// Learns the map of an operation's result.
    pub(crate) fn learn_index(&mut self, op: Op) -> Result<(), LoopErrorKind> {
        let Some(result) = self.program.result(op, 0) else { return Ok(()) };
        if self.program.has_attr(op, attr_names::MAP) {
            return match self.mapped(op)? {
                Some(form) => self.set_fact(result, Fact::Index(form)),
                None => Ok(()),
            };
        }
        if let (Some(IndexWord::Cast), Some(taken)) =
            (self.program.index_word(op), self.program.operand(op, 0))
            && self.program.type_of(taken).kind == TypeKind::Scalar
            && matches!(self.program.def(taken), Def::Argument(..))
        {
            // A whole number that the function takes: any that it holds.
            let form = self.signed_symbol(1)?;
            return self.set_fact(result, Fact::Index(form));
        }
        let mut operands: heapless::Vec<IndexForm, 3> = heapless::Vec::new();
        for operand in self.program.operands(op) {
            let Some(form) = self.index(operand)? else { return Ok(()) };
            if operands.push(form).is_err() {
                return Ok(());
            }
        }
        let made = match self.program.index_word(op) {
            // What a function takes or asks for once is the same for all its threads.
            _ if operands.is_empty() => self.symbol(result).map(Some)?,
            Some(word) => {
                let made = self.computed(op, word, &operands);
                // All threads have the same, in 32 bits, whatever it is.
                if made == Err(FormError::Overflow) && self.inside.is_none() {
                    return self
                        .signed_symbol(1)
                        .and_then(|own| self.set_fact(result, Fact::Index(own)));
                }
                made.map_err(LoopErrorKind::Form)?
            }
            None => self.meant(op, &operands).map_err(LoopErrorKind::Form)?,
        };
        if let Some(form) = made {
            self.set_fact(result, Fact::Index(form))?;
        }
        Ok(())
    }

    /// The affine map that an operation applies; `None` if an operand depends on data.
    fn mapped(&mut self, op: Op) -> Result<Option<IndexForm>, LoopErrorKind> {
        let (mut waiting, mut failed) = (heapless::Vec::<IndexForm, MAX_WAITING>::new(), None);
        let program = self.program;
        let done = program.affine_steps(op, |step| {
            let made = self.affine_step(op, step, &mut waiting);
            let made = made.inspect_err(|error| failed = Some(*error)).ok()??;
            waiting.push(made).ok()
        });
        match (failed, done) {
            (Some(error), _) => Err(error),
            (None, done) => Ok(done.and_then(|()| waiting.pop())),
        }
    }

    /// What a step of an affine map comes to, with what waits for it.
    fn affine_step(
        &mut self,
        op: Op,
        step: AffineStep,
        waiting: &mut heapless::Vec<IndexForm, MAX_WAITING>,
    ) -> Result<Option<IndexForm>, LoopErrorKind> {
        match step {
            AffineStep::Number(number) => return Ok(Some(IndexForm::constant(number))),
            AffineStep::Operand(at) => {
                let operand = self.program.operand(op, usize::from(at));
                return operand.map_or(Ok(None), |operand| self.index(operand));
            }
            _ => {}
        }
        let (Some(b), Some(a)) = (waiting.pop(), waiting.pop()) else { return Ok(None) };
        let arena = &mut self.inference.arena;
        let made = match step {
            AffineStep::Sub => arena.add_scaled(a, b, -1),
            AffineStep::Mul => arena.op(FormOp::Mul, a, b),
            AffineStep::FloorDiv => arena.op(FormOp::Div, a, b),
            AffineStep::CeilDiv => ceil_div(arena, a, b),
            AffineStep::Mod => arena.op(FormOp::Rem, a, b),
            _ => arena.add(a, b),
        };
        made.map(Some).map_err(LoopErrorKind::Form)
    }

    /// Whether a map is nowhere below zero: with a sign and without it is the same number.
    fn is_plain(&self, form: IndexForm) -> Result<bool, FormError> {
        self.inference.arena.range(form).map(|(low, _)| low >= 0)
    }

    /// What an operation on indices computes; `None` if it takes numbers without signs that may
    /// have one.
    fn computed(
        &mut self,
        op: Op,
        word: IndexWord,
        operands: &[IndexForm],
    ) -> Result<Option<IndexForm>, FormError> {
        if let (IndexWord::Select, [when, yes, no]) = (word, operands) {
            let arena = &mut self.inference.arena;
            let never = arena.op(FormOp::Equal, *when, IndexForm::constant(0))?;
            return select(arena, never, *no, *yes).map(Some);
        }
        if let (IndexWord::Cast, [own]) = (word, operands) {
            return Ok(Some(*own));
        }
        let [a, b] = *operands else { return Ok(None) };
        let plain = self.is_plain(a)? && self.is_plain(b)?;
        let arena = &mut self.inference.arena;
        Ok(Some(match word {
            IndexWord::Add => arena.add(a, b)?,
            IndexWord::Sub => arena.add_scaled(a, b, -1)?,
            IndexWord::Mul => arena.op(FormOp::Mul, a, b)?,
            IndexWord::Div => arena.op(FormOp::Div, a, b)?,
            IndexWord::Rem => arena.op(FormOp::Rem, a, b)?,
            IndexWord::Min => arena.op(FormOp::Min, a, b)?,
            IndexWord::Max => arena.op(FormOp::Max, a, b)?,
            IndexWord::CeilDiv => ceil_div(arena, a, b)?,
            IndexWord::Compare => return self.compared(op, [a, b], plain),
            IndexWord::DivUnsigned if plain => arena.op(FormOp::Div, a, b)?,
            IndexWord::RemUnsigned if plain => arena.op(FormOp::Rem, a, b)?,
            IndexWord::MinUnsigned if plain => arena.op(FormOp::Min, a, b)?,
            IndexWord::MaxUnsigned if plain => arena.op(FormOp::Max, a, b)?,
            IndexWord::CeilDivUnsigned if plain => ceil_div(arena, a, b)?,
            // The lower bits are the same whatever the sign says.
            IndexWord::RemUnsigned
                if b.is_constant() && u32::try_from(b.constant).is_ok_and(u32::is_power_of_two) =>
            {
                arena.op(FormOp::Rem, a, b)?
            }
            _ => return Ok(None),
        }))
    }

    /// 1 where a relation holds, else 0.
    fn compared(
        &mut self,
        op: Op,
        [a, b]: [IndexForm; 2],
        plain: bool,
    ) -> Result<Option<IndexForm>, FormError> {
        let Some((unsigned, holds)) = self.program.relation(op) else { return Ok(None) };
        if unsigned && !plain {
            return Ok(None);
        }
        let arena = &mut self.inference.arena;
        let one = IndexForm::constant(1);
        let (form, holds) = match holds {
            [smaller, equal, greater] if smaller == greater => {
                (arena.op(FormOp::Equal, a, b)?, equal)
            }
            // Less, or not greater; of the second pair the operands are exchanged.
            [true, equal, _] if !equal => (arena.op(FormOp::Less, a, b)?, true),
            [true, ..] => (arena.op(FormOp::Less, b, a)?, false),
            [_, equal, _] if !equal => (arena.op(FormOp::Less, b, a)?, true),
            _ => (arena.op(FormOp::Less, a, b)?, false),
        };
        Ok(Some(if holds { form } else { arena.add_scaled(one, form, -1)? }))
    }

    /// What an operation on integers means that is no word of indices (`meanings` in
    /// `rules/seeding.ron`). Quotients round towards zero there, and shifts may leave out the sign.
    /// `None`: it is not known.
    fn meant(&mut self, op: Op, operands: &[IndexForm]) -> Result<Option<IndexForm>, FormError> {
        let name = self.program.decl(op).map_or("", |decl| decl.name);
        let word = self.tables.seeding.meanings.iter().find(|m| m.op == name).map(|m| m.word);
        let (word, a, b) = match (word, operands) {
            (Some(AxisWord::Same), [a]) => return Ok(Some(*a)),
            (Some(AxisWord::Select), [when, yes, no]) => {
                return select(&mut self.inference.arena, *when, *yes, *no).map(Some);
            }
            (Some(word), [a, b]) => (word, *a, *b),
            _ => return Ok(None),
        };
        let is_positive = self.is_plain(a)?;
        let plain = is_positive && self.is_plain(b)?;
        let arena = &mut self.inference.arena;
        Ok(Some(match word {
            AxisWord::And => arena.op(FormOp::And, a, b)?,
            AxisWord::Or => arena.op(FormOp::Or, a, b)?,
            AxisWord::Xor => arena.op(FormOp::Xor, a, b)?,
            AxisWord::Div if plain => arena.op(FormOp::Div, a, b)?,
            AxisWord::Rem if plain => arena.op(FormOp::Rem, a, b)?,
            AxisWord::Div | AxisWord::Rem => {
                let Some(quotient) = toward_zero(arena, a, b)? else { return Ok(None) };
                match word {
                    AxisWord::Div => quotient,
                    _ => {
                        let whole = arena.op(FormOp::Mul, quotient, b)?;
                        arena.add_scaled(a, whole, -1)?
                    }
                }
            }
            AxisWord::Shl => return shifted(arena, a, b, FormArena::scale),
            AxisWord::Shr if is_positive => return shifted(arena, a, b, quotient),
            // Zeros come from above the word.
            AxisWord::Shr if b.is_constant() && (1..WORD).contains(&b.constant) => {
                let power =
                    |bits: i64| u32::try_from(bits).ok().and_then(|bits| 1i64.checked_shl(bits));
                let (Some(unit), Some(all)) =
                    (power(b.constant), power(WORD.saturating_sub(b.constant)))
                else {
                    return Ok(None);
                };
                let shifted = quotient(arena, a, unit)?;
                arena.div_rem(shifted, all)?.1
            }
            AxisWord::Ashr => return shifted(arena, a, b, quotient),
            _ => return Ok(None),
        }))
    }
}

/// `a / b`, rounded toward zero; `None` of a divisor that varies, or is zero.
fn toward_zero(
    arena: &mut FormArena<'_>,
    a: IndexForm,
    b: IndexForm,
) -> Result<Option<IndexForm>, FormError> {
    if !b.is_constant() || b.constant == 0 {
        return Ok(None);
    }
    let by = b.constant.checked_abs().ok_or(FormError::Overflow)?;
    let minus = arena.scale(a, -1)?;
    let (above, below) = (quotient(arena, a, by)?, quotient(arena, minus, by)?);
    let below = arena.scale(below, -1)?;
    let is_below = arena.op(FormOp::Less, a, IndexForm::constant(0))?;
    let out = select(arena, is_below, below, above)?;
    if b.constant < 0 { arena.scale(out, -1).map(Some) } else { Ok(Some(out)) }
}

/// `a / by`, rounded down.
fn quotient(arena: &mut FormArena<'_>, a: IndexForm, by: i64) -> Result<IndexForm, FormError> {
    arena.div_rem(a, by).map(|(quotient, _)| quotient)
}

/// `a` shifted by `places`, which `unit` does for a power of two; `None` where it may be shifted by
/// more places than its bits.
fn shifted<'m, F>(
    arena: &mut FormArena<'m>,
    a: IndexForm,
    places: IndexForm,
    unit: F,
) -> Result<Option<IndexForm>, FormError>
where
    F: Fn(&mut FormArena<'m>, IndexForm, i64) -> Result<IndexForm, FormError>,
{
    let (low, high) = arena.range(places)?;
    if low < 0 || high >= WORD {
        return Ok(None);
    }
    let mut made = a;
    // Bit by bit of the number of places.
    for bit in 0..WORD.ilog2() {
        let weight = 1i64.checked_shl(bit).ok_or(FormError::Overflow)?;
        if weight > high {
            break;
        }
        let by = u32::try_from(weight).ok().and_then(|by| 1i64.checked_shl(by));
        let by = by.ok_or(FormError::Overflow)?;
        let (above, _) = arena.div_rem(places, weight)?;
        let (_, when) = arena.div_rem(above, 2)?;
        if when.is_constant() && when.constant == 0 {
            continue;
        }
        let yes = unit(arena, made, by)?;
        made = select(arena, when, yes, made)?;
    }
    Ok(Some(made))
}

/// `a / b`, rounded up.
fn ceil_div(arena: &mut FormArena<'_>, a: IndexForm, b: IndexForm) -> Result<IndexForm, FormError> {
    let minus = arena.scale(a, -1)?;
    let below = arena.op(FormOp::Div, minus, b)?;
    arena.scale(below, -1)
}
