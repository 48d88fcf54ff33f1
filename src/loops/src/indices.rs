//! Values of a program as index maps.

use crate::error::LoopErrorKind;
use crate::notation::select;
use crate::tell::{Fact, Teller};
use lanebook_infer::{FormError, FormOp, IndexForm};
use lanebook_ir::{AttrValue, Op, Value, attr_names};
use lanebook_tables::AxisWord;

/// Words of comparisons, with what they ask of `a < b`, `a == b`: whether operands are exchanged,
/// and whether the answer is turned over.
const COMPARISONS: &[(&str, FormOp, bool, bool)] = &[
    ("lt", FormOp::Less, false, false),
    ("gt", FormOp::Less, true, false),
    ("ge", FormOp::Less, false, true),
    ("le", FormOp::Less, true, true),
    ("eq", FormOp::Equal, false, false),
    ("ne", FormOp::Equal, false, true),
];

impl Teller<'_, '_, '_, '_> {
    /// The map of a value; `None` if it depends on data.
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
        let name = self.program.decl(op).map_or("", |decl| decl.name);
        let word = self.tables.anchors.meanings.iter().find(|m| m.op == name).map(|m| m.word);
        let mut operands: heapless::Vec<IndexForm, 3> = heapless::Vec::new();
        for operand in self.program.operands(op) {
            let Some(form) = self.index(operand)? else { return Ok(()) };
            if operands.push(form).is_err() {
                return Ok(());
            }
        }
        let made = match (word, operands.as_slice()) {
            // What a function takes or asks for once is the same for all its threads.
            (_, []) => self.symbol(result).map(Some)?,
            (Some(word), [a, b]) => self.combined(op, word, *a, *b).map_err(LoopErrorKind::Form)?,
            (Some(AxisWord::Same), [a]) => Some(*a),
            (Some(AxisWord::Select), [when, yes, no]) => {
                let arena = &mut self.inference.arena;
                Some(select(arena, *when, *yes, *no).map_err(LoopErrorKind::Form)?)
            }
            _ => None,
        };
        if let Some(form) = made {
            self.set_fact(result, Fact::Index(form))?;
        }
        Ok(())
    }

    fn combined(
        &mut self,
        op: Op,
        word: AxisWord,
        a: IndexForm,
        b: IndexForm,
    ) -> Result<Option<IndexForm>, FormError> {
        let arena = &mut self.inference.arena;
        let power = || {
            let bits = u32::try_from(b.constant).ok().filter(|bits| b.is_constant() && *bits < 32);
            bits.and_then(|bits| 1i64.checked_shl(bits))
        };
        Ok(Some(match word {
            AxisWord::Add => arena.add(a, b)?,
            AxisWord::Sub => arena.add_scaled(a, b, -1)?,
            AxisWord::Mul => arena.op(FormOp::Mul, a, b)?,
            AxisWord::Div => arena.op(FormOp::Div, a, b)?,
            AxisWord::Rem => arena.op(FormOp::Rem, a, b)?,
            AxisWord::And => arena.op(FormOp::And, a, b)?,
            AxisWord::Or => arena.op(FormOp::Or, a, b)?,
            AxisWord::Xor => arena.op(FormOp::Xor, a, b)?,
            AxisWord::Least => arena.op(FormOp::Min, a, b)?,
            AxisWord::Greatest => arena.op(FormOp::Max, a, b)?,
            AxisWord::Shl => match power() {
                Some(unit) => arena.scale(a, unit)?,
                None => return Ok(None),
            },
            AxisWord::Shr => match power() {
                Some(unit) => arena.div_rem(a, unit)?.0,
                None => return Ok(None),
            },
            AxisWord::Compare => return self.compared(op, a, b),
            _ => return Ok(None),
        }))
    }

    fn compared(
        &mut self,
        op: Op,
        a: IndexForm,
        b: IndexForm,
    ) -> Result<Option<IndexForm>, FormError> {
        let text = match self.program.attr(op, attr_names::KIND) {
            Some(AttrValue::Word(word) | AttrValue::Str(word)) => self.program.text(word),
            _ => match self.program.attr(op, attr_names::PREFIX) {
                Some(AttrValue::Text(words)) => self.program.text(words),
                _ => "",
            },
        };
        // Signed, unsigned: indices are not negative.
        let word = match text.len() {
            3 => text.strip_prefix(['s', 'u']).unwrap_or(text),
            _ => text,
        };
        let Some((_, cmp, turned, not)) = COMPARISONS.iter().find(|c| c.0 == word) else {
            return Ok(None);
        };
        let arena = &mut self.inference.arena;
        let (a, b) = if *turned { (b, a) } else { (a, b) };
        let form = arena.op(*cmp, a, b)?;
        Ok(Some(if *not { arena.add_scaled(IndexForm::constant(1), form, -1)? } else { form }))
    }
}
