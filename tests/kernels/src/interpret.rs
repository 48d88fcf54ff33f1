//! Tile programs, said on the host: what each statement of a program's text means, whole tiles at a time, so that any program has a reference.
//!
//! Reads the text itself (one statement a line) and knows nothing of layouts, instructions or the library's own reader. Sums and functions are
//! computed in f64; only casts and stores round. A statement that is not understood is an error. What the program does not fix (extents, indices,
//! contents) is chosen here: each extent is a tile more than what the block reaches, each loop turns twice.

use lanebook_replay::number::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, float8, to_float8};
use lanebook_replay::{BufferId, Memory, Param};
use std::collections::BTreeMap;

type Said<T> = Result<T, String>;

/// A tile in registers or shared memory.
#[derive(Clone, Debug)]
struct Tile {
    shape: Vec<usize>,
    data: Vec<f64>,
}

/// A matrix in global memory.
#[derive(Clone, Debug)]
pub struct Global {
    /// The argument's name.
    pub name: String,
    /// Element type.
    pub element: String,
    /// Extents as written, `None` for `?`.
    written: Vec<Option<usize>>,
    /// Extents, rows first; the rows of a vector are one.
    pub extents: [usize; 2],
    /// Values, row after row.
    pub data: Vec<f64>,
    /// Whether the program stores to it.
    pub is_result: bool,
}

/// A program with what its block is given.
#[derive(Clone, Debug)]
pub struct Interpreted {
    /// The memrefs in order.
    pub globals: Vec<Global>,
    /// Index arguments in order.
    pub indices: Vec<(String, i64)>,
    /// Threads of the block.
    pub threads: u32,
    body: Vec<String>,
}

#[derive(Clone, Debug)]
enum Value {
    Tile(Tile),
    Index(i64),
}

/// Bytes of an element.
fn bytes(element: &str) -> Said<usize> {
    Ok(match element {
        "f64" => 8,
        "f32" | "i32" => 4,
        "f16" | "bf16" => 2,
        "e4m3" | "e5m2" | "e4m3fnuz" | "e5m2fnuz" | "i8" | "u8" => 1,
        other => return Err(format!("element type {other}")),
    })
}

/// Fraction bits and kind of an eight-bit float.
fn narrow(element: &str) -> Option<(u32, bool)> {
    match element {
        "e4m3" => Some((3, false)),
        "e5m2" => Some((2, false)),
        "e4m3fnuz" => Some((3, true)),
        "e5m2fnuz" => Some((2, true)),
        _ => None,
    }
}

/// Distance of neighbours, of their size.
fn step_of(element: &str) -> f64 {
    match element {
        "f16" => 1e-3,
        "bf16" => 8e-3,
        _ => narrow(element).map_or(0.0, |(fraction, _)| 0.5f64.powi(fraction as i32)),
    }
}

fn encode(element: &str, v: f64) -> Vec<u8> {
    match element {
        "f64" => v.to_le_bytes().to_vec(),
        "f32" => (v as f32).to_le_bytes().to_vec(),
        "i32" => (v as i64 as i32).to_le_bytes().to_vec(),
        "f16" => f32_to_f16(v as f32).to_le_bytes().to_vec(),
        "bf16" => f32_to_bf16(v as f32).to_le_bytes().to_vec(),
        "i8" | "u8" => vec![v as i64 as u8],
        other => narrow(other).map_or(Vec::new(), |(fraction, fnuz)| vec![to_float8(v as f32, fraction, fnuz, true)]),
    }
}

fn decode(element: &str, raw: &[u8]) -> f64 {
    let word = |n: usize| -> u64 { raw.iter().take(n).rev().fold(0, |sum, b| sum << 8 | u64::from(*b)) };
    match element {
        "f64" => f64::from_bits(word(8)),
        "f32" => f32::from_bits(word(4) as u32).into(),
        "i32" => f64::from(word(4) as u32 as i32),
        "f16" => f16_to_f32(word(2) as u16).into(),
        "bf16" => bf16_to_f32(word(2) as u16).into(),
        "i8" => f64::from(raw[0] as i8),
        "u8" => f64::from(raw[0]),
        other => narrow(other).map_or(f64::NAN, |(fraction, fnuz)| float8(raw[0], fraction, fnuz)),
    }
}

/// Extents (`None` for `?`) and element type of `tensor<4x8xf32, #smem>` or of a memref.
fn shape_of(text: &str) -> Said<(Vec<Option<usize>>, String)> {
    let inside = text.split_once('<').map(|(_, rest)| rest.split(['>', ',']).next().unwrap_or("")).ok_or_else(|| format!("no type in `{text}`"))?;
    let mut words: Vec<&str> = inside.trim().split('x').collect();
    let element = words.pop().unwrap_or("").trim().to_string();
    let extents = words.iter().map(|w| if *w == "?" { Ok(None) } else { w.parse().map(Some).map_err(|_| format!("extent `{w}` of `{text}`")) });
    Ok((extents.collect::<Said<Vec<_>>>()?, element))
}

fn tile_shape(text: &str) -> Said<(Vec<usize>, String)> {
    let (extents, element) = shape_of(text)?;
    Ok((extents.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| format!("a tile of no extent: `{text}`"))?, element))
}

/// Splits at commas that stand in no bracket.
fn list(text: &str) -> Vec<String> {
    let (mut out, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        depth += i32::from("[({<".contains(c)) - i32::from("])}".contains(c)) - i32::from(c == '>');
        if c == ',' && depth <= 0 {
            out.push(String::new());
        } else if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out.into_iter().map(|s| s.trim().to_string()).filter(|s| !s.is_empty()).collect()
}

fn attribute<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let inside = text.split_once('{')?.1.split('}').next()?;
    inside.split(',').filter_map(|pair| pair.split_once('=')).find(|(k, _)| k.trim() == key).map(|(_, v)| v.trim())
}

struct Machine<'p> {
    program: &'p mut Interpreted,
    /// Extents grow to what is reached; nothing is read.
    measuring: bool,
    values: BTreeMap<String, Value>,
}

impl Interpreted {
    /// Reads a program, chooses extents, indices and contents.
    ///
    /// # Errors
    /// What is not understood.
    pub fn new(text: &str) -> Said<Self> {
        let text: String = text.lines().map(|l| l.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
        let (head, body) = text.split_once("{threads").ok_or("no threads")?;
        let (threads, body) = body.split_once("{\n").ok_or("no body")?;
        let threads = threads.trim().trim_start_matches('=').trim().trim_end_matches('}').trim().trim_end_matches('}').trim().parse().map_err(|_| "threads")?;
        let args = head.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')).ok_or("no arguments")?.0;
        let (mut globals, mut indices) = (Vec::new(), Vec::new());
        for argument in list(args) {
            let (name, ty) = argument.split_once(':').ok_or("an argument without a type")?;
            let name = name.trim().to_string();
            if ty.trim().starts_with("memref") {
                let (written, element) = shape_of(ty)?;
                bytes(&element)?;
                if written.len() != 2 {
                    return Err(format!("{name} has {} dimensions", written.len()));
                }
                let extents = [written[0].unwrap_or(0), written[1].unwrap_or(0)];
                globals.push(Global { name, element, written, extents, data: Vec::new(), is_result: false });
            } else {
                let at = attribute(ty, "div").and_then(|d| d.parse().ok()).unwrap_or(0);
                indices.push((name, at));
            }
        }
        let body: Vec<String> = body.lines().map(|l| l.trim().to_string()).filter(|l| !l.is_empty()).collect();
        let mut out = Self { globals, indices, threads, body };
        // A bound of a loop is two of its steps.
        for line in out.body.clone() {
            if let Some((_, rest)) = line.split_once(" to ")
                && let Some((bound, rest)) = rest.split_once(" step ")
                && let Some(step) = rest.split_whitespace().next().and_then(|s| s.parse::<i64>().ok())
                && let Some(index) = out.indices.iter_mut().find(|(name, _)| name == bound.trim())
            {
                index.1 = 2 * step;
            }
        }
        Machine { measuring: true, values: BTreeMap::new(), program: &mut out }.run()?;
        for (salt, global) in (1u32..).zip(&mut out.globals) {
            // A tile more than what is reached, in steps that keep any promise of alignment.
            for (extent, written) in global.extents.iter_mut().zip(&global.written) {
                *extent = written.unwrap_or(extent.next_multiple_of(16) + 32);
            }
            let count = global.extents[0] * global.extents[1];
            let whole = matches!(global.element.as_str(), "i8" | "u8" | "i32");
            let value = |i: usize| {
                let mut x = (i as u32).wrapping_mul(0x9e37_79b9) ^ salt.wrapping_mul(0x85eb_ca6b);
                x = (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d);
                let step = f64::from((x ^ x >> 12) % 17) - 8.0;
                if global.element == "u8" { step + 8.0 } else { step / if whole { 1.0 } else { 8.0 } }
            };
            global.data = (0..count).map(|i| if global.is_result { 7.0 } else { value(i) }).collect();
        }
        Ok(out)
    }

    /// The buffers, and the kernel's parameters without tensor maps.
    #[must_use]
    pub fn memory(&self) -> (Memory, Vec<BufferId>, Vec<Param>) {
        let mut memory = Memory::new();
        let (mut ids, mut params) = (Vec::new(), Vec::new());
        for g in &self.globals {
            let id = memory.add(&g.name, g.data.iter().flat_map(|v| encode(&g.element, *v)).collect());
            ids.push(id);
            params.push(Param::Buffer(id));
            params.extend(g.written.iter().zip(g.extents).filter(|(w, _)| w.is_none()).map(|(_, e)| Param::U32(e as u32)));
            // The stride of rows is the columns' number, and a parameter where that is one.
            if g.written[1].is_none() {
                params.push(Param::U32(g.extents[1] as u32));
            }
        }
        params.extend(self.indices.iter().map(|(_, v)| Param::U32(*v as u32)));
        (memory, ids, params)
    }

    /// What the matrices hold afterwards.
    ///
    /// # Errors
    /// What is not understood.
    pub fn expect(&self) -> Said<Vec<Global>> {
        let mut after = self.clone();
        Machine { measuring: false, values: BTreeMap::new(), program: &mut after }.run()?;
        Ok(after.globals)
    }

    /// Compares memory after a run with what it should hold; the error names the first wrong element.
    ///
    /// # Errors
    /// A wrong element, or what is not understood.
    pub fn compare(&self, memory: &Memory, ids: &[BufferId]) -> Said<()> {
        // How far a function of f32 may be off; a value between that is rounded may go the other way.
        let inexact = self.body.iter().any(|l| ["exp2", "exp ", "rsqrt", "rcp", "div", "log"].iter().any(|op| l.contains(&format!("= {op}"))));
        let casts = self.body.iter().filter(|l| l.contains("= cast ")).filter_map(|l| shape_of(l.rsplit("->").next()?).ok()).map(|(_, element)| element);
        let rounding = casts.map(|element| step_of(&element)).fold(0.0, f64::max);
        let loose = inexact || rounding > 0.0;
        for (global, id) in self.expect()?.iter().zip(ids) {
            let raw = memory.bytes(*id);
            let size = bytes(&global.element)?;
            let unit = step_of(&global.element).max(1e-6);
            let (relative, absolute) = match (inexact, rounding > 0.0) {
                (true, true) => (unit.max(rounding), rounding),
                (true, false) => (unit.max(1e-4), 1e-4),
                (false, _) => (unit.max(rounding), 1e-6),
            };
            let mut wrong = 0;
            let mut first = None;
            for (at, want) in global.data.iter().enumerate() {
                let got = decode(&global.element, &raw[at * size..]);
                // What is not the block's stays as it was, to the bit.
                let untouched = *want == self.globals.iter().find(|g| g.name == global.name).map_or(f64::NAN, |g| g.data[at]);
                let close = if untouched && !loose { got == *want } else { (got - want).abs() <= absolute + relative * want.abs() };
                if !close {
                    wrong += 1;
                    first = first.or(Some((at, got, *want)));
                }
            }
            if let Some((at, got, want)) = first {
                let (row, col) = (at / global.extents[1], at % global.extents[1]);
                return Err(format!("{}({row},{col}) is {got}, not {want}; {wrong} of {} elements", global.name, global.data.len()));
            }
        }
        Ok(())
    }
}

impl Machine<'_> {
    fn run(&mut self) -> Said<()> {
        for (name, value) in self.program.indices.clone() {
            self.values.insert(name, Value::Index(value));
        }
        let body = self.program.body.clone();
        self.block(&body, 0).map(|_| ())
    }

    /// Runs statements until the closing bracket; answers where it stands and what was yielded.
    fn block(&mut self, body: &[String], mut at: usize) -> Said<(usize, Vec<Value>)> {
        let mut yielded = Vec::new();
        loop {
            let Some(line) = body.get(at) else { return Err("no closing bracket".to_string()) };
            if line == "}" {
                return Ok((at, yielded));
            }
            let said = |e: String| format!("`{line}`: {e}");
            if line.contains("scf.for") {
                at = self.for_loop(body, at).map_err(said)?;
            } else if let Some(rest) = line.strip_prefix("scf.yield") {
                let names = rest.split(" : ").next().unwrap_or("");
                yielded = list(names).iter().map(|n| self.value(n)).collect::<Said<_>>().map_err(said)?;
            } else {
                self.statement(line).map_err(said)?;
            }
            at += 1;
        }
    }

    fn for_loop(&mut self, body: &[String], at: usize) -> Said<usize> {
        let line = &body[at];
        let (results, rest) = line.split_once("scf.for").ok_or("no loop")?;
        let (name, rest) = rest.split_once('=').ok_or("no counter")?;
        let (start, rest) = rest.split_once(" to ").ok_or("no bound")?;
        let (bound, rest) = rest.split_once(" step ").ok_or("no step")?;
        let step = rest.split_whitespace().next().unwrap_or("");
        let (start, bound, step) = (self.index(start)?, self.index(bound)?, self.index(step)?);
        let mut carried: Vec<(String, Value)> = Vec::new();
        if let Some((_, args)) = rest.split_once("iter_args(") {
            for pair in list(args.split_once(')').ok_or("no end of iter_args")?.0) {
                let (name, from) = pair.split_once('=').ok_or("no value")?;
                carried.push((name.trim().to_string(), self.value(from)?));
            }
        }
        // Where the body ends, turns or none.
        let (mut depth, mut end) = (0, at);
        for (k, l) in body.iter().enumerate().skip(at) {
            depth += i32::from(l.ends_with('{')) - i32::from(l.starts_with('}'));
            if depth == 0 {
                end = k;
                break;
            }
        }
        let mut counter = start;
        while counter < bound {
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
        for (name, (_, value)) in list(results.trim().trim_end_matches('=')).into_iter().zip(carried) {
            self.values.insert(name, value);
        }
        Ok(end)
    }

    fn value(&self, name: &str) -> Said<Value> {
        let name = name.trim();
        if let Ok(number) = name.parse() {
            return Ok(Value::Index(number));
        }
        self.values.get(name).cloned().ok_or_else(|| format!("no `{name}`"))
    }

    fn index(&self, name: &str) -> Said<i64> {
        if let Value::Index(v) = self.value(name)? { Ok(v) } else { Err(format!("`{name}` is no index")) }
    }

    fn tile(&self, name: &str) -> Said<Tile> {
        if let Value::Tile(t) = self.value(name)? { Ok(t) } else { Err(format!("`{name}` is no tile")) }
    }

    /// A place in global memory: its number and corner; `None` where the operand is a tile.
    fn place(&self, operand: &str) -> Said<Option<(usize, [i64; 2])>> {
        let (name, subscripts) = operand.split_once('[').map_or((operand, None), |(n, s)| (n, Some(s)));
        let Some(number) = self.program.globals.iter().position(|g| g.name == name.trim()) else { return Ok(None) };
        let corner: Vec<i64> = list(subscripts.ok_or("no subscripts")?.trim_end_matches(']')).iter().map(|s| self.index(s)).collect::<Said<_>>()?;
        Ok(Some((number, corner.try_into().map_err(|_| "two subscripts are known")?)))
    }

    fn fetch(&mut self, operand: &str, shape: &[usize]) -> Said<Tile> {
        let Some((number, [row, col])) = self.place(operand)? else {
            return self.tile(operand);
        };
        let [rows, cols] = shape else { return Err("a tile of two dimensions is loaded".to_string()) };
        let global = &mut self.program.globals[number];
        if self.measuring {
            let reached = [row as usize + rows, col as usize + cols];
            global.extents.iter_mut().zip(reached).for_each(|(e, r)| *e = (*e).max(r));
            return Ok(Tile { shape: shape.to_vec(), data: vec![0.0; rows * cols] });
        }
        let data = (0..rows * cols).map(|i| global.data[(row as usize + i / cols) * global.extents[1] + col as usize + i % cols]).collect();
        Ok(Tile { shape: shape.to_vec(), data })
    }

    fn deliver(&mut self, operand: &str, tile: Tile) -> Said<()> {
        let Some((number, [row, col])) = self.place(operand)? else {
            self.tile(operand)?;
            self.values.insert(operand.trim().to_string(), Value::Tile(tile));
            return Ok(());
        };
        let [rows, cols] = tile.shape[..] else { return Err("a tile of two dimensions is stored".to_string()) };
        let global = &mut self.program.globals[number];
        global.is_result = true;
        if self.measuring {
            let reached = [row as usize + rows, col as usize + cols];
            global.extents.iter_mut().zip(reached).for_each(|(e, r)| *e = (*e).max(r));
            return Ok(());
        }
        for (i, v) in tile.data.iter().enumerate() {
            let at = (row as usize + i / cols) * global.extents[1] + col as usize + i % cols;
            global.data[at] = decode(&global.element, &encode(&global.element, *v));
        }
        Ok(())
    }

    fn statement(&mut self, line: &str) -> Said<()> {
        let (result, rest) = match line.split_once('=') {
            Some((name, rest)) if name.trim_start().starts_with('%') => (Some(name.trim().to_string()), rest.trim()),
            _ => (None, line),
        };
        let (op, rest) = rest.split_once(' ').ok_or("no operands")?;
        let (operands, types) = rest.split_once(" : ").or_else(|| rest.strip_prefix(": ").map(|t| ("", t))).ok_or("no type")?;
        let plain = operands.split('{').next().unwrap_or("");
        let inputs = list(plain);
        let to = types.rsplit("->").next().unwrap_or(types);
        let input = |k: usize| inputs.get(k).map(String::as_str).ok_or("too few operands");
        let value = match op {
            "copy" => {
                let shape = tile_shape(if self.place(input(0)?)?.is_some() { to } else { types.split("->").next().unwrap_or("") })?.0;
                let tile = self.fetch(input(0)?, &shape)?;
                return self.deliver(input(1)?, tile);
            }
            "tiled_store" => {
                let tile = self.tile(input(0)?)?;
                return self.deliver(input(1)?, tile);
            }
            "alloc_tensor" => {
                let shape = tile_shape(to)?.0;
                Value::Tile(Tile { data: vec![f64::NAN; shape.iter().product()], shape })
            }
            "tiled_load" => Value::Tile(self.fetch(input(0)?, &tile_shape(to)?.0)?),
            "constant" if to.trim() == "index" => Value::Index(self.index(input(0)?)?),
            "constant" => {
                let shape = tile_shape(to)?.0;
                let v: f64 = input(0)?.parse().map_err(|_| "no number")?;
                Value::Tile(Tile { data: vec![v; shape.iter().product()], shape })
            }
            _ if op.starts_with("index.") => {
                let (a, b) = (self.index(input(0)?)?, self.index(input(1)?)?);
                Value::Index(match op {
                    "index.add" => a + b,
                    "index.sub" => a - b,
                    "index.mul" => a * b,
                    "index.div" => a / b,
                    "index.rem" => a % b,
                    _ => return Err(format!("operation {op}")),
                })
            }
            _ => {
                let tiles: Vec<Tile> = inputs.iter().map(|n| self.tile(n)).collect::<Said<_>>()?;
                let (shape, element) = tile_shape(to)?;
                let data = compute(op, operands, &tiles, &shape, &element)?;
                if data.len() != shape.iter().product::<usize>() {
                    return Err(format!("{} elements for {shape:?}", data.len()));
                }
                Value::Tile(Tile { shape, data })
            }
        };
        self.values.insert(result.ok_or("no result")?, value);
        Ok(())
    }
}

/// Elements of the result of an operation on tiles.
fn compute(op: &str, attributes: &str, tiles: &[Tile], shape: &[usize], element: &str) -> Said<Vec<f64>> {
    let a = tiles.first().ok_or("no operand")?;
    let each = |f: &dyn Fn(&[f64]) -> f64| -> Said<Vec<f64>> {
        if tiles.iter().any(|t| t.data.len() != a.data.len()) {
            return Err("tiles of different extents".to_string());
        }
        Ok((0..a.data.len()).map(|i| f(&tiles.iter().map(|t| t.data[i]).collect::<Vec<_>>())).collect())
    };
    let axis = || attribute(attributes, "axis").and_then(|v| v.parse::<usize>().ok());
    match op {
        "convert_layout" => Ok(a.data.clone()),
        "cast" => Ok(a.data.iter().map(|v| decode(element, &encode(element, *v))).collect()),
        "trans" => {
            let [rows, cols] = a.shape[..] else { return Err("two dimensions are known".to_string()) };
            Ok((0..rows * cols).map(|i| a.data[i % rows * cols + i / rows]).collect())
        }
        "mma" => {
            let ([m, k], [b, c]) = (&a.shape[..], tiles.get(1..3).ok_or("three operands")?) else { return Err("two dimensions are known".to_string()) };
            let n = shape[1];
            let mut out = c.data.clone();
            for i in 0..*m {
                for x in 0..*k {
                    let v = a.data[i * k + x];
                    out[i * n..(i + 1) * n].iter_mut().zip(&b.data[x * n..(x + 1) * n]).for_each(|(sum, w)| *sum += v * w);
                }
            }
            Ok(out)
        }
        "reduce" => {
            let [rows, cols] = a.shape[..] else { return Err("two dimensions are known".to_string()) };
            let axis = axis().ok_or("no axis")?;
            let (start, f): (f64, fn(f64, f64) -> f64) = match attribute(attributes, "kind") {
                Some("add") => (0.0, |x, y| x + y),
                Some("max") => (f64::NEG_INFINITY, f64::max),
                Some("min") => (f64::INFINITY, f64::min),
                other => return Err(format!("kind {other:?}")),
            };
            let at = |kept: usize, along: usize| if axis == 1 { kept * cols + along } else { along * cols + kept };
            let (kept, along) = if axis == 1 { (rows, cols) } else { (cols, rows) };
            Ok((0..kept).map(|i| (0..along).fold(start, |sum, j| f(sum, a.data[at(i, j)]))).collect())
        }
        "broadcast" => {
            let [rows, cols] = shape[..] else { return Err("two dimensions are known".to_string()) };
            let (height, width) = match (&a.shape[..], axis()) {
                ([n], Some(1)) => (*n, 1),
                ([n], Some(0)) => (1, *n),
                ([h, w], _) => (*h, *w),
                _ => return Err("no axis".to_string()),
            };
            let pick = |i: usize, extent: usize| if extent == 1 { 0 } else { i };
            Ok((0..rows * cols).map(|i| a.data[pick(i / cols, height) * width + pick(i % cols, width)]).collect())
        }
        "add" => each(&|v| v[0] + v[1]),
        "sub" => each(&|v| v[0] - v[1]),
        "mul" => each(&|v| v[0] * v[1]),
        "div" => each(&|v| v[0] / v[1]),
        "max" => each(&|v| v[0].max(v[1])),
        "min" => each(&|v| v[0].min(v[1])),
        "fma" => each(&|v| v[0].mul_add(v[1], v[2])),
        "neg" => each(&|v| -v[0]),
        "exp" => each(&|v| v[0].exp()),
        "exp2" => each(&|v| v[0].exp2()),
        "log" => each(&|v| v[0].ln()),
        "rsqrt" => each(&|v| 1.0 / v[0].sqrt()),
        "rcp" => each(&|v| 1.0 / v[0]),
        other => Err(format!("operation {other}")),
    }
}
