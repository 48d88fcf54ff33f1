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
//! use lanebook::written::{LayoutStorage, resolve_layouts};
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
//! let (arch, mut layouts) = (TABLES.arch_named("sm_80").unwrap(), Box::new(LayoutStorage::new()));
//! resolve_layouts(&TABLES, arch, &mut program, function, &mut layouts).unwrap();
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
use lanebook_layout::{AxisId, Iter, Layout};
use lanebook_query::{
    NoDistribution, QueryStorage, Tile, WarpSplit, Why, distribution, memory_layout,
};
use lanebook_tables::contract::notation;
use lanebook_tables::{ArchId, DtypeId, OpRole, Space, Tables};

/// Bytes of a layout's text, with what the names in it stand for.
const TEXT: usize = 1024;
/// Names inside each other.
const NAMES: usize = 8;
/// Notations that a register tile's layout is planned in as it stands, and TileAS's, which is one of
/// memory and is refused there.
const OF_REGISTERS: u8 = notation::LANES | notation::TILEAS;
/// Notations that a shared tile's layout is planned in as it stands.
const OF_SHARED: u8 = notation::LANES | notation::TIRX | notation::CUTE | notation::TILEAS;

/// The memory that layouts are resolved in; nothing stays in it from one call to the next.
///
/// It is large: let it stand in a static, or on the heap where there is one.
#[derive(Debug, Default)]
pub struct LayoutStorage {
    query: QueryStorage,
    /// The layout as it is written, with what the names in it stand for.
    written: String<TEXT>,
    /// The same in TIRx's notation.
    resolved: String<TEXT>,
}

impl LayoutStorage {
    /// Empty memory.
    #[must_use]
    pub const fn new() -> Self {
        Self { query: QueryStorage::new(), written: String::new(), resolved: String::new() }
    }
}

/// A tile whose layout is to be resolved.
struct WrittenTile {
    extents: Vec<u32, { lanebook_ir::MAX_RANK }>,
    element_bits: u16,
    in_shared: bool,
    /// It stands in the operation's attribute.
    of_op: bool,
}

/// Brings each layout of a function that is written in a notation of other systems to TIRx's
/// notation, for an architecture: the program is one for this architecture then.
///
/// # Errors
/// [`CompileError::Layout`]: the layout is none of such a tile on this architecture. Of a layout
/// that was brought there before an error the program keeps the new form.
pub fn resolve_layouts(
    tables: &Tables<'_>,
    arch: ArchId,
    program: &mut Program<'_, '_>,
    function: Op,
    storage: &mut LayoutStorage,
) -> Result<(), CompileError> {
    let in_loops = program.has_loops(function);
    let lanes = tables.arch(arch).and_then(|arch| arch.wave_lanes.first()).copied();
    let threads = program.int_attr(function, attr_names::THREADS).unwrap_or(1);
    let warps = threads.checked_div(i64::from(lanes.unwrap_or(1))).unwrap_or(1);
    let warps = u8::try_from(warps.checked_ilog2().unwrap_or(0)).unwrap_or(0);
    let mut next = Some(function);
    while let Some(op) = next {
        next = program.following(op, Some(function));
        let mut number = 0usize;
        while let Some(value) = nth_value(program, op, number) {
            number = number.saturating_add(1);
            // What reads layouts is called from here: it is what needs the most stack.
            let Some(tile) = spell(tables, program, (op, value), in_loops, storage)? else {
                continue;
            };
            let LayoutStorage { query, written, resolved } = &mut *storage;
            let found = match tile.in_shared {
                // It is planned in as it stands, but for the word of its elements.
                true if !resolved.is_empty() => Ok(()),
                true => memory_layout(tables, arch, written, &tile.extents, query, resolved),
                false => {
                    let of = Tile { extents: &tile.extents, element_bits: tile.element_bits };
                    distribution(tables, arch, written, of, (WarpSplit::Halves, 0), query)
                }
            };
            write(program, (op, value), &tile, (found, warps), storage)
                .map_err(|why| CompileError::Layout { op, why })?;
        }
    }
    Ok(())
}

/// A result of an operation, or behind these an argument of its blocks.
#[inline(never)]
fn nth_value(program: &Program<'_, '_>, op: Op, number: usize) -> Option<Value> {
    let blocks = program.regions(op).flat_map(|region| program.blocks(region));
    program.results(op).chain(blocks.flat_map(|block| program.arguments(block))).nth(number)
}

/// Puts the layout of a tile, of the operation's attribute or the tile's type, into the storage;
/// `None` where it is planned in as it stands, or there is none.
#[inline(never)]
fn spell(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    (op, value): (Op, Value),
    in_loops: bool,
    storage: &mut LayoutStorage,
) -> Result<Option<WrittenTile>, CompileError> {
    let ty = program.type_of(value);
    if !ty.is_tile() || ty.space == Some(Space::Global) {
        return Ok(None);
    }
    let of_op = if program.role(op) == OpRole::Alloc { of_attribute(program, op) } else { None };
    let (Some(text), planned) = (of_op.or_else(|| of_type(program, &ty)), planned(&ty)) else {
        return Ok(None);
    };
    // Loops say the layouts of fragments in a notation of their own, too, which inference reads.
    if in_loops && ty.is_fragment() && text.trim_ascii_start().starts_with('{') {
        return Ok(None);
    }
    // Copies in other registers of a lane are seen by nobody: they are left out.
    let has_copies = planned == OF_REGISTERS && has_register_copies(program, text);
    let says_element = in_tileas(text).is_some_and(|at| at > 0) && ty.space == Some(Space::Shared);
    if notation_of(text) & planned != 0 && !has_copies && !says_element {
        return Ok(None);
    }
    let refused = |why| CompileError::Layout { op, why };
    storage.written.clear();
    storage.resolved.clear();
    let whole = &mut storage.written;
    spelled_out(program, text, whole).ok_or(refused(Why::TooDeep.into()))?;
    let mut extents = Vec::new();
    for dim in 0..ty.shape.rank() {
        let extent = ty.shape.extent(dim);
        extents
            .push(extent.ok_or(refused(NoDistribution::Extents))?)
            .map_err(|_| refused(NoDistribution::Extents))?;
    }
    let element_bits = ty.dtype.and_then(|id| tables.dtype(id)).map_or(0, |dtype| dtype.held);
    if whole.as_bytes().first() == Some(&b'{') && !has_extents(whole) {
        // Expressions over coordinates say nothing without their ranges.
        shaped(&extents, whole).ok_or(refused(Why::TooDeep.into()))?;
    }
    let in_shared = ty.space == Some(Space::Shared);
    let element = ty.dtype.filter(|_| in_shared).and_then(|dtype| element_of(tables, whole, dtype));
    if let Some(said) = element {
        said.map_err(refused)?;
        without_element(whole, &mut storage.resolved).ok_or(refused(Why::TooDeep.into()))?;
    }
    Ok(Some(WrittenTile { extents, element_bits, in_shared, of_op: of_op.is_some() }))
}

/// Writes what was found into the program, as the tile's layout.
#[inline(never)]
fn write(
    program: &mut Program<'_, '_>,
    (op, value): (Op, Value),
    tile: &WrittenTile,
    (found, warps): (Result<(), NoDistribution>, u8),
    storage: &mut LayoutStorage,
) -> Result<(), NoDistribution> {
    found?;
    if !tile.in_shared {
        let LayoutStorage { query, resolved, .. } = &mut *storage;
        let [found, _] = query.distributions();
        if found.warps > warps {
            return Err(NoDistribution::Threads);
        }
        if is_handed_over(program, op, value) {
            found.handed_over()?;
        }
        found.write(warps, resolved).map_err(|_| Why::TooDeep)?;
    }
    if tile.of_op {
        program.remove_attr(op, attr_names::LAYOUT).map_err(|_| NoDistribution::Extents)?;
    }
    let places = storage.query.bit_places();
    if tile.in_shared
        && !places.is_empty()
        && notation_of(&storage.resolved) & notation::TILEAS == 0
    {
        let written = program.write_bit_places(value, &storage.resolved, places);
        return written.map_err(|_| Why::TooDeep.into());
    }
    program.write_layout(value, &storage.resolved).map_err(|_| Why::TooDeep.into())
}

/// Where a descriptor of TileAS's says what the elements are, from the comma before it on; `None` of
/// other notations, and where it does not.
fn in_tileas(text: &str) -> Option<usize> {
    if notation_of(text) & notation::TILEAS == 0 {
        return None;
    }
    let at = text.as_bytes().windows(5).position(|word| word == b"elem=")?;
    text.as_bytes().get(..at)?.iter().rposition(|byte| *byte == b',')
}

/// Whether the elements of which a descriptor of TileAS's says that it is are the tile's; `None` where
/// it does not say.
fn element_of(
    tables: &Tables<'_>,
    text: &str,
    dtype: DtypeId,
) -> Option<Result<(), NoDistribution>> {
    let said = text.get(in_tileas(text)?.checked_add(1)?..)?.trim_ascii_start().get(5..)?;
    let end = said.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'));
    let name = said.get(..end.unwrap_or(said.len()))?;
    let same = tables.element_type(name) == Some(dtype);
    Some(if same { Ok(()) } else { Err(NoDistribution::ElementType) })
}

/// A descriptor without the word of its elements.
fn without_element(text: &str, out: &mut String<TEXT>) -> Option<()> {
    let at = in_tileas(text)?;
    let behind = text.get(at.checked_add(1)?..)?;
    let end = behind.bytes().position(|byte| matches!(byte, b',' | b'>'))?;
    out.push_str(text.get(..at)?).ok()?;
    out.push_str(behind.get(end..)?).ok()
}

/// Whether a layout that was read has copies in other registers of a lane.
#[inline(never)]
fn has_register_copies(program: &Program<'_, '_>, text: &str) -> bool {
    let Some(Ok(id)) = program.layout_id(text) else { return false };
    let mut layout = Layout::new();
    let is_bit = |iter: &Iter| iter.axis() == AxisId::BIT;
    program.layout_at(id, &mut layout).is_some() && layout.view().replica.iter().any(is_bit)
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

fn of_attribute<'p>(program: &'p Program<'_, '_>, op: Op) -> Option<&'p str> {
    match program.attr(op, attr_names::LAYOUT)? {
        AttrValue::Layout(text) | AttrValue::Text(text) => Some(program.text(text)),
        AttrValue::Alias(name) => program.alias(program.text(name)),
        _ => None,
    }
}

/// What stands in the program's text: what was written here is in TIRx's notation.
fn of_type<'p>(program: &'p Program<'_, '_>, ty: &Type) -> Option<&'p str> {
    match ty.encoding {
        TileEncoding::Written(text) => Some(program.text(text)),
        TileEncoding::Alias(name) => program.alias(program.text(name)),
        // Of a tile that had more dimensions: the text says which.
        TileEncoding::Interned(..) => program.layout_text(ty).filter(|text| has_extents(text)),
        _ => None,
    }
}

/// Whether a text says of which extents a layout is.
fn has_extents(text: &str) -> bool {
    text.bytes().any(|byte| byte == b'@') && notation_of(text) & notation::LANES == 0
}

/// Puts what names stand for in their places.
fn spelled_out<'p>(
    program: &'p Program<'_, '_>,
    text: &'p str,
    out: &mut String<TEXT>,
) -> Option<()> {
    let mut open: Vec<&'p str, NAMES> = Vec::new();
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
