//! Conversions that the program does not write: where two uses of a register tile want it
//! distributed in different ways, one of them gets a converted copy; so does a tile that no
//! instruction stores as it is, and the readers of one that no instruction loads as they want it.
//!
//! The planner says at which operand of which operation the two meet ([`PlanError::Conflict`]); the
//! conversion goes there, and all is planned again with what it costs. A layout that the program
//! writes stays that of the tile that has its name for its readers. Where both sides turn out to
//! be alike it is none. A constant is written once more instead.

use crate::data::ConversionPlace;
use crate::data::{PlanError, PlanPool};
use heapless::VecView;
use lanebook_ir::{AttrValue, Op, Program, TileEncoding, Type, Value, attr_names};
use lanebook_tables::OpRole;
use lanebook_tile::tiling::Reject;

/// What was put into a program.
#[doc(hidden)]
pub struct InsertedConversions<'w> {
    ops: &'w mut VecView<Op>,
    /// The first that is its own: those before were put in for a plan that is made once more.
    from: usize,
    first: Option<PlanError>,
    /// Where there was no room for one more.
    full: Option<Op>,
}

/// What was put in for a plan that is made once more.
#[doc(hidden)]
pub struct EarlierConversions {
    from: usize,
    first: Option<PlanError>,
    full: Option<Op>,
}

impl<'w> InsertedConversions<'w> {
    /// Nothing yet.
    #[doc(hidden)]
    pub fn new(ops: &'w mut VecView<Op>) -> Self {
        ops.clear();
        Self { ops, from: 0, first: None, full: None }
    }

    /// What has been put in stays, and is taken out no more until [`Self::end_again`].
    #[doc(hidden)]
    pub fn begin_again(&mut self) -> EarlierConversions {
        let Self { from, first, full, .. } = *self;
        (self.from, self.first, self.full) = (self.ops.len(), None, None);
        EarlierConversions { from, first, full }
    }

    /// Behind a plan that was made once more in vain, when what it put in is out again.
    #[doc(hidden)]
    pub fn end_again(&mut self, earlier: EarlierConversions) {
        let EarlierConversions { from, first, full } = earlier;
        (self.from, self.first, self.full) = (from, first, full);
    }

    /// Those that are its own.
    fn own(&self) -> &[Op] {
        self.ops.get(self.from..).unwrap_or_default()
    }

    /// Puts a conversion where a plan failed for want of one; false where none can stand, or there
    /// is no more room.
    #[doc(hidden)]
    pub fn repair(&mut self, program: &mut Program<'_, '_>, error: PlanError) -> bool {
        self.first = self.first.or(Some(error));
        let (op, place) = match error {
            PlanError::Conflict { op, .. } if is_led_load(program, op) => {
                match self.beside_load(program, op, true) {
                    Some(place) => (op, place),
                    None => return false,
                }
            }
            // What a product adds to has been converted: its result is another tile than the one
            // whose layout is written.
            PlanError::Conflict { op, place: Some(ConversionPlace::Before(2)) }
                if program.role(op) == OpRole::Matrix
                    && self.made(program, program.operand(op, 2))
                    && is_written(program, op) =>
            {
                (op, ConversionPlace::Behind)
            }
            PlanError::Conflict { op, place: Some(place) } => (op, place),
            // What goes to memory or comes from there element by element has a register for each,
            // where its layout is written; the lanes are the same.
            PlanError::NoCopyAtom { op, why: Reject::Bounds { .. } }
                if moved(program, op).is_some_and(|tile| is_packed(program, tile)) =>
            {
                if self.is_full(op) {
                    return false;
                }
                let made = unpacked(program, op);
                return self.keep(made);
            }
            // What no instruction stores as it is distributed may be distributed in another way
            // behind a conversion.
            PlanError::NoCopyAtom { op, .. } => match program.role(op) {
                // A tile whose layout is written is another one behind a conversion.
                OpRole::Store | OpRole::Atomic
                    if !self.made(program, program.operand(op, 0))
                        || program.operand(op, 0).is_some_and(|tile| has_layout(program, tile)) =>
                {
                    (op, ConversionPlace::Before(0))
                }
                // Nor need what it answers be distributed as its readers want it.
                OpRole::Atomic
                    if program.answer(op).is_some() && !self.is_converted(program, op) =>
                {
                    (op, ConversionPlace::Behind)
                }
                OpRole::Load if is_led_load(program, op) => {
                    match self.beside_load(program, op, false) {
                        Some(operand) => (op, operand),
                        None => return false,
                    }
                }
                // Nor need what memory holds be distributed by the load as its readers want it.
                OpRole::Load if !self.is_converted(program, op) || is_written(program, op) => {
                    (op, ConversionPlace::Behind)
                }
                _ => return false,
            },
            _ => return false,
        };
        if self.is_full(op) {
            return false;
        }
        let made = match place {
            ConversionPlace::Behind => behind_freely(program, op),
            ConversionPlace::Before(operand) => before(program, op, usize::from(operand)),
        };
        self.keep(made)
    }

    /// Puts a conversion behind each load that no mask leads, so that all of them may be distributed
    /// as some instruction loads them; with `factors` also in front of each factor of a product that
    /// comes from elsewhere. False where there are none, or no room for all.
    #[doc(hidden)]
    pub fn everywhere(
        &mut self,
        program: &mut Program<'_, '_>,
        function: Op,
        factors: bool,
    ) -> bool {
        let mut at = program.following(function, Some(function));
        while let Some(op) = at {
            at = program.following(op, Some(function));
            let done = match program.role(op) {
                OpRole::Load if !is_led_load(program, op) => {
                    !self.is_full(op) && self.keep(behind_freely(program, op))
                }
                OpRole::Matrix if factors => (0..2).all(|number| {
                    let from = program.operand(op, number).and_then(|value| program.def_op(value));
                    let role = from.map(|from| program.role(from));
                    matches!(role, Some(OpRole::Load | OpRole::Convert))
                        || !self.is_full(op) && self.keep(before(program, op, number))
                }),
                _ => true,
            };
            if !done {
                return false;
            }
        }
        !self.own().is_empty()
    }

    /// Whether there is no room for a conversion that an operation wants: that is what keeps a plan
    /// from being made, then.
    fn is_full(&mut self, op: Op) -> bool {
        if self.ops.is_full() {
            self.full = self.full.or(Some(op));
        }
        self.ops.is_full()
    }

    /// Remembers what was put in; false where nothing was.
    fn keep(&mut self, made: Option<Op>) -> bool {
        made.is_some_and(|made| self.ops.push(made).is_ok())
    }

    /// Whether a value comes from a conversion that was put here.
    fn made(&self, program: &Program<'_, '_>, value: Option<Value>) -> bool {
        value.and_then(|value| program.def_op(value)).is_some_and(|def| self.own().contains(&def))
    }

    /// Where a conversion lets a load with a mask or indices be distributed as an instruction loads
    /// it: before one of these, or behind it, where its readers want another way; `None` where all
    /// are there.
    fn beside_load(
        &self,
        program: &Program<'_, '_>,
        op: Op,
        before_first: bool,
    ) -> Option<ConversionPlace> {
        let led = program.beside_moved(op).find(|value| !self.made(program, Some(*value)));
        let before = led
            .and_then(|value| program.operands(op).position(|operand| operand == value))
            .and_then(|number| u8::try_from(number).ok())
            .map(ConversionPlace::Before);
        let behind = (!self.is_converted(program, op)).then_some(ConversionPlace::Behind);
        if before_first { before.or(behind) } else { behind.or(before) }
    }

    /// Whether a conversion that was put here is all that reads an operation's result.
    fn is_converted(&self, program: &Program<'_, '_>, op: Op) -> bool {
        program.result(op, 0).is_some_and(|value| {
            let mut users = program.uses(value).map(|place| program.user(place));
            users.all(|user| user.is_some_and(|user| self.own().contains(&user)))
        })
    }

    /// The operation of the caller's program that an operation is there for: itself, or the first
    /// reader of what was put in, or else what makes its operand.
    #[doc(hidden)]
    pub fn home(&self, program: &Program<'_, '_>, op: Op) -> Op {
        let mut at = op;
        for _ in 0..self.own().len() {
            if !self.own().contains(&at) {
                return at;
            }
            let readers = program.result(at, 0).into_iter().flat_map(|made| program.uses(made));
            let reader = readers
                .filter_map(|place| program.user(place))
                .find(|user| !self.own().contains(user));
            let maker = || source(program, at).and_then(|from| program.def_op(from));
            match reader.or_else(maker) {
                Some(home) => at = home,
                None => return op,
            }
        }
        at
    }

    /// Takes everything out again.
    #[doc(hidden)]
    pub fn rollback(&mut self, program: &mut Program<'_, '_>) {
        while self.ops.len() > self.from {
            let Some(op) = self.ops.pop() else { return };
            if let (Some(to), Some(from)) = (program.result(op, 0), source(program, op)) {
                let (given, kept) = (program.type_of(to), program.type_of(from));
                let _ = program.replace_all_uses(to, from);
                if let Some(def) = program.def_op(from) {
                    let _ = program.remove_attr(def, attr_names::UNPACKED);
                }
                if kept.encoding == TileEncoding::None {
                    let _ = program.set_type(from, given);
                }
            }
            let _ = program.erase(op);
        }
    }

    /// Why a load that was converted could not be left as it is: what a kernel that does not become
    /// one is refused for, which says more than what becomes too much behind it.
    #[doc(hidden)]
    #[must_use]
    pub fn refused_load(&self, program: &Program<'_, '_>) -> Option<PlanError> {
        self.first.filter(|error| match error {
            PlanError::NoCopyAtom { op, .. } => program.role(*op) == OpRole::Load,
            _ => false,
        })
    }

    /// What the caller is to be told: of what is refused for want of a conversion, why it was at
    /// first; unless, with the conversions there, it is a movement of the program's own that no
    /// instruction does.
    #[doc(hidden)]
    pub fn original_error(&self, program: &Program<'_, '_>, last: PlanError) -> PlanError {
        let room = self.full.map(|op| PlanError::Capacity {
            pool: PlanPool::Conversions,
            capacity: u32::try_from(self.ops.capacity()).unwrap_or(u32::MAX),
            op: Some(op),
        });
        match last {
            PlanError::Conflict { .. } | PlanError::NoCopyAtom { .. } if room.is_some() => {
                room.unwrap_or(last)
            }
            PlanError::NoCopyAtom { op, .. }
                if matches!(self.first, Some(PlanError::Conflict { .. }))
                    && !self.own().contains(&op)
                    && !program.operands(op).any(|value| self.made(program, Some(value))) =>
            {
                last
            }
            PlanError::Conflict { .. } | PlanError::NoCopyAtom { .. } => self.first.unwrap_or(last),
            _ => last,
        }
    }
}

/// Whether the program writes the layout of an operation's result.
fn is_written(program: &Program<'_, '_>, op: Op) -> bool {
    program.result(op, 0).is_some_and(|tile| has_layout(program, tile))
}

fn has_layout(program: &Program<'_, '_>, tile: Value) -> bool {
    program.type_of(tile).encoding != TileEncoding::None
}

/// The register tile that a load or a store moves.
fn moved(program: &Program<'_, '_>, op: Op) -> Option<Value> {
    match program.role(op) {
        OpRole::Load => program.result(op, 0),
        OpRole::Store => program.operand(op, 0),
        _ => None,
    }
}

/// Whether the layout of a tile is written, and several of its elements may share a register.
fn is_packed(program: &Program<'_, '_>, tile: Value) -> bool {
    let ty = program.type_of(tile);
    let dtype = ty.dtype.and_then(|dtype| program.tables().dtype(dtype));
    let marked = |def: Op| program.has_attr(def, attr_names::UNPACKED);
    ty.encoding != TileEncoding::None
        && dtype.is_some_and(|dtype| dtype.held < 32)
        && !program.def_op(tile).is_some_and(marked)
}

/// A conversion between the tile that a load or a store moves, with a register for each element, and
/// the one that the program writes: both have its layout.
fn unpacked(program: &mut Program<'_, '_>, op: Op) -> Option<Op> {
    let value = moved(program, op)?;
    let ty = program.type_of(value);
    if program.role(op) == OpRole::Load {
        program.set_attr(op, attr_names::UNPACKED, AttrValue::Unit).ok()?;
        let made = behind(program, op, ty);
        if made.is_none() {
            let _ = program.remove_attr(op, attr_names::UNPACKED);
        }
        return made;
    }
    let made = conversion(program, op, value, ty)?;
    let to = program.result(made, 0)?;
    let done = program
        .set_attr(made, attr_names::UNPACKED, AttrValue::Unit)
        .and_then(|()| program.set_operand(op, 0, to));
    if done.is_err() {
        let _ = program.erase(made);
        return None;
    }
    Some(made)
}

/// Whether an operation is a load of which a tile says what it touches.
fn is_led_load(program: &Program<'_, '_>, op: Op) -> bool {
    program.role(op) == OpRole::Load && program.beside_moved(op).next().is_some()
}

/// What an inserted operation stands for: a conversion's operand, or the constant that it repeats.
fn source(program: &Program<'_, '_>, op: Op) -> Option<Value> {
    match program.attr(op, attr_names::INSERTED) {
        Some(_) => program.operand(op, 0),
        None => program.previous(op).and_then(|constant| program.result(constant, 0)),
    }
}

/// The type of a tile whose layout nobody writes.
fn unwritten(ty: Type) -> Type {
    Type { encoding: TileEncoding::None, ..ty }
}

/// A conversion of a value to a type, before an operation.
fn conversion(program: &mut Program<'_, '_>, anchor: Op, value: Value, ty: Type) -> Option<Op> {
    let decl = program.tables().op_of_role(OpRole::Convert)?;
    let made = program.insert_before(anchor, decl, &[value], &[ty]).ok()?;
    if program.set_attr(made, attr_names::INSERTED, AttrValue::Unit).is_err() {
        let _ = program.erase(made);
        return None;
    }
    Some(made)
}

/// A converted copy of an operand for one reader. What the program writes is the operand's layout,
/// not the copy's.
fn before(program: &mut Program<'_, '_>, op: Op, number: usize) -> Option<Op> {
    let value = program.operand(op, number)?;
    let constant = program.def_op(value).filter(|_| program.constant(value).is_some());
    let made = match constant {
        // Right behind the one that it repeats.
        Some(constant) => {
            let next = program.next(constant)?;
            program.clone_before(constant, next).ok()?
        }
        None => conversion(program, op, value, unwritten(program.type_of(value)))?,
    };
    let to = program.result(made, 0)?;
    let free = unwritten(program.type_of(to));
    match program.set_type(to, free).and_then(|()| program.set_operand(op, number, to)) {
        Ok(()) => Some(made),
        Err(_) => {
            let _ = program.erase(made);
            None
        }
    }
}

/// A converted copy of a result that is distributed as it pleases.
fn behind_freely(program: &mut Program<'_, '_>, op: Op) -> Option<Op> {
    let ty = program.type_of(program.result(op, 0)?);
    behind(program, op, unwritten(ty))
}

/// A converted copy of a result for all its readers, and the type that the result has then: what the
/// program writes is the copy's layout.
fn behind(program: &mut Program<'_, '_>, op: Op, own: Type) -> Option<Op> {
    let value = program.result(op, 0)?;
    let ty = program.type_of(value);
    let made = conversion(program, program.next(op)?, value, ty)?;
    let to = program.result(made, 0)?;
    let done = program
        .replace_all_uses(value, to)
        .and_then(|()| program.set_operand(made, 0, value))
        .and_then(|()| program.set_type(value, own));
    if done.is_err() {
        let _ = program.replace_all_uses(to, value);
        let _ = program.erase(made);
        return None;
    }
    Some(made)
}
