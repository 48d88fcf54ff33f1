//! Candidates of one operation under one layout of its memory: which are legal, and what they cost.
//!
//! Copy atoms come from the architecture's atoms, legality is division ([`lanebook_tile::divide`]),
//! bank conflicts are counted exactly. A tile that a product reads where it lies needs a
//! descriptor: a layout in one of the architecture's swizzle modes. A tile of the tensor memory has
//! no division here: its cells lie column by column, and the columns that a lane takes are what it
//! costs.
use crate::layout_seeding::Workers;
use crate::layout_seeding::group::{does, memory_of, tile_of};
use crate::layout_seeding::score::{CostTerms, SeedingCandidate, TransactionParts, Verdict};
use crate::{ChoiceError, ChoicePool};
use heapless::VecView;
use lanebook_ir::{Op, Program, Type, attr_names};
use lanebook_layout::PostMap;
use lanebook_tables::{
    Arch, Bucket, CandidateRule, Capability, Factor, Family, OpRole, Space, SubAxis, Tables,
};
use lanebook_tile::candidates::{FamilyFigures as Shapes, candidates};
use lanebook_tile::copy_atom::{CopyAtom, CopyAtoms};
use lanebook_tile::evaluate::{EndMap, TargetInfo, is_addressable};
use lanebook_tile::map::{Fragment, MemoryMap, SharedLayout, TileShape, log2_exact};
use lanebook_tile::matrix::blocked;
use lanebook_tile::product::Product;
use lanebook_tile::tiling::Reject;
use lanebook_tile::unit::swizzle;

/// Layouts of shared memory that are tried where an architecture has no swizzle modes of its own.
const MOST_LAYOUTS: usize = 12;

/// What the candidates of a program are judged by.
pub(super) struct Legal<'a, 't> {
    pub target: TargetInfo<'t>,
    transfers: CopyAtoms<'a>,
    shapes: Shapes,
    pub prefer_bulk: bool,
    /// Products read operands in shared memory.
    descriptors: bool,
}

/// Candidates as they were judged, and how many there was no room for.
pub(super) struct Notes<'a> {
    pub list: &'a mut VecView<SeedingCandidate>,
    pub dropped: &'a mut u32,
}

impl Notes<'_> {
    pub fn push(&mut self, candidate: SeedingCandidate) {
        if self.list.push(candidate).is_err() {
            *self.dropped = self.dropped.saturating_add(1);
        }
    }
}

/// One operation under one layout of its group.
#[derive(Copy, Clone)]
pub(super) struct OpSite {
    pub op: Op,
    pub memory: Space,
    pub axis: SubAxis,
    pub layout: Option<(TileShape, SharedLayout)>,
    /// The operation's own tile is read from registers.
    pub own: bool,
    /// Some tile of the group is.
    pub bound: bool,
}

impl<'a, 't> Legal<'a, 't> {
    pub fn new(
        tables: &'t Tables<'t>,
        arch: &'t Arch<'t>,
        workers: Workers,
        copy_atoms: &'a mut VecView<CopyAtom>,
        prefer_bulk: bool,
    ) -> Result<Self, ChoiceError> {
        let isa = tables.isa(arch.isa).ok_or(ChoiceError::NoArch)?;
        let (wave, warps) = (
            log2_exact(u64::from(workers.lanes)).ok_or(ChoiceError::NoWarps)?,
            log2_exact(u64::from(workers.warps)).ok_or(ChoiceError::NoWarps)?,
        );
        let full = ChoiceError::Full {
            pool: ChoicePool::CopyAtoms,
            capacity: u32::try_from(copy_atoms.capacity()).unwrap_or(u32::MAX),
        };
        copy_atoms.clear();
        // Between two spaces the widest stand first: of equals the first is taken.
        for (from, to) in Space::pairs() {
            let able = arch.dispatch(Capability::Transfer { from, to }).iter();
            for copy_atom in able
                .filter_map(|id| {
                    let is_of_unit = from == Space::Tensor || to == Space::Tensor;
                    let atom = tables.atom(*id);
                    let atom = atom.filter(|atom| is_of_unit || is_addressable(isa, atom))?;
                    CopyAtom::of(*id, atom)
                })
                // Tensors have no bounds here.
                .filter(|copy_atom| !copy_atom.is_sized)
                .filter(|copy_atom| copy_atom.share_bytes <= 16)
            {
                copy_atoms.push(copy_atom).map_err(|_| full)?;
            }
        }
        let span = arch
            .banks
            .iter()
            .map(|bank| u32::from(bank.banks).saturating_mul(u32::from(bank.bank_bytes)))
            .max()
            .unwrap_or(0);
        let transfers = CopyAtoms::new(copy_atoms.as_slice());
        let widest = transfers
            .touching(Space::Shared)
            .filter(|copy_atom| copy_atom.from == Space::Shared)
            .map(|copy_atom| copy_atom.share_bytes)
            .max()
            .unwrap_or(0);
        let descriptors = !arch.dispatch(Capability::SharedProduct).is_empty();
        let shapes = Shapes { bank_span: span, widest, run: 0 };
        Ok(Self {
            target: TargetInfo { tables, arch, isa, wave, warps, as_held: false },
            transfers,
            shapes,
            prefer_bulk,
            descriptors,
        })
    }

    /// A tile of two known extents and whole bytes.
    pub fn shape(&self, _: &Program<'_, '_>, ty: &Type) -> Option<TileShape> {
        let (rows, cols) = ty.shape.pair()?;
        let bits = self.target.tables.dtype(ty.dtype?)?.bits;
        TileShape::new(u64::from(rows), u64::from(cols), bits)
            .filter(|shape| shape.bits >= 8 && shape.bits % 8 == 0)
    }

    /// The layouts of a tile in shared memory, plain first: the architecture's swizzle modes, else
    /// permutations of its banks.
    pub fn layout(&self, shape: TileShape, number: usize, row_major: bool) -> Option<SharedLayout> {
        let TargetInfo { tables, arch, .. } = self.target;
        let row = if row_major { shape.col_count() } else { shape.row_count() }
            .checked_mul(u64::from(shape.bits / 8))?;
        // A tile reaches at least one row of the mode, and no mode is wanted twice.
        let modes = || {
            swizzle::modes(tables, arch).filter(move |mode| {
                mode.span_bytes > 0 && mode.xor.len() == 1 && row >= u64::from(mode.span_bytes)
            })
        };
        let of_mode = |mode: &lanebook_tables::SwizzleMode<'_>| {
            mode.xor.first().map(|it| SharedLayout {
                row_major,
                post: PostMap::Swizzle(*it),
                ..SharedLayout::BY_ROWS
            })
        };
        match (number, modes().next()) {
            (0, _) => Some(SharedLayout { row_major, ..SharedLayout::BY_ROWS }),
            (number, Some(_)) => modes().filter_map(of_mode).nth(number.checked_sub(1)?),
            (number, None) if number < MOST_LAYOUTS => candidates(shape, self.shapes)
                .filter(|layout| layout.row_major == row_major && layout.post.swizzle().is_some())
                .nth(number.checked_sub(1)?),
            _ => None,
        }
    }

    /// Rules for an operation on a kind of memory.
    pub fn rules(
        &self,
        role: OpRole,
        memory: Space,
        axis: SubAxis,
    ) -> impl Iterator<Item = &'t CandidateRule> + use<'t> {
        self.target
            .tables
            .seeding
            .candidates
            .iter()
            .filter(move |rule| rule.role == role && rule.memory == memory && rule.axis == axis)
    }

    /// How a tile is distributed over registers.
    fn fragment(
        &self,
        shape: TileShape,
        axis: SubAxis,
        share: u32,
        row_major: bool,
    ) -> Option<Fragment> {
        let TargetInfo { wave, warps, .. } = self.target;
        if axis == SubAxis::Free {
            let element = u32::from(shape.bits / 8).max(1);
            let vector = log2_exact(u64::from(share.checked_div(element)?.max(1)))?;
            return blocked(
                shape,
                vector.min(if row_major { shape.cols } else { shape.rows }),
                wave,
                warps,
                row_major,
            );
        }
        let TargetInfo { tables, arch, .. } = self.target;
        let (rows, cols) = (shape.row_count(), shape.col_count());
        let bits = |atom: &lanebook_tables::Atom<'_>, number: u8| {
            atom.operands
                .get(usize::from(number))
                .and_then(|o| tables.dtype(o.dtype?))
                .map_or(0, |d| d.bits)
        };
        let mut best: Option<(u32, Fragment)> = None;
        let operand = match axis {
            SubAxis::A => Factor::A,
            SubAxis::B => Factor::B,
            _ => Factor::C,
        };
        for id in arch.dispatch(Capability::ProductOf { operand, bits: shape.bits }) {
            let Some(atom) = tables.atom(*id) else { continue };
            let Some(unit) = atom.product() else { continue };
            let widths = (bits(atom, unit.a), bits(atom, unit.b), bits(atom, unit.c));
            let (m, n, k) = (u64::from(unit.m), u64::from(unit.n), u64::from(unit.k));
            // What the tile does not say is one instruction wide.
            let tile = match axis {
                SubAxis::A => (rows, n, cols),
                SubAxis::B => (m.checked_shl(u32::from(warps))?, cols, rows),
                _ => (rows, cols, k),
            };
            let size = u32::from(unit.m)
                .saturating_mul(u32::from(unit.n))
                .saturating_mul(u32::from(unit.k));
            if best.as_ref().is_some_and(|(most, _)| *most >= size) {
                continue;
            }
            let Some(product) = Product::new(*id, atom, tile, widths, (warps, 0)) else { continue };
            let fragment = match axis {
                SubAxis::A => product.a,
                SubAxis::B => product.b,
                _ => product.c,
            };
            if fragment.lane.len() == usize::from(wave) {
                best = Some((size, fragment));
            }
        }
        best.map(|(_, fragment)| fragment)
    }

    /// The least cost of an operation under a layout; `None` if no candidate is legal. With `room`
    /// each candidate is noted there; those that are legal as taken, since which one wins is not
    /// settled yet.
    pub fn best(
        &self,
        program: &Program<'_, '_>,
        place: &OpSite,
        room: Option<&mut Notes<'_>>,
    ) -> Option<CostTerms> {
        let mut best: Option<(bool, CostTerms)> = None;
        let mut room = room;
        let weights = self.target.tables.weights;
        for rule in self.rules(does(program, place.op), place.memory, place.axis) {
            let note = |candidate: SeedingCandidate, room: &mut Option<&mut Notes<'_>>| {
                if let Some(room) = room {
                    room.push(candidate);
                }
            };
            let blank = SeedingCandidate {
                op: place.op,
                whole: false,
                atom: None,
                memory: place.memory,
                axis: place.axis,
                bucket: rule.bucket,
                family: rule.family,
                layout: place.layout.map(|(_, layout)| layout),
                terms: CostTerms::default(),
                parts: TransactionParts::default(),
                verdict: Verdict::Taken,
            };
            let mut offer = |terms: CostTerms, bulk: bool| {
                let rank = |(bulk, terms): (bool, CostTerms)| {
                    (self.prefer_bulk && !bulk, terms.rank(&weights))
                };
                if best.is_none_or(|best| rank((bulk, terms)) < rank(best)) {
                    best = Some((bulk, terms));
                }
            };
            if rule.bulk {
                let outcome = self.descriptor(program, place, rule);
                if let Ok((terms, _)) = outcome {
                    offer(terms, true);
                }
                note(judged(blank, outcome), &mut room);
                continue;
            }
            if place.memory == Space::Tensor {
                if let Some(terms) = self.columns(program, place) {
                    offer(terms, false);
                    note(SeedingCandidate { terms, ..blank }, &mut room);
                }
                continue;
            }
            for copy_atom in self.transfers.touching(place.memory).filter(|c| c.serves_transfers())
            {
                let outcome = if (copy_atom.from, copy_atom.to) == (rule.from, rule.to) {
                    self.moved(program, place, rule, copy_atom)
                } else {
                    Err(Verdict::Spaces { from: copy_atom.from, to: copy_atom.to })
                };
                if let Ok((terms, _)) = outcome {
                    offer(terms, false);
                }
                if room.is_some() {
                    note(
                        SeedingCandidate { atom: Some(copy_atom.atom), ..judged(blank, outcome) },
                        &mut room,
                    );
                }
            }
        }
        best.map(|(_, terms)| terms)
    }

    /// The tile and its memory's map, with what is certain of its alignment.
    fn map(
        &self,
        program: &Program<'_, '_>,
        place: &OpSite,
    ) -> Option<(TileShape, MemoryMap, u32)> {
        let memory = memory_of(program, place.op)?;
        if let Some((shape, layout)) = place.layout {
            // Shared tiles are placed as their layout needs, and never below a bank's widest
            // access.
            return Some((shape, layout.map(shape)?, layout.align(128)));
        }
        let shape = tile_of(program, place.op)
            .and_then(|tile| self.shape(program, &program.type_of(tile)))
            .or_else(|| self.shape(program, &program.type_of(memory)))?;
        let certain = |key: &str| {
            program
                .int_value_attr(memory, key)
                .and_then(|n| u32::try_from(n).ok())
                .filter(|n| *n > 0)
        };
        let element = u32::from(shape.bits / 8).max(1);
        let rows = certain(attr_names::STRIDE_DIV)
            .map_or(element, |div| 1u32.wrapping_shl(div.trailing_zeros()).saturating_mul(element));
        let start = certain(attr_names::ALIGN)
            .map_or(element, |align| 1u32.wrapping_shl(align.trailing_zeros()));
        Some((shape, MemoryMap::global(shape, true), start.min(rows).max(element)))
    }

    fn moved(
        &self,
        program: &Program<'_, '_>,
        place: &OpSite,
        rule: &CandidateRule,
        copy_atom: &CopyAtom,
    ) -> Result<(CostTerms, TransactionParts), Verdict> {
        let form = Verdict::Illegal(Reject::Form);
        let (shape, map, align) = self.map(program, place).ok_or(Verdict::Illegal(Reject::Size))?;
        if align < u32::from(rule.align_bytes) {
            return Err(Verdict::Alignment { need: u32::from(rule.align_bytes), have: align });
        }
        let role = program.role(place.op);
        // Rows that an index chooses, and elements that are combined one by one, lie apart.
        let apart = role == OpRole::Atomic || is_indexed(program, place.op);
        let atom = self.target.tables.atom(copy_atom.atom).ok_or(form)?;
        let crosses = atom.movement.is_some_and(|movement| {
            movement.crosses_lanes || movement.from.slot_bytes != movement.to.slot_bytes
        });
        if apart && crosses && rule.family != Family::Shared && copy_atom.share_bytes > 16 {
            return Err(form);
        }
        if role == OpRole::Atomic && copy_atom.share_bytes > u32::from(shape.bits / 8).max(4) {
            return Err(Verdict::Illegal(Reject::Share {
                atom_bits: copy_atom.share_bytes.saturating_mul(8),
                tile_bits: u32::from(shape.bits),
            }));
        }
        let global;
        let evaluated = if role == OpRole::Copy {
            global = MemoryMap::global(shape, true);
            let (from, to) = (EndMap::Global(&global, 16, None), EndMap::Shared(&map, align));
            let ends = if copy_atom.from == Space::Global { (from, to) } else { (to, from) };
            self.target.evaluate(copy_atom, ends.0, ends.1, u32::MAX)
        } else {
            let axis = if rule.family == Family::Blocked { SubAxis::Free } else { place.axis };
            let row_major = place.layout.is_none_or(|(_, layout)| layout.row_major);
            let fragment = self
                .fragment(shape, axis, copy_atom.share_bytes, row_major)
                .ok_or(Verdict::Illegal(Reject::Size))?;
            let memory = if place.memory == Space::Shared {
                EndMap::Shared(&map, align)
            } else {
                EndMap::Global(&map, align, None)
            };
            let registers = EndMap::Registers(&fragment);
            let ends = if copy_atom.from == Space::Register {
                (registers, memory)
            } else {
                (memory, registers)
            };
            self.target.evaluate(copy_atom, ends.0, ends.1, u32::MAX)
        };
        let figures = evaluated.map_err(Verdict::Illegal)?.figures;
        let parts = TransactionParts {
            count: figures.count,
            each: figures.conflicts.transactions,
            least: figures.conflicts.least,
        };
        Ok((
            CostTerms {
                shared: parts.each.saturating_mul(parts.count),
                tensor: 0,
                registers: figures.registers,
            },
            parts,
        ))
    }

    /// A tile that stays in memory: an operand that a product reads there, or a tiled copy by a
    /// tensor map.
    fn descriptor(
        &self,
        program: &Program<'_, '_>,
        place: &OpSite,
        rule: &CandidateRule,
    ) -> Result<(CostTerms, TransactionParts), Verdict> {
        let (shape, layout) = place.layout.ok_or(Verdict::Descriptor)?;
        let copies = program.role(place.op) == OpRole::Copy;
        if !copies && place.own {
            return Err(Verdict::Bound);
        }
        if !copies && place.bound {
            return Err(Verdict::Family);
        }
        if !copies && !self.descriptors {
            return Err(Verdict::Descriptor);
        }
        let have = layout.align(128);
        if have < u32::from(rule.align_bytes) {
            return Err(Verdict::Alignment { need: u32::from(rule.align_bytes), have });
        }
        self.described(shape, layout, copies)
    }

    /// A tile that a descriptor says, of a product's operand or of a copy.
    pub fn described(
        &self,
        shape: TileShape,
        layout: SharedLayout,
        copies: bool,
    ) -> Result<(CostTerms, TransactionParts), Verdict> {
        let TargetInfo { tables, arch, .. } = self.target;
        let post = layout.post;
        let mode = swizzle::modes(tables, arch).find(|mode| match (post, mode.xor) {
            (PostMap::None, []) => true,
            (PostMap::Swizzle(mine), [theirs]) => mine == *theirs,
            _ => false,
        });
        let mode = mode.ok_or(Verdict::Descriptor)?;
        let (across, along) = if layout.row_major {
            (shape.row_count(), shape.col_count())
        } else {
            (shape.col_count(), shape.row_count())
        };
        let row = along.saturating_mul(u64::from(shape.bits / 8));
        let span = u64::from(mode.span_bytes);
        if copies {
            let map = tables
                .units
                .tensor_maps
                .iter()
                .find(|map| arch.features.contains(&map.feature))
                .ok_or(Verdict::Descriptor)?;
            // Copies to shared memory; the element's type is the first of its width that is no
            // packing.
            let same = |e: &&lanebook_tables::MapElement<'_>| {
                u16::from(e.bits) == shape.bits && e.shared_bits == e.bits
            };
            let taken = map.elements.iter().find(same).is_none_or(|e| {
                lanebook_tile::unit::map::takes(tables, arch, e, mode, (true, false)).is_ok()
            });
            if !taken {
                return Err(Verdict::Descriptor);
            }
            let inner = if span > 0 { row.min(span) } else { row };
            let legal = row.checked_rem(u64::from(map.box_bytes).max(1)) == Some(0)
                && across <= u64::from(map.box_max)
                && inner <= u64::from(map.box_max).saturating_mul(u64::from(shape.bits / 8));
            if !legal {
                return Err(Verdict::Descriptor);
            }
        } else if span > 0 && row.checked_rem(span) != Some(0) {
            return Err(Verdict::Descriptor);
        }
        // One pass over the banks a row of the mode, shared by the warps; a swizzle that is wider
        // has no conflicts, none at all has.
        let bank_span = u64::from(self.shapes.bank_span).max(1);
        let least = shape
            .bytes()
            .checked_div(bank_span)
            .unwrap_or(0)
            .checked_shr(u32::from(self.target.warps))
            .unwrap_or(0);
        let factor = if copies {
            1
        } else {
            bank_span.checked_div(span.max(u64::from(mode.atom_bytes)).max(1)).unwrap_or(1).max(1)
        };
        let count = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let parts = TransactionParts { count: count(least), each: count(factor), least: 1 };
        Ok((
            CostTerms { shared: count(least.saturating_mul(factor)), tensor: 0, registers: 0 },
            parts,
        ))
    }

    /// A tile of tensor memory: columns and registers that a lane takes.
    fn columns(&self, program: &Program<'_, '_>, place: &OpSite) -> Option<CostTerms> {
        let TargetInfo { tables, arch, wave, warps, .. } = self.target;
        let memory = tables
            .units
            .tensor_memories
            .iter()
            .find(|memory| arch.features.contains(&memory.feature))?;
        let tile = tile_of(program, place.op)?;
        let shape = self.shape(program, &program.type_of(tile))?;
        let bits = shape
            .bytes()
            .checked_mul(8)?
            .checked_shr(u32::from(wave).saturating_add(u32::from(warps)))?;
        let cells = u32::try_from(bits.div_ceil(u64::from(memory.cell_bits).max(1))).ok()?;
        Some(CostTerms { shared: 0, tensor: cells, registers: cells })
    }
}

/// A candidate with what judging it came to.
fn judged(
    blank: SeedingCandidate,
    outcome: Result<(CostTerms, TransactionParts), Verdict>,
) -> SeedingCandidate {
    match outcome {
        Ok((terms, parts)) => SeedingCandidate { terms, parts, ..blank },
        Err(verdict) => SeedingCandidate { verdict, ..blank },
    }
}

/// Whether a load or store takes rows that a tile of indices chooses.
fn is_indexed(program: &Program<'_, '_>, op: Op) -> bool {
    let number = if program.role(op) == OpRole::Load { 1 } else { 2 };
    program.operand(op, number).is_some_and(|value| {
        let ty = program.type_of(value);
        ty.is_tile() && !ty.is_memory()
    })
}

/// Where a candidate leaves a tile, in the notes' four buckets: operand A or B, register or memory;
/// `None` for other tiles.
#[must_use]
pub const fn bucket_of(axis: SubAxis, bucket: Bucket) -> Option<&'static str> {
    match (axis, bucket) {
        (SubAxis::A, Bucket::Register) => Some("A register"),
        (SubAxis::A, Bucket::Memory) => Some("A memory"),
        (SubAxis::B, Bucket::Register) => Some("B register"),
        (SubAxis::B, Bucket::Memory) => Some("B memory"),
        _ => None,
    }
}
