//! Programs made at random: loops, conditions, selects, views, conversions, transposes, reductions,
//! products.
use std::fmt::Write;

/// A small generator of numbers (xorshift).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator for a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

const LAYOUTS: [&str; 3] = ["x", "y", "z"];

/// Names in sight.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// 4x4 tiles in registers with their layouts.
    tiles: Vec<(String, &'static str)>,
    /// 4x4x2 tiles in registers with their layouts.
    pairs: Vec<(String, &'static str)>,
    /// 4x4 buffers with their layouts.
    buffers: Vec<(String, &'static str)>,
    /// Indices.
    indices: Vec<String>,
}

struct Text {
    out: String,
    next: usize,
    random: Random,
}

/// A function of about `size` operations.
#[must_use]
pub fn program(seed: u64, size: usize) -> String {
    let mut text = Text { out: String::new(), next: 0, random: Random::new(seed) };
    text.out.push_str("func @f(%A: memref<?x?xf32, #gmem>, %B: memref<?x?xf32, #gmem>, %c: i1, %d: i1, %n: index) {threads = 64} {\n");
    let mut scope = Scope { indices: vec!["%n".into()], ..Scope::default() };
    text.line(1, "%big = alloc_tensor : tensor<64xf32, #smem>");
    text.line(1, "%t0 = tiled_load %A[0, 0] : memref<?x?xf32, #gmem> -> tensor<4x4xf32, #x>");
    text.line(1, "%m0 = alloc_tensor : tensor<4x4xf32, #smem_x>");
    text.line(1, "tiled_store %t0, %m0 : tensor<4x4xf32, #x> -> tensor<4x4xf32, #smem_x>");
    scope.tiles.push(("%t0".into(), "x"));
    scope.buffers.push(("%m0".into(), "x"));
    text.body(&mut scope, 1, size, 3);
    for (name, layout) in scope.tiles.iter().rev().take(2) {
        text.line(
            1,
            &format!("tiled_store {name}, %B[%n, 0] : {} -> memref<?x?xf32, #gmem>", tile(layout)),
        );
    }
    text.out.push_str("}\n");
    text.out
}

fn tile(layout: &str) -> String {
    format!("tensor<4x4xf32, #{layout}>")
}

fn buffer(layout: &str) -> String {
    format!("tensor<4x4xf32, #smem_{layout}>")
}

impl Text {
    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.out, "{}{line}", "  ".repeat(depth));
    }
    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }
    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.random.below(from.len())].clone()
    }
    fn layout(&mut self) -> &'static str {
        self.pick(&LAYOUTS)
    }
    /// A tile in this layout: one in sight, converted if need be.
    fn tile_in(&mut self, scope: &mut Scope, depth: usize, layout: &'static str) -> String {
        let (name, have) = self.pick(&scope.tiles);
        if have == layout {
            return name;
        }
        let new = self.name();
        self.line(
            depth,
            &format!("{new} = convert_layout {name} : {} -> {}", tile(have), tile(layout)),
        );
        new
    }
    fn condition(&mut self) -> &'static str {
        self.pick(&["%c", "%d"])
    }
    fn body(&mut self, scope: &mut Scope, depth: usize, size: usize, nesting: usize) {
        for _ in 0..size {
            self.step(scope, depth, size, nesting);
        }
    }
    fn step(&mut self, scope: &mut Scope, depth: usize, size: usize, nesting: usize) {
        let layout = self.layout();
        match self.random.below(if nesting > 0 { 22 } else { 16 }) {
            0 | 1 => {
                let (from, to) = (self.pick(&scope.tiles), layout);
                let new = self.name();
                self.line(
                    depth,
                    &format!(
                        "{new} = convert_layout {} : {} -> {}",
                        from.0,
                        tile(from.1),
                        tile(to)
                    ),
                );
                scope.tiles.push((new, to));
            }
            2 | 3 => {
                let (a, b) =
                    (self.tile_in(scope, depth, layout), self.tile_in(scope, depth, layout));
                let (new, op) = (self.name(), self.pick(&["add", "mul", "sub", "max"]));
                self.line(depth, &format!("{new} = {op} {a}, {b} : {}", tile(layout)));
                scope.tiles.push((new, layout));
            }
            // Through elements of half the width, in a layout of their own.
            4 if self.random.below(2) == 0 => {
                let a = self.tile_in(scope, depth, layout);
                let (half, moved, new, to) = (self.name(), self.name(), self.name(), self.layout());
                let narrow = |layout: &str| tile(layout).replace("f32", "f16");
                self.line(
                    depth,
                    &format!("{half} = cast {a} : {} -> {}", tile(layout), narrow(layout)),
                );
                self.line(
                    depth,
                    &format!(
                        "{moved} = convert_layout {half} : {} -> {}",
                        narrow(layout),
                        narrow(to)
                    ),
                );
                self.line(depth, &format!("{new} = cast {moved} : {} -> {}", narrow(to), tile(to)));
                scope.tiles.push((new, to));
            }
            4 => {
                let a = self.tile_in(scope, depth, layout);
                let (new, op) = (self.name(), self.pick(&["exp", "neg", "log"]));
                self.line(depth, &format!("{new} = {op} {a} : {}", tile(layout)));
                scope.tiles.push((new, layout));
            }
            5 => {
                let new = self.name();
                self.line(depth, &format!("{new} = constant 0.0 : {}", tile(layout)));
                scope.tiles.push((new, layout));
            }
            6 => {
                let at = self.pick(&scope.indices);
                let new = self.name();
                self.line(
                    depth,
                    &format!(
                        "{new} = tiled_load %A[{at}, 0] : memref<?x?xf32, #gmem> -> {}",
                        tile(layout)
                    ),
                );
                scope.tiles.push((new, layout));
            }
            7 => {
                let from = self.pick(&scope.tiles);
                let new = self.name();
                self.line(
                    depth,
                    &format!("{new} = trans {} : {} -> {}", from.0, tile(from.1), tile(layout)),
                );
                scope.tiles.push((new, layout));
            }
            8 => {
                let from = self.pick(&scope.tiles);
                let (sum, row, new) = (self.name(), self.name(), self.name());
                self.line(
                    depth,
                    &format!(
                        "{sum} = reduce {} {{axis = 1}} : {} -> tensor<4xf32>",
                        from.0,
                        tile(from.1)
                    ),
                );
                self.line(
                    depth,
                    &format!("{row} = reshape {sum} : tensor<4xf32> -> tensor<4x1xf32>"),
                );
                self.line(
                    depth,
                    &format!("{new} = broadcast {row} : tensor<4x1xf32> -> {}", tile(layout)),
                );
                scope.tiles.push((new, layout));
            }
            9 => {
                let (a, b, c) = (
                    self.pick(&scope.tiles).0,
                    self.pick(&scope.tiles).0,
                    self.tile_in(scope, depth, layout),
                );
                let new = self.name();
                self.line(depth, &format!("{new} = mma {a}, {b}, {c} : {}", tile(layout)));
                scope.tiles.push((new, layout));
            }
            10 => {
                // A buffer by another name: a view of the large one, a view of a view, or a choice.
                let new = self.name();
                let offset = self.random.below(4) * 16;
                self.line(
                    depth,
                    &format!("{new} = view %big {{offset = {offset}}} : tensor<4x4xf32, #smem>"),
                );
                scope.buffers.push((new, ""));
            }
            11 => {
                let (a, b) = (self.pick(&scope.buffers), self.pick(&scope.buffers));
                if a.1 == b.1 {
                    let (new, condition) = (self.name(), self.condition());
                    let ty = if a.1.is_empty() {
                        "tensor<4x4xf32, #smem>".to_string()
                    } else {
                        buffer(a.1)
                    };
                    self.line(
                        depth,
                        &format!("{new} = select {condition}, {}, {} : {ty}", a.0, b.0),
                    );
                    scope.buffers.push((new, a.1));
                }
            }
            12 => {
                let (to, from) = (self.pick(&scope.buffers), self.pick(&scope.tiles));
                let ty = if to.1.is_empty() {
                    "tensor<4x4xf32, #smem>".to_string()
                } else {
                    buffer(to.1)
                };
                self.line(
                    depth,
                    &format!("tiled_store {}, {} : {} -> {ty}", from.0, to.0, tile(from.1)),
                );
            }
            13 => {
                let from = self.pick(&scope.buffers);
                let ty = if from.1.is_empty() {
                    "tensor<4x4xf32, #smem>".to_string()
                } else {
                    buffer(from.1)
                };
                let new = self.name();
                self.line(
                    depth,
                    &format!("{new} = tiled_load {} : {ty} -> {}", from.0, tile(layout)),
                );
                scope.tiles.push((new, layout));
            }
            14 => {
                let (a, b) =
                    (self.tile_in(scope, depth, layout), self.tile_in(scope, depth, layout));
                let (new, pair) = (self.name(), self.layout());
                self.line(
                    depth,
                    &format!(
                        "{new} = join {a}, {b} : {0}, {0} -> tensor<4x4x2xf32, #{pair}>",
                        tile(layout)
                    ),
                );
                scope.pairs.push((new, pair));
            }
            15 => {
                if !scope.pairs.is_empty() {
                    let (pair, have) = self.pick(&scope.pairs);
                    let (a, b) = (self.name(), self.name());
                    self.line(
                        depth,
                        &format!(
                            "{a}, {b} = split {pair} : tensor<4x4x2xf32, #{have}> -> {}",
                            tile(layout)
                        ),
                    );
                    scope.tiles.extend([(a, layout), (b, layout)]);
                }
            }
            16 | 17 => self.counted(scope, depth, size / 2, nesting - 1),
            18 => self.conditional(scope, depth, size / 2, nesting - 1),
            19 => self.branches(scope, depth, size / 2, nesting - 1),
            20 => {
                // A hint about two tiles, which it hands on.
                let (a, b) = (self.tile_in(scope, depth, layout), self.pick(&scope.tiles));
                let (first, second) = (self.name(), self.name());
                let types = format!("{}, {}", tile(layout), tile(b.1));
                self.line(
                    depth,
                    &format!(
                        "{first}, {second} = pragma \"unroll\" {a}, {} : {types} -> ({types})",
                        b.0
                    ),
                );
                scope.tiles.extend([(first, layout), (second, b.1)]);
            }
            _ => {
                let what = self.pick(&["fence", "use %n : index"]);
                self.line(depth, what);
            }
        }
    }
    fn counted(&mut self, scope: &mut Scope, depth: usize, size: usize, nesting: usize) {
        let (result, at) = (self.name(), self.name());
        let mut inner = scope.clone();
        let (mut carried, mut types, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..1 + self.random.below(3) {
            let init = self.pick(&scope.tiles);
            let name = self.name();
            carried.push(format!("{name} = {}", init.0));
            types.push(tile(init.1));
            inner.tiles.push((name.clone(), init.1));
            names.push((name, init.1));
        }
        let through = self.pick(&scope.buffers);
        let (buffer_name, buffer_type) = (
            self.name(),
            if through.1.is_empty() {
                "tensor<4x4xf32, #smem>".to_string()
            } else {
                buffer(through.1)
            },
        );
        carried.push(format!("{buffer_name} = {}", through.0));
        types.push(buffer_type.clone());
        inner.buffers.push((buffer_name.clone(), through.1));
        inner.indices.push(at.clone());
        let upper = self.pick(&["3", "%n", "5"]);
        let sliced =
            if self.random.below(3) == 0 { " attributes {sliceCount = 2 : i32}" } else { "" };
        self.line(
            depth,
            &format!(
                "{result}:{} = scf.for {at} = 0 to {upper} step 1 iter_args({}) -> ({}){sliced} {{",
                carried.len(),
                carried.join(", "),
                types.join(", ")
            ),
        );
        self.body(&mut inner, depth + 1, size, nesting);
        let mut yields = Vec::new();
        for (name, layout) in &names {
            // Often only handed on, so that there is something dead.
            if self.random.below(3) == 0 {
                yields.push(name.clone());
            } else {
                yields.push(self.tile_in(&mut inner, depth + 1, layout));
            }
        }
        yields.push(if self.random.below(2) == 0 { buffer_name } else { through.0 });
        self.line(depth + 1, &format!("scf.yield {} : {}", yields.join(", "), types.join(", ")));
        self.line(depth, "}");
        // Not every result is read later.
        for (number, (_, layout)) in names.iter().enumerate() {
            if self.random.below(2) == 0 {
                scope.tiles.push((format!("{result}#{number}"), layout));
            }
        }
        scope.buffers.push((format!("{result}#{}", names.len()), through.1));
    }
    /// A loop that runs while it is told to: takes two tiles and a buffer, hands one tile and the
    /// buffer on.
    fn conditional(&mut self, scope: &mut Scope, depth: usize, size: usize, nesting: usize) {
        let result = self.name();
        let (first, second, through) =
            (self.pick(&scope.tiles), self.pick(&scope.tiles), self.pick(&scope.buffers));
        let held = if through.1.is_empty() {
            "tensor<4x4xf32, #smem>".to_string()
        } else {
            buffer(through.1)
        };
        let (a, b, m, passed) = (self.name(), self.name(), self.name(), self.layout());
        let (taken, given) = (
            format!("{}, {}, {held}", tile(first.1), tile(second.1)),
            format!("{}, {held}", tile(passed)),
        );
        self.line(
            depth,
            &format!(
                "{result}:2 = scf.while ({a} = {}, {b} = {}, {m} = {}) : ({taken}) -> ({given}) {{",
                first.0, second.0, through.0
            ),
        );
        let mut inner = scope.clone();
        inner.tiles.extend([(a, first.1), (b, second.1)]);
        inner.buffers.push((m.clone(), through.1));
        self.body(&mut inner, depth + 1, size / 2, nesting);
        let (on, condition) = (self.tile_in(&mut inner, depth + 1, passed), self.condition());
        self.line(depth + 1, &format!("scf.condition({condition}) {on}, {m} : {given}"));
        self.line(depth, "} do {");
        let (got, buffer_got) = (self.name(), self.name());
        self.line(depth, &format!("^bb0({got}: {}, {buffer_got}: {held}):", tile(passed)));
        let mut inner = scope.clone();
        inner.tiles.push((got, passed));
        inner.buffers.push((buffer_got.clone(), through.1));
        self.body(&mut inner, depth + 1, size / 2, nesting);
        let back = (
            self.tile_in(&mut inner, depth + 1, first.1),
            self.tile_in(&mut inner, depth + 1, second.1),
        );
        let storage = if self.random.below(2) == 0 { buffer_got } else { through.0 };
        self.line(depth + 1, &format!("scf.yield {}, {}, {storage} : {taken}", back.0, back.1));
        self.line(depth, "}");
        scope.tiles.push((format!("{result}#0"), passed));
        if self.random.below(2) == 0 {
            scope.buffers.push((format!("{result}#1"), through.1));
        }
    }
    fn branches(&mut self, scope: &mut Scope, depth: usize, size: usize, nesting: usize) {
        let (result, condition, layout, other) =
            (self.name(), self.condition(), self.layout(), self.layout());
        let types = format!("{}, {}", tile(layout), tile(other));
        self.line(depth, &format!("{result}:2 = scf.if {condition} -> ({types}) {{"));
        for arm in 0..2 {
            let mut inner = scope.clone();
            self.body(&mut inner, depth + 1, size, nesting);
            let (a, b) = (
                self.tile_in(&mut inner, depth + 1, layout),
                self.tile_in(&mut inner, depth + 1, other),
            );
            self.line(depth + 1, &format!("scf.yield {a}, {b} : {types}"));
            self.line(depth, if arm == 0 { "} else {" } else { "}" });
        }
        scope.tiles.push((format!("{result}#0"), layout));
        if self.random.below(2) == 0 {
            scope.tiles.push((format!("{result}#1"), other));
        }
    }
}
