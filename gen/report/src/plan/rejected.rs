//! What lost, and why.
use super::Report;
use super::words::{operation, shared, slots};
use crate::archs::counted;
use crate::table::{Align, Table};
use lanebook::ir::Op;
use lanebook::plan::Reject;
use lanebook::plan::{Candidate, RejectedCandidate};
use lanebook_tables::{OpRole, Space};
use std::fmt::Write;

impl Report<'_> {
    /// The losers of every operation: all of them, or how many and the one that came nearest.
    pub fn rejected(&self) -> String {
        let plan = &self.compiled.plan;
        let mut out = String::from(if self.explain {
            "rejected\n"
        } else {
            "rejected (--explain lists them all)\n"
        });
        let mut any = false;
        for op in self.program.inside(self.compiled.function) {
            let rejected: Vec<&RejectedCandidate> =
                plan.rejected.iter().filter(|l| l.op == op).collect();
            if rejected.is_empty() {
                continue;
            }
            any = true;
            let _ = writeln!(out, "  {}: {}", self.line(op), operation(self.program, op));
            let mut kinds: Vec<&'static str> = rejected.iter().map(|l| kind(l)).collect();
            kinds.sort_unstable();
            kinds.dedup();
            for word in kinds {
                let some: Vec<&RejectedCandidate> =
                    rejected.iter().copied().filter(|l| kind(l) == word).collect();
                if self.explain {
                    self.all(&mut out, op, word, &some);
                } else {
                    self.summary(&mut out, op, word, &some);
                }
            }
        }
        if plan.rejected_dropped > 0 {
            let _ =
                writeln!(out, "  and {} more for which there was no room", plan.rejected_dropped);
            any = true;
        }
        if any { out } else { String::new() }
    }

    /// What the pick of an operation costs, in the unit of its losers' costs.
    fn picked(&self, op: Op) -> Option<(String, u32)> {
        let plan = &self.compiled.plan;
        if let Some(m) = plan.move_of(op) {
            return Some((self.movers(m), m.figures.cost));
        }
        if let Some(e) = plan.exchange_of(op).filter(|_| self.program.role(op) == OpRole::Convert) {
            let (store, load) = (self.atom(e.store.atom), self.atom(e.load.atom));
            return Some((
                format!("through shared memory, {store} and {load}"),
                e.cost(&self.tables.weights),
            ));
        }
        if let Some(l) = plan.lanes_of(op) {
            return Some(("between the lanes of a warp".into(), l.cost));
        }
        let (index, alloc) = plan.alloc_of(self.program.result(op, 0)?)?;
        let weights = &self.tables.weights;
        let padding = u64::from(alloc.stage_bytes()).saturating_sub(alloc.shape.bytes());
        let mut cost =
            u32::try_from(padding * u64::from(weights.pad_kib) / 1024).unwrap_or(u32::MAX);
        for m in plan.transfers.iter() {
            if [m.from, m.to].contains(&lanebook::plan::End::Shared(index)) {
                let depth = self.program.loops_around(m.op);
                cost = cost.saturating_add(weights.inside_loops(m.figures.cost, depth));
            }
        }
        Some((self.lies(alloc), cost))
    }

    fn candidate(&self, loser: &RejectedCandidate) -> String {
        match loser.what {
            Candidate::Atom(id) => {
                // For a movement between memories, an atom that ends in registers was the first of
                // a pair.
                let into =
                    self.tables.atom(id).and_then(|a| a.movement.as_ref()).map(|m| m.to.space);
                let pair =
                    into == Some(Space::Register) && self.program.role(loser.op) == OpRole::Copy;
                if pair {
                    format!("{} and a store", self.atom(id))
                } else {
                    self.atom(id).to_string()
                }
            }
            Candidate::Flipped(id, along, across) => {
                format!(
                    "{} and a store, blocks of {}x{} transposed between",
                    self.atom(id),
                    1u32 << across,
                    1u32 << along
                )
            }
            Candidate::Shared(layout) => shared(&layout),
            Candidate::Matrix(id, m, n) => {
                format!("{}, warps {}x{}", self.atom(id), 1u32 << m, 1u32 << n)
            }
            Candidate::Transposed(id, m, n) => {
                let warps = format!("warps {}x{}", 1u32 << m, 1u32 << n);
                format!("{}, operands exchanged, {warps}", self.atom(id))
            }
            Candidate::Tensor(id, form) => {
                let form =
                    self.tables.units.tensor_moves.get(usize::from(form)).map_or("?", |m| m.name);
                format!("{}, accumulator in tensor memory, fetched by {form}", self.atom(id))
            }
            Candidate::Exchange(store, load) => {
                format!("through shared memory, {} and {}", self.atom(store), self.atom(load))
            }
            Candidate::Lanes => "between the lanes of a warp".into(),
            Candidate::Beside(alone) => {
                let rest = if alone { ", each element in a register of its own" } else { "" };
                format!("as on the conversion's other side{rest}")
            }
            Candidate::Blocked(width) => {
                format!("{} a lane along the rows", counted(1usize << width, "element"))
            }
        }
    }

    fn reason(&self, loser: &RejectedCandidate, picked: Option<&(String, u32)>) -> String {
        match (loser.why, picked) {
            (Reject::Dearer, Some((_, cost))) if loser.cost == *cost => {
                format!("costs {} as the pick does, which came first", slots(loser.cost))
            }
            (Reject::Dearer, Some((_, cost))) => {
                format!("costs {}, the pick {}", slots(loser.cost), slots(*cost))
            }
            (Reject::Dearer, None) => {
                let terms = self.matrix_terms(loser).map_or_else(String::new, |(own, pick)| {
                    let rest = slots(loser.cost.saturating_sub(own));
                    format!(
                        ": {} in the matrix unit (the pick {}), {rest} in movements and registers",
                        slots(own),
                        slots(pick)
                    )
                });
                format!(
                    "costs {} with all movements that it decides, the pick no more{terms}",
                    slots(loser.cost)
                )
            }
            (why, _) => why.display(self.tables).to_string(),
        }
    }

    /// What a loser's instructions and the pick's cost in the matrix unit, where its cycles are
    /// known.
    fn matrix_terms(&self, loser: &RejectedCandidate) -> Option<(u32, u32)> {
        let (Candidate::Matrix(id, m, n) | Candidate::Transposed(id, m, n)) = loser.what else {
            return None;
        };
        let pick = &self.compiled.plan.product_of(loser.op)?.product;
        let atom = self.tables.atom(id).filter(|a| a.cost.cycles > 0 && pick.cycles > 0)?;
        let shape = atom.matrix?;
        let extents =
            |k: usize| self.program.type_of(self.program.operand(loser.op, k)?).shape.pair();
        let ((rows, depth), (_, cols)) = (extents(0)?, extents(1)?);
        let all = u64::from(rows) * u64::from(depth) * u64::from(cols);
        let count =
            (all / (u64::from(shape.m) * u64::from(shape.n) * u64::from(shape.k))) >> (m + n);
        let weights = &self.tables.weights;
        let cost = |count: u32, cycles: u16| {
            let each = u32::from(cycles)
                .saturating_mul(weights.matrix_cycle)
                .saturating_add(weights.instruction);
            weights.inside_loops(count.saturating_mul(each), 1)
        };
        Some((cost(u32::try_from(count).ok()?, atom.cost.cycles), cost(pick.count(), pick.cycles)))
    }

    /// Losers of one kind, with the pick where it is of that kind.
    fn all(&self, out: &mut String, op: Op, kind: &'static str, rejected: &[&RejectedCandidate]) {
        let picked = self.picked(op).filter(|_| comparable(rejected));
        if let Some((what, cost)) = &picked {
            let _ = writeln!(out, "    picked: {what}, cost {}", slots(*cost));
        }
        // Dearer ones by cost, then the impossible ones in the order in which they were looked at;
        // the same line once.
        let mut lines: Vec<(bool, u32, String, String, usize)> = Vec::new();
        for loser in rejected {
            let (what, why) = (self.candidate(loser), self.reason(loser, picked.as_ref()));
            match lines.iter_mut().find(|l| l.2 == what && l.3 == why) {
                Some(line) => line.4 += 1,
                None => lines.push((loser.why != Reject::Dearer, loser.cost, what, why, 1)),
            }
        }
        lines.sort_by_key(|l| (l.0, if l.0 { 0 } else { l.1 }));
        let mut table = Table::new(&[(kind, Align::Left), ("REASON", Align::Left)]);
        for (_, _, what, why, times) in lines {
            table.row([what, if times > 1 { format!("{why} ({times} times)") } else { why }]);
        }
        let text = table.render(4);
        out.push_str(&text);
    }

    fn summary(
        &self,
        out: &mut String,
        op: Op,
        kind: &'static str,
        rejected: &[&RejectedCandidate],
    ) {
        let picked = self.picked(op).filter(|_| comparable(rejected));
        let dearer: Vec<&&RejectedCandidate> =
            rejected.iter().filter(|l| l.why == Reject::Dearer).collect();
        let mut line = format!(
            "    {}: {} dearer, {} not possible",
            kind.to_lowercase(),
            dearer.len(),
            rejected.len() - dearer.len()
        );
        if let Some(next) = dearer.iter().min_by_key(|l| l.cost) {
            let _ = write!(
                line,
                "; next best: {}, {}",
                self.candidate(next),
                self.reason(next, picked.as_ref())
            );
        }
        out.push_str(&line);
        out.push('\n');
    }
}

/// What a loser was a candidate for; different kinds count different costs.
fn kind(loser: &RejectedCandidate) -> &'static str {
    match loser.what {
        Candidate::Atom(_) | Candidate::Flipped(..) => "INSTRUCTION",
        Candidate::Shared(_) => "SHARED LAYOUT",
        Candidate::Matrix(..) | Candidate::Transposed(..) | Candidate::Tensor(..) => {
            "MATRIX INSTRUCTION"
        }
        Candidate::Blocked(_) | Candidate::Beside(_) => "DISTRIBUTION",
        Candidate::Exchange(..) | Candidate::Lanes => "CONVERSION",
    }
}

/// Whether the plan keeps the pick's cost in the same unit.
fn comparable(rejected: &[&RejectedCandidate]) -> bool {
    let one = |l: &&RejectedCandidate| {
        matches!(
            l.what,
            Candidate::Atom(_)
                | Candidate::Flipped(..)
                | Candidate::Shared(_)
                | Candidate::Exchange(..)
                | Candidate::Lanes
        )
    };
    rejected.iter().all(one)
}
