//! Layouts that passes make: where they are kept, and how they are printed.
//!
//! A program's text holds the layouts that it was written with; one that a pass makes is in no
//! text. It goes into a [`SeededLayouts`] lent by the caller, and types name it by
//! [`TileEncoding::Handle`](lanebook_ir::Encoding::Handle). One that the program already has under an
//! alias keeps that name. [`SeededLayouts`] prints handles ([`Annotate`]) in the notation that reads them
//! again.
use core::fmt::{self, Write};
use heapless::VecView;
use lanebook_ir::{Annotate, MAX_RANK, Program, Shape, TextRef, TileEncoding, Type};
use lanebook_layout::notation::ttg_print;
use lanebook_layout::triton::{
    AmdMfma, AmdWmma, Base, Blocked, DotOp, Few, MAX_SLICES, NvidiaMma, NvmmaShared, TensorMemory,
};
use lanebook_layout::{AxisId, Dims, Hw, Linear, Logical};

/// The core of a layout that passes make or read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there is no heap to box on")]
pub enum Core {
    /// Nested tiles.
    Blocked(Blocked),
    /// Accumulators of one warp, or of a group of warps.
    NvidiaMma(NvidiaMma),
    /// Accumulators of a wave.
    AmdMfma(AmdMfma),
    /// Accumulators of a wave, one row or column in a lane.
    AmdWmma(AmdWmma),
    /// A tile in shared memory for descriptors.
    Nvmma(NvmmaShared),
    /// Sums in tensor memory.
    Tensor(TensorMemory),
    /// A tile that is spread bit by bit.
    Spread(BitLayout),
    /// A tile in memory: extents, which dimension is contiguous, and its swizzle.
    Tile(MemoryTile),
}

/// A tile of two dimensions in registers: each bit of a register's, a lane's and a warp's number is
/// one bit of a row or a column.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BitLayout {
    /// log2 of the rows and of the columns.
    pub bits: [u8; 2],
    /// Of a register's number, lowest first; see [`BitLayout::bit`].
    pub register: Few<u8, { BitLayout::MOST }>,
    /// Of a lane's.
    pub lane: Few<u8, 8>,
    /// Of a warp's.
    pub warp: Few<u8, 8>,
}

impl BitLayout {
    /// Most bits of a register's number.
    pub const MOST: usize = 24;
    /// No bit: the same elements once more.
    pub const COPY: u8 = u8::MAX;

    /// A bit of a coordinate (0: row, 1: column).
    #[must_use]
    pub const fn bit(dim: u8, bit: u32) -> u8 {
        (dim << 6) | (bit & 63) as u8
    }
    /// As a matrix; `None` for a bit that the tile does not have.
    #[inline(never)]
    fn linear(&self) -> Option<Linear<Hw, Logical>> {
        let inputs: [(AxisId, &[u8]); 3] = [
            (AxisId::REGISTER, self.register.as_slice()),
            (AxisId::LANE, self.lane.as_slice()),
            (AxisId::WARP, self.warp.as_slice()),
        ];
        let (mut ins, mut outs) = (Dims::new(), Dims::new());
        for (axis, bits) in inputs {
            ins.push(axis, u8::try_from(bits.len()).ok()?).ok()?;
        }
        ins.push(AxisId::BLOCK, 0).ok()?;
        for (dim, bits) in (0u8..).zip(self.bits) {
            outs.push(AxisId::dim(dim), bits).ok()?;
        }
        let mut out = Linear::zero(ins, outs);
        for (axis, bits) in inputs {
            for (number, bit) in (0u8..).zip(bits).filter(|(_, bit)| **bit != Self::COPY) {
                let below = if bit >> 6 == 0 { 0 } else { self.bits[0] };
                out.set_column(
                    axis,
                    number,
                    1u64.checked_shl(u32::from(below.checked_add(bit & 63)?))?,
                )
                .ok()?;
            }
        }
        Some(out)
    }
}

/// A number in decimal.
fn number<W: Write>(out: &mut W, value: u64) -> fmt::Result {
    let mut power = 1u64;
    while let Some(next) = power.checked_mul(10).filter(|next| *next <= value) {
        power = next;
    }
    while power > 0 {
        let digit = (value.checked_div(power).unwrap_or(0) % 10) as usize;
        out.write_str(DIGITS.get(digit).copied().unwrap_or("?"))?;
        power /= 10;
    }
    Ok(())
}

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// A tile in memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MemoryTile {
    /// Extents in elements.
    pub shape: Shape,
    /// The last dimension is the contiguous one (else the first).
    pub row_major: bool,
    /// Bits that are XORed, low bits left alone, distance; of byte addresses. No bits: none.
    pub swizzle: (u8, u8, u8),
}

/// A layout: its core, what is sliced off, and whether it is an operand of the core's instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NewLayout {
    /// The core.
    pub core: Core,
    /// Dimensions that slices take out, innermost first.
    pub slices: Few<u8, MAX_SLICES>,
    /// Operand of the core's instruction.
    pub dot: Option<DotOp>,
}

impl NewLayout {
    /// The core alone.
    #[must_use]
    pub fn of(core: Core) -> Self {
        Self { core, slices: Few::new(), dot: None }
    }
    /// An operand of the core's instruction.
    #[must_use]
    pub fn operand(core: Core, op_idx: u8, k_width: u32) -> Self {
        Self { dot: Some(DotOp { op_idx, k_width }), ..Self::of(core) }
    }
    /// Whether a text says this layout, as the printer would (blanks do not count).
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        let mut rest = Rest { text: text.as_bytes(), equal: true };
        self.spell(&mut rest).is_ok() && rest.equal && rest.text.iter().all(u8::is_ascii_whitespace)
    }
    /// Prints it in the notation of its kind.
    pub fn print(&self, out: &mut dyn Write) -> fmt::Result {
        self.spell(&mut DynSink(out))
    }
    /// The same into a sink of any kind. Sinks of this crate stay of known type: a table of their
    /// methods would link formatting.
    pub(super) fn spell<W: Write>(&self, out: &mut W) -> fmt::Result {
        let base = match self.core {
            Core::Blocked(it) => Base::Blocked(it),
            Core::NvidiaMma(it) => Base::NvidiaMma(it),
            Core::AmdMfma(it) => Base::AmdMfma(it),
            Core::AmdWmma(it) => Base::AmdWmma(it),
            Core::Nvmma(it) => Base::Nvmma(it),
            Core::Tensor(it) => Base::TensorMemory(it),
            Core::Spread(it) => Base::Linear(it.linear().ok_or(fmt::Error)?),
            Core::Tile(tile) => return tile.spell(out),
        };
        let mut encoding = lanebook_layout::triton::Encoding::from(base);
        (encoding.slices, encoding.dot) = (self.slices, self.dot);
        ttg_print::print(out, &encoding).map_err(|_| fmt::Error)
    }
}

/// What is left of a text after all that was printed so far.
struct Rest<'t> {
    text: &'t [u8],
    equal: bool,
}

impl Rest<'_> {
    #[inline(never)]
    fn take(&mut self, printed: &str) -> fmt::Result {
        for byte in printed.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
            let mut next = self.text.split_first();
            while let Some((blank, rest)) = next.filter(|(byte, _)| byte.is_ascii_whitespace()) {
                let _ = blank;
                next = rest.split_first();
            }
            match next {
                Some((have, rest)) if *have == byte => self.text = rest,
                _ => {
                    self.equal = false;
                    // Nobody needs the rest.
                    return Err(fmt::Error);
                }
            }
        }
        Ok(())
    }
}

impl Write for Rest<'_> {
    // Inlined, so that what is linked is this crate's and not a piece of formatting.
    #[inline(always)]
    fn write_str(&mut self, printed: &str) -> fmt::Result {
        self.take(printed)
    }
}

/// A sink of known size over any sink.
struct DynSink<'o>(&'o mut dyn Write);

impl Write for DynSink<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_str(text)
    }
}

impl MemoryTile {
    /// As a descriptor: `<(128, 64), (64, 1), swizzle<3, 4, 3>>`.
    fn spell<W: Write>(&self, out: &mut W) -> fmt::Result {
        out.write_str("<(")?;
        for (dimension, extent) in self.shape.iter().enumerate() {
            out.write_str(if dimension > 0 { ", " } else { "" })?;
            number(out, u64::from(extent.unwrap_or(0)))?;
        }
        out.write_str("), (")?;
        for dimension in 0..self.shape.rank() {
            out.write_str(if dimension > 0 { ", " } else { "" })?;
            number(out, self.stride(dimension))?;
        }
        out.write_str(")")?;
        let (b, m, s) = self.swizzle;
        if b > 0 {
            out.write_str(", swizzle<")?;
            number(out, u64::from(b))?;
            out.write_str(", ")?;
            number(out, u64::from(m))?;
            out.write_str(", ")?;
            number(out, u64::from(s))?;
            out.write_str(">")?;
        }
        out.write_str(">")
    }
    /// Elements between neighbours along a dimension.
    #[must_use]
    pub fn stride(&self, dimension: usize) -> u64 {
        let extent = |at: usize| u64::from(self.shape.extent(at).unwrap_or(1));
        let rank = self.shape.rank().min(MAX_RANK);
        if self.row_major {
            (dimension.saturating_add(1)..rank)
                .fold(1, |product: u64, at| product.saturating_mul(extent(at)))
        } else {
            (0..dimension.min(rank)).fold(1, |product: u64, at| product.saturating_mul(extent(at)))
        }
    }
}

/// One layout of a book.
#[derive(Copy, Clone, Debug)]
pub struct SeededLayout {
    made: NewLayout,
    /// What the program calls it, if it has it.
    name: Option<TextRef>,
}

/// Layouts that passes made, in storage lent by the caller. A program's handles are good for the
/// book that they were made with.
#[derive(Debug)]
pub struct SeededLayouts<'b> {
    entries: &'b mut VecView<SeededLayout>,
}

impl<'b> SeededLayouts<'b> {
    /// A book over lent storage; what is in it stays.
    pub fn new(entries: &'b mut VecView<SeededLayout>) -> Self {
        Self { entries }
    }
    /// The layout of a handle.
    #[must_use]
    pub fn get(&self, handle: u16) -> Option<&NewLayout> {
        self.entries.get(usize::from(handle)).map(|entry| &entry.made)
    }
    /// How many layouts there is room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.entries.capacity()
    }
    /// Whether any layout was made that no text has.
    #[must_use]
    pub fn has_new(&self) -> bool {
        self.entries.iter().any(|entry| entry.name.is_none())
    }
    /// How a type names a layout: by the program's alias for it, if it has one. `None` without
    /// room.
    pub(super) fn encoding(
        &mut self,
        program: &Program<'_, '_>,
        made: &NewLayout,
    ) -> Option<TileEncoding> {
        let at = match self.entries.iter().position(|entry| entry.made == *made) {
            Some(at) => at,
            None => {
                let name = program
                    .aliases()
                    .find(|(_, body)| made.is(program.text(*body)))
                    .map(|(name, _)| name);
                self.entries.push(SeededLayout { made: *made, name }).ok()?;
                self.entries.len().saturating_sub(1)
            }
        };
        let entry = self.entries.get(at)?;
        Some(match entry.name {
            Some(name) => TileEncoding::Alias(name),
            None => TileEncoding::Handle(u16::try_from(at).ok()?),
        })
    }
    /// Whether a type has a layout.
    pub(super) fn says(&self, program: &Program<'_, '_>, ty: &Type, made: &NewLayout) -> bool {
        match ty.encoding {
            TileEncoding::Handle(handle) => self.get(handle) == Some(made),
            _ => program.layout_text(ty).is_some_and(|text| made.is(text)),
        }
    }
}

impl Annotate for SeededLayouts<'_> {
    fn handle(&self, number: u32, out: &mut dyn Write) -> fmt::Result {
        match u16::try_from(number).ok().and_then(|handle| self.get(handle)) {
            Some(made) => made.print(out),
            None => Err(fmt::Error),
        }
    }
}
