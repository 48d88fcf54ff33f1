//! What whoever launches a kernel must know: its parameters, its grid, its memory, its tensor maps,
//! and what the assembler of its text must be told.
//!
//! A [`Launch`] is a view of a [`Compiled`](crate::Compiled) kernel and the program that it is of;
//! nothing is computed before it is asked for. Numbers of arguments are those of the tile program's
//! function, from 0; numbers of parameters are those of the kernel, from 0, in the order of the
//! parameter block.

use crate::lower::interface::{
    Param, ParamKind, find, is_upper, parameter_bytes, write_parameter, write_parameter_of,
};
use crate::text::{TextError, dynamic_shared, write_number};
use core::fmt::Write;
use heapless::VecView;
use lanebook_ir::{
    AttrValue, GridError, GridStep, IndexFacts, MemrefBound, Op, Program, Value, attr_names,
};
use lanebook_plan::{MapPlan, Plan};
use lanebook_tables::{Code, DtypeKind, Isa, Piece, Tables};
use lanebook_tile::unit::{map::MAX_RANK, swizzle};

/// Everything that whoever launches a kernel must know.
#[derive(Copy, Clone)]
pub struct Launch<'k> {
    /// The kernel's name in its text.
    pub kernel: &'k str,
    /// What its assembler calls the architecture.
    pub target: &'k str,
    /// The version of its text; empty where texts have none.
    pub version: &'k str,
    /// Threads of a block: all along x, 1 along y and z.
    pub threads: u32,
    /// Lanes of a wave (a warp).
    pub wave_lanes: u32,
    /// Bytes of shared memory that the text itself declares.
    pub static_shared_bytes: u32,
    /// Bytes of shared memory that the launch must ask for.
    pub dynamic_shared_bytes: u32,
    /// Columns of tensor memory that a block allocates while it runs; a launch passes nothing.
    pub tensor_columns: u32,
    /// Blocks of a cluster along x, y and z. No kernel uses more than one yet.
    pub cluster: [u32; 3],
    /// Bytes of the parameter block.
    pub parameter_bytes: u32,
    tables: &'k Tables<'k>,
    isa: &'k Isa<'k>,
    program: &'k Program<'k, 'k>,
    function: Op,
    params: &'k VecView<Param>,
    maps: &'k VecView<MapPlan>,
}

/// A kernel parameter, and what to put there.
///
/// ```
/// use lanebook::emit::{LaunchMap, LaunchMapDim, LaunchParameter, MapNumber, ParamKind};
///
/// // What a launcher does with a parameter: `multiple` is promised of its value.
/// fn size(parameter: &LaunchParameter) -> u32 {
///     match parameter.kind {
///         ParamKind::Map(_) => parameter.align.max(parameter.bytes),
///         _ => parameter.bytes,
///     }
/// }
/// // Of a tensor map, how large the box is, and what its extents are.
/// fn box_elements(map: &LaunchMap) -> u32 {
///     map.dims().iter().map(|dim: &LaunchMapDim| dim.box_extent).product()
/// }
/// assert_ne!(MapNumber::Known(64), MapNumber::Parameter(3));
/// # let _ = (size, box_elements);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LaunchParameter {
    /// What to put there.
    pub kind: ParamKind,
    /// Of which argument of the function; `None`: of none ([`ParamKind::Blocks`]).
    pub argument: Option<u16>,
    /// Bytes from the beginning of the parameter block.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
    /// Alignment of the offset in bytes.
    pub align: u32,
    /// What is put there is a multiple of this: bytes of an address, elements of a stride.
    pub multiple: u32,
    /// The least number that may be put there; 0 for addresses and maps, and of arguments that are
    /// no whole numbers.
    pub low: i64,
    /// The greatest one; 0 for addresses and maps, whose values have no bounds.
    pub high: i64,
}

/// A number of a tensor map that its tensor's type says, or the kernel's parameter that holds it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MapNumber {
    /// It is known: elements of an extent, bytes of a stride.
    Known(u32),
    /// It is what this parameter holds; a stride counts elements there.
    Parameter(u32),
    /// It is half of what this parameter holds, which is even: the map's elements are pairs.
    Half(u32),
}

/// A dimension of a tensor map.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LaunchMapDim {
    /// The argument's dimension that this is, from 0.
    pub argument_dim: u32,
    /// Elements of the tensor, up to its bound where it has one.
    pub extent: MapNumber,
    /// From one element to the next.
    pub stride: MapNumber,
    /// Elements of the box.
    pub box_extent: u32,
    /// Steps between the box's elements.
    pub element_stride: u32,
}

/// A tensor map that the kernel takes by value, in the numbers that a driver's encoder is given.
/// Elements outside of the tensor read as zeros (`CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE` in CUDA's
/// driver API): extents are the tensor's bounds, where it has some. How much the second-level cache
/// fetches at once is open: no result depends on it. Encoders take extents of 1 or more: a tensor
/// that has an extent of 0 is one element of zeros to them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LaunchMap<'k> {
    /// The kernel's parameter that it is.
    pub parameter: u32,
    /// Bytes from the beginning of the parameter block.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
    /// Its alignment in bytes.
    pub align: u32,
    /// The function's argument whose tensor it describes.
    pub argument: u16,
    /// The kernel's parameter that holds the tensor's address.
    pub pointer_parameter: u32,
    /// The element type, and the driver's number of it.
    pub element: (&'k str, u32),
    /// Bytes of an element.
    pub element_bytes: u32,
    /// The interleaving, and the driver's number of it.
    pub interleave: (&'k str, u32),
    /// The swizzle mode, and the driver's number of it.
    pub swizzle: (&'k str, u32),
    rank: u8,
    dims: [LaunchMapDim; MAX_RANK],
}

impl LaunchMap<'_> {
    /// Dimensions, the innermost first.
    #[must_use]
    pub fn dims(&self) -> &[LaunchMapDim] {
        self.dims.get(..usize::from(self.rank)).unwrap_or(&[])
    }
}

impl<'k> Launch<'k> {
    /// The launch of a kernel; `None` if the tables are not those that the plan was made by.
    pub(crate) fn new(
        tables: &'k Tables<'k>,
        program: &'k Program<'_, '_>,
        function: Op,
        plan: &'k Plan<'_>,
        params: &'k VecView<Param>,
    ) -> Option<Self> {
        let arch = tables.arch(plan.arch)?;
        let dynamic = dynamic_shared(arch, plan.shared_bytes);
        Some(Self {
            kernel: program.symbol(function),
            target: arch.target,
            version: arch.isa_version,
            threads: plan.launched_threads(),
            wave_lanes: 1u32.checked_shl(u32::from(plan.wave))?,
            static_shared_bytes: plan.shared_bytes.saturating_sub(dynamic),
            dynamic_shared_bytes: dynamic,
            tensor_columns: u32::from(plan.tensor_columns),
            cluster: [1; 3],
            parameter_bytes: parameter_bytes(params),
            tables,
            isa: tables.isa(arch.isa)?,
            program,
            function,
            params,
            maps: plan.maps,
        })
    }

    /// The kernel's parameters in their order.
    pub fn parameters(&self) -> impl Iterator<Item = LaunchParameter> + '_ {
        self.params.iter().map(|param| self.parameter(param))
    }

    fn parameter(&self, param: &Param) -> LaunchParameter {
        let number = |key| match self.program.value_attr(param.value, key)? {
            AttrValue::Int(n, _) => u32::try_from(n).ok(),
            _ => None,
        };
        let any = IndexFacts { low: 0, high: i64::from(i32::MAX), multiple: 1 };
        let none = IndexFacts { low: 0, high: 0, multiple: 1 };
        let facts = match param.kind {
            ParamKind::Pointer => {
                let element = self.element(param.value).map_or(1, |(_, bits)| u32::from(bits / 8));
                let multiple = number(attr_names::ALIGN).unwrap_or(element).max(element);
                IndexFacts { multiple, ..none }
            }
            ParamKind::Extent(_) => any,
            ParamKind::Stride(_) => {
                IndexFacts { multiple: number(attr_names::STRIDE_DIV).unwrap_or(1), ..any }
            }
            ParamKind::Scalar => self.scalar_facts(param.value),
            ParamKind::Map(_) | ParamKind::Tile | ParamKind::Result(_) | ParamKind::Scratch => none,
            ParamKind::Blocks(_) => IndexFacts { low: 1, ..any },
        };
        LaunchParameter {
            kind: param.kind,
            argument: self.argument(param.value),
            offset: param.offset,
            bytes: u32::from(param.bytes),
            align: u32::from(param.align),
            multiple: facts.multiple,
            low: facts.low,
            high: facts.high,
        }
    }

    /// What may be put there for an index, or for a number of 32 bits: any of its bits.
    fn scalar_facts(&self, value: Value) -> IndexFacts {
        let dtype = self.program.type_of(value).dtype.and_then(|d| self.tables.dtype(d));
        match dtype.map(|dtype| dtype.kind) {
            None => self.program.index_facts(value),
            Some(DtypeKind::Signed) => IndexFacts::UNKNOWN,
            Some(DtypeKind::Unsigned) => {
                IndexFacts { low: 0, high: i64::from(u32::MAX), multiple: 1 }
            }
            Some(_) => IndexFacts { low: 0, high: 0, multiple: 1 },
        }
    }

    /// The element type of a value, and its bits.
    fn element(&self, value: Value) -> Option<(&'k str, u16)> {
        let dtype = self.tables.dtype(self.program.type_of(value).dtype?)?;
        Some((dtype.name, dtype.bits))
    }

    /// The element type of an argument of the function that is a tensor or a number, and its bits;
    /// `None` of an index.
    #[must_use]
    pub fn argument_element(&self, argument: u16) -> Option<(&'k str, u16)> {
        self.element(self.arguments().nth(usize::from(argument))?)
    }

    /// The kind of numbers that an argument of the function, or its elements, are; `None` of an
    /// index.
    #[must_use]
    pub fn argument_kind(&self, argument: u16) -> Option<DtypeKind> {
        let value = self.arguments().nth(usize::from(argument));
        let dtype = self.program.type_of(value?).dtype?;
        self.tables.dtype(dtype).map(|dtype| dtype.kind)
    }

    /// The arguments of the function as it was written: a number of 64 bits is passed as two of 32, of
    /// which the upper one, behind the other, has no name.
    fn arguments(&self) -> impl Iterator<Item = Value> + '_ {
        let all = self.program.parameters(self.function);
        all.filter(|value| !is_upper(self.program, *value))
    }

    /// The number of an argument of the function.
    fn argument(&self, value: Value) -> Option<u16> {
        let before = self.program.parameters(self.function).take_while(|v| *v != value);
        let whole = before.filter(|value| !is_upper(self.program, *value)).count();
        let at = match is_upper(self.program, value) {
            true => whole.checked_sub(1)?,
            false => self.arguments().position(|v| v == value)?,
        };
        u16::try_from(at).ok()
    }

    /// The name of an argument of the function, without `%`; empty where there is none.
    #[must_use]
    pub fn argument_name(&self, argument: u16) -> &'k str {
        let value = self.arguments().nth(usize::from(argument));
        value.map_or("", |value| self.program.value_name(value))
    }

    /// Writes a parameter's name: `A`, `A.extent0`, `A.stride0`, `A.map`; `s.upper` of the upper half of
    /// a number of 64 bits `s`; `blocks.x` where it is how many blocks there are.
    ///
    /// # Errors
    /// When the sink refuses.
    pub fn write_name(
        &self,
        parameter: &LaunchParameter,
        out: &mut impl Write,
    ) -> core::fmt::Result {
        match self.params.iter().position(|own| own.offset == parameter.offset) {
            Some(number) => write_parameter_of(self.program, self.params, number, out),
            None => {
                let name = parameter.argument.map_or("", |number| self.argument_name(number));
                write_parameter(name, parameter.kind, out)
            }
        }
    }

    /// The blocks along an axis (0 is x), as the function's `grid` says them; `None` where it says
    /// nothing of the axis.
    #[must_use]
    pub fn grid_text(&self, axis: u8) -> Option<&str> {
        self.program.grid_axis_text(self.function, axis)
    }

    /// Hands out the same in postfix order. It is one block where there is no step.
    ///
    /// # Errors
    /// Those of `step`; none of its own, since a program with another grid is not compiled.
    pub fn grid_steps(
        &self,
        axis: u8,
        step: impl FnMut(GridStep) -> Result<(), GridError>,
    ) -> Result<(), GridError> {
        self.program.grid_steps(self.function, axis, step)
    }

    /// The blocks of a launch along x, y and z where the function's arguments have these values, by
    /// their number (those of tensors are not read); `None` where the function says no grid: then
    /// who launches it knows.
    ///
    /// # Errors
    /// [`GridError::Name`] if an argument has no value here; [`GridError::Range`] if a number of
    /// blocks is not between 1 and 2^31 - 1.
    pub fn grid(&self, arguments: &[i64]) -> Option<Result<[u32; 3], GridError>> {
        self.program
            .grid_by_number(self.function, |number| arguments.get(usize::from(number)).copied())
    }

    /// Tensor maps in the order of the kernel's parameters; `None` in place of one that the tables
    /// lack a number for.
    pub fn maps(&self) -> impl Iterator<Item = Option<LaunchMap<'k>>> + '_ {
        self.maps.iter().enumerate().map(|(number, map)| self.map(u8::try_from(number).ok()?, map))
    }

    fn map(&self, number: u8, map: &MapPlan) -> Option<LaunchMap<'k>> {
        let units = &self.tables.units;
        let rules = units.tensor_maps.get(usize::from(map.map))?;
        let element = rules.elements.get(usize::from(map.element))?;
        let mode = units.swizzles.get(usize::from(map.mode))?;
        let lies = rules.interleaves.iter().find(|lies| lies.rows)?;
        let coded = |codes: &[Code<'_>]| {
            codes.iter().find(|(name, _)| *name == rules.encoding).map(|(_, code)| u32::from(*code))
        };
        let at = |kind| {
            let (at, param) = find(self.params, map.memref, kind)?;
            Some((u32::try_from(at).ok()?, param))
        };
        let (parameter, own) = at(ParamKind::Map(number))?;
        let of = |kind| at(kind).map(|(at, _)| MapNumber::Parameter(at));
        let element_bytes = u32::from(element.bits / 8);
        let shape = self.program.type_of(map.memref).shape;
        let bounds = self.program.bounds(map.memref);
        let bound = |dim: u8| bounds.as_ref()?.get(usize::from(dim)).copied();
        let mut dims = [NO_DIM; MAX_RANK];
        let shapes = map.dims().iter().zip(map.boxed).enumerate();
        for (slot, (place, (dim, boxed))) in dims.iter_mut().zip(shapes) {
            let known = if place == 0 { Some(element_bytes) } else { map.stride(place) };
            *slot = LaunchMapDim {
                argument_dim: u32::from(*dim),
                extent: match (bound(*dim), shape.extent(usize::from(*dim))) {
                    (Some(MemrefBound::Number(bound)), _) => MapNumber::Known(bound),
                    (Some(MemrefBound::Argument(value)), _) => {
                        let (at, _) = find(self.params, value, ParamKind::Scalar)?;
                        MapNumber::Parameter(u32::try_from(at).ok()?)
                    }
                    (Some(MemrefBound::Half(value)), _) => {
                        let (at, _) = find(self.params, value, ParamKind::Scalar)?;
                        MapNumber::Half(u32::try_from(at).ok()?)
                    }
                    (_, Some(extent)) => MapNumber::Known(extent),
                    (_, None) => of(ParamKind::Extent(*dim))?,
                },
                stride: match known {
                    Some(bytes) => MapNumber::Known(bytes),
                    None => of(ParamKind::Stride(*dim))?,
                },
                box_extent: u32::from(boxed),
                element_stride: 1,
            };
        }
        Some(LaunchMap {
            parameter,
            offset: own.offset,
            bytes: u32::from(own.bytes),
            align: u32::from(own.align),
            argument: self.argument(map.memref)?,
            pointer_parameter: at(ParamKind::Pointer)?.0,
            element: (element.name, coded(element.codes)?),
            element_bytes,
            interleave: (lies.name, coded(lies.codes)?),
            swizzle: (mode.name, swizzle::code(mode, rules.encoding).map(u32::from)?),
            rank: map.rank,
            dims,
        })
    }

    /// How many things an assembler must be told besides the text.
    #[must_use]
    pub fn flag_count(&self) -> usize {
        self.isa.flags.len()
    }

    /// Writes one of them, as the vendor's assembler takes it on its command line:
    /// `-arch=sm_90a`, `-mattr=+wavefrontsize64`. Nothing for a number that there is none of.
    ///
    /// # Errors
    /// When the sink refuses, or the flag asks for what a launch does not say.
    pub fn write_flag(&self, number: usize, out: &mut impl Write) -> Result<(), TextError> {
        for piece in self.isa.flags.get(number).copied().unwrap_or(&[]) {
            match *piece {
                Piece::Text(text) => out.write_str(text)?,
                Piece::Frame("target") => out.write_str(self.target)?,
                Piece::Frame("wave_lanes") => write_number(out, u64::from(self.wave_lanes))?,
                _ => return Err(TextError::Tables),
            }
        }
        Ok(())
    }
}

/// A dimension that is none.
const NO_DIM: LaunchMapDim = LaunchMapDim {
    argument_dim: 0,
    extent: MapNumber::Known(0),
    stride: MapNumber::Known(0),
    box_extent: 0,
    element_stride: 0,
};
