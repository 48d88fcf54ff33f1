//! Collecting: tiles and movements as the program writes them, and the loads that copies can begin
//! with.

use crate::data::{
    AllocPlan, Candidate, GlobalPlan, LEADS, Lead, PlanError, PlanPool, RejectedCandidate,
    Unatomic, Unindexed, Unparted,
};
use crate::select::elementwise::is_done;
use crate::select::loops::written_layout;
use crate::select::memory::total_cost::power;
use crate::select::memory::{explicit_layouts, place_tables};
use crate::select::parts::is_read;
use crate::select::planner::WantedAtom;
use crate::select::planner::{CopyEnd, CopyOp, Planner, Staged, full};
use lanebook_ir::{AttrValue, Def, MemrefBound, Op, TypeKind, Value, attr_names};
use lanebook_tables::{AtomicOp, DtypeKind, OpRole, OpWord, Space};
use lanebook_tile::evaluate::EndMap;
use lanebook_tile::map::{Fragment, MemoryMap, SharedLayout, TileShape, log2_exact};
use lanebook_tile::matrix::{blocked, blocks};
use lanebook_tile::shaping::{TilePart, tile_shape};
use lanebook_tile::tiling::{RegisterTranspose, Reject};

/// Distances inside a tile of global memory and from matrix to matrix stay below so many bytes.
const GLOBAL_REACH: u64 = 1 << 31;

impl Planner<'_, '_, '_, '_> {
    /// Finds tiles and movements.
    pub(crate) fn collect(&mut self, function: Op) -> Result<(), PlanError> {
        for op in self.program.inside(function) {
            match self.program.role(op) {
                OpRole::Alloc => self.collect_alloc(op)?,
                OpRole::Copy => {
                    let _ = self.collect_copy(op)?;
                }
                OpRole::Load => {
                    let result = self.program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
                    let shape = self.shape_of(op, result)?;
                    let from = self.memory_end(op, 0, shape)?;
                    self.add(op, from, CopyEnd::Registers(result))?;
                }
                role @ (OpRole::Store | OpRole::Atomic) => {
                    if role == OpRole::Atomic {
                        self.led(op)?;
                    }
                    let value = self.program.operand(op, 0).ok_or(PlanError::Unsupported(op))?;
                    let shape = self.shape_of(op, value)?;
                    let to = self.memory_end(op, 1, shape)?;
                    self.add(op, CopyEnd::Registers(value), to)?;
                }
                // What nothing reads is not computed.
                role if role.is_lanewise() && self.is_done(op) => {}
                role if (role.is_lanewise() || role.is_composed())
                    && !is_read(self.program, op) => {}
                OpRole::Broadcast if self.program.repeated_number(op).is_some() => {
                    self.collect_number(op)?
                }
                OpRole::Index if self.program.coordinates(op).is_some() => {
                    self.collect_number(op)?
                }
                OpRole::Reduce | OpRole::Broadcast => self.collect_shaping(op)?,
                OpRole::Reshape | OpRole::Permute => self.collect_reshaped(op)?,
                OpRole::Slice => {
                    let refuse = PlanError::Part { op, why: Unparted::Lanes };
                    TilePart::of(self.program, op).map(|_| ()).ok_or(refuse)?
                }
                OpRole::Matrix
                | OpRole::For
                | OpRole::Yield
                | OpRole::Return
                | OpRole::Constant
                | OpRole::Convert
                | OpRole::Transpose
                | OpRole::Function
                | OpRole::Fence
                | OpRole::Wait
                | OpRole::Index => {}
                _ => return Err(PlanError::Unsupported(op)),
            }
        }
        Ok(())
    }

    /// The movement that a copy is.
    pub(crate) fn collect_copy(&mut self, op: Op) -> Result<CopyOp, PlanError> {
        let shape = self.shape_at(op, &[0, 1])?;
        let (from, to) = (self.memory_end(op, 0, shape)?, self.memory_end(op, 1, shape)?);
        self.add(op, from, to)?;
        self.movements.last().copied().ok_or(PlanError::Stale)
    }

    /// The same elements under another shape lie in the same registers where the elements of a row
    /// follow each other in both.
    fn collect_reshaped(&self, op: Op) -> Result<(), PlanError> {
        let [from, to] = [self.program.operand(op, 0), self.program.result(op, 0)]
            .map(|value| value.and_then(|value| tile_shape(self.program, value)));
        let (from, to) = (from.ok_or(PlanError::Extents(op))?, to.ok_or(PlanError::Extents(op))?);
        let from = Fragment::new(from);
        let from = match self.program.exchanged_groups(op) {
            Some([left, right, run]) => from.exchanged(left, right, run),
            None => (self.program.role(op) == OpRole::Reshape).then_some(from),
        };
        match from.and_then(|from| from.reshaped(to)) {
            Some(_) => Ok(()),
            None => Err(PlanError::Reshape(op)),
        }
    }

    /// A tile of an index or of coordinates has whole numbers of 32 bits; one of an argument has
    /// the argument's type.
    fn collect_number(&self, op: Op) -> Result<(), PlanError> {
        let result = self.program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
        let tables = self.target.tables;
        let dtype = self.program.type_of(result).dtype.and_then(|d| tables.dtype(d));
        let dtype = dtype.ok_or(PlanError::Element(op))?;
        let is_whole = matches!(dtype.kind, DtypeKind::Signed | DtypeKind::Unsigned);
        let from = self.program.repeated_number(op).map(|from| self.program.type_of(from));
        let is_argument = from.is_some_and(|ty| ty.dtype.is_some());
        if self.shape_of(op, result)?.bits == 32 && (is_whole || is_argument) {
            Ok(())
        } else {
            Err(PlanError::Element(op))
        }
    }

    /// Whether an instruction does this operation on elements.
    fn is_done(&self, op: Op) -> bool {
        let dtype = |v: Option<Value>| v.and_then(|v| self.program.type_of(v).dtype);
        let (from, to) = (dtype(self.program.operand(op, 0)), dtype(self.program.result(op, 0)));
        let arity = self.program.operands(op).count();
        let target = self.target;
        let word = self.program.decl_id(op).map(OpWord::Op);
        if self.program.has_same_bits(op) {
            return true;
        }
        if self.program.role(op) == OpRole::Select && !self.selects_alike(op) {
            return false;
        }
        from.zip(to).zip(word).is_some_and(|((from, to), word)| {
            is_done(target.tables, target.arch, word, arity, from, to)
        })
    }

    /// Whether a selection's truths have registers of their own, as what they select has: as many
    /// bits, or a register for each pair.
    fn selects_alike(&self, op: Op) -> bool {
        let held = |value: Option<Value>| {
            let dtype = value.and_then(|value| self.program.type_of(value).dtype);
            dtype.and_then(|dtype| self.target.tables.dtype(dtype)).map(|dtype| dtype.held)
        };
        let (truth, chosen) = (held(self.program.operand(op, 0)), held(self.program.result(op, 0)));
        truth == chosen
            || truth.zip(chosen).is_some_and(|(truth, chosen)| truth >= 32 && chosen >= 32)
    }

    fn add(&mut self, op: Op, from: CopyEnd, to: CopyEnd) -> Result<(), PlanError> {
        let depth = u8::try_from(self.program.loops_around(op)).unwrap_or(u8::MAX);
        let wanted = match self.program.attr(op, attr_names::MOVER) {
            Some(AttrValue::Str(name)) => {
                let named = self.target.tables.atom_named(self.program.text(name));
                named.map_or(WantedAtom::Unknown, WantedAtom::Named)
            }
            _ => WantedAtom::Any,
        };
        let capacity = self.movements.capacity();
        self.movements
            .push(CopyOp { op, from, to, depth, wanted })
            .map_err(|_| full(PlanPool::Transfers, capacity, op))
    }

    pub(crate) fn shape_of(&self, op: Op, value: Value) -> Result<TileShape, PlanError> {
        let ty = self.program.type_of(value);
        let bits = ty.dtype.and_then(|d| self.target.tables.dtype(d)).map_or(0, |d| d.held);
        if bits == 0 || !bits.is_multiple_of(8) {
            return Err(PlanError::Element(op));
        }
        tile_shape(self.program, value).ok_or(PlanError::Extents(op))
    }

    /// The shape of the first operand that is a tile with known extents; a memref's are those of
    /// all of it.
    fn shape_at(&self, op: Op, operands: &[usize]) -> Result<TileShape, PlanError> {
        let mut last = PlanError::Extents(op);
        for &k in operands {
            let tile = self.program.operand(op, k);
            let tile = tile.filter(|v| self.program.type_of(*v).kind != TypeKind::Memref);
            match tile.map(|v| self.shape_of(op, v)) {
                Some(Ok(shape)) => return Ok(shape),
                Some(Err(e)) => last = e,
                None => {}
            }
        }
        Err(last)
    }

    fn collect_alloc(&mut self, op: Op) -> Result<(), PlanError> {
        let value = self.program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
        if self.program.type_of(value).space != Some(Space::Shared) {
            return Err(PlanError::Unsupported(op));
        }
        let shape = self.shape_of(op, value)?;
        let text = written_layout(self.program, op, &self.program.type_of(value));
        let kept = text.map(|text| explicit_layouts::shared(self.program, text, shape));
        // A start that is aligned to more than any segment is has to be added behind the rest.
        let most = self.aligns().1;
        let by_table = match &kept {
            None => false,
            Some(Ok(kept)) => kept.align(0) > most,
            Some(Err(_)) => true,
        };
        let plain = SharedLayout { by_table, ..SharedLayout::BY_ROWS };
        let layout = kept.and_then(Result::ok).filter(|_| !by_table).unwrap_or(plain);
        let capacity = self.plan.allocs.capacity();
        let align = self.target.tables.weights.shared_align;
        let fixed = kept.is_some();
        let rows = AllocPlan::by_rows(value, shape);
        let alloc = AllocPlan { layout, fixed, align, ..rows };
        self.plan.allocs.push(alloc).map_err(|_| full(PlanPool::Allocs, capacity, op))?;
        if by_table { self.place_bits(op, value) } else { Ok(()) }
    }

    /// Gives the tile that was met last the table of its written layout.
    #[inline(never)] // Beside what reads layouts by rows, not around it.
    fn place_bits(&mut self, op: Op, value: Value) -> Result<(), PlanError> {
        let text = written_layout(self.program, op, &self.program.type_of(value));
        let text = text.ok_or(PlanError::Stale)?;
        let tile = self.plan.allocs.last_mut().ok_or(PlanError::Stale)?;
        place_tables::places(self.program, text, tile.shape, &mut tile.table)
            .map_err(|why| PlanError::Written { op, why })
    }

    fn memory_end(
        &mut self,
        op: Op,
        operand: usize,
        shape: TileShape,
    ) -> Result<CopyEnd, PlanError> {
        let not_traced =
            PlanError::NotTraced { op, operand: u8::try_from(operand).unwrap_or(u8::MAX) };
        let value = self.program.operand(op, operand).ok_or(not_traced)?;
        if let Some((index, alloc)) = self.plan.alloc_of(value) {
            let is_whole = alloc.shape == shape;
            return self.shared_end(op, operand, is_whole).map(|()| CopyEnd::Shared(index));
        }
        let ty = self.program.type_of(value);
        let is_argument = matches!(self.program.def(value), Def::Argument(..));
        if !is_argument || ty.space != Some(Space::Global) {
            return Err(not_traced);
        }
        let rank = ty.shape.rank();
        let element = u32::from(shape.bits / 8);
        let attr =
            |key: &str| self.program.int_value_attr(value, key).and_then(|n| u32::try_from(n).ok());
        let base = power(attr(attr_names::ALIGN).unwrap_or(element));
        let steps = |bytes: Option<u32>| {
            bytes.map_or_else(
                || power(attr(attr_names::STRIDE_DIV).unwrap_or(1)).saturating_mul(element),
                power,
            )
        };
        let mut starts = self.program.subscripts(op, operand);
        // The dimensions in front of rows and columns say which matrix; or which part of one row.
        let mut leading = [None; LEADS];
        let mut outer = 1 << 30;
        let is_far = self.program.value_attr(value, attr_names::FAR).is_some();
        let within = if is_far { 1 } else { 2 };
        for (dim, place) in (0..rank.saturating_sub(within)).zip(0..) {
            within_reach(op, known_bytes(&ty.shape, dim, element))?;
            let slot: &mut Option<Lead> = leading.get_mut(place).ok_or(not_traced)?;
            let lead = Lead {
                start: starts.next().ok_or(not_traced)?,
                bytes: inside(&ty.shape, dim, element),
            };
            outer = outer.min(steps(lead.bytes));
            *slot = Some(lead);
        }
        let row = if rank >= 2 && !is_far { Some(starts.next().ok_or(not_traced)?) } else { None };
        let (Some(col), None) = (starts.next(), starts.next()) else { return Err(not_traced) };
        let is_placed = self.program.index_tile(op).is_some();
        if row.is_none() && shape.row_count() != 1 && !is_placed {
            return Err(PlanError::Extents(op));
        }
        let outer_bytes = if row.is_some() {
            inside(&ty.shape, rank.saturating_sub(2), element)
        } else {
            Some(0)
        };
        let outer = if row.is_some() { outer.min(steps(outer_bytes)) } else { outer };
        let apart = known_bytes(&ty.shape, rank.saturating_sub(2), element).unwrap_or(0);
        within_reach(op, Some(apart).filter(|_| row.is_some()))?;
        let below = if row.is_some() { shape.row_count().saturating_sub(1) } else { 0 };
        let across = shape.col_count().saturating_mul(u64::from(element));
        within_reach(op, Some(below.saturating_mul(apart).saturating_add(across)))?;
        let inner = power(self.program.index_facts(col).divisor()).saturating_mul(element);
        let indexed = self.indexed(op, rank)?;
        let (guards, whole) = self.guards(shape, (operand, indexed), op);
        let below = self.below(op, (operand, indexed));
        let whole = whole.saturating_mul(element).min(inner);
        let whole = self.masked(op, operand, element)?.map_or(whole, |most| whole.min(most));
        let whole = match indexed {
            Some(dim) => whole.min(self.alike_indices(op, usize::from(dim), rank, element)),
            None => whole,
        };
        let global = GlobalPlan {
            guards,
            below,
            is_masked: self.program.mask(op).is_some(),
            indexed,
            whole,
            memref: value,
            start: (row, col),
            leading,
            align: base.min(outer).min(inner),
            tensor_align: (base, outer),
            column_align: inner,
            map: MemoryMap { outer_bytes, ..MemoryMap::global(shape, true) },
        };
        self.global_end(op, global)
    }

    /// A tile of global memory as an end of a movement.
    fn global_end(&mut self, op: Op, global: GlobalPlan) -> Result<CopyEnd, PlanError> {
        // The same tile is one, also where its place is written twice.
        let at = |a: Value, b: Value| {
            a == b || self.program.int(a).is_some_and(|n| self.program.int(b) == Some(n))
        };
        let same = |g: &GlobalPlan| {
            global.indexed.is_none()
                && g.rank() == global.rank()
                && g.starts().zip(global.starts()).all(|(a, b)| at(a, b))
                && GlobalPlan { start: global.start, leading: global.leading, ..*g } == global
        };
        let index = match self.plan.globals.iter().position(same) {
            Some(index) => index,
            None => {
                let capacity = self.plan.globals.capacity();
                self.plan
                    .globals
                    .push(global)
                    .map_err(|_| full(PlanPool::Globals, capacity, op))?;
                self.plan.globals.len().saturating_sub(1)
            }
        };
        u16::try_from(index).map(CopyEnd::Global).map_err(|_| PlanError::Unsupported(op))
    }

    /// Whether an operation may take a tile of shared memory as its operand: all of it.
    fn shared_end(&self, op: Op, operand: usize, is_whole: bool) -> Result<(), PlanError> {
        if self.program.mask(op).is_some() {
            return Err(PlanError::Masked(op));
        }
        if self.program.index_tile(op).is_some() {
            return Err(PlanError::Indexed { op, why: Unindexed::Shared });
        }
        if self.program.role(op) == OpRole::Atomic {
            return Err(PlanError::Atomic { op, why: Unatomic::Shared });
        }
        if !is_whole || self.program.subscripts(op, operand).next().is_some() {
            return Err(PlanError::Extents(op));
        }
        Ok(())
    }

    /// Whether all that stands behind an atomic operation's memref is obeyed.
    fn led(&self, op: Op) -> Result<(), PlanError> {
        let refuse = |why| Err(PlanError::Indexed { op, why });
        let compares = self.program.atomic_op(op).is_some_and(AtomicOp::compares);
        if compares && self.program.compared_tile(op).is_none() {
            return Err(PlanError::Atomic { op, why: Unatomic::Compared });
        }
        let index = self.program.index_tile(op);
        if index.is_none() && self.program.has_attr(op, attr_names::AXIS) {
            return refuse(Unindexed::Missing);
        }
        let led = self.program.beside_moved(op).count();
        if self.program.operand_count(op) != led.saturating_add(2) {
            return refuse(Unindexed::Order);
        }
        Ok(())
    }

    /// The dimension of a memref along which an index tile counts, if an operation has one.
    fn indexed(&self, op: Op, rank: usize) -> Result<Option<u8>, PlanError> {
        let Some(tile) = self.program.index_tile(op) else { return Ok(None) };
        let refuse = |why| PlanError::Indexed { op, why };
        let dtype = self.program.type_of(tile).dtype;
        let dtype = dtype.and_then(|dtype| self.target.tables.dtype(dtype));
        let is_word = dtype.is_some_and(|dtype| {
            dtype.held == 32 && matches!(dtype.kind, DtypeKind::Signed | DtypeKind::Unsigned)
        });
        if !is_word {
            return Err(refuse(Unindexed::Element));
        }
        let moved = match self.program.role(op) {
            OpRole::Load => self.program.result(op, 0),
            _ => self.program.operand(op, 0),
        };
        let shape = |value: Option<Value>| value.map(|value| self.program.type_of(value).shape);
        if shape(Some(tile)) != shape(moved) {
            return Err(refuse(Unindexed::Shape));
        }
        let dim = self.program.indexed_dim(op).filter(|dim| usize::from(*dim) < rank);
        dim.map(Some).ok_or(refuse(Unindexed::Dimension))
    }

    /// How many bytes of a row move together at the most where indices say where elements lie:
    /// neighbours whose indices may differ are apart.
    fn alike_indices(&self, op: Op, dim: usize, rank: usize, element: u32) -> u32 {
        let tile = self.program.index_tile(op);
        let is_same = tile.is_some_and(|tile| self.program.is_same_along_rows(tile));
        let is_inner = dim.saturating_add(1) == rank;
        if is_same && !is_inner { u32::MAX } else { element }
    }

    /// How many bytes of a row move together at the most where a mask says which elements do;
    /// `None` without one.
    fn masked(&self, op: Op, memref: usize, element: u32) -> Result<Option<u32>, PlanError> {
        let Some(mask) = self.program.mask(op) else { return Ok(None) };
        if self.program.bounds_beside_mask(op, memref).is_some() {
            return Err(PlanError::Masked(op));
        }
        // Neighbours of which the mask may say different things are apart.
        Ok(Some(if self.program.is_same_along_rows(mask) { u32::MAX } else { element }))
    }

    /// Along which dimensions of a memref a tile may reach beyond what there is, a bit each, and
    /// how many neighbours of a row are certainly all there or none.
    fn guards(
        &self,
        shape: TileShape,
        (operand, indexed): (usize, Option<u8>),
        op: Op,
    ) -> (u8, u32) {
        let (mut guards, mut whole) = (0u8, u32::MAX);
        let Some(bounds) = self.program.bounds_beside_mask(op, operand) else {
            return (guards, whole);
        };
        let starts = self.program.subscripts(op, operand);
        for (dim, (bound, start)) in bounds.iter().zip(starts).enumerate() {
            let inner = bounds.len().saturating_sub(dim);
            let extent = match inner {
                1 => shape.col_count(),
                2 => shape.row_count(),
                _ => 1,
            };
            let is_indexed = indexed.is_some_and(|own| usize::from(own) == dim);
            let divisor = match *bound {
                MemrefBound::None => continue,
                // Whatever an index is, it may be outside.
                _ if is_indexed => 1,
                MemrefBound::Number(n) => {
                    let facts = self.program.index_facts(start);
                    let last = i64::try_from(extent).ok();
                    let last = last.and_then(|extent| facts.high.checked_add(extent));
                    if facts.is_plain() && last.is_some_and(|last| last <= i64::from(n)) {
                        continue;
                    }
                    n
                }
                MemrefBound::Argument(value) => self.program.index_facts(value).divisor(),
                MemrefBound::Half(value) => self.program.index_facts(value).divisor() / 2,
            };
            guards |= 1u8.wrapping_shl(dim as u32);
            if inner == 1 {
                whole = whole.min(power(divisor));
            }
        }
        (guards, whole)
    }

    /// Along which dimensions of a memref a tile may start below zero, a bit each. A memref has
    /// nothing there: what a tile has there is left out by bounds or a mask.
    fn below(&self, op: Op, (operand, indexed): (usize, Option<u8>)) -> u8 {
        let program = self.program;
        let memref = program.operand(op, operand);
        let mut below = 0u8;
        for (dim, start) in program.subscripts(op, operand).enumerate() {
            let is_indexed = indexed.is_some_and(|own| usize::from(own) == dim);
            let is_part = dim == 0
                && memref.is_some_and(|value| program.value_attr(value, attr_names::FAR).is_some());
            if !is_indexed
                && (is_part || program.leaves_out_below_zero(op, operand, dim))
                && program.may_be_below_zero(start)
            {
                below |= 1u8.wrapping_shl(dim as u32);
            }
        }
        below
    }

    /// Finds, for each copy between global and shared memory, the cheapest global half of each
    /// width.
    pub(crate) fn stage(&mut self) -> Result<(), PlanError> {
        for index in 0..self.movements.len() {
            let Some(&movement) = self.movements.get(index) else { continue };
            let op = movement.op;
            let (g, loads) = match (movement.from, movement.to) {
                (CopyEnd::Global(g), CopyEnd::Shared(_)) => (g, true),
                (CopyEnd::Shared(_), CopyEnd::Global(g)) => (g, false),
                _ => continue,
            };
            let Some(global) = self.plan.globals.get(usize::from(g)).copied() else { continue };
            let outside = global.end();
            let shape = global.map.shape;
            let spaces = if loads {
                (Space::Global, Space::Register)
            } else {
                (Space::Register, Space::Global)
            };
            for copy_atom in self.transfers.between(spaces.0, spaces.1) {
                let share = copy_atom.register_bits.checked_div(u32::from(shape.bits)).unwrap_or(0);
                let Some(mut fragment) = log2_exact(u64::from(share)).and_then(|vector| {
                    blocked(shape, vector, self.target.wave, self.target.warps, true)
                }) else {
                    continue;
                };
                fragment.unpacked = copy_atom.register_bits < 32;
                let through = EndMap::Registers(&fragment);
                let (from, to) = if loads { (outside, through) } else { (through, outside) };
                let found = match self.target.evaluate(copy_atom, from, to, u32::MAX) {
                    Ok(found) => found,
                    Err(why) => {
                        if is_of_tile(why) {
                            let what = Candidate::Atom(copy_atom.atom);
                            self.plan.lose(RejectedCandidate { op, what, why, cost: 0 });
                        }
                        continue;
                    }
                };
                let movement = u16::try_from(index).unwrap_or(u16::MAX);
                let staged = Staged {
                    movement,
                    global: copy_atom.atom,
                    bits: copy_atom.register_bits,
                    transpose: None,
                    fragment,
                    found,
                };
                match self
                    .staged
                    .iter_mut()
                    .find(|s| s.movement == movement && s.bits == staged.bits)
                {
                    Some(old) if old.found.figures.cost <= staged.found.figures.cost => {}
                    Some(old) => *old = staged,
                    None => {
                        let capacity = self.staged.capacity();
                        self.staged
                            .push(staged)
                            .map_err(|_| full(PlanPool::Staged, capacity, op))?;
                    }
                }
            }
        }
        for index in 0..self.movements.len() {
            self.stage_transposed(index);
        }
        Ok(())
    }

    /// The same for copies into shared memory that transpose blocks on the way: for each size of a
    /// block the cheapest global half. Candidates for which there is no room are not looked at.
    #[inline(never)]
    fn stage_transposed(&mut self, index: usize) {
        let Some(choice) = self.choice else { return };
        let Some(&CopyOp { op, from: CopyEnd::Global(g), to: CopyEnd::Shared(_), .. }) =
            self.movements.get(index)
        else {
            return;
        };
        let Some(global) = self.plan.globals.get(usize::from(g)).copied() else { return };
        let Ok(number) = u16::try_from(index) else { return };
        let shape = global.map.shape;
        let packing =
            32u16.checked_div(shape.bits).and_then(|n| log2_exact(u64::from(n))).unwrap_or(0);
        let Some(tallest) = self
            .family
            .widest
            .checked_div(u32::from(shape.bits / 8))
            .and_then(u32::checked_ilog2)
            .filter(|_| packing > 0)
        else {
            return;
        };
        let tallest = u8::try_from(tallest).unwrap_or(0).min(shape.rows);
        for copy_atom in self.transfers.between(Space::Global, Space::Register) {
            if !self.is_chosen_from(copy_atom) {
                continue;
            }
            let Some(along) = copy_atom
                .register_bits
                .checked_div(u32::from(shape.bits))
                .and_then(|n| log2_exact(u64::from(n)))
            else {
                continue;
            };
            if along < packing {
                continue;
            }
            for across in packing..=tallest {
                let Some(fragment) =
                    blocks(shape, (along, across), self.target.wave, self.target.warps, true)
                else {
                    continue;
                };
                let mut found = match self.target.evaluate(
                    copy_atom,
                    global.end(),
                    EndMap::Registers(&fragment),
                    u32::MAX,
                ) {
                    Ok(found) => found,
                    Err(why) => {
                        if is_of_tile(why) {
                            self.plan.lose(RejectedCandidate {
                                op,
                                what: Candidate::Flipped(copy_atom.atom, along, across),
                                why,
                                cost: 0,
                            });
                        }
                        break;
                    }
                };
                let Some(fragment) = fragment.registers_transposed(along, across) else { continue };
                let bits = u32::from(shape.bits).checked_shl(u32::from(across)).unwrap_or(0);
                let transpose = RegisterTranspose { along, across, packing, atom: choice.id };
                let (count, each) = (
                    transpose.count(&found.tiling),
                    self.target
                        .tables
                        .weights
                        .instruction
                        .saturating_mul(u32::from(choice.atom.cost.issue)),
                );
                found.figures.count = found.figures.count.saturating_add(count);
                found.figures.cost = found.figures.cost.saturating_add(count.saturating_mul(each));
                let staged = Staged {
                    movement: number,
                    global: copy_atom.atom,
                    bits,
                    transpose: Some(transpose),
                    fragment,
                    found,
                };
                match self
                    .staged
                    .iter_mut()
                    .find(|s| s.movement == number && s.transpose == staged.transpose)
                {
                    Some(old) if old.found.figures.cost <= staged.found.figures.cost => {}
                    Some(old) => *old = staged,
                    None => {
                        let _ = self.staged.push(staged);
                    }
                }
            }
        }
    }
}

/// Bytes from one index of a dimension to the next, if the type says it and a word holds them.
fn inside(shape: &lanebook_ir::Shape, dim: usize, element: u32) -> Option<u32> {
    known_bytes(shape, dim, element).and_then(|bytes| u32::try_from(bytes).ok())
}

/// The same, however many they are.
fn known_bytes(shape: &lanebook_ir::Shape, dim: usize, element: u32) -> Option<u64> {
    let mut bytes = u64::from(element);
    for inner in dim.saturating_add(1)..shape.rank() {
        bytes = bytes.saturating_mul(u64::from(shape.extent(inner)?));
    }
    Some(bytes)
}

/// Refuses a distance in global memory that is out of reach.
fn within_reach(op: Op, bytes: Option<u64>) -> Result<(), PlanError> {
    match bytes {
        Some(bytes) if bytes >= GLOBAL_REACH => Err(PlanError::GlobalReach { op, bytes }),
        _ => Ok(()),
    }
}

/// Whether a reason says something about the tile; others say that the atom is for other tiles.
fn is_of_tile(why: Reject) -> bool {
    matches!(why, Reject::Alignment { .. } | Reject::Bounds { .. } | Reject::Addresses { .. })
}
