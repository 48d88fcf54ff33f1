//! What all kinds of programs are made of: tensors, loads, stores, operations, loops, each by
//! random choices.

use super::choices::Choices;
use super::program::{
    Argument, Carried, Id, Loop, OtherPart, Place, Program, Statement, Type, bytes,
};

/// A program in the making.
pub struct Generator {
    /// Its choices.
    pub choices: Choices,
    /// The program; its body is filled at the end.
    pub program: Program,
    /// Statements of the blocks that are open.
    blocks: Vec<Vec<Statement>>,
    /// Register tiles that can be named, one list for each open block.
    scopes: Vec<Vec<Id>>,
    /// Counters of the open loops.
    counters: Vec<(String, u32)>,
    names: usize,
}

/// Subscripts are multiples of this.
const STEPS: [&str; 4] = ["0", "16", "32", "64"];

impl Generator {
    /// Nothing yet.
    #[must_use]
    pub fn new(kind: &'static str, mut choices: Choices) -> Self {
        let threads = choices.of(&[128, 128, 64, 256, 32, 128, 64, 512]);
        let mut program = Program::new(kind, threads);
        for (name, div) in [("m", Some(16)), ("n", Some(32)), ("K", None)] {
            program.arguments.push(Argument::Index { name, div });
        }
        program.arguments.push(Argument::Index { name: "p", div: None });
        Self {
            choices,
            program,
            blocks: vec![Vec::new()],
            scopes: vec![Vec::new()],
            counters: Vec::new(),
            names: 0,
        }
    }

    /// The program.
    #[must_use]
    pub fn finish(mut self) -> Program {
        self.program.body = self.blocks.pop().unwrap_or_default();
        let mut program = super::shrink::tidy(&self.program);
        super::bounds::bound(&mut program, &mut self.choices);
        program
    }

    /// A value of a type, that nothing defines yet.
    pub fn value(&mut self, ty: Type) -> Id {
        self.program.types.push(ty);
        self.program.types.len() - 1
    }

    /// Type of a value.
    #[must_use]
    pub fn ty(&self, id: Id) -> Type {
        self.program.types[id].clone()
    }

    /// Adds a statement to the innermost block.
    pub fn push(&mut self, statement: Statement) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(statement);
        }
    }

    /// Begins a block of statements.
    pub fn open(&mut self) {
        self.blocks.push(Vec::new());
    }

    /// Ends it: the body of a region that begins with a line.
    pub fn close(&mut self, head: String) {
        let body = self.blocks.pop().unwrap_or_default();
        self.push(Statement::Region { head, body });
    }

    /// Makes a register tile one that can be named from here on.
    pub fn show(&mut self, id: Id) -> Id {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(id);
        }
        id
    }

    /// Register tiles that can be named and are as wanted.
    #[must_use]
    pub fn visible(&self, wanted: impl Fn(&Type) -> bool) -> Vec<Id> {
        self.scopes
            .iter()
            .flatten()
            .copied()
            .filter(|id| wanted(&self.program.types[*id]))
            .collect()
    }

    /// A register tile that can be named, newer ones rather. Truths, which memory does not hold, are
    /// not among them.
    pub fn pick(&mut self, wanted: impl Fn(&Type) -> bool) -> Option<Id> {
        let all = self.visible(|ty| ty.element != "i1" && wanted(ty));
        if all.is_empty() {
            return None;
        }
        let back = self.choices.below(all.len()).min(self.choices.below(all.len()));
        all.get(all.len() - 1 - back).copied()
    }

    /// A tensor of so many dimensions that holds tiles of a type.
    pub fn tensor(&mut self, ty: &Type) -> usize {
        let (rank, cols) = (ty.shape.len(), ty.shape[ty.shape.len() - 1]);
        let mut extents = vec![None; rank];
        if self.choices.once_in(5) {
            extents[rank - 1] = Some(cols.max(64).next_multiple_of(64) * 2 + 64);
        }
        let align = if self.choices.once_in(8) {
            self.choices.of(&[8, 4]).max(bytes(ty.element))
        } else {
            16
        };
        // Rows begin where the tensor's alignment has it, or anywhere.
        let div = if self.choices.once_in(8) { 1 } else { (align / bytes(ty.element)).max(1) };
        self.program.arguments.push(Argument::Tensor {
            extents,
            element: ty.element,
            align,
            div,
            bounds: Vec::new(),
        });
        self.program.arguments.len() - 1
    }

    /// Subscripts of a tile in a tensor.
    pub fn corner(&mut self, rank: usize) -> Vec<String> {
        (0..rank)
            .map(|dim| {
                let at = match (self.choices.below(6), self.counters.last()) {
                    (0 | 1, Some((counter, _))) => counter.clone(),
                    (0..4, _) => if dim == 0 { "%m" } else { "%n" }.to_string(),
                    _ => self.choices.of(&STEPS).to_string(),
                };
                if at.starts_with('%') && self.choices.once_in(60) { self.moved(at) } else { at }
            })
            .collect()
    }

    /// An index further on.
    fn moved(&mut self, from: String) -> String {
        let (name, by) = self.choices.of(&[
            ("index.add", "16"),
            ("index.add", "32"),
            ("index.mul", "2"),
            ("index.add", "8"),
            ("index.add", "%n"),
        ]);
        self.index(name, &from, by)
    }

    /// Arithmetic of indices.
    pub fn index(&mut self, name: &'static str, of: &str, by: &str) -> String {
        self.named(name, &[of, by])
    }

    /// The same of any number of operands; a word in front of them stands behind the name.
    pub fn named(&mut self, name: &'static str, ins: &[&str]) -> String {
        self.names += 1;
        let out = format!("%i{}", self.names);
        let ins = ins.iter().map(|name| (*name).to_string()).collect();
        self.push(Statement::Index { out: out.clone(), name, ins });
        out
    }

    /// The innermost open loop's counter.
    #[must_use]
    pub fn counter(&self) -> Option<String> {
        self.counters.last().map(|(name, _)| name.clone())
    }

    /// A name for a counter.
    pub fn new_counter(&mut self) -> String {
        self.names += 1;
        format!("%k{}", self.names)
    }

    /// A place in a tensor: one that is only read, or a new one.
    pub fn source(&mut self, ty: &Type) -> Place {
        let element = ty.element;
        let rank = ty.shape.len();
        let known: Vec<usize> = (0..self.program.arguments.len())
            .filter(|k| {
                matches!(&self.program.arguments[*k], Argument::Tensor { element: e, extents, .. } if *e == element && extents.len() == rank && extents.iter().all(Option::is_none))
                    && !self.is_written(*k)
            })
            .collect();
        let number = if known.is_empty() || self.choices.below(3) > 0 {
            self.tensor(ty)
        } else {
            self.choices.of(&known)
        };
        let mut corner = self.corner(rank);
        // Counters go as far as the loop does; columns of known number do not.
        if matches!(&self.program.arguments[number], Argument::Tensor { extents, .. } if extents.last() != Some(&None))
        {
            corner.pop();
            corner.push("%n".to_string());
        }
        Place::Global(number, corner)
    }

    fn is_written(&self, number: usize) -> bool {
        fn writes(block: &[Statement], number: usize) -> bool {
            block.iter().any(|s| match s {
                Statement::Store { to: Place::Global(k, _), .. }
                | Statement::StoreSome { to: Place::Global(k, _), .. }
                | Statement::Copy { to: Place::Global(k, _), .. } => *k == number,
                Statement::For(l) => l.bodies().into_iter().any(|body| writes(body, number)),
                _ => false,
            })
        }
        self.blocks.iter().any(|b| writes(b, number))
    }

    /// A place in a new tensor.
    pub fn destination(&mut self, ty: &Type) -> Place {
        let number = self.tensor(ty);
        // No counter: each element is written to once, or by the same operation again.
        let corner =
            (0..ty.shape.len()).map(|dim| if dim == 0 { "%m" } else { "%n" }.to_string()).collect();
        Place::Global(number, corner)
    }

    /// An operation; its result can be named.
    pub fn op(&mut self, name: &'static str, ins: Vec<Id>, ty: Type, attributes: &str) -> Id {
        let out = self.value(ty);
        self.push(Statement::Op { name, ins, out, attributes: attributes.to_string() });
        self.show(out)
    }

    /// A tile of one number.
    pub fn constant(&mut self, ty: Type, text: &str) -> Id {
        let out = self.value(ty);
        self.push(Statement::Constant { out, text: text.to_string() });
        self.show(out)
    }

    /// A tile of one number that the text does not say: an index, or an argument.
    pub fn full(&mut self, ty: Type, name: &str, of: &'static str) -> Id {
        let out = self.value(ty);
        self.push(Statement::Full { out, of: (name.to_string(), of) });
        self.show(out)
    }

    /// A layout for a shared tile, in one of the notations.
    pub fn layout(&mut self, ty: &Type) -> Option<String> {
        if ty.shape.len() != 2 || self.choices.below(4) > 0 {
            return None;
        }
        Some(self.written(ty))
    }

    /// A layout in one of the notations.
    pub fn written(&mut self, ty: &Type) -> String {
        let (r, c, b) = (ty.shape[0], ty.shape[1], bytes(ty.element));
        let pad = 16 / b;
        let unit = (16 / b).trailing_zeros();
        let order = if self.choices.once_in(3) { "[0, 1]" } else { "[1, 0]" };
        match self.choices.below(16) {
            // Triton's.
            8 => format!(
                "#ttg.swizzled_shared<{{vec = {pad}, perPhase = {}, maxPhase = {}, order = {order}}}>",
                1 << self.choices.below(2),
                1 << self.choices.below(4)
            ),
            9 => {
                format!("#ttg.padded_shared<[{c}:+{pad}] {{order = {order}, shape = [{r}, {c}]}}>")
            }
            10 => format!(
                "#ttg.nvmma_shared<{{swizzlingByteWidth = {}, transposed = {}, elementBitWidth = {}}}>",
                self.choices.of(&[0, 32, 64, 128]),
                self.choices.once_in(4),
                b * 8
            ),
            // Matrices over bits.
            11 => format!(
                "#ttg.shared_linear<{{offset = [{}], block = []}}, alignment = 128>",
                bits(r, c)
            ),
            // Panels, strides in both orders, and what covers too little or overlaps.
            12 => format!("S[({r},{},{}):({},{},1)]", 2, c / 2, c / 2, r * c / 2),
            13 => format!("(({},2),{c}):((1,{}),{})", r / 2, r * c / 2, r / 2),
            14 => format!("S[({c},{r}):(1,{c})]"),
            15 => format!("<({r}, {c}), (1, {r}), swizzle<2, 4, 3>>"),
            0 => format!("S[({r},{c}):({c},1)]"),
            1 => format!("S[({r},{c}):({},1)]", c + pad),
            2 => format!("({r},{c}):({c},1)"),
            3 => format!("({r},{c}):(1,{r})"),
            4 => format!("({r},{c}):(1,{})", r + pad),
            5 => format!("S<{},{unit},3> o 0 o ({r},{c}):({c},1)", 1 + self.choices.below(3)),
            6 => format!("<({r}, {c}), ({c}, 1), swizzle<{}, 4, 3>>", 1 + self.choices.below(3)),
            _ => format!("<({r}, {c}), ({}, 1)>", c + pad),
        }
    }

    /// A tile in shared memory.
    pub fn alloc(&mut self, ty: &Type) -> Id {
        let out = self.value(ty.clone());
        let layout = self.layout(ty);
        self.push(Statement::Alloc { out, layout });
        out
    }

    /// A tile from global memory, straight or by way of shared memory.
    pub fn load(&mut self, ty: &Type) -> Id {
        let from = self.source(ty);
        let is_straight = self.choices.below(2) == 0;
        self.bring(from, ty, is_straight)
    }

    /// A tile from a place in global memory, straight or by way of shared memory.
    pub fn brought(&mut self, from: Place, ty: &Type) -> Id {
        let is_straight = self.choices.once_in(2);
        self.bring(from, ty, is_straight)
    }

    fn bring(&mut self, from: Place, ty: &Type, is_straight: bool) -> Id {
        if is_straight {
            let out = self.value(ty.clone());
            self.push(Statement::Load { out, from });
            return self.show(out);
        }
        let shared = self.alloc(ty);
        self.push(Statement::Copy { from, to: Place::Shared(shared), ty: ty.clone() });
        self.read(shared)
    }

    /// A register tile to a place in global memory by way of shared memory.
    pub fn store_by_shared(&mut self, value: Id, to: Place) {
        let ty = self.ty(value);
        let shared = self.alloc(&ty);
        self.push(Statement::Store { value, to: Place::Shared(shared) });
        self.push(Statement::Copy { from: Place::Shared(shared), to, ty });
    }

    /// A shared tile in registers.
    pub fn read(&mut self, shared: Id) -> Id {
        let out = self.value(self.ty(shared));
        self.push(Statement::Load { out, from: Place::Shared(shared) });
        self.show(out)
    }

    /// A tile whose loads run along the other dimension.
    pub fn load_transposed(&mut self, ty: &Type) -> Id {
        let before = self.load(&ty.flipped());
        self.op("trans", vec![before], ty.clone(), "")
    }

    /// A register tile to global memory, straight or by way of shared memory.
    pub fn store(&mut self, value: Id) {
        let ty = self.ty(value);
        if ty.shape.len() == 1 {
            let wide =
                Type { shape: vec![ty.shape[0], self.choices.of(&[16, 32])], element: ty.element };
            let spread = self.op("broadcast", vec![value], wide, "axis = 1");
            return self.store(spread);
        }
        let to = self.destination(&ty);
        if self.choices.below(3) > 0 {
            return self.push(Statement::Store { value, to });
        }
        let shared = self.alloc(&ty);
        self.push(Statement::Store { value, to: Place::Shared(shared) });
        self.push(Statement::Copy { from: Place::Shared(shared), to, ty });
    }

    /// First value of a counter.
    fn first(&mut self) -> String {
        match (self.choices.below(8), self.counters.last()) {
            (0, _) => self.choices.of(&["8", "16", "32"]).to_string(),
            (1, Some((counter, _))) => counter.clone(),
            (2, _) => "%m".to_string(),
            _ => "0".to_string(),
        }
    }

    /// A loop around what `body` makes; `starts` are carried, and what is yielded is chosen among
    /// what can be named then.
    pub fn repeat(
        &mut self,
        starts: &[Id],
        body: impl FnOnce(&mut Self, &[Id]) -> Vec<Id>,
    ) -> Vec<Id> {
        let counter = self.new_counter();
        let step = self.choices.of(&[16, 32, 64, 16, 32, 64, 8, 48]);
        let to = if self.choices.below(4) > 0 {
            "%K".to_string()
        } else {
            (step * self.choices.of(&[1, 2, 3])).to_string()
        };
        self.repeat_over(&counter, &to, step, starts, body)
    }

    /// The same with a counter of this name, bound and step.
    pub fn repeat_over(
        &mut self,
        counter: &str,
        to: &str,
        step: u32,
        starts: &[Id],
        body: impl FnOnce(&mut Self, &[Id]) -> Vec<Id>,
    ) -> Vec<Id> {
        let from = self.first();
        self.repeat_from(counter, (&from, to), step, starts, body)
    }

    /// The same with a counter of these bounds.
    pub fn repeat_from(
        &mut self,
        counter: &str,
        (from, to): (&str, &str),
        step: u32,
        starts: &[Id],
        body: impl FnOnce(&mut Self, &[Id]) -> Vec<Id>,
    ) -> Vec<Id> {
        self.blocks.push(Vec::new());
        self.scopes.push(Vec::new());
        self.counters.push((counter.to_string(), step));
        let inside: Vec<Id> = starts
            .iter()
            .map(|s| {
                let id = self.value(self.ty(*s));
                self.show(id)
            })
            .collect();
        let yielded = body(self, &inside);
        self.counters.pop();
        self.scopes.pop();
        let statements = self.blocks.pop().unwrap_or_default();
        let mut carried = Vec::new();
        for ((inside, start), yielded) in inside.into_iter().zip(starts).zip(yielded) {
            let result = self.value(self.ty(*start));
            carried.push(Carried { inside, start: *start, yielded, result });
        }
        let results: Vec<Id> = carried.iter().map(|c| c.result).collect();
        self.push(Statement::For(Loop {
            counter: counter.to_string(),
            from: from.to_string(),
            to: to.to_string(),
            step,
            stages: 1,
            carried,
            body: statements,
            other: None,
        }));
        results.into_iter().map(|r| self.show(r)).collect()
    }

    /// A branch by a condition of this name: each part makes values of the types of `starts` out of
    /// them; a second part that makes nothing passes them out as they are.
    pub fn branch(
        &mut self,
        condition: &str,
        starts: &[Id],
        first: impl FnOnce(&mut Self) -> Vec<Id>,
        second: Option<impl FnOnce(&mut Self) -> Vec<Id>>,
    ) -> Vec<Id> {
        let part = |g: &mut Self, passed: &mut dyn FnMut(&mut Self) -> Vec<Id>| {
            g.blocks.push(Vec::new());
            g.scopes.push(Vec::new());
            let passed = passed(g);
            g.scopes.pop();
            (g.blocks.pop().unwrap_or_default(), passed)
        };
        let (mut first, mut second) = (Some(first), second);
        let (body, yielded) =
            part(self, &mut |g| first.take().map(|first| first(g)).unwrap_or_default());
        let (other, passed) = part(self, &mut |g| match second.take() {
            Some(second) => second(g),
            None => starts.to_vec(),
        });
        let mut carried = Vec::new();
        for (start, yielded) in starts.iter().zip(yielded) {
            let result = self.value(self.ty(*start));
            carried.push(Carried { inside: *start, start: *start, yielded, result });
        }
        let results: Vec<Id> = carried.iter().map(|c| c.result).collect();
        self.push(Statement::For(Loop {
            counter: condition.to_string(),
            from: String::new(),
            to: String::new(),
            step: 1,
            stages: 1,
            carried,
            body,
            other: Some(OtherPart { body: other, passed }),
        }));
        results.into_iter().map(|r| self.show(r)).collect()
    }

    /// The loop that was closed last in the open block, if any, has so many stages.
    pub fn stage(&mut self, stages: u32) {
        let mut block = self.blocks.last_mut().into_iter().flatten().rev();
        let last = block.find_map(|statement| match statement {
            Statement::For(l) => Some(l),
            _ => None,
        });
        if let Some(l) = last {
            l.stages = stages;
        }
    }

    /// Loops that are open.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.counters.len()
    }
}

/// Where the bits of a row-major tile's elements lie, as pairs.
fn bits(rows: u32, cols: u32) -> String {
    let powers = |extent: u32| (0..extent.ilog2()).map(|bit| 1 << bit);
    let all: Vec<String> = powers(cols)
        .map(|c| format!("[0, {c}]"))
        .chain(powers(rows).map(|r| format!("[{r}, 0]")))
        .collect();
    all.join(", ")
}
