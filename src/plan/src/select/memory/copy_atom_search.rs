//! The cheapest way to do one movement: an atom from end to end, two through registers, or a copy
//! through a tensor map.

use crate::data::{GlobalPlan, PlanError, Unatomic, Unstaged};
use crate::select::memory::copy_bound::CopyBound;
use crate::select::memory::tma::TensorMapCopies;
use crate::select::planner::WantedAtom;
use crate::select::planner::{Best, CopyEnd, CopyOp, Planner, RejectedAtoms, Staged};
use lanebook_ir::Op;
use lanebook_tables::{AtomId, OpRole, Role, Space};
use lanebook_tile::copy_atom::{CopyAtom, ViableAtoms};
use lanebook_tile::evaluate::{EndMap, Evaluated, TargetInfo};
use lanebook_tile::map::MemoryMap;
use lanebook_tile::tiling::{RegisterTranspose, Reject};

/// A way to do a movement.
#[derive(Copy, Clone)]
pub(super) struct CopyForm {
    /// The atom.
    pub atom: AtomId,
    /// The one behind it, where it goes through registers.
    pub second: Option<AtomId>,
    /// What is transposed between the two.
    pub transpose: Option<RegisterTranspose>,
}

/// A search for the cheapest way to do a movement.
pub(super) struct AtomSearch<'s> {
    pub movement: &'s CopyOp,
    /// What costs so much cannot win.
    cap: u32,
    /// Everything is priced in full, and what loses stands here.
    record: Option<&'s mut RejectedAtoms>,
    best: Option<Best>,
    /// A way was dropped for its cost.
    capped: bool,
    /// Why the way that came closest failed.
    closest: Option<Reject>,
}

impl AtomSearch<'_> {
    /// What a way has to cost less than.
    pub(super) fn limit(&self) -> u32 {
        match (&self.record, &self.best) {
            (Some(_), _) => u32::MAX,
            (None, Some(best)) => best.found.figures.cost,
            (None, None) => self.cap,
        }
    }

    /// Whether a copy through a tensor map has to say why it fails: what others say is worth more.
    fn wants_reason(&self) -> bool {
        self.record.is_some() || self.closest.is_none()
    }

    /// Takes a way if it is cheaper than those before it; whether it was.
    pub(super) fn consider(&mut self, way: CopyForm, outcome: Result<Evaluated, Reject>) -> bool {
        let CopyForm { atom, second, transpose } = way;
        let found = match outcome {
            Ok(found) => found,
            Err(why) => {
                self.capped |= why == Reject::Dearer;
                if self.closest.is_none_or(|c| nearness(why) > nearness(c)) {
                    self.closest = Some(why);
                }
                self.lose(way, why, 0);
                return false;
            }
        };
        let cost = found.figures.cost;
        match self.best {
            Some(best) if cost >= best.found.figures.cost => {
                self.lose(way, Reject::Dearer, cost);
                return false;
            }
            Some(Best { atom, second, transpose, found, .. }) => {
                let beaten = CopyForm { atom, second, transpose };
                self.lose(beaten, Reject::Dearer, found.figures.cost);
            }
            None => {}
        }
        self.best = Some(Best { atom, second, transpose, found, tiled: None });
        true
    }

    fn lose(&mut self, way: CopyForm, why: Reject, cost: u32) {
        if let Some(record) = self.record.as_mut() {
            record.lose((way.atom, way.transpose), why, cost);
        }
    }

    /// The cheapest way; `None` if every one costs the cap or more.
    fn found(self) -> Result<Option<Best>, PlanError> {
        let all = self.record.is_some();
        if self.best.is_none() && !self.capped {
            let none = match self.movement.wanted {
                WantedAtom::Any => Reject::Absent,
                WantedAtom::Named(_) | WantedAtom::Unknown => Reject::NotNative,
            };
            let why = self.closest.unwrap_or(none);
            return Err(PlanError::NoCopyAtom { op: self.movement.op, why });
        }
        Ok(self.best.filter(|best| all || best.found.figures.cost < self.cap))
    }
}

/// Whether the program lets an atom do a movement.
pub(super) fn wants(movement: &CopyOp, atom: AtomId) -> bool {
    match movement.wanted {
        WantedAtom::Any => true,
        WantedAtom::Named(wanted) => wanted == atom,
        WantedAtom::Unknown => false,
    }
}

/// How far a candidate came, to report the reason that helps most.
fn nearness(why: Reject) -> u8 {
    match why {
        Reject::Tensor { .. } => 0,
        Reject::Alignment { .. } | Reject::Bounds { .. } => 6,
        Reject::Run { .. } => 5,
        Reject::Strided { .. } | Reject::Apart { .. } | Reject::Addresses { .. } => 4,
        Reject::RegisterOrder | Reject::Packing { .. } | Reject::Alone { .. } => 3,
        Reject::Share { .. } | Reject::Element { .. } => 2,
        Reject::Lanes { .. } | Reject::Unguarded => 1,
        _ => 0,
    }
}

impl Planner<'_, '_, '_, '_> {
    /// The cheapest way to do a movement: as [`Planner::best_copy_atom`], of atomic operations too.
    pub(crate) fn best_way(
        &self,
        index: usize,
        movement: &CopyOp,
        shared: Option<(&MemoryMap, u32)>,
        cap: u32,
        record: Option<&mut RejectedAtoms>,
    ) -> Result<Option<Best>, PlanError> {
        if self.program.role(movement.op) == OpRole::Atomic {
            return self.best_atomic(movement, cap, record);
        }
        self.best_copy_atom(index, movement, shared, cap, ViableAtoms::ALL, record)
    }

    /// The cheapest atom, or pair of atoms, for a movement; `None` if every one costs `cap` or
    /// more. `shared` is the map of its shared end, `viable` the copy atoms that can do it at all.
    /// With `record` all are priced in full.
    pub(crate) fn best_copy_atom(
        &self,
        index: usize,
        movement: &CopyOp,
        shared: Option<(&MemoryMap, u32)>,
        cap: u32,
        viable: ViableAtoms,
        record: Option<&mut RejectedAtoms>,
    ) -> Result<Option<Best>, PlanError> {
        let ends = (
            self.end_map(movement.op, movement.from, shared)?,
            self.end_map(movement.op, movement.to, shared)?,
        );
        let mut search =
            AtomSearch { movement, cap, record, best: None, capped: false, closest: None };
        let bound = self.bound(movement);
        let ahead = self.runs_ahead(movement);
        let around = self.program.parent(movement.op).filter(|_| ahead);
        let apart = around.is_some_and(|around| self.program.is_warp_specialized(around));
        if !apart {
            self.try_direct(&mut search, ends, bound, viable);
        }
        if let (true, Some(global), Some((map, _))) = (ahead, self.global_of(movement), shared) {
            self.try_tensor_map(&mut search, global, map);
        }
        // Of copies that run ahead those come last that keep registers.
        if apart {
            return search.found().map_err(|error| match error {
                PlanError::NoCopyAtom { op, .. } => PlanError::Stages { op, why: Unstaged::Boxes },
                error => error,
            });
        }
        if !ahead || (search.best.is_none() && !search.capped) || search.record.is_some() {
            let shared = shared.map(|(map, _)| map);
            self.try_staged(&mut search, index, ends, (bound, shared), viable);
        }
        if ahead {
            return search.found().map_err(|error| match error {
                PlanError::NoCopyAtom { op, .. } => PlanError::Stages { op, why: Unstaged::Mover },
                error => error,
            });
        }
        if let (Some(global), Some((map, _))) = (self.global_of(movement), shared) {
            self.try_tensor_map(&mut search, global, map);
        }
        search.found()
    }

    /// The cheapest instruction of an atomic operation.
    #[inline(never)] // What it finds is large, and its callers price copies deeper down.
    fn best_atomic(
        &self,
        movement: &CopyOp,
        cap: u32,
        record: Option<&mut RejectedAtoms>,
    ) -> Result<Option<Best>, PlanError> {
        let ends = (
            self.end_map(movement.op, movement.from, None)?,
            self.end_map(movement.op, movement.to, None)?,
        );
        let mut search =
            AtomSearch { movement, cap, record, best: None, capped: false, closest: None };
        self.try_atomic(&mut search, ends);
        let is_few = self.has_few(movement);
        search.found().map_err(|error| match error {
            PlanError::NoCopyAtom { op, why: Reject::Form | Reject::Absent }
                if movement.wanted == WantedAtom::Any =>
            {
                PlanError::Atomic { op, why: Unatomic::Elements }
            }
            PlanError::NoCopyAtom { op, why: Reject::Bounds { whole, .. } }
                if movement.wanted == WantedAtom::Any && self.is_one(movement, whole) =>
            {
                PlanError::Atomic { op, why: Unatomic::Pairs }
            }
            PlanError::NoCopyAtom { op, why: Reject::Copies } if is_few => {
                PlanError::Atomic { op, why: Unatomic::Few }
            }
            error => error,
        })
    }

    /// One atom, from end to end.
    #[inline(never)] // Its figures leave the stack before pairs of atoms are priced.
    fn try_direct(
        &self,
        search: &mut AtomSearch<'_>,
        (from, to): (EndMap<'_>, EndMap<'_>),
        bound: CopyBound,
        viable: ViableAtoms,
    ) {
        let instruction = self.target.tables.weights.instruction;
        let movement = search.movement;
        let between = self.transfers.between(from.space(), to.space()).iter();
        // What is told how much to read is for tensors with bounds.
        let bounded = [from, to].iter().any(|end| matches!(end, EndMap::Global(.., Some(_))));
        // Indices of 32 bits reach further than a lane's offset.
        let indexed = self.program.index_tile(movement.op).is_some();
        let among = |copy_atom: &CopyAtom| {
            copy_atom.serves_transfers()
                && wants(movement, copy_atom.atom)
                && (bounded || !copy_atom.is_sized)
                && !(indexed && (copy_atom.is_split || copy_atom.uniform))
        };
        let target = TargetInfo { as_held: self.is_as_held(movement), ..self.target };
        for (k, copy_atom) in (0u32..).zip(between).filter(|(_, m)| among(m)) {
            let what = CopyForm { atom: copy_atom.atom, second: None, transpose: None };
            if bound.at(copy_atom.share_bytes, instruction) >= search.limit() {
                search.consider(what, Err(Reject::Dearer));
                if search.record.is_some() {
                    continue;
                }
                // The widest come first: what follows needs as many instructions at the least.
                return;
            }
            if viable.takes(k, copy_atom) {
                search.consider(what, target.evaluate(copy_atom, from, to, search.limit()));
            }
        }
    }

    /// Whether a tile is stored as it is held, copies and halves of registers as well: where that is one
    /// of the ways to convert it for the store, whose prices are compared. What nobody has distributed
    /// yet is distributed without copies, and as stores take it.
    pub(crate) fn is_as_held(&self, movement: &CopyOp) -> bool {
        let CopyEnd::Registers(value) = movement.from else { return false };
        let program = self.program;
        // Masks and indices are not in halves of registers.
        if program.beside_moved(movement.op).next().is_some() {
            return false;
        }
        let made = program.def_op(value).filter(|op| program.role(*op) == OpRole::Convert);
        let from = made.and_then(|op| program.operand(op, 0));
        let fragment = |value| self.plan.fragment_of(value).map(|(_, fragment)| *fragment);
        from.and_then(fragment)
            .zip(fragment(value))
            .is_some_and(|(from, own)| (from.lane, from.warp) == (own.lane, own.warp))
    }

    /// Two atoms, through registers, between two memories: the half on the global side is staged.
    #[inline(never)] // Its figures leave the stack before copies by a unit are priced.
    fn try_staged(
        &self,
        search: &mut AtomSearch<'_>,
        index: usize,
        (from, to): (EndMap<'_>, EndMap<'_>),
        (bound, shared): (CopyBound, Option<&MemoryMap>),
        viable: ViableAtoms,
    ) {
        if from.space() == Space::Register || to.space() == Space::Register {
            return;
        }
        let loads = from.space() == Space::Global;
        let spaces =
            if loads { (Space::Register, Space::Shared) } else { (Space::Shared, Space::Register) };
        // Where the same dimension is contiguous on both sides there is nothing to transpose.
        let alike = shared.is_some_and(|map| map.at(1).bytes == u32::from(map.shape.bits / 8));
        let bound = CopyBound { base: bound.shared, ..bound };
        let mine = self.staged.iter().filter(|s| usize::from(s.movement) == index);
        for staged in mine.filter(|s| s.transpose.is_none() || !alike) {
            let between = self.transfers.between(spaces.0, spaces.1).iter();
            for half in between.filter(|m| m.register_bits == staged.bits && m.serves_transfers()) {
                let is_wanted =
                    wants(search.movement, staged.global) || wants(search.movement, half.atom);
                if !is_wanted || !viable.suits(half) {
                    continue;
                }
                let left = search.limit().saturating_sub(staged.found.figures.cost);
                let (atom, second) =
                    if loads { (staged.global, half.atom) } else { (half.atom, staged.global) };
                let what = CopyForm { atom, second: Some(second), transpose: staged.transpose };
                if bound.at(half.share_bytes, self.target.tables.weights.instruction) >= left {
                    search.consider(what, Err(Reject::Dearer));
                    if search.record.is_some() {
                        continue;
                    }
                    break;
                }
                let end = if loads { to } else { from };
                search.consider(what, self.evaluate_pair(staged, half, end, left));
            }
        }
    }

    /// A copy through a tensor map: one instruction moves a box.
    #[inline(never)] // Its figures leave the stack with it.
    fn try_tensor_map(&self, search: &mut AtomSearch<'_>, global: &GlobalPlan, shared: &MemoryMap) {
        let copies = TensorMapCopies(&self.target);
        let dtype = self.program.type_of(global.memref).dtype;
        let movement = search.movement;
        let loads = matches!(movement.from, CopyEnd::Global(_));
        for (number, form) in copies.moves(loads).filter(|(_, form)| wants(movement, form.atom)) {
            // A coordinate for each dimension of the tensor.
            if form.at.len() != global.starts().count() {
                continue;
            }
            let what = CopyForm { atom: form.atom, second: None, transpose: None };
            // What lies outside of bounds is outside of the map as well, which says them: it is read
            // as zeros, and not written.
            if global.is_masked || global.guards != 0 && global.indexed.is_some() {
                search.consider(what, Err(Reject::Unguarded));
                continue;
            }
            let reason = search.wants_reason();
            match copies.evaluate(form, global, dtype, shared, search.limit(), reason) {
                Ok((found, map)) => {
                    if search.consider(what, Ok(found))
                        && let Some(best) = search.best.as_mut()
                    {
                        best.tiled = Some((number, map));
                    }
                }
                Err(why) => {
                    search.consider(what, Err(why));
                }
            }
        }
    }

    /// A movement through registers: the staged half, and another of the same width on the shared
    /// side.
    fn evaluate_pair(
        &self,
        staged: &Staged,
        half: &CopyAtom,
        shared: EndMap<'_>,
        limit: u32,
    ) -> Result<Evaluated, Reject> {
        if staged.transpose.is_some() && !self.is_chosen_from(half) {
            return Err(Reject::Form);
        }
        let through = EndMap::Registers(&staged.fragment);
        let (from, to) =
            if half.from == Space::Register { (through, shared) } else { (shared, through) };
        let other = self.target.evaluate(half, from, to, limit)?;
        Self::joined(staged, &other)
    }

    /// Both halves of a movement through registers.
    #[inline(never)] // Beside the evaluation of a half, not below it.
    fn joined(staged: &Staged, other: &Evaluated) -> Result<Evaluated, Reject> {
        let tiling = staged.found.tiling;
        if staged.transpose.map_or(Some(tiling), |transpose| transpose.second(&tiling))
            != Some(other.tiling)
        {
            return Err(Reject::RegisterOrder);
        }
        let (a, b) = (staged.found.figures, other.figures);
        let mut figures = b;
        figures.count = a.count.saturating_add(b.count);
        figures.segments = a.segments;
        figures.further_addresses = a.further_addresses.saturating_add(b.further_addresses);
        figures.cost = a.cost.saturating_add(b.cost);
        Ok(Evaluated { tiling, figures, bank_status: other.bank_status })
    }

    /// Whether bytes of a copy atom's registers can be chosen.
    pub(crate) fn is_chosen_from(&self, copy_atom: &CopyAtom) -> bool {
        let class = self
            .choice
            .and_then(|choice| choice.atom.operands.iter().find(|o| o.role == Role::Def))
            .map(|o| o.class);
        let (Some(class), Some(atom)) = (class, self.target.tables.atom(copy_atom.atom)) else {
            return false;
        };
        let side = atom
            .movement
            .as_ref()
            .and_then(|m| [&m.from, &m.to].into_iter().find(|side| side.space == Space::Register));
        side.and_then(|side| atom.operands.get(usize::from(side.operand)))
            .is_some_and(|o| o.accepts(class))
    }

    /// The global tile of a copy between global and shared memory.
    fn global_of(&self, movement: &CopyOp) -> Option<&GlobalPlan> {
        match (movement.from, movement.to) {
            (CopyEnd::Global(g), CopyEnd::Shared(_)) | (CopyEnd::Shared(_), CopyEnd::Global(g)) => {
                self.plan.globals.get(usize::from(g))
            }
            _ => None,
        }
    }

    fn end_map<'m>(
        &'m self,
        op: Op,
        end: CopyEnd,
        shared: Option<(&'m MemoryMap, u32)>,
    ) -> Result<EndMap<'m>, PlanError> {
        match end {
            CopyEnd::Registers(v) => self
                .plan
                .fragment_of(v)
                .map(|(_, f)| EndMap::Registers(f))
                .ok_or(PlanError::Undecided(op)),
            CopyEnd::Shared(_) => shared
                .map(|(map, align)| EndMap::Shared(map, align))
                .ok_or(PlanError::Undecided(op)),
            CopyEnd::Global(g) => self
                .plan
                .globals
                .get(usize::from(g))
                .map(GlobalPlan::end)
                .ok_or(PlanError::Undecided(op)),
        }
    }
}
