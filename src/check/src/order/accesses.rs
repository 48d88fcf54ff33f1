//! What a step touches in shared memory, in tensor memory, and in global memory that a kernel reads
//! and writes.

use crate::order::place::{AccessPlace, SharedAccess};
use crate::order::walks::{OrderContext, narrow};
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_ir::{Op, Value};
use lanebook_plan::{AllocPlan, End, ProductPlan, SharedExchange, TransferPlan};
use lanebook_tables::{AccessId, Atom, MatrixShape, OpRole, Side, Space, TiledMove};

/// Accesses of one step.
pub(super) type Accesses = [Option<SharedAccess>; 4];

/// The access to all of a tile in shared memory.
pub(super) fn whole(
    a: &AllocPlan,
    kind: AccessId,
    writes: bool,
    signal: Option<Slot>,
) -> SharedAccess {
    SharedAccess { place: AccessPlace::of(a), kind, writes, signal, moved: None }
}

impl OrderContext<'_> {
    /// The shared tiles and accumulators that a step touches.
    pub(super) fn accesses(&self, at: usize, step: &Inst) -> Result<Accesses, Violation> {
        let mut out = [None; 4];
        if step.purpose == InstKind::Label {
            return Ok(out);
        }
        let stray = Violation::Stray { step: narrow(at) };
        let Some(atom) = self.tables.atom(step.atom) else { return Ok(out) };
        if let Some(filled) = self.filled(at, step)? {
            return Ok(filled);
        }
        if let Some(access) = self.object_access(at, step) {
            let [first, ..] = &mut out;
            *first = Some(access);
            return Ok(out);
        }
        if let Some(form) = self.tables.units.tiled_moves.iter().find(|f| f.atom == step.atom) {
            return self.tiled_accesses(step, form).ok_or(stray);
        }
        match (atom.movement.as_ref(), atom.matrix) {
            (Some(movement), _) if movement.to.space == Space::Tensor => {
                self.scale_accesses(at, step, movement.from.access).ok_or(stray)
            }
            (Some(movement), _) => {
                if let Some(factors) = self.factors(step, &movement.from) {
                    return Ok(factors);
                }
                let sides = [(&movement.from, false), (&movement.to, true)];
                for (place, (side, writes)) in out.iter_mut().zip(sides) {
                    *place = match side.space {
                        Space::Global => self.global_access(step, side, writes),
                        Space::Shared => Some(self.shared_access(step, side, writes).ok_or(stray)?),
                        _ => None,
                    };
                }
                Ok(out)
            }
            (None, Some(shape)) if atom.more.is_some_and(|more| !more.shared.is_empty()) => {
                self.product_accesses(at, step, atom, shape).ok_or(stray)
            }
            _ => Ok(self.tensor_accesses(step)),
        }
    }

    /// Those of a copy through a tensor map; `None` if the plan has no such copy.
    fn tiled_accesses(&self, step: &Inst, form: &TiledMove<'_>) -> Option<Accesses> {
        let own = |m: &&TransferPlan| {
            m.op.index() == usize::from(step.origin) && m.atom == step.atom && m.tiled.is_some()
        };
        let m = self.plan.transfers.iter().find(own)?;
        let (from, to) = ((m.from, form.from, false), (m.to, form.to, true));
        let ((end, kind, writes), outside) = if form.loads { (to, from) } else { (from, to) };
        let End::Shared(k) = end else { return None };
        let a = self.plan.allocs.get(usize::from(k))?;
        let signal = form.signal.and_then(|k| step.args.get(usize::from(k)).copied());
        let inside = whole(a, kind, writes, signal);
        Some([Some(inside), None, None, self.outside(m, outside, signal)])
    }

    /// Those of loads and stores of tensor memory. What a store fills is not said by the step:
    /// whatever it can be.
    fn tensor_accesses(&self, step: &Inst) -> Accesses {
        let mut out = [None; 4];
        let [first, second, ..] = &mut out;
        *first =
            self.load_of(step).and_then(|p| self.in_tensor(p, false, |own| Some(own.reads), false));
        if let Some((p, a, start)) = self.store_of(step) {
            *first = self.in_tensor(p, true, |own| Some(own.stores), true).filter(|_| a);
            *second = self.in_tensor(p, false, |own| Some(own.stores), true).filter(|_| start);
        }
        out
    }

    /// The object that work behind a step arrives at.
    fn later_object(&self, at: usize) -> Option<Slot> {
        self.steps.iter().skip(at).find_map(|s| self.arrives(s)).map(|(_, object)| object)
    }

    /// Those of a product that reads operands by itself; `None` if the plan has no such product.
    fn product_accesses(
        &self,
        at: usize,
        step: &Inst,
        atom: &Atom<'_>,
        shape: MatrixShape,
    ) -> Option<Accesses> {
        let mut out = [None; 4];
        let own = |p: &&ProductPlan| {
            p.op.index() == usize::from(step.origin) && p.product.atom == step.atom
        };
        let product = self.plan.products.iter().find(own)?;
        // Where its accumulator is in tensor memory it arrives at an object when it is done.
        let signal = product.product.tensor.and_then(|_| self.later_object(at));
        for ((place, number), given) in out.iter_mut().zip([shape.a, shape.b]).zip(product.shared) {
            let Some(how) = atom.shared(number) else { continue };
            let a = self.plan.allocs.get(usize::from(given?.alloc))?;
            *place = Some(whole(a, how.access, false, signal));
        }
        let [first, _, last, _] = &mut out;
        *last = self
            .in_tensor(product, false, |own| Some(own.writes), true)
            .map(|access| SharedAccess { signal, ..access });
        if let Some(access) = self.in_tensor(product, true, |own| own.a, false) {
            *first = Some(SharedAccess { signal, ..access });
        }
        Some(out)
    }

    /// Those of copies of scales: one thread copies them before the product, which arrives when both
    /// are done. `None` if the plan has no such product.
    fn scale_accesses(&self, at: usize, step: &Inst, kind: AccessId) -> Option<Accesses> {
        let mut out = [None; 4];
        let own = |p: &&ProductPlan| {
            p.op.index() == usize::from(step.origin)
                && p.copied.iter().flatten().any(|c| c.atom == step.atom)
        };
        let product = self.plan.products.iter().find(own)?;
        let signal = self.later_object(at);
        for (place, copy) in out.iter_mut().zip(product.copied.iter().flatten()) {
            let a = self.plan.allocs.get(usize::from(copy.given.alloc))?;
            *place = Some(whole(a, kind, false, signal));
        }
        Some(out)
    }

    /// The movement that a step is part of.
    fn transfer_of(&self, step: &Inst) -> Option<&TransferPlan> {
        self.plan
            .transfers
            .iter()
            .find(|m| m.op.index() == usize::from(step.origin) && m.is_by(step.atom))
    }

    /// That of a movement's end in global memory.
    fn global_access(&self, step: &Inst, side: &Side<'_>, writes: bool) -> Option<SharedAccess> {
        if let Some(element) = self.element_access(step, side, writes) {
            return Some(element);
        }
        let m = self.transfer_of(step)?;
        self.outside(m, (if writes { m.to } else { m.from }, side.access, writes), None)
    }

    /// That of the end in shared memory of a movement or of half an exchange; `None` if the plan
    /// has neither.
    fn shared_access(&self, step: &Inst, side: &Side<'_>, writes: bool) -> Option<SharedAccess> {
        if let Some(element) = self.element_access(step, side, writes) {
            return Some(element);
        }
        let half = |e: &&SharedExchange| {
            e.op.index() == usize::from(step.origin)
                && if writes { e.store.is_by(step.atom) } else { e.load.is_by(step.atom) }
        };
        let k = match self.plan.exchanges.iter().find(half) {
            Some(exchange) => exchange.alloc,
            None => {
                let m = self.transfer_of(step)?;
                let End::Shared(k) = (if writes { m.to } else { m.from }) else { return None };
                k
            }
        };
        Some(whole(self.plan.allocs.get(usize::from(k))?, side.access, writes, None))
    }
}

impl OrderContext<'_> {
    /// The operation that stands at a step's place: of a step inside of parallel loops the nest.
    pub(super) fn home(&self, at: usize) -> Option<Op> {
        let own = Op::at(usize::from(self.steps.get(at)?.origin))?;
        let around = core::iter::successors(Some(own), |op| self.program.parent(*op));
        let nest = around.filter(|op| self.program.role(*op) == OpRole::Parallel).last();
        Some(nest.unwrap_or(own))
    }

    /// The buffer of an element operation that reads, or that writes.
    fn buffer_of(&self, op: Op, writes: bool) -> Option<Value> {
        let number = match (self.program.role(op), writes) {
            (OpRole::ElementLoad | OpRole::Copy, false) => 0,
            // Parts of rows, by the result that they are of.
            (OpRole::ReduceInto, false) => 1,
            (OpRole::ElementStore | OpRole::Copy | OpRole::Fill | OpRole::ReduceInto, true) => 1,
            _ => return None,
        };
        Some(self.program.storage_of(self.program.operand(op, number)?))
    }

    /// Those of a load for a product in place: any of its shared factors.
    fn factors(&self, step: &Inst, side: &Side<'_>) -> Option<Accesses> {
        let op = Op::at(usize::from(step.origin))?;
        let loads = side.space == Space::Shared;
        if !loads || self.program.role(op) != OpRole::ProductInto {
            return None;
        }
        let mut out = [None; 4];
        for (number, place) in out.iter_mut().take(2).enumerate() {
            let value = self.program.storage_of(self.program.operand(op, number)?);
            let tile = self.plan.allocs.iter().find(|a| a.value == value);
            *place = tile.map(|tile| whole(tile, side.access, false, None));
        }
        Some(out)
    }

    /// That of a step of a function of parallel loops: all of its buffer.
    fn element_access(&self, step: &Inst, side: &Side<'_>, writes: bool) -> Option<SharedAccess> {
        let program = self.program;
        let function = self.of_loops?;
        let value = self.buffer_of(Op::at(usize::from(step.origin))?, writes)?;
        if side.space == Space::Shared {
            let tile = self.plan.allocs.iter().find(|a| a.value == value)?;
            return Some(whole(tile, side.access, writes, None));
        }
        let tensor = program.parameters(function).position(|of| of == value)?;
        let place = AccessPlace::Elements(tensor);
        Some(SharedAccess { place, kind: side.access, writes, signal: None, moved: None })
    }
}
