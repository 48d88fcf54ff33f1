//! A recorded program, told to the inference.

use crate::expr;
use lanebook_infer as infer;
use lanebook_infer::{BufferId, Form, Inference, Kind, OperatorId, Scope};
use serde_json::Value;
use std::collections::HashMap;

/// Memory for one program.
pub struct Memory {
    bases: Vec<infer::BaseEntry>,
    terms: Vec<infer::Term>,
    buckets: Vec<u16>,
    buffers: Vec<infer::Buffer>,
    operators: Vec<infer::Operator>,
    accesses: Vec<infer::Access>,
    layouts: Vec<Option<infer::Fragment>>,
    queue: Vec<u16>,
    points: Vec<u64>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            bases: vec![Default::default(); 60_000],
            terms: vec![Default::default(); 1_000_000],
            buckets: vec![0; 1024],
            buffers: vec![Default::default(); 64],
            operators: vec![Default::default(); 64],
            accesses: vec![Default::default(); 512],
            layouts: vec![None; 4 * 128],
            queue: vec![0; 512],
            points: vec![0; 1 << 15],
        }
    }
}

impl Memory {
    /// An empty inference.
    pub fn inference(&mut self) -> Inference<'_> {
        let arena = infer::ArenaParts {
            bases: &mut self.bases,
            terms: &mut self.terms,
            buckets: &mut self.buckets,
        };
        Inference::new(infer::Parts {
            arena,
            buffers: &mut self.buffers,
            operators: &mut self.operators,
            accesses: &mut self.accesses,
            layouts: &mut self.layouts,
            queue: &mut self.queue,
            points: &mut self.points,
        })
    }
}

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

struct Teller<'i, 'a> {
    inference: &'i mut Inference<'a>,
    told: Told,
    names: HashMap<String, Form>,
    threads: (u32, u32),
}

/// Tells a program.
pub fn tell(inference: &mut Inference<'_>, program: &Value) -> Result<Told, String> {
    let threads = number(&program["threads"])?;
    let told = Told { buffers: HashMap::new(), loops: Vec::new(), outer: Vec::new() };
    let mut teller = Teller { inference, told, names: HashMap::new(), threads: (0, threads) };
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

impl Teller<'_, '_> {
    fn buffer(&mut self, b: &Value) -> Result<(), String> {
        let shape: Vec<u32> = list(&b["shape"]).iter().map(number).collect::<Result<_, _>>()?;
        let scope = match text(&b["scope"])? {
            "global" => Scope::Global,
            "shared" => Scope::Shared,
            "fragment" => Scope::Fragment,
            other => return Err(format!("scope {other}")),
        };
        let id = self.inference.buffer(&shape, bits(text(&b["dtype"])?)?, scope).map_err(fail)?;
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
    ) -> Result<infer::Fragment, String> {
        let arena = &mut self.inference.arena;
        let copies = written.get("replicate").map_or(Ok(1), number)?;
        let copy = arena.var(copies, infer::Role::Copy).map_err(fail)?;
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
                    let zeros = vec![Form::constant(0); rank];
                    self.inference.access(id, write, &zeros).map_err(fail)?;
                }
                Ok(())
            }
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

fn restore(names: &mut HashMap<String, Form>, name: String, before: Option<Form>) {
    match before {
        Some(form) => names.insert(name, form),
        None => names.remove(&name),
    };
}

fn fail(e: infer::Error) -> String {
    e.to_string()
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
