//! Conversions and movements by themselves, as programs whose text is written here: two layouts in
//! any notation in, a function of register tiles out, which [`compile`](crate::compile::compile)
//! makes a [`Snippet`](crate::emit::Snippet) of.
//!
//! ```
//! use lanebook::compile::{KernelStorage, compile};
//! use lanebook::convert::{Conversion, write_conversion};
//! use lanebook::query::QueryStorage;
//! use lanebook::{TABLES, ir};
//!
//! let arch = TABLES.arch_named("sm_80").unwrap();
//! let wanted = Conversion {
//!     from: "mma.m16n8k16.f32.f16.D",
//!     to: "S[(16,2,4):(2@laneid,1@laneid,32@bit)]",
//!     ..Conversion::of(&[16, 8], "f32")
//! };
//! let (mut text, mut query) = (String::new(), Box::new(QueryStorage::new()));
//! let sides = write_conversion(&TABLES, arch, &wanted, &mut query, &mut text).unwrap();
//! assert_eq!(sides.threads, 32);
//!
//! let (mut pools, mut room) = (Box::new(ir::SmallStorage::new()), Box::new(KernelStorage::new()));
//! let mut program = ir::parse(pools.pools(), &TABLES, &text, ir::Options::default()).unwrap();
//! ir::verify(&mut program).unwrap();
//! let compiled = compile(&TABLES, arch, &mut program, room.scratch()).unwrap();
//! let snippet = compiled.snippet(&TABLES, &program).unwrap();
//!
//! // Four registers of one element each; register 1 of lane 5 holds element (1, 3) of 16 x 8.
//! let from = snippet.inputs().next().unwrap();
//! assert_eq!((from.name, from.prefix, from.count), ("from", "%r", 4));
//! assert_eq!(from.element(1, 0, 5, 0), Some(8 + 3));
//! let to = snippet.outputs().next().unwrap();
//! assert_eq!(to.element(0, 0, 5, 0), Some(2 * 8 + 4));
//! // All of it stays inside the warp.
//! assert_eq!(snippet.scratch().0, 0);
//! let mut text = String::new();
//! snippet.write(&mut text).unwrap();
//! assert!(text.contains("shfl.sync") && !text.contains("ret;"));
//! ```

use core::fmt::Write;
use lanebook_emit::write_number;
use lanebook_query::{
    Distribution, NoDistribution, QueryStorage, Tile, WarpSplit, distributions, written_element,
};
use lanebook_tables::{ArchId, Dtype, DtypeKind, Tables};

/// A conversion between two layouts of register tiles.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Conversion<'a> {
    /// The layout that there is: in any notation that [`query`](crate::query) reads, or an operand
    /// of an instruction; `on ARCH` behind it says of which architecture's warps it is.
    pub from: &'a str,
    /// The layout that is wanted.
    pub to: &'a str,
    /// Extents of the tile, the last the fastest.
    pub extents: &'a [u32],
    /// The elements' type. Two elements of 4 bits are a byte, which both layouts have to keep together:
    /// the program's tile is one of bytes, and the extent along which they lie is half.
    pub dtype: &'a str,
    /// Threads of the group; without it as many as both layouts speak of.
    pub threads: Option<u32>,
    /// How warps of another size lie in waves.
    pub split: WarpSplit,
    /// Most bytes of shared memory that it may go through, in rounds where the tile has more; without
    /// it as many as the tile has.
    pub scratch: Option<u32>,
}

impl<'a> Conversion<'a> {
    /// One of a tile, without layouts.
    #[must_use]
    pub const fn of(extents: &'a [u32], dtype: &'a str) -> Self {
        let (threads, scratch) = (None, None);
        Self { from: "", to: "", extents, dtype, threads, split: WarpSplit::Halves, scratch }
    }
}

/// Both sides of a conversion, as they are kept to.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::convert::{Conversion, ConversionSides, write_conversion};
/// use lanebook::query::QueryStorage;
///
/// let wanted = Conversion {
///     from: "S[(32,8):(1@laneid,1@register)]",
///     to: "S[(8,4,8):(4@laneid,1@laneid,1@register)]",
///     ..Conversion::of(&[32, 8], "f32")
/// };
/// let (mut storage, mut program) = (Box::new(QueryStorage::new()), String::new());
/// let arch = TABLES.arch_named("sm_80").unwrap();
/// let both: ConversionSides = write_conversion(&TABLES, arch, &wanted, &mut storage, &mut program).unwrap();
/// assert_eq!(both.threads, 32);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ConversionSides {
    /// The one that there is.
    pub from: Distribution,
    /// The one that is wanted.
    pub to: Distribution,
    /// Threads of the group.
    pub threads: u32,
}

/// What moves alone.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MovementKind {
    /// From memory into registers.
    Load,
    /// From registers into memory.
    Store,
    /// From global into shared memory.
    Copy,
}

impl MovementKind {
    /// All of them, by name.
    pub const NAMED: [(&'static str, Self); 3] =
        [("load", Self::Load), ("store", Self::Store), ("copy", Self::Copy)];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Copy => "copy",
        }
    }
}

/// Memory at one end of a movement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MovedMemory<'a> {
    /// Global memory: rows so many elements apart, from an address that is a multiple of so many
    /// bytes on.
    Global {
        /// Elements from one row to the next.
        stride: u32,
        /// What the address and the rows' distance in bytes are multiples of; 0: an element.
        align: u32,
    },
    /// Shared memory, in a layout of one of the notations of a shared tile; empty: one is chosen.
    Shared(&'a str),
}

/// A movement between registers and memory, or between memories.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TileMovement<'a> {
    /// Which.
    pub kind: MovementKind,
    /// The layout in registers, as in [`Conversion`]; not read of copies.
    pub registers: &'a str,
    /// The layout in memory; of a copy that in shared memory.
    pub memory: MovedMemory<'a>,
    /// Of a copy, global memory's.
    pub other: Option<MovedMemory<'a>>,
    /// Extents of the tile, the last the fastest.
    pub extents: &'a [u32],
    /// The elements' type.
    pub dtype: &'a str,
    /// Threads of the group; without it as many as the layout speaks of, of a copy a wave.
    pub threads: Option<u32>,
    /// How warps of another size lie in waves.
    pub split: WarpSplit,
}

/// Why there is no program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConvertError {
    /// The architecture is not one of the tables'.
    Arch,
    /// There is no such element type, or it has not a whole number of bytes (in a conversion 4 bits,
    /// either).
    Dtype,
    /// The extents are none, or one of them is 0.
    Extents,
    /// The layout that there is (of a movement, the one in registers).
    From(NoDistribution),
    /// The layout that is wanted.
    To(NoDistribution),
    /// Threads that are no power of two, fewer than a layout speaks of or than a wave has.
    Threads {
        /// How many are said.
        threads: u32,
        /// The fewest that are needed.
        least: u32,
    },
    /// A copy goes from global to shared memory.
    Memories,
    /// The sink is full.
    Sink,
    /// Elements of 4 bits of which the two layouts have others in a byte, or a byte of one has not two.
    Halves,
}

impl From<core::fmt::Error> for ConvertError {
    fn from(_: core::fmt::Error) -> Self {
        Self::Sink
    }
}

impl ConvertError {
    /// It as numbers: which error, and two that matter (of a layout that is no distribution: why, as
    /// [`NoDistribution::number`] says; of threads: how many are said, and the fewest).
    #[must_use]
    pub fn numbers(&self) -> (u32, (u32, u32)) {
        match self {
            Self::Arch => (1, (0, 0)),
            Self::Dtype => (2, (0, 0)),
            Self::Extents => (3, (0, 0)),
            Self::From(why) => (4, (why.number(), 0)),
            Self::To(why) => (5, (why.number(), 0)),
            Self::Threads { threads, least } => (6, (*threads, *least)),
            Self::Memories => (7, (0, 0)),
            Self::Sink => (8, (0, 0)),
            Self::Halves => (9, (0, 0)),
        }
    }

    /// Line and column, from 1, in the text of the layout that cannot be read.
    #[must_use]
    pub fn place(&self) -> Option<(u32, u32)> {
        match self {
            Self::From(NoDistribution::Query(error)) | Self::To(NoDistribution::Query(error)) => {
                Some((error.line, error.column))
            }
            _ => None,
        }
    }

    /// Writes what is wrong; `from` and `to` are the layouts' texts.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, (from, to): (&str, &str), sink: &mut impl Write) -> core::fmt::Result {
        let side = |why: &NoDistribution, which: &str, text: &str, sink: &mut _| match why {
            NoDistribution::Query(error) => side_query(error, (which, text), sink),
            other => side_words(other.describe(), (which, text), sink),
        };
        match self {
            Self::Arch => sink.write_str("the tables have no such architecture"),
            Self::Dtype => {
                sink.write_str("no type of elements that are moved has this name: they have whole bytes, or in a conversion 4 bits; those of 6 bits lie across bytes, a pointer goes as i64")
            }
            Self::Extents => sink.write_str("the tile has no extents, or one of them is 0"),
            Self::From(why) => side(why, "from", from, sink),
            Self::To(why) => side(why, "to", to, sink),
            Self::Threads { threads, least } => {
                write_number(sink, u64::from(*threads))?;
                sink.write_str(" threads; a power of two of at least ")?;
                write_number(sink, u64::from(*least))?;
                sink.write_str(" is needed")
            }
            Self::Memories => sink.write_str("a copy goes from global to shared memory"),
            Self::Sink => sink.write_str("there is no room for the program's text"),
            Self::Halves => sink.write_str(
                "elements of 4 bits go as bytes of two, and not every byte holds the same two in both layouts",
            ),
        }
    }
}

fn side_words(
    words: &str,
    (which, text): (&str, &str),
    sink: &mut impl Write,
) -> core::fmt::Result {
    for part in ["the layout `", text, "` (", which, ") is no distribution: ", words] {
        sink.write_str(part)?;
    }
    Ok(())
}

fn side_query(
    error: &lanebook_query::QueryError,
    (which, text): (&str, &str),
    sink: &mut impl Write,
) -> core::fmt::Result {
    for part in ["the layout `", text, "` (", which, ") cannot be read: "] {
        sink.write_str(part)?;
    }
    error.write_text(text, sink)
}

/// Writes the program of a conversion: a function that takes the tile in one layout and returns it
/// in the other. Registers that are copies of others are not handed over: which of those that are
/// written each of the others is [`Distribution::written_register`] says.
///
/// # Errors
/// Why there is none.
pub fn write_conversion(
    tables: &Tables<'_>,
    arch: ArchId,
    wanted: &Conversion<'_>,
    storage: &mut QueryStorage,
    out: &mut impl Write,
) -> Result<ConversionSides, ConvertError> {
    let tile = tile(tables, wanted.extents, wanted.dtype, 4)?;
    let texts = [wanted.from, wanted.to];
    are_of(tables, wanted.dtype, texts)?;
    distributions(tables, arch, texts, tile, wanted.split, storage).map_err(refused)?;
    let [from, to] = storage.distributions();
    from.keeps_places().map_err(ConvertError::From)?;
    to.keeps_places().map_err(ConvertError::To)?;
    let (threads, _) = threads(wanted.threads, from.wave, from.warps.max(to.warps))?;
    if tile.element_bits < 8 {
        return write_bytes(tables, wanted, (from, to), threads, out);
    }
    write_sides(wanted, (from, to), threads, out)?;
    Ok(ConversionSides { from: *from, to: *to, threads })
}

/// The same of elements of 4 bits, as bytes of two.
#[inline(never)]
fn write_bytes(
    tables: &Tables<'_>,
    wanted: &Conversion<'_>,
    (from, to): (&Distribution, &Distribution),
    threads: u32,
    out: &mut impl Write,
) -> Result<ConversionSides, ConvertError> {
    let both = from.of_bytes().zip(to.of_bytes());
    let ((half, from), (other, to)) = both.ok_or(ConvertError::Halves)?;
    if half != other {
        return Err(ConvertError::Halves);
    }
    let is_byte = |d: &&Dtype<'_>| d.bits == 8 && d.kind == DtypeKind::Signed;
    let dtype = tables.dtypes.iter().find(is_byte).ok_or(ConvertError::Dtype)?.name;
    let (rows, columns) = flat(wanted.extents);
    let rows = u32::try_from(rows).map_err(|_| ConvertError::Extents)?;
    let along = u32::from(half) < columns.trailing_zeros();
    let extents = if along { [rows, columns / 2] } else { [rows / 2, columns] };
    let wanted = Conversion { extents: &extents, dtype, ..*wanted };
    write_sides(&wanted, (&from, &to), threads, out)?;
    Ok(ConversionSides { from, to, threads })
}

/// Which layout is none, and why.
fn refused((number, why): (u8, NoDistribution)) -> ConvertError {
    if number == 0 { ConvertError::From(why) } else { ConvertError::To(why) }
}

#[inline(never)]
fn write_sides(
    wanted: &Conversion<'_>,
    (from, to): (&Distribution, &Distribution),
    threads: u32,
    out: &mut impl Write,
) -> Result<(), ConvertError> {
    let (extents, dtype) = (wanted.extents, wanted.dtype);
    let (threads, warps) = self::threads(Some(threads), from.wave, from.warps.max(to.warps))?;
    out.write_str("#from = ")?;
    from.write(warps, out)?;
    out.write_str("\n#to = ")?;
    to.write(warps, out)?;
    out.write_str("\nfunc @convert(%from: ")?;
    tensor(extents, dtype, ", #from>", out)?;
    open(threads, out)?;
    out.write_str("  %to = convert_layout %from ")?;
    if let Some(scratch) = wanted.scratch {
        out.write_str("{scratch = ")?;
        write_number(out, u64::from(scratch))?;
        out.write_str("} ")?;
    }
    out.write_str(": ")?;
    tensor(extents, dtype, ", #from> -> ", out)?;
    tensor(extents, dtype, ", #to>\n  return %to : ", out)?;
    tensor(extents, dtype, ", #to>\n}\n", out)?;
    Ok(())
}

/// Writes the program of a movement: a function that takes addresses, and takes or returns the tile
/// in registers. In shared memory the tile begins where the scratch does. Registers that are copies
/// of others are not handed over, as of a conversion; the layout in registers is the first of
/// [`QueryStorage::distributions`] then.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::convert::{ConvertError, MovedMemory, MovementKind, TileMovement, write_movement};
/// use lanebook::query::{QueryStorage, WarpSplit};
///
/// let arch = TABLES.arch_named("sm_80").unwrap();
/// // The rows of a tile in shared memory, a lane each, into registers.
/// let wanted = TileMovement {
///     kind: MovementKind::Load,
///     registers: "S[(32,8):(1@laneid,1@register)]",
///     memory: MovedMemory::Shared(""),
///     other: None,
///     extents: &[32, 8],
///     dtype: "f32",
///     threads: None,
///     split: WarpSplit::Halves,
/// };
/// let (mut storage, mut program) = (Box::new(QueryStorage::new()), String::new());
/// let threads = write_movement(&TABLES, arch, &wanted, &mut storage, &mut program).unwrap();
/// assert_eq!(threads, 32);
/// assert!(program.contains("func @load() {threads = 32, snippet}"), "{program}");
/// // What is refused says why, as words and as numbers.
/// let refused = TileMovement { dtype: "no_such", ..wanted };
/// let refused = write_movement(&TABLES, arch, &refused, &mut storage, &mut program).unwrap_err();
/// let mut why = String::new();
/// refused.write_text(("", ""), &mut why).unwrap();
/// assert_eq!((refused, refused.numbers().0, refused.place()), (ConvertError::Dtype, 2, None));
/// assert_eq!(MovementKind::NAMED[0], (MovementKind::Load.name(), MovementKind::Load));
/// ```
///
/// # Errors
/// Why there is none.
pub fn write_movement(
    tables: &Tables<'_>,
    arch: ArchId,
    wanted: &TileMovement<'_>,
    storage: &mut QueryStorage,
    out: &mut impl Write,
) -> Result<u32, ConvertError> {
    let (extents, dtype) = (wanted.extents, wanted.dtype);
    let tile = tile(tables, extents, dtype, 8)?;
    let in_registers = wanted.kind != MovementKind::Copy;
    let (wave, warps, registers) = if in_registers {
        let texts = [wanted.registers; 2];
        are_of(tables, dtype, texts)?;
        distributions(tables, arch, texts, tile, wanted.split, storage).map_err(refused)?;
        let [found, _] = storage.distributions();
        found.keeps_places().map_err(ConvertError::From)?;
        (found.wave, found.warps, Some(found))
    } else {
        (wave_bits(tables, arch)?, 0, None)
    };
    let (threads, warps) = threads(wanted.threads, wave, warps)?;
    if let Some(registers) = registers {
        out.write_str("#tile = ")?;
        registers.write(warps, out)?;
        out.write_str("\n")?;
    }
    let (global, shared) = match (wanted.kind, wanted.memory, wanted.other) {
        (
            MovementKind::Copy,
            MovedMemory::Shared(shared),
            Some(global @ MovedMemory::Global { .. }),
        ) => (Some(global), Some(shared)),
        (MovementKind::Copy, ..) => return Err(ConvertError::Memories),
        (_, MovedMemory::Shared(shared), _) => (None, Some(shared)),
        (_, global, _) => (Some(global), None),
    };
    if let Some(layout) = shared.filter(|layout| !layout.is_empty()) {
        out.write_str("#shared = ")?;
        out.write_str(layout)?;
        out.write_str("\n")?;
    }
    out.write_str("func @")?;
    out.write_str(wanted.kind.name())?;
    out.write_str("(")?;
    if let Some(MovedMemory::Global { stride, align }) = global {
        out.write_str("%memory: ")?;
        memref(extents, dtype, stride, out)?;
        if align > 0 {
            out.write_str(" {align = ")?;
            write_number(out, u64::from(align))?;
            out.write_str("}")?;
        }
    }
    if wanted.kind == MovementKind::Store {
        out.write_str(if global.is_some() { ", %tile: " } else { "%tile: " })?;
        tensor(extents, dtype, ", #tile>", out)?;
    }
    open(threads, out)?;
    if let Some(layout) = shared {
        out.write_str("  %shared = alloc_tensor : ")?;
        tensor(extents, dtype, ", #smem>", out)?;
        if !layout.is_empty() {
            out.write_str(" {layout = #shared}")?;
        }
        out.write_str("\n")?;
    }
    let place = |out: &mut _| match global {
        Some(MovedMemory::Global { stride, .. }) => memref(extents, dtype, stride, out),
        _ => tensor(extents, dtype, ", #smem>", out),
    };
    let at = if global.is_some() { "%memory[0, 0]" } else { "%shared" };
    match wanted.kind {
        MovementKind::Load => {
            out.write_str("  %tile = tiled_load ")?;
            out.write_str(at)?;
            out.write_str(" : ")?;
            place(out)?;
            out.write_str(" -> ")?;
            tensor(extents, dtype, ", #tile>\n  return %tile : ", out)?;
            tensor(extents, dtype, ", #tile>\n}\n", out)?;
        }
        MovementKind::Store => {
            out.write_str("  tiled_store %tile, ")?;
            out.write_str(at)?;
            out.write_str(" : ")?;
            tensor(extents, dtype, ", #tile> -> ", out)?;
            place(out)?;
            out.write_str("\n}\n")?;
        }
        MovementKind::Copy => {
            out.write_str("  copy %memory[0, 0], %shared : ")?;
            place(out)?;
            out.write_str(" -> ")?;
            tensor(extents, dtype, ", #smem>\n}\n", out)?;
        }
    }
    Ok(threads)
}

/// Refuses a layout that is written as the type of a tile of other elements; the first is 0.
fn are_of(tables: &Tables<'_>, dtype: &str, texts: [&str; 2]) -> Result<(), ConvertError> {
    let own = tables.dtype_named(dtype);
    let is_other = |text: &str| written_element(text).is_some_and(|e| tables.dtype_named(e) != own);
    match (0u8..).zip(texts).find(|(_, text)| is_other(text)) {
        Some((number, _)) => Err(refused((number, NoDistribution::ElementType))),
        None => Ok(()),
    }
}

/// log2 of the lanes of an architecture's waves.
fn wave_bits(tables: &Tables<'_>, arch: ArchId) -> Result<u8, ConvertError> {
    let lanes = tables.arch(arch).and_then(|arch| arch.wave_lanes.first()).copied();
    let lanes = lanes.filter(|lanes| lanes.is_power_of_two()).ok_or(ConvertError::Arch)?;
    u8::try_from(lanes.checked_ilog2().unwrap_or(0)).map_err(|_| ConvertError::Arch)
}

/// The tile; of elements of `least` bits, or of whole bytes.
fn tile<'a>(
    tables: &Tables<'_>,
    extents: &'a [u32],
    dtype: &str,
    least: u16,
) -> Result<Tile<'a>, ConvertError> {
    let found = tables.dtype_named(dtype).and_then(|id| tables.dtype(id));
    let element_bits = found.map_or(0, |dtype| dtype.bits);
    if element_bits == 0 || element_bits != least && !element_bits.is_multiple_of(8) {
        return Err(ConvertError::Dtype);
    }
    if extents.is_empty() || extents.contains(&0) {
        return Err(ConvertError::Extents);
    }
    Ok(Tile { extents, element_bits })
}

/// Threads of a group, and log2 of its warps.
fn threads(said: Option<u32>, wave: u8, warps: u8) -> Result<(u32, u8), ConvertError> {
    let all = u32::from(wave).saturating_add(u32::from(warps));
    let least = 1u32.checked_shl(all).ok_or(ConvertError::Extents)?;
    let threads = said.unwrap_or(least);
    if threads < least || !threads.is_power_of_two() {
        return Err(ConvertError::Threads { threads, least });
    }
    let more = threads.checked_ilog2().unwrap_or(0).saturating_sub(all);
    Ok((threads, warps.saturating_add(u8::try_from(more).unwrap_or(0))))
}

/// Rows and columns: all dimensions but the last are rows.
fn flat(extents: &[u32]) -> (u64, u32) {
    let (last, others) = extents.split_last().map_or((1, extents), |(last, rest)| (*last, rest));
    (others.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n))), last)
}

fn tensor(extents: &[u32], dtype: &str, end: &str, out: &mut impl Write) -> core::fmt::Result {
    let (rows, columns) = flat(extents);
    out.write_str("tensor<")?;
    write_number(out, rows)?;
    out.write_str("x")?;
    write_number(out, u64::from(columns))?;
    out.write_str("x")?;
    out.write_str(dtype)?;
    out.write_str(end)
}

fn memref(extents: &[u32], dtype: &str, stride: u32, out: &mut impl Write) -> core::fmt::Result {
    let (rows, _) = flat(extents);
    out.write_str("memref<")?;
    write_number(out, rows)?;
    out.write_str("x")?;
    write_number(out, u64::from(stride))?;
    out.write_str("x")?;
    out.write_str(dtype)?;
    out.write_str(", #gmem>")
}

fn open(threads: u32, out: &mut impl Write) -> core::fmt::Result {
    out.write_str(") {threads = ")?;
    write_number(out, u64::from(threads))?;
    out.write_str(", snippet} {\n")
}
