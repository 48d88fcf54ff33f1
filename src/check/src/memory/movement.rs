//! Movements: every byte of every lane, from where to where.

use crate::evaluator::{
    Memory, Position, element_bytes, held, nth_panel, panel_size, pick, place_bits, power, rank,
    spot, weigh,
};
use crate::violation::Violation;
use lanebook_ir::{Op, Program, Value};
use lanebook_layout::AxisId;
use lanebook_plan::{End, GlobalPlan, Plan, TransferPlan};
use lanebook_tables::{Atom, AtomId, Movement, OpRole, Side, Space, Tables};
use lanebook_tile::map::{Fragment, TileShape};
use lanebook_tile::tiling::Tiling;

/// Most lanes or slots of an atom.
pub(crate) const LANES: usize = 64;
/// Most bytes of a lane's or slot's share.
const SHARE: usize = 64;
/// Most bytes of a lane's share that passes through registers.
const STAGE: usize = 16;

/// What belongs to one movement.
pub(crate) struct Move<'p> {
    pub m: &'p TransferPlan,
    pub warps: u32,
    pub instances: u32,
    pub segment_align: u32,
}

/// Statements 4 to 7 of the module's page; the number of bytes followed.
#[inline(never)]
pub(crate) fn movement(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    m: &TransferPlan,
) -> Result<u64, Violation> {
    let op = m.op;
    ends(program, plan, m)?;
    combines(tables, program, plan, m)?;
    if let Some(tiled) = &m.tiled {
        return crate::memory::tma::movement(tables, program, plan, m, tiled);
    }
    let missing = Violation::Missing(op);
    let this = Move {
        m,
        warps: power(usize::from(plan.warps)).ok_or(missing)?,
        instances: power(m.tiling.instances.len())
            .and_then(|n| n.checked_mul(panels(m)?))
            .ok_or(missing)?,
        segment_align: plan.shared_align,
    };
    let fragment = |k: u16| plan.fragments.get(usize::from(k)).map(|f| &f.fragment).ok_or(missing);
    let memory = |end: End| Memory::of(plan, end).unwrap_or(Err(missing));
    let first = copy_atom(tables, op, m.atom)?;
    match (m.from, m.to, m.second) {
        (End::Registers(f), to, None) => {
            let upper = m.tiling.upper.map(|id| copy_atom(tables, op, id)).transpose()?;
            let own = (first.1, upper.map(|(_, movement)| movement));
            this.registers(plan.wave, own, false, fragment(f)?, memory(to)?, space_of(to))
        }
        (from, End::Registers(f), None) => this.registers(
            plan.wave,
            (first.1, None),
            true,
            fragment(f)?,
            memory(from)?,
            space_of(from),
        ),
        (from, to, None) => {
            this.copy(first, memory(from)?, memory(to)?, (space_of(from), space_of(to)))
        }
        (from, to, Some(second)) if m.transpose.is_some() => crate::memory::transpose::movement(
            &this,
            (first, m.atom),
            (copy_atom(tables, op, second)?, second),
            (memory(from)?, memory(to)?),
            (space_of(from), space_of(to)),
        ),
        (from, to, Some(second)) => this.pair(
            first,
            copy_atom(tables, op, second)?,
            second,
            memory(from)?,
            memory(to)?,
            (space_of(from), space_of(to)),
        ),
    }
}

/// Statement 5 for one half of an exchange, whose registers are distributed as `fragment`.
pub(crate) fn half(
    tables: &Tables<'_>,
    plan: &Plan<'_>,
    m: &TransferPlan,
    fragment: &Fragment,
    loads: bool,
) -> Result<(), Violation> {
    let op = m.op;
    let missing = Violation::Missing(op);
    let this = Move {
        m,
        warps: power(usize::from(plan.warps)).ok_or(missing)?,
        instances: power(m.tiling.instances.len())
            .and_then(|n| n.checked_mul(panels(m)?))
            .ok_or(missing)?,
        segment_align: plan.shared_align,
    };
    let end = if loads { m.from } else { m.to };
    let memory = Memory::of(plan, end).unwrap_or(Err(missing))?;
    let upper = m.tiling.upper.map(|id| copy_atom(tables, op, id)).transpose()?;
    let upper = upper.map(|(_, movement)| movement);
    this.registers(
        plan.wave,
        (copy_atom(tables, op, m.atom)?.1, upper),
        loads,
        fragment,
        memory,
        space_of(end),
    )
    .map(|_| ())
}

/// Panels of a movement's tile.
fn panels(m: &TransferPlan) -> Option<u32> {
    u32::from(m.tiling.grid.rows).checked_mul(u32::from(m.tiling.grid.cols))
}

fn copy_atom<'t>(
    tables: &Tables<'t>,
    op: Op,
    atom: AtomId,
) -> Result<(&'t Atom<'t>, &'t Movement<'t>), Violation> {
    let refuse = Violation::Atom { op, atom };
    let a = tables.atom(atom).ok_or(refuse)?;
    let m = a.movement.as_ref().ok_or(refuse)?;
    let plain =
        m.unit_bits % 8 == 0 && m.from.layout.replica.is_empty() && m.to.layout.replica.is_empty();
    if plain { Ok((a, m)) } else { Err(refuse) }
}

fn space_of(end: End) -> Space {
    match end {
        End::Registers(_) => Space::Register,
        End::Shared(_) => Space::Shared,
        End::Global(_) => Space::Global,
    }
}

/// Statement 4.
fn ends(program: &Program<'_, '_>, plan: &Plan<'_>, m: &TransferPlan) -> Result<(), Violation> {
    let op = m.op;
    let result = (program.result(op, 0), 3u8);
    let operand = |k: usize| (program.operand(op, k), u8::try_from(k).unwrap_or(u8::MAX));
    let (from, to) = match program.role(op) {
        OpRole::Load => (operand(0), result),
        _ => (operand(0), operand(1)),
    };
    for (end, (value, number)) in [(m.from, from), (m.to, to)] {
        let own: Option<Value> = match end {
            End::Registers(k) => plan.fragments.get(usize::from(k)).map(|f| f.value),
            End::Shared(k) => plan.allocs.get(usize::from(k)).map(|a| a.value),
            End::Global(k) => {
                let g = plan.globals.get(usize::from(k));
                let starts = g.is_some_and(|g| located(program, op, usize::from(number), g));
                g.filter(|_| starts).map(|g| g.memref)
            }
        };
        if own.is_none() || own != value {
            return Err(Violation::End { op, operand: number });
        }
    }
    Ok(())
}

/// Statement 4 of how memory is changed: a movement's instructions store what they move, but for an
/// atomic operation's, which does what the program says to elements of the tile's type. Each of
/// these is combined once: no two bits of lanes, warps and instances lead to the same elements, but
/// for those that lead to none. If it answers, there are none of those, and so does its
/// instruction.
#[inline(never)]
fn combines(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    m: &TransferPlan,
) -> Result<(), Violation> {
    let op = m.op;
    let wrong = Violation::End { op, operand: 1 };
    let dtype = program.operand(op, 0).and_then(|value| program.type_of(value).dtype);
    let wanted = program.atomic_op(op).zip(dtype);
    let answers = program.answer(op).is_some();
    let is_own = |atom: AtomId| {
        tables.atom(atom).is_some_and(|atom| {
            let atomic = atom.movement.and_then(|m| m.atomic);
            let has_answer = atomic.is_some_and(|atomic| atomic.old.is_some());
            atomic.map(|atomic| (atomic.op, atomic.dtype)) == wanted && (has_answer || !answers)
        })
    };
    let is_whole = m.tiled.is_none() && m.second.is_none();
    if !is_own(m.atom) || !m.second.is_none_or(is_own) || (wanted.is_some() && !is_whole) {
        return Err(wrong);
    }
    if wanted.is_none() {
        return Ok(());
    }
    let (lanes, warps) = (m.tiling.address_lanes.as_slice(), m.tiling.warps.as_slice());
    let instances = m.tiling.instances.as_slice();
    let all = || lanes.iter().chain(warps).chain(instances).copied().filter(|e| *e != 0);
    let is_once = usize::from(rank(all())) == all().count() && !instances.contains(&0);
    let is_alone = m.tiling.has_one_owner(plan.wave, plan.warps);
    if is_once && (is_alone || !answers) { Ok(()) } else { Err(wrong) }
}

/// Whether a tile starts where the program says, and its matrix is as far from the next as the type
/// or nothing says.
fn located(program: &Program<'_, '_>, op: Op, number: usize, g: &GlobalPlan) -> bool {
    // A place that is written twice is the same one.
    let same =
        |a: Value, b: Value| a == b || program.int(a).is_some_and(|n| program.int(b) == Some(n));
    let mut written = program.subscripts(op, number);
    let all = g.starts().all(|start| written.next().is_some_and(|value| same(value, start)));
    let shape = program.type_of(g.memref).shape;
    // From the innermost dimension outwards: the bytes of all of what lies inside.
    let mut inside = Some(u32::from(g.map.shape.bits / 8));
    let mut sizes = g.starts().count() == shape.rank();
    for dim in (1..shape.rank()).rev() {
        inside = inside.and_then(|bytes| bytes.checked_mul(shape.extent(dim)?));
        let outer = dim.saturating_sub(1);
        let found = match g.leads().nth(outer) {
            Some(lead) => lead.bytes,
            None => g.map.outer_bytes,
        };
        sizes = sizes && found == inside;
    }
    let indexed = program.indexed_dim(op);
    // Indices say where rows lie that have no dimension.
    let has_rows = g.map.shape.row_count() != 1 && indexed.is_none();
    // One row is cut into parts where the memref says so, and nowhere else.
    let is_far = program.value_attr(g.memref, lanebook_ir::attr_names::FAR).is_some();
    let is_row = shape.rank() == 1 || is_far;
    let one_row = match g.start.0 {
        Some(_) => !is_far,
        None => is_row && g.map.outer_bytes == Some(0) && !has_rows,
    };
    g.indexed == indexed
        && indexed.is_none_or(|dim| usize::from(dim) < shape.rank())
        && all
        && written.next().is_none()
        && sizes
        && one_row
}

/// Coordinates of an atom, and bytes of one.
pub(crate) fn coordinates(m: &Movement<'_>) -> Option<(u64, u32)> {
    let mut count = 1u64;
    for &extent in m.extents {
        count = count.checked_mul(u64::from(extent))?;
    }
    if count > 4096 { None } else { Some((count, u32::from(m.unit_bits) / 8)) }
}

/// Whether a coordinate stands at the second place of its slot; `None` if there are more than two.
pub(crate) fn second_place(side: &Side<'_>, x: u64) -> Option<bool> {
    match side.layout.offset_on(x, AxisId::PLACE).ok()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// Which bytes of each lane or slot have been touched.
pub(crate) struct TouchedBytes(pub [u64; LANES]);

impl TouchedBytes {
    pub(crate) fn add(&mut self, op: Op, lane: u32, byte: u32) -> Result<(), Violation> {
        let number = u8::try_from(lane).unwrap_or(u8::MAX);
        let bit = 1u64.checked_shl(byte).unwrap_or(0);
        let outside = Violation::Share { op, lane: number, found: bit, want: 0 };
        let mask = self.0.get_mut(lane as usize).ok_or(outside)?;
        if bit == 0 || *mask & bit != 0 {
            return Err(Violation::Share { op, lane: number, found: *mask, want: *mask & !bit });
        }
        *mask |= bit;
        Ok(())
    }

    /// The first `lanes` have `want` and the others nothing.
    fn all(&self, op: Op, lanes: u32, want: u64) -> Result<(), Violation> {
        for (lane, &found) in (0u32..).zip(&self.0) {
            let want = if lane < lanes { want } else { 0 };
            if found != want {
                return Err(Violation::Share {
                    op,
                    lane: u8::try_from(lane).unwrap_or(u8::MAX),
                    found,
                    want,
                });
            }
        }
        Ok(())
    }
}

/// The lowest `n` bits.
fn low(n: u32) -> u64 {
    1u64.checked_shl(n).unwrap_or(0).wrapping_sub(1)
}

pub(crate) fn byte(v: u32) -> u8 {
    u8::try_from(v).unwrap_or(u8::MAX)
}

/// A spot in a slot's share.
#[derive(Copy, Clone)]
struct Spot {
    slot: u32,
    byte: u32,
}

impl Move<'_> {
    fn refuse(&self, atom: AtomId) -> Violation {
        Violation::Atom { op: self.m.op, atom }
    }

    /// An instance's number taken apart: in its panel, and which panel comes when.
    fn parts(&self, instance: u32) -> Option<(u32, u32)> {
        let inside = power(self.m.tiling.instances.len())?;
        Some((instance.checked_rem(inside)?, instance.checked_div(inside)?))
    }

    /// `E(s, w, i)`.
    fn element(
        &self,
        shape: TileShape,
        slot: u32,
        warp: u32,
        instance: u32,
    ) -> Result<u32, Violation> {
        let tiling = &self.m.tiling;
        let outside = Violation::Element {
            op: self.m.op,
            warp: byte(warp),
            lane: byte(slot),
            element: u32::MAX,
        };
        let (inside, index) = self.parts(instance).ok_or(outside)?;
        let parts = pick(tiling.address_lanes.as_slice(), slot)
            .zip(pick(tiling.warps.as_slice(), warp))
            .zip(pick(tiling.instances.as_slice(), inside));
        let start = nth_panel(shape, tiling.by_rows, index)
            .and_then(|panel| panel.checked_mul(panel_size(shape)?));
        parts
            .zip(start)
            .and_then(|(((s, w), i), start)| start.checked_add(s ^ w ^ i))
            .ok_or(outside)
    }

    /// The number of the first register of an instance.
    fn register(&self, instance: u32) -> Option<u32> {
        let (inside, index) = self.parts(instance)?;
        let tiling = &self.m.tiling;
        let halves = usize::from(tiling.upper.is_some());
        let bits = tiling.tuple.len().checked_add(tiling.instance_registers.len())?;
        let panel = power(bits.checked_sub(halves)?)?;
        let whole = (0..).zip(tiling.instance_registers.as_slice()).skip(halves);
        let mut register = whole.filter(|(bit, _)| inside.wrapping_shr(*bit) & 1 == 1);
        let first = register
            .try_fold(0u32, |sum, (_, place)| sum.checked_add(power(usize::from(*place))?))?;
        first.checked_add(index.checked_mul(panel)?)
    }

    /// `M(E)` of the first or the second place of a slot, which must be aligned.
    pub(crate) fn address(
        &self,
        memory: &Memory<'_>,
        side: &Side<'_>,
        (slot, second): (u32, bool),
        warp: u32,
        instance: u32,
    ) -> Result<(u32, Position), Violation> {
        let op = self.m.op;
        let element = self.element(memory.shape(), slot, warp, instance)?
            ^ if second { self.m.tiling.second } else { 0 };
        let at = memory.at(element).ok_or(Violation::Element {
            op,
            warp: byte(warp),
            lane: byte(slot),
            element,
        })?;
        let need = u32::from(side.align_bytes).max(1);
        let (certain, whole) = match memory {
            Memory::Shared(a) => (self.segment_align, a.offset.checked_add(at.byte)),
            Memory::Global(g, _) => (g.align, Some(at.byte)),
        };
        for at in [certain, whole.unwrap_or(u32::MAX)] {
            if at.checked_rem(need) != Some(0) {
                return Err(Violation::Alignment {
                    op,
                    warp: byte(warp),
                    slot: byte(slot),
                    need,
                    at,
                });
            }
        }
        Ok((element, at))
    }

    pub(crate) fn same(
        &self,
        warp: u32,
        lane: u32,
        bit: u32,
        want: Option<Position>,
        found: Option<Position>,
        element: u32,
    ) -> Result<(), Violation> {
        let (op, warp, lane) = (self.m.op, byte(warp), byte(lane));
        let (Some(want), Some(found)) = (want, found) else {
            return Err(Violation::Element { op, warp, lane, element });
        };
        if want == found {
            return Ok(());
        }
        Err(Violation::Byte {
            op,
            warp,
            lane,
            bit: u16::try_from(bit).unwrap_or(u16::MAX),
            want,
            found,
        })
    }

    /// Statement 5.
    fn registers(
        &self,
        wave: u8,
        (mv, upper): (&Movement<'_>, Option<&Movement<'_>>),
        load: bool,
        f: &Fragment,
        memory: Memory<'_>,
        space: Space,
    ) -> Result<u64, Violation> {
        let (op, tiling) = (self.m.op, &self.m.tiling);
        let refuse = self.refuse(self.m.atom);
        let (inside, outside) = if load { (&mv.to, &mv.from) } else { (&mv.from, &mv.to) };
        let other = upper.map(|mv| (&mv.from, &mv.to));
        let ends = other.map(|(inside, outside)| (inside.space, outside.space));
        if inside.space != Space::Register
            || outside.space != space
            || ends.is_some_and(|ends| ends != (Space::Register, space))
            || upper.is_some_and(|upper| coordinates(upper) != coordinates(mv))
            || upper.is_some() != tiling.upper.is_some()
            || memory.shape() != f.shape
            || element_bytes(f.shape).is_none()
            || tiling.grid != f.shape.grid
        {
            return Err(refuse);
        }
        let bits = place_bits(f)
            .checked_mul(power(f.register.as_slice().len()).ok_or(refuse)?)
            .ok_or(refuse)?;
        let want = bits.div_ceil(32).checked_sub(1).ok_or(refuse)?;
        let mut found = 0u32;
        let halves = usize::from(tiling.upper.is_some());
        let whole = tiling.instance_registers.as_slice().get(halves..).unwrap_or_default();
        let alike = tiling.upper.is_none()
            || tiling.instance_registers.get(0) == Some(Tiling::HALF)
                && !load
                && !f.unpacked
                && f.shape.bits == 16;
        if !alike {
            return Err(refuse);
        }
        for &weight in tiling.tuple.as_slice().iter().chain(whole) {
            let bit = power(usize::from(weight)).unwrap_or(0);
            if found & bit != 0 || bit == 0 {
                return Err(Violation::Registers { op, found: found ^ bit, want });
            }
            found |= bit;
        }
        if found != want || tiling.instances.len() != tiling.instance_registers.len() {
            return Err(Violation::Registers { op, found, want });
        }
        let mut touched = TouchedBytes([0; LANES]);
        // Instances of even numbers are of the one, those of odd ones of the other.
        let mut followed = 0u64;
        for (own, first) in [Some((inside, outside)), other].into_iter().flatten().zip(0u32..) {
            let step = power(halves).ok_or(refuse)?;
            let count = coordinates(mv).ok_or(refuse)?;
            let all = (first..self.instances).step_by(step as usize);
            let more = self.follow(f, (own, count), &memory, all, &mut touched)?;
            followed = followed.saturating_add(more);
        }
        let tuple = power(tiling.tuple.len()).and_then(|n| n.checked_mul(4)).ok_or(refuse)?;
        if tuple as usize > SHARE {
            return Err(refuse);
        }
        // Of a register that an element has to itself, the element's bytes.
        let alone = || {
            let registers = (0..tuple / 4).map(|k| k.saturating_mul(4));
            registers.fold(0, |all, at| all | low(u32::from(f.shape.bits) / 8) << at)
        };
        let want = if f.unpacked { alone() } else { low(tuple.min(bits / 8)) };
        touched.all(op, power(usize::from(wave)).ok_or(refuse)?, want)?;
        Ok(followed)
    }

    /// The bytes of some instances of one atom, in registers and in memory.
    fn follow(
        &self,
        f: &Fragment,
        ((inside, outside), (count, unit)): ((&Side<'_>, &Side<'_>), (u64, u32)),
        memory: &Memory<'_>,
        instances: impl Iterator<Item = u32> + Clone,
        touched: &mut TouchedBytes,
    ) -> Result<u64, Violation> {
        let (op, tiling) = (self.m.op, &self.m.tiling);
        let refuse = self.refuse(self.m.atom);
        let mut followed = 0u64;
        for x in 0..count {
            let (lane, first_bit) = spot(inside, x, AxisId::LANE, AxisId::BIT).ok_or(refuse)?;
            let (slot, first_byte) = spot(outside, x, AxisId::SLOT, AxisId::BYTE).ok_or(refuse)?;
            let second = second_place(outside, x).ok_or(refuse)?;
            for u in 0..unit {
                let bit = u.checked_mul(8).and_then(|b| b.checked_add(first_bit)).ok_or(refuse)?;
                let y = first_byte.checked_add(u).ok_or(refuse)?;
                touched.add(op, lane, bit / 8)?;
                for w in 0..self.warps {
                    for i in instances.clone() {
                        let number = weigh(&tiling.tuple, bit / 32)
                            .zip(self.register(i))
                            .and_then(|(a, b)| a.checked_add(b));
                        let place = number
                            .and_then(|n| n.checked_mul(32))
                            .and_then(|n| n.checked_add(bit % 32))
                            .ok_or(refuse)?;
                        let nothing = Violation::Element {
                            op,
                            warp: byte(w),
                            lane: byte(lane),
                            element: u32::MAX,
                        };
                        let (e, t) = held(f, place, lane, w).ok_or(nothing)?;
                        let (_, at) = self.address(memory, outside, (slot, second), w, i)?;
                        let want = memory.at(e).and_then(|p| p.plus(t));
                        self.same(w, lane, place, want, at.plus(y), e)?;
                        followed = followed.saturating_add(1);
                    }
                }
            }
        }
        Ok(followed)
    }

    /// Statement 6 for one byte of one share, over all warps and instances.
    fn carry(
        &self,
        from: (&Memory<'_>, &Side<'_>, Spot),
        to: (&Memory<'_>, &Side<'_>, Spot),
    ) -> Result<u64, Violation> {
        let (source, source_side, s) = from;
        let (target, target_side, d) = to;
        let refuse = self.refuse(self.m.atom);
        let size = element_bytes(source.shape()).ok_or(refuse)?;
        let step = s.byte.checked_div(size).and_then(|k| source.inner(k)).ok_or(refuse)?;
        let t = s.byte.checked_rem(size).ok_or(refuse)?;
        for w in 0..self.warps {
            for i in 0..self.instances {
                let (element, at) = self.address(source, source_side, (s.slot, false), w, i)?;
                let e = element ^ step;
                self.same(
                    w,
                    s.slot,
                    s.byte.saturating_mul(8),
                    source.at(e).and_then(|p| p.plus(t)),
                    at.plus(s.byte),
                    e,
                )?;
                let (_, at) = self.address(target, target_side, (d.slot, false), w, i)?;
                self.same(
                    w,
                    d.slot,
                    d.byte.saturating_mul(8),
                    target.at(e).and_then(|p| p.plus(t)),
                    at.plus(d.byte),
                    e,
                )?;
            }
        }
        Ok(u64::from(self.warps).saturating_mul(u64::from(self.instances)))
    }

    /// Slots, warps, instances and the share enumerate the tile.
    pub(crate) fn covers(
        &self,
        memory: &Memory<'_>,
        touched: &TouchedBytes,
    ) -> Result<(), Violation> {
        let (op, tiling, shape) = (self.m.op, &self.m.tiling, memory.shape());
        let refuse = self.refuse(self.m.atom);
        let mask = touched.0.first().copied().unwrap_or(0);
        let share = mask.trailing_ones();
        let elements = share.checked_div(element_bytes(shape).ok_or(refuse)?).unwrap_or(0);
        if !elements.is_power_of_two() || mask != low(share) {
            return Err(Violation::Share { op, lane: 0, found: mask, want: low(share) });
        }
        touched.all(op, power(tiling.address_lanes.len()).ok_or(refuse)?, mask)?;
        let inner_bits = elements.trailing_zeros();
        let inner = (0..inner_bits).filter_map(|k| memory.inner(1u32.checked_shl(k)?));
        let columns = || {
            tiling
                .address_lanes
                .as_slice()
                .iter()
                .chain(tiling.warps.as_slice())
                .chain(tiling.instances.as_slice())
                .copied()
        };
        let dealt = columns().count().saturating_add(inner_bits as usize);
        let rank = rank(columns().chain(inner));
        let want = shape.rows.saturating_add(shape.cols);
        // A bit of the warp's or the lane's number that moves nothing repeats what the others do.
        let copies = tiling
            .warps
            .as_slice()
            .iter()
            .chain(tiling.address_lanes.as_slice())
            .filter(|&&c| c == 0)
            .count();
        let dealt = dealt.saturating_sub(copies);
        if dealt == usize::from(want) && rank == want && tiling.grid == shape.grid {
            Ok(())
        } else {
            Err(Violation::Coverage {
                op,
                dealt: u8::try_from(dealt).unwrap_or(u8::MAX),
                rank,
                want,
            })
        }
    }

    /// Statement 6 for one atom.
    fn copy(
        &self,
        (_, mv): (&Atom<'_>, &Movement<'_>),
        source: Memory<'_>,
        target: Memory<'_>,
        spaces: (Space, Space),
    ) -> Result<u64, Violation> {
        let refuse = self.refuse(self.m.atom);
        if (mv.from.space, mv.to.space) != spaces || source.shape() != target.shape() {
            return Err(refuse);
        }
        let (count, unit) = coordinates(mv).ok_or(refuse)?;
        let (mut read, mut written) = (TouchedBytes([0; LANES]), 0u64);
        for x in 0..count {
            let (s, y) = spot(&mv.from, x, AxisId::SLOT, AxisId::BYTE).ok_or(refuse)?;
            let (d, z) = spot(&mv.to, x, AxisId::SLOT, AxisId::BYTE).ok_or(refuse)?;
            for u in 0..unit {
                let from = Spot { slot: s, byte: y.checked_add(u).ok_or(refuse)? };
                let to = Spot { slot: d, byte: z.checked_add(u).ok_or(refuse)? };
                read.add(self.m.op, from.slot, from.byte)?;
                written = written
                    .saturating_add(self.carry((&source, &mv.from, from), (&target, &mv.to, to))?);
            }
        }
        self.covers(&source, &read)?;
        Ok(written)
    }

    /// Statement 6 for two atoms.
    fn pair(
        &self,
        (_, load): (&Atom<'_>, &Movement<'_>),
        (_, store): (&Atom<'_>, &Movement<'_>),
        second: AtomId,
        source: Memory<'_>,
        target: Memory<'_>,
        spaces: (Space, Space),
    ) -> Result<u64, Violation> {
        let refuse = self.refuse(self.m.atom);
        let joined = load.to.space == Space::Register && store.from.space == Space::Register;
        if !joined
            || (load.from.space, store.to.space) != spaces
            || source.shape() != target.shape()
        {
            return Err(refuse);
        }
        let mut stage = [[None::<(u8, u8)>; STAGE]; LANES];
        let mut read = TouchedBytes([0; LANES]);
        let (count, unit) = coordinates(load).ok_or(refuse)?;
        // Behind one address for the whole wave each lane has a share of its own.
        let has_slots = load.from.layout.axes().is_ok_and(|axes| axes.contains(&AxisId::SLOT));
        for x in 0..count {
            let (s, y) = spot(&load.from, x, AxisId::SLOT, AxisId::BYTE).ok_or(refuse)?;
            let (lane, bit) = spot(&load.to, x, AxisId::LANE, AxisId::BIT).ok_or(refuse)?;
            for u in 0..unit {
                let y = y.checked_add(u).ok_or(refuse)?;
                let (row, at) = if has_slots {
                    (s, y)
                } else {
                    (lane, (bit / 8).checked_add(u).ok_or(refuse)?)
                };
                read.add(self.m.op, row, at)?;
                let place = stage
                    .get_mut(lane as usize)
                    .and_then(|l| l.get_mut((bit / 8).checked_add(u)? as usize))
                    .ok_or(refuse)?;
                *place = Some((byte(s), byte(y)));
            }
        }
        self.covers(&source, &read)?;
        let refuse = self.refuse(second);
        let mut written = 0u64;
        let (count, unit) = coordinates(store).ok_or(refuse)?;
        for x in 0..count {
            let (lane, bit) = spot(&store.from, x, AxisId::LANE, AxisId::BIT).ok_or(refuse)?;
            let (d, z) = spot(&store.to, x, AxisId::SLOT, AxisId::BYTE).ok_or(refuse)?;
            for u in 0..unit {
                let place = stage
                    .get_mut(lane as usize)
                    .and_then(|l| l.get_mut((bit / 8).checked_add(u)? as usize))
                    .ok_or(refuse)?;
                // Taken out, so that a byte stored twice, or never loaded, is refused.
                let missing = Violation::Share {
                    op: self.m.op,
                    lane: byte(lane),
                    found: 0,
                    want: 1u64.checked_shl(bit / 8).unwrap_or(0),
                };
                let (s, y) = place.take().ok_or(missing)?;
                let from = Spot { slot: u32::from(s), byte: u32::from(y) };
                let to = Spot { slot: d, byte: z.checked_add(u).ok_or(refuse)? };
                written = written.saturating_add(
                    self.carry((&source, &load.from, from), (&target, &store.to, to))?,
                );
            }
        }
        for (lane, l) in (0u32..).zip(&stage) {
            if l.iter().any(Option::is_some) {
                return Err(Violation::Share {
                    op: self.m.op,
                    lane: byte(lane),
                    found: 1,
                    want: 0,
                });
            }
        }
        Ok(written)
    }
}
