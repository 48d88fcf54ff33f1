//! Products: which matrix instruction an architecture is asked for, how warps share the result, and
//! what operands look like.
//!
//! Instructions, their extents, and what a lane holds of an operand come from the tables; what a
//! text calls the accumulators' layout, from `rules/seeding.ron` (`units`). The first kind that
//! takes the product is taken:
//!
//! - *warp*: operands in registers; a lane's run along k is one register of what was loaded;
//! - *group*: operands in shared memory in the layout of descriptors; a left one that is computed
//!   stays in registers;
//! - *tensor*: operands in shared memory in the layout of descriptors, sums in tensor memory
//!   ([`crate::layout_seeding::tensor`]);
//! - *wave*, *narrow*: a lane's run along k is what the instruction gives it; the transposed
//!   product, where `transposes` says so.
//!
//! Warps go where most repeats are left, unless products feed each other: then they share rows, so
//! that nothing has to cross between warps. Operands and accumulator are converted before the
//! product and the result behind it. A product whose element types no instruction takes as they are
//! is left alone, and so is one that has an instruction.
use crate::layout_seeding::group::Seen;
use crate::layout_seeding::links::{self, Links};
use crate::layout_seeding::open;
use crate::layout_seeding::scaled::{self, Scaled};
use crate::layout_seeding::seeded_layouts::{BitLayout, Core, NewLayout};
use crate::layout_seeding::tensor::{self, Sums};
use crate::layout_seeding::worthwhile::{self, OpMask};
use crate::layout_seeding::{LayoutSeeding, Workers, full};
use crate::remat::{blank, encoding_of};
use crate::{ChoiceError, ChoicePool, PassError, edit};
use lanebook_ir::{AttrValue, ErrorKind, Op, Program, TileEncoding, Type, Value};
use lanebook_layout::triton::{
    AmdMfma, AmdWmma, Base, Cga, Extents, Few, NvidiaMma, NvmmaShared, TileBases,
};
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_tables::{
    Accumulators, Arch, Atom, Capability, DtypeId, DtypeKind, MatrixShape, OpId, OpRole, Operand,
    ProductUnit, Space, Tables,
};

/// A product's extents and element types.
#[derive(Copy, Clone, Debug)]
pub(super) struct ProductShape {
    /// Products side by side; `None` for one alone, which has no dimension for it.
    batch: Option<u32>,
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub a: DtypeId,
    pub b: DtypeId,
    pub d: DtypeId,
    /// It is added to something.
    adds: bool,
    /// Neighbours along k that have one scale, where there are scales.
    run: Option<u32>,
    /// Bits of an element of the left operand.
    bits: u32,
    /// Bits of what was loaded for the operands.
    loaded_bits: u32,
}

/// What was chosen for a product.
#[derive(Copy, Clone, Debug)]
struct ProductChoice<'t> {
    core: Core,
    /// Elements along k that a lane has in a row, of operands in registers.
    k_width: u32,
    /// The left operand, the right operand is read in shared memory.
    shared: [bool; 2],
    /// Where the sums go, if not to registers.
    sums: Option<Sums<'t>>,
    /// How the scales of both operands are spread.
    scales: Option<[BitLayout; 2]>,
}

pub(super) fn run(work: &mut LayoutSeeding<'_, '_, '_, '_, '_>) -> Result<(), PassError> {
    let program = &*work.cx.program;
    let count = program.all().filter(|op| program.role(*op) == OpRole::Matrix).count();
    let products = match open::is_planned(program) {
        true => worthwhile::pick(work, give, count)?,
        false => worthwhile::ALL,
    };
    give(work, products).map(|_| ())
}

/// Gives some products their instructions; answers how many took one.
fn give(work: &mut LayoutSeeding<'_, '_, '_, '_, '_>, products: OpMask) -> Result<u32, PassError> {
    let workers = work.workers();
    let (convert, alloc) = (work.operation(OpRole::Convert)?, work.operation(OpRole::Alloc)?);
    let mut trail = Seen::none(work.room.nodes);
    let mut at = work.cx.program.first(work.cx.program.root());
    let (mut number, mut given) = (0u32, 0u32);
    while let Some(op) = at {
        at = work.cx.program.following(op, None);
        if work.cx.program.role(op) != OpRole::Matrix {
            continue;
        }
        let is_wanted = worthwhile::is_picked(products, number);
        number = number.saturating_add(1);
        if !is_wanted || !is_plain(work.cx.program, op) {
            continue;
        }
        let Some(shape) = shape_of(work.cx.program, work.tables, op) else { continue };
        let planned = work.cx.program.result(op, 0).is_some_and(|to| is_left(work.cx.program, to));
        let workers = match workers {
            // Its planner shares tiles out among any number of warps.
            Err(PassError::Choice(ChoiceError::WarpCount { .. })) if planned => continue,
            workers => workers?,
        };
        let links = links::find(work, &mut trail, op)?;
        let Some(choice) = choose(work, &shape, workers, links)?
            .filter(|choice| !planned || suits_planner(work.cx.program, &shape, choice))
        else {
            continue;
        };
        let done = rewrite(work, convert, alloc, op, &shape, &choice)?;
        work.cx.changed(done)?;
        given = given.saturating_add(1);
    }
    open::join(work.cx)?;
    Ok(given)
}

/// Whether a choice is worth its while in a program whose planner would make another: the planner
/// keeps sums in tensor memory from turn to turn, shares scaled products out by their scales, and
/// cuts up any extents; no warp should do what another does; and where rows are repeated, a transposed product has a row's
/// elements in every lane.
fn suits_planner(
    program: &Program<'_, '_>,
    shape: &ProductShape,
    choice: &ProductChoice<'_>,
) -> bool {
    // Warps stand along the last two dimensions, behind those of a batch.
    let copies = |instr: Extents, warps: Extents| {
        let last = warps.iter().count();
        let split = |back: usize| last.checked_sub(back).and_then(|at| warps.get(at)).unwrap_or(1);
        let along = |number, back| instr.get(number).unwrap_or(1).saturating_mul(split(back));
        along(0, 2) > shape.m || along(1, 1) > shape.n
    };
    let (copies, transposed) = match choice.core {
        Core::NvidiaMma(it) => (copies(it.instr_shape, it.warps_per_cta), false),
        Core::AmdMfma(it) => (copies(it.instr_shape, it.warps_per_cta), it.is_transposed),
        Core::AmdWmma(it) => (false, it.is_transposed),
        _ => (false, false),
    };
    // Layouts by bits cut up powers of two alone; the planner cuts up the others.
    let extents = [shape.batch.unwrap_or(1), shape.m, shape.n];
    let is_whole = extents.into_iter().all(u32::is_power_of_two);
    is_whole
        && choice.sums.is_none()
        && choice.scales.is_none()
        && !copies
        && !(transposed && open::repeats_rows(program))
}

/// Whether the planner decides about an operand: it has no layout, and the program is planned.
fn is_left(program: &Program<'_, '_>, value: Value) -> bool {
    open::is_open(&program.type_of(value)) && open::is_planned(program)
}

/// A product whose result is laid out in nested tiles, or not at all: it has no instruction yet.
pub(super) fn is_plain(program: &Program<'_, '_>, op: Op) -> bool {
    let decides = |result: Value| {
        let ty = program.type_of(result);
        let open = ty.encoding == TileEncoding::None && ty.is_tile() && !ty.is_memory();
        open || matches!(core_of(program, &ty), Some(Core::Blocked(_)))
    };
    program.result(op, 0).is_some_and(decides)
}

/// The core of a layout that the program's text has, whole: neither sliced nor an operand's.
#[inline(never)]
fn core_of(program: &Program<'_, '_>, ty: &Type) -> Option<Core> {
    let mut it = blank();
    encoding_of(program, ty, &mut it)?;
    match it.base {
        _ if it.dot.is_some() || !it.slices.as_slice().is_empty() => None,
        Base::Blocked(it) => Some(Core::Blocked(it)),
        Base::NvidiaMma(it) => Some(Core::NvidiaMma(it)),
        _ => None,
    }
}

fn shape_of(program: &Program<'_, '_>, tables: &Tables<'_>, op: Op) -> Option<ProductShape> {
    let (a, b, d) = (program.operand(op, 0)?, program.operand(op, 1)?, program.result(op, 0)?);
    let (ta, tb, td) = (program.type_of(a), program.type_of(b), program.type_of(d));
    if ta.is_memory() || tb.is_memory() {
        return None;
    }
    let ((batch, m, k), (_, _, n)) = (extents(&ta)?, extents(&tb)?);
    // Full precision is asked for unless the product says that less will do.
    let short = matches!(program.attr(op, "inputPrecision"), Some(AttrValue::Word(word)) if program.text(word) == "tf32");
    let dtype = |ty: &Type| {
        let name = if ty.element.is_empty() { "" } else { program.text(ty.element) };
        let known = tables
            .seeding
            .dtypes
            .iter()
            .find(|known| known.text == name)
            .and_then(|known| tables.dtype_named(known.dtype));
        ty.dtype.or(known)
    };
    let read = |ty: &Type| {
        let own = dtype(ty)?;
        let full = tables.dtype(own).is_some_and(|it| it.bits == 32 && it.kind == DtypeKind::Float);
        Some(if short && full { tables.dtype_named("tf32").unwrap_or(own) } else { own })
    };
    let bits = crate::layout_seeding::runs::element_bits(program, &ta);
    let loaded_bits =
        links::narrowest_bits(program, a, bits).min(links::narrowest_bits(program, b, bits));
    let (adds, scales) = (program.operand(op, 2).is_some(), program.scales(op).is_some());
    let run = if scales { program.scaled_run(op) } else { None };
    // Scales of products side by side, and of unequal runs, no instruction has.
    let known = !scales || run.is_some() && batch.is_none();
    known.then_some(ProductShape {
        batch,
        m,
        n,
        k,
        a: read(&ta)?,
        b: read(&tb)?,
        d: dtype(&td)?,
        adds,
        run,
        bits,
        loaded_bits,
    })
}

/// How many products lie side by side, rows and columns of each.
fn extents(ty: &Type) -> Option<(Option<u32>, u32, u32)> {
    let first = ty.shape.rank().checked_sub(2)?;
    let batch = match first {
        0 => None,
        1 => Some(ty.shape.extent(0)?),
        _ => return None,
    };
    Some((batch, ty.shape.extent(first)?, ty.shape.extent(first.checked_add(1)?)?))
}

/// An instruction that takes a product.
struct Taken<'t> {
    atom: &'t Atom<'t>,
    unit: MatrixShape,
    /// Warps that work together on it.
    warps: u32,
}

/// Matrix instructions of an architecture that take these elements: of one warp, or of several.
fn atoms<'t>(
    tables: &'t Tables<'t>,
    arch: &'t Arch<'t>,
    shape: &ProductShape,
    group: bool,
) -> impl Iterator<Item = Taken<'t>> {
    let (a, b, d) = (shape.a, shape.b, shape.d);
    arch.dispatch(Capability::ProductInto(d)).iter().filter_map(move |id| {
        let atom = tables.atom(*id)?;
        let unit = match shape.run {
            None => atom.product()?,
            Some(run) => atom.matrix.filter(|_| {
                atom.scaled_run().is_some_and(|own| u32::from(own) == run)
                    && atom.scaled().is_some()
            })?,
        };
        let warps = warps(atom, &unit);
        let takes = takes(tables, atom, unit.a, a) && takes(tables, atom, unit.b, b);
        (takes && (warps > 1) == group).then_some(Taken { atom, unit, warps })
    })
}

/// Whether an operand can hold elements of a type. Integers lie the same with and without a sign,
/// which an instruction's modifiers may say.
fn takes(tables: &Tables<'_>, atom: &Atom<'_>, operand: u8, dtype: DtypeId) -> bool {
    let integer = |id: DtypeId| {
        tables
            .dtype(id)
            .filter(|it| matches!(it.kind, DtypeKind::Signed | DtypeKind::Unsigned))
            .map(|it| it.bits)
    };
    let plain = |found: &Operand<'_>| {
        found.vary.is_none_or(|vary| vary.typed_by.is_none()).then_some(found.dtype)?
    };
    let own = atom.operands.get(usize::from(operand)).and_then(plain);
    // A modifier names the format of some.
    let name = |id: DtypeId| tables.dtype(id).map_or("", |it| it.name);
    let stands = |own: DtypeId| {
        tables.seeding.formats.iter().any(|it| it.text == name(dtype) && it.dtype == name(own))
    };
    atom.takes(operand, dtype)
        || own.is_some_and(|own| {
            integer(own).is_some() && integer(own) == integer(dtype) || stands(own)
        })
}

fn layout_of<'t>(atom: &Atom<'t>, operand: u8) -> Option<&'t LayoutRef<'t>> {
    atom.operands.get(usize::from(operand))?.layout
}

/// Warps that work together on an instruction.
fn warps(atom: &Atom<'_>, unit: &MatrixShape) -> u32 {
    let shard = layout_of(atom, unit.d).map_or(&[][..], |layout| layout.shard);
    let extents = shard
        .iter()
        .filter(|iter| iter.axis() == AxisId::WARP)
        .map(|iter| iter.extent_value().ok());
    extents.fold(1u32, |product, extent| product.saturating_mul(extent.unwrap_or(1)))
}

/// Elements of an operand in one lane.
fn held(tables: &Tables<'_>, atom: &Atom<'_>, operand: u8, bits: u32) -> Option<u32> {
    let operand = atom.operands.get(usize::from(operand))?;
    let class = tables.isa(atom.isa)?.classes.get(operand.class.index())?;
    u32::from(class.bits).checked_mul(u32::from(operand.registers))?.checked_div(bits)
}

/// Neighbours that one lane holds one after the other: elements `step` apart in an operand's order,
/// of at most `count`.
fn run_of(layout: &LayoutRef<'_>, step: u32, count: u32, bits: u32) -> Option<u32> {
    let at = |x: u64| {
        Some((layout.offset_on(x, AxisId::LANE).ok()?, layout.offset_on(x, AxisId::BIT).ok()?))
    };
    let origin = at(0)?;
    let mut run = 1u32;
    while run < count {
        // The second half of a run twice as long follows the first.
        let next = at(u64::from(run).checked_mul(u64::from(step))?)?;
        let wanted =
            (origin.0, origin.1.checked_add(i64::from(run).checked_mul(i64::from(bits))?)?);
        if next != wanted {
            break;
        }
        run = run.checked_mul(2)?;
    }
    Some(run)
}

/// Rows and columns, behind what products side by side have.
fn pair(first: Option<u32>, a: u32, b: u32) -> Option<Extents> {
    match first {
        Some(first) => Extents::from_slice(&[first, a, b]).ok(),
        None => Extents::from_slice(&[a, b]).ok(),
    }
}

/// How warps of a product that has its instruction share the result.
fn split_of(
    program: &Program<'_, '_>,
    work: &LayoutSeeding<'_, '_, '_, '_, '_>,
    op: Op,
) -> Option<(u32, u32)> {
    let ty = program.type_of(program.result(op, 0)?);
    let core = match ty.encoding {
        TileEncoding::Handle(handle) => work.room.book.get(handle)?.core,
        _ => core_of(program, &ty)?,
    };
    match core {
        Core::NvidiaMma(it) => Some((it.warps_per_cta.get(0)?, it.warps_per_cta.get(1)?)),
        _ => None,
    }
}

fn choose<'w>(
    work: &LayoutSeeding<'w, '_, '_, '_, '_>,
    shape: &ProductShape,
    workers: Workers,
    links: Links,
) -> Result<Option<ProductChoice<'w>>, PassError> {
    let (tables, arch) = (work.tables, work.arch()?);
    let program = &*work.cx.program;
    let settled = links.settled.and_then(|other| split_of(program, work, other));
    // Of products that feed each other the last decides for all.
    let last = links.last.and_then(|other| program.type_of(program.result(other, 0)?).shape.pair());
    let shared =
        settled.or(last.map(|(m, n)| if m >= n { (workers.warps, 1) } else { (1, workers.warps) }));
    // Several warps work on one product at a time, not on products side by side.
    let takes = |kind: Accumulators| match kind {
        Accumulators::Group => shape.batch.is_none() && shape.run.is_none(),
        Accumulators::Tensor => shape.batch.is_none() && shape.run.is_none() && shape.adds,
        Accumulators::Warp | Accumulators::Wave | Accumulators::Narrow => true,
    };
    let mut units = tables
        .seeding
        .units
        .iter()
        .filter(|unit| unit.arch == arch.name && takes(unit.accumulators));
    Ok(units.find_map(|unit| match unit.accumulators {
        Accumulators::Warp => of_warp(tables, arch, unit, shape, workers, shared),
        Accumulators::Group => of_group(tables, arch, unit, shape, workers, links),
        Accumulators::Wave | Accumulators::Narrow => {
            of_wave(tables, arch, unit, shape, workers, links)
        }
        Accumulators::Tensor => {
            let (sums, spread) = tensor::choose(tables, arch, unit, shape, workers)?;
            Some(ProductChoice {
                core: Core::Spread(spread),
                k_width: 0,
                shared: [true; 2],
                sums: Some(sums),
                scales: None,
            })
        }
    }))
}

fn nvidia(unit: &ProductUnit<'_>, warps_per_cta: Extents, instr_shape: Extents) -> Option<Core> {
    let (major, minor) = unit.version;
    Some(Core::NvidiaMma(NvidiaMma {
        major,
        minor,
        warps_per_cta,
        instr_shape,
        cga: Cga::default(),
    }))
}

/// Elements of one register of 32 bits.
fn of_register(bits: u32) -> u32 {
    32u32.checked_div(bits).unwrap_or(1).max(1)
}

/// One warp's instruction: warps take products of their own while there are any, then go where more
/// repeats are left, along m first.
fn of_warp(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    unit: &ProductUnit<'_>,
    shape: &ProductShape,
    workers: Workers,
    shared: Option<(u32, u32)>,
) -> Option<ProductChoice<'static>> {
    let taken =
        atoms(tables, arch, shape, false).max_by_key(|taken| (taken.unit.m, taken.unit.n))?;
    let of = taken.unit;
    let (m, n) = (u32::from(of.m), u32::from(of.n));
    let apart = shape
        .batch
        .map(|batch| workers.warps.min(1u32.wrapping_shl(batch.checked_ilog2().unwrap_or(0))));
    let each = workers.warps.checked_div(apart.unwrap_or(1))?;
    let split = match shared.filter(|_| apart.is_none()) {
        Some(split) => split,
        None => {
            let (mut warps, mut left) =
                ((1u32, 1u32), (shape.m.div_ceil(m.max(1)), shape.n.div_ceil(n.max(1))));
            while warps.0.saturating_mul(warps.1) < each {
                if left.0 >= left.1 {
                    warps.0 = warps.0.checked_mul(2)?;
                    left.0 = (left.0 / 2).max(1);
                } else {
                    warps.1 = warps.1.checked_mul(2)?;
                    left.1 = (left.1 / 2).max(1);
                }
            }
            warps
        }
    };
    let (warps, tile) = (pair(apart, split.0, split.1)?, pair(apart.map(|_| 1), m, n)?);
    let scales = scales(&taken, unit, shape, workers, split)?;
    Some(ProductChoice {
        core: nvidia(unit, warps, tile)?,
        k_width: of_register(shape.loaded_bits),
        shared: [false; 2],
        sums: None,
        scales,
    })
}

/// An instruction of several warps: the widest that divides what a column of warps has.
fn of_group(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    unit: &ProductUnit<'_>,
    shape: &ProductShape,
    workers: Workers,
    links: Links,
) -> Option<ProductChoice<'static>> {
    let taken = atoms(tables, arch, shape, true).next()?;
    let (of, together) = (taken.unit, taken.warps);
    let (rows, k) = (u32::from(of.m).checked_div(together)?, u32::from(of.k));
    let whole = shape.m.checked_rem(u32::from(of.m))? == 0
        && workers.warps.checked_rem(together)? == 0
        && shape.k >= k;
    if !whole {
        return None;
    }
    let down = shape.m.checked_div(rows)?.max(1);
    let across = workers.warps.checked_div(down)?.max(1);
    let most = shape.n.checked_div(across)?.max(1);
    let takes = |n: u32| u16::try_from(n).is_ok_and(|n| taken.atom.with_columns(n).is_some());
    let n = (1..=most.min(u32::from(of.n)))
        .rev()
        .find(|n| shape.n.checked_rem(*n) == Some(0) && takes(*n))?;
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
    // A left operand that is computed stays in registers.
    let core = nvidia(unit, pair(None, split.0, split.1)?, instr_shape)?;
    Some(ProductChoice {
        core,
        k_width: of_register(shape.bits),
        shared: [links.loaded, true],
        sums: None,
        scales: None,
    })
}

/// A wave's instruction: the largest square that fits, of the deepest k.
fn of_wave(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    unit: &ProductUnit<'_>,
    shape: &ProductShape,
    workers: Workers,
    links: Links,
) -> Option<ProductChoice<'static>> {
    let least = shape.m.min(shape.n);
    let fits = |of: &MatrixShape| {
        of.m == of.n && u32::from(of.m) <= least && shape.k.checked_rem(u32::from(of.k)) == Some(0)
    };
    let taken = atoms(tables, arch, shape, false)
        .filter(|taken| fits(&taken.unit))
        .max_by_key(|taken| (taken.unit.m, taken.unit.k))?;
    let (atom, of) = (taken.atom, taken.unit);
    let (m, n, k) = (u32::from(of.m), u32::from(of.n), u32::from(of.k));
    let mut split = (1u32, 1u32);
    // Of products side by side each warp has its own.
    let apart = shape.batch.map(|_| workers.warps);
    if links.head && apart.is_none() {
        split = (workers.warps, 1);
    } else if links.tail && apart.is_none() {
        split.0 = workers.warps.min(shape.m.checked_next_multiple_of(m)?.checked_div(m)?);
        split.1 = workers.warps.checked_div(split.0)?;
    } else if apart.is_none() {
        while split.0.saturating_mul(split.1) < workers.warps {
            let down = shape.m.checked_div(m.checked_mul(2)?)?.checked_div(split.0)?;
            if down >= shape.n.checked_div(n)?.checked_div(split.1)?
                && split.0 < shape.m.checked_div(m)?
            {
                split.0 = split.0.checked_mul(2)?;
            } else {
                split.1 = split.1.checked_mul(2)?;
            }
        }
        if split.1.checked_mul(n)? > shape.n {
            split = (split.1, split.0);
        }
    }
    let lane =
        if shape.run.is_some() && unit.scaled_lane > 0 { unit.scaled_lane } else { unit.lane };
    let mut k_width = held(tables, atom, of.a, shape.bits)?.min(u32::from(lane));
    let scales = scales(&taken, unit, shape, workers, split)?;
    let instr_shape = Extents::from_slice(&[m, n, k]).ok()?;
    let (version, element_bits) = (unit.version.0, tables.dtype(shape.d)?.bits);
    let core = if unit.accumulators == Accumulators::Wave {
        if links.tail {
            // What the product before leaves in a lane is all that lies together.
            k_width = k_width.min(run_of(layout_of(atom, of.d)?, n, m, u32::from(element_bits))?);
        }
        Core::AmdMfma(AmdMfma {
            version,
            warps_per_cta: pair(apart, split.0, split.1)?,
            instr_shape,
            is_transposed: unit.transposes,
            cga: Cga::default(),
            tiles_per_warp: Few::new(),
            element_bits: element_bits.max(32),
        })
    } else {
        let mut warp_bases = TileBases::new();
        let first = usize::from(apart.is_some());
        for (dimension, count) in
            [(0, apart.unwrap_or(1)), (first.saturating_add(1), split.1), (first, split.0)]
        {
            let mut step = 1u32;
            while step < count {
                let mut basis = [0u16; lanebook_layout::triton::MAX_RANK];
                *basis.get_mut(dimension)? = u16::try_from(step).ok()?;
                warp_bases.push(basis).ok()?;
                step = step.checked_mul(2)?;
            }
        }
        Core::AmdWmma(AmdWmma {
            version,
            is_transposed: unit.transposes,
            warp_bases,
            reg_bases: TileBases::new(),
            instr_shape,
            cga: Cga::default(),
            rank: if apart.is_some() { 3 } else { 2 },
        })
    };
    Some(ProductChoice { core, k_width, shared: [false; 2], sums: None, scales })
}

/// How a product's scales are spread, where it has any; `None` where the instruction's cannot be.
fn scales(
    taken: &Taken<'_>,
    unit: &ProductUnit<'_>,
    shape: &ProductShape,
    workers: Workers,
    split: (u32, u32),
) -> Option<Option<[BitLayout; 2]>> {
    let Some(run) = shape.run else { return Some(None) };
    let of = Scaled {
        extents: [shape.m, shape.n, shape.k.checked_div(run)?],
        split,
        workers,
        fills: unit.fills,
    };
    scaled::spreads(taken.atom, &taken.unit, &of).map(Some)
}

/// Converts operands, accumulator and result. Answers the product, or what is read in its place.
fn rewrite(
    work: &mut LayoutSeeding<'_, '_, '_, '_, '_>,
    convert: OpId,
    alloc: OpId,
    op: Op,
    shape: &ProductShape,
    choice: &ProductChoice<'_>,
) -> Result<Op, PassError> {
    let result = encoding(work, &NewLayout::of(choice.core))?;
    for number in 0..work.cx.program.operand_count(op).min(3) {
        let Some(value) = work.cx.program.operand(op, number) else { continue };
        let ty = work.cx.program.type_of(value);
        // A factor without a layout follows from the result's, in registers or where it lies in
        // shared memory.
        let shared = number < 2 && choice.shared.get(number) == Some(&true);
        if number < 2 && is_left(work.cx.program, value) {
            continue;
        }
        let made = if number == 2 {
            work.cx
                .program
                .insert_before(op, convert, &[value], &[ty.encoded(result)])
                .map_err(edit)?
        } else if shared {
            let source = unconverted(work.cx.program, value);
            let tile = NewLayout::of(Core::Nvmma(in_shared(
                work,
                source,
                number,
                shape,
                choice.sums.as_ref(),
            )));
            let encoding = encoding(work, &tile)?;
            let shared = Type { space: Some(Space::Shared), encoding, ..ty };
            work.cx.program.insert_before(op, alloc, &[source], &[shared]).map_err(edit)?
        } else {
            let operand =
                NewLayout::operand(choice.core, u8::try_from(number).unwrap_or(0), choice.k_width);
            let encoding = encoding(work, &operand)?;
            work.cx
                .program
                .insert_before(op, convert, &[value], &[ty.encoded(encoding)])
                .map_err(edit)?
        };
        let new = work.cx.program.result(made, 0).ok_or(edit(ErrorKind::Broken))?;
        work.cx.program.set_operand(op, number, new).map_err(edit)?;
    }
    for (number, spread) in choice.scales.iter().flatten().enumerate() {
        let number = number.saturating_add(3);
        let Some(value) = work.cx.program.operand(op, number) else { continue };
        if is_left(work.cx.program, value) {
            continue;
        }
        let ty = work.cx.program.type_of(value);
        let encoding = encoding(work, &NewLayout::of(Core::Spread(*spread)))?;
        let made = work
            .cx
            .program
            .insert_before(op, convert, &[value], &[ty.encoded(encoding)])
            .map_err(edit)?;
        let new = work.cx.program.result(made, 0).ok_or(edit(ErrorKind::Broken))?;
        work.cx.program.set_operand(op, number, new).map_err(edit)?;
    }
    if let Some(sums) = &choice.sums {
        return tensor::replace(work, convert, op, sums, result);
    }
    let (Some(value), Some(next)) = (work.cx.program.result(op, 0), work.cx.program.next(op))
    else {
        return Ok(op);
    };
    let ty = work.cx.program.type_of(value);
    work.cx.program.set_type(value, ty.encoded(result)).map_err(edit)?;
    if work.cx.program.is_used(value) {
        let made = work.cx.program.insert_before(next, convert, &[value], &[ty]).map_err(edit)?;
        let old = work.cx.program.result(made, 0).ok_or(edit(ErrorKind::Broken))?;
        work.cx.program.replace_all_uses(value, old).map_err(edit)?;
        work.cx.program.set_operand(made, 0, value).map_err(edit)?;
    }
    Ok(op)
}

fn encoding(
    work: &mut LayoutSeeding<'_, '_, '_, '_, '_>,
    made: &NewLayout,
) -> Result<TileEncoding, PassError> {
    let capacity = work.room.book.capacity();
    work.room
        .book
        .encoding(work.cx.program, made)
        .ok_or_else(|| full(ChoicePool::SeededLayouts, capacity))
}

fn unconverted(program: &Program<'_, '_>, value: Value) -> Value {
    let convert = program.def_op(value).filter(|op| program.role(*op) == OpRole::Convert);
    convert.and_then(|op| program.operand(op, 0)).unwrap_or(value)
}

/// The layout of an operand in shared memory: contiguous as it was in registers where the
/// instruction can read it so, along k otherwise; the widest swizzle that a row fills.
fn in_shared(
    work: &LayoutSeeding<'_, '_, '_, '_, '_>,
    source: Value,
    number: usize,
    shape: &ProductShape,
    sums: Option<&Sums<'_>>,
) -> NvmmaShared {
    let program = &*work.cx.program;
    let ty = program.type_of(source);
    let core = match ty.encoding {
        TileEncoding::Handle(handle) => work.room.book.get(handle).map(|made| made.core),
        _ => core_of(program, &ty),
    };
    let first = match core {
        Some(Core::Blocked(blocked)) => blocked.order.get(0),
        _ => None,
    };
    // Not all elements can be read across k.
    let along_k = if number == 0 { 1 } else { 0 };
    let dtype = if number == 0 { shape.a } else { shape.b };
    let asked = sums.map(|sums| (sums, u8::from(number > 0), dtype));
    let across = work.arch().is_ok_and(|arch| tensor::across(work.tables, arch, shape.bits, asked));
    let contiguous = if across { usize::from(first.unwrap_or(1)) } else { along_k };
    let row = ty.shape.extent(contiguous).unwrap_or(1).saturating_mul(shape.bits) / 8;
    let swizzle_bytes =
        [128u16, 64, 32].into_iter().find(|bytes| row >= u32::from(*bytes)).unwrap_or(0);
    let element_bits = u16::try_from(shape.bits).unwrap_or(0);
    NvmmaShared {
        swizzle_bytes,
        transposed: contiguous == 0,
        element_bits,
        fp4_padded: false,
        cga: Cga::default(),
        rank: 2,
    }
}
