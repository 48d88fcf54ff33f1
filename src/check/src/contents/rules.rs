//! Tiles: which instructions make a value of the program, of which others.

use crate::contents::flow::written;
use crate::contents::goal::{Prover, What};
use crate::contents::storage::{ContentsScratch, NO_LOOP};
use crate::contents::through::BitRange;
use crate::contents::{Content, ContentsContext, class, count};
use crate::evaluator::{place_bits, spot, weigh};
use crate::memory::movement::coordinates;
use crate::violation::Violation;
use lanebook_ir::{Def, Op, Value};
use lanebook_layout::AxisId;
use lanebook_plan::{ProductPlan, TransferPlan};
use lanebook_tables::{DtypeKind, OpRole, OpWord, Role, Side};
use lanebook_tile::map::Fragment;

/// Most renamings of a value.
const RENAMED: usize = 16;

impl<'a> ContentsContext<'a> {
    pub(crate) fn fragment(&self, value: Value) -> Option<&'a Fragment> {
        self.plan.fragments.iter().find(|f| f.value == value).map(|f| &f.fragment)
    }

    /// Bits of an element of a value.
    pub(crate) fn element_bits(&self, value: Value) -> Option<u32> {
        let dtype = self.program.type_of(value).dtype.and_then(|d| self.tables.dtype(d));
        dtype
            .map(|d| u32::from(d.held))
            .or_else(|| self.fragment(value).map(|f| u32::from(f.shape.bits)))
    }

    /// Bits of a place of a value in a lane's registers.
    pub(crate) fn place_of(&self, value: Value) -> Option<u32> {
        self.fragment(value).map(place_bits).or_else(|| self.element_bits(value))
    }

    /// The value that another one is a renaming of.
    fn renamed(&self, value: Value) -> Value {
        let mut at = value;
        for _ in 0..RENAMED {
            let renames = |op: &Op| match self.program.role(*op) {
                OpRole::Transpose | OpRole::Reshape | OpRole::Permute => true,
                OpRole::Elementwise => self.program.has_same_bits(*op),
                OpRole::Convert => {
                    !self.plan.exchanges.iter().any(|e| e.op == *op)
                        && !self.plan.lanes.iter().any(|l| l.op == *op)
                }
                _ => false,
            };
            let Some(from) =
                self.program.def_op(at).filter(renames).and_then(|op| self.program.operand(op, 0))
            else {
                break;
            };
            at = from;
        }
        at
    }

    /// The loop that carries a value, with what it is before the loop and at the end of a turn.
    fn carried(&self, value: Value) -> Option<(Op, Value, Value)> {
        let op = match self.program.def(value) {
            Def::Argument(block, _) => self.program.owner_of(block)?,
            Def::Result(op, _) => op,
            _ => return None,
        };
        if self.program.role(op) != OpRole::For {
            return None;
        }
        let carried =
            self.program.carried(op).find(|c| c.argument == value || c.result == Some(value))?;
        Some((op, carried.init, carried.yielded?))
    }

    /// The conversion inside warps that makes a value of what a loop has left.
    fn converts_carried(&self, value: Value, around: Op) -> Option<Op> {
        let converts = |value: Value| {
            let op = self.program.def_op(self.renamed(value))?;
            self.plan.lanes.iter().any(|l| l.op == op && !l.ahead).then_some(op)
        };
        let first = converts(value)?;
        let mut from = self.program.operand(first, 0)?;
        for _ in 0..RENAMED {
            match converts(from) {
                Some(op) => from = self.program.operand(op, 0)?,
                None => break,
            }
        }
        let carrier = self.carried(self.renamed(from)).map(|(op, ..)| op);
        (carrier == Some(around)).then_some(first)
    }

    /// Whether a value is made inside a loop.
    fn is_made_inside(&self, value: Value, around: Op) -> bool {
        let home = match self.program.def(value) {
            Def::Argument(block, _) => self.program.owner_of(block),
            Def::Result(op, _) => Some(op),
            _ => None,
        };
        home.is_some_and(|home| home == around || self.program.inside(around).any(|op| op == home))
    }
}

impl ContentsScratch<'_> {
    /// Whether a loop of the program is entered without a jump to its test: its first turn is
    /// certain.
    pub(super) fn is_certain(&self, look: &ContentsContext<'_>, around: Op) -> bool {
        self.loops
            .iter()
            .any(|l| l.nth != NO_LOOP && l.meet == l.first && look.nth_loop(l.nth) == Some(around))
    }

    /// Whether a register's content was there before a loop and stays.
    fn stays(&self, content: Content, number: usize) -> bool {
        let Some(l) = self.loops.get(number) else { return false };
        match content {
            Content::Nothing => false,
            Content::Inst(step, _) => !(l.first..=l.last).contains(&step),
            Content::Loop(other, _) => self
                .loops
                .get(usize::from(other))
                .is_some_and(|o| !(l.first <= o.first && o.last <= l.last)),
        }
    }
}

impl<'a> Prover<'a, '_, '_> {
    /// Bits of a value's registers.
    pub(crate) fn tile(
        &mut self,
        bits: BitRange,
        value: Value,
        at: u32,
    ) -> Result<bool, Violation> {
        let value = self.look.renamed(value);
        let Some(element) = self.look.element_bits(value) else { return Ok(false) };
        let place = self.look.place_of(value).unwrap_or(element);
        // Beside a narrow element that has a register of its own there is nothing.
        let mut bits = bits;
        let width = u32::from(bits.width);
        if place > element && at.checked_rem(place) == Some(0) && width > element {
            bits.width = u16::try_from(element).unwrap_or(u16::MAX);
        }
        if let Some(total) = self.look.fragment(value).and_then(total_bits)
            && at.saturating_add(u32::from(bits.width)) > total
        {
            bits.width = u16::try_from(total.saturating_sub(at)).unwrap_or(0);
        }
        let bits = self.scratch.through(self.look, bits);
        if self.made(bits, value, at)? {
            return Ok(true);
        }
        // Element by element, or word by word, if the whole is made of several instructions'
        // results.
        let each = if u32::from(bits.width) > 32 { 32 } else { element };
        if u32::from(bits.width) <= each {
            return Ok(false);
        }
        let mut done = 0u32;
        while done < u32::from(bits.width) {
            let step = each.min(u32::from(bits.width).saturating_sub(done));
            let part = BitRange {
                content: bits.content,
                bit: bits.bit.saturating_add(u16::try_from(done).unwrap_or(0)),
                width: u16::try_from(step).unwrap_or(0),
            };
            self.want(part, What::Tile(value), at.saturating_add(done))?;
            done = done.saturating_add(step.max(1));
        }
        Ok(true)
    }

    /// Whether bits were made as a value is.
    fn made(&mut self, bits: BitRange, value: Value, at: u32) -> Result<bool, Violation> {
        let look = self.look;
        if look.program.constant(value).is_some() {
            return Ok(self.constant(bits, value, at));
        }
        // A repetition is a renaming, also of what a loop has left.
        let repeats = |op: &Op| {
            look.program.role(*op) == OpRole::Broadcast
                && look.program.repeated_number(*op).is_none()
        };
        if let Some(op) = look.program.def_op(value).filter(repeats) {
            return self.broadcast(bits, op, value, at);
        }
        // So is a part.
        let parts = |op: &Op| look.program.role(*op) == OpRole::Slice;
        if let Some(op) = look.program.def_op(value).filter(parts) {
            return self.parted(bits, op, value, at);
        }
        let carried = look.carried(value);
        if let Some(p) = self.fetched(bits.content) {
            return Ok(self.cell_of_sums(bits, p, value, at));
        }
        // What a loop leaves whose first turn is certain is what its last turn passes on.
        if let (Some((op, _, yielded)), Def::Result(..)) = (carried, look.program.def(value))
            && self.scratch.is_certain(look, op)
        {
            self.handed_on(bits, op, value, (yielded, at))?;
            return Ok(true);
        }
        if let Content::Loop(number, register) = bits.content {
            let Some(nth) = self.scratch.loops.get(usize::from(number)).map(|l| l.nth) else {
                return Ok(false);
            };
            let own = look.nth_loop(nth).filter(|_| nth != NO_LOOP);
            // What the loop has left may have other places in the same registers behind it.
            if let Some(op) = own.and_then(|own| look.converts_carried(value, own)) {
                return self.converted(bits, op, value, at);
            }
            let Some([first, end]) = self.scratch.ways(number, register) else { return Ok(false) };
            let (init, yielded) = match carried {
                _ if own.is_none() => (value, value),
                Some((op, init, yielded)) if Some(op) == own => {
                    self.want(BitRange { content: first, ..bits }, What::Tile(init), at)?;
                    let end = BitRange { content: end, ..bits };
                    self.handed_on(end, op, value, (yielded, at))?;
                    return Ok(true);
                }
                // Another loop carries it in a register that stays as it is there.
                Some((op, init, yielded)) if own.is_some() && self.stays_in(bits.content, op) => {
                    self.want(bits, What::Tile(init), at)?;
                    self.want(bits, What::Tile(yielded), at)?;
                    return Ok(true);
                }
                _ if own.is_some_and(|own| look.is_made_inside(value, own)) => return Ok(false),
                _ => (value, value),
            };
            self.want(BitRange { content: first, ..bits }, What::Tile(init), at)?;
            self.want(BitRange { content: end, ..bits }, What::Tile(yielded), at)?;
            return Ok(true);
        }
        if let Some((op, init, yielded)) = carried {
            // What was not fetched is what it began with: in no thread sums are fetched without a
            // turn, or left where they are behind one.
            if look.plan.products.iter().any(|p| {
                p.tensor.is_some_and(|place| place.value == value && place.carrier == Some(op))
            }) {
                self.want(bits, What::Tile(init), at)?;
                return Ok(true);
            }
            if !self.stays_in(bits.content, op) {
                return Ok(false);
            }
            self.want(bits, What::Tile(init), at)?;
            self.want(bits, What::Tile(yielded), at)?;
            return Ok(true);
        }
        let Some(op) = look.program.def_op(value) else { return Ok(false) };
        match look.program.role(op) {
            OpRole::Load | OpRole::Atomic => self.loaded(bits, op, value, at),
            OpRole::Elementwise | OpRole::Select => self.elementwise(bits, op, value, at),
            OpRole::Reduce => self.reduced(bits, op, value, at),
            OpRole::Matrix => self.product(bits, op, at),
            OpRole::Convert => self.converted(bits, op, value, at),
            OpRole::Broadcast | OpRole::Index => Ok(self.counted(bits, op, at)),
            _ => Ok(false),
        }
    }

    /// What a loop carries, at the end of a turn: what it yields, and where a turn before the first
    /// one of a loop of stages has left out what makes that, what it had.
    fn handed_on(
        &mut self,
        bits: BitRange,
        around: Op,
        value: Value,
        (yielded, at): (Value, u32),
    ) -> Result<(), Violation> {
        let mut all = self.look.program.carried(around);
        let argument = all
            .find(|c| c.argument == value || c.result == Some(value))
            .map(|carried| carried.argument);
        if let (Content::Loop(number, register), Some(argument)) = (bits.content, argument)
            && self.leaves_out(number) == Some(around)
            && let Some([before, end]) = self.scratch.ways(number, register)
        {
            self.want(BitRange { content: before, ..bits }, What::Tile(argument), at)?;
            return self.want(BitRange { content: end, ..bits }, What::Tile(yielded), at);
        }
        self.want(bits, What::Tile(yielded), at)
    }

    /// The loop of stages whose turns before the first leave out these steps.
    fn leaves_out(&self, number: u8) -> Option<Op> {
        let part = self.scratch.loops.get(usize::from(number)).filter(|l| l.nth == NO_LOOP)?;
        let branch = part.first.checked_sub(1)?;
        let part = self.look.order().left_out(branch)?;
        (!part.copies).then_some(part.around)
    }

    /// Whether a register's content was there before a loop of the program and stays.
    fn stays_in(&self, content: Content, around: Op) -> bool {
        let number = self
            .scratch
            .loops
            .iter()
            .position(|l| l.nth != NO_LOOP && self.look.nth_loop(l.nth) == Some(around));
        number.is_some_and(|number| self.scratch.stays(content, number))
    }

    /// The product whose result in tensor memory a step fetches.
    fn fetched(&self, content: Content) -> Option<&'a ProductPlan> {
        let Content::Inst(number, _) = content else { return None };
        let look = self.look;
        let step = look.steps.get(usize::from(number))?;
        let p = look.plan.products.iter().find(|p| p.op.index() == usize::from(step.origin))?;
        let form = look.tables.units.tensor_moves.get(usize::from(p.product.tensor?.form))?;
        (form.load_atoms.0 == step.atom || form.load_atoms.1 == Some(step.atom)).then_some(p)
    }

    /// What a load brings from the cells of a product's sums.
    fn cell_of_sums(&mut self, bits: BitRange, p: &ProductPlan, value: Value, at: u32) -> bool {
        let Content::Inst(number, register) = bits.content else { return false };
        let (Some(place), Some(loads)) = (p.tensor, p.product.tensor) else { return false };
        if self.look.renamed(place.value) != value {
            return false;
        }
        let Some(instance) = self.scratch.instance(number) else {
            self.unfollowed = self.unfollowed.saturating_add(1);
            return true;
        };
        let first = instance
            .checked_shl(u32::from(loads.registers))
            .and_then(|n| n.checked_add(u32::from(register)));
        first.and_then(|n| n.checked_mul(32)?.checked_add(u32::from(bits.bit))) == Some(at)
    }

    /// A constant in every element.
    fn constant(&self, bits: BitRange, value: Value, at: u32) -> bool {
        let look = self.look;
        let own = || {
            let (literal, times) = look.program.constant_sum(value)?;
            let dtype = look.program.type_of(value).dtype.and_then(|d| look.tables.dtype(d))?;
            let one = look.program.literal_bits(literal, dtype)?;
            let wanted = match (dtype.kind, dtype.bits) {
                _ if times == 1 => one,
                (DtypeKind::Float, 32) => {
                    let single = f32::from_bits(u32::try_from(one).ok()?);
                    u64::from(((f64::from(single) * times as f64) as f32).to_bits())
                }
                (DtypeKind::Signed | DtypeKind::Unsigned, _) => one.wrapping_mul(times),
                _ => return None,
            };
            let found = self.scratch.known(look, bits.content)?.checked_shr(u32::from(bits.bit))?;
            let width = u32::from(dtype.bits);
            let mut bit = 0u32;
            while bit < u32::from(bits.width) {
                let place = at.checked_add(bit)?.checked_rem(width)?;
                if found.checked_shr(bit)? & 1 != wanted.checked_shr(place)? & 1 {
                    return Some(false);
                }
                bit = bit.checked_add(1)?;
            }
            Some(true)
        };
        own().unwrap_or(false)
    }

    /// A tile from memory, or what an atomic operation has found there.
    fn loaded(&mut self, bits: BitRange, op: Op, value: Value, at: u32) -> Result<bool, Violation> {
        let Content::Inst(number, register) = bits.content else { return Ok(false) };
        let Some(step) = self.look.steps.get(usize::from(number)) else { return Ok(false) };
        let Some(m) = self.look.movement_of(step).filter(|m| m.op == op && m.second.is_none())
        else {
            return Ok(false);
        };
        self.brought(bits, &m, (number, register), What::Tile(value), at)
    }

    /// What an instance of a movement brings into registers.
    pub(crate) fn brought(
        &mut self,
        bits: BitRange,
        m: &TransferPlan,
        (number, register): (u16, u8),
        what: What,
        at: u32,
    ) -> Result<bool, Violation> {
        let look = self.look;
        let Some(step) = look.steps.get(usize::from(number)) else { return Ok(false) };
        let Some((operand, member)) = written(look, step, register) else { return Ok(false) };
        let Some(atom) = look.atom(step) else { return Ok(false) };
        // What is answered has the places of what is moved.
        let side = atom.movement.and_then(|movement| {
            let answers = movement.atomic.is_some_and(|atomic| atomic.old == Some(operand));
            let side = if answers { &movement.from } else { &movement.to };
            (answers || side.operand == operand).then_some(side)
        });
        let Some(side) = side else { return Ok(false) };
        let Some((piece, bit)) = piece(look, step.arg(usize::from(operand)), member, bits.bit)
        else {
            return Ok(false);
        };
        // What it leaves alone of a register is what was there before.
        if atom.operands.get(usize::from(operand)).is_some_and(|o| o.role == Role::UseDef) {
            match touched(atom.movement.and_then(coordinates), side, (piece, bit, bits.width)) {
                Some(true) => {}
                Some(false) => {
                    let Some(content) = self.scratch.read(look, number, operand, member) else {
                        return Ok(false);
                    };
                    self.want(BitRange { content, ..bits }, what, at)?;
                    return Ok(true);
                }
                None => return Ok(false),
            }
        }
        let first = u32::from(bit);
        let Some(rest) = weigh(&m.tiling.tuple, piece)
            .and_then(|n| (at / 32).checked_sub(n))
            .filter(|_| at % 32 == first)
        else {
            return Ok(false);
        };
        let known = self.scratch.instance(number);
        let instance = match known {
            Some(i) => Some(i).filter(|i| m.tiling.register(*i) == rest),
            None => (0..m.tiling.count()).find(|i| m.tiling.register(*i) == rest),
        };
        let Some(instance) = instance else { return Ok(false) };
        Ok(self.bind(number, instance))
    }

    /// Says what a step is; it is one thing.
    pub(crate) fn bind(&mut self, step: u16, as_what: u32) -> bool {
        let Some(bound) = self.scratch.bound.get_mut(usize::from(step)) else { return false };
        if *bound == 0 {
            *bound = as_what.saturating_add(1);
        }
        *bound == as_what.saturating_add(1)
    }

    /// What the first atom of a copy brought.
    pub(crate) fn staged(&mut self, bits: BitRange, op: Op, instance: u16, at: u32) -> bool {
        let Content::Inst(number, register) = bits.content else { return false };
        let look = self.look;
        let Some(step) = look.steps.get(usize::from(number)) else { return false };
        let own = |m: &&TransferPlan| {
            m.op == op && m.atom == step.atom && op.index() == usize::from(step.origin)
        };
        if !look.plan.transfers.iter().any(|m| own(&m)) {
            return false;
        }
        let Some((operand, member)) = written(look, step, register) else { return false };
        let place = piece(look, step.arg(usize::from(operand)), member, bits.bit)
            .map(|(piece, bit)| piece.saturating_mul(32).saturating_add(u32::from(bit)));
        let own = self.scratch.instance(number).is_none_or(|i| i == u32::from(instance));
        own && place == Some(at)
    }

    /// A tile that another one repeats.
    fn broadcast(
        &mut self,
        bits: BitRange,
        op: Op,
        value: Value,
        at: u32,
    ) -> Result<bool, Violation> {
        let look = self.look;
        let Some(from) = look.program.operand(op, 0) else { return Ok(false) };
        let (Some(element), Some(place)) = (look.element_bits(value), look.place_of(value)) else {
            return Ok(false);
        };
        if look.program.constant(from).is_some() {
            self.want(bits, What::Tile(from), at.checked_rem(element).unwrap_or(0))?;
            return Ok(true);
        }
        let inside = at.checked_rem(place).unwrap_or(0);
        if inside.saturating_add(u32::from(bits.width)) > element {
            return Ok(false);
        }
        let own = || {
            let (large, small) = (look.fragment(value)?, look.fragment(from)?);
            let q = crate::lanes::shape::repeated_place(
                look.program,
                op,
                large,
                small,
                at.checked_div(place)?,
            )?;
            q.checked_mul(place_bits(small))?.checked_add(inside)
        };
        let Some(source) = own() else { return Ok(false) };
        self.want(bits, What::Tile(from), source)?;
        Ok(true)
    }

    /// One instruction for some elements.
    fn elementwise(
        &mut self,
        bits: BitRange,
        op: Op,
        value: Value,
        at: u32,
    ) -> Result<bool, Violation> {
        let look = self.look;
        let Content::Inst(number, register) = bits.content else { return Ok(false) };
        let Some(step) = look.steps.get(usize::from(number)) else { return Ok(false) };
        let Some(atom) = look.atom(step) else { return Ok(false) };
        let Some(does) =
            atom.does.filter(|does| look.program.decl_id(op).map(OpWord::Op) == Some(does.op))
        else {
            return Ok(false);
        };
        let def = atom.operands.iter().position(|o| o.role == Role::Def);
        let Some((_, member)) =
            written(look, step, register).filter(|(operand, _)| Some(usize::from(*operand)) == def)
        else {
            return Ok(false);
        };
        let slot = step.arg(def.unwrap_or(0));
        let arity = look.program.operands(op).count();
        let first = look.program.operand(op, 0);
        let (Some(first), Some(pack)) = (first, does.uses.len().checked_div(arity)) else {
            return Ok(false);
        };
        let (Some(from), Some(to)) = (look.element_bits(first), look.element_bits(value)) else {
            return Ok(false);
        };
        let (Some(own), Some(place)) =
            (class(slot).and_then(|c| look.class_bits(c)), look.place_of(value))
        else {
            return Ok(false);
        };
        let offset = u32::from(member).saturating_mul(own).saturating_add(u32::from(bits.bit));
        // Of one element, and the same part of it.
        let Some((e, part)) = parts(offset, to) else { return Ok(false) };
        let inside = at.checked_rem(place).unwrap_or(u32::MAX);
        if part.saturating_add(u32::from(bits.width)) > to || inside != part {
            return Ok(false);
        }
        let lane_place = at.checked_div(place).unwrap_or(0);
        for (k, operand) in (0usize..).zip(look.program.operands(op)) {
            let laid = self.laid_out_as(op, operand, value);
            let unpacked =
                look.fragment(laid).is_some_and(|f| f.unpacked && u32::from(f.shape.bits) < 32);
            let start = k.saturating_mul(pack);
            let each = |number: u8| {
                atom.operands
                    .get(usize::from(number))
                    .and_then(|_| class(step.arg(usize::from(number))))
                    .and_then(|c| look.class_bits(c))
            };
            let Some(&lowest) = does.uses.get(start) else { return Ok(false) };
            let wide = each(lowest)
                .unwrap_or(32)
                .saturating_mul(u32::from(count(step.arg(usize::from(lowest))).max(1)));
            let per = if unpacked { 1 } else { wide.checked_div(from).unwrap_or(1).max(1) };
            let (number_of, index) = if to > from {
                let made =
                    own.saturating_mul(u32::from(count(slot))).checked_div(to).unwrap_or(1).max(1);
                (0, u32::from(does.part).saturating_mul(made).saturating_add(e))
            } else {
                parts(e, per).unwrap_or((u32::MAX, 0))
            };
            if usize::try_from(number_of).unwrap_or(usize::MAX) >= pack || index >= per {
                return Ok(false);
            }
            let Some(&using) =
                does.uses.get(start.saturating_add(usize::try_from(number_of).unwrap_or(0)))
            else {
                return Ok(false);
            };
            let target = lane_place.saturating_mul(look.place_of(operand).unwrap_or(from));
            if !self.element(number, using, index, from, (operand, target))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The tile that says how an operand's elements stand in registers: a constant, which others may
    /// read otherwise, stands as those do that are read beside it, or as the result does.
    fn laid_out_as(&self, op: Op, operand: Value, result: Value) -> Value {
        let look = self.look;
        let is_constant = |value: Value| look.program.constant(value).is_some();
        if !is_constant(operand) {
            return operand;
        }
        let bits = look.element_bits(operand);
        let mut beside = look.program.operands(op);
        beside.find(|v| !is_constant(*v) && look.element_bits(*v) == bits).unwrap_or(result)
    }

    /// An element in a step's operand is one of a value.
    fn element(
        &mut self,
        step: u16,
        operand: u8,
        index: u32,
        bits: u32,
        (value, at): (Value, u32),
    ) -> Result<bool, Violation> {
        let look = self.look;
        let Some(slot) = look.steps.get(usize::from(step)).map(|s| s.arg(usize::from(operand)))
        else {
            return Ok(false);
        };
        let Some(own) = class(slot).and_then(|c| look.class_bits(c)) else { return Ok(false) };
        let offset = index.saturating_mul(bits);
        let mut done = 0u32;
        while done < bits {
            let here = offset.saturating_add(done);
            let (Some(member), Some(bit)) = (here.checked_div(own), here.checked_rem(own)) else {
                return Ok(false);
            };
            let width = bits.saturating_sub(done).min(own.saturating_sub(bit));
            let content = u8::try_from(member)
                .ok()
                .and_then(|member| self.scratch.read(look, step, operand, member));
            let Some(content) = content else { return Ok(false) };
            let part = BitRange {
                content,
                bit: u16::try_from(bit).unwrap_or(0),
                width: u16::try_from(width).unwrap_or(0),
            };
            self.want(part, What::Tile(value), at.saturating_add(done))?;
            done = done.saturating_add(width.max(1));
        }
        Ok(true)
    }

    /// A conversion between distributions.
    fn converted(
        &mut self,
        bits: BitRange,
        op: Op,
        value: Value,
        at: u32,
    ) -> Result<bool, Violation> {
        let look = self.look;
        if let Some(moved) = look.plan.lanes.iter().find(|l| l.op == op && !l.ahead) {
            return self.between_lanes(bits, moved, at);
        }
        let Some(exchange) = look.plan.exchanges.iter().find(|e| e.op == op) else {
            return Ok(false);
        };
        let Content::Inst(number, register) = bits.content else { return Ok(false) };
        let from_it = look
            .steps
            .get(usize::from(number))
            .is_some_and(|s| usize::from(s.origin) == op.index() && s.atom == exchange.load.atom);
        let [_, load] = exchange.moves();
        if from_it {
            self.brought(bits, &load, (number, register), What::Tile(value), at)
        } else {
            Ok(false)
        }
    }
}

/// How often a number goes into another one, and what is left.
fn parts(n: u32, by: u32) -> Option<(u32, u32)> {
    Some((n.checked_div(by)?, n.checked_rem(by)?))
}

/// Bits of a lane's registers.
fn total_bits(f: &Fragment) -> Option<u32> {
    crate::lanes::shape::places(f)?.checked_mul(place_bits(f))
}

/// Which piece of 32 bits of an operand a bit of its member is in, and where there.
pub(super) fn piece(
    look: &ContentsContext<'_>,
    slot: lanebook_emit::step::Slot,
    member: u8,
    bit: u16,
) -> Option<(u32, u16)> {
    let own = look.class_bits(class(slot)?)?;
    let each = own.div_ceil(32);
    Some((u32::from(member).checked_mul(each)?.checked_add(u32::from(bit / 32))?, bit % 32))
}

/// Whether an atom touches these bits of a piece: all, none, or (`None`) some of them.
pub(crate) fn touched(
    coordinates: Option<(u64, u32)>,
    side: &Side<'_>,
    (piece, bit, width): (u32, u16, u16),
) -> Option<bool> {
    let (many, unit) = coordinates?;
    let start = piece.checked_mul(32)?.checked_add(u32::from(bit))?;
    let end = start.checked_add(u32::from(width))?;
    let mut found = 0u32;
    for x in 0..many {
        let (lane, first) = spot(side, x, AxisId::LANE, AxisId::BIT)?;
        if lane == 0 {
            let last = first.checked_add(unit.checked_mul(8)?)?;
            found = found.checked_add(last.min(end).saturating_sub(first.max(start)))?;
        }
    }
    match found {
        0 => Some(false),
        n if n == u32::from(width) => Some(true),
        _ => None,
    }
}
