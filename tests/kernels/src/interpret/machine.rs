//! Statements one after the other, and loops of them.

use super::affine::applied;
use super::calls;
use super::combined::COMBINES;
use super::compute::compute;
use super::element::Element;
use super::index::{index_arithmetic, index_relation};
use super::names::{canonical, named_for_tiles};
use super::parts;
use super::slots::{Described, Slot};
use super::text::{attribute, constant, list, tile_type};
use super::tile::{Item, Sure, Tile};
use super::{Interpreted, Said, UNWRITTEN};
use std::collections::BTreeMap;

/// Words of a pipeline's stages.
const STAGES: [&str; 2] = ["produce_one", "consume_one"];

#[derive(Clone, Debug)]
pub(super) enum Value {
    Tile(Tile),
    Index(i64),
    /// Another look at a tile.
    View(String, Vec<usize>, Element),
    Slot(Slot),
    Described(Described),
}

/// A program at work.
pub(super) struct Machine<'p> {
    pub(super) program: &'p mut Interpreted,
    /// Extents grow to what is reached; nothing is computed.
    pub(super) measuring: bool,
    /// The block's number.
    pub(super) block: [u32; 3],
    /// The fewest turns of a loop whose bound is computed.
    pub(super) fewest: Option<u32>,
    /// The statement says that its mask leaves out what lies outside of bounds.
    pub(super) bounded: bool,
    pub(super) values: BTreeMap<String, Value>,
}

/// A mask does not say what it is said to.
pub(super) const BEYOND: &str =
    "a mask that is said to leave out what lies outside of bounds does not";

/// An address: the tensor's number, its subscripts.
pub(super) type Corner = (usize, Vec<i64>);

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p mut Interpreted, measuring: bool, block: [u32; 3]) -> Self {
        Self { program, measuring, block, fewest: None, bounded: false, values: BTreeMap::new() }
    }

    pub(super) fn run(&mut self) -> Said<()> {
        for (name, value) in self.program.indices.clone() {
            let value = match self.program.numbers.get(&name) {
                Some(element) => {
                    let item = Item::exact(value as u64 & u64::MAX >> (64 - element.bits()));
                    Value::Tile(Tile { shape: Vec::new(), element: *element, items: vec![item] })
                }
                None => Value::Index(value),
            };
            self.values.insert(name, value);
        }
        let body = self.program.body.clone();
        self.block(&body, 0).map(|_| ())
    }

    /// Runs statements until the closing bracket; answers where it stands and what was yielded.
    pub(super) fn block(&mut self, body: &[String], mut at: usize) -> Said<(usize, Vec<Value>)> {
        let mut yielded = Vec::new();
        loop {
            let Some(line) = body.get(at) else { return Err("no closing bracket".to_string()) };
            let said =
                |e: String| if e.starts_with(UNWRITTEN) { e } else { format!("`{line}`: {e}") };
            if line.starts_with('}') {
                return Ok((at, yielded));
            }
            if STAGES.iter().any(|word| line.contains(word)) {
                at = self.stage(body, at).map_err(said)?;
            } else if line.contains(COMBINES) {
                at = self.combination(body, at).map_err(said)?;
            } else if line.contains("scf.while") {
                at = self.while_loop(body, at).map_err(said)?;
            } else if let Some(end) = self.loop_statement(body, at).map_err(said)? {
                at = end;
            } else if let Some((name, value)) = line.split_once(calls::RETURNED) {
                let value = self.value(value).map_err(said)?;
                self.values.insert(name.trim().to_string(), value);
            } else if line.contains("scf.for") {
                at = self.for_loop(body, at).map_err(said)?;
            } else if let Some(rest) =
                ["scf.yield", "async.pipeline.yield", "yield", "scf.condition", "combine.return"]
                    .iter()
                    .find_map(|word| line.strip_prefix(word))
            {
                let names = rest.split(" : ").next().unwrap_or("");
                // The condition stands in brackets.
                let names = names.replacen('(', "", 1).replacen(')', ",", 1);
                let names = names.trim_end().trim_end_matches(',');
                yielded =
                    list(names).iter().map(|n| self.value(n)).collect::<Said<_>>().map_err(said)?;
            } else if line != "return" && !orders(line) {
                self.statement(line).map_err(said)?;
            }
            at += 1;
        }
    }

    /// `%e = consume_one %c : T -> T {`, then `^bb0(%d: T):` and what it does; results and operands
    /// may be missing.
    fn stage(&mut self, body: &[String], at: usize) -> Said<usize> {
        let line = &body[at];
        let word = STAGES.iter().find(|word| line.contains(**word)).ok_or("no stage")?;
        let (results, rest) = line.split_once(*word).ok_or("no stage")?;
        let given = rest.split([':', '{']).next().unwrap_or("").trim();
        let given = given.trim_end_matches("attributes");
        let given: Vec<Value> = list(given).iter().map(|n| self.value(n)).collect::<Said<_>>()?;
        let end = closing(body, at).ok_or("no closing bracket")?;
        let mut first = at + 1;
        if let Some(label) = body.get(first).filter(|line| line.starts_with('^')) {
            let arguments = label.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
            let arguments = list(arguments.ok_or("no arguments")?.0);
            if arguments.len() != given.len() {
                return Err("another number of values given than taken".to_string());
            }
            for (argument, value) in arguments.iter().zip(given) {
                let name = argument.split(':').next().unwrap_or("").trim();
                self.values.insert(name.to_string(), value);
            }
            first += 1;
        }
        let (_, passed) = self.block(body, first)?;
        let names = results.split('=').next().unwrap_or("").trim();
        if !names.starts_with('%') {
            return Ok(end);
        }
        // `%e:2` names two.
        let named: Vec<String> = list(names)
            .into_iter()
            .flat_map(|name| match name.split_once(':') {
                Some((name, _)) if passed.len() > 1 => {
                    (0..passed.len()).map(|k| format!("{}#{k}", name.trim())).collect()
                }
                _ => vec![name],
            })
            .collect();
        if named.len() != passed.len() {
            return Err("another number of values passed out than named".to_string());
        }
        for (name, value) in named.into_iter().zip(passed) {
            self.values.insert(name, value);
        }
        Ok(end)
    }

    fn for_loop(&mut self, body: &[String], at: usize) -> Said<usize> {
        let line = &body[at];
        let (results, rest) = line.split_once("scf.for").ok_or("no loop")?;
        let (name, rest) = rest.split_once('=').ok_or("no counter")?;
        let (start, rest) = rest.split_once(" to ").ok_or("no bound")?;
        let (bound, rest) = rest.split_once(" step ").ok_or("no step")?;
        let step = rest.split_whitespace().next().unwrap_or("");
        let is_argument = |name: &str| self.program.indices.iter().any(|(n, _)| n == name.trim());
        let is_computed = bound.trim().starts_with('%') && !is_argument(bound);
        let (start, bound, step) = (self.index(start)?, self.index(bound)?, self.index(step)?);
        let mut carried: Vec<(String, Value)> = Vec::new();
        if let Some((_, args)) = rest.split_once("iter_args(") {
            for pair in list(args.split_once(')').ok_or("no end of iter_args")?.0) {
                let (name, from) = pair.split_once('=').ok_or("no value")?;
                carried.push((name.trim().to_string(), self.value(from)?));
            }
        }
        let end = closing(body, at).ok_or("no closing bracket")?;
        let mut counter = start;
        let mut turns = 0;
        if step < 1 {
            return Err("a step below 1".to_string());
        }
        while counter < bound {
            turns += 1;
            self.values.insert(name.trim().to_string(), Value::Index(counter));
            carried.iter().for_each(|(name, value)| {
                self.values.insert(name.clone(), value.clone());
            });
            let (_, yielded) = self.block(body, at + 1)?;
            if yielded.len() != carried.len() {
                return Err("another number of values yielded than carried".to_string());
            }
            carried.iter_mut().zip(yielded).for_each(|((_, value), new)| *value = new);
            counter += step;
        }
        if is_computed {
            self.fewest = Some(self.fewest.map_or(turns, |fewest| fewest.min(turns)));
        }
        for (name, (_, value)) in
            list(results.trim().trim_end_matches('=')).into_iter().zip(carried)
        {
            self.values.insert(name, value);
        }
        Ok(end)
    }

    /// `%i:2 = scf.while (%a = %m, ..) : .. {` up to `scf.condition(%c) %a, .. : ..`, then
    /// `} do {`, `^bb0(%b: index, ..):` and the second part.
    fn while_loop(&mut self, body: &[String], at: usize) -> Said<usize> {
        let (results, rest) = body[at].split_once("scf.while").ok_or("no loop")?;
        let pairs = rest.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
        let mut carried: Vec<(String, Value)> = Vec::new();
        for pair in list(pairs.ok_or("nothing goes round")?.0) {
            let (name, from) = pair.split_once('=').ok_or("no value")?;
            carried.push((name.trim().to_string(), self.value(from)?));
        }
        let end = closing(body, at).ok_or("no closing bracket")?;
        // The first part has no brackets of its own.
        let second = (at..end).find(|k| body[*k].replace(' ', "") == "}do{");
        let second = second.ok_or("no second part")?;
        let label = body.get(second + 1).filter(|line| line.starts_with('^')).ok_or("no label")?;
        let arguments = label.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
        let name_of =
            |argument: &String| argument.split(':').next().unwrap_or("").trim().to_string();
        let arguments: Vec<String> =
            list(arguments.ok_or("no arguments")?.0).iter().map(name_of).collect();
        let mut turns = 0;
        let passed = loop {
            carried.iter().for_each(|(name, value)| {
                self.values.insert(name.clone(), value.clone());
            });
            let (ended, passed) = self.block(body, at + 1)?;
            let [Value::Index(goes_on), passed @ ..] = &passed[..] else {
                return Err("no condition".to_string());
            };
            if ended != second || passed.len() != arguments.len() {
                return Err("another number of values passed on than taken".to_string());
            }
            if *goes_on == 0 {
                break passed.to_vec();
            }
            turns += 1;
            if turns > MOST_TURNS {
                return Err("a loop without an end".to_string());
            }
            arguments.iter().zip(passed).for_each(|(name, value)| {
                self.values.insert(name.clone(), value.clone());
            });
            let (_, yielded) = self.block(body, second + 2)?;
            if yielded.len() != carried.len() {
                return Err("another number of values yielded than carried".to_string());
            }
            carried.iter_mut().zip(yielded).for_each(|((_, value), new)| *value = new);
        };
        let results = results.trim().trim_end_matches('=').trim();
        let names: Vec<String> = match results.split_once(':') {
            Some((name, _)) => (0..passed.len()).map(|k| format!("{name}#{k}")).collect(),
            None => list(results).iter().map(|name| name.trim().to_string()).collect(),
        };
        for (name, value) in names.into_iter().zip(passed) {
            self.values.insert(name, value);
        }
        Ok(end)
    }

    fn statement(&mut self, line: &str) -> Said<()> {
        let is_open = |name: &str| match self.values.get(name) {
            Some(Value::Tile(tile)) => tile.items.iter().any(|item| item.sure != Sure::Bits),
            _ => false,
        };
        let renamed = named_for_tiles(line, is_open);
        let line = renamed.as_deref().unwrap_or(line);
        let (result, rest) = match line.split_once('=') {
            Some((name, rest)) if name.trim_start().starts_with('%') => {
                (Some(name.trim().to_string()), rest.trim())
            }
            _ => (None, line),
        };
        let (op, rest) = rest.split_once(' ').ok_or("no operands")?;
        let (operands, types) = rest
            .rsplit_once(" : ")
            .or_else(|| rest.strip_prefix(": ").map(|t| ("", t)))
            .ok_or("no type")?;
        let (plain, said) = operands.split_once('{').unwrap_or((operands, ""));
        self.bounded = list(said.trim_end_matches('}')).iter().any(|word| word == "bounded");
        let inputs = list(plain);
        let to = types.rsplit("->").next().unwrap_or(types);
        let input = |k: usize| inputs.get(k).map(String::as_str).ok_or("too few operands");
        if let Some(value) = self.in_slots(op, plain, types)? {
            result.map(|name| self.values.insert(name, value));
            return Ok(());
        }
        let value = match op {
            "copy" => {
                let shape = tile_type(if self.place(input(0)?)?.is_some() {
                    to
                } else {
                    types.split("->").next().unwrap_or("")
                })?
                .0;
                let tile = self.fetch(input(0)?, &shape, (None, None), None)?;
                return self.deliver(input(1)?, tile, None, None);
            }
            "tiled_store" => {
                let tile = match self.value(input(0)?)? {
                    // An index that is stored as a number.
                    Value::Index(n) => {
                        let (shape, element) = tile_type(types.split(',').next().unwrap_or(""))?;
                        Tile::filled(shape, element, Item::exact(u64::from(n as u32)))
                    }
                    _ => self.tile(input(0)?)?,
                };
                let mask = inputs.get(2).map(|name| self.tile(name)).transpose()?;
                return self.deliver(input(1)?, tile, mask, None);
            }
            "scatter" => {
                let tile = self.tile(input(0)?)?;
                let indices = self.indices(input(2)?, operands)?;
                let mask = inputs.get(3).map(|name| self.tile(name)).transpose()?;
                return self.deliver(input(1)?, tile, mask, Some(indices));
            }
            "tiled_atomic" => {
                let tile = self.tile(input(0)?)?;
                let kind = attribute(operands, "kind").ok_or("no kind")?.to_string();
                let compares = kind == "cas";
                let compared = inputs.get(2).filter(|_| compares);
                let compared = compared.map(|name| self.tile(name)).transpose()?;
                let (mut indices, mut mask) = (None, None);
                for name in inputs.iter().skip(2 + usize::from(compares)) {
                    match self.value(name)? {
                        // The truth of one number, which all elements are combined by or none.
                        Value::Index(truth) => {
                            let item = Item::exact(u64::from(truth != 0));
                            let shape = tile.shape.clone();
                            mask = Some(Tile::filled(shape, Element::of("i1")?, item));
                        }
                        Value::Tile(truths) if truths.element.bits() == 1 => mask = Some(truths),
                        _ => indices = Some(self.indices(name, operands)?),
                    }
                }
                let moved = (&tile, compared.as_ref());
                let (mask, indices) = (mask.as_ref(), indices.as_ref());
                let answer = self.combine(input(1)?, moved, mask, indices, &kind)?;
                if result.is_none() {
                    return Ok(());
                }
                Value::Tile(answer)
            }
            "gather" => {
                let indices = self.indices(input(1)?, operands)?;
                let mask = inputs.get(2).map(|name| self.tile(name)).transpose()?;
                let other = self.left_out(inputs.get(3), operands, to)?;
                let shape = tile_type(to)?.0;
                Value::Tile(self.fetch(input(0)?, &shape, (mask, other), Some(indices))?)
            }
            "alloc_tensor" | "ttg.local_alloc" => {
                let (shape, element) = tile_type(to)?;
                let nothing = Item { bits: 0, sure: Sure::Unwritten };
                let mut tile = Tile::filled(shape, element, nothing);
                if let Some(first) = inputs.first() {
                    tile.items.clone_from(&self.tile(first)?.items);
                }
                Value::Tile(tile)
            }
            _ if op.contains("tmem_") || op.contains("tc_gen5_mma") => {
                return self.in_tensor_memory(op, (result.as_deref(), &inputs), types);
            }
            "tt.histogram" => {
                let mask = inputs.get(1).map(|name| self.tile(name)).transpose()?;
                let (shape, element) = tile_type(to)?;
                Value::Tile(parts::counted(
                    &self.tile(input(0)?)?,
                    mask.as_ref(),
                    (shape, element),
                )?)
            }
            "tt.gather" => {
                let (from, places) = input(0)?.split_once('[').ok_or("no places")?;
                let axis = attribute(operands, "axis").and_then(|axis| axis.parse().ok());
                let (from, places) = (self.tile(from)?, self.tile(places.trim_end_matches(']'))?);
                Value::Tile(parts::gathered(&from, &places, axis.ok_or("no axis")?)?)
            }
            "reduce" if inputs.len() == 2 => {
                let (tile, beside) = (self.tile(input(0)?)?, self.tile(input(1)?)?);
                let names = list(result.as_deref().unwrap_or(""));
                return self.extreme(&names, (&tile, &beside), (operands, to));
            }
            "extract_slice" => {
                let (name, starts) = self.starts(input(0)?)?;
                Value::Tile(parts::taken(&self.tile(name)?, &tile_type(to)?.0, &starts)?)
            }
            "insert_slice" => {
                let (name, starts) = self.starts(input(1)?)?;
                Value::Tile(parts::put(&self.tile(input(0)?)?, &self.tile(name)?, &starts)?)
            }
            "join" => Value::Tile(parts::joined(&self.tile(input(0)?)?, &self.tile(input(1)?)?)),
            "split" => {
                let pairs = self.tile(input(0)?)?;
                for (number, name) in list(result.as_deref().unwrap_or("")).iter().enumerate() {
                    self.values.insert(name.clone(), Value::Tile(parts::half(&pairs, number)?));
                }
                return Ok(());
            }
            "tiled_load" => {
                let mask = inputs.get(1).map(|name| self.tile(name)).transpose()?;
                let other = self.left_out(inputs.get(2), operands, to)?;
                Value::Tile(self.fetch(input(0)?, &tile_type(to)?.0, (mask, other), None)?)
            }
            "constant" if to.trim() == "index" => Value::Index(self.index(input(0)?)?),
            "constant" => {
                let (shape, element) = tile_type(to)?;
                Value::Tile(Tile::filled(
                    shape,
                    element,
                    Item::exact(constant(input(0)?, element)?),
                ))
            }
            "block_id" | "num_blocks" => {
                let axis = match attribute(operands, "axis") {
                    Some(axis) => axis.parse().ok(),
                    None => ["x", "y", "z"].iter().position(|axis| *axis == plain.trim()),
                };
                let of = if op == "block_id" { self.block } else { self.program.grid };
                let n = axis.and_then(|axis: usize| of.get(axis)).ok_or("no such axis")?;
                Value::Index(i64::from(*n))
            }
            "index.uniform" | "index.cast" | "arith.index_cast" => {
                Value::Index(self.index(input(0)?)?)
            }
            "affine.apply" => Value::Index(applied(operands, |name| self.index(name))?),
            "index.cmp" => {
                let said = attribute(operands, "kind");
                let (kind, at) = match said {
                    Some(kind) => (kind, 0),
                    None => (input(0)?, 1),
                };
                Value::Index(index_relation(
                    kind,
                    self.index(input(at)?)?,
                    self.index(input(at + 1)?)?,
                )?)
            }
            "index.select" => {
                let at = if self.index(input(0)?)? == 0 { 2 } else { 1 };
                Value::Index(self.index(input(at)?)?)
            }
            "broadcast" if self.full(input(0)?)?.is_some() => {
                let (shape, element) = tile_type(to)?;
                let (item, own) = self.full(input(0)?)?.ok_or("no number")?;
                // The truth of an index.
                let own = own.or((element.bits() == 1).then_some(element));
                if own.unwrap_or(Element::of("i32")?) != element {
                    return Err("elements of another type".to_string());
                }
                Value::Tile(Tile::filled(shape, element, item))
            }
            "iota" | "tt.make_range" => {
                let (shape, element) = tile_type(to)?;
                let number =
                    |key: &str| attribute(operands, key).map(str::parse::<i64>).transpose();
                let number = |key: &str| number(key).map_err(|_| format!("a number {key}"));
                let axis = number("axis")?.unwrap_or(0) as usize;
                let start = number("start")?.unwrap_or(0);
                let along = *shape.get(axis).ok_or("no such dimension")?;
                let inner: usize = shape[axis + 1..].iter().product();
                let count = shape.iter().product();
                let items = (0..count)
                    .map(|i: usize| Item::exact((start + (i / inner % along) as i64) as u32 as u64))
                    .collect();
                Value::Tile(Tile { shape, element, items })
            }
            _ if op.starts_with("index.") || ["arith.divsi", "arith.remsi"].contains(&op) => {
                Value::Index(index_arithmetic(op, self.index(input(0)?)?, self.index(input(1)?)?)?)
            }
            _ => {
                let tiles: Vec<Tile> = inputs.iter().map(|n| self.tile(n)).collect::<Said<_>>()?;
                // Of a selection both types are written.
                let (shape, element) = tile_type(list(to).last().map_or(to, String::as_str))?;
                let op = canonical(op);
                // How far masks let tiles reach is known of what is made of indices alone.
                let is_known = tiles.iter().flat_map(|t| &t.items).all(|i| i.sure == Sure::Bits)
                    && !op.starts_with("mma")
                    || op == "arith.andi";
                let tile = if self.measuring && !is_known {
                    Tile::filled(shape, element, Item { bits: 0, sure: Sure::Free })
                } else {
                    compute(op, operands, &tiles, (shape, element), &self.program.unit)?
                };
                Value::Tile(tile)
            }
        };
        self.values.insert(result.ok_or("no result")?, value);
        Ok(())
    }
}

/// Most turns of a loop whose bound nothing says.
const MOST_TURNS: u32 = 1000;

/// Where the body of a loop ends.
pub(super) fn closing(body: &[String], at: usize) -> Option<usize> {
    let mut depth = 0;
    body.iter().enumerate().skip(at).find_map(|(k, l)| {
        depth += i32::from(l.ends_with('{')) - i32::from(l.starts_with('}'));
        (depth == 0).then_some(k)
    })
}

/// Whether a statement says nothing but an order, in which everything is done here anyhow.
fn orders(line: &str) -> bool {
    let name = line.split([' ', '{']).next().unwrap_or("");
    matches!(name, "fence" | "ttg.barrier" | "gpu.barrier" | "async_commit" | "async_wait")
}
