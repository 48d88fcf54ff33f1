//! Products: one instruction an instance, and descriptors of operands that the unit reads from
//! shared memory.

use crate::expr::{BitColumn, Combine, ExprId, Reg, RegBank, from_bits};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::KeptFor;
use crate::matrix::panels::ProductTiles;
use crate::matrix::staged_descriptors::block_element;
use crate::pool::EmitPool;
use crate::registers::liveness::overlaps;
use crate::step::{ALL_ARGS, InstKind, MAX_ARGS, Slot};
use crate::sync::order::{PendingAccesses, around};
use lanebook_ir::{Op, Value};
use lanebook_plan::{AllocPlan, InShared, ProductPlan};
use lanebook_tables::{Atom, FieldRole, IndexOp, Instance, Role, SharedOperand, Vary};
use lanebook_tile::map::Fragment;
use lanebook_tile::product::ProductInput;
use lanebook_tile::unit::descriptor_named;

impl LowerContext<'_, '_, '_, '_> {
    #[inline(never)]
    pub(crate) fn product(&mut self, op: Op, open: &mut PendingAccesses) -> Result<(), EmitError> {
        let plan: ProductPlan = *self.plan.product_of(op).ok_or(EmitError::Unplanned(op))?;
        let atom = self.machine.tables.atom(plan.product.atom).ok_or(EmitError::Unplanned(op))?;
        self.prepare_product(&plan)?;
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        self.make_descriptors(&plan)?;
        if let Some(place) = plan.tensor {
            return self.product_in_tensor(op, &plan, &place, open);
        }
        self.meet(op, open, true)?;
        let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
        self.steps.origin = number;
        let value = |k: usize| self.program.operand(op, k).ok_or(EmitError::Unplanned(op));
        // What the instruction calls A is the program's B, where it computes the transposed
        // product.
        let (first, second) = match plan.product.transposed {
            true => (ProductInput::B, ProductInput::A),
            false => (ProductInput::A, ProductInput::B),
        };
        let (a, b, c) = (value(first.of([0, 1]))?, value(second.of([0, 1]))?, value(2)?);
        let d = self.program.result(op, 0).ok_or(EmitError::Unplanned(op))?;
        let [in_a, in_b] = plan.shared;
        let slices = [self.sliced(op, first), self.sliced(op, second)];
        let [sliced_a, sliced_b] = slices;
        let scales = self.scales_of(op, &plan)?;
        let s = plan.product.shape;
        let operand =
            |number: u8| atom.operands.get(usize::from(number)).ok_or(EmitError::Unplanned(op));
        let mut inputs = [None; 2];
        let given = [
            (a, s.a, in_a.is_some() || sliced_a.is_some()),
            (b, s.b, in_b.is_some() || sliced_b.is_some()),
        ];
        for (input, (value, number, elsewhere)) in inputs.iter_mut().zip(given) {
            if !elsewhere {
                let reg = self.tile_of(op, value)?;
                *input = Some(self.taken(op, reg, operand(number)?)?);
            }
        }
        let held = self.start_of(op, c)?;
        let rc = self.taken(op, held, operand(s.c)?)?;
        let wide = self.machine.is_twice(rc.class, held.class);
        // In place, if nobody reads the old accumulator's registers any more: neither a later
        // operation nor another instance of this one.
        let is_input =
            inputs.into_iter().flatten().chain(scales.registers()).any(|reg| overlaps(reg, rc));
        // An instruction may read sums in more classes of registers than it writes.
        let result = operand(s.d)?;
        let is_written = result.accepts(rc.class);
        let rd = if is_written && !is_input && self.is_free_after(op, rc) {
            rc
        } else {
            self.steps.tuple(if is_written { rc.class } else { result.class }, rc.count)?
        };
        // Where the instruction's registers hold two of the tile's each, the result is taken apart
        // behind the last instance.
        let out = match wide {
            true if self.is_free_after(op, held) => held,
            true => self.steps.tuple(held.class, held.count)?,
            false => rd,
        };
        self.hold(d, out)?;
        let tied = s.c == s.d;
        if tied && rc != rd {
            self.copy_tile(op, rc, rd)?;
        }
        let instance = atom.with_columns(s.n).ok_or(EmitError::Unplanned(op))?;
        let fixed = self.fixed_operands(op, &plan, &instance)?;
        let runs = atom.more.and_then(|more| more.runs);
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        if let Some(kind) = runs {
            self.steps.purpose = InstKind::Sync;
            around(tables, arch, kind, true, &mut self.steps)?;
        }
        self.steps.purpose = InstKind::Matrix;
        let registers = |k: u8| instance.registers(k).map_or(1, u16::from);
        let part = |reg: Reg, index: u16, count: u16| Slot::Reg {
            class: reg.class.0 as u8,
            count,
            first: reg.first.wrapping_add(index.wrapping_mul(count)),
        };
        let (nm, nn, nk) = if plan.product.takes_panels() {
            let [Some(in_a), Some(in_b)] = inputs else { return Err(EmitError::Unplanned(op)) };
            let sums = [if tied { rd } else { rc }, rd];
            let tiles = ProductTiles { inputs: [in_a, in_b], sums };
            self.instances_of_panels(op, &plan, &instance, tiles, &fixed)?;
            (0, 0, 0)
        } else {
            plan.product.counts()
        };
        let given_to = [operand(s.a)?, operand(s.b)?];
        let mut loaded = [None; 2];
        for k in 0..nk {
            for m in 0..nm {
                for n in 0..nn {
                    let (ia, ib, ic) = plan.product.blocks((m, n, k));
                    let more = scales.args(op, atom, (ia, ib))?;
                    for ((input, loaded), ((sliced, block), numbered)) in inputs
                        .iter_mut()
                        .zip(&mut loaded)
                        .zip(slices.into_iter().zip([ia, ib]).zip(given_to))
                    {
                        if let Some(sliced) = sliced
                            && *loaded != Some(sliced.holds(block))
                        {
                            let slice = self.load_slice(op, sliced, sliced.holds(block))?;
                            *input = Some(self.taken(op, slice, numbered)?);
                            *loaded = Some(sliced.holds(block));
                        }
                    }
                    let [ra, rb] = inputs;
                    let (ia, ib) = (
                        sliced_a.map_or(ia, |s| s.block(ia)),
                        sliced_b.map_or(ib, |s| s.block(ib)),
                    );
                    let operand = |this: &Self,
                                   input: ProductInput,
                                   number: u8,
                                   reg: Option<Reg>,
                                   block: u16| match reg {
                        Some(reg) => Ok(part(reg, block, registers(number))),
                        None => this
                            .kept(op, KeptFor::Block(input, u32::from(block)))
                            .map(crate::step::slot)
                            .ok_or(EmitError::Unplanned(op)),
                    };
                    let from = if k == 0 && !tied { rc } else { rd };
                    let set = [
                        (s.a, operand(self, ProductInput::A, s.a, ra, ia)?),
                        (s.b, operand(self, ProductInput::B, s.b, rb, ib)?),
                        (s.c, part(from, ic, registers(s.c))),
                        (s.d, part(rd, ic, registers(s.d))),
                    ];
                    let mut args = [Slot::None; ALL_ARGS];
                    for (number, arg) in
                        set.into_iter().chain(fixed.iter().copied()).chain(more.iter().copied())
                    {
                        if let Some(place) = args.get_mut(usize::from(number)) {
                            *place = arg;
                        }
                    }
                    let used = args.get(..atom.operands.len()).ok_or(EmitError::Unplanned(op))?;
                    self.steps.append(plan.product.atom, used)?;
                }
            }
        }
        if let Some(kind) = runs {
            self.steps.purpose = InstKind::Sync;
            around(tables, arch, kind, false, &mut self.steps)?;
        }
        if wide { self.take_apart(rd, out) } else { Ok(()) }
    }

    /// Operands that are the same for all instances: words and values of parameters, orders.
    pub(crate) fn fixed_operands(
        &self,
        op: Op,
        plan: &ProductPlan,
        instance: &Instance<'_>,
    ) -> Result<heapless::Vec<(u8, Slot), MAX_ARGS>, EmitError> {
        let atom: &Atom<'_> = instance.atom;
        let s = plan.product.shape;
        let mut out = heapless::Vec::new();
        let mut push = |number: u8, value: u16| {
            out.push((number, Slot::Int(i32::from(value)))).map_err(|_| EmitError::Unplanned(op))
        };
        let (first, second) = if plan.product.transposed { (1, 0) } else { (0, 1) };
        let values = [
            (s.a, self.program.operand(op, first)),
            (s.b, self.program.operand(op, second)),
            (s.c, self.program.operand(op, 2)),
            (s.d, self.program.result(op, 0)),
        ];
        for (param, vary) in atom.params() {
            if let Some(word) = self.parameter_word(op, instance, (param, vary), &values)? {
                push(param, word)?;
            }
        }
        // A number of which nothing is said is the first that there is, where 0 is none.
        for (number, operand) in (0u8..).zip(atom.operands) {
            let first = u16::try_from(operand.range.0).unwrap_or(0);
            if operand.role == Role::Immediate && operand.vary.is_none() && first > 0 {
                push(number, first)?;
            }
        }
        for (number, given) in [s.a, s.b].into_iter().zip(plan.shared) {
            if let (Some(given), Some(along)) =
                (given, atom.shared(number).and_then(|how| how.along))
            {
                push(along, u16::from(given.outer_major))?;
            }
        }
        Ok(out)
    }

    /// What a parameter of a product's instruction is: a number as it was chosen, a word as the
    /// element type asks of the operand that it belongs to; `None` if it belongs to none of them.
    pub(crate) fn parameter_word(
        &self,
        op: Op,
        instance: &Instance<'_>,
        (param, vary): (u8, &Vary<'_>),
        operands: &[(u8, Option<Value>)],
    ) -> Result<Option<u16>, EmitError> {
        let atom = instance.atom;
        let word = if vary.words.is_empty() {
            instance.value(param)
        } else {
            let typed = |k: u8| {
                let operand = atom.operands.get(usize::from(k)).and_then(|o| o.vary);
                operand.is_some_and(|vary| vary.typed_by == Some(param))
            };
            let Some((_, value)) = operands.iter().find(|(k, _)| typed(*k)) else {
                return Ok(None);
            };
            let own = value.and_then(|value| self.program.type_of(value).dtype);
            let pair = own.and_then(|own| self.machine.tables.dtype(own)).and_then(|d| d.pair_of);
            let dtype = pair.or(own);
            dtype.and_then(|dtype| atom.word_of(param, dtype))
        };
        word.map(Some).ok_or(EmitError::Unplanned(op))
    }

    /// Computes the descriptors of a product's operands: they change in no loop.
    #[inline(never)]
    pub(crate) fn prepare_product(&mut self, plan: &ProductPlan) -> Result<(), EmitError> {
        let number = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        if plan.shared == [None; 2] || self.keeps_any(number) {
            return Ok(());
        }
        self.steps.origin = number;
        let atom =
            self.machine.tables.atom(plan.product.atom).ok_or(EmitError::Unplanned(plan.op))?;
        let s = plan.product.shape;
        for input in ProductInput::BOTH {
            let operand = input.of([s.a, s.b]);
            let fragment = input.of([&plan.product.a, &plan.product.b]);
            if let (Some(given), Some(how)) = (input.of(plan.shared), atom.shared(operand)) {
                if self.descriptor_step(plan, input).is_some() {
                    self.prepare_lower(plan, input)?;
                } else {
                    self.prepare_descriptors(plan.op, input, fragment, &given, how)?;
                }
            }
        }
        self.prepare_accumulators(plan)
    }

    fn prepare_descriptors(
        &mut self,
        op: Op,
        input: ProductInput,
        fragment: &Fragment,
        given: &InShared,
        how: &SharedOperand<'_>,
    ) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(op);
        let alloc = self.plan.allocs.get(usize::from(given.alloc)).ok_or(unplanned)?;
        let map = alloc.map().ok_or(unplanned)?;
        let table = descriptor_named(self.machine.tables, self.machine.arch, how.descriptor)
            .map_err(|_| unplanned)?;
        let start = table.fields.iter().find(|f| f.role == FieldRole::Start).ok_or(unplanned)?;
        let (scale, at) = (start.scale.max(1), start.at);
        // The part that only the kernel knows: where the segment starts, and which warps these are.
        self.steps.purpose = InstKind::FirstAddress;
        let warps = self.warp_starts(fragment, given, alloc)?;
        let (base, lower) = self.descriptor_base(op, given.word, (scale, at), warps)?;
        let mut block = 0u32;
        while let Some(e) = block_element(fragment, block) {
            let bytes =
                alloc.offset.saturating_add(map.at(stored(fragment, given, &alloc.shape, e)).bytes);
            let units = u64::from(bytes.checked_div(scale).unwrap_or(0));
            let more = lower.wrapping_add(units.checked_shl(u32::from(at)).unwrap_or(0));
            let node =
                if more == 0 { base } else { self.arena.op_const(IndexOp::Add64, base, more)? };
            let reg = self.compute(node, RegBank::Vector)?;
            self.steps.purpose = InstKind::FurtherAddress;
            let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
            self.keep(number, KeptFor::Block(input, block), reg)?;
            block = block.saturating_add(1);
        }
        Ok(())
    }

    /// Where the warps' parts of an operand in shared memory begin, behind the first one's.
    pub(crate) fn warp_starts(
        &mut self,
        fragment: &Fragment,
        given: &InShared,
        alloc: &AllocPlan,
    ) -> Result<Option<ExprId>, EmitError> {
        let Some(map) = alloc.map() else { return Ok(None) };
        let mut columns: heapless::Vec<BitColumn, 8> = heapless::Vec::new();
        for (bit, &e) in (self.plan.wave..).zip(fragment.warp.as_slice()) {
            let column = map.at(stored(fragment, given, &alloc.shape, e)).bytes;
            if column != 0 {
                columns
                    .push(BitColumn { value: self.thread, bit, column })
                    .map_err(|_| EmitError::full(EmitPool::AddressBits, 8))?;
            }
        }
        if columns.is_empty() {
            return Ok(None);
        }
        Ok(Some(from_bits(&mut self.arena, &columns, Combine::Add, 0)?))
    }
}

impl LowerContext<'_, '_, '_, '_> {
    /// A descriptor's upper half with what only the kernel knows: where the segment starts, and
    /// what warps add; and its lower half. The field of the start counts in `scale` bytes from bit
    /// `at`.
    pub(crate) fn descriptor_base(
        &mut self,
        op: Op,
        word: u64,
        (scale, at): (u32, u8),
        warps: Option<ExprId>,
    ) -> Result<(ExprId, u64), EmitError> {
        let unplanned = EmitError::Unplanned(op);
        let field: Option<ExprId> = match self.sum(IndexOp::Add, self.shared_base, warps)? {
            Some(base) => {
                let units =
                    self.arena.op_const(IndexOp::Shr, base, u64::from(scale.trailing_zeros()))?;
                let wide = self.arena.op(IndexOp::Extend64, &[units])?;
                Some(if at == 0 {
                    wide
                } else {
                    self.arena.op_const(IndexOp::Shl64, wide, u64::from(at))?
                })
            }
            None => None,
        };
        // The upper half is the same for all blocks.
        let (upper, lower) = (self.upper_half(op, word)?, word & u64::from(u32::MAX));
        Ok((self.sum(IndexOp::Add64, Some(upper), field)?.ok_or(unplanned)?, lower))
    }
}

/// An element of the operand as an element of the tile that is stored.
pub(crate) fn stored(
    fragment: &Fragment,
    given: &InShared,
    tile: &lanebook_tile::map::TileShape,
    e: u32,
) -> u32 {
    if !given.transposed {
        return e;
    }
    let shape = fragment.shape;
    let total = u32::from(shape.total());
    let inside = shape.transpose_element(e & 1u32.checked_shl(total).unwrap_or(0).wrapping_sub(1));
    let (up, across) = shape.grid.at(e.checked_shr(total).unwrap_or(0));
    let panel = across.saturating_mul(u32::from(tile.grid.cols)).saturating_add(up);
    panel.checked_shl(total).unwrap_or(0) | inside
}
