//! Evaluation: one movement, one atom, one shared layout: legal or not, and what it costs.

use crate::copy_atom::CopyAtom;
use crate::divide::{CopyWorkers, divide_copy, fit_registers};
use crate::map::{BankAccess, BitMatrix, Column, Combine, Fragment, MemoryMap, count_within};
use crate::offset::{MOST_KEYS, offset_field, pair_keys, reach, varying};
use crate::tiling::{Figures, Reject, Tiling};
use lanebook_layout::AxisId;
use lanebook_tables::{
    Arch, Atom, ClassId, Isa, Operand, RegisterKind, Role, Side, Space, Status, Tables, TupleStyle,
    Weights,
};

/// One end of a movement, with its map.
#[derive(Copy, Clone, Debug)]
pub enum EndMap<'p> {
    /// Registers.
    Registers(&'p Fragment),
    /// Shared memory: map and certain alignment of the tile's start.
    Shared(&'p MemoryMap, u32),
    /// Global memory: map, certain alignment, and where the tensor has bounds, so many bytes of a
    /// row that are certainly all inside of them or all outside.
    Global(&'p MemoryMap, u32, Option<u32>),
}

impl EndMap<'_> {
    /// The space.
    pub fn space(&self) -> Space {
        match self {
            Self::Registers(_) => Space::Register,
            Self::Shared(..) => Space::Shared,
            Self::Global(..) => Space::Global,
        }
    }

    fn memory(&self) -> Option<(&MemoryMap, u32)> {
        match self {
            Self::Registers(_) => None,
            Self::Shared(map, align) | Self::Global(map, align, _) => Some((map, *align)),
        }
    }
}

/// What holds for all movements of a program.
#[derive(Copy, Clone)]
pub struct TargetInfo<'t> {
    /// Tables.
    pub tables: &'t Tables<'t>,
    /// Architecture.
    pub arch: &'t Arch<'t>,
    /// Its instruction set.
    pub isa: &'t Isa<'t>,
    /// log2 of the wave.
    pub wave: u8,
    /// log2 of the warps.
    pub warps: u8,
    /// Tiles are stored as they are held: lanes and warps that hold the same element all store it, to
    /// one place, and elements in halves of registers go one by one.
    pub as_held: bool,
}

/// A legal candidate.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// Decomposition.
    pub tiling: Tiling,
    /// Figures.
    pub figures: Figures,
    /// Status of the bank model.
    pub bank_status: Option<Status>,
}

impl<'t> TargetInfo<'t> {
    /// Evaluates one copy atom for one movement. `limit`: a candidate that cannot cost less than
    /// this is [`Reject::Dearer`].
    pub fn evaluate(
        &self,
        copy_atom: &CopyAtom,
        from: EndMap<'_>,
        to: EndMap<'_>,
        limit: u32,
    ) -> Result<Evaluated, Reject> {
        let atom = self.tables.atom(copy_atom.atom).ok_or(Reject::Form)?;
        let movement = atom.movement.as_ref().ok_or(Reject::Form)?;
        let guarded = self.guarded(copy_atom, atom, (from, to))?;
        let any = self.isa.tuples == TupleStyle::Braces;
        let tiling = match (from, to) {
            (EndMap::Registers(fragment), other) => {
                let (map, align) = other.memory().ok_or(Reject::Form)?;
                fit_registers(
                    copy_atom,
                    fragment,
                    map,
                    u32::from(movement.to.align_bytes),
                    align,
                    any,
                    self.as_held,
                )?
            }
            (other, EndMap::Registers(fragment)) => {
                let (map, align) = other.memory().ok_or(Reject::Form)?;
                fit_registers(
                    copy_atom,
                    fragment,
                    map,
                    u32::from(movement.from.align_bytes),
                    align,
                    any,
                    self.as_held,
                )?
            }
            (a, b) => {
                let ((from_map, from_align), (to_map, to_align)) =
                    (a.memory().ok_or(Reject::Form)?, b.memory().ok_or(Reject::Form)?);
                let need =
                    (u32::from(movement.from.align_bytes), u32::from(movement.to.align_bytes));
                let workers = CopyWorkers {
                    wave: self.wave,
                    warps: self.warps,
                    segment_bytes: self.tables.weights.segment_bytes,
                };
                divide_copy(copy_atom, from_map, to_map, workers, need, (from_align, to_align))?
            }
        };
        let (figures, bank_status) = self.figures(
            copy_atom,
            (atom, guarded),
            &tiling,
            [(&movement.from, from), (&movement.to, to)],
            limit,
        )?;
        Ok(Evaluated { tiling, figures, bank_status })
    }

    /// Instructions that keep one of an atom to the lanes inside of the bounds of a tensor: what
    /// tells which they are, what stands around it, and what fills the registers of the others.
    #[inline(never)] // Before what is counted, not below it.
    fn guarded(
        &self,
        copy_atom: &CopyAtom,
        atom: &Atom<'_>,
        (from, to): (EndMap<'_>, EndMap<'_>),
    ) -> Result<u32, Reject> {
        let (EndMap::Global(.., Some(whole)), other, loads) = (match (from, to) {
            (EndMap::Global(..), to) => (from, to, true),
            (from, to) => (to, from, false),
        }) else {
            return if copy_atom.is_sized { Err(Reject::Form) } else { Ok(0) };
        };
        let too_wide = (copy_atom.share_bytes > whole)
            .then_some(Reject::Bounds { share: copy_atom.share_bytes, whole });
        if copy_atom.is_sized && loads {
            // The bytes that are read are a bit of the word, moved and kept.
            return too_wide.map_or(Ok(self.tables.weights.bound_steps.saturating_add(2)), Err);
        }
        let guard = self.isa.guard.ok_or(Reject::Unguarded)?;
        let (EndMap::Registers(_), Some(movement)) = (other, atom.movement.as_ref()) else {
            return Err(Reject::Unguarded);
        };
        // Each lane must move what stands at its own address, and all of its registers.
        let operand = atom.operands.get(usize::from(if loads {
            movement.to.operand
        } else {
            movement.from.operand
        }));
        let Some(operand) = operand.filter(|o| o.role != Role::UseDef && !o.implicit) else {
            return Err(Reject::Unguarded);
        };
        if movement.crosses_lanes {
            return Err(Reject::Unguarded);
        }
        if let Some(why) = too_wide {
            return Err(why);
        }
        let filled = if loads { u32::from(operand.registers) } else { 0 };
        Ok(self
            .tables
            .weights
            .bound_steps
            .saturating_add(u32::from(guard.issue))
            .saturating_add(filled))
    }

    /// Registers of one address of a side.
    fn address_width(atom: &Atom<'_>, side: &Side<'_>) -> u32 {
        atom.operands.get(usize::from(side.operand)).map_or(1, |o| u32::from(o.registers.max(1)))
    }

    fn figures(
        &self,
        copy_atom: &CopyAtom,
        (atom, guarded): (&Atom<'_>, u32),
        tiling: &Tiling,
        sides: [(&Side<'_>, EndMap<'_>); 2],
        limit: u32,
    ) -> Result<(Figures, Option<Status>), Reject> {
        let mut out = Figures { count: tiling.count(), ..Figures::default() };
        let mut status = None;
        let slots = if copy_atom.is_fixed { BitMatrix::new() } else { tiling.address_lanes };
        for ((side, end), is_from) in sides.into_iter().zip([true, false]) {
            let map = match end {
                EndMap::Registers(fragment) => {
                    out.registers = u32::from(fragment.registers());
                    continue;
                }
                EndMap::Shared(map, _) => map,
                EndMap::Global(map, ..) => {
                    out.segments = segments(
                        map,
                        &slots,
                        u32::from(side.slot_bytes),
                        self.tables.weights.segment_bytes,
                    );
                    map
                }
            };
            let further = match &copy_atom.pair {
                Some(pair) => pair_keys(map, tiling, pair).ok_or(Reject::Size)?.saturating_sub(1),
                None => {
                    let movement = atom.movement.as_ref();
                    let field = movement.and_then(|of| offset_field(of, is_from, 0));
                    further(map, tiling, field.map_or(1, reach))
                }
            };
            let keys = further.saturating_add(1);
            let most = u32::try_from(MOST_KEYS).unwrap_or(u32::MAX);
            if keys > most {
                return Err(Reject::Addresses { addresses: keys, most });
            }
            // The first address costs as many registers as one address has; one is free in the
            // comparison.
            let width = Self::address_width(atom, side);
            out.further_addresses = out
                .further_addresses
                .saturating_add(further.saturating_add(1).saturating_mul(width))
                .saturating_sub(1);
        }
        // Conflicts only add to the cost: count them for candidates that still have a chance, and
        // no further than they have one.
        let (plain, each) = (
            self.cost(&out, atom, guarded),
            self.tables.weights.shared_transaction.saturating_mul(out.count),
        );
        if plain >= limit {
            return Err(Reject::Dearer);
        }
        let most = limit
            .saturating_sub(plain)
            .saturating_sub(1)
            .checked_div(each)
            .filter(|_| limit < u32::MAX)
            .unwrap_or(u32::MAX);
        for (side, end) in sides {
            let EndMap::Shared(map, _) = end else { continue };
            let Some(model) = self.arch.banks.iter().find(|m| m.name == side.banks) else {
                continue;
            };
            let conflicts = if copy_atom.uniform {
                // One consecutive run, all of it behind one address: as many passes as the banks
                // need for its bytes.
                let span =
                    u32::from(model.banks).saturating_mul(u32::from(model.bank_bytes)).max(1);
                let passes = u32::from(side.slot_bytes).div_ceil(span);
                crate::map::Conflicts { transactions: passes, least: passes }
            } else {
                let access = BankAccess { slots: &slots, slot_bytes: side.slot_bytes, kept: 0 };
                count_within(map, access, model, most).ok_or(Reject::Size)?
            };
            // Each place of a slot is an access of its own.
            let accesses = if copy_atom.pair.is_some() { 2 } else { 1 };
            let all = |one: u32| one.saturating_mul(accesses);
            out.conflicts.transactions =
                out.conflicts.transactions.saturating_add(all(conflicts.transactions));
            out.conflicts.least = out.conflicts.least.saturating_add(all(conflicts.least));
            status = Some(model.status);
        }
        out.cost = self.cost(&out, atom, guarded);
        if out.cost >= limit { Err(Reject::Dearer) } else { Ok((out, status)) }
    }

    /// `guarded`: instructions beside each of the atom.
    fn cost(&self, f: &Figures, atom: &Atom<'_>, guarded: u32) -> u32 {
        let w: &Weights = &self.tables.weights;
        let each = w
            .instruction
            .saturating_mul(u32::from(atom.cost.issue).saturating_add(guarded))
            .saturating_add(w.shared_transaction.saturating_mul(f.conflicts.transactions))
            .saturating_add(w.global_segment.saturating_mul(f.segments));
        each.saturating_mul(f.count)
            .saturating_add(w.address.saturating_mul(f.further_addresses))
            .saturating_add(w.register.saturating_mul(f.registers))
    }
}

/// Whether the addresses of an atom are such as are made here: in shared memory a word a slot or,
/// for the whole wave, one in a scalar or special register; in global memory 64 bits a slot, or a
/// word a slot behind 64 bits for the whole wave, or 64 bits for the whole wave. Descriptors in
/// registers are not made.
#[must_use]
pub fn is_addressable(isa: &Isa<'_>, atom: &Atom<'_>) -> bool {
    let Some(movement) = atom.movement.as_ref() else { return false };
    [&movement.from, &movement.to].into_iter().all(|side| {
        let width = match (side.space, side.base) {
            (Space::Register, _) => return true,
            (Space::Shared, None) => 32,
            (Space::Global, Some(_)) => 32,
            (Space::Global, None) => 64,
            (Space::Shared, Some(_)) | (Space::Tensor, _) => return false,
        };
        let has_slots = side.layout.axes().is_ok_and(|axes| axes.contains(&AxisId::SLOT));
        let bits = |operand: &Operand<'_>| {
            let class = isa.classes.get(operand.class.index())?;
            Some(u16::from(operand.registers).saturating_mul(class.bits))
        };
        let takes = |operand: &Operand<'_>, wanted: RegisterKind| {
            let of = |class: ClassId| isa.classes.get(class.index()).map(|class| class.kind);
            of(operand.class) == Some(wanted)
                || operand.also.iter().any(|class| of(*class) == Some(wanted))
        };
        let base = side.base.map(|base| atom.operands.get(usize::from(base)));
        let Some(operand) = atom.operands.get(usize::from(side.operand)) else { return false };
        let uniform = !has_slots
            && (operand.implicit && takes(operand, RegisterKind::Special)
                || isa.make_uniform.is_some() && takes(operand, RegisterKind::Scalar));
        base.is_none_or(|base| base.and_then(bits) == Some(64))
            && bits(operand) == Some(width)
            && (takes(operand, RegisterKind::Vector) || uniform && base.is_none())
    })
}

/// Address registers beyond the first: distinct combinations of swizzle phase and outer step among
/// the instances. Outer steps of known bytes cost none within the field's reach.
#[inline(never)] // Its list leaves the stack before conflicts are counted.
fn further(map: &MemoryMap, tiling: &Tiling, reach: u32) -> u32 {
    let mask = varying(map, tiling);
    let is_far = |c: Column| {
        c.lead != 0
            && (c.lead & mask.lead != 0 || map.known_bytes(c).is_none_or(|bytes| bytes >= reach))
    };
    let mut basis: BitMatrix<u32, 12> = BitMatrix::new();
    for &e in tiling.instances.as_slice() {
        let c = map.at(e);
        let phase = if map.combine == Combine::Xor { c.bytes & mask.bytes } else { 0 };
        // Outer steps live above the bytes' 32 bits: fold them to one flag, each bit of an instance
        // number is its own step.
        if (phase != 0 || is_far(c)) && !basis.push(phase | u32::from(c.lead != 0)) {
            break;
        }
    }
    let mut keys = 1u32.checked_shl(basis.len() as u32).unwrap_or(u32::MAX);
    for (panels, column) in [(tiling.grid.rows, map.panels.0), (tiling.grid.cols, map.panels.1)] {
        if is_far(column) {
            keys = keys.saturating_mul(u32::from(panels));
        }
    }
    keys.saturating_sub(1)
}

/// Segments of `bytes` that the lanes of one instruction touch, rows a run-time stride apart
/// counted apart.
#[inline(never)] // Its list leaves the stack before conflicts are counted.
fn segments(map: &MemoryMap, slots: &BitMatrix<u32, 6>, slot_bytes: u32, bytes: u32) -> u32 {
    let mut run = slot_bytes.max(1);
    let mut groups = 1u32;
    let mut columns: BitMatrix<u32, 6> = BitMatrix::new();
    for &e in slots.as_slice() {
        let c = map.at(e);
        if c.lead != 0 {
            groups = groups.saturating_mul(2);
        } else if c.bytes != 0 && !columns.push(c.bytes) {
            break;
        }
    }
    // Ascending columns lengthen the run while they are no longer than it; larger ones start new
    // runs.
    let mut last = 0u32;
    for _ in 0..columns.len() {
        let next = columns.as_slice().iter().copied().filter(|&c| c > last).min();
        let Some(column) = next else { break };
        if column <= run {
            run = run.saturating_add(column);
        } else {
            groups = groups.saturating_mul(2);
        }
        last = column;
    }
    groups.saturating_mul(
        run.saturating_add(bytes.saturating_sub(1)).checked_div(bytes).unwrap_or(run),
    )
}
