//! Tiles of matrix instructions, read from the operand layouts of atoms.

use lanebook_layout::triton::{
    EncodingError, MatrixTiles, MatrixUnit, ScaleTile, TileBit, TileRequest, TileSide, WarpTile,
};
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_tables::{
    Accumulators, Arch, ArchId, Atom, Capability, Instance, MatrixShape, Tables,
};

/// The matrix instructions of one architecture.
///
/// An atom is chosen by m and n of the result and by whether one warp or several work together;
/// among those, in this order: its accumulator has the width asked for; the architecture has it
/// (its own are asked first); its k is the one asked for, or else its operands are the widest along
/// k; the operand is in registers. Where no table has the m and n at all, the tile is *that of a
/// kin*: results and operands number lanes and registers in the manner of the architecture's other
/// forms, in as many lanes. So an encoding that mixes a shape with another generation's k, as
/// Triton allows, still has its layout.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::encoding::TableTiles;
/// use lanebook::layout::triton::{MatrixTiles, MatrixUnit, TileRequest, TileSide};
///
/// let tiles = TableTiles::new(&TABLES, TABLES.arch_named("gfx942").unwrap());
/// let request = TileRequest { unit: MatrixUnit::Mfma(3), side: TileSide::D, m: 32, n: 32, k: 8, accumulator_bits: 32 };
/// assert_eq!(tiles.tile(request).unwrap().lane.len(), 6);
/// ```
#[derive(Copy, Clone, Debug)]
pub struct TableTiles<'t> {
    tables: &'t Tables<'t>,
    arch: ArchId,
}

/// The accumulator has the width asked for; k is the one asked for; or else a lane's k is one run;
/// bits of k in an operand; the operand is in registers.
type Merit = (bool, bool, bool, u32, bool);

/// An atom with what the choice looks at; larger is better.
struct AtomCandidate<'t> {
    instance: Instance<'t>,
    shape: MatrixShape,
    merit: Merit,
}

impl<'t> TableTiles<'t> {
    /// The tiles of `arch`.
    #[must_use]
    pub fn new(tables: &'t Tables<'t>, arch: ArchId) -> Self {
        Self { tables, arch }
    }

    /// The best atom for a request; `any`: of whatever m and n. The architecture's own are asked
    /// first.
    pub(super) fn best(
        &self,
        request: &TileRequest,
        any: bool,
    ) -> Option<(Instance<'t>, MatrixShape)> {
        let arch = self.tables.arch(self.arch)?;
        let (m, n) = if any { (0, 0) } else { (request.m, request.n) };
        let wanted = Capability::ProductTile { m, n, group: request.unit == MatrixUnit::WarpGroup };
        let mut best: Option<AtomCandidate<'t>> = None;
        for own in arch.dispatch(wanted).iter().filter_map(|id| self.tables.atom(*id)) {
            self.offer(own, request, any, &mut best);
        }
        // Only another width of the accumulator, or nothing at all, makes one look further.
        if best.as_ref().is_none_or(|b| !b.merit.0) {
            for other in self
                .tables
                .isa(arch.isa)?
                .dispatch(wanted)
                .iter()
                .filter_map(|id| self.tables.atom(*id))
                // A unit that goes with several sizes of waves is meant as on these.
                .filter(|other| {
                    !matches!(request.unit, MatrixUnit::Wmma(_)) || is_of_waves(other, arch)
                })
            {
                self.offer(other, request, any, &mut best);
            }
        }
        best.map(|b| (b.instance, b.shape))
    }

    /// Takes the atom if it is better than what is there. The cheapest questions come first.
    fn offer(
        &self,
        atom: &'t Atom<'t>,
        request: &TileRequest,
        any: bool,
        best: &mut Option<AtomCandidate<'t>>,
    ) {
        let Some(usual) = atom.matrix else { return };
        let known = best.as_ref().map(|b| b.merit);
        // A parameter that changes the columns and nothing else leaves the merit as it is, and no
        // smaller k is better unless it is the one asked for.
        let fixed = || {
            any || request.k == 0
                || usual.k <= request.k
                || !atom.params().any(|(_, vary)| vary.grows.1 && vary.grows.2)
        };
        if known.is_some_and(|known| self.merit(atom, &usual, request) <= known) && fixed() {
            return;
        }
        let instance = match any {
            true => Some(atom.usual()),
            false => atom.with_columns(request.n),
        };
        let Some((instance, shape)) = instance.and_then(|i| Some((i, i.shape()?))) else { return };
        let merit = self.merit(atom, &shape, request);
        if known.is_none_or(|known| merit > known) {
            *best = Some(AtomCandidate { instance, shape, merit });
        }
    }

    /// What makes one atom better than another, most important first.
    fn merit(&self, atom: &Atom<'_>, shape: &MatrixShape, request: &TileRequest) -> Merit {
        let bits = |number: u8| {
            atom.operands
                .get(usize::from(number))
                .and_then(|o| self.tables.dtype(o.dtype?))
                .map_or(0, |d| d.bits)
        };
        let depth_bits = u32::from(bits(shape.a)).saturating_mul(u32::from(shape.k));
        let side = operand(shape, request.side);
        let layout = atom.operands.get(usize::from(side)).and_then(|o| o.layout);
        // Another generation's k stands for the manner in which lanes share it, not for halves that
        // lie apart.
        let one_run = || {
            let runs = layout.map_or(0, |l| {
                l.shard.iter().filter(|it| it.axis() == AxisId::BIT && !it.is_unit()).count()
            });
            runs <= 1 && bits(side).is_power_of_two()
        };
        let own_k = shape.k == request.k;
        let plain = own_k || request.k == 0 || request.side == TileSide::D || one_run();
        (
            request.accumulator_bits == 0 || bits(shape.d) == request.accumulator_bits,
            own_k,
            plain,
            depth_bits,
            layout.is_some(),
        )
    }

    /// Bits of an operand's register tuple in one lane.
    pub(super) fn tuple_bits(&self, instance: &Instance<'_>, number: u8) -> Option<i64> {
        let operand = instance.atom.operands.get(usize::from(number))?;
        let class = self.tables.isa(instance.atom.isa)?.classes.get(operand.class.index())?;
        Some(i64::from(class.bits).saturating_mul(i64::from(instance.registers(number)?)))
    }

    fn read(
        &self,
        instance: &Instance<'_>,
        number: u8,
        side: TileSide,
        rows: u16,
        cols: u16,
    ) -> Result<WarpTile, EncodingError> {
        let nowhere = EncodingError::OperandInMemory { operand: 1 };
        let operand = instance.atom.operands.get(usize::from(number)).ok_or(nowhere)?;
        let bits =
            instance.dtype(number).and_then(|id| self.tables.dtype(id)).map_or(0, |d| d.bits);
        let layout = operand.layout.ok_or(nowhere)?;
        let mut tile = match operand.vary.and_then(|v| v.scaled_by) {
            None => tile_of(layout, bits, rows, cols)?,
            Some(_) => tile_with(
                layout,
                Some(instance.scaled_iter(number).ok_or(nowhere)?),
                bits,
                rows,
                cols,
            )?,
        };
        tile.run = tile.run_of(side);
        Ok(tile)
    }
}

/// Whether an atom's operands lie in waves of a size that an architecture has.
fn is_of_waves(atom: &Atom<'_>, arch: &Arch<'_>) -> bool {
    let layouts = atom.operands.iter().filter_map(|operand| operand.layout);
    let lanes = |layout: &LayoutRef<'_>| {
        let all = layout.shard.iter().chain(layout.replica);
        let own = all.filter(|it| it.axis() == AxisId::LANE);
        own.fold(1u32, |lanes, it| lanes.saturating_mul(it.extent_value().unwrap_or(1)))
    };
    let most = layouts.map(lanes).max().unwrap_or(1);
    most == 1 || arch.wave_lanes.iter().any(|wave| u32::from(*wave) == most)
}

/// The operand of a side.
fn operand(shape: &MatrixShape, side: TileSide) -> u8 {
    match side {
        TileSide::A => shape.a,
        TileSide::B => shape.b,
        TileSide::D => shape.d,
    }
}

/// The tile of one warp from an operand layout over (`rows`, `cols`) with elements of
/// `element_bits` bits.
///
/// Register bits count elements; places in a register that no element has (upper halves, say) are
/// not counted.
///
/// # Errors
/// [`EncodingError::OddTile`] if an element bit is no single bit of lane, register or warp, or two
/// are the same; [`EncodingError::Layout`] for numbers that are not known.
pub fn tile_of(
    layout: &LayoutRef<'_>,
    element_bits: u16,
    rows: u16,
    cols: u16,
) -> Result<WarpTile, EncodingError> {
    tile_with(layout, None, element_bits, rows, cols)
}

/// The same where one shard iter has another extent: which, and what.
fn tile_with(
    layout: &LayoutRef<'_>,
    other: Option<(u8, u32)>,
    element_bits: u16,
    rows: u16,
    cols: u16,
) -> Result<WarpTile, EncodingError> {
    let (row_bits, col_bits, element) = (log2(rows)?, log2(cols)?, log2(element_bits)?);
    let all = row_bits.saturating_add(col_bits);
    // Which element bit each register bit and lane bit moves. Read off the iters, fastest first:
    // columns, then rows.
    let mut registers = [None::<TileBit>; 16];
    let mut lanes = [TileBit::Copy; 7];
    let (mut k, mut lane_bits, mut warps) = (0u8, 0u32, 0u64);
    for (at, it) in layout.shard.iter().chain(layout.replica).enumerate() {
        let extent = match other {
            Some((k, extent)) if usize::from(k) == at => extent,
            _ => it.extent_value()?,
        };
        let stride = u64::try_from(it.stride_value()?).map_err(|_| EncodingError::OddTile)?;
        if extent == 1 {
            continue;
        }
        if !extent.is_power_of_two() || !stride.is_power_of_two() {
            return Err(EncodingError::OddTile);
        }
        for up in 0..extent.trailing_zeros() {
            let place = stride.trailing_zeros().saturating_add(up);
            if it.axis() == AxisId::LANE {
                lane_bits = lane_bits.max(place.saturating_add(1));
            }
            // Copies come after all of the element's bits.
            if k >= all {
                continue;
            }
            let bit = k.checked_sub(col_bits).map_or(TileBit::Col(k), TileBit::Row);
            k = k.saturating_add(1);
            match it.axis() {
                AxisId::LANE => match lanes.get_mut(place as usize) {
                    Some(slot @ TileBit::Copy) => *slot = bit,
                    _ => return Err(EncodingError::OddTile),
                },
                AxisId::BIT => match registers.get_mut(place as usize) {
                    Some(slot @ None) if place >= u32::from(element) => *slot = Some(bit),
                    _ => return Err(EncodingError::OddTile),
                },
                AxisId::WARP if warps.checked_shr(place).is_some_and(|w| w & 1 == 0) => {
                    warps |= 1u64.checked_shl(place).unwrap_or(0)
                }
                _ => return Err(EncodingError::OddTile),
            }
        }
    }
    if k < all {
        return Err(EncodingError::OddTile);
    }
    let mut tile = WarpTile::default();
    for bit in registers.into_iter().flatten() {
        tile.register.push(bit)?;
    }
    for bit in lanes.iter().take(lane_bits as usize) {
        tile.lane.push(*bit)?;
    }
    Ok(tile)
}

fn log2(value: u16) -> Result<u8, EncodingError> {
    match value.is_power_of_two() {
        true => Ok(value.trailing_zeros() as u8),
        false => Err(EncodingError::OddTile),
    }
}

impl TableTiles<'_> {
    /// Whether lanes whose scales are ignored have the next rows', by the architecture's convention
    /// for products on a unit.
    fn fills(&self, unit: MatrixUnit) -> bool {
        let wanted = match unit {
            MatrixUnit::Warp => Accumulators::Warp,
            MatrixUnit::WarpGroup => Accumulators::Group,
            MatrixUnit::Mfma(_) => Accumulators::Wave,
            _ => Accumulators::Narrow,
        };
        let Some(arch) = self.tables.arch(self.arch) else { return false };
        let mut units = self.tables.seeding.units.iter();
        units.any(|unit| unit.arch == arch.name && unit.accumulators == wanted && unit.fills)
    }
}

impl MatrixTiles for TableTiles<'_> {
    fn scale_tile(&self, request: TileRequest, run: u16) -> Result<ScaleTile, EncodingError> {
        let unknown = EncodingError::NoInstruction {
            m: request.m,
            n: request.n,
            k: request.k,
            bits: request.accumulator_bits,
        };
        let arch = self.tables.arch(self.arch).ok_or(unknown)?;
        let all = arch.dispatch(Capability::ScaledProduct);
        let own = |atom: &&Atom<'_>| {
            atom.scaled_run() == Some(run)
                && atom.matrix.is_some_and(|of| (of.m, of.n) == (request.m, request.n))
        };
        let mut chosen = None;
        for atom in all.iter().filter_map(|id| self.tables.atom(*id)).filter(own) {
            let Some([a, b]) = atom.scaled() else { continue };
            let number = if request.side == TileSide::B { b } else { a };
            // One that can be told which lanes to read says more.
            let moves = atom.more.map_or(&[][..], |more| more.moves);
            let moved = moves.iter().any(|by| by.of == number && by.lanes > 0);
            if moved || chosen.is_none() {
                chosen = Some((atom, number, moved));
            }
            if moved {
                break;
            }
        }
        let (atom, number, moved) = chosen.ok_or(unknown)?;
        let operand = atom.operands.get(usize::from(number)).ok_or(unknown)?;
        let layout = operand.layout.ok_or(unknown)?;
        let bits = operand.dtype.and_then(|id| self.tables.dtype(id)).map_or(0, |d| d.bits);
        let (rows, columns) = operand.extents;
        let tile = tile_of(layout, bits, rows, columns)?;
        let tile = if request.side == TileSide::B { tile.transposed() } else { tile };
        let next_rows = moved && self.fills(request.unit);
        Ok(ScaleTile { tile, next_rows })
    }

    fn tile(&self, request: TileRequest) -> Result<WarpTile, EncodingError> {
        let unknown = EncodingError::NoInstruction {
            m: request.m,
            n: request.n,
            k: request.k,
            bits: request.accumulator_bits,
        };
        if let Some((instance, shape)) = self.best(&request, false) {
            let number = operand(&shape, request.side);
            let (rows, cols) = match request.side {
                TileSide::A => (shape.m, shape.k),
                TileSide::B => (shape.k, shape.n),
                TileSide::D => (shape.m, shape.n),
            };
            return self.read(&instance, number, request.side, rows, cols);
        }
        if !matches!(request.unit, MatrixUnit::Mfma(_)) {
            return Err(unknown);
        }
        let (instance, shape) = self.best(&request, true).ok_or(unknown)?;
        let read = |side: TileSide, rows: u16, cols: u16| {
            self.read(&instance, operand(&shape, side), side, rows, cols)
        };
        let result = read(TileSide::D, shape.m, shape.n)?;
        let lanes = u8::try_from(result.lane.len()).unwrap_or(0);
        let (m, n) = (log2(request.m)?, log2(request.n)?);
        match request.side {
            TileSide::D => kin_result(&result, lanes, m, n),
            TileSide::A => {
                kin_operand(&read(TileSide::A, shape.m, shape.k)?.transposed(), lanes, m, n)
                    .map(WarpTile::transposed)
            }
            TileSide::B => kin_operand(&read(TileSide::B, shape.k, shape.n)?, lanes, n, m),
        }
    }
}

/// A result of `m` by `n` (log2) in the manner of another: a run of rows in registers, columns over
/// the low lanes, rows over the rest, and further rows in further registers.
fn kin_result(kin: &WarpTile, lanes: u8, m: u8, n: u8) -> Result<WarpTile, EncodingError> {
    let mut tile = WarpTile::default();
    let mut row = 0u8;
    for _ in 0..kin.run.min(m) {
        tile.register.push(TileBit::Row(row))?;
        row = row.saturating_add(1);
    }
    for col in 0..n.min(lanes) {
        tile.lane.push(TileBit::Col(col))?;
    }
    for _ in n..lanes {
        let bit = if row < m { TileBit::Row(row) } else { TileBit::Copy };
        row = row.saturating_add(1);
        tile.lane.push(bit)?;
    }
    while row < m {
        tile.register.push(TileBit::Row(row))?;
        row = row.saturating_add(1);
    }
    Ok(tile)
}

/// An operand (k by `own`, log2) in the manner of another: a run of k in registers, its own
/// dimension over the low lanes, k over the rest. Both operands have the same k, so what lanes
/// number for one, registers number for the other.
fn kin_operand(kin: &WarpTile, lanes: u8, own: u8, other: u8) -> Result<WarpTile, EncodingError> {
    let mut tile = WarpTile::default();
    let mut k = 0u8;
    tile.run = kin.run;
    for _ in 0..kin.run {
        tile.register.push(TileBit::Row(k))?;
        k = k.saturating_add(1);
    }
    for bit in 0..own.min(lanes) {
        tile.lane.push(TileBit::Col(bit))?;
    }
    for _ in own..lanes {
        tile.lane.push(TileBit::Row(k))?;
        k = k.saturating_add(1);
    }
    // The other operand's lanes number more of k than this one's do.
    for _ in other..own {
        tile.register.push(TileBit::Row(k))?;
        k = k.saturating_add(1);
    }
    Ok(tile)
}
