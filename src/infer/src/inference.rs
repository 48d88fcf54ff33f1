//! The state of inference, and how a program is told to it.

use crate::arena::{ArenaParts, BaseId, FormArena, IndexForm, VarRole, too_many};
use crate::contain::MAX_THREADS;
use crate::error::{FormError, FormResult, PoolName};
use crate::event::Reason;
use crate::iterations::TabulatedSlots;
use crate::points::Tape;
use crate::pool::LentStack;
use crate::program::{
    Access, Buffer, BufferId, FragmentForm, Kind, MAX_RANK, MachineFigures, MemoryScope, Operator,
    OperatorId, PlanShape, StoragePlaces, VarRange, When,
};
use lanebook_layout::Swizzle;

/// The memory of inference, lent.
#[derive(Debug)]
pub struct InferenceParts<'a> {
    /// Index maps.
    pub arena: ArenaParts<'a>,
    /// Buffers.
    pub buffers: &'a mut [Buffer],
    /// Operators.
    pub operators: &'a mut [Operator],
    /// Accesses.
    pub accesses: &'a mut [Access],
    /// Layouts: four for each buffer, four for each operator.
    pub layouts: &'a mut [Option<FragmentForm>],
    /// The queue: a word for each operator.
    pub queue: &'a mut [u16],
    /// For layouts that are written and that structure does not decide: a bit for each of
    /// [`crate::MAX_THREADS`] threads and each local index.
    pub points: &'a mut [u64],
}

/// Why inference ended without layouts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// A layout was rejected, and there is no other.
    Rejected {
        /// By which operator.
        operator: OperatorId,
        /// Why.
        reason: Reason,
    },
    /// The algebra failed.
    Failed(FormError),
}

lanebook_layout::sentences! { Stop, sink;
    Rejected { reason } => { reason.write_text(sink) };
    Failed(error) => { error.write_text(sink) };
}

impl From<FormError> for Stop {
    fn from(error: FormError) -> Self {
        Self::Failed(error)
    }
}

/// A program, and what is known of its layouts.
#[derive(Debug)]
pub struct Inference<'a> {
    /// Index maps.
    pub arena: FormArena<'a>,
    pub(crate) buffers: LentStack<'a, Buffer>,
    pub(crate) operators: LentStack<'a, Operator>,
    pub(crate) accesses: LentStack<'a, Access>,
    pub(crate) layouts: &'a mut [Option<FragmentForm>],
    pub(crate) words: &'a mut [u16],
    pub(crate) points: &'a mut [u64],
    pub(crate) machine: MachineFigures,
    /// The operator whose plan is another one, and which.
    pub(crate) planned: Option<(OperatorId, PlanShape)>,
    /// The buffers that were laid since the queue looked.
    pub(crate) laid: Option<BufferId>,
    /// What stands in `points` for lowering.
    pub(crate) tabulated: TabulatedSlots,
}

impl<'a> Inference<'a> {
    /// An empty program for a machine.
    pub fn new(parts: InferenceParts<'a>, machine: MachineFigures) -> Self {
        parts.layouts.fill(None);
        Self {
            arena: FormArena::new(parts.arena),
            buffers: LentStack::new(parts.buffers, PoolName::Buffers),
            operators: LentStack::new(parts.operators, PoolName::Operators),
            accesses: LentStack::new(parts.accesses, PoolName::Accesses),
            layouts: parts.layouts,
            words: parts.queue,
            points: parts.points,
            machine,
            planned: None,
            laid: None,
            tabulated: TabulatedSlots::default(),
        }
    }

    fn vars(&mut self, extents: &[u32], role: VarRole) -> FormResult<VarRange> {
        if extents.len() > MAX_RANK {
            return Err(too_many());
        }
        let mut first = 0;
        for (k, extent) in extents.iter().enumerate() {
            let id = self.arena.var(*extent, role)?;
            if k == 0 {
                first = id.0;
            }
        }
        Ok(VarRange { first, count: u8::try_from(extents.len()).unwrap_or(0) })
    }

    /// A buffer of this shape and element width.
    ///
    /// # Errors
    /// [`FormError::Full`]; more than [`MAX_RANK`] dimensions.
    pub fn buffer(&mut self, shape: &[u32], bits: u32, scope: MemoryScope) -> FormResult<BufferId> {
        let dims = self.vars(shape, VarRole::Dim)?;
        let at = self.buffers.push(Buffer { bits, scope, dims, ..Buffer::default() })?;
        let id = BufferId(u16::try_from(at).map_err(|_| self.buffers.full())?);
        if let Some(buffer) = self.buffers.get_mut(at) {
            (buffer.storage, buffer.next_alias) = (id, id);
        }
        Ok(id)
    }

    /// Another shape and element width of the storage of `of`.
    ///
    /// # Errors
    /// Those of [`Inference::buffer`]; [`FormError::Stale`].
    pub fn alias(&mut self, of: BufferId, shape: &[u32], bits: u32) -> FormResult<BufferId> {
        let owner = *self.buffer_of(of)?;
        let id = self.buffer(shape, bits, owner.scope)?;
        if let Some(buffer) = self.buffers.get_mut(usize::from(id.0)) {
            (buffer.storage, buffer.next_alias) = (owner.storage, owner.next_alias);
        }
        if let Some(buffer) = self.buffers.get_mut(usize::from(of.0)) {
            buffer.next_alias = id;
        }
        Ok(id)
    }

    /// A buffer.
    pub fn buffer_of(&self, id: BufferId) -> FormResult<&Buffer> {
        self.buffers.get(usize::from(id.0)).ok_or(FormError::Stale)
    }

    /// An operator.
    pub fn operator_of(&self, id: OperatorId) -> FormResult<&Operator> {
        self.operators.get(usize::from(id.0)).ok_or(FormError::Stale)
    }

    /// Threads whose accesses are served together.
    #[doc(hidden)]
    #[must_use]
    pub const fn wave(&self) -> u32 {
        self.machine.wave
    }

    /// How many buffers and operators there are.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.buffers.len(), self.operators.len())
    }

    /// The variable of a serial loop around operators, or inside one.
    pub fn serial(&mut self, extent: u32, inner: bool) -> FormResult<BaseId> {
        self.arena.var(extent, if inner { VarRole::Inner } else { VarRole::Outer })
    }

    /// An operator over parallel loops of these extents, executed by `threads` (the first, and how
    /// many).
    ///
    /// # Errors
    /// [`FormError::Full`]; more than [`MAX_THREADS`] threads, or [`MAX_RANK`] loops.
    pub fn operator(
        &mut self,
        kind: Kind,
        extents: &[u32],
        threads: (u32, u32),
    ) -> FormResult<OperatorId> {
        let (begin, count) = threads;
        if begin.checked_add(count).is_none_or(|end| end > MAX_THREADS) {
            return Err(FormError::Full { pool: PoolName::Threads, has: MAX_THREADS });
        }
        let vars = self.vars(extents, VarRole::Loop)?;
        let first = u32::try_from(self.accesses.len()).map_err(|_| self.accesses.full())?;
        let op = Operator { kind, vars, accesses: (first, 0), threads, ..Operator::default() };
        let at = self.operators.push(op)?;
        Ok(OperatorId(u16::try_from(at).map_err(|_| self.operators.full())?))
    }

    /// Bounds the vectors of the last operator, in elements.
    pub fn bound_vector(&mut self, elements: u32) {
        let last = self.operators.len().saturating_sub(1);
        if let Some(op) = self.operators.get_mut(last) {
            op.vector = Some(elements);
        }
    }

    /// An access of the last operator, in every iteration.
    ///
    /// # Errors
    /// [`FormError::Full`]; [`FormError::Stale`] without an operator or with another rank than the
    /// buffer's.
    pub fn access(
        &mut self,
        buffer: BufferId,
        write: bool,
        indices: &[IndexForm],
    ) -> FormResult<()> {
        self.access_when(buffer, write, indices, When::Always)
    }

    /// An access of the last operator.
    ///
    /// # Errors
    /// Those of [`Inference::access`].
    pub fn access_when(
        &mut self,
        buffer: BufferId,
        write: bool,
        indices: &[IndexForm],
        when: When,
    ) -> FormResult<()> {
        if self.buffer_of(buffer)?.dims.len() != indices.len() {
            return Err(FormError::Stale);
        }
        let mut index = [IndexForm::default(); MAX_RANK];
        for (to, from) in index.iter_mut().zip(indices) {
            *to = *from;
        }
        let rank = u8::try_from(indices.len()).unwrap_or(0);
        let last = self.operators.len().saturating_sub(1);
        let operator = OperatorId(u16::try_from(last).map_err(|_| self.operators.full())?);
        let op = self.operators.get_mut(last).ok_or(FormError::Stale)?;
        let entry = Access { buffer, write, when, index, rank, operator, next_use: None };
        let at = self.accesses.push(entry)?;
        op.accesses.1 = op.accesses.1.saturating_add(1);
        if matches!(op.kind, Kind::Reduce { .. }) {
            let storage = self.storage(buffer);
            if let Some(owner) = self.buffers.get_mut(usize::from(storage.0)) {
                owner.is_reduced |= !write;
                owner.is_result |= write;
            }
        }
        self.add_use(buffer, u32::try_from(at).map_err(|_| self.accesses.full())?);
        Ok(())
    }

    /// Access `at` comes behind the others to the buffer's storage.
    fn add_use(&mut self, buffer: BufferId, at: u32) {
        let storage = self.storage(buffer);
        let Some(owner) = self.buffers.get_mut(usize::from(storage.0)) else { return };
        let before = owner.uses.map(|(_, last)| last);
        owner.uses = Some((owner.uses.map_or(at, |(first, _)| first), at));
        let before = before.and_then(|k| usize::try_from(k).ok());
        if let Some(before) = before.and_then(|k| self.accesses.get_mut(k)) {
            before.next_use = Some(at);
        }
    }

    /// The accesses of an operator.
    pub fn accesses_of(&self, op: &Operator) -> &[Access] {
        let first = usize::try_from(op.accesses.0).unwrap_or(usize::MAX);
        self.accesses.range(first, usize::from(op.accesses.1))
    }

    /// The access at a place of the list.
    pub(crate) fn access_at(&self, at: u32) -> Option<&Access> {
        self.accesses.get(usize::try_from(at).ok()?)
    }

    /// The row-major number of the element that an access asks for.
    pub(crate) fn element_of(&mut self, access: &Access) -> FormResult<IndexForm> {
        let dims = self.buffer_of(access.buffer)?.dims;
        let mut out = IndexForm::constant(0);
        let mut stride = 1i64;
        for (dim, index) in dims.iter().rev().zip(access.indices().iter().rev()) {
            out = self.arena.add_scaled(out, *index, stride)?;
            let extent = i64::from(self.arena.extent(dim)?);
            stride = stride.checked_mul(extent).ok_or(FormError::Overflow)?;
        }
        Ok(out)
    }

    /// Pins the layout of a buffer.
    pub fn pin_buffer(&mut self, id: BufferId, fragment: FragmentForm) -> FormResult<()> {
        self.buffers.get_mut(usize::from(id.0)).ok_or(FormError::Stale)?.pinned = true;
        self.set_buffer(id, fragment)
    }

    /// Pins the layout of a buffer where the unit of a product, the last operator, wants it.
    ///
    /// # Errors
    /// [`FormError::Stale`].
    #[doc(hidden)] // For telling.
    pub fn pin_product(&mut self, id: BufferId, fragment: FragmentForm) -> FormResult<()> {
        let last = self.operators.len().saturating_sub(1);
        let last = OperatorId(u16::try_from(last).map_err(|_| self.operators.full())?);
        self.buffers.get_mut(usize::from(id.0)).ok_or(FormError::Stale)?.product = Some(last);
        self.pin_buffer(id, fragment)
    }

    /// The product whose unit has laid a buffer.
    #[doc(hidden)] // For telling.
    #[must_use]
    pub fn laid_by_product(&self, id: BufferId) -> Option<OperatorId> {
        self.buffer_of(id).ok()?.product
    }

    /// Pins the layout of an operator's loop.
    pub fn pin_operator(&mut self, id: OperatorId, fragment: FragmentForm) -> FormResult<()> {
        self.operators.get_mut(usize::from(id.0)).ok_or(FormError::Stale)?.pinned = true;
        self.set_loop(id, fragment)
    }

    /// How the bytes of a buffer in shared memory are exchanged, counted row by row, in
    /// [`Inference::strips`] strip by strip, from the start of its storage: a view has the swizzle
    /// of its storage. `None`: not at all.
    #[must_use]
    pub fn swizzle(&self, id: BufferId) -> Option<Swizzle> {
        self.buffer_of(self.storage(id)).ok()?.swizzle
    }

    /// Pins [`Inference::swizzle`] of a buffer's storage: it was written.
    ///
    /// # Errors
    /// [`FormError::Stale`].
    pub fn pin_swizzle(&mut self, id: BufferId, swizzle: Option<Swizzle>) -> FormResult<()> {
        let storage = self.storage(id);
        let owner = self.buffers.get_mut(usize::from(storage.0)).ok_or(FormError::Stale)?;
        owner.is_swizzle_pinned = true;
        self.set_swizzle(id, swizzle)
    }

    /// Takes back every [`Inference::swizzle`] that was not written; whether there was one.
    #[doc(hidden)]
    pub fn drop_swizzles(&mut self) -> bool {
        let mut any = false;
        for at in 0..self.buffers.len() {
            if let Some(own) = self.buffers.get_mut(at).filter(|own| !own.is_swizzle_pinned) {
                own.is_described = false;
                any |= own.swizzle.take().is_some();
                any |= core::mem::take(&mut own.column_block) > 0;
            }
        }
        any
    }

    /// Whether [`Inference::swizzle`] of a buffer's storage was written.
    #[must_use]
    pub fn is_swizzle_pinned(&self, id: BufferId) -> bool {
        self.buffer_of(self.storage(id)).is_ok_and(|owner| owner.is_swizzle_pinned)
    }

    /// Whether a buffer's storage lies as a matrix unit reads it by itself.
    #[doc(hidden)]
    #[must_use]
    pub fn is_described(&self, id: BufferId) -> bool {
        self.buffer_of(self.storage(id)).is_ok_and(|owner| owner.is_described)
    }

    /// Notes that a buffer's storage lies as a matrix unit reads it by itself, or does no longer.
    #[doc(hidden)]
    pub fn set_described(&mut self, id: BufferId, is_described: bool) {
        let storage = self.storage(id);
        if let Some(owner) = self.buffers.get_mut(usize::from(storage.0)) {
            owner.is_described = is_described;
        }
    }

    /// Sets [`Inference::swizzle`] of a buffer's storage.
    ///
    /// # Errors
    /// [`FormError::Stale`].
    pub fn set_swizzle(&mut self, id: BufferId, swizzle: Option<Swizzle>) -> FormResult<()> {
        let storage = self.storage(id);
        let owner = self.buffers.get_mut(usize::from(storage.0)).ok_or(FormError::Stale)?;
        owner.swizzle = swizzle;
        Ok(())
    }

    /// Bytes of each row in a strip, where a buffer's storage in shared memory is strips of all
    /// rows, one behind the other; `None`: it lies row by row. Strips come before
    /// [`Inference::swizzle`].
    #[must_use]
    pub fn strips(&self, id: BufferId) -> Option<u32> {
        let own = self.buffer_of(self.storage(id)).ok()?;
        Some(own.column_block).filter(|bytes| *bytes > 0)
    }

    /// Sets [`Inference::strips`] of a buffer's storage.
    ///
    /// # Errors
    /// [`FormError::Stale`]; [`FormError::Divisor`] of bytes that do not divide a row.
    pub fn set_strips(&mut self, id: BufferId, bytes: Option<u32>) -> FormResult<()> {
        let storage = self.storage(id);
        let bytes = bytes.unwrap_or(0);
        let (row, _) = self.rows_of(storage)?;
        if bytes > 0 && row.checked_rem(i64::from(bytes)) != Some(0) {
            return Err(FormError::Divisor { found: i64::from(bytes) });
        }
        self.buffers.get_mut(usize::from(storage.0)).ok_or(FormError::Stale)?.column_block = bytes;
        Ok(())
    }

    /// Behind how many bytes of a buffer's storage in shared memory, strip by strip, how many stand
    /// that nothing uses. There is no swizzle then.
    #[must_use]
    pub fn padding(&self, id: BufferId) -> Option<(u32, u32)> {
        let own = self.buffer_of(self.storage(id)).ok()?;
        Some(own.padding).filter(|(every, _)| *every > 0)
    }

    /// Pins [`Inference::padding`] of a buffer's storage: it was written.
    ///
    /// # Errors
    /// [`FormError::Stale`].
    pub fn pin_padding(&mut self, id: BufferId, padding: (u32, u32)) -> FormResult<()> {
        self.pin_swizzle(id, None)?;
        let storage = self.storage(id);
        self.buffers.get_mut(usize::from(storage.0)).ok_or(FormError::Stale)?.padding = padding;
        Ok(())
    }

    /// Where the elements of a buffer's storage in shared memory lie, where that is neither rows nor
    /// [`Inference::strips`]. There is neither a swizzle nor padding then.
    #[must_use]
    pub fn places(&self, id: BufferId) -> Option<StoragePlaces> {
        self.buffer_of(self.storage(id)).ok()?.places
    }

    /// Pins [`Inference::places`] of a buffer's storage: they were written.
    ///
    /// # Errors
    /// [`FormError::Stale`]; [`FormError::Divisor`] of elements that have no bytes.
    pub fn pin_places(&mut self, id: BufferId, places: StoragePlaces) -> FormResult<()> {
        if places.unit == 0 {
            return Err(FormError::Divisor { found: 0 });
        }
        self.pin_swizzle(id, None)?;
        let storage = self.storage(id);
        let owner = self.buffers.get_mut(usize::from(storage.0)).ok_or(FormError::Stale)?;
        owner.places = Some(places);
        Ok(())
    }

    /// Bytes of a row of a storage, and how many rows it has.
    fn rows_of(&self, storage: BufferId) -> FormResult<(i64, i64)> {
        let own = self.buffer_of(storage)?;
        let (mut rows, mut last) = (1i64, 1i64);
        for dim in own.dims.iter() {
            rows = rows.checked_mul(last).ok_or(FormError::Overflow)?;
            last = i64::from(self.arena.extent(dim)?);
        }
        let element = i64::from(own.bits >> 3);
        Ok((last.checked_mul(element).ok_or(FormError::Overflow)?, rows))
    }

    /// Where the byte of a buffer in shared memory lies that is this one row by row: in its strip,
    /// and exchanged by its swizzle.
    ///
    /// # Errors
    /// [`FormError::Full`], [`FormError::Overflow`].
    #[inline(never)]
    pub fn placed(&mut self, id: BufferId, bytes: IndexForm) -> FormResult<IndexForm> {
        let storage = self.storage(id);
        let place = self.in_strips(storage, bytes)?;
        if let Some((every, more)) = self.padding(storage) {
            let (before, _) = self.arena.div_rem(place, i64::from(every))?;
            return self.arena.add_scaled(place, before, i64::from(more));
        }
        match self.swizzle(storage) {
            Some(swizzle) => self.arena.swizzled(place, swizzle),
            None => Ok(place),
        }
    }

    /// Bytes of the widest elements that a buffer's storage is looked at with.
    #[doc(hidden)] // For telling.
    #[must_use]
    pub fn widest_element(&self, id: BufferId) -> u32 {
        let storage = self.storage(id);
        let (mut other, mut widest) = (storage, 1u32);
        while let Ok(own) = self.buffer_of(other) {
            widest = widest.max(own.bits >> 3);
            other = own.next_alias;
            if other == storage {
                break;
            }
        }
        widest
    }

    /// Whether a buffer's storage would keep the elements of all its views in one piece, under a
    /// swizzle, in strips of so many bytes, with so many bytes behind every so many.
    #[doc(hidden)] // For telling.
    #[must_use]
    pub fn keeps_elements(
        &self,
        id: BufferId,
        swizzle: Option<Swizzle>,
        column_block: Option<u32>,
        padding: Option<(u32, u32)>,
    ) -> bool {
        let widest = self.widest_element(id);
        let whole = |bytes: u32| bytes.checked_rem(widest) == Some(0);
        let exchanged = swizzle.filter(|swizzle| swizzle.b > 0);
        exchanged.is_none_or(|swizzle| 1u32.checked_shl(swizzle.m.into()).is_none_or(whole))
            && column_block.is_none_or(whole)
            && padding.is_none_or(|(every, more)| whole(every) && whole(more))
    }

    /// [`Inference::placed`] without a swizzle and without padding.
    ///
    /// # Errors
    /// Those of [`Inference::placed`].
    #[doc(hidden)]
    pub fn in_strips(&mut self, id: BufferId, bytes: IndexForm) -> FormResult<IndexForm> {
        let storage = self.storage(id);
        if let Some(places) = self.places(storage) {
            let (number, inside) = self.arena.div_rem(bytes, i64::from(places.unit))?;
            let place = self.arena.substitute(places.bytes, &[(places.element, number)])?;
            return self.arena.add(place, inside);
        }
        let Some(column_block) = self.strips(storage).map(i64::from) else { return Ok(bytes) };
        let (pitch, rows) = self.rows_of(storage)?;
        let apart = column_block.checked_mul(rows).ok_or(FormError::Overflow)?;
        let (row, inside) = self.arena.div_rem(bytes, pitch)?;
        let (strips, low) = self.arena.div_rem(inside, column_block)?;
        let place = self.arena.add_scaled(low, row, column_block)?;
        self.arena.add_scaled(place, strips, apart)
    }

    /// [`Inference::placed`] of a number; `None` outside of the storage.
    #[must_use]
    pub fn placed_byte(&self, id: BufferId, byte: u64) -> Option<u64> {
        let storage = self.storage(id);
        let (pitch, rows) = self.rows_of(storage).ok()?;
        let (pitch, rows) = (u64::try_from(pitch).ok()?, u64::try_from(rows).ok()?);
        let row = byte.checked_div(pitch).filter(|row| *row < rows)?;
        if let Some(places) = self.places(storage) {
            let (unit, mut tape) =
                (u64::from(places.unit), Tape::new(&self.arena, &[places.bytes]).ok()?);
            tape.set(places.element, i64::try_from(byte.checked_div(unit)?).ok()?);
            tape.derive(&self.arena).ok()?;
            let place = tape.value(&self.arena, places.bytes).ok()?;
            return u64::try_from(place).ok()?.checked_add(byte.checked_rem(unit)?);
        }
        let place = match self.strips(storage).map(u64::from) {
            None => byte,
            Some(column_block) => {
                let inside = byte.checked_rem(pitch)?;
                let (number, low) =
                    (inside.checked_div(column_block)?, inside.checked_rem(column_block)?);
                let first =
                    number.checked_mul(rows)?.checked_add(row)?.checked_mul(column_block)?;
                first.checked_add(low)?
            }
        };
        if let Some((every, more)) = self.padding(storage) {
            let before = place.checked_div(u64::from(every))?;
            return place.checked_add(before.checked_mul(u64::from(more))?);
        }
        Some(self.swizzle(storage).map_or(place, |swizzle| swizzle.apply(place)))
    }

    fn quarter(&self) -> usize {
        self.layouts.len() >> 2
    }

    /// The layout of a buffer, if it has one.
    #[must_use]
    pub fn layout(&self, id: BufferId) -> Option<FragmentForm> {
        self.layouts.get(usize::from(id.0)).copied().flatten()
    }

    /// How an operator is spread over threads, if that is known.
    #[must_use]
    pub fn spread(&self, id: OperatorId) -> Option<FragmentForm> {
        self.layouts.get(self.loop_place(id)).copied().flatten()
    }

    /// The place of an operator's layout.
    pub(crate) fn loop_place(&self, id: OperatorId) -> usize {
        self.buffers.len().saturating_add(usize::from(id.0))
    }

    pub(crate) fn set_buffer(&mut self, id: BufferId, fragment: FragmentForm) -> FormResult<()> {
        self.set(usize::from(id.0), Some(fragment))
    }

    pub(crate) fn set_loop(&mut self, id: OperatorId, fragment: FragmentForm) -> FormResult<()> {
        self.set(self.loop_place(id), Some(fragment))
    }

    fn set(&mut self, at: usize, fragment: Option<FragmentForm>) -> FormResult<()> {
        let quarter = self.quarter();
        let has = u32::try_from(quarter).unwrap_or(u32::MAX);
        let full = FormError::Full { pool: PoolName::Layouts, has };
        if at >= quarter {
            return Err(full);
        }
        *self.layouts.get_mut(at).ok_or(full)? = fragment;
        Ok(())
    }

    /// The place of a layout in state `state`; state 0 is the one in hand.
    pub(crate) fn place(&self, state: usize, at: usize) -> usize {
        state.saturating_mul(self.quarter()).saturating_add(at)
    }

    /// Copies a layout of one state over that of another.
    pub(crate) fn copy_layout(&mut self, at: usize, from: usize, to: usize) {
        let (from, to) = (self.place(from, at), self.place(to, at));
        if from < self.layouts.len() && to < self.layouts.len() {
            self.layouts.copy_within(from..=from, to);
        }
    }
}
