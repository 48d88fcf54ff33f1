//! Copies through tensor maps: which tiles they can bring, in which boxes, and at what cost.
//!
//! A tile can be copied iff its places in shared memory are those of boxes one after the other
//! under one of the map's swizzle modes: a box's innermost elements side by side, its rows one
//! after the other as far as they go, and every box where the mode's pattern begins. What is left
//! of the tile's bits counts boxes. A box under a swizzle is as wide as the swizzle's rows: how
//! narrower ones lie is not known.

use crate::data::{GlobalPlan, MAP_RANK, MapPlan};
use lanebook_tables::{DtypeId, OPERAND_PLACES, SwizzleMode, TensorMap, TiledMove};
use lanebook_tile::evaluate::{Evaluated, TargetInfo};
use lanebook_tile::map::{BitMatrix, Combine, MemoryMap, TileShape};
use lanebook_tile::tiling::{Figures, Reject, Tiling};
use lanebook_tile::unit::map::{self, MapRule};
use lanebook_tile::unit::{UnitError, has, swizzle};

/// A box that fits: log2 of its extents, innermost first, and how many bits of the tile count
/// boxes.
#[derive(Copy, Clone)]
struct FittedBox {
    inner: u8,
    outer: u8,
}

impl FittedBox {
    /// log2 of its elements.
    fn bits(self) -> u8 {
        self.inner.saturating_add(self.outer)
    }
}

/// The map's dimensions, innermost first, and the box's extents: a box lies in one matrix, whose
/// dimensions are the last two, the contiguous one first.
fn dimensions(rank: u8, found: &FittedBox) -> ([u8; MAP_RANK], [u16; MAP_RANK]) {
    let (mut order, mut boxed) = ([0u8; MAP_RANK], [1u16; MAP_RANK]);
    for (dim, place) in (0..rank).rev().zip(&mut order) {
        *place = dim;
    }
    for (bits, place) in [found.inner, found.outer].into_iter().zip(&mut boxed) {
        *place = 1u16.checked_shl(u32::from(bits)).unwrap_or(0);
    }
    (order, boxed)
}

/// Bytes from index to index of each of the map's dimensions but the innermost; `None`: the launcher
/// knows.
fn stride_bytes(rank: u8, global: &GlobalPlan) -> Result<[Option<u32>; MAP_RANK - 1], Reject> {
    let mut out = [None; MAP_RANK - 1];
    let dims = global.leads().map(|lead| lead.bytes).chain([global.map.outer_bytes]);
    for (dim, bytes) in dims.enumerate() {
        // The map's dimensions count from the innermost.
        let place = usize::from(rank).checked_sub(dim.saturating_add(2)).ok_or(Reject::Form)?;
        *out.get_mut(place).ok_or(Reject::Form)? = bytes;
    }
    Ok(out)
}

/// One instance for each box of the tile.
fn instances(shape: TileShape, found: &FittedBox) -> Result<Tiling, Reject> {
    let mut tiling = Tiling {
        address_lanes: BitMatrix::new(),
        warps: BitMatrix::new(),
        instances: BitMatrix::new(),
        tuple: BitMatrix::new(),
        instance_registers: BitMatrix::new(),
        upper: None,
        second: 0,
        grid: shape.grid,
        by_rows: true,
        panel_bits: shape.total(),
    };
    let rows = shape.cols.saturating_add(found.outer)..shape.total();
    for bit in (found.inner..shape.cols).chain(rows) {
        if !tiling.instances.push(1u32.checked_shl(u32::from(bit)).ok_or(Reject::Size)?) {
            return Err(Reject::Size);
        }
    }
    Ok(tiling)
}

/// A rule with its numbers.
fn refuse(rule: MapRule, found: u32, needed: u32) -> Reject {
    Reject::Tensor { rule, found, needed }
}

/// Copies through the tensor maps of a setting's architecture.
pub(crate) struct TensorMapCopies<'s, 't>(pub(crate) &'s TargetInfo<'t>);

impl<'t> TensorMapCopies<'_, 't> {
    /// The architecture's copies through tensor maps, by their number.
    pub(crate) fn moves(
        &self,
        loads: bool,
    ) -> impl Iterator<Item = (u8, &'t TiledMove<'t>)> + use<'t> {
        let arch = self.0.arch;
        // One number for each dimension of a matrix, and those that say which matrix.
        let tables = self.0.tables;
        let fits = move |m: &TiledMove<'_>| {
            tables.atom(m.atom).is_some_and(|a| a.operands.len() <= OPERAND_PLACES)
        };
        let known = move |m: &TiledMove<'_>| {
            let ranks = 2..=MAP_RANK;
            m.loads == loads && has(arch, m.feature) && ranks.contains(&m.at.len()) && fits(m)
        };
        (0u8..).zip(self.0.tables.units.tiled_moves).filter(move |(_, m)| known(m))
    }

    /// Alignment that a tile needs in shared memory for copies by `map`.
    pub(crate) fn align(&self, map: &MapPlan) -> u32 {
        let (rules, mode) = (
            self.0.tables.units.tensor_maps.get(usize::from(map.map)),
            self.0.tables.units.swizzles.get(usize::from(map.mode)),
        );
        rules
            .map_or(0, |r| u32::from(r.shared_bytes))
            .max(mode.map_or(0, |m| u32::from(m.repeat_bytes)))
    }

    /// Evaluates a copy of the tile `to` from a global tile of elements of `dtype`, or back. Without
    /// `wants_reason`, which rule no box obeys is not looked for.
    #[inline(never)]
    pub(crate) fn evaluate(
        &self,
        form: &TiledMove<'_>,
        global: &GlobalPlan,
        dtype: Option<DtypeId>,
        shared: &MemoryMap,
        limit: u32,
        wants_reason: bool,
    ) -> Result<(Evaluated, MapPlan), Reject> {
        let maps = self.0.tables.units.tensor_maps;
        let number = maps
            .iter()
            .position(|m| m.name == form.map && has(self.0.arch, m.feature))
            .ok_or(Reject::Form)?;
        let rules = maps.get(number).ok_or(Reject::Form)?;
        let rank = u8::try_from(form.at.len()).map_err(|_| Reject::Form)?;
        let element = self.suits_tensor(rules, global, dtype, shared.shape.bits, rank)?;
        // What is certain of the bounds: a store's last run may reach behind them.
        if !form.loads && global.guards != 0 && global.whole < u32::from(rules.edge_bytes) {
            return Err(refuse(MapRule::Edge, global.whole, u32::from(rules.edge_bytes)));
        }
        let (found, mode) = self.best_box(form, rules, element, shared, wants_reason)?;
        let (order, boxed) = dimensions(rank, &found);
        let map = MapPlan {
            memref: global.memref,
            map: u8::try_from(number).map_err(|_| Reject::Size)?,
            element,
            mode,
            rank,
            order,
            boxed,
            stride_bytes: stride_bytes(rank, global)?,
        };
        let tiling = instances(shared.shape, &found)?;
        let bytes = self.bytes_at_once(form, shared.shape)?;
        let figures = self.figures(form, &tiling, bytes);
        if figures.cost >= limit {
            Err(Reject::Dearer)
        } else {
            Ok((Evaluated { tiling, figures, bank_status: None }, map))
        }
    }

    /// The number of the map's element type that a tensor has, if its rank and alignment suit.
    fn suits_tensor(
        &self,
        rules: &TensorMap<'_>,
        global: &GlobalPlan,
        dtype: Option<DtypeId>,
        bits: u16,
        rank: u8,
    ) -> Result<u8, Reject> {
        if !(rules.rank.0..=rules.rank.1).contains(&rank) {
            return Err(refuse(MapRule::Rank, u32::from(rank), u32::from(rules.rank.1)));
        }
        let element =
            self.map_element(rules, dtype, bits).ok_or(Reject::Element { element_bits: bits })?;
        let align =
            rules.elements.get(usize::from(element)).map_or(0, |e| u32::from(e.align_bytes));
        let (base, stride) = global.tensor_align;
        let wanted = [
            (MapRule::Base, base, u32::from(rules.base_bytes)),
            (MapRule::StrideMultiple, stride, u32::from(rules.stride_bytes)),
            (MapRule::Corner, global.column_align, u32::from(rules.corner_bytes)),
        ];
        for (rule, found, needed) in wanted {
            if found < needed.max(align) {
                return Err(refuse(rule, found, needed.max(align)));
            }
        }
        Ok(element)
    }

    /// The largest box that the tile's layout allows under a swizzle mode, and the mode's number. The
    /// tile is asked first: few modes are its, and what an element type takes is asked of those alone.
    fn best_box(
        &self,
        form: &TiledMove<'_>,
        rules: &TensorMap<'_>,
        element: u8,
        shared: &MemoryMap,
        wants_reason: bool,
    ) -> Result<(FittedBox, u8), Reject> {
        let element = rules.elements.get(usize::from(element));
        let mut best: Option<(FittedBox, u8)> = None;
        let mut closest = refuse(MapRule::SwizzleEncoding, 0, 0);
        for (k, mode) in (0u8..).zip(self.0.tables.units.swizzles) {
            if !has(self.0.arch, mode.feature) || swizzle::code(mode, rules.encoding).is_none() {
                continue;
            }
            let found = boxed(rules, mode, shared);
            let is_larger = |found: &FittedBox| best.is_none_or(|(b, _)| found.bits() > b.bits());
            let is_reason = wants_reason && best.is_none();
            if !found.as_ref().map_or(is_reason, is_larger) {
                continue;
            }
            let takes =
                |e| map::takes(self.0.tables, self.0.arch, e, mode, (form.loads, !form.loads));
            if let Some(Err(UnitError::Map(refusal))) = element.map(takes) {
                let found = u32::try_from(refusal.found).unwrap_or(u32::MAX);
                closest = nearer(closest, refuse(refusal.rule, found, 0));
                continue;
            }
            match found {
                Ok(found) => best = Some((found, k)),
                Err(why) => closest = nearer(closest, why),
            }
        }
        best.ok_or(closest)
    }

    /// Bytes of a tile, if what says that they have come can count them.
    fn bytes_at_once(&self, form: &TiledMove<'_>, shape: TileShape) -> Result<u32, Reject> {
        let bytes = u32::try_from(shape.bytes()).map_err(|_| Reject::Size)?;
        let objects = self.0.tables.units.mbarriers.iter().filter(|c| has(self.0.arch, c.feature));
        let most = if form.signal.is_some() {
            objects.map(|c| c.most_bytes).max().ok_or(Reject::Form)?
        } else {
            u32::MAX
        };
        if bytes > most { Err(Reject::Size) } else { Ok(bytes) }
    }

    /// The figures: instructions of one thread, and a warp's part of what the memories move in any
    /// case.
    fn figures(&self, form: &TiledMove<'_>, tiling: &Tiling, bytes: u32) -> Figures {
        let w = &self.0.tables.weights;
        let count = tiling.count();
        let issue = self.0.tables.atom(form.atom).map_or(1, |a| u32::from(a.cost.issue));
        let span = self
            .0
            .arch
            .banks
            .iter()
            .map(|b| u32::from(b.banks).saturating_mul(u32::from(b.bank_bytes)))
            .max()
            .unwrap_or(1)
            .max(1);
        let part = bytes.checked_shr(u32::from(self.0.warps)).unwrap_or(0);
        let segments = |bytes: u32| bytes.checked_div(w.segment_bytes).unwrap_or(0);
        let moved = segments(part).saturating_mul(w.global_segment).saturating_add(
            part.checked_div(span).unwrap_or(0).saturating_mul(w.shared_transaction),
        );
        let further = count.saturating_sub(1);
        let cost = w
            .instruction
            .saturating_mul(issue)
            .saturating_mul(count)
            .saturating_add(w.address.saturating_mul(further))
            .saturating_add(moved);
        let segments = segments(bytes.checked_div(count.max(1)).unwrap_or(0));
        Figures { count, segments, further_addresses: further, cost, ..Figures::default() }
    }

    /// The map's element type for a type of the tables: the one of its name, else any of its width,
    /// since nothing is computed.
    fn map_element(&self, rules: &TensorMap<'_>, dtype: Option<DtypeId>, bits: u16) -> Option<u8> {
        let name = dtype.and_then(|d| self.0.tables.dtype(d)).map_or("", |d| d.name);
        let own = rules.elements.iter().position(|e| e.name == name);
        let wide = |e: &lanebook_tables::MapElement<'_>| {
            u16::from(e.bits) == bits
                && e.shared_bits == e.bits
                && e.box_inner == 0
                && e.extent_multiple <= 1
        };
        let found = own.or_else(|| rules.elements.iter().position(wide))?;
        let fits = rules
            .elements
            .get(found)
            .is_some_and(|e| u16::from(e.bits) == bits && e.shared_bits == e.bits);
        if fits { u8::try_from(found).ok() } else { None }
    }
}

/// The largest box of a tile under a mode.
fn boxed(
    rules: &TensorMap<'_>,
    mode: &SwizzleMode<'_>,
    shared: &MemoryMap,
) -> Result<FittedBox, Reject> {
    let shape = shared.shape;
    let element = u32::from(shape.bits / 8);
    if shared.combine != Combine::Xor {
        return Err(refuse(MapRule::Dense, 0, 0));
    }
    // Where the bit's bytes are before the mode moves them; it undoes itself.
    let plain = |bit: u8| {
        shared.columns.get(usize::from(bit)).map_or(0, |c| {
            u32::try_from(swizzle::apply(mode, u64::from(c.bytes))).unwrap_or(u32::MAX)
        })
    };
    let most = rules
        .box_max
        .checked_ilog2()
        .and_then(|bits| u8::try_from(bits).ok())
        .ok_or(Reject::Size)?;
    let step = |from: u32, bits: u8| from.checked_shl(u32::from(bits)).unwrap_or(u32::MAX);
    let row = u32::from(mode.span_bytes);
    let mut inner = 0u8;
    while inner < shape.cols
        && inner < most
        && (mode.xor.is_empty() || step(element, inner) < row)
        && plain(inner) == step(element, inner)
    {
        inner = inner.saturating_add(1);
    }
    let bytes = step(element, inner);
    if inner == 0 && shape.cols > 0 {
        return Err(refuse(MapRule::Contiguous, plain(0), element));
    }
    if bytes.checked_rem(u32::from(rules.box_bytes)) != Some(0) {
        return Err(refuse(MapRule::BoxBytes, bytes, u32::from(rules.box_bytes)));
    }
    if !mode.xor.is_empty() && bytes != row {
        return Err(refuse(MapRule::BoxSpan, bytes, row));
    }
    let mut outer = 0u8;
    while outer < shape.rows
        && outer < most
        && plain(shape.cols.saturating_add(outer)) == step(bytes, outer)
    {
        outer = outer.saturating_add(1);
    }
    let needed = u32::from(rules.shared_bytes.max(mode.repeat_bytes));
    let begins = |at: u32| {
        if at.checked_rem(needed) == Some(0) {
            Ok(())
        } else {
            Err(refuse(MapRule::Shared, at, needed))
        }
    };
    for bit in (inner..shape.cols).chain(shape.cols.saturating_add(outer)..shape.total()) {
        begins(plain(bit))?;
    }
    for (panels, column) in [(shape.grid.rows, shared.panels.0), (shape.grid.cols, shared.panels.1)]
    {
        if panels > 1 {
            begins(column.bytes)?;
        }
    }
    Ok(FittedBox { inner, outer })
}

/// The reason that is worth more: of those that speak of the tile's rows the one that came further.
fn nearer(a: Reject, b: Reject) -> Reject {
    let far = |why: Reject| match why {
        Reject::Tensor { rule: MapRule::Shared, .. } => 4,
        Reject::Tensor { rule: MapRule::Dense, .. } => 3,
        Reject::Tensor { rule: MapRule::BoxSpan, .. } => 2,
        Reject::Tensor { rule: MapRule::BoxBytes | MapRule::Contiguous, .. } => 1,
        _ => 0,
    };
    if far(b) > far(a) { b } else { a }
}
