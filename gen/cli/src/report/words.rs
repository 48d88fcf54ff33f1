//! Names of the things a report speaks of: operations, values, tiles, costs.
use super::Report;
use lanebook::ir::{Op, Program, Value};
use lanebook::map::{Fragment, SharedLayout, TileShape};
use lanebook::plan::{End, MovePlan, ProductPlan};
use lanebook_draw::notation::{post, tirx};
use lanebook_tables::AtomId;

/// An operation as its line of the source says it, without types and comments.
pub fn operation(program: &Program<'_, '_>, op: Op) -> String {
    let line = program.place(op).line;
    let text = program.source().lines().nth(line.saturating_sub(1) as usize).filter(|_| line > 0).unwrap_or("");
    let text = text.split("//").next().unwrap_or("");
    let text = text.split(" : ").next().unwrap_or("").trim_end_matches('{');
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() { program.op_name(op).to_string() } else { text }
}

/// A cost in quarters as issue slots.
pub fn slots(quarters: u32) -> String {
    match quarters % 4 {
        0 => (quarters / 4).to_string(),
        rest => format!("{}.{:02}", quarters / 4, rest * 25),
    }
}

/// Rows, columns and element type of a tile.
pub fn shape(shape: TileShape, dtype: &str) -> String {
    format!("{}x{} {dtype}", shape.row_count(), shape.col_count())
}

/// A shared layout in a few words.
pub fn shared(layout: &SharedLayout) -> String {
    let order = match (layout.row_major, layout.turn) {
        (true, None) => "row-major".to_string(),
        (false, None) => "column-major".to_string(),
        // `k` rows are stored side by side: every so many-th.
        (_, Some(turn)) => format!("{} rows {} apart side by side", 1u32 << turn.count, 1u32 << turn.low),
    };
    match post(&layout.post) {
        post if post.is_empty() => format!("{order}, plain"),
        post => format!("{order}, {post}"),
    }
}

/// A fragment in TIRx notation.
pub fn fragment(fragment: &Fragment) -> String {
    fragment.to_layout().map_or_else(|| "(no strided form)".to_string(), |layout| tirx(&layout.view()))
}

impl Report<'_> {
    /// `%name`, or the number of a value without one.
    pub fn value(&self, value: Value) -> String {
        match self.program.value_name(value) {
            "" => match self.program.int(value) {
                Some(n) => n.to_string(),
                None => format!("%_{}", value.index()),
            },
            name => format!("%{name}"),
        }
    }

    /// The element type of a value.
    pub fn dtype(&self, value: Value) -> &str {
        self.program.type_of(value).dtype.and_then(|d| self.tables.dtype(d)).map_or("?", |d| d.name)
    }

    /// The line of an operation.
    pub fn line(&self, op: Op) -> u32 {
        self.program.place(op).line
    }

    /// The name of an atom.
    pub fn atom(&self, id: AtomId) -> &str {
        self.tables.atom(id).map_or("?", |a| a.name())
    }

    /// The instructions of a movement: one, or a pair with what stands between.
    pub fn movers(&self, m: &MovePlan) -> String {
        let between = m.flip.map_or_else(String::new, |f| format!(" + {} in blocks of {}x{}", self.atom(f.atom), 1u32 << f.across, 1u32 << f.along));
        let second = m.second.map_or_else(String::new, |id| format!(" + {}", self.atom(id)));
        format!("{}{between}{second}", self.atom(m.atom))
    }

    /// The matrix instruction of a product, with what was chosen in place of its parameters; and whether the assembler expands it.
    pub fn product(&self, p: &ProductPlan) -> String {
        let Some(atom) = self.tables.atom(p.product.atom) else { return "?".into() };
        let (mut name, shape) = (atom.name().to_string(), p.product.shape);
        let instance = atom.with_columns(shape.n);
        let values = [(shape.a, self.program.operand(p.op, 0)), (shape.b, self.program.operand(p.op, 1)), (shape.d, self.program.result(p.op, 0))];
        for (param, vary) in atom.params() {
            let typed = |k: u8| atom.operands.get(usize::from(k)).and_then(|o| o.vary).is_some_and(|v| v.typed_by == Some(param));
            let dtype = values.into_iter().find(|(k, _)| typed(*k)).and_then(|(_, v)| self.program.type_of(v?).dtype);
            let word = dtype.and_then(|t| atom.word_of(param, t)).and_then(|at| vary.words.get(usize::from(at))).map(|w| w.text.to_string());
            let value = instance.and_then(|i| i.value(param)).map(|v| v.to_string());
            if let (Some(operand), Some(text)) = (atom.operands.get(usize::from(param)), word.or(value)) {
                name = name.replace(&format!("{{{}}}", operand.name.text()), &text);
            }
        }
        let native = self.arch.atoms.iter().any(|have| have.atom == p.product.atom && have.native);
        if native { name } else { format!("{name} (expanded)") }
    }

    /// One end of a movement in full.
    pub fn end(&self, end: End) -> String {
        let plan = &self.compiled.plan;
        let missing = || "?".to_string();
        match end {
            End::Registers(k) => plan.fragments.get(usize::from(k)).map_or_else(missing, |f| {
                let registers = f.fragment.registers();
                format!("registers {} {}, {registers} a lane: {}", self.value(f.value), shape(f.fragment.shape, self.dtype(f.value)), fragment(&f.fragment))
            }),
            End::Shared(k) => plan.allocs.get(usize::from(k)).map_or_else(missing, |a| {
                let layout = a.layout.to_layout(a.shape).map_or_else(missing, |l| tirx(&l.view()));
                format!("shared {} {}: {layout}", self.value(a.value), shape(a.shape, self.dtype(a.value)))
            }),
            End::Global(k) => plan.globals.get(usize::from(k)).map_or_else(missing, |g| {
                let stride = g.outer_bytes.map_or_else(|| "a run-time stride".to_string(), |b| format!("{b} B"));
                let starts = g.starts().map(|start| self.value(start)).collect::<Vec<_>>().join(", ");
                format!(
                    "global {} {} at [{starts}]: rows {stride} apart, aligned to {} B",
                    self.value(g.memref),
                    shape(g.map.shape, self.dtype(g.memref)),
                    g.align
                )
            }),
        }
    }
}
