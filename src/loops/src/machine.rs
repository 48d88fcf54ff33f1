//! What inference must know of an architecture: figures, and what its matrix unit holds where.

use lanebook_infer::{MachineFigures, UnitSide, UnitTile};
use lanebook_layout::AxisId;
use lanebook_tables::{Arch, AtomId, Capability, Dtype, DtypeId, Instance, MatrixShape, Tables};

/// The figures of an architecture.
#[must_use]
pub fn figures(tables: &Tables<'_>, arch: &Arch<'_>) -> MachineFigures {
    MachineFigures {
        wave: arch.wave_lanes.first().map_or(0, |lanes| u32::from(*lanes)),
        access_bits: tables.weights.shared_align.saturating_mul(8),
        sector_bytes: tables.weights.segment_bytes,
    }
}

/// A product that asks for a unit.
#[derive(Copy, Clone, Debug)]
pub struct UnitRequest {
    /// Elements of the operands, as the unit names them.
    pub operand: DtypeId,
    /// Elements of the result.
    pub result: DtypeId,
    /// Rows and columns of the result.
    pub extents: (u32, u32),
    /// Threads that compute it.
    pub threads: u32,
}

/// The instruction that computes a product, which fixes where its operands lie.
#[derive(Copy, Clone, Debug)]
pub struct AnchorUnit<'t> {
    id: AtomId,
    instance: Instance<'t>,
    wave: u32,
    transposed: bool,
}

/// Bits of a register.
const REGISTER_BITS: u32 = 32;

/// Digits of a layout's rows and columns: axis, extent, stride, and row and column of the second
/// value.
type TileDigits = heapless::Vec<(AxisId, u32, u32, (u32, u32)), 8>;

/// Warps that work together in the tile of an operand's layout: 1 where it names none. The layout is
/// not made for it: it is large, and this is asked of every instruction.
fn together_of(instance: &Instance<'_>, number: u8) -> Option<u32> {
    let layout = instance.atom.operands.get(usize::from(number))?.layout?;
    let scaled = instance.scaled_iter(number);
    let mut warps = 1u32;
    for (k, it) in (0u8..).zip(layout.shard).filter(|(_, it)| it.axis() == AxisId::WARP) {
        let extent = match scaled {
            Some((at, extent)) if at == k => extent,
            _ => it.extent_value().ok()?,
        };
        warps = warps.checked_mul(extent)?;
    }
    Some(warps)
}

/// The unit of an architecture for a product: one of a group of warps where the architecture has it
/// and the result is tall enough, else one of as many rows as `rules/seeding.ron` asks for, the least
/// result of those, of these the greatest depth. None where no
/// instruction takes these elements and extents.
pub fn unit<'t>(
    tables: &Tables<'t>,
    arch: &Arch<'t>,
    request: &UnitRequest,
) -> Option<AnchorUnit<'t>> {
    unit_of_depth(tables, arch, request, 0)
}

/// The same of a product that sums `depth` others for each element: units whose depth is no part of
/// that come last.
pub(crate) fn unit_of_depth<'t>(
    tables: &Tables<'t>,
    arch: &Arch<'t>,
    request: &UnitRequest,
    depth: u32,
) -> Option<AnchorUnit<'t>> {
    as_read(tables, arch, (request, depth), Executed::Any)
}

/// The elements that units read those of a request as, where there are such.
fn read_as(tables: &Tables<'_>, request: &UnitRequest) -> Option<DtypeId> {
    let mut known = tables.seeding.read_as.iter();
    let own = known.find(|d| tables.dtype_named(d.text) == Some(request.operand));
    own.and_then(|own| tables.dtype_named(own.dtype))
}

/// The same, where need be of elements that units read these as.
fn as_read<'t>(
    tables: &Tables<'t>,
    arch: &Arch<'t>,
    (request, depth): (&UnitRequest, u32),
    by: Executed,
) -> Option<AnchorUnit<'t>> {
    let operand = read_as(tables, request);
    let own = unit_for(tables, arch, (request, depth), request.operand, by);
    own.or_else(|| unit_for(tables, arch, (request, depth), operand?, by))
}

/// The same of those that one warp executes.
pub fn warp_unit<'t>(
    tables: &'t Tables<'t>,
    arch: &Arch<'t>,
    request: &UnitRequest,
) -> Option<AnchorUnit<'t>> {
    warp_unit_of_depth(tables, arch, request, 0)
}

/// A unit of a warp whose sums are those of a request, whatever its factors: it says where they lie.
pub(crate) fn warp_unit_of_sums<'t>(
    tables: &'t Tables<'t>,
    arch: &Arch<'t>,
    request: &UnitRequest,
) -> Option<AnchorUnit<'t>> {
    let of = |dtype: &Dtype<'_>| {
        let operand = tables.dtype_named(dtype.name)?;
        unit_for(tables, arch, (request, 0), operand, Executed::Warp)
    };
    tables.dtypes.iter().find_map(of)
}

/// The same of a product of some depth.
pub(crate) fn warp_unit_of_depth<'t>(
    tables: &'t Tables<'t>,
    arch: &Arch<'t>,
    request: &UnitRequest,
    depth: u32,
) -> Option<AnchorUnit<'t>> {
    as_read(tables, arch, (request, depth), Executed::Warp)
}

/// The same whose sums have the rows that a warp has of an anchor's, and its columns, if there is
/// one.
pub(crate) fn warp_unit_beside<'t>(
    tables: &'t Tables<'t>,
    arch: &Arch<'t>,
    (request, depth): (&UnitRequest, u32),
    (anchor, together): (&AnchorUnit<'t>, u32),
) -> Option<AnchorUnit<'t>> {
    let shape = anchor.instance.shape()?;
    let rows = u32::from(shape.m).checked_div(together)?;
    let beside = Executed::WarpOf { rows, columns: u32::from(shape.n) };
    let own = as_read(tables, arch, (request, depth), beside);
    own.or_else(|| warp_unit_of_depth(tables, arch, request, depth))
}

/// Which warps execute an instruction.
#[derive(Copy, Clone)]
enum Executed {
    /// One, or several together.
    Any,
    /// One.
    Warp,
    /// One, for sums of so many rows and columns.
    WarpOf { rows: u32, columns: u32 },
}

impl Executed {
    fn takes(self, rank: &Rank, shape: MatrixShape) -> bool {
        match self {
            Self::Any => true,
            Self::Warp => rank.is_alone,
            Self::WarpOf { rows, columns } => {
                rank.is_alone && (u32::from(shape.m), u32::from(shape.n)) == (rows, columns)
            }
        }
    }
}

fn unit_for<'t>(
    tables: &Tables<'t>,
    arch: &Arch<'t>,
    (request, depth): (&UnitRequest, u32),
    operand: DtypeId,
    by: Executed,
) -> Option<AnchorUnit<'t>> {
    let wave = figures(tables, arch).wave;
    let transposed = tables.seeding.units.iter().any(|u| u.arch == arch.name && u.transposes);
    let wish = Capability::Product { a: operand, b: operand, c: request.result, d: request.result };
    let mut best: Option<(Rank, AtomId, Instance<'t>)> = None;
    for id in arch.dispatch(wish) {
        let Some(atom) = tables.atom(*id) else { continue };
        let dense = atom.more.is_none_or(|more| more.index.is_none() && more.blocks <= 1);
        if !dense || !arch.own(*id).is_some_and(|own| own.native) {
            continue;
        }
        for instance in (0..atom.instances()).filter_map(|k| atom.instance(k)) {
            if let Some(rank) = rank(&instance, (request, depth), (wave, tables.seeding.unit_rows))
                && instance.shape().is_some_and(|shape| by.takes(&rank, shape))
                && best.as_ref().is_none_or(|b| rank < b.0)
            {
                best = Some((rank, *id, instance));
            }
        }
    }
    best.map(|(_, id, instance)| AnchorUnit { id, instance, wave, transposed })
}

/// What an instruction of a request does: with its elements, and with what units read these as.
pub(crate) fn wishes(
    tables: &Tables<'_>,
    request: &UnitRequest,
) -> impl Iterator<Item = Capability> + use<> {
    let result = request.result;
    let own = [Some(request.operand), read_as(tables, request)].into_iter().flatten();
    own.map(move |own| Capability::Product { a: own, b: own, c: result, d: result })
}

/// Whether an instruction of an architecture that takes these elements keeps sums in tensor memory.
pub(crate) fn sums_in_tensor_memory(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    request: &UnitRequest,
) -> bool {
    let mut all = wishes(tables, request).flat_map(|wish| arch.dispatch(wish));
    all.any(|id| tables.atom(*id).is_some_and(|atom| atom.tensor().is_some()))
}

/// The instruction of a group of warps for sums of so many columns and such a depth of a group,
/// with the widest of those that an anchor has laid: it reads the operands that are `in_shared` by
/// itself, and no others.
pub(crate) fn group_unit<'t>(
    (tables, arch): (&Tables<'t>, &Arch<'t>),
    (anchor, request): (&AnchorUnit<'t>, &UnitRequest),
    (columns, depth): (u32, u32),
    in_shared: [bool; 2],
) -> Option<AnchorUnit<'t>> {
    let shape = anchor.instance.shape()?;
    let own = wishes(tables, request).find(|wish| arch.dispatch(*wish).contains(&anchor.id));
    let laid = anchor.digits(UnitSide::D)?;
    let mut best: Option<(u16, AnchorUnit<'t>)> = None;
    for id in arch.dispatch(own?) {
        let Some(atom) = tables.atom(*id) else { continue };
        let dense = atom.more.is_none_or(|more| more.index.is_none() && more.blocks <= 1);
        if !dense || !arch.own(*id).is_some_and(|own| own.native) {
            continue;
        }
        for instance in (0..atom.instances()).filter_map(|k| atom.instance(k)) {
            let Some(own) = instance.shape() else { continue };
            let whole = |extent: u32, part: u16| extent.checked_rem(u32::from(part)) == Some(0);
            let reads = [own.a, own.b].map(|number| atom.shared(number).is_some());
            let fits = (own.m, own.k) == (shape.m, shape.k)
                && whole(columns, own.n)
                && whole(depth, own.k)
                && reads == in_shared
                && best.as_ref().is_none_or(|best| own.n > best.0);
            let unit = anchor.with_instance(*id, instance);
            if fits && unit.is_beside((anchor, &laid), in_shared) {
                best = Some((own.n, unit));
            }
        }
    }
    best.map(|best| best.1)
}

/// How late an instruction is taken.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Its depth is no part of the product's.
    is_too_deep: bool,
    /// One warp executes it.
    is_alone: bool,
    /// It has fewer rows than the unit of a product in place should have.
    is_flat: bool,
    area: u32,
    shallow: u16,
}

/// How late an instruction is taken; `None` if it does not fit.
#[inline(never)] // Its layout leaves the stack before the next one is looked at.
fn rank(
    instance: &Instance<'_>,
    (request, depth): (&UnitRequest, u32),
    (wave, rows): (u32, u16),
) -> Option<Rank> {
    let shape = instance.shape()?;
    let warps = together_of(instance, shape.d)?;
    let (m, n) = request.extents;
    let whole = |extent: u32, part: u16| extent.checked_rem(u32::from(part)) == Some(0);
    let group = warps.saturating_mul(wave);
    let fits =
        whole(m, shape.m) && whole(n, shape.n) && request.threads.checked_rem(group) == Some(0);
    let area = u32::from(shape.m).saturating_mul(u32::from(shape.n));
    fits.then_some(Rank {
        is_too_deep: !whole(depth, shape.k),
        is_alone: warps == 1,
        is_flat: shape.m < rows,
        area,
        shallow: u16::MAX.saturating_sub(shape.k),
    })
}

impl<'t> AnchorUnit<'t> {
    /// Another instruction of the same machine.
    pub(crate) const fn with_instance(&self, id: AtomId, instance: Instance<'t>) -> Self {
        Self { id, instance, ..*self }
    }

    /// The instruction.
    #[must_use]
    pub const fn id(&self) -> AtomId {
        self.id
    }

    /// The instruction with its parameters.
    #[must_use]
    pub const fn instance(&self) -> Instance<'t> {
        self.instance
    }

    /// Whether it computes the transposed product of the transposed operands.
    #[must_use]
    pub const fn transposed(&self) -> bool {
        self.transposed
    }

    /// Gives the tile that the instruction reads or writes on a side. None if it says no layout of
    /// this operand.
    pub fn tile<R>(&self, side: UnitSide, take: impl FnOnce(&UnitTile<'_>) -> R) -> Option<R> {
        let shape = self.instance.shape()?;
        let (number, rows, columns) = match (side, self.transposed) {
            (UnitSide::D, _) => (shape.d, shape.m, shape.n),
            (UnitSide::A, false) | (UnitSide::B, true) => (shape.a, shape.m, shape.k),
            (UnitSide::B, false) | (UnitSide::A, true) => (shape.b, shape.k, shape.n),
        };
        let group = together_of(&self.instance, shape.d)?;
        self.tile_of(number, (rows, columns), group, take)
    }

    #[inline(never)] // Its layout leaves the stack when `take` is done.
    fn tile_of<R>(
        &self,
        operand: u8,
        (rows, columns): (u16, u16),
        together: u32,
        take: impl FnOnce(&UnitTile<'_>) -> R,
    ) -> Option<R> {
        let layout = self.instance.layout(operand)?;
        Some(take(&UnitTile {
            layout: &layout.view(),
            rows: u32::from(rows),
            columns: u32::from(columns),
            together,
            wave: self.wave,
            transposed: self.transposed,
        }))
    }

    /// The digits of rows and columns in an operand's layout.
    #[inline(never)] // The layout leaves the stack when this is done.
    fn digits(&self, side: UnitSide) -> Option<TileDigits> {
        let taken = |tile: &UnitTile<'_>| {
            let mut out = TileDigits::new();
            let mut unit = 1u32;
            for it in tile.layout.shard {
                let extent = it.extent_value().ok()?;
                let stride = u32::try_from(it.stride_value().ok()?).ok()?;
                let at = (unit.checked_div(tile.columns)?, unit.checked_rem(tile.columns)?);
                if extent > 1 {
                    out.push((it.axis(), extent, stride, at)).ok()?;
                }
                unit = unit.checked_mul(extent)?;
            }
            tile.layout.offset.is_empty().then_some(out)
        };
        self.tile(side, taken).flatten()
    }

    /// Whether the sums are those of an anchor, several next to each other along a row, in
    /// registers that follow each other; and a left factor in registers the anchor's.
    fn is_beside(&self, (anchor, laid): (&Self, &TileDigits), in_shared: [bool; 2]) -> bool {
        let [left, _] = in_shared;
        if !left && self.digits(UnitSide::A) != anchor.digits(UnitSide::A) {
            return false;
        }
        let beside = || {
            let (own, other) = (self.instance.shape()?, anchor.instance.shape()?);
            let each = anchor.instance.registers(other.d)?;
            let bits = u32::from(each).checked_mul(REGISTER_BITS)?;
            let many = own.n.checked_div(other.n)?;
            let mut known = laid.iter();
            for digit in &self.digits(UnitSide::D)? {
                let next = digit.3 == (0, u32::from(other.n));
                if next {
                    let (axis, extent, stride, _) = *digit;
                    let follows = axis == AxisId::BIT && stride == bits;
                    (follows && extent == u32::from(many)).then_some(())?;
                } else {
                    (known.next() == Some(digit)).then_some(())?;
                }
            }
            let all = u32::from(each).checked_mul(u32::from(many));
            let own = self.instance.registers(own.d).map(u32::from);
            (known.next().is_none() && own == all).then_some(())
        };
        beside().is_some()
    }

    /// Threads of a warp.
    #[must_use]
    pub const fn wave(&self) -> u32 {
        self.wave
    }
}
