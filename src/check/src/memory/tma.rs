//! Copies through tensor maps: what the map says, element by element, against the two ends of the
//! movement.

use crate::evaluator::{Memory, element_bytes, nth_panel, panel_size, pick, power, rank, row_col};
use crate::reader::{has, swizzled};
use crate::violation::{MapFault, Violation};
use lanebook_ir::{MemrefBound, Program, Value, attr_names};
use lanebook_plan::{End, MapPlan, Plan, TiledPlan, TransferPlan};
use lanebook_tables::{Arch, MapLimit, SwizzleMode, Tables, TensorMap, TiledMove};
use lanebook_tile::map::TileShape;
use lanebook_tile::tiling::Tiling;

/// A tiled movement with everything that it names.
struct TiledCheck<'p, 't> {
    m: &'p TransferPlan,
    form: &'t TiledMove<'t>,
    map: &'p MapPlan,
    rules: &'t TensorMap<'t>,
    mode: &'t SwizzleMode<'t>,
    shared: Memory<'p>,
    /// Where the tile starts in the segment.
    offset: u32,
    bytes: u32,
}

/// Statement 7a of the module's page; the number of bytes followed.
#[inline(never)]
pub(crate) fn movement(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    m: &TransferPlan,
    tiled: &TiledPlan,
) -> Result<u64, Violation> {
    let op = m.op;
    let arch = tables.arch(plan.arch).ok_or(Violation::UnknownArch)?;
    let missing = Violation::Missing(op);
    let map = plan.maps.get(usize::from(tiled.map)).ok_or(missing)?;
    let refuse = Violation::Atom { op, atom: m.atom };
    let form = tables
        .units
        .tiled_moves
        .get(usize::from(tiled.form))
        .filter(|f| f.atom == m.atom && has(arch, f.feature))
        .ok_or(refuse)?;
    let rules = tables
        .units
        .tensor_maps
        .get(usize::from(map.map))
        .filter(|r| r.name == form.map && has(arch, r.feature));
    let rules = rules.ok_or(fault(m, MapFault::Rules, u64::from(map.map), 0))?;
    let coded = |mode: &&&SwizzleMode<'_>| {
        has(arch, mode.feature) && mode.codes.iter().any(|(name, _)| *name == rules.encoding)
    };
    let mode = tables.units.swizzles.get(usize::from(map.mode)).filter(coded).ok_or(fault(
        m,
        MapFault::Mode,
        u64::from(map.mode),
        0,
    ))?;
    let name = rules.elements.get(usize::from(map.element)).map(|e| e.name);
    let any = |list: &[&str], name: Option<&str>| {
        list.is_empty() || name.is_some_and(|name| list.contains(&name))
    };
    let ours = |l: &&MapLimit<'_>| {
        has(arch, l.feature) && (if form.loads { l.copies.0 } else { l.copies.1 })
    };
    if tables
        .units
        .map_limits
        .iter()
        .filter(ours)
        .any(|l| any(l.elements, name) && any(l.swizzles, Some(mode.name)))
    {
        return Err(fault(m, MapFault::Mode, u64::from(map.mode), 0));
    }
    let (End::Global(_), End::Shared(k)) =
        (if form.loads { (m.from, m.to) } else { (m.to, m.from) })
    else {
        return Err(refuse);
    };
    let tile = plan.allocs.get(usize::from(k)).ok_or(missing)?;
    let global = if form.loads { m.from } else { m.to };
    let global = Memory::of(plan, global).ok_or(missing)??;
    let shape = tile.shape;
    let bytes = element_bytes(shape).ok_or(refuse)?;
    let this = TiledCheck {
        m,
        form,
        map,
        rules,
        mode,
        shared: Memory::Shared(tile),
        offset: tile.offset,
        bytes,
    };
    this.tensor(program, &global, shape)?;
    this.boxes(shape)?;
    this.completes(arch, tables, plan, tiled)?;
    this.elements(shape, plan.shared_align)
}

fn fault(m: &TransferPlan, what: MapFault, found: u64, want: u64) -> Violation {
    Violation::Map { op: m.op, what, found, want }
}

/// The largest power of two that divides a number.
fn power_in(n: i64) -> u64 {
    let n = n.unsigned_abs();
    if n == 0 { 1 << 30 } else { n & n.wrapping_neg() }
}

impl TiledCheck<'_, '_> {
    fn same(&self, what: MapFault, found: u64, want: u64) -> Result<(), Violation> {
        if found == want { Ok(()) } else { Err(fault(self.m, what, found, want)) }
    }

    fn multiple(&self, what: MapFault, found: u64, of: u64) -> Result<(), Violation> {
        if found.checked_rem(of.max(1)) == Some(0) {
            Ok(())
        } else {
            Err(fault(self.m, what, found, of))
        }
    }

    /// The tensor is the operand: its memref, element, order and stride, aligned as the rules want.
    fn tensor(
        &self,
        program: &Program<'_, '_>,
        global: &Memory<'_>,
        shape: TileShape,
    ) -> Result<(), Violation> {
        let Memory::Global(g, row_major) = global else {
            return Err(Violation::Missing(self.m.op));
        };
        let map = self.map;
        if map.memref != g.memref {
            return Err(fault(self.m, MapFault::Memref, 0, 0));
        }
        let element = self.rules.elements.get(usize::from(map.element)).ok_or(fault(
            self.m,
            MapFault::Element,
            u64::from(map.element),
            0,
        ))?;
        self.same(MapFault::Element, u64::from(element.bits), u64::from(shape.bits))?;
        self.same(MapFault::Element, u64::from(element.shared_bits), u64::from(shape.bits))?;
        let ty = program.type_of(map.memref);
        // As many dimensions as the memref has, each of them the copy's; the contiguous one first,
        // that of the matrices last.
        let rank = u64::try_from(ty.shape.rank()).unwrap_or(u64::MAX);
        self.same(MapFault::Order, u64::from(map.rank), rank)?;
        self.same(MapFault::Order, u64::try_from(self.form.at.len()).unwrap_or(u64::MAX), rank)?;
        if rank < 2 || map.dims().len() != ty.shape.rank() {
            return Err(fault(self.m, MapFault::Order, rank, 2));
        }
        for (place, found) in (0u64..).zip(map.order) {
            let want = match (row_major, place) {
                (false, 0 | 1) => rank.saturating_sub(2).saturating_add(place),
                _ => rank.saturating_sub(1).saturating_sub(place),
            };
            self.same(MapFault::Order, u64::from(found), want)?;
        }
        let promised = |key: &str| program.int_value_attr(map.memref, key);
        let element = u64::from(self.bytes);
        let base = promised(attr_names::ALIGN).map_or(element, power_in);
        self.multiple(MapFault::Base, base, u64::from(self.rules.base_bytes))?;
        let column = i64::from(program.index_facts(g.start.1).divisor());
        let column = power_in(column).saturating_mul(element);
        self.multiple(MapFault::Corner, column, u64::from(self.rules.corner_bytes))?;
        if !self.form.loads {
            let extent = if *row_major { shape.col_count() } else { shape.row_count() };
            self.edge(program, g.start.1, extent)?;
        }
        // A dimension's stride is all of what the dimensions inside it hold.
        let mut inside = Some(self.bytes);
        let mut dims = map.dims().iter();
        for found in map.stride_bytes {
            let inner = dims.next().filter(|_| dims.len() > 0);
            let want = match inner {
                Some(dim) => {
                    inside.and_then(|bytes| bytes.checked_mul(ty.shape.extent(usize::from(*dim))?))
                }
                None => None,
            };
            if found != want {
                return Err(fault(
                    self.m,
                    MapFault::Stride,
                    found.map_or(0, u64::from),
                    want.map_or(0, u64::from),
                ));
            }
            inside = want;
            if inner.is_some() {
                let steps = found.map_or_else(
                    || promised(attr_names::STRIDE_DIV).map_or(1, power_in).saturating_mul(element),
                    |bytes| power_in(i64::from(bytes)),
                );
                self.multiple(MapFault::Stride, steps, u64::from(self.rules.stride_bytes))?;
            }
        }
        Ok(())
    }

    /// The last run of bytes that a store writes of a row reaches behind no bound of the tensor.
    fn edge(&self, program: &Program<'_, '_>, start: Value, extent: u64) -> Result<(), Violation> {
        let bounds = program.bounds(self.map.memref);
        let Some(bound) = bounds.and_then(|bounds| bounds.last().copied()) else { return Ok(()) };
        let divisor = match bound {
            MemrefBound::None => return Ok(()),
            MemrefBound::Number(n) => {
                let last = program.index_facts(start).high;
                let last = i64::try_from(extent).ok().and_then(|extent| last.checked_add(extent));
                if last.is_some_and(|last| last <= i64::from(n)) {
                    return Ok(());
                }
                i64::from(n)
            }
            MemrefBound::Argument(value) => i64::from(program.index_facts(value).divisor()),
            MemrefBound::Half(value) => i64::from(program.index_facts(value).divisor() / 2),
        };
        let certain = power_in(divisor).saturating_mul(u64::from(self.bytes));
        self.multiple(MapFault::Edge, certain, u64::from(self.rules.edge_bytes))
    }

    /// The box is one that the rules allow, and as wide as the mode's rows.
    fn boxes(&self, shape: TileShape) -> Result<(), Violation> {
        let _ = shape;
        for extent in self.map.boxed {
            if extent == 0 || extent > self.rules.box_max {
                return Err(fault(
                    self.m,
                    MapFault::Box,
                    u64::from(extent),
                    u64::from(self.rules.box_max),
                ));
            }
        }
        // A box is of one matrix.
        for extent in self.map.boxed.iter().skip(2) {
            self.same(MapFault::Box, u64::from(*extent), 1)?;
        }
        let row = self.row_bytes();
        self.multiple(MapFault::Box, row, u64::from(self.rules.box_bytes))?;
        if self.mode.xor.is_empty() {
            Ok(())
        } else {
            self.same(MapFault::Box, row, u64::from(self.mode.span_bytes))
        }
    }

    /// Whether the map's innermost dimension is the tile's columns.
    fn by_rows(&self) -> bool {
        self.map.order.first() > self.map.order.get(1)
    }

    fn row_bytes(&self) -> u64 {
        u64::from(self.map.boxed.first().copied().unwrap_or(0))
            .saturating_mul(u64::from(self.bytes))
    }

    /// What it completes on is there, and can count the bytes.
    fn completes(
        &self,
        arch: &Arch<'_>,
        tables: &Tables<'_>,
        plan: &Plan<'_>,
        tiled: &TiledPlan,
    ) -> Result<(), Violation> {
        let object = tables.units.mbarriers.iter().find(|c| has(arch, c.feature));
        let number = match (self.form.signal, tiled.completion, object) {
            (None, None, _) => return Ok(()),
            (Some(_), Some(number), Some(_)) => number,
            _ => return Err(fault(self.m, MapFault::Completion, 0, 1)),
        };
        if number >= plan.mbarriers {
            return Err(fault(
                self.m,
                MapFault::Completion,
                u64::from(number),
                u64::from(plan.mbarriers),
            ));
        }
        Ok(())
    }

    /// Every element of every box: where the copy puts it, and where the layout has it. Boxes hold
    /// each element once.
    fn elements(&self, shape: TileShape, segment_align: u32) -> Result<u64, Violation> {
        let (op, tiling) = (self.m.op, &self.m.tiling);
        let refuse = Violation::Atom { op, atom: self.m.atom };
        if !tiling.address_lanes.as_slice().is_empty()
            || !tiling.warps.as_slice().is_empty()
            || tiling.panel_bits != shape.rows.saturating_add(shape.cols)
            || tiling.grid != shape.grid
        {
            return Err(refuse);
        }
        // The pattern follows absolute addresses.
        let repeat = u64::from(self.mode.repeat_bytes.max(self.rules.shared_bytes));
        self.multiple(MapFault::Start, u64::from(segment_align), repeat)?;
        if let Memory::Shared(tile) = self.shared
            && tile.stages > 1
        {
            self.multiple(MapFault::Start, u64::from(tile.stage_bytes()), repeat)?;
        }
        let [inner, outer, ..] = self.map.boxed.map(u32::from);
        self.covers(shape, inner, outer)?;
        let inside = power(tiling.instances.as_slice().len()).ok_or(refuse)?;
        let panels =
            u32::from(shape.grid.rows).checked_mul(u32::from(shape.grid.cols)).ok_or(refuse)?;
        let mut followed = 0u64;
        for instance in 0..inside.checked_mul(panels).ok_or(refuse)? {
            let first = first(tiling, shape, instance).ok_or(refuse)?;
            let place = |e: u32| {
                self.shared
                    .at(e)
                    .map(|p| u64::from(self.offset).saturating_add(u64::from(p.byte)))
                    .ok_or(refuse)
            };
            let start = place(first)?;
            self.multiple(MapFault::Start, start, repeat)?;
            let (row, col) = row_col(shape, first).ok_or(refuse)?;
            for y in 0..outer {
                for x in 0..inner {
                    // The map's dimensions are the memref's; a tile's rows and columns are too.
                    let (down, right) = if self.by_rows() { (y, x) } else { (x, y) };
                    let at = (
                        row.checked_add(down).ok_or(refuse)?,
                        col.checked_add(right).ok_or(refuse)?,
                    );
                    let e = number_of(shape, at).ok_or(Violation::Element {
                        op,
                        warp: 0,
                        lane: 0,
                        element: u32::MAX,
                    })?;
                    let linear = u64::from(y)
                        .saturating_mul(self.row_bytes())
                        .saturating_add(u64::from(x).saturating_mul(u64::from(self.bytes)));
                    let found = swizzled(self.mode, start.saturating_add(linear)).ok_or(refuse)?;
                    let want = place(e)?;
                    if found != want {
                        return Err(Violation::Box { op, row: at.0, col: at.1, found, want });
                    }
                    followed = followed.saturating_add(u64::from(self.bytes));
                }
            }
        }
        Ok(followed)
    }

    /// Boxes are powers of two, and with the bits that count them they deal out the panel's
    /// elements, each once.
    fn covers(&self, shape: TileShape, inner: u32, outer: u32) -> Result<(), Violation> {
        let bits = |n: u32| {
            if n.is_power_of_two() {
                Ok(n.trailing_zeros())
            } else {
                Err(fault(self.m, MapFault::Box, u64::from(n), 0))
            }
        };
        let (across, down) = if self.by_rows() {
            (bits(inner)?, bits(outer)?)
        } else {
            (bits(outer)?, bits(inner)?)
        };
        let cols = u32::from(shape.cols);
        let own = (0..across)
            .chain((0..down).map(|bit| bit.saturating_add(cols)))
            .map(|bit| 1u32.checked_shl(bit).unwrap_or(0));
        let want = shape.rows.saturating_add(shape.cols);
        let counted = self.m.tiling.instances.as_slice();
        let dealt = u8::try_from(counted.len())
            .unwrap_or(u8::MAX)
            .saturating_add(u8::try_from(across.saturating_add(down)).unwrap_or(u8::MAX));
        let rank = rank(counted.iter().copied().chain(own));
        if rank == want && dealt == want {
            Ok(())
        } else {
            Err(Violation::Coverage { op: self.m.op, dealt, rank, want })
        }
    }
}

/// The element that an instance's box begins with.
pub(crate) fn first(tiling: &Tiling, shape: TileShape, instance: u32) -> Option<u32> {
    let inside = power(tiling.instances.as_slice().len())?;
    let panel = nth_panel(shape, tiling.by_rows, instance.checked_div(inside)?)?;
    panel
        .checked_mul(panel_size(shape)?)?
        .checked_add(pick(tiling.instances.as_slice(), instance.checked_rem(inside)?)?)
}

/// The number of the element at a row and column of a tile.
fn number_of(shape: TileShape, (row, col): (u32, u32)) -> Option<u32> {
    let (rows, cols) = (power(usize::from(shape.rows))?, power(usize::from(shape.cols))?);
    let (up, right) = (row.checked_div(rows)?, col.checked_div(cols)?);
    if up >= u32::from(shape.grid.rows) || right >= u32::from(shape.grid.cols) {
        return None;
    }
    let panel = up.checked_mul(u32::from(shape.grid.cols))?.checked_add(right)?;
    panel
        .checked_mul(panel_size(shape)?)?
        .checked_add(row.checked_rem(rows)?.checked_mul(cols)?)?
        .checked_add(col.checked_rem(cols)?)
}
