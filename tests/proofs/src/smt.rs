//! The claim in SMT-LIB (QF_BV), and z3.
use crate::Refusal;
use crate::formula::{Formula, Node};
use lanebook_tables::{CondArg, IndexOp, Word};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Seconds for one rule.
const SECONDS: u32 = 120;

struct Writer<'a> {
    formula: &'a Formula,
    /// What must hold for everything written so far to have a value.
    defined: Vec<String>,
}

impl Writer<'_> {
    fn slot(&self, slot: u8) -> String {
        format!("s{slot}")
    }
    fn number(value: u64, width: u8) -> String {
        let value = if width == 32 { u64::from(value as u32) } else { value };
        format!("(_ bv{value} {width})")
    }
    /// A term; conditions for its value are collected.
    fn term(&mut self, node: &Node) -> String {
        match node {
            Node::Slot(slot) => self.slot(*slot),
            Node::Const(value, width) => Self::number(*value, *width),
            Node::High32(arg) => format!("((_ extract 63 32) {})", self.term(arg)),
            Node::Low32(arg) => format!("((_ extract 31 0) {})", self.term(arg)),
            Node::TrailingZeros(arg) => {
                let arg = self.term(arg);
                self.defined.push(format!("(not (= {arg} (_ bv0 32)))"));
                (0..32).rev().fold("(_ bv32 32)".to_string(), |rest, bit| {
                    format!("(ite (= ((_ extract {bit} {bit}) {arg}) #b1) (_ bv{bit} 32) {rest})")
                })
            }
            Node::Lut3(table, args) => {
                let args: Vec<String> = args.iter().map(|arg| self.term(arg)).collect();
                let mut out = "(_ bv0 32)".to_string();
                for row in (0..8).filter(|row| table >> row & 1 == 1) {
                    let minterm = (0..3).map(|at| {
                        if row >> (2 - at) & 1 == 1 {
                            args[at].clone()
                        } else {
                            format!("(bvnot {})", args[at])
                        }
                    });
                    let minterm =
                        minterm.reduce(|a, b| format!("(bvand {a} {b})")).unwrap_or_default();
                    out = format!("(bvor {out} {minterm})");
                }
                out
            }
            Node::Op(op, args) => {
                let args: Vec<String> = args.iter().map(|arg| self.term(arg)).collect();
                let a = &args[0];
                let b = args.get(1).map_or("", String::as_str);
                match op {
                    IndexOp::Add | IndexOp::Add64 => format!("(bvadd {a} {b})"),
                    IndexOp::Sub => format!("(bvsub {a} {b})"),
                    IndexOp::Mul => format!("(bvmul {a} {b})"),
                    IndexOp::And => format!("(bvand {a} {b})"),
                    IndexOp::Or => format!("(bvor {a} {b})"),
                    IndexOp::Xor => format!("(bvxor {a} {b})"),
                    IndexOp::Shl | IndexOp::Shr => {
                        self.defined.push(format!("(bvult {b} (_ bv32 32))"));
                        format!(
                            "({} {a} {b})",
                            if *op == IndexOp::Shl { "bvshl" } else { "bvlshr" }
                        )
                    }
                    IndexOp::Shl64 => {
                        self.defined.push(format!("(bvult {b} (_ bv64 32))"));
                        format!("(bvshl {a} ((_ zero_extend 32) {b}))")
                    }
                    IndexOp::Extend64 => format!("((_ zero_extend 32) {a})"),
                    IndexOp::MulWide64 => {
                        format!("(bvmul ((_ zero_extend 32) {a}) ((_ zero_extend 32) {b}))")
                    }
                }
            }
        }
    }
    fn argument(&self, arg: &CondArg, width: u8) -> String {
        match arg {
            CondArg::Slot(slot) => self.slot(*slot),
            CondArg::Const(value) => Self::number(value.get() as u64, width),
        }
    }
    /// A condition about values.
    fn condition(&self, word: Word, args: &[CondArg]) -> Option<String> {
        let width = args.iter().find_map(|arg| match arg {
            CondArg::Slot(slot) => {
                self.formula.slots.get(usize::from(*slot)).map(|slot| slot.width)
            }
            CondArg::Const(_) => None,
        });
        let width = width.unwrap_or(32);
        let text: Vec<String> = args.iter().map(|arg| self.argument(arg, width)).collect();
        let (zero, one) = (Self::number(0, width), Self::number(1, width));
        let at = |number: usize| text.get(number).map_or("", String::as_str);
        let (a, b) = (at(0), at(1));
        Some(match word {
            Word::PowerOfTwo => {
                format!("(and (not (= {a} {zero})) (= (bvand {a} (bvsub {a} {one})) {zero}))")
            }
            Word::LowMask => {
                format!("(and (not (= {a} {zero})) (= (bvand {a} (bvadd {a} {one})) {zero}))")
            }
            Word::Disjoint => format!("(= (bvand {a} {b}) {zero})"),
            Word::Covers => format!("(= (bvand {b} (bvnot {a})) {zero})"),
            Word::Below | Word::Less => format!("(bvult {a} {b})"),
            Word::Fits => format!("(and (bvsge {a} {b}) (bvsle {a} {}))", at(2)),
            Word::Equal => format!("(= {a} {b})"),
            Word::NoCarry => format!("(bvuge (bvadd {a} {b}) {a})"),
            _ => return None,
        })
    }
}

/// The negated claim: satisfiable exactly if the rule is wrong.
#[must_use]
pub fn script(formula: &Formula) -> String {
    let mut out = String::from("(set-logic QF_BV)\n");
    for (number, slot) in formula.slots.iter().enumerate() {
        let _ =
            writeln!(out, "(declare-const s{number} (_ BitVec {})) ; {}", slot.width, slot.name);
    }
    let mut writer = Writer { formula, defined: Vec::new() };
    let left = writer.term(&formula.left);
    for (slot, term) in formula.parts.iter().chain(&formula.lets) {
        let text = writer.term(term);
        let _ = writeln!(out, "(assert (= s{slot} {text}))");
    }
    for given in std::mem::take(&mut writer.defined) {
        let _ = writeln!(out, "(assert {given})");
    }
    for (word, args) in &formula.conditions {
        if let Some(condition) = writer.condition(*word, args) {
            let _ = writeln!(out, "(assert {condition})");
        }
    }
    let right = writer.term(&formula.right);
    let mut claim = format!("(= {left} {right})");
    for needed in &writer.defined {
        claim = format!("(and {claim} {needed})");
    }
    let _ = writeln!(out, "(assert (not {claim}))\n(check-sat)");
    let names: Vec<String> = (0..formula.slots.len()).map(|number| format!("s{number}")).collect();
    let _ = writeln!(out, "(get-value ({}))", names.join(" "));
    out
}

/// Asks z3.
///
/// # Errors
/// A counter-example, no answer, no solver.
pub fn prove(formula: &Formula) -> Result<(), Refusal> {
    let failed = |error: std::io::Error| Refusal::NoSolver(error.to_string());
    let mut child = Command::new("z3")
        .args(["-in", "-smt2", &format!("-T:{SECONDS}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(script(formula).as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().next().map(str::trim) {
        Some("unsat") => Ok(()),
        Some("sat") => Err(Refusal::Counterexample(values(&text, formula))),
        _ => Err(Refusal::Unknown(text.trim().to_string())),
    }
}

/// The solver's `((s0 #x0000002a) ...)`.
fn values(text: &str, formula: &Formula) -> Vec<(String, u64)> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c == '(' || c == ')')
        .filter(|word| !word.is_empty())
        .collect();
    let mut out = Vec::new();
    for pair in words.windows(2) {
        let slot = pair[0]
            .strip_prefix('s')
            .and_then(|number| number.parse::<usize>().ok())
            .and_then(|number| formula.slots.get(number));
        let value = pair[1]
            .strip_prefix("#x")
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .or_else(|| {
                pair[1].strip_prefix("#b").and_then(|digits| u64::from_str_radix(digits, 2).ok())
            });
        if let (Some(slot), Some(value)) = (slot, value) {
            out.push((slot.name.clone(), value));
        }
    }
    out
}
