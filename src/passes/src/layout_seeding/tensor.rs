//! Products whose sums lie in tensor memory: the place of the sums, how a load from it spreads them
//! over registers, and the operations around the product.
//!
//! Kinds, rows, columns and depths come from the tables (`units.shapes` with their instruction
//! descriptors), lanes and warps from the memory itself, how a text writes the place from the
//! encoding. A load takes the memory's own order: its lanes are the lanes and the warps; where a
//! place leaves lanes unused, and where more warps than the memory has parts share it, they take
//! the last columns.
use crate::layout_seeding::product::ProductShape;
use crate::layout_seeding::seeded_layouts::{BitLayout, Core, NewLayout};
use crate::layout_seeding::{LayoutSeeding, Workers, full};
use crate::{ChoicePool, PassError, edit};
use lanebook_ir::{ErrorKind, Op, TileEncoding, Type, TypeKind, attr_names};
use lanebook_layout::AxisId;
use lanebook_layout::triton::{Base, Cga, CtaMode, Few, NoTiles, TensorMemory, to_linear};
use lanebook_tables::{
    Arch, DtypeId, FieldRole, Major, OpId, ProductUnit, Space, Tables, TensorOps, UnitShape,
};
use lanebook_tile::map::log2_exact;
use lanebook_tile::unit::{descriptor_named, has, tensor};

/// Where a product's sums go.
#[derive(Copy, Clone, Debug)]
pub(super) struct Sums<'t> {
    /// The place.
    pub memory: TensorMemory,
    /// The operations.
    pub ops: TensorOps<'t>,
    /// The instruction's descriptor.
    pub descriptor: &'t str,
}

/// The sums of a product, and how they are loaded; `None` if no instruction of the architecture
/// takes it so.
#[inline(never)]
pub(super) fn choose<'t>(
    tables: &Tables<'t>,
    arch: &Arch<'_>,
    unit: &ProductUnit<'t>,
    shape: &ProductShape,
    workers: Workers,
) -> Option<(Sums<'t>, BitLayout)> {
    let place = tensor::memory(tables, arch).ok()?;
    let most = u32::from(unit.most_warps);
    let reached = workers.lanes == u32::from(place.lanes_per_warp)
        && workers.warps.checked_rem(u32::from(place.warps)) == Some(0);
    if !reached || (most > 0 && workers.warps > most) {
        return None;
    }
    let own = |it: &&UnitShape<'_>| {
        has(arch, it.feature) && (it.blocks, it.stationary, it.sparse) == (1, false, false)
    };
    let mut shapes = tables
        .units
        .shapes
        .iter()
        .filter(own)
        .filter(|it| takes(tables, arch, it.descriptor, [shape.a, shape.b, shape.d]));
    let (descriptor, (block_m, block_n)) =
        shapes.find_map(|it| Some((it.descriptor, block(it, shape)?)))?;
    let col_stride = u32::from(place.cell_bits)
        .checked_div(u32::from(tables.dtype(shape.d)?.bits))
        .filter(|stride| *stride > 0)?;
    let memory = TensorMemory {
        block_m,
        block_n,
        col_stride,
        cga: Cga::default(),
        two_ctas: false,
        cta_mode: CtaMode::Default,
        fp4_padded: false,
    };
    let spread = spread(&memory, [shape.m, shape.n], (workers, place.lanes_per_warp, place.warps))?;
    Some((Sums { memory, ops: unit.ops?, descriptor }, spread))
}

/// Whether an instruction's descriptor has words for the types of A, B and D.
fn takes(tables: &Tables<'_>, arch: &Arch<'_>, descriptor: &str, types: [DtypeId; 3]) -> bool {
    let Ok(table) = descriptor_named(tables, arch, descriptor) else { return false };
    (0u8..).zip(types).all(|(operand, dtype)| {
        let name = tables.dtype(dtype).map_or("", |it| it.name);
        table.fields.iter().any(|field| {
            field.role == FieldRole::Type(operand)
                && field.values.iter().any(|(word, _)| *word == name)
        })
    })
}

/// Rows and columns of the instruction: the most that divide the product.
fn block(it: &UnitShape<'_>, shape: &ProductShape) -> Option<(u32, u32)> {
    let divides = |part: u32, whole: u32| whole.checked_rem(part) == Some(0);
    let rows = it.m.iter().map(|(m, _)| u32::from(*m)).filter(|m| divides(*m, shape.m)).max()?;
    it.k.iter().find(|k| divides(u32::from(**k), shape.k))?;
    let in_steps = |n: u32| {
        let inside = |steps: &lanebook_tables::Steps| {
            n <= u32::from(steps.high)
                && n.checked_sub(u32::from(steps.low))
                    .and_then(|above| above.checked_rem(u32::from(steps.step)))
                    == Some(0)
        };
        it.n.iter().any(inside)
    };
    let widest = it.n.iter().map(|steps| u32::from(steps.high)).max()?;
    let columns = (1..=shape.n.min(widest)).rev().find(|n| divides(*n, shape.n) && in_steps(*n))?;
    Some((rows, columns))
}

/// How a load spreads a place of these rows and columns: over the memory's lanes and parts, and
/// more warps.
#[inline(never)]
fn spread(
    memory: &TensorMemory,
    extents: [u32; 2],
    (workers, lanes, parts): (Workers, u16, u8),
) -> Option<BitLayout> {
    let linear = &to_linear(&Base::TensorMemory(*memory).into(), &extents, &NoTiles).ok()?;
    // The one bit of a coordinate that an input's bit is.
    let bit_of = |axis: AxisId, bit: u8| -> Option<u8> {
        (0u8..2).find_map(|dim| {
            linear
                .column_on(axis, bit, AxisId::dim(dim))
                .filter(|at| at.is_power_of_two())
                .map(|at| BitLayout::bit(dim, at.trailing_zeros()))
        })
    };
    let inputs = |axis: AxisId| (0u8..).take_while(move |bit| linear.column(axis, *bit).is_some());
    let mut left: Few<u8, { BitLayout::MOST }> = Few::new();
    for bit in inputs(AxisId::TCOL).filter_map(|bit| bit_of(AxisId::TCOL, bit)) {
        left.push(bit).ok()?;
    }
    let (lane_bits, part_bits) = (log2_exact(u64::from(lanes))?, log2_exact(u64::from(parts))?);
    let more = log2_exact(u64::from(workers.warps.checked_div(u32::from(parts))?))?;
    let mut last = |own: Option<u8>| -> Option<u8> {
        match own {
            Some(bit) => Some(bit),
            None => left.remove(left.len().checked_sub(1)?),
        }
    };
    let mut out = BitLayout {
        bits: [log2_exact(u64::from(extents[0]))?, log2_exact(u64::from(extents[1]))?],
        register: Few::new(),
        lane: Few::new(),
        warp: Few::new(),
    };
    let mut above: Few<u8, { BitLayout::MOST }> = Few::new();
    for _ in 0..more {
        above.insert(0, last(None)?).ok()?;
    }
    for lane in 0..lane_bits {
        out.lane.push(last(bit_of(AxisId::TLANE, lane))?).ok()?;
    }
    for part in 0..part_bits {
        out.warp.push(last(bit_of(AxisId::TLANE, lane_bits.checked_add(part)?))?).ok()?;
    }
    for bit in above.iter() {
        out.warp.push(bit).ok()?;
    }
    out.register = left;
    Some(out)
}

/// Whether an operand can be read with its outer coordinate contiguous, in a swizzle mode that such
/// layouts have.
pub(super) fn across(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    bits: u32,
    asked: Option<(&Sums<'_>, u8, DtypeId)>,
) -> bool {
    // Layouts of operands permute 16 bytes at a time, as the mode without a permutation.
    let plain = |atom: u16| {
        lanebook_tile::unit::swizzle::modes(tables, arch)
            .any(|mode| mode.xor.is_empty() && mode.atom_bytes == atom)
    };
    let reads = |takes: &(&str, &[u8])| {
        descriptor_named(tables, arch, takes.0).is_ok()
            && takes.1.iter().any(|width| u32::from(*width) == bits)
    };
    let mut tiles = tables.units.operand_tiles.iter();
    let any = tiles.any(|tile| {
        has(arch, tile.feature)
            && tile.major == Major::Outer
            && plain(tile.swizzle.atom_bytes)
            && tile.takes.iter().any(reads)
    });
    any && asked.is_none_or(|(sums, operand, dtype)| {
        let name = tables.dtype(dtype).map_or("", |it| it.name);
        let columns = u16::try_from(sums.memory.block_n).unwrap_or(u16::MAX);
        tensor::takes_order(
            tables,
            arch,
            (sums.descriptor, 1),
            (operand, name, Major::Outer),
            columns,
        )
        .is_ok()
    })
}

/// Puts the operations in a product's place. Its operands are in shared memory, its third one is
/// spread as the sums are loaded. Answers the load.
#[inline(never)]
pub(super) fn replace(
    work: &mut LayoutSeeding<'_, '_, '_, '_, '_>,
    convert: OpId,
    op: Op,
    sums: &Sums<'_>,
    loaded: TileEncoding,
) -> Result<Op, PassError> {
    let broken = || edit(ErrorKind::Broken);
    let made = NewLayout::of(Core::Tensor(sums.memory));
    let capacity = work.room.book.capacity();
    let encoding = work
        .room
        .book
        .encoding(work.cx.program, &made)
        .ok_or_else(|| full(ChoicePool::SeededLayouts, capacity))?;
    let tables = work.tables;
    let named = |name: &str| tables.op_named(name).ok_or(edit(ErrorKind::UnknownOp));
    let (alloc, product, load) =
        (named(sums.ops.alloc)?, named(sums.ops.product)?, named(sums.ops.load)?);
    let program = &mut *work.cx.program;
    let old = program.result(op, 0).ok_or_else(broken)?;
    let ty = program.type_of(old);
    let token = Type::bare(TypeKind::Other)
        .encoded(TileEncoding::Written(program.word(attr_names::TOKEN).map_err(edit)?));
    let held = Type { space: Some(Space::Tensor), encoding, ..ty };
    let operand = |program: &lanebook_ir::Program<'_, '_>, number: usize| {
        program.operand(op, number).ok_or_else(broken)
    };
    let (a, b, c) = (operand(program, 0)?, operand(program, 1)?, operand(program, 2)?);

    let made = program.insert_before(op, alloc, &[c], &[held, token]).map_err(edit)?;
    let (place, before) =
        (program.result(made, 0).ok_or_else(broken)?, program.result(made, 1).ok_or_else(broken)?);
    let made = program.insert_before(op, product, &[a, b, place], &[token]).map_err(edit)?;
    program.add_subscript(made, before).map_err(edit)?;
    let after = program.result(made, 0).ok_or_else(broken)?;
    let made =
        program.insert_before(op, load, &[place], &[ty.encoded(loaded), token]).map_err(edit)?;
    program.add_subscript(made, after).map_err(edit)?;
    let sum = program.result(made, 0).ok_or_else(broken)?;
    let back = program.insert_before(op, convert, &[sum], &[ty]).map_err(edit)?;
    let new = program.result(back, 0).ok_or_else(broken)?;
    program.replace_all_uses(old, new).map_err(edit)?;
    program.erase(op).map_err(edit)?;
    Ok(made)
}
