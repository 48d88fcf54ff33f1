//! Spilling to accumulators: where vector registers do not suffice and the machine has a file of
//! accumulators beside them, values that are seldom touched live there.
//!
//! A tuple whose home is among the accumulators is fetched into a short-lived vector tuple in front
//! of each instruction that reads it, and put back behind each that writes it. An instruction that
//! reaches accumulators by itself (a load or a store of such a machine) is left to do so. Nothing
//! goes to memory.

use crate::lower::target::TargetQueries;
use crate::registers::allocate::{Owners, find_live_ranges};
use crate::registers::live_range_split::most_at_once;
use crate::registers::schedule::forget;
use crate::step::{
    GUARD_OPERAND, Inst, InstKind, LoopSpan, MAX_ARGS, NO_GUARD, Slot, Touch, TupleStride,
    VRegTuple, for_each_register, owner,
};
use heapless::{Vec, VecView};
use lanebook_tables::{Arch, AtomId, ClassId, Isa, RegisterKind, Tables};

/// Most tuples with a home among the accumulators that one instruction touches.
const TOUCHED: usize = 4;
/// Registers that are won beyond those that are lacking: what is fetched for one instruction needs
/// some, and none may lie between two tuples.
const MARGIN: u16 = 8;

/// A file of accumulators as a home of vector registers.
#[derive(Copy, Clone)]
struct Homes {
    /// The class of which there are too few.
    class: u8,
    /// The class of homes.
    home: u8,
    /// Copies a register to a home.
    put: AtomId,
    /// Copies a register from a home.
    fetch: AtomId,
    /// Vector tuples start at a multiple of this.
    align: u16,
}

/// Registers of one tuple that a step touches, and the vector registers that stand for them.
#[derive(Copy, Clone)]
struct Visit {
    /// The first of them in its home, and how many.
    first: u16,
    count: u16,
    /// The vector register that stands for the first; only once steps are written.
    stand_in: u16,
    /// Which of them the step reads and writes, a bit each.
    read: u64,
    written: u64,
}

/// What spilling works on: steps and registers that do not fit.
pub(crate) struct Spilling<'a> {
    pub(crate) tables: &'a Tables<'a>,
    pub(crate) arch: &'a Arch<'a>,
    pub(crate) isa: &'a Isa<'a>,
    pub(crate) steps: &'a mut VecView<Inst>,
    pub(crate) registers: &'a mut VecView<VRegTuple>,
    pub(crate) patterns: &'a VecView<TupleStride>,
    pub(crate) loops: &'a mut VecView<LoopSpan>,
}

impl Spilling<'_> {
    /// Gives the cheapest tuples of those that live where too many do a home among the accumulators,
    /// as many as are wanted; whether it could. Without room for that nothing is changed.
    #[inline(never)] // Beside the attempts to allocate, not below them.
    pub(crate) fn spill(&mut self, class: ClassId, wanted: u16) -> bool {
        let Some(homes) = self.homes(class) else { return false };
        let pool = self.isa.classes.get(class.index()).map_or(0, |class| class.pool.1);
        forget(self.registers);
        let (steps, patterns, loops) = (&*self.steps, self.patterns, &*self.loops);
        find_live_ranges(self.tables, steps, self.registers, patterns, loops, &mut Owners::new());
        let peak = most_at_once(self.registers, homes.class).at;
        self.weigh(homes.class);
        let mut lacking = wanted.saturating_sub(pool).saturating_add(MARGIN);
        let mut any = false;
        while lacking > 0 {
            let Some(tuple) = self.cheapest(&homes, peak) else { break };
            tuple.class = homes.home;
            lacking = lacking.saturating_sub(tuple.count);
            any = true;
        }
        let done = any && self.rewrite(&homes);
        if any && !done {
            for tuple in self.registers.iter_mut().filter(|tuple| tuple.class == homes.home) {
                // Only what was moved just now has a weight.
                if tuple.next != u16::MAX {
                    tuple.class = homes.class;
                }
            }
        }
        forget(self.registers);
        done
    }

    /// The accumulators that registers of a class can be copied to and from.
    fn homes(&self, class: ClassId) -> Option<Homes> {
        let of = self.isa.classes.get(class.index())?;
        let queries = TargetQueries { tables: self.tables, arch: self.arch, isa: self.isa };
        let copy = |into, from| queries.copy_into(into, 1, from);
        let mut all = (0u16..).map(ClassId).zip(self.isa.classes);
        let (home, _) = all.find(|(id, other)| {
            let is_home = other.kind == RegisterKind::Accumulator && other.bits == of.bits;
            is_home && other.tile_most > 0 && *id != class
        })?;
        Some(Homes {
            class: u8::try_from(class.0).ok()?,
            home: u8::try_from(home.0).ok()?,
            put: copy(home, class)?,
            fetch: copy(class, home)?,
            align: u16::from(of.tuple_align.max(1)),
        })
    }

    /// What fetching and putting each tuple of a class costs, where its list had its next one; the
    /// most of what stays: what keeps steps to some lanes, for several of them at once, and what is
    /// read before it is written (by an instruction that leaves some lanes what they had).
    fn weigh(&mut self, class: u8) {
        for tuple in self.registers.iter_mut() {
            tuple.next = if tuple.class == class { 0 } else { u16::MAX };
        }
        for (number, step) in (0u16..).zip(self.steps.iter()) {
            let loops = self.loops.iter();
            let around = loops.filter(|span| span.first <= number && number <= span.last);
            let each = self.tables.weights.inside_loops(1, around.count());
            let each = u16::try_from(each).unwrap_or(u16::MAX);
            let registers = &mut *self.registers;
            for_each_register(self.tables, step, self.patterns, |touch| {
                let Some(at) = owner(registers, touch.first) else { return };
                let may_move = |t: &&mut VRegTuple| t.class == class && t.next != u16::MAX;
                let Some(tuple) = registers.get_mut(at).filter(may_move) else { return };
                if touch.operand == GUARD_OPERAND || touch.read && number == tuple.live.0 {
                    tuple.next = u16::MAX;
                    return;
                }
                let both = u16::from(touch.read).saturating_add(u16::from(touch.written));
                let cost = each.saturating_mul(touch.count).saturating_mul(both);
                tuple.next = tuple.next.saturating_add(cost).min(u16::MAX - 1);
            });
        }
    }

    /// The tuple that costs least for each of its registers, of those that live at a step and may
    /// move.
    fn cheapest(&mut self, homes: &Homes, peak: u16) -> Option<&mut VRegTuple> {
        let may_move = |t: &&mut VRegTuple| {
            let is_free = !t.pinned && !t.given && !t.kept && t.live.0 != u16::MAX;
            // A tuple that lives from one instruction to the next gains nothing.
            let lives_on = t.live.0 < peak && peak < t.live.1;
            let is_weighed = t.class == homes.class && t.next != u16::MAX;
            is_weighed && is_free && lives_on && t.count <= u64::BITS as u16
        };
        let each = |t: &VRegTuple| {
            (u32::from(t.next) << 8).checked_div(u32::from(t.count)).unwrap_or(u32::MAX)
        };
        self.registers.iter_mut().filter(may_move).min_by_key(|t| each(t))
    }

    /// The tuples with a home among the accumulators that a step touches as vectors; `None` where
    /// they are too many.
    fn visits(&self, homes: &Homes, step: &Inst) -> Option<Vec<Visit, TOUCHED>> {
        let mut out: Vec<Visit, TOUCHED> = Vec::new();
        let mut fits = true;
        let registers = &*self.registers;
        for_each_register(self.tables, step, self.patterns, |touch| {
            if touch.class != homes.class || self.reaches(homes, step, touch.operand) {
                return;
            }
            let tuple = owner(registers, touch.first).and_then(|at| registers.get(at));
            let Some(tuple) = tuple.filter(|tuple| tuple.class == homes.home) else { return };
            let bits = |touch: &Touch| {
                let all = u64::MAX.checked_shr(64u32.saturating_sub(u32::from(touch.count)));
                let from = u32::from(touch.first.saturating_sub(tuple.first));
                all.unwrap_or(0).checked_shl(from).unwrap_or(0)
            };
            let own = bits(&touch);
            let at = out.iter().position(|visit| visit.first == tuple.first);
            let at = at.unwrap_or_else(|| {
                let (first, count) = (tuple.first, tuple.count);
                let new = Visit { first, count, stand_in: 0, read: 0, written: 0 };
                fits &= out.push(new).is_ok();
                out.len().saturating_sub(1)
            });
            if let Some(visit) = out.get_mut(at).filter(|visit| visit.first == tuple.first) {
                visit.read |= if touch.read { own } else { 0 };
                visit.written |= if touch.written { own } else { 0 };
            }
        });
        // Only the part that is touched, from an aligned register on.
        for visit in &mut out {
            let touched = visit.read | visit.written;
            let low = (touched.trailing_zeros() as u16).min(visit.count);
            let low = low.saturating_sub(low.checked_rem(homes.align).unwrap_or(0));
            let end = (u64::BITS.saturating_sub(touched.leading_zeros()) as u16).max(low);
            visit.first = visit.first.saturating_add(low);
            visit.count = end.saturating_sub(low);
            visit.read = visit.read.wrapping_shr(u32::from(low));
            visit.written = visit.written.wrapping_shr(u32::from(low));
        }
        fits.then_some(out)
    }

    /// Whether an instruction takes an accumulator as this operand, whatever its other ones are.
    fn reaches(&self, homes: &Homes, step: &Inst, operand: u8) -> bool {
        let Some(atom) = self.tables.atom(step.atom) else { return false };
        let home = ClassId(u16::from(homes.home));
        let able = |k: usize| atom.operands.get(k).is_some_and(|o| o.accepts(home));
        let others = (0..atom.operands.len()).filter(|k| *k != usize::from(operand));
        able(usize::from(operand)) && !others.into_iter().any(able)
    }

    /// Lets steps fetch and put what has its home among the accumulators; whether there was room.
    fn rewrite(&mut self, homes: &Homes) -> bool {
        let (mut more, mut tuples, mut numbers) = (0usize, 0usize, 0u16);
        for step in self.steps.iter() {
            let Some(visits) = self.visits(homes, step) else { return false };
            for visit in &visits {
                numbers = numbers.saturating_add(visit.count);
                let moves = visit.read.count_ones().saturating_add(visit.written.count_ones());
                more = more.saturating_add(usize::try_from(moves).unwrap_or(usize::MAX));
                // Where members are not side by side none can stand for them.
                if step.args.iter().any(|arg| matches!(arg, Slot::Spread { .. }))
                    || visit.count == 0
                {
                    return false;
                }
            }
            tuples = tuples.saturating_add(visits.len());
        }
        let (old, new) = (self.steps.len(), self.steps.len().saturating_add(more));
        let end = self.registers.last().map_or(0, |last| last.first.saturating_add(last.count));
        let has_room = new <= self.steps.capacity()
            && end.checked_add(numbers).is_some()
            && new < usize::from(u16::MAX)
            && tuples <= self.registers.capacity().saturating_sub(self.registers.len());
        if !has_room {
            return false;
        }
        let Some(&filler) = self.steps.first() else { return false };
        for _ in old..new {
            let _ = self.steps.push(filler);
        }
        let mut to = new;
        for at in (0..old).rev() {
            let Some(&step) = self.steps.get(at) else { return false };
            let Some(mut visits) = self.visits(homes, &step) else { return false };
            for visit in &mut visits {
                let Some(first) = self.stand_in(homes, visit.count) else { return false };
                visit.stand_in = first;
            }
            self.moves(homes, &step, &visits, true, &mut to);
            self.write(&mut to, self.renamed(homes, step, &visits));
            for span in self.loops.iter_mut() {
                let place = u16::try_from(to).unwrap_or(u16::MAX);
                let old = u16::try_from(at).unwrap_or(u16::MAX);
                span.first = if span.first == old { place } else { span.first };
                span.last = if span.last == old { place } else { span.last };
            }
            self.moves(homes, &step, &visits, false, &mut to);
        }
        true
    }

    /// A fresh vector tuple.
    fn stand_in(&mut self, homes: &Homes, count: u16) -> Option<u16> {
        let last = self.registers.last()?;
        let first = last.first.checked_add(last.count)?;
        first.checked_add(count)?;
        let tuple = VRegTuple::fresh(homes.class, first, count);
        self.registers.push(tuple).ok().map(|()| first)
    }

    /// Writes a step in front of those that are written.
    fn write(&mut self, to: &mut usize, step: Inst) {
        *to = to.saturating_sub(1);
        if let Some(place) = self.steps.get_mut(*to) {
            *place = step;
        }
    }

    /// Writes the copies to homes behind a step, or those from homes in front of it.
    fn moves(&mut self, homes: &Homes, of: &Inst, visits: &[Visit], puts: bool, to: &mut usize) {
        for visit in visits {
            let members = if puts { visit.written } else { visit.read };
            for k in (0..visit.count).rev() {
                if members.wrapping_shr(u32::from(k)) & 1 == 0 {
                    continue;
                }
                let one = |class, first: u16| Slot::Reg { class, count: 1, first };
                let home = one(homes.home, visit.first.saturating_add(k));
                let vector = one(homes.class, visit.stand_in.saturating_add(k));
                let (atom, [into, from]) = match puts {
                    true => (homes.put, [home, vector]),
                    false => (homes.fetch, [vector, home]),
                };
                let mut args = [Slot::None; MAX_ARGS];
                for (place, arg) in args.iter_mut().zip([into, from]) {
                    *place = arg;
                }
                let purpose = InstKind::Fill;
                self.write(to, Inst { atom, purpose, guard: NO_GUARD, args, ..*of });
            }
        }
    }

    /// A step on vector registers that stand for those at home elsewhere.
    fn renamed(&self, homes: &Homes, step: Inst, visits: &[Visit]) -> Inst {
        let mut step = step;
        for (operand, arg) in (0u8..).zip(step.args) {
            let Slot::Reg { class, count, first } = arg else { continue };
            if class != homes.class {
                continue;
            }
            let at = owner(self.registers, first).and_then(|at| self.registers.get(at));
            if at.is_none_or(|tuple| tuple.class != homes.home) {
                continue;
            }
            let is_direct = self.reaches(homes, &step, operand);
            let own =
                visits.iter().find(|v| v.first <= first && first < v.first.saturating_add(v.count));
            let new = match own.filter(|_| !is_direct) {
                Some(own) => {
                    let apart = first.saturating_sub(own.first);
                    Slot::Reg { class, count, first: own.stand_in.saturating_add(apart) }
                }
                None => Slot::Reg { class: homes.home, count, first },
            };
            if let Some(place) = step.args.get_mut(usize::from(operand)) {
                *place = new;
            }
        }
        step
    }
}
