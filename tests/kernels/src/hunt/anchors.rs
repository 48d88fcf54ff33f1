//! Products inside of programs of parallel loops: each gives its fragments a layout, which the loops
//! around it must take.

use super::nests::{Buffer, Nests, Scope};

/// Types of the factors and of the sum.
const TYPES: [(&str, &str); 6] = [
    ("f16", "f32"),
    ("f16", "f32"),
    ("bf16", "f32"),
    ("i8", "i32"),
    ("f16", "f16"),
    ("f64", "f64"),
];

impl Nests<'_> {
    fn tile(&mut self, shape: Vec<u32>, element: &'static str, scope: Scope) -> Buffer {
        let space = if scope == Scope::Shared { "#smem" } else { "#fragment" };
        let written =
            if scope == Scope::Shared { self.lies(&shape, element) } else { String::new() };
        let words: String = shape.iter().map(|e| format!("{e}x")).collect();
        let name = self.made(&format!("alloc_tensor{written} : tensor<{words}{element}, {space}>"));
        let storage = self.buffers.len();
        let own = Buffer { name, shape, element, scope, ready: true, open: false, storage };
        self.buffers.push(own.clone());
        own
    }

    /// A factor: a shared tile, or a fragment that a loop or a copy fills.
    fn factor(&mut self, shape: Vec<u32>, element: &'static str, may_hold: bool) -> Buffer {
        let held = may_hold && self.g.choices.once_in(4);
        let tile = self.tile(shape, element, Scope::Shared);
        if !held {
            return tile;
        }
        let fragment = self.tile(tile.shape.clone(), element, Scope::Fragment);
        self.bring(&tile);
        self.line(format!("copy {}, {}", tile.name, fragment.name));
        fragment
    }

    /// What a factor holds.
    fn bring(&mut self, factor: &Buffer) {
        self.bring_from(factor, "");
    }

    /// The same from a place in memory.
    fn bring_from(&mut self, factor: &Buffer, place: &str) {
        if factor.scope == Scope::Fragment {
            return;
        }
        let from = self.tensor(&factor.shape, factor.element, false);
        self.line(format!("copy {from}{place}, {}", factor.name));
    }

    /// One or two products, the second of which has a factor of the first, or its result.
    pub(super) fn products(&mut self) {
        let (element, sum) = self.g.choices.of(&TYPES);
        let m = self.g.choices.of(&[16, 32, 64, 64, 128]);
        let n = self.g.choices.of(&[16, 32, 64, 64, 32]);
        let k = self.g.choices.of(&[16, 32, 64]);
        let (turn_a, turn_b) = (self.g.choices.once_in(4), self.g.choices.once_in(3));
        let shape = |turned: bool, a, b| if turned { vec![b, a] } else { vec![a, b] };
        let a = self.factor(shape(turn_a, m, k), element, !turn_a);
        let b = self.factor(shape(turn_b, k, n), element, false);
        let into = self.tile(vec![m, n], sum, Scope::Fragment);
        // Storage is named before the loop around.
        let other =
            self.g.choices.once_in(4).then(|| self.factor(shape(turn_b, k, n), element, false));
        let more = other.is_none() && element != "i8" && self.g.choices.once_in(3);
        let chain = more.then(|| self.chain((m, n), (element, sum)));
        let start = if sum.starts_with('i') { "1" } else { "0.5" };
        self.line(format!("fill {start}, {}", into.name));
        let policy = self.g.choices.of(&["Square", "FullRow", "FullCol"]);
        let words = |a: bool, b: bool, policy: &str| {
            let a = if a { ", transpose_a" } else { "" };
            let b = if b { ", transpose_b" } else { "" };
            format!("{{policy = {policy}{a}{b}}}")
        };
        let loops = self.g.choices.below(3);
        let mut before: Vec<bool> = self.buffers.iter().map(|b| b.ready).collect();
        for (ready, buffer) in before.iter_mut().zip(&self.buffers) {
            // What the loop brings is not there if it runs no turn.
            let inside = [Some(&a), Some(&b), other.as_ref(), chain.as_ref().map(|c| &c.weights)];
            *ready &= inside.iter().flatten().all(|own| own.name != buffer.name);
        }
        if loops > 0 {
            self.around.push(format!("%k{}", self.names));
            self.g.open();
        }
        // Copies that run ahead say where they begin.
        let stages = if loops > 0 { self.g.choices.of(&[1, 1, 2, 3]) } else { 1 };
        let place = if stages > 1 { "[0, 0]" } else { "" };
        for factor in [&a, &b] {
            self.bring_from(factor, place);
        }
        let first = words(turn_a, turn_b, policy);
        self.line(format!("gemm {}, {}, {} {first}", a.name, b.name, into.name));
        if let Some(other) = &other {
            self.bring_from(other, place);
            self.line(format!("gemm {}, {}, {} {first}", a.name, other.name, into.name));
        }
        if let Some(chain) = &chain {
            self.of_the_sum(chain, &into, policy);
        }
        for _ in 0..self.g.choices.below(2) {
            self.step();
        }
        if loops > 0 {
            let counter = self.around.pop().unwrap_or_default();
            let to = if loops == 1 { "%K" } else { "2" };
            let ahead = match stages {
                1 => String::new(),
                stages => format!("{{num_stages = {stages}}} "),
            };
            self.g.close(format!("scf.for {counter} = 0 to {to} step 1 {ahead}{{"));
        }
        if loops == 1 {
            // It may run no turn.
            self.only(&before);
        }
    }

    /// Storage for a product behind a product of `m` by `n`, whose sum it takes rounded.
    fn chain(&mut self, (m, n): (u32, u32), (element, sum): (&'static str, &'static str)) -> Chain {
        let scope = self.g.choices.of(&[Scope::Shared, Scope::Fragment]);
        let weights = self.tile(vec![m, n], element, scope);
        let wide = self.g.choices.of(&[16, 32, 64]);
        let b = self.factor(vec![n, wide], element, false);
        self.bring(&b);
        let into = self.tile(vec![m, wide], sum, Scope::Fragment);
        self.line(format!("fill 0, {}", into.name));
        Chain { weights, b, into }
    }

    /// A product with what another one summed up, rounded, as its first factor.
    fn of_the_sum(&mut self, chain: &Chain, sum: &Buffer, policy: &str) {
        let Chain { weights, b, into } = chain;
        let (i, j) = (self.fresh(), self.fresh());
        self.g.open();
        let value = self.made(&format!("memref.load {}[{i}, {j}] : {}", sum.name, sum.element));
        let value = if sum.element == weights.element {
            value
        } else {
            self.made(&format!("cast {value} : {} -> {}", sum.element, weights.element))
        };
        self.line(format!("memref.store {value}, {}[{i}, {j}]", weights.name));
        let exchange =
            if self.g.choices.once_in(2) { " attributes {exchange = allow}" } else { "" };
        let (m, n) = (weights.shape[0], weights.shape[1]);
        self.g.close(format!("parallel ({i}, {j}) in ({m}, {n}){exchange} {{"));
        let policy = format!("{{policy = {policy}}}");
        self.line(format!("gemm {}, {}, {} {policy}", weights.name, b.name, into.name));
    }
}

/// Storage of a product behind another one.
struct Chain {
    weights: Buffer,
    b: Buffer,
    into: Buffer,
}
