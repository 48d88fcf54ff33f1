//! Layouts that a program writes in notations whose meaning depends on the architecture, or on the
//! tile's shape: Triton's encodings, CuTe's maps of threads and values. Each is brought to TIRx's
//! notation, which planning keeps to.
//!
//! It stands between [`isolate_kernel`](crate::ir::isolate_kernel) and
//! [`compile`](crate::compile::compile), so that an image which reads no text has no reader of
//! notations in it. A layout that was not brought there is refused where it is planned for.
//!
//! ```
//! use lanebook::compile::{KernelStorage, compile};
//! use lanebook::ir::{Options, SmallStorage, isolate_kernel, parse};
//! use lanebook::query::QueryStorage;
//! use lanebook::written::resolve_layouts;
//! use lanebook::TABLES;
//!
//! let text = "#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
//! func @f(%x: memref<?x64xf32, #gmem> {align = 16}) {threads = 128} {
//!   %a = tiled_load %x[0, 0] : memref<?x64xf32, #gmem> -> tensor<64x64xf32, #rows>
//!   tiled_store %a, %x[0, 0] : tensor<64x64xf32, #rows> -> memref<?x64xf32, #gmem>
//! }";
//! let (mut pools, mut room) = (Box::new(SmallStorage::new()), Box::new(KernelStorage::new()));
//! let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
//! let function = isolate_kernel(&mut program, None).unwrap();
//! let (arch, mut query) = (TABLES.arch_named("sm_80").unwrap(), Box::new(QueryStorage::new()));
//! resolve_layouts(&TABLES, arch, &mut program, function, &mut query).unwrap();
//! let compiled = compile(&TABLES, arch, &mut program, room.scratch()).unwrap();
//! // Lane 17 of warp 1 holds the second row of the warp, from the fifth column on.
//! let tile = compiled.plan.fragments.first().unwrap();
//! assert_eq!(tile.fragment.shape.position(tile.fragment.element(0, 17, 1)), (3, 4));
//! ```

use crate::compile::CompileError;
use heapless::{String, Vec};
use lanebook_emit::write_number;
use lanebook_ir::verify::contract::notation_of;
use lanebook_ir::{AttrValue, Op, Program, TileEncoding, Type, Value, attr_names};
use lanebook_query::{
    NoDistribution, QueryStorage, Tile, WarpSplit, Why, distribution, memory_layout,
};
use lanebook_tables::contract::notation;
use lanebook_tables::{ArchId, OpRole, Space, Tables};

/// Bytes of a layout's text, with what the names in it stand for.
const TEXT: usize = 1024;
/// Names inside each other.
const NAMES: usize = 8;
/// Notations that a register tile's layout is planned in as it stands, and TileAS's, which is one of
/// memory and is refused there.
const OF_REGISTERS: u8 = notation::LANES | notation::TILEAS;
/// Notations that a shared tile's layout is planned in as it stands.
const OF_SHARED: u8 = notation::LANES | notation::TIRX | notation::CUTE | notation::TILEAS;

/// What stays the same for all layouts of a function.
#[derive(Copy, Clone)]
struct Group<'t> {
    tables: &'t Tables<'t>,
    arch: ArchId,
    /// log2 of the warps.
    warps: u8,
}

/// Brings each layout of a function that is written in a notation of other systems to TIRx's
/// notation, for an architecture.
///
/// # Errors
/// [`CompileError::Layout`]: the layout is none of such a tile on this architecture. Of a layout
/// that was brought there before an error the program keeps the new form.
pub fn resolve_layouts(
    tables: &Tables<'_>,
    arch: ArchId,
    program: &mut Program<'_, '_>,
    function: Op,
    storage: &mut QueryStorage,
) -> Result<(), CompileError> {
    // Loops say their layouts in a notation of their own, which inference reads.
    if program.has_loops(function) {
        return Ok(());
    }
    let lanes = tables.arch(arch).and_then(|arch| arch.wave_lanes.first()).copied();
    let threads = program.int_attr(function, attr_names::THREADS).unwrap_or(1);
    let warps = threads.checked_div(i64::from(lanes.unwrap_or(1))).unwrap_or(1);
    let warps = u8::try_from(warps.checked_ilog2().unwrap_or(0)).unwrap_or(0);
    let group = Group { tables, arch, warps };
    let mut next = Some(function);
    while let Some(op) = next {
        next = program.following(op, Some(function));
        let mut number = 0usize;
        while let Some(value) = program.result(op, number) {
            resolve(group, program, (op, value), storage)?;
            number = number.saturating_add(1);
        }
        let mut number = 0usize;
        loop {
            let blocks = program.regions(op).flat_map(|region| program.blocks(region));
            let argument = blocks.flat_map(|block| program.arguments(block)).nth(number);
            let Some(argument) = argument else { break };
            resolve(group, program, (op, argument), storage)?;
            number = number.saturating_add(1);
        }
    }
    Ok(())
}

/// The layout of one tile, of the operation's attribute or the tile's type.
#[inline(never)]
fn resolve<'t>(
    group: Group<'_>,
    program: &mut Program<'_, 't>,
    (op, value): (Op, Value),
    storage: &mut QueryStorage,
) -> Result<(), CompileError> {
    let ty = program.type_of(value);
    if !ty.is_tile() || ty.space == Some(Space::Global) {
        return Ok(());
    }
    let of_op = if program.role(op) == OpRole::Alloc { of_attribute(program, op) } else { None };
    let (Some(text), planned) = (of_op.or_else(|| of_type(program, &ty)), planned(&ty)) else {
        return Ok(());
    };
    // Copies in other registers of a lane are seen by nobody: they are left out.
    let copies = text.as_bytes().windows(2).position(|part| part == b"R[");
    let copies = copies.and_then(|at| text.as_bytes().get(at..)).unwrap_or(&[]);
    let has_copies = planned == OF_REGISTERS && copies.windows(4).any(|part| part == b"@bit");
    if notation_of(text) & planned != 0 && !has_copies {
        return Ok(());
    }
    let refused = |why| CompileError::Layout { op, why };
    let mut whole: String<TEXT> = String::new();
    spelled_out(program, text, &mut whole).ok_or(refused(Why::TooDeep.into()))?;
    let mut extents: Vec<u32, { lanebook_ir::MAX_RANK }> = Vec::new();
    for dim in 0..ty.shape.rank() {
        let extent = ty.shape.extent(dim);
        extents
            .push(extent.ok_or(refused(NoDistribution::Extents))?)
            .map_err(|_| refused(NoDistribution::Extents))?;
    }
    let element_bits = ty.dtype.and_then(|id| group.tables.dtype(id)).map_or(0, |dtype| dtype.held);
    if whole.as_bytes().first() == Some(&b'{') {
        // Expressions over coordinates say nothing without their ranges.
        shaped(&extents, &mut whole).ok_or(refused(Why::TooDeep.into()))?;
    }
    let tile = Tile { extents: &extents, element_bits };
    let written = write_one(group, &whole, (tile, ty.space == Some(Space::Shared)), storage);
    let copies = storage.distributions().first().is_some_and(|found| found.register_copies != 0);
    if planned == OF_REGISTERS && written.is_ok() && copies && is_handed_over(program, op, value) {
        return Err(refused(NoDistribution::HandedCopies));
    }
    written
        .and_then(|text| {
            if of_op.is_some() {
                program.remove_attr(op, attr_names::LAYOUT).map_err(|_| NoDistribution::Extents)?;
            }
            program.write_layout(value, &text).map_err(|_| Why::TooDeep.into())
        })
        .map_err(refused)
}

/// Whether a function takes or returns a tile.
fn is_handed_over(program: &Program<'_, '_>, op: Op, value: Value) -> bool {
    let returns = |user: Option<Op>| user.is_some_and(|user| program.role(user) == OpRole::Return);
    program.role(op) == OpRole::Function
        || program.uses(value).any(|place| returns(program.user(place)))
}

/// Notations that are planned in as they stand.
fn planned(ty: &Type) -> u8 {
    if ty.space == Some(Space::Shared) { OF_SHARED } else { OF_REGISTERS }
}

fn of_attribute<'t>(program: &Program<'_, 't>, op: Op) -> Option<&'t str> {
    match program.attr(op, attr_names::LAYOUT)? {
        AttrValue::Layout(text) | AttrValue::Text(text) => Some(program.text(text)),
        AttrValue::Alias(name) => program.alias(program.text(name)),
        _ => None,
    }
}

/// What stands in the program's text: what was written here is in TIRx's notation.
fn of_type<'t>(program: &Program<'_, 't>, ty: &Type) -> Option<&'t str> {
    match ty.encoding {
        TileEncoding::Written(text) => Some(program.text(text)),
        TileEncoding::Alias(name) => program.alias(program.text(name)),
        _ => None,
    }
}

/// Puts what names stand for in their places.
fn spelled_out<'t>(program: &Program<'_, 't>, text: &'t str, out: &mut String<TEXT>) -> Option<()> {
    let mut open: Vec<&'t str, NAMES> = Vec::new();
    open.push(text.trim_ascii()).ok()?;
    while let Some(rest) = open.pop() {
        let Some(at) = rest.bytes().position(|byte| byte == b'#') else {
            out.push_str(rest).ok()?;
            continue;
        };
        let (before, tail) = rest.split_at_checked(at)?;
        out.push_str(before).ok()?;
        let tail = tail.get(1..)?;
        let in_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let end = tail.bytes().position(|byte| !in_name(byte)).unwrap_or(tail.len());
        let (name, behind) = tail.split_at_checked(end)?;
        let body = program.alias(name).filter(|_| !matches!(behind.as_bytes(), [b'.' | b'<', ..]));
        open.push(behind).ok()?;
        match body {
            Some(body) => open.push(body.trim_ascii()).ok()?,
            None => {
                out.push('#').ok()?;
                out.push_str(name).ok()?;
            }
        }
    }
    Some(())
}

/// Says of which shape a layout is.
fn shaped(extents: &[u32], out: &mut String<TEXT>) -> Option<()> {
    for (number, extent) in extents.iter().enumerate() {
        out.push_str(if number == 0 { " @ " } else { "x" }).ok()?;
        write_number(out, u64::from(*extent)).ok()?;
    }
    Some(())
}

/// A layout in TIRx's notation.
#[inline(never)]
fn write_one(
    group: Group<'_>,
    text: &str,
    (tile, in_shared): (Tile<'_>, bool),
    storage: &mut QueryStorage,
) -> Result<String<TEXT>, NoDistribution> {
    let Group { tables, arch, warps } = group;
    let mut out = String::new();
    if in_shared {
        memory_layout(tables, arch, text, tile.extents, storage, &mut out)?;
        return Ok(out);
    }
    distribution(tables, arch, text, tile, (WarpSplit::Halves, 0), storage)?;
    let [found, _] = storage.distributions();
    if found.warps > warps {
        return Err(NoDistribution::Threads);
    }
    found.write(warps, &mut out).map_err(|_| Why::TooDeep)?;
    Ok(out)
}
