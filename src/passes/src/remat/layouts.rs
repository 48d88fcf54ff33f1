//! Layouts by number, and those made from others: sliced, given a dimension back, permuted,
//! reshaped.
//!
//! A number stands for an encoding at a shape. Two numbers may stand for the same map under
//! different spellings; converting between them only renames ([`ProgramLayouts::renames`]). What a shape
//! operation makes of a layout is computed by the layout algebra on the layout's map; a text that
//! the program does not have is written into the program's own room.
use crate::remat::layout_facts::{self, Text};
use core::cell::Cell;
use lanebook_ir::layout_table::{LayoutRecord, LayoutTable, NONE};
use lanebook_ir::{
    AttrValue, Block, ErrorKind, MAX_RANK, Op, Pool, Program, Shape, TileEncoding, Type, TypeRef,
    Value, attr_names,
};
use lanebook_layout::triton::{self, infer};
use lanebook_layout::{AxisId, Hw, Linear, Logical};
use lanebook_tables::ArchId;

/// A program and the layouts that occur in it.
pub(super) struct ProgramLayouts<'p, 's, 't> {
    pub program: &'p mut Program<'s, 't>,
    arch: Option<ArchId>,
    /// The block asked about last, and how often it is taken to run: neighbours mostly stand in
    /// one.
    pub ran: Cell<Option<(Block, u64)>>,
    /// Values that questions have looked at so far.
    pub looked: usize,
    /// What was asked in vain since something changed, by some bits of value and layout: it need
    /// not be asked again.
    pub vain: [(u16, u16); VAIN],
}

/// Questions asked in vain that are remembered.
const VAIN: usize = 128;
/// No question.
const NO_QUESTION: (u16, u16) = (NONE, NONE);

/// What is done to a layout, and in which direction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum LayoutTransform {
    /// A dimension goes away.
    Slice(u8),
    /// A dimension of this extent comes back.
    Parent(u8, u32),
    /// From a transposition's operand to its result.
    Permute(Op),
    /// From a transposition's result to its operand.
    PermuteBack(Op),
    /// From a reshape's operand to its result.
    Reshape(Op),
    /// From a reshape's result to its operand.
    ReshapeBack(Op),
    /// From halves to the whole, along a new last dimension.
    Join,
    /// From a whole to its halves along the last dimension.
    Split,
}

/// The kind of another shape's key.
const SHAPED: u32 = 15;

type LayoutResult<T> = Result<T, ErrorKind>;

impl<'p, 's, 't> ProgramLayouts<'p, 's, 't> {
    /// A table of the program's layouts in which nothing is noted of its values.
    pub fn new(program: &'p mut Program<'s, 't>) -> Self {
        let arch = layout_facts::target(program);
        program.pools.layout_table.clear();
        program.pools.layout_table.aim(arch.map(|arch| arch.0));
        Self { program, arch, ran: Cell::new(None), looked: 0, vain: [NO_QUESTION; VAIN] }
    }
    /// The table as it was left, over the same program.
    pub fn resumed(program: &'p mut Program<'s, 't>) -> Self {
        let arch = match program.pools.layout_table.target() {
            Some(arch) => arch.map(ArchId),
            None => return Self::new(program),
        };
        Self { program, arch, ran: Cell::new(None), looked: 0, vain: [NO_QUESTION; VAIN] }
    }
    /// The place of a question among those asked in vain.
    fn place_of(value: Value, layout: u16) -> (usize, (u16, u16)) {
        let value = value.index() as u16;
        (usize::from(value.wrapping_add(layout.wrapping_mul(31))) % VAIN, (value, layout))
    }
    /// Whether a question was asked in vain since something changed.
    pub fn is_vain(&self, value: Value, layout: u16) -> bool {
        let (place, question) = Self::place_of(value, layout);
        self.vain.get(place) == Some(&question)
    }
    /// A question was asked in vain.
    pub fn note_vain(&mut self, value: Value, layout: u16) {
        let (place, question) = Self::place_of(value, layout);
        self.vain.get_mut(place).into_iter().for_each(|place| *place = question);
    }
    /// Something changed: every question may have another answer.
    pub fn note_change(&mut self) {
        self.vain = [NO_QUESTION; VAIN];
    }
    fn no_room(&self) -> ErrorKind {
        let limit = self.program.pools.layout_table.capacity();
        ErrorKind::Capacity { pool: Pool::Layouts, limit: u32::try_from(limit).unwrap_or(u32::MAX) }
    }
    /// A layout's record.
    pub fn record(&self, layout: u16) -> Option<&LayoutRecord> {
        self.program.pools.layout_table.layouts().get(usize::from(layout))
    }
    /// A type's layout, if it has a number, and what is looked for.
    fn find(&self, ty: &Type) -> (Option<u16>, u32) {
        let program = &*self.program;
        let hash = LayoutTable::hash(program.layout_digest(ty), &ty.shape);
        let found = program.pools.layout_table.find(hash, |known| {
            known.shape == ty.shape
                && (known.encoding == ty.encoding
                    || program.same_layout(&Type::ELIDED.encoded(known.encoding), ty))
        });
        (found, hash)
    }
    /// The number of a type's layout, if it has one.
    pub fn known(&self, ty: &Type) -> Option<u16> {
        self.find(ty).0
    }
    /// The number of a type's layout.
    pub fn of(&mut self, ty: &Type) -> LayoutResult<u16> {
        match self.find(ty) {
            (Some(found), _) => Ok(found),
            (None, hash) => self.add(ty.encoding, ty.shape, hash),
        }
    }
    fn push(&mut self, hash: u32, record: LayoutRecord) -> LayoutResult<u16> {
        self.program.pools.layout_table.push(hash, record).ok_or(self.no_room())
    }
    #[inline(never)]
    fn add(&mut self, encoding: TileEncoding, shape: Shape, hash: u32) -> LayoutResult<u16> {
        let mut text = Text::new();
        let known = layout_facts::spelled(self.program, encoding, &mut text)
            .and_then(|()| layout_facts::measure(self.program, self.arch, &text, encoding, shape));
        self.push(hash, known.unwrap_or_else(|| layout_facts::unknown(encoding, shape, &text)))
    }
    /// The number of a value's layout.
    pub fn at(&mut self, value: Value) -> LayoutResult<u16> {
        let index = self.program.type_ref(value).map_or(usize::MAX, TypeRef::index);
        if let Some(found) =
            self.program.pools.layout_table.by_type.get(index).filter(|found| **found != NONE)
        {
            return Ok(*found);
        }
        let ty = self.program.type_of(value);
        let found = self.of(&ty)?;
        let by_type = &mut self.program.pools.layout_table.by_type;
        // Types beyond the room are looked for each time.
        if index >= by_type.len() && index < by_type.capacity() {
            let _ = by_type.resize(index.saturating_add(1), NONE);
        }
        if let Some(place) = by_type.get_mut(index) {
            *place = found;
        }
        Ok(found)
    }
    /// The same encoding at the shape of a value.
    pub fn at_shape(&mut self, layout: u16, value: Value) -> LayoutResult<Option<u16>> {
        let Some(record) = self.record(layout).copied() else { return Ok(None) };
        let ty = self.program.type_of(value);
        if record.shape == ty.shape {
            return Ok(Some(layout));
        }
        let key = self.type_key(SHAPED, value);
        if let Some(known) = self.program.pools.layout_table.derived(layout, key) {
            return Ok(known);
        }
        let made = self.of(&Type { shape: ty.shape, ..Type::ELIDED.encoded(record.encoding) })?;
        self.program.pools.layout_table.keep_derived(layout, key, Some(made));
        Ok(Some(made))
    }
    /// A key of a kind and a value's type.
    fn type_key(&self, kind: u32, value: Value) -> u32 {
        let ty = self.program.type_ref(value);
        ty.map_or(0xffff, |ty| ty.index() as u32 & 0xffff) | u32::wrapping_shl(kind, 24)
    }
    /// What stands for a transform among what was found out; `None`: it has to be worked out each
    /// time.
    fn key(&self, rank: usize, how: LayoutTransform) -> Option<u32> {
        let key = |kind: u32, detail: u32| detail | u32::wrapping_shl(kind, 24);
        Some(match how {
            LayoutTransform::Slice(axis) => key(1, u32::from(axis)),
            LayoutTransform::Parent(axis, extent) => {
                key(2, u32::from(axis) | extent.checked_ilog2()?.wrapping_shl(8))
            }
            LayoutTransform::Permute(op) | LayoutTransform::PermuteBack(op) => {
                let forward = matches!(how, LayoutTransform::Permute(_));
                let mut room = [0u8; MAX_RANK];
                let order = order(self.program, op, rank, forward, &mut room)?;
                let digits = order.iter().fold(1u32, |all, d| {
                    all.wrapping_mul(MAX_RANK as u32).wrapping_add(u32::from(*d))
                });
                key(3, digits & 0x00ff_ffff)
            }
            LayoutTransform::Reshape(op) => self.type_key(5, self.program.result(op, 0)?),
            LayoutTransform::ReshapeBack(op) => self.type_key(6, self.program.operand(op, 0)?),
            LayoutTransform::Join => key(7, 0),
            LayoutTransform::Split => key(8, 0),
        })
    }
    /// Whether converting between two layouts only renames registers.
    pub fn renames(&self, a: u16, b: u16) -> bool {
        match (self.record(a), self.record(b)) {
            (Some(a), Some(b)) => {
                a.shape == b.shape && a.threads == b.threads && a.reach == b.reach
            }
            _ => false,
        }
    }
    /// What a shape operation makes of a layout; `None` where the layout is not known well enough,
    /// or has no answer.
    pub fn derive(&mut self, layout: u16, how: LayoutTransform) -> LayoutResult<Option<u16>> {
        let rank = self.record(layout).map_or(0, |record| record.shape.rank());
        let key = self.key(rank, how);
        if let Some(known) =
            key.and_then(|key| self.program.pools.layout_table.derived(layout, key))
        {
            return Ok(known);
        }
        let made = match self.record(layout).copied() {
            Some(record) if record.known => match how {
                LayoutTransform::Slice(axis) => self.sliced(&record, axis)?,
                LayoutTransform::Parent(axis, extent) => self.parent(&record, axis, extent)?,
                LayoutTransform::Permute(op) | LayoutTransform::PermuteBack(op) => {
                    self.permuted(&record, op, matches!(how, LayoutTransform::Permute(_)))?
                }
                LayoutTransform::Join | LayoutTransform::Split => {
                    self.halved(&record, how == LayoutTransform::Split)?
                }
                LayoutTransform::Reshape(op) | LayoutTransform::ReshapeBack(op) => {
                    self.reshaped(&record, op, matches!(how, LayoutTransform::Reshape(_)))?
                }
            },
            _ => None,
        };
        if let Some(key) = key {
            self.program.pools.layout_table.keep_derived(layout, key, made);
        }
        Ok(made)
    }
    /// A known layout with this map at this shape, or the text as a new one.
    fn found_or(&mut self, mut record: LayoutRecord, text: &str) -> LayoutResult<Option<u16>> {
        if let Some(found) = self.program.pools.layout_table.find_map(record.whole, &record.shape) {
            return Ok(Some(found));
        }
        record.encoding = match text.strip_prefix('#').filter(|name| !name.contains('.')) {
            Some(name) => match self.program.alias_name(name) {
                Some(name) => TileEncoding::Alias(name),
                None => return Ok(None),
            },
            None => {
                let (at, len) = self.program.pools.make(text)?;
                TileEncoding::Interned(at, len)
            }
        };
        let ty = Type { shape: record.shape, ..Type::ELIDED.encoded(record.encoding) };
        let (_, hash) = self.find(&ty);
        self.push(hash, record).map(Some)
    }
    #[inline(never)]
    fn sliced(&mut self, record: &LayoutRecord, axis: u8) -> LayoutResult<Option<u16>> {
        let mut text = Text::new();
        let Some(shape) = without(record.shape, axis) else { return Ok(None) };
        if layout_facts::slice_text(self.program, record.encoding, axis, &mut text).is_none() {
            return Ok(None);
        }
        match layout_facts::measure(self.program, self.arch, &text, TileEncoding::None, shape) {
            Some(slice) => self.found_or(slice, &text),
            None => Ok(None),
        }
    }
    #[inline(never)]
    fn parent(
        &mut self,
        record: &LayoutRecord,
        axis: u8,
        extent: u32,
    ) -> LayoutResult<Option<u16>> {
        let mut text = Text::new();
        let Some(shape) = with(record.shape, axis, extent) else { return Ok(None) };
        if layout_facts::spelled(self.program, record.encoding, &mut text).is_none() {
            return Ok(None);
        }
        let body = match text.strip_prefix('#').filter(|name| !name.contains('.')) {
            Some(name) => self.program.alias(name).unwrap_or(""),
            None => &text,
        };
        let Some((_, inner)) = layout_facts::slice_parts(body).filter(|(dim, _)| *dim == axis)
        else {
            return Ok(None);
        };
        match layout_facts::measure(self.program, self.arch, inner, TileEncoding::None, shape) {
            Some(parent) => self.found_or(parent, inner),
            None => Ok(None),
        }
    }
    /// An operation's operand or result type.
    fn side(&self, op: Op, result: bool) -> Option<Type> {
        let value = if result { self.program.result(op, 0) } else { self.program.operand(op, 0) };
        value.map(|value| self.program.type_of(value))
    }
    #[inline(never)]
    fn permuted(
        &mut self,
        record: &LayoutRecord,
        op: Op,
        forward: bool,
    ) -> LayoutResult<Option<u16>> {
        let Some(shape) = self.side(op, forward).map(|ty| ty.shape) else { return Ok(None) };
        let mut room = [0u8; MAX_RANK];
        let Some(order) = order(self.program, op, record.shape.rank(), forward, &mut room) else {
            return Ok(None);
        };
        let (mut text, mut map) = (Text::new(), Linear::empty());
        let found = self
            .map(record, &mut text, &mut map)
            .and_then(|()| replace(&mut map, |map| infer::transposed(map, order).ok()));
        // A kind with a name of its own keeps it.
        let written = found.and_then(|()| {
            self.named(order, &shape, &map, &mut text)
                .or_else(|| layout_facts::print_linear(&map, &mut text))
        });
        if written.is_none() {
            return Ok(None);
        }
        self.found_or(layout_facts::known(TileEncoding::None, shape, &map), &text)
    }
    /// A layout's text and map.
    fn map(
        &self,
        record: &LayoutRecord,
        text: &mut Text,
        map: &mut Linear<Hw, Logical>,
    ) -> Option<()> {
        layout_facts::spelled(self.program, record.encoding, text)?;
        layout_facts::linear(self.program, self.arch, text, &record.shape, map)
    }
    /// Puts the text of the transposed encoding in place of an encoding's, if it has the map.
    #[inline(never)]
    fn named(
        &self,
        order: &[u8],
        shape: &Shape,
        map: &Linear<Hw, Logical>,
        text: &mut Text,
    ) -> Option<()> {
        let mut encoding = layout_facts::blank();
        layout_facts::read(self.program, text, &mut encoding)?;
        transposed(order, &mut encoding)?;
        self.has_map(&encoding, shape, map).then_some(())?;
        layout_facts::print_encoding(&encoding, text)
    }
    #[inline(never)]
    fn has_map(
        &self,
        encoding: &triton::Encoding,
        shape: &Shape,
        map: &Linear<Hw, Logical>,
    ) -> bool {
        let mut own = Linear::empty();
        layout_facts::map_of(self.program, self.arch, encoding, shape, &mut own).is_some()
            && own == *map
    }
    #[inline(never)]
    fn reshaped(
        &mut self,
        record: &LayoutRecord,
        op: Op,
        forward: bool,
    ) -> LayoutResult<Option<u16>> {
        let Some(shape) = self.side(op, forward).map(|ty| ty.shape) else { return Ok(None) };
        let mut room = [0u32; triton::MAX_RANK];
        let Some(extents) = layout_facts::extents(&shape, &mut room) else { return Ok(None) };
        let (mut text, mut map) = (Text::new(), Linear::empty());
        let found = self
            .map(record, &mut text, &mut map)
            .and_then(|()| replace(&mut map, |map| infer::reshaped(map, extents).ok()));
        if found.and_then(|()| layout_facts::print_linear(&map, &mut text)).is_none() {
            return Ok(None);
        }
        self.found_or(layout_facts::known(TileEncoding::None, shape, &map), &text)
    }
    /// The layout of halves, or of a whole whose halves are two registers of every thread.
    #[inline(never)]
    fn halved(&mut self, record: &LayoutRecord, split: bool) -> LayoutResult<Option<u16>> {
        let last = u8::try_from(record.shape.rank()).unwrap_or(u8::MAX);
        let shape = if split {
            last.checked_sub(1).and_then(|axis| without(record.shape, axis))
        } else {
            with(record.shape, last, 2)
        };
        let Some(shape) = shape else { return Ok(None) };
        let (mut text, mut map) = (Text::new(), Linear::empty());
        let found = self.map(record, &mut text, &mut map);
        let found = found.and_then(|()| {
            replace(
                &mut map,
                |map| if split { infer::split(map).ok() } else { infer::join(map).ok() },
            )
        });
        // A kind with a name of its own keeps it.
        let written = found.and_then(|()| {
            self.named_half(split, &shape, &map, &mut text)
                .or_else(|| layout_facts::print_linear(&map, &mut text))
        });
        if written.is_none() {
            return Ok(None);
        }
        self.found_or(layout_facts::known(TileEncoding::None, shape, &map), &text)
    }
    /// Puts the text of nested tiles with a dimension more, or less, in place of an encoding's, if
    /// it has the map.
    #[inline(never)]
    fn named_half(
        &self,
        split: bool,
        shape: &Shape,
        map: &Linear<Hw, Logical>,
        text: &mut Text,
    ) -> Option<()> {
        let mut encoding = layout_facts::blank();
        layout_facts::read(self.program, text, &mut encoding)?;
        if split {
            infer::split_encoding(&mut encoding)?
        } else {
            infer::joined_encoding(&mut encoding)?
        }
        self.has_map(&encoding, shape, map).then_some(())?;
        layout_facts::print_encoding(&encoding, text)
    }
    /// Lanes and warps that hold different parts along a dimension, log2.
    #[inline(never)]
    pub fn spread(&self, layout: u16, axis: u8) -> (u8, u8) {
        let (mut text, mut map) = (Text::new(), Linear::empty());
        if self.record(layout).and_then(|record| self.map(record, &mut text, &mut map)).is_none() {
            return (0, 0);
        }
        let along = |input: AxisId| {
            let bits = (0..map.ins().bits_of(input)).filter(|bit| {
                map.column_on(input, *bit, AxisId::dim(axis)).is_some_and(|column| column != 0)
            });
            u8::try_from(bits.count()).unwrap_or(0)
        };
        (along(AxisId::LANE), along(AxisId::WARP))
    }
}

/// Puts a transposed encoding in an encoding's place.
#[inline(never)]
fn transposed(order: &[u8], encoding: &mut triton::Encoding) -> Option<()> {
    *encoding = infer::transposed_encoding(encoding, order)?;
    Some(())
}

/// Puts what is made of a map in its place.
#[inline(never)]
fn replace(
    map: &mut Linear<Hw, Logical>,
    made: impl FnOnce(&Linear<Hw, Logical>) -> Option<Linear<Hw, Logical>>,
) -> Option<()> {
    *map = made(map)?;
    Some(())
}

/// A shape without a dimension.
fn without(shape: Shape, axis: u8) -> Option<Shape> {
    let kept = shape.iter().enumerate().filter(|(d, _)| *d != usize::from(axis));
    (usize::from(axis) < shape.rank())
        .then(|| kept.map(|(_, extent)| extent).try_fold(Shape::SCALAR, Shape::with))
        .flatten()
}

/// A shape with one dimension more.
fn with(shape: Shape, axis: u8, extent: u32) -> Option<Shape> {
    let mut out = Shape::SCALAR;
    for (d, own) in shape.iter().enumerate() {
        if d == usize::from(axis) {
            out = out.with(Some(extent))?;
        }
        out = out.with(own)?;
    }
    if usize::from(axis) == shape.rank() { out.with(Some(extent)) } else { Some(out) }
}

/// A transposition's order, or its inverse.
fn order<'o>(
    program: &Program<'_, '_>,
    op: Op,
    rank: usize,
    forward: bool,
    out: &'o mut [u8; MAX_RANK],
) -> Option<&'o [u8]> {
    let mut room = [0i64; MAX_RANK];
    let order = match program.attr(op, attr_names::ORDER) {
        Some(AttrValue::List(list)) => program.list(list, &mut room)?,
        Some(_) => return None,
        None => {
            for (slot, d) in room.iter_mut().zip((0..rank as i64).rev()) {
                *slot = d;
            }
            room.get(..rank)?
        }
    };
    if order.len() != rank {
        return None;
    }
    for (d, from) in order.iter().enumerate() {
        let from = u8::try_from(*from).ok()?;
        let (slot, value) =
            if forward { (d, from) } else { (usize::from(from), u8::try_from(d).ok()?) };
        *out.get_mut(slot)? = value;
    }
    out.get(..rank)
}
