//! Loops and tile operations, told as operators with their accesses.

use crate::error::LoopErrorKind;
use crate::exchange::may_exchange;
use crate::machine::{AnchorUnit, UnitRequest, figures, warp_unit_beside};
use crate::tell::{Fact, Teller, Told};
use crate::tensor_unit::{SumsAnchor, TensorUnit, sums_anchor, tensor_unit};
use lanebook_infer::{
    BufferId, FormError, FormOp, FragmentForm, IndexForm, Kind, MAX_RANK, MemoryScope, UnitSide,
    UnitTile, WarpPolicy, When, split_whole,
};
use lanebook_ir::{AttrValue, Op, Program, Value, attr_names};
use lanebook_tables::{Arch, OpRole, Tables};

/// Most operations that one value outside of loops may be computed by.
const MAX_CHAIN: usize = 64;

/// Most elements that one value outside of loops may be computed of.
const MAX_LOADS: usize = 32;

/// How warps lie over a product's result, by the words of attribute `policy`.
const POLICIES: &[(&str, WarpPolicy)] = &[
    ("Square", WarpPolicy::Square),
    ("FullRow", WarpPolicy::FullRow),
    ("FullCol", WarpPolicy::FullCol),
];

/// Words of attribute `kind` of a reduction.
const KINDS: &[&str] = &["add", "max", "min", "mul", "sum", "and", "or", "xor"];

/// How a product's warps are laid; `None` for another word.
fn policy(program: &Program<'_, '_>, op: Op) -> Option<WarpPolicy> {
    let word = match program.attr(op, attr_names::POLICY) {
        None => return Some(WarpPolicy::default()),
        Some(AttrValue::Word(word) | AttrValue::Str(word)) => program.text(word),
        Some(_) => return None,
    };
    POLICIES.iter().find(|p| p.0 == word).map(|p| p.1)
}

/// How a product in place is computed.
#[derive(Copy, Clone, Debug)]
pub struct WarpProduct<'t> {
    /// The instruction of a warp.
    pub unit: AnchorUnit<'t>,
    /// Warps along the rows and along the columns of the result.
    pub warps: (u32, u32),
    /// Of those along the rows as many as lie in a row of parts of this instruction each, next to
    /// each other, before the next such row: those of the group of warps that told the fragments
    /// where to lie.
    pub together: u32,
}

/// A product in place as its anchor has laid it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct AnchoredProduct<'t> {
    /// What was asked for.
    pub request: UnitRequest,
    /// How many products are summed for each element.
    pub depth: u32,
    /// What has laid the fragments.
    pub anchor: AnchorUnit<'t>,
    /// Warps along the rows and along the columns of the result.
    pub warps: (u32, u32),
    /// Warps that work together in the anchor's tile.
    pub together: u32,
    /// The instruction that may leave the sums in tensor memory: warps reach their rows there.
    pub in_tensor: Option<AnchorUnit<'t>>,
    /// The anchor multiplies such factors, and does not only say where sums lie.
    pub is_own: bool,
}

impl<'t> AnchoredProduct<'t> {
    /// The anchor as what computes it.
    pub const fn laid(&self) -> WarpProduct<'t> {
        WarpProduct { unit: self.anchor, warps: self.warps, together: self.together }
    }
}

/// The anchor of a product in place; `None` where a range of threads computes it, or no unit takes
/// it.
pub(crate) fn anchored_product<'t>(
    program: &Program<'_, '_>,
    tables: &'t Tables<'t>,
    arch: &Arch<'t>,
    told: &Told<'_>,
    op: Op,
) -> Option<AnchoredProduct<'t>> {
    if program.has_attr(op, attr_names::THREADS) {
        return None;
    }
    let threads = program.int_attr(told.function(), attr_names::THREADS)?;
    let threads = u32::try_from(threads).ok()?;
    let (a, c) = (program.operand(op, 0)?, program.operand(op, 2)?);
    let Fact::Buffer(sum) = told.fact(c) else { return None };
    let dims = told.inference.buffer_of(sum).ok()?.dims;
    let mut extents = dims.iter().map(|dim| told.inference.arena.extent(dim).ok());
    let (m, n) = (extents.next()??, extents.next()??);
    let (operand, result) = (program.type_of(a).dtype?, program.type_of(c).dtype?);
    let Fact::Buffer(left) = told.fact(a) else { return None };
    let along = usize::from(!program.has_attr(op, attr_names::TRANSPOSE_A));
    let dims = told.inference.buffer_of(left).ok()?.dims;
    let depth = told.inference.arena.extent(dims.iter().nth(along)?).ok()?;
    let request = UnitRequest { operand, result, extents: (m, n), threads };
    let policy = policy(program, op)?;
    let scope = |buffer| told.inference.buffer_of(buffer).map(|own| own.scope);
    let Fact::Buffer(right) = told.fact(program.operand(op, 1)?) else { return None };
    let is_fragment = |buffer| scope(buffer) == Ok(MemoryScope::Fragment);
    let in_fragments = (is_fragment(left), is_fragment(right));
    let by_unit = scope(left) == Ok(MemoryScope::Shared) && scope(right) == Ok(MemoryScope::Shared);
    let SumsAnchor { unit: anchor, is_own } =
        sums_anchor((tables, arch), (&request, depth), in_fragments)?;
    if by_unit {
        let found = tensor_unit((tables, arch), (&request, depth), policy, &anchor);
        if let Some(TensorUnit { unit, warps }) = found {
            let (together, in_tensor) = (1, Some(unit));
            let own =
                AnchoredProduct { request, depth, anchor, warps, together, in_tensor, is_own };
            return Some(own);
        }
    }
    if !is_own {
        return None;
    }
    let warps = threads.checked_div(anchor.wave())?;
    let split =
        |tile: &UnitTile<'_>| Some((split_whole(policy, (m, n), warps, tile)?, tile.together));
    let (warps, together) = anchor.tile(UnitSide::D, split)??;
    let in_tensor = None;
    Some(AnchoredProduct { request, depth, anchor, warps, together, in_tensor, is_own })
}

/// The instruction of a warp that computes a product in place where its anchor has laid the
/// fragments; `None` where a range of threads computes it, or no unit takes it.
pub fn product_unit<'t>(
    program: &Program<'_, '_>,
    tables: &'t Tables<'t>,
    arch: &Arch<'t>,
    told: &Told<'_>,
    op: Op,
) -> Option<WarpProduct<'t>> {
    let own = anchored_product(program, tables, arch, told, op).filter(|own| own.is_own)?;
    let laid = own.laid();
    if own.together <= 1 {
        return Some(laid);
    }
    let beside = (&own.anchor, own.together);
    let unit = warp_unit_beside(tables, arch, (&own.request, own.depth), beside)?;
    Some(WarpProduct { unit, ..laid })
}

type Indices = heapless::Vec<IndexForm, MAX_RANK>;
type Loads = heapless::Vec<Op, MAX_LOADS>;
type TellResult<T = ()> = Result<T, LoopErrorKind>;

impl Teller<'_, '_, '_, '_> {
    /// Tells one operation; those in its regions come after it.
    pub(crate) fn operation(&mut self, op: Op) -> TellResult {
        let program = self.program;
        if self.inside.is_some_and(|nest| !program.is_inside(op, nest)) {
            self.inside = None;
        }
        match program.role(op) {
            OpRole::Alloc | OpRole::View | OpRole::Return | OpRole::Yield => Ok(()),
            OpRole::Constant => self.attributes(op, &[]),
            OpRole::Index | OpRole::Elementwise | OpRole::Select => {
                let tile = |value: Value| program.type_of(value).is_tile();
                if program.all_operands(op).chain(program.results(op)).any(tile) {
                    return Err(LoopErrorKind::Operation);
                }
                self.learn_index(op)
            }
            OpRole::For => self.counted(op),
            OpRole::Parallel => self.parallel(op),
            OpRole::If if self.inside.is_some() => Ok(()),
            OpRole::If => {
                let mut loads = Loads::new();
                self.gather(program.operands(op), &mut loads)?;
                self.uniform(op, &loads)
            }
            OpRole::ElementLoad if self.inside.is_some() => {
                self.attributes(op, &[])?;
                self.element(op, 0, false)
            }
            OpRole::ElementLoad => {
                self.attributes(op, &[attr_names::EXCHANGE])?;
                self.allowed(op)
            }
            OpRole::ElementStore => {
                self.attributes(op, &[])?;
                if self.inside.is_some() { self.element(op, 1, true) } else { self.statement(op) }
            }
            OpRole::Copy | OpRole::Fill | OpRole::ReduceInto | OpRole::ProductInto
                if self.inside.is_some() =>
            {
                Err(LoopErrorKind::TileInside)
            }
            OpRole::Copy => self.copy(op),
            OpRole::Fill => self.fill(op),
            OpRole::ReduceInto => self.reduce(op),
            OpRole::ProductInto => self.product(op),
            _ => Err(LoopErrorKind::Operation),
        }
    }

    // ---- loops
    fn counted(&mut self, op: Op) -> TellResult {
        // A loop inside of a parallel one is turned by each thread.
        let inside = self.inside.is_some();
        self.attributes(op, if inside { &[] } else { &[attr_names::STAGES] })?;
        if !self.program.is_number_in_contract(op, attr_names::STAGES) {
            return Err(self.wrong_attr(op, attr_names::STAGES));
        }
        let at = self.program.counted_loop(op).ok_or(LoopErrorKind::Bounds)?;
        let step = self.program.int(at.step).filter(|step| *step > 0);
        let step = step.ok_or(LoopErrorKind::Bounds)?;
        let Some(lower) = self.index(at.lower)? else { return Ok(()) };
        let known = match (self.program.int(at.lower), self.program.int(at.upper)) {
            (Some(lower), Some(upper)) => Self::trips(upper.saturating_sub(lower), step),
            _ => Self::trips(i64::from(i32::MAX), step),
        };
        let extent = known.ok_or(LoopErrorKind::Bounds)?;
        let turn = self.turns(extent, self.inside.is_some(), step)?;
        let form = self.inference.arena.add(lower, turn).map_err(LoopErrorKind::Form)?;
        self.set_fact(at.induction, Fact::Index(form))
    }

    /// Refuses words of `exchange` that allow nothing.
    fn allowed(&self, op: Op) -> TellResult {
        let key = attr_names::EXCHANGE;
        let is_wrong = self.program.has_attr(op, key) && !may_exchange(self.program, op);
        if is_wrong { Err(self.wrong_attr(op, key)) } else { Ok(()) }
    }

    /// A nest of parallel loops.
    fn parallel(&mut self, op: Op) -> TellResult {
        let program = self.program;
        if let Some(nest) = self.inside {
            let own = program.nest(nest).any(|of| of == op);
            return if own { Ok(()) } else { Err(LoopErrorKind::NotNested) };
        }
        let (width, exchange) = (attr_names::COALESCED_WIDTH, attr_names::EXCHANGE);
        self.attributes(op, &[attr_names::LAYOUT, width, attr_names::THREADS, exchange])?;
        self.allowed(op)?;
        let mut extents: heapless::Vec<u32, MAX_RANK> = heapless::Vec::new();
        for part in program.nest(op) {
            let at = program.counted_loop(part).ok_or(LoopErrorKind::Bounds)?;
            let numbers = (program.int(at.lower), program.int(at.upper), program.int(at.step));
            let (Some(lower), Some(upper), Some(step)) = numbers else {
                return Err(LoopErrorKind::Bounds);
            };
            let extent = Some(step).filter(|step| *step > 0 && upper > lower);
            let extent = extent.and_then(|step| Self::trips(upper.saturating_sub(lower), step));
            let pushed = extents.push(extent.ok_or(LoopErrorKind::Bounds)?);
            pushed.map_err(|_| LoopErrorKind::Bounds)?;
        }
        let mut loads = Loads::new();
        for inner in program.inside(op) {
            let before = |value: &Value| {
                program.def_op(*value).is_some_and(|def| !program.is_inside(def, op))
            };
            self.gather(program.all_operands(inner).filter(before), &mut loads)?;
        }
        self.uniform(op, &loads)?;
        let threads = self.threads_of(op)?;
        let id = self.begin(op, Kind::Parallel, &extents, threads)?;
        if let Some(most) = self.number(op, width)? {
            if most == 0 {
                return Err(self.wrong_attr(op, width));
            }
            self.inference.bound_vector(most);
        }
        let vars = self.inference.operator_of(id).map_err(LoopErrorKind::Form)?.vars;
        for (part, var) in program.nest(op).zip(vars.iter()) {
            let Some(at) = program.counted_loop(part) else { continue };
            let (lower, step) = (program.int(at.lower), program.int(at.step));
            let arena = &mut self.inference.arena;
            let form = arena.whole(var).and_then(|whole| arena.scale(whole, step.unwrap_or(1)));
            let form =
                form.and_then(|form| arena.add(form, IndexForm::constant(lower.unwrap_or(0))));
            let form = form.map_err(LoopErrorKind::Form)?;
            self.set_fact(at.induction, Fact::Index(form))?;
        }
        if let Some(layout) = self.layout_attr(op, vars, 0)? {
            self.inference.pin_operator(id, layout).map_err(LoopErrorKind::Form)?;
        }
        self.inside = Some(op);
        Ok(())
    }

    fn begin(
        &mut self,
        op: Op,
        kind: Kind,
        extents: &[u32],
        threads: (u32, u32),
    ) -> TellResult<lanebook_infer::OperatorId> {
        let id = self.inference.operator(kind, extents, threads).map_err(LoopErrorKind::Form)?;
        self.stands_for(id, op)?;
        Ok(id)
    }

    // ---- elements
    /// An access of the last operator to an element.
    fn element(&mut self, op: Op, number: usize, write: bool) -> TellResult {
        let program = self.program;
        let buffer = self.buffer_at(op, number)?;
        let scope = self.scope(buffer)?;
        let mut indices = Indices::new();
        let mut data = false;
        for (dim, value) in (0u8..).zip(program.subscripts(op, number)) {
            let form = match self.index(value)? {
                Some(form) => form,
                None if scope == MemoryScope::Fragment => {
                    return Err(LoopErrorKind::Index { dim, buffer });
                }
                None => {
                    data = true;
                    self.symbol(value)?
                }
            };
            indices.push(form).map_err(|_| LoopErrorKind::Buffer(value))?;
        }
        if data {
            // Where data says which element, neighbours are none.
            self.inference.bound_vector(1);
        }
        let when = if data { When::Unknown } else { self.when(op)? };
        self.inference.access_when(buffer, write, &indices, when).map_err(LoopErrorKind::Form)
    }

    /// When an operation in a parallel loop happens: by the conditions around it. Those around the
    /// loop are the same for all its iterations.
    fn when(&mut self, op: Op) -> TellResult<When> {
        let program = self.program;
        let mut when = When::Always;
        let mut at = op;
        while let Some(around) = program.parent(at) {
            if Some(around) == self.inside || self.inside.is_none() {
                break;
            }
            if program.role(around) == OpRole::If {
                let Some(condition) = program.operand(around, 0) else { return Ok(When::Unknown) };
                let Some(mut holds) = self.index(condition)? else { return Ok(When::Unknown) };
                let arena = &mut self.inference.arena;
                let mut join = || {
                    if program.block_of(at) != program.body(around) {
                        holds = arena.op(FormOp::Equal, holds, IndexForm::constant(0))?;
                    }
                    match when {
                        When::Where(other) => arena.op(FormOp::Mul, other, holds),
                        _ => Ok(holds),
                    }
                };
                when = When::Where(join().map_err(LoopErrorKind::Form)?);
            }
            at = around;
        }
        Ok(when)
    }

    fn scope(&self, buffer: BufferId) -> TellResult<MemoryScope> {
        self.inference.buffer_of(buffer).map(|b| b.scope).map_err(LoopErrorKind::Form)
    }

    /// A store outside of parallel loops: one iteration.
    fn statement(&mut self, op: Op) -> TellResult {
        let mut loads = Loads::new();
        self.gather(self.program.all_operands(op), &mut loads)?;
        self.begin(op, Kind::Parallel, &[], (0, self.threads))?;
        self.element(op, 1, true)?;
        loads.iter().try_for_each(|load| self.element(*load, 0, false))
    }

    /// Elements that all threads read.
    fn uniform(&mut self, op: Op, loads: &Loads) -> TellResult {
        if loads.is_empty() {
            return Ok(());
        }
        self.begin(op, Kind::Uniform, &[], (0, self.threads))?;
        loads.iter().try_for_each(|load| self.element(*load, 0, false))
    }

    /// The elements that values are computed of.
    fn gather(&self, values: impl Iterator<Item = Value>, loads: &mut Loads) -> TellResult {
        let program = self.program;
        let mut work: heapless::Vec<Op, MAX_CHAIN> = heapless::Vec::new();
        let push = |work: &mut heapless::Vec<Op, MAX_CHAIN>, value: Value| {
            let Some(def) = program.def_op(value) else { return Ok(()) };
            let scalar = matches!(
                program.role(def),
                OpRole::ElementLoad | OpRole::Index | OpRole::Elementwise | OpRole::Select
            );
            if !scalar || work.contains(&def) {
                return Ok(());
            }
            work.push(def).map_err(|_| LoopErrorKind::Operation)
        };
        for value in values {
            push(&mut work, value)?;
        }
        while let Some(op) = work.pop() {
            if program.role(op) == OpRole::ElementLoad && !loads.contains(&op) {
                loads.push(op).map_err(|_| LoopErrorKind::Operation)?;
            }
            for value in program.all_operands(op) {
                push(&mut work, value)?;
            }
        }
        Ok(())
    }

    // ---- tile operations
    /// Whether the type of an operand says all its extents.
    fn has_extents(&self, op: Op, number: usize) -> bool {
        let ty = self.program.operand(op, number).map(|value| self.program.type_of(value));
        ty.is_some_and(|ty| ty.shape.iter().all(|extent| extent.is_some()))
    }

    /// A tile operation over the whole of a buffer.
    fn over(&mut self, op: Op, shape_of: BufferId) -> TellResult<Indices> {
        let threads = self.threads_of(op)?;
        let is_shape = |value: &Value| self.fact(*value) == Fact::Buffer(shape_of);
        let own = (0usize..).zip(self.program.operands(op)).find(|(_, value)| is_shape(value));
        if let Some((number, value)) = own
            && !self.has_extents(op, number)
        {
            return Err(LoopErrorKind::OpenExtents(value));
        }
        let dims = self.inference.buffer_of(shape_of).map_err(LoopErrorKind::Form)?.dims;
        let mut shape: heapless::Vec<u32, MAX_RANK> = heapless::Vec::new();
        for dim in dims.iter() {
            let extent = self.inference.arena.extent(dim).map_err(LoopErrorKind::Form)?;
            shape.push(extent).map_err(|_| LoopErrorKind::Extents)?;
        }
        let id = self.begin(op, Kind::Parallel, &shape, threads)?;
        let vars = self.inference.operator_of(id).map_err(LoopErrorKind::Form)?.vars;
        let mut indices = Indices::new();
        for var in vars.iter() {
            let whole = self.inference.arena.whole(var).map_err(LoopErrorKind::Form)?;
            indices.push(whole).map_err(|_| LoopErrorKind::Extents)?;
        }
        Ok(indices)
    }

    fn copy(&mut self, op: Op) -> TellResult {
        self.attributes(op, &[attr_names::THREADS, attr_names::EXCHANGE])?;
        self.allowed(op)?;
        let (from, to) = (self.buffer_at(op, 0)?, self.buffer_at(op, 1)?);
        let part = |number| self.program.subscripts(op, number).next().is_some();
        // The side that is moved as a whole says how much; of two the one that knows it.
        let shape_of = match (part(0), part(1)) {
            (false, false) if self.has_extents(op, 1) => to,
            (false, false) if self.has_extents(op, 0) => from,
            (_, false) => to,
            (false, true) => from,
            (true, true) => return Err(LoopErrorKind::Extents),
        };
        let indices = self.over(op, shape_of)?;
        self.moved(op, 1, to, true, &indices)?;
        self.moved(op, 0, from, false, &indices)
    }

    /// One side of a copy: its last dimensions move with the tile, from its subscripts on.
    fn moved(
        &mut self,
        op: Op,
        number: usize,
        buffer: BufferId,
        write: bool,
        tile: &Indices,
    ) -> TellResult {
        let dims = self.inference.buffer_of(buffer).map_err(LoopErrorKind::Form)?.dims;
        let before = dims.len().checked_sub(tile.len()).ok_or(LoopErrorKind::Extents)?;
        let mut subscripts = self.program.subscripts(op, number);
        if before > 0 && subscripts.clone().next().is_none() {
            return Err(LoopErrorKind::Extents);
        }
        let mut indices = Indices::new();
        for dim in 0..dims.len() {
            let start = match subscripts.next() {
                Some(value) => match self.index(value)? {
                    Some(form) => form,
                    None => self.symbol(value)?,
                },
                None => IndexForm::constant(0),
            };
            let own = dim.checked_sub(before).and_then(|k| tile.get(k)).copied();
            let form = match own {
                Some(own) => self.inference.arena.add(start, own).map_err(LoopErrorKind::Form)?,
                None => start,
            };
            indices.push(form).map_err(|_| LoopErrorKind::Extents)?;
        }
        self.inference.access(buffer, write, &indices).map_err(LoopErrorKind::Form)
    }

    fn fill(&mut self, op: Op) -> TellResult {
        self.attributes(op, &[attr_names::THREADS])?;
        let mut loads = Loads::new();
        self.gather(self.program.operands(op), &mut loads)?;
        self.uniform(op, &loads)?;
        let to = self.buffer_at(op, 1)?;
        if self.program.subscripts(op, 1).next().is_some() {
            return Err(LoopErrorKind::Extents);
        }
        let indices = self.over(op, to)?;
        self.inference.access(to, true, &indices).map_err(LoopErrorKind::Form)
    }

    fn reduce(&mut self, op: Op) -> TellResult {
        self.attributes(op, &[attr_names::AXIS, attr_names::KIND, attr_names::THREADS])?;
        let kind = match self.program.attr(op, attr_names::KIND) {
            Some(AttrValue::Word(word) | AttrValue::Str(word)) => self.program.text(word),
            _ => "",
        };
        if !KINDS.contains(&kind) {
            return Err(self.wrong_attr(op, attr_names::KIND));
        }
        let axis = self.number(op, attr_names::AXIS)?.and_then(|axis| u8::try_from(axis).ok());
        let dim = axis.ok_or(self.wrong_attr(op, attr_names::AXIS))?;
        let (from, to) = (self.buffer_at(op, 0)?, self.buffer_at(op, 1)?);
        let threads = self.threads_of(op)?;
        self.begin(op, Kind::Reduce { dim }, &[], threads)?;
        for (buffer, write) in [(from, false), (to, true)] {
            let rank = self.inference.buffer_of(buffer).map_err(LoopErrorKind::Form)?.dims.len();
            let mut zeros = Indices::new();
            for _ in 0..rank {
                let _ = zeros.push(IndexForm::constant(0));
            }
            self.inference.access(buffer, write, &zeros).map_err(LoopErrorKind::Form)?;
        }
        Ok(())
    }

    // ---- products
    /// A product says where its fragments lie.
    fn product(&mut self, op: Op) -> TellResult {
        let program = self.program;
        let (turned_a, turned_b) = (attr_names::TRANSPOSE_A, attr_names::TRANSPOSE_B);
        let known = [attr_names::POLICY, turned_a, turned_b, attr_names::THREADS];
        self.attributes(op, &known)?;
        let policy = policy(program, op).ok_or(self.wrong_attr(op, attr_names::POLICY))?;
        let (a, b, c) = (self.buffer_at(op, 0)?, self.buffer_at(op, 1)?, self.buffer_at(op, 2)?);
        for (buffer, key) in [(a, turned_a), (b, turned_b)] {
            if program.has_attr(op, key) && self.scope(buffer)? == MemoryScope::Fragment {
                return Err(self.wrong_attr(op, key));
            }
        }
        let (m, n) = self.extents(c)?;
        let threads = self.threads_of(op)?;
        let dtype = |number| program.operand(op, number).and_then(|v| program.type_of(v).dtype);
        let (Some(operand), Some(result)) = (dtype(0), dtype(2)) else {
            return Err(LoopErrorKind::NoUnit);
        };
        let (first, second) = self.extents(a)?;
        let depth = if program.has_attr(op, turned_a) { first } else { second };
        let request = UnitRequest { operand, result, extents: (m, n), threads: threads.1 };
        let is_shared = |own: Result<MemoryScope, LoopErrorKind>| own == Ok(MemoryScope::Shared);
        let by_unit = is_shared(self.scope(a)) && is_shared(self.scope(b));
        let by_unit = by_unit && !program.has_attr(op, attr_names::THREADS);
        let machine = (self.tables, self.arch);
        let is_fragment = |buffer| self.scope(buffer) == Ok(MemoryScope::Fragment);
        let in_fragments = (is_fragment(a), is_fragment(b));
        let anchor = sums_anchor(machine, (&request, depth), in_fragments);
        let no_unit = || {
            // What whole warps would be given is denied to a part of one.
            let wave = figures(self.tables, self.arch).wave;
            let whole = UnitRequest { threads: wave, ..request };
            let is_part = threads.1.checked_rem(wave) != Some(0);
            match is_part && sums_anchor(machine, (&whole, depth), in_fragments).is_some() {
                true => LoopErrorKind::PartOfWarp { threads: threads.1, wave },
                false => LoopErrorKind::NoUnit,
            }
        };
        let SumsAnchor { unit, is_own } = anchor.ok_or_else(no_unit)?;
        let in_tensor = match by_unit {
            true => tensor_unit(machine, (&request, depth), policy, &unit),
            false => None,
        };
        let split = match in_tensor {
            Some(own) => own.warps,
            None if !is_own => return Err(LoopErrorKind::NoUnit),
            None => {
                let warps = threads.1.checked_div(unit.wave()).ok_or(LoopErrorKind::Warps)?;
                let each = unit.instance().shape().map_or(1, |shape| u32::from(shape.k)).max(1);
                if depth.checked_rem(each) != Some(0) {
                    return Err(LoopErrorKind::Depth { depth, unit: each });
                }
                let split = |tile: &UnitTile<'_>| split_whole(policy, (m, n), warps, tile);
                let split = unit.tile(UnitSide::D, split).ok_or(LoopErrorKind::NoUnit)?;
                split.ok_or(LoopErrorKind::Warps)?
            }
        };
        self.begin(op, Kind::Product, &[], threads)?;
        for (buffer, side) in [(c, UnitSide::D), (a, UnitSide::A), (b, UnitSide::B)] {
            let own = *self.inference.buffer_of(buffer).map_err(LoopErrorKind::Form)?;
            if own.scope != MemoryScope::Fragment {
                continue;
            }
            let arena = &mut self.inference.arena;
            let made = unit.tile(side, |tile| arena.product_threads(own.dims, side, tile, split));
            let own_threads = match made.ok_or(LoopErrorKind::NoUnit)? {
                // Warps that do not divide the extents.
                Err(FormError::Stale) => return Err(LoopErrorKind::Warps),
                made => made.map_err(LoopErrorKind::Form)?,
            };
            let fragment = arena.of_product(own.dims, &own_threads);
            let fragment = fragment.map_err(LoopErrorKind::Form)?;
            self.anchor(buffer, fragment)?;
        }
        Ok(())
    }

    fn extents(&self, buffer: BufferId) -> TellResult<(u32, u32)> {
        let dims = self.inference.buffer_of(buffer).map_err(LoopErrorKind::Form)?.dims;
        let mut ids = dims.iter();
        let (Some(rows), Some(columns), None) = (ids.next(), ids.next(), ids.next()) else {
            return Err(LoopErrorKind::Extents);
        };
        let extent = |id| self.inference.arena.extent(id).map_err(LoopErrorKind::Form);
        Ok((extent(rows)?, extent(columns)?))
    }

    /// Pins a fragment where a product wants it, unless it lies there.
    fn anchor(&mut self, buffer: BufferId, wanted: FragmentForm) -> TellResult {
        let Some(has) = self.inference.layout(buffer) else {
            return self.inference.pin_product(buffer, wanted).map_err(LoopErrorKind::Form);
        };
        let arena = &mut self.inference.arena;
        let (a, b) = (arena.threads(&has), arena.threads(&wanted));
        let both = arena.contains(a, b).and_then(|there| Ok(there && arena.contains(b, a)?));
        match both.map_err(LoopErrorKind::Form)? {
            true => Ok(()),
            false => Err(LoopErrorKind::Products(buffer)),
        }
    }
}
