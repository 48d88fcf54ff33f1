//! Which iteration a thread executes in a slot of its work, and in which threads there is one.
//!
//! The inverse of a layout gives an iteration for every thread and slot. It is executed where all
//! variables are within their extents and the layout leads back to the thread and the slot:
//! membership, of which structure leaves mostly nothing to ask.

use crate::elements::forms::ThreadVar;
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::ExprId;
use crate::lower::context::{EmitError, LowerContext};
use lanebook_infer::{BaseId, FormResult, FragmentForm, IndexForm, MAX_RANK, Solution};
use lanebook_ir::Op;
use lanebook_layout::order::gcd;
use lanebook_loops::Told;
use lanebook_tables::IndexOp;

/// Most slots of a chunk.
pub const LANES: usize = 8;
/// Most serial loops that a layout speaks of.
const MAX_GIVEN: usize = 8;
/// Most addresses, and guards, of an operation that are remembered.
pub const KNOWN: usize = 16;
/// Most registers of which it is kept whether they are written.
pub const WRITTEN: usize = 1024;

/// Variables with what they are in a slot.
pub type SlotVars = heapless::Vec<(BaseId, IndexForm), { MAX_RANK + 5 }>;

/// A slot of a thread's work.
#[derive(Clone, Debug, Default)]
pub struct WorkSlot {
    /// Variables by the thread.
    pub vars: SlotVars,
    /// A word that is below zero in the threads that execute it; `None` where all do.
    pub guard: Option<ExprId>,
    /// The local index in the layout of the work: in the threads that execute the slot it is this
    /// number.
    pub place: Option<(IndexForm, u16)>,
    /// Whether any thread may execute it.
    pub live: bool,
}

/// Who executes an operation.
#[derive(Copy, Clone)]
pub(crate) struct ExecutingThreads {
    pub op: Op,
    pub spread: FragmentForm,
    pub thread: ThreadVar,
    /// The first thread and how many, and how many the function has.
    pub threads: (u32, u32, u32),
}

/// What a layout speaks of and is not solved for: what serial loops around count.
#[inline(never)] // What it asks leaves the stack before anything is solved.
fn given(
    arena: &lanebook_infer::FormArena<'_>,
    spread: &FragmentForm,
    vars: &[BaseId],
) -> Option<heapless::Vec<BaseId, MAX_GIVEN>> {
    let mut out = heapless::Vec::new();
    for (var, _) in arena.variables(&[spread.thread, spread.index]).ok()? {
        if !vars.contains(&var) {
            out.push(var).ok()?;
        }
    }
    Some(out)
}

/// A map and an extent in steps of what divides the extent and all that moves the map: as many are
/// within, and neighbours in a step are so together.
fn in_whole_steps(
    told: &mut Told<'_>,
    form: IndexForm,
    extent: u32,
) -> FormResult<(IndexForm, u32)> {
    let arena = &mut told.inference.arena;
    let terms = arena.terms_of(form).iter();
    let step = terms.fold(u64::from(extent), |g, term| gcd(g, term.stride.unsigned_abs()));
    let step = u32::try_from(step).unwrap_or(1).max(1);
    let (tiles, _) = arena.div_rem(form, i64::from(step))?;
    Ok((tiles, extent.checked_div(step).unwrap_or(extent)))
}

impl LowerContext<'_, '_, '_, '_> {
    /// A slot of an operation's work.
    #[inline(never)]
    pub(crate) fn slot_at(
        &mut self,
        told: &mut Told<'_>,
        executing: &ExecutingThreads,
        number: u32,
        out: &mut WorkSlot,
    ) -> Result<(), EmitError> {
        let ExecutingThreads { op, thread, .. } = *executing;
        if !self.iteration(told, executing, number, out)?
            || !self.is_executed(told, executing, number, out)?
        {
            self.looked_up(told, executing, number, out)?;
        }
        self.within_branches(op, told, thread, &mut out.guard)?;
        self.within_threads(executing, &mut out.guard)
    }

    /// Keeps the threads to which the layout leads back; false where that would ask each of them for
    /// its slot, which is known point by point.
    #[inline(never)]
    fn is_executed(
        &mut self,
        told: &mut Told<'_>,
        executing: &ExecutingThreads,
        number: u32,
        out: &mut WorkSlot,
    ) -> Result<bool, EmitError> {
        let ExecutingThreads { op, spread, thread, threads: (_, count, _) } = *executing;
        let full = of_form(op);
        let arena = &mut told.inference.arena;
        let whole = arena.whole(thread.var).map_err(&full)?;
        let back = arena.substitute(spread.thread, &out.vars).map_err(&full)?;
        let place = arena.substitute(spread.index, &out.vars).map_err(&full)?;
        let is_back = arena.same(back, whole);
        let wanted = i64::from(number);
        let (low, high) = arena.range(place).map_err(&full)?;
        out.live &= low <= wanted && wanted <= high;
        let is_open = out.live && !place.is_constant();
        if is_open && told.inference.tabulate(&spread, count, number) == Ok(true) {
            return Ok(false);
        }
        if !is_back {
            let own = self.form_node(op, told, back, thread)?;
            self.keep_equal(&mut out.guard, own, thread.node)?;
        }
        if is_open {
            let own = self.form_node(op, told, place, thread)?;
            let wanted = self.arena.constant(number)?;
            self.keep_equal(&mut out.guard, own, wanted)?;
        }
        out.place = u16::try_from(number).ok().map(|number| (place, number));
        Ok(true)
    }

    /// The only slot in hand.
    pub(crate) fn slot_alone(
        &mut self,
        told: &mut Told<'_>,
        executing: &ExecutingThreads,
        number: u32,
        out: &mut WorkSlot,
    ) -> Result<(), EmitError> {
        told.inference.forget_lookups();
        self.slot_at(told, executing, number, out)
    }

    /// The variables of a slot, each kept within its extent; whether structure tells them.
    #[inline(never)]
    fn iteration(
        &mut self,
        told: &mut Told<'_>,
        executing: &ExecutingThreads,
        number: u32,
        out: &mut WorkSlot,
    ) -> Result<bool, EmitError> {
        let ExecutingThreads { op, spread, thread, .. } = *executing;
        let full = of_form(op);
        (out.guard, out.place, out.live) = (None, None, true);
        out.vars.clear();
        let mut vars: heapless::Vec<BaseId, { MAX_RANK + 1 }> = heapless::Vec::new();
        for id in spread.vars.iter().chain([spread.copy]) {
            vars.push(id).map_err(|_| refused(op, ElementReason::Room))?;
        }
        let arena = &mut told.inference.arena;
        let whole = arena.whole(thread.var).map_err(&full)?;
        let slot = IndexForm::constant(i64::from(number));
        let equations = [(whole, spread.thread), (slot, spread.index)];
        let given = given(arena, &spread, &vars).ok_or(refused(op, ElementReason::Room))?;
        let mut solved = Solution::default();
        let found = arena.solve_given(&equations, &vars, &given, &mut solved);
        if found.is_err() || !solved.free.is_empty() || solved.vars.len() != vars.len() {
            return Ok(false);
        }
        for (var, form) in &solved.vars {
            let arena = &told.inference.arena;
            let extent = arena.extent(*var).map_err(&full)?;
            let (low, high) = arena.range(*form).map_err(&full)?;
            if high < 0 || low >= i64::from(extent) {
                out.live = false;
            } else if low < 0 || high >= i64::from(extent) {
                let (tiles, extent) = in_whole_steps(told, *form, extent).map_err(&full)?;
                let node = self.form_node(op, told, tiles, thread)?;
                self.keep_within(&mut out.guard, node, extent, low < 0)?;
            }
            out.vars.push((*var, *form)).map_err(|_| refused(op, ElementReason::Room))?;
        }
        Ok(true)
    }

    fn within_threads(
        &mut self,
        executing: &ExecutingThreads,
        guard: &mut Option<ExprId>,
    ) -> Result<(), EmitError> {
        let (first, count, all) = executing.threads;
        if first == 0 && count >= all {
            return Ok(());
        }
        self.keep_within(guard, executing.thread.node, count, first > 0)
    }

    /// One more condition of a guard.
    pub(crate) fn keep_word(
        &mut self,
        guard: &mut Option<ExprId>,
        word: ExprId,
    ) -> Result<(), EmitError> {
        *guard = self.sum(IndexOp::And, *guard, Some(word))?;
        Ok(())
    }

    /// A number is below an extent, and not below zero where it may be.
    fn keep_within(
        &mut self,
        guard: &mut Option<ExprId>,
        node: ExprId,
        extent: u32,
        signed: bool,
    ) -> Result<(), EmitError> {
        let below = self.arena.op_const(IndexOp::Add, node, u64::from(extent.wrapping_neg()))?;
        self.keep_word(guard, below)?;
        if signed {
            let above = self.arena.op_const(IndexOp::Xor, node, u64::from(u32::MAX))?;
            self.keep_word(guard, above)?;
        }
        Ok(())
    }

    /// Two numbers below 2^31 are the same.
    pub(crate) fn keep_equal(
        &mut self,
        guard: &mut Option<ExprId>,
        a: ExprId,
        b: ExprId,
    ) -> Result<(), EmitError> {
        let differ = self.arena.op(IndexOp::Xor, &[a, b])?;
        let word = self.arena.op_const(IndexOp::Add, differ, u64::from(u32::MAX))?;
        self.keep_word(guard, word)
    }

    /// A number below 2^31 is below another one.
    pub(crate) fn keep_below(
        &mut self,
        guard: &mut Option<ExprId>,
        node: ExprId,
        end: u16,
    ) -> Result<(), EmitError> {
        let less = 0u32.wrapping_sub(u32::from(end));
        let word = self.arena.op_const(IndexOp::Add, node, u64::from(less))?;
        self.keep_word(guard, word)
    }

    /// A number that is 0 or 1 is 1, or 0.
    pub(crate) fn keep_truth(
        &mut self,
        guard: &mut Option<ExprId>,
        node: ExprId,
        truth: bool,
    ) -> Result<(), EmitError> {
        let word = if truth {
            self.minus(node)?
        } else {
            self.arena.op_const(IndexOp::Add, node, u64::from(u32::MAX))?
        };
        self.keep_word(guard, word)
    }
}
