//! The whole path in one call: program in, plan and kernel text out.

use heapless::{Vec, VecView};
pub use lanebook_emit::Compiled;
use lanebook_emit::expr::{
    ExprArena, ExprError, ExprId, ExprNode, NodeChoice, Reg, SelectError, SelectScratch, Selector,
    SimplifyScratch, Variable,
};
use lanebook_emit::step::{LoopSpan, Step, StepError, StepStorage, TupleStride, VRegTuple};
use lanebook_emit::{
    Address, Advance, EmitError, EmitPool, Index, Lists, LowerContext, Param,
    RegisterPressureLevel, TargetQueries, TextError, ValueRegs, parameters,
};
use lanebook_ir::rewrite::RunError;
use lanebook_ir::verify::contract::{Breach, check};
use lanebook_ir::{Op, Program};
use lanebook_plan::memory_pressure::choose_and_place;
use lanebook_plan::select::{InsertedConversions, LoadSinking, Workspace};
use lanebook_plan::shared_alloc::place_moved;
use lanebook_plan::{
    AllocPlan, FragmentPlan, GlobalPlan, MapPlan, Plan, PlanError, ProductPlan, RejectedCandidate,
    SharedExchange, ShufflePlan, TransferPlan,
};
use lanebook_tables::{ArchId, Tables};
use lanebook_tile::copy_atom::CopyAtom;

/// Why a program was not compiled.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CompileError {
    /// No plan.
    Plan(PlanError),
    /// No steps.
    Emit(EmitError),
    /// The text sink refused.
    Text(TextError),
    /// A list of emission is full.
    Capacity {
        /// Which.
        pool: EmitPool,
        /// How many it holds; the kernel needs more.
        capacity: u32,
        /// The operation that needed one more, where emission was at one.
        op: Option<Op>,
    },
    /// The program has no function to compile.
    NoFunction,
    /// The program writes something that is not obeyed.
    Contract(Breach),
}

impl CompileError {
    /// An error of emission, met at an operation.
    fn emission(error: EmitError, op: Option<Op>) -> Self {
        // What was being done when a list was full does not matter.
        let cause = match error {
            EmitError::Select(SelectError::Sink(step)) => EmitError::Step(step),
            EmitError::Simplify(RunError::Graph(expr)) => EmitError::Expr(expr),
            other => other,
        };
        let (pool, capacity) = match cause {
            EmitError::Capacity { pool, capacity }
            | EmitError::Step(StepError::Capacity { pool, capacity }) => (pool, capacity),
            EmitError::Step(StepError::Steps { capacity }) => (EmitPool::Steps, capacity),
            EmitError::Step(StepError::Registers { capacity }) => (EmitPool::Tuples, capacity),
            EmitError::Step(StepError::Patterns { capacity }) => (EmitPool::Patterns, capacity),
            EmitError::Step(StepError::Loops { capacity }) => (EmitPool::Loops, capacity),
            EmitError::Expr(ExprError::Nodes { capacity }) => {
                (EmitPool::Nodes, u32::from(capacity))
            }
            EmitError::Expr(ExprError::Variables { capacity }) => {
                (EmitPool::Variables, u32::from(capacity))
            }
            _ => return Self::Emit(cause),
        };
        Self::Capacity { pool, capacity, op }
    }
}

impl CompileError {
    /// The same about another operation: `to` says which one stands for each.
    fn about(self, to: impl FnOnce(Op) -> Op) -> Self {
        match self {
            Self::Plan(e) => Self::Plan(e.about(to)),
            Self::Emit(e) => Self::Emit(e.about(to)),
            Self::Capacity { pool, capacity, op } => {
                Self::Capacity { pool, capacity, op: op.map(to) }
            }
            Self::Text(_) | Self::NoFunction | Self::Contract(_) => self,
        }
    }
}

impl From<PlanError> for CompileError {
    fn from(e: PlanError) -> Self {
        Self::Plan(e)
    }
}
impl From<Breach> for CompileError {
    fn from(e: Breach) -> Self {
        Self::Contract(e)
    }
}
impl From<EmitError> for CompileError {
    fn from(e: EmitError) -> Self {
        Self::emission(e, None)
    }
}
impl From<TextError> for CompileError {
    fn from(e: TextError) -> Self {
        Self::Text(e)
    }
}

/// Storage for planning and emission, `const`-constructible: a static, a stack frame, or memory of
/// the caller's.
///
/// `STEPS`: instructions of the kernel. `TUPLES`: register tuples. `NODES`: index-expression nodes.
/// `REJECTED`: reasons kept.
#[derive(Debug)]
pub struct CompileStorage<
    const STEPS: usize,
    const TUPLES: usize,
    const NODES: usize,
    const REJECTED: usize,
> {
    copy_atoms: Vec<CopyAtom, 128>,
    movements: Vec<lanebook_plan::select::CopyOp, 48>,
    staged: Vec<lanebook_plan::select::Staged, 32>,
    order: Vec<(u32, u16), { lanebook_plan::select::MAX_PRODUCTS }>,
    copies: Vec<lanebook_plan::select::Copies, 1024>,
    tiles: Vec<lanebook_plan::select::SharedTile, 16>,
    allocs: Vec<AllocPlan, 16>,
    fragments: Vec<FragmentPlan, 48>,
    globals: Vec<GlobalPlan, 16>,
    transfers: Vec<TransferPlan, 48>,
    products: Vec<ProductPlan, 8>,
    maps: Vec<MapPlan, 8>,
    exchanges: Vec<SharedExchange, 8>,
    lanes: Vec<ShufflePlan, 8>,
    rejected: Vec<RejectedCandidate, REJECTED>,
    steps: Vec<Step, STEPS>,
    tuples: Vec<VRegTuple, TUPLES>,
    patterns: Vec<TupleStride, 32>,
    loops: Vec<LoopSpan, 8>,
    params: Vec<Param, 64>,
    held: Vec<ValueRegs, 48>,
    addresses: Vec<Address, 256>,
    advances: Vec<Advance, 128>,
    indices: Vec<Index, 64>,
    settled: Vec<(ExprId, ExprId), 32>,
    splats: Vec<ValueRegs, 16>,
    nodes: Vec<ExprNode, NODES>,
    variables: Vec<Variable, 256>,
    buckets: [ExprId; 256],
    forward: [ExprId; NODES],
    uses: [u16; NODES],
    counts: [u16; NODES],
    work: Vec<ExprId, NODES>,
    memo: [[Option<Reg>; 2]; NODES],
    choice: [[NodeChoice; 2]; NODES],
    registers: [Option<Reg>; lanebook_emit::MAX_VARIABLES],
}

/// How full one pool is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PoolUse {
    /// Which pool.
    pub what: &'static str,
    /// Records in use.
    pub used: usize,
    /// Records there are.
    pub capacity: usize,
    /// Bytes of one record.
    pub bytes: usize,
}

/// Bytes of one record of a pool.
const fn record<P: AsRef<[T]>, T>(_: &P) -> usize {
    size_of::<T>()
}

/// Storage that suits the kernels of the examples.
pub type KernelStorage = CompileStorage<1536, 512, 1024, 0>;

impl<const STEPS: usize, const TUPLES: usize, const NODES: usize, const REJECTED: usize>
    CompileStorage<STEPS, TUPLES, NODES, REJECTED>
{
    /// Empty storage: zeros alone, so that a static of it weighs nothing in an image, and zeroed
    /// memory is one. A compile writes the side tables before it reads them.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            copy_atoms: Vec::new(),
            movements: Vec::new(),
            staged: Vec::new(),
            order: Vec::new(),
            copies: Vec::new(),
            tiles: Vec::new(),
            allocs: Vec::new(),
            fragments: Vec::new(),
            globals: Vec::new(),
            transfers: Vec::new(),
            products: Vec::new(),
            maps: Vec::new(),
            exchanges: Vec::new(),
            lanes: Vec::new(),
            rejected: Vec::new(),
            steps: Vec::new(),
            tuples: Vec::new(),
            patterns: Vec::new(),
            loops: Vec::new(),
            params: Vec::new(),
            held: Vec::new(),
            addresses: Vec::new(),
            advances: Vec::new(),
            indices: Vec::new(),
            settled: Vec::new(),
            splats: Vec::new(),
            nodes: Vec::new(),
            variables: Vec::new(),
            buckets: [ExprId(0); 256],
            forward: [ExprId(0); NODES],
            uses: [0; NODES],
            counts: [0; NODES],
            work: Vec::new(),
            memo: [[None; 2]; NODES],
            choice: [[NodeChoice::EMPTY; 2]; NODES],
            registers: [None; lanebook_emit::MAX_VARIABLES],
        }
    }

    /// How full the pools are. All of them only grow while a program is compiled, so this is the
    /// most that it needed; the next compile begins again at zero.
    #[must_use]
    pub fn usage(&self) -> [PoolUse; 34] {
        macro_rules! pools {
            ($($pool:ident: $used:expr, $of:expr;)*) => { [$(PoolUse { what: stringify!($pool), used: $used, capacity: $of, bytes: record(&self.$pool) }),*] };
        }
        // Side tables of the expression nodes are as full as these.
        let nodes = self.nodes.len();
        pools! {
            copy_atoms: self.copy_atoms.len(), self.copy_atoms.capacity();
            movements: self.movements.len(), self.movements.capacity();
            staged: self.staged.len(), self.staged.capacity();
            order: self.order.len(), self.order.capacity();
            copies: self.copies.len(), self.copies.capacity();
            tiles: self.tiles.len(), self.tiles.capacity();
            allocs: self.allocs.len(), self.allocs.capacity();
            fragments: self.fragments.len(), self.fragments.capacity();
            globals: self.globals.len(), self.globals.capacity();
            transfers: self.transfers.len(), self.transfers.capacity();
            products: self.products.len(), self.products.capacity();
            maps: self.maps.len(), self.maps.capacity();
            exchanges: self.exchanges.len(), self.exchanges.capacity();
            lanes: self.lanes.len(), self.lanes.capacity();
            rejected: self.rejected.len(), self.rejected.capacity();
            steps: self.steps.len(), self.steps.capacity();
            tuples: self.tuples.len(), self.tuples.capacity();
            patterns: self.patterns.len(), self.patterns.capacity();
            loops: self.loops.len(), self.loops.capacity();
            params: self.params.len(), self.params.capacity();
            held: self.held.len(), self.held.capacity();
            addresses: self.addresses.len(), self.addresses.capacity();
            advances: self.advances.len(), self.advances.capacity();
            indices: self.indices.len(), self.indices.capacity();
            settled: self.settled.len(), self.settled.capacity();
            splats: self.splats.len(), self.splats.capacity();
            nodes: nodes, self.nodes.capacity();
            variables: self.variables.len(), self.variables.capacity();
            buckets: self.buckets.len(), self.buckets.len();
            forward: nodes, NODES;
            uses: nodes, NODES;
            counts: nodes, NODES;
            memo: nodes, NODES;
            choice: nodes, NODES;
        }
    }

    /// The storage as views without sizes.
    pub fn scratch(&mut self) -> Scratch<'_> {
        Scratch {
            workspace: Workspace {
                copy_atoms: self.copy_atoms.as_mut_view(),
                movements: self.movements.as_mut_view(),
                staged: self.staged.as_mut_view(),
                order: self.order.as_mut_view(),
                copies: self.copies.as_mut_view(),
                tiles: self.tiles.as_mut_view(),
            },
            pools: PlanPools {
                allocs: self.allocs.as_mut_view(),
                fragments: self.fragments.as_mut_view(),
                globals: self.globals.as_mut_view(),
                transfers: self.transfers.as_mut_view(),
                products: self.products.as_mut_view(),
                maps: self.maps.as_mut_view(),
                exchanges: self.exchanges.as_mut_view(),
                lanes: self.lanes.as_mut_view(),
                rejected: self.rejected.as_mut_view(),
            },
            room: EmitScratch {
                steps: self.steps.as_mut_view(),
                tuples: self.tuples.as_mut_view(),
                patterns: self.patterns.as_mut_view(),
                loops: self.loops.as_mut_view(),
                params: self.params.as_mut_view(),
                lists: Lists {
                    held: self.held.as_mut_view(),
                    addresses: self.addresses.as_mut_view(),
                    advances: self.advances.as_mut_view(),
                    indices: self.indices.as_mut_view(),
                    settled: self.settled.as_mut_view(),
                    splats: self.splats.as_mut_view(),
                },
                frame: ExprScratch {
                    nodes: self.nodes.as_mut_view(),
                    variables: self.variables.as_mut_view(),
                    buckets: &mut self.buckets,
                    forward: &mut self.forward,
                    uses: &mut self.uses,
                    counts: &mut self.counts,
                    work: self.work.as_mut_view(),
                    memo: &mut self.memo,
                    choice: &mut self.choice,
                    registers: &mut self.registers,
                },
            },
        }
    }
}

impl<const STEPS: usize, const TUPLES: usize, const NODES: usize, const REJECTED: usize> Default
    for CompileStorage<STEPS, TUPLES, NODES, REJECTED>
{
    fn default() -> Self {
        Self::new()
    }
}

/// Typed room lent by the caller.
pub struct Scratch<'s> {
    workspace: Workspace<'s>,
    pools: PlanPools<'s>,
    room: EmitScratch<'s>,
}

/// What a plan is kept in.
struct PlanPools<'s> {
    allocs: &'s mut VecView<AllocPlan>,
    fragments: &'s mut VecView<FragmentPlan>,
    globals: &'s mut VecView<GlobalPlan>,
    transfers: &'s mut VecView<TransferPlan>,
    products: &'s mut VecView<ProductPlan>,
    maps: &'s mut VecView<MapPlan>,
    exchanges: &'s mut VecView<SharedExchange>,
    lanes: &'s mut VecView<ShufflePlan>,
    rejected: &'s mut VecView<RejectedCandidate>,
}

impl<'s> PlanPools<'s> {
    /// A plan in which nothing is decided.
    #[inline(always)]
    fn plan(self, arch: ArchId) -> Plan<'s> {
        let Self {
            allocs,
            fragments,
            globals,
            transfers,
            products,
            maps,
            exchanges,
            lanes,
            rejected,
        } = self;
        Plan {
            arch,
            threads: 0,
            wave: 0,
            warps: 0,
            allocs,
            fragments,
            globals,
            transfers,
            products,
            maps,
            rejected,
            rejected_dropped: 0,
            completions: 0,
            completion_offset: 0,
            exchanges,
            lanes,
            shared_bytes: 0,
            shared_align: 0,
            tensor_columns: 0,
            tensor_slot: 0,
        }
    }
}

/// A plan, and the room that emission will use.
pub struct Planned<'s> {
    /// The plan.
    pub plan: Plan<'s>,
    /// The function.
    pub function: Op,
    room: EmitScratch<'s>,
}

/// What emission uses of a [`Scratch`].
struct EmitScratch<'s> {
    steps: &'s mut VecView<Step>,
    tuples: &'s mut VecView<VRegTuple>,
    patterns: &'s mut VecView<TupleStride>,
    loops: &'s mut VecView<LoopSpan>,
    params: &'s mut VecView<Param>,
    lists: Lists<'s>,
    frame: ExprScratch<'s>,
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
    let Scratch { mut workspace, pools, room } = scratch;
    let mut plan = pools.plan(arch);
    decide(
        tables,
        program,
        function,
        &mut plan,
        &mut workspace,
        &mut InsertedConversions::default(),
    )?;
    Ok(Planned { plan, function, room })
}

/// Plans and emits the function of a program; it may get conversions, as in [`plan`].
///
/// # Errors
/// Whatever keeps the plan or the emission from being made; the program is as it was.
pub fn compile<'s>(
    tables: &Tables<'_>,
    arch: ArchId,
    program: &mut Program<'_, '_>,
    mut scratch: Scratch<'s>,
) -> Result<Compiled<'s>, CompileError> {
    let function = accepted(program)?;
    let mut plan = scratch.pools.plan(arch);
    let mut inserted = InsertedConversions::default();
    decide(tables, program, function, &mut plan, &mut scratch.workspace, &mut inserted)?;
    // The room stays where it lies: a copy would lie under everything that emission calls.
    let filled = match fill_moved(tables, program, &mut plan, function, &mut scratch.room) {
        Err(error @ CompileError::Emit(EmitError::Step(StepError::Pool { .. }))) => refill(
            tables,
            program,
            &mut plan,
            function,
            (&mut scratch.workspace, &mut scratch.room),
            error,
        ),
        found => found,
    };
    let usage = filled.map_err(|error| {
        let error = error.about(|op| inserted.home(program, op));
        inserted.rollback(program);
        error
    })?;
    Ok(Compiled {
        plan,
        steps: scratch.room.steps,
        patterns: scratch.room.patterns,
        params: scratch.room.params,
        usage,
        function,
    })
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
    workspace: &mut Workspace<'_>,
    inserted: &mut InsertedConversions,
) -> Result<(), CompileError> {
    loop {
        let chosen = choose_and_place(tables, program, function, plan, workspace);
        let Err(error) = chosen else { return Ok(()) };
        if !inserted.repair(program, error) {
            let told =
                inserted.original_error(program, error).about(|op| inserted.home(program, op));
            inserted.rollback(program);
            return Err(told.into());
        }
    }
}

/// Plans and emits once more, with loads inside the loops that read them; `error` is what it is
/// about, and what is left if that does not help.
#[inline(never)]
fn refill(
    tables: &Tables<'_>,
    program: &mut Program<'_, '_>,
    plan: &mut Plan<'_>,
    function: Op,
    (workspace, room): (&mut Workspace<'_>, &mut EmitScratch<'_>),
    error: CompileError,
) -> Result<lanebook_emit::registers::allocate::RegisterUsage, CompileError> {
    let mut sunk = LoadSinking::default();
    if !sunk.sink(program, function) {
        return Err(error);
    }
    let mut inserted = InsertedConversions::default();
    let again = decide(tables, program, function, plan, workspace, &mut inserted)
        .and_then(|()| fill_moved(tables, program, plan, function, room));
    again.map_err(|_| {
        inserted.rollback(program);
        sunk.rollback(program);
        error
    })
}

/// Makes the steps of a plan. Where registers are too few, tiles get other places once, so that
/// more loads can wait for the products that take them.
#[inline(never)]
fn fill_moved(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &mut Plan<'_>,
    function: Op,
    room: &mut EmitScratch<'_>,
) -> Result<lanebook_emit::registers::allocate::RegisterUsage, CompileError> {
    let filled = fill(tables, program, plan, function, room);
    match filled {
        Err(CompileError::Emit(EmitError::Step(StepError::Pool { .. })))
            if place_moved(tables, program, plan) == Ok(true) =>
        {
            fill(tables, program, plan, function, room)
        }
        filled => filled,
    }
}

/// Makes the steps of a plan.
#[inline(never)]
fn fill(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    function: Op,
    room: &mut EmitScratch<'_>,
) -> Result<lanebook_emit::registers::allocate::RegisterUsage, CompileError> {
    let EmitScratch { steps, tuples, patterns, loops, params, lists, frame } = room;
    let machine = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    let isa = tables.isa(machine.isa).ok_or(PlanError::UnknownArch)?;
    if !parameters(tables, program, function, plan.maps, params) {
        let full = EmitError::Capacity {
            pool: EmitPool::Params,
            capacity: u32::try_from(params.capacity()).unwrap_or(u32::MAX),
        };
        return Err(CompileError::emission(full, Some(function)));
    }
    let queries = TargetQueries { tables, arch: machine, isa };
    let mut pressure = RegisterPressureLevel::least(tables, isa, program, plan);
    let mut first: Option<CompileError> = None;
    let usage = loop {
        let room = StepStorage::new(steps, tuples, patterns, loops);
        let walked =
            walk(queries, program, plan, function, room, params, lists.again(), frame, pressure);
        let error = match walked {
            Ok(()) => {
                match lanebook_emit::registers::allocate::allocate(
                    tables, isa, steps, tuples, patterns, loops,
                ) {
                    Ok(usage) => break usage,
                    Err(e) => CompileError::emission(EmitError::Step(e), Some(function)),
                }
            }
            Err(e) => e,
        };
        // Once more with fewer registers at once, as far as that goes; where that does not go, what
        // is told is that they are too few.
        match (error, pressure.more()) {
            (CompileError::Emit(EmitError::Step(StepError::Pool { .. })), Some(more)) => {
                first = first.or(Some(error));
                pressure = more;
            }
            (CompileError::Emit(EmitError::Step(StepError::Pool { .. })), None) => {
                return Err(error);
            }
            _ => return Err(first.unwrap_or(error)),
        }
    };
    lanebook_emit::sync::waits::finish(tables, machine, isa, steps, patterns)
        .map_err(|e| CompileError::emission(EmitError::Step(e), Some(function)))?;
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
        let usage = fill(tables, program, &self.plan, self.function, &mut self.room)?;
        let Self { plan, function, room } = self;
        Ok(Compiled {
            plan,
            steps: room.steps,
            patterns: room.patterns,
            params: room.params,
            usage,
            function,
        })
    }
}

/// Room for index expressions while they are simplified and selected.
struct ExprScratch<'s> {
    nodes: &'s mut VecView<ExprNode>,
    variables: &'s mut VecView<Variable>,
    buckets: &'s mut [ExprId],
    forward: &'s mut [ExprId],
    uses: &'s mut [u16],
    counts: &'s mut [u16],
    work: &'s mut VecView<ExprId>,
    memo: &'s mut [[Option<Reg>; 2]],
    choice: &'s mut [[NodeChoice; 2]],
    registers: &'s mut [Option<Reg>],
}

/// From the plan to steps over virtual registers. A frame of its own: what it keeps on the stack is
/// gone before registers are allocated.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn walk(
    queries: TargetQueries<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    function: Op,
    steps: StepStorage<'_>,
    params: &VecView<Param>,
    lists: Lists<'_>,
    frame: &mut ExprScratch<'_>,
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
    } = frame;
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
        .function(function)
        .map_err(|error| CompileError::emission(error, Op::at(usize::from(context.steps.origin))))
}
