//! The example kernels on a device: what is launched, what must come out, and two devices that can
//! be asked.
//!
//! A [`cases::Case`] is a program, its operands and a plain reference. A [`Job`] is the case for an
//! architecture: the emitted text and its launches, whose arguments are filled from the compiler's
//! own list of parameters and tensor maps. [`replay`] runs a job lane by lane on this machine,
//! [`cuda`] through a driver on the GPU beside it; both give back the bytes of every operand.

pub mod cases;
pub mod cuda;
pub mod replay;

use cases::Case;
use lanebook::compile::compile;
use lanebook::emit::ParamKind;
use lanebook::ir::{Options, SmallStorage, parse, verify};
use lanebook::{TABLES, unit::swizzle};
use lanebook_kernels::Room;

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
    /// Arguments of each launch of one block.
    pub launches: Vec<Vec<Arg>>,
}

/// Compiles a case.
///
/// # Errors
/// What refused it, as the library's own value in Debug form.
pub fn job(case: &Case, arch: &str) -> Result<Job, String> {
    let id = TABLES.arch_named(arch).ok_or_else(|| format!("no architecture {arch}"))?;
    let is_static = |bytes| TABLES.arch(id).is_some_and(|a| bytes <= a.shared.static_bytes);
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &TABLES, &case.program, Options::default())
        .map_err(|e| format!("{e:?}"))?;
    verify(&mut program).map_err(|e| format!("{e:?}"))?;
    let mut room = Box::new(Room::new());
    let compiled =
        compile(&TABLES, id, &mut program, room.scratch()).map_err(|e| format!("{e:?}"))?;
    let mut text = String::new();
    compiled.write(&TABLES, &program, &mut text).map_err(|e| format!("{e:?}"))?;
    let operand_of = |value| {
        program
            .parameters(compiled.function)
            .position(|v| v == value)
            .ok_or("a parameter of no argument")
    };
    let mut launches = Vec::new();
    for scalars in &case.launches {
        let mut args = Vec::new();
        for param in compiled.params.iter() {
            let operand = operand_of(param.value)?;
            let shape = || {
                case.operands
                    .get(operand)
                    .map(|o| &o.extents[..])
                    .ok_or("an argument of no operand")
            };
            args.push(match param.kind {
                ParamKind::Pointer => Arg::Pointer(operand),
                ParamKind::Extent(dim) => {
                    Arg::U32(*shape()?.get(usize::from(dim)).ok_or("no such dimension")?)
                }
                ParamKind::Stride(dim) => {
                    Arg::U32(shape()?.iter().skip(usize::from(dim) + 1).product())
                }
                ParamKind::Scalar => {
                    let name = program.value_name(param.value);
                    Arg::U32(
                        *scalars
                            .get(name.trim_start_matches('%'))
                            .ok_or_else(|| format!("no number for {name}"))?,
                    )
                }
                ParamKind::Blocks(_) => Arg::U32(1),
                ParamKind::Map(number) => {
                    let plan = compiled.plan.maps.get(usize::from(number)).ok_or("no such map")?;
                    let rules = TABLES
                        .units
                        .tensor_maps
                        .get(usize::from(plan.map))
                        .ok_or("no rules for a map")?;
                    let element = rules
                        .elements
                        .get(usize::from(plan.element))
                        .ok_or("no such element type")?;
                    let mode = TABLES
                        .units
                        .swizzles
                        .get(usize::from(plan.mode))
                        .ok_or("no such swizzle")?;
                    let code = element
                        .codes
                        .iter()
                        .find(|(encoding, _)| *encoding == rules.encoding)
                        .ok_or("an element type without a number")?;
                    let extents = shape()?;
                    let bytes = u64::from(element.bits / 8);
                    let dims = || plan.dims().iter().map(|dim| usize::from(*dim));
                    Arg::Map(Map {
                        operand,
                        element: u32::from(code.1),
                        element_bytes: (element.bits / 8) as u8,
                        extents: dims().map(|dim| extents[dim]).collect(),
                        strides: dims()
                            .map(|dim| {
                                extents[dim + 1..]
                                    .iter()
                                    .fold(bytes, |all, extent| all * u64::from(*extent))
                            })
                            .collect(),
                        boxed: plan.boxed[..plan.dims().len()].to_vec(),
                        swizzle: swizzle::code(mode, rules.encoding)
                            .and_then(|c| u8::try_from(c).ok())
                            .ok_or("a swizzle without a number")?,
                    })
                }
            });
        }
        launches.push(args);
    }
    let shared = compiled.plan.shared_bytes;
    Ok(Job {
        text,
        kernel: case.kernel.clone(),
        threads: case.threads,
        dynamic_shared: if is_static(shared) { 0 } else { shared },
        launches,
    })
}

/// Where a job can run.
pub trait Device {
    /// What the device is called, and what drives it.
    fn name(&self) -> String;

    /// Runs the launches in order over operands of these bytes; gives back what the operands hold
    /// then.
    ///
    /// # Errors
    /// What the device said.
    fn run(&mut self, job: &Job, operands: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String>;
}
