//! Programs made at random whose tiles have layouts that the algebra knows: converted, transposed,
//! reduced, widened again, reshaped, carried by loops and passed out of conditions.
use crate::generate::Random;
use std::fmt::Write;

/// What stands before every program.
const HEAD: &str = "#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#c = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#ta = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#tb = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#r = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#j = #ttg.blocked<{sizePerThread = [1, 4, 2], threadsPerWarp = [8, 4, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#k = #ttg.blocked<{sizePerThread = [4, 1, 2], threadsPerWarp = [8, 4, 1], warpsPerCTA = [1, 4, 1], order = [2, 0, 1]}>
#l = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [2, 16, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#g = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#f = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {\"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:80\"} {
tt.func @f(%A: memref<32x16xf32, #gmem>, %T: memref<16x32xf32, #gmem>, %R: memref<32xf32, #gmem>, %F: memref<512xf32, #gmem>, %P: memref<32x16x2xf32, #gmem>, %s: memref<32x16xf32, #smem>, %c: i1, %n: index) {
";

/// A kind of tile: shape, place that it is loaded from and stored to, layouts.
struct Sort {
    shape: &'static str,
    place: &'static str,
    memory: &'static str,
    layouts: &'static [&'static str],
}

const SORTS: [Sort; 5] = [
    Sort {
        shape: "32x16",
        place: "%A",
        memory: "memref<32x16xf32, #gmem>",
        layouts: &["#a", "#b", "#g", "#c"],
    },
    Sort {
        shape: "16x32",
        place: "%T",
        memory: "memref<16x32xf32, #gmem>",
        layouts: &["#ta", "#tb", "#a"],
    },
    Sort {
        shape: "32",
        place: "%R",
        memory: "memref<32xf32, #gmem>",
        layouts: &[
            "#r",
            "#ttg.slice<{dim = 1, parent = #a}>",
            "#ttg.slice<{dim = 1, parent = #b}>",
            "#ttg.slice<{dim = 1, parent = #g}>",
            "#ttg.slice<{dim = 1, parent = #c}>",
        ],
    },
    Sort { shape: "512", place: "%F", memory: "memref<512xf32, #gmem>", layouts: &["#f", "#r"] },
    // Pairs: each layout is that of the first sort with a pair of registers.
    Sort {
        shape: "32x16x2",
        place: "%P",
        memory: "memref<32x16x2xf32, #gmem>",
        layouts: &["#j", "#k", "#l"],
    },
];

/// The sort of pairs.
const PAIRS: usize = 4;

/// A tile in sight: name, sort, layout.
type Tile = (String, usize, usize);

struct Text {
    out: String,
    next: usize,
    random: Random,
}

fn ty(sort: usize, layout: usize) -> String {
    format!("tensor<{}xf32, {}>", SORTS[sort].shape, SORTS[sort].layouts[layout])
}

/// A function of about `size` operations.
#[must_use]
pub fn program(seed: u64, size: usize) -> String {
    let mut text = Text { out: HEAD.to_string(), next: 0, random: Random::new(seed) };
    let mut tiles: Vec<Tile> = Vec::new();
    for sort in 0..SORTS.len() {
        text.load(&mut tiles, 1, sort, 0);
    }
    text.body(&mut tiles, 1, size, 2);
    for (name, sort, layout) in tiles.iter().rev().take(3) {
        text.store(1, name, *sort, *layout);
    }
    text.out.push_str("  tt.return\n}\n}\n");
    text.out
}

impl Text {
    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.out, "{}{line}", "  ".repeat(depth));
    }
    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }
    fn make(
        &mut self,
        tiles: &mut Vec<Tile>,
        depth: usize,
        sort: usize,
        layout: usize,
        text: &str,
    ) {
        let name = self.name();
        self.line(depth, &format!("{name} = {text}"));
        tiles.push((name, sort, layout));
    }
    fn load(&mut self, tiles: &mut Vec<Tile>, depth: usize, sort: usize, layout: usize) {
        let Sort { place, memory, .. } = SORTS[sort];
        self.make(
            tiles,
            depth,
            sort,
            layout,
            &format!("tiled_load {place} : {memory} -> {}", ty(sort, layout)),
        );
    }
    fn store(&mut self, depth: usize, name: &str, sort: usize, layout: usize) {
        let Sort { place, memory, .. } = SORTS[sort];
        self.line(
            depth,
            &format!("tiled_store {name}, {place} : {} -> {memory}", ty(sort, layout)),
        );
    }
    fn layout(&mut self, sort: usize) -> usize {
        self.random.below(SORTS[sort].layouts.len())
    }
    /// A tile of a sort in a layout, converted if need be.
    fn tile_in(
        &mut self,
        tiles: &mut Vec<Tile>,
        depth: usize,
        sort: usize,
        layout: usize,
    ) -> String {
        let found: Vec<Tile> = tiles.iter().filter(|tile| tile.1 == sort).cloned().collect();
        let (name, _, have) = found[self.random.below(found.len())].clone();
        if have == layout {
            return name;
        }
        self.make(
            tiles,
            depth,
            sort,
            layout,
            &format!("ttg.convert_layout {name} : {} -> {}", ty(sort, have), ty(sort, layout)),
        );
        tiles[tiles.len() - 1].0.clone()
    }
    fn body(&mut self, tiles: &mut Vec<Tile>, depth: usize, size: usize, nesting: usize) {
        for _ in 0..size {
            self.step(tiles, depth, size, nesting);
        }
    }
    fn step(&mut self, tiles: &mut Vec<Tile>, depth: usize, size: usize, nesting: usize) {
        let sort = self.random.below(SORTS.len());
        let layout = self.layout(sort);
        let own = ty(sort, layout);
        match self.random.below(if nesting > 0 { 22 } else { 17 }) {
            0 | 1 => {
                self.tile_in(tiles, depth, sort, layout);
            }
            2..=4 => {
                let (a, b) = (
                    self.tile_in(tiles, depth, sort, layout),
                    self.tile_in(tiles, depth, sort, layout),
                );
                let op =
                    ["arith.addf", "arith.mulf", "arith.divf", "arith.subf"][self.random.below(4)];
                self.make(tiles, depth, sort, layout, &format!("{op} {a}, {b} : {own}"));
            }
            5 => {
                let a = self.tile_in(tiles, depth, sort, layout);
                self.make(tiles, depth, sort, layout, &format!("math.exp2 {a} : {own}"));
            }
            6 => {
                self.make(tiles, depth, sort, layout, &format!("arith.constant dense<0.0> : {own}"))
            }
            7 => self.load(tiles, depth, sort, layout),
            8 | 9 => {
                // There and back again.
                let (from, to, layout) = if self.random.below(2) == 0 {
                    (0, 1, self.random.below(2))
                } else {
                    (1, 0, self.random.below(2))
                };
                let a = self.tile_in(tiles, depth, from, layout);
                self.make(
                    tiles,
                    depth,
                    to,
                    layout,
                    &format!(
                        "tt.trans {a} {{order = array<i32: 1, 0>}} : {} -> {}",
                        ty(from, layout),
                        ty(to, layout)
                    ),
                );
            }
            10 | 11 => {
                let layout = self.layout(0);
                let a = self.tile_in(tiles, depth, 0, layout);
                self.make(
                    tiles,
                    depth,
                    2,
                    layout + 1,
                    &format!(
                        "reduce {a} {{axis = 1 : i32}} : {} -> {}",
                        ty(0, layout),
                        ty(2, layout + 1)
                    ),
                );
            }
            12 | 13 => {
                let layout = self.layout(0);
                let row = self.tile_in(tiles, depth, 2, layout + 1);
                let column = self.name();
                let narrow = format!("tensor<32x1xf32, {}>", SORTS[0].layouts[layout]);
                self.line(
                    depth,
                    &format!(
                        "{column} = tt.expand_dims {row} {{axis = 1 : i32}} : {} -> {narrow}",
                        ty(2, layout + 1)
                    ),
                );
                self.make(
                    tiles,
                    depth,
                    0,
                    layout,
                    &format!("tt.broadcast {column} : {narrow} -> {}", ty(0, layout)),
                );
            }
            14 => {
                let (from, to) = if self.random.below(2) == 0 { (0, 3) } else { (3, 0) };
                let a = self.tile_in(tiles, depth, from, 0);
                self.make(
                    tiles,
                    depth,
                    to,
                    0,
                    &format!("tt.reshape {a} : {} -> {}", ty(from, 0), ty(to, 0)),
                );
            }
            15 => {
                let layout = self.random.below(3);
                let (a, b) =
                    (self.tile_in(tiles, depth, 0, layout), self.tile_in(tiles, depth, 0, layout));
                let half = ty(0, layout);
                self.make(
                    tiles,
                    depth,
                    PAIRS,
                    layout,
                    &format!("tt.join {a}, {b} : {half} -> {}", ty(PAIRS, layout)),
                );
            }
            16 => {
                let layout = self.random.below(3);
                let pair = self.tile_in(tiles, depth, PAIRS, layout);
                let (a, b) = (self.name(), self.name());
                self.line(
                    depth,
                    &format!(
                        "{a}, {b} = tt.split {pair} : {} -> {}",
                        ty(PAIRS, layout),
                        ty(0, layout)
                    ),
                );
                tiles.extend([(a, 0, layout), (b, 0, layout)]);
            }
            17 | 18 => self.counted(tiles, depth, size / 2, nesting - 1),
            19 | 20 => self.conditional(tiles, depth, size / 2, nesting - 1),
            _ => self.branches(tiles, depth, size / 2, nesting - 1),
        }
    }
    fn counted(&mut self, tiles: &mut Vec<Tile>, depth: usize, size: usize, nesting: usize) {
        let (result, at) = (self.name(), self.name());
        let mut inner = tiles.clone();
        let (mut carried, mut types, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..1 + self.random.below(3) {
            let (init, sort, layout) = tiles[self.random.below(tiles.len())].clone();
            let name = self.name();
            carried.push(format!("{name} = {init}"));
            types.push(ty(sort, layout));
            inner.push((name, sort, layout));
            kept.push((sort, layout));
        }
        let upper = ["3", "%n"][self.random.below(2)];
        let many = carried.len();
        self.line(
            depth,
            &format!(
                "{result}:{many} = scf.for {at} = 0 to {upper} step 1 iter_args({}) -> ({}) {{",
                carried.join(", "),
                types.join(", ")
            ),
        );
        self.body(&mut inner, depth + 1, size, nesting);
        let yields: Vec<String> = kept
            .iter()
            .map(|(sort, layout)| self.tile_in(&mut inner, depth + 1, *sort, *layout))
            .collect();
        self.line(depth + 1, &format!("scf.yield {} : {}", yields.join(", "), types.join(", ")));
        self.line(depth, "}");
        for (number, (sort, layout)) in kept.into_iter().enumerate() {
            tiles.push((format!("{result}#{number}"), sort, layout));
        }
    }
    /// A loop that runs while it is told to; what it takes, what it hands on and what it gives back
    /// may be different tiles.
    fn conditional(&mut self, tiles: &mut Vec<Tile>, depth: usize, size: usize, nesting: usize) {
        let result = self.name();
        let mut inner = tiles.clone();
        let (mut inits, mut taken, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..1 + self.random.below(3) {
            let (init, sort, layout) = tiles[self.random.below(tiles.len())].clone();
            let name = self.name();
            inits.push(format!("{name} = {init}"));
            taken.push(ty(sort, layout));
            inner.push((name, sort, layout));
            kept.push((sort, layout));
        }
        let passed: Vec<(usize, usize)> = (0..1 + self.random.below(2))
            .map(|_| {
                let sort = self.random.below(SORTS.len());
                (sort, self.layout(sort))
            })
            .collect();
        let types: Vec<String> = passed.iter().map(|(sort, layout)| ty(*sort, *layout)).collect();
        let many = passed.len();
        self.line(
            depth,
            &format!(
                "{result}:{many} = scf.while ({}) : ({}) -> ({}) {{",
                inits.join(", "),
                taken.join(", "),
                types.join(", ")
            ),
        );
        self.body(&mut inner, depth + 1, size / 2, nesting);
        let given: Vec<String> = passed
            .iter()
            .map(|(sort, layout)| self.tile_in(&mut inner, depth + 1, *sort, *layout))
            .collect();
        self.line(
            depth + 1,
            &format!("scf.condition(%c) {} : {}", given.join(", "), types.join(", ")),
        );
        self.line(depth, "} do {");
        let mut inner = tiles.clone();
        let arguments: Vec<String> = passed
            .iter()
            .map(|(sort, layout)| {
                let name = self.name();
                inner.push((name.clone(), *sort, *layout));
                format!("{name}: {}", ty(*sort, *layout))
            })
            .collect();
        self.line(depth, &format!("^bb0({}):", arguments.join(", ")));
        self.body(&mut inner, depth + 1, size / 2, nesting);
        let yields: Vec<String> = kept
            .iter()
            .map(|(sort, layout)| self.tile_in(&mut inner, depth + 1, *sort, *layout))
            .collect();
        self.line(depth + 1, &format!("scf.yield {} : {}", yields.join(", "), taken.join(", ")));
        self.line(depth, "}");
        for (number, (sort, layout)) in passed.into_iter().enumerate() {
            tiles.push((format!("{result}#{number}"), sort, layout));
        }
    }
    fn branches(&mut self, tiles: &mut Vec<Tile>, depth: usize, size: usize, nesting: usize) {
        let result = self.name();
        let kept: Vec<(usize, usize)> = (0..2)
            .map(|_| {
                let sort = self.random.below(SORTS.len());
                (sort, self.layout(sort))
            })
            .collect();
        let types =
            kept.iter().map(|(sort, layout)| ty(*sort, *layout)).collect::<Vec<_>>().join(", ");
        self.line(depth, &format!("{result}:2 = scf.if %c -> ({types}) {{"));
        for arm in 0..2 {
            let mut inner = tiles.clone();
            self.body(&mut inner, depth + 1, size, nesting);
            let yields: Vec<String> = kept
                .iter()
                .map(|(sort, layout)| self.tile_in(&mut inner, depth + 1, *sort, *layout))
                .collect();
            self.line(depth + 1, &format!("scf.yield {} : {types}", yields.join(", ")));
            self.line(depth, if arm == 0 { "} else {" } else { "}" });
        }
        for (number, (sort, layout)) in kept.into_iter().enumerate() {
            tiles.push((format!("{result}#{number}"), sort, layout));
        }
    }
}
