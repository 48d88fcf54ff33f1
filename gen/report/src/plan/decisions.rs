//! The decision table, and both ends of every movement in full.
use super::Report;
use super::words::{operation, shape, slots};
use crate::table::{Align, Table};
use lanebook::emit::step::InstKind;
use lanebook::ir::Op;
use lanebook::map::Fragment;
use lanebook::plan::{End, Figures, ShufflePlan};
use lanebook_tables::{AtomId, Status};
use std::fmt::Write;

/// Steps of one purpose, for people.
const PURPOSES: [(InstKind, &str); 9] = [
    (InstKind::FirstAddress, "addresses, up to the first of an operation"),
    (InstKind::FurtherAddress, "addresses, further ones"),
    (InstKind::Index, "taking indices out of tiles"),
    (InstKind::Move, "moving tiles"),
    (InstKind::Matrix, "multiplying"),
    (InstKind::Fill, "filling registers"),
    (InstKind::Arithmetic, "arithmetic on elements"),
    (InstKind::Sync, "synchronisation and waits"),
    (InstKind::Control, "parameters, loops, frame"),
];

impl Report<'_> {
    /// How many instructions of a purpose come from an operation.
    fn steps(&self, op: Op, purpose: InstKind) -> usize {
        self.compiled
            .steps
            .iter()
            .filter(|s| usize::from(s.origin) == op.index() && s.purpose == purpose)
            .count()
    }

    /// The instructions that move an operation's tile, each with how many there are, in the order
    /// in which they come.
    fn moved(&self, op: Op) -> Vec<(AtomId, usize)> {
        let mut out: Vec<(AtomId, usize)> = Vec::new();
        for step in self
            .compiled
            .steps
            .iter()
            .filter(|s| usize::from(s.origin) == op.index() && s.purpose == InstKind::Move)
        {
            match out.iter_mut().find(|(atom, _)| *atom == step.atom) {
                Some((_, count)) => *count += 1,
                None => out.push((step.atom, 1)),
            }
        }
        out
    }

    /// One line an operation.
    pub fn decisions(&self) -> String {
        let plan = &self.compiled.plan;
        let mut table = Table::new(&[
            ("LINE", Align::Right),
            ("OPERATION", Align::Left),
            ("ATOM", Align::Left),
            ("COUNT", Align::Right),
            ("PASSES", Align::Right),
            ("LEAST", Align::Right),
            ("EXTRA", Align::Right),
            ("BANKS", Align::Left),
            ("ADDRESS", Align::Left),
            ("COST", Align::Right),
        ]);
        for op in self.program.inside(self.compiled.function) {
            let head = [self.line(op).to_string(), operation(self.program, op)];
            let address = || {
                format!(
                    "{} + {}",
                    self.steps(op, InstKind::FirstAddress),
                    self.steps(op, InstKind::FurtherAddress)
                )
            };
            let row = |atom: String, figures: &Figures, model: Option<Status>, address: String| {
                let c = figures.conflicts;
                let [passes, least, extra, banks] = match model {
                    Some(s) => [
                        c.transactions.to_string(),
                        c.least.to_string(),
                        c.extra().to_string(),
                        s.words().to_string(),
                    ],
                    None => ["-".into(), "-".into(), "-".into(), "-".into()],
                };
                [
                    atom,
                    figures.count.to_string(),
                    passes,
                    least,
                    extra,
                    banks,
                    address,
                    slots(figures.cost),
                ]
            };
            if let Some(m) = plan.move_of(op) {
                table.row(head.into_iter().chain(row(
                    self.movers(m),
                    &m.figures,
                    m.bank_status,
                    address(),
                )));
            } else if let Some(e) = plan.exchange_of(op) {
                // Out to shared memory, and back in another distribution.
                table.row(head.into_iter().chain(row(
                    self.atom(e.store.atom).to_string(),
                    &e.store.figures,
                    e.store.bank_status,
                    address(),
                )));
                let again = [String::new(), "  and back".into()];
                table.row(again.into_iter().chain(row(
                    self.atom(e.load.atom).to_string(),
                    &e.load.figures,
                    e.load.bank_status,
                    "-".into(),
                )));
            } else if let Some(l) = plan.lanes_of(op) {
                // Movements between lanes, choices of bytes and copies, each by its instruction.
                let mut head = Some((head, address(), slots(l.cost)));
                for (atom, count) in self.moved(op) {
                    let (head, address, cost) = head.take().unwrap_or_else(|| {
                        ([String::new(), "  with".into()], "-".into(), "-".into())
                    });
                    let dash = || "-".to_string();
                    table.row(head.into_iter().chain([
                        self.atom(atom).to_string(),
                        count.to_string(),
                        dash(),
                        dash(),
                        dash(),
                        dash(),
                        address,
                        cost,
                    ]));
                }
            } else if let Some(p) = plan.product_of(op) {
                let dash = || "-".to_string();
                let tail = [
                    self.product(p),
                    p.product.count().to_string(),
                    dash(),
                    dash(),
                    dash(),
                    dash(),
                    dash(),
                    dash(),
                ];
                table.row(head.into_iter().chain(tail));
            }
        }
        let mut out = format!(
            "decisions for {}, {} threads = {} warps of {} lanes\n",
            self.arch.name,
            plan.threads,
            1u32 << plan.warps,
            1u32 << plan.wave
        );
        if let Some(apart) = plan.specialized {
            let warps = u32::from(apart.threads) >> plan.wave;
            out.push_str(&format!(
                "beside them {warps} warps that only start copies: a thread has {} registers at launch, these keep {}, the others take {}\n",
                apart.entry, apart.producer, apart.consumer
            ));
        }
        out.push_str(&table.render(2));
        out.push_str("  COUNT: instructions a warp. PASSES, LEAST, EXTRA: over the banks, one instruction, with the bank model's status.\n");
        out.push_str("  ADDRESS: instructions up to the first address + for all further ones. COST: issue slots a warp, one execution.\n");
        out
    }

    /// Why an operation is there that the program did not write.
    fn put(&self, op: lanebook::ir::Op) -> &'static str {
        match self.program.attr(op, lanebook::ir::attr_names::INSERTED) {
            Some(_) => {
                "    put here, since two uses of the tile want it distributed in different ways\n"
            }
            None => "",
        }
    }

    /// Both ends of every movement, the operands of every product.
    pub fn layouts(&self) -> String {
        let plan = &self.compiled.plan;
        let mut out = String::from("layouts\n");
        for op in self.program.inside(self.compiled.function) {
            if let Some(m) = plan.move_of(op) {
                let _ = writeln!(out, "  {}: {}", self.line(op), operation(self.program, op));
                let _ = writeln!(out, "    from {}", self.end(m.from));
                let _ = writeln!(out, "    to   {}", self.end(m.to));
                if m.figures.segments > 0 {
                    let _ = writeln!(
                        out,
                        "    touches {} segments of 32 B of global memory an instruction",
                        m.figures.segments
                    );
                }
            } else if let Some(e) = plan.exchange_of(op) {
                let _ = writeln!(out, "  {}: {}", self.line(op), operation(self.program, op));
                out.push_str(self.put(op));
                let of = |v| plan.fragment_of(v).map(|(_, f)| f);
                let given = self.program.operand(op, 0).and_then(of);
                let made = self.program.result(op, 0).and_then(of);
                let crossing = |l: &&ShufflePlan| !l.keeps_lanes();
                if let Some((l, given)) = plan.lanes_ahead(op).filter(crossing).zip(given) {
                    let _ =
                        writeln!(out, "    {}, before it is stored", in_warp(l, given, &e.from));
                }
                let _ = writeln!(
                    out,
                    "    from registers, {} a lane: {}",
                    e.from.registers(),
                    super::words::fragment(&e.from)
                );
                if e.store.kept != 0 {
                    let same = 1u32 << e.store.kept.count_ones();
                    let _ =
                        writeln!(out, "    one of {same} threads with the same elements stores");
                }
                let _ = writeln!(out, "    over {}", self.end(End::Shared(e.alloc)));
                let places = e.basis.places.as_slice().iter().map(|place| format!("{place:#x}"));
                let _ = writeln!(
                    out,
                    "    element bits, columns first, at places {}",
                    places.collect::<Vec<_>>().join(" ")
                );
                let _ = writeln!(
                    out,
                    "    to   registers, {} a lane: {}",
                    e.to.registers(),
                    super::words::fragment(&e.to)
                );
                if let Some((l, made)) = plan.lanes_of(op).filter(crossing).zip(made) {
                    let _ = writeln!(out, "    {}, once it is loaded", in_warp(l, &e.to, made));
                }
            } else if let Some(l) = plan.lanes_of(op) {
                let of = |v| plan.fragment_of(v).map(|(_, f)| f);
                let (Some(from), Some(to)) = (
                    self.program.operand(op, 0).and_then(of),
                    self.program.result(op, 0).and_then(of),
                ) else {
                    continue;
                };
                let _ = writeln!(out, "  {}: {}", self.line(op), operation(self.program, op));
                out.push_str(self.put(op));
                let _ = writeln!(
                    out,
                    "    from registers, {} a lane: {}",
                    from.registers(),
                    super::words::fragment(from)
                );
                let _ = writeln!(out, "    {}", in_warp(l, from, to));
                let _ = writeln!(
                    out,
                    "    to   registers, {} a lane: {}",
                    to.registers(),
                    super::words::fragment(to)
                );
            } else if let Some(p) = plan.product_of(op) {
                let s = p.product.shape;
                let (m, n, k) = p.product.counts();
                let (wm, wn) = p.product.warps;
                let _ = writeln!(out, "  {}: {}", self.line(op), operation(self.program, op));
                let same = if p.product.replicated_warps > 0 {
                    format!(", {} of each that do the same", 1u32 << p.product.replicated_warps)
                } else {
                    String::new()
                };
                let exchanged = if p.product.transposed {
                    "; the operands exchanged: m counts columns, n rows"
                } else {
                    ""
                };
                let _ = writeln!(
                    out,
                    "    m{} n{} k{}, {}x{}x{} of them a warp, {}x{} warps over m and n{same}{exchanged}",
                    s.m,
                    s.n,
                    s.k,
                    m,
                    n,
                    k,
                    1u32 << wm,
                    1u32 << wn
                );
                for (name, end) in ["A", "B", "C", "D"].into_iter().zip(p.ends) {
                    if !matches!(end, End::Registers(_)) {
                        let _ = writeln!(out, "    {name} {}", self.end(end));
                    } else if let End::Registers(index) = end
                        && let Some(f) = plan.fragments.get(usize::from(index))
                    {
                        let _ = writeln!(
                            out,
                            "    {name} {} {}: {}",
                            self.value(f.value),
                            shape(f.fragment.shape, self.dtype(f.value)),
                            super::words::fragment(&f.fragment)
                        );
                    }
                }
            }
        }
        out
    }

    /// Instructions by what they are for.
    pub fn instructions(&self) -> String {
        let mut out = String::from("instructions in the text\n");
        let mut all = 0;
        for (purpose, words) in PURPOSES {
            let count = self.compiled.steps.iter().filter(|s| s.purpose == purpose).count();
            all += count;
            if count > 0 {
                let _ = writeln!(out, "  {count:>5}  {words}");
            }
        }
        let _ = writeln!(out, "  {all:>5}  in all");
        out
    }
}

/// What a movement between lanes does.
fn in_warp(lanes: &ShufflePlan, from: &Fragment, to: &Fragment) -> String {
    let moved = (0..lanes.received()).filter(|word| !lanes.stays(*word)).count();
    format!(
        "in its warp: {moved} of {} registers of a panel come from other lanes, bytes are chosen {} times",
        lanes.received(),
        lanes.choices(from, to)
    )
}
