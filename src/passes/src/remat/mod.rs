//! Which values are computed in which layouts: the last word of the removal of conversions, by
//! exact cost.
//!
//! ```text
//! program --collect--> values, readers, layouts --ask (weigh, net)--> decisions --apply--> program, if the bill is smaller
//! ```
//!
//! Conversions are taken out of the program, so that every reader says for itself in which layout
//! it wants a value. Then, for each value that is wanted in a layout that it is not computed in,
//! the cheapest mixture of computing and converting around it is found (`weigh`) and kept when it
//! is cheaper than what was. Layouts pass through transpositions, reshapes, slices, broadcasts,
//! reductions, loops, conditions and consumer regions by the layout algebra (`layouts`). Values may
//! be computed in several layouts. At the end conversions stand where a value is made, as late as
//! its first reader allows: outside of loops that do not change it.
//!
//! What fixes a layout stays: memory, matrix operations, what passes do not know, everything on the
//! two sides of a fence, a wait or a deep pipeline stage.
//!
//! Guarantees: no recursion, no allocation, no panic; the program is changed only if [`CostReport`] says
//! that it is cheaper. Does not: choose layouts that nobody has asked for.
//!
//! | file | what |
//! | --- | --- |
//! | `facts` `layouts` | texts to maps; layouts by number, and what shape operations make of them |
//! | `behaviour` | what operations want of their operands' layouts |
//! | `cost` | the model and the bill |
//! | `weigh` `net` | one question, its network, the cheapest cut |
//! | `apply` | rewriting |
//! | `agree` | conversions that a program lacks |
//! | `possible` | what is wrong with layouts that are none |
pub(crate) mod apply;
pub(crate) mod behaviour;
pub(crate) mod cost;
pub(crate) mod insert_missing;
pub(crate) mod layout_facts;
pub(crate) mod layouts;
pub(crate) mod min_cut;
pub(crate) mod verify_layouts;
pub(crate) mod weight;

use crate::remat::behaviour::{LayoutBehaviour, ValueReader, in_registers, is_free};
use crate::remat::layouts::ProgramLayouts;
use crate::{PassContext, PassError};
use heapless::Vec;
use lanebook_ir::layout_table::{ANY, NONE, TableValue};
use lanebook_ir::rewrite::RunError;
use lanebook_ir::{ErrorKind, Op, Program, Type, Value};
use lanebook_tables::{OpId, OpRole, Space};

pub use crate::remat::cost::CostReport;
pub(crate) use crate::remat::insert_missing::agree;
pub(crate) use crate::remat::layout_facts::{blank, encoding_of};
pub use crate::remat::verify_layouts::check_layouts;

/// Rounds over all values.
const ROUNDS: usize = 6;
/// Layouts in which one value is wanted, looked at in one round.
const WANTED: usize = 8;

/// What a program's conversions cost, by the model of its tables.
///
/// # Errors
/// [`ErrorKind::Capacity`] when there are more layouts than the program's storage has room for
/// types.
pub fn bill(program: &mut Program<'_, '_>) -> Result<CostReport, ErrorKind> {
    let mut sheets = ProgramLayouts::new(program);
    let bill = sheets.bill();
    sheets.program.pools.layout_table.clear();
    bill
}

/// In shared or tensor memory.
fn is_on_chip(ty: &Type) -> bool {
    ty.is_tile() && matches!(ty.space, Some(Space::Shared | Space::Tensor))
}

/// Runs the pass; answers how many questions changed something.
#[doc(hidden)]
pub fn run(cx: &mut PassContext<'_, '_, '_>) -> Result<u32, PassError> {
    let convert = cx.program.tables().op_of_role(OpRole::Convert);
    let any = cx.program.all().any(|op| is_free(cx.program, op, false));
    let Some(convert) = convert.filter(|_| any) else { return Ok(0) };
    let mark = cx.program.mark();
    let outcome = decide(cx.program, convert);
    cx.program.pools.layout_table.clear();
    match outcome {
        Ok(Some(changed)) => {
            cx.program.keep(mark);
            for op in &changed {
                cx.changed(*op)?;
            }
            sweep(cx)?;
            Ok(changed.len() as u32)
        }
        Ok(None) => {
            cx.program.undo(mark);
            Ok(0)
        }
        Err(kind) => {
            cx.program.undo(mark);
            Err(PassError::Run(RunError::Graph(kind)))
        }
    }
}

/// Operations that are reported as changed.
type Changed = Vec<Op, 32>;

#[inline(never)]
fn decide(program: &mut Program<'_, '_>, convert: OpId) -> Result<Option<Changed>, ErrorKind> {
    let mut sheets = ProgramLayouts::new(program);
    let before = sheets.bill()?;
    sheets.collect()?;
    sheets.note_kinds();
    let mut changed = sheets.questions()?;
    sheets.forget_kinds();
    sheets.apply(convert)?;
    let after = sheets.bill()?;
    if after.rank() >= before.rank() {
        return Ok(None);
    }
    if changed.is_empty()
        && let Some(first) = sheets.program.first(sheets.program.root())
    {
        let _ = changed.push(first);
    }
    let mut alive = Changed::new();
    for op in changed.iter().filter(|op| sheets.program.is_alive(**op)) {
        let _ = alive.push(*op);
    }
    Ok(Some(alive))
}

/// Erases what nothing reads any more.
fn sweep(cx: &mut PassContext<'_, '_, '_>) -> Result<(), PassError> {
    cx.push_roles(|_| true)?;
    while let Some(op) = cx.pop()? {
        let tile =
            cx.program.result(op, 0).is_some_and(|value| in_registers(&cx.program.type_of(value)));
        if tile {
            cx.erase_if_unread(op)?;
        }
    }
    Ok(())
}

impl ProgramLayouts<'_, '_, '_> {
    /// Notes every value, what its readers want, and takes the conversions out.
    fn collect(&mut self) -> Result<(), ErrorKind> {
        let full = |capacity: usize| {
            let limit = u32::try_from(capacity).unwrap_or(u32::MAX);
            ErrorKind::Capacity { pool: lanebook_ir::Pool::Entries, limit }
        };
        let layout_table = &mut self.program.pools.layout_table;
        let (nodes, wants) =
            (full(layout_table.nodes.capacity()), full(layout_table.wants.capacity()));
        let values = self.program.pools.values.len();
        let uses = self.program.pools.uses.len();
        self.program.pools.layout_table.nodes.resize(values, TableValue::NEW).map_err(|_| nodes)?;
        self.program.pools.layout_table.wants.resize(uses, ANY).map_err(|_| wants)?;
        let ordered = self.program.all().any(|op| {
            matches!(self.program.role(op), OpRole::Fence | OpRole::Wait)
                || self.program.is_stage(op)
        });
        for index in 0..values {
            if let Some(value) = Value::at(index) {
                self.note(value)?;
            }
        }
        let mut at = self.program.first(self.program.root());
        while let Some(op) = at {
            at = self.program.following(op, None);
            self.note_wants(op, ordered)?;
        }
        // Whatever does not follow from its operands' layouts as it should is left as it is.
        for index in 0..values {
            if let Some(value) = Value::at(index) {
                self.check(value)?;
            }
        }
        // What a loop carries and what it passes on are of one type.
        for index in 0..values {
            let Some(value) = Value::at(index) else { break };
            if self.kind(value) != LayoutBehaviour::Fixed {
                continue;
            }
            match self.natural(value) {
                LayoutBehaviour::Carried(op, _) if self.program.role(op) == OpRole::While => {}
                LayoutBehaviour::After(op, number)
                | LayoutBehaviour::Carried(op, number)
                | LayoutBehaviour::Passed(op, number) => {
                    for other in [
                        self.last(op, usize::from(number)),
                        self.program.result(op, usize::from(number)),
                    ]
                    .into_iter()
                    .flatten()
                    {
                        self.fix(other);
                    }
                }
                // Both halves come from one place.
                LayoutBehaviour::Half => {
                    for number in 0..2 {
                        if let Some(other) = self
                            .program
                            .def_op(value)
                            .and_then(|op| self.program.result(op, number))
                        {
                            self.fix(other);
                        }
                    }
                }
                _ => {}
            }
        }
        let mut at = self.program.first(self.program.root());
        while let Some(op) = at {
            at = self.program.following(op, None);
            let numbered = self.program.result(op, 0).is_some_and(|result| {
                self.program.uses(result).all(|place| self.want_at(place).is_some())
            });
            if numbered
                && is_free(self.program, op, ordered)
                && let (Some(source), Some(result)) =
                    (self.program.operand(op, 0), self.program.result(op, 0))
            {
                self.program.replace_all_uses(result, source)?;
                self.program.erase(op)?;
                if let Some(node) = self.program.pools.layout_table.nodes.get_mut(result.index()) {
                    *node = TableValue::NEW;
                }
            }
        }
        Ok(())
    }
    fn note(&mut self, value: Value) -> Result<(), ErrorKind> {
        let ty = self.program.type_of(value);
        let stands = match self.program.def(value) {
            lanebook_ir::Def::Result(op, _) => self.program.is_alive(op),
            lanebook_ir::Def::Argument(..) => true,
            _ => false,
        };
        if !stands || !in_registers(&ty) {
            return Ok(());
        }
        let layout = self.at(value)?;
        self.enter(value, layout, true).map(|_| ())
    }
    fn fix(&mut self, value: Value) {
        if let Some(node) = self.program.pools.layout_table.nodes.get_mut(value.index()) {
            node.fix();
        }
    }
    fn note_wants(&mut self, op: Op, ordered: bool) -> Result<(), ErrorKind> {
        let mut at = self.program.uses_by(op).next();
        while let Some(place) = at {
            at = self.program.use_data(place).and_then(|data| data.next);
            let Some(value) = self.program.used(place) else { continue };
            let ty = self.program.type_of(value);
            if !in_registers(&ty) {
                continue;
            }
            let layout = self.at(value)?;
            let want = u8::try_from(layout).unwrap_or(ANY);
            if let Some(slot) = self.program.pools.layout_table.wants.get_mut(place.index()) {
                *slot = want;
            }
            if want == ANY {
                self.fix(value);
            }
            // What orders memory between two operations keeps the layouts on both sides.
            let pinned = ordered
                && self.program.def_op(value).is_none_or(|def| self.program.is_pinned(def, op));
            if pinned && !is_free(self.program, op, ordered) {
                self.fix(value);
                if let ValueReader::Value(user) = self.reader(place) {
                    self.fix(user);
                }
            }
        }
        Ok(())
    }
    /// Fixes a value whose layout is not what its inputs make it.
    fn check(&mut self, value: Value) -> Result<(), ErrorKind> {
        let kind = self.kind(value);
        let ty = self.program.type_of(value);
        if kind == LayoutBehaviour::Fixed || !in_registers(&ty) {
            return Ok(());
        }
        let own = self.at(value)?;
        let mut number = 0usize;
        while let Some((place, input)) = self.input(value, kind, number) {
            number = number.saturating_add(1);
            let of = self.program.type_of(input);
            if !in_registers(&of) {
                // A tile in memory, or one without extents.
                if of.is_tile() {
                    self.fix(value);
                }
                continue;
            }
            let has = match place.and_then(|place| self.want_at(place)) {
                Some(has) => has,
                None => self.at(input)?,
            };
            let agrees = self
                .need(value, kind, own, input)?
                .is_some_and(|needed| needed == has || self.same_map(needed, has));
            if !agrees {
                self.fix(value);
            }
        }
        Ok(())
    }
    pub(super) fn same_map(&self, a: u16, b: u16) -> bool {
        matches!((self.record(a), self.record(b)), (Some(a), Some(b)) if a.known && b.known && a.shape == b.shape && a.whole == b.whole)
    }
    /// Asks about every value that is wanted in a layout in which it is not computed, until nothing
    /// changes.
    fn questions(&mut self) -> Result<Changed, ErrorKind> {
        let mut changed = Changed::new();
        let values = self.program.pools.layout_table.nodes.len();
        for _ in 0..ROUNDS {
            let mut any = false;
            for index in 0..values {
                let Some(value) = Value::at(index) else { break };
                if self
                    .program
                    .pools
                    .layout_table
                    .nodes
                    .get(index)
                    .is_none_or(|node| node.first == NONE)
                {
                    continue;
                }
                if self.question(value)? {
                    any = true;
                    if let Some(op) = self.program.def_op(value) {
                        let _ = changed.push(op);
                    }
                }
            }
            if !any {
                break;
            }
        }
        Ok(changed)
    }
    fn question(&mut self, value: Value) -> Result<bool, ErrorKind> {
        let mut asked: Vec<(u16, Option<Value>), WANTED> = Vec::new();
        let mut walk = self.readers(value);
        while let Some(reader) = self.next_reader(value, &mut walk) {
            match reader {
                ValueReader::Exact(layout)
                    if layout != NONE
                        && !self.is_on(value, layout)
                        && !asked.contains(&(layout, None)) =>
                {
                    let _ = asked.push((layout, None));
                }
                ValueReader::Value(user) => {
                    let kind = self.kind(user);
                    for of in self.layouts_on::<4>(user).iter().copied() {
                        let Some(layout) = self.need(user, kind, of, value)? else { continue };
                        if !self.is_on(value, layout) && !asked.contains(&(layout, Some(user))) {
                            let _ = asked.push((layout, Some(user)));
                        }
                    }
                }
                _ => {}
            }
        }
        let mut better = false;
        for (layout, user) in asked.iter().copied() {
            // Upward: the value in the layout that is wanted.
            better |= self.kind(value) != LayoutBehaviour::Fixed && self.ask(value, layout)?;
            // Downward: the reader in the layout that there is.
            if let Some(user) = user {
                let kind = self.kind(user);
                for of in self.layouts_on::<4>(value).iter().copied() {
                    if let Some(new) = self.give(user, kind, of)? {
                        better |= self.ask(user, new)?;
                    }
                }
            }
        }
        Ok(better)
    }
}
