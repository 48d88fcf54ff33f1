//! What a tile program does, executed on symbolic elements: the judge of passes, which shares no
//! code with them.
//!
//! An element is a 64-bit name of the term that made it. Conversions do not change elements;
//! buffers are storage that views look into (whatever their layout); global memory is known by
//! coordinate. Observed are, in order: stores to global memory, atomics, calls, returns and every
//! operation that is only kept, each with the elements that it saw. Two programs mean the same when
//! they are observed to do the same, for every choice of the values that they leave free.
use lanebook::ir::{
    AttrValue, Block, Def, Literal, Op, Program, Type, TypeKind, Value, attr_names,
};
use lanebook_tables::{OpRole, Space};
use std::collections::{BTreeMap, HashMap};

/// Iterations after which a loop is taken to end, in either program.
const MOST: usize = 40;

/// A value at run time.
#[derive(Clone, Debug, PartialEq)]
enum Held {
    /// An index or condition.
    Int(i64),
    /// Anything of which only the term is known.
    Term(u64),
    /// A tile in registers, row-major.
    Tile(Vec<u64>, Vec<usize>),
    /// Storage: which, from where, in what shape.
    Buffer(usize, i64, Vec<usize>),
    /// A place in global memory.
    Global(u64),
}

/// A name for a term.
#[must_use]
pub fn term(head: &str, parts: &[u64]) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut mix = |word: u64| {
        state ^= word
            .wrapping_add(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(state << 6)
            .wrapping_add(state >> 2);
        state = (state ^ (state >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 29;
    };
    head.bytes().for_each(|byte| mix(u64::from(byte)));
    mix(parts.len() as u64);
    parts.iter().for_each(|part| mix(*part));
    state
}

/// What a program is observed to do; free values are chosen by `seed`.
#[must_use]
pub fn meaning(program: &Program<'_, '_>, seed: u64) -> Vec<(String, u64)> {
    let mut run = Run {
        program,
        seed,
        values: HashMap::new(),
        storage: Vec::new(),
        memory: BTreeMap::new(),
        seen: Vec::new(),
    };
    run.block(program.root(), &[]);
    run.seen
}

struct Run<'a, 's, 't> {
    program: &'a Program<'s, 't>,
    seed: u64,
    values: HashMap<Value, Held>,
    storage: Vec<Vec<u64>>,
    memory: BTreeMap<(u64, Vec<i64>), u64>,
    seen: Vec<(String, u64)>,
}

fn shape(ty: &Type) -> Option<Vec<usize>> {
    ty.shape
        .is_known()
        .then(|| ty.shape.iter().map(|extent| extent.unwrap_or(1) as usize).collect())
}

fn is_buffer(ty: &Type) -> bool {
    ty.is_tile() && matches!(ty.space, Some(Space::Shared | Space::Tensor)) && ty.shape.is_known()
}

/// How a region ended.
enum End {
    Yield(Vec<Held>),
    Condition(bool, Vec<Held>),
    Fell,
}

impl Run<'_, '_, '_> {
    /// A value that the program leaves free.
    fn free(&mut self, name: &str, ty: &Type) -> Held {
        let own = term(name, &[self.seed]);
        let bits =
            ty.dtype.and_then(|dtype| self.program.tables().dtype(dtype)).map(|dtype| dtype.bits);
        match ty.kind {
            TypeKind::Index => Held::Int((own % 5) as i64),
            TypeKind::Scalar if bits == Some(1) => Held::Int((own & 1) as i64),
            TypeKind::Tensor | TypeKind::Memref if is_buffer(ty) => {
                let shape = shape(ty).unwrap_or_default();
                self.storage.push(
                    (0..shape.iter().product::<usize>())
                        .map(|at| term("held", &[own, at as u64]))
                        .collect(),
                );
                Held::Buffer(self.storage.len() - 1, 0, shape)
            }
            TypeKind::Memref => Held::Global(own),
            TypeKind::Tensor if ty.shape.is_known() => {
                let shape = shape(ty).unwrap_or_default();
                Held::Tile(
                    (0..shape.iter().product::<usize>())
                        .map(|at| term("free", &[own, at as u64]))
                        .collect(),
                    shape,
                )
            }
            _ => Held::Term(own),
        }
    }
    fn get(&mut self, value: Value) -> Held {
        if let Some(held) = self.values.get(&value) {
            return held.clone();
        }
        let held = match self.program.def(value) {
            Def::Literal(Literal::Int(number)) => Held::Int(number),
            // By its text, wherever that stands.
            Def::Literal(Literal::Word(name)) => Held::Term(term(self.program.text(name), &[])),
            Def::Literal(other) => Held::Term(term(&format!("{other:?}"), &[])),
            Def::Argument(block, number) => {
                // Free names by their text; a function's arguments by their number.
                let name = if block == self.program.root() {
                    self.program.value_name(value).to_string()
                } else {
                    format!("argument {number}")
                };
                match self.program.int(value) {
                    Some(number) => Held::Int(number),
                    None => self.free(&name, &self.program.type_of(value)),
                }
            }
            _ => Held::Term(term("nothing", &[])),
        };
        self.values.insert(value, held.clone());
        held
    }
    fn int(&mut self, value: Value) -> i64 {
        match self.get(value) {
            Held::Int(number) => number,
            other => (self.name(&other) % 5) as i64,
        }
    }
    fn holds(&mut self, value: Value) -> bool {
        match self.get(value) {
            Held::Int(number) => number != 0,
            other => self.name(&other) & 1 == 1,
        }
    }
    fn cell(&self, storage: usize, at: i64) -> u64 {
        usize::try_from(at)
            .ok()
            .and_then(|at| self.storage[storage].get(at))
            .copied()
            .unwrap_or_else(|| term("outside", &[at as u64]))
    }
    /// The elements of a tile, wherever it lies.
    fn elements(&self, held: &Held) -> Vec<u64> {
        match held {
            Held::Int(number) => vec![term("int", &[*number as u64])],
            Held::Term(name) | Held::Global(name) => vec![*name],
            Held::Tile(elements, _) => elements.clone(),
            Held::Buffer(storage, offset, shape) => (0..shape.iter().product::<usize>() as i64)
                .map(|at| self.cell(*storage, offset + at))
                .collect(),
        }
    }
    fn name(&self, held: &Held) -> u64 {
        term("whole", &self.elements(held))
    }
    fn observe(&mut self, what: &str, parts: &[u64]) {
        self.seen.push((what.to_string(), term(what, parts)));
    }

    // ---- regions
    fn block(&mut self, block: Block, arguments: &[Held]) -> End {
        let program = self.program;
        for (value, held) in program.arguments(block).zip(arguments) {
            self.values.insert(value, held.clone());
        }
        let ops: Vec<Op> = program.ops(block).collect();
        for op in ops {
            match program.role(op) {
                OpRole::Yield => return End::Yield(self.all(op)),
                OpRole::Condition => {
                    let decides = program.operand(op, 0).is_some_and(|value| self.holds(value));
                    return End::Condition(decides, self.all(op).split_off(1));
                }
                OpRole::Return => {
                    let parts: Vec<u64> = self.all(op).iter().map(|held| self.name(held)).collect();
                    self.observe("return", &parts);
                    return End::Fell;
                }
                _ => self.op(op),
            }
        }
        End::Fell
    }
    fn all(&mut self, op: Op) -> Vec<Held> {
        self.program
            .operands(op)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|value| self.get(value))
            .collect()
    }
    fn set(&mut self, op: Op, held: Vec<Held>) {
        let results: Vec<Value> = self.program.results(op).collect();
        for (number, value) in results.into_iter().enumerate() {
            let one =
                held.get(number).cloned().unwrap_or_else(|| Held::Term(term("no value", &[])));
            self.values.insert(value, one);
        }
    }
    fn yielded(end: End) -> Vec<Held> {
        match end {
            End::Yield(held) | End::Condition(_, held) => held,
            End::Fell => Vec::new(),
        }
    }
    fn op(&mut self, op: Op) {
        let program = self.program;
        let entry = |region: usize| program.entry(op, region);
        match program.role(op) {
            // A module does what its functions do.
            _ if program.op_name(op) == "module" => {
                if let Some(body) = entry(0) {
                    self.block(body, &[]);
                }
            }
            OpRole::Function => {
                if let Some(body) = entry(0) {
                    self.block(body, &[]);
                }
            }
            OpRole::For | OpRole::Parallel => {
                let Some(parts) = program.counted_loop(op) else { return };
                let (mut at, upper, step) =
                    (self.int(parts.lower), self.int(parts.upper), self.int(parts.step).max(1));
                let mut carried = self.all(op).split_off(3);
                let mut count = 0;
                while at < upper && count < 4 * MOST {
                    let mut arguments = vec![Held::Int(at)];
                    arguments.extend(carried.iter().cloned());
                    let end = self.block(parts.body, &arguments);
                    carried = Self::yielded(end);
                    at += step;
                    count += 1;
                }
                self.set(op, carried);
            }
            OpRole::While => {
                let (Some(decides), Some(works)) = (entry(0), entry(1)) else { return };
                let mut carried = self.all(op);
                let mut count = 0;
                loop {
                    let end = self.block(decides, &carried);
                    let goes_on = matches!(end, End::Condition(true, _)) && count < 3;
                    let passed = Self::yielded(end);
                    if !goes_on {
                        self.set(op, passed);
                        return;
                    }
                    let end = self.block(works, &passed);
                    carried = Self::yielded(end);
                    count += 1;
                }
            }
            OpRole::If => {
                let region =
                    usize::from(!program.operand(op, 0).is_some_and(|value| self.holds(value)));
                let held = entry(region)
                    .map_or_else(Vec::new, |block| Self::yielded(self.block(block, &[])));
                self.set(op, held);
            }
            OpRole::Produce | OpRole::Consume | OpRole::AgentSwitch => {
                let arguments = self.all(op);
                let held = entry(0)
                    .map_or_else(Vec::new, |block| Self::yielded(self.block(block, &arguments)));
                self.set(op, held);
            }
            role => self.simple(op, role),
        }
    }

    // ---- operations without regions
    fn simple(&mut self, op: Op, role: OpRole) {
        let program = self.program;
        let operands = self.all(op);
        let result = program.result(op, 0);
        let ty = result.map_or(Type::ELIDED, |value| program.type_of(value));
        let wanted = shape(&ty);
        let held = match role {
            OpRole::Alloc => {
                let shape = wanted.clone().unwrap_or_default();
                let size: usize = shape.iter().product();
                let first = operands.first().map(|held| self.elements(held));
                self.storage.push(
                    (0..size)
                        .map(|at| {
                            first
                                .as_ref()
                                .and_then(|first| first.get(at).copied())
                                .unwrap_or_else(|| term("undefined", &[]))
                        })
                        .collect(),
                );
                Held::Buffer(self.storage.len() - 1, 0, shape)
            }
            OpRole::View => {
                let offset = match program.attr(op, attr_names::OFFSET) {
                    Some(AttrValue::Int(offset, _)) => offset,
                    Some(AttrValue::Operand(value)) => self.int(value),
                    _ => 0,
                };
                match (operands.first(), wanted) {
                    (Some(Held::Buffer(storage, at, _)), Some(shape)) => {
                        Held::Buffer(*storage, at + offset, shape)
                    }
                    (Some(other), _) => other.clone(),
                    (None, _) => Held::Term(0),
                }
            }
            OpRole::Select => {
                let yes = program.operand(op, 0).is_some_and(|value| self.holds(value));
                operands.get(if yes { 1 } else { 2 }).cloned().unwrap_or(Held::Term(0))
            }
            OpRole::Split => match (operands.first(), wanted) {
                // Elements by turns: the last dimension is the fastest.
                (Some(whole), Some(shape))
                    if self.elements(whole).len() == 2 * shape.iter().product::<usize>() =>
                {
                    let elements = self.elements(whole);
                    let half = |which| {
                        Held::Tile(
                            elements.iter().copied().skip(which).step_by(2).collect(),
                            shape.clone(),
                        )
                    };
                    self.set(op, vec![half(0), half(1)]);
                    return;
                }
                _ => Held::Term(term(
                    "split",
                    &operands.iter().map(|held| self.name(held)).collect::<Vec<_>>(),
                )),
            },
            OpRole::Join => match (&operands[..], wanted) {
                ([left, right], Some(shape))
                    if self.elements(left).len() + self.elements(right).len()
                        == shape.iter().product::<usize>() =>
                {
                    let pairs = self.elements(left).into_iter().zip(self.elements(right));
                    Held::Tile(pairs.flat_map(|(left, right)| [left, right]).collect(), shape)
                }
                _ => Held::Term(term(
                    "join",
                    &operands.iter().map(|held| self.name(held)).collect::<Vec<_>>(),
                )),
            },
            OpRole::Convert => operands.first().cloned().unwrap_or(Held::Term(0)),
            OpRole::Constant => match (&operands[..], &wanted) {
                ([Held::Int(number)], None) => Held::Int(*number),
                ([one], Some(shape)) if ty.is_tile() => {
                    Held::Tile(vec![self.name(one); shape.iter().product()], shape.clone())
                }
                ([one, ..], _) => Held::Term(self.name(one)),
                _ => Held::Term(0),
            },
            OpRole::Load => match (self.read(op, 0, &operands, wanted.as_deref()), wanted) {
                (Some(elements), Some(shape)) => Held::Tile(elements, shape),
                _ => Held::Term(term(
                    "load",
                    &operands.iter().map(|held| self.name(held)).collect::<Vec<_>>(),
                )),
            },
            OpRole::Store => {
                let elements = self.elements(&operands[0]);
                let from = match &operands[0] {
                    Held::Tile(_, shape) | Held::Buffer(_, _, shape) => shape.clone(),
                    _ => vec![1],
                };
                self.write(op, 1, &operands, &elements, &from, "store");
                return;
            }
            OpRole::Copy => {
                let to =
                    program.operand(op, 1).map_or(Type::ELIDED, |value| program.type_of(value));
                let from =
                    program.operand(op, 0).map_or(Type::ELIDED, |value| program.type_of(value));
                // The smaller side says what is moved.
                let window = if matches!(operands.get(1), Some(Held::Buffer(..))) {
                    shape(&to)
                } else {
                    shape(&from)
                };
                if let Some(window) = window {
                    let elements = self
                        .read(op, 0, &operands, Some(&window))
                        .unwrap_or_else(|| self.elements(&operands[0]));
                    self.write(op, 1, &operands, &elements, &window, "copy");
                }
                let destination = operands.get(1).cloned().unwrap_or(Held::Term(0));
                self.set(op, vec![destination]);
                return;
            }
            OpRole::Index => self.index(op, &operands, &ty),
            OpRole::Pragma if operands.len() == program.results(op).count() => {
                // What a hint is about is seen: it must stand as often as it did.
                let parts: Vec<u64> = operands.iter().map(|held| self.name(held)).collect();
                self.observe("pragma", &parts);
                self.set(op, operands);
                return;
            }
            // Added to the third operand in place; a false fourth one says that it is replaced.
            OpRole::Matrix
                if !ty.is_tile() && matches!(operands.get(2), Some(Held::Buffer(..))) =>
            {
                let Some(Held::Buffer(_, _, to)) = operands.get(2).cloned() else { return };
                let mut parts = operands[..3].to_vec();
                if matches!(operands.get(3), Some(Held::Int(0))) {
                    parts[2] = Held::Tile(vec![0; to.iter().product()], to.clone());
                }
                let made = self.tile(op, role, &parts, Some(to.clone()));
                let elements = self.elements(&made);
                self.write(op, 2, &operands, &elements, &to, "mma");
                self.set(op, vec![Held::Term(term("token", &[]))]);
                return;
            }
            OpRole::Elementwise
            | OpRole::Transpose
            | OpRole::Reshape
            | OpRole::Reduce
            | OpRole::Broadcast
            | OpRole::Matrix => self.tile(op, role, &operands, wanted),
            _ => {
                let parts: Vec<u64> = operands.iter().map(|held| self.name(held)).collect();
                let what = program.op_name(op).to_string();
                self.observe(&what, &parts);
                let number = self.seen.len() as u64;
                let made = program
                    .results(op)
                    .enumerate()
                    .map(|(at, _)| Held::Term(term(&what, &[number, at as u64])))
                    .collect();
                self.set(op, made);
                return;
            }
        };
        self.set(op, vec![held]);
    }
    fn subscripts(&mut self, op: Op, number: usize) -> Vec<i64> {
        self.program
            .subscripts(op, number)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|value| self.int(value))
            .collect()
    }
    fn places(start: &[i64], window: &[usize]) -> Vec<Vec<i64>> {
        let size: usize = window.iter().product();
        (0..size)
            .map(|at| {
                let mut rest = at;
                let mut place = vec![0; window.len()];
                for (slot, extent) in place.iter_mut().zip(window).rev() {
                    *slot = (rest % extent) as i64;
                    rest /= extent;
                }
                place
                    .iter()
                    .enumerate()
                    .map(|(dimension, at)| at + start.get(dimension).copied().unwrap_or(0))
                    .collect()
            })
            .collect()
    }
    fn read(
        &mut self,
        op: Op,
        number: usize,
        operands: &[Held],
        window: Option<&[usize]>,
    ) -> Option<Vec<u64>> {
        let start = self.subscripts(op, number);
        match operands.get(number)? {
            Held::Global(memory) => {
                let places = Self::places(&start, window?);
                Some(
                    places
                        .into_iter()
                        .map(|at| {
                            self.memory.get(&(*memory, at.clone())).copied().unwrap_or_else(|| {
                                term(
                                    "memory",
                                    &at.iter()
                                        .map(|at| *at as u64)
                                        .chain([*memory])
                                        .collect::<Vec<_>>(),
                                )
                            })
                        })
                        .collect(),
                )
            }
            held @ (Held::Buffer(..) | Held::Tile(..)) => Some(self.elements(held)),
            _ => None,
        }
    }
    fn write(
        &mut self,
        op: Op,
        number: usize,
        operands: &[Held],
        elements: &[u64],
        window: &[usize],
        what: &str,
    ) {
        let start = self.subscripts(op, number);
        match operands.get(number) {
            Some(Held::Global(memory)) => {
                let places = Self::places(&start, window);
                let mut parts = vec![*memory];
                for (at, element) in places.into_iter().zip(elements) {
                    parts.extend(at.iter().map(|at| *at as u64));
                    parts.push(*element);
                    self.memory.insert((*memory, at), *element);
                }
                self.observe(what, &parts);
            }
            Some(Held::Buffer(storage, offset, _)) => {
                for (at, element) in elements.iter().enumerate() {
                    if let Some(cell) = usize::try_from(offset + at as i64)
                        .ok()
                        .and_then(|at| self.storage[*storage].get_mut(at))
                    {
                        *cell = *element;
                    }
                }
            }
            Some(other) => {
                let mut parts = vec![self.name(other)];
                parts.extend(start.iter().map(|at| *at as u64));
                parts.extend(elements);
                self.observe(what, &parts);
            }
            None => {}
        }
    }
    fn index(&mut self, op: Op, operands: &[Held], ty: &Type) -> Held {
        let program = self.program;
        let name = program.op_name(op);
        if ty.is_tile() {
            return self.tile(op, OpRole::Elementwise, operands, shape(ty));
        }
        let known: Option<Vec<i64>> = operands
            .iter()
            .map(|held| if let Held::Int(number) = held { Some(*number) } else { None })
            .collect();
        match (name, known.as_deref()) {
            ("index.add", Some([a, b])) => Held::Int(a + b),
            ("index.sub", Some([a, b])) => Held::Int(a - b),
            ("index.mul", Some([a, b])) => Held::Int(a * b),
            ("index.div", Some([a, b])) if *b != 0 => Held::Int(a.div_euclid(*b)),
            ("index.rem", Some([a, b])) if *b != 0 => Held::Int(a.rem_euclid(*b)),
            _ => {
                let mut parts: Vec<u64> = operands.iter().map(|held| self.name(held)).collect();
                if let Some(AttrValue::Text(map)) = program.attr(op, attr_names::MAP) {
                    parts.push(term(program.text(map), &[]));
                }
                Held::Int((term(name, &parts) % 4) as i64)
            }
        }
    }
    fn tile(
        &mut self,
        op: Op,
        role: OpRole,
        operands: &[Held],
        wanted: Option<Vec<usize>>,
    ) -> Held {
        let program = self.program;
        // Products are products, whatever they are made of.
        let name = if role == OpRole::Matrix { "mma" } else { program.op_name(op) };
        let parts: Vec<Vec<u64>> = operands.iter().map(|held| self.elements(held)).collect();
        let whole = || {
            Held::Term(term(name, &operands.iter().map(|held| self.name(held)).collect::<Vec<_>>()))
        };
        let (Some(shape), Some(first)) = (wanted, parts.first()) else { return whole() };
        let size: usize = shape.iter().product();
        let from: Vec<usize> = match operands.first() {
            Some(Held::Tile(_, shape) | Held::Buffer(_, _, shape)) => shape.clone(),
            _ => Vec::new(),
        };
        let at = |shape: &[usize], place: &[usize]| {
            place.iter().zip(shape).fold(0, |sum, (at, extent)| sum * extent + at)
        };
        let places: Vec<Vec<usize>> = Self::places(&[], &shape)
            .into_iter()
            .map(|place| place.into_iter().map(|at| at as usize).collect())
            .collect();
        let elements: Vec<u64> = match role {
            OpRole::Elementwise => (0..size)
                .map(|at| {
                    term(
                        name,
                        &parts
                            .iter()
                            .map(|part| part.get(at).or(part.first()).copied().unwrap_or(0))
                            .collect::<Vec<_>>(),
                    )
                })
                .collect(),
            OpRole::Reshape if first.len() == size => first.clone(),
            OpRole::Transpose if from.len() == shape.len() => {
                let mut list = [0i64; 6];
                let order: Vec<usize> = match program.attr(op, attr_names::ORDER) {
                    Some(AttrValue::List(text)) => program
                        .list(text, &mut list)
                        .unwrap_or(&[])
                        .iter()
                        .map(|at| *at as usize)
                        .collect(),
                    _ => (0..from.len()).rev().collect(),
                };
                places
                    .iter()
                    .map(|place| {
                        let mut source = vec![0; place.len()];
                        for (dimension, old) in order.iter().enumerate() {
                            source[*old] = place[dimension];
                        }
                        first[at(&from, &source)]
                    })
                    .collect()
            }
            OpRole::Reduce if from.len() == shape.len() + 1 => {
                let axis = program.int_attr(op, attr_names::AXIS).unwrap_or(0) as usize;
                places
                    .iter()
                    .map(|place| {
                        let row: Vec<u64> = (0..from[axis])
                            .map(|step| {
                                let mut source = place.clone();
                                source.insert(axis, step);
                                first[at(&from, &source)]
                            })
                            .collect();
                        term(name, &row)
                    })
                    .collect()
            }
            OpRole::Broadcast if from.len() == shape.len() => places
                .iter()
                .map(|place| {
                    let source: Vec<usize> = place
                        .iter()
                        .zip(&from)
                        .map(|(at, extent)| if *extent == 1 { 0 } else { *at })
                        .collect();
                    first[at(&from, &source)]
                })
                .collect(),
            OpRole::Matrix
                if parts.len() == 3 && matches!(from.len(), 2 | 3) && shape.len() == from.len() =>
            {
                let rows = from.len() - 2;
                let (depth, columns) = (from[rows + 1], shape[rows + 1]);
                places
                    .iter()
                    .map(|place| {
                        // Products side by side.
                        let which = if rows == 1 { place[0] } else { 0 };
                        let row = which * from[rows] + place[rows];
                        let mut sum = vec![parts[2].get(at(&shape, place)).copied().unwrap_or(0)];
                        for k in 0..depth {
                            let right = (which * depth + k) * columns + place[rows + 1];
                            sum.extend([
                                parts[0][row * depth + k],
                                parts[1].get(right).copied().unwrap_or(0),
                            ]);
                        }
                        term(name, &sum)
                    })
                    .collect()
            }
            _ => return whole(),
        };
        Held::Tile(elements, shape)
    }
}
