//! Tensor maps as a driver fills them, from what the plan says.

use crate::checked::every_kernel;
use crate::try_with_kernel;
use lanebook::TABLES;
use lanebook::compile::Compiled;
use lanebook::ir::{MemrefBound, Program, TypeKind};
use lanebook::plan::MapPlan;
use lanebook::unit::swizzle;
use lanebook_replay::{BufferId, Memory, Param, TensorMap};

/// What a plan says of one of its maps, without references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelMap {
    /// The memref's number among the memrefs of the kernel's arguments.
    pub memref: usize,
    /// Bytes of an element.
    pub element_bytes: u8,
    /// The memref's dimension that each of the map's is, innermost first.
    pub order: [u8; 5],
    /// Dimensions.
    pub rank: u8,
    /// Where the memref ends along each dimension, if its bounds say so.
    pub bounds: [Option<MapBound>; 5],
    /// The box.
    pub boxed: [u16; 5],
    /// The driver's number of the swizzle mode.
    pub swizzle: u8,
}

/// A matrix that stands behind a memref: buffer, rows, columns; rows one after the other.
pub type Matrix = (BufferId, u32, u32);

/// Where a memref ends along a dimension.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MapBound {
    /// Behind so many elements.
    Number(u32),
    /// As an argument says, by its number among those that are no tensors; or half of it.
    Argument {
        /// The argument.
        number: usize,
        /// 1, or 2.
        by: u32,
    },
}

impl KernelMap {
    /// What the plan says.
    ///
    /// # Panics
    /// When the plan names something that is not there.
    #[must_use]
    pub fn of(program: &Program<'_, '_>, function: lanebook::ir::Op, map: &MapPlan) -> Self {
        let mut memrefs =
            program.parameters(function).filter(|v| program.type_of(*v).kind == TypeKind::Memref);
        let memref = memrefs.position(|v| v == map.memref).expect("an argument");
        let rules = TABLES.units.tensor_maps.get(usize::from(map.map)).expect("rules");
        let element = rules.elements.get(usize::from(map.element)).expect("an element type");
        let mode = TABLES.units.swizzles.get(usize::from(map.mode)).expect("a mode");
        let swizzle = swizzle::code(mode, rules.encoding)
            .and_then(|c| u8::try_from(c).ok())
            .expect("a number");
        Self {
            memref,
            element_bytes: element.bits / 8,
            order: map.order,
            rank: map.rank,
            bounds: bounds_of(program, function, map.memref),
            boxed: map.boxed,
            swizzle,
        }
    }

    /// The same map of a tensor that ends where its bounds say, with the arguments that are no
    /// tensors.
    ///
    /// # Panics
    /// If there are fewer arguments.
    #[must_use]
    pub fn within(&self, mut map: TensorMap, numbers: &[(String, i64)]) -> TensorMap {
        map.bounded = self.bounds.iter().any(Option::is_some);
        for (k, dim) in self.order.into_iter().take(self.rank.into()).enumerate() {
            match self.bounds[usize::from(dim)] {
                None => {}
                Some(MapBound::Number(bound)) => map.extents[k] = bound,
                Some(MapBound::Argument { number, by }) => {
                    map.extents[k] = u32::try_from(numbers[number].1).expect("a bound") / by;
                }
            }
        }
        map
    }

    /// The map of a tensor.
    ///
    /// # Panics
    /// When the memref has no matrix.
    #[must_use]
    pub fn fill(&self, matrices: &[Matrix], memory: &Memory) -> TensorMap {
        let (buffer, rows, cols) = *matrices.get(self.memref).expect("a matrix");
        self.fill_many(buffer, &[rows, cols], memory)
    }

    /// The map of a dense tensor of as many dimensions as the map has, outermost first.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub fn fill_many(&self, buffer: BufferId, extents: &[u32], memory: &Memory) -> TensorMap {
        let mut out = TensorMap {
            address: memory.address(buffer),
            element_bytes: self.element_bytes,
            rank: self.rank,
            extents: [1; 5],
            strides: [0; 5],
            boxed: [1; 5],
            swizzle: self.swizzle,
            bounded: false,
        };
        for (k, dim) in self.order.into_iter().take(self.rank.into()).enumerate() {
            let (own, inside) = extents.split_at(usize::from(dim) + 1);
            out.extents[k] = own[usize::from(dim)];
            out.strides[k] = inside
                .iter()
                .fold(u64::from(self.element_bytes), |bytes, extent| bytes * u64::from(*extent));
            out.boxed[k] = self.boxed[k];
        }
        out
    }
}

/// A map as encoders take it: a tensor without elements is one element of zeros to them.
#[must_use]
pub fn encoded(map: TensorMap, memory: &mut Memory) -> TensorMap {
    if map.extents[..usize::from(map.rank)].iter().all(|extent| *extent > 0) {
        return map;
    }
    let zeros = memory.add_zeros("a tensor without elements", 16);
    TensorMap { address: memory.address(zeros), extents: [1; 5], ..map }
}

/// The bounds of a memref, by its dimensions.
fn bounds_of(
    program: &Program<'_, '_>,
    function: lanebook::ir::Op,
    memref: lanebook::ir::Value,
) -> [Option<MapBound>; 5] {
    let mut out = [None; 5];
    let others =
        program.parameters(function).filter(|v| program.type_of(*v).kind != TypeKind::Memref);
    let of = |value, by| MapBound::Argument {
        number: others.clone().position(|v| v == value).expect("an argument"),
        by,
    };
    let bounds = program.bounds(memref);
    for (place, bound) in out.iter_mut().zip(bounds.iter().flatten()) {
        *place = match *bound {
            MemrefBound::None => None,
            MemrefBound::Number(bound) => Some(MapBound::Number(bound)),
            MemrefBound::Argument(value) => Some(of(value, 1)),
            MemrefBound::Half(value) => Some(of(value, 2)),
        };
    }
    out
}

/// The maps that a kernel takes, in the order of its parameters; its steps are not checked.
///
/// # Panics
/// When any stage refuses; the message says which.
#[must_use]
pub fn kernel_maps(text: &str, arch: &str) -> Vec<KernelMap> {
    try_with_kernel(text, arch, |program, compiled, _| maps_of(program, compiled))
        .unwrap_or_else(|e| panic!("{arch}: {e}"))
}

fn maps_of(program: &Program<'_, '_>, compiled: &Compiled<'_>) -> Vec<KernelMap> {
    compiled.plan.maps.iter().map(|m| KernelMap::of(program, compiled.function, m)).collect()
}

/// The text of a kernel, whose steps are checked, and the maps that it takes; or what refused it,
/// as the library's own value in Debug form.
///
/// # Errors
/// When any stage refuses.
pub fn try_text_and_maps(text: &str, arch: &str) -> Result<(String, Vec<KernelMap>), String> {
    try_with_kernel(text, arch, |program, compiled, out| {
        every_kernel(program, compiled, text, arch);
        (out.to_string(), maps_of(program, compiled))
    })
}

/// The text of a kernel, whose steps are checked, and the maps that it takes.
///
/// # Panics
/// When any stage refuses; the message says which.
#[must_use]
pub fn text_and_maps(text: &str, arch: &str) -> (String, Vec<KernelMap>) {
    try_text_and_maps(text, arch).unwrap_or_else(|e| panic!("{arch}: {e}"))
}

/// The parameters behind all others.
#[must_use]
pub fn map_params(maps: &[KernelMap], matrices: &[Matrix], memory: &Memory) -> Vec<Param> {
    maps.iter().map(|m| Param::Tensor(m.fill(matrices, memory))).collect()
}
