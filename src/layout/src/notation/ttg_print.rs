//! Printing Triton's layout attributes so that [`super::ttg::parse`] reads the same encoding.

use super::PrintError;
use super::ttg_table::{ATTRIBUTES, KEYS, Key};
use super::ttg_values::WMMA_SHAPE;
use super::write::integer;
use crate::axis::AxisId;
use crate::linear::{Hw, Linear, Logical};
use crate::triton::{
    AmdWmma, Base, BlockRepOrder, Cga, CtaMode, Encoding, Few, MAX_RANK, Swizzled, TensorMemory,
};
use core::fmt::Write;

/// Prints one attribute. Parameters that have their default are left out, as Triton does.
///
/// ```
/// use lanebook_layout::notation::{ttg, ttg_print};
///
/// let text = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
/// let mut out = String::new();
/// ttg_print::print(&mut out, &ttg::parse(text).unwrap()).unwrap();
/// assert_eq!(ttg::parse(&out), ttg::parse(text));
/// ```
///
/// # Errors
/// [`PrintError::Sink`].
pub fn print(out: &mut impl Write, encoding: &Encoding) -> Result<(), PrintError> {
    for dim in encoding.slices.iter().rev() {
        out.write_str("#ttg.slice<{dim = ")?;
        integer(out, i64::from(dim))?;
        out.write_str(", parent = ")?;
    }
    if let Some(dot) = &encoding.dot {
        out.write_str("#ttg.dot_op<{opIdx = ")?;
        integer(out, i64::from(dot.op_idx))?;
        out.write_str(", parent = ")?;
    }
    if let Some(p) = &encoding.partition {
        out.write_str("#ttg.partitioned_shared<{numPartitions = ")?;
        integer(out, i64::from(p.partitions))?;
        out.write_str(", numGroups = ")?;
        integer(out, i64::from(p.groups))?;
        out.write_str(", partitionDim = ")?;
        integer(out, i64::from(p.dim))?;
        out.write_str(", partitionLayout = ")?;
    }
    base(out, &encoding.base)?;
    if encoding.partition.is_some() {
        out.write_str("}>")?;
    }
    if let Some(dot) = &encoding.dot {
        if dot.k_width != 0 {
            out.write_str(", kWidth = ")?;
            integer(out, i64::from(dot.k_width))?;
        }
        out.write_str("}>")?;
    }
    for _ in encoding.slices.iter() {
        out.write_str("}>")?;
    }
    Ok(())
}

/// The fields of one attribute, with commas between.
struct Fields<'o, W> {
    out: &'o mut W,
    any: bool,
}

impl<W: Write> Fields<'_, W> {
    fn key(&mut self, key: Key) -> Result<(), PrintError> {
        if self.any {
            self.out.write_str(", ")?;
        }
        self.any = true;
        let name = KEYS.iter().find(|k| k.1 == key).map_or("", |k| k.0);
        self.out.write_str(name)?;
        Ok(self.out.write_str(" = ")?)
    }

    fn number(&mut self, key: Key, value: u32) -> Result<(), PrintError> {
        self.key(key)?;
        integer(self.out, i64::from(value))
    }

    fn flag(&mut self, key: Key, value: bool) -> Result<(), PrintError> {
        self.key(key)?;
        Ok(self.out.write_str(if value { "true" } else { "false" })?)
    }

    fn list(&mut self, key: Key, values: impl Iterator<Item = u32>) -> Result<(), PrintError> {
        self.key(key)?;
        self.row(values)
    }

    fn row(&mut self, values: impl Iterator<Item = u32>) -> Result<(), PrintError> {
        self.out.write_str("[")?;
        for (k, value) in values.enumerate() {
            if k > 0 {
                self.out.write_str(", ")?;
            }
            integer(self.out, i64::from(value))?;
        }
        Ok(self.out.write_str("]")?)
    }

    /// The bases of one input dimension.
    fn input(
        &mut self,
        key: Key,
        linear: &Linear<Hw, Logical>,
        input: AxisId,
    ) -> Result<(), PrintError> {
        self.key(key)?;
        self.out.write_str("[")?;
        for bit in 0..linear.ins().bits_of(input) {
            if bit > 0 {
                self.out.write_str(", ")?;
            }
            let at = |axis: AxisId| linear.column_on(input, bit, axis).unwrap_or(0);
            let row =
                linear.outs().iter().map(|(axis, _)| u32::try_from(at(axis)).unwrap_or(u32::MAX));
            self.row(row)?;
        }
        Ok(self.out.write_str("]")?)
    }

    fn bases<const N: usize>(
        &mut self,
        key: Key,
        bases: &Few<[u16; MAX_RANK], N>,
        rank: usize,
    ) -> Result<(), PrintError> {
        self.key(key)?;
        self.out.write_str("[")?;
        for (k, basis) in bases.iter().enumerate() {
            if k > 0 {
                self.out.write_str(", ")?;
            }
            self.row(basis.iter().take(rank).map(|v| u32::from(*v)))?;
        }
        Ok(self.out.write_str("]")?)
    }

    fn cga(&mut self, cga: &Cga, rank: usize) -> Result<(), PrintError> {
        if cga.bases.is_empty() {
            return Ok(());
        }
        self.bases(Key::CgaLayout, &cga.bases, rank)
    }
}

const fn number(base: &Base) -> usize {
    match base {
        Base::Blocked(_) => 0,
        Base::NvidiaMma(_) => 1,
        Base::AmdMfma(_) => 2,
        Base::AmdWmma(_) => 3,
        Base::Linear(_) => 4,
        Base::GenericLinear(_) => 5,
        Base::Swizzled(_) => 6,
        Base::Rotating(_) => 7,
        Base::SharedLinear(..) => 8,
        Base::Padded(_) => 9,
        Base::Nvmma(_) => 10,
        Base::TensorMemory(_) => 11,
        Base::TensorMemoryScales(..) => 12,
        Base::Auto => 13,
        Base::Coalesced => 14,
    }
}

fn base(out: &mut impl Write, base: &Base) -> Result<(), PrintError> {
    out.write_str("#")?;
    if let Some(attribute) = ATTRIBUTES.get(number(base)) {
        out.write_str(attribute.dialect)?;
        out.write_str(".")?;
        out.write_str(attribute.name)?;
    }
    // Tensor memory has no braces; placeholders have nothing at all.
    let (open, close) = match base {
        Base::Auto | Base::Coalesced => return Ok(()),
        Base::TensorMemory(_) | Base::TensorMemoryScales(..) => ("<", ">"),
        Base::SharedLinear(..) => ("<{", ""),
        Base::Padded(_) => ("<", ""),
        _ => ("<{", "}>"),
    };
    out.write_str(open)?;
    if let Base::Padded(p) = base {
        out.write_str("[")?;
        for (k, (interval, pad)) in p.pads.iter().enumerate() {
            if k > 0 {
                out.write_str(", ")?;
            }
            integer(out, i64::from(interval))?;
            out.write_str(":+")?;
            integer(out, i64::from(pad))?;
        }
        out.write_str("] {")?;
    }
    let mut fields = Fields { out, any: false };
    parameters(&mut fields, base)?;
    Ok(fields.out.write_str(close)?)
}

fn parameters<W: Write>(f: &mut Fields<'_, W>, base: &Base) -> Result<(), PrintError> {
    match base {
        Base::Blocked(b) => {
            f.list(Key::SizePerThread, b.size_per_thread.iter())?;
            f.list(Key::ThreadsPerWarp, b.threads_per_warp.iter())?;
            f.list(Key::WarpsPerCta, b.warps_per_cta.iter())?;
            f.list(Key::Order, b.order.iter().map(u32::from))?;
            f.cga(&b.cga, b.order.len())
        }
        Base::NvidiaMma(m) => {
            f.number(Key::VersionMajor, u32::from(m.major))?;
            f.number(Key::VersionMinor, u32::from(m.minor))?;
            f.list(Key::WarpsPerCta, m.warps_per_cta.iter())?;
            f.cga(&m.cga, m.warps_per_cta.len())?;
            f.list(Key::InstrShape, m.instr_shape.iter())
        }
        Base::AmdMfma(m) => {
            f.number(Key::Version, u32::from(m.version))?;
            f.list(Key::WarpsPerCta, m.warps_per_cta.iter())?;
            f.list(Key::InstrShape, m.instr_shape.iter())?;
            f.flag(Key::IsTransposed, m.is_transposed)?;
            f.cga(&m.cga, m.warps_per_cta.len())?;
            if !m.tiles_per_warp.is_empty() {
                f.list(Key::TilesPerWarp, m.tiles_per_warp.iter())?;
            }
            if m.element_bits != 32 {
                f.number(Key::ElementBitWidth, u32::from(m.element_bits))?;
            }
            Ok(())
        }
        Base::AmdWmma(m) => wmma(f, m),
        Base::Linear(l) | Base::GenericLinear(l) => {
            f.input(Key::Register, l, AxisId::REGISTER)?;
            f.input(Key::Lane, l, AxisId::LANE)?;
            f.input(Key::Warp, l, AxisId::WARP)?;
            f.input(Key::Block, l, AxisId::BLOCK)
        }
        Base::Swizzled(s) | Base::Rotating(s) => swizzled(f, s),
        Base::SharedLinear(l, alignment) => {
            f.input(Key::Offset, l, AxisId::M)?;
            f.input(Key::Block, l, AxisId::BLOCK)?;
            f.out.write_str("}")?;
            f.number(Key::Alignment, *alignment)?;
            Ok(f.out.write_str(">")?)
        }
        Base::Padded(p) => {
            f.input(Key::Offset, &p.linear, AxisId::M)?;
            f.input(Key::Block, &p.linear, AxisId::BLOCK)?;
            Ok(f.out.write_str("}>")?)
        }
        Base::Nvmma(n) => {
            f.number(Key::SwizzlingByteWidth, u32::from(n.swizzle_bytes))?;
            f.flag(Key::Transposed, n.transposed)?;
            f.number(Key::ElementBitWidth, u32::from(n.element_bits))?;
            if n.fp4_padded {
                f.flag(Key::Fp4Padded, true)?;
            }
            f.cga(&n.cga, usize::from(n.rank))?;
            f.number(Key::Rank, u32::from(n.rank))
        }
        Base::TensorMemory(t) => tensor_memory(f, t),
        Base::TensorMemoryScales(cga, order) => {
            f.cga(cga, 2)?;
            if *order == BlockRepOrder::KThenMn {
                f.key(Key::BlockRepOrder)?;
                f.out.write_str("kThenMn")?;
            }
            Ok(())
        }
        Base::Auto | Base::Coalesced => Ok(()),
    }
}

/// What an AMD WMMA encoding says.
fn wmma<W: Write>(f: &mut Fields<'_, W>, m: &AmdWmma) -> Result<(), PrintError> {
    let rank = usize::from(m.rank);
    f.number(Key::Version, u32::from(m.version))?;
    f.flag(Key::IsTranspose, m.is_transposed)?;
    f.key(Key::CtaLayout)?;
    f.out.write_str("{")?;
    f.any = false;
    if !m.reg_bases.is_empty() {
        f.bases(Key::Register, &m.reg_bases, rank)?;
    }
    if !m.warp_bases.is_empty() {
        f.bases(Key::Warp, &m.warp_bases, rank)?;
    }
    f.out.write_str("}")?;
    f.any = true;
    f.cga(&m.cga, rank)?;
    if m.instr_shape.iter().ne(WMMA_SHAPE) {
        f.list(Key::InstrShape, m.instr_shape.iter())?;
    }
    // The length of a basis says it, and two dimensions are usual.
    let said = !m.reg_bases.is_empty()
        || !m.warp_bases.is_empty()
        || !m.cga.bases.is_empty()
        || m.rank == 2;
    if said { Ok(()) } else { f.number(Key::Rank, u32::from(m.rank)) }
}

/// What an encoding of tensor memory says.
fn tensor_memory<W: Write>(f: &mut Fields<'_, W>, t: &TensorMemory) -> Result<(), PrintError> {
    f.number(Key::BlockM, t.block_m)?;
    f.number(Key::BlockN, t.block_n)?;
    f.number(Key::ColStride, t.col_stride)?;
    f.cga(&t.cga, 2)?;
    if t.two_ctas {
        f.flag(Key::TwoCtas, true)?;
    }
    if t.cta_mode != CtaMode::Default {
        f.key(Key::CtaMode)?;
        f.out.write_str(if t.cta_mode == CtaMode::TwoLhs { "TwoCTA_LHS" } else { "TwoCTA_RHS" })?;
    }
    if t.fp4_padded {
        f.flag(Key::Fp4Padded, true)?;
    }
    Ok(())
}

fn swizzled<W: Write>(f: &mut Fields<'_, W>, s: &Swizzled) -> Result<(), PrintError> {
    f.number(Key::Vec, s.vec)?;
    f.number(Key::PerPhase, s.per_phase)?;
    f.number(Key::MaxPhase, s.max_phase)?;
    f.list(Key::Order, s.order.iter().map(u32::from))?;
    f.cga(&s.cga, s.order.len())
}
