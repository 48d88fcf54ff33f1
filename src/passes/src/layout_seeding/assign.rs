//! Assign load/store layouts: one layout for each memory group, one atom for each operation that
//! touches it.
//!
//! 1. *Groups* ([`crate::layout_seeding::group`]) and their operations.
//! 2. *Candidates* of each operation from `rules/candidates.ron` and the architecture's copy atoms;
//!    the memory kinds that an operation has candidates for must have one in common, else
//!    [`Diagnostic::NoCommonMemory`].
//! 3. *Structural filter*: division of the movement by the atom ([`lanebook_plan::select`]),
//!    families, alignment, descriptors.
//! 4. *Score*: the group's layout with the lowest sum of its operations' best candidates.
//!
//! The choice is written to the operations as `nv_tileas.layout`; a load whose readers all convert
//! to one layout is given that layout at once, so that the conversions are identities. An operation
//! that has a layout keeps it, and so does its group. In the end the verifier judges: what it
//! refuses is taken back.
use crate::layout_seeding::group::{Groups, does, memory_of, tile_of};
use crate::layout_seeding::legal::{Legal, Notes, OpSite};
use crate::layout_seeding::score::{CostTerms, SeedingCandidate, TransactionParts, Verdict};
use crate::layout_seeding::seeded_layouts::{Core, MemoryTile, NewLayout};
use crate::layout_seeding::{LayoutSeeding, full};
use crate::remat::{blank, encoding_of};
use crate::{ChoicePool, Diagnostic, PassError, edit};
use lanebook_ir::rewrite::RunError;
use lanebook_ir::verify;
use lanebook_ir::{AttrValue, Op, Program, TileEncoding, Type, Value, attr_names};
use lanebook_layout::triton::Base;
use lanebook_tables::{Bucket, Family, OpRole, Space, SubAxis};
use lanebook_tile::map::{SharedLayout, TileShape};

/// Memory kinds, best first where several are open.
const KINDS: [Space; 3] = [Space::Shared, Space::Tensor, Space::Global];

/// What came of a group.
enum Outcome {
    Chosen(Chosen),
    /// The program says the layout.
    Written,
    /// Nothing is legal.
    Nothing,
}

/// What a group chose.
#[derive(Copy, Clone, Debug)]
struct Chosen {
    memory: Space,
    layout: Option<SharedLayout>,
    terms: CostTerms,
}

pub(super) fn run(work: &mut LayoutSeeding<'_, '_, '_, '_, '_>) -> Result<(), PassError> {
    let arch = work.arch()?;
    let workers = work.workers()?;
    work.room.candidates.clear();
    let legal =
        Legal::new(work.tables, arch, workers, work.room.copy_atoms, work.wishes.prefer_bulk)
            .map_err(PassError::Choice)?;
    let mut groups = Groups::find(work.cx.program, work.room.nodes).map_err(PassError::Choice)?;
    work.room.dropped = 0;
    let mut state = SeedingState {
        legal,
        notes: Notes { list: work.room.candidates, dropped: &mut work.room.dropped },
    };
    let mut at = work.cx.program.first(work.cx.program.root());
    while let Some(op) = at {
        at = work.cx.program.following(op, None);
        let Some(memory) = memory_of(work.cx.program, op) else { continue };
        let Some(first) = groups.begin(memory) else { continue };
        let chosen = match state.group(work.cx.program, &mut groups, first)? {
            Outcome::Chosen(chosen) => chosen,
            Outcome::Written => continue,
            Outcome::Nothing => {
                work.cx.find(Diagnostic::NoCandidate, first);
                continue;
            }
        };
        let mut member = Some(first);
        while let Some(op) = member {
            member = groups.next(op);
            give(work.cx, &mut work.room.book, op, &chosen)?;
        }
    }
    // Accesses through pointers that nobody gave a layout.
    crate::layout_seeding::coalesce::undecided(work)?;
    match verify(work.cx.program) {
        Ok(()) => Ok(()),
        Err(error) => Err(PassError::Run(RunError::Graph(error.kind))),
    }
}

/// Writes a group's choice to one of its operations.
fn give(
    cx: &mut crate::PassContext<'_, '_, '_>,
    book: &mut crate::layout_seeding::SeededLayouts<'_>,
    op: Op,
    chosen: &Chosen,
) -> Result<(), PassError> {
    let program = &*cx.program;
    if program.has_attr(op, attr_names::LAYOUT) {
        return Ok(());
    }
    let mut changed = false;
    if let (Space::Shared, Some(layout), Some(memory)) =
        (chosen.memory, chosen.layout, memory_of(program, op))
    {
        let swizzle =
            layout.post.swizzle().map_or((0, 0, 0), |it| (it.b, it.m, it.s.unsigned_abs()));
        let shape = program.type_of(memory).shape;
        let made =
            NewLayout::of(Core::Tile(MemoryTile { shape, row_major: layout.row_major, swizzle }));
        let capacity = book.capacity();
        match book
            .encoding(program, &made)
            .ok_or_else(|| full(ChoicePool::SeededLayouts, capacity))?
        {
            TileEncoding::Handle(handle) => cx
                .program
                .set_attr(op, attr_names::TILE_LAYOUT, AttrValue::Handle(u32::from(handle)))
                .map_err(edit)?,
            _ => return Ok(()),
        }
        changed = true;
    }
    if let Some(tile) = tile_of(cx.program, op).filter(|_| cx.program.role(op) == OpRole::Load)
        && let Some(to) = seed(cx.program, tile)
    {
        let ty = cx.program.type_of(tile);
        cx.program.set_type(tile, Type { encoding: to.encoding, ..ty }).map_err(edit)?;
        changed = true;
    }
    if changed { cx.changed(op) } else { Ok(()) }
}

/// The layout to which every reader of an undecided tile converts it.
fn seed(program: &Program<'_, '_>, tile: Value) -> Option<Type> {
    let ty = program.type_of(tile);
    if ty.encoding != TileEncoding::None || ty.is_memory() {
        return None;
    }
    let target = |user: Op| program.result(user, 0).map(|result| program.type_of(result));
    let mut found: Option<Type> = None;
    for place in program.uses(tile) {
        let to = program
            .user(place)
            .filter(|user| program.role(*user) == OpRole::Convert)
            .and_then(target)?;
        if to.is_memory()
            || to.encoding == TileEncoding::None
            || found.is_some_and(|found| !program.same_encoding(&found, &to))
        {
            return None;
        }
        found = Some(to);
    }
    found
}

/// Whether a load's tile is read from registers: by anything but a product that could read it in
/// memory.
fn is_bound(program: &Program<'_, '_>, op: Op) -> bool {
    if matches!(program.role(op), OpRole::Copy | OpRole::Alloc) {
        return false;
    }
    let Some(tile) = tile_of(program, op).filter(|_| program.role(op) == OpRole::Load) else {
        return true;
    };
    program.uses(tile).any(|place| {
        let product = program.user(place).filter(|user| program.role(*user) == OpRole::Matrix);
        product.is_none() || !matches!(program.operand_number(place), Some(0 | 1))
    })
}

/// Whether rows of a tile are contiguous. Of one that a product reads where it lies, what runs
/// along k is; but elements of 16 bits can be read across it, and lie as they lay in registers.
#[inline(never)]
fn is_row_major(
    program: &Program<'_, '_>,
    first: Op,
    shape: TileShape,
    in_place: Option<SubAxis>,
) -> bool {
    match in_place {
        None => true,
        Some(_) if shape.bits == 16 => {
            let mut it = blank();
            let found = tile_of(program, first)
                .and_then(|tile| encoding_of(program, &program.type_of(tile), &mut it));
            let nested = found.is_some() && it.dot.is_none() && it.slices.as_slice().is_empty();
            !matches!(&it.base, Base::Blocked(it) if nested && it.order.get(0) == Some(0))
        }
        Some(axis) => axis != SubAxis::B,
    }
}

struct SeedingState<'a, 't> {
    legal: Legal<'a, 't>,
    notes: Notes<'a>,
}

impl SeedingState<'_, '_> {
    /// Chooses for a group.
    fn group(
        &mut self,
        program: &Program<'_, '_>,
        groups: &mut Groups<'_>,
        first: Op,
    ) -> Result<Outcome, PassError> {
        // Memory kinds that every operation has candidates for.
        let mut common = u8::MAX;
        let (mut bound, mut written) = (false, false);
        let mut member = Some(first);
        while let Some(op) = member {
            common &= self.kinds(program, groups, op);
            bound |= is_bound(program, op);
            written |= program.has_attr(op, attr_names::LAYOUT)
                || memory_of(program, op)
                    .is_some_and(|memory| program.layout_text(&program.type_of(memory)).is_some());
            member = groups.next(op);
        }
        if common == 0 {
            return Err(PassError::Refused { diagnostic: Diagnostic::NoCommonMemory, at: first });
        }
        let Some(memory) = memory_of(program, first).filter(|_| !written) else {
            return Ok(Outcome::Written);
        };
        let mut best: Option<Chosen> = None;
        let start = self.notes.list.len();
        for (number, kind) in KINDS.into_iter().enumerate() {
            if common & 1u8.wrapping_shl(number as u32) == 0 {
                continue;
            }
            if kind != Space::Shared {
                self.consider(program, groups, first, kind, None, bound, &mut best);
                continue;
            }
            let ty = program.type_of(memory);
            let Some(shape) = self.legal.shape(program, &ty) else { continue };
            let row_major = is_row_major(program, first, shape, groups.read_in_place(memory));
            let mut number = 0usize;
            while let Some(layout) = self.legal.layout(shape, number, row_major) {
                number = number.saturating_add(1);
                self.consider(
                    program,
                    groups,
                    first,
                    kind,
                    Some((shape, layout)),
                    bound,
                    &mut best,
                );
            }
        }
        self.settle(start);
        if let Some(chosen) = best {
            // Once more, to note what became of each candidate under the layout that was chosen.
            let shape = self.legal.shape(program, &program.type_of(memory));
            let under = chosen.layout.zip(shape).map(|(layout, shape)| (shape, layout));
            self.cost(program, groups, first, chosen.memory, under, bound, true);
        }
        Ok(best.map_or(Outcome::Nothing, Outcome::Chosen))
    }

    /// Memory kinds that an operation has candidates for, as bits of [`KINDS`].
    fn kinds(&self, program: &Program<'_, '_>, groups: &mut Groups<'_>, op: Op) -> u8 {
        let axis = axis_of(program, groups, op);
        let space = memory_of(program, op).and_then(|memory| program.type_of(memory).space);
        let mut out = 0u8;
        for (number, kind) in KINDS.into_iter().enumerate() {
            let open = space.is_none_or(|space| space == kind);
            if open && self.legal.rules(does(program, op), kind, axis).next().is_some() {
                out |= 1u8.wrapping_shl(number as u32);
            }
        }
        out
    }

    #[allow(clippy::too_many_arguments)]
    fn consider(
        &mut self,
        program: &Program<'_, '_>,
        groups: &mut Groups<'_>,
        first: Op,
        memory: Space,
        layout: Option<(TileShape, SharedLayout)>,
        bound: bool,
        best: &mut Option<Chosen>,
    ) {
        let Some(terms) = self.cost(program, groups, first, memory, layout, bound, false) else {
            return;
        };
        let weights = &self.legal.target.tables.weights;
        let chosen = Chosen { memory, layout: layout.map(|(_, layout)| layout), terms };
        if best.is_none_or(|best| terms.rank(weights) < best.terms.rank(weights)) {
            *best = Some(chosen);
        }
        if layout.is_some() {
            let axis = axis_of(program, groups, first);
            let (bucket, family, verdict, parts) =
                (Bucket::Memory, Family::Shared, Verdict::Taken, TransactionParts::default());
            self.notes.push(SeedingCandidate {
                op: first,
                whole: true,
                atom: None,
                memory,
                axis,
                bucket,
                family,
                layout: chosen.layout,
                terms,
                parts,
                verdict,
            });
        }
    }

    /// What a group costs under one layout: every operation at its best; `None` if one cannot be
    /// done. With `note` every candidate is kept with what became of it.
    #[allow(clippy::too_many_arguments)]
    fn cost(
        &mut self,
        program: &Program<'_, '_>,
        groups: &mut Groups<'_>,
        first: Op,
        memory: Space,
        layout: Option<(TileShape, SharedLayout)>,
        bound: bool,
        note: bool,
    ) -> Option<CostTerms> {
        let mut sum = CostTerms::default();
        let mut member = Some(first);
        // A product that reads it where it lies does so by a descriptor.
        if let (Some(memory), Some((shape, layout))) = (memory_of(program, first), layout)
            && groups.read_in_place(memory).is_some()
        {
            sum = self.legal.described(shape, layout, false).ok()?.0;
        }
        while let Some(op) = member {
            member = groups.next(op);
            let place = OpSite {
                op,
                memory,
                axis: axis_of(program, groups, op),
                layout,
                own: is_bound(program, op),
                bound,
            };
            let start = self.notes.list.len();
            let room = if note { Some(&mut self.notes) } else { None };
            let found = self.legal.best(program, &place, room);
            if note {
                self.settle(start);
            }
            match found {
                Some(terms) => sum = sum.with(terms),
                None => return None,
            }
        }
        Some(sum)
    }

    /// Of the candidates noted since `start` the best is taken, the other legal ones are dearer.
    fn settle(&mut self, start: usize) {
        let weights = self.legal.target.tables.weights;
        let prefer = self.legal.prefer_bulk;
        let Some(noted) = self.notes.list.get_mut(start..) else { return };
        let legal =
            noted.iter().enumerate().filter(|(_, candidate)| candidate.verdict == Verdict::Taken);
        let best = legal
            .min_by_key(|(number, candidate)| {
                (prefer && candidate.atom.is_some(), candidate.terms.rank(&weights), *number)
            })
            .map(|(number, _)| number);
        for (number, candidate) in noted.iter_mut().enumerate() {
            if candidate.verdict == Verdict::Taken && Some(number) != best {
                candidate.verdict = Verdict::Dearer;
            }
        }
    }
}

/// What an operation's tile is to products.
fn axis_of(program: &Program<'_, '_>, groups: &mut Groups<'_>, op: Op) -> SubAxis {
    match tile_of(program, op) {
        Some(tile) => groups.axis(tile),
        // A copy fills what loads of its group read.
        None => SubAxis::Free,
    }
}
