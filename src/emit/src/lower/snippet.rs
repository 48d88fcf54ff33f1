//! Snippets: functions that take or return register tiles, without the frame of a kernel. What a
//! kernel would load is in registers when the first step runs, and its results are behind the last.

use crate::expr::{Reg, Variable};
use crate::lower::context::{EmitError, LowerContext, full};
use crate::lower::interface::{Param, ParamKind};
use crate::pool::EmitPool;
use crate::step::{InstError, Missing};
use lanebook_ir::{Op, Value};
use lanebook_tables::RegisterKind;

impl LowerContext<'_, '_, '_, '_> {
    /// At a snippet's entry: the registers of the tiles that it takes, and of its scratch's start.
    #[inline(never)]
    pub(crate) fn enter_snippet(&mut self, function: Op) -> Result<(), EmitError> {
        for number in 0..self.params.len() {
            let Some(param) = self.params.get(number).filter(|p| p.kind == ParamKind::Tile) else {
                continue;
            };
            let value = param.value;
            let refuse = EmitError::Unplanned(function);
            let (_, fragment) = self.plan.fragment_of(value).ok_or(refuse)?;
            let class = self.tile_class(value)?;
            let reg = self.tile(class, fragment)?;
            self.steps.give(reg);
            self.place_parameter(number, reg);
            self.hold(value, reg)?;
        }
        if self.plan.shared_bytes == 0 {
            return Ok(());
        }
        let bits = u8::try_from(self.plan.shared_align.max(1).trailing_zeros()).unwrap_or(0);
        let reg = self.scratch_register(function)?;
        self.shared_base = Some(self.declare(Variable::word().uniform().aligned(bits), reg)?);
        Ok(())
    }

    /// The register that holds where the scratch begins.
    fn scratch_register(&mut self, function: Op) -> Result<Reg, EmitError> {
        let tables = self.machine.tables;
        let read =
            self.machine.isa.shared_base.and_then(|read| tables.atom(read)?.operands.first());
        let class = read
            .map(|operand| operand.class)
            .or_else(|| self.machine.class(RegisterKind::Scalar, 32))
            .ok_or(InstError::NoAtom(Missing::Class))?;
        let reg = self.steps.tuple(class, 1)?;
        self.steps.give(reg);
        let known = self.params.iter().position(|p| p.kind == ParamKind::Scratch);
        let number = match known {
            Some(number) => number,
            None => {
                let value = self.any_value(function).ok_or(EmitError::Unplanned(function))?;
                let kind = ParamKind::Scratch;
                let param = Param { value, kind, offset: 0, bytes: 4, align: 4, register: None };
                let number = self.params.len();
                self.params.push(param).map_err(|_| full(EmitPool::Params, self.params))?;
                number
            }
        };
        self.place_parameter(number, reg);
        Ok(reg)
    }

    /// What stands for the value of a parameter that has none.
    fn any_value(&self, function: Op) -> Option<Value> {
        let program = self.program;
        let of_results = || self.params.first().map(|param| param.value);
        program.parameters(function).next().or_else(of_results)
    }

    /// Says in which registers a parameter is.
    pub(crate) fn place_parameter(&mut self, number: usize, reg: Reg) {
        if let Some(param) = self.params.get_mut(number) {
            param.register = Some(reg);
        }
    }

    /// What a function returns stays in its registers.
    #[inline(never)]
    pub(crate) fn give_results(&mut self, op: Op) -> Result<(), EmitError> {
        let program = self.program;
        for (number, value) in (0u8..).zip(program.operands(op)) {
            let reg = self.tile_of(op, value)?;
            self.steps.keep(reg);
            let kind = ParamKind::Result(number);
            let place = self.params.iter().position(|p| p.kind == kind);
            self.place_parameter(place.ok_or(EmitError::Unplanned(op))?, reg);
        }
        Ok(())
    }
}
