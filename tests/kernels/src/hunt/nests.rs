//! Parallel loops over fragments, shared tiles and tensors: written layouts, conditions, inner and
//! outer loops, indices spelt in several ways.
//!
//! Each nest writes a buffer's elements once, or adds to its own: what the order of iterations
//! decides is not compared, and would only make the comparison weaker.

use super::generate::Generator;
use super::program::{Argument, Statement};

/// Most elements of a buffer.
const MOST: u32 = 2048;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scope {
    Global,
    Shared,
    Fragment,
}

#[derive(Clone)]
pub(super) struct Buffer {
    pub name: String,
    pub shape: Vec<u32>,
    pub element: &'static str,
    pub scope: Scope,
    /// Whether all of it has been written.
    pub ready: bool,
    /// Whether its rows go on without an end.
    pub open: bool,
    /// The number of its storage, which views share.
    pub storage: usize,
}

/// A counter of a nest, with how many values it has.
type Counter = (String, u32);

pub(super) struct Nests<'g> {
    pub g: &'g mut Generator,
    pub buffers: Vec<Buffer>,
    pub names: usize,
    /// Counters of serial loops around.
    pub around: Vec<String>,
}

/// A program of nests.
pub(super) fn nests(g: &mut Generator) {
    let element = g.choices.of(&["f32", "f32", "f32", "f16", "bf16", "i32", "i8", "f64"]);
    let rows = g.choices.of(&[4, 8, 16, 32, 64, 3, 12, 1]);
    let columns = g.choices.of(&[16, 32, 64, 128, 8, 24, 7, 96]);
    let shape = vec![rows, columns.min(MOST / rows)];
    let mut nests = Nests { g, buffers: Vec::new(), names: 0, around: Vec::new() };
    nests.inputs(&shape, element);
    for _ in 0..1 + nests.g.choices.below(3) {
        nests.storage(&shape, element);
    }
    if nests.g.choices.once_in(4) {
        nests.products();
    }
    for _ in 0..2 + nests.g.choices.below(4) {
        if nests.around.is_empty() && nests.g.choices.once_in(4) {
            nests.serial();
        } else {
            nests.step();
        }
    }
    for k in 0..nests.buffers.len() {
        let buffer = nests.buffers[k].clone();
        if buffer.scope != Scope::Global && buffer.ready {
            let to = nests.tensor(&buffer.shape, buffer.element, false);
            nests.line(format!("copy {}, {to}", buffer.name));
        }
    }
}

impl Nests<'_> {
    pub(super) fn line(&mut self, text: String) {
        self.g.push(Statement::Line(text));
    }

    pub(super) fn fresh(&mut self) -> String {
        self.names += 1;
        format!("%t{}", self.names)
    }

    pub(super) fn made(&mut self, what: &str) -> String {
        let name = self.fresh();
        self.line(format!("{name} = {what}"));
        name
    }

    fn index(&mut self, word: &str, a: &str, b: impl std::fmt::Display) -> String {
        self.made(&format!("{word} {a}, {b} : index"))
    }

    // ---- buffers
    pub(super) fn tensor(&mut self, shape: &[u32], element: &'static str, open: bool) -> String {
        let mut extents: Vec<Option<u32>> = shape.iter().copied().map(Some).collect();
        if open {
            extents[0] = None;
            if shape.len() > 1 && self.g.choices.once_in(3) {
                extents[1] = None;
            }
        }
        let bytes = super::program::bytes(element);
        let align = if self.g.choices.once_in(5) { bytes.max(4) } else { 16 };
        let div = if self.g.choices.once_in(4) { 1 } else { (align / bytes).max(1) };
        self.g.program.arguments.push(Argument::Tensor {
            extents,
            element,
            align,
            div,
            bounds: Vec::new(),
        });
        format!("%A{}", self.g.program.arguments.len() - 1)
    }

    fn inputs(&mut self, shape: &[u32], element: &'static str) {
        let shapes = [shape.to_vec(), vec![shape[1]], vec![shape[0]], vec![shape[1], shape[0]]];
        for k in 0..2 + self.g.choices.below(2) {
            let shape = if k == 0 { shape.to_vec() } else { self.g.choices.of(&shapes) };
            let open = self.g.choices.once_in(3);
            let name = self.tensor(&shape, element, open);
            let scope = Scope::Global;
            let storage = self.buffers.len();
            self.buffers.push(Buffer { name, shape, element, scope, ready: true, open, storage });
        }
    }

    fn storage(&mut self, shape: &[u32], element: &'static str) {
        let shapes = [
            shape.to_vec(),
            shape.to_vec(),
            vec![shape[1]],
            vec![shape[0]],
            vec![shape[1], shape[0]],
        ];
        let shape = self.g.choices.of(&shapes);
        let scope = self.g.choices.of(&[Scope::Fragment, Scope::Fragment, Scope::Shared]);
        let wide = !["i32", "i8", "f64"].contains(&element) && self.g.choices.once_in(4);
        let element = if wide { "f32" } else { element };
        let words: String = shape.iter().map(|e| format!("{e}x")).collect();
        let space = if scope == Scope::Shared { "#smem" } else { "#fragment" };
        let layout = if scope == Scope::Fragment && self.g.choices.once_in(3) {
            self.layout(&shape)
        } else {
            String::new()
        };
        let written =
            if scope == Scope::Shared { self.lies(&shape, element) } else { String::new() };
        let ty = format!("tensor<{words}{element}, {space}{layout}>");
        let name = self.made(&format!("alloc_tensor{written} : {ty}"));
        let storage = self.buffers.len();
        let own = Buffer { name, shape, element, scope, ready: false, open: false, storage };
        if scope == Scope::Fragment && self.g.choices.once_in(4) {
            self.view(&own);
        }
        self.buffers.push(own);
    }

    /// How a shared tile lies, if that is written: by rows or columns, apart or not, in strips, with
    /// a swizzle.
    pub(super) fn lies(&mut self, shape: &[u32], element: &str) -> String {
        let &[rows, columns] = shape else { return String::new() };
        if !self.g.choices.once_in(3) {
            return String::new();
        }
        let bytes = super::program::bytes(element);
        let most = 16 / bytes;
        let (by_rows, apart) =
            (self.g.choices.once_in(2), self.g.choices.of(&[0, most, 1, 2 * most]));
        let swizzle = self.g.choices.of(&[
            None,
            Some((1, 4, 3)),
            Some((2, 4, 3)),
            Some((3, 4, 3)),
            Some((2, 3, 4)),
        ]);
        let swizzle = swizzle.filter(|_| apart == 0);
        let post = swizzle.map_or(String::new(), |(b, m, s)| format!(", swizzle<{b}, {m}, {s}>"));
        let column_block = self.g.choices.of(&[8, 16, 32, 64]);
        let tile = match (by_rows, apart) {
            (true, 0)
                if columns > column_block
                    && columns % column_block == 0
                    && self.g.choices.once_in(2) =>
            {
                let strips = columns / column_block;
                format!(
                    "({rows}, ({column_block}, {strips})), ({column_block}, (1, {}))",
                    rows * column_block
                )
            }
            (true, _) => format!("({rows}, {columns}), ({}, 1)", columns + apart),
            (false, _) => format!("({rows}, {columns}), (1, {})", rows + apart),
        };
        format!(" {{layout = <{tile}{post}>}}")
    }

    /// The storage of a fragment in a row, maybe of elements of another width.
    fn view(&mut self, of: &Buffer) {
        let count: u32 = of.shape.iter().product();
        let others: &[(&str, u32, u32)] = match of.element {
            "f32" => &[("f16", 2, 1), ("i32", 1, 1), ("f32", 1, 1)],
            "i32" => &[("i8", 4, 1), ("i32", 1, 1)],
            "f16" => &[("f32", 1, 2), ("f16", 1, 1)],
            "i8" => &[("i32", 1, 4)],
            _ => &[],
        };
        let fits: Vec<_> = others.iter().filter(|(_, _, by)| count.is_multiple_of(*by)).collect();
        if fits.is_empty() {
            return;
        }
        let (element, more, fewer) = *self.g.choices.of(&fits);
        let shape = vec![count * more / fewer];
        let ty = format!("tensor<{}x{element}, #fragment>", shape[0]);
        let name = self.made(&format!("view {} : {ty}", of.name));
        // It stands before what it is a view of, which gets the number behind it.
        self.buffers.push(Buffer { name, shape, element, ..of.clone() });
    }

    /// What is written through one name can be read through all of its storage's.
    fn share(&mut self) {
        for k in 0..self.buffers.len() {
            let storage = self.buffers[k].storage;
            let ready = self.buffers.iter().any(|b| b.storage == storage && b.ready);
            self.buffers[k].ready = ready;
        }
    }

    /// A layout in which every element has a place of its own.
    fn layout(&mut self, shape: &[u32]) -> String {
        let threads = self.g.program.threads;
        let flat = match shape {
            [_, columns] => format!("(v0 * {columns} + v1)"),
            _ => "v0".to_string(),
        };
        let count: u32 = shape.iter().product();
        let last = shape[shape.len() - 1];
        match (self.g.choices.below(6), shape) {
            (0, _) => format!(", {{thread = {flat} % {threads}, index = {flat} // {threads}}}"),
            (1, [_, columns]) => {
                format!(", {{thread = v0 % {threads}, index = v0 // {threads} * {columns} + v1}}")
            }
            (2, [rows, _]) => {
                format!(", {{thread = v1 % {threads}, index = v1 // {threads} * {rows} + v0}}")
            }
            (3, _) if threads / shape[0] > 1 => {
                let apart = threads / shape[0];
                let index = if shape.len() == 2 { ", index = v1" } else { ", index = 0" };
                format!(", {{thread = v0 * {apart}{index}}}")
            }
            (4, _) => {
                let mut own = [2, 4, 8, 16]
                    .into_iter()
                    .filter(|n| count.is_multiple_of(*n) && threads.is_multiple_of(*n));
                let own = own.next_back().unwrap_or(1);
                let copies = threads / own;
                format!(
                    ", {{thread = {flat} % {own} + rep * {own}, index = {flat} // {own}, \
                     replicate = {copies}}}"
                )
            }
            (5, [_, columns]) if last.is_multiple_of(8) => format!(
                ", {{thread = xor(v1 % 8, v0 % 8), index = v0 * {} + v1 // 8}}",
                columns / 8
            ),
            _ => String::new(),
        }
    }

    // ---- statements
    fn serial(&mut self) {
        let counter = format!("%k{}", self.names);
        let (to, step) = self.g.choices.of(&[("%K", 1), ("3", 1), ("%K", 1), ("4", 2)]);
        self.around.push(counter.clone());
        self.g.open();
        let before: Vec<bool> = self.buffers.iter().map(|b| b.ready).collect();
        for _ in 0..1 + self.g.choices.below(3) {
            self.step();
        }
        self.around.pop();
        if to == "%K" {
            // It may run no turn.
            self.only(&before);
        }
        self.g.close(format!("scf.for {counter} = 0 to {to} step {step} {{"));
    }

    pub(super) fn step(&mut self) {
        match self.g.choices.below(10) {
            8 => self.single(),
            9 => self.branch(),
            0 => self.fill(),
            1 | 2 => self.copy(),
            3 => self.reduce(),
            _ => self.nest(),
        }
        self.share();
    }

    /// A buffer that a nest may write: storage, or a new tensor.
    fn target(&mut self) -> usize {
        let own: Vec<usize> =
            (0..self.buffers.len()).filter(|k| self.buffers[*k].scope != Scope::Global).collect();
        if self.g.choices.below(3) > 0 {
            return self.g.choices.of(&own);
        }
        let like = self.g.choices.below(self.buffers.len());
        let like = self.buffers[like].clone();
        let name = self.tensor(&like.shape, like.element, false);
        let storage = self.buffers.len();
        let scope = Scope::Global;
        self.buffers.push(Buffer { name, scope, ready: false, open: false, storage, ..like });
        storage
    }

    fn fill(&mut self) {
        let to = self.target();
        let number = if self.buffers[to].element.starts_with('i') { "3" } else { "0.5" };
        let name = self.buffers[to].name.clone();
        self.line(format!("fill {number}, {name}"));
        self.buffers[to].ready = true;
    }

    fn copy(&mut self) {
        let to = self.target();
        let target = self.buffers[to].clone();
        let like = |b: &Buffer| b.ready && b.shape == target.shape && b.element == target.element;
        let from: Vec<String> = self
            .buffers
            .iter()
            .filter(|b| like(b) && b.storage != target.storage && !(b.open && b.shape.len() == 1))
            .map(|b| {
                let corner = if b.open {
                    format!("[{}]", vec!["0"; b.shape.len()].join(", "))
                } else {
                    String::new()
                };
                format!("{}{corner}", b.name)
            })
            .collect();
        if from.is_empty() {
            return self.nest();
        }
        let from = self.g.choices.of(&from);
        self.line(format!("copy {from}, {}", target.name));
        self.buffers[to].ready = true;
    }

    /// The rows or columns of a fragment, into another one.
    fn reduce(&mut self) {
        let fragment =
            |b: &Buffer, rank: usize| b.scope == Scope::Fragment && b.shape.len() == rank;
        let computed = |b: &Buffer| ["f32", "f16", "i32"].contains(&b.element);
        let whole: Vec<Buffer> = self
            .buffers
            .iter()
            .filter(|b| fragment(b, 2) && b.ready && computed(b))
            .cloned()
            .collect();
        if whole.is_empty() {
            return self.nest();
        }
        let from = self.g.choices.of(&whole);
        let axis = self.g.choices.below(2);
        let kept = from.shape[1 - axis];
        let fits = |b: &Buffer| fragment(b, 1) && b.shape[0] == kept && b.element == from.element;
        let to = match self.buffers.iter().position(fits) {
            Some(to) if !self.around.is_empty() || self.g.choices.once_in(2) => to,
            None if !self.around.is_empty() => return self.nest(),
            _ => {
                let ty = format!("tensor<{kept}x{}, #fragment>", from.element);
                let name = self.made(&format!("alloc_tensor : {ty}"));
                let shape = vec![kept];
                let storage = self.buffers.len();
                self.buffers.push(Buffer { name, shape, ready: false, storage, ..from.clone() });
                self.buffers.len() - 1
            }
        };
        // Sums of many narrow floats have no one value.
        let kinds: &[&str] = match from.element {
            "i32" => &["add"],
            "f16" => &["max", "min"],
            _ => &["add", "max", "min"],
        };
        let kind = self.g.choices.of(kinds);
        let name = self.buffers[to].name.clone();
        self.line(format!("reduce_into {}, {name} {{axis = {axis}, kind = {kind}}}", from.name));
        self.buffers[to].ready = true;
    }

    /// Loops over a buffer's elements.
    fn nest(&mut self) {
        let to = self.target();
        let target = self.buffers[to].clone();
        let mut counters: Vec<Counter> = Vec::new();
        let mut extents = target.shape.clone();
        let part = self.g.choices.once_in(8) && extents[0] > 2;
        if part {
            extents[0] -= 1 + self.g.choices.below(2) as u32;
        }
        let count: u32 = extents.iter().product();
        let mut place = Vec::new();
        self.g.open();
        match self.g.choices.below(6) {
            0 if extents.len() == 2 => {
                // One counter for both dimensions.
                let i = self.fresh();
                counters.push((i.clone(), count));
                place.push((self.index("index.div", &i, extents[1]), extents[0]));
                place.push((self.index("index.rem", &i, extents[1]), extents[1]));
            }
            1 if extents[extents.len() - 1].is_multiple_of(4) => {
                // The last dimension in two parts.
                for extent in &extents[..extents.len() - 1] {
                    let i = self.fresh();
                    counters.push((i.clone(), *extent));
                    place.push((i, *extent));
                }
                let last = extents[extents.len() - 1];
                let (a, b) = (self.fresh(), self.fresh());
                counters.push((a.clone(), last / 4));
                counters.push((b.clone(), 4));
                let whole = self.index("index.mul", &a, 4);
                place.push((self.index("index.add", &whole, &b), last));
            }
            turned => {
                for extent in &extents {
                    let i = self.fresh();
                    counters.push((i.clone(), *extent));
                    place.push((i, *extent));
                }
                if turned == 2 {
                    counters.reverse();
                }
            }
        }
        let names: Vec<String> = place.iter().map(|(name, _)| name.clone()).collect();
        let at = format!("{}[{}]", target.name, names.join(", "));
        let written = match self.g.choices.below(6) {
            0 => self.conditional(&target, &place, &at),
            1 if ["f32", "f16", "i32"].contains(&target.element) && target.ready => {
                self.summed(&target, &place, &at)
            }
            _ => {
                let value = self.value(&target, &place);
                self.line(format!("memref.store {value}, {at}"));
                true
            }
        };
        let (names, ends): (Vec<String>, Vec<String>) =
            counters.into_iter().map(|(name, extent)| (name, extent.to_string())).unzip();
        let attributes = self.attributes(&target);
        let head =
            format!("parallel ({}) in ({}){attributes} {{", names.join(", "), ends.join(", "));
        self.g.close(head);
        self.buffers[to].ready |= written && !part;
    }

    /// What a loop says of itself.
    fn attributes(&mut self, target: &Buffer) -> String {
        let mut words = Vec::new();
        if self.g.choices.once_in(8) {
            words.push(format!("coalesced_width = {}", self.g.choices.of(&[1, 2, 4])));
        }
        if self.g.choices.once_in(3) {
            words.push("exchange = allow".to_string());
        }
        let threads = self.g.program.threads;
        if target.scope != Scope::Fragment && threads >= 64 && self.g.choices.once_in(6) {
            let half = threads / 2;
            let (from, to) =
                self.g.choices.of(&[(0, half), (half, threads), (32, threads), (0, 32)]);
            words.push(format!("threads = [{from}, {to}]"));
        }
        if words.is_empty() {
            return String::new();
        }
        format!(" attributes {{{}}}", words.join(", "))
    }

    /// A truth of two elements.
    fn truth(&mut self, target: &Buffer, place: &[Counter]) -> String {
        let element = target.element;
        let (a, b) = (self.read(target, place), self.read(target, place));
        let words: &[&str] = match element {
            "f32" | "f16" => &["oeq", "une", "olt", "oge", "ole", "ogt", "ult", "ueq"],
            _ => &["eq", "ne", "slt", "sge", "sle", "sgt", "ult"],
        };
        let word = self.g.choices.of(words);
        let truth = self.made(&format!("compare.{word} {a}, {b} : {element} -> i1"));
        if !self.g.choices.once_in(4) {
            return truth;
        }
        let own = self.relation(place);
        let word = self.g.choices.of(&["arith.andi", "arith.ori", "arith.xori"]);
        self.made(&format!("{word} {truth}, {own} : i1"))
    }

    /// Whether a relation between a counter and a number holds.
    fn relation(&mut self, place: &[Counter]) -> String {
        let (name, extent) = self.g.choices.of(place);
        let word = self.g.choices.of(&["lt", "ge", "eq", "ne", "le", "gt"]);
        let number = self.g.choices.below(extent as usize);
        self.index(&format!("index.cmp {word},"), &name, number)
    }

    /// Any one element of a buffer.
    fn element(&mut self, from: &Buffer) -> String {
        let at: Vec<String> = from
            .shape
            .iter()
            .map(|extent| self.g.choices.below(*extent as usize).to_string())
            .collect();
        self.made(&format!("memref.load {}[{}] : {}", from.name, at.join(", "), from.element))
    }

    /// One element of a tensor, of numbers that all threads read; outside of parallel loops.
    fn single(&mut self) {
        let known = |b: &&Buffer| b.scope != Scope::Fragment && b.ready && !b.open;
        let all: Vec<Buffer> = self.buffers.iter().filter(known).cloned().collect();
        if all.is_empty() {
            return self.nest();
        }
        let from = self.g.choices.of(&all);
        let to = self.tensor(&[1, 1], from.element, false);
        let ty = from.element;
        let mut value = self.element(&from);
        if ["f32", "i32"].contains(&ty) && self.g.choices.once_in(2) {
            value = self.made(&format!("add {value}, {value} : {ty}"));
        }
        self.line(format!("memref.store {value}, {to}[0, 0]"));
    }

    /// Steps under a truth of an element that all threads read.
    fn branch(&mut self) {
        let known = |b: &&Buffer| {
            b.scope != Scope::Fragment
                && b.ready
                && !b.open
                && ["f32", "f16", "i32"].contains(&b.element)
        };
        let all: Vec<Buffer> = self.buffers.iter().filter(known).cloned().collect();
        if all.is_empty() {
            return self.nest();
        }
        let from = self.g.choices.of(&all);
        let ty = from.element;
        let a = self.element(&from);
        let number = if ty == "i32" { "1" } else { "0.5" };
        let b = self.made(&format!("constant {number} : {ty}"));
        let word = if ty == "i32" { "sgt" } else { "ogt" };
        let truth = self.made(&format!("compare.{word} {a}, {b} : {ty} -> i1"));
        let before: Vec<bool> = self.buffers.iter().map(|b| b.ready).collect();
        self.g.open();
        self.around.push("0".to_string());
        for _ in 0..1 + self.g.choices.below(2) {
            self.step();
        }
        self.only(&before);
        if self.g.choices.once_in(2) {
            self.line("} else {".to_string());
            self.step();
            self.only(&before);
        }
        self.around.pop();
        self.g.close(format!("scf.if {truth} {{"));
    }

    /// What a part that may not run has written is not known to be there.
    pub(super) fn only(&mut self, before: &[bool]) {
        for (k, buffer) in self.buffers.iter_mut().enumerate() {
            buffer.ready = before.get(k).copied().unwrap_or(false);
        }
    }

    /// A store under a condition; whether all elements are written.
    fn conditional(&mut self, target: &Buffer, place: &[Counter], at: &str) -> bool {
        let of_data = ["f32", "f16", "i32"].contains(&target.element) && self.g.choices.once_in(2);
        let holds = if of_data { self.truth(target, place) } else { self.relation(place) };
        let value = self.value(target, place);
        let other = self.g.choices.once_in(2).then(|| self.value(target, place));
        self.g.open();
        self.line(format!("memref.store {value}, {at}"));
        if let Some(other) = &other {
            self.line("} else {".to_string());
            self.line(format!("memref.store {other}, {at}"));
        }
        self.g.close(format!("scf.if {holds} {{"));
        other.is_some()
    }

    /// Each element with something added in an inner loop.
    fn summed(&mut self, target: &Buffer, place: &[Counter], at: &str) -> bool {
        let k = self.fresh();
        let turns = self.g.choices.of(&[2, 3, 4]);
        self.g.open();
        let before = self.made(&format!("memref.load {at} : {}", target.element));
        let mut inner = place.to_vec();
        inner.push((k.clone(), turns));
        let value = self.value(target, &inner);
        let sum = self.made(&format!("add {before}, {value} : {}", target.element));
        self.line(format!("memref.store {sum}, {at}"));
        self.g.close(format!("scf.for {k} = 0 to {turns} step 1 {{"));
        true
    }

    /// A value for an element of a buffer.
    fn value(&mut self, target: &Buffer, place: &[Counter]) -> String {
        let element = target.element;
        let mut value = self.read(target, place);
        let words: &[&'static str] = match element {
            "f32" | "f16" => &["add", "mul", "max", "sub"],
            "i32" => &["add", "mul", "sub"],
            // Not every machine computes with them.
            _ => &[],
        };
        for _ in 0..self.g.choices.below(3).min(words.len()) {
            value = match self.g.choices.below(6) {
                5 => {
                    let truth = match self.g.choices.once_in(3) {
                        true => self.relation(place),
                        false => self.truth(target, place),
                    };
                    let other = self.read(target, place);
                    self.made(&format!("select {truth}, {value}, {other} : {element}"))
                }
                0 => {
                    let number = if element.starts_with('i') { "2" } else { "0.5" };
                    let number = self.made(&format!("constant {number} : {element}"));
                    self.made(&format!("add {value}, {number} : {element}"))
                }
                1 if element == "f32" => {
                    let (name, _) = self.g.choices.of(place);
                    let number = self.made(&format!("arith.sitofp {name} : {element}"));
                    self.made(&format!("add {value}, {number} : {element}"))
                }
                _ => {
                    let other = self.read(target, place);
                    let word = self.g.choices.of(words);
                    self.made(&format!("{word} {value}, {other} : {element}"))
                }
            };
        }
        value
    }

    /// An element of some buffer that is written, of the target's type.
    fn read(&mut self, target: &Buffer, place: &[Counter]) -> String {
        // What another iteration writes is not read.
        let kind = |element: &str| (element.starts_with('i'), element == "f64");
        let is_kind = |b: &Buffer| kind(b.element) == kind(target.element);
        let all: Vec<Buffer> = self
            .buffers
            .iter()
            .filter(|b| b.ready && is_kind(b) && b.storage != target.storage)
            .cloned()
            .collect();
        if all.is_empty() {
            return self.made(&format!("constant 1 : {element}", element = target.element));
        }
        let from = self.g.choices.of(&all);
        let mut at = Vec::new();
        for (dim, extent) in from.shape.iter().enumerate() {
            at.push(self.subscript(&from, dim, *extent, place));
        }
        let value =
            self.made(&format!("memref.load {}[{}] : {}", from.name, at.join(", "), from.element));
        if from.element == target.element {
            return value;
        }
        self.made(&format!("cast {value} : {} -> {}", from.element, target.element))
    }

    fn subscript(&mut self, from: &Buffer, dim: usize, extent: u32, place: &[Counter]) -> String {
        let odd = self.g.choices.once_in(if from.scope == Scope::Fragment { 10 } else { 3 });
        let fits: Vec<Counter> = place.iter().filter(|(_, e)| *e <= extent).cloned().collect();
        let like: Vec<Counter> = fits.iter().filter(|(_, e)| *e == extent).cloned().collect();
        let preferred = place.get(dim).filter(|p| like.contains(p) && !self.g.choices.once_in(8));
        let own = preferred.cloned().or_else(|| {
            let some = if like.is_empty() { &fits } else { &like };
            (!some.is_empty()).then(|| self.g.choices.of(some))
        });
        let Some((name, own)) = own else {
            let (name, _) = self.g.choices.of(place);
            return self.index("index.rem", &name, extent);
        };
        let counter = self.around.last().cloned();
        if from.open && dim == 0 && self.g.choices.once_in(2) {
            // Rows of another turn, or from an argument on.
            let start = counter.unwrap_or_else(|| "%m".to_string());
            return self.index("index.add", &name, start);
        }
        if !odd {
            return name;
        }
        match self.g.choices.below(5) {
            0 => self.index("index.sub", &(own - 1).to_string(), &name),
            1 => {
                let by = 1 + self.g.choices.below(3);
                let moved = self.index("index.add", &name, by);
                self.index("index.rem", &moved, extent)
            }
            2 if extent.is_power_of_two() && own == extent => {
                let bits = self.g.choices.below(extent as usize);
                self.index("arith.xori", &name, bits)
            }
            3 => self.index("index.div", &name, 2),
            _ => self.g.choices.below(extent as usize).to_string(),
        }
    }
}
