//! Addresses of elements: what is the same in all threads, what the thread adds to it, never below
//! zero, and a number.

use crate::elements::forms::ThreadVar;
use crate::elements::slots::WorkSlot;
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::{ExprId, Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::interface::ParamKind;
use crate::step::InstKind;
use heapless::VecView;
use lanebook_infer::{BaseId, BufferId, FormBase, FormOp, IndexForm, MAX_RANK, VarRole};
use lanebook_ir::{Op, Value, attr_names};
use lanebook_loops::Told;
use lanebook_tables::{IndexOp, OffsetField, Space};

/// Most rows that the thread adds to those that are the same in all threads: with their stride they
/// stay within 32 bits.
const MOST_ROWS: i64 = 1 << 16;

/// A buffer in memory with the subscripts of an access.
#[derive(Copy, Clone)]
pub(crate) struct Place<'i> {
    pub op: Op,
    pub value: Value,
    pub indices: &'i [IndexForm],
    /// The buffer, whose storage has an order of its own.
    pub buffer: BufferId,
}

/// Where an element lies.
#[derive(Copy, Clone, Debug, Default)]
pub struct ElementSpot {
    /// Bytes that are the same in all threads, without the number.
    pub outer: IndexForm,
    /// Bytes that the thread adds, without the number.
    pub own: IndexForm,
    /// Bytes that the thread adds by a number of the program: rows of a flat index.
    pub far: IndexForm,
    /// Subscripts of dimensions whose strides the program does not say.
    pub open: [IndexForm; MAX_RANK],
    /// The number.
    pub bytes: i64,
}

/// A register with an address, without a number that is added.
#[derive(Copy, Clone, Debug)]
pub struct KnownAddress {
    /// The buffer.
    pub value: Value,
    /// What the thread adds, and what all do.
    pub nodes: (Option<ExprId>, Option<ExprId>),
    /// The number that the register has in it.
    pub number: i64,
    /// The address, or what the thread adds.
    pub reg: Reg,
    /// What all threads add, where that has a register.
    pub base: Option<Reg>,
}

/// What an operation knows while it is emitted.
pub(crate) struct AccessState<'a> {
    pub known: &'a mut VecView<KnownAddress>,
    pub guards: &'a mut VecView<(ExprId, Reg)>,
}

/// Whether a base is a variable that is the same in all threads.
const fn is_outer(base: Option<FormBase>) -> bool {
    matches!(base, Some(FormBase::Var { role: VarRole::Outer | VarRole::Inner, .. }))
}

impl LowerContext<'_, '_, '_, '_> {
    /// Bytes from one index of a dimension to the next; `None` where only the caller knows.
    fn stride_of(&self, value: Value, dim: usize, element: u32) -> Option<i64> {
        let shape = self.program.type_of(value).shape;
        let inner = dim.checked_add(1)?..shape.rank();
        let mut bytes = i64::from(element);
        for at in inner {
            bytes = bytes.checked_mul(i64::from(shape.extent(at)?))?;
        }
        Some(bytes)
    }

    /// Where the element of a slot lies.
    #[inline(never)]
    fn spot(
        &mut self,
        told: &mut Told<'_>,
        place: &Place<'_>,
        vars: &[(BaseId, IndexForm)],
        (element, thread): (u32, ThreadVar),
    ) -> Result<ElementSpot, EmitError> {
        let full = of_form(place.op);
        let arena = &mut told.inference.arena;
        let mut all = IndexForm::constant(0);
        let mut open = [IndexForm::default(); MAX_RANK];
        for (dim, index) in place.indices.iter().enumerate() {
            let index = arena.substitute(*index, vars).map_err(&full)?;
            match self.stride_of(place.value, dim, element) {
                Some(stride) => all = arena.add_scaled(all, index, stride).map_err(&full)?,
                None => {
                    *open.get_mut(dim).ok_or(refused(place.op, ElementReason::Room))? = index;
                }
            }
        }
        all = told.inference.placed(place.buffer, all).map_err(&full)?;
        let arena = &mut told.inference.arena;
        let [mut outer, mut own, mut far] = [IndexForm::constant(0); 3];
        let mut at = 0usize;
        while let Some(term) = arena.terms_of(all).get(at).copied() {
            at = at.saturating_add(1);
            let base = arena.base(term.digit.base).map_err(&full)?;
            let digit = arena.digit(term.digit).map_err(&full)?;
            let is_product = matches!(base, FormBase::Op { op: FormOp::Mul, .. });
            let is_outer = match base {
                base if is_outer(Some(base)) => term.digit.base != thread.var,
                _ if is_product => {
                    let under = arena.variables(&[digit]).map_err(&full)?;
                    let varies = |var: BaseId| var == thread.var || !is_outer(arena.base(var).ok());
                    !under.iter().any(|(var, _)| varies(*var))
                }
                _ => false,
            };
            let sum = match (term.stride > 0, is_outer, is_product) {
                (true, true, _) => &mut outer,
                (true, false, true) => &mut far,
                _ => &mut own,
            };
            *sum = arena.add_scaled(*sum, digit, term.stride).map_err(&full)?;
        }
        // What the thread adds is not below zero; the number makes up for it.
        let (low, _) = arena.range(own).map_err(&full)?;
        own.constant = own.constant.saturating_sub(low);
        Ok(ElementSpot { outer, own, far, open, bytes: all.constant.saturating_add(low) })
    }

    /// What all addresses of a spot are multiples of.
    pub(crate) fn alignment(
        &self,
        told: &Told<'_>,
        place: &Place<'_>,
        spot: &ElementSpot,
        element: u32,
    ) -> u64 {
        let program = self.program;
        let attr = |key: &str| {
            program.int_value_attr(place.value, key).and_then(|n| u64::try_from(n).ok())
        };
        let arena = &told.inference.arena;
        let global = program.type_of(place.value).space == Some(Space::Global);
        let base = match global {
            true => attr(attr_names::ALIGN).unwrap_or(u64::from(element)),
            false => u64::from(self.machine.tables.weights.shared_align),
        };
        let mut all = base | spot.bytes.unsigned_abs();
        for form in [spot.outer, spot.own, spot.far] {
            all |= form.constant.unsigned_abs();
            for term in arena.terms_of(form) {
                all |= term.stride.unsigned_abs();
            }
        }
        if spot.open.iter().any(|index| *index != IndexForm::default()) {
            let div = attr(attr_names::STRIDE_DIV).unwrap_or(1);
            all |= div.saturating_mul(u64::from(element));
        }
        1u64.checked_shl(all.trailing_zeros()).unwrap_or(1)
    }

    /// Whether two spots are the same but for their numbers.
    pub(crate) fn lie_near(told: &Told<'_>, a: &ElementSpot, b: &ElementSpot) -> bool {
        let arena = &told.inference.arena;
        arena.same(a.outer, b.outer)
            && arena.same(a.own, b.own)
            && arena.same(a.far, b.far)
            && a.open.iter().zip(&b.open).all(|(a, b)| arena.same(*a, *b))
    }

    pub(crate) fn spots(
        &mut self,
        told: &mut Told<'_>,
        slots: &[WorkSlot],
        place: &Place<'_>,
        element: u32,
        thread: ThreadVar,
        out: &mut VecView<ElementSpot>,
    ) -> Result<(), EmitError> {
        out.clear();
        for slot in slots {
            let spot = self.spot(told, place, &slot.vars, (element, thread))?;
            out.push(spot).map_err(|_| refused(place.op, ElementReason::Room))?;
        }
        Ok(())
    }

    pub(crate) fn space_of(&self, place: &Place<'_>) -> Result<Space, EmitError> {
        let space = self.program.type_of(place.value).space;
        let memory = space.filter(|space| matches!(space, Space::Global | Space::Shared));
        memory.ok_or(refused(place.op, ElementReason::Element))
    }
    /// The registers of an address, and what the instruction's field holds.
    #[inline(never)]
    pub(crate) fn address_of(
        &mut self,
        told: &Told<'_>,
        state: &mut AccessState<'_>,
        (place, spot, thread): (&Place<'_>, &ElementSpot, ThreadVar),
        field: Option<OffsetField>,
        split: bool,
    ) -> Result<(Reg, Option<Reg>, i32), EmitError> {
        self.steps.purpose = InstKind::FirstAddress;
        let global = self.space_of(place)? == Space::Global;
        let (own, outer) = if global {
            self.global_nodes(told, (place, spot, thread), split)?
        } else {
            self.shared_nodes(told, (place, spot, thread))?
        };
        let reaches = |bytes: i64| {
            let field = field?;
            let scale = i64::from(field.scale.max(1));
            let units = bytes.checked_div(scale)?;
            let fits = bytes.checked_rem(scale) == Some(0)
                && i64::from(field.min) <= units
                && units <= i64::from(field.max);
            i32::try_from(units).ok().filter(|_| fits)
        };
        for known in state.known.iter() {
            let same = known.value == place.value && known.nodes == (own, outer);
            if same && let Some(units) = reaches(spot.bytes.saturating_sub(known.number)) {
                return Ok((known.reg, known.base, units));
            }
            if same && spot.bytes == known.number && field.is_none() {
                return Ok((known.reg, known.base, 0));
            }
        }
        let (number, units) = match reaches(spot.bytes) {
            Some(units) => (0, units),
            None => (spot.bytes, 0),
        };
        let (reg, base) = self.address_regs((own, outer), number, (global, split))?;
        let known = KnownAddress { value: place.value, nodes: (own, outer), number, reg, base };
        // A full list only costs further registers.
        let _ = state.known.push(known);
        Ok((reg, base, units))
    }

    /// Registers of an address from what the thread adds, what all do, and a number.
    fn address_regs(
        &mut self,
        (own, outer): (Option<ExprId>, Option<ExprId>),
        number: i64,
        (global, split): (bool, bool),
    ) -> Result<(Reg, Option<Reg>), EmitError> {
        let zero = self.arena.constant(0)?;
        if !global {
            let node = self.sum(IndexOp::Add, outer, own)?;
            let node = node.unwrap_or(zero);
            let node = match number as u32 {
                0 => node,
                by => self.arena.op_const(IndexOp::Add, node, u64::from(by))?,
            };
            return Ok((self.compute(node, RegBank::Vector)?, None));
        }
        let bytes = match number {
            0 => None,
            number => Some(self.arena.constant_of(number.cast_unsigned(), 64)?),
        };
        let base = self.sum(IndexOp::Add64, outer, bytes)?.unwrap_or(zero);
        if split {
            let uniform = self.compute(base, RegBank::Scalar)?;
            let lane = self.compute(own.unwrap_or(zero), RegBank::Vector)?;
            return Ok((lane, Some(uniform)));
        }
        let node = match own {
            Some(own) => {
                let wide = self.arena.op(IndexOp::Extend64, &[own])?;
                self.arena.op(IndexOp::Add64, &[base, wide])?
            }
            None => base,
        };
        Ok((self.compute(node, RegBank::Vector)?, None))
    }

    /// What the thread adds to an address in shared memory, and what all do.
    fn shared_nodes(
        &mut self,
        told: &Told<'_>,
        (place, spot, thread): (&Place<'_>, &ElementSpot, ThreadVar),
    ) -> Result<(Option<ExprId>, Option<ExprId>), EmitError> {
        let op = place.op;
        let offset = self.shared_offset(op, place.value)?;
        let own = self.form_node(op, told, spot.own, thread)?;
        let own = match spot.far.is_constant() {
            true => own,
            false => {
                let far = self.form_node(op, told, spot.far, thread)?;
                self.arena.op(IndexOp::Add, &[own, far])?
            }
        };
        let outer = self.form_node(op, told, spot.outer, thread)?;
        let outer = self.sum(IndexOp::Add, self.shared_base, Some(outer))?;
        let buffer = self.read_buffer(op, self.program.storage_of(place.value))?;
        let outer = match buffer {
            Some(_) => self.sum(IndexOp::Add, outer, buffer)?,
            None => outer,
        };
        let outer = match (outer, offset) {
            (Some(outer), 0) => outer,
            (Some(outer), by) => self.arena.op_const(IndexOp::Add, outer, u64::from(by))?,
            (None, by) => self.arena.constant(by)?,
        };
        Ok((Some(own), Some(outer)))
    }

    /// Where a shared tile begins.
    fn shared_offset(&self, op: Op, value: Value) -> Result<u32, EmitError> {
        let tile = self.plan.alloc_of(self.program.storage_of(value));
        tile.map(|(_, alloc)| alloc.offset).ok_or(EmitError::Unplanned(op))
    }

    /// What the thread adds to an address in global memory (32 bits), and what all do (64 bits).
    #[inline(never)]
    fn global_nodes(
        &mut self,
        told: &Told<'_>,
        (place, spot, thread): (&Place<'_>, &ElementSpot, ThreadVar),
        split: bool,
    ) -> Result<(Option<ExprId>, Option<ExprId>), EmitError> {
        let op = place.op;
        let mut outer = Some(self.parameter(op, place.value, ParamKind::Pointer)?);
        // Each term with 64 bits.
        let own = told.inference.arena.terms_of(spot.outer).len();
        let far = if split { 0 } else { told.inference.arena.terms_of(spot.far).len() };
        for at in 0..own.saturating_add(far) {
            let wide = self.wide_term(told, (op, thread), spot, at)?;
            outer = self.sum(IndexOp::Add64, outer, wide)?;
        }
        let mut own = match spot.own.is_constant() && spot.own.constant == 0 {
            true => None,
            false => Some(self.form_node(op, told, spot.own, thread)?),
        };
        if split && !spot.far.is_constant() {
            // Elements that the lanes of a row are apart, by a number of the program: few, as rows are.
            let far = self.form_node(op, told, spot.far, thread)?;
            own = self.sum(IndexOp::Add, own, Some(far))?;
        }
        let element = u64::from(self.element_bytes(op, place.value)?);
        for (dim, index) in spot.open.iter().enumerate() {
            if *index == IndexForm::default() {
                continue;
            }
            let dim = u8::try_from(dim).map_err(|_| refused(op, ElementReason::Room))?;
            let stride = self.parameter(op, place.value, ParamKind::Stride(dim))?;
            let stride = self.arena.op_const(IndexOp::Mul, stride, element)?;
            let node = self.form_node(op, told, *index, thread)?;
            let varies = self.arena.facts(node).is_none_or(|facts| facts.varying != 0);
            if !split || !varies {
                let wide = self.arena.op(IndexOp::MulWide64, &[node, stride])?;
                outer = self.sum(IndexOp::Add64, outer, Some(wide))?;
                continue;
            }
            self.open_rows(told, (place, *index, thread), stride, (&mut own, &mut outer))?;
        }
        Ok((own, outer))
    }

    /// What a term of those that are the same in all threads, or behind them of those that are a
    /// number of the program apart, adds to an address.
    #[inline(never)]
    fn wide_term(
        &mut self,
        told: &Told<'_>,
        (op, thread): (Op, ThreadVar),
        spot: &ElementSpot,
        at: usize,
    ) -> Result<Option<ExprId>, EmitError> {
        let own = told.inference.arena.terms_of(spot.outer).len();
        let (map, at) = match at.checked_sub(own) {
            Some(at) => (spot.far, at),
            None => (spot.outer, at),
        };
        let term = told.inference.arena.terms_of(map).get(at).copied();
        let Some(term) = term else { return Ok(None) };
        if u32::try_from(term.stride).is_err() {
            return Err(refused(op, ElementReason::Sign));
        }
        let (digit, size) = self.term_node(op, told, (map, term), thread)?;
        let size = self.arena.constant_of(size, 32)?;
        self.arena.op(IndexOp::MulWide64, &[digit, size]).map(Some).map_err(EmitError::from)
    }

    /// Rows of a stride that the program does not say: those that the thread adds are few, the
    /// others are the same in all threads.
    fn open_rows(
        &mut self,
        told: &Told<'_>,
        (place, index, thread): (&Place<'_>, IndexForm, ThreadVar),
        stride: ExprId,
        (own, outer): (&mut Option<ExprId>, &mut Option<ExprId>),
    ) -> Result<(), EmitError> {
        let op = place.op;
        let zero = self.arena.constant(0)?;
        let still = ThreadVar { node: zero, ..thread };
        let whole = self.form_node(op, told, index, thread)?;
        let (low, _) = told.inference.arena.range(index).map_err(of_form(op))?;
        let arena = &told.inference.arena;
        let rises = arena.terms_of(index).iter().all(|t| {
            t.stride > 0 && (t.digit.base == thread.var || is_outer(arena.base(t.digit.base).ok()))
        });
        if low < 0 {
            return Err(refused(op, ElementReason::Sign));
        }
        let first = match rises {
            true => self.form_node(op, told, index, still)?,
            false => self.outer_rows(told, op, index, thread)?,
        };
        let rows = self.arena.op(IndexOp::Sub, &[whole, first])?;
        let lanes = self.arena.op(IndexOp::Mul, &[rows, stride])?;
        *own = self.sum(IndexOp::Add, *own, Some(lanes))?;
        let wide = self.arena.op(IndexOp::MulWide64, &[first, stride])?;
        *outer = self.sum(IndexOp::Add64, *outer, Some(wide))?;
        Ok(())
    }

    /// Of rows that do not rise with the thread's number, those that are the same in all threads: the
    /// others are from 0 on, and few.
    #[inline(never)] // Its numbers leave the stack before rows are counted.
    fn outer_rows(
        &mut self,
        told: &Told<'_>,
        op: Op,
        index: IndexForm,
        thread: ThreadVar,
    ) -> Result<ExprId, EmitError> {
        let refuse = refused(op, ElementReason::Sign);
        let (mut first, mut low, mut high) = (None, index.constant, index.constant);
        let mut at = 0usize;
        while let Some(term) = told.inference.arena.terms_of(index).get(at).copied() {
            at = at.saturating_add(1);
            let base = told.inference.arena.base(term.digit.base).map_err(of_form(op))?;
            if term.digit.base != thread.var && is_outer(Some(base)) {
                let step = u32::try_from(term.stride).map_err(|_| refuse)?;
                let digit = self.outer_digit(op, told, term.digit)?;
                let rows = self.arena.op_const(IndexOp::Mul, digit, u64::from(step))?;
                first = self.sum(IndexOp::Add, first, Some(rows))?;
                continue;
            }
            let most = i64::from(term.digit.extent).saturating_sub(1).saturating_mul(term.stride);
            low = low.saturating_add(most.min(0));
            high = high.saturating_add(most.max(0));
        }
        match (0 <= low && high <= MOST_ROWS, first) {
            (true, Some(first)) => Ok(first),
            (true, None) => Ok(self.arena.constant(0)?),
            (false, _) => Err(refuse),
        }
    }
}
