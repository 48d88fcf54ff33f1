//! A recorded program as the text of a tile program.

use crate::expr::is_truth;
use crate::program::list;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;

/// A program that the tile language does not say: why.
pub type Unsaid = String;

/// An element type's name in tile programs.
fn dtype(name: &str) -> Result<&str, Unsaid> {
    Ok(match name {
        "float16" => "f16",
        "bfloat16" => "bf16",
        "float32" => "f32",
        "float64" => "f64",
        "float8_e4m3" | "float8_e4m3fn" => "e4m3",
        "int8" => "i8",
        "int32" => "i32",
        other => return Err(format!("element type {other}")),
    })
}

/// A buffer.
#[derive(Clone)]
struct Buffer {
    shape: String,
    dtype: String,
    scope: String,
}

struct Writer {
    out: String,
    buffers: HashMap<String, Buffer>,
    /// Loop variables in sight, with their values.
    names: HashMap<String, String>,
    threads: Option<(u64, u64)>,
    depth: usize,
    count: usize,
}

/// The text of a program. Buffer `x` is `%b_x`.
///
/// # Errors
/// What the language does not say.
pub fn tile_text(program: &Value) -> Result<String, Unsaid> {
    let mut writer = Writer {
        out: String::new(),
        buffers: HashMap::new(),
        names: HashMap::new(),
        threads: None,
        depth: 1,
        count: 0,
    };
    let mut parameters = Vec::new();
    let mut storage = Vec::new();
    for b in list(&program["buffers"]) {
        let name = text(&b["name"])?;
        let buffer = Buffer {
            shape: shape(&b["shape"]),
            dtype: dtype(text(&b["dtype"])?)?.into(),
            scope: text(&b["scope"])?.into(),
        };
        if buffer.scope == "global" {
            parameters.push(format!("%b_{name}: memref<{}{}>", buffer.shape, buffer.dtype));
        } else {
            let layout = match b.get("layout") {
                Some(written) => format!(", {}", layout(written)?),
                None => String::new(),
            };
            storage.push(format!("%b_{name} = alloc_tensor : {}", buffer.ty(&layout)));
        }
        writer.buffers.insert(name.into(), buffer);
    }
    for line in storage {
        writer.line(&line);
    }
    for op in list(&program["ops"]) {
        writer.op(op)?;
    }
    Ok(format!(
        "func @p({}) {{threads = {}}} {{\n{}}}\n",
        parameters.join(", "),
        program["threads"],
        writer.out
    ))
}

/// The program with each copy between element types as a loop that casts, which does the same.
#[must_use]
pub fn with_casts(program: &Value) -> Value {
    let mut out = program.clone();
    let buffers = list(&program["buffers"]).to_vec();
    let of = |name: &Value| buffers.iter().find(|buffer| buffer["name"] == *name);
    let mut left: Vec<&mut Value> = out["ops"].as_array_mut().into_iter().flatten().collect();
    while let Some(op) = left.pop() {
        if op["op"] == "copy"
            && let (Some(from), Some(to)) = (of(&op["src"]), of(&op["dst"]))
            && from["dtype"] != to["dtype"]
            && from["shape"] == to["shape"]
        {
            let extents = list(&from["shape"]);
            let names: Vec<String> = (0..extents.len()).map(|k| format!("copied {k}")).collect();
            let vars: Vec<Value> = names.iter().zip(extents).map(|(n, e)| json!([n, e])).collect();
            let value = json!(["load", op["src"], names]);
            let store = json!({"st": "store", "buf": op["dst"], "idx": names, "val": value});
            *op = json!({"op": "parallel", "vars": vars, "body": [store]});
            continue;
        }
        if let Value::Object(fields) = op {
            for (key, inner) in fields.iter_mut() {
                if let ("body" | "then", Value::Array(inner)) = (key.as_str(), inner) {
                    left.extend(inner.iter_mut());
                }
            }
        }
    }
    out
}

impl Buffer {
    fn ty(&self, layout: &str) -> String {
        let space = if self.scope == "shared" { "#smem" } else { "#fragment" };
        format!("tensor<{}{}, {space}{layout}>", self.shape, self.dtype)
    }
}

fn text(v: &Value) -> Result<&str, Unsaid> {
    v.as_str().ok_or_else(|| format!("no text: {v}"))
}

/// Whether nothing in an expression is an element.
fn is_index(e: &Value) -> bool {
    let mut left = vec![e];
    while let Some(e) = left.pop() {
        let [word, rest @ ..] = list(e) else { continue };
        if word == "load" || word == "f" {
            return false;
        }
        left.extend(rest);
    }
    true
}

fn shape(v: &Value) -> String {
    list(v).iter().map(|extent| format!("{extent}x")).collect()
}

fn layout(written: &Value) -> Result<String, Unsaid> {
    let mut out = format!("{{thread = {}", expression(&written["thread"])?);
    if let Some(index) = written.get("index") {
        let _ = write!(out, ", index = {}", expression(index)?);
    }
    if let Some(copies) = written.get("replicate") {
        let _ = write!(out, ", replicate = {copies}");
    }
    Ok(out + "}")
}

/// An expression of a written layout.
fn expression(e: &Value) -> Result<String, Unsaid> {
    if e.is_i64() {
        return Ok(e.to_string());
    }
    if let Some(name) = e.as_str() {
        return Ok(name.into());
    }
    let [word, rest @ ..] = list(e) else { return Err(format!("expression {e}")) };
    let args: Vec<String> = rest.iter().map(expression).collect::<Result<_, _>>()?;
    let function = |name: &str| Ok(format!("{name}({})", args.join(", ")));
    match (text(word)?, args.as_slice()) {
        ("^" | "xor", _) => function("xor"),
        (word @ ("min" | "max" | "select"), _) => function(word),
        ("<", _) => function("lt"),
        ("<=", _) => function("le"),
        (">", _) => function("gt"),
        (">=", _) => function("ge"),
        ("==", _) => function("eq"),
        ("!=", _) => function("ne"),
        ("band", [a, b]) => Ok(format!("({a} & {b})")),
        ("bor", [a, b]) => Ok(format!("({a} | {b})")),
        ("shl", [a, b]) => power(b).map(|p| format!("({a} * {p})")),
        ("shr", [a, b]) => power(b).map(|p| format!("({a} // {p})")),
        (op @ ("+" | "-" | "*" | "//" | "%"), [a, b]) => Ok(format!("({a} {op} {b})")),
        ("-", [a]) => Ok(format!("(-{a})")),
        (other, _) => Err(format!("operator {other} in a layout")),
    }
}

fn power(bits: &str) -> Result<u64, Unsaid> {
    bits.parse::<u32>().map(|bits| 1u64 << bits).map_err(|_| "a shift by a variable".into())
}

impl Writer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.out, "{}{line}", "  ".repeat(self.depth));
    }
    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("%t{}", self.count)
    }
    fn buffer(&self, name: &Value) -> Result<Buffer, Unsaid> {
        let name = text(name)?;
        self.buffers.get(name).cloned().ok_or_else(|| format!("no buffer {name}"))
    }
    /// The attributes of an operation, with the threads that are in force.
    fn attributes(&self, more: &[String]) -> String {
        let own = self.threads.map(|(lo, hi)| format!("threads = [{lo}, {hi}]"));
        let all: Vec<String> = more.iter().cloned().chain(own).collect();
        if all.is_empty() { String::new() } else { format!(" {{{}}}", all.join(", ")) }
    }
    fn inside(&mut self, ops: &Value) -> Result<(), Unsaid> {
        self.depth += 1;
        let done = list(ops).iter().try_for_each(|op| self.op(op));
        self.depth -= 1;
        self.line("}");
        done
    }
    fn statements(&mut self, body: &Value) -> Result<(), Unsaid> {
        self.depth += 1;
        let done = list(body).iter().try_for_each(|s| self.statement(s));
        self.depth -= 1;
        done
    }
    /// A loop variable's value, under a name that nothing else has.
    fn counter(&mut self, name: &str) -> (String, Option<String>) {
        let value = self.fresh();
        let before = self.names.insert(name.into(), value.clone());
        (value, before)
    }
    fn restore(&mut self, name: &str, before: Option<String>) {
        match before {
            Some(value) => self.names.insert(name.into(), value),
            None => self.names.remove(name),
        };
    }

    fn op(&mut self, op: &Value) -> Result<(), Unsaid> {
        let name = |key: &str| text(&op[key]).map(|name| format!("%b_{name}"));
        match text(&op["op"])? {
            "alias" => {
                let of = self.buffer(&op["of"])?;
                let own = match op.get("dtype") {
                    Some(t) => dtype(text(t)?)?.to_string(),
                    None => of.dtype.clone(),
                };
                let alias = Buffer { shape: shape(&op["shape"]), dtype: own, ..of };
                if alias.scope == "global" {
                    return Err("another shape of global memory".into());
                }
                let line = format!("{} = view {} : {}", name("name")?, name("of")?, alias.ty(""));
                self.buffers.insert(text(&op["name"])?.into(), alias);
                self.line(&line);
            }
            "parallel" => self.parallel(op)?,
            "copy" => {
                if self.buffer(&op["src"])?.dtype != self.buffer(&op["dst"])?.dtype {
                    return Err("a copy between element types".into());
                }
                let line =
                    format!("copy {}, {}{}", name("src")?, name("dst")?, self.attributes(&[]));
                self.line(&line);
            }
            "fill" => {
                let line = format!("fill 0.0, {}{}", name("dst")?, self.attributes(&[]));
                self.line(&line);
            }
            "reduce" => {
                let kind = if op["kind"] == "sum" { "add" } else { text(&op["kind"])? };
                let more = [format!("axis = {}", op["dim"]), format!("kind = {kind}")];
                let attributes = self.attributes(&more);
                self.line(&format!("reduce_into {}, {}{attributes}", name("src")?, name("dst")?));
            }
            "gemm" => {
                let mut more = Vec::new();
                if let Some(policy) = op.get("policy") {
                    more.push(format!("policy = {}", text(policy)?));
                }
                for (flag, word) in [("ta", "transpose_a"), ("tb", "transpose_b")] {
                    if op[flag] == true {
                        more.push(word.into());
                    }
                }
                let attributes = self.attributes(&more);
                let (a, b, c) = (name("a")?, name("b")?, name("c")?);
                self.line(&format!("gemm {a}, {b}, {c}{attributes}"));
            }
            "serial" => {
                let own = text(&op["var"][0])?.to_string();
                let (value, before) = self.counter(&own);
                self.line(&format!("scf.for {value} = 0 to {} step 1 {{", op["var"][1]));
                self.inside(&op["body"])?;
                self.restore(&own, before);
            }
            "if" => {
                let condition = self.value(&op["cond"], "f32")?;
                self.line(&format!("scf.if {condition} {{"));
                self.inside(&op["then"])?;
            }
            "thread_if" => {
                let bound = |key: &str| op[key].as_u64().ok_or("a bound of threads");
                let before = self.threads.replace((bound("lo")?, bound("hi")?));
                list(&op["then"]).iter().try_for_each(|op| self.op(op))?;
                self.threads = before;
            }
            "stmt" => {
                if self.threads.is_some() {
                    return Err("a statement of a range of threads".into());
                }
                list(&op["body"]).iter().try_for_each(|s| self.statement(s))?;
            }
            other => return Err(format!("operation {other}")),
        }
        Ok(())
    }

    fn parallel(&mut self, op: &Value) -> Result<(), Unsaid> {
        let mut more = Vec::new();
        if let Some(width) = op.get("coalesced_width") {
            more.push(format!("coalesced_width = {width}"));
        }
        if let Some(written) = op.get("loop_layout") {
            more.push(format!("layout = {}", layout(written)?));
        }
        let (mut counters, mut extents, mut before) = (Vec::new(), Vec::new(), Vec::new());
        for var in list(&op["vars"]) {
            let own = text(&var[0])?.to_string();
            let (value, old) = self.counter(&own);
            counters.push(value);
            extents.push(var[1].to_string());
            before.push((own, old));
        }
        let attributes = self.attributes(&more);
        let attributes =
            if attributes.is_empty() { attributes } else { format!(" attributes{attributes}") };
        self.line(&format!(
            "parallel ({}) in ({}){attributes} {{",
            counters.join(", "),
            extents.join(", ")
        ));
        self.statements(&op["body"])?;
        self.line("}");
        for (own, old) in before.into_iter().rev() {
            self.restore(&own, old);
        }
        Ok(())
    }

    fn statement(&mut self, s: &Value) -> Result<(), Unsaid> {
        match text(&s["st"])? {
            "store" => {
                let buffer = self.buffer(&s["buf"])?;
                let place = self.place(&s["buf"], &s["idx"])?;
                let value = self.value(&s["val"], &buffer.dtype)?;
                self.line(&format!("memref.store {value}, {place}"));
            }
            "serial" => {
                let own = text(&s["var"][0])?.to_string();
                let (value, before) = self.counter(&own);
                self.line(&format!("scf.for {value} = 0 to {} step 1 {{", s["var"][1]));
                self.statements(&s["body"])?;
                self.line("}");
                self.restore(&own, before);
            }
            "if" => {
                let condition = self.value(&s["cond"], "f32")?;
                self.line(&format!("scf.if {condition} {{"));
                self.statements(&s["then"])?;
                if let Some(other) = s.get("else") {
                    self.line("} else {");
                    self.statements(other)?;
                }
                self.line("}");
            }
            other => return Err(format!("statement {other}")),
        }
        Ok(())
    }

    fn place(&mut self, name: &Value, indices: &Value) -> Result<String, Unsaid> {
        let mut out = Vec::new();
        for e in list(indices) {
            out.push(self.index(e)?);
        }
        Ok(format!("%b_{}[{}]", text(name)?, out.join(", ")))
    }

    /// The value of an index expression.
    fn index(&mut self, e: &Value) -> Result<String, Unsaid> {
        if e.is_i64() {
            return Ok(e.to_string());
        }
        if let Some(name) = e.as_str() {
            return self.names.get(name).cloned().ok_or_else(|| format!("variable {name}"));
        }
        let [word, rest @ ..] = list(e) else { return Err(format!("expression {e}")) };
        let word = text(word)?;
        let joins = matches!(word, "and" | "or");
        let mut args = Vec::new();
        for e in rest {
            let arg = self.index(e)?;
            let truth = !joins || is_truth(e);
            args.push(if truth {
                arg
            } else {
                self.made(&format!("index.cmp ne, {arg}, 0 : index"))
            });
        }
        let op = match word {
            "+" => "index.add",
            "-" => "index.sub",
            "*" => "index.mul",
            "//" => "index.div",
            "%" => "index.rem",
            "min" => "arith.minsi",
            "max" => "arith.maxsi",
            "^" | "xor" => "arith.xori",
            "band" | "and" => "arith.andi",
            "bor" | "or" => "arith.ori",
            "not" => return Ok(self.made(&format!("index.cmp eq, {}, 0 : index", args[0]))),
            "shl" => "arith.shli",
            "shr" => "arith.shrsi",
            "select" => "select",
            "<" => "index.cmp lt,",
            "<=" => "index.cmp le,",
            ">" => "index.cmp gt,",
            ">=" => "index.cmp ge,",
            "==" => "index.cmp eq,",
            "!=" => "index.cmp ne,",
            other => return Err(format!("operator {other} in an index")),
        };
        let out = self.fresh();
        let args = if args.len() == 1 { vec!["0".to_string(), args[0].clone()] } else { args };
        self.line(&format!("{out} = {op} {} : index", args.join(", ")));
        Ok(out)
    }

    /// A value of elements; index expressions in it become elements.
    fn value(&mut self, e: &Value, ty: &str) -> Result<String, Unsaid> {
        let [word, rest @ ..] = list(e) else {
            let index = self.index(e)?;
            return Ok(self.made(&format!("arith.sitofp {index} : {ty}")));
        };
        let binary = match text(word)? {
            "load" => {
                let buffer = self.buffer(&rest[0])?;
                let place = self.place(&rest[0], &rest[1])?;
                let loaded = self.made(&format!("memref.load {place} : {}", buffer.dtype));
                if buffer.dtype == ty {
                    return Ok(loaded);
                }
                return Ok(self.made(&format!("cast {loaded} : {ty}")));
            }
            "f" => {
                let number = rest[0].as_f64().ok_or("a number")?;
                return Ok(self.made(&format!("constant {number:.3} : {ty}")));
            }
            "+" => "add",
            "-" => "sub",
            "*" => "mul",
            "/" | "//" => "div",
            "max" => "max",
            "min" => "min",
            word @ ("<" | "<=" | ">" | ">=" | "==" | "!=") => {
                if rest.iter().all(is_index) {
                    return self.index(e);
                }
                return self.comparison(word, &rest[0], &rest[1]);
            }
            _ => {
                let index = self.index(e)?;
                return Ok(self.made(&format!("arith.sitofp {index} : {ty}")));
            }
        };
        let mut args = Vec::new();
        for e in rest {
            args.push(self.value(e, ty)?);
        }
        Ok(self.made(&format!("{binary} {} : {ty}", args.join(", "))))
    }

    /// A truth of elements: whole numbers are compared as such, anything else as floats.
    fn comparison(&mut self, word: &str, a: &Value, b: &Value) -> Result<String, Unsaid> {
        let whole = |e: &Value| is_index(e) || self.loaded(e).is_some_and(|ty| ty == "i32");
        let whole = whole(a) && whole(b);
        let ty = if whole { "i32" } else { "f32" };
        let relations = [("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge")];
        let relation = relations.iter().find(|r| r.0 == word).map(|r| r.1);
        let kind = match (word, relation, whole) {
            ("==", _, true) => "eq".to_string(),
            ("==", _, false) => "oeq".to_string(),
            (_, None, true) => "ne".to_string(),
            (_, None, false) => "une".to_string(),
            (_, Some(relation), true) => format!("s{relation}"),
            (_, Some(relation), false) => format!("o{relation}"),
        };
        let (a, b) = (self.operand(a, ty)?, self.operand(b, ty)?);
        Ok(self.made(&format!("compare.{kind} {a}, {b} : {ty} -> i1")))
    }

    /// The element type of what is loaded.
    fn loaded(&self, e: &Value) -> Option<String> {
        let [word, buffer, ..] = list(e) else { return None };
        (word == "load").then(|| self.buffer(buffer).ok()).flatten().map(|b| b.dtype)
    }

    /// An operand of a comparison: numbers are constants.
    fn operand(&mut self, e: &Value, ty: &str) -> Result<String, Unsaid> {
        match e.as_i64() {
            Some(number) if ty == "i32" => Ok(self.made(&format!("constant {number} : {ty}"))),
            Some(number) => Ok(self.made(&format!("constant {number}.0 : {ty}"))),
            None => self.value(e, ty),
        }
    }

    fn made(&mut self, what: &str) -> String {
        let out = self.fresh();
        self.line(&format!("{out} = {what}"));
        out
    }
}
