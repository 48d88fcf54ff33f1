//! Conversions inside warps: every lane's bits, back through choices of bytes and movements between
//! lanes, to the lane and the place that the plan's stages lead back to. What a register tells an
//! instruction there is what it holds in that lane. And parts of tiles, which do not leave a lane:
//! bits of one are bits of the tile that it was taken out of; bits of a tile are those of the part
//! that was put in, or of what the tile was before.

use crate::contents::address::ThreadRun;
use crate::contents::goal::{Prover, What};
use crate::contents::storage::{ContentsPool, ContentsScratch, NONE};
use crate::contents::through::BitRange;
use crate::contents::{Content, ContentsContext};
use crate::evaluator::{place_bits, power};
use crate::lanes::part::PartValues;
use crate::lanes::shape::{mask, places};
use crate::lanes::shuffle::back;
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_ir::{Op, Value};
use lanebook_plan::ShufflePlan;
use lanebook_tables::{Atom, OpWord};

/// Most instructions in a row of one conversion.
const STAGES: usize = 64;
/// Registers of the last steps that are remembered while what they tell is numbered.
const RECENT: usize = 64;
/// No number.
const UNKNOWN: u32 = u32::MAX;
/// The step stands where no lane came.
const NOT_REACHED: u32 = UNKNOWN - 1;

impl ContentsContext<'_> {
    /// The operand whose register tells an instruction of a conversion inside warps which bytes, or
    /// which lane, and how often it holds the lane's number.
    fn tells(&self, step: &Inst, atom: &Atom<'_>) -> Option<(u8, u32)> {
        if step.purpose == InstKind::Label
            || !self.plan.lanes.iter().any(|l| l.op.index() == usize::from(step.origin))
        {
            return None;
        }
        let does = atom.does?;
        let (operand, times) = match does.op {
            OpWord::BytePermute => (*does.uses.get(2)?, 1),
            OpWord::ShuffleXor | OpWord::ShuffleIndex => does.lanes.iter().find_map(|l| l.by)?,
            _ => return None,
        };
        matches!(step.arg(usize::from(operand)), Slot::Reg { .. })
            .then_some((operand, u32::from(times.max(1))))
    }
}

impl ContentsContext<'_> {
    /// The threads whose registers tell conversions inside warps something of their own: those of
    /// the first warp, or all.
    fn telling(&self) -> Option<u32> {
        let by_warp = self.plan.lanes.iter().any(ShufflePlan::depends_on_warp);
        let warps = if by_warp { self.plan.warps } else { 0 };
        power(usize::from(self.plan.wave).checked_add(usize::from(warps))?)
    }
}

impl ContentsScratch<'_> {
    /// Numbers what registers tell steps of conversions inside warps, once for all steps that one
    /// register tells the same; how much there is.
    #[inline(never)] // The list is there before any thread is carried out.
    pub(super) fn number_told(&mut self, look: &ContentsContext<'_>) -> u16 {
        let mut known: heapless::Vec<(Content, u16), RECENT> = heapless::Vec::new();
        let mut many = 0u16;
        for (at, step) in (0u16..).zip(look.steps) {
            let told = look.atom(step).and_then(|atom| look.tells(step, atom));
            let Some((operand, _)) = told else { continue };
            let content = self.read(look, at, operand, 0);
            let same = known.iter().find(|(before, _)| Some(*before) == content);
            let number = same.map_or(many, |(_, number)| *number);
            if same.is_none() {
                many = many.saturating_add(1);
                if known.is_full() {
                    known.clear();
                }
                if let Some(content) = content {
                    let _ = known.push((content, number));
                }
            }
            if let Some(slot) = self.blocks.get_mut(usize::from(at)) {
                *slot = [number, NONE, NONE];
            }
        }
        many
    }
}

impl ThreadRun<'_, '_> {
    /// Carries out every lane of the first warp, or of all, as far as what registers tell in
    /// conversions inside warps.
    #[inline(never)]
    pub(super) fn all_lanes(&mut self, many: u16) -> Result<(), Violation> {
        let lanes = self.look.telling().unwrap_or(1);
        if many == 0 {
            return Ok(());
        }
        let all = usize::from(many).saturating_mul(lanes as usize);
        let capacity = u32::try_from(self.lanes.capacity()).unwrap_or(u32::MAX);
        self.lanes
            .resize(all, NOT_REACHED)
            .map_err(|_| Violation::Room { pool: ContentsPool::Lanes, capacity })?;
        for lane in 0..lanes {
            self.wanted = Some(u32::from(many));
            self.thread(lane)?;
        }
        self.wanted = None;
        Ok(())
    }

    /// Keeps what a register tells in the lane that is carried out.
    pub(super) fn in_lane(&mut self, at: u16, step: &Inst, atom: &Atom<'_>) {
        let Some((operand, _)) = self.look.tells(step, atom) else { return };
        let value = self.given(step, atom, operand).and_then(|n| u32::try_from(n).ok());
        let lanes = self.look.telling().unwrap_or(1);
        let place = self.blocks.get(usize::from(at)).and_then(|[number, ..]| {
            u32::from(*number).checked_mul(lanes)?.checked_add(self.thread)
        });
        let Some(slot) = place.and_then(|place| self.lanes.get_mut(place as usize)) else { return };
        match value {
            Some(value) if matches!(*slot, UNKNOWN | NOT_REACHED) => {
                *slot = value;
                self.wanted = self.wanted.map(|n| n.saturating_sub(1));
            }
            None if *slot == NOT_REACHED => *slot = UNKNOWN,
            _ => {}
        }
    }
}

impl Prover<'_, '_, '_> {
    /// What a register tells a step in a thread.
    fn told(&self, number: u16, thread: u32) -> Option<u32> {
        self.told_slot(number, thread).filter(|n| !matches!(*n, UNKNOWN | NOT_REACHED))
    }

    fn told_slot(&self, number: u16, thread: u32) -> Option<u32> {
        let [nth, ..] = *self.scratch.blocks.get(usize::from(number))?;
        let threads = self.look.telling()?;
        let place = u32::from(nth).checked_mul(threads)?.checked_add(thread)?;
        self.scratch.lanes.get(place as usize).copied().filter(|_| nth != NONE)
    }

    /// Whether a conversion stands in a loop or in a part of a branch in which no lane came to what
    /// tells it something: with the numbers that were tried it has no turn.
    fn is_not_reached(&self, moved: &ShufflePlan) -> bool {
        let own = |step: &Inst| usize::from(step.origin) == moved.op.index();
        let mut steps = (0u16..).zip(self.look.steps).filter(|(_, step)| own(step));
        steps.any(|(at, _)| self.told_slot(at, 0) == Some(NOT_REACHED))
    }

    /// One instruction of a conversion further back, in a thread; nothing if there is none.
    fn stage(&self, bits: BitRange, moved: &ShufflePlan, thread: u32) -> Option<(BitRange, u32)> {
        let look = self.look;
        let Content::Inst(number, _) = bits.content else { return None };
        let step = look
            .steps
            .get(usize::from(number))
            .filter(|s| usize::from(s.origin) == moved.op.index())?;
        let atom = look.atom(step)?;
        let does = atom.does?;
        match does.op {
            OpWord::BytePermute => {
                let selector = self.told(number, thread)?;
                Some((self.scratch.chosen_by(look, bits, u64::from(selector))?, thread))
            }
            OpWord::ShuffleXor | OpWord::ShuffleIndex => {
                let lanes = power(usize::from(look.plan.wave))?;
                let inside = lanes.checked_sub(1)?;
                let from = match mask(atom, step)? {
                    Some(mask) => thread ^ u32::from(mask),
                    None => {
                        let (_, times) = look.tells(step, atom)?;
                        let lane = self.told(number, thread)?.checked_div(times)? & inside;
                        (thread & !inside) | lane
                    }
                };
                let content = self.scratch.read(look, number, *does.uses.first()?, 0)?;
                Some((BitRange { content, ..bits }, from))
            }
            _ => None,
        }
    }

    /// Bits of what a conversion stores, element by element.
    #[inline(never)]
    pub(super) fn packed(&mut self, bits: BitRange, op: Op, at: u32) -> Result<bool, Violation> {
        let look = self.look;
        let ahead = look.plan.lanes.iter().find(|l| l.op == op && l.ahead);
        let exchange = look.plan.exchanges.iter().find(|e| e.op == op);
        let (Some(ahead), Some(exchange)) = (ahead, exchange) else { return Ok(false) };
        let element = exchange.from.shape.bits;
        if bits.width <= element {
            return self.between_lanes(bits, ahead, at);
        }
        let mut done = 0u16;
        while done < bits.width {
            let width = element.min(bits.width.saturating_sub(done)).max(1);
            let part = BitRange { bit: bits.bit.saturating_add(done), width, ..bits };
            self.want(part, What::Packed(op), at.saturating_add(u32::from(done)))?;
            done = done.saturating_add(width);
        }
        Ok(true)
    }

    /// Bits of a conversion's result, or of what it stores: in each lane they come from the lane and
    /// the place that the stages lead back to.
    #[inline(never)]
    pub(super) fn between_lanes(
        &mut self,
        bits: BitRange,
        moved: &ShufflePlan,
        at: u32,
    ) -> Result<bool, Violation> {
        let look = self.look;
        let exchange = look.plan.exchanges.iter().find(|e| e.op == moved.op);
        let (operand, value) =
            (look.program.operand(moved.op, 0), look.program.result(moved.op, 0));
        let sides = || {
            let (given, made) = (look.fragment(operand?)?, look.fragment(value?)?);
            match exchange {
                Some(exchange) if moved.ahead => Some((given, &exchange.from)),
                Some(exchange) => Some((&exchange.to, made)),
                None => Some((given, made)),
            }
        };
        let (Some((from, to)), Some(operand), Some(value)) = (sides(), operand, value) else {
            return Ok(false);
        };
        if self.is_not_reached(moved) {
            self.unfollowed = self.unfollowed.saturating_add(1);
            return Ok(true);
        }
        let exchange = exchange.filter(|_| !moved.ahead);
        let each = || {
            let panels =
                u32::from(to.shape.grid.rows).checked_mul(u32::from(to.shape.grid.cols))?;
            Some((
                places(to)?.checked_div(panels)?,
                places(from)?.checked_div(panels)?,
                power(usize::from(look.plan.wave))?,
            ))
        };
        let Some((results, operands, lanes)) = each() else { return Ok(false) };
        let (Some(place), Some(inside)) =
            (at.checked_div(place_bits(to)), at.checked_rem(place_bits(to)))
        else {
            return Ok(false);
        };
        if inside.saturating_add(u32::from(bits.width)) > u32::from(to.shape.bits) {
            return Ok(false);
        }
        let (Some(panel), Some(number)) = (place.checked_div(results), place.checked_rem(results))
        else {
            return Ok(false);
        };
        for thread in 0..look.telling().unwrap_or(lanes) {
            let low = lanes.saturating_sub(1);
            let (lane, warp) = (thread & low, thread.checked_div(lanes).unwrap_or(0));
            let Some((source, sender)) =
                back(moved, (panel, number), (operands, lanes), (lane, warp))
            else {
                return Ok(false);
            };
            let (mut here, mut whose) = (self.scratch.through(look, bits), thread);
            for _ in 0..STAGES {
                let Some((before, from)) = self.stage(here, moved, whose) else { break };
                (here, whose) = (self.scratch.through(look, before), from);
            }
            if whose != (thread & !low) | sender {
                return Ok(false);
            }
            let first = source.saturating_mul(place_bits(from)).saturating_add(inside);
            let Some(exchange) = exchange else {
                self.want(here, What::Tile(operand), first)?;
                continue;
            };
            let Content::Inst(load, register) = here.content else { return Ok(false) };
            let [_, half] = exchange.moves();
            let own = look.steps.get(usize::from(load)).is_some_and(|s| {
                usize::from(s.origin) == moved.op.index() && s.atom == exchange.load.atom
            });
            if !own || !self.brought(here, &half, (load, register), What::Tile(value), first)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Prover<'_, '_, '_> {
    /// Bits of an operation on parts.
    pub(super) fn parted(
        &mut self,
        bits: BitRange,
        op: Op,
        value: Value,
        at: u32,
    ) -> Result<bool, Violation> {
        let Some((of, first)) = self.part_of(op, value, at) else { return Ok(false) };
        // All of them, or element by element.
        let place = self.look.place_of(value).unwrap_or(1).max(1);
        let width = u32::from(bits.width);
        let mut done = place.saturating_sub(at.checked_rem(place).unwrap_or(0));
        while done < width {
            let here = self.part_of(op, value, at.saturating_add(done));
            if here != Some((of, first.saturating_add(done))) {
                return Ok(false);
            }
            done = done.saturating_add(place);
        }
        self.want(bits, What::Tile(of), first)?;
        Ok(true)
    }

    /// The value of which a bit of an operation's result is a bit, and which one.
    fn part_of(&self, op: Op, value: Value, at: u32) -> Option<(Value, u32)> {
        let look = self.look;
        let own = PartValues::of(look.program, op)?;
        let each = look.place_of(value)?;
        let (place, inside) = (at.checked_div(each)?, at.checked_rem(each)?);
        let bit = |place: u32| place.checked_mul(each)?.checked_add(inside);
        if own.put.is_none() {
            let (whole, part) = (look.fragment(own.whole)?, look.fragment(value)?);
            return Some((own.whole, bit(own.in_whole(whole, part, place)?)?));
        }
        let whole = look.fragment(value)?;
        // A constant is the same everywhere.
        if look.program.constant(own.part).is_some() {
            let own = if own.covers(look.program, whole, place)? { own.part } else { own.whole };
            return Some((own, at));
        }
        let part = look.fragment(own.part)?;
        let found = (0..places(part)?).find(|p| own.in_whole(whole, part, *p) == Some(place));
        match found {
            Some(p) => Some((own.part, bit(p)?)),
            None => Some((own.whole, at)),
        }
    }
}
