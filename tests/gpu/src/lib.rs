//! The example kernels on a device: what is launched, what must come out, and two devices that can
//! be asked.
//!
//! A [`cases::Case`] is a program, its operands and a plain reference. A [`Job`] is the case for an
//! architecture: the emitted text and its launches, which the library's own `Launch` says: grid,
//! parameters, tensor maps, shared memory. [`replay`] runs a job lane by lane on this machine,
//! [`cuda`] through a driver on the GPU beside it; both give back the bytes of every operand.

pub mod cases;
pub mod cuda;
pub mod facts;
mod grids;
pub mod hunted;
pub mod replay;
pub mod speed;

use cases::Case;
use lanebook::TABLES;
use lanebook::compile::compile;
use lanebook::emit::{Launch, LaunchMap, MapNumber, ParamKind};
use lanebook::ir::{Options, SmallStorage, isolate_kernel, parse, verify};
use lanebook::written::resolve_layouts;
use std::collections::BTreeMap;

/// A tensor map as the driver's encoder takes it; dimensions from the innermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// The operand it describes.
    pub operand: usize,
    /// The driver's number of the element type.
    pub element: u32,
    /// Bytes of an element.
    pub element_bytes: u8,
    /// Elements of each dimension.
    pub extents: Vec<u32>,
    /// Bytes from one element to the next; the innermost's is the element.
    pub strides: Vec<u64>,
    /// Elements of the box.
    pub boxed: Vec<u16>,
    /// The driver's number of the interleaving.
    pub interleave: u32,
    /// The driver's number of the swizzle mode.
    pub swizzle: u8,
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The address of an operand.
    Pointer(usize),
    /// A number.
    U32(u32),
    /// A tensor map, passed by value.
    Map(Map),
}

/// A launch of a whole grid.
#[derive(Clone, Debug)]
pub struct JobLaunch {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Arguments in the order of the kernel's parameters.
    pub args: Vec<Arg>,
}

/// A case for an architecture.
#[derive(Clone, Debug)]
pub struct Job {
    /// The emitted text.
    pub text: String,
    /// The kernel's name in it.
    pub kernel: String,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory that the launch must ask for; 0 where the text declares what it uses.
    pub dynamic_shared: u32,
    /// Launches, in order.
    pub launches: Vec<JobLaunch>,
}

/// Compiles a case.
///
/// # Errors
/// What refused it, as the library's own value in Debug form.
pub fn job(case: &Case, arch: &str) -> Result<Job, String> {
    let id = TABLES.arch_named(arch).ok_or_else(|| format!("no architecture {arch}"))?;
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &TABLES, &case.program, Options::default())
        .map_err(|e| format!("{e:?}"))?;
    verify(&mut program).map_err(|e| format!("{e:?}"))?;
    let kernel = isolate_kernel(&mut program, None).map_err(|e| format!("{e:?}"))?;
    resolve_layouts(&TABLES, id, &mut program, kernel, &mut Box::default())
        .map_err(|e| format!("{e:?}"))?;
    let mut room = lanebook_kernels::room();
    let compiled =
        compile(&TABLES, id, &mut program, room.scratch()).map_err(|e| format!("{e:?}"))?;
    let mut text = String::new();
    compiled.write(&TABLES, &program, &mut text).map_err(|e| format!("{e:?}"))?;
    let launch = compiled.launch(&TABLES, &program).ok_or("the plan is of other tables")?;
    let maps: Vec<LaunchMap<'_>> =
        launch.maps().collect::<Option<_>>().ok_or("a tensor map without a number")?;
    let launches: Result<_, String> =
        case.launches.iter().map(|values| filled(case, &launch, &maps, values)).collect();
    Ok(Job {
        text,
        kernel: launch.kernel.to_string(),
        threads: launch.threads,
        dynamic_shared: launch.dynamic_shared_bytes,
        launches: launches?,
    })
}

/// What a launch passes for these values of index arguments, as the compiler says it alone.
fn filled(
    case: &Case,
    launch: &Launch<'_>,
    maps: &[LaunchMap<'_>],
    values: &BTreeMap<&'static str, u32>,
) -> Result<JobLaunch, String> {
    let extents = |operand: usize| {
        case.operands.get(operand).map(|o| &o.extents[..]).ok_or("an argument of no operand")
    };
    let named =
        |name: &str| values.get(name).copied().ok_or_else(|| format!("no number for {name}"));
    let (mut args, mut scalars) = (Vec::new(), Vec::new());
    let mut blocks = Vec::new();
    for parameter in launch.parameters() {
        let argument = usize::from(parameter.argument.unwrap_or(u16::MAX));
        let dim =
            |dim: u8| extents(argument)?.get(usize::from(dim)).copied().ok_or("no such dimension");
        args.push(match parameter.kind {
            ParamKind::Pointer => Arg::Pointer(argument),
            ParamKind::Extent(at) => Arg::U32(dim(at)?),
            ParamKind::Stride(at) => {
                Arg::U32(extents(argument)?.iter().skip(usize::from(at) + 1).product())
            }
            ParamKind::Scalar => {
                let value = named(launch.argument_name(parameter.argument.unwrap_or(u16::MAX)))?;
                scalars.resize(scalars.len().max(argument + 1), 0);
                scalars[argument] = i64::from(value);
                Arg::U32(value)
            }
            ParamKind::Map(number) => {
                let map = maps.get(usize::from(number)).ok_or("no such map")?;
                Arg::Map(boxes(map, extents(usize::from(map.argument))?, &args)?)
            }
            ParamKind::Tile | ParamKind::Result(_) | ParamKind::Scratch => {
                return Err("a snippet is not launched".to_string());
            }
            ParamKind::Blocks(axis) => {
                blocks.push((args.len(), usize::from(axis)));
                Arg::U32(0)
            }
        });
    }
    // A function that says no grid computes what its index arguments say, in one block.
    let grid = match launch.grid(&scalars) {
        Some(grid) => grid.map_err(|e| format!("{e:?}"))?,
        None => [1; 3],
    };
    for (at, axis) in blocks {
        args[at] = Arg::U32(grid[axis]);
    }
    Ok(JobLaunch { grid, args })
}

/// A tensor map of an operand of these extents, of a kernel with these arguments before it.
fn boxes(map: &LaunchMap<'_>, extents: &[u32], args: &[Arg]) -> Result<Map, String> {
    let held = |at: u32| match args.get(at as usize) {
        Some(Arg::U32(extent)) => Ok(*extent),
        _ => Err("an extent that is no parameter before the map".to_string()),
    };
    let extent = |number: MapNumber| match number {
        MapNumber::Known(extent) => Ok(extent),
        MapNumber::Parameter(at) => held(at),
        MapNumber::Half(at) => Ok(held(at)? / 2),
    };
    let dims = || map.dims().iter().map(|dim| dim.argument_dim as usize);
    let rest = |dim: usize| extents[dim + 1..].iter().map(|extent| u64::from(*extent));
    Ok(Map {
        operand: usize::from(map.argument),
        element: map.element.1,
        element_bytes: u8::try_from(map.element_bytes).map_err(|e| e.to_string())?,
        extents: map.dims().iter().map(|dim| extent(dim.extent)).collect::<Result<_, _>>()?,
        strides: dims()
            .map(|dim| rest(dim).product::<u64>() * u64::from(map.element_bytes))
            .collect(),
        boxed: map.dims().iter().map(|dim| dim.box_extent as u16).collect(),
        interleave: map.interleave.1,
        swizzle: u8::try_from(map.swizzle.1).map_err(|e| e.to_string())?,
    })
}

/// Where a job can run.
pub trait Device {
    /// What the device is called, and what drives it.
    fn name(&self) -> String;

    /// What the command calls it.
    fn word(&self) -> &'static str;

    /// Whether its clock says how long accesses take.
    fn is_timed(&self) -> bool;

    /// Whether a fault ended all that this process can ask of it.
    fn is_spoiled(&self) -> bool {
        false
    }

    /// Runs the launches in order over operands of these bytes; gives back what the operands hold
    /// then.
    ///
    /// # Errors
    /// What the device said.
    fn run(&mut self, job: &Job, operands: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String>;

    /// Microseconds of a job, of so many one after the other, behind as many that are not counted.
    ///
    /// # Errors
    /// What the device said, or that its clock does not say it.
    fn time(&mut self, _: &Job, _: &[Vec<u8>], _: u32) -> Result<f64, String> {
        Err("its clock does not say how long launches take".into())
    }
}
