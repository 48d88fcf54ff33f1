//! A function, told to inference: its buffers first, then what happens to them, in text order.

use crate::error::{LoopError, LoopErrorKind, LoopResult};
use crate::machine::figures;
use crate::places::{keeps_digits, keeps_elements, storage_places, strided_places};
use lanebook_infer::notation::{self, LaneUnits, is_fragment_text};
use lanebook_infer::{
    BaseId, BufferId, FragmentForm, IndexForm, Inference, InferenceParts, MemoryScope, OperatorId,
    VarRange,
};
use lanebook_ir::{
    AttrValue, MAX_RANK, Op, PositionOrder, Program, TileEncoding, TypeKind, Value, attr_names,
};
use lanebook_layout::Layout;
use lanebook_plan::select::{WrittenPlaces, shared_in_loops, written_layout};
use lanebook_tables::{Arch, OpRole, Space, Tables};

/// More than an index can be: indices are below 2^31.
const INDEX_EXTENT: u32 = 1 << 31;

/// What is known of a value.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Fact {
    /// Nothing, or that it depends on data.
    #[default]
    Unknown,
    /// An index map.
    Index(IndexForm),
    /// A buffer.
    Buffer(BufferId),
}

/// The memory of telling, lent.
#[derive(Debug)]
pub struct LoopParts<'a> {
    /// That of inference.
    pub inference: InferenceParts<'a>,
    /// An entry for each value of the program.
    pub values: &'a mut [Fact],
    /// An entry for each operator.
    pub operators: &'a mut [Option<Op>],
    /// An entry for each buffer.
    pub buffers: &'a mut [Option<Value>],
}

/// A function that was told.
#[derive(Debug)]
pub struct Told<'a> {
    /// Its buffers and operators; [`Inference::run`] finds their layouts.
    pub inference: Inference<'a>,
    pub(crate) operators: &'a mut [Option<Op>],
    pub(crate) buffers: &'a mut [Option<Value>],
    values: &'a mut [Fact],
    function: Op,
    /// Fragments of which something is read before it is written, a bit for each of the first ones,
    /// and whether there is a new one.
    early: (u64, bool),
}

impl Told<'_> {
    /// The operation that an operator of inference stands for: of a nest the outermost loop.
    #[must_use]
    pub fn op(&self, id: OperatorId) -> Option<Op> {
        self.operators.get(usize::from(id.0)).copied().flatten()
    }
    /// The value that a buffer of inference stands for.
    #[must_use]
    pub fn value(&self, id: BufferId) -> Option<Value> {
        self.buffers.get(usize::from(id.0)).copied().flatten()
    }
    /// The function.
    #[must_use]
    pub const fn function(&self) -> Op {
        self.function
    }
    /// What is known of a value.
    #[doc(hidden)]
    #[must_use]
    pub fn fact(&self, value: Value) -> Fact {
        self.values.get(value.index()).copied().unwrap_or_default()
    }
    /// The first value whose map is a multiple of a variable and a number, the multiple, and the
    /// number.
    #[doc(hidden)]
    #[must_use]
    pub fn multiple_of(&self, var: BaseId) -> Option<(Value, i64, i64)> {
        let arena = &self.inference.arena;
        self.values.iter().enumerate().find_map(|(k, fact)| {
            let Fact::Index(form) = fact else { return None };
            let [term] = arena.terms_of(*form) else { return None };
            let whole = term.digit.base == var && arena.is_top(term.digit) == Ok(true);
            let own = (whole && term.digit.unit == 1).then(|| Value::at(k)).flatten()?;
            Some((own, term.stride, form.constant))
        })
    }
    /// The operator that stands for an operation itself; reads by all threads that were found on
    /// the way to it are others.
    #[must_use]
    pub fn operator_for(&self, op: Op) -> Option<OperatorId> {
        let own = self.operators().filter(|(_, of)| *of == op).map(|(id, _)| id);
        own.last()
    }
    /// Notes that something of a fragment is read before it is written.
    #[doc(hidden)]
    pub fn read_early(&mut self, id: BufferId) {
        let bit = 1u64.checked_shl(u32::from(id.0)).unwrap_or(1 << 63);
        self.early.1 |= self.early.0 & bit == 0;
        self.early.0 |= bit;
    }
    /// Whether something of a fragment is read before it is written.
    #[doc(hidden)]
    #[must_use]
    pub fn is_read_early(&self, id: BufferId) -> bool {
        self.early.0 & 1u64.checked_shl(u32::from(id.0)).unwrap_or(1 << 63) != 0
    }
    /// Whether [`Told::read_early`] has told of a new fragment since this was asked.
    #[doc(hidden)]
    pub fn take_early(&mut self) -> bool {
        core::mem::take(&mut self.early.1)
    }
    /// The operators in order, with their operations.
    pub fn operators(&self) -> impl Iterator<Item = (OperatorId, Op)> + '_ {
        let count = self.inference.counts().1;
        (0u16..)
            .zip(self.operators.iter().take(count))
            .filter_map(|(k, op)| Some((OperatorId(k), (*op)?)))
    }
    /// The buffers in order, with their values.
    pub fn buffers(&self) -> impl Iterator<Item = (BufferId, Value)> + '_ {
        let count = self.inference.counts().0;
        (0u16..)
            .zip(self.buffers.iter().take(count))
            .filter_map(|(k, value)| Some((BufferId(k), (*value)?)))
    }
}

/// What is being told.
pub(crate) struct Teller<'w, 'a, 's, 't> {
    pub program: &'w Program<'s, 't>,
    pub tables: &'w Tables<'t>,
    pub arch: &'w Arch<'t>,
    pub inference: &'w mut Inference<'a>,
    pub values: &'w mut [Fact],
    pub operators: &'w mut [Option<Op>],
    pub buffers: &'w mut [Option<Value>],
    /// Threads of the function.
    pub threads: u32,
    /// The parallel loop that the walk is in, the outermost of its nest.
    pub inside: Option<Op>,
}

/// Tells a function to inference for an architecture.
///
/// # Errors
/// The first thing in text order that cannot be told.
pub fn tell<'a>(
    program: &Program<'_, '_>,
    function: Op,
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    parts: LoopParts<'a>,
) -> LoopResult<Told<'a>> {
    let threads = program.int_attr(function, attr_names::THREADS);
    let threads = threads.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
    let threads = threads.ok_or(LoopError { kind: LoopErrorKind::NoThreads, op: function })?;
    parts.values.fill(Fact::Unknown);
    parts.operators.fill(None);
    parts.buffers.fill(None);
    let mut inference = Inference::new(parts.inference, figures(tables, arch));
    let LoopParts { operators, buffers, values, .. } = parts;
    let mut teller = Teller {
        program,
        tables,
        arch,
        inference: &mut inference,
        values,
        operators,
        buffers,
        threads,
        inside: None,
    };
    teller.function(function)?;
    Ok(Told { inference, operators, buffers, values, function, early: (0, false) })
}

impl Teller<'_, '_, '_, '_> {
    fn function(&mut self, function: Op) -> LoopResult<()> {
        let program = self.program;
        for value in program.parameters(function) {
            let ty = program.type_of(value);
            let told = match ty.kind {
                _ if ty.is_tile() => self.buffer(value, None),
                // A number is data, which is the same for all threads.
                TypeKind::Scalar => Ok(()),
                _ => self.symbol(value).and_then(|form| self.set_fact(value, Fact::Index(form))),
            };
            told.map_err(|kind| LoopError { kind, op: function })?;
        }
        for op in program.inside(function) {
            self.storage(op).map_err(|kind| LoopError { kind, op })?;
        }
        for op in program.inside(function) {
            if program.role(op) == OpRole::Alloc {
                self.pinned(op).map_err(|kind| LoopError { kind, op })?;
            }
        }
        for op in program.inside(function) {
            self.operation(op).map_err(|kind| LoopError { kind, op })?;
        }
        Ok(())
    }

    // ---- values
    pub(crate) fn fact(&self, value: Value) -> Fact {
        self.values.get(value.index()).copied().unwrap_or_default()
    }

    pub(crate) fn set_fact(&mut self, value: Value, fact: Fact) -> Result<(), LoopErrorKind> {
        let has = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        let slot = self.values.get_mut(value.index()).ok_or(LoopErrorKind::Values { has })?;
        *slot = fact;
        Ok(())
    }

    /// An index that is the same for all threads.
    pub(crate) fn symbol(&mut self, value: Value) -> Result<IndexForm, LoopErrorKind> {
        let div = self.program.int_value_attr(value, attr_names::DIV);
        let div = div.and_then(|d| u32::try_from(d).ok()).filter(|d| *d > 0).unwrap_or(1);
        if self.program.value_attr(value, attr_names::SIGNED).is_some() {
            return self.signed_symbol(div);
        }
        let extent = INDEX_EXTENT.checked_div(div).unwrap_or(1).max(1);
        self.turns(extent, false, i64::from(div))
    }

    /// A multiple of a number that is the same for all threads, as far below zero as above it.
    pub(crate) fn signed_symbol(&mut self, div: u32) -> Result<IndexForm, LoopErrorKind> {
        let extent = INDEX_EXTENT.checked_div(div).unwrap_or(1).max(1);
        let step = i64::from(div);
        let both = extent.saturating_mul(2).saturating_sub(1);
        let form = self.turns(both, false, step)?;
        let low = i64::from(extent).saturating_sub(1).saturating_mul(step);
        let low = IndexForm::constant(low.saturating_neg());
        self.inference.arena.add(form, low).map_err(LoopErrorKind::Form)
    }

    /// `step` times a variable of a serial loop.
    pub(crate) fn turns(
        &mut self,
        extent: u32,
        inner: bool,
        step: i64,
    ) -> Result<IndexForm, LoopErrorKind> {
        let form = |inference: &mut Inference<'_>| {
            let var = inference.serial(extent, inner)?;
            let whole = inference.arena.whole(var)?;
            inference.arena.scale(whole, step)
        };
        form(self.inference).map_err(LoopErrorKind::Form)
    }

    // ---- buffers
    /// Buffers that an operation makes.
    fn storage(&mut self, op: Op) -> Result<(), LoopErrorKind> {
        let program = self.program;
        let Some(result) = program.result(op, 0) else { return Ok(()) };
        match program.role(op) {
            OpRole::Alloc => {
                if program.operand(op, 0).is_some() {
                    return Err(LoopErrorKind::Operation);
                }
                self.attributes(op, &[attr_names::LAYOUT])?;
                self.buffer(result, None)
            }
            OpRole::View => {
                self.attributes(op, &[])?;
                let of = program.operand(op, 0);
                let Some(Fact::Buffer(of)) = of.map(|of| self.fact(of)) else {
                    return Err(LoopErrorKind::View);
                };
                if program.subscripts(op, 0).next().is_some() {
                    return Err(LoopErrorKind::View);
                }
                self.buffer(result, Some(of))
            }
            _ => Ok(()),
        }
    }

    fn buffer(&mut self, value: Value, of: Option<BufferId>) -> Result<(), LoopErrorKind> {
        let ty = self.program.type_of(value);
        let refused = LoopErrorKind::Buffer(value);
        let scope = match ty.space {
            Some(Space::Global) => MemoryScope::Global,
            Some(Space::Shared) => MemoryScope::Shared,
            Some(Space::Register) => MemoryScope::Fragment,
            _ => return Err(refused),
        };
        // Where a memref does not say an extent, it says of what its strides are multiples.
        let apart = self.program.int_value_attr(value, attr_names::STRIDE_DIV);
        let apart = apart.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0).unwrap_or(1);
        let mut shape: heapless::Vec<u32, MAX_RANK> = heapless::Vec::new();
        let last = ty.shape.rank().saturating_sub(1);
        for (dim, extent) in ty.shape.iter().enumerate() {
            let extent = match extent {
                Some(extent) => extent,
                None if scope != MemoryScope::Global => return Err(refused),
                None if dim == last => apart,
                None => 1,
            };
            shape.push(extent).map_err(|_| refused)?;
        }
        let bits = ty.dtype.and_then(|d| self.tables.dtype(d)).map(|d| u32::from(d.bits));
        let bits = bits.filter(|_| ty.shape.is_known()).ok_or(refused)?;
        let id = match of {
            Some(of) => self.inference.alias(of, &shape, bits),
            None => self.inference.buffer(&shape, bits, scope),
        };
        let id = id.map_err(LoopErrorKind::Form)?;
        let has = u32::try_from(self.buffers.len()).unwrap_or(u32::MAX);
        let slot = self.buffers.get_mut(usize::from(id.0));
        *slot.ok_or(LoopErrorKind::Values { has })? = Some(value);
        self.set_fact(value, Fact::Buffer(id))
    }

    /// The written layout of a fragment.
    fn pinned(&mut self, op: Op) -> Result<(), LoopErrorKind> {
        let program = self.program;
        let Some(value) = program.result(op, 0) else { return Ok(()) };
        let Fact::Buffer(id) = self.fact(value) else { return Ok(()) };
        let ty = program.type_of(value);
        if ty.space == Some(Space::Shared) {
            return self.pinned_shared(op, value, id);
        }
        if !ty.is_fragment() {
            return Ok(());
        }
        let written = match ty.encoding {
            TileEncoding::None => None,
            _ => Some(program.layout_text(&ty).unwrap_or("")),
        };
        let vars = self.inference.buffer_of(id).map_err(LoopErrorKind::Form)?.dims;
        let bits = self.inference.buffer_of(id).map_err(LoopErrorKind::Form)?.bits;
        let attr = self.layout_attr(op, vars, bits)?;
        let layout = match (written, attr) {
            (Some(_), Some(_)) => return Err(LoopErrorKind::Operation),
            (Some(text), None) => Some(self.layout(vars, text, bits)?),
            (None, attr) => attr,
        };
        match layout {
            Some(layout) => self.inference.pin_buffer(id, layout).map_err(LoopErrorKind::Form),
            None => Ok(()),
        }
    }

    /// The written layout of a shared buffer.
    fn pinned_shared(&mut self, op: Op, value: Value, id: BufferId) -> Result<(), LoopErrorKind> {
        let program = self.program;
        let ty = program.type_of(value);
        let Some(text) = written_layout(program, op, &ty) else { return Ok(()) };
        if ty.encoding != TileEncoding::None && program.has_attr(op, attr_names::LAYOUT) {
            return Err(LoopErrorKind::Operation);
        }
        let layout = match shared_in_loops(program, text, value).map_err(LoopErrorKind::Shared)? {
            WrittenPlaces::Rows(layout) => layout,
            WrittenPlaces::Strided(places) => {
                if !keeps_digits(&places, self.inference.widest_element(id)) {
                    return Err(LoopErrorKind::Torn(value));
                }
                let made = strided_places(&mut self.inference.arena, ty.shape, &places);
                let pinned = made.and_then(|places| self.inference.pin_places(id, places));
                return pinned.map_err(LoopErrorKind::Form);
            }
            WrittenPlaces::Table(shape, table) => {
                if !keeps_elements(shape, &table, self.inference.widest_element(id)) {
                    return Err(LoopErrorKind::Torn(value));
                }
                let places = storage_places(&mut self.inference.arena, shape, &table);
                let pinned = places.and_then(|places| self.inference.pin_places(id, places));
                return pinned.map_err(LoopErrorKind::Form);
            }
        };
        let swizzle = layout.post.swizzle().filter(|swizzle| swizzle.b > 0);
        self.inference.pin_swizzle(id, swizzle).map_err(LoopErrorKind::Form)?;
        let element = self.inference.buffer_of(id).map_err(LoopErrorKind::Form)?.bits >> 3;
        let column_block = match layout.row_major {
            true => layout
                .column_block
                .and_then(|column_block| element.checked_shl(u32::from(column_block))),
            // Columns are strips of one element.
            false => Some(element),
        };
        self.inference.set_strips(id, column_block).map_err(LoopErrorKind::Form)?;
        let pad = layout.post.padding().and_then(|padding| padding.pads().first().copied());
        let padding = pad.filter(|pad| pad.pad > 0).map(|pad| (pad.interval, pad.pad));
        if !self.inference.keeps_elements(id, swizzle, column_block, padding) {
            return Err(LoopErrorKind::Torn(value));
        }
        match padding {
            Some(padding) => self.inference.pin_padding(id, padding).map_err(LoopErrorKind::Form),
            None => Ok(()),
        }
    }

    /// A layout over threads: in the notation of fragments, or one over lanes, warps and registers of
    /// elements of so many bits.
    fn layout(
        &mut self,
        vars: VarRange,
        text: &str,
        bits: u32,
    ) -> Result<FragmentForm, LoopErrorKind> {
        if !is_fragment_text(text) {
            return self.lane_layout(vars, text, bits);
        }
        notation::read(&mut self.inference.arena, vars, text).map_err(LoopErrorKind::Layout)
    }

    #[inline(never)] // Its layout leaves the stack before the next step begins.
    fn lane_layout(
        &mut self,
        vars: VarRange,
        text: &str,
        bits: u32,
    ) -> Result<FragmentForm, LoopErrorKind> {
        let foreign = LoopErrorKind::Layout(notation::foreign());
        let Some(Ok(id)) = self.program.layout_id(text) else { return Err(foreign) };
        let mut layout = Layout::new();
        let order = self.program.layout_at(id, &mut layout).ok_or(foreign)?;
        let rows_fastest = order == PositionOrder::RowsFastest;
        let units = LaneUnits { wave: self.inference.wave(), bits, rows_fastest };
        notation::of_lanes(&mut self.inference.arena, vars, &layout, units)
            .map_err(LoopErrorKind::Layout)
    }

    /// The layout that an operation's attribute writes, of elements of so many bits.
    pub(crate) fn layout_attr(
        &mut self,
        op: Op,
        vars: VarRange,
        bits: u32,
    ) -> Result<Option<FragmentForm>, LoopErrorKind> {
        let program = self.program;
        let text = match program.attr(op, attr_names::LAYOUT) {
            None => return Ok(None),
            Some(AttrValue::Text(text) | AttrValue::Layout(text)) => program.text(text),
            Some(AttrValue::Alias(name)) => program.alias(program.text(name)).unwrap_or(""),
            Some(_) => return Err(self.wrong_attr(op, attr_names::LAYOUT)),
        };
        self.layout(vars, text, bits).map(Some)
    }

    // ---- attributes
    /// Refuses attributes with other keys.
    pub(crate) fn attributes(&self, op: Op, known: &[&str]) -> Result<(), LoopErrorKind> {
        for attr in self.program.attrs(op) {
            if !known.contains(&self.program.text(attr.key)) {
                return Err(LoopErrorKind::Attr(attr.key));
            }
        }
        Ok(())
    }

    pub(crate) fn wrong_attr(&self, op: Op, key: &str) -> LoopErrorKind {
        let attr = self.program.attrs(op).find(|attr| self.program.text(attr.key) == key);
        attr.map_or(LoopErrorKind::Operation, |attr| LoopErrorKind::Attr(attr.key))
    }

    /// A whole number that an attribute says.
    pub(crate) fn number(&self, op: Op, key: &str) -> Result<Option<u32>, LoopErrorKind> {
        match self.program.attr(op, key) {
            None => Ok(None),
            Some(AttrValue::Int(value, _)) => {
                u32::try_from(value).map(Some).map_err(|_| self.wrong_attr(op, key))
            }
            Some(_) => Err(self.wrong_attr(op, key)),
        }
    }

    /// The threads that execute an operation: the first, and how many.
    pub(crate) fn threads_of(&self, op: Op) -> Result<(u32, u32), LoopErrorKind> {
        let program = self.program;
        let list = match program.attr(op, attr_names::THREADS) {
            None => return Ok((0, self.threads)),
            Some(AttrValue::List(list)) => list,
            Some(_) => return Err(self.wrong_attr(op, attr_names::THREADS)),
        };
        let mut out = [0i64; 2];
        let Some([low, end]) = program.list(list, &mut out) else {
            return Err(self.wrong_attr(op, attr_names::THREADS));
        };
        let (low, end) = (u32::try_from(*low), u32::try_from(*end));
        match (low, end) {
            (Ok(low), Ok(end)) if low < end && end <= self.threads => {
                Ok((low, end.saturating_sub(low)))
            }
            _ => Err(LoopErrorKind::Threads),
        }
    }

    /// The buffer that an operand is.
    pub(crate) fn buffer_at(&self, op: Op, number: usize) -> Result<BufferId, LoopErrorKind> {
        let value = self.program.operand(op, number).ok_or(LoopErrorKind::Operation)?;
        match self.fact(value) {
            Fact::Buffer(id) => Ok(id),
            _ => Err(LoopErrorKind::Buffer(value)),
        }
    }

    /// Remembers which operation the last operator stands for.
    pub(crate) fn stands_for(&mut self, id: OperatorId, op: Op) -> Result<(), LoopErrorKind> {
        let has = u32::try_from(self.operators.len()).unwrap_or(u32::MAX);
        let slot = self.operators.get_mut(usize::from(id.0));
        *slot.ok_or(LoopErrorKind::Values { has })? = Some(op);
        Ok(())
    }

    /// A number of copies, or turns, of a loop that takes `extent` in steps.
    pub(crate) fn trips(extent: i64, step: i64) -> Option<u32> {
        let above = extent.max(0).checked_add(step)?.checked_sub(1)?;
        u32::try_from(above.checked_div(step)?).ok().map(|n| n.max(1))
    }
}
