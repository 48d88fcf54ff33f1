//! Writes into the program what was decided: values take on layouts, are computed again, or are
//! converted.
use crate::remat::behaviour::{LayoutBehaviour, ValueReader, first_carried};
use crate::remat::layouts::ProgramLayouts;
use lanebook_ir::layout_table::{NONE, ValueInLayout};
use lanebook_ir::{Block, Def, ErrorKind, Op, Type, Use, Value};
use lanebook_tables::{OpId, OpRole};

type ApplyResult<T = ()> = Result<T, ErrorKind>;

impl ProgramLayouts<'_, '_, '_> {
    fn entry_at(&self, number: u16) -> Option<ValueInLayout> {
        self.program.pools.layout_table.entries.get(usize::from(number)).copied()
    }
    fn set_made(&mut self, number: u16, value: Value) {
        if let Some(entry) = self.program.pools.layout_table.entries.get_mut(usize::from(number)) {
            entry.link = value.index() as u16;
        }
    }
    pub(super) fn first_entry(&self, value: Value) -> Option<u16> {
        let first = self.program.pools.layout_table.nodes.get(value.index())?.first;
        if first == NONE { None } else { Some(first) }
    }
    /// A value's type in a layout.
    fn type_in(&self, value: Value, layout: u16) -> Type {
        let ty = self.program.type_of(value);
        self.record(layout).map_or(ty, |record| Type { encoding: record.encoding, ..ty })
    }
    /// Rewrites the program; `convert` is the operation that converts.
    pub fn apply(&mut self, convert: OpId) -> ApplyResult {
        let values = self.program.pools.layout_table.nodes.len();
        for entry in self.program.pools.layout_table.entries.iter_mut() {
            entry.link = NONE;
        }
        // Loops and conditions after what they read and pass on is known by number alone.
        for after in [false, true] {
            for index in 0..values {
                let Some(value) = Value::at(index) else { break };
                let Some(first) = self.first_entry(value) else { continue };
                let kind = self.kind(value);
                if matches!(kind, LayoutBehaviour::After(..)) == after {
                    self.materialise(value, kind, first)?;
                }
            }
        }
        let mut at = self.program.first(self.program.root());
        while let Some(op) = at {
            self.connect(op, convert)?;
            at = self.program.following(op, None);
        }
        Ok(())
    }
    /// Gives every layout in which a value is computed something that computes it.
    fn materialise(&mut self, value: Value, kind: LayoutBehaviour, first: u16) -> ApplyResult {
        // Halves are made together, and each decides for itself.
        let mut free = kind != LayoutBehaviour::Half
            && self.entry_at(first).is_some_and(|entry| !entry.is_on());
        let mut at = first;
        while let Some(entry) = self.entry_at(at) {
            if entry.is_on() {
                let made = if let LayoutBehaviour::After(op, number) = kind {
                    self.after(op, number, entry.layout())?
                } else if at == first || free {
                    if at != first {
                        let ty = self.type_in(value, entry.layout());
                        self.program.set_type(value, ty)?;
                        if let LayoutBehaviour::Carried(op, number)
                        | LayoutBehaviour::Passed(op, number) = kind
                            && self.last(op, usize::from(number)) == Some(value)
                            && let Some(result) = self.program.result(op, usize::from(number))
                        {
                            self.program.set_type(result, ty)?;
                        }
                    }
                    free = false;
                    value
                } else {
                    match self.made_beside(value, kind, entry.layout()) {
                        Some(made) => made,
                        None => self.again(value, kind, entry.layout())?,
                    }
                };
                self.set_made(at, made);
            }
            at = entry.next;
        }
        Ok(())
    }
    /// A half that came about when the other one was made in a layout.
    fn made_beside(&self, value: Value, kind: LayoutBehaviour, layout: u16) -> Option<Value> {
        let Def::Result(op, number) = self.program.def(value) else { return None };
        if kind != LayoutBehaviour::Half {
            return None;
        }
        let other = self.program.result(op, if number == 0 { 1 } else { 0 })?;
        let made = self.entry(other, layout).and_then(|at| self.entry_at(at))?.made()?;
        let found = self.program.result(self.program.def_op(made)?, usize::from(number))?;
        (self.program.type_of(found).encoding == self.type_in(value, layout).encoding)
            .then_some(found)
    }
    /// The result of a loop that carries the value in a layout.
    fn after(&mut self, op: Op, number: u16, layout: u16) -> ApplyResult<Value> {
        let argument = self.last(op, usize::from(number)).ok_or(ErrorKind::Broken)?;
        let made = self
            .entry(argument, layout)
            .and_then(|at| self.entry_at(at))
            .and_then(|entry| entry.made())
            .ok_or(ErrorKind::Broken)?;
        let Def::Argument(_, place) = self.program.def(made) else { return Err(ErrorKind::Broken) };
        let place = if self.program.role(op) == OpRole::While {
            usize::from(place)
        } else {
            usize::from(place).saturating_sub(1)
        };
        let result = self.program.result(op, place).ok_or(ErrorKind::Broken)?;
        let ty = self.type_in(result, layout);
        self.program.set_type(result, ty)?;
        Ok(result)
    }
    /// A value once more, in another layout. What it reads is seen to later.
    fn again(&mut self, value: Value, kind: LayoutBehaviour, layout: u16) -> ApplyResult<Value> {
        let ty = self.type_in(value, layout);
        match kind {
            LayoutBehaviour::Carried(op, number) if self.program.role(op) == OpRole::While => {
                let number = usize::from(number);
                let decides = self.program.entry(op, 0).ok_or(ErrorKind::Broken)?;
                let back = self
                    .program
                    .entry(op, 1)
                    .and_then(|works| self.program.terminator(works))
                    .ok_or(ErrorKind::Broken)?;
                let init = self.program.operand(op, number).ok_or(ErrorKind::Broken)?;
                let passed = self.program.operand(back, number).ok_or(ErrorKind::Broken)?;
                self.program.add_operand(op, init)?;
                self.program.add_operand(back, passed)?;
                self.program.add_argument(decides, ty)
            }
            LayoutBehaviour::Passed(op, number) => {
                let works = self.program.entry(op, 1).ok_or(ErrorKind::Broken)?;
                let end = self
                    .program
                    .entry(op, 0)
                    .and_then(|decides| self.program.terminator(decides))
                    .ok_or(ErrorKind::Broken)?;
                let passed = self
                    .program
                    .operand(end, usize::from(number).saturating_add(1))
                    .ok_or(ErrorKind::Broken)?;
                self.program.add_operand(end, passed)?;
                self.program.add_result(op, ty)?;
                self.program.add_argument(works, ty)
            }
            LayoutBehaviour::Carried(op, number) => {
                let number = usize::from(number);
                let body = self.program.body(op).ok_or(ErrorKind::Broken)?;
                let end = self.program.terminator(body).ok_or(ErrorKind::Broken)?;
                let init =
                    self.program.operand(op, number.saturating_add(3)).ok_or(ErrorKind::Broken)?;
                let passed = self.program.operand(end, number).ok_or(ErrorKind::Broken)?;
                self.program.add_operand(op, init)?;
                self.program.add_operand(end, passed)?;
                self.program.add_result(op, ty)?;
                self.program.add_argument(body, ty)
            }
            LayoutBehaviour::Branch(op, number) => {
                let mut region = 0usize;
                while let Some(block) = self.program.entry(op, region) {
                    region = region.saturating_add(1);
                    let end = self.program.terminator(block).ok_or(ErrorKind::Broken)?;
                    let passed =
                        self.program.operand(end, usize::from(number)).ok_or(ErrorKind::Broken)?;
                    self.program.add_operand(end, passed)?;
                }
                self.program.add_result(op, ty)
            }
            _ => {
                let op = self.program.def_op(value).ok_or(ErrorKind::Broken)?;
                let copy = self.program.clone_before(op, op)?;
                let number = match self.program.def(value) {
                    Def::Result(_, number) => usize::from(number),
                    _ => 0,
                };
                let mut result = self.program.result(copy, 0);
                while let Some(made) = result {
                    result = self.program.value_data(made).and_then(|data| data.next);
                    self.program.set_type(made, ty)?;
                }
                self.program.result(copy, number).ok_or(ErrorKind::Broken)
            }
        }
    }
    /// Lets an operation read what it wants.
    fn connect(&mut self, op: Op, convert: OpId) -> ApplyResult {
        let mut place = self.program.operand_use(op, 0);
        let mut number = 0usize;
        while let Some(at) = place {
            let value = self.program.used(at);
            if let Some(value) = value.filter(|value| self.first_entry(*value).is_some()) {
                let found = self.wanted(op, at, number, value, convert)?;
                self.program.set_use(at, found)?;
            }
            number = number.saturating_add(1);
            place = self.program.operand_use(op, number);
        }
        Ok(())
    }
    /// The value in the layout that a place wants.
    fn wanted(
        &mut self,
        op: Op,
        place: Use,
        number: usize,
        value: Value,
        convert: OpId,
    ) -> ApplyResult<Value> {
        let user = match self.program.role(op) {
            OpRole::Yield => {
                self.program.parent(op).and_then(|parent| match self.program.role(parent) {
                    OpRole::For | OpRole::Parallel | OpRole::While => self.argument(parent, number),
                    _ => self.program.result(parent, number),
                })
            }
            OpRole::For | OpRole::Parallel | OpRole::While => number
                .checked_sub(first_carried(self.program, op))
                .and_then(|number| self.argument(op, number)),
            OpRole::Condition => {
                self.program.parent(op).and_then(|parent| self.last(parent, number.checked_sub(1)?))
            }
            _ => None,
        };
        let layout = match (user, self.reader(place)) {
            // What regions pass is of the type that they were given.
            (Some(user), _) if self.kind(user) != LayoutBehaviour::Fixed => {
                let ty = self.program.type_of(user);
                Some(self.of(&ty)?)
            }
            // Both halves are made elsewhere; this operation goes.
            (_, ValueReader::Value(_)) if self.is_replaced(op) => None,
            (_, ValueReader::Value(user)) => {
                let (ty, kind) = (self.program.type_of(user), self.kind(user));
                let own = self.of(&ty)?;
                self.need(user, kind, own, value)?
            }
            (_, ValueReader::Exact(layout)) => Some(layout),
            (_, ValueReader::Any) => None,
        };
        let layout = match layout {
            Some(layout) if layout != NONE => layout,
            _ => self.layouts_on::<1>(value).first().copied().ok_or(ErrorKind::Broken)?,
        };
        if let Some(made) = self
            .entry(value, layout)
            .and_then(|at| self.entry_at(at))
            .and_then(|entry| entry.made())
        {
            return Ok(made);
        }
        let on = self.layouts_on::<4>(value);
        let from = on
            .iter()
            .copied()
            .find(|from| self.renames(*from, layout))
            .or(on.first().copied())
            .ok_or(ErrorKind::Broken)?;
        let source = self
            .entry(value, from)
            .and_then(|at| self.entry_at(at))
            .and_then(|entry| entry.made())
            .ok_or(ErrorKind::Broken)?;
        let home = crate::remat::cost::home(self.program, value).ok_or(ErrorKind::Broken)?;
        let anchor = self.stands_in(op, home).ok_or(ErrorKind::Broken)?;
        let ty = self.type_in(value, layout);
        let made = self.program.insert_before(anchor, convert, &[source], &[ty])?;
        let made = self.program.result(made, 0).ok_or(ErrorKind::Broken)?;
        let entry = self.enter(value, layout, false)?;
        self.set_made(entry, made);
        Ok(made)
    }
    /// Whether both halves that an operation made are made by others now.
    fn is_replaced(&self, op: Op) -> bool {
        let off = |number| {
            let first = self
                .program
                .result(op, number)
                .and_then(|value| self.first_entry(value))
                .and_then(|first| self.entry_at(first));
            first.is_some_and(|entry| !entry.is_on())
        };
        self.program.role(op) == OpRole::Split && off(0) && off(1)
    }
    /// The operation of a block that an operation is, or is inside of.
    fn stands_in(&self, op: Op, block: Block) -> Option<Op> {
        let mut at = op;
        loop {
            let own = self.program.block_of(at)?;
            if own == block {
                return Some(at);
            }
            at = self.program.owner_of(own)?;
        }
    }
}
