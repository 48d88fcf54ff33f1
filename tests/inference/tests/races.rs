//! Races that inference finds in loops, against all pairs of points of the expressions.

use lanebook_infer::{BaseId, IndexForm, Inference, Kind, MachineFigures, MemoryScope, When};
use lanebook_inference_tests::expr;
use lanebook_inference_tests::random::Random;
use lanebook_report::memory::LoopMemory;
use serde_json::{Value, json};
use std::collections::HashMap;

/// No race asks for memory.
const MACHINE: MachineFigures = MachineFigures { wave: 32, access_bits: 128, sector_bytes: 32 };
/// Two variables of the loop, one of a serial loop inside of it.
const NAMES: [&str; 3] = ["i", "j", "k"];

/// Indices as loops have them: many of them tell the iteration.
fn index(r: &mut Random, extents: &[u32; 3]) -> Value {
    let [_, j, k] = extents;
    match r.below(9) {
        0 => json!("i"),
        1 => json!(["+", ["*", "i", j], "j"]),
        2 => json!(["+", ["*", ["+", ["*", "i", j], "j"], k], "k"]),
        3 => json!(["+", ["*", "i", r.pick(&[2, 3, 8])], "j"]),
        4 => json!(["^", ["+", ["*", "i", j], "j"], r.pick(&[1, 2, 5])]),
        5 => json!(["+", ["+", ["*", "i", j], "j"], r.pick(&[1, 3])]),
        6 => json!(["//", ["+", ["*", "i", j], "j"], r.pick(&[1, 2])]),
        7 => json!(["%", ["+", ["*", "i", j], "j"], r.pick(&[4, 1000])]),
        _ => json!(["min", "i", "j"]),
    }
}

/// A condition, or none.
fn condition(r: &mut Random) -> Option<Value> {
    match r.below(5) {
        0 => Some(json!(["==", "j", 0])),
        1 => Some(json!(["<", "j", "i"])),
        2 => Some(json!(["<", ["+", "i", "j"], 3])),
        _ => None,
    }
}

struct RandomAccess {
    write: bool,
    indices: Vec<Value>,
    when: Option<Value>,
}

/// The points of the loop at which an access happens: iteration and element.
fn touches(access: &RandomAccess, extents: &[u32; 3]) -> Vec<(u64, Vec<i64>)> {
    let mut out = Vec::new();
    let [rows, columns, turns] = extents.map(i64::from);
    for i in 0..rows {
        for j in 0..columns {
            for k in 0..turns {
                let point = [i, j, k];
                let known = |name: &str| NAMES.iter().position(|n| *n == name).map(|at| point[at]);
                let value = |e: &Value| expr::value(e, &known).expect("a value");
                if access.when.as_ref().is_none_or(|when| value(when) != 0) {
                    let iteration = u64::try_from(i * columns + j).expect("a number");
                    out.push((iteration, access.indices.iter().map(value).collect()));
                }
            }
        }
    }
    out
}

#[test]
fn races_are_those_of_all_pairs_of_points() {
    let mut r = Random(0x5eed_0fac_e001);
    let mut memory = LoopMemory::default();
    let (mut with, mut without, mut guarded) = (0, 0, 0);
    for round in 0..1500 {
        let extents = [0; 3].map(|_| *r.pick(&[1u32, 2, 3, 4, 8]));
        let rank = 1 + r.below(2);
        let mut accesses: Vec<RandomAccess> = Vec::new();
        for k in 0..1 + r.below(3) {
            let indices = (0..rank).map(|_| index(&mut r, &extents)).collect();
            // A loop that reads what it writes, at the same place.
            let indices = match accesses.first() {
                Some(first) if r.below(2) == 0 => first.indices.clone(),
                _ => indices,
            };
            accesses.push(RandomAccess {
                write: k == 0 || r.below(3) == 0,
                indices,
                when: condition(&mut r),
            });
        }
        let all: Vec<_> = accesses.iter().map(|access| touches(access, &extents)).collect();
        let meets = |a: usize, b: usize| {
            let pairs = || all[a].iter().flat_map(|x| all[b].iter().map(move |y| (x, y)));
            pairs().any(|(x, y)| x.0 != y.0 && x.1 == y.1)
        };
        let numbers = || 0..accesses.len();
        let expected =
            numbers().any(|a| accesses[a].write && numbers().any(|b| meets(a, b) || meets(b, a)));

        let mut inference = Inference::new(memory.parts().inference, MACHINE);
        let shape = vec![4096; usize::try_from(rank).expect("small")];
        let buffer = inference.buffer(&shape, 32, MemoryScope::Shared).expect("room");
        // What a serial loop around adds is the same for all iterations.
        let around = inference.serial(16, false).expect("room");
        let inner = inference.serial(extents[2], true).expect("room");
        let id = inference.operator(Kind::Parallel, &extents[..2], (0, 64)).expect("room");
        let vars: Vec<BaseId> = inference.operator_of(id).expect("it").vars.iter().collect();
        let mut names: HashMap<String, IndexForm> = HashMap::new();
        for (name, var) in NAMES.iter().zip([vars[0], vars[1], inner]) {
            names.insert((*name).to_string(), inference.arena.whole(var).expect("room"));
        }
        let around = inference.arena.whole(around).expect("room");
        for access in &accesses {
            let arena = &mut inference.arena;
            let mut form = |e: &Value| {
                let form = expr::form(arena, e, &names).expect("a map");
                arena.add_scaled(form, around, 64).expect("a map")
            };
            let indices: Vec<IndexForm> = access.indices.iter().map(&mut form).collect();
            let when = access.when.as_ref().map_or(When::Always, |when| {
                When::Where(expr::form(&mut inference.arena, when, &names).expect("a map"))
            });
            inference.access_when(buffer, access.write, &indices, when).expect("room");
        }
        let found = inference.race(id).expect("an answer");
        let said = || {
            let texts =
                accesses.iter().map(|a| format!("{} {:?} {:?}", a.write, a.indices, a.when));
            texts.collect::<Vec<_>>().join("; ")
        };
        assert_eq!(found.is_some(), expected, "round {round}, {extents:?}: {}: {found:?}", said());
        if let Some(race) = found {
            // The two are what they are said to be.
            let [first, second] = race.accesses.map(usize::from);
            let element = &race.element[..usize::try_from(rank).expect("small")];
            let at = |k: usize, n: usize| {
                all[k].iter().any(|(it, at)| *it == race.iterations[n] && at == element)
            };
            assert!(accesses[first].write && accesses[second].write == race.both_write);
            assert!(race.iterations[0] != race.iterations[1], "{race:?}");
            assert!(at(first, 0) && at(second, 1), "{race:?}: {}", said());
        }
        with += u32::from(expected);
        without += u32::from(!expected);
        guarded += u32::from(accesses.iter().any(|a| a.when.is_some()));
    }
    assert!(with > 300 && without > 300 && guarded > 300, "{with} {without} {guarded}");
}

#[test]
fn where_data_decide_nothing_is_said() {
    let mut memory = LoopMemory::default();
    let mut inference = Inference::new(memory.parts().inference, MACHINE);
    let buffer = inference.buffer(&[64], 32, MemoryScope::Global).expect("room");
    let id = inference.operator(Kind::Parallel, &[8], (0, 64)).expect("room");
    let zero = [IndexForm::constant(0)];
    inference.access_when(buffer, true, &zero, When::Unknown).expect("room");
    assert_eq!(inference.race(id), Ok(None));
    // A run-time number times the loop's variable may be 0: nobody knows.
    let by = inference.operator(Kind::Parallel, &[8], (0, 64)).expect("room");
    let var = inference.operator_of(by).expect("it").vars.iter().next().expect("one");
    let var = inference.arena.whole(var).expect("room");
    let stride = inference.serial(1 << 20, false).expect("room");
    let stride = inference.arena.whole(stride).expect("room");
    let index = expr_mul(&mut inference, var, stride);
    inference.access(buffer, true, &[index]).expect("room");
    assert_eq!(inference.race(by), Ok(None));
}

fn expr_mul(inference: &mut Inference<'_>, a: IndexForm, b: IndexForm) -> IndexForm {
    inference.arena.op(lanebook_infer::FormOp::Mul, a, b).expect("a map")
}

/// One element of a view: its index along each dimension, and the iteration that accesses it.
type ViewPoint = (u64, Vec<i64>);

#[test]
fn views_of_a_storage_are_compared_by_what_they_share() {
    let mut r = Random(0x5eed_0fac_e002);
    let mut memory = LoopMemory::default();
    let (mut with, mut without, mut apart) = (0, 0, 0);
    // The storage has 2,048 bits; views of it, by shape and bits.
    let views: [(&[u32], u32); 5] =
        [(&[64], 32), (&[8, 8], 32), (&[128], 16), (&[16, 16], 8), (&[4, 8], 64)];
    for round in 0..800 {
        let mut inference = Inference::new(memory.parts().inference, MACHINE);
        let first = inference.buffer(views[0].0, views[0].1, MemoryScope::Shared).expect("room");
        let mut ids = vec![first];
        for (shape, bits) in &views[1..] {
            ids.push(inference.alias(first, shape, *bits).expect("a view"));
        }
        let count = *r.pick(&[2u32, 4, 8]);
        let id = inference.operator(Kind::Parallel, &[count], (0, 64)).expect("room");
        let var = inference.operator_of(id).expect("it").vars.iter().next().expect("one");
        let var = inference.arena.whole(var).expect("room");
        // Row-major element numbers a * i + b, as indices of the view.
        let mut all: Vec<(bool, usize, Vec<ViewPoint>)> = Vec::new();
        for k in 0..2 + r.below(2) {
            let which = usize::try_from(r.below(5)).expect("small");
            let (shape, _) = views[which];
            let last = i64::from(*shape.last().expect("a dimension"));
            let (step, start) = (i64::try_from(r.below(4)).expect("small"), r.below(16));
            let start = i64::try_from(start).expect("small");
            let arena = &mut inference.arena;
            let scaled = arena.scale(var, step).expect("a map");
            let number = arena.add(scaled, IndexForm::constant(start)).expect("a map");
            let indices = match shape.len() {
                1 => vec![number],
                _ => {
                    let (row, column) = arena.div_rem(number, last).expect("a map");
                    vec![row, column]
                }
            };
            let write = k == 0 || r.below(2) == 0;
            inference.access(ids[which], write, &indices).expect("room");
            let points = (0..i64::from(count)).map(|i| {
                let at = step * i + start;
                let index = if shape.len() == 1 { vec![at] } else { vec![at / last, at % last] };
                (u64::try_from(i).expect("a number"), index)
            });
            all.push((write, which, points.collect()));
        }
        // The bytes of an element.
        let bytes = |which: usize, index: &[i64]| {
            let (shape, bits) = views[which];
            let flat = index.iter().zip(shape).fold(0, |n, (at, d)| n * i64::from(*d) + at);
            let wide = i64::from(bits / 8);
            flat * wide..(flat + 1) * wide
        };
        let share = |a: &(usize, &[i64]), b: &(usize, &[i64])| {
            let (a, b) = (bytes(a.0, a.1), bytes(b.0, b.1));
            a.start < b.end && b.start < a.end
        };
        let mut expected = false;
        for (write, of, points) in &all {
            for (_, other, theirs) in all.iter().filter(|_| *write) {
                expected |= points.iter().any(|x| {
                    let meets = |y: &&ViewPoint| share(&(*of, &x.1), &(*other, &y.1));
                    theirs.iter().any(|y| x.0 != y.0 && meets(&y))
                });
            }
        }
        let found = inference.race(id).expect("an answer");
        assert_eq!(found.is_some(), expected, "round {round}: {all:?}: {found:?}");
        if let Some(race) = found {
            let [a, b] = race.accesses.map(|k| &all[usize::from(k)]);
            assert!(a.0 && b.0 == race.both_write && ids[b.1] == race.buffer, "{race:?}");
            let rank = views[b.1].0.len();
            let element = &race.element[..rank];
            let second = (b.1, element);
            assert!(b.2.contains(&(race.iterations[1], element.to_vec())), "{race:?}: {all:?}");
            let shares = |x: &&ViewPoint| x.0 == race.iterations[0] && share(&(a.1, &x.1), &second);
            assert!(a.2.iter().any(|x| shares(&x)), "{race:?}: {all:?}");
            apart += u32::from(a.1 != b.1);
        }
        with += u32::from(expected);
        without += u32::from(!expected);
    }
    assert!(with > 100 && without > 50 && apart > 50, "{with} {without} {apart}");
}
