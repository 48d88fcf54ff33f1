//! Conversions inside a warp: bytes chosen in each lane, registers moved between lanes, as
//! [`ShufflePlan`] says.
//!
//! A register is written once: what only changes its number is not copied before the result's
//! registers, which follow each other. Selectors and lane numbers that depend on the lane are
//! computed before the loop. Copies that transpose blocks choose bytes with the same selectors.

use crate::expr::{ExprId, Reg, RegBank, Variable};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::KeptFor;
use crate::step::{InstError, InstKind, MAX_ARGS, Missing, Slot, int, slot};
use lanebook_ir::Op;
use lanebook_plan::select::{BytePermutes, lane_move_atom};
use lanebook_plan::{Either, Gather, ShufflePlan, Swap};
use lanebook_tables::{Atom, ClassId, IndexOp, LaneXor, Operand, Role};
use lanebook_tile::map::Fragment;

/// A selector: what it is in threads whose number has an even number of the bits `threads`, and
/// what differs in the others.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ByteSelector {
    base: u32,
    differs: u32,
    threads: u16,
}

/// Where the registers of a stage are.
#[derive(Copy, Clone)]
enum Words<'l> {
    /// In a tuple, in order.
    Tuple(Reg),
    /// Old registers of a tuple under new numbers.
    Renamed(Reg, Gather<'l>),
    /// Those of `1` where lanes keep them, else those of the tuple.
    Received(Reg, &'l Words<'l>, &'l ShufflePlan),
}

impl Words<'_> {
    fn at(&self, word: u32) -> Option<Reg> {
        match *self {
            Words::Tuple(reg) => one(reg, word),
            Words::Renamed(reg, gather) => one(reg, gather.whole(word)?),
            Words::Received(_, before, plan) if plan.stays(word) => match *before {
                Words::Tuple(reg) => one(reg, plan.word.at(word)),
                Words::Renamed(reg, gather) => one(reg, gather.whole(plan.word.at(word))?),
                Words::Received(..) => None,
            },
            Words::Received(reg, ..) => one(reg, word),
        }
    }
}

/// Whether each of so many gathered places is a whole register of the old ones.
fn are_whole(gather: &Gather<'_>, count: u32) -> bool {
    (0..count).all(|word| gather.whole(word).is_some())
}

fn one(reg: Reg, word: u32) -> Option<Reg> {
    let k = u16::try_from(word).ok().filter(|k| *k < reg.count)?;
    Some(Reg { class: reg.class, first: reg.first.checked_add(k)?, count: 1 })
}

/// Part `k` of several equal ones.
fn part(reg: Reg, k: u32, count: u32) -> Option<Reg> {
    let first = u16::try_from(k.checked_mul(count)?).ok()?;
    Some(Reg {
        class: reg.class,
        first: reg.first.checked_add(first)?,
        count: u16::try_from(count).ok()?,
    })
}

impl<'a, 't> LowerContext<'a, 't, '_, '_> {
    /// Computes a number that differs from lane to lane, and keeps it.
    fn keep_lane_value(&mut self, op: Op, what: KeptFor, node: ExprId) -> Result<(), EmitError> {
        let reg = self.compute(node, RegBank::Vector)?;
        self.keep(u16::try_from(op.index()).unwrap_or(u16::MAX), what, reg)
    }

    /// Computes what a conversion inside warps wants in registers: selectors and numbers of lanes.
    #[inline(never)]
    pub(crate) fn prepare_lanes(&mut self, op: Op) -> Result<(), EmitError> {
        let whole = self.plan;
        for plan in whole.lanes_ahead(op).into_iter().chain(whole.lanes_of(op)) {
            self.prepare_stages(plan)?;
        }
        Ok(())
    }

    #[inline(never)]
    fn prepare_stages(&mut self, plan: &ShufflePlan) -> Result<(), EmitError> {
        let op = plan.op;
        let refuse = EmitError::Unplanned(op);
        let (from, to) = self.sides_of(plan)?;
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::FirstAddress;
        let mut first: Option<(u32, Reg)> = None;
        for word in 0..plan.received() {
            if plan.stays(word) {
                continue;
            }
            let (_, _, how) = self.lane_move_atom(plan, word).ok_or(refuse)?;
            let far = plan.offset.at(word);
            if let Some((_, times)) = how.by
                && self.kept(op, KeptFor::Sender(far)).is_none()
            {
                // The lanes of further registers differ from those of the first alike in all lanes.
                let node = match first {
                    Some((offset, reg)) => {
                        let from = self.declare(Variable::word(), reg)?;
                        let differs = u64::from(offset ^ far).saturating_mul(u64::from(times));
                        self.arena.op_const(IndexOp::Xor, from, differs)?
                    }
                    None => self.sender(plan, far, times)?,
                };
                self.keep_lane_value(op, KeptFor::Sender(far), node)?;
                first = first.or(self.kept(op, KeptFor::Sender(far)).map(|reg| (far, reg)));
            }
        }
        let (first, last) = (plan.joined_before(from).is_some(), plan.joined_behind(to).is_some());
        for word in (0..plan.sends()).filter(|word| !first && plan.is_read(0, *word)) {
            self.prepare_gather(op, plan.gather_sent(from), word)?;
        }
        for word in 0..if last { 0 } else { plan.results(to) } {
            self.prepare_gather(op, plan.gather_kept(to), word)?;
        }
        if let Some(swap) = plan.joined_before(from) {
            let gather = plan.gather_sent(from);
            for word in (0..plan.sends()).filter(|word| plan.is_read(1, *word)) {
                self.prepare_either(op, Either::sent(&gather, swap, word), swap)?;
            }
        }
        if let Some(swap) = plan.joined_behind(to) {
            let gather = plan.gather_kept(to);
            for word in 0..plan.results(to) {
                self.prepare_either(op, Either::kept(&gather, swap, word), swap)?;
            }
        }
        let before =
            plan.before.as_slice().iter().skip(usize::from(plan.joined_before(from).is_some()));
        let behind =
            plan.behind.len().saturating_sub(usize::from(plan.joined_behind(to).is_some()));
        for swap in before.chain(plan.behind.as_slice().iter().take(behind)) {
            let (other, same) = (
                self.selector([4, 5, 6, 7]).ok_or(refuse)?,
                self.selector([0, 1, 2, 3]).ok_or(refuse)?,
            );
            self.prepare_selector(
                op,
                ByteSelector { base: same, differs: same ^ other, threads: swap.threads },
            )?;
        }
        Ok(())
    }

    /// The distributions of a conversion.
    fn sides_of(&self, lanes: &ShufflePlan) -> Result<(&'a Fragment, &'a Fragment), EmitError> {
        let (plan, op) = (self.plan, lanes.op);
        let of =
            |v: Option<lanebook_ir::Value>| v.and_then(|v| plan.fragment_of(v)).map(|(_, f)| f);
        let (operand, result) = (of(self.program.operand(op, 0)), of(self.program.result(op, 0)));
        // Before an exchange it packs what that stores, behind one what that has brought.
        let (from, to) = match plan.exchange_of(op) {
            Some(exchange) if lanes.ahead => (operand, Some(&exchange.from)),
            Some(exchange) => (Some(&exchange.to), result),
            None => (operand, result),
        };
        from.zip(to).ok_or(EmitError::Unplanned(op))
    }

    fn lane_move_atom(
        &self,
        plan: &ShufflePlan,
        word: u32,
    ) -> Option<(lanebook_tables::AtomId, &'t Atom<'t>, &'t LaneXor<'t>)> {
        lane_move_atom(self.machine.tables, self.machine.arch, plan, word)
    }

    /// `times` the number of the lane that a lane reads.
    fn sender(&mut self, plan: &ShufflePlan, offset: u32, times: u8) -> Result<ExprId, EmitError> {
        let mut sum = if offset == 0 { None } else { Some(self.arena.constant(offset)?) };
        // Bits that go equally far go together.
        for distance in -10i32..=5 {
            let mut mask = 0u32;
            let warps = plan.warp.as_slice().iter().map(|adds| u32::from(*adds));
            for (bit, adds) in (0i32..).zip(plan.lane.as_slice().iter().copied().chain(warps)) {
                let to = u32::try_from(bit.wrapping_add(distance)).ok().filter(|to| *to < 6);
                if to.is_some_and(|to| adds.checked_shr(to).unwrap_or(0) & 1 == 1) {
                    mask |= 1u32.checked_shl(bit.unsigned_abs()).unwrap_or(0);
                }
            }
            if mask == 0 {
                continue;
            }
            let bits = self.arena.op_const(IndexOp::And, self.thread, u64::from(mask))?;
            let moved = match distance {
                0 => bits,
                1.. => {
                    self.arena.op_const(IndexOp::Shl, bits, u64::from(distance.unsigned_abs()))?
                }
                _ => self.arena.op_const(IndexOp::Shr, bits, u64::from(distance.unsigned_abs()))?,
            };
            sum = self.sum(IndexOp::Xor, sum, Some(moved))?;
        }
        let lane = match sum {
            Some(lane) => lane,
            None => self.arena.constant(0)?,
        };
        Ok(if times > 1 {
            self.arena.op_const(IndexOp::Shl, lane, u64::from(times.trailing_zeros()))?
        } else {
            lane
        })
    }

    /// The number that chooses these bytes.
    fn selector(&self, bytes: [u8; 4]) -> Option<u32> {
        let bits = self.choice?.bits;
        let mut out = 0u32;
        for (k, byte) in (0u32..).zip(bytes) {
            out |= u32::from(byte).checked_shl(k.checked_mul(u32::from(bits))?)?;
        }
        Some(out)
    }

    /// The same bytes in all lanes.
    pub(crate) fn everywhere(&self, bytes: [u8; 4]) -> Option<ByteSelector> {
        self.selector(bytes).map(|base| ByteSelector { base, differs: 0, threads: 0 })
    }

    /// Makes a selector that is no constant of the instruction's available.
    pub(crate) fn prepare_selector(
        &mut self,
        op: Op,
        selector: ByteSelector,
    ) -> Result<(), EmitError> {
        let what = KeptFor::Selector(selector);
        if self.kept(op, what).is_some()
            || (selector.threads == 0 && self.takes_number(selector.base))
        {
            return Ok(());
        }
        let base = self.arena.constant(selector.base)?;
        if selector.threads == 0 && self.selects_by_scalar() {
            let held = self.settled(base, RegBank::Scalar)?;
            let reg = self.compute(held, RegBank::Scalar)?;
            return self.keep(u16::try_from(op.index()).unwrap_or(u16::MAX), what, reg);
        }
        let mut odd = None;
        for bit in 0..u16::BITS {
            if selector.threads.checked_shr(bit).unwrap_or(0) & 1 == 1 {
                let moved = self.arena.op_const(IndexOp::Shr, self.thread, u64::from(bit))?;
                odd = self.sum(IndexOp::Xor, odd, Some(moved))?;
            }
        }
        let node = match odd {
            None => base,
            Some(odd) => {
                let odd = self.arena.op_const(IndexOp::And, odd, 1)?;
                let differs =
                    self.arena.op_const(IndexOp::Mul, odd, u64::from(selector.differs))?;
                self.arena.op(IndexOp::Xor, &[differs, base])?
            }
        };
        self.keep_lane_value(op, what, node)
    }

    /// The operand of a choice of bytes that holds the selector.
    fn selecting(&self) -> Option<&'t Operand<'t>> {
        let atom = self.choice?.atom;
        atom.operands.get(usize::from(*atom.does?.uses.get(2)?))
    }

    /// Whether the choice of bytes takes a selector as a number.
    fn takes_number(&self, selector: u32) -> bool {
        self.selecting()
            .is_some_and(|o| o.range.0 <= i64::from(selector) && i64::from(selector) <= o.range.1)
    }

    /// Whether it takes one that is the same for all lanes, where such values have registers of
    /// their own.
    fn selects_by_scalar(&self) -> bool {
        let uniform = self
            .machine
            .isa
            .make_uniform
            .and_then(|id| self.machine.tables.atom(id)?.operands.first());
        uniform.is_none_or(|u| self.selecting().is_some_and(|o| o.accepts(u.class)))
    }

    fn prepare_gather(&mut self, op: Op, gather: Gather<'_>, word: u32) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        for (bytes, _) in choices(&gather, word) {
            let selector = self.everywhere(bytes).ok_or(refuse)?;
            self.prepare_selector(op, selector)?;
        }
        Ok(())
    }

    /// The selector of a choice that a swap is part of.
    fn either(&self, either: Either, swap: Swap) -> Option<ByteSelector> {
        let (base, swapped) = (self.selector(either.bytes)?, self.selector(either.swapped)?);
        Some(ByteSelector {
            base,
            differs: base ^ swapped,
            threads: if base == swapped { 0 } else { swap.threads },
        })
    }

    fn prepare_either(
        &mut self,
        op: Op,
        either: Option<Either>,
        swap: Swap,
    ) -> Result<(), EmitError> {
        let selector =
            either.and_then(|either| self.either(either, swap)).ok_or(EmitError::Unplanned(op))?;
        self.prepare_selector(op, selector)
    }

    /// A register by a choice that a swap is part of.
    fn choose_either(
        &mut self,
        op: Op,
        either: Option<Either>,
        swap: Swap,
        words: &Words<'_>,
        out: Option<Reg>,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let (either, out) = (either.ok_or(refuse)?, out.ok_or(refuse)?);
        let pair = [
            words.at(either.registers.0).ok_or(refuse)?,
            words.at(either.registers.1).ok_or(refuse)?,
        ];
        let selector = self.either(either, swap).ok_or(refuse)?;
        self.choose(op, out, pair, selector)
    }

    /// `out` is bytes of two registers.
    pub(crate) fn choose(
        &mut self,
        op: Op,
        out: Reg,
        pair: [Reg; 2],
        selector: ByteSelector,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let BytePermutes { id, atom, .. } = self.choice.ok_or(refuse)?;
        let uses = atom.does.ok_or(refuse)?.uses;
        let third = match self.kept(op, KeptFor::Selector(selector)) {
            Some(reg) => slot(reg),
            None => int(i64::from(selector.base)).ok_or(refuse)?,
        };
        let mut args = [Slot::None; MAX_ARGS];
        let def = atom.operands.iter().position(|o| o.role == Role::Def).ok_or(refuse)?;
        *args.get_mut(def).ok_or(refuse)? = slot(out);
        let [first, second] = pair;
        for (&number, arg) in uses.iter().zip([slot(first), slot(second), third]) {
            *args.get_mut(usize::from(number)).ok_or(refuse)? = arg;
        }
        let used = args.get(..atom.operands.len()).ok_or(refuse)?;
        Ok(self.steps.append(id, used)?)
    }

    /// Register `word` of a gathering, in `out` or where it is.
    fn gather(
        &mut self,
        op: Op,
        gather: &Gather<'_>,
        word: u32,
        words: &Words<'_>,
        out: Reg,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let mut so_far = None;
        for (bytes, (first, second)) in choices(gather, word) {
            let selector = self.everywhere(bytes).ok_or(refuse)?;
            let second = words.at(second).ok_or(refuse)?;
            let first = match so_far {
                None => words.at(first).ok_or(refuse)?,
                Some(reg) => reg,
            };
            self.choose(op, out, [first, second], selector)?;
            so_far = Some(out);
        }
        Ok(())
    }

    /// A register of a conversion from one lane to another.
    fn move_lanes(
        &mut self,
        op: Op,
        plan: &ShufflePlan,
        word: u32,
        (from, to): (Reg, Reg),
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let offset = plan.offset.at(word);
        let missing = EmitError::Inst(InstError::NoAtom(Missing::Lanes(
            u8::try_from(offset).unwrap_or(u8::MAX),
        )));
        let (id, atom, how) = self.lane_move_atom(plan, word).ok_or(missing)?;
        let sender = self.kept(op, KeptFor::Sender(offset));
        let mask = u8::try_from(offset).map_err(|_| refuse)?;
        self.between_lanes(op, (id, atom, how), mask, sender, (from, to))
    }

    /// The registers of one panel: all stages.
    fn lanes_of_panel(
        &mut self,
        op: Op,
        plan: &ShufflePlan,
        given: Reg,
        out: Reg,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let (from, to) = self.sides_of(plan)?;
        let (sent, kept) = (plan.gather_sent(from), plan.gather_kept(to));
        let (sends, results) = (plan.sends(), plan.results(to));
        self.steps.purpose = InstKind::Move;
        let (first, joined) = (plan.joined_before(from), plan.joined_behind(to));
        let mut words = Words::Renamed(given, sent);
        if let Some(fresh) = self.sent_words(plan, given, &sent, first)? {
            words = Words::Tuple(fresh);
        }
        let before = (1usize..).zip(plan.before.as_slice());
        for (done, swap) in before.skip(usize::from(first.is_some())) {
            let fresh = self.words(op, given.class, sends)?;
            for word in (0..sends).filter(|word| plan.is_read(done, *word)) {
                let other = words.at(word ^ u32::from(swap.word));
                self.swapped(op, words.at(word), other, one(fresh, word), swap.threads)?;
            }
            words = Words::Tuple(fresh);
        }
        // Between lanes: into the result where nothing is left to do.
        let last = plan.behind.is_empty() && are_whole(&kept, results);
        if last {
            for word in 0..results {
                let (target, number) =
                    (one(out, word).ok_or(refuse)?, kept.whole(word).ok_or(refuse)?);
                let source = words.at(plan.word.at(number)).ok_or(refuse)?;
                if plan.stays(number) {
                    self.copy_word(source, target)?
                } else {
                    self.move_lanes(op, plan, number, (source, target))?
                }
            }
            return Ok(());
        }
        let received = self.words(op, given.class, plan.received())?;
        for word in (0..plan.received()).filter(|w| !plan.stays(*w)) {
            let (source, target) =
                (words.at(plan.word.at(word)).ok_or(refuse)?, one(received, word).ok_or(refuse)?);
            self.move_lanes(op, plan, word, (source, target))?;
        }
        let before = words;
        let mut words = Words::Received(received, &before, plan);
        // The last one goes into the result where nothing is left to do.
        let whole = results <= plan.received() && are_whole(&kept, results);
        let (last, swaps) = match plan.behind.as_slice().split_last() {
            Some((last, swaps)) if joined.is_some() || whole => (Some(*last), swaps),
            _ => (None, plan.behind.as_slice()),
        };
        for swap in swaps {
            let fresh = self.swapped_words(op, &words, swap, given.class, plan.received())?;
            words = Words::Tuple(fresh);
        }
        for word in 0..results {
            let target = one(out, word).ok_or(refuse)?;
            if let Some(swap) = joined {
                self.choose_either(
                    op,
                    Either::kept(&kept, swap, word),
                    swap,
                    &words,
                    Some(target),
                )?;
                continue;
            }
            match (kept.whole(word), last) {
                (Some(old), Some(swap)) => {
                    let other = words.at(old ^ u32::from(swap.word));
                    self.swapped(op, words.at(old), other, Some(target), swap.threads)?
                }
                (Some(old), None) => self.copy_word(words.at(old).ok_or(refuse)?, target)?,
                (None, _) => self.gather(op, &kept, word, &words, target)?,
            }
        }
        Ok(())
    }

    /// So many new registers.
    fn words(&mut self, op: Op, class: ClassId, count: u32) -> Result<Reg, EmitError> {
        // No lane has more: another plan may need fewer.
        let most = self.machine.isa.tile_most();
        let count = u16::try_from(count).ok().filter(|count| *count <= most);
        let count = count.ok_or(EmitError::Unplanned(op))?;
        Ok(self.steps.tuple(class, count)?)
    }

    /// The registers as they are sent, `first` being joined with the gathering, as far as something
    /// reads them; `None` where they are sent as they stand.
    fn sent_words(
        &mut self,
        plan: &ShufflePlan,
        given: Reg,
        sent: &Gather<'_>,
        first: Option<Swap>,
    ) -> Result<Option<Reg>, EmitError> {
        let (op, sends) = (plan.op, plan.sends());
        let refuse = EmitError::Unplanned(op);
        let old = Words::Tuple(given);
        if let Some(swap) = first {
            let fresh = self.words(op, given.class, sends)?;
            for word in (0..sends).filter(|word| plan.is_read(1, *word)) {
                let bytes = Either::sent(sent, swap, word);
                self.choose_either(op, bytes, swap, &old, one(fresh, word))?;
            }
            return Ok(Some(fresh));
        }
        if are_whole(sent, sends) {
            return Ok(None);
        }
        let fresh = self.words(op, given.class, sends)?;
        for word in (0..sends).filter(|word| plan.is_read(0, *word)) {
            let target = one(fresh, word).ok_or(refuse)?;
            match sent.whole(word) {
                Some(number) => self.copy_word(one(given, number).ok_or(refuse)?, target)?,
                None => self.gather(op, sent, word, &old, target)?,
            }
        }
        Ok(Some(fresh))
    }

    /// The registers behind a swap of what was received.
    fn swapped_words(
        &mut self,
        op: Op,
        words: &Words<'_>,
        swap: &Swap,
        class: ClassId,
        count: u32,
    ) -> Result<Reg, EmitError> {
        let fresh = self.words(op, class, count)?;
        for word in 0..count {
            let other = words.at(word ^ u32::from(swap.word));
            self.swapped(op, words.at(word), other, one(fresh, word), swap.threads)?;
        }
        Ok(fresh)
    }

    fn copy_word(&mut self, from: Reg, to: Reg) -> Result<(), EmitError> {
        let missing = InstError::NoAtom(Missing::Move(to.class));
        let copy = self.machine.copy_into(to.class, 1, from.class).ok_or(missing)?;
        Ok(self.steps.append(copy, &[slot(to), slot(from)])?)
    }

    /// `out` is `own`, or `other` in the threads of a swap.
    fn swapped(
        &mut self,
        op: Op,
        own: Option<Reg>,
        other: Option<Reg>,
        out: Option<Reg>,
        threads: u16,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let (own, other, out) = (own.ok_or(refuse)?, other.ok_or(refuse)?, out.ok_or(refuse)?);
        let (second, same) = (
            self.selector([4, 5, 6, 7]).ok_or(refuse)?,
            self.selector([0, 1, 2, 3]).ok_or(refuse)?,
        );
        self.choose(
            op,
            out,
            [own, other],
            ByteSelector { base: same, differs: same ^ second, threads },
        )
    }

    /// A conversion inside warps: from registers `from` to fresh ones.
    #[inline(never)]
    pub(crate) fn convert_lanes(
        &mut self,
        plan: &ShufflePlan,
        from: Reg,
    ) -> Result<Reg, EmitError> {
        let op = plan.op;
        let refuse = EmitError::Unplanned(op);
        self.prepare_stages(plan)?;
        let (given, wanted) = self.sides_of(plan)?;
        let (panels, to) = (given.shape.grid.count(), *wanted);
        let (reads, writes) = (
            u32::from(given.registers()).checked_div(panels),
            u32::from(to.registers()).checked_div(panels),
        );
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        let from = match self.lane_operand(plan) {
            Some(operand) => self.suited(op, from, operand)?,
            None => from,
        };
        let out = self.tile(from.class, &to)?;
        for panel in 0..panels {
            let (source, target) = (
                part(from, panel, reads.ok_or(refuse)?).ok_or(refuse)?,
                part(out, panel, writes.ok_or(refuse)?).ok_or(refuse)?,
            );
            self.lanes_of_panel(op, plan, source, target)?;
        }
        Ok(out)
    }

    /// The operand of the instructions of a conversion that takes the tile's registers: the
    /// copy atoms', else that of the choice of bytes.
    fn lane_operand(&self, plan: &ShufflePlan) -> Option<&'t lanebook_tables::Operand<'t>> {
        let moved = (0..plan.received())
            .find(|word| !plan.stays(*word))
            .and_then(|word| self.lane_move_atom(plan, word))
            .map(|(_, atom, _)| atom);
        let atom = moved.or_else(|| self.choice.map(|c| c.atom))?;
        atom.operands.get(usize::from(*atom.does?.uses.first()?))
    }
}

/// The choices that make a register, each with the bytes it takes of two and which registers they
/// are: first of the first two old ones, then of what there is and the next one.
fn choices(gather: &Gather<'_>, word: u32) -> heapless::Vec<([u8; 4], (u32, u32)), 4> {
    let mut out = heapless::Vec::new();
    if gather.whole(word).is_some() {
        return out;
    }
    let (bytes, registers) = (gather.bytes_of(word), gather.registers_of(word));
    let Some(first) = registers.get(0) else { return out };
    let mut done: [bool; 4] = [false; 4];
    for k in 0..registers.len().max(2).saturating_sub(1) {
        let second = registers.get(k.saturating_add(1)).unwrap_or(first);
        let mut chosen = [0u8; 4];
        for (((choice, byte), place), done) in
            chosen.iter_mut().zip(bytes).zip(0u8..).zip(&mut done)
        {
            *choice = match byte {
                // What an earlier choice has put there stays.
                _ if *done => place,
                Some((register, at)) if k == 0 && register == first => at,
                Some((register, at)) if register == second => at.saturating_add(4),
                _ => place,
            };
            *done |= byte
                .is_some_and(|(register, _)| register == second || (k == 0 && register == first));
        }
        let _ = out.push((chosen, (first, second)));
    }
    out
}
