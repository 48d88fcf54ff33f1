//! Products in place that a group of warps computes together: their unit reads what lies in shared
//! memory by itself, through descriptors; sums, and a left factor in a fragment, stay in registers.
//! Sums of a unit that leaves them in tensor memory stay there while a loop turns in which nothing
//! else touches them.

use crate::elements::nest::Chunk;
use crate::elements::product::{InPlaceProduct, InPlaceSide};
use crate::elements::sums::BlockRegisters;
use crate::elements::{ElementReason, refused};
use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::KeptFor;
use crate::step::{ALL_ARGS, InstKind, Slot, slot};
use crate::sync::order::{PendingAccesses, around};
use lanebook_ir::{Op, Program, Value, attr_names};
use lanebook_loops::{Fact, TensorSums, Told, UnitProduct, product_in_tensor, unit_product};
use lanebook_plan::{End, InShared, InTensor, Plan, PlanError, PlanPool, ProductPlan};
use lanebook_tables::{OpRole, Tables};
use lanebook_tile::map::{Fragment, TileShape};
use lanebook_tile::product::{Product, ProductInput};

/// Most blocks of a left factor in registers that are multiplied without a wait between.
const LEFTS: usize = 32;

/// Puts the products whose units read operands by themselves into a plan.
///
/// # Errors
/// [`PlanError::Capacity`].
pub(super) fn plan_unit_products(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    told: &Told<'_>,
    plan: &mut Plan<'_>,
) -> Result<(), PlanError> {
    let arch = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    plan.products.clear();
    for op in program.inside(told.function()) {
        if program.role(op) != OpRole::ProductInto {
            continue;
        }
        let Some(product) = unit_product(program, (tables, arch), told, op) else { continue };
        add(tables, program, told, plan, (op, &product))?;
    }
    Ok(())
}

/// One more product of a plan, and what its unit reads as it lies.
#[inline(never)] // A plan of a product is long.
fn add(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    told: &Told<'_>,
    plan: &mut Plan<'_>,
    (op, own): (Op, &UnitProduct<'_>),
) -> Result<(), PlanError> {
    let stale = PlanError::Undecided(op);
    let mut shared = [None; 2];
    for (given, operand) in shared.iter_mut().zip(&own.operands) {
        let Some(operand) = operand else { continue };
        let value = told.value(operand.buffer).ok_or(stale)?;
        let (number, _) = plan.alloc_of(value).ok_or(stale)?;
        *given = Some(InShared {
            alloc: number,
            load: op,
            transposed: operand.transposed,
            outer_major: operand.outer_major,
            word: operand.word,
        });
        let tile = plan.allocs.get_mut(usize::from(number)).ok_or(stale)?;
        (tile.layout, tile.shape) = (operand.layout, operand.shape);
        // The unit permutes absolute addresses.
        tile.align = tile.layout.period(tile.align);
    }
    if let Some(sums) = own.tensor {
        let made = in_tensor((tables, plan), program, (op, own), sums, shared);
        return push(plan, made.ok_or(stale)?);
    }
    let shape = own.unit.instance().shape().ok_or(stale)?;
    let fragments = fragments(own, program, op).ok_or(stale)?;
    let [a, b, c] = fragments;
    let [rows, columns, depth] = own.blocks;
    let log2 = |many: u32| u8::try_from(many.checked_ilog2().unwrap_or(0)).unwrap_or(0);
    let (along, across) = own.anchor.warps;
    let product = Product {
        atom: own.unit.id(),
        shape,
        pairs: false,
        transposed: false,
        warps: (log2(along), log2(across)),
        replicated_warps: 0,
        warpgroup: log2(own.anchor.together),
        repeats: (rows, columns, depth),
        panels: (1, 1, 1),
        below: Default::default(),
        a,
        b,
        c,
        shared: shared.map(|given| given.is_some()),
        tensor: None,
        tensor_a: None,
        cycles: 0,
    };
    let ends = [End::Registers(u16::MAX); 4];
    let made = ProductPlan {
        op,
        product,
        ends,
        shared,
        scales: [None; 2],
        copied: [None; 2],
        tensor: None,
    };
    push(plan, made)
}

fn push(plan: &mut Plan<'_>, made: ProductPlan) -> Result<(), PlanError> {
    let op = made.op;
    let capacity = u32::try_from(plan.products.capacity()).unwrap_or(u32::MAX);
    let full = PlanError::Capacity { pool: PlanPool::Products, capacity, op: Some(op) };
    plan.products.push(made).map_err(|_| full)
}

/// A product whose unit leaves its sums in tensor memory.
#[inline(never)] // A plan of a product is long.
fn in_tensor(
    (tables, plan): (&Tables<'_>, &Plan<'_>),
    program: &Program<'_, '_>,
    (op, own): (Op, &UnitProduct<'_>),
    sums: TensorSums,
    shared: [Option<InShared>; 2],
) -> Option<ProductPlan> {
    let arch = tables.arch(plan.arch)?;
    let size = own.size(program, op)?;
    let product = product_in_tensor((tables, arch), &own.unit, &size, sums.form)?;
    let value = program.storage_of(program.operand(op, 2)?);
    let carrier = carrier(program, op, value);
    // A turn adds to zeros alone where the loop directly around it begins with them.
    let starts = carrier.unwrap_or(op);
    let alone = carrier.is_none_or(|carrier| program.parent(op) == Some(carrier));
    let stored = !alone || !begins_with_zeros(program, starts, value);
    let place = InTensor { value, carrier, stored, word: sums.word, first: 0, first_a: 0 };
    Some(ProductPlan {
        op,
        product,
        ends: [End::Registers(u16::MAX); 4],
        shared,
        scales: [None; 2],
        copied: [None; 2],
        tensor: Some(place),
    })
}

/// Whether an operation has an operand in a storage: to look at it is nothing.
fn touches(program: &Program<'_, '_>, op: Op, storage: Value) -> bool {
    let mut operands = program.all_operands(op);
    program.role(op) != OpRole::View && operands.any(|value| program.storage_of(value) == storage)
}

/// The outermost serial loop around a product in which nothing else touches its sums.
fn carrier(program: &Program<'_, '_>, op: Op, sums: Value) -> Option<Op> {
    let mut found = None;
    let around = core::iter::successors(program.parent(op), |at| program.parent(*at));
    for at in around.take_while(|at| program.role(*at) == OpRole::For) {
        let mut others = program.inside(at).filter(|other| *other != op);
        if others.any(|other| touches(program, other, sums)) {
            break;
        }
        found = Some(at);
    }
    found
}

/// Whether the last of what touches sums before an operation of its block fills them with zeros.
fn begins_with_zeros(program: &Program<'_, '_>, before: Op, sums: Value) -> bool {
    let mut zeros = false;
    let block = program.block_of(before);
    let mut at = block.and_then(|block| program.first(block));
    while let Some(op) = at.filter(|op| *op != before) {
        let inside = program.inside(op).any(|inner| touches(program, inner, sums));
        if inside || touches(program, op, sums) {
            let number = program.operand(op, 0).and_then(|value| program.constant(value));
            zeros = program.role(op) == OpRole::Fill
                && program.operand(op, 1) == Some(sums)
                && !program.has_attr(op, attr_names::THREADS)
                && number.is_some_and(lanebook_ir::Literal::is_zero);
        }
        at = program.next(op);
    }
    zeros
}

/// A, B and C: of what lies in shared memory the blocks, and where warps' parts begin.
fn fragments(own: &UnitProduct<'_>, program: &Program<'_, '_>, op: Op) -> Option<[Fragment; 3]> {
    let [m, n, k] = own.extents;
    let [rows, columns, depth] = own.blocks;
    let extent = |bits: u8| 1u64.checked_shl(u32::from(bits));
    let bits = |number: usize| {
        let ty = program.type_of(program.operand(op, number)?);
        ty.dtype.and_then(|id| program.tables().dtype(id)).map(|dtype| dtype.held)
    };
    let tile = |rows: u8, cols: u8, number: usize| {
        TileShape::new(extent(rows)?, extent(cols)?, bits(number)?)
    };
    let mut a = Fragment::new(tile(m, k, 0)?);
    let mut b = Fragment::new(tile(k, n, 1)?);
    let c = Fragment::new(tile(m, n, 2)?);
    let one = |bit: u8| 1u32.checked_shl(u32::from(bit));
    // Blocks follow each other along the depth first.
    for bit in k.checked_sub(depth)?..k {
        a.register.push(one(bit)?).then_some(())?;
        b.register.push(one(bit.checked_add(n)?)?).then_some(())?;
    }
    let (along, across) = own.anchor.warps;
    let groups = along.checked_div(own.anchor.together)?;
    let log2 = |many: u32| many.checked_ilog2().and_then(|bits| u8::try_from(bits).ok());
    let (together, groups, across) = (log2(own.anchor.together)?, log2(groups)?, log2(across)?);
    let (own_m, own_n) = (m.checked_sub(groups)?, n.checked_sub(across)?);
    for bit in own_m.checked_sub(rows)?..own_m {
        a.register.push(one(bit.checked_add(k)?)?).then_some(())?;
    }
    for bit in own_n.checked_sub(columns)?..own_n {
        b.register.push(one(bit)?).then_some(())?;
    }
    for _ in 0..together {
        (a.warp.push(0) && b.warp.push(0)).then_some(())?;
    }
    for bit in own_m..m {
        (a.warp.push(one(bit.checked_add(k)?)?) && b.warp.push(0)).then_some(())?;
    }
    for bit in own_n..n {
        (a.warp.push(0) && b.warp.push(one(bit)?)).then_some(())?;
    }
    Some([a, b, c])
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// Multiplies what a unit reads by itself, and adds up in tensor memory.
    #[inline(never)]
    pub(super) fn multiply_in_tensor(
        &mut self,
        told: &mut Told<'_>,
        (own, place): (&ProductPlan, &InTensor),
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let op = own.op;
        self.prepare_product(own)?;
        self.make_descriptors(own)?;
        if place.stored {
            let regs = self.held_by(place.value).ok_or(refused(op, ElementReason::Fragment))?;
            let Fact::Buffer(sums) = told.fact(place.value) else {
                return Err(refused(op, ElementReason::Foreign));
            };
            self.note_reader(op, told, sums, regs)?;
        }
        self.product_in_tensor(op, own, place, open)
    }

    /// Multiplies what a unit reads by itself.
    #[inline(never)]
    pub(super) fn multiply_by_unit(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        (a, sums): (&InPlaceSide, &BlockRegisters),
        chunk: &mut Chunk<'_>,
        [rows, narrow, depth]: [u32; 3],
    ) -> Result<(), EmitError> {
        let op = product.op;
        let refuse = refused(op, ElementReason::Product);
        let plan = self.plan;
        let own = plan.product_of(op).ok_or(refuse)?;
        self.prepare_product(own)?;
        self.make_descriptors(own)?;
        let columns = 1u32.checked_shl(u32::from(own.product.repeats.1)).ok_or(refuse)?;
        let together = narrow.checked_div(columns).ok_or(refuse)?;
        let in_registers = own.shared.first().is_none_or(Option::is_none);
        // As many as are held at once go without a wait between.
        let each = u32::try_from(LEFTS).unwrap_or(1).checked_div(rows.max(1)).unwrap_or(1).max(1);
        let each = if in_registers { each } else { depth };
        let mut first = 0u32;
        while first < depth {
            let end = first.saturating_add(each).min(depth);
            let mut lefts: heapless::Vec<Reg, LEFTS> = heapless::Vec::new();
            for step in first..if in_registers { end } else { first } {
                for row in 0..rows {
                    let reg = self.factor(told, product, (a, [row, step]), chunk)?;
                    lefts.push(reg).map_err(|_| refuse)?;
                }
            }
            self.run_unit(product, own, (&lefts, sums), (rows, columns, together), first..end)?;
            first = end;
        }
        Ok(())
    }

    /// So many steps of the depth, between what has to stand before and behind a unit's work.
    #[inline(never)]
    fn run_unit(
        &mut self,
        product: &InPlaceProduct<'t>,
        own: &ProductPlan,
        (lefts, sums): (&[Reg], &BlockRegisters),
        (rows, columns, together): (u32, u32, u32),
        steps: core::ops::Range<u32>,
    ) -> Result<(), EmitError> {
        let op = product.op;
        let refuse = refused(op, ElementReason::Product);
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        let atom = tables.atom(own.product.atom).ok_or(refuse)?;
        let s = own.product.shape;
        let instance = atom.with_columns(s.n).ok_or(refuse)?;
        let fixed = self.fixed_operands(op, own, &instance)?;
        let runs = atom.more.and_then(|more| more.runs);
        if let Some(kind) = runs {
            self.steps.purpose = InstKind::Sync;
            around(tables, arch, kind, true, &mut self.steps)?;
        }
        self.steps.purpose = InstKind::Matrix;
        let narrow = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
        let begin = steps.start;
        for step in steps {
            for row in 0..rows {
                for column in 0..columns {
                    let (ia, ib, _) =
                        own.product.blocks((narrow(row), narrow(column), narrow(step)));
                    let held = step.wrapping_sub(begin).wrapping_mul(rows).wrapping_add(row);
                    let left = match own.shared {
                        [Some(_), _] => {
                            self.kept(op, KeptFor::Block(ProductInput::A, u32::from(ia)))
                        }
                        _ => usize::try_from(held).ok().and_then(|k| lefts.get(k)).copied(),
                    };
                    let right = self
                        .kept(op, KeptFor::Block(ProductInput::B, u32::from(ib)))
                        .ok_or(refuse)?;
                    let sum = sums.of(row, column.wrapping_mul(together));
                    let count = u32::from(sum.count).checked_mul(together);
                    let count = count.and_then(|count| u16::try_from(count).ok()).ok_or(refuse)?;
                    let sum = Reg { count, ..sum };
                    let mut args = [Slot::None; ALL_ARGS];
                    let set = [
                        (s.a, slot(left.ok_or(refuse)?)),
                        (s.b, slot(right)),
                        (s.c, slot(sum)),
                        (s.d, slot(sum)),
                    ];
                    for (number, arg) in set.into_iter().chain(fixed.iter().copied()) {
                        if let Some(place) = args.get_mut(usize::from(number)) {
                            *place = arg;
                        }
                    }
                    let used = args.get(..atom.operands.len()).ok_or(refuse)?;
                    self.steps.append(own.product.atom, used)?;
                }
            }
        }
        if let Some(kind) = runs {
            self.steps.purpose = InstKind::Sync;
            around(tables, arch, kind, false, &mut self.steps)?;
        }
        Ok(())
    }
}
