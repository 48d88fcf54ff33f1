//! The rows of a reduction in place: how their threads are told apart, and the shared memory for what
//! these leave there.

use lanebook_infer::{BaseDigit, BufferId, FormBase, FragmentForm, IndexForm, MAX_RANK};
use lanebook_infer::{MemoryScope, OperatorId};
use lanebook_loops::Told;
use lanebook_plan::select::lane_shuffle;
use lanebook_plan::{AllocPlan, Plan, PlanError, PlanPool};
use lanebook_tables::{Arch, Tables};
use lanebook_tile::map::TileShape;

/// Most digits of a dimension in the number of a thread.
pub(crate) const DIGITS: usize = 16;
/// Bytes of a part that is left in shared memory.
pub(crate) const PART_BYTES: u32 = 4;

/// A digit of the reduced dimension in the number of a thread.
#[derive(Copy, Clone)]
pub(crate) struct RowDigit {
    pub digit: BaseDigit,
    /// The lanes that differ in it alone, where they can exchange registers; 0 = through memory.
    pub lanes: u8,
}

/// The digits of a dimension in the number of a thread.
#[derive(Default)]
pub(crate) struct RowDigits(pub heapless::Vec<RowDigit, DIGITS>);

impl RowDigits {
    /// Those of a fragment; `None` if its threads are no sum of digits of its coordinates.
    #[inline(never)]
    fn of(
        (tables, arch): (&Tables<'_>, &Arch<'_>),
        told: &Told<'_>,
        whole: &FragmentForm,
        dim: usize,
    ) -> Option<Self> {
        let arena = &told.inference.arena;
        let var = whole.vars.iter().nth(dim)?;
        let terms = arena.terms_of(whole.thread);
        let is_var = |base| matches!(arena.base(base), Ok(FormBase::Var { .. }));
        if !terms.iter().all(|term| is_var(term.digit.base)) {
            return None;
        }
        let rising = terms.iter().all(|term| term.stride > 0);
        let wave = arch.wave_lanes.first().map_or(0, |lanes| i64::from(*lanes));
        let mut out = Self::default();
        for term in terms.iter().filter(|term| term.digit.base == var) {
            let BaseDigit { unit, extent, .. } = term.digit;
            let end = term.stride.checked_mul(i64::from(extent))?;
            // All others are multiples of more, or end before it.
            let mut below = whole.thread.constant;
            for other in terms.iter().filter(|other| other.stride < term.stride) {
                let last = i64::from(other.digit.extent.saturating_sub(1));
                below = below.saturating_add(other.stride.saturating_mul(last));
            }
            let above = terms.iter().filter(|other| other.stride >= term.stride);
            let mut above = above.filter(|other| *other != term);
            let apart = rising
                && below < term.stride
                && whole.thread.constant == 0
                && above.all(|other| other.stride.checked_rem(end) == Some(0));
            let bits = extent.is_power_of_two() && term.stride.unsigned_abs().is_power_of_two();
            if !bits || !apart {
                out.0.push(RowDigit { digit: term.digit, lanes: 0 }).ok()?;
                continue;
            }
            for bit in 0..extent.trailing_zeros() {
                let far = term.stride.checked_shl(bit)?;
                let mask = u8::try_from(far).ok().filter(|_| far < wave);
                let lanes = mask.filter(|mask| lane_shuffle(tables, arch, *mask).is_some());
                let digit = BaseDigit { base: var, unit: unit.checked_shl(bit)?, extent: 2 };
                out.0.push(RowDigit { digit, lanes: lanes.unwrap_or(0) }).ok()?;
            }
        }
        Some(out)
    }

    /// One for each element of a row, where threads and rows are told apart in no other way.
    pub(crate) fn of_elements(told: &Told<'_>, own: &Reduction) -> Option<Self> {
        let var = own.whole.vars.iter().nth(own.dim)?;
        let extent = told.inference.arena.extent(var).ok()?;
        let digit = BaseDigit { base: var, unit: 1, extent };
        let mut out = Self::default();
        out.0.push(RowDigit { digit, lanes: 0 }).ok()?;
        Some(out)
    }

    /// Those that go through memory.
    pub(crate) fn left(&self) -> impl Iterator<Item = &RowDigit> {
        self.0.iter().filter(|digit| digit.lanes == 0)
    }

    /// Whether the first slot of a row is the same in all its threads and live wherever a later one
    /// is, and the threads of a row leave a part at every place that the digits in memory make: where
    /// threads have no part.
    #[inline(never)]
    fn first_lives_longest(&self, told: &Told<'_>, own: &Reduction) -> bool {
        let arena = &told.inference.arena;
        let Some(var) = own.whole.vars.iter().nth(own.dim) else { return false };
        let Ok(extent) = arena.extent(var) else { return false };
        // Lower digits are lower slots, and of less.
        let rising = arena.terms_of(own.whole.index).iter().all(|term| {
            let is_var = matches!(arena.base(term.digit.base), Ok(FormBase::Var { .. }));
            is_var && (term.digit.base != var || term.stride > 0)
        });
        // All of them at their greatest are an element.
        let last = self.0.iter().try_fold(0u32, |sum, digit| {
            let BaseDigit { unit, extent, .. } = digit.digit;
            sum.checked_add(unit.checked_mul(extent.checked_sub(1)?)?)
        });
        rising && last.is_some_and(|last| last < extent) && has_one_slot(told, &own.whole)
    }

    /// How many parts of a row meet in memory.
    pub(crate) fn parts(&self) -> Option<u32> {
        self.left().try_fold(1u32, |n, left| n.checked_mul(left.digit.extent))
    }
}

/// Whether no digit tells both the thread of an element and its slot there: else threads have what
/// is theirs of the same rows in different slots.
fn has_one_slot(told: &Told<'_>, whole: &FragmentForm) -> bool {
    let arena = &told.inference.arena;
    let end = |digit: BaseDigit| digit.unit.saturating_mul(digit.extent);
    let apart =
        |a: BaseDigit, b: BaseDigit| a.base != b.base || end(a) <= b.unit || end(b) <= a.unit;
    let slots = arena.terms_of(whole.index);
    let threads = arena.terms_of(whole.thread);
    slots.iter().all(|slot| threads.iter().all(|thread| apart(slot.digit, thread.digit)))
}

/// A reduction in place.
pub(crate) struct Reduction {
    pub from: BufferId,
    pub to: BufferId,
    pub whole: FragmentForm,
    /// Where the result lies while it is summed up.
    pub kept: FragmentForm,
    /// Where it lies then, if fewer threads hold it than have parts of its rows.
    pub taken: Option<FragmentForm>,
    pub dim: usize,
}

impl Reduction {
    pub(crate) fn of(told: &Told<'_>, id: OperatorId) -> Option<Self> {
        let inference = &told.inference;
        let own = inference.operator_of(id).ok()?;
        let lanebook_infer::Kind::Reduce { dim } = own.kind else { return None };
        let [from, to] = inference.accesses_of(own) else { return None };
        let (from, to) = (from.buffer, to.buffer);
        let fragment = |id| inference.buffer_of(id).is_ok_and(|b| b.scope == MemoryScope::Fragment);
        if !fragment(from) || !fragment(to) {
            return None;
        }
        let (whole, kept) = (inference.layout(from)?, inference.layout(to)?);
        Some(Self { from, to, whole, kept, taken: None, dim: usize::from(dim) })
    }

    /// The digits of its rows in the number of a thread; `None` where every element goes through
    /// memory.
    #[inline(never)]
    pub(crate) fn digits(
        &self,
        machine: (&Tables<'_>, &Arch<'_>),
        told: &Told<'_>,
    ) -> Option<RowDigits> {
        let digits = RowDigits::of(machine, told, &self.whole, self.dim)?;
        let alone = digits.parts() == Some(1);
        (alone || digits.first_lives_longest(told, self)).then_some(digits)
    }

    /// Elements of the result.
    pub(crate) fn count(&self, told: &Told<'_>) -> Option<u32> {
        let extents = self.kept.vars.iter();
        extents
            .map(|var| told.inference.arena.extent(var).ok())
            .try_fold(1u32, |n, e| n.checked_mul(e?))
    }

    /// The coordinates of the result, over those of the operand.
    pub(crate) fn coordinates(
        &self,
        told: &mut Told<'_>,
        out: &mut heapless::Vec<IndexForm, MAX_RANK>,
    ) -> Option<()> {
        let same = self.kept.vars.len() == self.whole.vars.len();
        for (k, var) in self.whole.vars.iter().enumerate() {
            if k != self.dim {
                out.push(told.inference.arena.whole(var).ok()?).ok()?;
            } else if same {
                out.push(IndexForm::constant(0)).ok()?;
            }
        }
        (out.len() == self.kept.vars.len()).then_some(())
    }
}

/// Shared memory for what reductions of a function leave there, behind its tiles.
///
/// # Errors
/// [`PlanError::SharedMemory`], [`PlanError::Capacity`].
#[doc(hidden)]
pub fn reserve_reductions(
    tables: &Tables<'_>,
    told: &Told<'_>,
    plan: &mut Plan<'_>,
) -> Result<(), PlanError> {
    let arch = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    for (id, op) in told.operators() {
        let Some(own) = Reduction::of(told, id) else { continue };
        let digits = match own.digits((tables, arch), told) {
            Some(digits) => Some(digits),
            None => RowDigits::of_elements(told, &own),
        };
        let Some(digits) = digits else { continue };
        let (Some(parts), Some(count)) = (digits.parts(), own.count(told)) else { continue };
        let Some(value) = told.value(own.to).filter(|_| parts > 1) else { continue };
        let have = arch.shared.max_bytes;
        let full = |need| PlanError::SharedMemory { op, need, have };
        let words = parts.checked_mul(count).and_then(u32::checked_next_power_of_two);
        let words = words.ok_or(full(u32::MAX))?;
        let bytes = words.checked_mul(PART_BYTES).ok_or(full(u32::MAX))?;
        let align = tables.weights.shared_align.max(1);
        let offset = plan.shared_bytes.checked_next_multiple_of(align).ok_or(full(u32::MAX))?;
        let end = offset.checked_add(bytes).ok_or(full(u32::MAX))?;
        let known = plan.allocs.iter_mut().find(|alloc| alloc.value == value);
        if known.as_ref().is_some_and(|alloc| alloc.bytes >= bytes) {
            continue;
        }
        if end > have {
            return Err(full(end));
        }
        let bits = u16::try_from(PART_BYTES.saturating_mul(8)).unwrap_or(32);
        let shape = TileShape::new(1, u64::from(words), bits).ok_or(PlanError::Extents(op))?;
        let rows = AllocPlan::by_rows(value, shape);
        let alloc = AllocPlan { fixed: true, bytes, align, offset, ..rows };
        match known {
            Some(known) => *known = alloc,
            None => {
                let capacity = u32::try_from(plan.allocs.capacity()).unwrap_or(u32::MAX);
                let error = PlanError::Capacity { pool: PlanPool::Allocs, capacity, op: Some(op) };
                plan.allocs.push(alloc).map_err(|_| error)?;
            }
        }
        (plan.shared_bytes, plan.shared_align) = (end, plan.shared_align.max(align));
    }
    Ok(())
}
