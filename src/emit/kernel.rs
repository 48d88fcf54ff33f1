//! The kernel's interface: its parameters, and the registers of values that come from outside the tile program.
//!
//! Per memref a pointer, then its extents and outer strides that are `?`, then (in the arguments' own order) index and
//! scalar arguments. Pointers have 64 bits, everything else 32, each naturally aligned.

use crate::ir::{Op, Program, TypeKind, Value};
use heapless::VecView;

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
}

/// Lists the parameters of a function; `false` if there is no room.
#[must_use]
pub fn parameters(program: &Program<'_, '_>, function: Op, out: &mut VecView<Param>) -> bool {
    out.clear();
    let mut offset = 0u32;
    let mut push = |value: Value, kind: ParamKind, bytes: u8| -> bool {
        offset = offset.next_multiple_of(u32::from(bytes.max(1)));
        let fits = out.push(Param { value, kind, offset, bytes }).is_ok();
        offset = offset.saturating_add(u32::from(bytes));
        fits
    };
    for value in program.parameters(function) {
        let ty = program.type_of(value);
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
    true
}

/// Bytes of the parameter block.
#[must_use]
pub fn parameter_bytes(params: &VecView<Param>) -> u32 {
    params.iter().map(|p| p.offset.saturating_add(u32::from(p.bytes))).max().unwrap_or(0).next_multiple_of(8)
}

/// The number of a parameter.
#[must_use]
pub fn find(params: &VecView<Param>, value: Value, kind: ParamKind) -> Option<(usize, Param)> {
    params.iter().copied().enumerate().find(|(_, p)| p.value == value && p.kind == kind)
}
