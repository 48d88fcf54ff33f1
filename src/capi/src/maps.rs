//! Tensor maps that a compiled kernel takes as parameters, in numbers that a driver's encoder
//! wants.

use crate::code::{CallStatus, LbError};
use core::mem::MaybeUninit;
use lanebook::TABLES;
use lanebook::compile::Compiled;
use lanebook::emit::ParamKind;
use lanebook::ir::{Program, Value};
use lanebook::plan::MapPlan;
use lanebook::unit::swizzle;

/// Most dimensions of a map.
const MAX_RANK: usize = lanebook::unit::map::MAX_RANK;
/// No parameter.
const NONE: u32 = u32::MAX;

/// A dimension of a map, innermost first.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LbTensorDim {
    /// The tensor's extent; 0: it is the value of `extent_parameter`.
    pub extent: u64,
    /// Bytes from one element to the next; 0: the value of `stride_parameter` times the element's
    /// bytes.
    pub stride_bytes: u64,
    /// Number of the kernel's parameter that holds the extent; `UINT32_MAX` where none does.
    pub extent_parameter: u32,
    /// Number of the kernel's parameter that holds the stride in elements; `UINT32_MAX` where none
    /// does.
    pub stride_parameter: u32,
    /// The argument's dimension that this is.
    pub argument_dim: u32,
    /// Elements of the box.
    pub box_extent: u32,
    /// Steps between the box's elements.
    pub element_stride: u32,
    /// 0.
    pub reserved: u32,
}

impl LbTensorDim {
    const EMPTY: Self = Self {
        extent: 0,
        stride_bytes: 0,
        extent_parameter: NONE,
        stride_parameter: NONE,
        argument_dim: 0,
        box_extent: 0,
        element_stride: 0,
        reserved: 0,
    };
}

/// A tensor map.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LbTensorMap {
    /// Number of the kernel's parameter that the map is, from 0.
    pub parameter: u32,
    /// Its offset in the parameter block in bytes, its size, and its alignment.
    pub offset: u32,
    /// See `offset`.
    pub bytes: u32,
    /// See `offset`.
    pub align: u32,
    /// Number of the function's argument whose tensor it describes, from 0.
    pub argument: u32,
    /// Number of the kernel's parameter that holds the tensor's address.
    pub pointer_parameter: u32,
    /// The driver's number of the element type.
    pub element: u32,
    /// Bytes of an element.
    pub element_bytes: u32,
    /// The driver's number of the interleaving.
    pub interleave: u32,
    /// The driver's number of the swizzle mode.
    pub swizzle: u32,
    /// Dimensions.
    pub rank: u32,
    /// 0.
    pub reserved: u32,
    /// The first `rank` of them mean something.
    pub dims: [LbTensorDim; MAX_RANK],
}

/// Writes what a compiled kernel takes, as far as there is room; how many there are.
///
/// # Errors
/// [`CallStatus::Room`] with the number of maps and the room, before anything is written; [`CallStatus::Plan`]
/// if the plan names something that is not there.
pub(crate) fn describe(
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    out: &mut [MaybeUninit<LbTensorMap>],
) -> Result<usize, LbError> {
    let count = compiled.plan.maps.len();
    if count > out.len() {
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        return Err(LbError {
            numbers: [number(count), number(out.len()), 0],
            ..LbError::of(CallStatus::Room)
        });
    }
    for (number, (slot, map)) in out.iter_mut().zip(compiled.plan.maps.iter()).enumerate() {
        slot.write(one(program, compiled, number, map).ok_or(LbError::of(CallStatus::Plan))?);
    }
    Ok(count)
}

fn one(
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    number: usize,
    map: &MapPlan,
) -> Option<LbTensorMap> {
    let rules = TABLES.units.tensor_maps.get(usize::from(map.map))?;
    let (element, mode) = (
        rules.elements.get(usize::from(map.element))?,
        TABLES.units.swizzles.get(usize::from(map.mode))?,
    );
    let interleave = rules.interleaves.iter().find(|i| i.rows)?;
    let coded = |codes: &[(&str, u16)]| {
        codes.iter().find(|(name, _)| *name == rules.encoding).map(|(_, code)| u32::from(*code))
    };
    let find = |value: Value, kind: ParamKind| {
        let at = compiled.params.iter().position(|p| p.value == value && p.kind == kind)?;
        u32::try_from(at).ok()
    };
    let own = compiled.params.iter().find(|p| {
        p.value == map.memref && u8::try_from(number).is_ok_and(|n| p.kind == ParamKind::Map(n))
    })?;
    let mut out = LbTensorMap {
        parameter: find(map.memref, own.kind)?,
        offset: own.offset,
        bytes: u32::from(own.bytes),
        align: u32::from(own.align),
        argument: u32::try_from(
            program.parameters(compiled.function).position(|v| v == map.memref)?,
        )
        .ok()?,
        pointer_parameter: find(map.memref, ParamKind::Pointer)?,
        element: coded(element.codes)?,
        element_bytes: u32::from(element.bits / 8),
        interleave: coded(interleave.codes)?,
        swizzle: swizzle::code(mode, rules.encoding).map(u32::from)?,
        rank: u32::from(map.rank),
        reserved: 0,
        dims: [LbTensorDim::EMPTY; MAX_RANK],
    };
    let shape = program.type_of(map.memref).shape;
    for (place, (slot, (dim, boxed))) in
        out.dims.iter_mut().zip(map.dims().iter().zip(map.boxed)).enumerate()
    {
        let extent = shape.extent(usize::from(*dim));
        let known = if place == 0 { Some(u32::from(element.bits / 8)) } else { map.stride(place) };
        *slot = LbTensorDim {
            extent: extent.map_or(0, u64::from),
            stride_bytes: known.map_or(0, u64::from),
            extent_parameter: if extent.is_none() {
                find(map.memref, ParamKind::Extent(*dim))?
            } else {
                NONE
            },
            stride_parameter: if known.is_none() {
                find(map.memref, ParamKind::Stride(*dim))?
            } else {
                NONE
            },
            argument_dim: u32::from(*dim),
            box_extent: u32::from(boxed),
            element_stride: 1,
            reserved: 0,
        };
    }
    Some(out)
}
