//! Reductions, repetitions and conversions: what each lane holds before and after, and what goes
//! between lanes and warps.

use crate::evaluator::{held, pick, place_bits, power, row_col};
use crate::memory::movement;
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_ir::{Op, Program, Value, attr_names};
use lanebook_plan::{HalfPlan, Plan, SharedExchange};
use lanebook_tables::{Atom, Capability, OpRole, OpWord, Role, Tables};
use lanebook_tile::map::{Fragment, TileShape};

pub(crate) fn fragment<'p>(
    plan: &'p Plan<'_>,
    op: Op,
    value: Option<Value>,
) -> Result<&'p Fragment, Violation> {
    let found = plan.fragments.iter().find(|f| Some(f.value) == value);
    found.map(|f| &f.fragment).ok_or(Violation::Missing(op))
}

/// The number of an element along a line of them.
fn along(shape: TileShape, e: u32) -> Option<u32> {
    let (row, col) = row_col(shape, e)?;
    row.checked_add(col).filter(|_| row == 0 || col == 0)
}

/// Rows and columns of a tile.
fn extents(shape: TileShape) -> (u64, u64) {
    let extent = |bits: u8, panels: u8| u64::from(panels).checked_shl(u32::from(bits)).unwrap_or(0);
    (extent(shape.rows, shape.grid.rows), extent(shape.cols, shape.grid.cols))
}

/// Which coordinate of the larger tile of an operation the smaller one has; `None` if they have the
/// same elements.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Stays {
    Rows,
    Cols,
    All,
}

impl Stays {
    fn of(self, shape: TileShape, e: u32) -> Option<u32> {
        let (row, col) = row_col(shape, e)?;
        match self {
            Self::Rows => Some(row),
            Self::Cols => Some(col),
            Self::All => along(shape, e),
        }
    }
}

fn stays(program: &Program<'_, '_>, op: Op, large: &Fragment, small: &Fragment) -> Option<Stays> {
    let axis = program.int_attr(op, attr_names::AXIS);
    let ((rows, cols), (a, b)) = (extents(large.shape), extents(small.shape));
    let count = a.checked_mul(b)?;
    if program.role(op) == OpRole::Reduce {
        return match axis? {
            0 if count == cols => Some(Stays::Cols),
            1 if count == rows => Some(Stays::Rows),
            _ => None,
        };
    }
    if count == rows.checked_mul(cols)? {
        return Some(Stays::All);
    }
    let one = program.type_of(program.operand(op, 0)?).shape.rank() == 1;
    match (axis, one) {
        (Some(0), true) if count == cols => Some(Stays::Cols),
        (Some(1), true) if count == rows => Some(Stays::Rows),
        (None, true) if count == rows && count != cols => Some(Stays::Rows),
        (None, true) if count == cols && count != rows => Some(Stays::Cols),
        (_, false) if b == 1 && a == rows => Some(Stays::Rows),
        (_, false) if a == 1 && b == cols => Some(Stays::Cols),
        _ => None,
    }
}

/// Places of a lane's registers.
pub(crate) fn places(f: &Fragment) -> Option<u32> {
    let panels = u32::from(f.shape.grid.rows).checked_mul(u32::from(f.shape.grid.cols))?;
    power(f.register.as_slice().len())?.checked_mul(panels)
}

pub(crate) fn at(f: &Fragment, place: u32, lane: u32, warp: u32) -> Option<u32> {
    held(f, place.checked_mul(place_bits(f))?, lane, warp).map(|(e, _)| e)
}

/// The place of the smaller tile of a reduction or repetition that a place of the larger one
/// belongs to.
pub(crate) fn repeated_place(
    program: &Program<'_, '_>,
    op: Op,
    large: &Fragment,
    small: &Fragment,
    place: u32,
) -> Option<u32> {
    let stays = stays(program, op, large, small)?;
    let want = stays.of(large.shape, at(large, place, 0, 0)?)?;
    (0..places(small)?)
        .find(|q| at(small, *q, 0, 0).and_then(|e| along(small.shape, e)) == Some(want))
}

/// Bits of the lane's number that a reduction's instructions combine along.
pub(crate) fn combined_lanes(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    op: Op,
) -> Result<u8, Violation> {
    let missing = Violation::Missing(op);
    let (whole, slice) =
        (fragment(plan, op, program.operand(op, 0))?, fragment(plan, op, program.result(op, 0))?);
    let stays = stays(program, op, whole, slice).ok_or(missing)?;
    let shared = combined(whole, stays, whole.lane.as_slice()).ok_or(missing)?;
    u8::try_from(shared & !far(tables, plan, shared).ok_or(missing)?).map_err(|_| missing)
}

/// Statement 11: each place of the larger tile belongs to one place of the smaller one, the same
/// for all lanes and warps.
#[inline(never)]
fn slices(
    plan: &Plan<'_>,
    op: Op,
    stays: Stays,
    large: &Fragment,
    small: &Fragment,
) -> Result<(), Violation> {
    let refuse = Violation::Missing(op);
    let (lanes, warps) = (
        power(usize::from(plan.wave)).ok_or(refuse)?,
        power(usize::from(plan.warps)).ok_or(refuse)?,
    );
    let (many, few) = (places(large).ok_or(refuse)?, places(small).ok_or(refuse)?);
    for p in 0..many {
        let want = |lane: u32, warp: u32| stays.of(large.shape, at(large, p, lane, warp)?);
        let found = |q: u32, lane: u32, warp: u32| along(small.shape, at(small, q, lane, warp)?);
        let mut all = (0..few).filter(|q| want(0, 0).is_some() && found(*q, 0, 0) == want(0, 0));
        let (Some(q), None) = (all.next(), all.next()) else {
            return Err(Violation::Slice { op, warp: 0, lane: 0, place: narrow(p) });
        };
        for warp in 0..warps {
            for lane in 0..lanes {
                if found(q, lane, warp) != want(lane, warp) || want(lane, warp).is_none() {
                    return Err(Violation::Slice {
                        op,
                        warp: byte(warp),
                        lane: byte(lane),
                        place: narrow(p),
                    });
                }
            }
        }
    }
    Ok(())
}

/// Bits of lane or warp number that count along what is combined, and nothing else: their numbers
/// as a mask.
fn combined(f: &Fragment, stays: Stays, columns: &[u32]) -> Option<u32> {
    let mut out = 0u32;
    for (bit, &e) in (0u32..).zip(columns) {
        if e != 0 && stays.of(f.shape, e)? == 0 {
            out |= 1u32.checked_shl(bit)?;
        }
    }
    Some(out)
}

/// Of the bits of a lane's number those that no instruction of the machine exchanges.
fn far(tables: &Tables<'_>, plan: &Plan<'_>, lanes: u32) -> Option<u32> {
    let arch = tables.arch(plan.arch)?;
    let mut out = 0u32;
    let mut rest = lanes;
    while rest != 0 {
        let bit = rest & rest.wrapping_neg();
        let mask = u8::try_from(bit).ok()?;
        let mut able =
            arch.dispatch(Capability::ShuffleXor).iter().filter_map(|id| tables.atom(*id)?.does);
        if !able.any(|d| d.lanes.iter().any(|l| (l.masks.0..=l.masks.1).contains(&mask))) {
            out |= bit;
        }
        rest ^= bit;
    }
    Some(out)
}

/// Statements 11 and 12 for a reduction.
#[inline(never)]
pub(crate) fn reduce(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    op: Op,
) -> Result<(), Violation> {
    let (whole, slice) =
        (fragment(plan, op, program.operand(op, 0))?, fragment(plan, op, program.result(op, 0))?);
    let stays = stays(program, op, whole, slice)
        .filter(|s| *s != Stays::All)
        .ok_or(Violation::End { op, operand: 0 })?;
    slices(plan, op, stays, whole, slice)?;
    // What is combined is enumerated once: as many bits as there are, and, since the columns span
    // the tile, a basis.
    let mask = |columns: &[u32]| combined(whole, stays, columns).ok_or(Violation::Missing(op));
    let (registers, lanes, warps) = (
        mask(whole.register.as_slice())?,
        mask(whole.lane.as_slice())?,
        mask(whole.warp.as_slice())?,
    );
    let dealt = registers
        .count_ones()
        .saturating_add(lanes.count_ones())
        .saturating_add(warps.count_ones());
    let want = if stays == Stays::Rows { whole.shape.cols } else { whole.shape.rows };
    if dealt != u32::from(want) {
        return Err(Violation::Coverage { op, dealt: byte(dealt), rank: want, want });
    }
    let exchange = plan.exchanges.iter().find(|e| e.op == op);
    // Bits of the lane's number that no instruction exchanges: those lanes leave parts for each
    // other as well.
    let apart = far(tables, plan, lanes).ok_or(Violation::Missing(op))?;
    match (exchange, warps | apart) {
        (None, 0) => Ok(()),
        (Some(exchange), 1..) => {
            parts(plan, exchange, slice, (apart, warps))?;
            halves(tables, plan, exchange)
        }
        _ => Err(Violation::Missing(op)),
    }
}

/// Statement 12: what warps leave for each other. Each of those that share a row has a line of its
/// own, and every lane reads all lines of what it keeps.
#[inline(never)]
fn parts(
    plan: &Plan<'_>,
    exchange: &SharedExchange,
    slice: &Fragment,
    sharing: (u32, u32),
) -> Result<(), Violation> {
    let op = exchange.op;
    let refuse = Violation::Missing(op);
    let lines = 1u32
        .checked_shl(sharing.0.count_ones().saturating_add(sharing.1.count_ones()))
        .ok_or(refuse)?;
    let tile = exchange.from.shape;
    if extents(tile).0 != u64::from(lines) || exchange.to.shape != tile {
        return Err(Violation::End { op, operand: 0 });
    }
    let (lanes, warps) = (
        power(usize::from(plan.wave)).ok_or(refuse)?,
        power(usize::from(plan.warps)).ok_or(refuse)?,
    );
    for p in 0..places(slice).ok_or(refuse)? {
        for warp in 0..warps {
            for lane in 0..lanes {
                let wrong =
                    Violation::Slice { op, warp: byte(warp), lane: byte(lane), place: narrow(p) };
                let kept =
                    at(slice, p, lane, warp).and_then(|e| along(slice.shape, e)).ok_or(wrong)?;
                let stored = at(&exchange.from, p, lane, warp)
                    .and_then(|e| row_col(tile, e))
                    .ok_or(wrong)?;
                // The line is the sharing bits of the lane's number, then of the warp's, in order.
                let (mut line, mut weight) = (0u32, 1u32);
                for (number, mut rest) in [(lane, sharing.0), (warp, sharing.1)] {
                    while rest != 0 {
                        let bit = rest & rest.wrapping_neg();
                        if number & bit != 0 {
                            line |= weight;
                        }
                        weight = weight.wrapping_shl(1);
                        rest ^= bit;
                    }
                }
                if stored != (line, kept) {
                    return Err(wrong);
                }
                for line in 0..lines {
                    let place = p
                        .checked_mul(lines)
                        .and_then(|start| start.checked_add(line))
                        .ok_or(wrong)?;
                    if at(&exchange.to, place, lane, warp).and_then(|e| row_col(tile, e))
                        != Some((line, kept))
                    {
                        return Err(wrong);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Statement 5 for both halves of an exchange, whose elements stand for places: each place is one
/// element's.
fn halves(
    tables: &Tables<'_>,
    plan: &Plan<'_>,
    exchange: &SharedExchange,
) -> Result<(), Violation> {
    let places = exchange.basis.places.as_slice();
    let wrong = Violation::End { op: exchange.op, operand: 3 };
    if !are_apart(places, exchange) {
        return Err(wrong);
    }
    for (fragment, half) in [(&exchange.from, &exchange.store), (&exchange.to, &exchange.load)] {
        if !in_order(exchange.rounds.as_slice(), fragment, half) {
            return Err(wrong);
        }
    }
    if !leaves_copies(tables, plan, exchange) {
        return Err(Violation::End { op: exchange.op, operand: 0 });
    }
    for (fragment, loads) in [(&exchange.from, false), (&exchange.to, true)] {
        let placed = placed(fragment, places).ok_or(Violation::Missing(exchange.op))?;
        half(tables, plan, exchange, &placed, loads)?;
    }
    Ok(())
}

/// Whether threads that store nothing hold copies of what others store: each bit that tells them
/// apart adds nothing to the element. Lanes that store each other's elements all do.
fn leaves_copies(tables: &Tables<'_>, plan: &Plan<'_>, exchange: &SharedExchange) -> bool {
    let [store, load] = exchange.moves();
    let crosses = tables.atom(store.atom).and_then(|a| a.movement).is_none_or(|m| m.crosses_lanes);
    let wave = usize::from(plan.wave);
    let (lanes, warps) = (exchange.from.lane.as_slice(), exchange.from.warp.as_slice());
    let is_copy = |bit: usize| match bit.checked_sub(wave) {
        None => !crosses && lanes.get(bit) == Some(&0),
        Some(warp) => warps.get(warp) == Some(&0),
    };
    let mut bits = (0..16usize).filter(|bit| store.kept.wrapping_shr(*bit as u32) & 1 == 1);
    load.kept == 0 && bits.all(is_copy)
}

/// Whether an instruction of a half moves elements of one round alone, and rounds come in order: of
/// all that a thread's number and a register's add to an element, a bit that says the round stands
/// in that one register bit which the bit of an instance's number names, the last ones in order.
fn in_order(rounds: &[u32], fragment: &Fragment, half: &HalfPlan) -> bool {
    let registers = half.tiling.instance_registers.as_slice();
    let Some(first) = registers.len().checked_sub(rounds.len()) else { return false };
    let (lanes, warps) = (fragment.lane.as_slice(), fragment.warp.as_slice());
    // Registers of 32 bits are counted.
    let inside = place_bits(fragment).checked_ilog2().and_then(|bits| usize::try_from(bits).ok());
    rounds.iter().zip(registers.iter().skip(first)).all(|(element, register)| {
        let column =
            inside.and_then(|bits| usize::from(*register).checked_add(5)?.checked_sub(bits));
        let elsewhere =
            (0..).zip(fragment.register.as_slice()).filter(|(at, _)| Some(*at) != column);
        let others = lanes.iter().chain(warps).chain(elsewhere.map(|(_, e)| e));
        let own = column.and_then(|at| fragment.register.get(at));
        element.is_power_of_two()
            && own.is_some_and(|e| e & element != 0)
            && others.into_iter().all(|e| e & element == 0)
    })
}

/// Whether no two elements of one round have one place, in a panel of `2^total`: as many columns as
/// bits, none the sum of others.
fn are_apart(places: &[u32], exchange: &SharedExchange) -> bool {
    let (total, rounds) = (exchange.from.shape.total(), exchange.rounds.as_slice());
    let mut leaders = [0u32; 32];
    let bits = usize::from(total).checked_sub(rounds.len());
    let end = bits.and_then(power).unwrap_or(0);
    let mut is_new = |place: &u32| {
        let mut rest = *place;
        while let Some(top) = rest.checked_ilog2() {
            match leaders.get_mut(top as usize) {
                Some(leader @ 0) => {
                    *leader = rest;
                    return true;
                }
                Some(leader) => rest ^= *leader,
                None => return false,
            }
        }
        false
    };
    let names_round = |k: usize| power(k).is_some_and(|element| rounds.contains(&element));
    let mut of_round = (0usize..).zip(places).filter(|(k, _)| !names_round(*k));
    places.len() == usize::from(total)
        && places.iter().all(|place| *place < end)
        && of_round.all(|(_, place)| is_new(place))
        && (0..usize::from(total)).filter(|k| names_round(*k)).count() == rounds.len()
}

/// The distribution of the places that elements have.
fn placed(fragment: &Fragment, places: &[u32]) -> Option<Fragment> {
    let mut out = *fragment;
    let columns = [out.register.as_mut_slice(), out.lane.as_mut_slice(), out.warp.as_mut_slice()];
    for column in columns.into_iter().flatten() {
        *column = pick(places, *column)?;
    }
    Some(out)
}

#[inline(never)]
fn half(
    tables: &Tables<'_>,
    plan: &Plan<'_>,
    exchange: &SharedExchange,
    fragment: &Fragment,
    loads: bool,
) -> Result<(), Violation> {
    let [store, load] = exchange.moves();
    movement::half(tables, plan, if loads { &load } else { &store }, fragment, loads)
}

/// Statement 11 for a repetition.
#[inline(never)]
pub(crate) fn broadcast(
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    op: Op,
) -> Result<(), Violation> {
    // An index or an argument is the same everywhere.
    if program.repeated_number(op).is_some() {
        return Ok(());
    }
    // A constant has no distribution of its own.
    if program.operand(op, 0).is_some_and(|v| program.constant(v).is_some()) {
        return Ok(());
    }
    let (small, large) =
        (fragment(plan, op, program.operand(op, 0))?, fragment(plan, op, program.result(op, 0))?);
    let stays = stays(program, op, large, small).ok_or(Violation::End { op, operand: 0 })?;
    slices(plan, op, stays, large, small)
}

/// Where the element of this number is once two groups of dimensions have changed places: element
/// `r` of run `b` of group `a` is then that of run `a` of group `b`.
fn permuted(number: u64, [left, right, run]: [u32; 3]) -> Option<u64> {
    let [left, right, run] = [left, right, run].map(u64::from);
    let (runs, within) = (number.checked_div(run)?, number.checked_rem(run)?);
    let (groups, b) = (runs.checked_div(right)?, runs.checked_rem(right)?);
    let (outer, a) = (groups.checked_div(left)?, groups.checked_rem(left)?);
    let runs = outer.checked_mul(right)?.checked_add(b)?.checked_mul(left)?.checked_add(a)?;
    runs.checked_mul(run)?.checked_add(within)
}

/// The same place has the same element, counted row by row, under either shape.
#[inline(never)]
pub(crate) fn reshape(program: &Program<'_, '_>, plan: &Plan<'_>, op: Op) -> Result<(), Violation> {
    if program.result(op, 0).is_some_and(|v| program.constant(v).is_some()) {
        return Ok(());
    }
    let (from, to) =
        (fragment(plan, op, program.operand(op, 0))?, fragment(plan, op, program.result(op, 0))?);
    let refuse = Violation::Missing(op);
    let (lanes, warps) = (
        power(usize::from(plan.wave)).ok_or(refuse)?,
        power(usize::from(plan.warps)).ok_or(refuse)?,
    );
    let many = places(from).ok_or(refuse)?;
    let number = |f: &Fragment, place: u32, lane: u32, warp: u32| {
        let (row, col) = row_col(f.shape, at(f, place, lane, warp)?)?;
        u64::from(row).checked_mul(extents(f.shape).1)?.checked_add(u64::from(col))
    };
    for place in 0..many {
        for warp in 0..warps {
            for lane in 0..lanes {
                let (a, b) = (number(from, place, lane, warp), number(to, place, lane, warp));
                let a = match program.exchanged_groups(op) {
                    Some(groups) => a.and_then(|a| permuted(a, groups)),
                    None => a.filter(|_| program.role(op) == OpRole::Reshape),
                };
                if a.is_none() || a != b {
                    let (warp, lane) = (byte(warp), byte(lane));
                    return Err(Violation::Slice { op, warp, lane, place: narrow(place) });
                }
            }
        }
    }
    if places(to) == Some(many) && place_bits(from) == place_bits(to) {
        Ok(())
    } else {
        Err(refuse)
    }
}

/// Statement 13: a conversion is nothing, or an exchange from the one distribution to the other.
#[inline(never)]
pub(crate) fn convert(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    op: Op,
) -> Result<(), Violation> {
    let (Some(from), Some(to)) = (program.operand(op, 0), program.result(op, 0)) else {
        return Err(Violation::Missing(op));
    };
    let planned = |v: Value| plan.fragments.iter().any(|f| f.value == v);
    if !planned(from) && !planned(to) {
        return Ok(());
    }
    let (from, to) = (fragment(plan, op, Some(from))?, fragment(plan, op, Some(to))?);
    let moved = plan.lanes.iter().find(|l| l.op == op && !l.ahead);
    let ahead = plan.lanes.iter().find(|l| l.op == op && l.ahead);
    let exchange = plan.exchanges.iter().find(|e| e.op == op);
    // Behind an exchange, elements may be packed in each lane.
    let last = exchange.map_or(from, |exchange| &exchange.to);
    match moved {
        Some(moved) => crate::lanes::shuffle::convert(plan, moved, last, to)?,
        None if exchange.is_none() => {
            return if from == to { Ok(()) } else { Err(Violation::End { op, operand: 0 }) };
        }
        None if last != to => return Err(Violation::End { op, operand: 3 }),
        None => {}
    }
    let Some(exchange) = exchange else {
        return if ahead.is_none() { Ok(()) } else { Err(Violation::End { op, operand: 3 }) };
    };
    // Before it they may be packed, too.
    if let Some(ahead) = ahead {
        crate::lanes::shuffle::convert(plan, ahead, from, &exchange.from)?;
        return halves(tables, plan, exchange);
    }
    // Elements may be taken apart before they are stored, each into a register of its own.
    let same = (from.shape, from.register, from.lane, from.warp, from.by_rows)
        == (
            exchange.from.shape,
            exchange.from.register,
            exchange.from.lane,
            exchange.from.warp,
            exchange.from.by_rows,
        );
    if !same || (from.unpacked && !exchange.from.unpacked) {
        return Err(Violation::End { op, operand: 3 });
    }
    halves(tables, plan, exchange)
}

/// Statement 16: the exchanges between lanes of each reduction, and the steps of each exchange
/// through shared memory.
pub(crate) fn lanes(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    steps: &[Inst],
) -> Result<(), Violation> {
    let function = program.functions().next().ok_or(Violation::NoFunction)?;
    crate::lanes::shuffle::steps(tables, program, plan, steps)?;
    for op in program.inside(function).filter(|op| {
        program.role(*op) == OpRole::Reduce && !crate::evaluator::is_undecided(program, plan, *op)
    }) {
        let (whole, slice) = (
            fragment(plan, op, program.operand(op, 0))?,
            fragment(plan, op, program.result(op, 0))?,
        );
        let stays = stays(program, op, whole, slice).ok_or(Violation::End { op, operand: 0 })?;
        let shared = combined(whole, stays, whole.lane.as_slice()).ok_or(Violation::Missing(op))?;
        let wanted = shared & !far(tables, plan, shared).ok_or(Violation::Missing(op))?;
        let each = places(slice).ok_or(Violation::Missing(op))?;
        let (mut counts, mut unknown) = ([0u32; 6], 0u32);
        for (at, step) in (0u16..).zip(steps) {
            let own = step.purpose != InstKind::Label && usize::from(step.origin) == op.index();
            let atom = tables
                .atom(step.atom)
                .filter(|a| own && a.does.is_some_and(|d| d.op == OpWord::ShuffleXor));
            let Some(atom) = atom else { continue };
            match mask(atom, step) {
                Some(None) => unknown = unknown.saturating_add(1),
                Some(Some(m)) if m.is_power_of_two() && wanted & u32::from(m) != 0 => {
                    if let Some(count) = counts.get_mut(m.trailing_zeros() as usize) {
                        *count = count.saturating_add(1);
                    }
                }
                _ => return Err(Violation::Lanes { op, step: at }),
            }
        }
        for (bit, count) in (0u32..).zip(counts) {
            let want = if wanted.checked_shr(bit).unwrap_or(0) & 1 == 1 { each } else { 0 };
            if count != want {
                // Those whose lane stands in a register are only counted.
                unknown = unknown
                    .checked_sub(want)
                    .filter(|_| count == 0)
                    .ok_or(Violation::Lanes { op, step: u16::MAX })?;
            }
        }
        if unknown != 0 {
            return Err(Violation::Lanes { op, step: u16::MAX });
        }
    }
    Ok(())
}

/// The mask of an exchange's step; `Some(None)` where a register says it.
pub(crate) fn mask(atom: &Atom<'_>, step: &Inst) -> Option<Option<u8>> {
    let does = atom.does?;
    let others = || {
        let numbered = (0u8..).zip(atom.operands.iter()).zip(&step.args);
        let named = |k: u8| does.lanes.iter().any(|l| l.by.is_some_and(|by| by.0 == k));
        numbered
            .filter(move |((k, o), _)| {
                !does.uses.contains(k) && !named(*k) && !matches!(o.role, Role::Def | Role::UseDef)
            })
            .map(|(_, arg)| *arg)
    };
    if let Some(l) = does.lanes.iter().find(|l| l.by.is_some()) {
        // What else it holds is as the table has it.
        let same = others()
            .zip(l.set.iter().copied().chain(core::iter::repeat(0)))
            .all(|(arg, set)| arg == Slot::Int(set));
        return same.then_some(None);
    }
    for l in does.lanes {
        for m in l.masks.0..=l.masks.1 {
            let mut first = l.step.wrapping_mul(i32::from(m));
            let same = others().zip(l.set.iter().copied().chain(core::iter::repeat(0))).all(
                |(arg, set)| {
                    let want = set.wrapping_add(first);
                    first = 0;
                    arg == Slot::Int(want)
                },
            );
            if same {
                return Some(Some(m));
            }
        }
    }
    None
}

pub(crate) fn byte(v: u32) -> u8 {
    u8::try_from(v).unwrap_or(u8::MAX)
}

pub(crate) fn narrow(v: u32) -> u16 {
    u16::try_from(v).unwrap_or(u16::MAX)
}
