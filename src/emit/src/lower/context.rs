//! What emission works with: the expression arena, the selector, the step list, and what is known
//! so far.

use crate::elements::{
    ElementLists, ElementReason, ElementSpot, KnownAddress, KnownQuotient, WorkSlot,
};
use crate::expr::{
    ExprArena, ExprError, ExprId, Reg, RegBank, SelectError, Selector, SimplifyScratch, VarId,
    Variable, Want, simplify,
};
use crate::lower::interface::{Param, ParamKind, find};
use crate::lower::kept::KeptRegister;
use crate::lower::target::TargetQueries;
use crate::pool::EmitPool;
use crate::step::{InstError, InstStorage, Missing, Slot, int, slot};
use crate::sync::mbarrier::{MAX_MBARRIERS, MbarrierRegs};
use core::convert::Infallible;
use heapless::VecView;
use lanebook_ir::rewrite::RunError;
use lanebook_ir::{Op, Program, Value};
use lanebook_plan::Plan;
use lanebook_plan::select::{BytePermutes, permute_bytes};
use lanebook_tables::{AtomId, IndexOp, Role, RuleId};

/// Most variables of one kernel: parameters, thread number, loop counters.
pub const MAX_VARIABLES: usize = 256;

/// Why nothing was emitted.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::emit::step::InstError;
/// use lanebook::emit::{ElementReason, EmitError, EmitPool};
/// use lanebook::ir::{Options, SmallStorage, parse};
///
/// let full = EmitError::full(EmitPool::Steps, 64);
/// let (mut plain, mut named) = (String::new(), String::new());
/// full.write_text(&mut plain).unwrap();
/// let mut pools = Box::new(SmallStorage::new());
/// let program = parse(pools.pools(), &TABLES, "func @f() {threads = 32} {\n}", Options::default()).unwrap();
/// let arch = &TABLES.archs[0];
/// full.write_named(&TABLES, arch, &program, &mut named).unwrap();
/// assert!(plain.contains("64") && named.contains("64"));
/// assert!(!ElementReason::Subscript.message().is_empty() && !ElementReason::Subscript.remedy().is_empty());
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum EmitError {
    /// Steps or registers ran out, or the tables lack something.
    Inst(InstError),
    /// Index expressions ran out of room.
    Expr(ExprError),
    /// Simplification of an index expression ended early.
    Simplify(Unsimplified),
    /// No instruction computes this.
    Select(SelectError<Infallible>),
    /// The operation has no place in the plan, or one that emission cannot follow.
    Unplanned(Op),
    /// An index that is neither a constant, an argument nor a loop counter.
    Index(Op),
    /// A carried value is neither updated in place nor movable.
    Carried(Op),
    /// The tables have no usable selection rules for the instruction set.
    Rules,
    /// A constant that no instruction can put into these registers.
    Constant(Op),
    /// Elements of a parallel loop, or of an operation in place.
    Element {
        /// The operation.
        op: Op,
        /// Why not.
        why: ElementReason,
    },
}

/// Why simplification of an index expression ended early.
///
/// ```
/// use lanebook::emit::{EmitError, Unsimplified};
///
/// let early = EmitError::Simplify(Unsimplified::Work { capacity: 64 });
/// assert!(early.to_string().contains("index simplification"));
/// assert!(Unsimplified::Work { capacity: 64 }.to_string().contains("64"));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Unsimplified {
    /// More changes than one kernel may have.
    Fuel,
    /// More parts wait to be looked at than there is room for.
    Work {
        /// How many there is room for.
        capacity: u16,
    },
    /// A compiled rule is not well formed (tables from outside the build).
    BadRule(RuleId),
}

// Nearly every function of emission returns one, and what fits a register costs neither memory nor
// copies: a fifth of this crate's code was copies of twelve bytes.
const _: () = assert!(core::mem::size_of::<Result<Reg, EmitError>>() <= 8);

impl From<RunError<ExprError>> for EmitError {
    #[inline(never)] // Rare, and met at several places.
    fn from(e: RunError<ExprError>) -> Self {
        match e {
            RunError::Work { capacity } => Self::Simplify(Unsimplified::Work { capacity }),
            RunError::BadRule { rule } => Self::Simplify(Unsimplified::BadRule(rule)),
            RunError::Graph(e) => Self::Expr(e),
            // Other reasons to stop are reasons of the rules' other languages.
            _ => Self::Simplify(Unsimplified::Fuel),
        }
    }
}

impl From<SelectError<InstError>> for EmitError {
    fn from(e: SelectError<InstError>) -> Self {
        Self::Select(match e {
            SelectError::Sink(step) => return Self::Inst(step),
            SelectError::UnknownArch(arch) => SelectError::UnknownArch(arch),
            SelectError::NoRules { isa, phase } => SelectError::NoRules { isa, phase },
            SelectError::TooManyRules { rules } => SelectError::TooManyRules { rules },
            SelectError::Scratch { needed, lent } => SelectError::Scratch { needed, lent },
            SelectError::NoInstruction { node, scalar, op } => {
                SelectError::NoInstruction { node, scalar, op }
            }
            SelectError::BadRule(rule) => SelectError::BadRule(rule),
        })
    }
}

impl EmitError {
    /// A list of `capacity` entries is full.
    #[must_use]
    #[doc(hidden)]
    pub fn full(pool: EmitPool, capacity: u32) -> Self {
        Self::Inst(InstError::Capacity { pool, capacity })
    }

    /// The same about another operation: `to` says which one stands for each.
    #[must_use]
    #[doc(hidden)]
    pub fn about(mut self, to: impl FnOnce(Op) -> Op) -> Self {
        match &mut self {
            Self::Unplanned(op) | Self::Index(op) | Self::Carried(op) | Self::Constant(op) => {
                *op = to(*op);
            }
            Self::Element { op, .. } => *op = to(*op),
            Self::Inst(InstError::Pool { op, .. }) => *op = op.map(to),
            Self::Inst(_) | Self::Expr(_) | Self::Simplify(_) | Self::Select(_) | Self::Rules => {}
        }
        self
    }
}

impl From<InstError> for EmitError {
    fn from(e: InstError) -> Self {
        Self::Inst(e)
    }
}
impl From<ExprError> for EmitError {
    fn from(e: ExprError) -> Self {
        Self::Expr(e)
    }
}

/// Registers of a tile.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ValueRegs {
    /// The value.
    pub value: Value,
    /// Its registers, in the order of its fragment.
    pub reg: Reg,
}

/// A register that a loop advances at its end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    /// The loop's operation index.
    pub owner: u16,
    /// The address.
    pub reg: Reg,
    /// By this register, or by `bytes` if there is none.
    pub by: Option<Reg>,
    /// Known step.
    pub bytes: u32,
    /// It belongs to what a loop of stages leaves out before its first turn, and stays there.
    pub waits: bool,
}

/// A parameter or loop counter that has a variable.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The value.
    pub value: Value,
    /// What of it.
    pub kind: ParamKind,
    /// The variable's node.
    pub node: ExprId,
}

/// An index that is computed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ComputedIndex {
    /// The value.
    pub value: Value,
    /// Its node.
    pub node: ExprId,
    /// Registers that were made before it.
    pub made: u16,
}

/// A list that is full.
pub(crate) fn full<T>(pool: EmitPool, list: &VecView<T>) -> EmitError {
    EmitError::full(pool, u32::try_from(list.capacity()).unwrap_or(u32::MAX))
}

/// What emission keeps lists of, in the caller's storage: in frames they would lie under everything
/// that it calls.
pub struct EmitLists<'a> {
    /// Tiles in registers.
    pub held: &'a mut VecView<ValueRegs>,
    /// Addresses.
    pub addresses: &'a mut VecView<KeptRegister>,
    /// Advances.
    pub advances: &'a mut VecView<Advance>,
    /// Variables of index values: parameters and loop counters.
    pub indices: &'a mut VecView<Index>,
    /// What operations on indices have computed.
    pub computed: &'a mut VecView<ComputedIndex>,
    /// Nodes that were given a variable of their own once computed.
    pub settled: &'a mut VecView<(ExprId, ExprId)>,
    /// Constants in a register each.
    pub splats: &'a mut VecView<ValueRegs>,
    /// Slots of a chunk of parallel loops.
    pub slots: &'a mut VecView<WorkSlot>,
    /// Where their elements lie.
    pub spots: &'a mut VecView<ElementSpot>,
    /// Addresses of elements.
    pub known: &'a mut VecView<KnownAddress>,
    /// Guards of elements.
    pub guards: &'a mut VecView<(ExprId, Reg)>,
    /// Registers that are written in all lanes, by number: 0 = not.
    pub written: &'a mut VecView<u8>,
}

impl EmitLists<'_> {
    /// The same lists, empty.
    pub fn again(&mut self) -> EmitLists<'_> {
        self.held.clear();
        self.addresses.clear();
        self.advances.clear();
        self.indices.clear();
        self.computed.clear();
        self.settled.clear();
        self.splats.clear();
        self.written.clear();
        EmitLists {
            held: self.held,
            addresses: self.addresses,
            advances: self.advances,
            indices: self.indices,
            computed: self.computed,
            settled: self.settled,
            splats: self.splats,
            slots: self.slots,
            spots: self.spots,
            known: self.known,
            guards: self.guards,
            written: self.written,
        }
    }
}

/// Everything at once; the walk and the address code are methods on it.
pub struct LowerContext<'a, 't, 'p, 's> {
    /// Machine.
    pub machine: TargetQueries<'t>,
    /// Program.
    pub program: &'a Program<'p, 't>,
    /// Plan.
    pub plan: &'a Plan<'s>,
    /// Expressions.
    pub arena: ExprArena<'a>,
    /// Selection.
    pub selector: Selector<'t, 'a>,
    /// Simplification's scratch.
    pub scratch: SimplifyScratch<'a>,
    /// Rewrites left.
    pub fuel: u32,
    /// Registers of variables.
    pub registers: &'a mut [Option<Reg>],
    /// Steps.
    pub steps: InstStorage<'a>,
    /// Parameters.
    pub params: &'a mut VecView<Param>,
    /// The function is a snippet: its parameters are in registers.
    pub(crate) snippet: bool,
    /// Variables of index values: parameters and loop counters.
    pub indices: &'a mut VecView<Index>,
    /// What operations on indices have computed.
    pub computed: &'a mut VecView<ComputedIndex>,
    /// Nodes that were given a variable of their own once computed.
    pub settled: &'a mut VecView<(ExprId, ExprId)>,
    /// The thread's number.
    pub thread: ExprId,
    /// Base of the shared segment, if it is not zero.
    pub shared_base: Option<ExprId>,
    /// Constants in a register each.
    pub splats: &'a mut VecView<ValueRegs>,
    /// Tiles in registers.
    pub held: &'a mut VecView<ValueRegs>,
    /// Addresses.
    pub addresses: &'a mut VecView<KeptRegister>,
    /// Advances.
    pub advances: &'a mut VecView<Advance>,
    /// Mbarriers, by number.
    pub mbarriers: heapless::Vec<MbarrierRegs, MAX_MBARRIERS>,
    /// The predicate that holds in one thread, once there is one.
    pub elected: Option<Reg>,
    /// The first register that is made inside the innermost open loop.
    pub made_inside: u16,
    /// Next label.
    pub label: u16,
    /// How far emission goes for fewer registers.
    pub pressure: crate::matrix::k_slices::RegisterPressureLevel,
    /// The scalar base that an outer step of a global tile has been added to last.
    pub stride: Option<crate::memory::scalar_stride::Stride>,
    /// What the starts of wave-uniform runs are made of, where that is not a register.
    pub runs: heapless::Vec<
        crate::memory::uniform_base::UniformRun,
        { crate::memory::uniform_base::MAX_RUNS },
    >,
    /// What an instance with an index is made of.
    pub(crate) indexed: crate::memory::indexed::IndexedPlace,
    /// Where the run stands whose start is in the special register: bytes behind its first
    /// instance's.
    pub run_at: Option<u32>,
    /// Where warps part that only start copies.
    pub(crate) parting: Option<crate::lower::producer::Parting>,
    /// What is emitted is the part of the warps that only start copies.
    pub(crate) copies_alone: bool,
    /// What a kernel with accumulators in tensor memory keeps.
    pub tensor: Option<crate::matrix::tensor_memory::TensorFrame>,
    /// Registers that are written in all lanes, by number: inside of how many loops, and one more.
    pub(crate) written: &'a mut VecView<u8>,
    /// Steps that it knows of, in a function of parallel loops.
    pub(crate) noted: Option<usize>,
    /// Open serial loops.
    pub(crate) turns: u8,
    /// Of open loops of stages in a function of parallel loops: the number of the buffer that is
    /// read, as [`StagedLoop`](crate::lower::stages::StagedLoop) counts it.
    pub(crate) read_buffers: heapless::Vec<(Op, ExprId), { crate::lower::loops::MAX_DEPTH }>,
    /// Quotients that addresses of elements have asked for.
    pub(crate) quotients: heapless::Vec<KnownQuotient, 2>,
    /// What is known of a chunk of parallel loops, while none is emitted.
    pub(crate) elements: Option<ElementLists<'a>>,
    /// What makes a register of bytes of two.
    pub(crate) choice: Option<BytePermutes<'t>>,
}

impl<'a, 't, 'p, 's> LowerContext<'a, 't, 'p, 's> {
    /// A context before the kernel's entry.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        machine: TargetQueries<'t>,
        program: &'a Program<'p, 't>,
        plan: &'a Plan<'s>,
        arena: ExprArena<'a>,
        selector: Selector<'t, 'a>,
        scratch: SimplifyScratch<'a>,
        steps: InstStorage<'a>,
        params: &'a mut VecView<Param>,
        lists: EmitLists<'a>,
        registers: &'a mut [Option<Reg>],
    ) -> Self {
        let thread = ExprId::NONE;
        let EmitLists { held, addresses, advances, indices, computed, settled, splats, .. } = lists;
        let EmitLists { slots, spots, known, guards, written, .. } = lists;
        registers.fill(None);
        Self {
            machine,
            program,
            plan,
            arena,
            selector,
            scratch,
            fuel: 1 << 20,
            registers,
            steps,
            params,
            snippet: false,
            indices,
            computed,
            settled,
            thread,
            shared_base: None,
            splats,
            held,
            addresses,
            advances,
            mbarriers: heapless::Vec::new(),
            elected: None,
            made_inside: 0,
            label: 0,
            pressure: crate::matrix::k_slices::RegisterPressureLevel::None,
            stride: None,
            runs: heapless::Vec::new(),
            indexed: crate::memory::indexed::IndexedPlace::NONE,
            run_at: None,
            parting: None,
            copies_alone: false,
            tensor: None,
            written,
            noted: None,
            turns: 0,
            read_buffers: heapless::Vec::new(),
            quotients: heapless::Vec::new(),
            elements: Some(ElementLists { slots, spots, known, guards }),
            choice: permute_bytes(machine.tables, machine.arch),
        }
    }

    /// At the kernel's entry: the thread number and the shared segment's base are made available.
    #[inline(never)]
    pub(crate) fn enter(&mut self, function: Op) -> Result<(), EmitError> {
        let isa = self.machine.isa;
        let lanes = 1u64.checked_shl(u32::from(self.plan.wave)).unwrap_or(u64::MAX).wrapping_sub(1);
        let reg = match (isa.thread_register, isa.read_thread) {
            (Some(fixed), _) => {
                self.steps.pinned(fixed.class, fixed.number, u16::from(fixed.count))?
            }
            (None, Some(read)) => self.frame_value(read)?,
            (None, None) => return Err(InstError::NoAtom(Missing::Frame).into()),
        };
        let thread = Variable::word().below(u64::from(self.plan.threads)).varying(lanes);
        self.thread = self.declare(thread, reg)?;
        if self.snippet {
            return self.enter_snippet(function);
        }
        if let Some(read) = isa.shared_base
            && self.plan.shared_bytes > 0
        {
            let reg = self.frame_value(read)?;
            let bits = u8::try_from(self.plan.shared_align.max(1).trailing_zeros()).unwrap_or(0);
            self.shared_base = Some(self.declare(Variable::word().uniform().aligned(bits), reg)?);
        }
        Ok(())
    }

    /// The result of a frame atom without operands.
    pub(crate) fn frame_value(&mut self, atom: AtomId) -> Result<Reg, EmitError> {
        let operand = self
            .machine
            .tables
            .atom(atom)
            .and_then(|a| a.operands.first())
            .ok_or(InstError::NoAtom(Missing::Frame))?;
        let reg = self.steps.tuple(operand.class, u16::from(operand.registers))?;
        self.steps.append(atom, &[slot(reg)])?;
        Ok(reg)
    }

    /// A variable that lives in `reg`.
    pub fn declare(&mut self, variable: Variable, reg: Reg) -> Result<ExprId, EmitError> {
        let (VarId(number), node) = self.arena.variable_node(variable)?;
        let capacity = u32::try_from(self.registers.len()).unwrap_or(u32::MAX);
        let place = self
            .registers
            .get_mut(usize::from(number))
            .ok_or(EmitError::full(EmitPool::Variables, capacity))?;
        *place = Some(reg);
        self.selector.remember(node, reg);
        Ok(node)
    }

    /// The variable of a parameter or loop counter.
    pub fn index_of(&self, value: Value, kind: ParamKind) -> Option<ExprId> {
        self.indices.iter().find(|i| i.value == value && i.kind == kind).map(|i| i.node)
    }

    /// Makes a parameter available, loading it if it is not there yet.
    pub fn parameter(
        &mut self,
        op: Op,
        value: Value,
        kind: ParamKind,
    ) -> Result<ExprId, EmitError> {
        if let Some(node) = self.index_of(value, kind) {
            return Ok(node);
        }
        let (number, param) = find(self.params, value, kind).ok_or(EmitError::Index(op))?;
        let block = matches!(kind, ParamKind::Map(_));
        let wide = block || param.bytes == 8;
        let load = match (block, self.machine.isa.param_address) {
            (true, address) => address.ok_or(InstError::NoAtom(Missing::Frame))?,
            (false, _) if wide => self.machine.isa.load_param64,
            (false, _) => self.machine.isa.load_param32,
        };
        let atom = self.machine.tables.atom(load).ok_or(InstError::NoAtom(Missing::Frame))?;
        if self.snippet {
            let made = atom.operands.iter().find(|o| o.role == Role::Def && !o.implicit);
            let operand = made.ok_or(InstError::NoAtom(Missing::Frame))?;
            let reg = self.steps.tuple(operand.class, u16::from(operand.registers))?;
            self.steps.give(reg);
            self.place_parameter(number, reg);
            return self.declare_parameter(value, kind, wide, reg);
        }
        let mut args: heapless::Vec<Slot, 6> = heapless::Vec::new();
        let mut result = None;
        for (k, operand) in atom.operands.iter().enumerate() {
            let refuse =
                InstError::Operand { atom: load, operand: u8::try_from(k).unwrap_or(u8::MAX) };
            let arg = match operand.role {
                Role::Def if !operand.implicit => {
                    let reg = self.steps.tuple(operand.class, u16::from(operand.registers))?;
                    result = Some(reg);
                    slot(reg)
                }
                Role::Use | Role::Address if !operand.implicit => slot(self.parameter_base()?),
                Role::Immediate => {
                    let by_offset = self.machine.isa.param_base.is_some();
                    let n = if by_offset { i64::from(param.offset) } else { number as i64 };
                    int(n).ok_or(refuse)?
                }
                _ => Slot::None,
            };
            args.push(arg).map_err(|_| refuse)?;
        }
        self.steps.append(load, &args)?;
        let reg = result.ok_or(InstError::NoAtom(Missing::Frame))?;
        self.declare_parameter(value, kind, wide, reg)
    }

    /// The variable of a parameter that is in these registers.
    fn declare_parameter(
        &mut self,
        value: Value,
        kind: ParamKind,
        wide: bool,
        reg: Reg,
    ) -> Result<ExprId, EmitError> {
        let variable = if wide { Variable::long().uniform() } else { Variable::word().uniform() };
        let node = self.declare(variable, reg)?;
        self.indices
            .push(Index { value, kind, node })
            .map_err(|_| full(EmitPool::Indices, self.indices))?;
        Ok(node)
    }

    fn parameter_base(&mut self) -> Result<Reg, EmitError> {
        let base = self.machine.isa.param_base.ok_or(InstError::NoAtom(Missing::Frame))?;
        let known =
            self.steps.registers.iter().find(|v| {
                v.pinned && u16::from(v.class) == base.class.0 && v.physical == base.number
            });
        if let Some(v) = known {
            return Ok(Reg { class: base.class, first: v.first, count: v.count });
        }
        Ok(self.steps.pinned(base.class, base.number, u16::from(base.count))?)
    }

    /// Simplifies an expression and computes it into a register.
    #[inline(never)]
    pub fn compute(&mut self, node: ExprId, place: RegBank) -> Result<Reg, EmitError> {
        let node = self.simplified(node)?;
        self.selected(node, place)
    }

    /// The expression in its simplest form.
    #[inline(never)]
    pub(crate) fn simplified(&mut self, node: ExprId) -> Result<ExprId, EmitError> {
        let mut roots = [node];
        let tables = self.machine.tables;
        let phase = tables.rules.phase_named(crate::expr::SIMPLIFY).ok_or(EmitError::Rules)?;
        simplify(
            &mut self.arena,
            &tables.rules,
            phase,
            &mut roots,
            &mut self.scratch,
            &mut self.fuel,
            |_, _| {},
        )?;
        let [node] = roots;
        Ok(node)
    }

    /// The register in which instructions leave an expression's value.
    #[inline(never)]
    fn selected(&mut self, node: ExprId, place: RegBank) -> Result<Reg, EmitError> {
        let mut out = [None];
        self.selector.select(
            &self.arena,
            self.registers,
            &[Want { node, place }],
            &mut out,
            &mut self.steps,
        )?;
        let [reg] = out;
        reg.ok_or(EmitError::Expr(ExprError::UnknownNode(node)))
    }

    /// Sum, leaving out zeros.
    pub fn sum(
        &mut self,
        op: IndexOp,
        a: Option<ExprId>,
        b: Option<ExprId>,
    ) -> Result<Option<ExprId>, EmitError> {
        Ok(match (a, b) {
            (Some(a), Some(b)) => Some(self.arena.op(op, &[a, b])?),
            (some, None) | (None, some) => some,
        })
    }

    /// The registers of a tile.
    pub fn held_by(&self, value: Value) -> Option<Reg> {
        self.held.iter().find(|h| h.value == value).map(|h| h.reg)
    }

    /// Says that a tile is in these registers.
    pub fn hold(&mut self, value: Value, reg: Reg) -> Result<(), EmitError> {
        if let Some(h) = self.held.iter_mut().find(|h| h.value == value) {
            h.reg = reg;
            return Ok(());
        }
        self.held.push(ValueRegs { value, reg }).map_err(|_| full(EmitPool::Tiles, self.held))
    }

    /// A fresh label.
    pub fn fresh_label(&mut self) -> u16 {
        let label = self.label;
        self.label = label.saturating_add(1);
        label
    }

    /// `reg = reg + by` in place.
    pub fn add_in_place(
        &mut self,
        reg: Reg,
        by: crate::lower::target::SecondOperand,
        op: IndexOp,
    ) -> Result<(), EmitError> {
        use crate::lower::target::SecondOperand;
        let missing = InstError::NoAtom(Missing::Move(reg.class));
        let last = match by {
            SecondOperand::Reg(r) => slot(r),
            SecondOperand::Number(n) => int(n).ok_or(missing)?,
        };
        if let Some(atom) = self.machine.binary(op, reg.class, reg.count, by) {
            return Ok(self.steps.append(atom, &[slot(reg), slot(reg), last])?);
        }
        // The other way round, where only the first summand may be a number, or of another class.
        let added = match by {
            _ if op != IndexOp::Add || reg.count != 1 => None,
            SecondOperand::Reg(r) => self.machine.add_register(reg.class, r.class),
            SecondOperand::Number(n) => {
                self.machine.add_number(reg.class, n).filter(|(_, first)| *first).map(|(id, _)| id)
            }
        };
        let atom: AtomId = added.ok_or(missing)?;
        Ok(self.steps.append(atom, &[slot(reg), last, slot(reg)])?)
    }
}
