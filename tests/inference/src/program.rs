//! A recorded program, told to the inference.

use crate::expr;
use lanebook_infer as infer;
use lanebook_infer::{BufferId, IndexForm, Inference, Kind, MemoryScope, OperatorId};
use serde_json::Value;
use std::collections::HashMap;

/// Which operators of the inference are the record's loops, in order; the others are tile
/// operations.
pub struct Told {
    /// Buffers by name.
    pub buffers: HashMap<String, BufferId>,
    /// The operators that are loops, with the record's loop.
    pub loops: Vec<(OperatorId, Value)>,
    /// Serial loops around each, by name.
    pub outer: Vec<(String, infer::BaseId)>,
}

struct Teller<'i, 'a, 'u> {
    units: Units<'u>,
    target: String,
    types: HashMap<BufferId, String>,
    inference: &'i mut Inference<'a>,
    told: Told,
    names: HashMap<String, IndexForm>,
    threads: (u32, u32),
}

/// Where the fragments of products come from: the target's name, the elements of operand and
/// result, rows, columns and threads, the policy, and what is wanted of it.
pub type Units<'u> = &'u dyn Fn(&Product<'_>, &mut dyn FnMut(&infer::UnitTile<'_>)) -> bool;

/// A product of a recorded program.
pub struct Product<'p> {
    /// The target, as the record names it.
    pub target: &'p str,
    /// Elements of an operand.
    pub operand: &'p str,
    /// Elements of the result.
    pub result: &'p str,
    /// Rows and columns of the result.
    pub extents: (u32, u32),
    /// Threads of the block.
    pub threads: u32,
    /// Which fragment is wanted.
    pub side: infer::UnitSide,
}

/// Tells a program.
pub fn tell(
    inference: &mut Inference<'_>,
    program: &Value,
    units: Units<'_>,
) -> Result<Told, String> {
    let threads = number(&program["threads"])?;
    let told = Told { buffers: HashMap::new(), loops: Vec::new(), outer: Vec::new() };
    let target = text(&program["target"])?.to_owned();
    let types = HashMap::new();
    let names = HashMap::new();
    let threads = (0, threads);
    let mut teller = Teller { inference, told, names, threads, units, target, types };
    for b in list(&program["buffers"]) {
        teller.buffer(b)?;
    }
    for op in list(&program["ops"]) {
        teller.alias(op)?;
    }
    for b in list(&program["buffers"]) {
        teller.pin(b)?;
    }
    for op in list(&program["ops"]) {
        teller.op(op)?;
    }
    Ok(teller.told)
}

impl Teller<'_, '_, '_> {
    fn buffer(&mut self, b: &Value) -> Result<(), String> {
        let shape: Vec<u32> = list(&b["shape"]).iter().map(number).collect::<Result<_, _>>()?;
        let scope = match text(&b["scope"])? {
            "global" => MemoryScope::Global,
            "shared" => MemoryScope::Shared,
            "fragment" => MemoryScope::Fragment,
            other => return Err(format!("scope {other}")),
        };
        let dtype = text(&b["dtype"])?;
        let id = self.inference.buffer(&shape, bits(dtype)?, scope).map_err(fail)?;
        self.types.insert(id, dtype.into());
        self.told.buffers.insert(text(&b["name"])?.into(), id);
        Ok(())
    }

    fn alias(&mut self, op: &Value) -> Result<(), String> {
        if op["op"] != "alias" {
            return Ok(());
        }
        let of = self.named(&op["of"])?;
        let shape: Vec<u32> = list(&op["shape"]).iter().map(number).collect::<Result<_, _>>()?;
        let width = match op.get("dtype") {
            Some(t) => bits(text(t)?)?,
            None => self.inference.buffer_of(of).map_err(fail)?.bits,
        };
        let id = self.inference.alias(of, &shape, width).map_err(fail)?;
        self.told.buffers.insert(text(&op["name"])?.into(), id);
        Ok(())
    }

    fn named(&self, name: &Value) -> Result<BufferId, String> {
        let name = text(name)?;
        self.told.buffers.get(name).copied().ok_or_else(|| format!("no buffer {name}"))
    }

    fn pin(&mut self, b: &Value) -> Result<(), String> {
        if let Some(written) = b.get("layout") {
            let id = self.named(&b["name"])?;
            let vars = self.inference.buffer_of(id).map_err(fail)?.dims;
            let fragment = self.written(vars, written)?;
            self.inference.pin_buffer(id, fragment).map_err(fail)?;
        }
        Ok(())
    }

    fn written(
        &mut self,
        vars: infer::VarRange,
        written: &Value,
    ) -> Result<infer::FragmentForm, String> {
        let arena = &mut self.inference.arena;
        let copies = written.get("replicate").map_or(Ok(1), number)?;
        let copy = arena.var(copies, infer::VarRole::Copy).map_err(fail)?;
        let mut names = HashMap::new();
        for (k, id) in vars.iter().enumerate() {
            names.insert(format!("v{k}"), arena.whole(id).map_err(fail)?);
        }
        names.insert("rep".into(), arena.whole(copy).map_err(fail)?);
        let thread = expr::form(arena, &written["thread"], &names)?;
        match written.get("index") {
            Some(index) => {
                let index = expr::form(arena, index, &names)?;
                arena.fragment(vars, copy, thread, index).map_err(fail)
            }
            None => arena.by_threads(vars, copy, thread).map_err(fail),
        }
    }

    fn op(&mut self, op: &Value) -> Result<(), String> {
        match text(&op["op"])? {
            "alias" => Ok(()),
            "parallel" => self.parallel(op),
            "copy" => {
                let (src, dst) = (self.named(&op["src"])?, self.named(&op["dst"])?);
                self.tile(dst, &[(dst, true), (src, false)])
            }
            "fill" => {
                let dst = self.named(&op["dst"])?;
                self.tile(dst, &[(dst, true)])
            }
            "reduce" => {
                let (src, dst) = (self.named(&op["src"])?, self.named(&op["dst"])?);
                let dim = u8::try_from(number(&op["dim"])?).map_err(|e| e.to_string())?;
                let kind = Kind::Reduce { dim };
                self.inference.operator(kind, &[], self.threads).map_err(fail)?;
                for (id, write) in [(src, false), (dst, true)] {
                    let rank = self.inference.buffer_of(id).map_err(fail)?.dims.len();
                    let zeros = vec![IndexForm::constant(0); rank];
                    self.inference.access(id, write, &zeros).map_err(fail)?;
                }
                Ok(())
            }
            "gemm" => self.product(op),
            "serial" => self.serial(op),
            "if" => {
                self.inference.operator(Kind::Uniform, &[], self.threads).map_err(fail)?;
                self.loads(&op["cond"])?;
                self.all(&op["then"])
            }
            "thread_if" => {
                let (lo, hi) = (number(&op["lo"])?, number(&op["hi"])?);
                let before = std::mem::replace(&mut self.threads, (lo, hi - lo));
                let done = self.all(&op["then"]);
                self.threads = before;
                done
            }
            "stmt" => {
                let threads = self.threads;
                let id = self.inference.operator(Kind::Parallel, &[], threads).map_err(fail)?;
                self.told.loops.push((id, op.clone()));
                for s in list(&op["body"]) {
                    self.statement(s)?;
                }
                Ok(())
            }
            other => Err(format!("operation {other}")),
        }
    }

    fn all(&mut self, ops: &Value) -> Result<(), String> {
        list(ops).iter().try_for_each(|op| self.op(op))
    }

    fn serial(&mut self, op: &Value) -> Result<(), String> {
        let (name, extent) = variable(&op["var"])?;
        let id = self.inference.serial(extent, false).map_err(fail)?;
        let form = self.inference.arena.whole(id).map_err(fail)?;
        self.told.outer.push((name.clone(), id));
        let before = self.names.insert(name.clone(), form);
        self.all(&op["body"])?;
        restore(&mut self.names, name, before);
        Ok(())
    }

    /// A tile operation over the whole of `shape_of`.
    fn tile(&mut self, shape_of: BufferId, of: &[(BufferId, bool)]) -> Result<(), String> {
        let dims = self.inference.buffer_of(shape_of).map_err(fail)?.dims;
        let arena = &mut self.inference.arena;
        let mut shape = Vec::new();
        for id in dims.iter() {
            shape.push(arena.extent(id).map_err(fail)?);
        }
        let threads = self.threads;
        let id = self.inference.operator(Kind::Parallel, &shape, threads).map_err(fail)?;
        let vars = self.inference.operator_of(id).map_err(fail)?.vars;
        let mut index = Vec::new();
        for var in vars.iter() {
            index.push(self.inference.arena.whole(var).map_err(fail)?);
        }
        for (buffer, write) in of {
            self.inference.access(*buffer, *write, &index).map_err(fail)?;
        }
        Ok(())
    }

    /// A product pins its fragments.
    fn product(&mut self, op: &Value) -> Result<(), String> {
        let policy = match op.get("policy").map(text) {
            None => infer::WarpPolicy::Square,
            Some(name) => match name? {
                "Square" => infer::WarpPolicy::Square,
                "FullRow" => infer::WarpPolicy::FullRow,
                "FullCol" => infer::WarpPolicy::FullCol,
                other => return Err(format!("policy {other}")),
            },
        };
        let (a, c) = (self.named(&op["a"])?, self.named(&op["c"])?);
        let dims = self.inference.buffer_of(c).map_err(fail)?.dims;
        let shape: Vec<u32> =
            dims.iter().filter_map(|d| self.inference.arena.extent(d).ok()).collect();
        let [m, n] = shape[..] else {
            return Err("a product of another rank than 2".into());
        };
        let (target, operand, result) =
            (self.target.clone(), self.types[&a].clone(), self.types[&c].clone());
        let threads = self.threads.1;
        let mut split = None;
        for (name, side) in
            [("c", infer::UnitSide::D), ("a", infer::UnitSide::A), ("b", infer::UnitSide::B)]
        {
            let id = self.named(&op[name])?;
            let buffer = *self.inference.buffer_of(id).map_err(fail)?;
            if buffer.scope != MemoryScope::Fragment && side != infer::UnitSide::D {
                continue;
            }
            let product = Product {
                target: &target,
                operand: &operand,
                result: &result,
                extents: (m, n),
                threads,
                side,
            };
            let mut found = Err(format!("no unit of {target} for {operand}"));
            let units = self.units;
            units(&product, &mut |tile| {
                if side == infer::UnitSide::D {
                    split = infer::split_warps(policy, (m, n), threads / tile.wave, tile);
                }
                found = match split {
                    Some(s) => {
                        let arena = &mut self.inference.arena;
                        arena.product_fragment(buffer.dims, side, tile, s).map_err(fail)
                    }
                    None => Err("more warps than parts of the result".into()),
                };
            });
            let fragment = found?;
            if self.inference.layout(id).is_none() {
                self.inference.pin_buffer(id, fragment).map_err(fail)?;
            } else if !self.same_threads(id, &fragment)? {
                return Err(format!("CONFLICT {name}"));
            }
        }
        Ok(())
    }

    fn same_threads(&mut self, id: BufferId, want: &infer::FragmentForm) -> Result<bool, String> {
        let have = self.inference.layout(id).ok_or("no layout")?;
        let arena = &mut self.inference.arena;
        let (a, b) = (arena.threads(&have), arena.threads(want));
        Ok(arena.contains(a, b).map_err(fail)? && arena.contains(b, a).map_err(fail)?)
    }

    fn parallel(&mut self, op: &Value) -> Result<(), String> {
        let vars: Vec<(String, u32)> =
            list(&op["vars"]).iter().map(variable).collect::<Result<_, _>>()?;
        let extents: Vec<u32> = vars.iter().map(|v| v.1).collect();
        let threads = self.threads;
        let id = self.inference.operator(Kind::Parallel, &extents, threads).map_err(fail)?;
        if let Some(width) = op.get("coalesced_width") {
            self.inference.bound_vector(number(width)?);
        }
        let own = self.inference.operator_of(id).map_err(fail)?.vars;
        let mut before = Vec::new();
        for ((name, _), var) in vars.iter().zip(own.iter()) {
            let form = self.inference.arena.whole(var).map_err(fail)?;
            before.push((name.clone(), self.names.insert(name.clone(), form)));
        }
        for s in list(&op["body"]) {
            self.statement(s)?;
        }
        for (name, old) in before.into_iter().rev() {
            restore(&mut self.names, name, old);
        }
        if let Some(written) = op.get("loop_layout") {
            let fragment = self.written(own, written)?;
            self.inference.pin_operator(id, fragment).map_err(fail)?;
        }
        self.told.loops.push((id, op.clone()));
        Ok(())
    }

    fn statement(&mut self, s: &Value) -> Result<(), String> {
        match text(&s["st"])? {
            "store" => {
                let buffer = self.named(&s["buf"])?;
                self.index(buffer, true, &s["idx"])?;
                self.loads(&s["val"])
            }
            "serial" => {
                let (name, extent) = variable(&s["var"])?;
                let id = self.inference.serial(extent, true).map_err(fail)?;
                let form = self.inference.arena.whole(id).map_err(fail)?;
                let before = self.names.insert(name.clone(), form);
                for inner in list(&s["body"]) {
                    self.statement(inner)?;
                }
                restore(&mut self.names, name, before);
                Ok(())
            }
            "if" => {
                self.loads(&s["cond"])?;
                for part in ["then", "else"] {
                    for inner in s.get(part).map_or(&[][..], list) {
                        self.statement(inner)?;
                    }
                }
                Ok(())
            }
            other => Err(format!("statement {other}")),
        }
    }

    fn index(&mut self, buffer: BufferId, write: bool, indices: &Value) -> Result<(), String> {
        let mut forms = Vec::new();
        for e in list(indices) {
            forms.push(expr::form(&mut self.inference.arena, e, &self.names)?);
        }
        self.inference.access(buffer, write, &forms).map_err(fail)
    }

    fn loads(&mut self, e: &Value) -> Result<(), String> {
        let Some(parts) = e.as_array() else { return Ok(()) };
        if parts.first().and_then(Value::as_str) == Some("load") {
            let buffer = self.named(&parts[1])?;
            return self.index(buffer, false, &parts[2]);
        }
        parts.iter().skip(1).try_for_each(|p| self.loads(p))
    }
}

fn restore(names: &mut HashMap<String, IndexForm>, name: String, before: Option<IndexForm>) {
    match before {
        Some(form) => names.insert(name, form),
        None => names.remove(&name),
    };
}

fn fail(e: infer::FormError) -> String {
    format!("{e:?}")
}

/// The entries of a list.
pub fn list(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], Vec::as_slice)
}

fn text(v: &Value) -> Result<&str, String> {
    v.as_str().ok_or_else(|| format!("no text: {v}"))
}

fn number(v: &Value) -> Result<u32, String> {
    v.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| format!("no number: {v}"))
}

fn variable(v: &Value) -> Result<(String, u32), String> {
    Ok((text(&v[0])?.into(), number(&v[1])?))
}

fn bits(dtype: &str) -> Result<u32, String> {
    let digits: String = dtype
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    match dtype {
        "bool" => Ok(8),
        _ => digits.parse().map_err(|_| format!("element type {dtype}")),
    }
}
