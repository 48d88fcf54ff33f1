//! Tensor maps that a compiled kernel takes as parameters, in numbers that a driver's encoder
//! wants.

use crate::code::{CallStatus, LbError};
use core::mem::MaybeUninit;
use lanebook::emit::{Launch, LaunchMap, MapNumber};

/// Most dimensions of a map.
const MAX_RANK: usize = lanebook::unit::map::MAX_RANK;
/// No parameter, no argument.
pub(crate) const NONE: u32 = u32::MAX;

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
    /// What the value of `extent_parameter` is divided by: 2 where the map's elements are pairs of
    /// those that the parameter counts, else 1; 0 without such a parameter.
    pub extent_divisor: u32,
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
        extent_divisor: 0,
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

/// Writes the maps that a launch has, if there is room for all; how many there are.
///
/// # Errors
/// [`CallStatus::Room`] with the number of maps and the room, before anything is written; [`CallStatus::Plan`]
/// if the plan names something that is not there.
pub(crate) fn describe(
    launch: &Launch<'_>,
    out: &mut [MaybeUninit<LbTensorMap>],
) -> Result<usize, LbError> {
    let count = launch.maps().count();
    if count > out.len() {
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        return Err(LbError {
            numbers: [number(count), number(out.len()), 0],
            ..LbError::of(CallStatus::Room)
        });
    }
    for (slot, map) in out.iter_mut().zip(launch.maps()) {
        slot.write(one(&map.ok_or(LbError::of(CallStatus::Plan))?));
    }
    Ok(count)
}

fn one(map: &LaunchMap<'_>) -> LbTensorMap {
    let mut out = LbTensorMap {
        parameter: map.parameter,
        offset: map.offset,
        bytes: map.bytes,
        align: map.align,
        argument: u32::from(map.argument),
        pointer_parameter: map.pointer_parameter,
        element: map.element.1,
        element_bytes: map.element_bytes,
        interleave: map.interleave.1,
        swizzle: map.swizzle.1,
        rank: 0,
        reserved: 0,
        dims: [LbTensorDim::EMPTY; MAX_RANK],
    };
    for (slot, dim) in out.dims.iter_mut().zip(map.dims()) {
        let parts = |number| match number {
            MapNumber::Known(number) => (u64::from(number), NONE),
            MapNumber::Parameter(parameter) | MapNumber::Half(parameter) => (0, parameter),
        };
        let ((extent, extent_parameter), (stride_bytes, stride_parameter)) =
            (parts(dim.extent), parts(dim.stride));
        *slot = LbTensorDim {
            extent,
            stride_bytes,
            extent_parameter,
            stride_parameter,
            argument_dim: dim.argument_dim,
            box_extent: dim.box_extent,
            element_stride: dim.element_stride,
            extent_divisor: match dim.extent {
                MapNumber::Known(_) => 0,
                MapNumber::Parameter(_) => 1,
                MapNumber::Half(_) => 2,
            },
        };
        out.rank = out.rank.saturating_add(1);
    }
    out
}
