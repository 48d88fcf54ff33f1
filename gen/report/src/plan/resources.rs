//! Shared memory, registers, and the facts that are not certain.
use super::Report;
use super::words::shape;
use crate::table::{Align, Table};
use lanebook_tables::{RegisterKind, Status};
use std::collections::BTreeMap;
use std::fmt::Write;

impl Report<'_> {
    /// Where the shared tiles are.
    pub fn memory(&self) -> String {
        let plan = &self.compiled.plan;
        if plan.allocs.is_empty() {
            return String::new();
        }
        let mut table = Table::new(&[
            ("TILE", Align::Left),
            ("", Align::Left),
            ("OFFSET", Align::Right),
            ("BYTES", Align::Right),
            ("ALIGN", Align::Right),
            ("LAYOUT", Align::Left),
        ]);
        for a in plan.allocs.iter() {
            table.row([
                self.value(a.value),
                shape(a.shape, self.dtype(a.value)),
                a.offset.to_string(),
                a.bytes.to_string(),
                a.align.to_string(),
                self.lies(a),
            ]);
        }
        let limits = self.arch.shared;
        let mut out = format!(
            "shared memory: {} B of {}, aligned to {}\n{}",
            plan.shared_bytes,
            limits.max_bytes,
            plan.shared_align,
            table.render(2)
        );
        if plan.shared_bytes > limits.static_bytes {
            let _ = writeln!(
                out,
                "  more than the {} B that a kernel may declare: the launch must ask for it",
                limits.static_bytes
            );
        }
        out
    }

    /// Registers by class.
    pub fn registers(&self) -> String {
        let mut out = String::from("registers\n");
        for (class, &high) in self.isa.classes.iter().zip(&self.compiled.usage.high) {
            if high == 0 || class.kind == RegisterKind::Special {
                continue;
            }
            let of = match class.pool {
                (_, 0) => ", before the assembler allocates".to_string(),
                (first, count) => format!(" of {}", u32::from(first) + u32::from(count)),
            };
            let _ = writeln!(out, "  {:<6} {high}{of}", class.name);
        }
        out
    }

    /// Products whose unit keeps fewer bits of a sum than the accumulator has.
    pub fn sums(&self) -> String {
        let atoms = self.compiled.plan.products.iter().filter_map(|p| {
            let atom = self.tables.atom(p.product.atom)?;
            Some((atom.name().to_string(), atom.more?.sum_bits?))
        });
        let rows: BTreeMap<String, u8> = atoms.collect();
        if rows.is_empty() {
            return String::new();
        }
        let row = |(name, bits): (&String, &u8)| {
            format!(
                "  {name}: {bits} significant bits; a term 2^{bits} below the greatest is lost\n"
            )
        };
        format!("sums keep less than their type\n{}", rows.iter().map(row).collect::<String>())
    }

    /// What the decisions rest on that is not certain.
    pub fn doubts(&self) -> String {
        let weak = |s: Status| matches!(s, Status::OneSource | Status::Contested | Status::Assumed);
        let plan = &self.compiled.plan;
        let mut lines: Vec<String> = Vec::new();
        // Every instruction of the kernel, and those of the plan that steps stand for.
        let moves = plan.transfers.iter().flat_map(|m| [Some(m.atom), m.second]).flatten();
        let exchanges = plan.exchanges.iter().flat_map(|e| [e.store.atom, e.load.atom]);
        let products = plan.products.iter().map(|p| p.product.atom);
        let steps = self.compiled.steps.iter().map(|step| step.atom);
        let used = moves.chain(exchanges).chain(products).chain(steps);
        let mut models: Vec<&str> = Vec::new();
        for atom in used.filter_map(|id| self.tables.atom(id)) {
            if weak(atom.status) {
                lines.push(format!("{}: {}", atom.name(), atom.status.words()));
            }
            if let Some(m) = &atom.movement {
                models.extend(
                    [m.from.banks, m.to.banks]
                        .into_iter()
                        .map(|banks| banks.text())
                        .filter(|b| !b.is_empty()),
                );
            }
        }
        for model in self.arch.banks.iter().filter(|b| models.contains(&b.name) && weak(b.status)) {
            let sources: Vec<&str> = model
                .sources
                .iter()
                .filter_map(|id| self.tables.sources.get(id.index()))
                .map(|s| s.key)
                .collect();
            let cited = if sources.is_empty() {
                String::new()
            } else {
                format!(" ({})", sources.join(", "))
            };
            lines.push(format!("bank model {}: {}{cited}", model.name, model.status.words()));
        }
        lines.sort();
        lines.dedup();
        if lines.is_empty() {
            return String::new();
        }
        format!(
            "rests on facts that are not certain\n{}",
            lines.iter().map(|l| format!("  {l}\n")).collect::<String>()
        )
    }
}
