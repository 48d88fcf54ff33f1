//! Products: which matrix instruction an architecture is asked for, how warps share the result, and what operands look like.
//!
//! Instructions, their extents, and what a lane holds of an operand come from the tables; which form of encoding an architecture's
//! accumulators have, from `rules/anchors.ron`. The first form that takes the product is taken:
//!
//! - *warp*: operands in registers; a lane's run along k is one register;
//! - *group*: operands in shared memory in the layout of descriptors; the left one stays in registers if it is computed;
//! - *wave*, *narrow*: the transposed product, so that what a lane holds of the result lies along its rows.
//!
//! Operands and accumulator are converted before the product and the result behind it. Products of which one feeds another share their
//! rows among warps, so that nothing has to cross between warps.
use super::book::{Core, Made};
use super::{Anchoring, Workers, full};
use crate::ir::{AttrValue, Encoding, ErrorKind, Op, Program, Type, Value};
use crate::passes::{ChoicePool, PassError, edit};
use lanebook_layout::AxisId;
use lanebook_layout::triton::{AmdMfma, AmdWmma, Cga, Extents, Few, MAX_RANK, NvidiaMma, NvmmaShared, TileBases};
use lanebook_tables::{Accumulators, Arch, Atom, AtomClass, DtypeId, DtypeKind, MatrixShape, OpId, OpRole, ProductUnit, Space, Tables};

/// A product's extents and element types.
#[derive(Copy, Clone, Debug)]
struct Shape {
    m: u32,
    n: u32,
    k: u32,
    a: DtypeId,
    d: DtypeId,
    bits: u32,
}

/// What was chosen for a product.
#[derive(Copy, Clone, Debug)]
struct Choice {
    core: Core,
    /// Elements along k of a lane, for the left and the right operand in registers.
    k_width: u32,
    accumulators: Accumulators,
}

pub(super) fn run(work: &mut Anchoring<'_, '_, '_, '_, '_>) -> Result<(), PassError> {
    let arch = work.arch()?;
    let workers = work.workers()?;
    let (convert, alloc) = (work.operation(OpRole::Convert)?, work.operation(OpRole::Alloc)?);
    let mut at = work.cx.program.first(work.cx.program.root());
    while let Some(op) = at {
        at = work.cx.program.following(op, None);
        if work.cx.program.role(op) != OpRole::Matrix {
            continue;
        }
        let Some(shape) = shape_of(work.cx.program, work.tables, op) else { continue };
        let chained = links(work, op)?;
        let mut units = work.tables.anchors.units.iter().filter(|unit| unit.arch == arch.name);
        let Some(choice) = units.find_map(|unit| choose(work.tables, arch, unit, &shape, workers, chained)) else { continue };
        rewrite(work, convert, alloc, op, &shape, &choice)?;
        work.cx.changed(op)?;
    }
    Ok(())
}

/// A product whose result is laid out in nested tiles, as other compilers leave it: what already has an instruction is left alone.
fn shape_of(program: &Program<'_, '_>, tables: &Tables<'_>, op: Op) -> Option<Shape> {
    let (a, b, d) = (program.operand(op, 0)?, program.operand(op, 1)?, program.result(op, 0)?);
    let (ta, tb, td) = (program.type_of(a), program.type_of(b), program.type_of(d));
    if !program.layout_text(&td)?.starts_with("#ttg.blocked") || ta.is_memory() || tb.is_memory() {
        return None;
    }
    let ((m, k), (_, n)) = (ta.shape.pair()?, tb.shape.pair()?);
    let dtype = |ty: &Type| {
        let name = if ty.element.is_empty() { "" } else { program.text(ty.element) };
        let known = tables.anchors.dtypes.iter().find(|known| known.text == name).and_then(|known| tables.dtype_named(known.dtype));
        ty.dtype.or(known)
    };
    let mut a = dtype(&ta)?;
    // Full precision is asked for unless the product says that 19 bits will do.
    let short = matches!(program.attr(op, "inputPrecision"), Some(AttrValue::Word(word)) if program.text(word) == "tf32");
    if short && tables.dtype(a).is_some_and(|it| it.bits == 32 && it.kind == DtypeKind::Float) {
        a = tables.dtype_named("tf32").unwrap_or(a);
    }
    Some(Shape { m, n, k, a, d: dtype(&td)?, bits: u32::from(tables.dtype(a)?.bits) })
}

/// How a product is linked to others.
#[derive(Copy, Clone, Debug, Default)]
struct Links {
    /// Another product of the region is reached by values, in any direction.
    any: bool,
    /// Another product is reached from the result.
    feeds: bool,
    /// The left operand of another product of the region is reached from the result.
    head: bool,
    /// The left operand comes from another product of the region.
    tail: bool,
    /// The left operand is loaded, and not computed.
    loaded: bool,
    /// Warps of a linked product that has its instruction.
    warps: Option<(u32, u32)>,
}

/// In which direction values are followed.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Way {
    Forward,
    Backward,
    Both,
}

/// Walks from an operation over values; calls `meet` for every operation that is reached, once.
fn reach(
    work: &mut Anchoring<'_, '_, '_, '_, '_>,
    from: Op,
    way: Way,
    stays: impl Fn(&Program<'_, '_>, Op) -> bool,
    mut meet: impl FnMut(&Program<'_, '_>, Op),
) -> Result<(), PassError> {
    let [ops, ..] = work.cx.program.usage();
    let seen = &mut *work.room.nodes;
    super::group::clear(seen, ops.used).map_err(PassError::Choice)?;
    super::group::visit(seen, from);
    work.cx.push(from)?;
    while let Some(op) = work.cx.pop()? {
        let program = &*work.cx.program;
        if op != from {
            meet(program, op);
        }
        let mut number = 0usize;
        loop {
            // Some at a time: the list cannot grow while the program is read.
            let mut some = [None; 16];
            let mut count = 0usize;
            for (slot, target) in some.iter_mut().zip(neighbours(work.cx.program, op, way).skip(number)) {
                *slot = Some(target);
                count = count.saturating_add(1);
            }
            number = number.saturating_add(count);
            for target in some.into_iter().flatten() {
                if stays(work.cx.program, target) && super::group::visit(seen, target) {
                    work.cx.push(target)?;
                }
            }
            if count < some.len() {
                break;
            }
        }
    }
    Ok(())
}

fn neighbours<'p>(program: &'p Program<'_, '_>, op: Op, way: Way) -> impl Iterator<Item = Op> + 'p {
    let users = program.results(op).filter(move |_| way != Way::Backward).flat_map(|value| program.uses(value)).filter_map(|place| program.user(place));
    let makers = program.all_operands(op).filter(move |_| way != Way::Forward).filter_map(|value| program.def_op(value));
    users.chain(makers)
}

fn links(work: &mut Anchoring<'_, '_, '_, '_, '_>, op: Op) -> Result<Links, PassError> {
    let program = &*work.cx.program;
    let home = program.block_of(op);
    let mut out = Links { loaded: is_loaded(program, program.operand(op, 0)), ..Links::default() };
    let left = program.operand(op, 0).and_then(|value| program.def_op(value));
    let inside = move |program: &Program<'_, '_>, other: Op| program.block_of(other) == home;
    let mut linked: Option<Op> = None;
    let is_product = |program: &Program<'_, '_>, other: Op| program.role(other) == OpRole::Matrix;
    let mut any = false;
    reach(
        work,
        op,
        Way::Both,
        |program, other| inside(program, other) && program.role(other) != OpRole::Transpose,
        |program, other| {
            if is_product(program, other) {
                any = true;
                linked = linked.or(Some(other).filter(|_| warps_of(program, other).is_some()));
            }
        },
    )?;
    out.any = any;
    let mut feeds = false;
    reach(work, op, Way::Forward, |_, _| true, |program, other| feeds |= is_product(program, other))?;
    out.feeds = feeds;
    let mut lefts: heapless::Vec<Op, 16> = heapless::Vec::new();
    reach(work, op, Way::Forward, inside, |program, other| {
        if is_product(program, other) {
            // The left operand of what is reached: was it reached, too?
            if let Some(maker) = program.operand(other, 0).and_then(|value| program.def_op(value)) {
                let _ = lefts.push(maker);
            }
        }
    })?;
    out.head = lefts.iter().any(|maker| super::group::is_seen(work.room.nodes, *maker));
    if let Some(left) = left {
        let mut tail = is_product(work.cx.program, left);
        reach(work, left, Way::Backward, inside, |program, other| tail |= is_product(program, other))?;
        out.tail = tail;
    }
    let handle = linked.and_then(|other| warps_of(work.cx.program, other));
    out.warps = handle.and_then(|handle| match work.room.book.get(handle)?.core {
        Core::NvidiaMma(it) => Some((it.warps_per_cta.get(0)?, it.warps_per_cta.get(1)?)),
        _ => None,
    });
    Ok(out)
}

/// The handle of a product's layout, if this pass gave it one.
fn warps_of(program: &Program<'_, '_>, op: Op) -> Option<u16> {
    match program.type_of(program.result(op, 0)?).encoding {
        Encoding::Handle(handle) => Some(handle),
        _ => None,
    }
}

/// Whether a value is loaded or an argument, conversions and transposes aside.
fn is_loaded(program: &Program<'_, '_>, value: Option<Value>) -> bool {
    let mut at = value;
    while let Some(value) = at {
        let Some(op) = program.def_op(value) else { return true };
        match program.role(op) {
            OpRole::Convert | OpRole::Transpose => at = program.operand(op, 0),
            role => return role == OpRole::Load,
        }
    }
    false
}

/// Rounds up.
fn ceil(a: u32, b: u32) -> u32 {
    a.div_ceil(b.max(1))
}

/// Matrix instructions of an architecture that take these elements: of one warp, or of several.
fn atoms<'t>(tables: &'t Tables<'t>, arch: &'t Arch<'t>, shape: &Shape, group: bool) -> impl Iterator<Item = (&'t Atom<'t>, MatrixShape, u32)> {
    let (a, d) = (shape.a, shape.d);
    arch.atoms.iter().filter(|have| have.native).filter_map(move |have| {
        let atom = tables.atom(have.atom).filter(|atom| atom.class == AtomClass::Matrix)?;
        let unit = atom.product()?;
        // Several blocks, or stored elements alone, are other products.
        let plain = atom.more.is_none_or(|more| more.blocks <= 1 && more.index.is_none() && more.scales.0.is_none());
        let warps = warps(atom, &unit);
        let takes = atom.takes(unit.a, a) && atom.takes(unit.b, a) && atom.takes(unit.d, d);
        (plain && takes && (warps > 1) == group).then_some((atom, unit, warps))
    })
}

/// Warps that work together on an instruction.
fn warps(atom: &Atom<'_>, unit: &MatrixShape) -> u32 {
    let layout = atom.operands.get(usize::from(unit.d)).and_then(|operand| operand.layout);
    let shard = layout.map_or(&[][..], |layout| layout.shard);
    shard
        .iter()
        .filter(|iter| iter.axis() == AxisId::WARP)
        .fold(1u32, |product, iter| product.saturating_mul(iter.extent_value().ok().and_then(|extent| u32::try_from(extent).ok()).unwrap_or(1)))
}

/// Elements of the left operand in one lane.
fn held(tables: &Tables<'_>, atom: &Atom<'_>, unit: &MatrixShape, bits: u32) -> Option<u32> {
    let operand = atom.operands.get(usize::from(unit.a))?;
    let class = tables.isa(atom.isa)?.classes.get(operand.class.index())?;
    u32::from(class.bits).checked_mul(u32::from(operand.registers))?.checked_div(bits.max(1))
}

/// Neighbours along m that one lane holds of the result, one after the other.
fn run_along_m(atom: &Atom<'_>, unit: &MatrixShape, bits: u32) -> Option<u32> {
    let layout = atom.operands.get(usize::from(unit.d))?.layout?;
    let origin = (layout.offset_on(0, AxisId::LANE).ok()?, layout.offset_on(0, AxisId::BIT).ok()?);
    let mut run = 1u32;
    while run < u32::from(unit.m) {
        let x = u64::from(run).checked_mul(u64::from(unit.n))?;
        let lane = layout.offset_on(x, AxisId::LANE).ok()?.checked_sub(origin.0)?;
        let bit = layout.offset_on(x, AxisId::BIT).ok()?.checked_sub(origin.1)?;
        if lane != 0 || bit != i64::from(run).checked_mul(i64::from(bits))? {
            break;
        }
        run = run.checked_mul(2)?;
    }
    Some(run)
}

fn pair(a: u32, b: u32) -> Option<Extents> {
    Extents::from_slice(&[a, b]).ok()
}

fn choose(tables: &Tables<'_>, arch: &Arch<'_>, unit: &ProductUnit<'_>, shape: &Shape, workers: Workers, links: Links) -> Option<Choice> {
    match unit.accumulators {
        Accumulators::Warp => of_warp(tables, arch, unit, shape, workers, links),
        Accumulators::Group => of_group(tables, arch, unit, shape, workers, links),
        Accumulators::Wave | Accumulators::Narrow => of_wave(tables, arch, unit, shape, workers, links),
    }
}

/// One warp's instruction: warps go where more repeats are left, along m first.
fn of_warp(tables: &Tables<'_>, arch: &Arch<'_>, unit: &ProductUnit<'_>, shape: &Shape, workers: Workers, links: Links) -> Option<Choice> {
    let (_, of, _) = atoms(tables, arch, shape, false).max_by_key(|(_, of, _)| (of.m, of.n))?;
    let (m, n) = (u32::from(of.m), u32::from(of.n));
    let split = if let Some(warps) = links.warps {
        warps
    } else if links.any {
        if shape.m >= shape.n { (workers.warps, 1) } else { (1, workers.warps) }
    } else {
        let (mut warps, mut left) = ((1u32, 1u32), (ceil(shape.m, m), ceil(shape.n, n)));
        while warps.0.saturating_mul(warps.1) < workers.warps {
            if left.0 >= left.1 {
                warps.0 = warps.0.checked_mul(2)?;
                left.0 = (left.0 / 2).max(1);
            } else {
                warps.1 = warps.1.checked_mul(2)?;
                left.1 = (left.1 / 2).max(1);
            }
        }
        warps
    };
    let core =
        NvidiaMma { major: unit.version.0, minor: unit.version.1, warps_per_cta: pair(split.0, split.1)?, instr_shape: pair(m, n)?, cga: Cga::default() };
    Some(Choice { core: Core::NvidiaMma(core), k_width: 32u32.checked_div(shape.bits)?.max(1), accumulators: unit.accumulators })
}

/// An instruction of several warps: the widest that divides what a column of warps has.
fn of_group(tables: &Tables<'_>, arch: &Arch<'_>, unit: &ProductUnit<'_>, shape: &Shape, workers: Workers, links: Links) -> Option<Choice> {
    let (atom, of, together) = atoms(tables, arch, shape, true).next()?;
    let (rows, k) = (u32::from(of.m).checked_div(together)?, u32::from(of.k));
    let whole = shape.m.checked_rem(u32::from(of.m))? == 0 && shape.n % 8 == 0 && workers.warps.checked_rem(together)? == 0 && shape.k >= k;
    if !whole {
        return None;
    }
    let down = shape.m.checked_div(rows)?.max(1);
    let across = workers.warps.checked_div(down)?.max(1);
    let most = shape.n.checked_div(across)?.max(8);
    let takes = |n: u32| u16::try_from(n).is_ok_and(|n| atom.with_columns(n).is_some());
    let n = (1..=most.min(256)).rev().find(|n| shape.n.checked_rem(*n) == Some(0) && takes(*n))?;
    let mut split = (together, 1u32);
    if links.feeds {
        split = (workers.warps, 1);
    }
    while split.0.saturating_mul(split.1) < workers.warps {
        if shape.m > rows.saturating_mul(split.0) {
            split.0 = split.0.checked_mul(2)?;
        } else {
            split.1 = split.1.checked_mul(2)?;
        }
    }
    let instr_shape = Extents::from_slice(&[rows, n, k]).ok()?;
    let core = NvidiaMma { major: unit.version.0, minor: unit.version.1, warps_per_cta: pair(split.0, split.1)?, instr_shape, cga: Cga::default() };
    // A left operand that is computed stays in registers.
    let accumulators = if links.loaded { Accumulators::Group } else { Accumulators::Warp };
    Some(Choice { core: Core::NvidiaMma(core), k_width: 32u32.checked_div(shape.bits)?.max(1), accumulators })
}

/// A wave's instruction: the largest square that fits, of the deepest k; the transposed product.
fn of_wave(tables: &Tables<'_>, arch: &Arch<'_>, unit: &ProductUnit<'_>, shape: &Shape, workers: Workers, links: Links) -> Option<Choice> {
    let least = shape.m.min(shape.n);
    let fits = |of: &MatrixShape| of.m == of.n && u32::from(of.m) <= least && shape.k.checked_rem(u32::from(of.k)) == Some(0);
    let (atom, of, _) = atoms(tables, arch, shape, false).filter(|(_, of, _)| fits(of)).max_by_key(|(_, of, _)| (of.m, of.k))?;
    let (m, n, k) = (u32::from(of.m), u32::from(of.n), u32::from(of.k));
    let mut split = (1u32, 1u32);
    if links.head {
        split = (workers.warps, 1);
    } else if links.tail {
        split.0 = workers.warps.min(ceil(shape.m, m));
        split.1 = workers.warps.checked_div(split.0)?;
    } else {
        while split.0.saturating_mul(split.1) < workers.warps {
            let down = shape.m.checked_div(m.checked_mul(2)?)?.checked_div(split.0)?;
            if down >= shape.n.checked_div(n)?.checked_div(split.1)? && split.0 < shape.m.checked_div(m)? {
                split.0 = split.0.checked_mul(2)?;
            } else {
                split.1 = split.1.checked_mul(2)?;
            }
        }
        if split.1.checked_mul(n)? > shape.n {
            split = (split.1, split.0);
        }
    }
    let mut k_width = held(tables, atom, &of, shape.bits)?;
    let version = unit.version.0;
    let core = if unit.accumulators == Accumulators::Wave {
        if links.tail {
            // What the product before leaves in a lane is all that lies together.
            k_width = k_width.min(run_along_m(atom, &of, 32)?);
        }
        let instr_shape = Extents::from_slice(&[m, n, k]).ok()?;
        Core::AmdMfma(AmdMfma {
            version,
            warps_per_cta: pair(split.0, split.1)?,
            instr_shape,
            is_transposed: unit.transposes,
            cga: Cga::default(),
            tiles_per_warp: Few::new(),
            element_bits: 32,
        })
    } else {
        let mut warp_bases = TileBases::new();
        for (dimension, count) in [(1usize, split.1), (0, split.0)] {
            let mut step = 1u32;
            while step < count {
                let mut basis = [0u16; MAX_RANK];
                *basis.get_mut(dimension)? = u16::try_from(step).ok()?;
                warp_bases.push(basis).ok()?;
                step = step.checked_mul(2)?;
            }
        }
        let instr_shape = Extents::from_slice(&[m, n, k]).ok()?;
        Core::AmdWmma(AmdWmma { version, is_transposed: unit.transposes, warp_bases, reg_bases: TileBases::new(), instr_shape, cga: Cga::default(), rank: 2 })
    };
    Some(Choice { core, k_width, accumulators: unit.accumulators })
}

/// Converts operands, accumulator and result.
fn rewrite(work: &mut Anchoring<'_, '_, '_, '_, '_>, convert: OpId, alloc: OpId, op: Op, shape: &Shape, choice: &Choice) -> Result<(), PassError> {
    let accumulators = Made::of(choice.core);
    let result = encoding(work, &accumulators)?;
    let group = matches!(choice.core, Core::NvidiaMma(it) if it.major > 2);
    for number in 0..work.cx.program.operand_count(op).min(3) {
        let Some(value) = work.cx.program.operand(op, number) else { continue };
        let ty = work.cx.program.type_of(value);
        let index = u8::try_from(number).unwrap_or(0);
        let made = if number == 2 {
            work.cx.program.insert_before(op, convert, &[value], &[ty.encoded(result)]).map_err(edit)?
        } else if group && (number == 1 || choice.accumulators == Accumulators::Group) {
            let source = unconverted(work.cx.program, value);
            let tile = Made::of(Core::Nvmma(in_shared(work, source, number, shape)));
            let encoding = encoding(work, &tile)?;
            let shared = Type { space: Some(Space::Shared), encoding, ..ty };
            work.cx.program.insert_before(op, alloc, &[source], &[shared]).map_err(edit)?
        } else {
            let operand = Made::operand(choice.core, index, choice.k_width);
            let encoding = encoding(work, &operand)?;
            work.cx.program.insert_before(op, convert, &[value], &[ty.encoded(encoding)]).map_err(edit)?
        };
        let new = work.cx.program.result(made, 0).ok_or(edit(ErrorKind::Broken))?;
        work.cx.program.set_operand(op, number, new).map_err(edit)?;
    }
    let (Some(value), Some(next)) = (work.cx.program.result(op, 0), work.cx.program.next(op)) else { return Ok(()) };
    let ty = work.cx.program.type_of(value);
    work.cx.program.set_type(value, ty.encoded(result)).map_err(edit)?;
    if work.cx.program.is_used(value) {
        let made = work.cx.program.insert_before(next, convert, &[value], &[ty]).map_err(edit)?;
        let old = work.cx.program.result(made, 0).ok_or(edit(ErrorKind::Broken))?;
        work.cx.program.replace_all_uses(value, old).map_err(edit)?;
        work.cx.program.set_operand(made, 0, value).map_err(edit)?;
    }
    Ok(())
}

fn encoding(work: &mut Anchoring<'_, '_, '_, '_, '_>, made: &Made) -> Result<Encoding, PassError> {
    let capacity = work.room.book.capacity();
    work.room.book.encoding(work.cx.program, made).ok_or_else(|| full(ChoicePool::Book, capacity))
}

fn unconverted(program: &Program<'_, '_>, value: Value) -> Value {
    let convert = program.def_op(value).filter(|op| program.role(*op) == OpRole::Convert);
    convert.and_then(|op| program.operand(op, 0)).unwrap_or(value)
}

/// The layout of an operand in shared memory: contiguous as it was in registers where the instruction can read it so, along k
/// otherwise; the widest swizzle that a row fills.
fn in_shared(work: &Anchoring<'_, '_, '_, '_, '_>, source: Value, number: usize, shape: &Shape) -> NvmmaShared {
    let program = &*work.cx.program;
    let ty = program.type_of(source);
    let first = match ty.encoding {
        Encoding::Handle(handle) => work.room.book.get(handle).and_then(|made| match made.core {
            Core::Blocked(it) => it.order.get(0),
            _ => None,
        }),
        _ => program.layout_text(&ty).and_then(fastest),
    };
    // Only elements of 16 bits can be read across k.
    let along_k = if number == 0 { 1 } else { 0 };
    let contiguous = if shape.bits == 16 { usize::from(first.unwrap_or(1)) } else { along_k };
    let row = ty.shape.extent(contiguous).unwrap_or(1).saturating_mul(shape.bits) / 8;
    let swizzle_bytes = [128u16, 64, 32].into_iter().find(|bytes| row >= u32::from(*bytes)).unwrap_or(0);
    let element_bits = u16::try_from(shape.bits).unwrap_or(0);
    NvmmaShared { swizzle_bytes, transposed: contiguous == 0, element_bits, fp4_padded: false, cga: Cga::default(), rank: 2 }
}

/// The fastest dimension that the text of a layout names: the number after `order = [`.
fn fastest(text: &str) -> Option<u8> {
    const WORD: &[u8] = b"order = [";
    let bytes = text.as_bytes();
    let at = bytes.windows(WORD.len()).position(|window| window == WORD)?;
    let digit = bytes.get(at.saturating_add(WORD.len()))?.wrapping_sub(b'0');
    (digit < 10).then_some(digit)
}
