//! Chooses matrix atoms with their split over warps: candidates are listed, priced with all their
//! movements from the cheapest on, and the best one is written to the plan.

use crate::data::ConversionPlace;
use crate::data::{
    Candidate, End, Plan, PlanError, PlanPool, ProductPlan, RejectedCandidate, Unsummed,
};
use crate::select::fragments::explicit_layouts::text;
use crate::select::fragments::flow::{Crossed, spread};
use crate::select::matrix::mma_candidates::MmaProblem;
use crate::select::matrix::own_cost::{OwnCost, inputs_are_pooled};
use crate::select::matrix::scales::SCALE_WAYS;
use crate::select::matrix::shared_operands::MAX_UNIT_USES;
use crate::select::planner::{MOST_SLICES, Planner, full};
use lanebook_ir::{Op, Value, attr_names};
use lanebook_tables::OpRole;
use lanebook_tile::evaluate::TargetInfo;
use lanebook_tile::map::Fragment;
use lanebook_tile::product::Product;
use lanebook_tile::tiling::Reject;
use lanebook_tile::unit::tensor;

/// A product that an atom is chosen for.
struct ProductSite<'t> {
    op: Op,
    /// A, B, C and D.
    values: [Value; 4],
    problem: MmaProblem,
    own: OwnCost<'t>,
    columns: TensorColumns,
}

/// Columns of tensor memory.
#[derive(Copy, Clone)]
struct TensorColumns {
    /// All of them.
    whole: u32,
    /// What earlier products have: it is theirs as long as the kernel runs.
    taken: u32,
    /// What this product may take.
    left: u32,
}

/// Why candidates were refused.
struct Refusals {
    /// What was found last.
    last: PlanError,
    /// Some candidate's movements were looked at: units can be given what it reads by itself.
    priced: bool,
    /// Of the cheapest candidate that leaves its sums as they are written, where no conversion of
    /// the product's own tiles would help.
    as_written: Option<PlanError>,
    /// Of the cheapest candidate for which a conversion is missing.
    conflict: Option<PlanError>,
    /// The fewest columns of tensor memory that a candidate needs where too few are left, and how
    /// many of them are for scales.
    fewest_columns: Option<(u32, u32)>,
}

impl Refusals {
    /// What is said of a candidate that could not be used after all.
    fn why(&self) -> PlanError {
        self.as_written.or(self.conflict).unwrap_or(self.last)
    }

    /// What is said where no candidate is left.
    fn none_left(&self, site: &ProductSite<'_>) -> PlanError {
        let TensorColumns { whole, taken, .. } = site.columns;
        self.fewest_columns.map_or(self.why(), |(need, scales)| PlanError::TensorMemory {
            op: site.op,
            need: taken.saturating_add(need),
            scales,
            have: whole,
        })
    }
}

/// What candidates must be like, from what is wanted to the last resort.
struct CandidateStage {
    /// A machine instruction, not one that the assembler expands.
    native: bool,
    /// An input may have more registers than a lane can hold of a tile: it comes slice by slice.
    sliced: bool,
    /// Some warps do what others do, because the tile has too few instances for all of them.
    replicated: bool,
}

const STAGES: [CandidateStage; 5] = [
    CandidateStage { native: true, sliced: false, replicated: false },
    CandidateStage { native: true, sliced: true, replicated: false },
    CandidateStage { native: true, sliced: false, replicated: true },
    CandidateStage { native: false, sliced: false, replicated: false },
    CandidateStage { native: false, sliced: false, replicated: true },
];

/// How results and scales of a product stand in registers.
#[derive(Copy, Clone, Default)]
struct ProductForm {
    /// Results that become narrower take a register each; else they are packed.
    unpacked: bool,
    /// Which scales share a register; below [`SCALE_WAYS`].
    scales: u8,
}

/// A candidate with its movements priced.
struct PricedForm {
    /// What its movements cost; `None` if that is the limit or more in any case.
    cost: Result<Option<u32>, PlanError>,
    /// The cheapest form.
    form: ProductForm,
    /// It was the only one looked at.
    once: bool,
}

/// The best candidate so far.
struct BestProduct {
    product: Product,
    cost: u32,
    form: ProductForm,
}

/// A product as a candidate.
fn named(product: &Product) -> Candidate {
    match product.tensor {
        Some(loads) => Candidate::Tensor(product.atom, loads.form),
        None if product.transposed => {
            Candidate::Transposed(product.atom, product.warps.1, product.warps.0)
        }
        None => Candidate::Matrix(product.atom, product.warps.0, product.warps.1),
    }
}

/// How many registers a lane has of the widest tile of a candidate.
fn most_registers(product: &Product) -> u16 {
    product.in_registers().map(Fragment::registers).max().unwrap_or(0)
}

impl<'t> Planner<'_, 't, '_, '_> {
    /// Chooses an atom and a split over warps for each product.
    pub(crate) fn select_products(&mut self, function: Op) -> Result<(), PlanError> {
        for op in self.program.inside(function) {
            if self.program.role(op) == OpRole::Matrix {
                self.select_mma(op)?;
            }
        }
        self.cross_conversions(Crossed::Own)
    }

    #[inline(never)]
    fn select_mma(&mut self, op: Op) -> Result<(), PlanError> {
        let site = self.product_site(op)?;
        let mut refusals = Refusals {
            last: match self.in_tensor_memory(op)? {
                true => PlanError::Sums { op, why: Unsummed::Form },
                false => self.why_unscaled(op).unwrap_or(PlanError::NoMatrixAtom(op)),
            },
            priced: false,
            as_written: None,
            conflict: None,
            fewest_columns: None,
        };
        if let Some((atom, form, (warps, needed))) = self.out_of_reach(op) {
            self.reject(op, Candidate::Tensor(atom, form), Reject::Reach { warps, needed }, 0);
            refusals.last = PlanError::TensorReach { op, warps, needed };
        }
        let mut best = None;
        for stage in &STAGES {
            self.list_candidates(&site, stage, &mut refusals)?;
            self.cheapest_product(&site, &mut refusals, &mut best)?;
            // What is refused for its movements may be served by a conversion, which is put in before
            // a later stage's candidates are asked.
            if best.is_some() || refusals.priced {
                break;
            }
        }
        match &best {
            Some(best) => self.settle_product(&site, best, &refusals),
            None => Err(refusals.none_left(&site)),
        }
    }

    /// Whether the program says that a product's sums stand in tensor memory.
    fn in_tensor_memory(&self, op: Op) -> Result<bool, PlanError> {
        let is_said = self.program.has_attr(op, attr_names::SUMS);
        match tensor::memory(self.target.tables, self.target.arch) {
            Err(_) if is_said => Err(PlanError::Sums { op, why: Unsummed::Absent }),
            _ => Ok(is_said),
        }
    }

    /// What candidates for a product are judged by.
    #[inline(never)]
    fn product_site(&self, op: Op) -> Result<ProductSite<'t>, PlanError> {
        let TargetInfo { tables, arch, .. } = self.target;
        let program = self.program;
        let value = |k: usize| program.operand(op, k).ok_or(PlanError::Unsupported(op));
        let (a, b, c) = (value(0)?, value(1)?, value(2)?);
        let d = program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
        for input in [a, b] {
            program.type_of(input).shape.pair().ok_or(PlanError::Extents(op))?;
        }
        let problem = self.given(op).ok_or(PlanError::Unsupported(op))?;
        let whole = tensor::memory(tables, arch).map_or(0, |memory| u32::from(memory.columns));
        let taken = self.columns_taken();
        Ok(ProductSite {
            op,
            values: [a, b, c, d],
            problem,
            own: self.own_cost(&problem, [a, b]),
            columns: TensorColumns {
                whole,
                taken,
                left: whole.saturating_sub(taken).min(self.limits.columns),
            },
        })
    }

    fn reject(&mut self, op: Op, what: Candidate, why: Reject, cost: u32) {
        self.plan.lose(RejectedCandidate { op, what, why, cost });
    }

    /// Lists the candidates of a stage, each with what it costs by itself.
    #[inline(never)]
    fn list_candidates(
        &mut self,
        site: &ProductSite<'_>,
        stage: &CandidateStage,
        refusals: &mut Refusals,
    ) -> Result<(), PlanError> {
        self.order.clear();
        if stage.sliced {
            // These are asked again.
            let op = site.op;
            let again =
                |r: &RejectedCandidate| r.op == op && matches!(r.why, Reject::Registers { .. });
            self.plan.rejected.retain(|r| !again(r));
        }
        for number in site.problem.numbers(self.target, stage.native) {
            let Some(product) = self
                .candidate(&site.problem, number)
                .filter(|p| (p.replicated_warps > 0) == stage.replicated)
                .filter(|p| !stage.sliced || most_registers(p) > self.target.isa.tile_most())
            else {
                continue;
            };
            if !self.has_columns(site, &product, refusals)
                || !self.has_registers(site.op, &product, stage.sliced, refusals)
            {
                continue;
            }
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            let capacity = self.order.capacity();
            self.order
                .push((site.own.of(&product), number))
                .map_err(|_| full(PlanPool::Candidates, capacity, site.op))?;
        }
        Ok(())
    }

    /// Whether tensor memory has the columns that a candidate needs.
    fn has_columns(
        &mut self,
        site: &ProductSite<'_>,
        product: &Product,
        refusals: &mut Refusals,
    ) -> bool {
        let Some(loads) = product.tensor else { return true };
        let Some(scales) = self.scale_columns(site.op, product) else {
            self.reject(site.op, named(product), Reject::Descriptor, 0);
            return false;
        };
        let a = product.tensor_a.map_or(0, |a| u32::from(a.columns.get()));
        let need = u32::from(loads.columns.get()).saturating_add(a).saturating_add(scales);
        let have = site.columns.left;
        if need <= have {
            return true;
        }
        let fewest = refusals.fewest_columns.filter(|least| least.0 <= need);
        refusals.fewest_columns = fewest.or(Some((need, scales)));
        self.reject(site.op, named(product), Reject::Columns { need, have }, 0);
        false
    }

    /// Whether no tile of a candidate takes more registers than there can be.
    fn has_registers(
        &mut self,
        op: Op,
        product: &Product,
        sliced: bool,
        refusals: &mut Refusals,
    ) -> bool {
        let most = self.target.isa.tile_most();
        let registers = most_registers(product);
        // Where the assembler allocates, so many that it has as many for what comes.
        let sums = match inputs_are_pooled(&self.target, product) {
            true => most,
            false => most / 2,
        };
        let is_sliced = sliced && product.c.registers() <= sums;
        if registers <= if is_sliced { most.saturating_mul(MOST_SLICES) } else { most } {
            return true;
        }
        let fewest = match refusals.last {
            PlanError::Registers { registers, .. } => registers,
            _ => u16::MAX,
        };
        refusals.last = PlanError::Registers { op, registers: registers.min(fewest), most };
        self.reject(op, named(product), Reject::Registers { registers, most }, 0);
        false
    }

    /// Takes the candidate that is cheapest by itself from the list.
    fn next_candidate(&mut self) -> Option<(u32, u16)> {
        let (at, entry) = self.order.iter().enumerate().min_by_key(|(_, entry)| **entry)?;
        let found = *entry;
        let last = self.order.pop()?;
        if let Some(place) = self.order.get_mut(at) {
            *place = last;
        }
        Some(found)
    }

    /// The candidate that is cheapest with all its movements. Cheapest first: once a total
    /// undercuts what the rest cost by themselves, they need no look. It is left where the caller
    /// has room for it: candidates are large, and all pricing stands above this frame.
    #[inline(never)]
    fn cheapest_product(
        &mut self,
        site: &ProductSite<'_>,
        refusals: &mut Refusals,
        best: &mut Option<BestProduct>,
    ) -> Result<(), PlanError> {
        let op = site.op;
        self.settled = (self.plan.fragments.len(), self.units.len());
        while let Some((base, number)) = self.next_candidate() {
            let least = best.as_ref().map_or(u32::MAX, |best| best.cost);
            let is_dearer = best.is_some() && least <= base;
            let reasons = self.plan.rejected.capacity() > 0;
            if is_dearer && !reasons {
                self.plan.rejected_dropped = self.plan.rejected_dropped.saturating_add(1);
                continue;
            }
            let Some(product) = self.candidate(&site.problem, usize::from(number)) else {
                continue;
            };
            let what = named(&product);
            if is_dearer {
                self.reject(op, what, Reject::Dearer, base);
                continue;
            }
            // Reasons are kept with exact costs; else what cannot win need not be priced to its
            // end.
            let exact = reasons || best.is_none() || self.program.scales(op).is_some();
            let limit = if exact { u32::MAX } else { least.saturating_sub(base) };
            let Some(PricedForm { cost, form, once }) =
                self.price_candidate(site, &product, limit)?
            else {
                self.reject(op, what, Reject::Descriptor, 0);
                continue;
            };
            refusals.priced = true;
            let over = best.as_ref().map(|_| limit);
            match cost.and_then(|moves| moves.or(over).ok_or(PlanError::Undecided(op))) {
                Ok(moves) if best.is_some() && least <= moves.saturating_add(base) => {
                    self.reject(op, what, Reject::Dearer, moves.saturating_add(base));
                }
                Ok(moves) => {
                    if let Some(old) = best {
                        self.reject(op, named(&old.product), Reject::Dearer, old.cost);
                    }
                    let cost = moves.saturating_add(base);
                    *best = Some(BestProduct { product, cost, form });
                    self.keep_layouts(once);
                }
                Err(e) => {
                    refusals.last = e;
                    let is_conflict = matches!(e, PlanError::Conflict { place: Some(_), .. });
                    refusals.conflict = refusals.conflict.or(is_conflict.then_some(e));
                    if !is_conflict && self.leaves_as_written(site, &product) {
                        refusals.as_written = refusals.as_written.or(Some(e));
                    }
                    let why =
                        if let PlanError::NoCopyAtom { why, .. } = e { why } else { Reject::Form };
                    self.reject(op, what, why, 0);
                }
            }
        }
        Ok(())
    }

    /// Whether a candidate's sums stand as the program writes their layout.
    fn leaves_as_written(&self, site: &ProductSite<'_>, product: &Product) -> bool {
        let [.., c, d] = site.values;
        let written = [c, d].into_iter().filter(|value| text(self.program, *value).is_some());
        let mut known = written.filter_map(|value| self.plan.fragment_of(value));
        known.next().is_some_and(|(_, known)| *known == product.c)
    }

    /// Prices a candidate in each form that may do; `None` where the unit reads a tile by itself
    /// that cannot be given to it.
    #[inline(never)]
    fn price_candidate(
        &mut self,
        site: &ProductSite<'_>,
        product: &Product,
        limit: u32,
    ) -> Result<Option<PricedForm>, PlanError> {
        let [a, b, ..] = site.values;
        let Some(uses) = self.unit_uses(site.op, product, [a, b]) else { return Ok(None) };
        let (mark, known) = (self.plan.fragments.len(), self.units.len());
        self.units
            .extend_from_slice(&uses)
            .map_err(|_| full(PlanPool::UnitOperands, MAX_UNIT_USES, site.op))?;
        // Results that become narrower are packed, or, where no instruction can store them so, take
        // a register each.
        let (mut form, mut once) = (ProductForm::default(), true);
        let mut cost = self.price_product(site, product, form, limit);
        if matches!(cost, Err(PlanError::NoCopyAtom { .. }))
            && self.plan.fragments.iter().any(|f| f.fragment.shape.bits < product.c.shape.bits)
        {
            self.plan.fragments.truncate(mark);
            (form.unpacked, once) = (true, false);
            cost = self.price_product(site, product, form, limit);
        }
        self.plan.fragments.truncate(mark);
        // Scales that share registers, or do not: whatever is cheapest.
        let has_scales = self.program.scales(site.op).is_some() && product.tensor.is_none();
        for scales in 1..if has_scales { SCALE_WAYS } else { 1 } {
            once = false;
            let other = ProductForm { unpacked: false, scales };
            let next = self.price_product(site, product, other, limit);
            self.plan.fragments.truncate(mark);
            let better = match (next, cost) {
                (Ok(next), Ok(least)) => next.unwrap_or(u32::MAX) < least.unwrap_or(u32::MAX),
                (next, Err(_)) => !matches!(next, Err(PlanError::Undecided(_))),
                (Err(_), Ok(_)) => false,
            };
            if better {
                (form, cost) = (other, next);
            }
        }
        self.units.truncate(known);
        Ok(Some(PricedForm { cost, form, once }))
    }

    /// Writes the chosen product to the plan.
    #[inline(never)]
    fn settle_product(
        &mut self,
        site: &ProductSite<'_>,
        best: &BestProduct,
        refusals: &Refusals,
    ) -> Result<(), PlanError> {
        let (op, [a, b, c, d]) = (site.op, site.values);
        let BestProduct { product, form, .. } = best;
        let uses = self.unit_uses(op, product, [a, b]).ok_or(refusals.why())?;
        self.units
            .extend_from_slice(&uses)
            .map_err(|_| full(PlanPool::UnitOperands, MAX_UNIT_USES, op))?;
        self.place_product(site, product, form.unpacked)?;
        self.place_scales(op, product, form.scales)?;
        let scales = self.scale_plans(op, product, form.scales)?;
        // Operands in shared memory are named when their layouts are settled.
        let index = |plan: &Plan<'_>, v: Value| {
            plan.fragment_of(v).map(|(k, _)| End::Registers(k)).ok_or(PlanError::Undecided(op))
        };
        let input = |plan: &Plan<'_>, shared: bool, v: Value| {
            if shared { Ok(End::Shared(0)) } else { index(plan, v) }
        };
        let [in_a, in_b] = product.shared;
        let ends = [
            input(self.plan, in_a, a)?,
            input(self.plan, in_b, b)?,
            index(self.plan, c)?,
            index(self.plan, d)?,
        ];
        let capacity = self.plan.products.capacity();
        self.plan
            .products
            .push(ProductPlan {
                op,
                product: *product,
                ends,
                shared: [None; 2],
                scales,
                copied: [None; 2],
                tensor: None,
            })
            .map_err(|_| full(PlanPool::Products, capacity, op))
    }

    /// Columns of tensor memory that products have for which everything is decided.
    fn columns_taken(&self) -> u32 {
        let each = |p: &ProductPlan| {
            let sums = p.product.tensor.map_or(0, |loads| u32::from(loads.columns.get()));
            let factors = p.product.tensor_a.map_or(0, |a| u32::from(a.columns.get()));
            let scales =
                p.product.tensor.and_then(|_| self.scale_columns(p.op, &p.product)).unwrap_or(0);
            sums.saturating_add(factors).saturating_add(scales)
        };
        self.plan.products.iter().fold(0, |sum, p| sum.saturating_add(each(p)))
    }

    /// Cost of all movements with a product's tiles placed, and of what that means for other
    /// products; `None` if it is `limit` or more in any case.
    #[inline(never)]
    fn price_product(
        &mut self,
        site: &ProductSite<'_>,
        product: &Product,
        form: ProductForm,
        limit: u32,
    ) -> Result<Option<u32>, PlanError> {
        self.place_product(site, product, form.unpacked)?;
        self.place_scales(site.op, product, form.scales)?;
        let Some(moves) = self.total(limit)? else { return Ok(None) };
        if limit < u32::MAX && moves >= limit {
            return Ok(None);
        }
        Ok(Some(moves.saturating_add(self.chain_cost(&site.problem))))
    }

    /// Distributes a product's tiles, and what follows from them.
    #[inline(never)]
    fn place_product(
        &mut self,
        site: &ProductSite<'_>,
        product: &Product,
        unpacked: bool,
    ) -> Result<(), PlanError> {
        let (op, [a, b, c, d]) = (site.op, site.values);
        let [in_a, in_b] = product.shared;
        let mut is_plain = true;
        let mark = self.plan.fragments.len();
        for (value, fragment, shared, number) in [(a, product.a, in_a, 0), (b, product.b, in_b, 1)]
        {
            if shared {
                continue;
            }
            let first = self.plan.fragments.len();
            spread(
                self.program,
                value,
                (fragment, unpacked),
                Some((op, ConversionPlace::Before(number))),
                &self.unread,
                (self.waiting, self.plan.fragments),
            )?;
            // What has the operand's own width all the way is packed in any case.
            is_plain &= self
                .plan
                .fragments
                .iter()
                .skip(first)
                .all(|f| f.fragment.shape.bits == fragment.shape.bits);
        }
        self.free_from = match (unpacked, is_plain) {
            (true, _) => usize::MAX,
            (false, true) => self.plan.fragments.len(),
            (false, false) => mark,
        };
        let places = [(c, ConversionPlace::Before(2)), (d, ConversionPlace::Behind)];
        for (value, place) in places {
            spread(
                self.program,
                value,
                (product.c, unpacked),
                Some((op, place)),
                &self.unread,
                (self.waiting, self.plan.fragments),
            )?;
        }
        Ok(())
    }
}
