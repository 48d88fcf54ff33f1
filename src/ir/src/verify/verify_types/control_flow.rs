//! Loops and branches: what comes in, goes round and comes out.

use super::{OpTypes, VerifyResult, small_slot};
use crate::edit::inline::function_named;
use crate::error::{ErrorKind, ValueSlot, WantedType};
use crate::handle::{Block, Value};
use crate::types::TypeKind;
use crate::verify::structure::small;
use lanebook_tables::OpRole;

impl OpTypes<'_, '_, '_> {
    pub(super) fn counted(self) -> VerifyResult {
        let program = self.program;
        for number in 0..3 {
            let literal =
                self.value(ValueSlot::Operand(number)).and_then(|value| program.constant(value));
            if literal.is_none() {
                self.kind(ValueSlot::Operand(number), WantedType::Index)?;
            }
        }
        let step = self.value(ValueSlot::Operand(2)).and_then(|value| program.int(value));
        if step.is_some_and(|step| step <= 0) {
            return Err(ErrorKind::LoopStep);
        }
        let body = program.body(self.op);
        let carried = program.operand_count(self.op).saturating_sub(3);
        let arguments = body.map_or(0, |body| program.arguments(body).count());
        if arguments != carried.saturating_add(1) {
            return Err(ErrorKind::RegionValues {
                needed: small(carried.saturating_add(1)),
                found: small(arguments),
            });
        }
        let results = program.results(self.op).count();
        if results != carried {
            return Err(ErrorKind::RegionValues { needed: small(carried), found: small(results) });
        }
        for number in 0..u8::try_from(carried).unwrap_or(u8::MAX) {
            self.types_agree(
                ValueSlot::Operand(number.saturating_add(3)),
                ValueSlot::Argument(number.saturating_add(1)),
            )?;
            self.types_agree(
                ValueSlot::Argument(number.saturating_add(1)),
                ValueSlot::Result(number),
            )?;
        }
        self.passes_out(body)
    }
    /// The block's end passes one value for each result.
    pub(super) fn passes_out(self, block: Option<Block>) -> VerifyResult {
        let program = self.program;
        let results = program.results(self.op).count();
        let Some(block) = block else { return Ok(()) };
        let Some(end) = program.terminator(block) else {
            return if results == 0 { Ok(()) } else { Err(ErrorKind::NoTerminator) };
        };
        if program.role(end) != OpRole::Yield {
            return Err(ErrorKind::NoTerminator);
        }
        let found = program.operand_count(end);
        if found != results {
            return Err(ErrorKind::RegionValues { needed: small(results), found: small(found) });
        }
        for (number, (value, result)) in
            program.operands(end).zip(program.results(self.op)).enumerate()
        {
            let (a, b) = (program.type_of(value), program.type_of(result));
            let encodings = a.is_elided() || b.is_elided() || program.encodings_agree(&a, &b);
            if !a.agrees(&b) || !encodings {
                let number = number as u8;
                return Err(ErrorKind::Types {
                    left: ValueSlot::Yielded(number),
                    right: ValueSlot::Result(number),
                });
            }
        }
        Ok(())
    }
    pub(super) fn branches(self) -> VerifyResult {
        // An index that is not 0 is a truth as well.
        if self.ty(ValueSlot::Operand(0)).kind != TypeKind::Index {
            self.condition(ValueSlot::Operand(0))?;
        }
        for region in 0..2 {
            self.passes_out(self.program.entry(self.op, region))?;
        }
        Ok(())
    }
    pub(super) fn while_loop(self) -> VerifyResult {
        let program = self.program;
        let (Some(decides), Some(works)) = (program.entry(self.op, 0), program.entry(self.op, 1))
        else {
            return Ok(());
        };
        let Some(end) =
            program.terminator(decides).filter(|end| program.role(*end) == OpRole::Condition)
        else {
            return Err(ErrorKind::NoTerminator);
        };
        let count = |needed: usize, found: usize| {
            if needed == found {
                Ok(())
            } else {
                Err(ErrorKind::RegionValues { needed: small(needed), found: small(found) })
            }
        };
        let (carried, results) = (program.operand_count(self.op), program.results(self.op).count());
        count(carried, program.arguments(decides).count())?;
        count(results.saturating_add(1), program.operand_count(end))?;
        count(results, program.arguments(works).count())?;
        let back = program.terminator(works);
        count(carried, back.map_or(0, |back| program.operand_count(back)))?;
        // What comes in, from before the loop and from the end of its work, is of the arguments'
        // types; so is what goes on and out.
        for (number, argument) in program.arguments(decides).enumerate() {
            let slot = small_slot(number);
            self.fits(
                program.operand(self.op, number),
                argument,
                ValueSlot::Operand(slot),
                ValueSlot::Argument(slot),
            )?;
            self.fits(
                back.and_then(|back| program.operand(back, number)),
                argument,
                ValueSlot::Yielded(slot),
                ValueSlot::Argument(slot),
            )?;
        }
        for number in 0..results {
            let (slot, passed) =
                (small_slot(number), program.operand(end, number.saturating_add(1)));
            let (argument, result) =
                (program.arguments(works).nth(number), program.result(self.op, number));
            for to in [argument, result].into_iter().flatten() {
                self.fits(passed, to, ValueSlot::Yielded(slot), ValueSlot::Result(slot))?;
            }
        }
        Ok(())
    }
    /// A call of a function of the same text: what goes in and comes out. What another text has is
    /// not known here.
    pub(super) fn call(self) -> VerifyResult {
        let program = self.program;
        let Some(function) = function_named(program, program.symbol(self.op)) else {
            return Ok(());
        };
        let count = |needed: usize| u8::try_from(needed).unwrap_or(u8::MAX);
        let (needed, found) =
            (program.parameters(function).count(), program.operand_count(self.op));
        if needed != found {
            let (least, most) = (count(needed), count(needed));
            return Err(ErrorKind::OperandCount { least, most, found: small(found) });
        }
        let place = (0..found)
            .map(|number| program.subscripts(self.op, number).count())
            .find(|count| *count > 0);
        if let Some(found) = place {
            return Err(ErrorKind::Subscripts { rank: 0, found: small(found) });
        }
        for (number, (value, parameter)) in
            program.operands(self.op).zip(program.parameters(function)).enumerate()
        {
            let slots =
                (ValueSlot::Operand(small_slot(number)), ValueSlot::Argument(small_slot(number)));
            let is_number = program.type_of(value).is_elided() && program.int(value).is_some();
            if is_number && program.type_of(parameter).kind != TypeKind::Index {
                return Err(ErrorKind::Types { left: slots.0, right: slots.1 });
            }
            self.fits(Some(value), parameter, slots.0, slots.1)?;
        }
        let end = program.body(function).and_then(|body| program.terminator(body));
        let (needed, found) =
            (end.map_or(0, |end| program.operand_count(end)), program.results(self.op).count());
        if needed != found {
            let (least, most) = (count(needed), count(needed));
            return Err(ErrorKind::ResultCount { least, most, found: small(found) });
        }
        for (number, result) in program.results(self.op).enumerate() {
            let returned = end.and_then(|end| program.operand(end, number));
            let slot = small_slot(number);
            self.fits(returned, result, ValueSlot::Yielded(slot), ValueSlot::Result(slot))?;
        }
        Ok(())
    }
    /// Whether a value is of the type of what it becomes.
    fn fits(
        self,
        from: Option<Value>,
        to: Value,
        left: ValueSlot,
        right: ValueSlot,
    ) -> VerifyResult {
        let (Some(a), b) = (from.map(|from| self.program.type_of(from)), self.program.type_of(to))
        else {
            return Ok(());
        };
        let elided = a.is_elided() || b.is_elided();
        if elided || a.agrees(&b) && self.program.encodings_agree(&a, &b) {
            Ok(())
        } else {
            Err(ErrorKind::Types { left, right })
        }
    }
}
