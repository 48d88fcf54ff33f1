//! A search for the shortest sequence that computes a map from a thread's number to an address.
//!
//! The solver z3 is asked for instructions, their arguments and constants at once, on a few inputs;
//! what it answers is run on all inputs by the instructions' meanings, and an input for which it is
//! wrong joins the few. An instruction reads at most two computed values: what reads three is
//! searched with a number in the place of one.
use crate::machine::{Recorder, Registers, run};
use lanebook::expr::{Arg, InstSink, Reg};
use lanebook_tables::{Arch, Atom, AtomId, ClassId, IndexOp, Tables, TermNode};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Bits of a word in the search.
const BITS: u32 = 32;

/// An instruction as the search may use it.
#[derive(Copy, Clone, Debug)]
pub struct Form {
    /// The atom's name.
    pub atom: &'static str,
    /// Its arguments after the result: `a`, `b` a value; `k`, `q` a number; `s` a distance of a
    /// shift; `m` a low mask's length; a digit or more: that number.
    pub args: &'static [&'static str],
}

/// What is searched.
pub struct Goal<'a> {
    /// The tables.
    pub tables: &'a Tables<'a>,
    /// The architecture's data.
    pub arch: &'a Arch<'a>,
    /// The instructions.
    pub forms: &'a [Form],
    /// Bits of the thread's number.
    pub inputs: u32,
    /// The address.
    pub wanted: &'a dyn Fn(u32) -> u32,
    /// Whether a last instruction adds the buffer's base to the value, shifted as it likes.
    pub base: bool,
    /// Steps that the solver may take for one question.
    pub effort: u64,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A sequence, right for all inputs, as text; the instruction that adds the base is left out.
    Sequence(String),
    /// There is none of these instructions.
    Nothing,
    /// The solver gave up.
    Unknown,
}

/// Searches for a sequence of so many instructions, the one that adds the base among them.
///
/// # Panics
/// No solver, or a form whose atom is not there.
#[must_use]
pub fn search(goal: &Goal<'_>, instructions: usize) -> Found {
    let free = instructions - usize::from(goal.base);
    let mut inputs: Vec<u32> = (0..goal.inputs).map(|bit| 1 << bit).collect();
    inputs.push((1 << goal.inputs) - 1);
    let forms: Vec<(Form, AtomId)> =
        goal.forms.iter().map(|form| (*form, atom(goal, form))).collect();
    while inputs.len() < 64 {
        let text = script(goal, &forms, free, &inputs);
        let answer = ask(&text, goal.effort);
        let values = match answer.lines().next().map(str::trim) {
            Some("sat") => numbers(&answer),
            Some("unsat") => return Found::Nothing,
            Some("unknown") => return Found::Unknown,
            other => panic!("z3: {other:?}"),
        };
        let recorder = rebuild(&forms, free, &values);
        match wrong_input(goal, &recorder, free, &values) {
            None => return Found::Sequence(recorder.text(goal.tables)),
            Some(input) => inputs.push(input),
        }
    }
    Found::Unknown
}

fn atom(goal: &Goal<'_>, form: &Form) -> AtomId {
    let named = |id: AtomId| goal.tables.atom(id).is_some_and(|atom| atom.name() == form.atom);
    let own = goal.arch.atoms.iter().find(|own| named(own.atom));
    own.unwrap_or_else(|| panic!("{} has no {}", goal.arch.name, form.atom)).atom
}

/// A question as SMT-LIB.
fn script(goal: &Goal<'_>, forms: &[(Form, AtomId)], free: usize, inputs: &[u32]) -> String {
    let mut out = String::from("(set-logic QF_BV)\n");
    for at in 0..free {
        let _ = writeln!(
            out,
            "(declare-const o{at} (_ BitVec 5))(assert (bvult o{at} (_ bv{} 5)))",
            forms.len()
        );
        for name in ["a", "b"] {
            let _ = writeln!(
                out,
                "(declare-const {name}{at} (_ BitVec 3))(assert (bvule {name}{at} (_ bv{at} 3)))"
            );
        }
        for name in ["k", "q", "s", "m"] {
            let _ = writeln!(out, "(declare-const {name}{at} (_ BitVec {BITS}))");
        }
        for name in ["s", "m"] {
            let _ = writeln!(
                out,
                "(assert (bvult {name}{at} {}))(assert (not (= {name}{at} {})))",
                word(BITS),
                word(0)
            );
        }
        for (number, (form, id)) in forms.iter().enumerate() {
            for limit in limits(goal, form, *id, at) {
                let _ = writeln!(out, "(assert (=> (= o{at} (_ bv{number} 5)) {limit}))");
            }
        }
    }
    for at in 0..free {
        // What is computed is read.
        let readers = (at + 1..free).flat_map(|later| {
            ["a", "b"].map(|name| format!("(= {name}{later} (_ bv{} 3))", at + 1))
        });
        if at + 1 < free {
            let _ = writeln!(out, "(assert (or {}))", readers.collect::<Vec<_>>().join(" "));
        }
    }
    if goal.base {
        let _ = writeln!(
            out,
            "(declare-const last (_ BitVec {BITS}))(assert (bvult last {}))",
            word(5)
        );
    }
    for (example, input) in inputs.iter().enumerate() {
        for at in 0..free {
            for name in ["a", "b"] {
                let mut chosen = word(*input);
                for earlier in 1..=at {
                    chosen = format!(
                        "(ite (= {name}{at} (_ bv{earlier} 3)) v{}_{example} {chosen})",
                        earlier - 1
                    );
                }
                let _ = writeln!(
                    out,
                    "(define-fun {name}{at}_{example} () (_ BitVec {BITS}) {chosen})"
                );
            }
            let mut value = String::new();
            for (number, (form, id)) in forms.iter().enumerate() {
                let args: Vec<String> =
                    form.args.iter().map(|arg| argument(arg, at, Some(example))).collect();
                let atom = goal.tables.atom(*id).expect("atom exists");
                let means = meaning(&mut atom.means.iter(), &args);
                value = match number {
                    0 => means,
                    _ => format!("(ite (= o{at} (_ bv{number} 5)) {means} {value})"),
                };
            }
            let _ = writeln!(out, "(define-fun v{at}_{example} () (_ BitVec {BITS}) {value})");
        }
        let end = format!("v{}_{example}", free - 1);
        let end = if goal.base { format!("(bvshl {end} last)") } else { end };
        let _ = writeln!(out, "(assert (= {end} {}))", word((goal.wanted)(*input)));
    }
    let all =
        (0..free).flat_map(|at| ["o", "a", "b", "k", "q", "s", "m"].map(|n| format!("{n}{at}")));
    let all = all.chain(goal.base.then(|| "last".to_string())).collect::<Vec<_>>().join(" ");
    let _ = writeln!(out, "(check-sat)\n(get-value ({all}))");
    out
}

fn word(value: u32) -> String {
    format!("(_ bv{value} {BITS})")
}

fn argument(arg: &str, at: usize, example: Option<usize>) -> String {
    match (arg, example) {
        ("a" | "b", Some(example)) => format!("{arg}{at}_{example}"),
        ("a" | "b" | "k" | "q" | "s" | "m", _) => format!("{arg}{at}"),
        (number, _) => number.to_string(),
    }
}

/// Numbers that the operands of a form take: as the architecture's tables say.
fn limits(goal: &Goal<'_>, form: &Form, id: AtomId, at: usize) -> Vec<String> {
    let atom: &Atom<'_> = goal.tables.atom(id).expect("atom exists");
    let (low, high) = goal.arch.inline_integers;
    let operands = atom.operands.iter().skip(1).zip(form.args);
    let short = operands.filter(|(operand, arg)| {
        ["k", "q"].contains(arg) && goal.arch.scalar_reads > 0 && operand.range.1 < 1 << 20
    });
    short
        .map(|(_, arg)| {
            let bound = |value: i32| word(value as u32);
            format!("(and (bvsle {} {arg}{at}) (bvsle {arg}{at} {}))", bound(low), bound(high))
        })
        .collect()
}

/// A meaning in SMT-LIB, in words of [`BITS`].
fn meaning<'a>(nodes: &mut impl Iterator<Item = &'a TermNode>, args: &[String]) -> String {
    match nodes.next().expect("a whole term") {
        TermNode::Operand(number) => args[usize::from(*number) - 1].clone(),
        TermNode::Const(value) => word(*value as u32),
        TermNode::Op(op, arity) => {
            let args: Vec<String> = (0..*arity).map(|_| meaning(nodes, args)).collect();
            let name = match op {
                IndexOp::Add => "bvadd",
                IndexOp::Sub => "bvsub",
                IndexOp::Mul => "bvmul",
                IndexOp::And => "bvand",
                IndexOp::Or => "bvor",
                IndexOp::Xor => "bvxor",
                IndexOp::Shl => "bvshl",
                IndexOp::Shr => "bvlshr",
                other => panic!("{other:?} is none of 32 bits"),
            };
            format!("({name} {})", args.join(" "))
        }
        TermNode::Lut3(table) => {
            let table: u32 = args[usize::from(*table) - 1].parse().expect("a table is a number");
            let words = [(); 3].map(|()| meaning(nodes, args));
            let rows = (0..8).filter(|row| table >> row & 1 == 1).map(|row| {
                let bits = (0..3).map(|at| match row >> (2 - at) & 1 {
                    1 => words[at].clone(),
                    _ => format!("(bvnot {})", words[at]),
                });
                format!("(bvand {})", bits.collect::<Vec<_>>().join(" "))
            });
            format!("(bvor {} {})", word(0), rows.collect::<Vec<_>>().join(" "))
        }
        TermNode::BytePermute => panic!("byte permutations do not occur in addresses"),
    }
}

/// z3's answer.
fn ask(script: &str, effort: u64) -> String {
    let mut child = Command::new("z3")
        .args(["-in", "-smt2", &format!("rlimit={effort}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("cannot run z3: {e}; install it (apt-get install z3)"));
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(script.as_bytes()).expect("z3 reads");
    drop(input);
    let output = child.wait_with_output().expect("z3 ends");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// `((o0 #b00010) (k0 #x0070) ...)`.
fn numbers(answer: &str) -> std::collections::BTreeMap<String, u32> {
    let pairs = answer.split('(').filter_map(|pair| {
        let (name, value) = pair.trim().trim_end_matches(')').split_once(' ')?;
        let value = value.trim().trim_end_matches(')');
        let value = match (value.strip_prefix("#x"), value.strip_prefix("#b")) {
            (Some(digits), _) => u32::from_str_radix(digits, 16).ok()?,
            (_, Some(digits)) => u32::from_str_radix(digits, 2).ok()?,
            _ => return None,
        };
        Some((name.to_string(), value))
    });
    pairs.collect()
}

/// The sequence: value v is register v, the thread's number register 0.
fn rebuild(
    forms: &[(Form, AtomId)],
    free: usize,
    values: &std::collections::BTreeMap<String, u32>,
) -> Recorder {
    let class = ClassId(0);
    let register = |number: u32| Reg { class, first: number as u16, count: 1 };
    let mut recorder = Recorder::new(&[Some(register(0))]);
    for at in 0..free {
        let (form, id) = &forms[values[&format!("o{at}")] as usize];
        let result = recorder.fresh(class, 1).expect("room");
        let mut args = vec![Arg::Reg(result)];
        args.extend(form.args.iter().map(|arg| match *arg {
            "a" | "b" => Arg::Reg(register(values[&format!("{arg}{at}")])),
            // A number above the half is one below 0, which operands with few numbers take.
            "k" | "q" => Arg::Imm(i64::from(values[&format!("{arg}{at}")] as i32)),
            "s" | "m" => Arg::Imm(i64::from(values[&format!("{arg}{at}")])),
            number => Arg::Imm(number.parse().expect("a number")),
        }));
        recorder.push(*id, &args).expect("room");
    }
    recorder
}

/// An input for which the sequence is wrong, in words of 32 bits.
fn wrong_input(
    goal: &Goal<'_>,
    recorder: &Recorder,
    free: usize,
    values: &std::collections::BTreeMap<String, u32>,
) -> Option<u32> {
    let last = if goal.base { values["last"] } else { 0 };
    (0..1u32 << goal.inputs).find(|input| {
        let mut registers = Registers::from([(0, u64::from(*input))]);
        run(goal.tables, &recorder.steps, &mut registers);
        let value = registers[&(free as u16)] as u32;
        value.checked_shl(last) != Some((goal.wanted)(*input))
    })
}
