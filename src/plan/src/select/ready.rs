//! Whether a plan says all that emission asks: a distribution for every tile that an operation
//! reads, and no tile of more registers than a lane can name.

use crate::data::PlanError;
use crate::select::fragments::flow::{is_register_tile, spread};
use crate::select::planner::Planner;
use lanebook_ir::{Op, Value};
use lanebook_tables::{IndexWord, OpRole};

impl Planner<'_, '_, '_, '_> {
    /// Decides the operands of reductions, and of what takes an index, that nothing else decides:
    /// what is computed of numbers alone.
    pub(crate) fn choose_reduced(&mut self) -> Result<(), PlanError> {
        for op in self.program.inside(self.function) {
            let takes = self.program.role(op) == OpRole::Reduce || self.takes_index(op);
            if !takes || self.unread.covers(self.program, op) {
                continue;
            }
            if let Some(value) = self.program.operand(op, 0).filter(|value| self.lacks(*value)) {
                self.choose_free_tile(op, value)?;
            }
        }
        Ok(())
    }

    /// Decides the results of broadcasts that nothing else decides, where what is repeated is
    /// decided already: like the tile that it was reduced from, if that is of the same shape.
    pub(crate) fn choose_repeated(&mut self) -> Result<(), PlanError> {
        let program = self.program;
        for op in program.inside(self.function) {
            if program.role(op) != OpRole::Broadcast || self.unread.covers(program, op) {
                continue;
            }
            let Some(value) = program.result(op, 0).filter(|value| self.lacks(*value)) else {
                continue;
            };
            let whole = program
                .operand(op, 0)
                .and_then(|small| program.def_op(small))
                .filter(|def| program.role(*def) == OpRole::Reduce)
                .and_then(|reduce| program.operand(reduce, 0))
                .and_then(|whole| self.plan.fragment_of(whole));
            match whole {
                Some((_, whole)) if whole.shape == self.shape_of(op, value)? => {
                    let whole = *whole;
                    spread(
                        program,
                        value,
                        (whole, whole.unpacked),
                        None,
                        &self.unread,
                        (self.waiting, self.plan.fragments),
                    )?;
                }
                _ => self.choose_free_tile(op, value)?,
            }
        }
        Ok(())
    }

    /// Whether an operation takes the one element of a tile as an index.
    fn takes_index(&self, op: Op) -> bool {
        self.program.index_word(op) == Some(IndexWord::Uniform)
    }

    /// Whether a tile in registers has no distribution and is no number.
    fn lacks(&self, value: Value) -> bool {
        is_register_tile(self.program, value)
            && self.plan.fragment_of(value).is_none()
            && self.program.constant(value).is_none()
    }

    /// Whether all is decided that emission asks of register tiles.
    ///
    /// # Errors
    /// [`PlanError::Undecided`] and [`PlanError::Registers`], with the operation.
    pub(crate) fn ready(&self) -> Result<(), PlanError> {
        let program = self.program;
        let most = self.target.isa.tile_most();
        for op in program.inside(self.function) {
            let made = program.results(op).any(|v| self.plan.fragment_of(v).is_some());
            let computes = matches!(
                program.role(op),
                OpRole::Elementwise
                    | OpRole::Select
                    | OpRole::Reduce
                    | OpRole::Broadcast
                    | OpRole::Convert
                    | OpRole::Slice
            );
            let is_wanted = made && computes || self.takes_index(op);
            if is_wanted && program.operands(op).any(|value| self.lacks(value)) {
                return Err(PlanError::Undecided(op));
            }
            for value in program.results(op) {
                let registers = self.plan.fragment_of(value).map_or(0, |(_, f)| f.registers());
                if registers > most && !self.comes_in_parts(value) {
                    return Err(PlanError::Registers { op, registers, most });
                }
            }
        }
        // What is stored element by element is never whole in registers of their own.
        for exchange in self.plan.exchanges.iter() {
            let op = exchange.op;
            let from = match program.role(op) {
                OpRole::Convert => 0,
                _ => exchange.from.registers(),
            };
            let registers = from.max(exchange.to.registers());
            if registers > most {
                return Err(PlanError::Registers { op, registers, most });
            }
        }
        Ok(())
    }

    /// Whether a tile is a product's input that need not be whole: loaded, maybe renamed, and read
    /// by nothing else.
    fn comes_in_parts(&self, value: Value) -> bool {
        let program = self.program;
        // A conversion between two distributions needs the whole tile at once.
        let of = |value: Option<Value>| {
            value.and_then(|value| self.plan.fragment_of(value)).map(|(_, fragment)| *fragment)
        };
        let renames = |op: Op| match program.role(op) {
            OpRole::Transpose => true,
            OpRole::Convert => of(program.operand(op, 0)) == of(program.result(op, 0)),
            _ => false,
        };
        let made = program
            .def_op(value)
            .is_some_and(|def| program.role(def) == OpRole::Load || renames(def));
        made && program
            .uses(value)
            .filter_map(|place| program.user(place))
            .all(|user| program.role(user) == OpRole::Matrix || renames(user))
    }
}
