//! Deciding: matrix atoms with their split over warps, and the width of tiles that no product
//! fixes.

use crate::data::{
    Candidate, End, FragmentPlan, Plan, PlanError, PlanPool, ProductPlan, RejectedCandidate,
    stored_before,
};
use crate::select::fragments::flow::{RESULT, across, spread};
use crate::select::matrix::mma_candidates::MmaProblem;
use crate::select::matrix::scales::SCALE_WAYS;
use crate::select::matrix::shared_operands::MAX_UNIT_USES;
use crate::select::planner::{CopyEnd, MAX_REGISTERS, MAX_SLICED, Planner, full};
use lanebook_ir::{Op, Value};
use lanebook_tables::{OpRole, Space};
use lanebook_tile::evaluate::TargetInfo;
use lanebook_tile::map::{Fragment, log2_exact};
use lanebook_tile::matrix::blocked;
use lanebook_tile::product::Product;
use lanebook_tile::tiling::Reject;
use lanebook_tile::unit::tensor;

/// How much dearer than others a register is that its class does not have.
const OVERFULL: u32 = 1 << 12;

/// A product as a candidate.
fn named(product: &Product) -> Candidate {
    match product.tensor {
        Some(loads) => Candidate::Tensor(product.atom, loads.form),
        None => Candidate::Matrix(product.atom, product.warps.0, product.warps.1),
    }
}

impl Planner<'_, '_, '_, '_> {
    /// Chooses an atom and a split over warps for each product.
    pub(crate) fn choose_products(&mut self, function: Op) -> Result<(), PlanError> {
        for op in self.program.inside(function) {
            if self.program.role(op) == OpRole::Matrix {
                self.choose_product(op)?;
            }
        }
        self.cross_conversions(false)
    }

    /// Decides what lies behind conversions: whatever nothing else decides is as on their other
    /// side.
    fn cross_conversions(&mut self, all: bool) -> Result<(), PlanError> {
        while let Some((value, fragment)) =
            across(self.program, self.function, all, &self.unread, self.plan.fragments)
        {
            spread(
                self.program,
                value,
                fragment,
                fragment.unpacked,
                None,
                &self.unread,
                self.plan.fragments,
            )?;
        }
        Ok(())
    }

    fn choose_product(&mut self, op: Op) -> Result<(), PlanError> {
        let TargetInfo { tables, arch, isa, .. } = self.target;
        let program = self.program;
        let value = |k: usize| program.operand(op, k).ok_or(PlanError::Unsupported(op));
        let (a, b, c) = (value(0)?, value(1)?, value(2)?);
        let d = program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
        let pair = |v: Value| program.type_of(v).shape.pair().ok_or(PlanError::Extents(op));
        let ((m, k), (_, n)) = (pair(a)?, pair(b)?);
        let bits =
            |v: Value| program.type_of(v).dtype.and_then(|t| tables.dtype(t)).map_or(0, |t| t.bits);
        let w = tables.weights;
        // Registers that the inputs take on their way to shared memory, where nothing brings
        // sixteen bytes a lane there directly.
        let direct = self
            .between_spaces(Space::Global, Space::Shared)
            .iter()
            .any(|copy_atom| copy_atom.share_bytes >= 16);
        let input_bits = u64::from(m)
            .saturating_mul(u64::from(bits(a)))
            .saturating_add(u64::from(n).saturating_mul(u64::from(bits(b))))
            .saturating_mul(u64::from(k));
        let passing = match direct {
            true => 0,
            false => u32::try_from(
                input_bits
                    .checked_div(u64::from(self.plan.threads).saturating_mul(32))
                    .unwrap_or(0),
            )
            .unwrap_or(u32::MAX),
        };
        let stays = [a, b].map(|input| self.stays(op, input));
        let home = self.accumulator_home(op);
        let fetches = if home.is_some_and(|(_, carrier, _)| carrier.is_none()) {
            w.loop_trips.max(1)
        } else {
            1
        };
        let starts = home.is_some_and(|(.., stored)| stored);
        let gives = if stored_before(program, op).is_some() { 1 } else { w.loop_trips.max(1) };
        // Cost of the products themselves and of the registers they hold: known without looking at
        // any movement.
        let own = |product: &Product| {
            let each = u32::from(product.cycles)
                .saturating_mul(w.matrix_cycle)
                .saturating_add(w.instruction);
            let held = product
                .in_registers()
                .fold(0u32, |sum, f| sum.saturating_add(u32::from(f.registers())));
            let output = u32::from(product.c.registers());
            let inputs = held.saturating_sub(output);
            // What the classes' pools do not hold is dearer than anything else: such a product is a
            // last resort.
            let class = |operand: u8| {
                tables
                    .atom(product.atom)
                    .and_then(|atom| atom.operands.get(usize::from(operand)))
                    .map(|o| o.class)
            };
            let pool = |operand: u8| {
                let pool = class(operand)
                    .and_then(|id| isa.classes.get(id.index()))
                    .map_or(0, |c| u32::from(c.pool.1));
                if pool == 0 { u32::MAX } else { pool }
            };
            let (shape_a, d) = (product.shape.a, product.shape.d);
            // An input from outside the loop is there as well while the loop's other products have
            // theirs.
            let stays = stays.into_iter().zip([&product.a, &product.b]).zip(product.shared);
            let stays = stays.fold(0u32, |sum, ((stays, f), shared)| {
                if stays && !shared { sum.saturating_add(u32::from(f.registers())) } else { sum }
            });
            let beside = passing.max(stays);
            let over = match class(shape_a) == class(d) {
                true => held.saturating_add(beside).saturating_sub(pool(shape_a)),
                false => inputs
                    .saturating_add(beside)
                    .saturating_sub(pool(shape_a))
                    .saturating_add(output.saturating_sub(pool(d))),
            };
            let cost = product
                .count()
                .saturating_mul(each)
                .saturating_mul(w.loop_trips.max(1))
                .saturating_add(held.saturating_mul(w.register));
            // Loads from tensor memory stand behind the loop that carries the sum, if one does;
            // else behind each product. So do stores of its start before it. A is stored for each
            // product, or before the loop.
            let fetched = product
                .tensor
                .map_or(0, |t| output.checked_shr(u32::from(t.registers)).unwrap_or(0));
            let moved = fetched.saturating_mul(if starts { 2 } else { 1 }).saturating_mul(fetches);
            let given = product.tensor_a.map_or(0, |t| {
                u32::from(product.a.registers()).checked_shr(u32::from(t.registers)).unwrap_or(0)
            });
            let moved = moved.saturating_add(given.saturating_mul(gives));
            let cost = cost.saturating_add(moved.saturating_mul(w.instruction));
            cost.saturating_add(over.saturating_mul(w.register).saturating_mul(OVERFULL))
        };
        let pooled = |product: &Product| {
            let class = |operand: u8| {
                tables
                    .atom(product.atom)
                    .and_then(|atom| atom.operands.get(usize::from(operand)))
                    .map(|o| o.class)
            };
            let shape = product.shape;
            [shape.a, shape.b].into_iter().all(|k| {
                class(k).and_then(|id| isa.classes.get(id.index())).is_some_and(|c| c.pool.1 != 0)
            })
        };
        let given = self.given(op).ok_or(PlanError::Unsupported(op))?;
        // What earlier products have is theirs as long as the kernel runs.
        let whole = tensor::memory(tables, arch).map_or(0, |memory| u32::from(memory.columns));
        let taken = self.columns_taken();
        let columns = whole.saturating_sub(taken).min(self.limits.columns);
        let mut fewest = None;
        self.order.clear();
        let mut why = self.why_unscaled(op).unwrap_or(PlanError::NoMatrixAtom(op));
        if let Some((atom, form, (warps, needed))) = self.out_of_reach(op) {
            self.plan.lose(RejectedCandidate {
                op,
                what: Candidate::Tensor(atom, form),
                why: Reject::Reach { warps, needed },
                cost: 0,
            });
            why = PlanError::TensorReach { op, warps, needed };
        }
        let kept = (self.plan.rejected.len(), self.plan.rejected_dropped);
        // Inputs of more registers than a tuple has come slice by slice, from a pool that holds no
        // more of them at once: the last resort on a machine. What the assembler would expand is no
        // machine instruction: only where there is none. Warps that do what others do: only where
        // the tile has too few instances for all of them.
        let ways = [
            (true, MAX_REGISTERS, false),
            (true, MAX_SLICED, false),
            (true, MAX_REGISTERS, true),
            (false, MAX_REGISTERS, false),
            (false, MAX_REGISTERS, true),
        ];
        for (native, most, same) in ways {
            if !self.order.is_empty() {
                break;
            }
            if most == MAX_SLICED {
                self.plan.rejected.truncate(kept.0);
                self.plan.rejected_dropped = kept.1;
            }
            for number in given.numbers(self.target, native) {
                let Some(product) =
                    self.candidate(&given, number).filter(|p| (p.spare > 0) == same)
                else {
                    continue;
                };
                if let Some(loads) = product.tensor {
                    let what = Candidate::Tensor(product.atom, loads.form);
                    let Some(scales) = self.scale_columns(op, &product) else {
                        self.plan.lose(RejectedCandidate {
                            op,
                            what,
                            why: Reject::Descriptor,
                            cost: 0,
                        });
                        continue;
                    };
                    let a = product.tensor_a.map_or(0, |a| u32::from(a.columns));
                    let need = u32::from(loads.columns).saturating_add(a).saturating_add(scales);
                    if need > columns {
                        fewest = fewest
                            .filter(|least: &(u32, u32)| least.0 <= need)
                            .or(Some((need, scales)));
                        self.plan.lose(RejectedCandidate {
                            op,
                            what,
                            why: Reject::Columns { need, have: columns },
                            cost: 0,
                        });
                        continue;
                    }
                }
                let registers = product.in_registers().map(Fragment::registers).max().unwrap_or(0);
                if registers
                    > if pooled(&product) && product.c.registers() <= MAX_REGISTERS {
                        most
                    } else {
                        MAX_REGISTERS
                    }
                {
                    let fewest = if let PlanError::Registers { registers, .. } = why {
                        registers
                    } else {
                        u16::MAX
                    };
                    why = PlanError::Registers {
                        op,
                        registers: registers.min(fewest),
                        most: MAX_REGISTERS,
                    };
                    let what = named(&product);
                    self.plan.lose(RejectedCandidate {
                        op,
                        what,
                        why: Reject::Registers { registers, most: MAX_REGISTERS },
                        cost: 0,
                    });
                    continue;
                }
                let number = u16::try_from(number).unwrap_or(u16::MAX);
                let capacity = self.order.capacity();
                self.order
                    .push((own(&product), number))
                    .map_err(|_| full(PlanPool::Candidates, capacity, op))?;
            }
        }
        let mut best: Option<(Product, u32, (bool, u8))> = None;
        // Of the cheapest candidate for which a conversion is missing.
        let mut apart = None;
        let mark = self.plan.fragments.len();
        self.settled = (mark, self.units.len());
        // Cheapest first: once a total undercuts what the rest cost by themselves, they need no
        // look.
        while let Some(next) =
            self.order.iter().enumerate().min_by_key(|(_, entry)| **entry).map(|(at, _)| at)
        {
            let Some(&(base, number)) = self.order.get(next) else { break };
            let Some(last) = self.order.pop() else { break };
            if let Some(place) = self.order.get_mut(next) {
                *place = last;
            }
            let least = best.map_or(u32::MAX, |(_, least, _)| least);
            let reasons = self.plan.rejected.capacity() > 0;
            if best.is_some() && least <= base && !reasons {
                self.plan.rejected_dropped = self.plan.rejected_dropped.saturating_add(1);
                continue;
            }
            let Some(product) = self.candidate(&given, usize::from(number)) else { continue };
            let what = named(&product);
            if best.is_some() && least <= base {
                self.plan.lose(RejectedCandidate { op, what, why: Reject::Dearer, cost: base });
                continue;
            }
            // What the unit reads by itself needs a tile that it can be given.
            let Some(uses) = self.unit_uses(op, &product, [a, b]) else {
                self.plan.lose(RejectedCandidate { op, what, why: Reject::Descriptor, cost: 0 });
                continue;
            };
            let known = self.units.len();
            self.units
                .extend_from_slice(&uses)
                .map_err(|_| full(PlanPool::UnitOperands, MAX_UNIT_USES, op))?;
            // Reasons are kept with exact costs; else what cannot win need not be priced to its
            // end.
            let limit = if reasons || best.is_none() || program.scales(op).is_some() {
                u32::MAX
            } else {
                least.saturating_sub(base)
            };
            // Results that become narrower are packed, or, where no instruction can store them so,
            // take a register each.
            let mut way = (false, 0u8);
            let mut once = true;
            let mut cost = self.price_product(&given, &product, [a, b, c, d], way, limit);
            if matches!(cost, Err(PlanError::NoMover { .. }))
                && self.plan.fragments.iter().any(|f| f.fragment.shape.bits < product.c.shape.bits)
            {
                self.plan.fragments.truncate(mark);
                (way.0, once) = (true, false);
                cost = self.price_product(&given, &product, [a, b, c, d], way, limit);
            }
            self.plan.fragments.truncate(mark);
            // Scales that share registers, or do not: whatever is cheapest.
            for scales in 1..if program.scales(op).is_some() && product.tensor.is_none() {
                SCALE_WAYS
            } else {
                1
            } {
                once = false;
                let next =
                    self.price_product(&given, &product, [a, b, c, d], (false, scales), limit);
                self.plan.fragments.truncate(mark);
                let better = match (next, cost) {
                    (Ok(next), Ok(least)) => next.unwrap_or(u32::MAX) < least.unwrap_or(u32::MAX),
                    (next, Err(_)) => !matches!(next, Err(PlanError::Undecided(_))),
                    (Err(_), Ok(_)) => false,
                };
                if better {
                    (way, cost) = ((false, scales), next);
                }
            }
            self.units.truncate(known);
            match cost
                .and_then(|moves| moves.or(best.map(|_| limit)).ok_or(PlanError::Undecided(op)))
            {
                Ok(moves) => {
                    let cost = moves.saturating_add(base);
                    match best {
                        Some((_, least, _)) if least <= cost => self.plan.lose(RejectedCandidate {
                            op,
                            what,
                            why: Reject::Dearer,
                            cost,
                        }),
                        _ => {
                            if let Some((old, cost, _)) = best {
                                let what = named(&old);
                                self.plan.lose(RejectedCandidate {
                                    op,
                                    what,
                                    why: Reject::Dearer,
                                    cost,
                                });
                            }
                            best = Some((product, cost, way));
                            self.keep_layouts(once);
                        }
                    }
                }
                Err(e) => {
                    why = e;
                    apart = apart.or(Some(e)
                        .filter(|e| matches!(e, PlanError::Conflict { operand: Some(_), .. })));
                    let why =
                        if let PlanError::NoMover { why, .. } = e { why } else { Reject::Form };
                    self.plan.lose(RejectedCandidate { op, what, why, cost: 0 });
                }
            }
        }
        let why = apart.unwrap_or(why);
        let (product, _, way) = best.ok_or(fewest.map_or(why, |(need, scales)| {
            PlanError::TensorMemory { op, need: taken.saturating_add(need), scales, have: whole }
        }))?;
        let uses = self.unit_uses(op, &product, [a, b]).ok_or(why)?;
        self.units
            .extend_from_slice(&uses)
            .map_err(|_| full(PlanPool::UnitOperands, MAX_UNIT_USES, op))?;
        self.place_product(op, &product, [a, b, c, d], way.0)?;
        self.place_scales(op, &product, way.1)?;
        let scales = self.scale_plans(op, &product, way.1)?;
        // Operands in shared memory are named when their layouts are settled.
        let index = |plan: &Plan<'_>, v: Value| {
            plan.fragment_of(v).map(|(k, _)| End::Registers(k)).ok_or(PlanError::Undecided(op))
        };
        let given = |plan: &Plan<'_>, shared: bool, v: Value| {
            if shared { Ok(End::Shared(0)) } else { index(plan, v) }
        };
        let [in_a, in_b] = product.shared;
        let ends = [
            given(self.plan, in_a, a)?,
            given(self.plan, in_b, b)?,
            index(self.plan, c)?,
            index(self.plan, d)?,
        ];
        let capacity = self.plan.products.capacity();
        self.plan
            .products
            .push(ProductPlan {
                op,
                product,
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
            let sums = p.product.tensor.map_or(0, |loads| u32::from(loads.columns));
            let factors = p.product.tensor_a.map_or(0, |a| u32::from(a.columns));
            let scales =
                p.product.tensor.and_then(|_| self.scale_columns(p.op, &p.product)).unwrap_or(0);
            sums.saturating_add(factors).saturating_add(scales)
        };
        self.plan.products.iter().fold(0, |sum, p| sum.saturating_add(each(p)))
    }

    /// Whether an input of a product was there before the product's loop began.
    fn stays(&self, product: Op, input: Value) -> bool {
        let (program, block) = (self.program, self.program.block_of(product));
        let mut at = input;
        while let Some(def) = program.def_op(at) {
            if program.block_of(def) != block {
                return true;
            }
            match (program.role(def), program.operand(def, 0)) {
                (OpRole::Transpose | OpRole::Convert, Some(from)) => at = from,
                _ => break,
            }
        }
        false
    }

    /// Cost of all movements with a product's tiles placed, and of what that means for other
    /// products; `None` if it is `limit` or more in any case.
    #[inline(never)]
    fn price_product(
        &mut self,
        given: &MmaProblem,
        product: &Product,
        values: [Value; 4],
        way: (bool, u8),
        limit: u32,
    ) -> Result<Option<u32>, PlanError> {
        self.place_product(given.op(), product, values, way.0)?;
        self.place_scales(given.op(), product, way.1)?;
        let Some(moves) = self.total(limit)? else { return Ok(None) };
        if limit < u32::MAX && moves >= limit {
            return Ok(None);
        }
        Ok(Some(moves.saturating_add(self.chain_cost(given))))
    }

    #[inline(never)]
    fn place_product(
        &mut self,
        op: Op,
        product: &Product,
        [a, b, c, d]: [Value; 4],
        unpacked: bool,
    ) -> Result<(), PlanError> {
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
                fragment,
                unpacked,
                Some((op, number)),
                &self.unread,
                self.plan.fragments,
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
        for (value, number) in [(c, 2), (d, RESULT)] {
            spread(
                self.program,
                value,
                product.c,
                unpacked,
                Some((op, number)),
                &self.unread,
                self.plan.fragments,
            )?;
        }
        Ok(())
    }

    /// Register tiles that no product fixes: the width that makes all their movements cheapest.
    pub(crate) fn choose_free_tiles(&mut self) -> Result<(), PlanError> {
        // Stores first: what leaves the group wants to leave in wide pieces; then loads whose
        // result nothing stored.
        for stores in [true, false] {
            for k in 0..self.movements.len() {
                let Some(&movement) = self.movements.get(k) else { continue };
                let value = match (stores, movement.from, movement.to) {
                    (true, CopyEnd::Registers(v), _) | (false, _, CopyEnd::Registers(v)) => v,
                    _ => continue,
                };
                if self.plan.fragment_of(value).is_none() && !self.is_absorbed(movement.op) {
                    self.choose_free_tile(movement.op, value)?;
                }
            }
        }
        self.cross_conversions(true)?;
        self.choose_reduced()?;
        self.choose_repeated()
    }

    pub(crate) fn choose_free_tile(&mut self, op: Op, value: Value) -> Result<(), PlanError> {
        let shape = self.shape_of(op, value)?;
        let mark = self.plan.fragments.len();
        (self.settled, self.free_from) = ((mark, self.units.len()), usize::MAX);
        let mut best: Option<(FragmentPlan, u8, u32)> = None;
        let mut why = PlanError::Undecided(op);
        let narrowest =
            32u16.checked_div(shape.bits).map_or(0, |n| log2_exact(u64::from(n)).unwrap_or(0));
        // The last resort, where elements lie alone in memory: each in a register of its own.
        let packed = (narrowest..=shape.cols.min(7)).rev().map(|vector| (vector, false));
        for (vector, unpacked) in packed.chain((narrowest > 0).then_some((0, true))) {
            let Some(mut fragment) =
                blocked(shape, vector, self.target.wave, self.target.warps, true)
            else {
                continue;
            };
            if unpacked && best.is_some() {
                continue;
            }
            fragment.unpacked = unpacked;
            let registers = fragment.registers();
            if registers > MAX_REGISTERS {
                why = PlanError::Registers { op, registers, most: MAX_REGISTERS };
                self.plan.lose(RejectedCandidate {
                    op,
                    what: Candidate::Blocked(vector),
                    why: Reject::Registers { registers, most: MAX_REGISTERS },
                    cost: 0,
                });
                continue;
            }
            let limit = best
                .filter(|_| self.plan.rejected.capacity() == 0)
                .map_or(u32::MAX, |(_, _, least)| least);
            let cost = spread(
                self.program,
                value,
                fragment,
                unpacked,
                None,
                &self.unread,
                self.plan.fragments,
            )
            .and_then(|()| self.cross_conversions(false))
            .and_then(|()| self.total(limit));
            self.plan.fragments.truncate(mark);
            let what = Candidate::Blocked(vector);
            match (cost.map(|cost| cost.unwrap_or(limit)), best) {
                (Ok(cost), Some((_, _, least))) if least <= cost => {
                    self.plan.lose(RejectedCandidate { op, what, why: Reject::Dearer, cost })
                }
                (Ok(cost), old) => {
                    if let Some((_, vector, cost)) = old {
                        self.plan.lose(RejectedCandidate {
                            op,
                            what: Candidate::Blocked(vector),
                            why: Reject::Dearer,
                            cost,
                        });
                    }
                    best = Some((FragmentPlan { value, fragment }, vector, cost));
                    self.keep_layouts(true);
                }
                (Err(e), _) => {
                    why = e;
                    let why =
                        if let PlanError::NoMover { why, .. } = e { why } else { Reject::Form };
                    self.plan.lose(RejectedCandidate { op, what, why, cost: 0 });
                }
            }
        }
        let (chosen, _, _) = best.ok_or(why)?;
        spread(
            self.program,
            value,
            chosen.fragment,
            chosen.fragment.unpacked,
            None,
            &self.unread,
            self.plan.fragments,
        )?;
        self.cross_conversions(false)
    }
}
