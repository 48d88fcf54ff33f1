//! What a launcher must know, in memory that C lends; `lanebook.h` says all of it.

use crate::code::{CallStatus, LbError};
use crate::lend;
use crate::maps::{self, LbTensorMap, NONE};
use core::ffi::c_void;
use core::fmt::{Arguments, Error, Result as FmtResult, Write};
use core::mem::MaybeUninit;
use core::ptr::addr_of_mut;
use lanebook::TABLES;
use lanebook::compile::Compiled;
use lanebook::emit::{Launch, LaunchParameter, ParamKind};
use lanebook::ir::{GridError, GridStack, GridStep, Program};
use lanebook::tables::DtypeKind;

/// A kernel parameter, and what to put there.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LbParameter {
    /// A number of `enum lb_parameter_kind`.
    pub kind: u32,
    /// The function's argument, from 0; `UINT32_MAX` of none.
    pub argument: u32,
    /// Dimension, tensor map, axis or a number of `enum lb_number_kind`, by the kind.
    pub number: u32,
    /// Bytes from the beginning of the parameter block.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
    /// Alignment of the offset in bytes.
    pub align: u32,
    /// What is put there is a multiple of this: bytes of an address, elements of a stride.
    pub multiple: u32,
    /// Bytes of an element of the tensor that a pointer is of, and of a number that is no index, else
    /// 0.
    pub element_bytes: u32,
    /// The least number that may be put there.
    pub low: i64,
    /// The greatest one; 0 for addresses and maps.
    pub high: i64,
    /// The argument's name, in the program's text.
    pub name: *const u8,
    /// Its bytes.
    pub name_bytes: usize,
}

/// A step of a grid's expression in postfix order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LbGridStep {
    /// A number of `enum lb_grid_op`.
    pub op: u32,
    /// The function's argument, from 0, of `LB_GRID_ARGUMENT`.
    pub argument: u32,
    /// The number of `LB_GRID_NUMBER`.
    pub number: i64,
}

/// Everything that whoever launches a kernel must know.
#[derive(Copy, Clone, Debug)]
#[repr(C)]
pub struct LbLaunch {
    /// In: bytes of this structure as the caller knows it.
    pub bytes: usize,
    /// In: where the parameters go, and how many there is room for.
    pub parameters: *mut LbParameter,
    /// See `parameters`.
    pub parameter_room: usize,
    /// In: where the tensor maps go, and how many there is room for.
    pub maps: *mut LbTensorMap,
    /// See `maps`.
    pub map_room: usize,
    /// In: where the grid's steps go, and how many there is room for.
    pub grid_steps: *mut LbGridStep,
    /// See `grid_steps`.
    pub grid_step_room: usize,
    /// In: where the assembler's flags go, each ended by a zero, and how many bytes there is room
    /// for.
    pub flags: *mut u8,
    /// See `flags`.
    pub flag_room: usize,
    /// How many of each there are.
    pub parameter_count: usize,
    /// See `parameter_count`.
    pub map_count: usize,
    /// See `parameter_count`; of all axes together.
    pub grid_step_count: usize,
    /// Bytes of the flags.
    pub flag_bytes: usize,
    /// The kernel's name, in the program's text.
    pub kernel: *const u8,
    /// Its bytes.
    pub kernel_bytes: usize,
    /// What its assembler calls the architecture.
    pub target: *const u8,
    /// Its bytes.
    pub target_bytes: usize,
    /// The version of its text; of 0 bytes where texts have none.
    pub version: *const u8,
    /// Its bytes.
    pub version_bytes: usize,
    /// Threads of a block, all along x.
    pub threads: u32,
    /// Lanes of a wave.
    pub wave_lanes: u32,
    /// Bytes of shared memory that the text declares.
    pub static_shared_bytes: u32,
    /// Bytes of shared memory that the launch asks for.
    pub dynamic_shared_bytes: u32,
    /// Columns of tensor memory that a block allocates itself.
    pub tensor_columns: u32,
    /// Bytes of the parameter block.
    pub parameter_bytes: u32,
    /// Blocks of a cluster along x, y and z.
    pub cluster: [u32; 3],
    /// Axes of which the function says the blocks; 0: whoever launches it knows.
    pub grid_axes: u32,
    /// Steps of each axis, one behind the other in `grid_steps`.
    pub axis_steps: [u32; 3],
    /// 0.
    pub reserved: u32,
}

/// Lists that a launch is written to, checked.
pub(crate) struct LaunchLists<'o> {
    launch: *mut LbLaunch,
    parameters: &'o mut [MaybeUninit<LbParameter>],
    maps: &'o mut [MaybeUninit<LbTensorMap>],
    steps: &'o mut [MaybeUninit<LbGridStep>],
    flags: &'o mut [MaybeUninit<u8>],
}

/// Memory that C lends for a list; `None` if there can be none there.
///
/// # Safety
/// `first` is null or writable for `room` elements, which nothing else refers to as long as `'o`
/// lasts.
unsafe fn lent<'o, T>(
    first: *mut T,
    room: usize,
    scratch: (usize, usize),
) -> Option<&'o mut [MaybeUninit<T>]> {
    if room == 0 {
        return Some(&mut []);
    }
    let bytes = room.checked_mul(size_of::<T>()).filter(|n| isize::try_from(*n).is_ok())?;
    if first.is_null()
        || !first.is_aligned()
        || lend::overlap(scratch.0, scratch.1, first.addr(), bytes)
    {
        return None;
    }
    // SAFETY: not null, aligned, no longer than an object can be, and writable by the caller's word;
    // nothing is said of what is in it.
    Some(unsafe { core::slice::from_raw_parts_mut(first.cast(), room) })
}

impl LaunchLists<'_> {
    /// Checks a launch that C lends, argument number `argument` of the call.
    ///
    /// # Errors
    /// [`CallStatus::Argument`] for null, an address that is not aligned, a structure that is too
    /// small, or a list that can be none or lies in scratch.
    ///
    /// # Safety
    /// `launch` is null or writable for one [`LbLaunch`] whose first fields, up to `flag_room`, are
    /// written; its lists are null or writable for their rooms; nothing else refers to any of them.
    pub(crate) unsafe fn read(
        launch: *mut LbLaunch,
        scratch: *mut c_void,
        scratch_bytes: usize,
        argument: u32,
    ) -> Result<Self, LbError> {
        let wrong = LbError::argument(argument);
        let scratch = (scratch.addr(), scratch_bytes);
        let overlaps = lend::overlap(scratch.0, scratch.1, launch.addr(), size_of::<LbLaunch>());
        if launch.is_null() || !launch.is_aligned() || overlaps {
            return Err(wrong);
        }
        // SAFETY: not null and aligned, and the first fields are written by the caller's word; no
        // reference is made to the others.
        unsafe {
            if addr_of_mut!((*launch).bytes).read() < size_of::<LbLaunch>() {
                return Err(wrong);
            }
            Ok(Self {
                launch,
                parameters: lent(
                    addr_of_mut!((*launch).parameters).read(),
                    addr_of_mut!((*launch).parameter_room).read(),
                    scratch,
                )
                .ok_or(wrong)?,
                maps: lent(
                    addr_of_mut!((*launch).maps).read(),
                    addr_of_mut!((*launch).map_room).read(),
                    scratch,
                )
                .ok_or(wrong)?,
                steps: lent(
                    addr_of_mut!((*launch).grid_steps).read(),
                    addr_of_mut!((*launch).grid_step_room).read(),
                    scratch,
                )
                .ok_or(wrong)?,
                flags: lent(
                    addr_of_mut!((*launch).flags).read(),
                    addr_of_mut!((*launch).flag_room).read(),
                    scratch,
                )
                .ok_or(wrong)?,
            })
        }
    }

    /// Writes what a compiled kernel's launch is.
    ///
    /// # Errors
    /// [`CallStatus::Room`] where a list is too short: all counts are written then, and nothing else
    /// of them means anything; [`CallStatus::Plan`] if the plan is of other tables.
    pub(crate) fn write(
        &mut self,
        program: &Program<'_, '_>,
        compiled: &Compiled<'_>,
    ) -> Result<(), LbError> {
        let foreign = LbError::of(CallStatus::Plan);
        let launch = compiled.launch(&TABLES, program).ok_or(foreign)?;
        let mut parameters = 0usize;
        for parameter in launch.parameters() {
            put(self.parameters, parameters, || one(&launch, &parameter));
            parameters = parameters.saturating_add(1);
        }
        let (mut steps, mut axis_steps) = (0usize, [0u32; 3]);
        for (axis, own) in (0u8..).zip(&mut axis_steps) {
            let written = launch.grid_steps(axis, |step| {
                put(self.steps, steps, || LbGridStep::of(step));
                steps = steps.saturating_add(1);
                *own = own.saturating_add(1);
                Ok(())
            });
            written.map_err(|_| foreign)?;
        }
        let mut flags = FlagBuffer { room: self.flags, used: 0 };
        for number in 0..launch.flag_count() {
            launch.write_flag(number, &mut flags).map_err(|_| foreign)?;
            flags.push(0);
        }
        let flag_bytes = flags.used;
        let maps = launch.maps().count();
        // SAFETY: not null, aligned and writable by the caller's word.
        unsafe {
            let at = self.launch;
            addr_of_mut!((*at).parameter_count).write(parameters);
            addr_of_mut!((*at).map_count).write(maps);
            addr_of_mut!((*at).grid_step_count).write(steps);
            addr_of_mut!((*at).flag_bytes).write(flag_bytes);
        }
        for (number, (count, room)) in (1i64..).zip([
            (parameters, self.parameters.len()),
            (maps, self.maps.len()),
            (steps, self.steps.len()),
            (flag_bytes, self.flags.len()),
        ]) {
            if count > room {
                let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
                let numbers = [signed(count), signed(room), number];
                return Err(LbError { numbers, ..LbError::of(CallStatus::Room) });
            }
        }
        maps::describe(&launch, self.maps)?;
        self.figures(&launch, axis_steps);
        Ok(())
    }

    /// Writes what is no list.
    fn figures(&mut self, launch: &Launch<'_>, axis_steps: [u32; 3]) {
        let axes = (0u8..3).take_while(|axis| launch.grid_text(*axis).is_some()).count();
        let at = self.launch;
        // SAFETY: not null, aligned and writable by the caller's word.
        unsafe {
            addr_of_mut!((*at).bytes).write(size_of::<LbLaunch>());
            addr_of_mut!((*at).kernel).write(launch.kernel.as_ptr());
            addr_of_mut!((*at).kernel_bytes).write(launch.kernel.len());
            addr_of_mut!((*at).target).write(launch.target.as_ptr());
            addr_of_mut!((*at).target_bytes).write(launch.target.len());
            addr_of_mut!((*at).version).write(launch.version.as_ptr());
            addr_of_mut!((*at).version_bytes).write(launch.version.len());
            addr_of_mut!((*at).threads).write(launch.threads);
            addr_of_mut!((*at).wave_lanes).write(launch.wave_lanes);
            addr_of_mut!((*at).static_shared_bytes).write(launch.static_shared_bytes);
            addr_of_mut!((*at).dynamic_shared_bytes).write(launch.dynamic_shared_bytes);
            addr_of_mut!((*at).tensor_columns).write(launch.tensor_columns);
            addr_of_mut!((*at).parameter_bytes).write(launch.parameter_bytes);
            addr_of_mut!((*at).cluster).write(launch.cluster);
            addr_of_mut!((*at).grid_axes).write(axes as u32);
            addr_of_mut!((*at).axis_steps).write(axis_steps);
            addr_of_mut!((*at).reserved).write(0);
        }
    }
}

/// Writes the element of this number, if there is room for it.
fn put<T>(list: &mut [MaybeUninit<T>], at: usize, value: impl FnOnce() -> T) {
    if let Some(place) = list.get_mut(at) {
        place.write(value());
    }
}

/// A number of `enum lb_number_kind`.
fn number_kind(launch: &Launch<'_>, parameter: &LaunchParameter) -> u8 {
    match parameter.argument.and_then(|argument| launch.argument_kind(argument)) {
        None => 0,
        Some(DtypeKind::Signed) => 1,
        Some(DtypeKind::Unsigned) => 2,
        Some(DtypeKind::Float) => 3,
        Some(DtypeKind::Bits) => 4,
    }
}

fn one(launch: &Launch<'_>, parameter: &LaunchParameter) -> LbParameter {
    let (kind, number) = match parameter.kind {
        ParamKind::Pointer => (0, 0),
        ParamKind::Extent(dim) => (1, dim),
        ParamKind::Stride(dim) => (2, dim),
        ParamKind::Scalar => (3, number_kind(launch, parameter)),
        ParamKind::Map(map) => (4, map),
        ParamKind::Blocks(axis) => (5, axis),
        ParamKind::Tile => (6, 0),
        ParamKind::Result(number) => (7, number),
        ParamKind::Scratch => (8, 0),
    };
    let name = parameter.argument.map_or("", |argument| launch.argument_name(argument));
    let element = match (parameter.kind, parameter.argument) {
        (ParamKind::Pointer | ParamKind::Scalar, Some(argument)) => {
            launch.argument_element(argument)
        }
        _ => None,
    };
    LbParameter {
        kind,
        argument: parameter.argument.map_or(NONE, u32::from),
        number: u32::from(number),
        offset: parameter.offset,
        bytes: parameter.bytes,
        align: parameter.align,
        multiple: parameter.multiple,
        element_bytes: element.map_or(0, |(_, bits)| u32::from(bits / 8)),
        low: parameter.low,
        high: parameter.high,
        name: name.as_ptr(),
        name_bytes: name.len(),
    }
}

/// Flags as bytes; what there is no room for is counted.
struct FlagBuffer<'o> {
    room: &'o mut [MaybeUninit<u8>],
    used: usize,
}

impl FlagBuffer<'_> {
    fn push(&mut self, byte: u8) {
        put(self.room, self.used, || byte);
        self.used = self.used.saturating_add(1);
    }
}

impl Write for FlagBuffer<'_> {
    fn write_str(&mut self, text: &str) -> FmtResult {
        text.bytes().for_each(|byte| self.push(byte));
        Ok(())
    }
    /// Formatting machinery links panics; the library never formats.
    fn write_fmt(&mut self, _: Arguments<'_>) -> FmtResult {
        Err(Error)
    }
}

impl LbGridStep {
    fn of(step: GridStep) -> Self {
        let (op, argument, number) = match step {
            GridStep::Number(number) => (0, NONE, number),
            GridStep::Argument(argument) => (1, u32::from(argument), 0),
            GridStep::Add => (2, NONE, 0),
            GridStep::Sub => (3, NONE, 0),
            GridStep::Mul => (4, NONE, 0),
            GridStep::CeilDiv => (5, NONE, 0),
            GridStep::Min => (6, NONE, 0),
            GridStep::Max => (7, NONE, 0),
        };
        Self { op, argument, number }
    }

    fn step(self) -> Option<GridStep> {
        Some(match self.op {
            0 => GridStep::Number(self.number),
            1 => GridStep::Argument(u16::try_from(self.argument).ok()?),
            2 => GridStep::Add,
            3 => GridStep::Sub,
            4 => GridStep::Mul,
            5 => GridStep::CeilDiv,
            6 => GridStep::Min,
            7 => GridStep::Max,
            _ => return None,
        })
    }
}

/// Computes the blocks of a launch; `lanebook.h` says all of it.
///
/// # Safety
/// `launch` is null or was written by `lb_compile_launch`, and its steps still are; `values` is
/// null or readable for `value_count` numbers; `grid` is null or writable for three; `err` is null
/// or writable. None of them overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_launch_grid(
    launch: *const LbLaunch,
    values: *const i64,
    value_count: usize,
    grid: *mut u32,
    err: *mut LbError,
) -> u32 {
    let result = (|| {
        if launch.is_null() || !launch.is_aligned() {
            return Err(LbError::argument(1));
        }
        if grid.is_null() || !grid.is_aligned() {
            return Err(LbError::argument(4));
        }
        // SAFETY: not null, aligned, and written by the caller's word.
        let launch = unsafe { &*launch };
        // SAFETY: readable by the caller's word.
        let values = unsafe { lend::list(values, value_count, 2)? };
        // SAFETY: as many as `lb_compile_launch` counted, readable by the caller's word.
        let steps =
            unsafe { lend::list(launch.grid_steps.cast_const(), launch.grid_step_count, 1)? };
        let blocks = evaluate(launch, steps, values)?;
        // SAFETY: not null, aligned, and writable for three numbers by the caller's word.
        unsafe { grid.cast::<[u32; 3]>().write(blocks) };
        Ok(())
    })();
    // SAFETY: `err` is null or writable by the caller's word.
    unsafe { lend::finish(result, err) }
}

fn evaluate(launch: &LbLaunch, steps: &[LbGridStep], values: &[i64]) -> Result<[u32; 3], LbError> {
    let wrong = |detail: u32, number: u32| LbError {
        detail,
        numbers: [i64::from(number), 0, 0],
        ..LbError::of(CallStatus::Grid)
    };
    if launch.grid_axes == 0 {
        return Err(wrong(1, 0));
    }
    let mut out = [1u32; 3];
    let mut rest = steps.iter();
    for (axis, (place, count)) in (0u32..).zip(out.iter_mut().zip(launch.axis_steps)) {
        if axis >= launch.grid_axes {
            break;
        }
        let mut stack = GridStack::default();
        for own in rest.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)) {
            let step = own.step().ok_or(wrong(4, axis))?;
            let value = |number: u16| values.get(usize::from(number)).copied();
            stack.step(step, value).map_err(|error| match error {
                GridError::Name => wrong(2, own.argument),
                GridError::Range => wrong(3, axis),
                _ => wrong(4, axis),
            })?;
        }
        *place = stack.blocks().map_err(|error| match error {
            GridError::Range => wrong(3, axis),
            _ => wrong(4, axis),
        })?;
    }
    Ok(out)
}
