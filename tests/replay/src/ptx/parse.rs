//! PTX structure: directives, declarations, labels, statements.
//!
//! One entry per module. Register and symbol names follow the braces they are declared in.

use std::collections::HashMap;

use super::decode;
use super::op::{Addr, Mask, Op, Program, Reg, Special, Src, Stmt, Threads, Ty};
use super::text::{Token, tokens};
use crate::fault::ParseFault;

/// Shared memory starts here: 1 KiB at the start is the system's (compute capability 8.0 and up),
/// so code that takes the first symbol to be at address 0 is caught.
pub(super) const SHARED_BASE: u32 = 1024;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    Reg(Reg),
    Shared(u32),
    Param(u32),
}

/// An operand as written.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Src(Src),
    Vector(Vec<Operand>),
    Addr(Addr),
    ParamAddr(i64),
    /// `[map, {x, y}]`
    Tensor(Addr, Vec<Operand>),
    Label(String),
    /// `_`
    Sink,
    /// `a|b`
    Pair(Reg, Reg),
    /// `!p`
    Negated(Reg),
}

pub(super) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    lines: Vec<String>,
    scopes: Vec<HashMap<String, Name>>,
    labels: HashMap<String, usize>,
    /// Statement, label, line, and the braces that it stands in, outermost first.
    jumps: Vec<(usize, String, u32, Vec<usize>)>,
    /// Braces that are open, and how many there have been.
    braces: Vec<usize>,
    opened: usize,
    cells: u32,
    params: u32,
    shared: u32,
    extern_shared: bool,
    code: Vec<Stmt>,
    name: Option<String>,
    target: Option<u32>,
    threads: Threads,
    entry_registers: Option<u32>,
}

/// Parses a module.
pub(crate) fn parse(text: &str) -> Result<Program, ParseFault> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        lines: text.lines().map(str::to_string).collect(),
        scopes: vec![HashMap::new()],
        labels: HashMap::new(),
        jumps: Vec::new(),
        braces: Vec::new(),
        opened: 0,
        cells: 0,
        params: 0,
        shared: 0,
        extern_shared: false,
        code: Vec::new(),
        name: None,
        target: None,
        threads: Threads::Any,
        entry_registers: None,
    };
    parser.module()
}

type Parsed<T> = Result<T, ParseFault>;

impl Parser {
    pub(super) fn fault<T>(&self, line: u32, sentence: impl Into<String>) -> Parsed<T> {
        let text = self.lines.get(line as usize - 1).cloned().unwrap_or_default();
        Err(ParseFault { line, text, sentence: sentence.into() })
    }

    fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |t| t.line)
    }

    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |t| t.text.as_str())
    }

    fn next(&mut self) -> String {
        let text = self.peek().to_string();
        self.at += 1;
        text
    }

    fn eat(&mut self, word: &str) -> bool {
        let hit = self.peek() == word;
        self.at += usize::from(hit);
        hit
    }

    fn expect(&mut self, word: &str) -> Parsed<()> {
        if self.eat(word) {
            return Ok(());
        }
        self.fault(self.line(), format!("expected `{word}`, found `{}`", self.peek()))
    }

    fn number(&mut self) -> Parsed<i64> {
        let line = self.line();
        let negative = self.eat("-");
        let word = self.next();
        match integer(&word) {
            Some(value) => Ok(if negative { (value as i64).wrapping_neg() } else { value as i64 }),
            None => self.fault(line, format!("expected a number, found `{word}`")),
        }
    }

    fn module(&mut self) -> Parsed<Program> {
        while self.at < self.tokens.len() {
            let line = self.line();
            let word = self.next();
            match word.as_str() {
                ".version" => drop(self.next()),
                ".target" => {
                    let word = self.next();
                    let digits: String = word.chars().filter(char::is_ascii_digit).collect();
                    self.target = digits.parse().ok();
                    if !word.starts_with("sm_") || self.target.is_none() {
                        return self.fault(line, format!("unknown target `{word}`"));
                    }
                    while self.eat(",") {
                        self.next();
                    }
                }
                ".address_size" => {
                    if self.number()? != 64 {
                        return self.fault(line, "only 64-bit addresses are modelled");
                    }
                }
                ".visible" | ".weak" => {}
                ".extern" | ".shared" => self.shared_symbol(word == ".extern", line)?,
                ".entry" => self.entry(line)?,
                _ => return self.fault(line, format!("unknown module directive `{word}`")),
            }
        }
        if self.target.is_none() {
            return self.fault(1, "no .target");
        }
        for (index, label, line, braces) in std::mem::take(&mut self.jumps) {
            let Some(&target) =
                braces.iter().rev().find_map(|b| self.labels.get(&format!("{b}:{label}")))
            else {
                return self.fault(line, format!("no label `{label}`"));
            };
            self.code[index].op = Op::Bra { target };
        }
        let Some(name) = self.name.take() else {
            return self.fault(1, "no .entry");
        };
        Ok(Program {
            name,
            code: std::mem::take(&mut self.code),
            threads: self.threads,
            entry_registers: self.entry_registers,
            param_bytes: self.params,
            shared_bytes: self.shared,
            cells: self.cells,
        })
    }

    fn entry(&mut self, line: u32) -> Parsed<()> {
        if self.name.is_some() {
            return self.fault(line, "a second .entry: one kernel a text");
        }
        self.name = Some(self.next());
        if self.eat("(") {
            while !self.eat(")") {
                self.param()?;
                self.eat(",");
            }
        }
        while self.peek().starts_with('.') {
            let word = self.next();
            if ![".maxntid", ".reqntid", ".minnctapersm", ".maxnreg"].contains(&word.as_str()) {
                return self.fault(line, format!("unknown entry directive `{word}`"));
            }
            let mut numbers = vec![self.number()? as u32];
            while self.eat(",") {
                numbers.push(self.number()? as u32);
            }
            match word.as_str() {
                ".reqntid" => self.threads = Threads::Exactly(numbers.iter().product()),
                ".maxnreg" => self.entry_registers = numbers.first().copied(),
                ".maxntid" => self.threads = Threads::AtMost(numbers.iter().product()),
                _ => {}
            }
        }
        self.expect("{")?;
        self.body()
    }

    fn param(&mut self) -> Parsed<()> {
        let line = self.line();
        self.expect(".param")?;
        let (mut align, mut ty, mut pointer) = (None, None, false);
        let mut name = self.next();
        while let Some(word) = name.strip_prefix('.') {
            match word {
                "align" if pointer => drop(self.number()?),
                "align" => align = Some(self.number()? as u32),
                "ptr" => pointer = true,
                "global" | "const" | "shared" => {}
                _ => ty = Ty::parse(word),
            }
            name = self.next();
        }
        let Some(ty) = ty else {
            return self.fault(line, "a parameter needs a type");
        };
        let mut bytes = ty.bytes();
        if self.eat("[") {
            bytes *= self.number()? as u32;
            self.expect("]")?;
        }
        let at = self.params.next_multiple_of(align.unwrap_or(ty.bytes()).max(1));
        self.params = at + bytes;
        self.scopes[0].insert(name, Name::Param(at));
        Ok(())
    }

    fn shared_symbol(&mut self, is_extern: bool, line: u32) -> Parsed<()> {
        if is_extern {
            self.expect(".shared")?;
        }
        let (mut align, mut ty) = (None, None);
        let mut name = self.next();
        while let Some(word) = name.strip_prefix('.') {
            match word {
                "align" => align = Some(self.number()? as u32),
                _ => ty = Ty::parse(word),
            }
            name = self.next();
        }
        let Some(ty) = ty else {
            return self.fault(line, "a shared variable needs a type");
        };
        let mut bytes = ty.bytes();
        if self.eat("[") {
            bytes = if self.peek() == "]" { 0 } else { bytes * self.number()? as u32 };
            self.expect("]")?;
        }
        self.expect(";")?;
        let align = align.unwrap_or(ty.bytes()).max(1);
        if is_extern {
            // Dynamic shared memory lies behind everything static, whatever the order of
            // declaration.
            let all_declared = !self.tokens[self.at..].iter().any(|t| t.text == ".shared");
            if self.extern_shared || !all_declared {
                return self.fault(
                    line,
                    "declare one .extern .shared array, behind the other .shared variables",
                );
            }
            self.extern_shared = true;
            self.shared = self.shared.next_multiple_of(align.max(16));
        }
        let at = self.shared.next_multiple_of(align);
        self.shared = at + bytes;
        let scope = self.scopes.last_mut().expect("a scope");
        if scope.insert(name, Name::Shared(SHARED_BASE + at)).is_some() {
            return self
                .fault(line, "this shared variable is declared twice: which bytes are its?");
        }
        Ok(())
    }

    fn body(&mut self) -> Parsed<()> {
        let mut depth = 1;
        self.scopes.push(HashMap::new());
        self.braces = vec![0];
        while depth > 0 {
            let line = self.line();
            let word = self.next();
            match word.as_str() {
                "{" => {
                    depth += 1;
                    self.opened += 1;
                    self.braces.push(self.opened);
                    self.scopes.push(HashMap::new());
                    self.opened += 1;
                    self.braces.push(self.opened);
                }
                "}" => {
                    depth -= 1;
                    self.braces.pop();
                    self.scopes.pop();
                    self.braces.pop();
                }
                "" => return self.fault(line, "the body does not end"),
                ".reg" => self.registers(line)?,
                ".shared" => self.shared_symbol(false, line)?,
                ".pragma" | ".loc" => {
                    while self.line() == line && self.peek() != ";" {
                        self.next();
                    }
                    self.eat(";");
                }
                _ if self.peek() == ":" && !word.starts_with('@') => {
                    self.next();
                    let scope = self.braces.last().copied().unwrap_or(0);
                    if self.labels.insert(format!("{scope}:{word}"), self.code.len()).is_some() {
                        return self.fault(line, format!("label `{word}` twice"));
                    }
                }
                _ => self.statement(word, line)?,
            }
        }
        Ok(())
    }

    fn registers(&mut self, line: u32) -> Parsed<()> {
        let word = self.next();
        let Some(ty) = word.strip_prefix('.').and_then(Ty::parse) else {
            return self.fault(line, format!("unknown register type `{word}`"));
        };
        let cells = ty.bits().div_ceil(64);
        loop {
            let name = self.next();
            let names: Vec<String> = if self.eat("<") {
                let count = self.number()?;
                self.expect(">")?;
                (0..count).map(|i| format!("{name}{i}")).collect()
            } else {
                vec![name]
            };
            for name in names {
                let reg = Reg { cell: self.cells, bits: ty.bits() };
                self.cells += cells;
                let scope = self.scopes.last_mut().expect("a scope");
                if scope.insert(name.clone(), Name::Reg(reg)).is_some() {
                    return self.fault(line, format!("register `{name}` twice"));
                }
            }
            if !self.eat(",") {
                return self.expect(";");
            }
        }
    }

    fn statement(&mut self, first: String, line: u32) -> Parsed<()> {
        let mut mnemonic = first;
        let mut guard = None;
        if mnemonic == "@" {
            let negated = self.eat("!");
            let name = self.next();
            match self.lookup(&name) {
                Some(Name::Reg(reg)) if reg.bits == 1 => {
                    guard = Some(super::op::Guard { reg, negated })
                }
                _ => return self.fault(line, format!("`{name}` is no predicate")),
            }
            mnemonic = self.next();
        }
        let mut operands = Vec::new();
        while !self.eat(";") {
            if self.at >= self.tokens.len() {
                return self.fault(line, "the statement does not end");
            }
            if !operands.is_empty() {
                self.expect(",")?;
            }
            operands.push(self.operand()?);
        }
        let op = match decode::decode(&mnemonic, &operands) {
            Ok(op) => op,
            Err(sentence) => return self.fault(line, sentence),
        };
        if let Op::Bra { .. } = op {
            if let Some(Operand::Label(label)) = operands.first() {
                self.jumps.push((self.code.len(), label.clone(), line, self.braces.clone()));
            } else {
                return self.fault(line, "a branch needs a label");
            }
        }
        self.code.push(Stmt { line, mnemonic, guard, op });
        Ok(())
    }

    fn lookup(&self, name: &str) -> Option<Name> {
        self.scopes.iter().rev().find_map(|s| s.get(name)).copied()
    }

    fn operand(&mut self) -> Parsed<Operand> {
        let line = self.line();
        if self.eat("{") {
            let mut items = Vec::new();
            while !self.eat("}") {
                if !items.is_empty() {
                    self.expect(",")?;
                }
                items.push(self.operand()?);
            }
            return Ok(Operand::Vector(items));
        }
        if self.eat("[") {
            return self.address(line);
        }
        if self.eat("!") {
            let name = self.next();
            return match self.lookup(&name) {
                Some(Name::Reg(reg)) => Ok(Operand::Negated(reg)),
                _ => self.fault(line, format!("`{name}` is no register")),
            };
        }
        if self.peek() == "-" || self.peek().starts_with(|c: char| c.is_ascii_digit()) {
            return self.literal().map(|v| Operand::Src(Src::Imm(v)));
        }
        let word = self.next();
        if self.eat("|") {
            let second = self.next();
            return match (self.lookup(&word), self.lookup(&second)) {
                (Some(Name::Reg(a)), Some(Name::Reg(b))) => Ok(Operand::Pair(a, b)),
                _ => self.fault(line, format!("`{word}|{second}` is no pair of registers")),
            };
        }
        if word == "_" {
            return Ok(Operand::Sink);
        }
        if let Some(special) = special(&word) {
            return Ok(Operand::Src(Src::Special(special)));
        }
        match self.lookup(&word) {
            Some(Name::Reg(reg)) => Ok(Operand::Src(Src::Reg(reg))),
            Some(Name::Shared(at)) => {
                let offset = if self.eat("+") { self.number()? } else { 0 };
                Ok(Operand::Src(Src::Shared(at.wrapping_add(offset as u32))))
            }
            // An address in the space of parameters; cvta.param makes a generic one of it.
            Some(Name::Param(at)) => Ok(Operand::Src(Src::Imm(at.into()))),
            None if word.starts_with('%') => {
                self.fault(line, format!("register `{word}` is not declared"))
            }
            None => Ok(Operand::Label(word)),
        }
    }

    fn literal(&mut self) -> Parsed<u64> {
        let line = self.line();
        let negative = self.eat("-");
        let word = self.next();
        let value = match (word.get(..2), word.get(2..)) {
            (Some("0f" | "0F"), Some(hex)) if hex.len() == 8 => u64::from_str_radix(hex, 16).ok(),
            (Some("0d" | "0D"), Some(hex)) if hex.len() == 16 => u64::from_str_radix(hex, 16).ok(),
            _ => integer(&word),
        };
        match value {
            Some(v) => Ok(if negative { v.wrapping_neg() } else { v }),
            None => self.fault(line, format!("unknown literal `{word}`")),
        }
    }

    fn address(&mut self, line: u32) -> Parsed<Operand> {
        let word = self.next();
        let name = self.lookup(&word);
        let literal = integer(&word);
        let mut offset = 0;
        loop {
            // ptxas knows `[%rd1+-4]`, not `[%rd1-4]`.
            if self.eat("+") {
                offset += self.number()?;
            } else if self.eat(",") {
                self.expect("{")?;
                let mut items = Vec::new();
                while !self.eat("}") {
                    if !items.is_empty() {
                        self.expect(",")?;
                    }
                    items.push(self.operand()?);
                }
                self.expect("]")?;
                return match name {
                    Some(Name::Reg(reg)) => {
                        Ok(Operand::Tensor(Addr { base: Src::Reg(reg), offset }, items))
                    }
                    _ => self.fault(
                        line,
                        format!("`{word}` is no register with a tensor map's address"),
                    ),
                };
            } else {
                self.expect("]")?;
                break;
            }
        }
        match (name, literal) {
            (Some(Name::Param(at)), _) => Ok(Operand::ParamAddr(i64::from(at) + offset)),
            (Some(Name::Reg(reg)), _) => Ok(Operand::Addr(Addr { base: Src::Reg(reg), offset })),
            (Some(Name::Shared(at)), _) => {
                Ok(Operand::Addr(Addr { base: Src::Shared(at), offset }))
            }
            (None, Some(value)) => Ok(Operand::Addr(Addr { base: Src::Imm(value), offset })),
            _ => self.fault(line, format!("`{word}` is not declared")),
        }
    }
}

fn integer(word: &str) -> Option<u64> {
    let word = word.strip_suffix('U').unwrap_or(word);
    match word.get(..2) {
        Some("0x" | "0X") => u64::from_str_radix(&word[2..], 16).ok(),
        _ => word.parse().ok(),
    }
}

fn special(word: &str) -> Option<Special> {
    let word = word.strip_prefix('%').or((word == "WARP_SZ").then_some(word))?;
    let (head, axis) = word.split_once('.').unwrap_or((word, ""));
    let axis = match axis {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    Some(match (head, axis) {
        ("tid", Some(i)) => Special::Tid(i),
        ("ntid", Some(i)) => Special::Ntid(i),
        ("ctaid", Some(i)) => Special::Ctaid(i),
        ("nctaid", Some(i)) => Special::Nctaid(i),
        ("laneid", _) => Special::LaneId,
        ("warpid", _) => Special::WarpId,
        ("nwarpid", _) => Special::NWarpId,
        ("lanemask_lt", _) => Special::LaneMask(Mask::Lt),
        ("lanemask_le", _) => Special::LaneMask(Mask::Le),
        ("lanemask_eq", _) => Special::LaneMask(Mask::Eq),
        ("lanemask_ge", _) => Special::LaneMask(Mask::Ge),
        ("lanemask_gt", _) => Special::LaneMask(Mask::Gt),
        ("WARP_SZ", _) => Special::WarpSize,
        _ => return None,
    })
}
