//! Candidates of a product, and products in a row: one's result is another's operand.
//!
//! An accumulator is the next operand as it stands where the two instructions distribute them
//! alike; often they do if one of the products is computed as the transposed product of its
//! operands exchanged. What a first product's candidate means for the second is part of its cost.

use crate::select::fragments::explicit_layouts::text;
use crate::select::planner::Planner;
use lanebook_ir::{Op, Value, attr_names};
use lanebook_tables::{Arch, AtomId, Capability, DtypeId, LayoutTrait, OpRole};
use lanebook_tile::evaluate::TargetInfo;
use lanebook_tile::map::Fragment;
use lanebook_tile::matrix::warpgroup;
use lanebook_tile::product::{Product, ProductTile};
use lanebook_tile::unit::tensor;

/// Most values looked at between two products.
const BETWEEN: usize = 24;
/// What it costs when nothing can make the next product's operand.
const NEVER: u32 = 1 << 28;

/// What candidates of a product have in common.
#[derive(Copy, Clone)]
pub(crate) struct MmaProblem {
    op: Op,
    /// Extents along m, n and k.
    tile: (u64, u64, u64),
    /// Element types of A, B, C and D.
    types: [Option<DtypeId>; 4],
    /// Bits of an element of A, B and C.
    bits: (u16, u16, u16),
    /// The program's elements of A and B are two each of these.
    pairs: bool,
    /// It stands in a row with another product.
    chained: bool,
}

impl MmaProblem {
    /// The product.
    pub(crate) fn op(&self) -> Op {
        self.op
    }

    /// Bits of A and B together.
    pub(crate) fn input_bits(&self) -> u64 {
        let ((m, n, k), (a, b, _)) = (self.tile, self.bits);
        m.saturating_mul(u64::from(a))
            .saturating_add(n.saturating_mul(u64::from(b)))
            .saturating_mul(k)
    }

    /// The atoms that multiply elements of these types, those of A and B exchanged or not; where no
    /// matrix unit has such elements, instructions of one lane each.
    fn able<'t>(&self, arch: &Arch<'t>, transposed: bool) -> &'t [AtomId] {
        let [Some(a), Some(b), Some(c), Some(d)] = self.types else { return &[] };
        let units = |a, b| arch.dispatch(Capability::Product { a, b, c, d });
        let (own, other) = if transposed { ((b, a), (a, b)) } else { ((a, b), (b, a)) };
        match (units(own.0, own.1), units(other.0, other.1)) {
            ([], []) => arch.dispatch(Capability::LaneProduct { a: own.0, b: own.1, c, d }),
            (own, _) => own,
        }
    }

    /// Numbers of candidates, ascending: an atom of those that can (a machine instruction or not),
    /// a split over warps or a form of loads from tensor memory, and whether it computes the
    /// transposed product.
    pub(crate) fn numbers<'t>(
        self,
        target: TargetInfo<'t>,
        native: bool,
    ) -> impl Iterator<Item = usize> + use<'t> {
        let (arch, sides) = (target.arch, per_atom(&target).saturating_mul(2));
        let plain = self.able(arch, false);
        let transposed = self.able(arch, true);
        let usable = move |list: &[AtomId], at: usize| {
            list.get(at)
                .and_then(|id| arch.own(*id))
                .is_some_and(|have| have.documented_for_arch && have.native == native)
        };
        (0..plain.len().max(transposed.len())).flat_map(move |at| {
            let usable = (usable(plain, at), usable(transposed, at));
            let fits = move |k: &usize| if k.is_multiple_of(2) { usable.0 } else { usable.1 };
            (0..sides).filter(fits).filter_map(move |k| at.checked_mul(sides)?.checked_add(k))
        })
    }
}

/// Numbers of an atom: a split over warps, or a form of loads from tensor memory.
fn per_atom(target: &TargetInfo<'_>) -> usize {
    usize::from(target.warps).saturating_add(1).max(target.tables.units.tensor_moves.len())
}

/// Whether neighbours in a lane's registers are neighbours in a row. Outside of products in a row the
/// transposed product is of use where they are and those of the product itself are not: rows are what
/// mostly is stored.
fn goes_along_rows(sum: &Fragment) -> bool {
    let cols = u32::from(sum.shape.cols);
    sum.register.as_slice().first().is_some_and(|step| step.checked_shr(cols) == Some(0))
}

impl Planner<'_, '_, '_, '_> {
    /// What candidates of a product have in common; `None` if it is no product of tiles with known
    /// extents.
    pub(crate) fn given(&self, op: Op) -> Option<MmaProblem> {
        let (tables, program) = (self.target.tables, self.program);
        let (a, b, c) = (program.operand(op, 0)?, program.operand(op, 1)?, program.operand(op, 2)?);
        let d = program.result(op, 0)?;
        let pair = |v: Value| program.type_of(v).shape.pair();
        let ((m, k), (_, n)) = (pair(a)?, pair(b)?);
        let types = [a, b, c, d].map(|v| program.type_of(v).dtype);
        let bits = |t: Option<DtypeId>| t.and_then(|t| tables.dtype(t)).map_or(0, |t| t.bits);
        let single = |t: Option<DtypeId>| tables.dtype(t?)?.pair_of;
        let [ta, tb, tc, td] = types;
        let (types, pairs) = match (single(ta), single(tb)) {
            (Some(a), Some(b)) => ([Some(a), Some(b), tc, td], true),
            _ => (types, false),
        };
        let [ta, tb, ..] = types;
        Some(MmaProblem {
            op,
            tile: (u64::from(m), u64::from(n), u64::from(k) << u32::from(pairs)),
            types,
            bits: (bits(ta), bits(tb), bits(tc)),
            pairs,
            chained: self.is_chained(op),
        })
    }

    /// A candidate of a product by its number; of pairs, where the program multiplies those.
    pub(crate) fn candidate(&self, given: &MmaProblem, number: usize) -> Option<Product> {
        self.candidate_in(&self.target, given, number)
    }

    /// The same for a group of another size.
    pub(crate) fn candidate_in(
        &self,
        target: &TargetInfo<'_>,
        given: &MmaProblem,
        number: usize,
    ) -> Option<Product> {
        let product = self.product_in(target, given, number)?;
        self.in_known_order(given, if given.pairs { product.paired()? } else { product })
    }

    /// A candidate of a product of elements as the atom takes them.
    fn product_in(
        &self,
        target: &TargetInfo<'_>,
        given: &MmaProblem,
        number: usize,
    ) -> Option<Product> {
        let TargetInfo { tables, arch, wave, warps, .. } = *target;
        let (transposed, number) = (number % 2 == 1, number / 2);
        let per_atom = per_atom(target);
        let id = *given.able(arch, transposed).get(number.checked_div(per_atom)?)?;
        let along_m = u8::try_from(number.checked_rem(per_atom)?).ok()?;
        let atom = tables.atom(id)?;
        let (op, tile, widths) = (given.op, given.tile, given.bits);
        let whole = || {
            atom.matrix
                .filter(|_| (atom.tensor().is_some() || atom.scaled().is_some()) && !transposed)
        };
        let shape = atom.product().or_else(whole).filter(|_| self.takes_scales(op, atom))?;
        let is_said = self.program.has_attr(op, attr_names::SUMS);
        if is_said && atom.tensor().is_none() {
            return None;
        }
        if atom.tensor().is_some() {
            let known = self
                .before_conversion(op, 0)
                .and_then(|(source, _)| self.plan.fragment_of(source))
                .map(|(_, known)| known);
            return crate::select::matrix::tensor_memory::tensor_product(
                target,
                (id, atom),
                tile,
                widths,
                usize::from(along_m),
                known,
            )
            // Where the program says that they stand there, all lanes have a row each, or the tile
            // has fewer rows.
            .filter(|p| {
                let lanes = tensor::memory(tables, arch).map(|memory| memory.lanes);
                !is_said || p.repeats.0 == 0 || lanes == Ok(p.shape.m)
            });
        }
        let alone = warps.checked_sub(warpgroup(atom, shape.d)?)?;
        // Where there are more warps than instances, all that can be divided is, and warps that are
        // left do what others do.
        let [m, n] =
            if transposed { [tile.1, tile.0] } else { [tile.0, tile.1] }.map(u64::trailing_zeros);
        let most = |all: u32, step: u16| {
            u8::try_from(all.saturating_sub(step.trailing_zeros())).unwrap_or(alone)
        };
        let most = (most(m, shape.m), most(n, shape.n));
        let alike = atom.shared(shape.a).is_none()
            && atom.shared(shape.b).is_none()
            && !atom.params().any(|(_, vary)| vary.grows.1);
        let replicated_warps =
            if alike { alone.saturating_sub(most.0.saturating_add(most.1)) } else { 0 };
        if replicated_warps > 0 && along_m > 0 {
            return None;
        }
        let split =
            if replicated_warps > 0 { most } else { (along_m, alone.checked_sub(along_m)?) };
        let product = match transposed {
            false => Product::new(id, atom, tile, widths, split),
            true => Product::transposed(id, atom, tile, widths, split),
        };
        product
            .and_then(|p| p.repeated(replicated_warps))
            .filter(|p| p.c.lane.len() == usize::from(wave))
            .filter(|p| !transposed || given.chained || goes_along_rows(&p.c))
    }

    /// A candidate with its extents in the order of tiles whose distributions are known: what it adds
    /// to, else its factors, if their layouts are written. The depth's order is free in any case.
    fn in_known_order(&self, given: &MmaProblem, product: Product) -> Option<Product> {
        let op = given.op;
        // Scales pin the depth's order, and so do descriptors.
        if self.program.scales(op).is_some() || product.tensor.is_some() {
            return Some(product);
        }
        let known = |value: Option<Value>| self.plan.fragment_of(value?).map(|(_, known)| known);
        let sum = known(self.program.operand(op, 2)).or(known(self.program.result(op, 0)));
        let mut out =
            sum.and_then(|known| product.in_order_of(ProductTile::C, known)).unwrap_or(product);
        let mut is_ordered = false;
        for (side, tile) in [(0, ProductTile::A), (1, ProductTile::B)] {
            let operand = self.program.operand(op, side);
            let is_written = operand.is_some_and(|v| text(self.program, v).is_some());
            let source = || self.before_conversion(op, side).map(|(source, _)| source);
            let Some(known) = known(if is_written { operand } else { source() }) else { continue };
            let Some(next) = out.in_order_of(tile, known) else { continue };
            if (next.c == out.c || is_written && sum.is_none()) && (next.a == out.a || !is_ordered)
            {
                out = next;
                is_ordered = true;
            }
        }
        Some(out)
    }

    /// Where an operand of a product comes from, and the conversion that the program allows for on
    /// the way.
    fn before_conversion(&self, op: Op, side: usize) -> Option<(Value, Option<Op>)> {
        let value = self.program.operand(op, side)?;
        let convert =
            self.program.def_op(value).filter(|def| self.program.role(*def) == OpRole::Convert);
        Some((convert.and_then(|def| self.program.operand(def, 0)).unwrap_or(value), convert))
    }

    /// Whether a product's result becomes an operand of another product, or one of its operands
    /// comes from another's result.
    pub(crate) fn is_chained(&self, op: Op) -> bool {
        let products = || {
            self.program.inside(self.function).filter(|o| self.program.role(*o) == OpRole::Matrix)
        };
        products().any(|other| other != op && (self.feeds(op, other) || self.feeds(other, op)))
    }

    /// Whether `first`'s result, worked on in registers, is A or B of `second`.
    fn feeds(&self, first: Op, second: Op) -> bool {
        let program = self.program;
        let mut waiting: heapless::Vec<Value, BETWEEN> = heapless::Vec::new();
        let mut looked = 0usize;
        for operand in program.operands(second).take(2) {
            let _ = waiting.push(operand);
        }
        while let Some(value) = waiting.pop() {
            looked = looked.saturating_add(1);
            let Some(def) = program.def_op(value).filter(|_| looked <= BETWEEN) else { continue };
            let passes = match (program.role(def), program.layout_trait(def)) {
                (OpRole::Matrix, _) if def == first => return true,
                (OpRole::Convert, _) | (_, LayoutTrait::Transposing | LayoutTrait::Transparent) => {
                    true
                }
                _ => false,
            };
            for operand in program.operands(def).filter(|_| passes) {
                let _ = waiting.push(operand);
            }
        }
        false
    }

    /// What the distributions that are known mean for products that are not chosen yet: nothing
    /// where one of their candidates takes the operand as it is, else the conversion that the
    /// program allows for.
    #[inline(never)]
    pub(crate) fn chain_cost(&self, first: &MmaProblem) -> u32 {
        let program = self.program;
        let mut sum = 0u32;
        for op in program
            .inside(self.function)
            .filter(|o| program.role(*o) == OpRole::Matrix && *o != first.op)
        {
            if self.plan.product_of(op).is_some() {
                continue;
            }
            for side in [0usize, 1] {
                let Some((source, convert)) = self.before_conversion(op, side) else { continue };
                let Some((_, known)) = self.plan.fragment_of(source) else { continue };
                if self.takes_as_it_is(op, side, known) {
                    continue;
                }
                let cost = self.exchange_estimate(u32::from(known.registers()).saturating_mul(2));
                sum = sum.saturating_add(if convert.is_some() {
                    self.weigh_at(op, cost)
                } else {
                    NEVER
                });
            }
        }
        sum
    }

    /// Whether some candidate of a product has an operand distributed like this.
    fn takes_as_it_is(&self, op: Op, side: usize, known: &Fragment) -> bool {
        let fits = |p: Product| if side == 0 { p.a == *known } else { p.b == *known };
        let Some(given) = self.given(op) else { return false };
        let numbers =
            [true, false].into_iter().flat_map(|native| given.numbers(self.target, native));
        numbers.into_iter().any(|number| self.candidate(&given, number).is_some_and(fits))
    }
}
