//! Operations of a chunk: values of all its slots at once, inner loops turn by turn.

use crate::elements::nest::Chunk;
use crate::elements::slots::LANES;
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::{ExprId, Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext, ValueRegs};
use crate::lower::interface::ParamKind;
use crate::step::{InstKind, MAX_ARGS, Slot as Arg, slot};
use lanebook_infer::{BaseId, BufferId, IndexForm, MAX_RANK, VarRole};
use lanebook_ir::{Def, Op, TypeKind, Value};
use lanebook_loops::{Fact, Told};
use lanebook_plan::select::select_elementwise;
use lanebook_tables::{DtypeId, DtypeKind, IndexOp, IndexWord, OpRole, OpWord, RegisterKind, Role};

/// Bits of an index.
const INDEX_BITS: u16 = 32;
/// Most loops and conditions around an operation of a body.
const DEPTH: usize = 6;
/// Most operands of an operation.
const OPERANDS: usize = 4;
/// Most values that a subscript is asked for to say why it is not known.
const PARTS: usize = 16;
/// Most turns of an inner loop.
const TURNS: i64 = 1024;

/// What is around an operation of a body.
enum Around {
    /// An inner loop: its variable, the turn, how many.
    Turn { op: Op, var: BaseId, turn: i64, turns: i64 },
    /// A condition: the guards before it, and the part that is being emitted.
    Branch { op: Op, before: heapless::Vec<Option<ExprId>, LANES>, part: usize },
}

impl LowerContext<'_, '_, '_, '_> {
    /// The body of a nest for the slots of a chunk.
    #[inline(never)]
    pub(crate) fn body_of(
        &mut self,
        nest: Op,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
    ) -> Result<(), EmitError> {
        let program = self.program;
        let inner = program.nest(nest).last().unwrap_or(nest);
        let mut around: heapless::Vec<Around, DEPTH> = heapless::Vec::new();
        let mut at = program.body(inner).and_then(|body| program.first(body));
        loop {
            let Some(op) = at else {
                if around.is_empty() {
                    return Ok(());
                }
                at = self.leave(nest, told, chunk, &mut around)?;
                continue;
            };
            self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
            let room = refused(op, ElementReason::Room);
            at = match program.role(op) {
                OpRole::For => {
                    let turn = self.enter_turns(op, told, chunk)?;
                    match turn {
                        Some(turn) => {
                            around.push(turn).map_err(|_| room)?;
                            program.body(op).and_then(|body| program.first(body))
                        }
                        None => program.next(op),
                    }
                }
                OpRole::If => {
                    let branch = self.enter_branch(op, told, chunk)?;
                    around.push(branch).map_err(|_| room)?;
                    program.body(op).and_then(|body| program.first(body))
                }
                OpRole::Yield if program.operands(op).next().is_some() => {
                    return Err(refused(op, ElementReason::Operation));
                }
                OpRole::Yield => None,
                _ => {
                    self.element_op(op, told, chunk)?;
                    program.next(op)
                }
            };
        }
    }

    // ---- inner loops and conditions
    #[inline(never)] // What it looks at is off the stack before the body begins.
    fn enter_turns(
        &mut self,
        op: Op,
        told: &Told<'_>,
        chunk: &mut Chunk<'_>,
    ) -> Result<Option<Around>, EmitError> {
        let refuse = refused(op, ElementReason::InnerLoop);
        let parts = self.program.counted_loop(op).ok_or(refuse)?;
        let number = |value| self.program.int(value);
        let (lower, upper) =
            (number(parts.lower).ok_or(refuse)?, number(parts.upper).ok_or(refuse)?);
        let step = number(parts.step).filter(|step| *step > 0).ok_or(refuse)?;
        let turns = upper.saturating_sub(lower).saturating_add(step.saturating_sub(1));
        let turns = turns.checked_div(step).unwrap_or(0);
        if self.program.carried(op).next().is_some() || turns > TURNS {
            return Err(refuse);
        }
        if turns <= 0 {
            return Ok(None);
        }
        let Fact::Index(form) = told.fact(parts.induction) else { return Err(refuse) };
        let arena = &told.inference.arena;
        let vars = arena.variables(&[form]).map_err(of_form(op))?;
        let inner = vars.iter().map(|(var, _)| *var).find(|var| {
            let base = arena.base(*var);
            matches!(base, Ok(lanebook_infer::FormBase::Var { role: VarRole::Inner, .. }))
                && !chunk.slots.iter().any(|slot| slot.vars.iter().any(|(own, _)| own == var))
        });
        let var = inner.ok_or(refuse)?;
        for slot in &mut *chunk.slots {
            slot.vars.push((var, IndexForm::constant(0))).map_err(|_| refuse)?;
        }
        Ok(Some(Around::Turn { op, var, turn: 0, turns }))
    }

    #[inline(never)]
    fn enter_branch(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
    ) -> Result<Around, EmitError> {
        if self.program.results(op).next().is_some() {
            return Err(refused(op, ElementReason::Condition));
        }
        let mut before = heapless::Vec::new();
        for slot in &*chunk.slots {
            before.push(slot.guard).map_err(|_| refused(op, ElementReason::Room))?;
        }
        self.branch_guards(op, told, chunk, true)?;
        Ok(Around::Branch { op, before, part: 0 })
    }

    /// Adds a condition to the guards of all slots: an index, or the truth of elements.
    #[inline(never)]
    fn branch_guards(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        truth: bool,
    ) -> Result<(), EmitError> {
        let (condition, form) = self.condition_of(op, told)?;
        let Some(form) = form else { return self.truth_guards(op, condition, chunk, truth) };
        let thread = chunk.executing.thread;
        for slot in &mut *chunk.slots {
            let arena = &mut told.inference.arena;
            let own = arena.substitute(form, &slot.vars).map_err(of_form(op))?;
            let (low, high) = arena.range(own).map_err(of_form(op))?;
            if own.is_constant() && (own.constant != 0) == truth {
                continue;
            }
            let node = self.form_node(op, told, own, thread)?;
            let node = if low >= 0 && high <= 1 { node } else { self.not_zero(node)? };
            self.keep_truth(&mut slot.guard, node, truth)?;
        }
        Ok(())
    }

    /// Adds a truth that was computed of elements to the guards of all slots: its registers hold
    /// all ones, or zeros.
    #[inline(never)]
    fn truth_guards(
        &mut self,
        op: Op,
        condition: Value,
        chunk: &mut Chunk<'_>,
        truth: bool,
    ) -> Result<(), EmitError> {
        for (k, slot) in (0u16..).zip(chunk.slots.iter_mut()) {
            let word = self.truth_word(op, condition, k)?;
            let word = match truth {
                true => word,
                false => self.arena.op_const(IndexOp::Xor, word, u64::from(u32::MAX))?,
            };
            self.keep_word(&mut slot.guard, word)?;
        }
        Ok(())
    }

    /// The end of what is innermost: where it goes on.
    #[inline(never)]
    fn leave(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        around: &mut heapless::Vec<Around, DEPTH>,
    ) -> Result<Option<Op>, EmitError> {
        let program = self.program;
        match around.pop().ok_or(refused(op, ElementReason::Operation))? {
            Around::Turn { op, var, turn, turns } => {
                let turn = turn.saturating_add(1);
                if turn >= turns {
                    for slot in &mut *chunk.slots {
                        slot.vars.retain(|(own, _)| *own != var);
                    }
                    return Ok(program.next(op));
                }
                for own in chunk.slots.iter_mut().flat_map(|slot| &mut slot.vars) {
                    if own.0 == var {
                        own.1 = IndexForm::constant(turn);
                    }
                }
                let before = around.iter().flat_map(|around| match around {
                    Around::Branch { before, .. } => before.as_slice(),
                    Around::Turn { .. } => &[],
                });
                let guards = chunk.slots.iter().map(|slot| &slot.guard).chain(before);
                let held = guards.flatten().copied().chain([chunk.executing.thread.node]);
                let looked_up = told.inference.lookups().map(|known| ExprId(known.node));
                let held = held.chain(looked_up);
                self.release_nodes(&mut chunk.state, held);
                let _ = around.push(Around::Turn { op, var, turn, turns });
                Ok(program.body(op).and_then(|body| program.first(body)))
            }
            Around::Branch { op, before, part } => {
                for (slot, guard) in chunk.slots.iter_mut().zip(&before) {
                    slot.guard = *guard;
                }
                let next = part.saturating_add(1);
                let entry = program.entry(op, next).and_then(|block| program.first(block));
                let Some(first) = entry else { return Ok(program.next(op)) };
                self.branch_guards(op, told, chunk, false)?;
                let _ = around.push(Around::Branch { op, before, part: next });
                Ok(Some(first))
            }
        }
    }

    // ---- operations
    #[inline(never)]
    pub(crate) fn element_op(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
    ) -> Result<(), EmitError> {
        match self.program.role(op) {
            // What is computed of indices is known where it is asked for.
            OpRole::Index | OpRole::Constant => Ok(()),
            OpRole::Elementwise | OpRole::Select if self.is_index(op, told) => Ok(()),
            OpRole::ElementLoad => {
                let result = self.program.result(op, 0).ok_or(EmitError::Unplanned(op))?;
                let mut indices = heapless::Vec::new();
                let buffer = self.subscripts(op, told, 0, &mut indices)?;
                let into = self.stored_at(op, told, (chunk.executing, chunk.slots))?;
                let reg = self.get_elements(op, told, chunk, (buffer, &indices), into)?;
                self.hold(result, reg)
            }
            OpRole::ElementStore => {
                let value = self.program.operand(op, 0).ok_or(EmitError::Unplanned(op))?;
                let from = self.scalar(op, told, chunk, value)?;
                let mut indices = heapless::Vec::new();
                let buffer = self.subscripts(op, told, 1, &mut indices)?;
                self.set_elements(op, told, chunk, (buffer, &indices), from)
            }
            // Others may stand for it.
            OpRole::Elementwise | OpRole::Select if !self.is_read(op) => Ok(()),
            OpRole::Elementwise if self.program.has_same_bits(op) => {
                self.same_bits(op, told, chunk)
            }
            OpRole::Elementwise | OpRole::Select => self.arithmetic(op, told, chunk),
            _ => Err(refused(op, ElementReason::Operation)),
        }
    }

    /// Whether something reads what an operation computes.
    fn is_read(&self, op: Op) -> bool {
        self.program.result(op, 0).is_some_and(|value| self.program.uses(value).next().is_some())
    }

    /// Whether an operation's result is an index.
    fn is_index(&self, op: Op, told: &Told<'_>) -> bool {
        self.program.result(op, 0).is_some_and(|v| matches!(told.fact(v), Fact::Index(_)))
    }

    /// The error at the operation that takes a number of a subscript without its sign; `None` where
    /// none does.
    fn without_sign(&self, told: &Told<'_>, subscript: Value) -> Option<EmitError> {
        let is_known = |value: Value| {
            self.program.int(value).is_some() || matches!(told.fact(value), Fact::Index(_))
        };
        let mut waiting: heapless::Vec<Value, PARTS> = heapless::Vec::new();
        waiting.push(subscript).ok()?;
        while let Some(value) = waiting.pop() {
            let def = self.program.def_op(value)?;
            if self.program.type_of(value).kind != TypeKind::Index {
                return None;
            }
            let mut is_first = true;
            for operand in self.program.operands(def).filter(|operand| !is_known(*operand)) {
                waiting.push(operand).ok()?;
                is_first = false;
            }
            if is_first {
                use IndexWord::{
                    CeilDivUnsigned, Compare, DivUnsigned, MaxUnsigned, MinUnsigned, RemUnsigned,
                };
                let is_unsigned = matches!(
                    self.program.index_word(def),
                    Some(
                        DivUnsigned
                            | RemUnsigned
                            | CeilDivUnsigned
                            | MinUnsigned
                            | MaxUnsigned
                            | Compare
                    )
                );
                let why = if is_unsigned { ElementReason::Unsigned } else { ElementReason::Form };
                return Some(refused(def, why));
            }
        }
        None
    }

    /// The buffer that an operand is, and its subscripts.
    pub(crate) fn subscripts(
        &self,
        op: Op,
        told: &Told<'_>,
        number: usize,
        out: &mut heapless::Vec<IndexForm, MAX_RANK>,
    ) -> Result<BufferId, EmitError> {
        let refuse = refused(op, ElementReason::Subscript);
        for value in self.program.subscripts(op, number) {
            let form = match (self.program.int(value), told.fact(value)) {
                (Some(number), _) => IndexForm::constant(number),
                (None, Fact::Index(form)) => form,
                _ => return Err(self.without_sign(told, value).unwrap_or(refuse)),
            };
            out.push(form).map_err(|_| refuse)?;
        }
        let value = self.program.operand(op, number).ok_or(refuse)?;
        match told.fact(value) {
            Fact::Buffer(id) => Ok(id),
            _ => Err(refused(op, ElementReason::Foreign)),
        }
    }

    /// Registers of a value: one, or one for each slot.
    #[inline(never)]
    pub(crate) fn scalar(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        value: Value,
    ) -> Result<Reg, EmitError> {
        let splat = self.splats.iter().find(|s| s.value == value).map(|s| s.reg);
        if let Some(reg) = self.held_by(value).or(splat) {
            return Ok(reg);
        }
        let refuse = refused(op, ElementReason::Operation);
        let class = self.machine.class(RegisterKind::Vector, 32).ok_or(refuse)?;
        let purpose = core::mem::replace(&mut self.steps.purpose, InstKind::Fill);
        let literal = self.literal_of(value, value)?;
        self.steps.purpose = purpose;
        if let Some(reg) = literal {
            if self.splats.push(ValueRegs { value, reg }).is_err() {
                self.hold(value, reg)?;
            }
            return Ok(reg);
        }
        // A number of 64 bits that is no element stands in no pair of registers.
        let dtype = self.program.type_of(value).dtype;
        let dtype = dtype.and_then(|dtype| self.machine.tables.dtype(dtype));
        if dtype.is_some_and(|own| own.bits > INDEX_BITS) {
            return Err(refused(op, ElementReason::Element));
        }
        if self.is_number_argument(value) {
            return self.number_argument(op, value);
        }
        let Fact::Index(form) = told.fact(value) else { return Err(refuse) };
        let count = u16::try_from(chunk.slots.len()).map_err(|_| refuse)?;
        let out = self.steps.tuple(class, count)?;
        for (k, slot) in (0u16..).zip(chunk.slots.iter()) {
            let own = told.inference.arena.substitute(form, &slot.vars).map_err(of_form(op))?;
            let mut node = self.form_node(op, told, own, chunk.executing.thread)?;
            if self.is_truth(value) {
                node = self.truth_mask(op, told, own, node)?;
            }
            let reg = self.compute(node, RegBank::Vector)?;
            let to = out.member(k);
            self.copy_tile(op, reg, to)?;
        }
        Ok(out)
    }

    /// Whether a value is a number that the kernel is given.
    fn is_number_argument(&self, value: Value) -> bool {
        let program = self.program;
        let is_scalar = program.type_of(value).kind == TypeKind::Scalar;
        let Def::Argument(block, _) = program.def(value) else { return false };
        let owner = program.owner_of(block).filter(|_| is_scalar);
        owner.is_some_and(|owner| program.role(owner) == OpRole::Function)
    }

    /// The register of a number that the kernel is given: the same for all slots.
    #[inline(never)]
    fn number_argument(&mut self, op: Op, value: Value) -> Result<Reg, EmitError> {
        let node = self.parameter(op, value, ParamKind::Scalar)?;
        let reg = self.compute(node, RegBank::Vector)?;
        if self.splats.push(ValueRegs { value, reg }).is_err() {
            self.hold(value, reg)?;
        }
        Ok(reg)
    }

    /// Whether a value is a truth.
    fn is_truth(&self, value: Value) -> bool {
        let dtype = self.program.type_of(value).dtype;
        dtype.and_then(|dtype| self.machine.tables.dtype(dtype)).is_some_and(|d| d.bits == 1)
    }

    /// The word of a truth of indices, 1 or 0, as elements have it: all ones, or zeros.
    #[inline(never)]
    fn truth_mask(
        &mut self,
        op: Op,
        told: &Told<'_>,
        form: IndexForm,
        node: ExprId,
    ) -> Result<ExprId, EmitError> {
        let (low, high) = told.inference.arena.range(form).map_err(of_form(op))?;
        let node = if low >= 0 && high <= 1 { node } else { self.not_zero(node)? };
        self.minus(node)
    }

    /// A register with a literal as an element of a buffer; `None` if it is none.
    pub(crate) fn literal_of(
        &mut self,
        value: Value,
        buffer: Value,
    ) -> Result<Option<Reg>, EmitError> {
        let class = self.machine.class(RegisterKind::Vector, 32);
        let (Some((bits, wide)), Some(class)) = (self.constant_bits(value, buffer), class) else {
            return Ok(None);
        };
        self.steps.purpose = InstKind::Fill;
        if !wide {
            return self.filled(class, i64::from((bits as u32).cast_signed())).map(Some);
        }
        let out = self.steps.tuple(class, 2)?;
        for (k, half) in [(0, bits as u32), (1, (bits >> 32) as u32)] {
            self.fill(out.member(k), i64::from(half.cast_signed()))?;
        }
        Ok(Some(out))
    }

    /// The bits of a constant, of the type of another value, and whether they are more than 32.
    fn constant_bits(&self, value: Value, like: Value) -> Option<(u64, bool)> {
        let literal = self.program.constant(value)?;
        let dtype = self.machine.tables.dtype(self.program.type_of(like).dtype?)?;
        let bits = self.program.literal_bits(literal, dtype)?;
        Some((bits, dtype.bits > 32))
    }

    /// Elements as another type's of as many bits.
    #[inline(never)]
    fn same_bits(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Operation);
        let (from, to) = (self.program.operand(op, 0), self.program.result(op, 0));
        let (from, to) = (from.ok_or(refuse)?, to.ok_or(refuse)?);
        let tables = self.machine.tables;
        let bits = |value| {
            let dtype = self.program.type_of(value).dtype.and_then(|id| tables.dtype(id));
            dtype.map(|dtype| dtype.bits).filter(|bits| matches!(bits, 8 | 16 | 32 | 64))
        };
        if bits(from).is_none() || bits(from) != bits(to) {
            return Err(refused(op, ElementReason::Element));
        }
        let reg = self.scalar(op, told, chunk, from)?;
        let class = self.machine.class(RegisterKind::Vector, 32).ok_or(refuse)?;
        // What stands in a fragment's register may be written over before this is read.
        let out = self.steps.tuple(class, reg.count)?;
        self.copy_tile(op, reg, out)?;
        self.hold(to, out)
    }

    /// One instruction for each slot, or one where all operands are the same in all slots.
    #[inline(never)]
    fn arithmetic(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Operation);
        let program = self.program;
        let mut operands: heapless::Vec<Reg, OPERANDS> = heapless::Vec::new();
        let mut from = None;
        for value in program.operands(op) {
            from = from.or(program.type_of(value).dtype);
            if from.is_none() && matches!(told.fact(value), Fact::Index(_)) {
                from = self.machine.tables.dtype_of(DtypeKind::Signed, INDEX_BITS);
            }
            let reg = self.scalar(op, told, chunk, value)?;
            operands.push(reg).map_err(|_| refuse)?;
        }
        let result = program.result(op, 0).ok_or(refuse)?;
        let to = program.type_of(result).dtype.ok_or(refuse)?;
        let word = program.decl_id(op).map(OpWord::Op).ok_or(refuse)?;
        let types = (from.ok_or(refuse)?, to);
        let into = self.stored_at(op, told, (chunk.executing, chunk.slots))?;
        let out = self.computed(op, (word, types), &mut operands, into)?;
        self.hold(result, out)
    }

    /// What an elementwise operation makes of registers with single elements, in registers of `into`
    /// where it can be: one instruction for each, or one where all operands have one register alone.
    #[inline(never)]
    pub(crate) fn computed(
        &mut self,
        op: Op,
        (word, types): (OpWord, (DtypeId, DtypeId)),
        operands: &mut [Reg],
        into: Option<Reg>,
    ) -> Result<Reg, EmitError> {
        let refuse = refused(op, ElementReason::Operation);
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        let found = select_elementwise(tables, arch, word, operands.len(), types, 0);
        let (id, atom, pack) = found.ok_or(refuse)?;
        let does = atom.does.ok_or(refuse)?;
        for (source, number) in operands.iter_mut().zip(does.uses.iter().step_by(pack.max(1))) {
            let operand = atom.operands.get(usize::from(*number)).ok_or(refuse)?;
            *source = self.suited(op, *source, operand)?;
        }
        let words = |number: &u8| {
            let operand = atom.operands.get(usize::from(*number));
            operand.map_or(1, |operand| u16::from(operand.registers.max(1)))
        };
        let taken = || does.uses.iter().step_by(pack.max(1));
        let counts = operands.iter().zip(taken());
        let counts = counts.map(|(reg, number)| reg.count.checked_div(words(number)).unwrap_or(1));
        let count = counts.max().unwrap_or(1);
        let def = atom.operands.iter().position(|o| o.role == Role::Def).ok_or(refuse)?;
        let made = atom.operands.get(def).ok_or(refuse)?;
        let (class, each) = (made.class, u16::from(made.registers.max(1)));
        let all = count.checked_mul(each).ok_or(refuse)?;
        let out = match into.filter(|into| into.class == class && into.count == all) {
            Some(into) => into,
            None => self.steps.tuple(class, all)?,
        };
        // An element of 64 bits has two registers.
        let one = |reg: Reg, k: u16, words: u16| {
            let k = if reg.count == words { 0 } else { k };
            slot(reg.members(k.saturating_mul(words), words))
        };
        self.steps.purpose = InstKind::Arithmetic;
        for k in 0..count {
            let mut args = [Arg::None; MAX_ARGS];
            for (operand, arg) in atom.operands.iter().zip(&mut args) {
                if operand.role == Role::Def {
                    *arg = slot(self.steps.tuple(operand.class, u16::from(operand.registers))?);
                }
            }
            *args.get_mut(def).ok_or(refuse)? = slot(out.members(k.saturating_mul(each), each));
            for (number, place) in does.uses.iter().zip(0usize..) {
                let which = place.checked_div(pack.max(1)).ok_or(refuse)?;
                let source = operands.get(which).copied().ok_or(refuse)?;
                let arg = args.get_mut(usize::from(*number)).ok_or(refuse)?;
                *arg = one(source, k, words(number));
            }
            let used = args.get(..atom.operands.len()).ok_or(refuse)?;
            self.steps.append(id, used)?;
        }
        Ok(out)
    }
}
