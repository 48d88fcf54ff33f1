//! One distribution over lanes and registers beside another: whether it feeds an operand, and where each register comes
//! from.

use crate::answer::{QueryAnswer, bounded, copies};
use crate::error::Why;
use crate::show::AnswerWritten;
use crate::value::{Asked, Placed, QueryValue};
use crate::write::Out;
use core::fmt::Write;
use lanebook_layout::ops::GuardedInverse;
use lanebook_layout::{AxisId, Coord};

/// Where an element is: lane, warp, register (elements of the lane in a row).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Seat {
    warp: i64,
    lane: i64,
    register: i64,
}

/// How elements of one distribution move to another.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Elements.
    pub elements: u64,
    /// Elements whose lane is another.
    pub lanes: u64,
    /// Elements whose warp is another.
    pub warps: u64,
    /// Elements whose place among the lane's registers is another.
    pub registers: u64,
}

/// One side with what is needed to look things up.
struct SideOf<'v> {
    placed: &'v Placed,
    /// The axis of lanes, or of threads: then with the lanes of a wave.
    lanes: (AxisId, Option<i64>),
    axis: AxisId,
    step: i64,
}

impl<'v> SideOf<'v> {
    fn new(asked: Asked<'_>, value: &'v QueryValue) -> Result<Self, Why> {
        let placed = value.placed()?;
        let axes = placed.layout.view().axes()?;
        let threads = [AxisId::TX, AxisId::TID_IN_WG].into_iter().find(|axis| axes.contains(axis));
        let lanes = match threads {
            _ if axes.contains(&AxisId::LANE) => (AxisId::LANE, None),
            None => return Err(Why::NoRegisters),
            Some(threads) => (threads, Some(wave(asked)?)),
        };
        let by_bits = axes.contains(&AxisId::BIT);
        let step = if by_bits { i64::from(placed.elements.bits.max(1)) } else { 1 };
        // Where threads are counted, their registers are places of memory of their own.
        let axis = match axes.contains(&AxisId::REGISTER) {
            _ if by_bits => AxisId::BIT,
            false if axes.contains(&AxisId::M) => AxisId::M,
            _ => AxisId::REGISTER,
        };
        Ok(Self { placed, lanes, axis, step })
    }

    fn seat(&self, at: &Coord) -> Seat {
        let (axis, wave) = self.lanes;
        let number = at.get(axis);
        let (warp, lane) = match wave {
            None => (at.get(AxisId::WARP), number),
            Some(wave) => (
                number.checked_div_euclid(wave).unwrap_or(0),
                number.checked_rem_euclid(wave).unwrap_or(0),
            ),
        };
        let register = at.get(self.axis).checked_div_euclid(self.step).unwrap_or(0);
        Seat { warp, lane, register }
    }

    /// The first place of an element.
    fn first(&self, element: u64) -> Result<Seat, Why> {
        let mut at = Coord::new();
        self.placed.layout.view().apply_flat(element, &mut at)?;
        Ok(self.seat(&at))
    }

    /// Lanes, and registers of a lane.
    fn extents(&self) -> Result<(i64, i64), Why> {
        let view = self.placed.layout.view();
        let (axis, wave) = self.lanes;
        let (_, lane) = view.reach(axis)?;
        let (_, register) = view.reach(self.axis)?;
        Ok((
            lane.saturating_add(1).min(wave.unwrap_or(i64::MAX)),
            register.checked_div_euclid(self.step).unwrap_or(0).saturating_add(1),
        ))
    }
}

/// Whether a layout has neither lanes nor threads.
pub(crate) fn is_in_memory(placed: &Placed) -> bool {
    let axes = placed.layout.view().axes();
    axes.is_ok_and(|axes| {
        ![AxisId::LANE, AxisId::TX, AxisId::TID_IN_WG].iter().any(|axis| axes.contains(axis))
    })
}

/// The lanes of the architecture's wave.
fn wave(asked: Asked<'_>) -> Result<i64, Why> {
    let arch = asked.arch.ok_or(Why::NeedsArch)?;
    let arch = asked.tables.arch(arch).ok_or(Why::UnknownArch)?;
    arch.wave_lanes.first().map(|lanes| i64::from(*lanes)).ok_or(Why::NeedsArch)
}

/// The two sides of a question, of the same elements.
fn sides<'v>(asked: Asked<'_>, args: &'v [QueryValue]) -> Result<(SideOf<'v>, SideOf<'v>), Why> {
    let [from, to, ..] = args else { return Err(Why::NoRegisters) };
    let (from, to) = (SideOf::new(asked, from)?, SideOf::new(asked, to)?);
    let (mut left, mut right) = ([0u32; 32], [0u32; 32]);
    if from.placed.extents(&mut left) != to.placed.extents(&mut right) {
        let (first, second) =
            (bounded(&from.placed.layout.view())?, bounded(&to.placed.layout.view())?);
        return Err(Why::OtherElements { first, second });
    }
    Ok((from, to))
}

/// The number that an element of one side has on the other.
fn twin(from: &Placed, to: &Placed, element: u64) -> Result<u64, Why> {
    to.flat(&from.coordinates(element)).ok_or(Why::Coordinate { rank: 2 })
}

#[inline(never)]
fn moves(asked: Asked<'_>, args: &[QueryValue]) -> Result<Moves, Why> {
    let (from, to) = sides(asked, args)?;
    copies(&from.placed.layout.view())?;
    let mut out = Moves { elements: bounded(&to.placed.layout.view())?, ..Moves::default() };
    for element in 0..out.elements {
        // A copy that is where it is needed counts; else the first.
        let wanted = to.first(element)?;
        let mut held = None;
        let source = twin(to.placed, from.placed, element)?;
        from.placed.layout.view().apply_all(source, &mut Coord::new(), |at| {
            let seat = from.seat(at);
            if held.is_none() || seat == wanted {
                held = Some(seat);
            }
            Ok(())
        })?;
        let held = held.unwrap_or_default();
        let one = |differs: bool| u64::from(differs);
        out.lanes = out.lanes.saturating_add(one(held.lane != wanted.lane));
        out.warps = out.warps.saturating_add(one(held.warp != wanted.warp));
        out.registers = out.registers.saturating_add(one(held.register != wanted.register));
    }
    Ok(out)
}

/// Where a register of the second side comes from, for all lanes.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Origin {
    /// The same register of the lane whose number differs in a mask.
    Mask { register: i64, mask: i64 },
    /// Lane by lane something else.
    Mixed,
}

fn origin(
    (from, to): (&SideOf<'_>, &SideOf<'_>),
    back: &GuardedInverse,
    register: i64,
) -> Result<Option<Origin>, Why> {
    let (lanes, _) = to.extents()?;
    let mut found = None;
    for lane in 0..lanes {
        let Some(seat) = source((from, to), back, lane, register)? else { continue };
        let one = Origin::Mask { register: seat.register, mask: seat.lane ^ lane };
        let one = if seat.warp == 0 { one } else { Origin::Mixed };
        if found.is_some_and(|before| before != one) {
            return Ok(Some(Origin::Mixed));
        }
        found = Some(one);
    }
    Ok(found)
}

/// Where the element of a lane's register of warp 0 comes from.
fn source(
    (from, to): (&SideOf<'_>, &SideOf<'_>),
    back: &GuardedInverse,
    lane: i64,
    register: i64,
) -> Result<Option<Seat>, Why> {
    let mut at = Coord::new();
    at.add(to.lanes.0, lane)?;
    at.add(to.axis, register.saturating_mul(to.step))?;
    let Some(element) = back.at(&at)? else { return Ok(None) };
    Ok(Some(from.first(twin(to.placed, from.placed, element.flat)?)?))
}

impl QueryAnswer<'_> {
    pub(crate) fn feeds_text<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let moves = moves(self.asked, self.arguments())?;
        out.text(match moves {
            Moves { lanes: 0, warps: 0, registers: 0, .. } => "yes, register by register\n",
            Moves { lanes: 0, warps: 0, .. } => {
                "yes, within each lane: registers stand in another order\n"
            }
            Moves { warps: 0, .. } => "no: elements have to change their lane\n",
            _ => "no: elements have to change their warp, through shared memory\n",
        })?;
        if moves.lanes > 0 || moves.registers > 0 || moves.warps > 0 {
            for (count, what) in [
                (moves.lanes, " change their lane, "),
                (moves.warps, " their warp, "),
                (moves.registers, " their register, of "),
                (moves.elements, " elements\n"),
            ] {
                out.unsigned(count)?;
                out.text(what)?;
            }
        }
        Ok(())
    }

    pub(crate) fn feeds_json<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let moves = moves(self.asked, self.arguments())?;
        out.key_text(true, "kind", "feeds")?;
        out.key_truth(false, "feeds", moves.lanes == 0 && moves.warps == 0)?;
        out.key_truth(false, "in_place", (moves.lanes, moves.warps, moves.registers) == (0, 0, 0))?;
        for (key, count) in [
            ("elements", moves.elements),
            ("other_lane", moves.lanes),
            ("other_warp", moves.warps),
            ("other_register", moves.registers),
        ] {
            out.key_number(false, key, i64::try_from(count).unwrap_or(i64::MAX))?;
        }
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn convert_text<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let (from, to) = sides(self.asked, self.arguments())?;
        let back = self.inverse()?;
        let (lanes, registers) = to.extents()?;
        for register in 0..registers {
            let Some(origin) = origin((&from, &to), back, register)? else { continue };
            out.text("register ")?;
            out.number(register)?;
            out.text(" <- ")?;
            if let Origin::Mask { register, mask } = origin {
                out.text("register ")?;
                out.number(register)?;
                out.text(if mask == 0 { " of the same lane\n" } else { " of lane ^ " })?;
                if mask != 0 {
                    out.number(mask)?;
                    out.text("\n")?;
                }
                continue;
            }
            for lane in 0..lanes {
                let Some(seat) = source((&from, &to), back, lane, register)? else { continue };
                out.text(if lane > 0 { ", " } else { "lane.register " })?;
                out.number(seat.lane)?;
                out.text(".")?;
                out.number(seat.register)?;
            }
            out.text("\n")?;
        }
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn convert_json<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let (from, to) = sides(self.asked, self.arguments())?;
        let back = self.inverse()?;
        let (lanes, registers) = to.extents()?;
        out.key_text(true, "kind", "conversion")?;
        out.key(false, "registers")?;
        out.text("[")?;
        for register in 0..registers {
            out.text(if register > 0 { ", [" } else { "[" })?;
            for lane in 0..lanes {
                out.text(if lane > 0 { ", " } else { "" })?;
                match source((&from, &to), back, lane, register)? {
                    Some(seat) => {
                        out.text("[")?;
                        out.number(seat.lane)?;
                        out.text(", ")?;
                        out.number(seat.register)?;
                        out.text("]")?;
                    }
                    None => out.text("null")?,
                }
            }
            out.text("]")?;
        }
        Ok(out.text("]")?)
    }
}
