//! Loops whose indices go round: any other program, whose loops carry what they count, or go on
//! while it is below their bound.

use super::branches::branches;
use super::generate::Generator;
use super::kinds::{carried, data_flow, gemm};
use super::program::{Loop, Program};
use super::turns::turns;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::hash::{Hash, Hasher};

/// The name of the kind, whose loops are written as [`recurrent`] has them.
pub(super) const RECURRENCES: &str = "recurrences";

pub(super) fn recurrences(g: &mut Generator) {
    let make: [fn(&mut Generator); 5] = [turns, turns, carried, gemm, branches];
    let make = if g.choices.once_in(6) { data_flow } else { g.choices.of(&make) };
    make(g);
}

/// A loop in another form; `false` where it stays as it is.
pub(super) fn recurrent(program: &Program, l: &Loop, depth: usize, out: &mut String) -> bool {
    let mut hasher = DefaultHasher::new();
    (&l.counter, &l.from, &l.to, l.step).hash(&mut hasher);
    let chance = hasher.finish();
    match chance % 4 {
        0 => false,
        1 if l.stages == 1 => {
            goes_on(program, l, depth, chance, out);
            true
        }
        _ => {
            counts(program, l, depth, chance, out);
            true
        }
    }
}

fn joined(list: impl Iterator<Item = String>) -> String {
    list.collect::<Vec<_>>().join(", ")
}

/// The counter goes round, and another index beside it; something else counts.
fn counts(program: &Program, l: &Loop, depth: usize, chance: u64, out: &mut String) {
    let own = l.counter.trim_start_matches('%');
    let (other, next) = (format!("%o{own}"), format!("%q{own}"));
    // The counter of the loop may go another way, as often.
    let backwards = (chance / 4).is_multiple_of(3);
    let modulus = 1 + chance / 16 % 5;
    let head = joined(
        l.carried
            .iter()
            .map(|c| format!("%v{}", c.result))
            .chain([format!("%e{own}"), format!("%d{own}")]),
    );
    let init = joined(
        l.carried
            .iter()
            .map(|c| format!("%v{} = %v{}", c.inside, c.start))
            .chain([format!("{} = {}", l.counter, l.from), format!("{other} = 0")]),
    );
    let types = joined(
        l.carried
            .iter()
            .map(|c| program.registers(c.result))
            .chain(["index", "index"].map(String::from)),
    );
    let pad = depth * 2;
    let stages = match l.stages {
        1 => String::new(),
        n => format!("{{num_stages = {n}}} "),
    };
    let _ = writeln!(
        out,
        "{head} = scf.for %z{own} = {} to {} step {} iter_args({init}) -> ({types}) {stages}{{",
        l.from, l.to, l.step
    );
    program.block(&l.body, depth + 1, out);
    let pad = pad + 2;
    let _ = writeln!(out, "{:pad$}{next} = index.add {}, {} : index", "", l.counter, l.step);
    // What goes another way is read by nobody but what is told of it.
    let (word, by) = if backwards { ("sub", 3) } else { ("add", 1) };
    let _ = writeln!(out, "{:pad$}%y{own} = index.{word} {other}, {by} : index", "");
    let rest = if backwards { format!("%y{own}") } else { format!("%x{own}") };
    if !backwards {
        let _ = writeln!(out, "{:pad$}{rest} = index.rem %y{own}, {modulus} : index", "");
    }
    let yielded = joined(l.carried.iter().map(|c| format!("%v{}", c.yielded)).chain([next, rest]));
    let _ = writeln!(out, "{:pad$}scf.yield {yielded} : {types}", "");
    let _ = writeln!(out, "{:1$}}}", "", depth * 2);
}

/// The loop goes on while the counter is below its bound.
fn goes_on(program: &Program, l: &Loop, depth: usize, chance: u64, out: &mut String) {
    let own = l.counter.trim_start_matches('%');
    let before = |id: usize| format!("%b{own}_{id}");
    let head = joined(
        [format!("%e{own}")].into_iter().chain(l.carried.iter().map(|c| format!("%v{}", c.result))),
    );
    let init = joined(
        [format!("%b{own} = {}", l.from)]
            .into_iter()
            .chain(l.carried.iter().map(|c| format!("{} = %v{}", before(c.inside), c.start))),
    );
    let types = joined(
        ["index".to_string()]
            .into_iter()
            .chain(l.carried.iter().map(|c| program.registers(c.result))),
    );
    let passed =
        joined([format!("%b{own}")].into_iter().chain(l.carried.iter().map(|c| before(c.inside))));
    let arguments = joined([format!("{}: index", l.counter)].into_iter().chain(
        l.carried.iter().map(|c| format!("%v{}: {}", c.inside, program.registers(c.result))),
    ));
    let yielded = joined(
        [format!("%q{own}")]
            .into_iter()
            .chain(l.carried.iter().map(|c| format!("%v{}", c.yielded))),
    );
    let (outer, inner) = (depth * 2, depth * 2 + 2);
    let test = match chance / 4 % 2 {
        0 => format!("slt, %b{own}, {}", l.to),
        _ => format!("sgt, {}, %b{own}", l.to),
    };
    let _ = writeln!(out, "{head} = scf.while ({init}) : ({types}) -> ({types}) {{");
    let _ = writeln!(out, "{:inner$}%t{own} = index.cmp {test} : index", "");
    let _ = writeln!(out, "{:inner$}scf.condition(%t{own}) {passed} : {types}", "");
    let _ = writeln!(out, "{:outer$}}} do {{", "");
    let _ = writeln!(out, "{:outer$}^bb0({arguments}):", "");
    program.block(&l.body, depth + 1, out);
    let _ = writeln!(out, "{:inner$}%q{own} = index.add {}, {} : index", "", l.counter, l.step);
    let _ = writeln!(out, "{:inner$}scf.yield {yielded} : {types}", "");
    let _ = writeln!(out, "{:outer$}}}", "");
}
