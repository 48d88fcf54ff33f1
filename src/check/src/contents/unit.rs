//! What units are told by numbers in registers: boxes of copies through tensor maps, descriptors'
//! words, columns of tensor memory. In each thread that is carried out, and in each turn, they are
//! those of one and the same instance.

use crate::contents::address::ThreadRun;
use crate::contents::operands::is_step;
use crate::contents::product::blocks;
use crate::contents::storage::NONE;
use crate::contents::{ContentsContext, class};
use crate::evaluator::{Memory, power, row_col};
use crate::matrix::shared_operands::{block_start, place};
use crate::matrix::tensor_memory::BlockwiseTile;
use crate::memory::tma::first;
use crate::reader::{descriptor_named, has, tensor_memory, tensor_tile};
use crate::stages::{ahead_of, staged_tile};
use crate::violation::Violation;
use lanebook_emit::ParamKind;
use lanebook_emit::step::{Inst, InstKind};
use lanebook_plan::{AllocPlan, End, InShared, ProductPlan, ScaleCopy};
use lanebook_tables::{
    Atom, FieldRole, FrameOperand, OpRole, OpWord, Role, SharedOperand, Space, TensorMove,
};
use lanebook_tile::map::Fragment;
use lanebook_tile::product::TensorLoads;

/// Where the allocation in tensor memory is said to start.
const START: u64 = 64;
/// Instances of A's stores are counted from here.
const FACTORS: u32 = 1 << 14;

/// Whether an instance of a store is one of A's (1) or of the sums' (0), and its number there.
pub(super) fn part_of(instance: u32) -> (u32, u32) {
    if instance >= FACTORS { (1, instance.saturating_sub(FACTORS)) } else { (0, instance) }
}

impl<'a> ContentsContext<'a> {
    /// Whether a step moves something to or from a place that an address says.
    pub(super) fn is_placed(&self, step: &Inst) -> bool {
        self.movement_of(step).is_some() || self.boxes(step) || self.transfer(step).is_some()
    }

    fn boxes(&self, step: &Inst) -> bool {
        step.purpose == InstKind::Move
            && self
                .tables
                .units
                .tiled_moves
                .iter()
                .any(|f| f.atom == step.atom && has(self.arch, f.feature))
    }

    fn own_product(&self, step: &Inst) -> Option<&'a ProductPlan> {
        self.plan.products.iter().find(|p| p.op.index() == usize::from(step.origin))
    }

    fn form(&self, loads: Option<TensorLoads>) -> Option<&'a TensorMove<'a>> {
        self.tables.units.tensor_moves.get(usize::from(loads?.form))
    }

    /// The product whose cells a step loads (false) or stores (true).
    fn transfer(&self, step: &Inst) -> Option<(&'a ProductPlan, bool)> {
        let p = self
            .own_product(step)
            .filter(|p| p.tensor.is_some() && step.purpose == InstKind::Move)?;
        let is = |(usual, single): (lanebook_tables::AtomId, Option<lanebook_tables::AtomId>)| {
            usual == step.atom || single == Some(step.atom)
        };
        let forms = [self.form(p.product.tensor), self.form(p.product.tensor_a)];
        if forms.into_iter().flatten().any(|form| is(form.store_atoms)) {
            return Some((p, true));
        }
        forms.first().copied().flatten().filter(|form| is(form.load_atoms)).map(|_| (p, false))
    }

    /// The product that a step stores cells for, and the operand that holds them.
    pub(super) fn stored_cells(&self, step: &Inst) -> Option<(&'a ProductPlan, u8)> {
        let (p, _) = self.transfer(step).filter(|(_, stores)| *stores)?;
        let operand = self.atom(step)?.operands.iter().position(|o| o.role == Role::Use)?;
        Some((p, u8::try_from(operand).ok()?))
    }
}

impl ContentsContext<'_> {
    /// Where a tile begins, or the buffer of it that a step is to.
    fn start_of(&self, run: &ThreadRun<'_, '_>, tile: &AllocPlan) -> Option<u64> {
        let buffer = match staged_tile(self.program, self.plan, tile.value) {
            Some(staged) => run.buffer(&staged)?,
            None => 0,
        };
        let more = buffer.checked_mul(u64::from(tile.stage_bytes()))?;
        self.base().checked_add(u64::from(tile.offset))?.checked_add(more)
    }
}

impl ThreadRun<'_, '_> {
    /// The number in an operand.
    pub(super) fn given(&self, step: &Inst, atom: &Atom<'_>, number: u8) -> Option<u64> {
        let table = atom.operands.get(usize::from(number))?;
        self.operand(step, table.class.0, usize::from(number))
    }

    fn wrong(&self, at: u16, address: Option<u64>) -> Violation {
        let op = self.look.steps.get(usize::from(at)).and_then(|step| {
            let own = |op: lanebook_ir::Op| op.index() == usize::from(step.origin);
            let product = self.look.plan.products.iter().map(|p| p.op).find(|op| own(*op));
            product.or_else(|| self.look.plan.transfers.iter().map(|m| m.op).find(|op| own(*op)))
        });
        let thread = u16::try_from(self.thread).unwrap_or(u16::MAX);
        match op {
            Some(op) => {
                Violation::Address { op, step: at, thread, address: address.unwrap_or(u64::MAX) }
            }
            None => Violation::Stray { step: at },
        }
    }

    /// What a step tells a unit.
    pub(super) fn units(&mut self, at: u16, step: &Inst, atom: &Atom<'_>) -> Result<(), Violation> {
        if self.look.boxes(step) {
            let own = |m: &&lanebook_plan::TransferPlan| m.op.index() == usize::from(step.origin);
            let m = self.look.plan.transfers.iter().find(own);
            self.ahead = m.and_then(|m| ahead_of(self.look.program, m.op));
            let boxed = self.boxed(at, step, atom);
            self.ahead = None;
            return boxed;
        }
        if let Some((p, stores)) = self.look.transfer(step) {
            return self.cells(at, step, atom, (p, stores));
        }
        if atom.movement.is_some_and(|m| m.to.space == Space::Tensor)
            && step.purpose == InstKind::Move
        {
            return self.piece(at, step, atom);
        }
        let in_place = |op: lanebook_ir::Op| {
            op.index() == usize::from(step.origin)
                && self.look.program.role(op) == OpRole::ProductInto
        };
        let in_place = lanebook_ir::Op::at(usize::from(step.origin)).is_some_and(in_place);
        if step.purpose == InstKind::Matrix && atom.matrix.is_some() && !in_place {
            return self.product(at, step, atom);
        }
        self.exchanged(at, step, atom)?;
        self.object(at, step, atom)?;
        self.frame(at, step, atom)
    }

    /// The lane that an exchange of a reduction reads, where a register says it: its number differs
    /// from the own in the same bits everywhere.
    fn exchanged(&mut self, at: u16, step: &Inst, atom: &Atom<'_>) -> Result<(), Violation> {
        let look = self.look;
        let Some(does) = atom.does.filter(|does| does.op == OpWord::ShuffleXor) else {
            return Ok(());
        };
        let Some((operand, times)) = does.lanes.iter().find_map(|l| l.by) else { return Ok(()) };
        let reduces = |op: &lanebook_ir::Op| {
            op.index() == usize::from(step.origin) && look.program.role(*op) == OpRole::Reduce
        };
        let Some(op) =
            look.program.functions().next().and_then(|f| look.program.inside(f).find(reduces))
        else {
            return Ok(());
        };
        let wrong = Violation::Lanes { op, step: at };
        let lanes = u64::from(power(usize::from(look.plan.wave)).ok_or(wrong)?.saturating_sub(1));
        let read = self
            .given(step, atom, operand)
            .and_then(|n| n.checked_div(u64::from(times.max(1))))
            .ok_or(wrong)?;
        let mask = (read & lanes) ^ (u64::from(self.thread) & lanes);
        if u32::try_from(mask).is_ok_and(|mask| self.bind(at, mask)) { Ok(()) } else { Err(wrong) }
    }

    /// The start of the allocation in tensor memory, where a step of the frame loads it.
    pub(super) fn allocated(&self, step: &Inst, atom: &Atom<'_>) -> Option<u64> {
        if self.look.plan.tensor_columns == 0 || step.purpose != InstKind::Sync {
            return None;
        }
        let memory = tensor_memory(self.look.tables, self.look.arch)?;
        memory.enter.iter().find(|frame| frame.atom == step.atom)?;
        atom.operands.iter().any(|o| o.role == Role::Def).then_some(START)
    }

    /// Operands of the frame's steps.
    fn frame(&mut self, at: u16, step: &Inst, atom: &Atom<'_>) -> Result<(), Violation> {
        let plan = self.look.plan;
        if plan.tensor_columns == 0 || step.purpose != InstKind::Sync {
            return Ok(());
        }
        let Some(memory) = tensor_memory(self.look.tables, self.look.arch) else { return Ok(()) };
        let Some(frame) =
            memory.enter.iter().chain(memory.leave).find(|frame| frame.atom == step.atom)
        else {
            return Ok(());
        };
        let lanes = power(usize::from(plan.wave)).unwrap_or(1);
        for (number, what) in (0u8..).zip(frame.operands) {
            let want = match what {
                FrameOperand::Slot => self.look.base().saturating_add(u64::from(plan.tensor_slot)),
                FrameOperand::Base => START,
                FrameOperand::Columns => u64::from(plan.tensor_columns),
                FrameOperand::One => u64::from(self.thread == 0),
                FrameOperand::Warp => u64::from(self.thread < lanes),
                FrameOperand::Barrier | FrameOperand::Unknown => continue,
            };
            // What the step itself defines is known behind it.
            if atom.operands.get(usize::from(number)).is_some_and(|o| o.role == Role::Def) {
                continue;
            }
            let found = self.given(step, atom, number);
            if found != Some(want) {
                return Err(self.wrong(at, found));
            }
        }
        Ok(())
    }

    /// Says which instance a step is; it is the same one wherever the step is met.
    pub(super) fn bind(&mut self, at: u16, instance: u32) -> bool {
        let Some(known) = self.instances.get_mut(usize::from(at)) else { return false };
        let instance = u16::try_from(instance).unwrap_or(NONE);
        if *known == NONE {
            *known = instance;
        }
        self.compared = self.compared.saturating_add(1);
        *known == instance
    }

    /// A copy of a box: the map, the tile's place, the coordinates, and the one thread that issues
    /// it.
    #[inline(never)]
    fn boxed(&mut self, at: u16, step: &Inst, atom: &Atom<'_>) -> Result<(), Violation> {
        let look = self.look;
        let stray = Violation::Stray { step: at };
        let form =
            look.tables.units.tiled_moves.iter().find(|f| f.atom == step.atom).ok_or(stray)?;
        let own = look
            .plan
            .transfers
            .iter()
            .filter(|m| m.op.index() == usize::from(step.origin) && m.atom == step.atom);
        let (m, tiled) = own.filter_map(|m| Some((m, m.tiled?))).next().ok_or(stray)?;
        let map = look.plan.maps.get(usize::from(tiled.map)).ok_or(stray)?;
        let (End::Global(g), End::Shared(k)) =
            (if form.loads { (m.from, m.to) } else { (m.to, m.from) })
        else {
            return Err(stray);
        };
        let (Some(g), Some(a)) =
            (look.plan.globals.get(usize::from(g)), look.plan.allocs.get(usize::from(k)))
        else {
            return Err(stray);
        };
        let block = self.given(step, atom, form.tensor);
        if block.is_none() || block != look.argument(map.memref, ParamKind::Map(tiled.map)) {
            return Err(self.wrong(at, block));
        }
        let on = self.given(step, atom, form.on);
        // Of all threads the first one, or the first of those that only copy.
        let threads = look.plan.threads;
        let one = if self.thread < threads { 0 } else { threads };
        if on != Some(u64::from(self.thread == one)) {
            return Err(self.wrong(at, on));
        }
        if let Some(signal) = form.signal
            && self.is_announced(at, step, atom, signal) != Some(true)
        {
            return Err(stray);
        }
        let shared = self.given(step, atom, form.shared);
        let shape = a.shape;
        let leads = g.leading.iter().flatten().count();
        let stands = |instance: u32| -> Option<bool> {
            let e = first(&m.tiling, shape, instance)?;
            let byte = u64::from(Memory::Shared(a).at(e)?.byte);
            if shared? != look.start_of(self, a)?.checked_add(byte)? {
                return Some(false);
            }
            let (row, col) = row_col(shape, e)?;
            for (dim, operand) in map.dims().iter().zip(form.at) {
                let dim = usize::from(*dim);
                let (start, more) = match dim.checked_sub(leads) {
                    None => (g.leading.get(dim).copied().flatten()?.start, 0),
                    Some(0) => (g.start.0?, row),
                    Some(1) => (g.start.1, col),
                    Some(_) => return None,
                };
                if self.given(step, atom, *operand)? & 0xffff_ffff
                    != u64::from(
                        self.index(start)?.checked_add(i64::from(more))?.cast_unsigned() as u32
                    )
                {
                    return Some(false);
                }
            }
            Some(true)
        };
        let panels = u32::from(m.tiling.grid.rows).saturating_mul(u32::from(m.tiling.grid.cols));
        let many = power(m.tiling.instances.as_slice().len())
            .and_then(|n| n.checked_mul(panels))
            .ok_or(stray)?;
        let found = (0..many).find(|i| stands(*i) == Some(true));
        if found.is_some_and(|i| self.bind(at, i)) { Ok(()) } else { Err(self.wrong(at, shared)) }
    }

    /// The block of an operand in shared memory that a descriptor's word names.
    fn described(
        &self,
        given: &InShared,
        how: &SharedOperand<'_>,
        blocks: &Fragment,
        word: u64,
    ) -> Option<u32> {
        let look = self.look;
        let tile = look.plan.allocs.get(usize::from(given.alloc))?;
        let table = descriptor_named(look.tables, look.arch, how.descriptor)?;
        let field = table.fields.iter().find(|f| f.role == FieldRole::Start)?;
        let mask = 1u64.checked_shl(u32::from(field.bits))?.checked_sub(1)?;
        let warp = self.thread.checked_shr(u32::from(look.plan.wave))?;
        let panels =
            u32::from(blocks.shape.grid.rows).checked_mul(u32::from(blocks.shape.grid.cols))?;
        let many = power(blocks.register.as_slice().len())?.checked_mul(panels)?;
        let start = look.start_of(self, tile)?;
        (0..many).find(|block| {
            let stands = || {
                let byte = place(tile, given.transposed, block_start(blocks, *block, warp)?)?;
                let address = start.checked_add(byte)?;
                let units = address.checked_div(u64::from(field.scale.max(1)))?;
                let start = (units & mask).checked_shl(u32::from(field.at))?;
                Some(units <= mask && given.word.wrapping_add(start) == word)
            };
            stands() == Some(true)
        })
    }

    /// Which of a tile's blocks begins in a column of tensor memory.
    fn column(&self, (first, each, columns): (u16, u32, u16), found: u64) -> Option<u32> {
        let from = found.checked_sub(START)?.checked_sub(u64::from(first))?;
        let block = u32::try_from(from)
            .ok()?
            .checked_div(each)
            .filter(|block| u64::from(*block).checked_mul(u64::from(each)) == Some(from))?;
        (block.checked_mul(each)? < u32::from(columns)).then_some(block)
    }

    /// A product's instruction: the blocks that its descriptors and columns name are those of one
    /// instance, and so is whether it adds.
    #[inline(never)]
    fn product(&mut self, at: u16, step: &Inst, atom: &Atom<'_>) -> Result<(), Violation> {
        let look = self.look;
        let Some(p) = look.own_product(step).filter(|p| p.product.atom == step.atom) else {
            return Ok(());
        };
        if p.shared == [None; 2] && p.tensor.is_none() {
            return Ok(());
        }
        let shape = p.product.shape;
        let mut found = [NONE; 3];
        for (k, (number, fragment)) in
            [(shape.a, &p.product.a), (shape.b, &p.product.b)].into_iter().enumerate()
        {
            let value = self.given(step, atom, number);
            let block = match (
                p.shared.get(k).copied().flatten().zip(atom.shared(number)),
                p.product.tensor_a,
                p.tensor,
            ) {
                (Some((given, how)), ..) => {
                    value.and_then(|word| self.described(&given, how, fragment, word))
                }
                (None, Some(a), Some(place)) if k == 0 => {
                    let each = tensor_memory(look.tables, look.arch).and_then(|m| {
                        BlockwiseTile::factors(&p.product, m.cell_bits.into())?.each()
                    });
                    value.zip(each).and_then(|(column, each)| {
                        self.column((place.first_a, each, a.columns.get()), column)
                    })
                }
                _ => continue,
            };
            let block =
                block.and_then(|block| u16::try_from(block).ok()).ok_or(self.wrong(at, value))?;
            if let Some(slot) = found.get_mut(k) {
                *slot = block;
            }
        }
        if let (Some(own), Some(place), Some(sums)) = (atom.tensor(), p.tensor, p.product.tensor) {
            let value = self.given(step, atom, shape.d);
            let each = BlockwiseTile::sums(&p.product).each();
            let block = value.zip(each).and_then(|(column, each)| {
                self.column((place.first, each, sums.columns.get()), column)
            });
            let [a, b, c] = &mut found;
            *c = block.and_then(|block| u16::try_from(block).ok()).ok_or(self.wrong(at, value))?;
            let instance = instance(p, [*a, *b, *c]).ok_or(self.wrong(at, value))?;
            let adds = match (instance, place.carrier) {
                (1.., _) => true,
                (0, _) if place.stored => true,
                (0, Some(carrier)) => self.turns_read(carrier).unwrap_or(0) > 1,
                (0, None) => false,
            };
            let given = |number: u8| self.given(step, atom, number);
            let (adding, on) = (given(own.adds), given(own.one));
            if adding != Some(u64::from(adds)) || on != Some(u64::from(self.thread == 0)) {
                return Err(self.wrong(at, adding));
            }
            let word = given(own.word);
            let mut want = place.word;
            for (side, copy) in p.copied.iter().enumerate() {
                let Some(copy) = copy else { continue };
                let (column, run) =
                    scales(p, atom, copy, (side, [*a, *b])).ok_or(self.wrong(at, word))?;
                want |= u32::from(run).checked_shl(u32::from(copy.field)).unwrap_or(0);
                let found = given(copy.operand);
                if found != Some(START.saturating_add(u64::from(column))) {
                    return Err(self.wrong(at, found));
                }
            }
            if word != Some(u64::from(want)) {
                return Err(self.wrong(at, word));
            }
        }
        let wrong = self.wrong(at, None);
        let known = self.blocks.get_mut(usize::from(at)).ok_or(wrong)?;
        if *known == [NONE; 3] {
            *known = found;
        }
        if *known != found {
            return Err(wrong);
        }
        self.compared = self.compared.saturating_add(1);
        Ok(())
    }

    /// Each instance of a product into tensor memory has one step, the first of each sum's before
    /// the others.
    pub(super) fn all_blocks(&self) -> Result<(), Violation> {
        let look = self.look;
        for p in look.plan.products.iter().filter(|p| p.tensor.is_some()) {
            let own = || {
                (0u16..).zip(look.steps).filter(|(_, s)| {
                    s.purpose == InstKind::Matrix && usize::from(s.origin) == p.op.index()
                })
            };
            let all = || {
                own()
                    .filter_map(|(at, _)| Some((at, *self.blocks.get(usize::from(at))?)))
                    .filter(|(_, found)| *found != [NONE; 3])
            };
            let (nm, nn, nk) = p.product.counts();
            let want = u32::from(nm).saturating_mul(u32::from(nn)).saturating_mul(u32::from(nk));
            let found = u32::try_from(all().count()).unwrap_or(u32::MAX);
            // In a loop that never turns they are nothing.
            if found != want && (found != 0 || own().count() != want as usize) {
                return Err(Violation::Count { op: p.op, atom: p.product.atom, want, found });
            }
            // What has been added up is fetched.
            let loads = (0usize..).zip(look.steps).filter(|(_, s)| {
                look.transfer(s).is_some_and(|(q, stores)| q.op == p.op && !stores)
            });
            if let Some((at, _)) = loads
                .into_iter()
                .find(|(at, _)| found != 0 && self.instances.get(*at) == Some(&NONE))
            {
                return Err(Violation::Content {
                    step: u16::try_from(at).unwrap_or(u16::MAX),
                    writer: u16::MAX,
                    value: None,
                    at: 0,
                });
            }
            for (at, here) in all() {
                let [.., sum] = here;
                let is_first = instance(p, here) == Some(0);
                for (earlier, other) in all().take_while(|(earlier, _)| *earlier < at) {
                    if other == here || (is_first && other.last() == Some(&sum)) {
                        return Err(Violation::Content {
                            step: at,
                            writer: earlier,
                            value: None,
                            at: u32::from(sum),
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// A load or store of cells: its address is that of the first cell of one of the tile's parts.
    #[inline(never)]
    fn cells(
        &mut self,
        at: u16,
        step: &Inst,
        atom: &Atom<'_>,
        (p, stores): (&ProductPlan, bool),
    ) -> Result<(), Violation> {
        let look = self.look;
        let operand = atom
            .operands
            .iter()
            .position(|o| o.role == Role::Address)
            .and_then(|k| u8::try_from(k).ok());
        let found = operand.and_then(|k| self.given(step, atom, k));
        let warp = self.thread.checked_shr(u32::from(look.plan.wave)).unwrap_or(0);
        let part = |which: u32| -> Option<u32> {
            let place = p.tensor?;
            let memory = tensor_memory(look.tables, look.arch)?;
            let tile = tensor_tile(
                look.tables,
                look.arch,
                look.tables.atom(p.product.atom)?.tensor()?.tile,
            )?;
            let (loads, fragment, blocks, column) = match which {
                0 => {
                    (p.product.tensor?, &p.product.c, BlockwiseTile::sums(&p.product), place.first)
                }
                _ => (
                    p.product.tensor_a?,
                    &p.product.a,
                    BlockwiseTile::factors(&p.product, memory.cell_bits.into())?,
                    place.first_a,
                ),
            };
            let form = look.form(Some(loads))?;
            let atoms = if stores { form.store_atoms } else { form.load_atoms };
            if (which == 0 && stores && !place.stored)
                || !(atoms.0 == step.atom || atoms.1 == Some(step.atom))
            {
                return None;
            }
            let each = power(usize::from(loads.registers))?;
            let registers = step
                .args
                .iter()
                .filter(|arg| class(**arg).is_some())
                .map(|arg| crate::contents::count(*arg))
                .max()?;
            if u32::from(registers) != each {
                return None;
            }
            (0..u32::from(fragment.registers()).checked_div(each)?).find(|number| {
                let start = || {
                    let e = fragment.element(
                        number.checked_mul(each)?.checked_mul(blocks.in_cell())?,
                        0,
                        warp,
                    );
                    let (lane, column, _) = blocks.cell(tile, fragment, column, e)?;
                    START
                        .checked_add(u64::from(lane.checked_shl(u32::from(memory.lane_shift))?))?
                        .checked_add(u64::from(column))
                };
                start().is_some() && start() == found
            })
        };
        // Without a turn nothing has been added up.
        if !stores
            && p.tensor.is_some_and(|place| {
                !place.stored
                    && place.carrier.is_some_and(|carrier| self.turns_read(carrier) == Some(0))
            })
        {
            return Err(Violation::Content {
                step: at,
                writer: u16::MAX,
                value: p.tensor.map(|place| place.value),
                at: 0,
            });
        }
        let sums = part(0);
        let instance =
            sums.or_else(|| part(1).filter(|_| stores).and_then(|n| n.checked_add(FACTORS)));
        if instance.is_some_and(|i| self.bind(at, i)) { Ok(()) } else { Err(self.wrong(at, found)) }
    }

    /// A copy of a piece of scales: from its place in shared memory to its column.
    #[inline(never)]
    fn piece(&mut self, at: u16, step: &Inst, atom: &Atom<'_>) -> Result<(), Violation> {
        let look = self.look;
        let (Some(p), Some(movement)) = (look.own_product(step), atom.movement) else {
            return Err(Violation::Stray { step: at });
        };
        let (word, column) = (
            self.given(step, atom, movement.from.operand),
            self.given(step, atom, movement.to.operand),
        );
        let mut found = None;
        for (side, copy) in
            p.copied.iter().enumerate().filter_map(|(side, copy)| {
                Some((side, copy.filter(|copy| copy.atom == step.atom)?))
            })
        {
            let stands = |row: u16, run: u16| -> Option<bool> {
                let shape = p.product.shape;
                let how = look.tables.atom(p.product.atom)?.shared(if side == 0 {
                    shape.a
                } else {
                    shape.b
                })?;
                let table = descriptor_named(look.tables, look.arch, how.descriptor)?;
                let field = table.fields.iter().find(|f| f.role == FieldRole::Start)?;
                let tile = look.plan.allocs.get(usize::from(copy.given.alloc))?;
                let corner = (
                    u32::from(row).checked_mul(u32::from(copy.piece.0))?,
                    u32::from(run).checked_mul(u32::from(copy.piece.1))?,
                );
                let byte = place(tile, false, corner)?;
                let address = look.base().checked_add(u64::from(tile.offset))?.checked_add(byte)?;
                let start = address
                    .checked_div(u64::from(field.scale.max(1)))?
                    .checked_shl(u32::from(field.at))?;
                let from = copy.given.word.wrapping_add(start) == word?;
                Some(from && START.checked_add(u64::from(copy.column((row, run)))) == column)
            };
            let all =
                (0..copy.pieces.1).flat_map(|run| (0..copy.pieces.0).map(move |row| (row, run)));
            let own = all.into_iter().find(|(row, run)| stands(*row, *run) == Some(true));
            let number = |(row, run): (u16, u16)| {
                u32::from(run)
                    .saturating_mul(u32::from(copy.pieces.0))
                    .saturating_add(u32::from(row))
            };
            found = found.or(own.map(|own| {
                number(own).saturating_mul(2).saturating_add(if side == 0 { 0 } else { 1 })
            }));
        }
        if found.is_some_and(|i| self.bind(at, i)) { Ok(()) } else { Err(self.wrong(at, word)) }
    }
}

/// The column where the scales of an instance with these blocks of A and B begin, and which run of
/// the piece there is its.
fn scales(
    p: &ProductPlan,
    atom: &Atom<'_>,
    copy: &ScaleCopy,
    (side, blocks): (usize, [u16; 2]),
) -> Option<(u16, u16)> {
    let [of_a, of_b] = blocks;
    let (fragment, block) = if side == 0 { (&p.product.a, of_a) } else { (&p.product.b, of_b) };
    let (row, col) = block_start(fragment, u32::from(block), 0)?;
    let (outer, depth) = if side == 0 { (row, col) } else { (col, row) };
    // Runs count elements, of which a pair is two.
    let depth = depth.checked_mul(if p.product.pairs { 2 } else { 1 })?;
    let runs = depth.checked_div(u32::from(atom.scaled_run()?))?;
    let (rows, each) = (u32::from(copy.piece.0), u32::from(copy.piece.1));
    let narrow = |n: u32| u16::try_from(n).ok();
    let place = (narrow(outer.checked_div(rows)?)?, narrow(runs.checked_div(each)?)?);
    Some((copy.column(place), narrow(runs.checked_rem(each)?)?))
}

/// Barriers are those of the table.
pub(super) fn barriers(look: &ContentsContext<'_>) -> Result<(), Violation> {
    let all = || look.arch.sync.iter().flat_map(|rule| rule.steps).filter(|want| want.barrier);
    for (at, step) in (0u16..).zip(look.steps).filter(|(_, step)| step.purpose != InstKind::Label) {
        if all().any(|want| want.atom == step.atom) && !all().any(|want| is_step(look, step, want))
        {
            return Err(Violation::Stray { step: at });
        }
    }
    Ok(())
}

/// What a kernel with tensor memory begins with stands before all work there, and what it ends with
/// behind it.
pub(super) fn frames(look: &ContentsContext<'_>) -> Result<(), Violation> {
    let Some(memory) =
        tensor_memory(look.tables, look.arch).filter(|_| look.plan.tensor_columns > 0)
    else {
        return Ok(());
    };
    let works = |step: &Inst| {
        let product = step.purpose == InstKind::Matrix
            && look
                .own_product(step)
                .is_some_and(|p| p.tensor.is_some() && p.product.atom == step.atom);
        product || look.transfer(step).is_some()
    };
    let first = look.steps.iter().position(works).unwrap_or(look.steps.len());
    let last = look.steps.iter().rposition(works).unwrap_or(first);
    let narrow = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    let parts =
        [(memory.enter, 0, first), (memory.leave, last.saturating_add(1), look.steps.len())];
    for (frame, from, to) in parts {
        let mut wanted = frame.iter().peekable();
        for step in look.steps.iter().take(to).skip(from) {
            if step.purpose != InstKind::Label
                && wanted.peek().is_some_and(|want| want.atom == step.atom)
            {
                wanted.next();
            }
        }
        if let Some(want) = wanted.next() {
            return Err(Violation::Race {
                producer: narrow(from),
                consumer: narrow(to),
                missing: want.atom,
            });
        }
    }
    Ok(())
}

/// Which term of its sum an instance is whose blocks are these.
fn instance(p: &ProductPlan, found: [u16; 3]) -> Option<u32> {
    let (nm, nn, nk) = p.product.counts();
    let all = (0..u32::from(nk)).flat_map(|k| {
        (0..u32::from(nm)).flat_map(move |m| (0..u32::from(nn)).map(move |n| (m, n, k)))
    });
    let own = |at: &(u32, u32, u32)| {
        let Some((a, b, c)) = blocks(&p.product, *at) else { return false };
        [a, b, c]
            .into_iter()
            .zip(found)
            .all(|(want, found)| found == NONE || want == u32::from(found))
    };
    all.into_iter().find(own).map(|(.., k)| k)
}
