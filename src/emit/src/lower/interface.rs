//! The kernel's interface: its parameters, and the registers of values that come from outside the
//! tile program.
//!
//! In the arguments' own order: of a memref a pointer, then its extents and outer strides that are
//! `?`; of an index or a number itself. Behind them tensor maps, then how many blocks there are where
//! no register says it. Pointers have 64 bits, maps what their
//! table says, everything else 32, each naturally aligned.
//!
//! A function that takes or returns register tiles is no kernel but a snippet: all of these are in
//! registers when it begins, and its results when it ends.

use crate::expr::Reg;
use crate::text::write_number;
use core::fmt::Write;
use heapless::VecView;
use lanebook_ir::{Op, Program, TypeKind, Value};
use lanebook_plan::MapPlan;
use lanebook_tables::{IndexWord, Isa, OpRole, Tables};

/// Behind the name of a number of 64 bits: its upper half.
const UPPER: &str = ".upper";

/// What a parameter is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Address of a memref's first element.
    Pointer,
    /// Extent of a dimension.
    Extent(u8),
    /// Elements between neighbours of a dimension.
    Stride(u8),
    /// An index or scalar argument.
    Scalar,
    /// A tensor map of a memref: an index among the plan's.
    Map(u8),
    /// How many blocks there are along an axis of the grid; of the operation that asks first.
    Blocks(u8),
    /// A register tile that a snippet takes.
    Tile,
    /// A register tile that a snippet returns, by its number.
    Result(u8),
    /// Where a snippet's scratch begins in shared memory, in bytes.
    Scratch,
}

/// A kernel parameter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The program's argument.
    pub value: Value,
    /// What of it.
    pub kind: ParamKind,
    /// Byte offset in the parameter block.
    pub offset: u32,
    /// Bytes.
    pub bytes: u8,
    /// Alignment of the offset in bytes.
    pub align: u8,
    /// Of a snippet: the registers that it is in, once there are steps.
    pub register: Option<Reg>,
}

/// A tile that lives in registers.
fn is_tile(program: &Program<'_, '_>, value: Value) -> bool {
    let ty = program.type_of(value);
    ty.is_tile() && !ty.is_memory()
}

/// The operation that ends a function, where it says so.
pub(crate) fn returned(program: &Program<'_, '_>, function: Op) -> Option<Op> {
    let end = program.body(function).and_then(|body| program.terminator(body));
    end.filter(|op| program.role(*op) == OpRole::Return)
}

/// Lists the parameters of a function, its tensor maps `maps` last; `false` if there is no room.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::emit::{Param, parameters};
/// use lanebook::ir::{Options, SmallStorage, parse};
/// use lanebook::plan::MapPlan;
///
/// let text = "func @f(%x: memref<?x64xf32, #gmem>, %m: index) {threads = 32} {\n}";
/// let mut pools = Box::new(SmallStorage::new());
/// let program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let mut list = heapless::Vec::<Param, 8>::new();
/// let isa = TABLES.isas.iter().find(|isa| isa.name == "ptx").unwrap();
/// let maps = heapless::Vec::<MapPlan, 1>::new();
/// let f = program.function("f").unwrap();
/// assert!(parameters((&TABLES, isa), &program, f, maps.as_view(), list.as_mut_view()));
/// // A pointer, the extent that the type does not say, and the index.
/// assert_eq!(list.iter().map(|param| param.bytes).collect::<Vec<_>>(), [8, 4, 4]);
/// ```
#[must_use]
pub fn parameters(
    (tables, isa): (&Tables<'_>, &Isa<'_>),
    program: &Program<'_, '_>,
    function: Op,
    maps: &VecView<MapPlan>,
    out: &mut VecView<Param>,
) -> bool {
    out.clear();
    let mut offset = 0u32;
    let mut push_block = |value: Value, kind: ParamKind, bytes: u8, align: u8| -> bool {
        offset = offset.checked_next_multiple_of(u32::from(align.max(1))).unwrap_or(u32::MAX);
        let fits = out.push(Param { value, kind, offset, bytes, align, register: None }).is_ok();
        offset = offset.saturating_add(u32::from(bytes));
        fits
    };
    let mut push = |value: Value, kind: ParamKind, bytes: u8| push_block(value, kind, bytes, bytes);
    for value in program.parameters(function) {
        let ty = program.type_of(value);
        if is_tile(program, value) {
            if !push(value, ParamKind::Tile, 0) {
                return false;
            }
            continue;
        }
        if ty.kind != TypeKind::Memref {
            if !push(value, ParamKind::Scalar, 4) {
                return false;
            }
            continue;
        }
        if !push(value, ParamKind::Pointer, 8) {
            return false;
        }
        let rank = ty.shape.rank();
        for (k, extent) in (0u8..).zip(ty.shape.iter()) {
            if extent.is_none() && !push(value, ParamKind::Extent(k), 4) {
                return false;
            }
        }
        for k in 0..rank.saturating_sub(1) {
            // The stride of a dimension is known when all extents inside it are.
            let unknown = (k.saturating_add(1)..rank).any(|d| ty.shape.extent(d).is_none());
            let k = u8::try_from(k).unwrap_or(u8::MAX);
            if unknown && !push(value, ParamKind::Stride(k), 4) {
                return false;
            }
        }
    }
    for (k, map) in (0u8..).zip(maps) {
        let Some(rules) = tables.units.tensor_maps.get(usize::from(map.map)) else { return false };
        if !push_block(map.memref, ParamKind::Map(k), rules.block.0, rules.block.1) {
            return false;
        }
    }
    let results = returned(program, function).into_iter().flat_map(|op| program.operands(op));
    for (number, value) in (0u8..).zip(results) {
        if !push_block(value, ParamKind::Result(number), 0, 1) {
            return false;
        }
    }
    for axis in (0..3).filter(|_| isa.read_blocks.is_empty()) {
        let asks = program.inside(function).find(|op| {
            program.index_word(*op) == Some(IndexWord::Blocks)
                && program.grid_axis(*op) == Some(axis)
        });
        if let Some(value) = asks.and_then(|op| program.result(op, 0))
            && !push_block(value, ParamKind::Blocks(axis), 4, 4)
        {
            return false;
        }
    }
    true
}

/// Bytes of the parameter block.
#[must_use]
pub fn parameter_bytes(params: &VecView<Param>) -> u32 {
    params
        .iter()
        .map(|p| p.offset.saturating_add(u32::from(p.bytes)))
        .max()
        .unwrap_or(0)
        .next_multiple_of(8)
}

/// The number of a parameter.
#[must_use]
pub fn find(params: &VecView<Param>, value: Value, kind: ParamKind) -> Option<(usize, Param)> {
    params.iter().copied().enumerate().find(|(_, p)| p.value == value && p.kind == kind)
}

/// Whether a parameter is the upper half of a number of 64 bits, whose lower half stands in front: a
/// number without a name, which each argument has that is written.
pub(crate) fn is_upper(program: &Program<'_, '_>, value: Value) -> bool {
    let ty = program.type_of(value);
    let is_number = ty.kind == TypeKind::Scalar && ty.dtype.is_some();
    is_number && program.value_name(value).is_empty()
}

/// Writes the name of one of the parameters.
pub(crate) fn write_parameter_of(
    program: &Program<'_, '_>,
    params: &[Param],
    number: usize,
    out: &mut impl Write,
) -> core::fmt::Result {
    let Some(param) = params.get(number) else { return Ok(()) };
    let lower = number.checked_sub(1).and_then(|before| params.get(before));
    match lower.filter(|_| param.kind == ParamKind::Scalar && is_upper(program, param.value)) {
        Some(lower) => {
            write_parameter(program.value_name(lower.value), lower.kind, out)?;
            out.write_str(UPPER)
        }
        None => write_parameter(program.value_name(param.value), param.kind, out),
    }
}

/// Writes the name of a parameter of an argument.
pub(crate) fn write_parameter(
    argument: &str,
    kind: ParamKind,
    out: &mut impl Write,
) -> core::fmt::Result {
    let (what, number) = match kind {
        ParamKind::Pointer | ParamKind::Scalar => ("", None),
        ParamKind::Extent(dim) => (".extent", Some(dim)),
        ParamKind::Stride(dim) => (".stride", Some(dim)),
        ParamKind::Map(_) => (".map", None),
        ParamKind::Tile => ("", None),
        ParamKind::Scratch => return out.write_str("scratch"),
        ParamKind::Result(number) => {
            out.write_str("result")?;
            return write_number(out, u64::from(number));
        }
        ParamKind::Blocks(axis) => {
            out.write_str("blocks.")?;
            return out.write_str(["x", "y", "z"].get(usize::from(axis)).copied().unwrap_or(""));
        }
    };
    out.write_str(argument)?;
    out.write_str(what)?;
    match number {
        Some(number) => write_number(out, u64::from(number)),
        None => Ok(()),
    }
}
