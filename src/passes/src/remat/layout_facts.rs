//! What a layout's text means at a shape: read, made a matrix, and boiled down to what comparing
//! layouts takes.
use core::fmt::Write;
use heapless::String;
use lanebook_ir::layout_table::LayoutRecord;
use lanebook_ir::{AttrValue, Program, Shape, TileEncoding, Type};
use lanebook_layout::notation::ttg;
use lanebook_layout::{AxisId, Hw, Linear, Logical, triton};
use lanebook_tables::ArchId;
use lanebook_tile::encoding;

/// Bytes of a layout's text with everything that its aliases stand for.
const LONGEST: usize = 512;
/// Aliases inside each other.
const NESTED: usize = 4;

/// Text with room for any layout.
pub(super) type Text = String<LONGEST>;

/// The architecture that a module is for: `ttg.target = "cuda:90"`, of which the tables know the
/// end.
pub(super) fn target(program: &Program<'_, '_>) -> Option<ArchId> {
    let module = program.ops(program.root()).next()?;
    let Some(AttrValue::Str(name)) = program.attr(module, "target") else { return None };
    let wanted = program.text(name);
    let wanted = cut(wanted, b':').map_or(wanted, |(_, arch)| arch);
    let tables = program.tables();
    if let Some(arch) = tables.arch_named(wanted) {
        return Some(arch);
    }
    let ends = |name: &str| name.strip_suffix(wanted).is_some_and(|head| head.ends_with('_'));
    let at = tables.archs.iter().position(|arch| ends(arch.name))?;
    u16::try_from(at).ok().map(ArchId)
}

/// What stands before and behind the first such byte, one of ASCII. (A search for a `char` keeps a
/// way to panic.)
pub(super) fn cut(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|found| found == byte)?;
    let (before, behind) = text.split_at_checked(at)?;
    Some((before, behind.get(1..)?))
}

/// The text with aliases replaced by what they stand for; `None` for an alias that stands for
/// nothing, or too long a text.
pub(super) fn expanded(program: &Program<'_, '_>, text: &str, out: &mut Text) -> Option<()> {
    out.clear();
    let mut open: heapless::Vec<&str, NESTED> = heapless::Vec::new();
    open.push(text).ok()?;
    while let Some(rest) = open.pop() {
        let Some((before, after)) = cut(rest, b'#') else {
            out.push_str(rest).ok()?;
            continue;
        };
        out.push_str(before).ok()?;
        let len =
            after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (name, tail) = after.split_at_checked(len)?;
        open.push(tail).ok()?;
        if tail.starts_with('.') {
            out.push('#').ok()?;
            out.push_str(name).ok()?;
        } else {
            open.push(program.alias(name)?).ok()?;
        }
    }
    Some(())
}

/// Adds the text of an encoding as it stands in a type: an alias with its `#`.
pub(super) fn spelled(
    program: &Program<'_, '_>,
    encoding: TileEncoding,
    out: &mut Text,
) -> Option<()> {
    match encoding {
        TileEncoding::Alias(name) => {
            out.push('#').ok()?;
            out.push_str(program.text(name)).ok()
        }
        TileEncoding::Written(_) | TileEncoding::Interned(..) => {
            let ty = Type::ELIDED.encoded(encoding);
            out.push_str(program.layout_text(&ty)?).ok()
        }
        TileEncoding::None | TileEncoding::Handle(_) => None,
    }
}

/// Extents as the algebra wants them.
pub(super) fn extents<'o>(
    shape: &Shape,
    out: &'o mut [u32; triton::MAX_RANK],
) -> Option<&'o [u32]> {
    let rank = shape.rank();
    for (d, slot) in out.iter_mut().enumerate().take(rank) {
        *slot = shape.extent(d)?;
    }
    out.get(..rank)
}

/// A text's encoding, if it is one of a tile in registers.
#[inline(never)]
pub(super) fn read(
    program: &Program<'_, '_>,
    text: &str,
    out: &mut triton::Encoding,
) -> Option<()> {
    let mut whole = Text::new();
    expanded(program, text, &mut whole)?;
    ttg::parse_into(&whole, out).ok()?;
    out.is_distributed().then_some(())
}

/// The encoding of a type's layout, if its text is one of a tile in registers.
#[inline(never)]
pub(crate) fn encoding_of(
    program: &Program<'_, '_>,
    ty: &Type,
    out: &mut triton::Encoding,
) -> Option<()> {
    read(program, program.layout_text(ty)?, out)
}

/// An encoding that is to be filled.
pub(crate) fn blank() -> triton::Encoding {
    triton::Encoding::from(triton::Base::Auto)
}

/// A text's map at a shape. Encodings and maps are large: one frame holds one of them, and they are
/// filled where they lie.
#[inline(never)]
pub(super) fn linear(
    program: &Program<'_, '_>,
    arch: Option<ArchId>,
    text: &str,
    shape: &Shape,
    out: &mut Linear<Hw, Logical>,
) -> Option<()> {
    let mut encoding = blank();
    read(program, text, &mut encoding)?;
    map_of(program, arch, &encoding, shape, out)
}

/// An encoding's map at a shape. One that takes a matrix instruction's tile has one only when the
/// target is known; for the others it does not matter.
pub(super) fn map_of(
    program: &Program<'_, '_>,
    arch: Option<ArchId>,
    encoding: &triton::Encoding,
    shape: &Shape,
    out: &mut Linear<Hw, Logical>,
) -> Option<()> {
    let mut room = [0u32; triton::MAX_RANK];
    let extents = extents(shape, &mut room)?;
    let tiles = matches!(
        encoding.base,
        triton::Base::NvidiaMma(_) | triton::Base::AmdMfma(_) | triton::Base::AmdWmma(_)
    );
    let arch = arch.or(if tiles { None } else { Some(ArchId(0)) })?;
    match encoding::to_linear(program.tables(), arch, encoding, extents) {
        Ok(map) => {
            *out = map;
            Some(())
        }
        Err(_) => None,
    }
}

/// What is to be remembered of a text at a shape, if its map is known.
#[inline(never)]
pub(super) fn measure(
    program: &Program<'_, '_>,
    arch: Option<ArchId>,
    text: &str,
    encoding: TileEncoding,
    shape: Shape,
) -> Option<LayoutRecord> {
    let mut map = Linear::empty();
    linear(program, arch, text, &shape, &mut map)?;
    Some(known(encoding, shape, &map))
}

/// One more word of a digest.
const fn mix(state: u64, word: u64) -> u64 {
    let state = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state ^ (state >> 29)
}

const fn halves(word: u64) -> [u32; 2] {
    [word as u32, word.wrapping_shr(32) as u32]
}

/// What is to be remembered of a layout whose map is known.
pub(super) fn known(
    encoding: TileEncoding,
    shape: Shape,
    map: &Linear<Hw, Logical>,
) -> LayoutRecord {
    let (mut whole, mut threads) = (0u64, 0u64);
    for axis in [AxisId::REGISTER, AxisId::LANE, AxisId::WARP, AxisId::BLOCK] {
        let bits = map.ins().bits_of(axis);
        whole = mix(whole, u64::from(bits));
        for bit in 0..bits {
            let column = map.column(axis, bit).unwrap_or(0);
            whole = mix(whole, column);
            if axis != AxisId::REGISTER {
                threads = mix(threads, column);
            }
        }
        threads = mix(threads, u64::from(if axis == AxisId::REGISTER { 0 } else { bits }));
    }
    let width = [AxisId::LANE, AxisId::WARP]
        .iter()
        .fold(0u8, |sum, axis| sum.saturating_add(map.ins().bits_of(*axis)));
    let copies = map.ins().bits().saturating_sub(map.outs().bits());
    LayoutRecord {
        encoding,
        shape,
        whole: halves(whole),
        threads: halves(threads),
        reach: reach(map) as u32,
        copies,
        width,
        known: true,
        chain: 0,
        next: 0,
        next_map: 0,
    }
}

/// A digest of the span of the registers' columns: of its one fully reduced basis.
fn reach(map: &Linear<Hw, Logical>) -> u64 {
    // By the highest bit of each; every row is zero at the others' highest bits.
    let mut rows = [0u64; 64];
    let mut tops = 0u64;
    for bit in 0..map.ins().bits_of(AxisId::REGISTER) {
        let mut column = map.column(AxisId::REGISTER, bit).unwrap_or(0);
        for top in bits(column & tops) {
            column ^= rows.get(top as usize).copied().unwrap_or(0);
        }
        let Some(top) = column.checked_ilog2() else { continue };
        for other in bits(tops) {
            if let Some(row) = rows.get_mut(other as usize)
                && row.wrapping_shr(top) & 1 == 1
            {
                *row ^= column;
            }
        }
        if let Some(row) = rows.get_mut(top as usize) {
            *row = column;
        }
        tops |= 1u64.wrapping_shl(top);
    }
    bits(tops).fold(1, |state, top| mix(state, rows.get(top as usize).copied().unwrap_or(0)))
}

/// The numbers of the bits that are set.
fn bits(of: u64) -> impl Iterator<Item = u32> {
    let mut left = of;
    core::iter::from_fn(move || {
        let bit = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

/// What is to be remembered of a layout of which only the text says anything.
pub(super) fn unknown(encoding: TileEncoding, shape: Shape, text: &str) -> LayoutRecord {
    let whole = text.bytes().fold(2, |state, byte| mix(state, u64::from(byte)));
    LayoutRecord {
        encoding,
        shape,
        whole: halves(whole),
        threads: halves(whole),
        reach: whole as u32,
        copies: 0,
        width: 0,
        known: false,
        chain: 0,
        next: 0,
        next_map: 0,
    }
}

/// Writes the text of a parent's slice.
pub(super) fn slice_text(
    program: &Program<'_, '_>,
    parent: TileEncoding,
    axis: u8,
    out: &mut Text,
) -> Option<()> {
    out.push_str("#ttg.slice<{dim = ").ok()?;
    out.push(char::from(b'0'.checked_add(axis)?)).ok()?;
    out.push_str(", parent = ").ok()?;
    spelled(program, parent, out)?;
    out.push_str("}>").ok()
}

/// The dimension that a slice's text takes out, and its parent's text.
pub(super) fn slice_parts(text: &str) -> Option<(u8, &str)> {
    let body = text.trim_ascii().strip_prefix("#ttg.slice<{")?.strip_suffix("}>")?;
    let (dim, parent) = cut(body, b',')?;
    let dim =
        dim.trim_ascii().strip_prefix("dim")?.trim_ascii_start().strip_prefix('=')?.trim_ascii();
    let parent = parent
        .trim_ascii()
        .strip_prefix("parent")?
        .trim_ascii_start()
        .strip_prefix('=')?
        .trim_ascii();
    let [digit] = dim.as_bytes() else { return None };
    let axis = digit.checked_sub(b'0').filter(|axis| *axis < 8)?;
    Some((axis, parent))
}

/// Writes a map as an encoding of its own: `linear` where each bit goes to one place, else
/// `generic_linear`.
#[inline(never)]
pub(super) fn print_linear(map: &Linear<Hw, Logical>, out: &mut Text) -> Option<()> {
    let mut seen = 0u64;
    let plain = map.columns().iter().all(|column| {
        let fresh = column & seen == 0 && column.count_ones() <= 1;
        seen |= column;
        fresh
    });
    let mut encoding = blank();
    encoding.base = if plain {
        triton::Base::Linear(map.clone())
    } else {
        triton::Base::GenericLinear(map.clone())
    };
    print_encoding(&encoding, out)
}

/// Writes an encoding.
#[inline(never)]
pub(super) fn print_encoding(encoding: &triton::Encoding, out: &mut Text) -> Option<()> {
    out.clear();
    lanebook_layout::notation::ttg_print::print(&mut TextSink(out), encoding).ok()
}

struct TextSink<'o>(&'o mut Text);

impl Write for TextSink<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0.push_str(text).map_err(|_| core::fmt::Error)
    }
}
