//! A small typed tree of a tile program, and its text.

use super::calls::{CALLS, outlined};
use super::recurrences::{RECURRENCES, recurrent};
use super::stages::APART;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A value: its number among [`Program::types`].
pub type Id = usize;

/// Type of a tile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// Extents.
    pub shape: Vec<u32>,
    /// Element type.
    pub element: &'static str,
}

/// An argument of the kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A tensor in global memory.
    Tensor {
        /// Extents, `None` for `?`.
        extents: Vec<Option<u32>>,
        /// Element type.
        element: &'static str,
        /// Bytes that it is aligned to.
        align: u32,
        /// Elements that its unknown strides are multiples of.
        div: u32,
        /// Its bounds as they are written, of each dimension; empty if it has none.
        bounds: Vec<String>,
    },
    /// A number.
    Index {
        /// Its name.
        name: &'static str,
        /// What it is a multiple of.
        div: Option<u32>,
    },
    /// A number that is no index.
    Number {
        /// Its name.
        name: &'static str,
        /// Its type.
        element: &'static str,
    },
}

/// Where a tile lies.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// In a tensor, at these subscripts.
    Global(usize, Vec<String>),
    /// In shared memory.
    Shared(Id),
}

/// A value that a loop carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// Its name in the loop.
    pub inside: Id,
    /// Before the first turn.
    pub start: Id,
    /// After a turn.
    pub yielded: Id,
    /// Its name behind the loop.
    pub result: Id,
}

/// A counted loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The counter's name.
    pub counter: String,
    /// First value.
    pub from: String,
    /// The bound: a number or an argument.
    pub to: String,
    /// Step.
    pub step: u32,
    /// Buffers over which its copies run ahead; 1 where it does not say so.
    pub stages: u32,
    /// What is carried.
    pub carried: Vec<Carried>,
    /// Statements.
    pub body: Vec<Statement>,
    /// It is a branch, whose condition the counter names; inside of it what is carried has the name
    /// that it had before.
    pub other: Option<OtherPart>,
}

/// The second part of a branch.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherPart {
    /// Statements.
    pub body: Vec<Statement>,
    /// What it passes out, for each value that is carried.
    pub passed: Vec<Id>,
}

impl Loop {
    /// Its statements, and those of a second part.
    #[must_use]
    pub fn bodies(&self) -> Vec<&[Statement]> {
        let other = self.other.as_ref().map(|other| other.body.as_slice());
        std::iter::once(self.body.as_slice()).chain(other).collect()
    }

    /// The same to be changed.
    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        let other = self.other.as_mut().map(|other| &mut other.body);
        std::iter::once(&mut self.body).chain(other).collect()
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// A tile in shared memory.
    Alloc {
        /// The tile.
        out: Id,
        /// Its written layout.
        layout: Option<String>,
    },
    /// From memory to memory.
    Copy {
        /// Source.
        from: Place,
        /// Destination.
        to: Place,
        /// The tile's type.
        ty: Type,
    },
    /// From memory to registers.
    Load {
        /// The result.
        out: Id,
        /// Source.
        from: Place,
    },
    /// From registers to memory.
    Store {
        /// The value.
        value: Id,
        /// Destination.
        to: Place,
    },
    /// Some elements from memory to registers, or from where indices say.
    LoadSome {
        /// The result.
        out: Id,
        /// Source.
        from: Place,
        /// Indices, and the dimension along which they count.
        index: Option<(Id, usize)>,
        /// Which elements.
        mask: Option<Id>,
        /// What the others are.
        other: Option<Id>,
    },
    /// Some elements from registers to memory, or to where indices say.
    StoreSome {
        /// The value.
        value: Id,
        /// Destination.
        to: Place,
        /// Indices, and the dimension along which they count.
        index: Option<(Id, usize)>,
        /// Which elements.
        mask: Option<Id>,
        /// Of an atomic operation, what it does to the elements there.
        combines: Combines,
    },
    /// An operation on tiles.
    Op {
        /// Its name.
        name: &'static str,
        /// Operands.
        ins: Vec<Id>,
        /// The result.
        out: Id,
        /// Attributes in brackets, or nothing.
        attributes: String,
    },
    /// A tile of one number.
    Constant {
        /// The result.
        out: Id,
        /// The number.
        text: String,
    },
    /// A tile of one number that the text does not say.
    Full {
        /// The result.
        out: Id,
        /// The number's name and its type.
        of: (String, &'static str),
    },
    /// Arithmetic of indices.
    Index {
        /// The result's name.
        out: String,
        /// The operation.
        name: &'static str,
        /// Operands.
        ins: Vec<String>,
    },
    /// A loop.
    For(Loop),
    /// A line as it is; tensors are named `%A` and their numbers.
    Line(String),
    /// Lines in brackets behind a first one.
    Region {
        /// The first line, with its bracket.
        head: String,
        /// What is inside.
        body: Vec<Statement>,
    },
}

/// What an atomic operation has beside where it goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Combines {
    /// What it does to the elements there; nothing: they are stored.
    pub kind: Option<&'static str>,
    /// What it compares them with.
    pub compared: Option<Id>,
    /// What stood there before.
    pub old: Option<Id>,
}

/// A program.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Which kind of the generator's it is of.
    pub kind: &'static str,
    /// Threads of a block.
    pub threads: u32,
    /// Arguments.
    pub arguments: Vec<Argument>,
    /// Types of the values.
    pub types: Vec<Type>,
    /// Written layouts of register tiles.
    pub layouts: BTreeMap<Id, String>,
    /// Statements.
    pub body: Vec<Statement>,
}

/// Bytes of an element type.
#[must_use]
pub fn bytes(element: &str) -> u32 {
    match element {
        "f64" | "i64" | "u64" => 8,
        "f32" | "i32" | "u32" => 4,
        "f16" | "bf16" | "i16" | "u16" => 2,
        _ => 1,
    }
}

impl Type {
    /// A matrix.
    #[must_use]
    pub fn of(rows: u32, cols: u32, element: &'static str) -> Self {
        Self { shape: vec![rows, cols], element }
    }

    /// The same with its dimensions exchanged.
    #[must_use]
    pub fn flipped(&self) -> Self {
        Self { shape: self.shape.iter().rev().copied().collect(), element: self.element }
    }

    /// The same elements of another type.
    #[must_use]
    pub fn with(&self, element: &'static str) -> Self {
        Self { shape: self.shape.clone(), element }
    }

    fn words(&self) -> String {
        self.shape.iter().map(|e| format!("{e}x")).collect::<String>() + self.element
    }

    pub(super) fn shared(&self) -> String {
        format!("tensor<{}, #smem>", self.words())
    }
}

impl Statement {
    /// Values that it defines.
    #[must_use]
    pub fn defines(&self) -> Vec<Id> {
        match self {
            Self::Alloc { out, .. }
            | Self::Load { out, .. }
            | Self::LoadSome { out, .. }
            | Self::Op { out, .. }
            | Self::Full { out, .. }
            | Self::Constant { out, .. } => vec![*out],
            Self::For(l) => l.carried.iter().map(|c| c.result).collect(),
            Self::Copy { .. } | Self::Store { .. } | Self::Index { .. } => Vec::new(),
            Self::StoreSome { combines, .. } => combines.old.into_iter().collect(),
            Self::Line(_) | Self::Region { .. } => Vec::new(),
        }
    }

    /// Values that it names itself, those of a loop's body not among them.
    #[must_use]
    pub fn names(&self) -> Vec<Id> {
        let shared = |place: &Place| if let Place::Shared(id) = place { Some(*id) } else { None };
        match self {
            Self::Copy { from, to, .. } => shared(from).into_iter().chain(shared(to)).collect(),
            Self::Load { from, .. } => shared(from).into_iter().collect(),
            Self::Store { value, to } => std::iter::once(*value).chain(shared(to)).collect(),
            Self::LoadSome { index, mask, other, .. } => {
                index.map(|(id, _)| id).into_iter().chain(*mask).chain(*other).collect()
            }
            Self::StoreSome { value, index, mask, combines, .. } => {
                let index = index.map(|(id, _)| id);
                let led = combines.compared.into_iter().chain(index).chain(*mask);
                std::iter::once(*value).chain(led).collect()
            }
            Self::Op { ins, .. } => ins.clone(),
            Self::For(l) => l.carried.iter().map(|c| c.start).collect(),
            Self::Alloc { .. } | Self::Constant { .. } | Self::Index { .. } => Vec::new(),
            Self::Full { .. } => Vec::new(),
            Self::Line(_) | Self::Region { .. } => Vec::new(),
        }
    }

    /// Places in global memory.
    #[must_use]
    pub fn tensors(&self) -> Vec<usize> {
        let global =
            |place: &Place| if let Place::Global(number, _) = place { Some(*number) } else { None };
        match self {
            Self::Copy { from, to, .. } => global(from).into_iter().chain(global(to)).collect(),
            Self::Load { from, .. } | Self::LoadSome { from, .. } => {
                global(from).into_iter().collect()
            }
            Self::Store { to, .. } | Self::StoreSome { to, .. } => global(to).into_iter().collect(),
            Self::For(l) => l.bodies().into_iter().flatten().flat_map(Self::tensors).collect(),
            Self::Line(text) => named_tensors(text),
            Self::Region { body, .. } => body.iter().flat_map(Self::tensors).collect(),
            _ => Vec::new(),
        }
    }
}

/// What is written of the dimension along which indices count.
fn axis_of(index: Option<(Id, usize)>) -> Option<String> {
    index.filter(|(_, axis)| *axis > 0).map(|(_, axis)| format!("axis = {axis}"))
}

/// The numbers of the tensors that a line names.
fn named_tensors(line: &str) -> Vec<usize> {
    let digits =
        |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    line.split("%A").skip(1).filter_map(digits).collect()
}

impl Program {
    /// An empty one.
    #[must_use]
    pub fn new(kind: &'static str, threads: u32) -> Self {
        Self {
            kind,
            threads,
            arguments: Vec::new(),
            types: Vec::new(),
            layouts: BTreeMap::new(),
            body: Vec::new(),
        }
    }

    pub(super) fn memref(&self, number: usize) -> String {
        let Some(Argument::Tensor { extents, element, .. }) = self.arguments.get(number) else {
            return String::new();
        };
        let words: String =
            extents.iter().map(|e| e.map_or("?x".to_string(), |e| format!("{e}x"))).collect();
        format!("memref<{words}{element}, #gmem>")
    }

    /// Type of a register tile, as it is written.
    pub(super) fn registers(&self, id: Id) -> String {
        let layout = self.layouts.get(&id).map_or(String::new(), |text| {
            // One layout has one name, or its types were two.
            let first = self.layouts.iter().find(|(_, other)| *other == text);
            format!(", #l{}", first.map_or(&id, |(first, _)| first))
        });
        format!("tensor<{}{layout}>", self.types[id].words())
    }

    /// Names and types of tiles that say what is moved.
    fn beside(&self, led: impl Iterator<Item = Id>) -> (String, String) {
        let (mut names, mut types) = (String::new(), String::new());
        for id in led {
            let _ = write!(names, ", %v{id}");
            let _ = write!(types, ", {}", self.registers(id));
        }
        (names, types)
    }

    fn place(&self, place: &Place) -> String {
        match place {
            Place::Global(number, at) => format!("%A{number}[{}]", at.join(", ")),
            Place::Shared(id) => format!("%v{id}"),
        }
    }

    fn place_type(&self, place: &Place) -> String {
        match place {
            Place::Global(number, _) => self.memref(*number),
            Place::Shared(id) => self.types[*id].shared(),
        }
    }

    /// The program, its function named `name`.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        let argument = |(number, argument): (usize, &Argument)| match argument {
            Argument::Tensor { extents, align, div, bounds, .. } => {
                let unknown = extents.iter().skip(1).any(Option::is_none);
                let div = if unknown && *div > 1 {
                    format!(", stride_div = {div}")
                } else {
                    String::new()
                };
                let bounds = if bounds.is_empty() {
                    String::new()
                } else {
                    format!(", bounds = ({})", bounds.join(", "))
                };
                format!("%A{number}: {} {{align = {align}{div}{bounds}}}", self.memref(number))
            }
            Argument::Number { name, element } => format!("%{name}: {element}"),
            Argument::Index { name, div } => format!(
                "%{name}: index{}",
                div.map_or(String::new(), |d| format!(" {{div = {d}}}"))
            ),
        };
        let (tensors, indices): (Vec<_>, Vec<_>) = self
            .arguments
            .iter()
            .enumerate()
            .partition(|(_, a)| matches!(a, Argument::Tensor { .. }));
        // Numbers stand behind the tensors, or before them: parameters keep the order.
        let (first, last) = if self.arguments.len().is_multiple_of(3) {
            (indices, tensors)
        } else {
            (tensors, indices)
        };
        let arguments: Vec<String> = first.into_iter().chain(last).map(argument).collect();
        let mut out = String::new();
        for (id, layout) in &self.layouts {
            let _ = writeln!(out, "#l{id} = {layout}");
        }
        let _ = writeln!(
            out,
            "func @{name}({}) {{threads = {}}} {{",
            arguments.join(", "),
            self.threads
        );
        self.block(&self.body, 1, &mut out);
        out.push_str("}\n");
        if self.kind == CALLS { outlined(self, &out) } else { out }
    }

    pub(super) fn block(&self, body: &[Statement], depth: usize, out: &mut String) {
        for statement in body {
            let _ = write!(out, "{:1$}", "", depth * 2);
            self.statement(statement, depth, out);
        }
    }

    fn statement(&self, statement: &Statement, depth: usize, out: &mut String) {
        let ty = |id: &Id| &self.types[*id];
        let _ = match statement {
            Statement::Alloc { out: id, layout } => {
                let written =
                    layout.as_ref().map_or(String::new(), |l| format!("{{layout = {l}}} "));
                writeln!(out, "%v{id} = alloc_tensor {written}: {}", ty(id).shared())
            }
            Statement::Copy { from, to, .. } => {
                writeln!(
                    out,
                    "copy {}, {} : {} -> {}",
                    self.place(from),
                    self.place(to),
                    self.place_type(from),
                    self.place_type(to)
                )
            }
            Statement::Load { out: id, from } => {
                writeln!(
                    out,
                    "%v{id} = tiled_load {} : {} -> {}",
                    self.place(from),
                    self.place_type(from),
                    self.registers(*id)
                )
            }
            Statement::Store { value, to } => {
                writeln!(
                    out,
                    "tiled_store %v{value}, {} : {} -> {}",
                    self.place(to),
                    self.registers(*value),
                    self.place_type(to)
                )
            }
            Statement::LoadSome { out: id, from, index, mask, other } => {
                let led = index.map(|(id, _)| id).into_iter().chain(*mask).chain(*other);
                let (names, types) = self.beside(led);
                let name = if index.is_some() { "gather" } else { "tiled_load" };
                let axis = axis_of(*index).map_or(String::new(), |axis| format!(" {{{axis}}}"));
                writeln!(
                    out,
                    "%v{id} = {name} {}{names}{axis} : {}{types} -> {}",
                    self.place(from),
                    self.place_type(from),
                    self.registers(*id)
                )
            }
            Statement::StoreSome { value, to, index, mask, combines } => {
                let Combines { kind, compared, old } = combines;
                let index_tile = index.map(|(id, _)| id);
                let led = compared.iter().copied().chain(index_tile).chain(*mask);
                let (names, types) = self.beside(led);
                let made = old.map_or(String::new(), |id| format!("%v{id} = "));
                let to_type = old.map_or(String::new(), |id| format!(" -> {}", self.registers(id)));
                let name = match (kind, index) {
                    (Some(_), _) => "tiled_atomic",
                    (None, Some(_)) => "scatter",
                    (None, None) => "tiled_store",
                };
                let attributes = match (kind, axis_of(*index)) {
                    (Some(kind), Some(axis)) => format!(" {{kind = {kind}, {axis}}}"),
                    (Some(kind), None) => format!(" {{kind = {kind}}}"),
                    (None, axis) => axis.map_or(String::new(), |axis| format!(" {{{axis}}}")),
                };
                writeln!(
                    out,
                    "{made}{name} %v{value}, {}{names}{attributes} : {}, {}{types}{to_type}",
                    self.place(to),
                    self.registers(*value),
                    self.place_type(to)
                )
            }
            Statement::Op { name, ins, out: id, attributes } => {
                let names: Vec<String> = ins.iter().map(|i| format!("%v{i}")).collect();
                let converts = matches!(
                    *name,
                    "trans"
                        | "convert_layout"
                        | "cast"
                        | "reduce"
                        | "broadcast"
                        | "reshape"
                        | "scan"
                        | "arith.bitcast"
                        | "tt.fp_to_fp"
                );
                // The place of an extreme, which is the second of two results.
                if *name == "place" {
                    let ([tile, beside], ty) = (&ins[..], &self.types[*id]) else { return };
                    let (of, line) =
                        (&self.types[*tile], self.types[*id].with(self.types[*tile].element));
                    let _ = writeln!(
                        out,
                        "%w{id}, %v{id} = reduce %v{tile}, %v{beside} {{{attributes}}} : tensor<{}>, tensor<{}> -> tensor<{}>, tensor<{}>",
                        of.words(),
                        self.types[*beside].words(),
                        line.words(),
                        ty.words()
                    );
                    return;
                }
                if let Some(line) = self.of_parts(name, (ins, *id), attributes) {
                    let _ = writeln!(out, "{line}");
                    return;
                }
                let types = if converts {
                    format!("{} -> {}", self.registers(ins[0]), self.registers(*id))
                } else if name.starts_with("compare.") {
                    let from = self.registers(ins[0]);
                    format!("{from}, {from} -> {}", self.registers(*id))
                } else if *name == "select" {
                    format!("{}, {}", self.registers(ins[0]), self.registers(*id))
                } else {
                    self.registers(*id)
                };
                let attributes = if attributes.is_empty() {
                    String::new()
                } else {
                    format!(" {{{attributes}}}")
                };
                writeln!(out, "%v{id} = {name} {}{attributes} : {types}", names.join(", "))
            }
            Statement::Constant { out: id, text } => {
                writeln!(out, "%v{id} = constant {text} : {}", self.registers(*id))
            }
            Statement::Full { out: id, of: (number, ty) } => {
                writeln!(out, "%v{id} = broadcast {number} : {ty} -> {}", self.registers(*id))
            }
            Statement::Index { out: name, name: op, ins } => {
                let space = if ins.is_empty() { "" } else { " " };
                writeln!(out, "{name} = {op}{space}{} : index", ins.join(", "))
            }
            Statement::For(l) => return self.for_loop(l, depth, out),
            Statement::Line(text) => writeln!(out, "{text}"),
            Statement::Region { head, body } => {
                let _ = writeln!(out, "{head}");
                self.block(body, depth + 1, out);
                writeln!(out, "{:1$}}}", "", depth * 2)
            }
        };
    }

    /// An operation on a part of a tile, or on pairs.
    fn of_parts(&self, name: &str, (ins, id): (&[Id], Id), starts: &str) -> Option<String> {
        let (first, to) = (*ins.first()?, self.registers(id));
        let from = self.registers(first);
        let second = ins.get(1).map(|second| (*second, self.registers(*second)));
        Some(match (name, second) {
            ("extract_slice", _) => {
                format!("%v{id} = extract_slice %v{first}[{starts}] : {from} -> {to}")
            }
            ("insert_slice", Some((tile, of))) => {
                format!(
                    "%v{id} = insert_slice %v{first}, %v{tile}[{starts}] : {from}, {of} -> {to}"
                )
            }
            ("join", Some((second, of))) => {
                format!("%v{id} = join %v{first}, %v{second} : {from}, {of} -> {to}")
            }
            ("first", _) => format!("%v{id}, %w{id} = split %v{first} : {from} -> {to}, {to}"),
            ("second", _) => format!("%w{id}, %v{id} = split %v{first} : {from} -> {to}, {to}"),
            _ => return None,
        })
    }

    /// The end of a block, which passes on what it has.
    fn end(&self, passed: &[Id], types: &str, depth: usize, out: &mut String) {
        let pad = (depth + 1) * 2;
        let names: Vec<String> = passed.iter().map(|id| format!("%v{id}")).collect();
        let _ = match &names[..] {
            [] => writeln!(out, "{:pad$}scf.yield", ""),
            names => writeln!(out, "{:pad$}scf.yield {} : {types}", "", names.join(", ")),
        };
    }

    fn branch(
        &self,
        l: &Loop,
        other: &OtherPart,
        (head, types): (&str, &str),
        depth: usize,
        out: &mut String,
    ) {
        let arrow = match l.carried.len() {
            0 => String::new(),
            1 => format!(" -> {types}"),
            _ => format!(" -> ({types})"),
        };
        let _ = writeln!(out, "{head}scf.if {}{arrow} {{", l.counter);
        self.block(&l.body, depth + 1, out);
        self.end(&l.carried.iter().map(|c| c.yielded).collect::<Vec<_>>(), types, depth, out);
        if !other.body.is_empty() || !l.carried.is_empty() {
            let _ = writeln!(out, "{:1$}}} else {{", "", depth * 2);
            self.block(&other.body, depth + 1, out);
            self.end(&other.passed, types, depth, out);
        }
        let _ = writeln!(out, "{:1$}}}", "", depth * 2);
    }

    fn for_loop(&self, l: &Loop, depth: usize, out: &mut String) {
        let join =
            |f: &dyn Fn(&Carried) -> String| l.carried.iter().map(f).collect::<Vec<_>>().join(", ");
        let types = join(&|c| self.registers(c.result));
        let head = if l.carried.is_empty() {
            String::new()
        } else {
            format!("{} = ", join(&|c| format!("%v{}", c.result)))
        };
        if let Some(other) = &l.other {
            return self.branch(l, other, (&head, &types), depth, out);
        }
        if self.kind == RECURRENCES && recurrent(self, l, depth, out) {
            return;
        }
        let args = if l.carried.is_empty() {
            String::new()
        } else {
            let list = join(&|c| format!("%v{} = %v{}", c.inside, c.start));
            format!(
                " iter_args({list}) -> {}",
                if l.carried.len() == 1 { types.clone() } else { format!("({types})") }
            )
        };
        let stages = match l.stages {
            1 => String::new(),
            n if self.kind == APART => format!("{{num_stages = {n}, warp_specialize}} "),
            n => format!("{{num_stages = {n}}} "),
        };
        let copies = l.body.iter().take_while(|s| fills(s)).count();
        if self.kind == APART
            && l.stages > 1
            && copies > 0
            && copies % 2 == 1
            && !l.body.iter().skip(copies).any(fills)
        {
            self.pipeline(l, copies, (&head, &types), depth, out);
            return;
        }
        let _ = writeln!(
            out,
            "{head}scf.for {} = {} to {} step {}{args} {stages}{{",
            l.counter, l.from, l.to, l.step
        );
        self.block(&l.body, depth + 1, out);
        self.end(&l.carried.iter().map(|c| c.yielded).collect::<Vec<_>>(), &types, depth, out);
        let _ = writeln!(out, "{:1$}}}", "", depth * 2);
    }

    /// A loop of stages whose copies stand in `produce_one`, and all else in `consume_one`.
    fn pipeline(
        &self,
        l: &Loop,
        copies: usize,
        (head, types): (&str, &str),
        depth: usize,
        out: &mut String,
    ) {
        let pad = |more: usize| " ".repeat(2 * (depth + more));
        let join =
            |f: &dyn Fn(&Carried) -> String| l.carried.iter().map(f).collect::<Vec<_>>().join(", ");
        let several = l.carried.len() > 1;
        let made = if several { format!("({types})") } else { types.to_string() };
        let (args, of) = match l.carried.is_empty() {
            true => (String::new(), String::new()),
            false => {
                let starts = join(&|c| format!("%u{} = %v{}", c.inside, c.start));
                (format!(" iter_args({starts}) -> {made}"), format!(" : {types}"))
            }
        };
        let _ = writeln!(
            out,
            "{head}scf.for {} = {} to {} step {}{args} {{num_stages = {}}} {{",
            l.counter, l.from, l.to, l.step, l.stages
        );
        let _ = writeln!(out, "{}produce_one {{", pad(1));
        self.block(&l.body[..copies], depth + 2, out);
        let _ = writeln!(out, "{}}}", pad(1));
        if l.carried.is_empty() {
            let _ = writeln!(out, "{}consume_one {{", pad(1));
        } else {
            let passed = join(&|c| format!("%p{}", c.result));
            let given = join(&|c| format!("%u{}", c.inside));
            let _ = writeln!(out, "{}{passed} = consume_one {given}{of} -> {made} {{", pad(1));
            let named = join(&|c| format!("%v{}: {}", c.inside, self.registers(c.inside)));
            let _ = writeln!(out, "{}^bb0({named}):", pad(1));
        }
        self.block(&l.body[copies..], depth + 2, out);
        let yielded = join(&|c| format!("%v{}", c.yielded));
        let _ = writeln!(out, "{}async.pipeline.yield {yielded}{of}", pad(2));
        let _ = writeln!(out, "{}}}", pad(1));
        let passed = join(&|c| format!("%p{}", c.result));
        let _ = writeln!(out, "{}scf.yield {passed}{of}", pad(1));
        let _ = writeln!(out, "{}}}", pad(0));
    }
}

/// Whether a statement copies a tile of a tensor into shared memory.
fn fills(statement: &Statement) -> bool {
    matches!(statement, Statement::Copy { from: Place::Global(..), to: Place::Shared(_), .. })
}
