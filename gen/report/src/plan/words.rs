//! Names of the things a report speaks of: operations, values, tiles, costs.
use super::Report;
use lanebook::ir::{Op, Program, Value};
use lanebook::map::{Fragment, PlaceTable, SharedLayout, TileShape};
use lanebook::plan::select::written_layout;
use lanebook::plan::{AllocPlan, End, ProductPlan, TransferPlan};
use lanebook_draw::notation::{post, tirx};
use lanebook_layout::{PostMap, Unit};
use lanebook_tables::AtomId;
use std::cell::OnceCell;

/// Where the lines of a program's text end, found once.
#[derive(Debug, Default)]
pub struct Lines(OnceCell<Vec<usize>>);

impl Lines {
    /// The line of an operation, from 1; 0 for one without text.
    pub fn of(&self, program: &Program<'_, '_>, op: Op) -> u32 {
        let ends =
            self.0.get_or_init(|| program.source().match_indices('\n').map(|(at, _)| at).collect());
        program.span(op).map_or(0, |span| ends.partition_point(|end| *end < span.start) as u32 + 1)
    }
}

/// An operation as its line of the source says it, without types and comments.
pub fn operation(program: &Program<'_, '_>, op: Op) -> String {
    let (source, span) = (program.source(), program.span(op).unwrap_or(0..0));
    let start = source[..span.start].rfind('\n').map_or(0, |end| end + 1);
    let text = if span.is_empty() { "" } else { source[start..].lines().next().unwrap_or("") };
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
    if layout.by_table {
        return "bit by bit".to_string();
    }
    let order = match (layout.row_major, layout.turn) {
        (true, None) => match layout.column_block {
            Some(column_block) => {
                format!("row-major in panels of {} columns", 1u32 << column_block)
            }
            None => "row-major".to_string(),
        },
        (false, None) => match layout.column_block {
            Some(column_block) => {
                format!("column-major in panels of {} rows", 1u32 << column_block)
            }
            None => "column-major".to_string(),
        },
        // `k` rows are stored side by side: every so many-th.
        (_, Some(turn)) => {
            format!("{} rows {} apart side by side", 1u32 << turn.count, 1u32 << turn.low)
        }
    };
    match post(&layout.post) {
        post if post.is_empty() => format!("{order}, plain"),
        post => format!("{order}, {post}"),
    }
}

/// A fragment in TIRx notation, or in Triton's where its bits are mixed.
pub fn fragment(fragment: &Fragment) -> String {
    match fragment.to_layout() {
        Some(layout) => tirx(&layout.view()),
        None => mixed(fragment).unwrap_or_else(|| "(no notation says it)".to_string()),
    }
}

/// A fragment of powers of two by its bases: rows and columns that each bit adds.
fn mixed(fragment: &Fragment) -> Option<String> {
    let shape = fragment.shape;
    let bases = |columns: &[u32]| {
        let rows: Vec<String> = columns
            .iter()
            .map(|c| format!("[{}, {}]", c >> shape.cols, c & ((1 << shape.cols) - 1)))
            .collect();
        format!("[{}]", rows.join(", "))
    };
    let [register, lane, warp] =
        [fragment.register.as_slice(), fragment.lane.as_slice(), fragment.warp.as_slice()]
            .map(bases);
    (shape.grid.count() == 1).then(|| {
        format!("#ttg.linear<{{register = {register}, lane = {lane}, warp = {warp}, block = []}}>")
    })
}

/// A tile in shared memory, counted in elements: in TIRx notation, or where it is padded in
/// Triton's.
pub fn placed(layout: &SharedLayout, shape: TileShape) -> String {
    let bytes = |count: u32| {
        (count * 8).is_multiple_of(u32::from(shape.bits)).then(|| count * 8 / u32::from(shape.bits))
    };
    // As if an element were a byte: every stride is so many elements.
    let plain =
        SharedLayout { post: PostMap::None, ..*layout }.to_layout(TileShape { bits: 8, ..shape });
    let Some(mut plain) = plain else { return "(no notation says it)".into() };
    if let Some(padding) = layout.post.padding() {
        let pads = padding
            .pads()
            .iter()
            .map(|p| Some(format!("{}:+{}", bytes(p.interval)?, bytes(p.pad)?)));
        let whole =
            layout.column_block.is_none() && layout.turn.is_none() && shape.grid.count() == 1;
        let order = if layout.row_major { "[1, 0]" } else { "[0, 1]" };
        let said = pads.collect::<Option<Vec<_>>>().filter(|_| whole).map(|pads| pads.join(", "));
        let said = said.map(|pads| {
            format!(
                "#ttg.padded_shared<[{pads}] {{order = {order}, shape = [{}, {}]}}>",
                shape.row_count(),
                shape.col_count()
            )
        });
        return said.unwrap_or_else(|| format!("{}, {}", tirx(&plain.view()), post(&layout.post)));
    }
    let narrow = layout.post.swizzle().map(|s| {
        let shift = i8::try_from(3 - shape.bits.ilog2() as i32)
            .ok()
            .filter(|_| shape.bits.is_power_of_two());
        shift.and_then(|shift| s.rescaled(shift, Unit::Element).ok())
    });
    match narrow {
        None => tirx(&plain.view()),
        Some(Some(swizzle)) if plain.set_post(PostMap::Swizzle(swizzle)).is_ok() => {
            tirx(&plain.view())
        }
        // Finer than an element: in bytes, in CuTe's notation.
        Some(_) => layout
            .to_layout(shape)
            .map_or_else(|| "(no notation says it)".into(), |layout| tirx(&layout.view())),
    }
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
        self.lines.of(self.program, op)
    }

    /// The name of an atom.
    pub fn atom(&self, id: AtomId) -> &str {
        self.tables.atom(id).map_or("?", |a| a.name())
    }

    /// The instructions of a movement: one, or a pair with what stands between.
    pub fn movers(&self, m: &TransferPlan) -> String {
        let between = m.transpose.map_or_else(String::new, |f| {
            format!(
                " + {} in blocks of {}x{}",
                self.atom(f.atom),
                1u32 << f.across,
                1u32 << f.along
            )
        });
        let second = m.second.map_or_else(String::new, |id| format!(" + {}", self.atom(id)));
        format!("{}{between}{second}", self.atom(m.atom))
    }

    /// The matrix instruction of a product, with what was chosen in place of its parameters; and
    /// whether the assembler expands it.
    pub fn product(&self, p: &ProductPlan) -> String {
        let Some(atom) = self.tables.atom(p.product.atom) else { return "?".into() };
        let (mut name, shape) = (atom.name().to_string(), p.product.shape);
        let instance = atom.with_columns(shape.n);
        let values = [
            (shape.a, self.program.operand(p.op, 0)),
            (shape.b, self.program.operand(p.op, 1)),
            (shape.d, self.program.result(p.op, 0)),
        ];
        for (param, vary) in atom.params() {
            let typed = |k: u8| {
                atom.operands
                    .get(usize::from(k))
                    .and_then(|o| o.vary)
                    .is_some_and(|v| v.typed_by == Some(param))
            };
            let dtype = values
                .into_iter()
                .find(|(k, _)| typed(*k))
                .and_then(|(_, v)| self.program.type_of(v?).dtype);
            let word = dtype
                .and_then(|t| atom.word_of(param, t))
                .and_then(|at| vary.words.get(usize::from(at)))
                .map(|w| w.text.to_string());
            let value = instance.and_then(|i| i.value(param)).map(|v| v.to_string());
            if let (Some(operand), Some(text)) =
                (atom.operands.get(usize::from(param)), word.or(value))
            {
                name = name.replace(&format!("{{{}}}", operand.name.text()), &text);
            }
        }
        let native = self.arch.own(p.product.atom).is_some_and(|have| have.native);
        if native { name } else { format!("{name} (expanded)") }
    }

    /// How a tile lies, in a few words: what loops find element by element lies as it is written.
    pub fn lies(&self, tile: &AllocPlan) -> String {
        let ty = self.program.type_of(tile.value);
        let mut functions = self.program.functions();
        let of_loops = functions.any(|function| self.program.has_loops(function));
        let alloc = self.program.def_op(tile.value);
        match alloc.and_then(|op| written_layout(self.program, op, &ty)) {
            Some(_) if of_loops || tile.layout.by_table => "as it is written".to_string(),
            None if tile.layout.by_table => self.by_table(tile),
            _ => shared(&tile.layout),
        }
    }

    /// A tile that lies as a table says: in TIRx notation where strides say it, else as it is
    /// written.
    fn by_table(&self, tile: &AllocPlan) -> String {
        // As if an element were a byte: every stride is so many elements.
        let element = u32::from(tile.shape.bits / 8).max(1);
        let narrow = tile.table.and_then(|table| {
            let columns: Vec<u32> = table.columns().iter().map(|bytes| bytes / element).collect();
            let panels = (table.panels().0 / element, table.panels().1 / element);
            let is_sum = table.adds() || columns.iter().all(|places| places.is_power_of_two());
            let narrow = is_sum.then(|| PlaceTable::sum(&columns, panels)).flatten();
            narrow?.to_layout(TileShape { bits: 8, ..tile.shape })
        });
        let said = narrow.map(|layout| {
            let short = lanebook_layout::tirx::canonicalize(&layout.view());
            tirx(&short.as_ref().unwrap_or(&layout).view())
        });
        let written = || self.program.layout_text(&self.program.type_of(tile.value));
        said.or_else(|| written().map(str::to_string)).unwrap_or_else(|| shared(&tile.layout))
    }

    /// One end of a movement in full.
    pub fn end(&self, end: End) -> String {
        let plan = &self.compiled.plan;
        let missing = || "?".to_string();
        match end {
            End::Registers(k) => plan.fragments.get(usize::from(k)).map_or_else(missing, |f| {
                let registers = f.fragment.registers();
                format!(
                    "registers {} {}, {registers} a lane: {}",
                    self.value(f.value),
                    shape(f.fragment.shape, self.dtype(f.value)),
                    fragment(&f.fragment)
                )
            }),
            End::Shared(k) => plan.allocs.get(usize::from(k)).map_or_else(missing, |a| {
                format!(
                    "shared {} {}: {}",
                    self.value(a.value),
                    shape(a.shape, self.dtype(a.value)),
                    if a.layout.by_table { self.by_table(a) } else { placed(&a.layout, a.shape) }
                )
            }),
            End::Global(k) => plan.globals.get(usize::from(k)).map_or_else(missing, |g| {
                let stride = g
                    .map
                    .outer_bytes
                    .map_or_else(|| "a run-time stride".to_string(), |b| format!("{b} B"));
                let starts =
                    g.starts().map(|start| self.value(start)).collect::<Vec<_>>().join(", ");
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

#[cfg(test)]
mod tests {
    use super::*;
    use lanebook::map::RowRotation;
    use lanebook_layout::notation::{cute, tirx, ttg};
    use lanebook_layout::triton::address::Addresses;
    use lanebook_layout::{AxisId, Coord, Layout, NoSyms, Pad, Padding, Swizzle, WellKnown};

    /// The position of every element.
    fn positions(layout: &Layout) -> Vec<u64> {
        let one = |x| {
            let mut out = Coord::new();
            layout.view().apply_flat(x, &mut out).unwrap();
            out.get(AxisId::M) as u64
        };
        (0..layout.view().size_value().unwrap()).map(one).collect()
    }

    /// Bits of every element's address, row by row, as a text of a layout says it.
    fn said(text: &str, shape: TileShape) -> Vec<u64> {
        let (rows, cols, bits) = (shape.row_count(), shape.col_count(), u64::from(shape.bits));
        let flat = |layout: Layout, unit: u64| {
            positions(&layout).into_iter().map(|at| at * unit).collect()
        };
        if text.starts_with("S<") {
            return flat(cute::parse(text, &WellKnown, &mut NoSyms).unwrap(), 8);
        }
        if text.starts_with("#ttg") {
            let (rows, cols) = (rows as u32, cols as u32);
            let addresses =
                Addresses::new(&ttg::parse(text).unwrap(), &[rows, cols], shape.bits).unwrap();
            return (0..rows)
                .flat_map(|row| (0..cols).map(move |col| [row, col]))
                .map(|at| addresses.byte(&at).unwrap() * 8)
                .collect();
        }
        flat(tirx::parse(text, &WellKnown, &mut NoSyms).unwrap(), bits)
    }

    #[test]
    fn tiles_in_shared_memory_read_back() {
        let swizzle = |b, m, s| PostMap::Swizzle(Swizzle::new(b, m, s, Unit::Byte).unwrap());
        let padding = |interval, pad| {
            PostMap::Padding(Padding::new(&[Pad { interval, pad }], Unit::Byte).unwrap())
        };
        let plain = SharedLayout::BY_ROWS;
        for bits in [8u16, 16, 32, 64] {
            for (rows, cols) in [(64, 64), (8, 128), (48, 96)] {
                let shape = TileShape::new(rows, cols, bits).unwrap();
                let mut layouts = vec![plain, SharedLayout { row_major: false, ..plain }];
                layouts.extend(
                    [swizzle(3, 4, 3), swizzle(2, 4, 3), swizzle(1, 2, 4)]
                        .map(|post| SharedLayout { post, ..plain }),
                );
                if shape.grid.count() == 1 {
                    layouts.push(SharedLayout { post: padding(256, 16), ..plain });
                    layouts.push(SharedLayout { column_block: Some(3), ..plain });
                    layouts.push(SharedLayout {
                        turn: Some(RowRotation { low: 1, count: 1 }),
                        ..plain
                    });
                }
                for layout in layouts {
                    let text = placed(&layout, shape);
                    let map = layout.to_layout(shape).unwrap();
                    let wanted: Vec<u64> = positions(&map).into_iter().map(|at| at * 8).collect();
                    assert_eq!(said(&text, shape), wanted, "{bits} bits, {rows} x {cols}: {text}");
                }
            }
        }
        // Two elements to a byte.
        let shape = TileShape::new(64, 64, 4).unwrap();
        assert_eq!(placed(&plain, shape), "S[(64,64):(64,1)]");
        assert_eq!(
            placed(&SharedLayout { post: swizzle(3, 4, 3), ..plain }, shape),
            "ComposeLayout(5, 3, 3, TileLayout(S[(64,64):(64,1)]))"
        );
    }
}
