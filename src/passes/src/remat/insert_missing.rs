//! Conversions where operations want them: each operation reads its operands in the layouts that
//! follow from its result's, or gives the layout that follows from its operands'.
//!
//! Values keep their types; only what reductions give, and what no layout of the operands leads to,
//! is made in another layout and converted at once. What regions pass has one type on both sides
//! already.
use crate::remat::behaviour::{LayoutBehaviour, in_registers};
use crate::remat::layouts::{LayoutTransform, ProgramLayouts};
use crate::{PassContext, PassError, edit};
use lanebook_ir::{AttrValue, ErrorKind, Op, Type, Value, attr_names};
use lanebook_tables::{OpId, OpRole};

/// Adds the conversions that a program lacks.
pub(crate) fn agree(cx: &mut PassContext<'_, '_, '_>, convert: OpId) -> Result<(), PassError> {
    let mut at = cx.program.first(cx.program.root());
    while let Some(op) = at {
        at = cx.program.following(op, None);
        let given = cx.program.results(op).any(|value| in_registers(&cx.program.type_of(value)));
        if given && !matches!(cx.program.role(op), OpRole::Convert | OpRole::Load) {
            one(cx, convert, op)?;
        }
    }
    cx.program.pools.layout_table.clear();
    Ok(())
}

fn one(cx: &mut PassContext<'_, '_, '_>, convert: OpId, op: Op) -> Result<(), PassError> {
    let mut sheets = ProgramLayouts::resumed(cx.program);
    let changed = sheets.settle_op(convert, op).map_err(edit)?;
    if changed { cx.changed(op) } else { Ok(()) }
}

impl ProgramLayouts<'_, '_, '_> {
    fn settle_op(&mut self, convert: OpId, op: Op) -> Result<bool, ErrorKind> {
        let mut changed = false;
        let results = self.program.results(op).count();
        for number in 0..results {
            let Some(result) = self.program.result(op, number) else { continue };
            if !in_registers(&self.program.type_of(result)) {
                continue;
            }
            let reduces = self.program.role(op) == OpRole::Reduce;
            changed |= match self.natural(result) {
                _ if reduces => self.reduced(convert, op, number, result)?,
                LayoutBehaviour::Same
                | LayoutBehaviour::Paired
                | LayoutBehaviour::Expand(_)
                | LayoutBehaviour::Permute
                | LayoutBehaviour::Reshape
                | LayoutBehaviour::Half
                | LayoutBehaviour::Whole => {
                    self.asked(convert, result)? || self.given(convert, op, result)?
                }
                _ => false,
            };
        }
        Ok(changed)
    }
    /// Whether an input has a layout, or one of the same map.
    fn has(&mut self, input: Value, wanted: u16) -> Result<bool, ErrorKind> {
        let own = self.at(input)?;
        Ok(own == wanted || self.same_map(own, wanted))
    }
    /// Converts the operands to what the result's layout asks for; `false` if they have it, or if
    /// it asks for nothing that there is.
    fn asked(&mut self, convert: OpId, result: Value) -> Result<bool, ErrorKind> {
        let (kind, own) = (self.natural(result), self.at(result)?);
        let mut changed = false;
        let mut number = 0usize;
        while let Some((place, input)) = self.input(result, kind, number) {
            number = number.saturating_add(1);
            let ty = self.program.type_of(input);
            let (Some(place), true) = (place, in_registers(&ty)) else { continue };
            let Some(wanted) = self.need(result, kind, own, input)? else { return Ok(changed) };
            if self.has(input, wanted)? {
                continue;
            }
            let (Some(user), Some(encoding)) =
                (self.program.user(place), self.record(wanted).map(|record| record.encoding))
            else {
                continue;
            };
            let made =
                self.program.insert_before(user, convert, &[input], &[ty.encoded(encoding)])?;
            let made = self.program.result(made, 0).ok_or(ErrorKind::Broken)?;
            self.program.set_use(place, made)?;
            changed = true;
        }
        Ok(changed)
    }
    /// Where no layout of an operand leads to the result's: the result is made as its operand is,
    /// and converted.
    fn given(&mut self, convert: OpId, op: Op, result: Value) -> Result<bool, ErrorKind> {
        let (kind, own) = (self.natural(result), self.at(result)?);
        let Some((_, input)) = self
            .input(result, kind, 0)
            .filter(|(_, input)| in_registers(&self.program.type_of(*input)))
        else {
            return Ok(false);
        };
        if self.need(result, kind, own, input)?.is_some() {
            return Ok(false);
        }
        let from = self.at(input)?;
        match self.give(result, kind, from)? {
            Some(made) => self.made_in(convert, op, result, made),
            None => Ok(false),
        }
    }
    fn reduced(
        &mut self,
        convert: OpId,
        op: Op,
        number: usize,
        result: Value,
    ) -> Result<bool, ErrorKind> {
        let axis = match self.program.attr(op, attr_names::AXIS) {
            Some(AttrValue::Int(axis, _)) => u8::try_from(axis).ok(),
            _ => None,
        };
        let (Some(axis), Some(input)) = (axis, self.program.operand(op, number)) else {
            return Ok(false);
        };
        if self.program.keeps_dimension(op) {
            return Ok(false);
        }
        let from = self.at(input)?;
        match self.derive(from, LayoutTransform::Slice(axis))? {
            Some(made) => self.made_in(convert, op, result, made),
            None => Ok(false),
        }
    }
    /// Makes a result in another layout, and converts it to its own for all who read it.
    fn made_in(
        &mut self,
        convert: OpId,
        op: Op,
        result: Value,
        layout: u16,
    ) -> Result<bool, ErrorKind> {
        if self.has(result, layout)? {
            return Ok(false);
        }
        let ty: Type = self.program.type_of(result);
        let Some(encoding) = self.record(layout).map(|record| record.encoding) else {
            return Ok(false);
        };
        self.program.set_type(result, ty.encoded(encoding))?;
        if let (true, Some(next)) = (self.program.is_used(result), self.program.next(op)) {
            let made = self.program.insert_before(next, convert, &[result], &[ty])?;
            let old = self.program.result(made, 0).ok_or(ErrorKind::Broken)?;
            self.program.replace_all_uses(result, old)?;
            // The conversion itself reads what it converts.
            self.program.set_operand(made, 0, result)?;
        }
        Ok(true)
    }
}
