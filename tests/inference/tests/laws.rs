//! Index maps against the expressions that they were made of, at every point.

use lanebook_infer::Inference;
use lanebook_infer::{BaseId, FormArena, IndexForm, MachineFigures, Tape, Threads, VarRole};
use lanebook_inference_tests::expr;
use lanebook_inference_tests::random::Random;
use lanebook_layout::{Swizzle, Unit};
use lanebook_report::memory::LoopMemory;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};

const NAMES: [&str; 3] = ["i", "j", "k"];

/// No law asks for memory.
const MACHINE: MachineFigures = MachineFigures { wave: 32, access_bits: 128, sector_bytes: 32 };

/// The variables' values at a point.
fn named(point: &[i64]) -> impl Fn(&str) -> Option<i64> {
    move |name| NAMES.iter().zip(point).find(|(n, _)| **n == name).map(|(_, x)| *x)
}

/// A random expression that is never negative.
fn expression(r: &mut Random, depth: u32) -> Value {
    if depth == 0 || r.below(5) == 0 {
        return if r.below(4) == 0 { json!(r.below(9)) } else { json!(r.pick(&NAMES)) };
    }
    let a = expression(r, depth - 1);
    match r.below(9) {
        0 | 1 => json!(["+", a, expression(r, depth - 1)]),
        2 => json!(["*", a, r.pick(&[2, 3, 4, 7, 8, 14, 16])]),
        3 | 4 => json!(["//", a, r.pick(&[2, 3, 4, 5, 8, 14, 16])]),
        5 | 6 => json!(["%", a, r.pick(&[2, 3, 4, 6, 8, 14, 32])]),
        7 => json!(["^", a, expression(r, depth - 1)]),
        _ => json!([r.pick(&["min", "max", "band", "bor"]), a, expression(r, depth - 1)]),
    }
}

/// Variables of random extents, by name.
fn variables(arena: &mut FormArena<'_>, r: &mut Random) -> Vec<(BaseId, u32)> {
    let extents = NAMES.map(|_| *r.pick(&[1, 2, 3, 4, 6, 8, 14, 16]));
    let var = |e: &u32| (arena.var(*e, VarRole::Loop).expect("room"), *e);
    extents.iter().map(var).collect()
}

fn forms(arena: &mut FormArena<'_>, vars: &[(BaseId, u32)]) -> HashMap<String, IndexForm> {
    let pairs = NAMES.iter().zip(vars);
    pairs.map(|(n, v)| ((*n).to_owned(), arena.whole(v.0).expect("room"))).collect()
}

/// Calls `at` with every point.
fn every_point(vars: &[(BaseId, u32)], mut at: impl FnMut(&[i64])) {
    let total: u32 = vars.iter().map(|v| v.1).product();
    for flat in 0..total {
        let mut rest = flat;
        let mut point = Vec::new();
        for (_, extent) in vars {
            point.push(i64::from(rest % extent));
            rest /= extent;
        }
        at(&point);
    }
}

fn put(tape: &mut Tape, vars: &[(BaseId, u32)], point: &[i64]) {
    for ((id, _), x) in vars.iter().zip(point) {
        tape.set(*id, *x);
    }
}

#[test]
fn a_map_is_its_expression_at_every_point() {
    let mut memory = LoopMemory::default();
    let mut inference = Inference::new(memory.parts().inference, MACHINE);
    let arena = &mut inference.arena;
    let mut r = Random(0x1234_5678_9abc_def1);
    let mut structural = 0;
    for _ in 0..4000 {
        let mark = arena.mark();
        let vars = variables(arena, &mut r);
        let names = forms(arena, &vars);
        let e = expression(&mut r, 4);
        let form = expr::form(arena, &e, &names).expect("a map");
        let (low, high) = arena.range(form).expect("a range");
        let mut tape = Tape::new(arena, &[form]).expect("a tape");
        every_point(&vars, |point| {
            put(&mut tape, &vars, point);
            tape.derive(arena).expect("values");
            let found = tape.value(arena, form).expect("a value");
            let known = named(point);
            assert_eq!(
                found,
                expr::value(&e, &known).expect("a value"),
                "{e} at {point:?} of {vars:?}"
            );
            assert!(low <= found && found <= high, "{e} at {point:?}: {found} of {low}..={high}");
        });
        structural += u32::from(!arena.is_derived(form).expect("bases"));
        arena.release(mark);
    }
    assert!(structural > 2500, "only {structural} maps are sums of digits");
}

#[test]
fn substitution_is_composition() {
    let mut memory = LoopMemory::default();
    let mut inference = Inference::new(memory.parts().inference, MACHINE);
    let arena = &mut inference.arena;
    let mut r = Random(0x0dd_ba11);
    for _ in 0..1500 {
        let mark = arena.mark();
        let outer = variables(arena, &mut r);
        let inner = variables(arena, &mut r);
        let (outer_names, inner_names) = (forms(arena, &outer), forms(arena, &inner));
        let e = expression(&mut r, 3);
        let form = expr::form(arena, &e, &outer_names).expect("a map");
        let mut map = Vec::new();
        for (id, extent) in &outer {
            let within = expression(&mut r, 2);
            let plain = expr::form(arena, &within, &inner_names).expect("a map");
            map.push((*id, arena.div_rem(plain, i64::from(*extent)).expect("a remainder").1));
        }
        let composed = arena.substitute(form, &map).expect("a composition");
        let mut all = vec![form, composed];
        all.extend(map.iter().map(|m| m.1));
        let mut tape = Tape::new(arena, &all).expect("a tape");
        every_point(&inner, |point| {
            put(&mut tape, &inner, point);
            tape.derive(arena).expect("values");
            let found = tape.value(arena, composed).expect("a value");
            let parts: Vec<i64> =
                map.iter().map(|m| tape.value(arena, m.1).expect("a value")).collect();
            let known = named(&parts);
            assert_eq!(
                found,
                expr::value(&e, &known).expect("a value"),
                "{e} with {map:?} at {point:?}"
            );
        });
        arena.release(mark);
    }
}

#[test]
fn what_is_solved_is_the_point() {
    let mut memory = LoopMemory::default();
    let mut inference = Inference::new(memory.parts().inference, MACHINE);
    let arena = &mut inference.arena;
    let mut r = Random(0xfeed_f00d);
    let (mut whole, mut injective) = (0, 0);
    for _ in 0..3000 {
        let mark = arena.mark();
        let vars = variables(arena, &mut r);
        let names = forms(arena, &vars);
        let ids: Vec<BaseId> = vars.iter().map(|v| v.0).collect();
        let (mut equations, mut written) = (Vec::new(), Vec::new());
        for _ in 0..2 + r.below(2) {
            let e = expression(&mut r, 3);
            let form = expr::form(arena, &e, &names).expect("a map");
            let (_, high) = arena.range(form).expect("a range");
            let extent = u32::try_from(high.max(0) + 1).expect("small");
            let output = arena.var(extent, VarRole::Output).expect("room");
            equations.push((arena.whole(output).expect("room"), form, output));
            written.push(e.to_string());
        }
        let pairs: Vec<(IndexForm, IndexForm)> = equations.iter().map(|e| (e.0, e.1)).collect();
        let mut solved = lanebook_infer::Solution::default();
        arena.solve(&pairs, &ids, &mut solved).expect("a solution");
        whole += u32::from(solved.free.is_empty());
        // Points with the same outputs must agree in what is not free; with its values put in for
        // the free digits each point must come back.
        let mut all: Vec<IndexForm> = equations.iter().map(|e| e.1).collect();
        all.extend(solved.vars.iter().map(|v| v.1));
        for f in &solved.free {
            all.push(arena.digit(f.digit).expect("room"));
        }
        let mut tape = Tape::new(arena, &all).expect("a tape");
        let mut images = BTreeSet::new();
        let mut apart = true;
        every_point(&vars, |point| {
            put(&mut tape, &vars, point);
            tape.derive(arena).expect("values");
            let mut image = Vec::new();
            for (_, form, output) in &equations {
                let value = tape.value(arena, *form).expect("a value");
                tape.set(*output, value);
                image.push(value);
            }
            apart &= images.insert(image);
            tape.derive(arena).expect("values");
            for f in &solved.free {
                let at = all.len() - solved.free.len();
                let k = solved.free.iter().position(|g| g.var == f.var).expect("itself");
                let value = tape.value(arena, all[at + k]).expect("a digit");
                tape.set(f.var, value);
                tape.derive(arena).expect("values");
            }
            for ((id, form), (var, x)) in solved.vars.iter().zip(ids.iter().zip(point)) {
                assert_eq!(id, var);
                let found = tape.value(arena, *form).expect("a value");
                assert_eq!(found, *x, "{written:?} at {point:?} of {vars:?}");
            }
        });
        // What structure solves is injective; of what is injective it solves most.
        assert!(apart || !solved.free.is_empty(), "{written:?} of {vars:?}");
        injective += u32::from(apart);
        arena.release(mark);
    }
    assert!(whole * 2 > injective && injective > 100, "{whole} solved of {injective}");
}

#[test]
fn containment_is_that_of_the_points() {
    let mut memory = LoopMemory::default();
    let mut inference = Inference::new(memory.parts().inference, MACHINE);
    let arena = &mut inference.arena;
    let mut r = Random(0xc0de);
    let mut seen = [0u32; 2];
    for _ in 0..3000 {
        let mark = arena.mark();
        let vars = variables(arena, &mut r);
        let names = forms(arena, &vars);
        let mut sides = Vec::new();
        let base = expression(&mut r, 3);
        for _ in 0..2 {
            let copies = *r.pick(&[1u32, 2, 4, 8, 12]);
            let copy = arena.var(copies, VarRole::Copy).expect("room");
            let mut own = names.clone();
            own.insert("c".into(), arena.whole(copy).expect("room"));
            let more = json!(["*", "c", r.pick(&[1, 2, 4, 8, 16])]);
            let e = if r.below(3) == 0 { expression(&mut r, 2) } else { base.clone() };
            let sum = json!(["+", ["%", e, 64], more]);
            let map = expr::form(arena, &sum, &own).expect("a map");
            sides.push((Threads { map, copy }, copies));
        }
        let found = arena.contains(sides[0].0, sides[1].0).expect("an answer");
        let mut tape = Tape::new(arena, &[sides[0].0.map, sides[1].0.map]).expect("a tape");
        let mut truth = true;
        every_point(&vars, |point| {
            put(&mut tape, &vars, point);
            let mut sets = Vec::new();
            for (side, copies) in &sides {
                let mut set = BTreeSet::new();
                for c in 0..*copies {
                    tape.set(side.copy, i64::from(c));
                    tape.derive(arena).expect("values");
                    set.insert(tape.value(arena, side.map).expect("a thread"));
                }
                sets.push(set);
            }
            truth &= sets[0].is_subset(&sets[1]);
        });
        assert_eq!(found, truth, "{sides:?} of {vars:?}");
        seen[usize::from(truth)] += 1;
        arena.release(mark);
    }
    assert!(seen.iter().all(|n| *n > 200), "{seen:?}");
}

/// Vectors of a loop's row-major points on threads in turn: whatever the extents, the thread and the
/// slot tell the point. Most do where the slot is a quotient of another sum.
#[test]
fn plans_have_inverses() {
    let mut memory = LoopMemory::default();
    let mut inference = Inference::new(memory.parts().inference, MACHINE);
    let arena = &mut inference.arena;
    let mut r = Random(0x91a7);
    let (mut open, mut respelt, mut unsolved) = (Vec::new(), 0, 0);
    for _ in 0..2000 {
        let mark = arena.mark();
        let extents: Vec<u32> =
            (0..1 + r.below(3)).map(|_| *r.pick(&[1, 2, 3, 5, 6, 7, 8, 12, 16, 24, 33])).collect();
        let vars: Vec<(BaseId, u32)> =
            extents.iter().map(|e| (arena.var(*e, VarRole::Loop).expect("room"), *e)).collect();
        let ids: Vec<BaseId> = vars.iter().map(|v| v.0).collect();
        let threads = *r.pick(&[4i64, 32, 64, 96, 128]);
        let vector = *r.pick(&[1i64, 2, 4, 8]);
        let mut flat = IndexForm::constant(0);
        for (id, extent) in &vars {
            let whole = arena.whole(*id).expect("room");
            let above = arena.scale(flat, i64::from(*extent)).expect("room");
            flat = arena.add(above, whole).expect("room");
        }
        let (group, within) = arena.div_rem(flat, vector).expect("a quotient");
        let (mut turn, thread) = arena.div_rem(group, threads).expect("a quotient");
        let written = r.below(2) == 0;
        if written {
            // The same, as a layout may be written.
            turn = arena.div_rem(flat, vector * threads).expect("a quotient").0;
        }
        let index = arena.add_scaled(within, turn, vector).expect("a sum");
        let mut equations = Vec::new();
        for map in [thread, index] {
            let (_, high) = arena.range(map).expect("a range");
            let output = arena.var(u32::try_from(high + 1).expect("small"), VarRole::Output);
            let output = output.expect("room");
            equations.push((arena.whole(output).expect("room"), map, output));
        }
        let pairs: Vec<(IndexForm, IndexForm)> = equations.iter().map(|e| (e.0, e.1)).collect();
        let mut solved = lanebook_infer::Solution::default();
        arena.solve(&pairs, &ids, &mut solved).expect("a solution");
        respelt += usize::from(written);
        if !solved.free.is_empty() && written {
            unsolved += 1;
            arena.release(mark);
            continue;
        }
        if !solved.free.is_empty() {
            open.push(format!("{extents:?} on {threads} threads by {vector}"));
            arena.release(mark);
            continue;
        }
        let mut all = vec![thread, index];
        all.extend(solved.vars.iter().map(|v| v.1));
        let mut tape = Tape::new(arena, &all).expect("a tape");
        every_point(&vars, |point| {
            put(&mut tape, &vars, point);
            tape.derive(arena).expect("values");
            for (_, map, output) in &equations {
                let value = tape.value(arena, *map).expect("a value");
                tape.set(*output, value);
            }
            tape.derive(arena).expect("values");
            for ((_, form), x) in solved.vars.iter().zip(point) {
                assert_eq!(tape.value(arena, *form).expect("a value"), *x, "{extents:?}");
            }
        });
        arena.release(mark);
    }
    assert!(open.is_empty(), "{} open:\n{}", open.len(), open.join("\n"));
    assert!(unsolved * 8 < respelt, "{unsolved} of {respelt}");
}

/// A swizzle of a map gives at every point what it makes of the map's value there.
#[test]
fn swizzled_maps_lead_where_the_swizzle_does() {
    let mut memory = LoopMemory::default();
    let mut r = Random(0x5a11_77e1);
    let mut moved = 0;
    for _ in 0..400 {
        let mut inference = Inference::new(memory.parts().inference, MACHINE);
        let arena = &mut inference.arena;
        let vars = variables(arena, &mut r);
        let names = forms(arena, &vars);
        let e = json!(["*", expression(&mut r, 3), r.pick(&[1, 2, 4, 16])]);
        let Ok(form) = expr::form(arena, &e, &names) else { continue };
        let (b, m) = (*r.pick(&[1u8, 2, 3, 4]), *r.pick(&[1u8, 2, 4]));
        let far = i8::try_from(b + *r.pick(&[0, 1, 3])).expect("small");
        let by = Swizzle::new(b, m, far, Unit::Byte).expect("a swizzle");
        let out = arena.swizzled(form, by).expect("room");
        let mut tape = Tape::new(arena, &[out]).expect("few bases");
        every_point(&vars, |point| {
            for ((id, _), x) in vars.iter().zip(point) {
                tape.set(*id, *x);
            }
            tape.derive(arena).expect("values");
            let plain = expr::value(&e, &named(point)).expect("a value");
            let plain = u64::try_from(plain).expect("not below zero");
            let want = i64::try_from(by.apply(plain)).expect("small");
            moved += u32::from(by.apply(plain) != plain);
            assert_eq!(tape.value(arena, out), Ok(want), "{by:?} of {e} at {point:?}");
        });
    }
    assert!(moved > 10_000, "only {moved} points are moved");
}

/// Families whose inverses are found by arithmetic of remainders, and bit by bit.
#[test]
fn remainders_and_bits_are_solved() {
    let mut memory = LoopMemory::default();
    let mut inference = Inference::new(memory.parts().inference, MACHINE);
    let arena = &mut inference.arena;
    let mut open = Vec::new();
    for (extents, written) in [
        ([15, 1, 1], vec![json!(["%", "i", 3]), json!(["%", "i", 5])]),
        ([28, 1, 1], vec![json!(["%", "i", 4]), json!(["%", "i", 7])]),
        ([3, 5, 1], vec![json!(["%", ["+", ["*", "i", 10], ["*", "j", 6]], 15])]),
        ([4, 7, 1], vec![json!(["%", ["+", ["*", "i", 21], ["*", "j", 8]], 28])]),
        ([4, 12, 1], vec![json!(["^", ["+", ["*", "i", 12], "j"], 25])]),
        ([4, 12, 1], vec![json!(["^", ["+", ["*", "i", 12], "j"], 1])]),
        ([4, 12, 8], vec![json!(["^", ["+", ["*", "i", 12], "j"], 6]), json!("k")]),
        ([4, 12, 1], vec![json!(["^", ["+", ["*", "i", 12], "j"], 5])]),
        (
            [4, 96, 1],
            vec![json!(["^", ["+", ["*", "i", 12], ["//", "j", 8]], 25]), json!(["%", "j", 8])],
        ),
        (
            [4, 96, 1],
            vec![
                json!(["^", ["//", ["+", ["*", "i", 96], "j"], 8], 25]),
                json!(["%", ["+", ["*", "i", 96], "j"], 8]),
            ],
        ),
    ] {
        let mark = arena.mark();
        let vars: Vec<(BaseId, u32)> =
            extents.map(|e| (arena.var(e, VarRole::Loop).expect("room"), e)).to_vec();
        let names = forms(arena, &vars);
        let ids: Vec<BaseId> = vars.iter().map(|v| v.0).collect();
        let mut outputs = Vec::new();
        let mut pairs = Vec::new();
        for e in &written {
            let form = expr::form(arena, e, &names).expect("a map");
            let (_, high) = arena.range(form).expect("a range");
            let extent = u32::try_from(high + 1).expect("small");
            let output = arena.var(extent, VarRole::Output).expect("room");
            pairs.push((arena.whole(output).expect("room"), form));
            outputs.push(output);
        }
        let mut solved = lanebook_infer::Solution::default();
        arena.solve(&pairs, &ids, &mut solved).expect("a solution");
        if !solved.free.is_empty() {
            open.push(format!("{written:?}"));
            arena.release(mark);
            continue;
        }
        let all: Vec<IndexForm> = pairs.iter().chain(&[]).map(|p| p.1).collect();
        let maps: Vec<IndexForm> =
            all.iter().copied().chain(solved.vars.iter().map(|v| v.1)).collect();
        let mut tape = Tape::new(arena, &maps).expect("a tape");
        every_point(&vars, |point| {
            put(&mut tape, &vars, point);
            tape.derive(arena).expect("values");
            let values: Vec<i64> =
                all.iter().map(|form| tape.value(arena, *form).expect("a value")).collect();
            for (output, value) in outputs.iter().zip(values) {
                tape.set(*output, value);
            }
            tape.derive(arena).expect("values");
            for ((_, form), x) in solved.vars.iter().zip(point) {
                assert_eq!(tape.value(arena, *form), Ok(*x), "{written:?} at {point:?}");
            }
        });
        arena.release(mark);
    }
    assert!(open.is_empty(), "{}", open.join("\n"));
}
