//! The whole path in one call: program in, plan and kernel text out, and how to launch it.
//!
//! ```
//! use lanebook::compile::{KernelStorage, compile};
//! use lanebook::emit::ParamKind;
//! use lanebook::{TABLES, ir};
//!
//! let text = "func @twice(%A: memref<?x64xf32, #gmem>, %M: index) {threads = 128, grid = (cdiv(%M, 32))} {
//!   %i = block_id x : index
//!   %m = index.mul %i, 32 : index
//!   %t = tiled_load %A[%m, 0] : memref<?x64xf32, #gmem> -> tensor<32x64xf32>
//!   %u = add %t, %t : tensor<32x64xf32>
//!   tiled_store %u, %A[%m, 0] : tensor<32x64xf32> -> memref<?x64xf32, #gmem>
//! }";
//! let (mut pools, mut room) = (Box::new(ir::SmallStorage::new()), Box::new(KernelStorage::new()));
//! let mut program = ir::parse(pools.pools(), &TABLES, text, ir::Options::default()).unwrap();
//! ir::verify(&mut program).unwrap();
//! let arch = TABLES.arch_named("gfx942").unwrap();
//! let compiled = compile(&TABLES, arch, &mut program, room.scratch()).unwrap();
//!
//! // All that a launcher must know: what to put where in the parameter block, blocks, threads.
//! let launch = compiled.launch(&TABLES, &program).unwrap();
//! let kinds: Vec<_> = launch.parameters().map(|p| (p.kind, p.offset, p.bytes)).collect();
//! assert_eq!(
//!     kinds,
//!     [(ParamKind::Pointer, 0, 8), (ParamKind::Extent(0), 8, 4), (ParamKind::Scalar, 12, 4)]
//! );
//! assert_eq!((launch.kernel, launch.threads, launch.wave_lanes), ("twice", 128, 64));
//! assert_eq!((launch.static_shared_bytes, launch.dynamic_shared_bytes), (0, 0));
//! // The function's arguments by number; those of tensors are not read.
//! assert_eq!(launch.grid(&[0, 100]), Some(Ok([4, 1, 1])));
//! let mut flag = String::new();
//! launch.write_flag(2, &mut flag).unwrap();
//! assert_eq!(flag, "-mattr=+wavefrontsize64");
//! ```

mod error;
mod price;
pub mod storage;

pub use crate::compile::error::CompileError;
pub use crate::compile::price::price;
pub use crate::compile::storage::{Capacities, CompileStorage, KernelStorage, PoolUse, Scratch};
use crate::compile::storage::{ExprScratch, KernelPools, PlanPools};
use heapless::VecView;
pub use lanebook_emit::Compiled;
use lanebook_emit::expr::{ExprArena, SelectScratch, Selector, SimplifyScratch};
use lanebook_emit::registers::allocate::{
    MAX_CLASSES, RegisterUsage, allocate, allocate_late, settle,
};
use lanebook_emit::step::{InstError, InstStorage};
use lanebook_emit::{
    ElementReason, EmitError, EmitLists, EmitPool, EmitStage, LoopSource, LowerContext, NoLoops,
    Param, RegisterPressureLevel, TargetQueries, parameters,
};
use lanebook_ir::verify::contract::check;
use lanebook_ir::{Op, Program, Value};
use lanebook_loops::{Fact, Told, lay_shared};
use lanebook_plan::memory_pressure::plan_within_limits;
use lanebook_plan::select::{
    Expansions, InsertedConversions, LoadSinking, LoopValues, PlanScratch,
};
use lanebook_plan::shared_alloc::place_moved;
use lanebook_plan::{Plan, PlanError};
use lanebook_tables::{ArchId, Tables};

impl<'s> PlanPools<'s> {
    /// A plan in which nothing is decided.
    #[inline(always)]
    fn plan(self, arch: ArchId) -> Plan<'s> {
        Plan {
            arch,
            threads: 0,
            wave: 0,
            warps: 0,
            allocs: self.allocs,
            fragments: self.fragments,
            globals: self.globals,
            transfers: self.transfers,
            products: self.products,
            maps: self.maps,
            rejected: self.rejected,
            rejected_dropped: 0,
            mbarriers: 0,
            mbarrier_offset: 0,
            exchanges: self.exchanges,
            lanes: self.lanes,
            shared_bytes: 0,
            shared_align: 0,
            tensor_columns: 0,
            tensor_slot: 0,
            specialized: None,
        }
    }
}

/// A plan, and the room that emission will use.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::compile::{KernelStorage, Planned, plan};
/// use lanebook::ir::{Options, SmallStorage, parse};
///
/// // Choose first, look at what was chosen, then emit.
/// let text = "func @f(%x: memref<?x64xf32, #gmem>) {threads = 128} {
///   %a = tiled_load %x[0, 0] : memref<?x64xf32, #gmem> -> tensor<64x64xf32>
///   tiled_store %a, %x[0, 0] : tensor<64x64xf32> -> memref<?x64xf32, #gmem>
/// }";
/// let (mut pools, mut room) = (Box::new(SmallStorage::new()), Box::new(KernelStorage::new()));
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let arch = TABLES.arch_named("gfx942").unwrap();
/// let planned: Planned = plan(&TABLES, arch, &mut program, room.scratch()).unwrap();
/// assert_eq!(planned.plan.transfers.len(), 2);
/// let compiled = planned.emit(&TABLES, &program).unwrap();
/// assert!(!compiled.steps.is_empty());
/// ```
pub struct Planned<'s> {
    /// The plan.
    pub plan: Plan<'s>,
    /// The function.
    pub function: Op,
    kernel: KernelPools<'s>,
    lists: EmitLists<'s>,
    exprs: ExprScratch<'s>,
}

/// What emission uses of a [`Scratch`], where it lies: a copy would lie under everything that
/// emission calls.
struct EmitScratch<'a, 's, L> {
    kernel: &'a mut KernelPools<'s>,
    lists: &'a mut EmitLists<'s>,
    exprs: &'a mut ExprScratch<'s>,
    /// A function of parallel loops.
    told: &'a mut L,
    /// The last stage that runs.
    last: EmitStage,
    /// Instructions may stand later than their operations, so that registers suffice.
    is_late: bool,
}

/// Chooses atoms and layouts for the function of a program, and places its shared memory.
///
/// Where two uses of a register tile want it distributed in different ways, the program gets a
/// conversion that it did not have, marked by the attribute
/// [`INSERTED`](lanebook_ir::attr_names::INSERTED).
///
/// # Errors
/// Whatever keeps a plan from being made; the program is as it was.
pub fn plan<'s>(
    tables: &Tables<'_>,
    arch: ArchId,
    program: &mut Program<'_, '_>,
    scratch: Scratch<'s>,
) -> Result<Planned<'s>, CompileError> {
    let function = accepted(program)?;
    if program.has_loops(function) {
        return Err(CompileError::NotTold(function));
    }
    let Scratch { mut workspace, pools, kernel, lists, expansions, exprs } = scratch;
    let mut plan = pools.plan(arch);
    let mut others = Expansions::new(expansions.replaced);
    loop {
        let made = others.expand(tables, arch, program, function, None::<&ToldValues<'_, '_>>);
        let done = expanded(program, &mut others, made, |program| {
            let inserted = &mut InsertedConversions::new(&mut *expansions.inserted);
            decide(tables, program, function, &mut plan, &mut workspace, inserted)
        });
        match done {
            Err(CompileError::Plan(error)) if others.cross(Some(error)) => {}
            Err(CompileError::Plan(error)) => return Err(others.told(error).into()),
            done => break done?,
        }
    }
    Ok(Planned { plan, function, kernel, lists, exprs })
}

/// Plans and emits the function of a program; it may get conversions, as in [`plan`].
///
/// # Errors
/// Whatever keeps the plan or the emission from being made; the program is as it was.
pub fn compile<'s>(
    tables: &Tables<'_>,
    arch: ArchId,
    program: &mut Program<'_, '_>,
    scratch: Scratch<'s>,
) -> Result<Compiled<'s>, CompileError> {
    compile_until(tables, arch, program, scratch, EmitStage::Waits)
}

/// Plans and emits a function of parallel loops and tile operations in place. `told` is that
/// function for this architecture, with the layouts that
/// [`Inference::run`](lanebook_infer::Inference::run) found.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::compile::{CompileError, KernelStorage, compile};
/// use lanebook::ir::{Options, SmallStorage, parse};
///
/// // Parallel loops need their layouts first: without them a function is refused.
/// let text = "func @f(%A: memref<4x16xf32>, %B: memref<4x16xf32>) {threads = 64} {
///   parallel (%i, %j) in (4, 16) {
///     %a = memref.load %A[%i, %j]
///     memref.store %a, %B[%i, %j]
///   }
/// }";
/// let (mut pools, mut room) = (Box::new(SmallStorage::new()), Box::new(KernelStorage::new()));
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let arch = TABLES.arch_named("sm_80").unwrap();
/// assert!(matches!(compile(&TABLES, arch, &mut program, room.scratch()), Err(CompileError::NotTold(_))));
///
/// // The same with what inference found; storage as [`lanebook::loops`] shows it.
/// use lanebook::compile::compile_loops;
/// use lanebook::loops::{LoopParts, tell};
/// # use lanebook::infer::*;
/// # let (mut bases, mut terms) = (vec![BaseEntry::default(); 512], vec![DigitTerm::default(); 4096]);
/// # let mut buckets = vec![0; 64];
/// # let (mut buffers, mut operators) = (vec![Buffer::default(); 4], vec![Operator::default(); 4]);
/// # let (mut accesses, mut layouts) = (vec![Access::default(); 8], vec![None; 32]);
/// # let (mut queue, mut points) = (vec![0; 16], vec![0; 64]);
/// # let (mut values, mut ops, mut tiles) = (vec![Default::default(); 64], vec![None; 8], vec![None; 8]);
/// # let parts = LoopParts {
/// #     inference: InferenceParts {
/// #         arena: ArenaParts { bases: &mut bases, terms: &mut terms, buckets: &mut buckets },
/// #         buffers: &mut buffers, operators: &mut operators, accesses: &mut accesses,
/// #         layouts: &mut layouts, queue: &mut queue, points: &mut points,
/// #     },
/// #     values: &mut values, operators: &mut ops, buffers: &mut tiles,
/// # };
/// let function = program.function("f").unwrap();
/// let mut told = tell(&program, function, &TABLES, TABLES.arch(arch).unwrap(), parts).unwrap();
/// told.inference.run(&TABLES.policies[0], &mut ()).unwrap();
/// let compiled = compile_loops(&TABLES, arch, &mut program, room.scratch(), &mut told).unwrap();
/// assert!(!compiled.steps.is_empty());
/// ```
///
/// # Errors
/// Whatever keeps the plan or the emission from being made; the program is as it was.
pub fn compile_loops<'s>(
    tables: &Tables<'_>,
    arch: ArchId,
    program: &mut Program<'_, '_>,
    scratch: Scratch<'s>,
    told: &mut Told<'_>,
) -> Result<Compiled<'s>, CompileError> {
    compile_told(tables, arch, program, scratch, EmitStage::Waits, told)
}

/// [`compile`] with the steps as they stand after a stage of emission: for looking at them with
/// [`Compiled::dump`]. Only those after the last stage are a kernel.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::compile::{KernelStorage, compile_until};
/// use lanebook::emit::EmitStage;
/// use lanebook::ir::{Options, SmallStorage, parse};
///
/// let text = "func @f(%x: memref<?x64xf32, #gmem>) {threads = 128} {
///   %a = tiled_load %x[0, 0] : memref<?x64xf32, #gmem> -> tensor<64x64xf32>
///   tiled_store %a, %x[0, 0] : tensor<64x64xf32> -> memref<?x64xf32, #gmem>
/// }";
/// let (mut pools, mut room) = (Box::new(SmallStorage::new()), Box::new(KernelStorage::new()));
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let arch = TABLES.arch_named("gfx942").unwrap();
/// let mut steps = |last| {
///     let compiled = compile_until(&TABLES, arch, &mut program, room.scratch(), last).unwrap();
///     compiled.steps.len()
/// };
/// // Waits are put in last.
/// assert!(steps(EmitStage::Lower) < steps(EmitStage::Waits));
/// ```
///
/// # Errors
/// As [`compile`].
pub fn compile_until<'s>(
    tables: &Tables<'_>,
    arch: ArchId,
    program: &mut Program<'_, '_>,
    scratch: Scratch<'s>,
    last: EmitStage,
) -> Result<Compiled<'s>, CompileError> {
    compile_told(tables, arch, program, scratch, last, &mut NoLoops)
}

/// What inference knows of values.
struct ToldValues<'t, 'f>(&'t Told<'f>);

impl LoopValues for ToldValues<'_, '_> {
    fn is_index(&self, value: Value) -> bool {
        matches!(self.0.fact(value), Fact::Index(_))
    }
}

#[inline(always)]
fn compile_told<'s, 'f, L: LoopSource<'f>>(
    tables: &Tables<'_>,
    arch: ArchId,
    program: &mut Program<'_, '_>,
    mut scratch: Scratch<'s>,
    last: EmitStage,
    told: &mut L,
) -> Result<Compiled<'s>, CompileError> {
    let function = accepted(program)?;
    let loops = program.has_loops(function);
    if loops != told.told().is_some_and(|told| told.function() == function) {
        return Err(CompileError::NotTold(function));
    }
    let mut others = Expansions::new(scratch.expansions.replaced);
    // Taken apart where it lies: on the stack it would lie twice.
    let mut plan = scratch.pools.plan(arch);
    let mut room = EmitScratch {
        kernel: &mut scratch.kernel,
        lists: &mut scratch.lists,
        exprs: &mut scratch.exprs,
        told: &mut *told,
        last,
        is_late: false,
    };
    let usage = loop {
        let values = room.told.told().map(|told| ToldValues(told));
        let made = others.expand(tables, arch, program, function, values.as_ref());
        let done = expanded(program, &mut others, made, |program| {
            let inserted = &mut InsertedConversions::new(&mut *scratch.expansions.inserted);
            let room = (&mut scratch.workspace, &mut room);
            decided(tables, program, function, &mut plan, room, inserted)
        });
        match done {
            Err(CompileError::Plan(error)) if others.cross(Some(error)) => {}
            Err(CompileError::Plan(error)) => return Err(others.told(error).into()),
            done => break done?,
        }
    };
    Ok(Compiled {
        plan,
        steps: scratch.kernel.steps,
        patterns: scratch.kernel.patterns,
        params: scratch.kernel.params,
        usage,
        function,
    })
}

/// Does something with a function in which others stand for operations that no instruction does,
/// where they were `made`.
///
/// # Errors
/// Whatever keeps it from being done, about the program as it was and is again.
#[inline(always)]
fn expanded<T>(
    program: &mut Program<'_, '_>,
    others: &mut Expansions<'_>,
    made: Result<(), PlanError>,
    what: impl FnOnce(&mut Program<'_, '_>) -> Result<T, CompileError>,
) -> Result<T, CompileError> {
    let made = made.map_err(CompileError::from);
    made.and_then(|()| what(program)).map_err(|error| {
        let error = error.about(|op| others.home(program, op));
        let error = match error {
            CompileError::Plan(error) => others.of_part(program, error).into(),
            error => error,
        };
        others.rollback(program);
        error
    })
}

/// Plans and makes the steps of a function.
#[inline(always)]
fn decided<'f, L: LoopSource<'f>>(
    tables: &Tables<'_>,
    program: &mut Program<'_, '_>,
    function: Op,
    plan: &mut Plan<'_>,
    (workspace, room): (&mut PlanScratch<'_>, &mut EmitScratch<'_, '_, L>),
    inserted: &mut InsertedConversions<'_>,
) -> Result<RegisterUsage, CompileError> {
    decide(tables, program, function, plan, workspace, inserted)?;
    if let Some(told) = room.told.told() {
        lay_shared_tiles(tables, program, function, plan, (told, workspace))?;
        lanebook_emit::reserve_reductions(tables, told, plan)?;
    }
    let filled = match fill_moved(tables, program, plan, function, (workspace, room)) {
        Err(error @ CompileError::Emit(EmitError::Inst(InstError::Pool { .. }))) => {
            // Functions of loops load no tiles that could be elsewhere.
            let found = if room.told.told().is_none() {
                refill(tables, program, plan, function, (workspace, room), inserted)
            } else {
                fill_late(tables, program, plan, function, (workspace, room))
            };
            found.ok_or(error)
        }
        found => found,
    };
    filled.map_err(|error| {
        let error = match inserted.refused_load(program) {
            Some(refused) => refused.into(),
            None => error,
        };
        let error = error.about(|op| inserted.home(program, op));
        inserted.rollback(program);
        error
    })
}

/// Finds the layouts of a function's shared tiles, and places them.
#[inline(never)] // Beside what is emitted, not below it.
fn lay_shared_tiles(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    function: Op,
    plan: &mut Plan<'_>,
    (told, workspace): (&mut Told<'_>, &mut PlanScratch<'_>),
) -> Result<(), CompileError> {
    let arch = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    let full = EmitError::Element { op: function, why: ElementReason::Form };
    lay_shared(told, program, tables, arch, &mut ()).map_err(|_| CompileError::Emit(full))?;
    Ok(lanebook_emit::place_swizzled(tables, program, told, plan, workspace)?)
}

/// The function of a program of which everything is obeyed.
fn accepted(program: &Program<'_, '_>) -> Result<Op, CompileError> {
    let function = program.functions().next().ok_or(CompileError::NoFunction)?;
    check(program, function)?;
    Ok(function)
}

/// Chooses and places. Where two uses of a tile want it distributed in different ways, a conversion
/// is put between them.
#[inline(always)]
fn decide(
    tables: &Tables<'_>,
    program: &mut Program<'_, '_>,
    function: Op,
    plan: &mut Plan<'_>,
    workspace: &mut PlanScratch<'_>,
    inserted: &mut InsertedConversions<'_>,
) -> Result<(), CompileError> {
    let mut refused: Option<PlanError> = None;
    // Once more with each load as some instruction loads, then with each factor as it comes.
    let mut more = [false, true].into_iter();
    loop {
        let chosen = plan_within_limits(tables, program, function, plan, workspace);
        let Err(error) = chosen else { return Ok(()) };
        if matches!(error, PlanError::Part { .. }) {
            inserted.rollback(program);
            return Err(error.into());
        }
        if inserted.repair(program, error) {
            continue;
        }
        let told = inserted.original_error(program, error).about(|op| inserted.home(program, op));
        let told = *refused.get_or_insert(told);
        loop {
            inserted.rollback(program);
            match more.next() {
                Some(factors) if inserted.everywhere(program, function, factors) => break,
                Some(_) => {}
                None => return Err(told.into()),
            }
        }
    }
}

/// Plans and emits once more, with loads inside the loops that read them; `None` if that does not
/// help.
#[inline(never)]
fn refill<'f, L: LoopSource<'f>>(
    tables: &Tables<'_>,
    program: &mut Program<'_, '_>,
    plan: &mut Plan<'_>,
    function: Op,
    (workspace, room): (&mut PlanScratch<'_>, &mut EmitScratch<'_, '_, L>),
    inserted: &mut InsertedConversions<'_>,
) -> Option<RegisterUsage> {
    let mut sunk = LoadSinking::default();
    if !sunk.sink(program, function) {
        return fill_late(tables, program, plan, function, (workspace, room));
    }
    let earlier = inserted.begin_again();
    let decided = decide(tables, program, function, plan, workspace, inserted).is_ok();
    if decided && let Ok(usage) = fill_moved(tables, program, plan, function, (workspace, room)) {
        return Some(usage);
    }
    if decided && let Some(usage) = fill_late(tables, program, plan, function, (workspace, room)) {
        return Some(usage);
    }
    inserted.rollback(program);
    inserted.end_again(earlier);
    sunk.rollback(program);
    None
}

/// Makes the steps of a plan where nothing else makes do with the registers that there are:
/// instructions stand later than their operations.
#[inline(never)]
fn fill_late<'f, L: LoopSource<'f>>(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &mut Plan<'_>,
    function: Op,
    (workspace, room): (&mut PlanScratch<'_>, &mut EmitScratch<'_, '_, L>),
) -> Option<RegisterUsage> {
    room.is_late = true;
    let filled = fill_moved(tables, program, plan, function, (workspace, room));
    room.is_late = false;
    filled.ok()
}

/// Makes the steps of a plan. Where registers are too few, tiles get other places once, so that
/// more loads can wait for the products that take them.
#[inline(never)]
fn fill_moved<'f, L: LoopSource<'f>>(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &mut Plan<'_>,
    function: Op,
    (workspace, room): (&mut PlanScratch<'_>, &mut EmitScratch<'_, '_, L>),
) -> Result<RegisterUsage, CompileError> {
    let filled = fill(tables, program, plan, function, room);
    match filled {
        Err(CompileError::Emit(EmitError::Inst(InstError::Pool { .. })))
            if place_moved(tables, program, plan) == Ok(true) =>
        {
            fill(tables, program, plan, function, room)
        }
        // Plain rows need fewer addresses.
        Err(_) if lay_plain(tables, program, plan, (room.told.told(), workspace)) => {
            fill(tables, program, plan, function, room)
        }
        filled => filled,
    }
}

/// Puts the shared tiles of a function of parallel loops back to plain rows, but for layouts that are
/// written; whether any was another.
#[inline(never)] // Beside what is emitted, not below it.
fn lay_plain(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &mut Plan<'_>,
    (told, workspace): (Option<&mut Told<'_>>, &mut PlanScratch<'_>),
) -> bool {
    told.is_some_and(|told| {
        told.inference.drop_swizzles()
            && lanebook_emit::place_swizzled(tables, program, told, plan, workspace).is_ok()
    })
}

/// Makes the steps of a plan.
#[inline(never)]
fn fill<'f, L: LoopSource<'f>>(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    function: Op,
    room: &mut EmitScratch<'_, '_, L>,
) -> Result<RegisterUsage, CompileError> {
    let EmitScratch { kernel, lists, exprs, told, last, is_late } = room;
    let KernelPools { steps, tuples, patterns, loops, params } = &mut **kernel;
    let machine = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    let isa = tables.isa(machine.isa).ok_or(PlanError::UnknownArch)?;
    if !parameters((tables, isa), program, function, plan.maps, params) {
        let full =
            EmitError::full(EmitPool::Params, u32::try_from(params.capacity()).unwrap_or(u32::MAX));
        return Err(CompileError::emission(full, Some(function)));
    }
    let queries = TargetQueries { tables, arch: machine, isa };
    // Nothing less was enough where instructions stand late.
    let mut pressure = if *is_late {
        RegisterPressureLevel::LAST
    } else {
        RegisterPressureLevel::least(tables, isa, program, plan)
    };
    let mut first: Option<CompileError> = None;
    // Whether the steps that fit are being made once more, without physical numbers.
    let mut again = false;
    let usage = loop {
        let room = InstStorage::new(steps, tuples, patterns, loops);
        let walked = walk(
            queries,
            program,
            plan,
            (function, &mut **told),
            room,
            params,
            lists.again(),
            exprs,
            pressure,
        );
        if walked.is_ok() && told.told().is_some_and(Told::take_early) {
            // Once more, with something in what is read before it is written.
            continue;
        }
        let error = match walked {
            Ok(()) if again => return Ok(RegisterUsage { high: [0; MAX_CLASSES] }),
            Ok(()) => {
                let allocated = if *is_late {
                    allocate_late(tables, (machine, isa), steps, tuples, patterns, loops)
                } else {
                    allocate(tables, isa, steps, tuples, patterns, loops)
                };
                match allocated {
                    Ok(_) if *last == EmitStage::Lower => {
                        again = true;
                        continue;
                    }
                    Ok(usage) => {
                        settle(params, tuples);
                        break usage;
                    }
                    Err(e) => CompileError::emission(EmitError::Inst(e), Some(function)),
                }
            }
            Err(e) => e,
        };
        // Once more with fewer registers at once, as far as that goes; where that does not go, what
        // is told is that they are too few.
        match (error, pressure.more()) {
            (CompileError::Emit(EmitError::Inst(InstError::Pool { .. })), Some(more)) => {
                first = first.or(Some(error));
                pressure = more;
            }
            (CompileError::Emit(EmitError::Inst(InstError::Pool { .. })), None) => {
                return Err(error);
            }
            _ => return Err(first.unwrap_or(error)),
        }
    };
    if *last == EmitStage::Waits {
        let finish = if program.is_snippet(function) {
            lanebook_emit::sync::waits::insert_snippet_waits
        } else {
            lanebook_emit::sync::waits::insert_waits
        };
        finish(tables, machine, isa, steps, patterns)
            .map_err(|e| CompileError::emission(EmitError::Inst(e), Some(function)))?;
    }
    Ok(usage)
}

impl<'s> Planned<'s> {
    /// Emits the planned function.
    ///
    /// # Errors
    /// What emission could not do, or room that ran out.
    pub fn emit(
        mut self,
        tables: &Tables<'_>,
        program: &Program<'_, '_>,
    ) -> Result<Compiled<'s>, CompileError> {
        let mut room = EmitScratch {
            kernel: &mut self.kernel,
            lists: &mut self.lists,
            exprs: &mut self.exprs,
            told: &mut NoLoops,
            last: EmitStage::Waits,
            is_late: false,
        };
        let usage = match fill(tables, program, &self.plan, self.function, &mut room) {
            Err(CompileError::Emit(EmitError::Inst(InstError::Pool { .. }))) => {
                room.is_late = true;
                fill(tables, program, &self.plan, self.function, &mut room)
            }
            filled => filled,
        }?;
        let Self { plan, function, kernel, .. } = self;
        Ok(Compiled {
            plan,
            steps: kernel.steps,
            patterns: kernel.patterns,
            params: kernel.params,
            usage,
            function,
        })
    }
}

/// From the plan to steps over virtual registers. A frame of its own: what it keeps on the stack is
/// gone before registers are allocated.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn walk<'f>(
    queries: TargetQueries<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    (function, told): (Op, &mut impl LoopSource<'f>),
    steps: InstStorage<'_>,
    params: &mut VecView<Param>,
    lists: EmitLists<'_>,
    exprs: &mut ExprScratch<'_>,
    pressure: RegisterPressureLevel,
) -> Result<(), CompileError> {
    let tables = queries.tables;
    let ExprScratch {
        nodes,
        variables,
        buckets,
        forward,
        uses,
        counts,
        work,
        memo,
        choice,
        registers,
    } = exprs;
    let select = tables.rules.phase_named(lanebook_emit::expr::SELECT).ok_or(EmitError::Rules)?;
    let selector =
        Selector::new(tables, plan.arch, select, SelectScratch { memo, choice, uses: counts })
            .map_err(|_| EmitError::Rules)?;
    let mut context = LowerContext::new(
        queries,
        program,
        plan,
        ExprArena::new(nodes, variables, buckets),
        selector,
        SimplifyScratch { forward, uses, work },
        steps,
        params,
        lists,
        registers,
    );
    context.pressure = pressure;
    context
        .function(function, told)
        .and_then(|()| context.copying_warps(function))
        .map_err(|error| CompileError::emission(error, Op::at(usize::from(context.steps.origin))))
}
